"""Checks a PL/SQL block before any of it runs: names, views, types, calls.

Oracle compiles a block as a whole, so one unknown column in its last line means that nothing runs at all. An error is
reported as ORA-06550 with its place, followed by the statement that was ignored because of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from exacell.emulator.basics.ora_messages import OraError, ora
from exacell.emulator.plsql.names import FrameNames
from exacell.emulator.plsql.packages import PROCEDURES
from exacell.emulator.plsql.scene import Scene
from exacell.emulator.plsql.syntax import compile_error
from exacell.emulator.plsql.values import (
    WHOLE_TYPE,
    Frame,
    RecordType,
    Scalar,
    TableType,
    Variable,
    empty,
    record_of,
)
from exacell.emulator.sql import blocks as pl, tree
from exacell.emulator.sql.scope import ResultColumn

STANDARD_EXCEPTIONS = {
    "NO_DATA_FOUND": 1403, "TOO_MANY_ROWS": 1422, "ZERO_DIVIDE": 1476, "VALUE_ERROR": 6502, "INVALID_NUMBER": 1722,
    "CURSOR_ALREADY_OPEN": 6511, "INVALID_CURSOR": 1001, "DUP_VAL_ON_INDEX": 1, "CASE_NOT_FOUND": 6592,
    "COLLECTION_IS_NULL": 6531, "SUBSCRIPT_BEYOND_COUNT": 6533, "LOGIN_DENIED": 1017, "NOT_LOGGED_ON": 1012,
    "PROGRAM_ERROR": 6501, "ROWTYPE_MISMATCH": 6504, "STORAGE_ERROR": 6500, "TIMEOUT_ON_RESOURCE": 51,
}  # fmt: skip
"""Codes of the exceptions that every block knows. Source: PL/SQL Language Reference, "Predefined Exceptions"."""


def check_block(text: str, block: pl.Block, scene: Scene, outer: Frame | None = None) -> None:
    """Raise OraError if a block does not compile.

    Args:
        outer: the frame around it, with the names of stored routines.

    Raises:
        OraError: ORA-06550 with the place and the error.
        UndeclaredError: a bind variable is not declared.
    """
    _Checker(text, scene).block(block, outer)


class _Checker:
    def __init__(self, text: str, scene: Scene) -> None:
        self.text = text
        self.scene = scene

    @contextmanager
    def _in_query(self, at: int) -> Iterator[None]:
        try:
            yield
        except OraError as error:
            if error.code == 6550:
                raise
            first = (error.at or at, f"PL/SQL: {error.stack[0]}")
            raise compile_error(self.text, first, (at, "PL/SQL: SQL Statement ignored")) from None

    @contextmanager
    def _in_statement(self, frame: Frame, at: int) -> Iterator[None]:
        try:
            yield
        except OraError as error:
            if error.code == 6550:
                raise
            names = re.findall(r'"([^"]*)"', str(error.stack[0])) if error.code == 904 else []
            if not names:
                first = f"PLS-00306: {error.stack[0].text}" if error.code == 6553 else f"PL/SQL: {error.stack[0]}"
            elif len(names) > 1 and frame.owner(names[0]) is not None:
                first = f"PLS-00302: component '{names[1]}' must be declared"
            else:
                first = f"PLS-00201: identifier '{'.'.join(names)}' must be declared"
            pair = ((error.at or at, first), (at, "PL/SQL: Statement ignored"))
            raise compile_error(self.text, *pair) from None

    # -- blocks and declarations --------------------------------------------------------------------------------------

    def block(self, block: pl.Block, outer: Frame | None) -> None:
        """Check a block inside the frame of another."""
        frame = Frame(outer, label=block.label)
        for declaration in block.declarations:
            in_query = isinstance(declaration, pl.CursorDeclaration)
            with self._in_query(declaration.at) if in_query else self._in_statement(frame, declaration.at):
                self.scene.declare(declaration, frame, running=False)
            if isinstance(declaration, pl.RoutineDeclaration):
                with self._in_statement(frame, declaration.at):
                    inner = self.scene.with_parameters(declaration, frame)
                self.block(declaration.body, inner)
        self._body(block.body, frame)
        for handler in block.handlers:
            for name in handler.names:
                self._exception(name, frame, handler.at)
            self._body(handler.body, frame)

    def _exception(self, name: str, frame: Frame, at: int) -> None:
        owner = frame.owner(name)
        known = owner is not None and name in owner.exceptions
        if not known and name not in STANDARD_EXCEPTIONS and name != "OTHERS":
            message = f"PLS-00201: identifier '{name}' must be declared"
            raise compile_error(self.text, (at, message), (at, "PL/SQL: Statement ignored"))

    def _body(self, body: Sequence[pl.Statement], frame: Frame) -> None:
        for statement in body:
            self._statement(statement, frame)

    # -- statements ---------------------------------------------------------------------------------------------------

    def _statement(self, statement: pl.Statement, frame: Frame) -> None:
        at = statement.at
        match statement:
            case pl.Block():
                self.block(statement, frame)
            case pl.If():
                for condition, body in statement.branches:
                    self._values((condition,), frame, at)
                    self._body(body, frame)
                self._body(statement.otherwise or (), frame)
            case pl.Loop():
                self._values((statement.condition,), frame, at)
                self._body(statement.body, frame)
            case pl.NumericFor():
                self._values((statement.low, statement.high), frame, at)
                inner = Frame(frame, label=statement.label)
                inner.variables[statement.name] = Variable(type=WHOLE_TYPE, constant=True)
                self._body(statement.body, inner)
            case pl.CursorFor():
                self._cursor_loop(statement, frame)
            case pl.SelectInto():
                columns = self._query(statement.query, frame, at)
                self._targets(statement.targets, frame, at)
                self._as_many(len(columns), statement.targets, frame, at)
            case pl.Raise():
                if statement.name:
                    self._exception(statement.name, frame, at)
            case pl.CallStatement():
                self._call(statement, frame)
            case _:
                self._simple(statement, frame)

    def _simple(self, statement: pl.Statement, frame: Frame) -> None:
        at = statement.at
        match statement:
            case pl.Assign():
                self._targets((statement.target,), frame, at)
                whole = isinstance(statement.value, tree.Column) and self._is_whole(statement.value, frame)
                if not whole:
                    self._values((statement.value,), frame, at)
            case pl.Leave():
                self._values((statement.condition,), frame, at)
            case pl.Return():
                self._values((statement.value,), frame, at)
            case pl.Open():
                self._cursor(statement.cursor, frame, at)
                self._values((*statement.arguments, statement.text, *statement.using), frame, at)
                if statement.query is not None:
                    self._query(statement.query, frame, at)
            case pl.Fetch():
                self._cursor(statement.cursor, frame, at)
                self._targets(statement.targets, frame, at)
                self._values((statement.limit,), frame, at)
            case pl.Close():
                self._cursor(statement.cursor, frame, at)
            case pl.Immediate():
                self._values((statement.text, *statement.using), frame, at)
                self._targets(statement.targets, frame, at)

    def _cursor_loop(self, statement: pl.CursorFor, frame: Frame) -> None:
        at = statement.at
        if statement.query is not None:
            columns = self._query(statement.query, frame, at)
        else:
            self._cursor(statement.cursor, frame, at)
            self._values(statement.arguments, frame, at)
            cursor = frame.cursor(statement.cursor)
            columns = cursor.columns if cursor is not None else ()
        inner = Frame(frame, label=statement.label)
        record = record_of(columns)
        inner.variables[statement.record] = Variable(type=record, value=empty(record), constant=True)
        self._body(statement.body, inner)

    def _call(self, statement: pl.CallStatement, frame: Frame) -> None:
        name, at = statement.name, statement.at
        base, _, method = name.partition(".")
        variable = frame.variable(base)
        collection = variable is not None and isinstance(variable.type, TableType)
        if collection and method in ("DELETE", "EXTEND", "TRIM"):
            self._values(statement.arguments, frame, at)
            return
        if frame.routine(name) is None and name.removeprefix("SYS.") not in PROCEDURES:
            message = f"PLS-00201: identifier '{name}' must be declared"
            raise compile_error(self.text, (at, message), (at, "PL/SQL: Statement ignored"))
        self._values(statement.arguments, frame, at)

    # -- parts --------------------------------------------------------------------------------------------------------

    def _values(self, expressions: Sequence[tree.Expression | None], frame: Frame, at: int) -> None:
        for expression in expressions:
            if expression is not None:
                with self._in_statement(frame, at):
                    self.scene.compile(expression, frame)

    def _query(self, query: tree.Query, frame: Frame, at: int) -> tuple[ResultColumn, ...]:
        with self._in_query(at):
            return self.scene.prepared(query, frame).columns

    def _as_many(self, columns: int, targets: Sequence[pl.Target], frame: Frame, at: int) -> None:
        first = None if targets[0].bind or targets[0].field else frame.variable(targets[0].name)
        record = first is not None and not isinstance(first.type, Scalar)
        if columns != len(targets) and not (record and len(targets) == 1):
            code = 913 if columns > len(targets) else 947
            pair = ((at, f"PL/SQL: {ora(code)}"), (at, "PL/SQL: SQL Statement ignored"))
            raise compile_error(self.text, *pair)

    def _cursor(self, name: str, frame: Frame, at: int) -> None:
        if frame.cursor(name) is None:
            message = f"PLS-00201: identifier '{name}' must be declared"
            raise compile_error(self.text, (at, message), (at, "PL/SQL: SQL Statement ignored"))

    def _is_whole(self, column: tree.Column, frame: Frame) -> bool:
        """Return whether a name means a record or a collection, which is assigned as a whole."""
        variable = frame.variable(column.name) if not column.qualifier else None
        return variable is not None and isinstance(variable.type, RecordType | TableType)

    def _targets(self, targets: Sequence[pl.Target], frame: Frame, at: int) -> None:
        names = FrameNames(self.scene.machine, frame)
        for target in targets:
            if target.bind:
                names.variable(tree.Column(":", target.name, target.at))
                continue
            variable = frame.variable(target.name)
            message = ""
            if variable is None:
                message = f"PLS-00201: identifier '{target.name}' must be declared"
            elif variable.constant:
                message = f"PLS-00363: expression '{target.name}' cannot be used as an assignment target"
            elif (
                target.field
                and isinstance(variable.type, RecordType)
                and target.field not in dict(variable.type.fields)
            ):
                message = f"PLS-00302: component '{target.field}' must be declared"
            if message:
                raise compile_error(self.text, (target.at, message), (at, "PL/SQL: Statement ignored"))
            if target.index is not None:
                self._values((target.index,), frame, at)
