"""One connection to an emulated instance: carries out SQL statements from any program.

Disk group statements need an ASM instance and SYSASM, redo log statements a database (source: reference asm.md sections 1 and
10). A statement either happens as a whole or raises an error.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import partial

from exacell.emulator.asm import changes as asm_changes
from exacell.emulator.asm.instances import Instance
from exacell.emulator.asm.statement import CreateGroup, DropGroup, parse_statement
from exacell.emulator.basics.ora_messages import OraError, ora
from exacell.emulator.database.awr_rows import take_snapshot
from exacell.emulator.database.database_changes import alter_database, alter_system_of_database
from exacell.emulator.database.db_rows import parameters
from exacell.emulator.database.segment_changes import change_directories, change_segments, grown, segment_of
from exacell.emulator.database.tablespace_changes import change_tablespaces
from exacell.emulator.database.views import catalog, user_tables
from exacell.emulator.sql.date_masks import format_date
from exacell.emulator.sql.engine import expressions_of, prepare_query, run_query
from exacell.emulator.sql.expressions import Expressions
from exacell.emulator.sql.function_base import SqlSettings
from exacell.emulator.sql.scope import Prepared, ProgramScope, Relation
from exacell.emulator.sql.syntax import parse_query
from exacell.emulator.sql.tokens import TokenKind, TokenReader
from exacell.emulator.sql.tree import Query
from exacell.emulator.sql.values import DEFAULT_DATE_FORMAT, from_epoch
from exacell.emulator.storage.databases import CACHE_SIZE
from exacell.emulator.work.monitor import trace_by_event
from exacell.emulator.work.placement import tablespace_cells
from exacell.emulator.work.reading import ReadTable
from exacell.emulator.work.row_changes import RowChange
from exacell.emulator.work.sessions import OWN_SESSION, UserSession
from exacell.emulator.work.tables import UserTable, known_as


def is_stored_code(words: Sequence[str]) -> bool:
    """Return whether a statement with these first words creates a function, a package or similar code."""
    kinds = ("FUNCTION", "PROCEDURE", "PACKAGE", "TRIGGER", "TYPE", "LIBRARY")
    rest = [
        word.upper() for word in words[:5] if word.upper() not in ("OR", "REPLACE", "EDITIONABLE", "NONEDITIONABLE")
    ]
    return rest[:1] == ["CREATE"] and rest[1:2] != [] and rest[1] in kinds


def _is_tablespace(words: Sequence[str]) -> bool:
    """Return whether CREATE or DROP with these first words is about a tablespace for data."""
    kind = [word.upper() for word in words[1:3]]
    return kind[:1] == ["TABLESPACE"] or (kind[:1] in (["BIGFILE"], ["SMALLFILE"]) and kind[1:] == ["TABLESPACE"])


class Privilege(StrEnum):
    """The administrative privilege of a connection."""

    SYSASM = "SYSASM"
    SYSDBA = "SYSDBA"


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """The result of a statement: rows or a message, and perhaps a rebalance to wait for.

    Attributes:
        relation: the rows of a query, else None.
        message: a line such as ``Diskgroup created.``, empty for a query.
        wait_for: name of the disk group whose rebalance the statement waits for, empty for none.
        rows_only: only rows of users' tables have changed, which are stored as time passes.
    """

    relation: Relation | None = None
    message: str = ""
    wait_for: str = ""
    rows_only: bool = False


@dataclass(kw_only=True)
class SqlSession:
    """A connection with its session settings."""

    instance: Instance
    privilege: Privilege
    date_format: str = DEFAULT_DATE_FORMAT
    settings: dict[str, str] = field(default_factory=dict)
    user: UserSession | None = None
    _changes: dict[str, RowChange] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Connect to a database as one of its sessions."""
        if self.instance.database is not None:
            module = f"sqlplus@{self.instance.asm.nodes[self.instance.node]} (TNS V1-V3)"
            self.user = self.instance.asm.rack.work.desk(self.instance).connect(module)
            self.instance = replace(self.instance, sid=self.user.sid)

    def close(self, *, commit: bool = False) -> None:
        """End the session; uncommitted changes are rolled back, or committed if ``commit`` is set."""
        if self.user is not None:
            if commit:
                self.user.commit()
            self.user.close()
            self.user = None

    def execute(self, statement: str) -> Outcome:
        """Carry out one statement, given without its terminator.

        Raises:
            OraError: Oracle refuses the statement.
        """
        if self.user is not None and (message := self._transaction(self.user, statement)):
            return Outcome(message=message, rows_only=True)
        self._look()
        words = re.findall(r"[A-Za-z_]+", re.sub(r"--[^\n]*|/\*.*?\*/", " ", statement, flags=re.DOTALL))
        verb, noun = ([word.upper() for word in words[:2]] + ["", ""])[:2]
        if verb in ("SELECT", "WITH"):
            found = self._query(statement)
            if self.user is not None and self.user.tracing() is not None:
                self.user.execute(statement, len(found.rows))
            return Outcome(relation=found)
        if self.user is not None and verb in ("CREATE", "ALTER", "DROP"):
            self.user.commit()
        if noun == "DISKGROUP" and verb in ("CREATE", "ALTER", "DROP"):
            return self._disk_group(statement)
        database = self.instance.database
        if database is not None and self._on_segments(verb, noun):
            return Outcome(message=change_segments(self.instance, database, statement))
        if database is not None and verb in ("CREATE", "DROP") and _is_tablespace(words):
            return Outcome(message=change_tablespaces(self.instance, database, statement))
        if (
            database is not None
            and verb in ("CREATE", "DROP")
            and "DIRECTORY" in [w.upper() for w in (noun, *words[3:4])]
        ):
            raise change_directories(statement)
        if verb == "ALTER":
            return self._alter(noun, statement)
        if is_stored_code(words):
            raise OraError(ora(439, "stored PL/SQL is not emulated"))
        if verb in ("COMMIT", "ROLLBACK"):
            return Outcome(message=f"{verb.capitalize()} complete.")
        if verb in ("CREATE", "DROP", "INSERT", "UPDATE", "DELETE", "MERGE", "TRUNCATE", "GRANT", "REVOKE"):
            raise OraError(ora(1109) if database is None else ora(900))
        raise OraError(ora(900))

    def _transaction(self, user: UserSession, statement: str) -> str:
        """Carry out INSERT, UPDATE, DELETE, COMMIT or ROLLBACK; return the message, or an empty text for another statement.

        A repeated statement is compiled once, as long as its table is the same and it does not use the time.
        """
        change = self._changes.get(statement)
        tables = user_tables(self.instance)
        if change is None or tables.get(change.table.known_as) is not change.table:
            words = statement.split(None, 2)[:2]
            verb = words[0].upper() if words else ""
            if verb in ("COMMIT", "ROLLBACK"):
                user.commit() if verb == "COMMIT" else user.rollback()
                return f"{verb.capitalize()} complete."
            if verb not in ("INSERT", "UPDATE", "DELETE"):
                return ""
            self._look()
            change = RowChange(statement, tables, catalog(self.instance), self._settings())
            if "SYS" not in statement.upper():
                self._changes[statement] = change
        done = change.run()
        if done.rows:
            user.undo.append(done.undo)
            grown(self.instance, change.table)
        user.execute(statement, done.rows)
        return done.message

    def read_table(self, name: str) -> tuple[UserTable, ReadTable] | None:
        """Return a user's table by its name in a query, with the facts for reading it; None if there is no such table."""
        owner, _, plain = name.rpartition(".")
        table = user_tables(self.instance).get(known_as(owner, plain))
        segment = None if table is None else segment_of(self.instance, table)
        if table is None or segment is None or self.user is None:
            return None
        whole = f"{segment.owner}.{segment.name}"
        flash = tablespace_cells(self.instance, segment.tablespace)
        return table, ReadTable(
            name=whole,
            clause=segment.cell_flash_cache,
            size_bytes=segment.size_bytes,
            flash=flash,
            own=self._own_cache(),
        )

    def _own_cache(self) -> int:
        """Return the bytes of the flash cache that the instance has on its node; 0 if there is none or it is off."""
        known = parameters(self.instance).get(CACHE_SIZE, (0, None))[1]
        return int(known) if known and known.isdigit() else 0

    @staticmethod
    def _on_segments(verb: str, noun: str) -> bool:
        objects = ("TABLE", "INDEX", *(("UNIQUE", "BITMAP") if verb == "CREATE" else ()))
        return verb in ("CREATE", "ALTER", "DROP") and noun in objects

    def wait_seconds(self, group: str) -> float:
        """Return the rack seconds until a group's rebalance ends; 0 if none runs or its power is 0."""
        asm = self.instance.asm
        asm.settle()
        found = asm.groups.get(group)
        ends = found.operation.ends() if found is not None and found.operation is not None else None
        return max(0.0, ends - asm.now()) if ends is not None else 0.0

    def describe(self, view: str) -> Relation | None:
        """Return a view's columns without rows; None if there is no such view."""
        relation = catalog(self.instance)(view.upper())
        return None if relation is None else Relation(relation.columns, ())

    def prepare(self, query: Query, program: ProgramScope) -> Prepared:
        """Return a query of a PL/SQL block, ready to run.

        Raises:
            OraError: the query does not compile.
        """
        self._look()
        return prepare_query(query, catalog(self.instance), self._settings(), program)

    def expressions(self, program: ProgramScope) -> Expressions:
        """Return a compiler of the expressions of a PL/SQL block."""
        return expressions_of(catalog(self.instance), self._settings(), program)

    def _look(self) -> None:
        self.instance.asm.rack.advance()
        self.instance.asm.settle()

    def _settings(self) -> SqlSettings:
        instance = self.instance
        database = instance.database
        userenv = {
            "INSTANCE": str(instance.node + 1),
            "INSTANCE_NAME": instance.name,
            "SERVER_HOST": instance.asm.nodes[instance.node],
            "HOST": instance.asm.nodes[instance.node],
            "DB_NAME": database.name if database else "+ASM",
            "DB_UNIQUE_NAME": database.name if database else "+ASM",
            "CON_NAME": database.name if database else "+ASM",
            "CON_ID": "0",
            "SID": str(instance.sid or OWN_SESSION),
            "SESSIONID": "4294967295",
            "ISDBA": "TRUE",
            "OS_USER": "grid" if database is None else "oracle",
            "DB_DOMAIN": "",
            "SERVICE_NAME": "SYS$USERS",
            "MODULE": "sqlplus",
            "TERMINAL": "pts/0",
            "LANGUAGE": "AMERICAN_AMERICA.AL32UTF8",
            "NLS_DATE_FORMAT": self.date_format,
            "CURRENT_SCHEMA": "SYS",
            "DATABASE_ROLE": "PRIMARY",
            "SESSION_USER": "SYS",
            "CURRENT_USER": "SYS",
        }
        return SqlSettings(
            now=from_epoch(instance.asm.now()),
            date_format=self.date_format,
            userenv=userenv,
            snapshot=None if database is None else partial(take_snapshot, instance, database),
        )

    def take_snapshot(self) -> None:
        """Take a snapshot of the workload repository.

        Raises:
            OraError: ORA-13516 on an ASM instance, which has no repository.
        """
        if self.instance.database is None:
            raise OraError(ora(13516))
        take_snapshot(self.instance, self.instance.database)

    def _query(self, statement: str) -> Relation:
        try:
            return run_query(parse_query(statement), catalog(self.instance), self._settings())
        except RecursionError:  # thousands of nested parentheses or operators
            raise OraError(ora(3001)) from None

    def _disk_group(self, statement: str) -> Outcome:
        parsed = parse_statement(statement)
        if self.instance.database is not None:
            raise OraError(ora(15000))
        if self.privilege is not Privilege.SYSASM:
            wrapper = 15018 if isinstance(parsed, CreateGroup) else 15039 if isinstance(parsed, DropGroup) else 15032
            raise OraError(ora(wrapper), ora(15260))
        done = asm_changes.execute(self.instance.asm, self.instance.node, parsed)
        return Outcome(message=done.message, wait_for=done.wait_for)

    def _alter(self, noun: str, statement: str) -> Outcome:
        if noun == "SESSION":
            return self._alter_session(statement)
        database = self.instance.database
        if noun == "SYSTEM" and database is None:
            return Outcome(message=self._alter_system_of_asm(statement))
        if noun == "SYSTEM" and database is not None:
            return Outcome(message=alter_system_of_database(self.instance, database, statement))
        if noun == "DATABASE" and database is not None:
            return Outcome(message=alter_database(self.instance, database, statement))
        if noun == "DATABASE":
            raise OraError(ora(1507))
        raise OraError(ora(940))

    def _alter_session(self, statement: str) -> Outcome:
        reader = TokenReader(statement)
        reader.take()
        reader.take()
        if reader.here.is_word("ENABLE", "DISABLE", "FORCE") and reader.ahead().is_word(
            "PARALLEL", "RESUMABLE", "COMMIT"
        ):
            return Outcome(message="Session altered.")
        if not reader.accept("SET"):
            raise reader.error(922)
        if reader.accept("EVENTS"):
            reader.accept_mark("=")
            event = reader.text(2248)
            reader.done(922)
            if self.user is not None:
                trace_by_event(self.user, event)
            return Outcome(message="Session altered.")
        changed: dict[str, str] = {}
        while reader.here.kind in (TokenKind.NAME, TokenKind.QUOTED):
            name = reader.name(922)
            reader.expect_mark("=", 927)
            changed[name] = reader.take().value
        reader.done(922)
        if not changed:
            raise reader.error(2248)
        if "NLS_DATE_FORMAT" in changed:
            format_date(from_epoch(self.instance.asm.now()), changed["NLS_DATE_FORMAT"])
            self.date_format = changed["NLS_DATE_FORMAT"]
        if "TRACEFILE_IDENTIFIER" in changed and self.user is not None:
            self.user.identifier = changed["TRACEFILE_IDENTIFIER"]
        self.settings.update(changed)
        return Outcome(message="Session altered.")

    def _alter_system_of_asm(self, statement: str) -> str:
        """Carry out ALTER SYSTEM SET asm_diskstring | asm_power_limit = value, … [SCOPE = s] [SID = 's']."""
        if self.privilege is not Privilege.SYSASM:
            raise OraError(ora(1031))
        asm = self.instance.asm
        reader = TokenReader(statement)
        reader.take()
        reader.take()
        if reader.accept("FLUSH") or reader.accept("CHECKPOINT"):
            return "System altered."
        if not reader.accept("SET"):
            raise reader.error(2065)
        if reader.accept("EVENTS"):
            return "System altered."
        at = reader.here.at
        name = reader.name(2065).lower()
        reader.expect_mark("=", 927)
        values = [reader.take().value]
        while reader.accept_mark(","):
            values.append(reader.take().value)
        while reader.accept("SCOPE") or reader.accept("SID"):
            reader.expect_mark("=", 927)
            reader.take()
        reader.done(2065)
        if name in ("asm_diskgroups", "asm_preferred_read_failure_groups"):
            return "System altered."  # the groups to mount at start are those that are mounted; preferred reads are not emulated
        if name not in asm.parameters:
            raise OraError(ora(2095 if name in parameters(self.instance) else 2065), at=at)
        if name == "asm_power_limit" and not (
            re.fullmatch("[0-9]{1,4}", values[0]) and int(values[0]) <= asm_changes.MOST_POWER
        ):
            raise OraError(ora(2097), ora(15238, values[0], name))
        asm.parameters[name] = ", ".join(values)
        return "System altered."
