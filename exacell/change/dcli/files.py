"""Put files on dcli's targets: copied files (``-f``), copied and run files (``-x``), and the caller's public key.

``-k`` puts the key there, ``--unkey`` takes it away; the lines that the targets print are dcli's. Source: reference dcli.md,
sections 7 and 9.
"""

from __future__ import annotations

import glob
import os
import re
import shlex
import shutil
import stat
from collections.abc import Sequence
from pathlib import Path, PurePosixPath

from exacell.change.dcli.options import DcliOptions, SshOptions, environment_error, usage_error
from exacell.core.values import dataclass, replace
from exacell.transport.base import Upload

TEMPORARY = "/var/log/exadatatmp/"
"""The folder on the targets that ``--root-exadatatmp`` uses."""


@dataclass(frozen=True, kw_only=True)
class Delivery:
    """What is copied to every target.

    Attributes:
        upload: the files and their destination.
        directory: created on the target first; empty for none.
        run: the command that runs the file; empty for ``-f``.
        script: the file of ``-x``; None for ``-f``.
    """

    upload: Upload
    directory: str = ""
    run: str = ""
    script: Path | None = None


def delivery_of(options: DcliOptions, ssh: SshOptions) -> Delivery | None:
    """Return the files that ``-f`` or ``-x`` copies, after a check of the files; None if neither option is given.

    Raises:
        DcliExit: a file is missing or of the wrong kind, or ``-d`` is given without them.
    """
    sources: tuple[Path, ...] = ()
    if options.execute:
        sources = (_program(options.execute),)
    elif options.files:
        sources = tuple(path for word in options.files for path in _files(word))
    if not sources:
        if options.destination:
            raise usage_error("-d needs -f or -x: it is their destination")
        return None
    destination = _expanded(options.destination)
    directory = destination if destination.endswith("/") else ""
    if not destination and options.execute:
        destination = sources[0].name
    if options.root_temporary and not destination.startswith(("/", "~", "$")):
        destination = TEMPORARY + destination
    upload = Upload(
        sources=sources,
        destination=_for_sftp(destination),
        keep=bool(options.execute) or ssh.keep,
        recursive=ssh.recursive,
    )
    if not options.execute:
        return Delivery(upload=upload, directory=directory)
    return Delivery(
        upload=upload,
        directory=directory,
        run=_runner(_for_shell(destination), sources[0].name, temporary=options.root_temporary),
        script=sources[0],
    )


def as_it_is_now(delivery: Delivery, folder: Path) -> Delivery:
    """Return the delivery with a copy of its script, made in ``folder``, so that a later edit of the file has no effect.

    Raises:
        DcliExit: the script can't be read any more.
    """
    script = delivery.script
    assert script is not None
    copied = folder / script.name
    try:
        shutil.copy2(script, copied)
    except OSError as error:
        raise environment_error(f"the file {script} can't be read: {error.strerror}") from error
    return replace(delivery, upload=replace(delivery.upload, sources=(copied,)), script=copied)


def make_directory(directory: str) -> str:
    """Return the command that makes the destination directory."""
    return f"mkdir -p {_quoted(directory)}"


def _program(word: str) -> Path:
    found = _files(word)
    if len(found) != 1:
        raise environment_error(f"-x {word} names {len(found)} files; it must name one")
    mode = found[0].stat().st_mode
    if not stat.S_ISREG(mode):
        raise environment_error(f"-x {word} is not a regular file")
    if not mode & stat.S_IXUSR:
        raise environment_error(f"-x {word} is not executable: type `chmod u+x {word}`")
    return found[0]


def _files(word: str) -> Sequence[Path]:
    name = os.path.expandvars(os.path.expanduser(word))
    paths = [Path(path) for path in sorted(glob.glob(name))] if glob.has_magic(name) else [Path(name)]
    if not paths or not all(path.exists() for path in paths):
        raise environment_error(f"the file {word} does not exist")
    for path in paths:
        if not (path.is_file() or path.is_dir()):
            raise environment_error(f"{path} is neither a regular file nor a directory")
        if not os.access(path, os.R_OK):
            raise environment_error(f"the file {path} can't be read")
    return paths


def _expanded(destination: str) -> str:
    """Return the destination with this host's variables expanded; escaped variables are left for the target."""
    return destination[1:] if destination.startswith("\\") else os.path.expandvars(destination)


def _for_sftp(destination: str) -> str:
    """Return the destination relative to the login's home, as SFTP needs it: SFTP knows no variables."""
    home = re.fullmatch(r"(?:~|\$HOME|\$\{HOME\})(?:/(.*))?", destination)
    if home is not None:
        return home[1] or ""
    if destination.startswith(("~", "$")):
        raise environment_error(f"-d {destination}: only ~ and $HOME can be followed there; name the directory itself")
    return destination


def _for_shell(destination: str) -> str:
    """Return the destination as a relative or absolute name for the remote shell."""
    name = _for_sftp(destination)
    if destination.startswith(("~", "$")):
        return f"./{name}" if name else "."
    return name if name.startswith("/") else f"./{name}"


def _quoted(name: str) -> str:
    home = re.fullmatch(r"(?:~|\$HOME|\$\{HOME\})(/.*)?", name)
    return f'"$HOME"{shlex.quote(home[1] or "")}' if home is not None else shlex.quote(name)


def _runner(destination: str, base: str, *, temporary: bool) -> str:
    inside = str(PurePosixPath(destination) / base)
    if not inside.startswith(("/", "./")):
        inside = f"./{inside}"
    plain, inner = shlex.quote(destination), shlex.quote(inside)
    if base.endswith(".scl"):
        plain_run, inner_run = f"cellcli -e {shlex.quote('@' + destination)}", f"cellcli -e {shlex.quote('@' + inside)}"
    else:
        plain_run, inner_run = plain, inner
    before = f"cd {TEMPORARY}; " if temporary else ""
    return f"({before}if [ -d {plain} ]; then {inner_run}; else {plain_run}; fi) 2>&1"


_NAMES = ("id_rsa", "id_ecdsa", "id_ed25519")
_BITS = 3072
"""Size of a new RSA key. Source: ssh-keygen(1), the default since OpenSSH 8.0."""


def public_key(directory: Path, *, make: bool) -> tuple[str, str]:
    """Return the caller's public key line, and a message if the key had to be made; an RSA key is preferred.

    Args:
        directory: usually ~/.ssh.
        make: whether to make an RSA key without a passphrase when there is none.

    Raises:
        DcliExit: there is no key, or it can't be read or made.
    """
    for name in _NAMES:
        path = directory / f"{name}.pub"
        try:
            text = path.read_text(encoding="utf-8").strip()
        except FileNotFoundError:
            continue
        except (OSError, UnicodeDecodeError) as error:
            raise environment_error(f"the public key {path} can't be read: {error}") from error
        if len(text.split()) >= 2:
            return text.splitlines()[0], ""
        raise environment_error(f"{path} holds no public key")
    if not make:
        raise environment_error(f"there is no public key in {directory}")
    return _made(directory)


def _made(directory: Path) -> tuple[str, str]:
    import getpass
    import socket

    import paramiko

    path = directory / "id_rsa"
    public = path.with_suffix(".pub")
    key = paramiko.RSAKey.generate(_BITS)
    line = f"{key.get_name()} {key.get_base64()} {getpass.getuser()}@{socket.gethostname()}"
    try:
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except OSError as error:
        raise environment_error(f"the key {path} can't be made: {error.strerror}") from error
    try:
        with os.fdopen(descriptor, "w", encoding="ascii") as stream:
            key.write_private_key(stream)
        public.write_text(f"{line}\n", encoding="utf-8")
    except OSError as error:
        for half in (path, public):  # An incomplete key file would prevent a complete one.
            half.unlink(missing_ok=True)
        raise environment_error(f"the key {path} can't be made: {error.strerror}") from error
    return line, f"made the key {path}, without a passphrase"


def push_command(line: str) -> str:
    """Return the command that appends the key to the login's authorized_keys unless it is there."""
    blob, whole = shlex.quote(line.split()[1]), shlex.quote(line)
    return (
        "cd && mkdir -p .ssh && chmod 700 .ssh && "
        f"if grep -qsF -e {blob} .ssh/authorized_keys; then echo 'ssh key already exists'; else "
        # Without an end of line, the last line and ours would become one.
        '{ [ ! -s .ssh/authorized_keys ] || [ -z "$(tail -c 1 .ssh/authorized_keys)" ] || echo >> .ssh/authorized_keys; } && '
        f"printf '%s\\n' {whole} >> .ssh/authorized_keys && chmod 644 .ssh/authorized_keys && echo 'ssh key added'; fi"
    )


def drop_command(line: str) -> str:
    """Return the command that deletes the key from the login's authorized_keys; a symbolic link is followed."""
    blob = shlex.quote(line.split()[1])
    return (
        f"cd && if grep -qsF -e {blob} .ssh/authorized_keys; then "
        f"kept=$(grep -vF -e {blob} .ssh/authorized_keys); "
        "{ [ -z \"$kept\" ] || printf '%s\\n' \"$kept\"; } > .ssh/authorized_keys && echo 'ssh key dropped'; "
        "else echo 'ssh key did not exist'; fi"
    )
