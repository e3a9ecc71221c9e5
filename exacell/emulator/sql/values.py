"""Values of the emulated SQL: numbers, texts and dates as Oracle compares, converts and prints them.

NULL and the empty string are the same thing, numbers are decimal, and a date has seconds but no fraction.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal, InvalidOperation
from enum import StrEnum

from exacell.emulator.basics.ora_messages import OraError, ora
from exacell.emulator.sql.date_masks import format_date

Value = None | str | int | Decimal | datetime

DEFAULT_DATE_FORMAT = "DD-MON-RR"
MAXIMUM_CHAR = 4000
NUMBER_EXPONENT = 126
"""A number with this power of ten or a higher one does not fit into NUMBER."""
NUMBER_CHARS = 40
"""Characters that a number takes when it becomes text without a format."""
EXACT_DIGITS = 2 * (NUMBER_EXPONENT + 2 * NUMBER_CHARS)
"""With this many digits, any number is rounded exactly, and divided by any other with an exact remainder."""


class Kind(StrEnum):
    """The family of a column's or an expression's type."""

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
        """Return the number of characters of the value as text."""
        if self.kind is Kind.CHAR:
            return self.width
        return NUMBER_CHARS if self.kind is Kind.NUMBER else 19


NUMBER = ColumnType(Kind.NUMBER)
DATE = ColumnType(Kind.DATE)
TIMESTAMP = ColumnType(Kind.DATE, 6)
"""A date with fractions of seconds, which are always 0 here: it differs from DATE only when printed."""
ZONED = ColumnType(Kind.DATE, 7)
"""TIMESTAMP WITH TIME ZONE."""
INTERVAL = ColumnType(Kind.NUMBER, 9)
"""The difference of two timestamps in days, as between two dates: it differs from NUMBER only when printed."""
BOOLEAN = ColumnType(Kind.BOOLEAN)
"""A boolean of PL/SQL: no column has this type."""


def char(width: int) -> ColumnType:
    """Return a text type of at least one and at most 4000 characters."""
    return ColumnType(Kind.CHAR, max(1, min(width, MAXIMUM_CHAR)))


def checked_text(text: str) -> str | None:
    """Return a text as a value; None for the empty text.

    Raises:
        OraError: ORA-01489 if it is longer than 4000 characters.
    """
    if len(text) > MAXIMUM_CHAR:
        raise OraError(ora(1489))
    return text or None


def from_epoch(seconds: float) -> datetime:
    """Return the DATE of an epoch time; the emulated hosts are in UTC."""
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
    """Return the number that a value is, or that its text means.

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
    """Return a number as NUMBER stores it: an int if it is whole, 0 if it is too small for NUMBER.

    Raises:
        OraError: ORA-01426 if it is 1E126 or more.
    """
    if number and number.adjusted() >= NUMBER_EXPONENT:
        raise OraError(ora(1426))
    if number and number.adjusted() < -NUMBER_EXPONENT - NUMBER_CHARS:
        return 0
    return int(number) if number == number.to_integral_value() else number


def to_text(value: Value, date_format: str = DEFAULT_DATE_FORMAT) -> str | None:
    """Return a value as text; None for NULL."""
    if value is None or value == "":
        return None
    if isinstance(value, str):
        return value
    if isinstance(value, datetime):
        return format_date(value, date_format)
    return number_text(value)
