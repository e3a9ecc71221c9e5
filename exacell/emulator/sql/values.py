"""Values of the emulated SQL: numbers, texts and dates as Oracle compares, converts and prints them.

NULL and the empty string are the same thing, numbers are decimal, and a date has seconds but no fraction.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal, InvalidOperation
from enum import StrEnum

from exacell.emulator.ora_messages import OraError, ora
from exacell.emulator.sql.date_masks import format_date

Value = None | str | int | Decimal | datetime

DEFAULT_DATE_FORMAT = "DD-MON-RR"
MAXIMUM_CHAR = 4000
NUMBER_EXPONENT = 126
"""Powers of ten from which on a number does not fit into NUMBER."""
NUMBER_CHARS = 40
"""Characters that a number takes when it becomes text without a format."""
EXACT_DIGITS = 2 * (NUMBER_EXPONENT + 2 * NUMBER_CHARS)
"""With so many digits any number is rounded, and divided by any other with a remainder, exactly."""


class Kind(StrEnum):
    """The family that a column or an expression belongs to."""

    CHAR = "char"
    NUMBER = "number"
    DATE = "date"
    BOOLEAN = "boolean"


@dataclass(frozen=True)
class ColumnType:
    """The kind of a column and, for texts, its declared width in characters."""

    kind: Kind
    width: int = 0

    @property
    def as_text(self) -> int:
        """Characters needed once the value is text."""
        if self.kind is Kind.CHAR:
            return self.width
        return NUMBER_CHARS if self.kind is Kind.NUMBER else 19


NUMBER = ColumnType(Kind.NUMBER)
DATE = ColumnType(Kind.DATE)
TIMESTAMP = ColumnType(Kind.DATE, 6)
"""A date with fractions of seconds, which are 0 here: only how it is printed tells it from DATE."""
ZONED = ColumnType(Kind.DATE, 7)
"""TIMESTAMP WITH TIME ZONE."""
INTERVAL = ColumnType(Kind.NUMBER, 9)
"""What is between two timestamps: days, as between two dates; only how it is printed tells it from NUMBER."""
BOOLEAN = ColumnType(Kind.BOOLEAN)
"""Of PL/SQL only: no column has it."""


def char(width: int) -> ColumnType:
    """Return a text type of at least one and at most 4000 characters."""
    return ColumnType(Kind.CHAR, max(1, min(width, MAXIMUM_CHAR)))


def checked_text(text: str) -> str | None:
    """Return a text as a value, None for the empty one.

    Raises:
        OraError: ORA-01489, it is longer than 4000 characters.
    """
    if len(text) > MAXIMUM_CHAR:
        raise OraError(ora(1489))
    return text or None


def from_epoch(seconds: float) -> datetime:
    """Return the DATE of an epoch time; the emulated hosts live in UTC."""
    return datetime.fromtimestamp(int(seconds), UTC).replace(tzinfo=None)


def number_text(value: int | Decimal, point: str = ".") -> str:
    """Return a number as text, without exponent and without a leading zero (``.5``)."""
    if isinstance(value, int):
        return str(value)
    text = format(value, "f")
    if "." in text:
        text = text.rstrip("0").rstrip(".")
    if text in ("", "-", "-0"):
        return "0"
    text = text.replace("-0.", "-.") if text.startswith("-0.") else text
    text = text[1:] if text.startswith("0.") else text
    return text.replace(".", point)


def to_number(value: Value) -> int | Decimal | None:
    """Return the number that a value is or spells.

    Raises:
        OraError: ORA-01722 or ORA-01426.
    """
    if value is None:
        return None
    if isinstance(value, datetime):
        raise OraError(ora(1722))
    try:
        number = Decimal(value if isinstance(value, int | Decimal) else value.strip())
    except InvalidOperation:
        raise OraError(ora(1722)) from None
    if not number.is_finite():
        raise OraError(ora(1722))
    return number_of(number)


def number_of(number: Decimal) -> int | Decimal:
    """Return a number as NUMBER holds it: an int when it is whole, 0 when it is too small to be told from it.

    Raises:
        OraError: ORA-01426, it is 1E126 or more.
    """
    if number and number.adjusted() >= NUMBER_EXPONENT:
        raise OraError(ora(1426))
    if number and number.adjusted() < -NUMBER_EXPONENT - NUMBER_CHARS:
        return 0
    return int(number) if number == number.to_integral_value() else number


def to_text(value: Value, date_format: str = DEFAULT_DATE_FORMAT) -> str | None:
    """Return a value as text, None for NULL."""
    if value is None or value == "":
        return None
    if isinstance(value, str):
        return value
    if isinstance(value, datetime):
        return format_date(value, date_format)
    return number_text(value)
