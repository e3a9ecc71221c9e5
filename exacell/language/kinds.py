"""Convert a word to the value that a parameter's kind requires."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from exacell.core.cellset import CellSet
from exacell.core.errors import ExacellError, StatementError
from exacell.core.meant import closest
from exacell.core.patterns import pattern
from exacell.core.units import parse_duration, parse_size
from exacell.language.registry import Kind, Param, Value

_TRUE = {"yes": True, "on": True, "true": True, "1": True, "no": False, "off": False, "false": False, "0": False}
_LISTED = 8
"""Maximum number of allowed words that an error lists besides a similar one."""

_LONGEST = 18
"""Maximum number of digits of a whole number, so that it fits into 64 bits."""
_NAME = pattern(r"[A-Za-z0-9_+][A-Za-z0-9_.+\-]*")


def convert(param: Param, text: str, start: int, end: int) -> Value:
    """Return the value of ``text`` for ``param``: bytes for sizes, seconds for durations.

    Raises:
        StatementError: the value is not of that kind; ``start`` and ``end`` are passed on.
    """
    for word in param.words:
        if text.lower() == word.lower():
            return word
    try:
        return _convert(param, text)
    except ExacellError as error:
        extra = f" (or {' | '.join(param.words)})" if param.words else ""
        raise StatementError(
            f"{param.name}: {error.message}{extra}",
            start=start,
            end=end,
            suggestions=getattr(error, "suggestions", ()) or closest(text, param.words),
            hint=error.hint,
        ) from error


def _convert(param: Param, text: str) -> Value:
    if not text and param.kind is not Kind.TEXT:
        raise StatementError("a value is missing", hint="write it directly after =, without a blank")
    if param.kind is Kind.CHOICE:
        return _choice(param, text)
    if param.kind in _NAMED:
        if not _NAME.fullmatch(text):
            raise StatementError(f"'{text}' is not a name: letters, digits, _ - . +, no blanks")
        return text
    return _READ[param.kind](text) if param.kind in _READ else text


def _size(text: str) -> Value:
    size = parse_size(text)
    if size <= 0:
        raise StatementError(f"'{text}' must be above 0")
    return size


def _whole(text: str) -> Value:
    if not re.fullmatch(r"[0-9]+", text):
        raise StatementError(f"'{text}' is not a whole number")
    if len(text) > _LONGEST:
        raise StatementError(f"'{text[:_LONGEST]}…' is too large a number")
    return int(text)


def _number(text: str) -> Value:
    if not re.fullmatch(r"[0-9]+(\.[0-9]+)?", text):
        raise StatementError(f"'{text}' is not a number")
    return float(text)


def _yes_or_no(text: str) -> Value:
    if text.lower() not in _TRUE:
        raise StatementError(f"'{text}' must be yes or no")
    return _TRUE[text.lower()]


def _choice(param: Param, text: str) -> Value:
    for choice in param.choices:
        if text.lower() == choice.lower():
            return choice
        if choice.endswith(":") and text.lower().startswith(choice):
            return choice + text[len(choice) :]
    near = closest(text, param.choices)
    many = near and len(param.choices) > _LISTED
    those = "those that there are" if many else ", ".join(param.choices)
    raise StatementError(f"'{text}' is not one of {those}", suggestions=near)


def _cells(text: str) -> Value:
    if text == "@":
        raise StatementError("a group's name is missing after @", hint="`cells` lists the groups")
    if not text.startswith("@"):
        CellSet.parse(text, groups=lambda name: ())
    return text


def _directive(text: str) -> Value:
    if not text.isprintable() or ("'" in text and '"' in text):
        raise StatementError(f"{text!r} is not a name: printable characters, and one kind of quotes at most")
    return text


def _names(text: str) -> Value:
    return tuple(part.strip() for part in text.split(",") if part.strip())


_READ: Mapping[Kind, Callable[[str], Value]] = {
    Kind.BOOL: _yes_or_no,
    Kind.CELLSET: _cells,
    Kind.CHANGE: _whole,
    Kind.DIRECTIVE: _directive,
    Kind.DURATION: parse_duration,
    Kind.INT: _whole,
    Kind.NAMES: _names,
    Kind.NUMBER: _number,
    Kind.SIZE: _size,
}
"""Kind → function that converts the text to a value; kinds that are neither here nor in _NAMED keep their text."""

_NAMED = frozenset(
    (
        Kind.NAME, Kind.DB, Kind.DISKGROUP, Kind.PREFIX, Kind.RACK, Kind.SNAPSHOT, Kind.CELL, Kind.ALERT, Kind.PLAN,
        Kind.BASELINE, Kind.ASM, Kind.IORM, Kind.RUN,
    )
)  # fmt: skip
"""Kinds whose values are names without blanks."""
