"""Functions of dates, timestamps and intervals. An interval is a number of days, like the difference of two dates.

Source: Oracle Database SQL Language Reference, "Datetime Functions", "ROUND and TRUNC Date Functions".
"""

from __future__ import annotations

import calendar
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from decimal import Decimal
from types import MappingProxyType

from exacell.emulator.basics.ora_messages import OraError, ora
from exacell.emulator.sql.date_masks import DAYS, parse_date
from exacell.emulator.sql.function_base import (
    FunctionEntry,
    SqlSettings,
    entry,
    gives_date,
    gives_number,
    text_of,
    whole_of,
)
from exacell.emulator.sql.intervals import checked_interval
from exacell.emulator.sql.values import INTERVAL, TIMESTAMP, Value, number_of, to_number

DAY_SECONDS = 86400
_YEARS, _MONTHS_, _QUARTERS = ("SYYYY", "YYYY", "YEAR", "YYY", "YY", "Y"), ("MONTH", "MON", "MM", "RM"), ("Q",)
_WHOLE_DAYS, _WEEKS, _HOURS = ("DDD", "DD", "J"), ("DAY", "DY", "D"), ("HH", "HH12", "HH24")
_TIMESTAMP_MASK = "DD-MON-RR HH.MI.SSXFF AM"
_UNITS = {"DAY": DAY_SECONDS, "HOUR": 3600, "MINUTE": 60, "SECOND": 1}


def truncated_date(value: datetime, mask: str) -> datetime:
    """Return a date truncated to a unit.

    Raises:
        OraError: ORA-01898 if the mask is not a unit.
    """
    unit = mask.upper()
    day = value.replace(hour=0, minute=0, second=0, microsecond=0)
    if unit in _WHOLE_DAYS:
        return day
    if unit in _HOURS:
        return day.replace(hour=value.hour)
    if unit == "MI":
        return day.replace(hour=value.hour, minute=value.minute)
    if unit in _YEARS or unit in ("CC", "SCC"):
        return day.replace(year=(value.year - 1) // 100 * 100 + 1 if "CC" in unit else value.year, month=1, day=1)
    if unit in _QUARTERS:
        return day.replace(month=(value.month - 1) // 3 * 3 + 1, day=1)
    if unit in _MONTHS_:
        return day.replace(day=1)
    back = {
        "IW": value.weekday(),
        "WW": (value.timetuple().tm_yday - 1) % 7,
        "W": (value.day - 1) % 7,
        **dict.fromkeys(_WEEKS, value.isoweekday() % 7),
    }
    if unit in back:
        return day - timedelta(days=back[unit])
    if unit in ("IYYY", "IYY", "IY", "I"):
        return day - timedelta(weeks=value.isocalendar().week - 1, days=value.weekday())
    raise OraError(ora(1898))


def rounded_date(value: datetime, mask: str) -> datetime:
    """Return a date rounded to a unit; from the middle of the unit on it is rounded up.

    Raises:
        OraError: ORA-01898 if the mask is not a unit.
    """
    unit = mask.upper()
    begin = truncated_date(value, mask)
    if unit in _MONTHS_:
        return add_months(begin, 1) if value.day >= 16 else begin
    if unit in _QUARTERS or unit in _YEARS:
        months = 3 if unit in _QUARTERS else 12
        middle = add_months(begin, months // 2)
        if unit in _QUARTERS:
            middle += timedelta(days=15)
        return add_months(begin, months) if value >= middle else begin
    if unit in _HOURS or unit == "MI":
        length = timedelta(hours=1) if unit in _HOURS else timedelta(minutes=1)
    else:
        length = timedelta(days=1 if unit in _WHOLE_DAYS else 7)
    return begin + length if (value - begin) * 2 >= length else begin


def add_months(value: datetime, months: int) -> datetime:
    """Return a date some months later; the last day of a month remains the last day."""
    place = value.year * 12 + value.month - 1 + months
    year, month = place // 12, place % 12 + 1
    if not 1 <= year <= 9999:
        raise OraError(ora(1841))
    longest, own = calendar.monthrange(year, month)[1], calendar.monthrange(value.year, value.month)[1]
    return value.replace(year=year, month=month, day=longest if value.day == own else min(value.day, longest))


def _date(settings: SqlSettings, value: Value) -> datetime | None:
    if value is None or isinstance(value, datetime):
        return value
    return parse_date(text_of(settings, value), settings.date_format)


def _add_months(settings: SqlSettings, args: Sequence[Value]) -> Value:
    day = _date(settings, args[0])
    return None if day is None or args[1] is None else add_months(day, whole_of(args[1]))


def _months_between(settings: SqlSettings, args: Sequence[Value]) -> Value:
    one, two = _date(settings, args[0]), _date(settings, args[1])
    if one is None or two is None:
        return None
    months = (one.year - two.year) * 12 + one.month - two.month
    last = [calendar.monthrange(day.year, day.month)[1] == day.day for day in (one, two)]
    if one.day == two.day or all(last):
        return months
    seconds = (one.day - two.day) * DAY_SECONDS + _seconds(one) - _seconds(two)
    return number_of(months + Decimal(seconds) / (31 * DAY_SECONDS))


def _seconds(value: datetime) -> int:
    return value.hour * 3600 + value.minute * 60 + value.second


def _last_day(settings: SqlSettings, args: Sequence[Value]) -> Value:
    day = _date(settings, args[0])
    return None if day is None else day.replace(day=calendar.monthrange(day.year, day.month)[1])


def _next_day(settings: SqlSettings, args: Sequence[Value]) -> Value:
    day, name = _date(settings, args[0]), text_of(settings, args[1]).upper()
    wanted = next((number for number, known in enumerate(DAYS) if name[:3] == known[:3]), None)
    if wanted is None:
        raise OraError(ora(1846))
    return None if day is None else day + timedelta(days=(wanted - day.weekday() - 1) % 7 + 1)


def _to_timestamp(settings: SqlSettings, args: Sequence[Value]) -> Value:
    if args[0] is None or isinstance(args[0], datetime):
        return args[0]
    return parse_date(text_of(settings, args[0]), text_of(settings, args[1]) if len(args) > 1 else _TIMESTAMP_MASK)


def _interval(settings: SqlSettings, args: Sequence[Value]) -> Value:
    number, unit = to_number(args[0]), text_of(settings, args[1]).upper().strip()
    if unit not in _UNITS:
        raise OraError(ora(1760))
    return None if number is None else checked_interval(Decimal(number) * _UNITS[unit] / DAY_SECONDS)


def _day_to_second(settings: SqlSettings, args: Sequence[Value]) -> Value:
    """Return TO_DSINTERVAL('d hh:mi:ss')."""
    text = text_of(settings, args[0]).strip()
    days, _, time = text.lstrip("+-").partition(" ")
    try:
        hours, minutes, seconds = (Decimal(part) for part in time.split(":"))
        total = Decimal(days) + (hours * 3600 + minutes * 60 + seconds) / DAY_SECONDS
    except (ArithmeticError, ValueError):
        raise OraError(ora(1867)) from None
    return checked_interval(-total if text.startswith("-") else total)


def _field(settings: SqlSettings, args: Sequence[Value]) -> Value:
    """Return EXTRACT(field FROM a date or an interval)."""
    field, value = text_of(settings, args[0]).upper(), args[1]
    if value is None:
        return None
    if isinstance(value, datetime):
        parts: dict[str, Value] = {
            "YEAR": value.year,
            "MONTH": value.month,
            "DAY": value.day,
            "HOUR": value.hour,
            "MINUTE": value.minute,
            "SECOND": number_of(value.second + Decimal(value.microsecond) / 1_000_000),
            "TIMEZONE_HOUR": 0,
            "TIMEZONE_MINUTE": 0,
            "TIMEZONE_REGION": "UTC",
        }
    else:
        seconds = Decimal(checked_interval(Decimal(to_number(value) or 0))) * DAY_SECONDS
        sign, rest = (-1 if seconds < 0 else 1), round(abs(seconds), 6)
        parts = {
            "DAY": sign * int(rest // DAY_SECONDS),
            "HOUR": sign * int(rest % DAY_SECONDS // 3600),
            "MINUTE": sign * int(rest % 3600 // 60),
            "SECOND": number_of(sign * (rest % 60)),
        }
    if field not in parts:
        raise OraError(ora(30076))
    return parts[field]


def interval_text(days: int | Decimal) -> str:
    """Return an interval as it is printed: ``+000000001 02:03:04.000000``."""
    seconds = round(abs(Decimal(days)) * DAY_SECONDS, 6)
    clock = f"{int(seconds % DAY_SECONDS // 3600):02d}:{int(seconds % 3600 // 60):02d}:{seconds % 60:09.6f}"
    return f"{'-' if days < 0 else '+'}{int(seconds // DAY_SECONDS):09d} {clock}"


DATE_FUNCTIONS: Mapping[str, FunctionEntry] = MappingProxyType(
    {
        "ADD_MONTHS": entry(2, 2, _add_months, gives_date),
        "MONTHS_BETWEEN": entry(2, 2, _months_between, gives_number),
        "LAST_DAY": entry(1, 1, _last_day, gives_date),
        "NEXT_DAY": entry(2, 2, _next_day, gives_date),
        "TO_TIMESTAMP": entry(1, 3, _to_timestamp, lambda _: TIMESTAMP),
        "TO_TIMESTAMP_TZ": entry(1, 3, _to_timestamp, lambda _: TIMESTAMP),
        "FROM_TZ": entry(2, 2, lambda _, a: a[0], lambda _: TIMESTAMP),
        "SYS_EXTRACT_UTC": entry(1, 1, lambda _, a: a[0], lambda _: TIMESTAMP),
        "NEW_TIME": entry(3, 3, lambda _, a: a[0], gives_date),
        "NUMTODSINTERVAL": entry(2, 2, _interval, lambda _: INTERVAL),
        "TO_DSINTERVAL": entry(1, 1, _day_to_second, lambda _: INTERVAL),
        "EXTRACT_FIELD": entry(2, 2, _field, gives_number),
    }
)
