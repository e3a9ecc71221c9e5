"""Parses calls with a special syntax: EXTRACT, TRIM, literals with a type, intervals and KEEP."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Protocol

from exacell.emulator.sql.intervals import interval_days, interval_words
from exacell.emulator.sql.tokens import Token, TokenReader
from exacell.emulator.sql.tree import Binary, Call, Expression, Literal, Order


class Parser(Protocol):
    """The parser of expressions."""

    reader: TokenReader

    def expression(self) -> Expression:
        """Parse the expression that comes next and return it."""

    def order(self) -> Order:
        """Parse the term of ORDER BY that comes next and return it."""


def moved(parser: Parser, left: Expression, operator: str) -> Expression:
    """Return the call for ``left + INTERVAL '2' MONTH`` and similar: months have no fixed number of days."""
    reader = parser.reader
    reader.take()
    text, unit = reader.text(30089), _unit(parser)
    if unit not in ("YEAR", "MONTH"):
        return Binary(operator, left, Literal(interval_days(text, unit)))
    years, _, months = text.partition("-")
    if not re.fullmatch(r"\s*[0-9]{1,5}\s*(?:-\s*[0-9]{1,2}\s*)?", text):
        raise reader.error(1867)
    count = int(years) * (12 if unit == "YEAR" else 1) + int(months or 0)
    return Call("ADD_MONTHS", (left, Literal(-count if operator == "-" else count)))


def _unit(parser: Parser) -> str:
    """Read an interval's unit and return the first one, skipping its precision and the last unit."""
    reader = parser.reader
    unit = reader.name(30089)
    for _ in range(2):
        if reader.accept_mark("("):
            reader.whole(30089)
            if reader.accept_mark(","):
                reader.whole(30089)
            reader.expect_mark(")", 907)
        if not reader.accept("TO"):
            break
        reader.name(30089)
    return unit


def typed_literal(parser: Parser, token: Token) -> Expression | None:
    """Parse DATE '…', TIMESTAMP '…', INTERVAL '…' DAY or N'…' after its first word; return None if ``token`` is another name."""
    text = parser.reader.here.value
    if token.is_word("DATE", "TIMESTAMP"):
        parser.reader.take()
        if token.value == "DATE":
            return Call("TO_DATE", (Literal(text), Literal("YYYY-MM-DD")), at=token.at)
        return Call("TO_TIMESTAMP", (Literal(text), Literal("YYYY-MM-DD HH24:MI:SSXFF TZR")), at=token.at)
    if token.is_word("N"):
        return Literal(parser.reader.take().value or None)
    if token.is_word("INTERVAL"):
        parser.reader.take()
        return Call("TO_DSINTERVAL", (Literal(interval_words(text, _unit(parser))),), at=token.at)
    return None


def date_field(parser: Parser, token: Token) -> Expression:
    """Parse EXTRACT(field FROM x) and return the call."""
    reader = parser.reader
    reader.expect_mark("(", 906)
    field = reader.name(30076)
    reader.take()
    value = parser.expression()
    reader.expect_mark(")", 907)
    return Call("EXTRACT_FIELD", (Literal(field), value), at=token.at)


def trimmed(parser: Parser, token: Token) -> Expression | None:
    """Parse TRIM([LEADING|TRAILING|BOTH] [marks] FROM x) and return the call; None for TRIM(x)."""
    reader, start = parser.reader, parser.reader.position
    reader.take()
    side = reader.take().value if reader.here.is_word("LEADING", "TRAILING", "BOTH") else ""
    marks: Expression = Literal(" ") if reader.here.is_word("FROM") else parser.expression()
    if not reader.accept("FROM"):
        if side:
            raise reader.error(905)
        reader.position = start
        return None
    value = parser.expression()
    reader.expect_mark(")", 907)
    for name in {"LEADING": ("LTRIM",), "TRAILING": ("RTRIM",)}.get(side, ("LTRIM", "RTRIM")):
        value = Call(name, (value, marks), at=token.at)
    return value


def kept(parser: Parser, call: Call) -> Call:
    """Parse the rest of KEEP (DENSE_RANK …) after a call, and return the call with it."""
    reader = parser.reader
    reader.expect_mark("(", 906)
    reader.expect("DENSE_RANK", 905)
    last = reader.accept("LAST")
    if not last:
        reader.expect("FIRST", 905)
    reader.expect("ORDER", 905)
    reader.expect("BY", 905)
    orders = [parser.order()]
    while reader.accept_mark(","):
        orders.append(parser.order())
    reader.expect_mark(")", 907)
    return replace(call, keep=tuple(orders), keep_last=last)
