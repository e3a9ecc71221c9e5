"""The ``exacli`` program: sends CellCLI statements to an emulated cell's Management Server from another host.

Source: reference cellcli.md 1.6; Oracle DBMMN, exacli-command-reference and security-exacli: a valid cookie in the jar takes
the place of the password. Users that CREATE USER made on the cell log in with their password and may run what the privileges
of their roles cover; celladmin and cellmonitor have the same rights as on the cell. Simplified: there is no HTTPS and no
certificate, and any non-empty password of those two and of a cloud customer is accepted. The answer to a refused statement is
not published; here it is the one that cellmonitor gets.
"""

from __future__ import annotations

import os
import re
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, replace

from exacell.emulator.basics.beneath import Files
from exacell.emulator.basics.messages import CellError, Code
from exacell.emulator.basics.program import Ask, Event, Out, Program
from exacell.emulator.basics.spool import FileAccess, ReadFile
from exacell.emulator.cell.models import Cell
from exacell.emulator.cellcli.program import cellcli
from exacell.emulator.grammar.privileges import may_run
from exacell.emulator.grammar.tokens import statements_of
from exacell.emulator.state.view import RackView
from exacell.emulator.statements.security import password_fits

PORT = 443
CLOUD_LOGIN = "cloud_user_"
"""The first part of cloud customers' logins. Source: reference cellcli.md 1.6."""

LOGINS = ("celladmin", "cellmonitor")
"""Logins that every cell has."""

_USAGE = (
    "usage: exacli -c [username@]remotehost[:port] [-l username] [--xml | --json] [--cookie-jar [filename]] "
    "[-e command]\n"
)
_NEVER = re.compile(
    r"alter\s+cell\s+(restart|startup|shutdown)\b|calibrate\b|desc(ribe)?\b|help\b|set\b|spo(ol)?\b|sta(rt)?\b|@"
    r"|(create|alter|drop|list)\s+(user|role)\b|(grant|revoke)\b"
    r"|list\s+cell\b.*\b(rsStatus|cellsrvStatus|msStatus)\b",
    re.IGNORECASE | re.DOTALL,
)
"""Statements that ExaCLI does not have. Source: reference cellcli.md 1.6."""

_CLOUD = re.compile(r"list\b|alter\s+iormplan\b|\w+\s+(diagpack|quarantine)\b", re.IGNORECASE)
"""Statements that a cloud customer may run. Source: Oracle Exadata Cloud documentation, managing storage servers with ExaCLI."""


@dataclass(frozen=True, kw_only=True)
class Call:
    """The parsed command line of ``exacli``.

    Attributes:
        asks: whether it asks for a missing user or password; not with ``-n``, which is in no manual but public programs use it.
    """

    host: str = ""
    user: str = ""
    form: str = ""
    jar: str | None = None
    commands: str | None = None
    asks: bool = True


def parse_call(argv: Sequence[str]) -> Call | None:
    """Return the parsed arguments, or None if they are wrong."""
    call = Call()
    words = list(argv)
    while words:
        word = words.pop(0)
        name, equals, value = word.partition("=")
        if word in ("-c", "--connect", "-l", "--login-name") and words:
            given = words.pop(0)
            call = replace(call, host=given) if word in ("-c", "--connect") else replace(call, user=given)
        elif word in ("--xml", "--json") and not call.form:
            call = replace(call, form=word)
        elif name == "--cookie-jar":
            if not equals and words and not words[0].startswith("-"):
                value = words.pop(0)
            call = replace(call, jar=value)
        elif word == "-n":
            call = replace(call, asks=False)
        elif word == "-e" and words:
            return replace(call, commands=" ".join(words))
        else:
            return None
    return call


def exacli(
    rack: RackView, argv: Sequence[str], *, env: Mapping[str, str], files: Files, has_stdin: bool, read: ReadFile
) -> Program:
    """Run ``exacli``.

    Returns:
        A program; its exit status is 0 when the statements were sent, 1 when the login failed or the command line is wrong.
    """
    call = parse_call(argv)
    if call is None or not call.host:
        yield Out(_USAGE, err=True)
        return 1
    user, _, place = call.host.rpartition("@")
    name, _, port = place.partition(":")
    cell = next((host for host, known in rack.cells.items() if name.lower() in (host.lower(), known.ip)), None)
    elsewhere = int(port) != PORT if port.isdecimal() else bool(port)
    if cell is None or elsewhere or rack.faults.refuses(cell):
        yield Out(f"exacli: cannot connect to {place}\n", err=True)
        return 1
    has_stdin = has_stdin and call.asks
    user = call.user or user or (yield from _asked("Username: ", has_stdin)) or ""
    jar = None if call.jar is None else _jar(call.jar, env)
    if jar is None or not _has_cookie(files, jar, cell, user) or not _is_known(rack.cells[cell], user):
        if not _fits(rack.cells[cell], user, (yield from _asked("Password: ", has_stdin)) or ""):
            yield Out(f"exacli: login of {user} on {cell} failed\n", err=True)
            return 1
        if jar is not None:
            _keep_cookie(files, jar, cell, user)
    if call.commands is None:
        while (line := (yield Ask(f"exacli {user}@{cell}> "))) is not None and line.strip().lower() not in (
            "exit",
            "quit",
        ):
            yield from _statements(rack, cell, user, line, call.form, read)
        return 0
    text = call.commands
    if text.startswith("@"):
        script = read(text[1:].strip())
        if script is None:
            yield Out(f"exacli: {text[1:].strip()} can't be read\n", err=True)
            return 1
        for line in script.splitlines():
            yield from _statements(rack, cell, user, line, call.form, read)
        return 0
    yield from _statements(rack, cell, user, text, call.form, read)
    return 0


def _is_known(cell: Cell, user: str) -> bool:
    return user in LOGINS or user.startswith(CLOUD_LOGIN) or user in cell.records.get("USER", {})


def _fits(cell: Cell, user: str, password: str) -> bool:
    """Return whether this user and password may log in."""
    if not password or not _is_known(cell, user):
        return False
    made = cell.records.get("USER", {}).get(user)
    return user in LOGINS or made is None or password_fits(made, password)


def _may(rack: RackView, cell: Cell, user: str, statement: str) -> bool:
    """Return whether a user may run a statement through ExaCLI."""
    if _NEVER.match(statement):
        return False
    if user in LOGINS:
        return True
    if user in cell.records.get("USER", {}):
        return may_run(cell, user, statement, rack.release.number)
    return _CLOUD.match(statement) is not None


def _asked(prompt: str, has_stdin: bool) -> Generator[Event, str | None, str | None]:
    return (yield Ask(prompt)) if has_stdin else None


def _statements(rack: RackView, cell: str, user: str, text: str, form: str, read: ReadFile) -> Program:
    for statement in statements_of(text):
        if not statement.strip():
            continue
        if not _may(rack, rack.cells[cell], user, statement.strip()):
            yield Out(f"{CellError(Code.NOT_ALLOWED, login=user).line}\n")
            continue
        # ExaCLI spells its options the same on all releases; cellcli had -xml before it had --xml.
        arguments = [*([{"--xml": "-xml"}.get(form, form)] if form else []), "-e", statement]
        yield from cellcli(
            rack, cell, user, arguments, tty=False, has_stdin=False, files=FileAccess(read=read), remote=True
        )
    return 0


def _jar(given: str, env: Mapping[str, str]) -> str:
    return given or f"{env.get('HOME', '/')}/.exacli/cookiejar"


def _has_cookie(files: Files, jar: str, cell: str, user: str) -> bool:
    try:
        with open(files.open(jar, os.O_RDONLY), encoding="utf-8") as file:
            return f"{cell} {user}" in file.read().splitlines()
    except (OSError, UnicodeDecodeError):
        return False


def _keep_cookie(files: Files, jar: str, cell: str, user: str) -> None:
    directory = os.path.dirname(jar)
    if directory:
        files.make_directory(directory)
    with open(files.open(jar, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600), "a", encoding="utf-8") as file:
        file.write(f"{cell} {user}\n")
