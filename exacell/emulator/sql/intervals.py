"""INTERVAL literals of days and less: ``INTERVAL '1' DAY``, ``INTERVAL '1 02:30:00' DAY TO SECOND``, ``INTERVAL '90' MINUTE``.

Source: Oracle Database SQL Language Reference, "Interval Literals".
"""

from __future__ import annotations

import re
from decimal import Decimal

from exacell.emulator.basics.ora_messages import OraError, ora
from exacell.emulator.sql.compare import arithmetic
from exacell.emulator.sql.values import Value, number_of

_SECONDS = {"DAY": 86400, "HOUR": 3600, "MINUTE": 60, "SECOND": 1}
_DAYS = 10**9
"""Days of an interval stay below this: they have nine digits."""
_LITERAL = re.compile(r"\s*([+-]?)\s*([0-9]+)(?:\s+|$|(?=[:.]))((?:[:\s]?[0-9]+)*(?:\.[0-9]+)?)\s*")


def checked_interval(days: Decimal) -> int | Decimal:
    """Return an interval, a number of days, if it is not too long.

    Raises:
        OraError: ORA-01873 if its days have more than nine digits.
    """
    if abs(days) >= _DAYS:
        raise OraError(ora(1873))
    return number_of(days)


def interval_days(text: str, unit: str) -> int | Decimal:
    """Return an interval in days; the first number of ``text`` counts ``unit``.

    Raises:
        OraError: ORA-30089 if there is no such unit; ORA-01867 if the text is not an interval; ORA-01873 if it is too long.
    """
    if unit not in _SECONDS:
        raise OraError(ora(30089))
    match = _LITERAL.fullmatch(text)
    if match is None:
        raise OraError(ora(1867))
    units = list(_SECONDS)[list(_SECONDS).index(unit) :]
    fraction = match[3] if match[3].startswith(".") else ""
    following = [] if fraction else [part for part in re.split(r"[:\s]", match[3]) if part]
    if len(following) >= len(units):
        raise OraError(ora(1867))
    numbers = [Decimal(match[2] + fraction), *(Decimal(part) for part in following)]
    seconds = sum((n * _SECONDS[u] for n, u in zip(numbers, units, strict=False)), Decimal(0))
    return checked_interval((-seconds if match[1] == "-" else seconds) / 86400)


def interval_arithmetic(operator: str, left: Value, right: Value) -> Value:
    """Return the result of :func:`~exacell.emulator.sql.compare.arithmetic` if it is an interval.

    Raises:
        OraError: as arithmetic does; ORA-01873 if the interval is too long.
    """
    days = arithmetic(operator, left, right)
    return checked_interval(Decimal(days)) if isinstance(days, int | Decimal) else days


def interval_words(text: str, unit: str) -> str:
    """Return an interval in the form that TO_DSINTERVAL reads: ``d hh:mi:ss``.

    Raises:
        OraError: as :func:`interval_days` does.
    """
    days = Decimal(interval_days(text, unit))
    seconds = round(abs(days) * 86400, 6)
    sign, clock = "-" if days < 0 else "", f"{int(seconds % 86400 // 3600)}:{int(seconds % 3600 // 60)}:{seconds % 60}"
    return f"{sign}{int(seconds // 86400)} {clock}"
