"""The parts of the SQL functions: settings, entries of their tables, and rules for the types of their results."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from exacell.emulator.sql.values import DATE, DEFAULT_DATE_FORMAT, NUMBER, ColumnType, Value, char, to_number, to_text


@dataclass(frozen=True, kw_only=True)
class SqlSettings:
    """The values of the session that functions use.

    Attributes:
        now: SYSDATE.
        user: USER.
        date_format: NLS_DATE_FORMAT.
        userenv: the results of SYS_CONTEXT('USERENV', key), by upper-case key.
        snapshot: takes a snapshot of the workload repository and returns its number; None on an instance without a repository.
    """

    now: datetime
    user: str = "SYS"
    date_format: str = DEFAULT_DATE_FORMAT
    userenv: Mapping[str, str] = field(default_factory=dict)
    snapshot: Callable[[], int] | None = None


Function = Callable[[SqlSettings, Sequence[Value]], Value]
TypeRule = Callable[[Sequence[ColumnType]], ColumnType]


@dataclass(frozen=True, kw_only=True)
class FunctionEntry:
    """A function: its least and most arguments (``most`` None: any number), its implementation, and the type of its result."""

    least: int
    most: int | None
    apply: Function
    type_of: TypeRule


def entry(least: int, most: int | None, apply: Function, type_of: TypeRule) -> FunctionEntry:
    """Return the entry of a function."""
    return FunctionEntry(least=least, most=most, apply=apply, type_of=type_of)


def text_of(settings: SqlSettings, value: Value) -> str:
    """Return a value as text; the empty text for NULL."""
    return to_text(value, settings.date_format) or ""


def whole_of(value: Value) -> int:
    """Return the whole part of a number; 0 for NULL."""
    number = to_number(value)
    return int(number) if number is not None else 0


def gives_number(_: Sequence[ColumnType]) -> ColumnType:
    """Return the type of functions that return numbers."""
    return NUMBER


def gives_date(_: Sequence[ColumnType]) -> ColumnType:
    """Return the type of functions that return dates."""
    return DATE


def gives_first(types: Sequence[ColumnType]) -> ColumnType:
    """Return the type of functions that return the type of their first argument."""
    return types[0]


def gives_text_of_first(types: Sequence[ColumnType]) -> ColumnType:
    """Return the type of functions that return a text not longer than their first argument."""
    return char(types[0].as_text)


def gives_wide(_: Sequence[ColumnType]) -> ColumnType:
    """Return the type of functions that return a text of any length."""
    return char(4000)
