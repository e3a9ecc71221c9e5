"""Parses anonymous PL/SQL blocks into a tree.

The parser knows declarations of variables, constants, types (RECORD, TABLE), exceptions, cursors and local routines; the
statements of :mod:`sql.blocks`; exception handlers. Queries and expressions are parsed by the parser of SQL, which here also
knows ``:name``, ``cursor%NOTFOUND`` and INTO. Triggers, packages and pragmas other than EXCEPTION_INIT are not known. Source:
Oracle Database PL/SQL Language Reference, "Language Elements".
"""

from __future__ import annotations

from exacell.emulator.basics.ora_messages import OraError, ora
from exacell.emulator.plsql.declarations import DeclarationParser
from exacell.emulator.sql.blocks import (
    Assign,
    Block,
    CallStatement,
    Close,
    CursorFor,
    Fetch,
    Handler,
    If,
    Immediate,
    Leave,
    Loop,
    Null,
    NumericFor,
    Open,
    Raise,
    Return,
    SelectInto,
    Sql,
    Statement,
    Target,
)
from exacell.emulator.sql.tokens import TokenKind
from exacell.emulator.sql.tree import Binary, Expression

_SQL_WORDS = ("INSERT", "UPDATE", "DELETE", "MERGE", "COMMIT", "ROLLBACK", "SAVEPOINT", "LOCK", "SET")
_ENDS_BODY = ("END", "EXCEPTION", "ELSE", "ELSIF", "WHEN")


def parse_block(text: str) -> Block:
    """Parse a block and return its tree.

    Raises:
        OraError: ORA-06550 with the line, the column and the error.
    """
    try:
        parser = _BlockParser(text)
    except OraError as error:
        raise compile_error(text, (error.at, str(error.stack[0]))) from None
    try:
        block = parser.whole()
    except OraError as error:
        token = next((token for token in parser.reader.tokens if token.at >= error.at), parser.reader.tokens[-1])
        if parser.in_query:
            first, second = (error.at, f"PL/SQL: {error.stack[0]}"), (parser.query_at, "PL/SQL: SQL Statement ignored")
            raise compile_error(text, first, second) from None
        shown = "end-of-file" if token.kind is TokenKind.END else token.value
        raise compile_error(text, (error.at, f'PLS-00103: Encountered the symbol "{shown}" out of place')) from None
    return block


def position(text: str, at: int) -> tuple[int, int]:
    """Return line and column, both from 1, of an offset."""
    return text.count("\n", 0, at) + 1, at - (text.rfind("\n", 0, at) + 1) + 1


def compile_error(text: str, *messages: tuple[int, str]) -> OraError:
    """Return the error stack of a block that does not compile: each message with its offset."""
    return OraError(*(ora(6550, *position(text, at), message) for at, message in messages), at=messages[0][0])


class _BlockParser(DeclarationParser):
    def whole(self) -> Block:
        """Parse the whole text as one block and return it."""
        self._labels()
        block = self.block()
        self.reader.accept_mark(";")
        self.reader.accept_mark("/")
        self.reader.done(900)
        return block

    def block(self, label: str = "") -> Block:
        """Parse the block that comes next, up to its END and label, and return it."""
        reader, at = self.reader, self.reader.here.at
        declarations = self.declarations() if reader.accept("DECLARE") else ()
        return self.body(declarations, label, at)

    def _body_statements(self) -> tuple[Statement, ...]:
        found: list[Statement] = []
        while not self.reader.here.is_word(*_ENDS_BODY):
            found.append(self._statement())
        if not found:
            raise self.reader.error(900)
        return tuple(found)

    def _handlers(self) -> tuple[Handler, ...]:
        reader = self.reader
        handlers: list[Handler] = []
        while reader.here.is_word("WHEN"):
            at = reader.take().at
            names = [self.dotted()]
            while reader.accept("OR"):
                names.append(self.dotted())
            reader.expect("THEN", 905)
            handlers.append(Handler(names=tuple(names), body=self._body_statements(), at=at))
        return tuple(handlers)

    def _labels(self) -> str:
        reader, label = self.reader, ""
        while reader.here.is_mark("<") and reader.ahead().is_mark("<"):
            reader.take()
            reader.take()
            label = reader.name(900)
            reader.expect_mark(">", 900)
            reader.expect_mark(">", 900)
        return label

    def _statement(self) -> Statement:
        label = self._labels()
        reader, at = self.reader, self.reader.here.at
        made = self._compound(label, at) if reader.here.kind is TokenKind.NAME else None
        if made is None:
            made = self._simple(at)
        reader.expect_mark(";", 900)
        return made

    def _compound(self, label: str, at: int) -> Statement | None:
        reader = self.reader
        if reader.here.is_word("BEGIN", "DECLARE"):
            return self.block(label)
        if reader.accept("IF"):
            return self._if(at)
        if reader.accept("CASE"):
            return self._case_statement(at)
        if reader.accept("LOOP"):
            return Loop(body=self._loop_body(), label=label, at=at)
        if reader.accept("WHILE"):
            condition = self.expression()
            reader.expect("LOOP", 900)
            return Loop(body=self._loop_body(), condition=condition, label=label, at=at)
        if reader.accept("FOR"):
            return self._for(label, at)
        return None

    def _loop_body(self) -> tuple[Statement, ...]:
        body = self._body_statements()
        self.reader.expect("END", 900)
        self.reader.expect("LOOP", 900)
        self.end_label()
        return body

    def _if(self, at: int) -> If:
        reader = self.reader
        branches: list[tuple[Expression, tuple[Statement, ...]]] = []
        while True:
            condition = self.expression()
            reader.expect("THEN", 900)
            branches.append((condition, self._body_statements()))
            if not reader.accept("ELSIF"):
                break
        otherwise = self._body_statements() if reader.accept("ELSE") else ()
        reader.expect("END", 900)
        reader.expect("IF", 900)
        return If(branches=tuple(branches), otherwise=otherwise, at=at)

    def _case_statement(self, at: int) -> If:
        reader = self.reader
        subject = None if reader.here.is_word("WHEN") else self.expression()
        branches: list[tuple[Expression, tuple[Statement, ...]]] = []
        while reader.accept("WHEN"):
            condition = self.expression()
            reader.expect("THEN", 900)
            test = condition if subject is None else Binary("=", subject, condition)
            branches.append((test, self._body_statements()))
        otherwise = self._body_statements() if reader.accept("ELSE") else None
        reader.expect("END", 900)
        reader.expect("CASE", 900)
        self.end_label()
        return If(branches=tuple(branches), otherwise=otherwise, case=True, at=at)

    def _for(self, label: str, at: int) -> Statement:
        reader = self.reader
        name = reader.name(900)
        reader.expect("IN", 900)
        if self._is_range():
            reverse = reader.accept("REVERSE")
            low = self.expression()
            reader.expect_mark("..", 900)
            high = self.expression()
            reader.expect("LOOP", 900)
            return NumericFor(
                name=name, low=low, high=high, reverse=reverse, body=self._loop_body(), label=label, at=at
            )
        query, cursor = None, ""
        arguments: tuple[Expression, ...] = ()
        if reader.here.is_mark("(") and reader.ahead().is_word("SELECT", "WITH"):
            reader.take()
            query = self.query_here()
            reader.expect_mark(")", 900)
        else:
            cursor = reader.name(900)
            arguments = self._arguments()[0]
        reader.expect("LOOP", 900)
        body = self._loop_body()
        return CursorFor(record=name, query=query, cursor=cursor, arguments=arguments, body=body, label=label, at=at)

    def _is_range(self) -> bool:
        for token in self.reader.tokens[self.reader.position :]:
            if token.is_word("LOOP"):
                return False
            if token.is_mark(".."):
                return True
        return False

    def _simple(self, at: int) -> Statement:
        reader = self.reader
        if reader.here.is_mark(":"):
            return self._assignment(self.target(), at)
        if reader.here.is_word(*_SQL_WORDS) and not self._assigns():
            return self._sql(at)
        if reader.here.is_word("SELECT", "WITH"):
            self.into, self.bulk = (), False
            query = self.query_here()
            return SelectInto(query=query, targets=self.into, bulk=self.bulk, at=at)
        if reader.accept("EXECUTE", "IMMEDIATE"):
            return self._immediate(at)
        word = reader.here.value if reader.here.kind is TokenKind.NAME else ""
        plain = {
            "NULL": self._null,
            "EXIT": self._leave,
            "CONTINUE": self._leave,
            "OPEN": self._open,
            "FETCH": self._fetch,
            "CLOSE": self._close,
            "RETURN": self._return,
            "RAISE": self._raise,
        }
        if word in plain and not self._assigns():
            return plain[word](at)
        return self._call_or_assignment(at)

    def _assigns(self) -> bool:
        return self.reader.ahead().is_mark(":", ".", "(") and not self.reader.here.is_word("NULL", "EXIT")

    def _null(self, at: int) -> Statement:
        self.reader.take()
        return Null(at=at)

    def _leave(self, at: int) -> Statement:
        reader = self.reader
        again = reader.take().value == "CONTINUE"
        label = ""
        if reader.here.kind is TokenKind.NAME and not reader.here.is_word("WHEN"):
            label = reader.name(900)
        condition = self.expression() if reader.accept("WHEN") else None
        return Leave(again=again, label=label, condition=condition, at=at)

    def _open(self, at: int) -> Statement:
        reader = self.reader
        reader.take()
        cursor = reader.name(900)
        arguments = self._arguments()[0]
        if not reader.accept("FOR"):
            return Open(cursor=cursor, arguments=arguments, at=at)
        if reader.here.is_word("SELECT", "WITH"):
            return Open(cursor=cursor, query=self.query_here(), at=at)
        text = self.expression()
        return Open(cursor=cursor, text=text, using=self._using(), at=at)

    def _fetch(self, at: int) -> Statement:
        reader = self.reader
        reader.take()
        cursor = reader.name(900)
        bulk = reader.accept("BULK", "COLLECT")
        reader.expect("INTO", 900)
        targets = self.targets()
        limit = self.expression() if reader.accept("LIMIT") else None
        return Fetch(cursor=cursor, targets=targets, bulk=bulk, limit=limit, at=at)

    def _close(self, at: int) -> Statement:
        self.reader.take()
        return Close(cursor=self.reader.name(900), at=at)

    def _return(self, at: int) -> Statement:
        self.reader.take()
        return Return(value=None if self.reader.here.is_mark(";") else self.expression(), at=at)

    def _raise(self, at: int) -> Statement:
        self.reader.take()
        return Raise(name="" if self.reader.here.is_mark(";") else self.dotted(), at=at)

    def _immediate(self, at: int) -> Statement:
        reader = self.reader
        text = self.expression()
        bulk = reader.accept("BULK", "COLLECT")
        targets = self.targets() if reader.accept("INTO") else ()
        return Immediate(text=text, targets=targets, bulk=bulk, using=self._using(), at=at)

    def _using(self) -> tuple[Expression, ...]:
        reader = self.reader
        given: list[Expression] = []
        if reader.accept("USING"):
            while True:
                while reader.accept("IN") or reader.accept("OUT"):
                    continue
                given.append(self.expression())
                if not reader.accept_mark(","):
                    break
        return tuple(given)

    def _sql(self, at: int) -> Statement:
        reader = self.reader
        while not reader.here.is_mark(";"):
            if reader.here.kind is TokenKind.END:
                raise reader.error(900)
            reader.take()
        return Sql(text=self.statement[at : reader.here.at].rstrip(), at=at)

    def _arguments(self) -> tuple[tuple[Expression, ...], tuple[str, ...]]:
        reader = self.reader
        values: list[Expression] = []
        names: list[str] = []
        if not reader.accept_mark("(") or reader.accept_mark(")"):
            return (), ()
        while True:
            named = reader.here.kind is TokenKind.NAME and reader.ahead().is_mark("=>")
            names.append(reader.name(900) if named else "")
            if named:
                reader.take()
            values.append(self.expression())
            if not reader.accept_mark(","):
                break
        reader.expect_mark(")", 900)
        return tuple(values), tuple(names)

    def _call_or_assignment(self, at: int) -> Statement:
        reader = self.reader
        start = reader.position
        name = self.dotted()
        arguments, names = self._arguments()
        if reader.here.is_mark(";"):
            return CallStatement(name=name, arguments=arguments, names=names, at=at)
        reader.position = start
        return self._assignment(self.target(), at)

    def _assignment(self, target: Target, at: int) -> Statement:
        self.reader.expect_mark(":", 900)
        self.reader.expect_mark("=", 900)
        return Assign(target=target, value=self.expression(), at=at)
