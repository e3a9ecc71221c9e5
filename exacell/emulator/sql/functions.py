"""The single-row and group functions of the emulated SQL, in two tables."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from decimal import ROUND_DOWN, ROUND_HALF_UP, Decimal, localcontext
from types import MappingProxyType

from exacell.emulator.basics.ora_messages import OraError, ora
from exacell.emulator.sql.compare import compare, holds
from exacell.emulator.sql.date_functions import DATE_FUNCTIONS, rounded_date, truncated_date
from exacell.emulator.sql.date_masks import format_date, parse_date
from exacell.emulator.sql.function_base import (
    Function,
    FunctionEntry,
    SqlSettings,
    entry,
    gives_date,
    gives_first,
    gives_number,
    gives_text_of_first,
    gives_wide,
    text_of,
    whole_of,
)
from exacell.emulator.sql.more_functions import MORE_FUNCTIONS, SPREADS
from exacell.emulator.sql.number_masks import format_number, parse_number
from exacell.emulator.sql.values import (
    DATE,
    EXACT_DIGITS,
    MAXIMUM_CHAR,
    NUMBER,
    NUMBER_CHARS,
    TIMESTAMP,
    ZONED,
    ColumnType,
    Value,
    char,
    checked_text,
    number_of,
    to_number,
    to_text,
)
from exacell.emulator.sql.xml import extracted, one_value


def _nvl(_: SqlSettings, args: Sequence[Value]) -> Value:
    return next((value for value in args if value is not None), None)


def _decode(_: SqlSettings, args: Sequence[Value]) -> Value:
    subject, rest = args[0], list(args[1:])
    while len(rest) >= 2:
        key, value = rest[0], rest[1]
        if (key is None and subject is None) or holds("=", subject, key):
            return value
        rest = rest[2:]
    return rest[0] if rest else None


def _substr(settings: SqlSettings, args: Sequence[Value]) -> Value:
    text, start = text_of(settings, args[0]), whole_of(args[1])
    begin = start - 1 if start > 0 else len(text) + start if start < 0 else 0
    if begin < 0:
        return None
    if len(args) == 2:
        return text[begin:] or None
    length = whole_of(args[2])
    return (text[begin : begin + length] or None) if length > 0 else None


def _instr(settings: SqlSettings, args: Sequence[Value]) -> Value:
    text, wanted = text_of(settings, args[0]), text_of(settings, args[1])
    start = whole_of(args[2]) if len(args) > 2 else 1
    nth = whole_of(args[3]) if len(args) > 3 else 1
    if nth < 1:
        raise OraError(ora(1428, nth))
    if not text or not wanted:
        return None
    if not start or nth > len(text):
        return 0
    place = start - 1 if start > 0 else len(text) + start
    for number in range(nth):
        step = number > 0
        place = text.find(wanted, place + step) if start > 0 else _found_before(text, wanted, place - step)
        if place < 0:
            return 0
    return place + 1


def _found_before(text: str, wanted: str, place: int) -> int:
    """Return where ``wanted`` begins, at ``place`` or before it; -1 if it is not found."""
    return text.rfind(wanted, 0, place + len(wanted)) if place >= 0 else -1


def _replace(settings: SqlSettings, args: Sequence[Value]) -> Value:
    text, wanted = text_of(settings, args[0]), text_of(settings, args[1])
    return checked_text(text.replace(wanted, text_of(settings, args[2]) if len(args) > 2 else "") if wanted else text)


def _pad(left: bool) -> Function:
    def pad(settings: SqlSettings, args: Sequence[Value]) -> Value:
        text, width = text_of(settings, args[0]), min(whole_of(args[1]), MAXIMUM_CHAR)
        filler = text_of(settings, args[2]) if len(args) > 2 else " "
        if args[0] is None or width <= 0 or not filler:
            return None
        missing = (filler * width)[: max(0, width - len(text))]
        return (missing + text if left else text + missing)[:width]

    return pad


def _trim(left: bool, right: bool) -> Function:
    def trim(settings: SqlSettings, args: Sequence[Value]) -> Value:
        text = text_of(settings, args[0])
        marks = text_of(settings, args[1]) if len(args) > 1 else " "
        text = text.lstrip(marks) if left else text
        return (text.rstrip(marks) if right else text) or None

    return trim


def _round(mode: str) -> Function:
    def rounded(settings: SqlSettings, args: Sequence[Value]) -> Value:
        value = args[0]
        if isinstance(value, datetime):
            mask = text_of(settings, args[1]) if len(args) > 1 else "DD"
            return truncated_date(value, mask) if mode == ROUND_DOWN else rounded_date(value, mask)
        number = to_number(value)
        if number is None:
            return None
        places = max(-NUMBER_CHARS, min(whole_of(args[1]) if len(args) > 1 else 0, NUMBER_CHARS))
        if isinstance(number, int) and places >= 0:
            return number
        with localcontext() as context:
            context.prec = EXACT_DIGITS
            return number_of(Decimal(number).quantize(Decimal(1).scaleb(-places), rounding=mode))

    return rounded


def _integral(function: Callable[[Decimal], int]) -> Function:
    def apply(_: SqlSettings, args: Sequence[Value]) -> Value:
        number = to_number(args[0])
        return None if number is None else function(Decimal(number))

    return apply


def _mod(_: SqlSettings, args: Sequence[Value]) -> Value:
    left, right = to_number(args[0]), to_number(args[1])
    if left is None or right is None:
        return None
    with localcontext() as context:
        context.prec = EXACT_DIGITS
        return left if right == 0 else number_of(Decimal(left) % Decimal(right))


def _absolute(_: SqlSettings, args: Sequence[Value]) -> Value:
    number = to_number(args[0])
    return number if number is None or number >= 0 else -number


def _power(_: SqlSettings, args: Sequence[Value]) -> Value:
    base = to_number(args[0])
    if base is None:
        return None
    try:
        return number_of(Decimal(base) ** Decimal(to_number(args[1]) or 0))
    except ArithmeticError:
        raise OraError(ora(1426)) from None


def _to_char(settings: SqlSettings, args: Sequence[Value]) -> Value:
    value = args[0]
    if value is None or len(args) == 1:
        return to_text(value, settings.date_format)
    mask = text_of(settings, args[1])
    if isinstance(value, datetime):
        return format_date(value, mask)
    number = to_number(value)
    return None if number is None else format_number(number, mask)


def _to_number(settings: SqlSettings, args: Sequence[Value]) -> Value:
    if len(args) > 1 and args[0] is not None:
        return parse_number(text_of(settings, args[0]), text_of(settings, args[1]))
    return to_number(args[0])


def _to_date(settings: SqlSettings, args: Sequence[Value]) -> Value:
    if args[0] is None or isinstance(args[0], datetime):
        return args[0]
    return parse_date(text_of(settings, args[0]), text_of(settings, args[1]) if len(args) > 1 else settings.date_format)


def most(values: Iterable[Value], sign: int) -> Value:
    """Return the greatest value (``sign`` 1) or the least (-1); None if there are no values."""
    found: Value = None
    for value in values:
        if found is None or compare(value, found) * sign > 0:
            found = value
    return found


def _extreme(sign: int) -> Function:
    def apply(_: SqlSettings, args: Sequence[Value]) -> Value:
        return None if any(value is None for value in args) else most(args, sign)

    return apply


def _context(settings: SqlSettings, args: Sequence[Value]) -> Value:
    return (
        settings.userenv.get(text_of(settings, args[1]).upper())
        if text_of(settings, args[0]).upper() == "USERENV"
        else None
    )


def _translate(settings: SqlSettings, args: Sequence[Value]) -> Value:
    source, target = text_of(settings, args[1]), text_of(settings, args[2])
    table = {ord(mark): target[n] if n < len(target) else None for n, mark in reversed(list(enumerate(source)))}
    return text_of(settings, args[0]).translate(table) or None


def _of_xml(function: Callable[[str, str], str | None]) -> Function:
    def apply(settings: SqlSettings, args: Sequence[Value]) -> Value:
        return None if args[0] is None else function(text_of(settings, args[0]), text_of(settings, args[1]))

    return apply


def _widest(types: Sequence[ColumnType]) -> ColumnType:
    if all(kind.kind is types[0].kind for kind in types):
        return max(types, key=lambda kind: kind.width)
    return char(max(kind.as_text for kind in types))


def _decode_type(types: Sequence[ColumnType]) -> ColumnType:
    results = [*types[2::2], *(types[-1:] if len(types) % 2 == 0 else ())]
    return _widest(results) if results[0].kind is not NUMBER.kind else NUMBER


FUNCTIONS: Mapping[str, FunctionEntry] = MappingProxyType(
    {
        "NVL": entry(2, 2, _nvl, _widest),
        "COALESCE": entry(2, None, _nvl, _widest),
        "NVL2": entry(3, 3, lambda _, a: a[1] if a[0] is not None else a[2], lambda t: _widest(t[1:])),
        "NULLIF": entry(2, 2, lambda _, a: None if holds("=", a[0], a[1]) else a[0], gives_first),
        "DECODE": entry(3, None, _decode, _decode_type),
        "GREATEST": entry(1, None, _extreme(1), _widest),
        "LEAST": entry(1, None, _extreme(-1), _widest),
        "UPPER": entry(1, 1, lambda s, a: text_of(s, a[0]).upper() or None, gives_text_of_first),
        "LOWER": entry(1, 1, lambda s, a: text_of(s, a[0]).lower() or None, gives_text_of_first),
        "INITCAP": entry(1, 1, lambda s, a: text_of(s, a[0]).title() or None, gives_text_of_first),
        "REPLACE": entry(
            2,
            3,
            _replace,
            gives_wide,
        ),
        "TRANSLATE": entry(3, 3, _translate, gives_text_of_first),
        "CONCAT": entry(
            2,
            2,
            lambda s, a: checked_text(text_of(s, a[0]) + text_of(s, a[1])),
            lambda t: char(t[0].as_text + t[1].as_text),
        ),
        "SUBSTR": entry(2, 3, _substr, gives_text_of_first),
        "SUBSTRB": entry(2, 3, _substr, gives_text_of_first),
        "INSTRB": entry(2, 4, _instr, gives_number),
        "INSTR": entry(2, 4, _instr, gives_number),
        "LENGTH": entry(1, 1, lambda s, a: len(text_of(s, a[0])) or None, gives_number),
        "LPAD": entry(2, 3, _pad(True), gives_wide),
        "RPAD": entry(2, 3, _pad(False), gives_wide),
        "TRIM": entry(1, 1, _trim(True, True), gives_text_of_first),
        "LTRIM": entry(1, 2, _trim(True, False), gives_text_of_first),
        "RTRIM": entry(1, 2, _trim(False, True), gives_text_of_first),
        "CHR": entry(1, 1, lambda _, a: chr(whole_of(a[0]) % 256), lambda _: char(1)),
        "ASCII": entry(1, 1, lambda s, a: ord(text_of(s, a[0])[0]) if a[0] is not None else None, gives_number),
        "ROUND": entry(1, 2, _round(ROUND_HALF_UP), gives_first),
        "TRUNC": entry(1, 2, _round(ROUND_DOWN), gives_first),
        "CEIL": entry(1, 1, _integral(math.ceil), gives_number),
        "FLOOR": entry(1, 1, _integral(math.floor), gives_number),
        "ABS": entry(1, 1, _absolute, gives_number),
        "SIGN": entry(1, 1, _integral(lambda n: int(n.compare(Decimal(0)))), gives_number),
        "POWER": entry(2, 2, _power, gives_number),
        "MOD": entry(2, 2, _mod, gives_number),
        "TO_CHAR": entry(1, 3, _to_char, lambda t: char(75 if len(t) > 1 else t[0].as_text)),
        "TO_NUMBER": entry(1, 3, _to_number, gives_number),
        "TO_DATE": entry(1, 3, _to_date, gives_date),
        "XMLTYPE": entry(1, 1, lambda s, a: text_of(s, a[0]) or None, gives_text_of_first),
        "EXTRACT": entry(2, 2, _of_xml(extracted), gives_wide),
        "EXTRACTVALUE": entry(2, 2, _of_xml(one_value), gives_wide),
        "SYS_CONTEXT": entry(2, 3, _context, lambda _: char(256)),
        "USERENV": entry(1, 1, lambda s, a: _context(s, ("USERENV", a[0])), lambda _: char(64)),
        **DATE_FUNCTIONS,
        **MORE_FUNCTIONS,
    }
)


def _sum(values: Sequence[Value]) -> Value:
    numbers = [number for number in map(to_number, values) if number is not None]
    return number_of(sum(map(Decimal, numbers), Decimal(0))) if numbers else None


def _average(values: Sequence[Value]) -> Value:
    total = to_number(_sum(values))
    return None if total is None else number_of(Decimal(total) / len(values))


GROUP_FUNCTIONS: Mapping[str, Callable[[Sequence[Value]], Value]] = MappingProxyType(
    {
        "COUNT": len,
        "SUM": _sum,
        "AVG": _average,
        "MIN": lambda values: most(values, -1),
        "MAX": lambda values: most(values, 1),
        **SPREADS,
    }
)
"""Functions from the non-NULL values of a group to its result; the engine evaluates LISTAGG, because it needs an order."""

CONSTANTS: Mapping[str, tuple[Callable[[SqlSettings], Value], ColumnType]] = MappingProxyType(
    {
        "SYSDATE": (lambda settings: settings.now, DATE),
        "SYSTIMESTAMP": (lambda settings: settings.now, ZONED),
        "CURRENT_DATE": (lambda settings: settings.now, DATE),
        "CURRENT_TIMESTAMP": (lambda settings: settings.now, ZONED),
        "LOCALTIMESTAMP": (lambda settings: settings.now, TIMESTAMP),
        "DBTIMEZONE": (lambda _: "+00:00", char(6)),
        "SESSIONTIMEZONE": (lambda _: "+00:00", char(75)),
        "ORA_DATABASE_NAME": (lambda settings: settings.userenv.get("DB_NAME"), char(50)),
        "UID": (lambda _: 0, NUMBER),
        "USER": (lambda settings: settings.user, char(128)),
    }
)
