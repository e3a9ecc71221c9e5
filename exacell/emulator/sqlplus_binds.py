"""Bind variables of SQL*Plus and the straight-line PL/SQL blocks that give them values.

``VARIABLE`` declares, ``EXECUTE :n := …`` and blocks assign, statements use ``:n``, ``PRINT`` shows. A block may hold
assignments, ``SELECT … INTO :n``, ``DBMS_OUTPUT.PUT_LINE``, ``EXECUTE IMMEDIATE`` of a text, ``NULL``, ``COMMIT`` and loops
``FOR r IN (query) LOOP … END LOOP``; any other PL/SQL is not carried out, and no statement of such a block is.

Source: Oracle SQL*Plus User's Guide, VARIABLE, PRINT, EXECUTE; ORA-01403 and ORA-01422: Oracle Database Error Messages.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal

from exacell.emulator.ora_messages import OraError, ora
from exacell.emulator.sql_scope import Relation, ResultColumn
from exacell.emulator.sql_session import SqlSession
from exacell.emulator.sql_tokens import Token, TokenKind, tokenize
from exacell.emulator.sql_values import NUMBER, ColumnType, Value, char, to_text

_TYPE = re.compile(
    r"(NUMBER|BINARY_FLOAT|BINARY_DOUBLE|CLOB|N?CHAR|N?VARCHAR2)(?:\s*\(\s*([0-9]+)[^)]*\))?", re.IGNORECASE
)
_LEAVE = re.compile(r"'(?:[^']|'')*'|\"[^\"]*\"|--[^\n]*|/\*.*?\*/|:=|:([A-Za-z][A-Za-z0-9_$#]*)", re.DOTALL)
_NOT_EMULATED = "PL/SQL is not emulated"


class UndeclaredError(Exception):
    """A statement names a bind variable that VARIABLE has not declared."""


@dataclass
class Binds:
    """The bind variables of a session: their types and values by upper-case name."""

    types: dict[str, ColumnType] = field(default_factory=dict)
    values: dict[str, Value] = field(default_factory=dict)

    def declare(self, text: str) -> bool:
        """Declare ``name type [= value]`` and return whether that could be read."""
        match = re.fullmatch(rf"([A-Za-z]\w*)\s+{_TYPE.pattern}\s*(?:=\s*(.*))?", text, re.IGNORECASE | re.DOTALL)
        if match is None:
            return False
        name, kind, width, value = match[1].upper(), match[2].upper(), match[3], match[4]
        number = kind in ("NUMBER", "BINARY_FLOAT", "BINARY_DOUBLE")
        self.types[name] = NUMBER if number else char(int(width or (80 if kind == "CLOB" else 1)))
        self.values[name] = None
        if value is not None:
            plain = value.strip().strip("'\"")
            self.values[name] = Decimal(plain) if number else plain
        return True

    def listed(self) -> str:
        """Return what VARIABLE without a name prints."""
        kinds = {
            name: f"datatype   {'NUMBER' if kind is NUMBER else f'VARCHAR2({kind.width})'}"
            for name, kind in self.types.items()
        }
        return "".join(f"variable   {name.lower()}\n{kind}\n\n" for name, kind in kinds.items())

    def relation(self, name: str) -> Relation:
        """Return the rows that PRINT shows of a variable.

        Raises:
            UndeclaredError: there is none of that name.
        """
        upper = name.lstrip(":").upper()
        if upper not in self.types:
            raise UndeclaredError(upper)
        return Relation((ResultColumn(upper, self.types[upper]),), ((self.values[upper],),))

    def fill(self, statement: str) -> str:
        """Return a statement with literals in the place of ``:name``.

        Raises:
            UndeclaredError: a name is not declared.
        """

        def literal(match: re.Match[str]) -> str:
            if match[1] is None:
                return match[0]
            name = match[1].upper()
            if name not in self.types:
                raise UndeclaredError(name)
            value = self.values[name]
            if value is None:
                return "NULL"
            return str(value) if isinstance(value, int | Decimal) else "'" + str(value).replace("'", "''") + "'"

        return _LEAVE.sub(literal, statement)

    def assign(self, name: str, value: Value, date_format: str) -> None:
        """Give a declared variable a value.

        Raises:
            UndeclaredError: it is not declared.
            OraError: ORA-06502, the value does not go into its type.
        """
        if name not in self.types:
            raise UndeclaredError(name)
        kind = self.types[name]
        if value is None or kind is NUMBER:
            if isinstance(value, str):
                try:
                    value = Decimal(value)
                except ArithmeticError:
                    raise OraError(ora(6502, "character to number conversion error")) from None
            self.values[name] = value
            return
        text = to_text(value, date_format) or ""
        if len(text) > kind.width:
            raise OraError(ora(6502, "character string buffer too small"))
        self.values[name] = text


def run_block(text: str, binds: Binds, session: SqlSession) -> list[str]:
    """Carry out a block and return the lines that DBMS_OUTPUT collected.

    Raises:
        OraError: a statement in it is refused, or it holds what is not emulated (nothing has been done then).
        UndeclaredError: it names a variable that is not declared.
    """
    output: list[str] = []
    steps = [_step(part, text, binds, session, output) for part in _statements(text)]
    for step in steps:
        step()
    return output


def _statements(text: str) -> list[list[Token]]:
    """Return the tokens of each statement between BEGIN and END."""
    tokens = [token for token in tokenize(text) if token.kind is not TokenKind.END]
    while tokens and (tokens[-1].is_mark(";") or tokens[-1].is_mark("/")):
        tokens.pop()
    if len(tokens) < 2 or not tokens[0].is_word("BEGIN") or not tokens[-1].is_word("END"):
        raise OraError(ora(439, _NOT_EMULATED))
    parts: list[list[Token]] = [[]]
    depth = 0
    for before, token in itertools.pairwise(tokens[:-1]):
        if token.is_word("LOOP"):
            depth += -1 if before.is_word("END") else 1
        if token.is_mark(";") and depth == 0:
            parts.append([])
        else:
            parts[-1].append(token)
    return [part for part in parts if part]


def _step(part: Sequence[Token], text: str, binds: Binds, session: SqlSession, output: list[str]) -> Callable[[], None]:
    """Return what carries out one statement of a block."""

    def source(first: int, end: int | None = None) -> str:
        """The text from one token of the statement up to another, its end by default."""
        stop = part[end].at if end is not None else _end_of(text, part[-1])
        return text[part[first].at : stop]

    def value_of(expression: str) -> Value:
        relation = session.execute(f"select {binds.fill(expression)} from dual").relation
        assert relation is not None
        return relation.rows[0][0]

    words = [token.value for token in part]
    if words in (["NULL"], ["COMMIT"], ["ROLLBACK"]):
        return lambda: None
    if part[0].is_mark(":") and len(part) > 4 and part[2].is_mark(":") and part[3].is_mark("="):
        return lambda: binds.assign(words[1], value_of(source(4)), session.date_format)
    if words[:4] == ["DBMS_OUTPUT", ".", "PUT_LINE", "("] and part[-1].is_mark(")"):
        return lambda: output.append(to_text(value_of(source(4, -1)), session.date_format) or "")
    if words[:2] == ["EXECUTE", "IMMEDIATE"] and len(part) > 2:
        return lambda: _immediately(value_of(source(2)), session)
    if part[0].is_word("SELECT"):
        return _select_into(part, source, binds, session)
    if part[0].is_word("FOR"):
        return _cursor_loop(part, text, binds, session, output)
    raise OraError(ora(439, _NOT_EMULATED))


def _immediately(statement: Value, session: SqlSession) -> None:
    session.execute(str(statement))


def _select_into(
    part: Sequence[Token], source: Callable[..., str], binds: Binds, session: SqlSession
) -> Callable[[], None]:
    into = next((n for n, token in enumerate(part) if token.is_word("INTO")), None)
    stop = next((n for n, token in enumerate(part) if token.is_word("FROM") and into is not None and n > into), None)
    if into is None or stop is None:
        raise OraError(ora(439, _NOT_EMULATED))
    targets = [token.value for token in part[into + 1 : stop] if token.kind is TokenKind.NAME]
    marks = [token.value for token in part[into + 1 : stop] if token.kind is not TokenKind.NAME]
    if marks != [":", *([",", ":"] * (len(targets) - 1))]:
        raise OraError(ora(439, _NOT_EMULATED))
    query = f"{source(0, into)} {source(stop)}"

    def run() -> None:
        relation = session.execute(binds.fill(query)).relation
        assert relation is not None
        if len(relation.rows) != 1:
            raise OraError(ora(1403 if not relation.rows else 1422))
        if len(relation.columns) != len(targets):
            raise OraError(ora(913 if len(relation.columns) > len(targets) else 947))
        for name, value in zip(targets, relation.rows[0], strict=True):
            binds.assign(name, value, session.date_format)

    return run


def _cursor_loop(
    part: Sequence[Token], text: str, binds: Binds, session: SqlSession, output: list[str]
) -> Callable[[], None]:
    """Return what carries out ``FOR r IN (query) LOOP … END LOOP``: its body once a row, with ``r.column`` filled in."""
    loop = next((n for n, token in enumerate(part) if token.is_word("LOOP")), 0)
    opened = len(part) > loop > 5 and part[2].is_word("IN") and part[3].is_mark("(") and part[loop - 1].is_mark(")")
    if not opened or not part[-2].is_word("END") or not part[-1].is_word("LOOP"):
        raise OraError(ora(439, _NOT_EMULATED))
    record, query = part[1].value, text[part[4].at : part[loop - 1].at]
    body = text[part[loop + 1].at : part[-2].at]

    def filled(row: Mapping[str, Value] | None) -> str:
        tokens, result, done = tokenize(body), "", 0
        for first, dot, column in zip(tokens, tokens[1:], tokens[2:], strict=False):
            if first.is_word(record) and dot.is_mark(".") and column.kind is TokenKind.NAME and first.at >= done:
                if row is not None and column.value not in row:
                    raise OraError(ora(904, f'"{record}"."{column.value}"'), at=0)
                result += body[done : first.at] + _literal(row[column.value] if row else None, session) + " "
                done = _end_of(body, column)
        return f"begin {result}{body[done:]} end;"

    block = filled(None)
    for inner in _statements(block):
        _step(inner, block, binds, session, output)

    def run() -> None:
        relation = session.execute(binds.fill(query)).relation
        if relation is None:
            raise OraError(ora(439, _NOT_EMULATED))
        names = [column.name for column in relation.columns]
        for values in relation.rows:
            output.extend(run_block(filled(dict(zip(names, values, strict=True))), binds, session))

    return run


def _literal(value: Value, session: SqlSession) -> str:
    if value is None or isinstance(value, int | Decimal):
        return "NULL" if value is None else str(value)
    return "'" + (to_text(value, session.date_format) or "").replace("'", "''") + "'"


def _end_of(text: str, token: Token) -> int:
    """Return the offset behind a token."""
    following = [other.at for other in tokenize(text) if other.at > token.at]
    return following[0] if following else len(text)
