"""Statements that do in one line the work of a million loops: recognized by their form, and carried out at once.

Two forms are known: the rows of ``SELECT LEVEL, constant, … FROM dual CONNECT BY LEVEL <= n``, and a loop of PL/SQL that only
reads a user's table, by a random key or as a whole. Statements of another form are carried out step by step.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from exacell.emulator.sql import blocks as pl, tree


def is_level(expression: tree.Expression) -> bool:
    """Return whether the expression is LEVEL."""
    return isinstance(expression, tree.Column) and (expression.qualifier, expression.name) == ("", "LEVEL")


def numbered_to(query: tree.Query) -> int:
    """Return the number of rows of a query that selects only LEVEL and constants; 0 for every other query."""
    match query:
        case tree.Query(blocks=(block,), operators=(), order_by=(), limit=None, named=(), offset=0):
            return _numbered(block)
    return 0


def _numbered(block: tree.Block) -> int:
    plain = (block.where, block.group_by, block.having, block.distinct) == (None, (), None, False)
    match block:
        case tree.Block(
            sources=(tree.Source(view="DUAL", query=None, xml=None),),
            hierarchy=tree.Hierarchy(start=None, connect=tree.Binary("<=", level, tree.Literal(most))),
        ) if plain and is_level(level) and isinstance(most, int):
            known = all(is_level(item.expression) or _is_constant(item.expression) for item in block.items)
            return most if known and any(is_level(item.expression) for item in block.items) else 0
    return 0


def _is_constant(expression: tree.Expression) -> bool:
    match expression:
        case tree.Literal():
            return True
        case tree.Call(name=("RPAD" | "LPAD"), arguments=arguments):
            return all(map(_is_constant, arguments))
    return False


def first_of(query: tree.Query) -> tree.Query:
    """Return the query for only the first of the rows that :func:`numbered_to` counts."""
    (block,) = query.blocks
    assert block.hierarchy is not None and isinstance(block.hierarchy.connect, tree.Binary)
    connect = replace(block.hierarchy.connect, right=tree.Literal(1))
    return replace(query, blocks=(replace(block, hierarchy=replace(block.hierarchy, connect=connect)),))


_NOTHING = tree.Literal(None)


@dataclass(frozen=True, kw_only=True)
class Reads:
    """The reads in the body of a loop.

    Attributes:
        table: its name as the query writes it.
        into: the variable that gets the found value.
        key: the variable that gets the random key; empty if the whole table is read.
        column: the column in which the key is looked up.
        item: the column that is read.
        low, high: the limits between which the key is drawn.
    """

    table: str
    into: str
    key: str = ""
    column: str = ""
    item: str = ""
    low: tree.Expression = _NOTHING
    high: tree.Expression = _NOTHING


def reads_of(body: tuple[pl.Statement, ...]) -> Reads | None:
    """Return the reads of a loop's body ``k := TRUNC(DBMS_RANDOM.VALUE(low, high)); SELECT c INTO v FROM t WHERE id = k;``, or
    ``SELECT COUNT(*) INTO v FROM t;``. None for every other body.
    """
    match body:
        case (
            pl.Assign(
                target=pl.Target(name=key, field="", index=None, bind=False),
                value=tree.Call("TRUNC", (tree.Call("DBMS_RANDOM.VALUE", (low, high)),)),
            ),
            pl.SelectInto(query=query, targets=(pl.Target(name=into, field="", index=None, bind=False),), bulk=False),
        ):
            return _looked_up(query, key, into, low, high)
        case (
            pl.SelectInto(query=query, targets=(pl.Target(name=into, field="", index=None, bind=False),), bulk=False),
        ):
            return _scanned(query, into)
    return None


def _looked_up(query: tree.Query, key: str, into: str, low: tree.Expression, high: tree.Expression) -> Reads | None:
    match _plain(query):
        case tree.Block(
            items=(tree.Item(expression=tree.Column(qualifier="", name=item)),),
            sources=(tree.Source(view=table),),
            where=tree.Binary("=", tree.Column(qualifier="", name=column), tree.Column(qualifier="", name=given)),
        ) if given == key and item != key:
            return Reads(table=table, into=into, key=key, column=column, item=item, low=low, high=high)
    return None


def _scanned(query: tree.Query, into: str) -> Reads | None:
    match _plain(query):
        case tree.Block(
            items=(tree.Item(expression=tree.Call(name="COUNT", star=True)),),
            sources=(tree.Source(view=table),),
            where=None,
        ):
            return Reads(table=table, into=into)
    return None


def _plain(query: tree.Query) -> tree.Block | None:
    """Return the one SELECT of a query on one table; None if the query has clauses that change its number of rows."""
    match query:
        case tree.Query(blocks=(block,), operators=(), order_by=(), limit=None, named=(), offset=0):
            extra = (block.group_by, block.having, block.distinct, block.hierarchy)
            one = len(block.sources) == 1 and block.sources[0].query is None and block.sources[0].xml is None
            return block if one and extra == ((), None, False, None) else None
    return None
