"""PIVOT and UNPIVOT of a source in FROM: how they are written, and the rows that they make of others.

Source: Oracle Database SQL Language Reference, SELECT, "pivot_clause", "unpivot_clause". Not known: PIVOT XML, several
columns at once behind FOR.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Protocol

from exacell.emulator.ora_messages import OraError, ora
from exacell.emulator.sql.scope import Relation, ResultColumn, Row
from exacell.emulator.sql.tokens import TokenKind, TokenReader
from exacell.emulator.sql.tree import (
    Binary,
    Block,
    Call,
    Case,
    Column,
    Expression,
    Item,
    Literal,
    Pivot,
    Query,
    Source,
    Unpivot,
)
from exacell.emulator.sql.values import Value, char, to_text

PIVOTED = "(pivoted)"
"""The name by which the query that a PIVOT stands for finds its rows; nobody can write it."""


class Parser(Protocol):
    """The parser of expressions."""

    reader: TokenReader

    def expression(self) -> Expression:
        """Return the expression that comes next."""


def parse_pivot(parser: Parser) -> Pivot | Unpivot | None:
    """Return the PIVOT or UNPIVOT clause that comes next, None when none does.

    Raises:
        OraError: it is begun like one and is wrong.
    """
    reader = parser.reader
    if reader.here.is_word("PIVOT") and reader.ahead().is_mark("("):
        reader.take()
        return _pivot(parser)
    if reader.here.is_word("UNPIVOT"):
        reader.take()
        return _unpivot(reader)
    return None


def _alias(reader: TokenReader) -> str:
    named = reader.here.kind is TokenKind.NAME and not reader.here.is_word("FOR")
    if reader.accept("AS") or named or reader.here.kind is TokenKind.QUOTED:
        return reader.name(923)
    return ""


def _pivot(parser: Parser) -> Pivot:
    reader = parser.reader
    reader.expect_mark("(", 906)
    aggregates: list[tuple[Call, str]] = []
    while True:
        at, call = reader.here.at, parser.expression()
        if not isinstance(call, Call):
            raise OraError(ora(56902), at=at)
        aggregates.append((call, _alias(reader)))
        if not reader.accept_mark(","):
            break
    reader.expect("FOR", 905)
    column = reader.name(904)
    reader.expect("IN", 905)
    reader.expect_mark("(", 906)
    choices: list[tuple[Expression, str]] = []
    while True:
        value = parser.expression()
        choices.append((value, _alias(reader)))
        if not reader.accept_mark(","):
            break
    reader.expect_mark(")", 907)
    reader.expect_mark(")", 907)
    return Pivot(tuple(aggregates), column, tuple(choices))


def _unpivot(reader: TokenReader) -> Unpivot:
    nulls = reader.accept("INCLUDE", "NULLS")
    if not nulls:
        reader.accept("EXCLUDE", "NULLS")
    reader.expect_mark("(", 906)
    value = reader.name(904)
    reader.expect("FOR", 905)
    name = reader.name(904)
    reader.expect("IN", 905)
    reader.expect_mark("(", 906)
    columns: list[tuple[str, str]] = []
    while True:
        column = reader.name(904)
        columns.append((column, reader.text(905) if reader.accept("AS") else column))
        if not reader.accept_mark(","):
            break
    reader.expect_mark(")", 907)
    reader.expect_mark(")", 907)
    return Unpivot(value, name, tuple(columns), nulls)


def turned(relation: Relation, clause: Pivot | Unpivot, run: Callable[[Query], Relation]) -> Relation:
    """Return the rows that a clause makes of a source's.

    Args:
        run: gives the rows of a query over :data:`PIVOTED`.

    Raises:
        OraError: ORA-00904, a column is not the source's.
    """
    if isinstance(clause, Unpivot):
        return _unpivoted(relation, clause)
    names = [column.name for column in relation.columns]
    if clause.column not in names:
        raise OraError(ora(904, f'"{clause.column}"'))
    used = {clause.column} | {name for call, _ in clause.aggregates for name in _columns(call)}
    kept = [name for name in names if name not in used]
    items = [Item(Column("", name), name, name) for name in kept]
    for value, alias in clause.choices:
        title = alias or _title(value)
        for call, suffix in clause.aggregates:
            items.append(Item(_chosen(call, clause.column, value), f"{title}_{suffix}" if suffix else title, title))
    keys = tuple(Column("", name) for name in kept)
    block = Block(tuple(items), (Source(PIVOTED, None, PIVOTED),), None, keys, None, False)
    return run(Query((block,)))


def _columns(call: Call) -> list[str]:
    found: list[str] = []
    for argument in call.arguments:
        if isinstance(argument, Column):
            found.append(argument.name)
        elif isinstance(argument, Call):
            found += _columns(argument)
        elif isinstance(argument, Binary):
            found += _columns(Call("", (argument.left, argument.right)))
    return found


def _title(value: Expression) -> str:
    if not isinstance(value, Literal):
        return "?"
    return f"'{value.value}'" if isinstance(value.value, str) else to_text(value.value) or "NULL"


def _chosen(call: Call, column: str, value: Expression) -> Call:
    """Return an aggregate that sees only the rows whose column has a value."""
    test = Binary("=", Column("", column), value)
    if call.star:
        return Call("COUNT", (Case(None, ((test, Literal(1)),), None),))
    first, *rest = call.arguments
    return replace(call, arguments=(Case(None, ((test, first),), None), *rest))


def _unpivoted(relation: Relation, clause: Unpivot) -> Relation:
    names = [column.name for column in relation.columns]
    for column, _ in clause.columns:
        if column not in names:
            raise OraError(ora(904, f'"{column}"'))
    turned_names = {column for column, _ in clause.columns}
    kept = [place for place, name in enumerate(names) if name not in turned_names]
    kind = relation.columns[names.index(clause.columns[0][0])].type
    width = max(len(title) for _, title in clause.columns)
    columns = (
        *(relation.columns[place] for place in kept),
        ResultColumn(clause.name, char(width)),
        ResultColumn(clause.value, kind),
    )
    return Relation(columns, list(_rows(relation.rows, clause, names, kept)))


def _rows(rows: Sequence[Row], clause: Unpivot, names: Sequence[str], kept: Sequence[int]) -> list[Row]:
    found: list[Row] = []
    for row in rows:
        for column, title in clause.columns:
            value: Value = row[names.index(column)]
            if value is not None or clause.nulls:
                found.append((*(row[place] for place in kept), title, value))
    return found
