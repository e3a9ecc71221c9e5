"""The caller's public key on the targets: ``-k`` puts it there, ``--unkey`` takes it away.

The lines that the targets print are dcli's. Source: reference dcli.md, section 9.
"""

from __future__ import annotations

import os
import shlex
from pathlib import Path

from exacell.change.dcli.options import environment_error

_NAMES = ("id_rsa", "id_ecdsa", "id_ed25519")
_BITS = 3072
"""Size of a new RSA key. Source: ssh-keygen(1), the default since OpenSSH 8.0."""


def public_key(directory: Path, *, make: bool) -> tuple[str, str]:
    """Return the caller's public key line, and a line of talk when it had to be made; the RSA key is preferred.

    Args:
        directory: usually ~/.ssh.
        make: whether to make an RSA key without a passphrase when there is none.

    Raises:
        DcliExit: there is none, or it can't be read or made.
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
        for half in (path, public):  # It would stand in the way of a whole one.
            half.unlink(missing_ok=True)
        raise environment_error(f"the key {path} can't be made: {error.strerror}") from error
    return line, f"made the key {path}, without a passphrase"


def push_command(line: str) -> str:
    """Return the command that appends the key to the login's authorized_keys unless it is there."""
    blob, whole = shlex.quote(line.split()[1]), shlex.quote(line)
    return (
        "cd && mkdir -p .ssh && chmod 700 .ssh && "
        f"if grep -qsF -e {blob} .ssh/authorized_keys; then echo 'ssh key already exists'; else "
        # A last line without its end would run into ours.
        '{ [ ! -s .ssh/authorized_keys ] || [ -z "$(tail -c 1 .ssh/authorized_keys)" ] || echo >> .ssh/authorized_keys; } && '
        f"printf '%s\\n' {whole} >> .ssh/authorized_keys && chmod 644 .ssh/authorized_keys && echo 'ssh key added'; fi"
    )


def drop_command(line: str) -> str:
    """Return the command that deletes the key from the login's authorized_keys, a link being followed."""
    blob = shlex.quote(line.split()[1])
    return (
        f"cd && if grep -qsF -e {blob} .ssh/authorized_keys; then "
        f"kept=$(grep -vF -e {blob} .ssh/authorized_keys); "
        "{ [ -z \"$kept\" ] || printf '%s\\n' \"$kept\"; } > .ssh/authorized_keys && echo 'ssh key dropped'; "
        "else echo 'ssh key did not exist'; fi"
    )
