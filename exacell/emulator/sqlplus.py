"""The program ``sqlplus`` of an emulated database node.

It reads commands and statements from its input as SQL*Plus does: its own commands end with the line, SQL ends with a
semicolon or a line that holds only a slash. What happens to a statement is :class:`SqlSession`'s business, how rows
look that of :mod:`sqlplus_format`. Source: reference asm.md section 1; Oracle SQL*Plus User's Guide.

Simplified: PL/SQL is refused, scripts on the host's disk can't be read (``@file`` fails as for a missing file), SPOOL
and HOST do nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from exacell.emulator.asm import Asm
from exacell.emulator.asm_attributes import version_text
from exacell.emulator.db_rows import banner, parameters
from exacell.emulator.logon import Logon, log_on, parse_logon
from exacell.emulator.ora_messages import OraError, ora, sp2
from exacell.emulator.program import Ask, Event, Out, Pause, Program
from exacell.emulator.sql_engine import Relation, ResultColumn
from exacell.emulator.sql_session import Outcome, SqlSession
from exacell.emulator.sql_values import Kind, char, to_text
from exacell.emulator.sqlplus_format import ColumnFormat, feedback, render
from exacell.emulator.sqlplus_settings import Settings, set_options, split_words

_SQL_WORDS_TEXT = """
    SELECT WITH CREATE ALTER DROP INSERT UPDATE DELETE MERGE TRUNCATE GRANT REVOKE COMMENT ANALYZE EXPLAIN LOCK COMMIT
    ROLLBACK SAVEPOINT AUDIT NOAUDIT RENAME ASSOCIATE DISASSOCIATE CALL FLASHBACK PURGE ADMINISTER
"""
_SQL_WORDS = frozenset(_SQL_WORDS_TEXT.split())
_BLOCK_WORDS = frozenset({"BEGIN", "DECLARE"})
_LOGON_ATTEMPTS = 3
_LEAST_PAUSE = 1.0
"""Rack seconds between two looks at a rebalance that is waited for."""
_USAGE = """
Usage: sqlplus [ [<option>] [{logon | /nolog}] [<start>] ]
  -H, -V   help, version
  -L       one logon attempt only
  -M "o"   MARKUP options, for example "CSV ON"
  -R n     restricted mode
  -S       silent: no banner, no prompts, no echo
  logon is [<user>][/<password>][@<connect>] [AS {SYSDBA | SYSASM}], start is @<file> [<parameter> ...]
"""

Step = Generator[Event, str | None, int | None]
"""A piece of the program; it returns an exit status when the program is to end, else None."""


@dataclass
class _Reaction:
    """What WHENEVER asks for: the words after EXIT, None for CONTINUE."""

    exit_words: list[str] | None = None


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


def sqlplus(asm: Asm, node: int, login: str, argv: Sequence[str], *, env: Mapping[str, str], tty: bool) -> Program:
    """Return the running program.

    Args:
        node: index of the database node.
        argv: without the program's name.
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
    status = yield from _SqlPlus(asm, node, login, env, tty, arguments).run()
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
    found.script = words[0] if words else ""
    return found


class _SqlPlus:
    def __init__(
        self, asm: Asm, node: int, login: str, env: Mapping[str, str], tty: bool, arguments: _Arguments
    ) -> None:
        self.asm = asm
        self.node = node
        self.login = login
        self.env = env
        self.tty = tty
        self.arguments = arguments
        self.settings = Settings()
        self.columns: dict[str, ColumnFormat] = {}
        self.variables: dict[str, str] = {"_SQLPLUS_RELEASE": "".join(f"{part:02d}" for part in asm.version)}
        self.session: SqlSession | None = None
        self.idle = False
        self.buffer = ""
        self.last_code = 0
        self.on_sql_error = _Reaction()
        self.on_os_error = _Reaction()

    # -- start and end ----------------------------------------------------------------------------------------------

    def run(self) -> Program:
        version = self.asm.version
        if not self.arguments.silent:
            started = datetime.fromtimestamp(int(self.asm.now()), UTC).strftime("%a %b %e %H:%M:%S %Y")
            line = f"SQL*Plus: Release {version_text(version)} - Production on {started}"
            yield Out(f"\n{line}\nVersion {version_text(version)}\n\nEmulated; nothing of Oracle's runs here.\n\n\n")
        if self.arguments.markup:
            for complaint in set_options(self.settings, f"markup {self.arguments.markup}", version):
                yield Out(complaint + "\n", err=True)
                return 1
        if not self.arguments.no_log:
            status = yield from self._log_on_at_start()
            if status is not None:
                return status
        status = None
        if self.arguments.script:
            status = yield from self._script(self.arguments.script)
        while status is None:
            line_read = yield from self._read(self.settings.sqlprompt)
            if line_read is None:
                status = 0
            else:
                status = yield from self._line(line_read)
        if not self.arguments.silent and (self.session or self.idle):
            yield Out(f"Disconnected from {banner(version)}\nVersion {version_text(version)}\n")
        return status

    def _log_on_at_start(self) -> Step:
        text = self.arguments.logon
        for attempt in range(1 if self.arguments.once else _LOGON_ATTEMPTS):
            if not text or attempt:
                user = yield from self._read("Enter user-name: ", always=True)
                if user is None:
                    return 1
                password = (
                    "" if "/" in user or not user.strip() else (yield from self._read("Enter password: ", always=True))
                )
                text = f"{user}/{password}" if password else user
            error = self._connect(text)
            if error is None:
                if not self.arguments.silent:
                    version = version_text(self.asm.version)
                    connected = "Connected to an idle instance.\n"
                    if not self.idle:
                        connected = f"Connected to:\n{banner(self.asm.version)}\nVersion {version}\n"
                    yield Out(f"\n{connected}\n")
                return None
            yield Out(f"ERROR:\n{_stack(error)}\n\n\n")
            if self.login == "root":
                advice = (
                    "sqlplus: root is in none of Oracle's groups; log in as grid for ASM, as oracle for a database\n"
                )
                yield Out(advice, err=True)
        yield Out(sp2(751 if self.arguments.once else 157) + "\n")
        return 1

    def _connect(self, text: str) -> OraError | None:
        logon = parse_logon(text)
        self.session, self.idle = None, False
        try:
            self.session = log_on(
                self.asm,
                self.node,
                self.login,
                self.env,
                logon or Logon(user="", password="", service="", privilege=""),
            )
        except OraError as error:
            return error
        self.idle = self.session is None
        return None

    # -- input ------------------------------------------------------------------------------------------------------

    def _read(self, prompt: str, *, always: bool = False) -> Generator[Event, str | None, str | None]:
        """Read one line; prompts are printed without a terminal too, unless silent."""
        shown = prompt if always or not self.arguments.silent else ""
        if self.tty:
            return (yield Ask(shown))
        if shown:
            yield Out(shown)
        return (yield Ask())

    def _line(self, line: str) -> Step:
        """Carry out one line of input, reading on where it begins a statement."""
        while (
            (stripped := line.rstrip()).endswith("-") and not _is_sql(line) and not stripped.lstrip().startswith("--")
        ):
            following = yield from self._read("> ")
            line = stripped[:-1] + " " + (following or "").strip()
            if following is None:
                break
        text = line.strip()
        if not text or text.startswith("--") or _word(text) in ("REM", "REMARK"):
            return None
        if text.startswith("/*"):
            return (yield from self._comment(text))
        if text in ("/", ";") or (_word(text) in ("R", "RUN") and len(text) < 5):
            return (yield from self._rerun(text))
        if _is_sql(text):
            return (yield from self._statement(line))
        command = self._command(text)
        if command is None:
            yield Out(self._unknown(text))
            return None
        replaced = yield from self._substitute(text)
        if replaced is None:
            return 1
        return (yield from command(replaced.removesuffix(";").rstrip()))

    @staticmethod
    def _unknown(text: str) -> str:
        first = text.split()[0]
        if len(first) > 9 or not first.isalpha():
            return sp2(734, text[:10].rstrip() + "...") + "\n"
        return sp2(42, first) + "\n"

    def _comment(self, text: str) -> Step:
        while text is not None and "*/" not in text:
            following = yield from self._read("DOC> ")
            if following is None:
                return None
            text = following
        return None

    def _statement(self, line: str) -> Step:
        """Gather a SQL statement or a block up to its end and run it."""
        block = _word(line.strip()) in _BLOCK_WORDS
        lines: list[str] = []
        while True:
            stripped = line.rstrip()
            if stripped == "/" and lines:
                break
            if stripped == ".":
                self.buffer = "\n".join(lines)
                return None
            if not stripped and not block and not self.settings.sqlblanklines:
                self.buffer = "\n".join(lines)
                return None
            if stripped.endswith(";") and not block:
                lines.append(stripped[:-1])
                break
            lines.append(line.rstrip("\r"))
            following = yield from self._read(f"{len(lines) + 1:3d}  ")
            if following is None:
                return 0
            line = following
        self.buffer = "\n".join(lines).rstrip()
        return (yield from self._run(self.buffer))

    def _rerun(self, text: str) -> Step:
        if not self.buffer:
            yield Out(sp2(103) + "\n")
            return None
        if text == ";" or _word(text) in ("R", "RUN"):
            numbered = self.buffer.split("\n")
            yield Out(
                "".join(f"{n:3d}{'*' if n == len(numbered) else ' '} {row}\n" for n, row in enumerate(numbered, 1))
            )
        return None if text == ";" else (yield from self._run(self.buffer))

    def _substitute(self, text: str) -> Generator[Event, str | None, str | None]:
        """Replace ``&name``; asks for what is not defined. None at the end of input."""
        mark = self.settings.define
        if not mark or mark not in text:
            return text
        pattern = re.compile(re.escape(mark) + r"{1,2}([A-Za-z0-9_#$]+)\.?")
        while match := pattern.search(text):
            name = match[1].upper()
            value = self.variables.get(name)
            if value is None:
                value = yield from self._read(f"Enter value for {match[1].lower()}: ", always=True)
                if value is None:
                    return None
                if match[0].startswith(mark * 2):
                    self.variables[name] = value
            text = text[: match.start()] + value.replace(mark, "\0") + text[match.end() :]
        return text.replace("\0", mark)

    # -- statements -------------------------------------------------------------------------------------------------

    def _run(self, statement: str) -> Step:
        replaced = yield from self._substitute(statement)
        if replaced is None:
            return 1
        if self.session is None and not self.idle:
            yield Out(sp2(640) + "\n")
            return None
        if self.settings.verify and replaced != statement:
            pairs = zip(statement.split("\n"), replaced.split("\n"), strict=False)
            for number, (old, new) in enumerate(pairs, start=1):
                if old != new:
                    yield Out(f"old {number:3d}: {old}\nnew {number:3d}: {new}\n")
        try:
            outcome = self._execute(replaced)
        except OraError as error:
            self.last_code = error.code
            yield Out(_error_block(replaced, error))
            return self._react(self.on_sql_error)
        self.last_code = 0
        if outcome.wait_for and self.session is not None:
            while (seconds := self.session.wait_seconds(outcome.wait_for)) > 0:
                yield Pause(max(seconds, _LEAST_PAUSE))
        yield from self._show(outcome)
        if self.settings.timing:
            yield Out("Elapsed: 00:00:00.01\n")
        return None

    def _execute(self, statement: str) -> Outcome:
        if self.session is None:
            raise OraError(ora(1034), ora(27101))
        if _word(statement.strip()) in _BLOCK_WORDS:
            raise OraError(ora(439, "PL/SQL is not emulated"))
        return self.session.execute(statement)

    def _show(self, outcome: Outcome) -> Generator[Event, str | None, None]:
        relation, settings = outcome.relation, self.settings
        if relation is None:
            if settings.feedback and outcome.message:
                yield Out(f"\n{outcome.message}\n\n")
            return
        text = render(relation, settings, self.columns, self._date_format)
        if settings.termout:
            yield Out(text + feedback(len(relation.rows), settings))
        for place, column in enumerate(relation.columns):
            chosen = self.columns.get(column.name)
            if chosen and chosen.new_value and relation.rows:
                self.variables[chosen.new_value] = to_text(relation.rows[-1][place], self._date_format) or ""

    @property
    def _date_format(self) -> str:
        return self.session.date_format if self.session else "DD-MON-RR"

    def _react(self, reaction: _Reaction) -> int | None:
        return None if reaction.exit_words is None else self._exit_status(reaction.exit_words)

    def _exit_status(self, words: Sequence[str]) -> int:
        """Return the status of ``EXIT words``; the shell sees it modulo 256."""
        word = words[0].upper() if words else "SUCCESS"
        if word == "SQL.SQLCODE":
            return self.last_code % 256
        if word.isdigit():
            return int(word) % 256
        return {"FAILURE": 1, "WARNING": 2}.get(word, 0)

    # -- SQL*Plus's own commands --------------------------------------------------------------------------------------

    def _command(self, text: str) -> Callable[[str], Step] | None:
        word = _word(text)
        if text.startswith("@"):
            return self._script
        if text.startswith("!") or word in ("HOST", "HO"):
            return self._nothing
        return next((run for name, least, run in self._table() if name.startswith(word) and len(word) >= least), None)

    def _table(self) -> tuple[tuple[str, int, Callable[[str], Step]], ...]:
        return (
            ("ACCEPT", 3, self._accept),
            ("BREAK", 3, self._nothing),
            ("BTITLE", 3, self._nothing),
            ("CLEAR", 2, self._clear),
            ("COLUMN", 3, self._column),
            ("COMPUTE", 4, self._nothing),
            ("CONNECT", 4, self._connect_command),
            ("DEFINE", 3, self._define),
            ("DESCRIBE", 4, self._describe),
            ("DISCONNECT", 4, self._disconnect),
            ("EXECUTE", 4, self._execute_command),
            ("EXIT", 4, self._exit),
            ("LIST", 1, self._list),
            ("PAUSE", 3, self._nothing),
            ("PROMPT", 3, self._prompt),
            ("QUIT", 4, self._exit),
            ("SET", 3, self._set),
            ("SHOW", 3, self._show_command),
            ("SPOOL", 3, self._nothing),
            ("START", 3, self._script),
            ("TIMING", 4, self._nothing),
            ("TTITLE", 3, self._nothing),
            ("UNDEFINE", 5, self._undefine),
            ("VARIABLE", 3, self._nothing),
            ("WHENEVER", 8, self._whenever),
        )

    def _nothing(self, _: str) -> Step:
        return None
        yield Out("")

    def _set(self, text: str) -> Step:
        complaints = set_options(self.settings, _rest(text), self.asm.version)
        yield Out("".join(f"{line}\n" for line in complaints))
        return None

    def _prompt(self, text: str) -> Step:
        yield Out(_rest(text) + "\n")
        return None

    def _exit(self, text: str) -> Step:
        return self._exit_status(split_words(_rest(text)))
        yield Out("")

    def _whenever(self, text: str) -> Step:
        words = split_words(_rest(text))
        upper = [word.upper() for word in words]
        if len(words) < 2 or upper[0] not in ("SQLERROR", "OSERROR") or upper[1] not in ("EXIT", "CONTINUE"):
            yield Out(sp2(735, "WHENEVER", " ".join(words)[:10]) + "\n")
            return None
        reaction = self.on_sql_error if upper[0] == "SQLERROR" else self.on_os_error
        reaction.exit_words = words[2:] if upper[1] == "EXIT" else None
        return None

    def _script(self, text: str) -> Step:
        words = split_words(text.lstrip("@") if text.startswith("@") else _rest(text))
        name = words[0] if words else ""
        name = name if "." in name.rpartition("/")[2] else f"{name}.sql"
        yield Out(sp2(310, name) + "\n")
        return self._react(self.on_os_error)

    def _connect_command(self, text: str) -> Step:
        error = self._connect(_rest(text))
        if error is not None:
            yield Out(f"ERROR:\n{_stack(error)}\n\n\nWarning: You are no longer connected to ORACLE.\n")
            self.last_code = error.code
            return self._react(self.on_sql_error)
        yield Out("Connected to an idle instance.\n" if self.idle else "Connected.\n")
        return None

    def _disconnect(self, _: str) -> Step:
        if not self.arguments.silent:
            yield Out(f"Disconnected from {banner(self.asm.version)}\n")
        self.session, self.idle = None, False
        return None

    def _execute_command(self, text: str) -> Step:
        return (yield from self._run(f"begin {_rest(text)}; end;"))

    def _list(self, _: str) -> Step:
        lines = self.buffer.split("\n") if self.buffer else []
        rows = [f"{n:3d}{'*' if n == len(lines) else ' '} {row}\n" for n, row in enumerate(lines, 1)]
        yield Out("".join(rows) or sp2(26) + "\n")
        return None

    def _define(self, text: str) -> Step:
        name, equal, value = _rest(text).partition("=")
        name = name.strip().upper()
        if equal:
            words = split_words(value)
            if not words:
                yield Out(sp2(137) + "\n")
                return None
            self.variables[name] = value.strip() if len(words) > 1 else words[0]
            return None
        for known, stored in self.variables.items():
            if not name or known == name:
                yield Out(f'DEFINE {known:<15} = "{stored}" (CHAR)\n')
        if name and name not in self.variables:
            yield Out(sp2(135, name.lower()) + "\n")
        return None

    def _undefine(self, text: str) -> Step:
        for name in _rest(text).upper().split():
            if self.variables.pop(name, None) is None:
                yield Out(sp2(135, name.lower()) + "\n")
        return None

    def _accept(self, text: str) -> Step:
        words = split_words(_rest(text))
        if not words:
            yield Out(sp2(3, text[:10]) + "\n")
            return None
        upper = [word.upper() for word in words]
        prompt = words[upper.index("PROMPT") + 1] if "PROMPT" in upper[:-1] else ""
        value = yield from self._read(prompt, always=True)
        self.variables[upper[0]] = value or ""
        return None

    def _clear(self, text: str) -> Step:
        if _rest(text).upper().startswith("COL"):
            self.columns.clear()
            yield Out("columns cleared\n" if self.settings.feedback else "")
        return None

    def _column(self, text: str) -> Step:
        words = split_words(_rest(text))
        if not words:
            return None
        name = words.pop(0).upper()
        chosen = self.columns.get(name, ColumnFormat())
        fields = {
            "format": chosen.format,
            "heading": chosen.heading,
            "hidden": chosen.hidden,
            "new_value": chosen.new_value,
        }
        while words:
            option = words.pop(0).upper()
            if option in ("FORMAT", "FOR", "FORM") and words:
                fields["format"] = words.pop(0)
            elif option in ("HEADING", "HEA") and words:
                fields["heading"] = words.pop(0)
            elif option in ("NEW_VALUE", "NEW_V") and words:
                fields["new_value"] = words.pop(0).upper()
            elif option in ("NOPRINT", "NOPRI"):
                fields["hidden"] = True
            elif option in ("PRINT", "PRI"):
                fields["hidden"] = False
            elif option in ("CLEAR", "CLE", "OFF"):
                self.columns.pop(name, None)
                return None
            elif option in ("JUSTIFY", "JUS", "NULL", "NUL", "ALIAS", "OLD_VALUE") and words:
                words.pop(0)
            elif option not in ("ON", "WRAPPED", "WRA", "TRUNCATED", "TRU", "WORD_WRAPPED", "WOR"):
                yield Out(sp2(158, "COLUMN", option.lower()) + "\n")
                return None
        self.columns[name] = ColumnFormat(
            format=_text_or_none(fields["format"]),
            heading=_text_or_none(fields["heading"]),
            hidden=bool(fields["hidden"]),
            new_value=_text_or_none(fields["new_value"]),
        )
        return None

    def _describe(self, text: str) -> Step:
        if self.session is None:
            yield Out(sp2(640) + "\n")
            return None
        relation = self.session.describe(_rest(text).split(".")[-1].strip())
        if relation is None:
            yield Out(f"ERROR:\n{ora(4043, _rest(text))}\n\n\n")
            return None
        yield Out(f" {'Name':<41} {'Null?':<8} Type\n {'-' * 41} {'-' * 8} {'-' * 28}\n")
        for column in relation.columns:
            kind = f"VARCHAR2({column.type.width})" if column.type.kind is Kind.CHAR else column.type.kind.upper()
            yield Out(f" {column.name:<41} {'':<8} {kind}\n")
        yield Out("\n")
        return None

    def _show_command(self, text: str) -> Step:
        words = split_words(_rest(text))
        word = words[0].upper() if words else ""
        if word in ("PARAMETER", "PARAMETERS", "PARAM") and self.session is not None:
            wanted = words[1].lower() if len(words) > 1 else ""
            kinds = {1: "boolean", 2: "string", 3: "integer"}
            values = parameters(self.session.instance).items()
            rows = tuple((name, kinds[kind], value) for name, (kind, value) in values if wanted in name)
            columns = (("NAME", 36), ("TYPE", 11), ("VALUE", 30))
            relation = Relation(tuple(ResultColumn(name, char(width)) for name, width in columns), rows)
            yield Out(render(relation, self.settings, {}, self._date_format))
        elif word == "USER":
            yield Out('USER is "SYS"\n' if self.session else 'USER is ""\n')
        elif word in ("SQLCODE", "RELEASE"):
            value = str(self.last_code) if word == "SQLCODE" else self.variables["_SQLPLUS_RELEASE"]
            yield Out(f"{word.lower()} {value}\n")
        elif hasattr(self.settings, word.lower()) and word != "OTHERS":
            value = getattr(self.settings, word.lower())
            yield Out(f"{word.lower()} {'ON' if value is True else 'OFF' if value is False else value}\n")
        else:
            yield Out(sp2(158, "SHOW", word.lower()) + "\n")
        return None


def _word(text: str) -> str:
    match = re.match(r"[A-Za-z]+", text)
    return match[0].upper() if match else ""


def _is_sql(text: str) -> bool:
    word = _word(text.lstrip("( \t"))
    if word == "SET":
        return text.split()[1:2] != [] and text.split()[1].upper() in (
            "TRANSACTION",
            "ROLE",
            "CONSTRAINT",
            "CONSTRAINTS",
        )
    return word in _SQL_WORDS or word in _BLOCK_WORDS


def _rest(text: str) -> str:
    return text.split(None, 1)[1].strip() if len(text.split(None, 1)) > 1 else ""


def _text_or_none(value: object) -> str | None:
    return value if isinstance(value, str) else None


def _stack(error: OraError) -> str:
    return "\n".join(str(line) for line in error.stack)


def _error_block(statement: str, error: OraError) -> str:
    """Return the block that SQL*Plus prints: the line at fault, a marker, the line's number, the stack."""
    before = statement[: error.at]
    number = before.count("\n")
    column = error.at - (before.rfind("\n") + 1)
    line = statement.split("\n")[number]
    return f"{line}\n{' ' * column}*\nERROR at line {number + 1}:\n{_stack(error)}\n\n\n"
