"""How a login's command line runs on an emulated host: as one of our programs, or in a real shell.

An exec request is a line for the login shell. When it is one simple command without anything that a shell would expand
or redirect, and names a program that we emulate, no shell is needed and none is started. Everything else goes to a real
shell behind the host's fence, with the login's own home directory and a PATH on which the emulated programs come first, so that
``( hostname; cellcli -e list cell | egrep name ) 2>&1`` and third-party scripts just work.
"""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType

from exacell.emulator.basics.beneath import HostFiles
from exacell.emulator.basics.infiniband import has_infiniband
from exacell.emulator.basics.store import RackFiles, write_text
from exacell.emulator.hosts import dcli_program, shim
from exacell.emulator.hosts.fence import BIN, python_inside
from exacell.emulator.hosts.files import fill, home_of, system_files
from exacell.emulator.hosts.fronts import front_scripts, of_the_machine, ping_script
from exacell.emulator.hosts.kinds import CELL, KINDS, OF_THE_SYSTEM, POWER, HostKind
from exacell.emulator.hosts.tools import ENV_FUNCTION, TOOLS

_SYSTEM_PATH = "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin"
_KEYS_LIMIT = 1 << 20


@dataclass(frozen=True, kw_only=True)
class Host:
    """One emulated host.

    Attributes:
        profiles: the variables that each login's .bash_profile exports.
        home_files: files that every home directory has from the start, by name.
        variables: further environment variables of all its logins.
        restricted: administrators may run only CellCLI and a few commands, as on cells from 26.1 on.
        own_files: texts by path that the host has from the start, and links to emulated programs by directory.
    """

    files: RackFiles
    name: str
    kind: HostKind
    profiles: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    home_files: Mapping[str, str] = field(default_factory=dict)
    variables: Mapping[str, str] = field(default_factory=dict)
    restricted: bool = False
    own_files: Callable[[], tuple[Mapping[str, str], Mapping[str, Sequence[str]]]] = lambda: ({}, {})

    def login(self, user: str) -> Login | None:
        """Return the login of ``user``, None when the host has no such user."""
        return Login(host=self, user=user) if user in self.kind.ids else None

    def prepare(self, public_keys: str) -> None:
        """Fill the host's directories before its first login: files, links and home directories.

        Args:
            public_keys: the text of each login's authorized_keys.
        """
        made = self.files.made(self.name)
        if made.exists():
            return
        files, links = self.own_files()
        homes = {user: Login(host=self, user=user).home_files(public_keys) for user in self.kind.ids}
        fill(self.files.tree(self.name), {**system_files(self.kind, self.name), **files}, links, homes)
        write_text(made, "")


@dataclass(frozen=True, kw_only=True)
class Login:
    """One OS user on one emulated host."""

    host: Host
    user: str

    @property
    def home(self) -> str:
        """Return the login's home directory, as the host names it."""
        return home_of(self.user)

    def files(self) -> HostFiles:
        """Return the host's files; relative names start in the login's home directory."""
        return HostFiles(self.host.files.tree(self.host.name), self.home)

    def authorized_keys(self, public_keys: str) -> str:
        """Return the public keys that may log in.

        Args:
            public_keys: the keys to use if the login's file is missing.
        """
        try:
            with open(
                self.files().open(".ssh/authorized_keys", os.O_RDONLY), encoding="utf-8", errors="replace"
            ) as file:
                return file.read(_KEYS_LIMIT)
        except FileNotFoundError:
            return public_keys

    def environment(self, *, extra: Mapping[str, str] | None = None) -> dict[str, str]:
        """Return the complete environment of the login's processes; it has nothing of our own environment.

        Args:
            extra: variables that the session adds, such as TERM and the client's locale.
        """
        return {
            **(extra or {}),
            **self.host.variables,
            "HOME": self.home,
            "USER": self.user,
            "LOGNAME": self.user,
            "SHELL": _shell(),
            "HOSTNAME": self.host.name,
            "PATH": f"{BIN}:{_SYSTEM_PATH}",
            "BASH_ENV": f"{BIN}/.functions",
            "EXACELL_EMU_HOST": self.host.name,
            "EXACELL_EMU_LOGIN": self.user,
        }

    def home_files(self, public_keys: str) -> dict[str, str]:
        """Return the first files of the home directory, by name: authorized_keys and the login's profile."""
        profile = self.host.profiles.get(self.user) or {}
        lines = [f"export {name}={shlex.quote(value)}\n" for name, value in profile.items()]
        lines.append(f'export PATH={BIN}:"$PATH"\n[ -f ~/.bashrc ] && . ~/.bashrc\n')
        return {
            ".ssh/authorized_keys": public_keys,
            # If bash sees SSH_CLIENT, it reads ~/.bashrc instead of BASH_ENV. Source: bash(1), INVOCATION.
            ".bashrc": '[ -n "$BASH_ENV" ] && . "$BASH_ENV"\n',
            ".bash_profile": "".join(lines),
            **self.host.home_files,
        }

    def shell_command(self, command: str | None, *, tty: bool = True) -> tuple[str, ...]:
        """Return the argv that runs ``command`` in the login's shell.

        None means a login shell: an interactive one on a terminal; otherwise one that runs its input without prompts, as for
        ``ssh host <<EOF``.
        """
        shell = _shell()
        if command is not None:
            return (shell, "-c", command)
        if not tty:
            return (shell, "-c", f"[ -f ~/.bash_profile ] && . ~/.bash_profile; exec {shlex.quote(shell)} -s")
        if shell.endswith("bash"):
            return (shell, "--noprofile", "--rcfile", f"{BIN}/.interactive", "-i")
        return (
            "/usr/bin/env",
            f"PS1=[{self.user}@{self.host.name} ~]{'#' if self.user == 'root' else '$'} ",
            shell,
            "-i",
        )


def _shell() -> str:
    """Return the login shell: bash, as on Oracle Linux, if this machine has it; else /bin/sh."""
    return "/bin/bash" if os.path.exists("/bin/bash") else shutil.which("bash") or "/bin/sh"


def inside(program: str) -> str:
    """Return the command with which a shell behind a fence calls a program of the rack's process."""
    return f"{python_inside()[0]} -I -S {BIN}/.shim.py @ {program}"


def write_programs(files: RackFiles, kind: HostKind, *, more: Mapping[str, str] = MappingProxyType({})) -> None:
    """Write the programs that come first in PATH for shells on hosts of one kind.

    The emulated programs connect to the rack's process; hostname, whoami and id answer for the emulated host and login.

    Args:
        more: bodies of further shell scripts by name.
    """
    directory = files.bin(kind.name)
    scripts = {name: f'exec {inside(name)} "$@"\n' for name in kind.programs}
    scripts |= {"hostname": _ADDRESSES + _HOSTNAME, "whoami": _WHOAMI, "id": _id_script(kind.ids), **more}
    _write_scripts(directory, scripts)
    write_text(directory / ".functions", _functions(kind, scripts))
    write_text(directory / ".interactive", _INTERACTIVE)
    for name, module in ((".shim.py", shim), (".dcli.py", dcli_program)):
        write_text(directory / name, Path(str(module.__file__)).read_text(encoding="utf-8"))


def write_path(
    files: RackFiles,
    hosts: Mapping[str, Host],
    *,
    model: str = "",
    more: Mapping[str, str] = MappingProxyType({}),
    python: str = sys.executable,
) -> None:
    """Write the directory that other programs on this machine put into PATH to reach the rack's hosts.

    EXACELL_EMU_HOST chooses the host; without it ``cellcli`` runs on the first cell, and ``sqlplus`` and similar programs on the
    first database node. EXACELL_EMU_LOGIN chooses the login: celladmin or grid if it is not set. On a database node, ORACLE_HOME
    and ORACLE_SID are those of the login's profile if the caller has none. Programs that show the machine (date, df, free) stay
    the caller's own, except uname.

    Args:
        more: bodies of further shell scripts by name.
    """
    scripts: dict[str, str] = {}
    firsts = {kind.name: next((host for host in hosts.values() if host.kind is kind), None) for kind in KINDS}
    for kind in KINDS:
        if (first := firsts[kind.name]) is not None:
            for name in (program for program in kind.programs if program not in (*POWER, *TOOLS)):
                scripts[name] = _defaults(first) + _client(files, name, python)
    if (cell := firsts[CELL.name]) is not None:
        ids = {login: number for kind in reversed(KINDS) for login, number in kind.ids.items()}
        own = {"hostname": _HOSTNAME, "whoami": _WHOAMI, "id": _id_script(ids), **more}
        scripts |= {name: _defaults(cell) + body for name, body in own.items()}
    places = {host.name: host.kind is CELL for host in hosts.values()}
    dcli = (shlex.quote(python), os.path.abspath(dcli_program.__file__))
    scripts |= front_scripts(str(files.ssh_config), dcli, places, infiniband=has_infiniband(model))
    scripts["ping"] = ping_script(places, str(files.bin("path")), others=of_the_machine("ping"))
    _write_scripts(files.bin("path"), scripts)


def _defaults(host: Host) -> str:
    """Return the shell lines that choose a host and a login if the caller's environment does not."""
    values = {"EXACELL_EMU_HOST": host.name, "EXACELL_EMU_LOGIN": host.kind.login}
    values |= host.profiles.get(host.kind.login, {})
    lines = [f': "${{{name}:={value}}}"; export {name}\n' for name, value in values.items()]
    return "".join(lines)


def _client(files: RackFiles, program: str, python: str) -> str:
    client = shlex.join([python, "-I", "-S", os.path.abspath(shim.__file__), str(files.control), program])
    return f'exec {client} "$@"\n'


def _write_scripts(directory: Path, scripts: Mapping[str, str]) -> None:
    directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    for name, body in scripts.items():
        write_text(directory / name, "#!/bin/sh\n" + body, mode=0o700)


_WHOAMI = 'echo "$EXACELL_EMU_LOGIN"\n'

_ADDRESSES = """\
addresses() { ip -br addr | while read -r name state address; do [ "$name" = lo ] || printf '%s ' "${address%%/*}"; done; }
case "$1" in
    -I|--all-ip-addresses) addresses; echo; exit ;;
    -i|--ip-address)
        while read -r address name rest; do
            [ "$name" = "$EXACELL_EMU_HOST" ] && echo "$address" && exit
        done < /etc/hosts
        set -- $(addresses)
        echo "$1"
        exit ;;
esac
"""
"""Part of ``hostname`` for the host's addresses; programs on this machine get the loopback address."""

_HOSTNAME = """\
case "$1" in
    -[iI]) echo 127.0.0.1 ;;
    -d) echo ;;
    ''|-[sfA]|--short|--fqdn|--long) echo "$EXACELL_EMU_HOST" ;;
    *) echo "hostname: you must be root to change the host name" >&2; exit 1 ;;
esac
"""

_INTERACTIVE = """\
. "$BASH_ENV"
bind 'set enable-bracketed-paste off' 2>/dev/null
[ -f ~/.bash_profile ] && . ~/.bash_profile
case "$EXACELL_EMU_LOGIN" in root) _exacell_end='#' ;; *) _exacell_end='$' ;; esac
PS1="[$EXACELL_EMU_LOGIN@$EXACELL_EMU_HOST \\\\W]$_exacell_end "
"""


def _id_script(ids: Mapping[str, int]) -> str:
    cases = "".join(f"    {login}) number={number} ;;\n" for login, number in ids.items())
    return f"""\
name="$EXACELL_EMU_LOGIN"
for word in "$@"; do case "$word" in -*) ;; *) name="$word" ;; esac; done
case "$name" in
{cases}    *) echo "id: $name: no such user" >&2; exit 1 ;;
esac
case "$1$2" in
    -un*|-nu*|-gn*|-ng*|-Gn*|-nG*|-u-n*|-g-n*) echo "$name" ;;
    -u*|-g*|-G*) echo "$number" ;;
    *) echo "uid=$number($name) gid=$number($name) groups=$number($name)" ;;
esac
"""


def _functions(kind: HostKind, scripts: Iterable[str]) -> str:
    """Return bash functions for the programs' absolute paths that no directory here has."""
    names = [*kind.programs, *(name for name in scripts if name in OF_THE_SYSTEM and name not in kind.programs)]
    lines = [
        f'function {directory}/{program} {{ "${{BASH_ENV%/*}}/{program}" "$@"; }}\n'
        for program in names
        for directory in kind.directories(program)
    ]
    return ENV_FUNCTION + "".join(lines)
