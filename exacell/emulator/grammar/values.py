"""Attribute values of emulated objects: how each kind is printed, written as XML, and compared in WHERE and ORDER BY.

Values have types here, independent of the schema: a size is always a :class:`Size`. Plain strings, integers, floats and
booleans are used as they are; tuples of strings are lists; None is an attribute that is not set.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime

from exacell.core.units import format_size
from exacell.emulator.basics.clock import iso_time
from exacell.emulator.basics.messages import CellError, Code
from exacell.emulator.grammar.changing import size_of
from exacell.emulator.grammar.reading import Filter


@dataclass(frozen=True)
class Size:
    """A number of bytes."""

    size_bytes: int


@dataclass(frozen=True)
class Time:
    """Rack epoch seconds."""

    moment: float


@dataclass(frozen=True)
class Metric:
    """A metric's value with its unit as in the definition (``Number`` prints none)."""

    number: float
    unit: str


@dataclass(frozen=True)
class Lines:
    """A value with several lines in DETAIL (an IORM plan); in a column it is the text ``inline``."""

    lines: tuple[str, ...]
    inline: str


Value = str | bool | int | float | tuple[str, ...] | Size | Time | Metric | Lines | None
Row = dict[str, Value]

_WHOLE_UNITS = frozenset(("IO requests", "us", "ms", "Bytes"))
_THREE_DECIMALS = frozenset(("MB", "MB/sec", "KB", "KB/sec", "GB"))


def metric_text(value: Metric) -> str:
    """Return a metric's value as CellCLI prints it: ``3,418 IO requests``, ``21.082 MB``, ``52.1 %``, ``6.0``.

    Source: reference cellcli.md 3.4. It is inferred from captures that megabytes have no decimals from 1000 on.
    """
    number = value.number
    if value.unit == "Number":
        return str(number)
    if (
        value.unit in _WHOLE_UNITS
        or (value.unit in ("%", "MB/sec") and isinstance(number, int))
        or (abs(number) >= 1000 and value.unit in _THREE_DECIMALS | {"IO/sec"})
    ):
        text = f"{round(number):,}"
    elif value.unit in _THREE_DECIMALS:
        text = f"{number:,.3f}"
    else:
        text = f"{number:,.1f}"
    return f"{text} {value.unit}".rstrip()  # one metric, PDB_SIO_OF_PCT, has no unit


def text_of(value: Value, *, largest_suffix: str = "T") -> str:
    """Return a value as text for a column, without quotes; empty for None."""
    match value:
        case None:
            return ""
        case bool():
            return "TRUE" if value else "FALSE"
        case Size(size_bytes):
            return format_size(size_bytes, largest=largest_suffix)
        case Time(moment):
            return iso_time(moment)
        case Metric():
            return metric_text(value)
        case Lines(_, inline):
            return inline
        case tuple():
            return ",".join(value)
        case _:
            return str(value)


def xml_of(value: Value) -> str:
    """Return a value as text for XML: times in epoch milliseconds, metric values and sizes as numbers without units.

    Source: reference cellcli.md 3.1. Sizes in bytes are an assumption; how a cell writes them there is not published.
    """
    match value:
        case str():  # most values have no special characters
            return value
        case Size(size_bytes):
            return str(size_bytes)
        case Time(moment):
            return str(int(moment) * 1000)
        case Metric(number, _):
            return str(number)
        case _:
            return text_of(value)


def number_of(value: Value) -> float | None:
    """Return the number that a value has in comparisons; None if it is not a number."""
    match value:
        case bool():
            return None
        case int() | float():
            return value
        case Size(size_bytes):
            return size_bytes
        case Metric(number, _):
            return number
        case Time(moment):
            return int(moment)
        case _:
            return None


def _literal_number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        pass
    try:
        return size_of(text)
    except CellError:
        return None


def _moment(text: str) -> float | None:
    try:
        return datetime.fromisoformat(text.strip()).timestamp()
    except ValueError:
        return None


def passes(value: Value, condition: Filter) -> bool:
    """Return whether a value meets a condition.

    Numbers are compared as numbers unless the literal is quoted, times as times, and other values as strings; for ``=`` upper and
    lower case are equal. LIKE is a regular expression for the whole value; on numbers it means ``=``.

    Raises:
        CellError: the pattern is not a regular expression.
    """
    return _holds(value, condition) != condition.negated


def _holds(value: Value, condition: Filter) -> bool:
    literal = condition.value
    if literal is None or literal == "":
        return condition.operator in ("=", "LIKE") and value in (None, "", ())
    left: float | str | None = number_of(value)
    right: float | str | None = None
    if isinstance(value, Time):
        right = _moment(literal)
    elif left is not None and not (condition.quoted and condition.operator != "LIKE"):
        right = _literal_number(literal)
    if left is None or right is None:
        left, right = text_of(value), literal
        if condition.operator == "LIKE":
            return _matches(literal, left)
        if condition.operator == "=":
            return left.lower() == literal.lower()
    if condition.operator in ("=", "LIKE"):
        return left == right
    return left > right if condition.operator == ">" else left < right  # type: ignore[operator]  # both are numbers or both are texts here


def _matches(pattern: str, text: str) -> bool:
    try:
        return re.fullmatch(pattern, text) is not None
    except re.error as error:
        raise CellError(Code.BAD_PATTERN, pattern=pattern) from error


def order_key(value: Value) -> tuple[int, float, str]:
    """Return a sort key: values that are not set come first, then numbers by size, then strings."""
    if value in (None, "", ()):
        return (0, 0.0, "")
    number = number_of(value)
    return (2, 0.0, text_of(value)) if number is None else (1, number, "")


def quoted(text: str) -> str:
    """Return ``text``, in double quotes if it has blanks."""
    return f'"{text}"' if " " in text else text
