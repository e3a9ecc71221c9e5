"""Parses the declarations of PL/SQL blocks, their types and the targets of assignments."""

from __future__ import annotations

from exacell.emulator.sql.blocks import (
    Block,
    CursorDeclaration,
    Declaration,
    ExceptionDeclaration,
    Handler,
    Parameter,
    RoutineDeclaration,
    Statement,
    Target,
    TypeDeclaration,
    TypeKind,
    TypeName,
    VariableDeclaration,
)
from exacell.emulator.sql.syntax import SqlParser
from exacell.emulator.sql.tokens import TokenKind, TokenReader
from exacell.emulator.sql.tree import Call, Column, Expression, Query

_WHOLE_TYPES = (
    "PLS_INTEGER", "BINARY_INTEGER", "INTEGER", "INT", "SMALLINT", "NATURAL", "NATURALN", "POSITIVE", "POSITIVEN",
    "SIMPLE_INTEGER", "SIGNTYPE",
)  # fmt: skip
_NUMBER_TYPES = ("NUMBER", "NUMERIC", "DECIMAL", "DEC", "FLOAT", "REAL", "DOUBLE", "BINARY_FLOAT", "BINARY_DOUBLE")
_TEXT_TYPES = (
    "VARCHAR2",
    "VARCHAR",
    "NVARCHAR2",
    "CHAR",
    "NCHAR",
    "CHARACTER",
    "STRING",
    "CLOB",
    "LONG",
    "RAW",
    "ROWID",
    "XMLTYPE",
)
_DATE_TYPES = ("DATE", "TIMESTAMP")
LONGEST = 32767
"""The most characters in a PL/SQL text. Source: PL/SQL Language Reference, "PL/SQL Data Types"."""


class DeclarationParser(SqlParser):
    """Parses the part between DECLARE and BEGIN; the parser of statements is a subclass.

    Attributes:
        in_query: whether a query is being parsed, whose errors are reported as those of SQL; ``query_at`` is its offset.
        into: the targets of the last SELECT … INTO.
        bulk: whether these targets are filled with BULK COLLECT.
    """

    def __init__(self, text: str) -> None:
        super().__init__(text, TokenReader(text, marks="%"))
        self.in_query = False
        self.query_at = 0
        self.into: tuple[Target, ...] = ()
        self.bulk = False

    # -- implemented by the parser of statements ----------------------------------------------------------------------

    def _body_statements(self) -> tuple[Statement, ...]:
        raise self.reader.error(900)

    def _handlers(self) -> tuple[Handler, ...]:
        raise self.reader.error(900)

    def body(self, declarations: tuple[Declaration, ...], label: str, at: int) -> Block:
        """Parse a block from its BEGIN on and return it."""
        reader = self.reader
        reader.expect("BEGIN", 900)
        body = self._body_statements()
        handlers = self._handlers() if reader.accept("EXCEPTION") else ()
        reader.expect("END", 900)
        self.end_label()
        return Block(declarations=declarations, body=body, handlers=handlers, label=label, at=at)

    def end_label(self) -> None:
        """Skip the name that may follow END."""
        if self.reader.here.kind in (TokenKind.NAME, TokenKind.QUOTED):
            self.reader.take()

    # -- declarations -------------------------------------------------------------------------------------------------

    def declarations(self) -> tuple[Declaration, ...]:
        """Parse the declarations up to BEGIN and return them."""
        reader = self.reader
        found: list[Declaration] = []
        while not reader.here.is_word("BEGIN"):
            at = reader.here.at
            if reader.accept("PRAGMA"):
                self._pragma(found)
            elif reader.here.is_word("PROCEDURE", "FUNCTION"):
                found.append(self._routine(at))
            elif reader.accept("CURSOR"):
                found.append(self._cursor(at))
            elif reader.here.is_word("TYPE", "SUBTYPE") and reader.ahead().kind is TokenKind.NAME:
                reader.take()
                name = reader.name(900)
                reader.expect("IS", 900)
                found.append(TypeDeclaration(name=name, type=self._defined_type(), at=at))
            else:
                found.append(self._variable(at))
            reader.expect_mark(";", 900)
        return tuple(found)

    def _pragma(self, found: list[Declaration]) -> None:
        reader = self.reader
        if not reader.accept("EXCEPTION_INIT"):
            while not reader.here.is_mark(";") and reader.here.kind is not TokenKind.END:
                reader.take()
            return
        reader.expect_mark("(", 900)
        name = reader.name(900)
        reader.expect_mark(",", 900)
        reader.accept_mark("-")
        code = reader.whole(900)
        reader.expect_mark(")", 900)
        for number, declaration in enumerate(found):
            if isinstance(declaration, ExceptionDeclaration) and declaration.name == name:
                found[number] = ExceptionDeclaration(name=name, code=code, at=declaration.at)

    def _variable(self, at: int) -> Declaration:
        reader = self.reader
        name = reader.name(900)
        if reader.accept("EXCEPTION"):
            return ExceptionDeclaration(name=name, at=at)
        constant = reader.accept("CONSTANT")
        kind = self.type_name()
        reader.accept("NOT", "NULL")
        return VariableDeclaration(name=name, type=kind, constant=constant, default=self._default(), at=at)

    def _default(self) -> Expression | None:
        reader = self.reader
        if reader.accept("DEFAULT"):
            return self.expression()
        if reader.here.is_mark(":") and reader.ahead().is_mark("="):
            reader.take()
            reader.take()
            return self.expression()
        return None

    def _parameters(self) -> tuple[Parameter, ...]:
        reader = self.reader
        found: list[Parameter] = []
        if not reader.accept_mark("("):
            return ()
        while True:
            name = reader.name(900)
            reader.accept("IN")
            out = reader.accept("OUT")
            reader.accept("NOCOPY")
            kind = self.type_name()
            found.append(Parameter(name=name, type=kind, default=self._default(), out=out))
            if not reader.accept_mark(","):
                break
        reader.expect_mark(")", 900)
        return tuple(found)

    def _cursor(self, at: int) -> CursorDeclaration:
        name = self.reader.name(900)
        parameters = self._parameters()
        self.reader.expect("IS", 900)
        return CursorDeclaration(name=name, parameters=parameters, query=self.query_here(), at=at)

    def _routine(self, at: int) -> RoutineDeclaration:
        reader = self.reader
        function = reader.take().value == "FUNCTION"
        name = reader.name(900)
        parameters = self._parameters()
        returns = None
        if function:
            reader.expect("RETURN", 900)
            returns = self.type_name()
        if not reader.accept("IS"):
            reader.expect("AS", 900)
        declarations = self.declarations()
        body = self.body(declarations, name, at)
        return RoutineDeclaration(name=name, parameters=parameters, returns=returns, body=body, at=at)

    # -- types --------------------------------------------------------------------------------------------------------

    def _defined_type(self) -> TypeName:
        reader, at = self.reader, self.reader.here.at
        if reader.accept("RECORD"):
            reader.expect_mark("(", 900)
            fields: list[tuple[str, TypeName]] = []
            while True:
                name = reader.name(900)
                fields.append((name, self.type_name()))
                self._default()
                if not reader.accept_mark(","):
                    break
            reader.expect_mark(")", 900)
            return TypeName(kind=TypeKind.RECORD, fields=tuple(fields), at=at)
        if reader.accept("REF", "CURSOR"):
            if reader.accept("RETURN"):
                self.type_name()
            return TypeName(kind=TypeKind.CURSOR, at=at)
        if reader.accept("VARRAY"):
            reader.expect_mark("(", 900)
            reader.whole(900)
            reader.expect_mark(")", 900)
            reader.expect("OF", 900)
        elif not reader.accept("TABLE", "OF"):
            return self.type_name()
        element = self.type_name()
        reader.accept("NOT", "NULL")
        if reader.accept("INDEX", "BY"):
            self.type_name()
        return TypeName(kind=TypeKind.TABLE, element=element, at=at)

    def type_name(self) -> TypeName:
        """Parse the type that comes next and return it."""
        reader, at = self.reader, self.reader.here.at
        name = self.dotted()
        if reader.accept_mark("%"):
            word = reader.name(900)
            if word not in ("TYPE", "ROWTYPE"):
                raise reader.error(900)
            return TypeName(kind=TypeKind.ANCHOR if word == "TYPE" else TypeKind.ROW, name=name, at=at)
        width, scale = 0, None
        if reader.accept_mark("("):
            width = reader.whole(900)
            if not (reader.accept("BYTE") or reader.accept("CHAR")) and reader.accept_mark(","):
                sign = -1 if reader.accept_mark("-") else 1
                scale = sign * reader.whole(900)
            reader.expect_mark(")", 900)
        if name in _WHOLE_TYPES:
            return TypeName(kind=TypeKind.WHOLE, at=at)
        if name in _NUMBER_TYPES:
            reader.accept("PRECISION")
            return TypeName(kind=TypeKind.NUMBER, width=width, scale=0 if width and scale is None else scale, at=at)
        if name in _TEXT_TYPES:
            widest = LONGEST if name in ("CLOB", "LONG", "XMLTYPE") else 18 if name == "ROWID" else 1
            return TypeName(kind=TypeKind.TEXT, width=width or widest, at=at)
        if name in _DATE_TYPES:
            if reader.accept("WITH"):
                reader.accept("LOCAL")
                reader.expect("TIME", 900)
                reader.expect("ZONE", 900)
            return TypeName(kind=TypeKind.DATE, at=at)
        if name == "BOOLEAN":
            return TypeName(kind=TypeKind.BOOLEAN, at=at)
        if name == "SYS_REFCURSOR":
            return TypeName(kind=TypeKind.CURSOR, at=at)
        return TypeName(kind=TypeKind.NAMED, name=name, at=at)

    # -- names, targets, expressions ----------------------------------------------------------------------------------

    def dotted(self) -> str:
        """Parse the name that comes next, with its qualifiers, and return it."""
        reader = self.reader
        name = reader.name(900)
        while reader.here.is_mark(".") and reader.ahead().kind in (TokenKind.NAME, TokenKind.QUOTED):
            reader.take()
            name += "." + reader.name(900)
        return name

    def target(self) -> Target:
        """Parse the target of an assignment and return it."""
        reader, at = self.reader, self.reader.here.at
        if reader.accept_mark(":"):
            return Target(name=reader.name(900), bind=True, at=at)
        name = reader.name(900)
        index = None
        if reader.accept_mark("("):
            index = self.expression()
            reader.expect_mark(")", 900)
        field = reader.name(900) if reader.accept_mark(".") else ""
        return Target(name=name, field=field, index=index, at=at)

    def targets(self) -> tuple[Target, ...]:
        """Parse the targets of INTO and return them."""
        found = [self.target()]
        while self.reader.accept_mark(","):
            found.append(self.target())
        return tuple(found)

    def query_here(self) -> Query:
        """Parse the query that comes next and return it; its errors are reported as those of SQL."""
        self.in_query, self.query_at = True, self.reader.here.at
        query = self.query()
        if self.reader.accept("FOR", "UPDATE"):
            while not self.reader.here.is_mark(";", ")") and self.reader.here.kind is not TokenKind.END:
                self.reader.take()
        self.in_query = False
        return query

    def _into(self) -> None:
        reader = self.reader
        bulk = reader.accept("BULK", "COLLECT")
        if reader.accept("INTO"):
            self.bulk = bulk
            self.into = self.targets()

    def _factor(self) -> Expression:
        reader = self.reader
        if reader.here.is_mark(":"):
            at = reader.take().at
            return Column(":", reader.name(900), at)
        return super()._factor()

    def _name(self) -> Expression:
        reader = self.reader
        token = reader.here
        if reader.ahead().is_mark("%") and token.kind in (TokenKind.NAME, TokenKind.QUOTED):
            reader.take()
            reader.take()
            return Column(token.value, "%" + reader.name(900), token.at)
        made = super()._name()
        if isinstance(made, Call) and reader.here.is_mark(".") and reader.ahead().kind is TokenKind.NAME:
            reader.take()
            return Call(f"{made.name}().{reader.name(900)}", made.arguments, at=made.at)
        return made
