"""Parses queries of the emulated database nodes into a tree.

Grammar (what scripts against ASM use, source: reference asm.md sections 1, 6, 10 and 13)::

    query    := [WITH name AS (query), ...] block {UNION [ALL] | MINUS | INTERSECT block}
                [ORDER BY ...] [FETCH FIRST n ROWS ONLY]
    block    := SELECT [DISTINCT] item, ... FROM source {, source | [LEFT|RIGHT|INNER] JOIN source ON c | USING (c)}
                [WHERE c] [GROUP BY e, ...] [HAVING c]
    item     := * | alias.* | expression [[AS] alias]
    source   := view [alias] | (query) [alias]

Expressions: ``|| + - * /``, comparison, IN, LIKE, BETWEEN, IS NULL, NOT, AND, OR, CASE, function calls, sub-queries.
"""

from __future__ import annotations

from exacell.emulator.sql_tokens import TokenKind, TokenReader
from exacell.emulator.sql_tree import (
    Between,
    Binary,
    Block,
    Call,
    Case,
    Column,
    Exists,
    Expression,
    InList,
    IsNull,
    Item,
    Like,
    Literal,
    Order,
    Query,
    Scalar,
    Source,
    Star,
    Unary,
    Window,
)
from exacell.emulator.sql_values import to_number

_ENDS_ITEM = frozenset({"FROM", "UNION", "MINUS", "INTERSECT", "ORDER", "WHERE", "GROUP", "HAVING", "FETCH", "OFFSET"})
_ENDS_SOURCE = _ENDS_ITEM | {"JOIN", "LEFT", "RIGHT", "INNER", "FULL", "CROSS", "NATURAL", "ON", "USING", "CONNECT"}
_COMPARISONS = ("=", "<>", "!=", "^=", "<", ">", "<=", ">=")
_RESERVED_WORDS = """
    SELECT FROM WHERE GROUP HAVING ORDER BY AND OR NOT IN LIKE IS NULL BETWEEN UNION MINUS INTERSECT THEN WHEN ELSE ALL
    ANY AS ASC DESC DISTINCT ON SET TABLE VALUES WITH CREATE ALTER DROP INTO START CONNECT
"""
_RESERVED = frozenset(_RESERVED_WORDS.split())


def parse_query(statement: str) -> Query:
    """Return the tree of a SELECT (or WITH) statement.

    Raises:
        OraError: ORA-00923, ORA-00936 and their like, at the offending token.
    """
    parser = _QueryParser(statement)
    query = parser.query()
    parser.reader.done()
    return query


class _QueryParser:
    def __init__(self, statement: str) -> None:
        self.statement = statement
        self.reader = TokenReader(statement)

    def query(self) -> Query:
        reader = self.reader
        named: list[tuple[str, Query]] = []
        if reader.accept("WITH"):
            while True:
                name = reader.name(903)
                reader.expect("AS", 905)
                named.append((name, self._parenthesised()))
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
        if reader.accept("ORDER"):
            reader.accept("SIBLINGS")
            reader.expect("BY", 905)
            order_by.append(self._order())
            while reader.accept_mark(","):
                order_by.append(self._order())
        offset, limit = self._limits()
        return Query(tuple(blocks), tuple(operators), tuple(order_by), limit, offset, tuple(named))

    def _order(self) -> Order:
        expression = self.expression()
        descending = self.reader.accept("DESC")
        if not descending:
            self.reader.accept("ASC")
        nulls: bool | None = None
        if self.reader.accept("NULLS", "FIRST"):
            nulls = True
        elif self.reader.accept("NULLS", "LAST"):
            nulls = False
        return Order(expression, descending, nulls)

    def _limits(self) -> tuple[int, int | None]:
        reader, offset, limit = self.reader, 0, None
        if reader.accept("OFFSET"):
            offset = reader.whole(905)
            if not reader.accept("ROWS"):
                reader.expect("ROW", 905)
        if reader.accept("FETCH"):
            if not reader.accept("FIRST"):
                reader.expect("NEXT", 905)
            limit = reader.whole(905) if reader.here.kind is TokenKind.NUMBER else 1
            if not reader.accept("ROWS"):
                reader.expect("ROW", 905)
            reader.expect("ONLY", 905)
        return offset, limit

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
        reader.expect("FROM", 923)
        sources = [self._source("cross")]
        while join := self._join():
            sources.append(self._source(join))
        where = self.expression() if reader.accept("WHERE") else None
        group_by: list[Expression] = []
        if reader.accept("GROUP"):
            reader.expect("BY", 905)
            group_by.append(self.expression())
            while reader.accept_mark(","):
                group_by.append(self.expression())
        having = self.expression() if reader.accept("HAVING") else None
        return Block(tuple(items), tuple(sources), where, tuple(group_by), having, distinct)

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
        named = reader.here.kind is TokenKind.NAME and reader.here.value not in _ENDS_ITEM
        if reader.accept("AS") or named or reader.here.kind is TokenKind.QUOTED:
            alias = reader.name(923)
        return Item(expression, alias, text)

    def _source_text(self, start: int, following: int) -> str:
        """Return the text of an expression as SQL*Plus heads its column: no blanks, upper case outside quotes."""
        pieces = self.statement[start:following].split("'")
        return "'".join(piece if number % 2 else "".join(piece.split()).upper() for number, piece in enumerate(pieces))

    def _join(self) -> str:
        reader = self.reader
        if reader.accept_mark(",") or reader.accept("CROSS", "JOIN"):
            return "cross"
        if reader.accept("NATURAL", "JOIN"):
            return "natural"
        for side in ("LEFT", "RIGHT"):
            if reader.accept(side, "OUTER", "JOIN") or reader.accept(side, "JOIN"):
                return side.lower()
        return "inner" if reader.accept("INNER", "JOIN") or reader.accept("JOIN") else ""

    def _source(self, join: str) -> Source:
        reader = self.reader
        at = reader.here.at
        query: Query | None = None
        view = ""
        if reader.here.is_mark("("):
            query = self._parenthesised()
        else:
            view = reader.name(903)
            while reader.accept_mark("."):
                view = reader.name(903)
            if reader.here.is_mark("@"):
                raise reader.error(942)
        # A sub-query without an alias gets one that nobody can write, so that joins tell the sources apart.
        alias = view or f"(query at {at})"
        if reader.here.kind is TokenKind.QUOTED or (
            reader.here.kind is TokenKind.NAME and reader.here.value not in _ENDS_SOURCE
        ):
            alias = reader.name(933)
        on: Expression | None = None
        using: list[str] = []
        if join in ("inner", "left", "right"):
            if reader.accept("USING"):
                reader.expect_mark("(", 905)
                using.append(reader.name(904))
                while reader.accept_mark(","):
                    using.append(reader.name(904))
                reader.expect_mark(")", 907)
            else:
                reader.expect("ON", 905)
                on = self.expression()
        return Source(view, query, alias, join, on, tuple(using), at)

    # Expressions, loosest binding first.

    def expression(self) -> Expression:
        left = self._and()
        while self.reader.accept("OR"):
            left = Binary("OR", left, self._and())
        return left

    def _and(self) -> Expression:
        left = self._not()
        while self.reader.accept("AND"):
            left = Binary("AND", left, self._not())
        return left

    def _not(self) -> Expression:
        if self.reader.accept("NOT"):
            return Unary("NOT", self._not())
        return self._predicate()

    def _predicate(self) -> Expression:
        reader = self.reader
        if reader.here.is_word("EXISTS") and reader.ahead().is_mark("("):
            reader.take()
            return Exists(self._parenthesised())
        left = self._sum()
        if reader.here.is_mark(*_COMPARISONS):
            operator = reader.take().value
            return Binary("<>" if operator in ("!=", "^=") else operator, left, self._sum())
        if reader.accept("IS"):
            negated = reader.accept("NOT")
            reader.expect("NULL", 905)
            return IsNull(left, negated)
        negated = reader.here.is_word("NOT") and reader.ahead().is_word("IN", "LIKE", "BETWEEN")
        if negated:
            reader.take()
        if reader.accept("IN"):
            return InList(left, self._choices(), negated)
        if reader.accept("LIKE"):
            pattern = self._sum()
            return Like(left, pattern, self._sum() if reader.accept("ESCAPE") else None, negated)
        if reader.accept("BETWEEN"):
            low = self._sum()
            reader.expect("AND", 905)
            return Between(left, low, self._sum(), negated)
        return left

    def _choices(self) -> tuple[Expression, ...] | Query:
        reader = self.reader
        if reader.here.is_mark("(") and reader.ahead().is_word("SELECT", "WITH"):
            return self._parenthesised()
        reader.expect_mark("(", 936)
        choices = [self.expression()]
        while reader.accept_mark(","):
            choices.append(self.expression())
        reader.expect_mark(")", 907)
        return tuple(choices)

    def _sum(self) -> Expression:
        left = self._product()
        while self.reader.here.is_mark("+", "-", "||"):
            left = Binary(self.reader.take().value, left, self._product())
        return left

    def _product(self) -> Expression:
        left = self._factor()
        while self.reader.here.is_mark("*", "/"):
            left = Binary(self.reader.take().value, left, self._factor())
        return left

    def _factor(self) -> Expression:
        reader = self.reader
        if reader.accept_mark("-"):
            return Unary("-", self._factor())
        if reader.accept_mark("+"):
            return self._factor()
        token = reader.here
        if token.kind is TokenKind.TEXT:
            reader.take()
            return Literal(token.value or None)
        if token.kind is TokenKind.NUMBER:
            reader.take()
            return Literal(to_number(token.value))
        if token.is_mark("("):
            if reader.ahead().is_word("SELECT", "WITH"):
                return Scalar(self._parenthesised())
            reader.take()
            inner = self.expression()
            reader.expect_mark(")", 907)
            return inner
        if token.is_word("NULL"):
            reader.take()
            return Literal(None)
        if token.is_word("CASE"):
            return self._case()
        if token.kind is TokenKind.QUOTED or (token.kind is TokenKind.NAME and token.value not in _RESERVED):
            return self._name()
        raise reader.error(936)

    def _case(self) -> Expression:
        reader = self.reader
        reader.take()
        subject = None if reader.here.is_word("WHEN") else self.expression()
        branches: list[tuple[Expression, Expression]] = []
        while reader.accept("WHEN"):
            condition = self.expression()
            reader.expect("THEN", 905)
            branches.append((condition, self.expression()))
        otherwise = self.expression() if reader.accept("ELSE") else None
        reader.expect("END", 905)
        if not branches:
            raise reader.error(905)
        return Case(subject, tuple(branches), otherwise)

    def _name(self) -> Expression:
        reader = self.reader
        token = reader.take()
        if token.kind is TokenKind.NAME and reader.here.is_mark("("):
            return self._call(token.value, token.at)
        if token.is_word("DATE") and reader.here.kind is TokenKind.TEXT:
            return Call("TO_DATE", (Literal(reader.take().value), Literal("YYYY-MM-DD")), at=token.at)
        qualifier, name, at = "", token.value, token.at
        while reader.here.is_mark("."):
            reader.take()
            qualifier, at = name, reader.here.at
            name = reader.name(936)
        return Column(qualifier, name, at, reader.accept_mark("(+)"))

    def _call(self, name: str, at: int) -> Expression:
        call = self._plain_call(name, at)
        if not self.reader.accept("OVER"):
            return call
        reader = self.reader
        reader.expect_mark("(", 30484)
        partition: list[Expression] = []
        if reader.accept("PARTITION"):
            reader.expect("BY", 924)
            partition.append(self.expression())
            while reader.accept_mark(","):
                partition.append(self.expression())
        orders: list[Order] = []
        if reader.accept("ORDER"):
            reader.expect("BY", 924)
            orders.append(self._order())
            while reader.accept_mark(","):
                orders.append(self._order())
        reader.expect_mark(")", 907)
        return Window(call, tuple(partition), tuple(orders))

    def _plain_call(self, name: str, at: int) -> Call:
        reader = self.reader
        reader.take()
        if reader.accept_mark(")"):
            return Call(name, (), at=at)
        if reader.accept_mark("*"):
            reader.expect_mark(")", 907)
            return Call(name, (), star=True, at=at)
        distinct = reader.accept("DISTINCT")
        arguments = [self.expression()]
        while reader.accept_mark(","):
            arguments.append(self.expression())
        reader.expect_mark(")", 907)
        if name == "LISTAGG" and reader.accept("WITHIN", "GROUP"):
            reader.expect_mark("(", 905)
            reader.expect("ORDER", 905)
            reader.expect("BY", 905)
            arguments = [*arguments[:2], *([] if len(arguments) > 1 else [Literal(None)]), self._order().expression]
            reader.expect_mark(")", 907)
        return Call(name, tuple(arguments), distinct, at=at)
