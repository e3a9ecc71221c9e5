"""The program ``sqlplus`` of an emulated database node.

It reads commands and statements from its input as SQL*Plus does: its own commands end with the line, SQL ends with a
semicolon or a line that holds only a slash. :class:`SqlSession` carries out statements; :mod:`sqlplus.format` lays out rows.
Source: reference asm.md section 1; Oracle SQL*Plus User's Guide.

Simplified: a script is searched only at the path in ``@file``; HOST does nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from exacell.emulator.asm.instance import Asm
from exacell.emulator.basics.ora_messages import sp2
from exacell.emulator.basics.program import Out, Program
from exacell.emulator.basics.spool import NO_FILES, FileAccess
from exacell.emulator.basics.versions import banner, version_text
from exacell.emulator.sqlplus.asking import prompt_of
from exacell.emulator.sqlplus.commands import find_command, numbered, run_script
from exacell.emulator.sqlplus.settings import set_options
from exacell.emulator.sqlplus.spool import spooled
from exacell.emulator.sqlplus.state import SqlPlusState, Step, first_word, is_block, is_sql, stack_text

_LOGON_ATTEMPTS = 3
_USAGE = """
Usage: sqlplus [ [<option>] [{logon | /nolog}] [<start>] ]
  -H, -V   help, version
  -L       one logon attempt only
  -M "o"   MARKUP options, for example "CSV ON"
  -R n     restricted mode
  -S       silent: no banner, no prompts, no echo
  logon is [<user>][/<password>][@<connect>] [AS {SYSDBA | SYSASM}], start is @<file> [<parameter> ...]
"""


@dataclass
class _Arguments:
    silent: bool = False
    once: bool = False
    help: bool = False
    version: bool = False
    markup: str = ""
    logon: str = ""
    no_log: bool = False
    script: str = ""
    wrong: bool = False


def sqlplus(
    asm: Asm,
    node: int,
    login: str,
    argv: Sequence[str],
    *,
    env: Mapping[str, str],
    tty: bool,
    files: FileAccess = NO_FILES,
) -> Program:
    """Return the running program.

    Args:
        node: index of the database node.
        argv: without the program's name.
        files: opens the scripts of ``@file`` and spool files.
    """
    arguments = _parse(argv)
    if not env.get("ORACLE_HOME"):
        yield Out(f"Error 6 initializing SQL*Plus\n{sp2(667)}\n{sp2(750)}\n", err=True)
        return 1
    version = version_text(asm.version)
    if arguments.version:
        yield Out(f"\nSQL*Plus: Release {version} - Production\nVersion {version}\n\n")
        return 0
    if arguments.help or arguments.wrong:
        yield Out(f"SQL*Plus: Release {version} - Production\n{_USAGE}", err=arguments.wrong)
        return int(arguments.wrong)
    state = SqlPlusState(
        asm, node, login, env, tty=tty, silent=arguments.silent, read_file=files.read, write_file=files.write
    )
    try:
        status = yield from spooled(_SqlPlus(state, arguments).run(), state.spool, state.hides)
        state.leave(commit=True)
    finally:
        state.leave()
    return status


def _parse(argv: Sequence[str]) -> _Arguments:
    found = _Arguments()
    words = list(argv)
    while words and words[0].startswith("-") and len(words[0]) > 1:
        option = words.pop(0)[1:].upper()
        if "SILENT".startswith(option):
            found.silent = True
        elif "LOGON".startswith(option):
            found.once = True
        elif "HELP".startswith(option) or option == "?":
            found.help = True
        elif "VERSION".startswith(option):
            found.version = True
        elif "MARKUP".startswith(option) and words:
            found.markup = words.pop(0)
        elif ("RESTRICT".startswith(option) or "COMPATIBILITY".startswith(option)) and words:
            words.pop(0)
        elif option not in ("F", "FAST", "NOLOGINTIME", "AC"):
            found.wrong = True
    rest: list[str] = []
    while words and not words[0].startswith("@"):
        rest.append(words.pop(0))
    found.logon = " ".join(rest)
    found.no_log = found.logon.lower() == "/nolog"
    found.script = " ".join(words)
    return found


class _SqlPlus:
    def __init__(self, state: SqlPlusState, arguments: _Arguments) -> None:
        self.state = state
        self.arguments = arguments

    def run(self) -> Program:
        version = self.state.asm.version
        if not self.arguments.silent:
            started = datetime.fromtimestamp(int(self.state.asm.now()), UTC).strftime("%a %b %e %H:%M:%S %Y")
            line = f"SQL*Plus: Release {version_text(version)} - Production on {started}"
            yield Out(f"\n{line}\nVersion {version_text(version)}\n\nEmulated; nothing of Oracle's runs here.\n\n\n")
        if self.arguments.markup:
            for complaint in set_options(self.state.settings, f"markup {self.arguments.markup}", version):
                yield Out(complaint + "\n", err=True)
                return 1
        if not self.arguments.no_log:
            status = yield from self._log_on_at_start()
            if status is not None:
                return status
        status = None
        if self.arguments.script:
            status = yield from run_script(self.state, self.arguments.script)
        while status is None:
            line_read = yield from self.state.read(prompt_of(self.state))
            if line_read is None:
                status = 0
            else:
                status = yield from self._line(line_read)
        if not self.arguments.silent and (self.state.session or self.state.idle):
            yield Out(f"Disconnected from {banner(version)}\nVersion {version_text(version)}\n")
        return status

    def _log_on_at_start(self) -> Step:
        text = self.arguments.logon
        for attempt in range(1 if self.arguments.once else _LOGON_ATTEMPTS):
            if not text or attempt:
                user = yield from self.state.read("Enter user-name: ", always=True)
                if user is None:
                    return 1
                password = (
                    ""
                    if "/" in user or not user.strip()
                    else (yield from self.state.read("Enter password: ", always=True))
                )
                text = f"{user}/{password}" if password else user
            error = self.state.connect(text)
            if error is None:
                if not self.arguments.silent:
                    version = version_text(self.state.asm.version)
                    connected = "Connected to an idle instance.\n"
                    if not self.state.idle:
                        connected = f"Connected to:\n{banner(self.state.asm.version)}\nVersion {version}\n"
                    yield Out(f"\n{connected}\n")
                return None
            yield Out(f"ERROR:\n{stack_text(error)}\n\n\n")
            if self.state.login == "root":
                advice = (
                    "sqlplus: root is in none of Oracle's groups; log in as grid for ASM, as oracle for a database\n"
                )
                yield Out(advice, err=True)
        yield Out(sp2(751 if self.arguments.once else 157) + "\n")
        return 1

    def _line(self, line: str) -> Step:
        """Carry out one line of input; if it begins a statement, read the rest of the statement."""
        goes_on = line.rstrip().endswith("-") and not is_sql(line) and not line.lstrip().startswith("--")
        while (
            goes_on
        ):  # a row of dashes is continued only once: the joined line is not checked again, only the next line is
            following = yield from self.state.read("> ")
            line = line.rstrip()[:-1] + " " + (following or "").strip()
            goes_on = following is not None and following.rstrip().endswith("-")
        text = line.strip()
        if not text or text.startswith("--") or first_word(text) in ("REM", "REMARK"):
            return None
        if text.startswith("/*"):
            return (yield from self._comment(text, "*/"))
        if first_word(text) in ("DOC", "DOCUMENT"):
            return (yield from self._comment("", "#"))
        if text in ("/", ";") or (first_word(text) in ("R", "RUN") and len(text) < 5):
            return (yield from self._rerun(text))
        if is_sql(text):
            return (yield from self._statement(line))
        command = find_command(text)
        if command is None:
            yield Out(self._unknown(text))
            return None
        replaced = yield from self.state.substitute(text)
        if replaced is None:
            return 1
        self.state.unchanged = False
        return (yield from command(self.state, replaced.removesuffix(";").rstrip()))

    @staticmethod
    def _unknown(text: str) -> str:
        first = text.split()[0]
        if len(first) > 9 or not first.isalpha():
            return sp2(734, text[:10].rstrip() + "...") + "\n"
        return sp2(42, first) + "\n"

    def _comment(self, text: str, end: str) -> Step:
        """Skip a comment: up to ``*/``, or up to the line with ``#`` that ends DOCUMENT."""
        while end not in text if end == "*/" else not text.startswith(end):
            following = yield from self.state.read("DOC> ")
            if following is None:
                return None
            text = following
        return None

    def _statement(self, line: str) -> Step:
        """Read the lines of a SQL statement or a block up to its end, and run it."""
        block = is_block(line.strip())
        lines: list[str] = []
        while True:
            stripped = line.rstrip()
            if stripped == "/" and lines:
                break
            if stripped == ".":
                self.state.buffer = "\n".join(lines)
                return None
            if not stripped and not block and not self.state.settings.sqlblanklines:
                self.state.buffer = "\n".join(lines)
                return None
            mark = self.state.settings.terminator
            if mark and stripped.endswith(mark) and not block:
                lines.append(stripped[: -len(mark)])
                break
            lines.append(line.rstrip("\r"))
            following = yield from self.state.read(f"{len(lines) + 1:3d}  ")
            if following is None:
                return 0
            line = following
        self.state.buffer = "\n".join(lines).rstrip()
        return (yield from self.state.run(self.state.buffer))

    def _rerun(self, text: str) -> Step:
        if not self.state.buffer:
            yield Out(sp2(103) + "\n")
            return None
        if text == ";" or first_word(text) in ("R", "RUN"):
            yield Out(numbered(self.state.buffer))
        return None if text == ";" else (yield from self.state.run(self.state.buffer))
