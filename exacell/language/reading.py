"""Take a value from one column of a statement's answer, and compare it: ``show iorm.objective of exa1cel01``. Pure.

``let`` reads such a value before a recipe's plan; ``check`` and ``wait until`` compare it. Values are taken from records,
never from printed text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from exacell.cellcli.condition import FactCheck, read_check, read_wait
from exacell.cellcli.statement import Verb
from exacell.core.errors import StatementError, UnitError
from exacell.core.units import GIB, KIB, MIB, TIB, human_size, parse_duration, parse_size
from exacell.core.values import dataclass
from exacell.language.registry import commands
from exacell.language.words import unquote

EXAMPLE = 'check list flashcache.size >= 288g "the cache is too small"'


@dataclass(frozen=True, kw_only=True)
class Reading:
    """One column of a statement's answer.

    Attributes:
        statement: the statement as it would be typed.
        column: name of the column; upper and lower case are equal.
        key: the cell or the name of one record; empty for all records.
    """

    statement: str
    column: str
    key: str = ""

    def __str__(self) -> str:
        return f"{self.statement}.{self.column}" + (f" of {self.key}" if self.key else "")


@dataclass(frozen=True, kw_only=True)
class ReadingCheck:
    """A check that is true if the comparison with ``value`` holds for every value of a reading; ``why`` is the message if it
    is false.
    """

    reading: Reading
    operator: str
    value: str
    why: str = ""


_COLUMN = r"(?P<statement>.*\S)\.(?P<column>[A-Za-z_][\w#$]*)(?:\s+of\s+(?P<key>\"[^\"]*\"|'[^']*'|[^\s<>=!]+))?"
_READING = re.compile(_COLUMN, re.IGNORECASE | re.DOTALL)
_CHECK = re.compile(
    _COLUMN
    + r"\s*(?P<operator><=|>=|!=|=|<|>)\s*(?P<value>\"[^\"]*\"|'[^']*'|[^\s\"'<>=!]+)(?:\s+(?P<why>\"[^\"]+\"|'[^']+'))?",
    re.IGNORECASE | re.DOTALL,
)


def read_reading(text: str) -> Reading:
    """Return the reading in ``text``; whether its statement is valid and only reads is not checked.

    Raises:
        StatementError: ``text`` does not have the form of a reading.
    """
    found = _READING.fullmatch(text.strip())
    if found is None:
        raise StatementError(
            f"'{text.strip()}' is not a column of a statement: STATEMENT.COLUMN [of CELL or NAME]",
            start=0,
            end=len(text),
            hint="such as: list flashcache.size of exa1cel01",
        )
    return _reading(found)


def _reading(found: re.Match[str]) -> Reading:
    return Reading(statement=found["statement"].strip(), column=found["column"], key=unquote(found["key"] or ""))


def begins_statement(text: str) -> bool:
    """Return whether a text begins like a statement, not like a check of facts (all, no, same)."""
    word = text.split(None, 1)[0].lower() if text.strip() else ""
    return word == "on" or word.upper() in {verb.value for verb in Verb} or any(word == key[0] for key in commands())


def read_fact(text: str) -> FactCheck | ReadingCheck:
    """Return the check in ``text``: of facts of the cells, or of a statement's answer.

    Raises:
        StatementError: it is neither; places are offsets into ``text``.
    """
    if not begins_statement(text):
        return read_check(text)
    found = _CHECK.fullmatch(text.strip())
    if found is None:
        raise StatementError(
            "a check is STATEMENT.COLUMN [of CELL or NAME], a comparison and a value",
            start=0,
            end=len(text),
            hint=f"such as: {EXAMPLE}; put a value with blanks in quotes",
        )
    return ReadingCheck(
        reading=_reading(found),
        operator=found["operator"],
        value=unquote(found["value"]),
        why=unquote(found["why"] or ""),
    )


def read_until(text: str, *, bounded: bool) -> FactCheck | ReadingCheck | float:
    """Return the check after UNTIL, or the seconds of a wait; see :func:`exacell.cellcli.condition.read_wait`.

    Raises:
        StatementError: it is neither.
    """
    first, *rest = text.split(None, 1) or [""]
    if first.lower() == "until" and rest and begins_statement(rest[0]):
        return read_fact(rest[0])
    return read_wait(text, bounded=bounded)


class NothingReadError(StatementError):
    """The statement answered, but the answer has no record to read; there may be one later."""


def chosen(
    reading: Reading, records: Sequence[Mapping[str, Any]], columns: Sequence[str] = ()
) -> list[tuple[str, Any]]:
    """Return (cell or name, value in the reading's column) for each selected record.

    See :func:`picked` for the arguments and the errors.
    """
    return [(about, record.get(column)) for about, record, column in picked(reading, records, columns)]


def picked(
    reading: Reading, records: Sequence[Mapping[str, Any]], columns: Sequence[str] = ()
) -> list[tuple[str, Mapping[str, Any], str]]:
    """Return (cell or name, record, actual name of the column) for each record that the reading's key selects.

    Args:
        columns: the records' columns in the order in which they are shown; the first one that is not a cell names a record.

    Raises:
        NothingReadError: there is no record, or none with that key.
        StatementError: the records have no such column.
    """
    if not records:
        raise NothingReadError(
            f"'{reading.statement}' gave no rows, so there is no {reading.column}",
            hint="run it alone to see its answer",
        )
    known = list(dict.fromkeys([*columns, *(name for record in records for name in record)]))
    column = next((name for name in known if name.lower() == reading.column.lower()), None)
    if column is None:
        listed = ", ".join(name for name in known if name != "cell")
        raise StatementError(f"'{reading.statement}' has no column {reading.column}: it has {listed}")
    names = [name for name in dict.fromkeys(["name", *known]) if name not in ("cell", column)][:2]
    found: list[tuple[str, Mapping[str, Any], str]] = []
    for record in records:
        about = [str(record[name]) for name in ("cell", *names) if record.get(name) is not None]
        if not reading.key or reading.key.lower() in (each.lower() for each in about):
            # If the read column is the name itself, a cell's record is named by the cell only.
            own = 1 if column == "name" and record.get("cell") is not None else 2
            found.append((" ".join(about[:own]), record, column))
    if not found:
        raise NothingReadError(
            f"'{reading.statement}' has no row for {reading.key}",
            hint=f"`of` takes a cell, or a value of {' or '.join(names) or 'its first column'}",
        )
    return found


def single(reading: Reading, found: Sequence[tuple[str, Any]]) -> Any:
    """Return the one value of a reading.

    Raises:
        StatementError: there is no value, or there are several.
    """
    values = list(dict.fromkeys(value if value.__hash__ else str(value) for _, value in found))
    if len(values) > 1:
        firsts = [next(about for about, each in found if each == value) for value in values[:3]]
        told = ", ".join(
            f"{about}: {value}" if about else f"{value}" for about, value in zip(firsts, values, strict=False)
        )
        told += " …" if len(values) > 3 else ""
        raise StatementError(
            f"{reading} is not one value but {len(values)} ({told})",
            hint=f"`{reading.column} of CELL` or `of NAME` chooses one",
        )
    if values[0] is None or values[0] == "":
        raise StatementError(f"{reading} is empty", hint="run the statement alone to see its answer")
    return values[0]


_TIMES = {"us": 1e6, "ms": 1e3, "sec": 1.0, "seconds": 1.0}
_BYTES = {"bytes": 1, "KB": KIB, "MB": MIB, "GB": GIB, "TB": TIB}


def measured(wanted: str, unit: str) -> str:
    """Return a size or duration as a number of ``unit``, as metrics write it (``MB``, ``us``, ``us/request``); a plain number
    and any other text are returned unchanged.
    """
    what = unit.partition("/")[0]
    try:
        if wanted.strip()[-1:].isalpha() and what in _BYTES:
            return repr(parse_size(wanted) / _BYTES[what])
        if wanted.strip()[-1:].isalpha() and what in _TIMES:
            return repr(parse_duration(wanted) * _TIMES[what])
    except UnitError:
        pass
    return wanted


def compares(value: Any, operator: str, wanted: str) -> bool:
    """Return whether the comparison of a record's value with a word is true: numbers, sizes, durations and percents by value.

    Raises:
        StatementError: < or > is used with a value that is not a number.
    """
    if isinstance(value, bool):
        value = str(value).lower()
    pair = next((pair for reader in _READERS if (pair := _both(reader, value, wanted)) is not None), None)
    if pair is not None:
        one, other = pair
        return {
            "=": one == other,
            "!=": one != other,
            "<": one < other,
            "<=": one <= other,
            ">": one > other,
            ">=": one >= other,
        }[operator]
    if operator not in ("=", "!="):
        raise StatementError(
            f"{value if value not in (None, '') else 'nothing'} {operator} {wanted}: these are not numbers; for "
            f"text use only = and !="
        )
    return (("" if value is None else str(value)).lower() == wanted.lower()) == (operator == "=")


def shown_beside(value: Any, wanted: str) -> str:
    """Return a record's value as text for people; a number of bytes becomes a size if ``wanted`` is a size."""
    if value is None or value == "":
        return "empty"
    unit = wanted[-1:].upper()
    if isinstance(value, int) and not isinstance(value, bool) and unit in ("K", "M", "G", "T"):
        return human_size(value)
    return str(value)


def _percent(text: str) -> float:
    return float(text.removesuffix("%"))


_READERS: tuple[Callable[[str], float], ...] = (_percent, parse_size, parse_duration)


def _both(reader: Callable[[str], float], value: Any, wanted: str) -> tuple[float, float] | None:
    try:
        other = reader(wanted.strip())
        return (value if isinstance(value, (int, float)) else reader(str(value).strip())), other
    except (ValueError, UnitError):
        return None
