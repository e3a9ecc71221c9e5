"""The grammar of a query that only reads, from its first word to the last one before ``;``. Pure.

It accepts less than Oracle if that costs little, and more if the additional texts can only fail: conditions are allowed as
values. It accepts no name that is not listed, no call of a function that is not SQL's own, and no clause that locks or writes.
Source: Oracle Database SQL Language Reference, SELECT.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from exacell.opaque.findings import UnreadError
from exacell.opaque.sqltokens import END, Name, Scope, Source, Token, functions, refuse, reserved, types, values, view

_COMPARE = ("=", "<>", "<", ">", "<=", ">=")
_JOINING = (*_COMPARE, "+", "-", "*", "/", "||", "AND", "OR", "LIKE", "ESCAPE", "BETWEEN", "IN")
_BEFORE = ("NOT", "+", "-", "PRIOR", "CONNECT_BY_ROOT")
_UNITS = ("YEAR", "MONTH", "DAY", "HOUR", "MINUTE", "SECOND")
_SETS = ("UNION", "INTERSECT", "MINUS")
_JOINS = ("JOIN", "INNER", "LEFT", "RIGHT", "FULL", "CROSS", "NATURAL")
_WINDOW = ("BETWEEN", "AND", "UNBOUNDED", "PRECEDING", "FOLLOWING", "CURRENT", "ROW")
_DEEPEST = 60
_FUNCTION = "it is not a function of SQL itself, so it may do anything"


class Parser:
    """Reads a query token by token; ``views`` contains the views that it reads, in order, each once."""

    def __init__(self, tokens: Sequence[Token]) -> None:
        self._tokens, self._at, self._depth = tokens, 0, 0
        self._named: list[dict[str, frozenset[str]]] = [{}]
        self._scopes: list[Scope] = []
        self.views: list[str] = []

    def statement(self) -> None:
        """Read the whole query.

        Raises:
            UnreadError: a part of it is not read.
        """
        self._query()
        if self._next is not END:
            raise self._odd()

    # -- words

    @property
    def _next(self) -> Token:
        return self._tokens[min(self._at, len(self._tokens) - 1)]

    def _ahead(self, by: int = 1) -> Token:
        return self._tokens[min(self._at + by, len(self._tokens) - 1)]

    def _take(self) -> Token:
        token = self._next
        self._at += 1
        return token

    def _is(self, *texts: str) -> bool:
        return self._next.text in texts

    def _are(self, *texts: str) -> bool:
        """Return whether these words and signs come next, in this order."""
        return all(self._ahead(by).text == text for by, text in enumerate(texts))

    def _may(self, *texts: str) -> bool:
        found = self._is(*texts)
        self._at += found
        return found

    def _must(self, *texts: str) -> None:
        if not self._may(*texts):
            raise self._odd(f"{' or '.join(texts).lower()} is needed here")

    def _odd(self, why: str = "exacell does not read it in this place of a query") -> UnreadError:
        return UnreadError(self._next.written, _OTHERS.get(self._next.text, why))

    def _some(self, one: Callable[[], object]) -> None:
        one()
        while self._may(","):
            one()

    # -- queries

    def _query(self) -> tuple[frozenset[str], list[Name]]:
        """Return the query's columns, and the names in it that may belong to a query around it."""
        self._depth += 1
        if self._depth > _DEEPEST:
            raise self._odd("the query is too deep")
        self._named.append({})
        if self._may("WITH"):
            self._some(self._named_query)
        scope, free = self._term()
        given, alone = scope.output(), True
        while self._may(*_SETS):
            self._may("ALL")
            free += self._term()[1]
            alone = False
        if self._are("ORDER", "BY"):
            self._at += 2
            scope.names = []
            self._scopes.append(scope)
            self._some(lambda: self._order_item(given))
            self._scopes.pop()
            if not alone:
                refuse(scope.names, ())
            free += self._foreign(scope)
        self._first_rows()
        self._named.pop()
        self._depth -= 1
        return given, free

    def _named_query(self) -> None:
        if view(self._next.text) is not None:
            raise self._odd("a query in WITH can't have the name of a view")
        name = self._name("the name of a query")
        columns: list[str] = []
        if self._may("("):
            self._some(lambda: columns.append(self._name("the name of a column")))
            self._must(")")
        self._must("AS")
        self._must("(")
        given = self._whole()
        self._named[-1][name] = frozenset(columns) or given
        self._must(")")

    def _whole(self) -> frozenset[str]:
        """Return the columns of a query that can't use names of the queries around it."""
        around, self._scopes = self._scopes, []
        given, _ = self._query()
        self._scopes = around
        return given

    def _foreign(self, scope: Scope) -> list[Name]:
        """Return the names of a SELECT that are not columns of its FROM and must belong to the query around it.

        Raises:
            UnreadError: there are some, but no query around it.
        """
        free = scope.unknown(scope.names)
        if not self._scopes:
            refuse(free, scope.sources)
        return free

    def _term(self) -> tuple[Scope, list[Name]]:
        """Return one SELECT, and the names in it that are not columns of its FROM."""
        scope = Scope()
        self._must("SELECT")
        self._may("DISTINCT", "UNIQUE", "ALL")
        self._scopes.append(scope)
        self._some(lambda: self._item(scope))
        self._must("FROM")
        self._some(lambda: self._joined(scope))
        if self._may("WHERE"):
            self._expression()
        self._hierarchy()
        while self._is("GROUP", "HAVING"):
            if self._take().text == "GROUP":
                self._must("BY")
                self._some(self._expression)
            else:
                self._expression()
        self._scopes.pop()
        return scope, self._foreign(scope)

    def _hierarchy(self) -> None:
        while self._is("START", "CONNECT"):
            if self._take().text == "START":
                self._must("WITH")
            else:
                self._must("BY")
                self._may("NOCYCLE")
            self._expression()

    def _item(self, scope: Scope) -> None:
        if self._may("*"):
            scope.stars.append("")
        elif self._ahead().text == "." and self._ahead(2).text == "*":
            scope.stars.append(self._take().text)
            self._at += 2
        else:
            name = self._expression()
            alias = self._alias(quoted=True)
            scope.given.update({name if alias is None else alias} - {""})

    def _alias(self, *, quoted: bool) -> str | None:
        """Return the alias that comes next; None if there is none. It is empty for a quoted alias, which no later name can
        match.
        """
        said = self._may("AS")
        if quoted and self._next.kind == "quoted":
            self._at += 1
            return ""
        if self._next.kind == "word" and self._next.text not in reserved():
            return self._name("an alias")
        if said:
            raise self._odd()
        return None

    def _name(self, what: str) -> str:
        """Return the next token as a name that the query itself defines."""
        token = self._next
        if token.kind != "word" or token.text in reserved() or token.text in values():
            raise self._odd(f"{what} is needed here, not one of SQL's own words")
        self._at += 1
        return token.text

    def _joined(self, scope: Scope) -> None:
        first = len(scope.sources)
        self._source(scope)
        while self._is(*_JOINS):
            bare = self._may("NATURAL") or self._is("CROSS")
            if not self._may("CROSS", "INNER") and self._may("LEFT", "RIGHT", "FULL"):
                self._may("OUTER")
            self._must("JOIN")
            self._source(scope)
            if bare:
                continue
            # Tables that are joined later can't be named here: such a name would be a function.
            self._scopes.append(joined := Scope(sources=scope.sources[first:]))
            if self._may("USING"):
                self._must("(")
                self._some(self._expression)
                self._must(")")
            else:
                self._must("ON")
                self._expression()
            self._scopes.pop()
            refuse(joined.unknown(joined.names), joined.sources)

    def _source(self, scope: Scope) -> None:
        if self._may("("):
            columns, own = self._whole(), None
            self._must(")")
        else:
            if self._are("SYS", "."):
                self._at += 2
            token = self._next
            name, known = token.text, self._view(token)
            if known is None or self._ahead().text in ("(", "."):
                raise self._odd("it is not a view that exacell knows, so it may be anything")
            columns, own = known, name
            self._at += 1
        alias = self._alias(quoted=False)
        scope.sources.append(Source(alias or own, columns))

    def _view(self, token: Token) -> frozenset[str] | None:
        if self._ahead(-1).text != ".":
            for named in reversed(self._named):
                if token.text in named:
                    return named[token.text]
        if token.text not in self.views:
            self.views.append(token.text)
        return view(token.text)

    def _order_item(self, given: frozenset[str]) -> None:
        if self._next.text in given and self._ahead().text in (
            ",",
            "ASC",
            "DESC",
            "NULLS",
            ")",
            "",
            "OFFSET",
            "FETCH",
        ):
            self._at += 1
        else:
            self._expression()
        self._may("ASC", "DESC")
        if self._may("NULLS"):
            self._must("FIRST", "LAST")

    def _first_rows(self) -> None:
        if self._may("OFFSET"):
            self._number()
            self._must("ROW", "ROWS")
        if self._may("FETCH"):
            self._must("FIRST", "NEXT")
            if self._next.kind == "number":
                self._at += 1
            self._must("ROW", "ROWS")
            self._must("ONLY")

    def _number(self) -> None:
        if self._take().kind != "number":
            self._at -= 1
            raise self._odd("a number is needed here")

    # -- values and conditions

    def _expression(self) -> str:
        """Read a value or a condition; return its name if it is a single column."""
        self._depth += 1
        if self._depth > _DEEPEST:
            raise self._odd("the query is too deep")
        name = self._operand()
        while True:
            if self._is("NOT") and self._ahead().text in ("IN", "LIKE", "BETWEEN"):
                self._at += 1
            if self._may("IS"):
                self._may("NOT")
                self._must("NULL")
            elif self._is(*_JOINING):
                if self._take().text in _COMPARE:
                    self._may("ANY", "ALL", "SOME")
                self._operand()
            else:
                break
            name = ""
        self._depth -= 1
        return name

    def _operand(self) -> str:
        if self._may(*_BEFORE):
            while self._may(*_BEFORE):
                pass
            self._operand()
            return ""
        token = self._next
        if token.kind in ("literal", "number"):
            self._at += 1
            return ""
        if self._may("("):
            self._inside()
            return ""
        if token.kind != "word":
            raise self._odd()
        if self._ahead().kind == "literal" and token.text in ("DATE", "TIMESTAMP", "INTERVAL"):
            self._at += 2
            if token.text == "INTERVAL":
                self._interval()
            return ""
        if token.text == "CASE":
            return self._case()
        if token.text == "EXISTS":
            self._at += 1
            self._must("(")
            self._inside()
            return ""
        if token.text in reserved():
            raise self._odd()
        return self._named_value()

    def _inside(self) -> None:
        """Read the text after an opening parenthesis (a query or values) and the closing parenthesis."""
        if self._is("SELECT", "WITH"):
            _, free = self._query()
            self._scopes[-1].names += free
        else:
            self._some(self._expression)
        self._must(")")

    def _interval(self) -> None:
        self._must(*_UNITS)
        self._digits()
        if self._may("TO"):
            self._must(*_UNITS)
            self._digits()

    def _digits(self, *behind: str) -> None:
        """Read the one or two numbers in parentheses that may follow a unit or a type."""
        if self._may("("):
            self._number()
            if self._may(","):
                self._number()
            self._may(*behind)
            self._must(")")

    def _case(self) -> str:
        self._at += 1
        if not self._is("WHEN"):
            self._expression()
        while self._may("WHEN"):
            self._expression()
            self._must("THEN")
            self._expression()
        if self._may("ELSE"):
            self._expression()
        self._must("END")
        return ""

    def _named_value(self) -> str:
        """Read a column, a call, or a word that is a value; return the column's name."""
        token = self._take()
        if self._is("."):
            table, column = token, self._ahead()
            whole = f"{table.written}.{column.written}"
            self._at += 2
            if self._is(".") or self._calls():
                raise UnreadError(whole, "it may be a function of a package or of a user, which may do anything")
            self._outer()
            self._scopes[-1].names.append(Name(table.text, column.text, whole))
            return column.text
        if self._calls():
            self._call(token)
            return ""
        if token.text in values():
            return ""
        self._outer()
        self._scopes[-1].names.append(Name("", token.text, token.written))
        return token.text

    def _calls(self) -> bool:
        """Return whether a parenthesis comes next that is not the sign of an outer join."""
        return self._is("(") and not self._are("(", "+", ")")

    def _outer(self) -> None:
        if self._are("(", "+", ")"):
            self._at += 3

    def _call(self, token: Token) -> None:
        self._at += 1
        if token.text == "CAST":
            self._expression()
            self._must("AS")
            self._type()
        elif token.text == "EXTRACT":
            self._must(*_UNITS)
            self._must("FROM")
            self._expression()
        elif token.text == "TRIM":
            self._may("LEADING", "TRAILING", "BOTH")
            self._expression()
            if self._may("FROM"):
                self._expression()
        elif token.text not in functions():
            raise UnreadError(token.written, _FUNCTION)
        elif not self._may("*") and not self._is(")"):
            self._may("DISTINCT", "UNIQUE", "ALL")
            self._some(self._expression)
            if self._may("IGNORE", "RESPECT"):
                self._must("NULLS")
        self._must(")")
        self._after_call()

    def _type(self) -> None:
        if self._next.text not in types():
            raise self._odd("exacell does not read this type after AS")
        self._at += 1
        self._digits("CHAR", "BYTE")

    def _after_call(self) -> None:
        if self._may("WITHIN"):
            self._must("GROUP")
            self._must("(")
            self._ordered()
            self._must(")")
        if self._are("KEEP", "("):
            self._at += 2
            self._must("DENSE_RANK")
            self._must("FIRST", "LAST")
            self._ordered()
            self._must(")")
        if self._may("OVER"):
            self._must("(")
            if self._may("PARTITION"):
                self._must("BY")
                self._some(self._expression)
            if self._is("ORDER"):
                self._ordered()
                if self._may("ROWS", "RANGE"):
                    while not self._is(")"):
                        if not self._may(*_WINDOW):
                            self._number()
            self._must(")")

    def _ordered(self) -> None:
        self._must("ORDER")
        self._must("BY")
        self._some(lambda: self._order_item(frozenset()))


_OTHERS = {
    "FOR": "FOR UPDATE locks rows, other clauses with FOR are not read",
    "INTO": "INTO writes",
    "FUNCTION": "PL/SQL in a query may do anything",
    "PROCEDURE": "PL/SQL in a query may do anything",
    "TABLE": "TABLE calls a function, which may do anything",
    "PIVOT": "exacell does not read PIVOT",
    "MODEL": "exacell does not read MODEL",
}
