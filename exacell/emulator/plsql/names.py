"""The meaning of names inside a PL/SQL block: variables, fields, elements, cursor attributes, local and packaged functions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import Protocol, cast

from exacell.emulator.basics.ora_messages import ORA_TEXTS, OraError, ora
from exacell.emulator.plsql.values import (
    Cursor,
    Elements,
    Fields,
    Frame,
    RecordType,
    Routine,
    Scalar,
    TableType,
    Variable,
)
from exacell.emulator.sql import tree
from exacell.emulator.sql.binds import Binds, UndeclaredError
from exacell.emulator.sql.values import BOOLEAN, NUMBER, ColumnType, Kind, Value, char, to_number

Reader = tuple[Callable[[], Value], ColumnType]
Applied = tuple[Callable[[Sequence[Value]], Value], ColumnType]

_ATTRIBUTES: Mapping[str, ColumnType] = MappingProxyType(
    {"%FOUND": BOOLEAN, "%NOTFOUND": BOOLEAN, "%ISOPEN": BOOLEAN, "%ROWCOUNT": NUMBER}
)


class Machine(Protocol):
    """The functions of a running block that the meaning of names needs."""

    binds: Binds

    def call_function(self, routine: Routine, arguments: Sequence[Value]) -> Value:
        """Call a local function and return its result."""

    def sqlcode(self) -> int:
        """Return SQLCODE: 0 outside of a handler."""

    def sqlerrm(self) -> str:
        """Return SQLERRM."""

    def hundredths(self) -> int:
        """Return DBMS_UTILITY.GET_TIME."""

    def random(self, low: Value, high: Value) -> Value:
        """Return a number from low up to high."""

    def changed_rows(self) -> int | None:
        """Return SQL%ROWCOUNT; None before any statement."""


class FrameNames:
    """The names that are visible in a frame; see :class:`exacell.emulator.sql.scope.Names`."""

    def __init__(self, machine: Machine, frame: Frame) -> None:
        self.machine = machine
        self.frame = frame

    def variable(self, column: tree.Column) -> Reader | None:
        """Return a function that reads a name that is not a column of a query; None if the name means nothing here.

        Raises:
            UndeclaredError: a bind variable was not declared.
        """
        qualifier, name, machine = column.qualifier, column.name, self.machine
        if qualifier == ":":
            if name not in machine.binds.types:
                raise UndeclaredError(name)
            return (lambda: machine.binds.values[name]), machine.binds.types[name]
        if name in _ATTRIBUTES:
            return self._attribute(qualifier, name)
        if qualifier:
            return self._member(qualifier, name)
        if name in ("TRUE", "FALSE"):
            truth = name == "TRUE"
            return (lambda: truth), BOOLEAN
        variable = self.frame.variable(name)
        if variable is not None and isinstance(variable.type, Scalar):
            return (lambda: cast(Value, variable.value)), variable.type.column
        routine = self.frame.routine(name)
        if routine is not None and isinstance(routine.returns, Scalar):
            return (lambda: machine.call_function(routine, ())), routine.returns.column
        plain: dict[str, Reader] = {"SQLCODE": (machine.sqlcode, NUMBER), "SQLERRM": (machine.sqlerrm, char(512))}
        return plain.get(name)

    def _attribute(self, qualifier: str, name: str) -> Reader | None:
        kind = _ATTRIBUTES[name]
        if qualifier == "SQL":
            rows = self.machine.changed_rows
            readers: dict[str, Callable[[], Value]] = {
                "%ROWCOUNT": rows,
                "%FOUND": lambda: None if rows() is None else bool(rows()),
                "%NOTFOUND": lambda: None if rows() is None else not rows(),
                "%ISOPEN": lambda: False,
            }
            return readers[name], kind
        cursor = self.frame.cursor(qualifier)
        if cursor is None:
            return None
        return (lambda: _cursor_attribute(cursor, name)), kind

    def _member(self, qualifier: str, name: str) -> Reader | None:
        variable = self.frame.variable(qualifier)
        if variable is None:
            labelled = self._labelled(qualifier, name)
            if labelled is not None:
                return labelled
            packaged: dict[str, Reader] = {
                "DBMS_UTILITY.GET_TIME": (self.machine.hundredths, NUMBER),
                "DBMS_UTILITY.FORMAT_ERROR_STACK": (self.machine.sqlerrm, char(2000)),
                "DBMS_UTILITY.FORMAT_ERROR_BACKTRACE": (self.machine.sqlerrm, char(2000)),
                "DBMS_RANDOM.VALUE": (lambda: self.machine.random(0, 1), NUMBER),
            }
            return packaged.get(f"{qualifier}.{name}")
        if isinstance(variable.type, RecordType):
            kind = dict(variable.type.fields).get(name)
            return None if kind is None else ((lambda: cast(Fields, variable.value)[name]), kind.column)
        if isinstance(variable.type, TableType) and name in ("COUNT", "FIRST", "LAST"):
            return (lambda: _measure(variable, name)), NUMBER
        return None

    def _labelled(self, label: str, name: str) -> Reader | None:
        frame: Frame | None = self.frame
        while frame is not None:
            variable = frame.variables.get(name)
            if frame.label == label and variable is not None and isinstance(variable.type, Scalar):
                return partial(_value_of, variable), variable.type.column
            frame = frame.outer
        return None

    def function(self, call: tree.Call) -> Applied | None:
        """Return the meaning of a call that is not one of SQL's own functions; None if it has none."""
        name, machine = call.name, self.machine
        base, _, method = name.partition(".")
        routine = self.frame.routine(name)
        if routine is not None and isinstance(routine.returns, Scalar):
            return (lambda given: machine.call_function(routine, given)), routine.returns.column
        variable = self.frame.variable(base.removesuffix("()"))
        if variable is not None and isinstance(variable.type, TableType):
            return _of_collection(variable, variable.type, base, method)
        packaged: dict[str, Applied] = {
            "DBMS_RANDOM.VALUE": (lambda given: machine.random(*given[:2]), NUMBER),
            "SQLERRM": (lambda given: _message(given[0]), char(512)),
        }
        return packaged.get(name)


def _value_of(variable: Variable) -> Value:
    return cast(Value, variable.value)


def _cursor_attribute(cursor: Cursor, name: str) -> Value:
    if name == "%ISOPEN":
        return cursor.rows is not None
    if cursor.rows is None:
        raise OraError(ora(1001))
    if name == "%ROWCOUNT":
        return cursor.fetched
    if cursor.found is None:
        return None
    return cursor.found if name == "%FOUND" else not cursor.found


def _measure(variable: Variable, name: str) -> Value:
    keys = sorted_keys(variable)
    if name == "COUNT":
        return len(keys)
    return (keys[0] if name == "FIRST" else keys[-1]) if keys else None


def sorted_keys(variable: Variable) -> list[Value]:
    """Return the indexes of a collection, sorted."""
    keys = list(cast(Elements, variable.value))
    return sorted(keys, key=lambda key: (isinstance(key, str), key))


def element_of(variable: Variable, index: Value) -> Value | Fields:
    """Return an element of a collection.

    Raises:
        OraError: ORA-01403 if there is no element of that index.
    """
    elements = cast(Elements, variable.value)
    if index not in elements:
        raise OraError(ora(1403))
    return elements[index]


def _of_collection(variable: Variable, kind: TableType, base: str, method: str) -> Applied | None:
    if base.endswith("()"):
        field = dict(kind.element.fields).get(method) if isinstance(kind.element, RecordType) else None
        if field is None:
            return None
        return (lambda given: cast(Fields, element_of(variable, given[0]))[method]), field.column
    if not method:
        if not isinstance(kind.element, Scalar):
            return None
        return (lambda given: cast(Value, element_of(variable, given[0]))), kind.element.column
    if method == "EXISTS":
        return (lambda given: given[0] in cast(Elements, variable.value)), BOOLEAN
    if method in ("NEXT", "PRIOR"):
        return (lambda given: _neighbour(variable, given[0], method)), NUMBER
    return None


def _neighbour(variable: Variable, index: Value, method: str) -> Value:
    keys = sorted_keys(variable)
    if method == "NEXT":
        return next((key for key in keys if key > index), None)  # type: ignore[operator]  # keys are of one kind
    return next((key for key in reversed(keys) if key < index), None)  # type: ignore[operator]  # keys are of one kind


def _message(code: Value) -> str:
    number = abs(int(to_number(code) or 0))
    number = 1403 if number == 100 else number
    if not number:
        return "ORA-0000: normal, successful completion"
    return f"ORA-{number:05d}: {ORA_TEXTS.get(number, 'Message ' + str(number) + ' not found')}"


def is_truth(expression: tree.Expression, names: FrameNames) -> bool:
    """Return whether an expression is a condition rather than a value of an SQL type."""
    match expression:
        case tree.Binary(("AND" | "OR" | "=" | "<>" | "<" | ">" | "<=" | ">="), _, _) | tree.Unary("NOT", _):
            return True
        case tree.IsNull() | tree.InList() | tree.Like() | tree.Between() | tree.Exists():
            return True
        case tree.Call("REGEXP_LIKE", _):
            return True
        case tree.Column():
            found = names.variable(expression)
            return found is not None and found[1].kind is Kind.BOOLEAN
        case tree.Call():
            applied = names.function(expression)
            return applied is not None and applied[1].kind is Kind.BOOLEAN
    return False
