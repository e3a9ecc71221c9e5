"""The single-row and group functions of the emulated SQL, in two tables."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from decimal import ROUND_DOWN, ROUND_HALF_UP, Decimal, localcontext
from types import MappingProxyType

from exacell.emulator.ora_messages import OraError, ora
from exacell.emulator.sql_compare import compare, holds
from exacell.emulator.sql_values import (
    DATE,
    DEFAULT_DATE_FORMAT,
    MAXIMUM_CHAR,
    NUMBER,
    NUMBER_CHARS,
    NUMBER_EXPONENT,
    ColumnType,
    Value,
    char,
    checked_text,
    format_date,
    format_number,
    number_of,
    parse_date,
    to_number,
    to_text,
)
from exacell.emulator.sql_xml import extracted, one_value


@dataclass(frozen=True, kw_only=True)
class SqlSettings:
    """What the session gives to functions.

    Attributes:
        now: SYSDATE.
        user: USER.
        date_format: NLS_DATE_FORMAT.
        userenv: what SYS_CONTEXT('USERENV', key) answers, by upper-case key.
    """

    now: datetime
    user: str = "SYS"
    date_format: str = DEFAULT_DATE_FORMAT
    userenv: Mapping[str, str] = field(default_factory=dict)


Function = Callable[[SqlSettings, Sequence[Value]], Value]
TypeRule = Callable[[Sequence[ColumnType]], ColumnType]


@dataclass(frozen=True, kw_only=True)
class FunctionEntry:
    """A function: how many arguments it takes (``most`` None: any number), what it does, what type it gives."""

    least: int
    most: int | None
    apply: Function
    type_of: TypeRule


def _text(settings: SqlSettings, value: Value) -> str:
    return to_text(value, settings.date_format) or ""


def _whole(value: Value) -> int:
    number = to_number(value)
    return int(number) if number is not None else 0


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
    text, start = _text(settings, args[0]), _whole(args[1])
    begin = start - 1 if start > 0 else len(text) + start if start < 0 else 0
    if begin < 0:
        return None
    if len(args) == 2:
        return text[begin:] or None
    length = _whole(args[2])
    return (text[begin : begin + length] or None) if length > 0 else None


def _instr(settings: SqlSettings, args: Sequence[Value]) -> Value:
    text, wanted = _text(settings, args[0]), _text(settings, args[1])
    start = _whole(args[2]) if len(args) > 2 else 1
    nth = _whole(args[3]) if len(args) > 3 else 1
    if start < 0:
        found = len(text) + start + 1
        for _ in range(nth):
            found = text.rfind(wanted, 0, found - 1 + len(wanted)) + 1
            if not found:
                break
        return found
    found = start - 1
    for number in range(nth):
        found = text.find(wanted, found + (number > 0))
        if found < 0:
            return 0
    return found + 1


def _replace(settings: SqlSettings, args: Sequence[Value]) -> Value:
    text, wanted = _text(settings, args[0]), _text(settings, args[1])
    return checked_text(text.replace(wanted, _text(settings, args[2]) if len(args) > 2 else "") if wanted else text)


def _pad(left: bool) -> Function:
    def pad(settings: SqlSettings, args: Sequence[Value]) -> Value:
        text, width = _text(settings, args[0]), min(_whole(args[1]), MAXIMUM_CHAR)
        filler = _text(settings, args[2]) if len(args) > 2 else " "
        if args[0] is None or width <= 0 or not filler:
            return None
        missing = (filler * width)[: max(0, width - len(text))]
        return (missing + text if left else text + missing)[:width]

    return pad


def _trim(left: bool, right: bool) -> Function:
    def trim(settings: SqlSettings, args: Sequence[Value]) -> Value:
        text = _text(settings, args[0])
        marks = _text(settings, args[1]) if len(args) > 1 else " "
        text = text.lstrip(marks) if left else text
        return (text.rstrip(marks) if right else text) or None

    return trim


def _round(mode: str) -> Function:
    def rounded(_: SqlSettings, args: Sequence[Value]) -> Value:
        value = args[0]
        if isinstance(value, datetime):
            return value.replace(hour=0, minute=0, second=0)
        number = to_number(value)
        if number is None:
            return None
        places = max(-NUMBER_CHARS, min(_whole(args[1]) if len(args) > 1 else 0, NUMBER_CHARS))
        if isinstance(number, int) and places >= 0:
            return number
        with localcontext() as context:
            context.prec = NUMBER_EXPONENT + 2 * NUMBER_CHARS
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
        context.prec = NUMBER_EXPONENT + 2 * NUMBER_CHARS
        return left if right == 0 else number_of(Decimal(left) % Decimal(right))


def _absolute(_: SqlSettings, args: Sequence[Value]) -> Value:
    number = to_number(args[0])
    return number if number is None or number >= 0 else -number


def _power(_: SqlSettings, args: Sequence[Value]) -> Value:
    base = to_number(args[0])
    if base is None:
        return None
    try:
        return number_of(Decimal(base) ** _whole(args[1]))
    except ArithmeticError:
        raise OraError(ora(1426)) from None


def _to_char(settings: SqlSettings, args: Sequence[Value]) -> Value:
    value = args[0]
    if value is None or len(args) == 1:
        return to_text(value, settings.date_format)
    mask = _text(settings, args[1])
    if isinstance(value, datetime):
        return format_date(value, mask)
    number = to_number(value)
    return None if number is None else format_number(number, mask)


def _to_date(settings: SqlSettings, args: Sequence[Value]) -> Value:
    if args[0] is None or isinstance(args[0], datetime):
        return args[0]
    return parse_date(_text(settings, args[0]), _text(settings, args[1]) if len(args) > 1 else settings.date_format)


def _regexp(settings: SqlSettings, args: Sequence[Value]) -> re.Pattern[str]:
    pattern = _text(settings, args[1])
    for name, body in (("alpha", "A-Za-z"), ("digit", "0-9"), ("space", r"\s"), ("alnum", "A-Za-z0-9")):
        pattern = pattern.replace(f"[:{name}:]", body)
    try:
        return re.compile(pattern)
    except re.error:
        raise OraError(ora(12725)) from None


def _regexp_replace(settings: SqlSettings, args: Sequence[Value]) -> Value:
    replacement = _text(settings, args[2]) if len(args) > 2 else ""
    return checked_text(_regexp(settings, args).sub(lambda _: replacement, _text(settings, args[0])))


def _regexp_substr(settings: SqlSettings, args: Sequence[Value]) -> Value:
    matches = list(_regexp(settings, args).finditer(_text(settings, args[0])))
    nth = _whole(args[3]) if len(args) > 3 else 1
    return (matches[nth - 1][0] or None) if 0 < nth <= len(matches) else None


def most(values: Iterable[Value], sign: int) -> Value:
    """Return the greatest of the values (``sign`` 1) or the least (-1); None when there is none."""
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
        settings.userenv.get(_text(settings, args[1]).upper())
        if _text(settings, args[0]).upper() == "USERENV"
        else None
    )


def _translate(settings: SqlSettings, args: Sequence[Value]) -> Value:
    source, target = _text(settings, args[1]), _text(settings, args[2])
    table = {ord(mark): target[n] if n < len(target) else None for n, mark in reversed(list(enumerate(source)))}
    return _text(settings, args[0]).translate(table) or None


def _of_xml(function: Callable[[str, str], str | None]) -> Function:
    def apply(settings: SqlSettings, args: Sequence[Value]) -> Value:
        return None if args[0] is None else function(_text(settings, args[0]), _text(settings, args[1]))

    return apply


def _number(_: Sequence[ColumnType]) -> ColumnType:
    return NUMBER


def _date(_: Sequence[ColumnType]) -> ColumnType:
    return DATE


def _first(types: Sequence[ColumnType]) -> ColumnType:
    return types[0]


def _widest(types: Sequence[ColumnType]) -> ColumnType:
    if all(kind.kind is types[0].kind for kind in types):
        return max(types, key=lambda kind: kind.width)
    return char(max(kind.as_text for kind in types))


def _text_of_first(types: Sequence[ColumnType]) -> ColumnType:
    return char(types[0].as_text)


def _wide(_: Sequence[ColumnType]) -> ColumnType:
    return char(4000)


def _decode_type(types: Sequence[ColumnType]) -> ColumnType:
    results = [*types[2::2], *(types[-1:] if len(types) % 2 == 0 else ())]
    return _widest(results) if results[0].kind is not NUMBER.kind else NUMBER


def _entry(least: int, most: int | None, apply: Function, type_of: TypeRule) -> FunctionEntry:
    return FunctionEntry(least=least, most=most, apply=apply, type_of=type_of)


FUNCTIONS: Mapping[str, FunctionEntry] = MappingProxyType(
    {
        "NVL": _entry(2, 2, _nvl, _widest),
        "COALESCE": _entry(2, None, _nvl, _widest),
        "NVL2": _entry(3, 3, lambda _, a: a[1] if a[0] is not None else a[2], lambda t: _widest(t[1:])),
        "NULLIF": _entry(2, 2, lambda _, a: None if holds("=", a[0], a[1]) else a[0], _first),
        "DECODE": _entry(3, None, _decode, _decode_type),
        "GREATEST": _entry(1, None, _extreme(1), _widest),
        "LEAST": _entry(1, None, _extreme(-1), _widest),
        "UPPER": _entry(1, 1, lambda s, a: _text(s, a[0]).upper() or None, _text_of_first),
        "LOWER": _entry(1, 1, lambda s, a: _text(s, a[0]).lower() or None, _text_of_first),
        "INITCAP": _entry(1, 1, lambda s, a: _text(s, a[0]).title() or None, _text_of_first),
        "REPLACE": _entry(
            2,
            3,
            _replace,
            _wide,
        ),
        "TRANSLATE": _entry(3, 3, _translate, _text_of_first),
        "CONCAT": _entry(
            2,
            2,
            lambda s, a: checked_text(_text(s, a[0]) + _text(s, a[1])),
            lambda t: char(t[0].as_text + t[1].as_text),
        ),
        "SUBSTR": _entry(2, 3, _substr, _text_of_first),
        "INSTR": _entry(2, 4, _instr, _number),
        "LENGTH": _entry(1, 1, lambda s, a: len(_text(s, a[0])) or None, _number),
        "LPAD": _entry(2, 3, _pad(True), _wide),
        "RPAD": _entry(2, 3, _pad(False), _wide),
        "TRIM": _entry(1, 1, _trim(True, True), _text_of_first),
        "LTRIM": _entry(1, 2, _trim(True, False), _text_of_first),
        "RTRIM": _entry(1, 2, _trim(False, True), _text_of_first),
        "CHR": _entry(1, 1, lambda _, a: chr(_whole(a[0]) % 256), lambda _: char(1)),
        "ASCII": _entry(1, 1, lambda s, a: ord(_text(s, a[0])[0]) if a[0] is not None else None, _number),
        "REGEXP_REPLACE": _entry(2, 6, _regexp_replace, _wide),
        "REGEXP_SUBSTR": _entry(2, 6, _regexp_substr, _text_of_first),
        "ROUND": _entry(1, 2, _round(ROUND_HALF_UP), _first),
        "TRUNC": _entry(1, 2, _round(ROUND_DOWN), _first),
        "CEIL": _entry(1, 1, _integral(math.ceil), _number),
        "FLOOR": _entry(1, 1, _integral(math.floor), _number),
        "ABS": _entry(1, 1, _absolute, _number),
        "SIGN": _entry(1, 1, _integral(lambda n: int(n.compare(Decimal(0)))), _number),
        "POWER": _entry(2, 2, _power, _number),
        "MOD": _entry(2, 2, _mod, _number),
        "TO_CHAR": _entry(1, 3, _to_char, lambda t: char(75 if len(t) > 1 else t[0].as_text)),
        "TO_NUMBER": _entry(1, 3, lambda _, a: to_number(a[0]), _number),
        "TO_DATE": _entry(1, 3, _to_date, _date),
        "XMLTYPE": _entry(1, 1, lambda s, a: _text(s, a[0]) or None, _text_of_first),
        "EXTRACT": _entry(2, 2, _of_xml(extracted), _wide),
        "EXTRACTVALUE": _entry(2, 2, _of_xml(one_value), _wide),
        "SYS_CONTEXT": _entry(2, 3, _context, lambda _: char(256)),
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
    }
)
"""From the non-NULL values of a group to its result; LISTAGG is evaluated by the engine because it orders."""

CONSTANTS: Mapping[str, tuple[Callable[[SqlSettings], Value], ColumnType]] = MappingProxyType(
    {
        "SYSDATE": (lambda settings: settings.now, DATE),
        "SYSTIMESTAMP": (lambda settings: settings.now, DATE),
        "CURRENT_DATE": (lambda settings: settings.now, DATE),
        "USER": (lambda settings: settings.user, char(128)),
    }
)
