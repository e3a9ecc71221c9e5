"""Parses queries of the emulated database nodes into a tree.

Grammar (the queries of scripts for ASM, source: reference asm.md sections 1, 6, 10 and 13)::

    query    := [WITH name AS (query), ...] block {UNION [ALL] | MINUS | INTERSECT block}
                [ORDER BY ...] [FETCH FIRST n ROWS ONLY]
    block    := SELECT [DISTINCT] item, ... FROM source {, source | [LEFT|RIGHT|INNER] JOIN source ON c | USING (c)}
                [WHERE c] [GROUP BY e, ...] [HAVING c]
    item     := * | alias.* | expression [[AS] alias]
    source   := view [alias] | (query) [alias]

Expressions are parsed by :mod:`sql.expression_syntax`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations, product

from exacell.emulator.basics.ora_messages import OraError, ora
from exacell.emulator.sql.expression_syntax import ExpressionParser
from exacell.emulator.sql.tokens import TokenKind
from exacell.emulator.sql.tree import (
    Block,
    Call,
    Column,
    Expression,
    Hierarchy,
    Item,
    Literal,
    Order,
    Query,
    RowValue,
    Source,
    Star,
    XmlRows,
)

_ENDS_ITEM_WORDS = "FROM UNION MINUS INTERSECT ORDER WHERE GROUP HAVING FETCH INTO START CONNECT"
_ENDS_ITEM = frozenset(_ENDS_ITEM_WORDS.split())
_ENDS_SOURCE = _ENDS_ITEM | {
    "JOIN",
    "LEFT",
    "RIGHT",
    "INNER",
    "FULL",
    "CROSS",
    "NATURAL",
    "ON",
    "USING",
    "CONNECT",
    "FOR",
}


_LISTS = ("ODCINUMBERLIST", "ODCIVARCHAR2LIST", "ODCIDATELIST", "DBMS_DEBUG_VC2COLL", "KU$_VCNT")
"""Collection types that every database has."""
_NO_PLAN = "Error: cannot fetch last explain plan from PLAN_TABLE"


def _values(column: str, values: Sequence[Expression]) -> Query:
    """Return a query with one row for each value."""
    rows = [
        Block((Item(value, column, column),), (Source("DUAL", None, "DUAL"),), None, (), None, False)
        for value in values
    ]
    return Query(tuple(rows), ("UNION ALL",) * (len(rows) - 1))


def _renamed(query: Query, columns: Sequence[str]) -> Query:
    """Return a query with the column names that WITH gives; ``*`` keeps its own names."""
    first = query.blocks[0]
    if len(columns) != len(first.items):
        return query
    items = tuple(
        item if isinstance(item.expression, Star) else replace(item, alias=name)
        for item, name in zip(first.items, columns, strict=True)
    )
    return replace(query, blocks=(replace(first, items=items), *query.blocks[1:]))


def parse_query(statement: str) -> Query:
    """Parse a SELECT (or WITH) statement and return its tree.

    Raises:
        OraError: ORA-00923, ORA-00936 and similar codes, at the offending token.
    """
    parser = SqlParser(statement)
    query = parser.query()
    parser.reader.done()
    return query


class SqlParser(ExpressionParser):
    """Parses queries and expressions at its reader's position; the parser of PL/SQL blocks is a subclass."""

    def query(self) -> Query:
        """Parse the query that comes next and return it."""
        reader = self.reader
        named: list[tuple[str, Query]] = []
        if reader.accept("WITH"):
            while True:
                name = reader.name(903)
                columns = self._names()
                reader.expect("AS", 905)
                named.append((name, _renamed(self._parenthesised(), columns)))
                if not reader.accept_mark(","):
                    break
        blocks, operators = [self._block()], list[str]()
        while reader.here.is_word("UNION", "MINUS", "INTERSECT"):
            operator = reader.take().value
            if operator == "UNION" and reader.accept("ALL"):
                operator = "UNION ALL"
            operators.append(operator)
            blocks.append(self._block())
        order_by: list[Order] = []
        siblings = False
        if reader.accept("ORDER"):
            siblings = reader.accept("SIBLINGS")
            reader.expect("BY", 905)
            order_by.append(self.order())
            while reader.accept_mark(","):
                order_by.append(self.order())
        offset, limit, percent = self._limits()
        if reader.accept("FOR", "UPDATE"):
            self._for_update()
        return Query(tuple(blocks), tuple(operators), tuple(order_by), limit, offset, tuple(named), siblings, percent)

    def _names(self) -> list[str]:
        """Parse names in parentheses and return them; empty if no parenthesis comes next."""
        reader, names = self.reader, list[str]()
        if reader.accept_mark("("):
            names.append(reader.name(904))
            while reader.accept_mark(","):
                names.append(reader.name(904))
            reader.expect_mark(")", 907)
        return names

    def _for_update(self) -> None:
        """Skip the words after FOR UPDATE: rows of views are not locked."""
        reader = self.reader
        if reader.accept("OF"):
            self.expression()
            while reader.accept_mark(","):
                self.expression()
        if reader.accept("WAIT"):
            reader.whole(30006)
        elif not reader.accept("NOWAIT"):
            reader.accept("SKIP", "LOCKED")

    def _limits(self) -> tuple[int, int | None, bool]:
        reader, offset, limit, percent = self.reader, 0, None, False
        if reader.accept("OFFSET"):
            offset = reader.whole(905)
            if not reader.accept("ROWS"):
                reader.expect("ROW", 905)
        if reader.accept("FETCH"):
            if not reader.accept("FIRST"):
                reader.expect("NEXT", 905)
            limit = reader.whole(905) if reader.here.kind is TokenKind.NUMBER else 1
            percent = reader.accept("PERCENT")
            if not reader.accept("ROWS"):
                reader.expect("ROW", 905)
            if not reader.accept("WITH", "TIES"):
                reader.expect("ONLY", 905)
        return offset, limit, percent

    def _parenthesised(self) -> Query:
        self.reader.expect_mark("(", 905)
        query = self.query()
        self.reader.expect_mark(")", 907)
        return query

    def _block(self) -> Block:
        reader = self.reader
        reader.expect("SELECT", 900)
        distinct = reader.accept("DISTINCT") or reader.accept("UNIQUE")
        reader.accept("ALL")
        items = [self._item()]
        while reader.accept_mark(","):
            items.append(self._item())
        self._into()
        reader.expect("FROM", 923)
        sources = [self._source("cross")]
        while join := self._join():
            sources.append(self._source(join))
        where = self.expression() if reader.accept("WHERE") else None
        hierarchy = self._hierarchy()
        having = self.expression() if reader.accept("HAVING") else None
        group_by, sets = grouping(self.listed("GROUP", 905))
        having = self.expression() if having is None and reader.accept("HAVING") else having
        return Block(tuple(items), tuple(sources), where, group_by, having, distinct, hierarchy, sets)

    def _hierarchy(self) -> Hierarchy | None:
        reader = self.reader
        start = self.expression() if reader.accept("START", "WITH") else None
        if not reader.accept("CONNECT", "BY"):
            if start is not None:
                raise reader.error(1788)
            return None
        nocycle = reader.accept("NOCYCLE")
        connect = self.expression()
        if start is None and reader.accept("START", "WITH"):
            start = self.expression()
        return Hierarchy(start, connect, nocycle)

    def _into(self) -> None:
        """Skip the words between the select list and FROM; only PL/SQL has any there."""

    def _item(self) -> Item:
        reader = self.reader
        start = reader.here.at
        if reader.here.is_mark("*"):
            reader.take()
            return Item(Star(at=start), "", "*")
        if reader.ahead(1).is_mark(".") and reader.ahead(2).is_mark("*"):
            qualifier = reader.name(936)
            reader.take()
            reader.take()
            return Item(Star(qualifier, start), "", "*")
        expression = self.expression()
        text = self._source_text(start, reader.here.at)
        alias = ""
        bulk = reader.here.is_word("BULK") and reader.ahead().is_word("COLLECT")
        ends = reader.here.value in _ENDS_ITEM or (
            reader.here.is_word("OFFSET") and reader.ahead().kind is TokenKind.NUMBER
        )
        named = reader.here.kind is TokenKind.NAME and not ends and not bulk
        if reader.accept("AS") or named or reader.here.kind is TokenKind.QUOTED:
            alias = reader.name(923)
        return Item(expression, alias, text)

    def _source_text(self, start: int, following: int) -> str:
        """Return the text of an expression as SQL*Plus uses it for a heading: no blanks, and upper case outside quotes."""
        pieces = self.statement[start:following].split("'")
        return "'".join(piece if number % 2 else "".join(piece.split()).upper() for number, piece in enumerate(pieces))

    def _join(self) -> str:
        reader = self.reader
        if reader.accept_mark(",") or reader.accept("CROSS", "JOIN"):
            return "cross"
        if reader.accept("NATURAL", "JOIN"):
            return "natural"
        for side in ("LEFT", "RIGHT", "FULL"):
            if reader.accept(side, "OUTER", "JOIN") or reader.accept(side, "JOIN"):
                return side.lower()
        return "inner" if reader.accept("INNER", "JOIN") or reader.accept("JOIN") else ""

    def _source(self, join: str) -> Source:
        reader = self.reader
        at = reader.here.at
        query: Query | None = None
        xml: XmlRows | None = None
        view = name = ""
        if reader.here.is_mark("("):
            query = self._parenthesised()
        elif (
            reader.here.is_word("TABLE") and reader.ahead().is_mark("(") and not reader.ahead(2).is_word("XMLSEQUENCE")
        ):
            query = self._table_of()
        elif reader.here.is_word("TABLE", "XMLTABLE") and reader.ahead().is_mark("("):
            xml = self._xml_rows()
        else:
            view = name = reader.name(903)
            while reader.accept_mark("."):
                owner, name = name, reader.name(903)
                view = f"{owner}.{name}"
            if reader.here.is_mark("@"):
                raise reader.error(942)
            if reader.here.is_word("SAMPLE", "PARTITION", "SUBPARTITION") and reader.ahead().is_mark("("):
                reader.take()
                self._choices()
        if reader.here.is_word("PIVOT", "UNPIVOT") and reader.ahead().is_mark("("):
            raise OraError(ora(439, f"{reader.here.value} is not emulated"), at=reader.here.at)
        # A sub-query without an alias gets one that no user can write, so that joins can tell the sources apart.
        alias = name or f"(query at {at})"
        if reader.here.kind is TokenKind.QUOTED or (
            reader.here.kind is TokenKind.NAME and reader.here.value not in _ENDS_SOURCE
        ):
            alias = reader.name(933)
        on: Expression | None = None
        using: list[str] = []
        if join in ("inner", "left", "right", "full"):
            if reader.accept("USING"):
                reader.expect_mark("(", 905)
                using.append(reader.name(904))
                while reader.accept_mark(","):
                    using.append(reader.name(904))
                reader.expect_mark(")", 907)
            else:
                reader.expect("ON", 905)
                on = self.expression()
        return Source(view, query, alias, join, on, tuple(using), at, xml)

    def _table_of(self) -> Query:
        """Return TABLE(SYS.ODCINUMBERLIST(…)) and similar as a query of the values, and plans as a note that there is none."""
        reader = self.reader
        at = reader.here.at
        reader.take()
        reader.take()
        call = self.expression()
        reader.expect_mark(")", 907)
        name = call.name if isinstance(call, Call | Column) else ""
        package = call.qualifier if isinstance(call, Column) else ""
        if name.startswith("DBMS_XPLAN.") or package == "DBMS_XPLAN":
            return _values("PLAN_TABLE_OUTPUT", [Literal(_NO_PLAN)])
        if isinstance(call, Call) and name.rpartition(".")[2] in _LISTS:
            return _values("COLUMN_VALUE", call.arguments)
        raise OraError(ora(22905), at=at)

    def _xml_rows(self) -> XmlRows:
        """Parse TABLE(XMLSEQUENCE(x)), or XMLTABLE(path PASSING x COLUMNS name type [PATH path], …), and return it."""
        reader = self.reader
        if reader.take().value == "TABLE":
            reader.expect_mark("(", 906)
            reader.expect("XMLSEQUENCE", 22905)
            reader.expect_mark("(", 906)
            document = self.expression()
            reader.expect_mark(")", 907)
            reader.expect_mark(")", 907)
            return XmlRows(document)
        reader.expect_mark("(", 906)
        path = reader.text(19102)
        reader.expect("PASSING", 905)
        reader.accept("BY", "VALUE")
        document = self.expression()
        columns: list[tuple[str, str, int, str]] = []
        if reader.accept("COLUMNS"):
            while True:
                name = reader.name(904)
                kind, width = self._cast_type()
                columns.append((name, kind, width, reader.text(19102) if reader.accept("PATH") else name))
                if not reader.accept_mark(","):
                    break
        reader.expect_mark(")", 907)
        return XmlRows(document, path, tuple(columns))


_Set = tuple[Expression, ...]


def grouping(terms: Sequence[Expression]) -> tuple[_Set, tuple[_Set, ...]]:
    """Return all keys of GROUP BY, and the sets of keys to group by; no sets without ROLLUP, CUBE and GROUPING SETS.

    Source: Oracle Database SQL Language Reference, SELECT, "group_by_clause".
    """
    if not any(isinstance(term, Call) and term.name in ("ROLLUP", "CUBE", "GROUPING SETS") for term in terms):
        return tuple(terms), ()
    alternatives = [_sets(term) for term in terms]
    sets = [tuple(dict.fromkeys(key for part in parts for key in part)) for parts in product(*alternatives)]
    keys = tuple(dict.fromkeys(key for chosen in sets for key in chosen))
    return keys, tuple(sets)


def _sets(term: Expression) -> list[_Set]:
    if not isinstance(term, Call):
        return [_keys(term)]
    parts = [_keys(argument) for argument in term.arguments]
    if term.name == "ROLLUP":
        return [_joined(parts[:count]) for count in range(len(parts), -1, -1)]
    if term.name == "CUBE":
        return [_joined(chosen) for count in range(len(parts), -1, -1) for chosen in combinations(parts, count)]
    if term.name == "GROUPING SETS":
        return [chosen for argument in term.arguments for chosen in _sets(argument)]
    return [(term,)]


def _keys(term: Expression) -> _Set:
    return term.parts if isinstance(term, RowValue) else (term,)


def _joined(parts: Sequence[_Set]) -> _Set:
    return tuple(key for part in parts for key in part)
