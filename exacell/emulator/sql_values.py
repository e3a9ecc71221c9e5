"""Values of the emulated SQL: numbers, texts and dates as Oracle compares, converts and prints them.

NULL and the empty string are the same thing, numbers are decimal, and a date has seconds but no fraction.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal, InvalidOperation
from enum import StrEnum

from exacell.emulator.ora_messages import OraError, ora

Value = None | str | int | Decimal | datetime

DEFAULT_DATE_FORMAT = "DD-MON-RR"
MAXIMUM_CHAR = 4000
NUMBER_EXPONENT = 126
"""Powers of ten from which on a number does not fit into NUMBER."""
NUMBER_CHARS = 40
"""Characters that a number takes when it becomes text without a format."""


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


_DATE_ELEMENTS = (
    "YYYY", "RRRR", "MONTH", "HH24", "HH12", "FF3", "FF6", "DAY", "DDD", "MON", "TZR", "SSSSS",
    "YY", "RR", "MM", "DD", "DY", "HH", "MI", "SS", "AM", "PM", "IW", "WW", "D", "Q", "FF",
)  # fmt: skip


def format_date(value: datetime, mask: str) -> str:
    """Return a date in one of Oracle's masks (``YYYY-MM-DD"T"HH24:MI:SS``, ``DD-MON-RR``).

    Raises:
        OraError: ORA-01821, the mask holds something that is no element.
    """
    out: list[str] = []
    position, fill = 0, True
    upper = mask.upper()
    while position < len(mask):
        if mask[position] == '"':
            end = mask.find('"', position + 1)
            if end < 0:
                raise OraError(ora(1821))
            out.append(mask[position + 1 : end])
            position = end + 1
            continue
        if upper.startswith("FM", position):
            fill = not fill
            position += 2
            continue
        element = next((e for e in _DATE_ELEMENTS if upper.startswith(e, position)), None)
        if element is not None:
            text = _date_element(value, element, fill)
            spelled = mask[position : position + len(element)]
            if text.isalpha():
                text = text if spelled.isupper() else text.lower() if spelled.islower() else text.capitalize()
            out.append(text)
            position += len(element)
        elif mask[position].isalnum():
            raise OraError(ora(1821))
        else:
            out.append(mask[position])
            position += 1
    return "".join(out)


_MONTHS = (
    "JANUARY", "FEBRUARY", "MARCH", "APRIL", "MAY", "JUNE", "JULY", "AUGUST", "SEPTEMBER", "OCTOBER", "NOVEMBER",
    "DECEMBER",
)  # fmt: skip
_DAYS = ("MONDAY", "TUESDAY", "WEDNESDAY", "THURSDAY", "FRIDAY", "SATURDAY", "SUNDAY")


def _date_element(value: datetime, element: str, fill: bool) -> str:
    numbers = {
        "YYYY": (value.year, 4), "RRRR": (value.year, 4), "YY": (value.year % 100, 2), "RR": (value.year % 100, 2),
        "MM": (value.month, 2), "DD": (value.day, 2), "DDD": (value.timetuple().tm_yday, 3),
        "HH24": (value.hour, 2), "HH12": ((value.hour + 11) % 12 + 1, 2), "HH": ((value.hour + 11) % 12 + 1, 2),
        "MI": (value.minute, 2), "SS": (value.second, 2), "D": (value.isoweekday() % 7 + 1, 1),
        "SSSSS": (value.hour * 3600 + value.minute * 60 + value.second, 5), "Q": ((value.month + 2) // 3, 1),
        "IW": (value.isocalendar().week, 2), "WW": ((value.timetuple().tm_yday + 6) // 7, 2),
        "FF": (0, 6), "FF3": (0, 3), "FF6": (0, 6),
    }  # fmt: skip
    if element in numbers:
        number, width = numbers[element]
        return f"{number:0{width}d}" if fill else str(number)
    names = {
        "MONTH": _MONTHS[value.month - 1].ljust(9 if fill else 0),
        "MON": _MONTHS[value.month - 1][:3],
        "DAY": _DAYS[value.weekday()].ljust(9 if fill else 0),
        "DY": _DAYS[value.weekday()][:3],
        "AM": "AM" if value.hour < 12 else "PM",
        "PM": "AM" if value.hour < 12 else "PM",
        "TZR": "+00:00",
    }
    return names[element]


def parse_date(text: str, mask: str) -> datetime:
    """Return the date that ``text`` spells in ``mask`` (numeric elements and MON).

    Raises:
        OraError: ORA-01821 for the mask, ORA-01843 or ORA-01858 for the text.
    """
    fields = {"YYYY": 1970, "MM": 1, "DD": 1, "HH24": 0, "MI": 0, "SS": 0}
    position, at = 0, 0
    upper = mask.upper()
    while at < len(mask):
        element = next((e for e in (*fields, "MON") if upper.startswith(e, at)), None)
        if element is None:
            if mask[at].isalnum():
                raise OraError(ora(1821))
            position += position < len(text)
            at += 1
            continue
        width = 4 if element == "YYYY" else 3 if element == "MON" else 2
        piece = text[position : position + width]
        if element == "MON":
            names = [month[:3] for month in _MONTHS]
            if piece.upper() not in names:
                raise OraError(ora(1843))
            fields["MM"] = names.index(piece.upper()) + 1
        elif piece.isdigit():
            fields[element] = int(piece)
        elif piece:
            raise OraError(ora(1858))
        position += len(piece)
        at += len(element)
    try:
        year, month, day = fields["YYYY"], fields["MM"], fields["DD"]
        return datetime(year, month, day, fields["HH24"], fields["MI"], fields["SS"])
    except ValueError:
        raise OraError(ora(1843)) from None


def format_number(value: int | Decimal, mask: str) -> str:
    """Return TO_CHAR(number, mask) for masks of 9, 0, a point, commas and FM; ``####`` when it does not fit."""
    picture = mask.upper()
    trim = picture.startswith("FM")
    picture = picture.removeprefix("FM").replace("D", ".").replace("G", ",")
    whole, _, fraction = picture.partition(".")
    if not picture or set(whole) - set("90,") or set(fraction) - set("90"):
        raise OraError(ora(1481))
    number = Decimal(value)
    digits = f"{abs(number):.{len(fraction)}f}"
    int_digits, _, frac_digits = digits.partition(".")
    places = whole.replace(",", "")
    if int_digits == "0" and "0" not in places:
        int_digits = "" if fraction else "0"
    if len(int_digits) > len(places):
        return "#" * (len(picture) + 1)
    first_zero = places.find("0")
    minimum = len(places) - first_zero if first_zero >= 0 else 0
    pending = list(int_digits.rjust(max(minimum, len(int_digits)), "0"))
    out: list[str] = []
    for mark in reversed(whole):
        if mark == ",":
            if pending:
                out.append(",")
        elif pending:
            out.append(pending.pop())
    text = ("-" if number < 0 else "") + "".join(reversed(out)) + (f".{frac_digits}" if fraction else "")
    if trim:
        return text.rstrip("0") if fraction and "0" not in fraction else text
    return text.rjust(len(picture) + 1)
