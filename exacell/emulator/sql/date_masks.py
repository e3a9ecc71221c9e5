"""Date format models: conversion of dates to text and of text to dates.

Source: Oracle Database SQL Language Reference, "Datetime Format Models".
"""

from __future__ import annotations

import re
from datetime import datetime, timedelta

from exacell.emulator.basics.ora_messages import OraError, ora

ELEMENTS = (
    "SYYYY", "Y,YYY", "MONTH", "SSSSS", "YYYY", "RRRR", "IYYY", "HH24", "HH12", "A.M.", "P.M.", "A.D.", "B.C.",
    "YEAR", "FF1", "FF2", "FF3", "FF4", "FF5", "FF6", "FF7", "FF8", "FF9", "DAY", "DDD", "MON", "TZR", "TZH", "TZM",
    "TZD", "YYY", "IYY", "YY", "RR", "IY", "MM", "DD", "DY", "HH", "MI", "SS", "AM", "PM", "AD", "BC", "IW", "WW", "CC",
    "RM", "FF", "DL", "DS", "TS", "D", "Q", "W", "J", "Y", "I", "X",
)  # fmt: skip
MONTHS = (
    "JANUARY", "FEBRUARY", "MARCH", "APRIL", "MAY", "JUNE", "JULY", "AUGUST", "SEPTEMBER", "OCTOBER", "NOVEMBER",
    "DECEMBER",
)  # fmt: skip
DAYS = ("MONDAY", "TUESDAY", "WEDNESDAY", "THURSDAY", "FRIDAY", "SATURDAY", "SUNDAY")
_ROMAN = ("I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX", "X", "XI", "XII")
_JULIAN_OF_FIRST_DAY = 1721425
"""Days from 1 January 4712 BC to 1 January 1 AD, as J counts them."""
_LONGER = {"DL": "FMDay, Month DD, YYYY", "DS": "FMMM/DD/RRRR", "TS": "HH:MI:SS AM"}
_PIVOT = 50
"""For RR: two-digit years below this are of this century, the others of the last."""


def format_date(value: datetime, mask: str) -> str:
    """Return a date in one of Oracle's masks (``YYYY-MM-DD"T"HH24:MI:SS``, ``DD-MON-RR``).

    Raises:
        OraError: ORA-01821 if the mask has an unknown element.
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
        if upper.startswith(("FM", "FX"), position):
            fill = fill if upper.startswith("FX", position) else not fill
            position += 2
            continue
        element = next((e for e in ELEMENTS if upper.startswith(e, position)), None)
        if element is not None:
            text = format_date(value, _LONGER[element]) if element in _LONGER else _element(value, element, fill)
            spelled = mask[position : position + len(element)]
            position += len(element)
            if upper.startswith("TH", position) and text.strip().isdigit():
                text += _ordinal(int(text))
                position += 2
            if text.replace(" ", "").isalpha():
                text = text if spelled.isupper() else text.lower() if spelled.islower() else text.capitalize()
            out.append(text)
        elif mask[position].isalnum():
            raise OraError(ora(1821))
        else:
            out.append(mask[position])
            position += 1
    return "".join(out)


def _ordinal(number: int) -> str:
    return "TH" if 10 < number % 100 < 14 else {1: "ST", 2: "ND", 3: "RD"}.get(number % 10, "TH")


def _element(value: datetime, element: str, fill: bool) -> str:
    calendar, day_of_year = value.isocalendar(), value.timetuple().tm_yday
    numbers = {
        "SYYYY": (value.year, 5), "YYYY": (value.year, 4), "RRRR": (value.year, 4), "IYYY": (calendar.year, 4),
        "YYY": (value.year % 1000, 3), "IYY": (calendar.year % 1000, 3), "YY": (value.year % 100, 2),
        "RR": (value.year % 100, 2), "IY": (calendar.year % 100, 2), "Y": (value.year % 10, 1),
        "I": (calendar.year % 10, 1), "CC": ((value.year + 99) // 100, 2), "MM": (value.month, 2),
        "DD": (value.day, 2), "DDD": (day_of_year, 3), "HH24": (value.hour, 2), "HH12": ((value.hour + 11) % 12 + 1, 2),
        "HH": ((value.hour + 11) % 12 + 1, 2), "MI": (value.minute, 2), "SS": (value.second, 2),
        "D": (value.isoweekday() % 7 + 1, 1), "SSSSS": (value.hour * 3600 + value.minute * 60 + value.second, 5),
        "Q": ((value.month + 2) // 3, 1), "IW": (calendar.week, 2), "WW": ((day_of_year + 6) // 7, 2),
        "W": ((value.day + 6) // 7, 1), "J": (value.toordinal() + _JULIAN_OF_FIRST_DAY - 1, 7),
    }  # fmt: skip
    if element in numbers:
        number, width = numbers[element]
        return str(number).rjust(width) if element == "SYYYY" else f"{number:0{width}d}" if fill else str(number)
    if element.startswith("FF"):
        return f"{value.microsecond:06d}000"[: int(element[2:] or 6)]
    half = "AM" if value.hour < 12 else "PM"
    names = {
        "MONTH": MONTHS[value.month - 1].ljust(9 if fill else 0),
        "MON": MONTHS[value.month - 1][:3],
        "RM": _ROMAN[value.month - 1].ljust(4 if fill else 0),
        "DAY": DAYS[value.weekday()].ljust(9 if fill else 0),
        "DY": DAYS[value.weekday()][:3],
        "AM": half,
        "PM": half,
        "A.M.": ".".join((*half, "")),
        "P.M.": ".".join((*half, "")),
        "AD": "AD",
        "BC": "AD",
        "A.D.": "A.D.",
        "B.C.": "A.D.",
        "Y,YYY": f"{value.year:,}",
        "YEAR": str(value.year),
        "X": ".",
        "TZR": "+00:00",
        "TZH": "+00",
        "TZM": "00",
        "TZD": "",
    }
    return names[element]


_READABLE = {
    "YYYY": 4, "RRRR": 4, "SYYYY": 5, "YY": 2, "RR": 2, "MM": 2, "DD": 2, "DDD": 3, "HH24": 2, "HH12": 2, "HH": 2,
    "MI": 2, "SS": 2, "SSSSS": 5, "J": 7, "TZM": 2,
}  # fmt: skip
_NAMED = {"MONTH": "MM", "MON": "MM", "DAY": "", "DY": "", "AM": "", "PM": "", "A.M.": "", "P.M.": "", "TZR": ""}


def parse_date(text: str, mask: str) -> datetime:
    """Return the date that ``text`` means under ``mask``.

    Raises:
        OraError: ORA-01821 for the mask; ORA-01830, 01843, 01847, 01850 or 01858 for the text.
    """
    fields: dict[str, int] = {}
    position, at = 0, 0
    upper = mask.upper()
    while at < len(mask):
        if mask[at] == '"':
            end = mask.find('"', at + 1)
            if end < 0:
                raise OraError(ora(1821))
            position += end - at - 1
            at = end + 1
            continue
        if upper.startswith(("FM", "FX"), at):
            at += 2
            continue
        element = next((e for e in ELEMENTS if upper.startswith(e, at)), None)
        if element is None:
            if mask[at].isalnum():
                raise OraError(ora(1821))
            position += position < len(text) and not text[position].isalnum()
            at += 1
            continue
        at += len(element)
        while position < len(text) and text[position] == " ":
            position += 1
        position += _taken(text[position:], element, fields)
    if text[position:].strip():
        raise OraError(ora(1830))
    half = fields.pop(_HALF, None)
    return _date(fields, None if half is None else bool(half))


_HALF = "AM or PM"


def _taken(text: str, element: str, fields: dict[str, int]) -> int:
    """Return the number of characters that an element of a mask takes from a text; store its value in ``fields``.

    Raises:
        OraError: the element is unknown, or the text does not fit it.
    """
    if element in _NAMED or element in ("TZH", "X"):
        piece, named = _named(text, element)
        if element in ("MONTH", "MON") and text:
            fields["MM"] = named
        elif element in ("AM", "PM", "A.M.", "P.M.") and piece:
            fields[_HALF] = piece[0].upper() == "P"
        return len(piece)
    if element.startswith("FF"):
        return len(re.match("[0-9]{0,9}", text)[0])  # type: ignore[index]  # it matches the empty text
    if element not in _READABLE:
        raise OraError(ora(1821))
    digits = re.match(f"[0-9]{{0,{_READABLE[element]}}}", text)[0]  # type: ignore[index]  # as above
    if digits:
        fields[_field(element)] = _year(element, digits) if _field(element) == "YYYY" else int(digits)
    elif text:
        raise OraError(ora(1858))
    return len(digits)


def _field(element: str) -> str:
    if element in ("RRRR", "SYYYY", "YY", "RR"):
        return "YYYY"
    return "HH" if element in ("HH12", "HH") else element


def _year(element: str, piece: str) -> int:
    year = int(piece)
    if len(piece) > 2 or element in ("YYYY", "SYYYY"):
        return year
    return year + (1900 if element in ("RR", "RRRR") and year >= _PIVOT else 2000)


def _named(text: str, element: str) -> tuple[str, int]:
    """Return the part of a text that an element in words takes, and the number of a month."""
    if element == "TZH":
        return (match[0] if (match := re.match("[+-]?[0-9]{1,2}", text)) else ""), 0
    if element == "X":
        return ("." if text.startswith(".") else ""), 0
    if element in ("TZR", "AM", "PM", "A.M.", "P.M."):
        pattern = r"\S+" if element == "TZR" else r"[AaPp]\.?[Mm]\.?"
        return (match[0] if (match := re.match(pattern, text)) else ""), 0
    word = match[0] if (match := re.match("[A-Za-z]+", text)) else ""
    names = MONTHS if element in ("MON", "MONTH") else DAYS
    for number, name in enumerate(names, start=1):
        for spelled in (name, name[:3]):
            if word.upper().startswith(spelled):
                return word[: len(spelled)], number
    if text and element in ("MON", "MONTH"):
        raise OraError(ora(1843))
    return word, 0


def _date(fields: dict[str, int], afternoon: bool | None) -> datetime:
    if "J" in fields:
        return datetime.fromordinal(fields["J"] - _JULIAN_OF_FIRST_DAY + 1)
    hour = fields.get("HH24", fields.get("HH", 0))
    if "HH24" not in fields and "HH" in fields and afternoon is not None:
        hour = hour % 12 + 12 * afternoon
    if not 1 <= fields.get("MM", 1) <= 12:
        raise OraError(ora(1843))
    if hour > 23 or fields.get("MI", 0) > 59 or fields.get("SS", 0) > 59:
        raise OraError(ora(1850))
    try:
        day = datetime(fields.get("YYYY", 1970), fields.get("MM", 1), fields.get("DD", 1))
    except ValueError:
        raise OraError(ora(1847)) from None
    if "DDD" in fields:
        day = datetime(day.year, 1, 1) + timedelta(days=fields["DDD"] - 1)
    if "SSSSS" in fields:
        return day + timedelta(seconds=fields["SSSSS"])
    return day.replace(hour=hour, minute=fields.get("MI", 0), second=fields.get("SS", 0))
