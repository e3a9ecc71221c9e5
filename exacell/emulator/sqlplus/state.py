"""The state of a running SQL*Plus and its functions for commands: settings, variables, the connection, statements.

The commands themselves are in :mod:`sqlplus.commands`, the loop that reads lines is in :mod:`sqlplus.program`.
"""

from __future__ import annotations

import re
from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from exacell.emulator.asm.instance import Asm
from exacell.emulator.basics.ora_messages import OraError, OraLine, ora, sp2
from exacell.emulator.basics.program import Ask, Event, Out, Pause
from exacell.emulator.basics.spool import ReadFile, WriteFile
from exacell.emulator.basics.versions import banner, version_text
from exacell.emulator.database.cell_views import gathered
from exacell.emulator.database.logon import Logon, log_on, parse_logon
from exacell.emulator.database.session import Outcome, SqlSession
from exacell.emulator.faults.effects import afflicted
from exacell.emulator.plsql.packages import Output
from exacell.emulator.plsql.run import run_block
from exacell.emulator.plsql.stored_code import calls_routine, change_routines, is_routine, query_with_routines
from exacell.emulator.sql.binds import Binds, UndeclaredError
from exacell.emulator.sql.values import from_epoch, to_text
from exacell.emulator.sqlplus.columns import ColumnFormat, active
from exacell.emulator.sqlplus.format import feedback, render, server_output
from exacell.emulator.sqlplus.report import Report
from exacell.emulator.sqlplus.settings import Settings
from exacell.emulator.sqlplus.spool import SqlSpool

_SQL_WORDS_TEXT = """
    SELECT WITH CREATE ALTER DROP INSERT UPDATE DELETE MERGE TRUNCATE GRANT REVOKE COMMENT ANALYZE EXPLAIN LOCK COMMIT
    ROLLBACK SAVEPOINT AUDIT NOAUDIT RENAME ASSOCIATE DISASSOCIATE CALL FLASHBACK PURGE ADMINISTER
"""
_SQL_WORDS = frozenset(_SQL_WORDS_TEXT.split())
BLOCK_WORDS = frozenset({"BEGIN", "DECLARE"})
_STORED = "function|procedure|package|trigger|type|library"
_LEAST_PAUSE = 1.0
"""Rack seconds between two checks of a rebalance for which a statement waits."""

Step = Generator[Event, str | None, int | None]
"""A piece of the program; it returns an exit status if the program must end, else None."""


@dataclass
class Reaction:
    """The reaction that WHENEVER sets: the words after EXIT; None for CONTINUE."""

    exit_words: list[str] | None = None


class SqlPlusState:
    """A running SQL*Plus.

    Attributes:
        silent: -S was given, so there are no prompts.
        session: None without a connection or with one to an idle instance (then ``idle``).
        buffer: the last statement.
        last_code: outermost ORA code of the last statement; 0 if it succeeded.
        numeric: the substitution variables that hold numbers.
        scripts: the remaining lines of the running scripts, innermost last.
        folders: the folder of each of these scripts, in which ``@@`` looks first.
        report: the settings of BREAK and COMPUTE.
        unchanged: the last statement changed at most rows of users' tables.
        binds: the variables of VARIABLE.
    """

    def __init__(
        self,
        asm: Asm,
        node: int,
        login: str,
        env: Mapping[str, str],
        *,
        tty: bool,
        silent: bool,
        read_file: ReadFile | None = None,
        write_file: WriteFile | None = None,
    ) -> None:
        self.asm = asm
        self.node = node
        self.login = login
        self.env = env
        self.tty = tty
        self.silent = silent
        self.settings = Settings()
        self.columns: dict[str, ColumnFormat] = {}
        self.variables: dict[str, str] = {"_SQLPLUS_RELEASE": "".join(f"{part:02d}" for part in asm.version)}
        self.session: SqlSession | None = None
        self.idle = False
        self.buffer = ""
        self.last_code = 0
        self.on_sql_error = Reaction()
        self.on_os_error = Reaction()
        self.numeric: set[str] = set()
        self.scripts: list[Iterator[str]] = []
        self.folders: list[str] = []
        self.read_file = read_file
        self.spool = SqlSpool(read_file, write_file)
        self.report = Report()
        self.unchanged = False
        self.binds = Binds()

    def predefined(self) -> dict[str, str]:
        """Return the variables that SQL*Plus sets itself, by name."""
        session, version = self.session, self.asm.version
        database = session.instance.database if session is not None else None
        name = database.name if database is not None else "+ASM"
        release = f"{banner(version)}\nVersion {version_text(version)}"
        return {
            "_DATE": f"{from_epoch(self.asm.now()):%d-%b-%y}".upper(),
            "_CONNECT_IDENTIFIER": name if session is not None else "",
            "_USER": "SYS" if session is not None else "",
            "_PRIVILEGE": f"AS {session.privilege.value}" if session is not None else "",
            "_EDITOR": "ed",
            "_O_VERSION": release if session is not None else "",
            "_O_RELEASE": self.variables["_SQLPLUS_RELEASE"] if session is not None else "",
        }

    def hides(self) -> bool:
        """Return whether present output is hidden from the terminal: a script prints it with TERMOUT OFF."""
        return bool(self.scripts) and not self.settings.termout

    def connect(self, text: str) -> OraError | None:
        """Connect as ``[user][/password] [as privilege]`` asks; return the error, or None if connected."""
        logon = parse_logon(text)
        self.leave(commit=True)
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

    def leave(self, *, commit: bool = False) -> None:
        """End the session, if there is one: EXIT, CONNECT and DISCONNECT commit, a lost connection rolls back."""
        if self.session is not None:
            self.session.close(commit=commit)

    def read(self, prompt: str, *, always: bool = False) -> Generator[Event, str | None, str | None]:
        """Read one line and return it; prompts are printed even without a terminal, unless silent.

        Args:
            always: ask the user even while a script runs, and print the prompt even when silent.
        """
        while self.scripts and not always:
            line = next(self.scripts[-1], None)
            if line is not None:
                if self.settings.others.get("ECHO") == "ON" and not self.silent:
                    yield Out(f"{prompt}{line}\n")
                return line
            self.scripts.pop()
            self.folders.pop()
        shown = prompt if always or not self.silent else ""
        if self.tty:
            return (yield Ask(shown, unchanged=self.unchanged))
        if shown:
            yield Out(shown)
        return (yield Ask(unchanged=self.unchanged))

    def substitute(self, text: str) -> Generator[Event, str | None, str | None]:
        """Replace ``&name`` and return the text; ask for undefined variables. None at the end of input."""
        mark = self.settings.define
        if not mark or mark not in text:
            return text
        if self.settings.escape:
            text = text.replace(self.settings.escape + mark, "\0")
        end = f"(?:{re.escape(self.settings.concat)})?" if self.settings.concat else ""
        pattern = re.compile(re.escape(mark) + r"{1,2}([A-Za-z0-9_#$]+)" + end)
        while match := pattern.search(text):
            name = match[1].upper()
            value = self.variables.get(name)
            if value is None and name.startswith("_"):
                value = self.predefined().get(name)
            if value is None:
                value = yield from self.read(f"Enter value for {match[1].lower()}: ", always=True)
                if value is None:
                    return None
                if match[0].startswith(mark * 2):
                    self.variables[name] = value
            text = text[: match.start()] + value.replace(mark, "\0") + text[match.end() :]
        return text.replace("\0", mark)

    def run(self, statement: str) -> Step:
        """Run one statement, given without its terminator, and print its result."""
        rack, host = self.asm.rack, self.asm.nodes[self.node]
        return (yield from afflicted(rack, host, statement, self._run(statement), partial(self._fail, statement)))

    def _fail(self, statement: str, line: str) -> Step:
        code, _, text = line.partition(": ")
        error = OraError(OraLine(int(code.removeprefix("ORA-")), text))
        self.last_code = error.code
        yield Out(error_block(statement, error))
        return self.react(self.on_sql_error)

    def _run(self, statement: str) -> Step:
        replaced = yield from self.substitute(statement)
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
        filled, self.unchanged = replaced, False
        try:
            word = first_word(replaced.strip())
            if word in BLOCK_WORDS:
                outcome = yield from self._block(replaced)
            elif word == "CALL":
                yield from self._block(f"begin {replaced.strip()[4:]}; end;")
                outcome = Outcome(message="Call completed.")
            else:
                filled = replaced if is_routine(replaced) else self.binds.fill(replaced)
                for _step in gathered(self.session.instance, filled) if self.session is not None else ():
                    yield Out("")
                outcome = self._execute(filled)
        except UndeclaredError as undeclared:
            yield Out(sp2(552, undeclared) + "\n")
            return None
        except OraError as error:
            self.last_code = error.code
            yield Out(error_block(filled, error))
            return self.react(self.on_sql_error)
        self.last_code, self.unchanged = 0, outcome.rows_only
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
        if is_routine(statement):
            return change_routines(statement, self.session)
        word = first_word(statement.lstrip("( \t\n"))
        if word in ("SELECT", "WITH") and calls_routine(statement, self.session.instance.database):
            return Outcome(relation=query_with_routines(statement, self.session, self.binds))
        return self.session.execute(statement)

    def _block(self, text: str) -> Generator[Event, str | None, Outcome]:
        if self.session is None:
            raise OraError(ora(1034), ora(27101))
        output, failed = Output(), None
        try:
            yield from run_block(text, self.binds, self.session, output)
        except OraError as error:
            failed = error
        if self.settings.others.get("SERVEROUTPUT", "OFF").upper() == "ON":
            how = self.settings.others.get("SERVEROUTPUT FORMAT", "WORD_WRAPPED")
            yield Out(server_output(output.lines, how, self.settings.linesize))
        if failed is not None:
            raise failed
        return Outcome(message="PL/SQL procedure successfully completed.")

    def _show(self, outcome: Outcome) -> Generator[Event, str | None, None]:
        relation, settings = outcome.relation, self.settings
        if relation is None:
            if settings.feedback and outcome.message:
                yield Out(f"\n{outcome.message}\n\n")
            return
        columns = active(self.columns)
        text = render(relation, settings, columns, self.date_format, self.report)
        yield Out(("" if settings.only_count else text) + feedback(len(relation.rows), settings))
        for place, column in enumerate(relation.columns):
            chosen = columns.get(column.name.upper())
            if chosen and chosen.new_value and relation.rows:
                self.variables[chosen.new_value] = to_text(relation.rows[-1][place], self.date_format) or ""

    @property
    def date_format(self) -> str:
        """Return NLS_DATE_FORMAT of the session."""
        return self.session.date_format if self.session else "DD-MON-RR"

    def react(self, reaction: Reaction) -> int | None:
        """Return the exit status with which WHENEVER ends the program; None if the program continues."""
        return None if reaction.exit_words is None else self.exit_status(reaction.exit_words)

    def exit_status(self, words: Sequence[str]) -> int:
        """Return the exit status of ``EXIT words``, a number or a variable; the shell sees it modulo 256."""
        word = words[0].upper() if words else "SUCCESS"
        if word.startswith(":"):
            word = to_text(self.binds.values.get(word[1:])) or "0"
        elif word in self.variables:
            word = self.variables[word].strip()
        if word == "SQL.SQLCODE":
            return self.last_code % 256
        if re.fullmatch("[0-9]{1,18}", word):
            return int(word) % 256
        return {"FAILURE": 1, "WARNING": 2}.get(word, 0)


def first_word(text: str) -> str:
    """Return the letters with which a line begins, in upper case."""
    match = re.match(r"[A-Za-z]+", text)
    return match[0].upper() if match else ""


def is_sql(text: str) -> bool:
    """Return whether a line begins a SQL statement or a PL/SQL block, and not a command of SQL*Plus."""
    word = first_word(text.lstrip("( \t"))
    if word == "SET":
        return text.split()[1:2] != [] and text.split()[1].upper() in (
            "TRANSACTION",
            "ROLE",
            "CONSTRAINT",
            "CONSTRAINTS",
        )
    return word in _SQL_WORDS or word in BLOCK_WORDS


def is_block(text: str) -> bool:
    """Return whether a statement is a PL/SQL block or stored code; only a slash ends such a statement."""
    if first_word(text) in BLOCK_WORDS:
        return True
    return (
        re.match(r"create\s+(?:or\s+replace\s+)?(?:(?:non)?editionable\s+)?(?:" + _STORED + r")\b", text, re.I)
        is not None
    )


def rest_of(text: str) -> str:
    """Return the text after the first word of a line."""
    return text.split(None, 1)[1].strip() if len(text.split(None, 1)) > 1 else ""


def stack_text(error: OraError) -> str:
    """Return an error's lines as text."""
    return "\n".join(str(line) for line in error.stack)


def error_block(statement: str, error: OraError) -> str:
    """Return the text that SQL*Plus prints for an error: the wrong line, a marker, the line's number, the stack."""
    before = statement[: error.at]
    number = before.count("\n")
    column = error.at - (before.rfind("\n") + 1)
    line = statement.split("\n")[number]
    return f"{line}\n{' ' * column}*\nERROR at line {number + 1}:\n{stack_text(error)}\n\n\n"
