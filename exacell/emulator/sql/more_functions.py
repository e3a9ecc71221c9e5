"""Functions of the emulated SQL that scripts use now and then: arithmetic, regular expressions, bytes, statistics, packages.

Source: Oracle Database SQL Language Reference, "Functions". Hash values and random numbers are the emulator's own.
"""

from __future__ import annotations

import hashlib
import math
import re
import zlib
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from decimal import Decimal, localcontext
from itertools import count
from types import MappingProxyType

from exacell.emulator.basics.ora_messages import OraError, ora
from exacell.emulator.sql.function_base import (
    Function,
    FunctionEntry,
    SqlSettings,
    entry,
    gives_first,
    gives_number,
    gives_text_of_first,
    gives_wide,
    text_of,
    whole_of,
)
from exacell.emulator.sql.values import (
    EXACT_DIGITS,
    MAXIMUM_CHAR,
    Value,
    char,
    checked_text,
    number_of,
    to_number,
    to_text,
)

_HASHES = {"MD5": "md5", "SHA1": "sha1", "SHA256": "sha256", "SHA384": "sha384", "SHA512": "sha512"}
_CLASSES = {
    "alpha": "A-Za-z",
    "digit": "0-9",
    "space": r"\s",
    "alnum": "A-Za-z0-9",
    "upper": "A-Z",
    "lower": "a-z",
    "punct": r"!-/:-@\[-`{-~",
    "xdigit": "0-9A-Fa-f",
    "blank": " \t",
    "cntrl": r"\x00-\x1f",
    "print": r"\x20-\x7e",
    "graph": r"\x21-\x7e",
}


def python_pattern(pattern: str) -> str:
    """Return one of Oracle's regular expressions in Python's syntax."""
    for name, body in _CLASSES.items():
        pattern = pattern.replace(f"[:{name}:]", body)
    return pattern


def regexp_flags(text: str) -> int:
    """Return Python's flags for a match parameter with the letters i, c, n, m, x."""
    names = {"i": re.IGNORECASE, "n": re.DOTALL, "m": re.MULTILINE, "x": re.VERBOSE}
    flags = 0
    for mark in text:
        flags = flags & ~re.IGNORECASE if mark == "c" else flags | names.get(mark, 0)
    return flags


def _regexp(settings: SqlSettings, args: Sequence[Value], flags_at: int) -> re.Pattern[str]:
    flags = regexp_flags(text_of(settings, args[flags_at])) if len(args) > flags_at else 0
    try:
        return re.compile(python_pattern(text_of(settings, args[1])), flags)
    except re.error:
        raise OraError(ora(12725)) from None


def _argument(args: Sequence[Value], place: int, default: int) -> int:
    return whole_of(args[place]) if len(args) > place else default


def _matches(settings: SqlSettings, args: Sequence[Value], from_at: int, flags_at: int) -> list[re.Match[str]]:
    text = text_of(settings, args[0])
    start = min(max(0, _argument(args, from_at, 1) - 1), len(text))
    return list(_regexp(settings, args, flags_at).finditer(text, start))


def _regexp_replace(settings: SqlSettings, args: Sequence[Value]) -> Value:
    replacement = text_of(settings, args[2]) if len(args) > 2 else ""
    start, nth = max(0, _argument(args, 3, 1) - 1), _argument(args, 4, 0)
    pattern, text, seen = _regexp(settings, args, 5), text_of(settings, args[0]), count(1)

    def replaced(match: re.Match[str]) -> str:
        if nth and next(seen) != nth:
            return match[0]
        return re.sub(r"\\([0-9])", lambda back: _group(match, int(back[1])), replacement)

    return checked_text(text[:start] + pattern.sub(replaced, text[start:]))


def _group(match: re.Match[str], number: int) -> str:
    return (match[number] or "") if 0 <= number <= match.re.groups else ""


def _regexp_substr(settings: SqlSettings, args: Sequence[Value]) -> Value:
    matches, nth, part = _matches(settings, args, 2, 4), _argument(args, 3, 1), _argument(args, 5, 0)
    return (_group(matches[nth - 1], part) or None) if 0 < nth <= len(matches) else None


def _regexp_instr(settings: SqlSettings, args: Sequence[Value]) -> Value:
    matches, nth = _matches(settings, args, 2, 5), _argument(args, 3, 1)
    if not 0 < nth <= len(matches):
        return 0
    found = matches[nth - 1]
    return (found.end() if _argument(args, 4, 0) else found.start()) + 1


def _regexp_count(settings: SqlSettings, args: Sequence[Value]) -> Value:
    return None if args[0] is None else len(_matches(settings, args, 2, 3))


def _of_floats(function: Callable[..., float]) -> Function:
    def apply(_: SqlSettings, args: Sequence[Value]) -> Value:
        numbers = [to_number(value) for value in args]
        if any(number is None for number in numbers):
            return None
        try:
            result = function(*(float(number or 0) for number in numbers))
            return number_of(Decimal(repr(result)))
        except (ValueError, ArithmeticError):
            raise OraError(ora(1428, numbers[-1])) from None

    return apply


def _bitand(_: SqlSettings, args: Sequence[Value]) -> Value:
    one, two = to_number(args[0]), to_number(args[1])
    return None if one is None or two is None else int(one) & int(two)


def _remainder(_: SqlSettings, args: Sequence[Value]) -> Value:
    one, two = to_number(args[0]), to_number(args[1])
    if one is None or two is None:
        return None
    with localcontext() as context:
        context.prec = EXACT_DIGITS
        return one if not two else number_of(Decimal(one).remainder_near(Decimal(two)))


def _dump(settings: SqlSettings, args: Sequence[Value]) -> Value:
    if args[0] is None:
        return "NULL"
    kind = 1 if isinstance(args[0], str) else 12 if isinstance(args[0], datetime) else 2
    body = text_of(settings, args[0]).encode()
    return f"Typ={kind} Len={len(body)}: {','.join(str(byte) for byte in body)}"


def _hash(settings: SqlSettings, args: Sequence[Value]) -> Value:
    number = zlib.crc32(text_of(settings, args[0]).encode() + str(_argument(args, 2, 0)).encode())
    return number % (max(0, _argument(args, 1, 4294967295)) + 1)


def _standard_hash(settings: SqlSettings, args: Sequence[Value]) -> Value:
    name = _HASHES.get(text_of(settings, args[1]).upper() if len(args) > 1 else "SHA1")
    if name is None:
        raise OraError(ora(904, '"STANDARD_HASH"'))
    return hashlib.new(name, text_of(settings, args[0]).encode()).hexdigest().upper()


_ASKED = count()


def _random(settings: SqlSettings, args: Sequence[Value]) -> Value:
    low, high = (to_number(value) or 0 for value in (args if len(args) == 2 else (0, 1)))
    digest = hashlib.sha256(f"{settings.now}{next(_ASKED)}".encode()).digest()
    return number_of(low + (Decimal(high) - low) * int.from_bytes(digest[:8]) / 2**64)


def _random_text(settings: SqlSettings, args: Sequence[Value]) -> Value:
    letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
    kind = text_of(settings, args[0])[:1].upper()
    letters = {"L": letters.lower(), "A": letters + letters.lower(), "X": letters + "0123456789"}.get(kind, letters)
    length = whole_of(args[1])
    if length > MAXIMUM_CHAR:
        raise OraError(ora(6502, "character string buffer too small"))
    digest = b"".join(hashlib.sha256(f"{settings.now}{next(_ASKED)}".encode()).digest() for _ in range(length))
    return "".join(letters[byte % len(letters)] for byte in digest[: max(0, length)]) or None


def _guid(settings: SqlSettings, _: Sequence[Value]) -> Value:
    return hashlib.md5(f"{settings.now}{next(_ASKED)}".encode()).hexdigest().upper()


def _hundredths(settings: SqlSettings, _: Sequence[Value]) -> Value:
    return int((settings.now - datetime(2000, 1, 1)).total_seconds() * 100) % 2**31


def _snapshot(settings: SqlSettings, _: Sequence[Value]) -> Value:
    if settings.snapshot is None:
        raise OraError(ora(13516))
    return settings.snapshot()


def _same(_: SqlSettings, args: Sequence[Value]) -> Value:
    return args[0]


MORE_FUNCTIONS: Mapping[str, FunctionEntry] = MappingProxyType(
    {
        "REGEXP_REPLACE": entry(2, 6, _regexp_replace, gives_wide),
        "REGEXP_SUBSTR": entry(2, 6, _regexp_substr, gives_text_of_first),
        "REGEXP_INSTR": entry(2, 7, _regexp_instr, gives_number),
        "REGEXP_COUNT": entry(2, 4, _regexp_count, gives_number),
        "SQRT": entry(1, 1, _of_floats(math.sqrt), gives_number),
        "EXP": entry(1, 1, _of_floats(math.exp), gives_number),
        "LN": entry(1, 1, _of_floats(math.log), gives_number),
        "LOG": entry(2, 2, _of_floats(lambda base, number: math.log(number) / math.log(base)), gives_number),
        "SIN": entry(1, 1, _of_floats(math.sin), gives_number),
        "COS": entry(1, 1, _of_floats(math.cos), gives_number),
        "TAN": entry(1, 1, _of_floats(math.tan), gives_number),
        "ATAN": entry(1, 1, _of_floats(math.atan), gives_number),
        "BITAND": entry(2, 2, _bitand, gives_number),
        "REMAINDER": entry(2, 2, _remainder, gives_number),
        "REVERSE": entry(1, 1, lambda s, a: text_of(s, a[0])[::-1] or None, gives_text_of_first),
        "LENGTHB": entry(1, 1, lambda s, a: len(text_of(s, a[0]).encode()) or None, gives_number),
        "VSIZE": entry(1, 1, lambda s, a: len(text_of(s, a[0]).encode()) or None, gives_number),
        "DUMP": entry(1, 4, _dump, gives_wide),
        "RAWTOHEX": entry(1, 1, lambda s, a: text_of(s, a[0]).encode().hex().upper() or None, gives_wide),
        "HEXTORAW": entry(1, 1, lambda s, a: text_of(s, a[0]).upper() or None, gives_text_of_first),
        "ORA_HASH": entry(1, 3, _hash, gives_number),
        "STANDARD_HASH": entry(1, 2, _standard_hash, lambda _: char(128)),
        "SYS_GUID": entry(0, 0, _guid, lambda _: char(32)),
        "TO_CLOB": entry(1, 1, lambda s, a: to_text(a[0], s.date_format), gives_wide),
        "TO_NCHAR": entry(1, 1, lambda s, a: to_text(a[0], s.date_format), gives_text_of_first),
        "TO_SINGLE_BYTE": entry(1, 1, _same, gives_first),
        "NANVL": entry(2, 2, _same, gives_number),
        "TO_BINARY_DOUBLE": entry(1, 1, lambda _, a: to_number(a[0]), gives_number),
        "GETSTRINGVAL": entry(1, 1, _same, gives_wide),
        "GETCLOBVAL": entry(1, 1, _same, gives_wide),
        "DBMS_RANDOM.VALUE": entry(0, 2, _random, gives_number),
        "DBMS_RANDOM.RANDOM": entry(0, 0, lambda s, _: whole_of(_random(s, (-(2**31), 2**31))), gives_number),
        "DBMS_RANDOM.STRING": entry(2, 2, _random_text, gives_wide),
        "DBMS_WORKLOAD_REPOSITORY.CREATE_SNAPSHOT": entry(0, 2, _snapshot, gives_number),
        "DBMS_UTILITY.GET_TIME": entry(0, 0, _hundredths, gives_number),
        "DBMS_UTILITY.PORT_STRING": entry(0, 0, lambda *_: "x86_64/Linux 2.4.xx", lambda _: char(64)),
    }
)


def _numbers(values: Sequence[Value]) -> list[Decimal]:
    return [Decimal(number) for number in map(to_number, values) if number is not None]


def _variance(values: Sequence[Value], sample: int = 1) -> Value:
    numbers = _numbers(values)
    if not numbers:
        return None
    if len(numbers) == 1:
        return 0
    mean = sum(numbers, Decimal(0)) / len(numbers)
    return number_of(sum(((n - mean) ** 2 for n in numbers), Decimal(0)) / (len(numbers) - sample))


def _deviation(values: Sequence[Value], sample: int = 1) -> Value:
    variance = _variance(values, sample)
    return None if variance is None else number_of(Decimal(to_number(variance) or 0).sqrt())


def percentile(values: Sequence[Value], fraction: Decimal, *, exact: bool) -> Value:
    """Return the value at a fraction of the ordered values: between two of them, or with ``exact`` one of them."""
    if exact or any(isinstance(value, datetime) for value in values):
        ordered = sorted(values, key=lambda v: v if isinstance(v, datetime) else to_number(v))  # type: ignore[arg-type, return-value]  # of one kind
        return ordered[max(0, math.ceil(fraction * len(ordered)) - 1)] if ordered else None
    numbers = sorted(_numbers(values))
    if not numbers:
        return None
    place = fraction * (len(numbers) - 1)
    low = int(place)
    high = min(low + 1, len(numbers) - 1)
    return number_of(numbers[low] + (numbers[high] - numbers[low]) * (place - low))


def _mode(values: Sequence[Value]) -> Value:
    return Counter(values).most_common(1)[0][0] if values else None


SPREADS: Mapping[str, Callable[[Sequence[Value]], Value]] = MappingProxyType(
    {
        "VARIANCE": _variance,
        "VAR_SAMP": _variance,
        "VAR_POP": lambda values: _variance(values, 0),
        "STDDEV": _deviation,
        "STDDEV_SAMP": _deviation,
        "STDDEV_POP": lambda values: _deviation(values, 0),
        "MEDIAN": lambda values: percentile(values, Decimal("0.5"), exact=False),
        "STATS_MODE": _mode,
        "WM_CONCAT": lambda values: ",".join(to_text(value) or "" for value in values) or None,
    }
)
"""The less common group functions."""
