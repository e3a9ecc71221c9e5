"""Types and variables of PL/SQL blocks: the values that a variable may have, and conversion to its type.

Source: Oracle Database PL/SQL Language Reference, "PL/SQL Data Types"; ORA-06502 when a value does not fit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from decimal import ROUND_HALF_UP, Decimal

from exacell.emulator.basics.ora_messages import OraError, ora
from exacell.emulator.sql.blocks import CursorDeclaration, RoutineDeclaration
from exacell.emulator.sql.date_masks import parse_date
from exacell.emulator.sql.scope import ResultColumn, Row
from exacell.emulator.sql.values import (
    BOOLEAN,
    DATE,
    NUMBER,
    ColumnType,
    Kind,
    Value,
    char,
    number_of,
    to_number,
    to_text,
)


@dataclass(frozen=True, kw_only=True)
class Scalar:
    """A type of one value.

    Attributes:
        column: the SQL type that it has in expressions.
        width: characters of a text, digits of a number; 0 for as many as fit.
        scale: decimals that a number is rounded to, None for none.
    """

    column: ColumnType
    width: int = 0
    scale: int | None = None


@dataclass(frozen=True, kw_only=True)
class RecordType:
    """A record: names and types of its fields."""

    fields: tuple[tuple[str, Scalar], ...]


@dataclass(frozen=True, kw_only=True)
class TableType:
    """A collection."""

    element: Scalar | RecordType


@dataclass(frozen=True, kw_only=True)
class CursorType:
    """A cursor variable."""


PlType = Scalar | RecordType | TableType | CursorType
Fields = dict[str, Value]
Elements = dict[Value, "Value | Fields"]

NUMBER_TYPE = Scalar(column=NUMBER)
WHOLE_TYPE = Scalar(column=NUMBER, width=10, scale=0)
BOOLEAN_TYPE = Scalar(column=BOOLEAN)
DATE_TYPE = Scalar(column=DATE)


def text_type(width: int) -> Scalar:
    """Return the type of texts up to a width."""
    return Scalar(column=char(width), width=width)


def type_of_column(column: ColumnType) -> Scalar:
    """Return the type that ``%TYPE`` of a column means."""
    return Scalar(column=column, width=column.width if column.kind is Kind.CHAR else 0)


def record_of(columns: Sequence[ResultColumn]) -> RecordType:
    """Return the type that ``%ROWTYPE`` of a query or a view means."""
    return RecordType(fields=tuple((column.name, type_of_column(column.type)) for column in columns))


def converted(value: Value, kind: Scalar, date_format: str) -> Value:
    """Return a value converted to the type.

    Raises:
        OraError: ORA-06502 if it does not fit; ORA-01858 and similar codes for a date.
    """
    if value is None:
        return None
    match kind.column.kind:
        case Kind.NUMBER:
            return _number(value, kind)
        case Kind.DATE:
            return value if isinstance(value, datetime) else parse_date(to_text(value, date_format) or "", date_format)
        case Kind.BOOLEAN:
            if not isinstance(value, bool):
                raise OraError(ora(6502, "character to number conversion error"))
            return value
        case _:
            text = to_text(value, date_format) or ""
            if kind.width and len(text) > kind.width:
                raise OraError(ora(6502, "character string buffer too small"))
            return text or None


def _number(value: Value, kind: Scalar) -> Value:
    try:
        number = to_number(value)
    except OraError:
        raise OraError(ora(6502, "character to number conversion error")) from None
    if number is None or kind.scale is None:
        return number
    rounded = number_of(Decimal(number).quantize(Decimal(1).scaleb(-kind.scale), rounding=ROUND_HALF_UP))
    if kind.width and abs(Decimal(rounded)) >= Decimal(10).scaleb(kind.width - kind.scale - 1):
        raise OraError(ora(6502, "number precision too large"))
    return rounded


@dataclass(kw_only=True)
class Variable:
    """A variable; the value of a record or a collection is a mapping."""

    type: Scalar | RecordType | TableType
    value: Value | Fields | Elements = None
    constant: bool = False


@dataclass(kw_only=True)
class Cursor:
    """A cursor: its declaration (None for a cursor variable) and, while it is open, its rows.

    Attributes:
        columns: the query's columns, () before they are known.
        rows: None while it is closed.
        fetched: how many rows were fetched.
        found: whether the last fetch returned a row; None before the first.
    """

    declaration: CursorDeclaration | None = None
    frame: Frame
    columns: tuple[ResultColumn, ...] = ()
    rows: Sequence[Row] | None = None
    fetched: int = 0
    found: bool | None = None


@dataclass(frozen=True, kw_only=True)
class Routine:
    """A local procedure or function and the frame that it was declared in."""

    declaration: RoutineDeclaration
    returns: Scalar | RecordType | TableType | None
    frame: Frame


@dataclass(frozen=True, kw_only=True, eq=False)
class ExceptionName:
    """A declared exception; two exceptions of the same name are different."""

    name: str
    code: int


@dataclass(eq=False)
class Frame:
    """The names of a block, a routine or a loop, and the frame around it."""

    outer: Frame | None
    variables: dict[str, Variable] = field(default_factory=dict)
    cursors: dict[str, Cursor] = field(default_factory=dict)
    routines: dict[str, Routine] = field(default_factory=dict)
    exceptions: dict[str, ExceptionName] = field(default_factory=dict)
    types: dict[str, PlType] = field(default_factory=dict)
    label: str = ""

    def owner(self, name: str) -> Frame | None:
        """Return the innermost frame that declares a name; None if no frame does."""
        frame: Frame | None = self
        while frame is not None:
            stores = (frame.variables, frame.cursors, frame.routines, frame.exceptions, frame.types)
            if any(name in store for store in stores):
                return frame
            frame = frame.outer
        return None

    def variable(self, name: str) -> Variable | None:
        """Return the variable of this name; None if the name means something else."""
        frame = self.owner(name)
        return frame.variables.get(name) if frame else None

    def cursor(self, name: str) -> Cursor | None:
        """Return the cursor of this name; None if the name means something else."""
        frame = self.owner(name)
        return frame.cursors.get(name) if frame else None

    def routine(self, name: str) -> Routine | None:
        """Return the local routine of this name; None if the name means something else."""
        frame = self.owner(name)
        return frame.routines.get(name) if frame else None


def empty(kind: Scalar | RecordType | TableType) -> Value | Fields | Elements:
    """Return the value of a variable before anything is assigned to it."""
    if isinstance(kind, RecordType):
        return dict.fromkeys((name for name, _ in kind.fields), None)
    return {} if isinstance(kind, TableType) else None
