"""Comparison, three-valued logic, LIKE and arithmetic over the values of the emulated SQL."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import datetime, timedelta
from decimal import Decimal, localcontext
from typing import NoReturn

from exacell.emulator.basics.ora_messages import OraError, ora
from exacell.emulator.sql.values import NUMBER_CHARS, Value, number_of, to_number, to_text

Truth = bool | None
"""True, False, or None for unknown."""


def compare_for_order(left: Value, right: Value, descending: bool, nulls_first: bool | None) -> int:
    """Return -1, 0 or 1 for ORDER BY; unless ``nulls_first`` is set, NULL comes last when ascending, first when descending."""
    if left is None or right is None:
        if left is None and right is None:
            return 0
        first = descending if nulls_first is None else nulls_first
        return -1 if (left is None) == first else 1
    result = compare(left, right)
    return -result if descending else result


def compare(left: Value, right: Value) -> int:
    """Return -1, 0 or 1; a text that is compared with a number is converted to one. No side may be NULL."""
    if isinstance(left, int | Decimal) or isinstance(right, int | Decimal):
        one, two = to_number(left), to_number(right)
        assert one is not None and two is not None
        return (one > two) - (one < two)
    if isinstance(left, datetime) and isinstance(right, datetime):
        return (left > right) - (left < right)
    first, second = to_text(left) or "", to_text(right) or ""
    return (first > second) - (first < second)


def holds(operator: str, left: Value, right: Value) -> Truth:
    """Return whether a comparison is true; None (unknown) if a side is NULL."""
    if left is None or right is None:
        return None
    result = compare(left, right)
    return {
        "=": result == 0,
        "<>": result != 0,
        "<": result < 0,
        ">": result > 0,
        "<=": result <= 0,
        ">=": result >= 0,
    }[operator]


def both(left: Truth, right: Callable[[], Truth]) -> Truth:
    """Return the result of AND; the right side is only computed if it matters."""
    if left is False:
        return False
    second = right()
    if second is False:
        return False
    return None if left is None or second is None else True


def either(left: Truth, right: Callable[[], Truth]) -> Truth:
    """Return the result of OR; the right side is only computed if it matters."""
    if left:
        return True
    second = right()
    if second:
        return True
    return None if left is None or second is None else False


def opposite(value: Truth) -> Truth:
    """Return the result of NOT."""
    return None if value is None else not value


def regexp_like(text: Value, pattern: Value, flags: int) -> Truth:
    """Return whether the pattern is found in the text; None (unknown) if one is NULL.

    Raises:
        OraError: ORA-12725 if ``pattern`` is not a regular expression.
    """
    if text is None or pattern is None:
        return None
    try:
        return re.search(to_text(pattern) or "", to_text(text) or "", flags) is not None
    except re.error:
        raise OraError(ora(12725)) from None


def is_like(text: str, pattern: str, escape: str) -> bool:
    """Return whether the whole text matches LIKE's pattern; the time is at most proportional to the product of the lengths."""
    marks: list[tuple[str, bool]] = []  # a character and whether it is a wildcard
    position = 0
    while position < len(pattern):
        mark = pattern[position]
        literal = bool(escape) and mark == escape and position + 1 < len(pattern)
        position += literal
        marks.append((pattern[position], not literal and mark in "%_"))
        position += 1
    at = place = 0
    star: tuple[int, int] | None = None  # after the last %: the place in the marks, and how far it reaches in the text
    while at < len(text):
        if place < len(marks) and marks[place] == ("%", True):
            star = (place + 1, at)
            place += 1
        elif place < len(marks) and marks[place] in (("_", True), (text[at], False)):
            place, at = place + 1, at + 1
        elif star is not None:
            star = (star[0], star[1] + 1)
            place, at = star
        else:
            return False
    return all(mark == ("%", True) for mark in marks[place:])


def negated(value: Value) -> Value:
    """Return the number with the other sign."""
    number = to_number(value)
    return None if number is None else -number


def no_arithmetic() -> NoReturn:
    """Raise OraError for arithmetic without a meaning.

    Raises:
        OraError: ORA-01722.
    """
    raise OraError(ora(1722))


def arithmetic(operator: str, left: Value, right: Value) -> Value:
    """Return ``left`` + - * / ``right``; dates take days.

    Raises:
        OraError: ORA-01476 or ORA-01722.
    """
    if left is None or right is None:
        return None
    if isinstance(left, datetime) or isinstance(right, datetime):
        return date_arithmetic(operator, left, right)
    one, two = to_number(left), to_number(right)
    if one is None or two is None:
        return None
    if operator == "/" and two == 0:
        raise OraError(ora(1476))
    with localcontext() as context:
        context.prec = NUMBER_CHARS
        first, second = Decimal(one), Decimal(two)
        result = {
            "+": first.__add__,
            "-": first.__sub__,
            "*": first.__mul__,
            "/": first.__truediv__,
        }[operator](second)
        return number_of(result)


def date_arithmetic(operator: str, left: Value, right: Value) -> Value:
    """Return a date moved by a number of days, or the days between two dates."""
    if isinstance(left, datetime) and isinstance(right, datetime):
        if operator != "-":
            no_arithmetic()
        return to_number(str(Decimal(int((left - right).total_seconds())) / 86400))
    if isinstance(left, datetime):
        number = to_number(right)
        if operator == "+":
            return _moved(left, number or 0)
        if operator == "-":
            return _moved(left, -(number or 0))
    elif operator == "+" and isinstance(right, datetime):
        return _moved(right, to_number(left) or 0)
    return no_arithmetic()


def _moved(date: datetime, days: int | Decimal) -> datetime:
    try:
        return date + timedelta(seconds=round(float(days) * 86400))
    except OverflowError:
        raise OraError(ora(1841)) from None
