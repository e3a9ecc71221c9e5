"""What the functions of the emulated SQL are made of: settings, entries of their tables, rules for the types they give."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from exacell.emulator.sql.values import DATE, DEFAULT_DATE_FORMAT, NUMBER, ColumnType, Value, char, to_number, to_text


@dataclass(frozen=True, kw_only=True)
class SqlSettings:
    """What the session gives to functions.

    Attributes:
        now: SYSDATE.
        user: USER.
        date_format: NLS_DATE_FORMAT.
        userenv: what SYS_CONTEXT('USERENV', key) answers, by upper-case key.
        snapshot: takes a snapshot of the workload repository and gives its number; None on an instance that has none.
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
    """A function: how many arguments it takes (``most`` None: any number), what it does, what type it gives."""

    least: int
    most: int | None
    apply: Function
    type_of: TypeRule


def entry(least: int, most: int | None, apply: Function, type_of: TypeRule) -> FunctionEntry:
    """Return a function."""
    return FunctionEntry(least=least, most=most, apply=apply, type_of=type_of)


def text_of(settings: SqlSettings, value: Value) -> str:
    """Return a value as text, the empty one for NULL."""
    return to_text(value, settings.date_format) or ""


def whole_of(value: Value) -> int:
    """Return the whole part of a number, 0 for NULL."""
    number = to_number(value)
    return int(number) if number is not None else 0


def gives_number(_: Sequence[ColumnType]) -> ColumnType:
    """The type of functions that give numbers."""
    return NUMBER


def gives_date(_: Sequence[ColumnType]) -> ColumnType:
    """The type of functions that give dates."""
    return DATE


def gives_first(types: Sequence[ColumnType]) -> ColumnType:
    """The type of functions that give what their first argument is."""
    return types[0]


def gives_text_of_first(types: Sequence[ColumnType]) -> ColumnType:
    """The type of functions that give a text not longer than their first argument."""
    return char(types[0].as_text)


def gives_wide(_: Sequence[ColumnType]) -> ColumnType:
    """The type of functions whose text may be of any length."""
    return char(4000)
