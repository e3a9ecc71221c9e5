"""Parses the expressions and conditions of the emulated SQL, loosest binding first.

``|| + - * /``, comparison, IN, LIKE, BETWEEN, IS NULL, NOT, AND, OR, CASE, CAST, PRIOR, function calls (but not with OVER);
sub-queries are parsed by the parser of queries (:mod:`sql.syntax`).
"""

from __future__ import annotations

from exacell.emulator.basics.ora_messages import OraError, ora
from exacell.emulator.sql.call_syntax import date_field, kept, moved, trimmed, typed_literal
from exacell.emulator.sql.tokens import TokenKind, TokenReader
from exacell.emulator.sql.tree import (
    Between,
    Binary,
    Call,
    Case,
    Cast,
    Column,
    Exists,
    Expression,
    InList,
    IsNull,
    Like,
    Literal,
    Order,
    Quantified,
    Query,
    RowValue,
    Scalar,
    Unary,
)
from exacell.emulator.sql.values import to_number

_COMPARISONS = ("=", "<>", "!=", "^=", "<", ">", "<=", ">=")
_RESERVED_WORDS = """
    SELECT FROM WHERE GROUP HAVING ORDER BY AND OR NOT IN LIKE IS NULL BETWEEN UNION MINUS INTERSECT THEN WHEN ELSE ALL
    ANY AS ASC DESC DISTINCT ON SET TABLE VALUES WITH CREATE ALTER DROP INTO START CONNECT
"""
_RESERVED = frozenset(_RESERVED_WORDS.split())


class ExpressionParser:
    """Parses expressions at its reader's position."""

    def __init__(self, statement: str, reader: TokenReader | None = None) -> None:
        self.statement = statement
        self.reader = reader or TokenReader(statement)

    def _parenthesised(self) -> Query:
        """Parse a query in parentheses and return it; implemented by the parser of queries."""
        raise self.reader.error(936)

    def order(self) -> Order:
        """Parse the term of ORDER BY that comes next and return it."""
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

    def _cast_type(self) -> tuple[str, int]:
        """Parse a type and return its name and its width; the width is 0 if none is given."""
        reader, width = self.reader, 0
        kind = reader.name(902)
        if reader.accept_mark("("):
            width = reader.whole(902)
            if reader.accept_mark(","):
                reader.whole(902)
            if not reader.accept("BYTE"):
                reader.accept("CHAR")
            reader.expect_mark(")", 907)
        return kind, width

    # Expressions, loosest binding first.

    def expression(self) -> Expression:
        """Parse the expression or condition that comes next and return it."""
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
            operator = "<>" if operator in ("!=", "^=") else operator
            if reader.here.is_word("ANY", "SOME", "ALL") and reader.ahead().is_mark("("):
                every = reader.take().value == "ALL"
                return Quantified(operator, left, every, self._choices())
            return Binary(operator, left, self._sum())
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
            operator = self.reader.take().value
            if operator != "||" and self._is_interval():
                left = moved(self, left, operator)
            else:
                left = Binary(operator, left, self._product())
        return left

    def _is_interval(self) -> bool:
        return self.reader.here.is_word("INTERVAL") and self.reader.ahead().kind is TokenKind.TEXT

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
        if token.is_word("PRIOR", "CONNECT_BY_ROOT"):
            return Unary(reader.take().value, self._factor())
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
            if reader.here.is_mark(","):
                parts = [inner]
                while reader.accept_mark(","):
                    parts.append(self.expression())
                inner = RowValue(tuple(parts))
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
        if token.is_word("CAST") and reader.accept_mark("("):
            operand = self.expression()
            reader.expect("AS", 905)
            kind, width = self._cast_type()
            reader.expect_mark(")", 907)
            return Cast(operand, kind, width)
        if token.is_word("GROUPING") and reader.here.is_word("SETS"):
            reader.take()
            return self._call("GROUPING SETS", token.at)
        if token.is_word("EXTRACT") and reader.ahead(2).is_word("FROM"):
            return date_field(self, token)
        if token.is_word("TRIM") and reader.here.is_mark("(") and (trimming := trimmed(self, token)) is not None:
            return trimming
        if token.kind is TokenKind.NAME and reader.here.is_mark("("):
            return self._methods(self._call(token.value, token.at))
        if reader.here.kind is TokenKind.TEXT and (literal := typed_literal(self, token)) is not None:
            return literal
        qualifier, name, at = "", token.value, token.at
        while reader.here.is_mark("."):
            reader.take()
            qualifier, at = name, reader.here.at
            name = reader.name(936)
        if qualifier and reader.here.is_mark("("):
            return self._call(f"{qualifier}.{name}", token.at)
        return Column(qualifier, name, at, reader.accept_mark("(+)"))

    def _methods(self, call: Expression) -> Expression:
        """Return ``x(…).method(…)`` as a call of the method with x as its first argument."""
        reader = self.reader
        while reader.here.is_mark(".") and reader.ahead(2).is_mark("("):
            reader.take()
            name = reader.name(936)
            inner = self._plain_call(name, reader.here.at)
            call = Call(name, (call, *inner.arguments), at=inner.at)
        return call

    def _call(self, name: str, at: int) -> Expression:
        call = self._plain_call(name, at)
        reader = self.reader
        if reader.accept("KEEP"):
            call = kept(self, call)
        if reader.here.is_word("OVER") and reader.ahead().is_mark("("):
            raise OraError(ora(439, "analytic functions are not emulated"), at=at)
        return call

    def listed(self, word: str, code: int) -> list[Expression]:
        """Parse ``<word> BY a, b`` and return the expressions; empty without the word. Raise ORA-``code`` if BY is missing."""
        reader = self.reader
        if not reader.accept(word):
            return []
        reader.expect("BY", code)
        found = [self.expression()]
        while reader.accept_mark(","):
            found.append(self.expression())
        return found

    def _plain_call(self, name: str, at: int) -> Call:
        reader = self.reader
        reader.take()
        if reader.accept_mark(")"):
            return Call(name, (), at=at)
        if reader.accept_mark("*"):
            reader.expect_mark(")", 907)
            return Call(name, (), star=True, at=at)
        distinct = reader.accept("DISTINCT")
        if not distinct:
            reader.accept("ALL")
        arguments = [self._argument()]
        while reader.accept_mark(","):
            arguments.append(self._argument())
        if name == "LISTAGG" and reader.accept("ON", "OVERFLOW"):
            while not reader.here.is_mark(")") and reader.here.kind is not TokenKind.END:
                reader.take()
        reader.expect_mark(")", 907)
        if name in ("LISTAGG", "PERCENTILE_CONT", "PERCENTILE_DISC") and reader.accept("WITHIN", "GROUP"):
            reader.expect_mark("(", 905)
            reader.expect("ORDER", 905)
            reader.expect("BY", 905)
            order = self.order()
            if name == "LISTAGG":
                arguments = [*arguments[:2], *([] if len(arguments) > 1 else [Literal(None)]), order.expression]
            else:
                fraction = Binary("-", Literal(1), arguments[0]) if order.descending else arguments[0]
                arguments = [fraction, order.expression]
            reader.expect_mark(")", 907)
        return Call(name, tuple(arguments), distinct, at=at)

    def _argument(self) -> Expression:
        """Parse an argument of a call and return it; ``()`` means no keys in GROUPING SETS."""
        if self.reader.here.is_mark("(") and self.reader.ahead().is_mark(")"):
            self.reader.take()
            self.reader.take()
            return RowValue(())
        if self.reader.ahead().is_mark("=>"):  # calls of package routines: names are skipped, positions count
            self.reader.name(936)
            self.reader.take()
        return self.expression()
