"""The ``date`` program of emulated hosts: the rack's time, as the host's shells print it.

Source: date(1), strftime(3). After ``-d`` it accepts the forms that scripts write: @seconds, ISO dates, now, today, yesterday,
tomorrow, and ``N units [ago]``, alone or after a date. Emulated hosts are in UTC.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta

from exacell.emulator.basics.program import Out, Program

_USUAL = "%a %b %e %H:%M:%S UTC %Y"
_EXTENDED = {"date": "%Y-%m-%d", "hours": "%Y-%m-%dT%H+00:00", "minutes": "%Y-%m-%dT%H:%M+00:00"}
_EXTENDED |= {"seconds": "%Y-%m-%dT%H:%M:%S+00:00", "ns": "%Y-%m-%dT%H:%M:%S,%N+00:00"}
_SECONDS = {"sec": 1, "second": 1, "min": 60, "minute": 60, "hour": 3600, "day": 86400, "week": 604800}
_NAMED = {"now": 0, "today": 0, "yesterday": -86400, "tomorrow": 86400}
_SHIFT = re.compile(r"\s*([+-]?\s*\d+)\s*(second|sec|minute|min|hour|day|week)s?\b(\s+ago)?\s*", re.IGNORECASE)
_ISO = re.compile(r"(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d(?::\d\d)?))?(?:Z|\s*UTC|\+00:?00)?")
_ITEM = re.compile(r"%([-_0^#]?)(\d*)(:*.)")


def date(now: float, argv: Sequence[str]) -> Program:
    """Run ``date``.

    Args:
        now: the rack's time in epoch seconds.

    Returns:
        A program; its exit status is 1 for arguments that it does not understand, and for setting the date.
    """
    try:
        moment, form = _asked(now, argv)
    except _RefusedError as error:
        yield Out(f"date: {error}\n", err=True)
        return 1
    yield Out(formatted(moment, form) + "\n")
    return 0


class _RefusedError(Exception):
    """date refuses its arguments; the text is its message on standard error."""


def _asked(now: float, argv: Sequence[str]) -> tuple[float, str]:
    """Return the moment (epoch seconds) and the format that a command line asks for.

    Raises:
        _RefusedError: it sets the date, or can't be understood.
    """
    moment, form = now, _USUAL
    words = iter(argv)
    for word in words:
        name, _, value = word.partition("=")
        if word.startswith("+"):
            form = word[1:]
        elif word in ("-u", "--utc", "--universal"):
            continue
        elif word in ("-R", "--rfc-email", "--rfc-2822"):
            form = "%a, %d %b %Y %H:%M:%S +0000"
        elif word.startswith("-I") or name == "--iso-8601":
            precision = (word[2:] if word.startswith("-I") else value) or "date"
            form = _extended(precision, word)
        elif name == "--rfc-3339":
            form = _extended(value, word).replace("T", " ")
        elif word.startswith("-d") or name == "--date":
            moment = _moment(_value(word, "-d", "--date", words), now)
        elif word.startswith("-s") or name == "--set" or not word.startswith("-"):
            raise _RefusedError("cannot set date: Operation not permitted")
        else:
            raise _RefusedError(f"invalid option -- '{word.lstrip('-')[:1]}'")
    return moment, form


def _value(word: str, short: str, long: str, words: Iterator[str]) -> str:
    """Return an option's value, from its own word or from the next one."""
    if word.startswith(long):
        return word.partition("=")[2] if "=" in word else next(words, "")
    return word[len(short) :] or next(words, "")


def _extended(precision: str, word: str) -> str:
    if precision not in _EXTENDED:
        raise _RefusedError(f"invalid argument ‘{precision}’ for ‘{word.partition('=')[0]}’")
    return _EXTENDED[precision]


def _moment(text: str, now: float) -> float:
    """Return the moment (epoch seconds) that the text after ``-d`` means.

    Raises:
        _RefusedError: the text is not understood.
    """
    rest, moment = text.strip(), now
    if match := re.fullmatch(r"@(-?\d+(?:\.\d+)?)(.*)", rest):
        moment, rest = float(match[1]), match[2]
    elif match := _ISO.match(rest):
        moment, rest = _parsed(f"{match[1]}T{match[2] or '00:00'}+00:00", text), rest[match.end() :]
    else:
        for name, shift in _NAMED.items():
            if rest.lower().startswith(name):
                moment, rest = now + shift, rest[len(name) :]
                break
    while rest.strip():
        shift_by = _SHIFT.match(rest)
        if shift_by is None:
            raise _RefusedError(f"invalid date ‘{text}’")
        count = int(shift_by[1].replace(" ", "")) * (-1 if shift_by[3] else 1)
        moment, rest = moment + count * _SECONDS[shift_by[2].lower()], rest[shift_by.end() :]
    return moment


def _parsed(text: str, given: str) -> float:
    try:
        return datetime.fromisoformat(text).timestamp()
    except ValueError as error:
        raise _RefusedError(f"invalid date ‘{given}’") from error


def formatted(moment: float, form: str) -> str:
    """Return a moment by a format of date(1), in UTC.

    >>> formatted(1_600_000_000.25, "%F %T.%3N %-d %s")
    '2020-09-13 12:26:40.250 13 1600000000'
    """
    whole = int(moment // 1)
    at = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=whole)
    nanoseconds = f"{int((moment - whole) * 1e9):09d}"

    def item(match: re.Match[str]) -> str:
        flag, width, letter = match[1], match[2], match[3]
        match letter:
            case "%":
                return "%"
            case "n":
                return "\n"
            case "t":
                return "\t"
            case "N":
                return nanoseconds[: int(width)] if width else nanoseconds
            case "s":
                return str(whole)
            case "Z":
                return "UTC"
            case "z":
                return "+0000"
            case ":z":
                return "+00:00"
            case "::z":
                return "+00:00:00"
        return at.strftime(f"%{flag}{width}{letter}")

    return _ITEM.sub(item, form)
