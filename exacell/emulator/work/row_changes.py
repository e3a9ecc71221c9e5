"""INSERT, UPDATE and DELETE on user tables.

Grammar::

    INSERT INTO table [(column, ...)] {VALUES (expression, ...) | query}
    UPDATE table SET column = expression, ... [WHERE condition]
    DELETE [FROM] table [WHERE condition]

A statement happens as a whole or not at all. Source: Oracle Database SQL Language Reference.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from exacell.emulator.basics.ora_messages import OraError, ora
from exacell.emulator.sql.bulk import first_of, is_level, numbered_to
from exacell.emulator.sql.engine import expressions_of, run_query
from exacell.emulator.sql.function_base import SqlSettings
from exacell.emulator.sql.scope import Bound, Catalog, Compiled, Condition, Env, ResultColumn, Scope
from exacell.emulator.sql.syntax import SqlParser
from exacell.emulator.sql.tokens import TokenReader
from exacell.emulator.sql.tree import Expression, Query
from exacell.emulator.sql.values import Value
from exacell.emulator.work.tables import Numbered, UserTable, known_as

Undo = Callable[[], None]
"""Undoes one change of rows."""


@dataclass(frozen=True, kw_only=True)
class Changed:
    """The result of a statement: SQL*Plus's message, the number of changed rows, and a function that undoes the change."""

    message: str
    rows: int
    undo: Undo


class RowChange:
    """A compiled statement on one table; :meth:`run` may be called again while the table is the same."""

    def __init__(self, statement: str, tables: Mapping[str, UserTable], below: Catalog, settings: SqlSettings) -> None:
        """Compile a statement.

        Args:
            tables: the user tables of the database by name.
            below: returns every view or table that a query may read.

        Raises:
            OraError: the statement is not in the grammar, or names something that does not exist.
        """
        self._parser = SqlParser(statement)
        self._tables, self._below, self._settings = tables, below, settings
        self._verb = self._parser.reader.take().value
        self.table, self.run = self._compiled(self._parser.reader)

    def _compiled(self, reader: TokenReader) -> tuple[UserTable, Callable[[], Changed]]:
        if self._verb == "INSERT":
            reader.expect("INTO", 925)
        elif self._verb == "DELETE":
            reader.accept("FROM")
        table = self._table(reader)
        if self._verb == "INSERT":
            return table, self._insert(table, reader)
        return table, self._update(table, reader) if self._verb == "UPDATE" else self._delete(table, reader)

    def _table(self, reader: TokenReader) -> UserTable:
        at = reader.here.at
        owner, name = "", reader.name(903)
        while reader.accept_mark("."):
            owner, name = name, reader.name(903)
        table = self._tables.get(known_as(owner, name))
        if table is None:
            raise OraError(ora(942), at=at)
        return table

    def _scope(self, table: UserTable) -> Scope:
        return Scope([Bound(table.name, tuple(ResultColumn(c.name, c.type) for c in table.columns))], None)

    def _value(self, expression: Expression, scope: Scope) -> Compiled:
        return expressions_of(self._below, self._settings).value(expression, scope)[0]

    def _condition(self, table: UserTable, reader: TokenReader) -> Condition | None:
        """Return the condition after WHERE; None without WHERE."""
        found = None
        if reader.accept("WHERE"):
            found = expressions_of(self._below, self._settings).condition(self._parser.expression(), self._scope(table))
        reader.done()
        return found

    @staticmethod
    def _chosen(table: UserTable, where: Condition | None) -> list[list[Value]]:
        return [row for row in table.changeable() if where is None or where(Env((row,), None))]

    # -- inserting ------------------------------------------------------------------------------------------------

    def _insert(self, table: UserTable, reader: TokenReader) -> Callable[[], Changed]:
        places = list(range(len(table.columns)))
        if reader.here.is_mark("("):
            places = self._places(table, reader)
        if reader.accept("VALUES"):
            rows = self._values(reader)
        elif reader.here.is_word("SELECT", "WITH"):
            query = self._parser.query()
            reader.done()
            if (most := numbered_to(query)) and not len(table):
                return self._number(table, places, query, most)
            rows = self._of_query(query)
        else:
            raise reader.error(926)

        def run() -> Changed:
            added = [self._row(table, places, row) for row in rows()]
            before = len(table.rows)
            table.rows.extend(added)
            try:
                table.check_key()
            except OraError:
                del table.rows[before:]
                raise
            return Changed(message=_rows_done(len(added), "created"), rows=len(added), undo=_without(table, added))

        return run

    @staticmethod
    def _places(table: UserTable, reader: TokenReader) -> list[int]:
        reader.take()
        places: list[int] = []
        while True:
            at = reader.here.at
            places.append(table.place(reader.name(904), at))
            if reader.accept_mark(")"):
                return places
            reader.expect_mark(",", 907)

    def _values(self, reader: TokenReader) -> Callable[[], Sequence[Sequence[Value]]]:
        reader.expect_mark("(", 906)
        expressions = [self._parser.expression()]
        while reader.accept_mark(","):
            expressions.append(self._parser.expression())
        reader.expect_mark(")", 907)
        reader.done()
        nothing = Scope([], None)
        compiled = [self._value(expression, nothing) for expression in expressions]
        return lambda: [[value(Env((), None)) for value in compiled]]

    def _of_query(self, query: Query) -> Callable[[], Sequence[Sequence[Value]]]:
        return lambda: run_query(query, self._below, self._settings).rows

    def _number(self, table: UserTable, places: Sequence[int], query: Query, most: int) -> Callable[[], Changed]:
        """Return a function that fills an empty table with rows that differ only in a number."""
        (block,) = query.blocks
        levels = tuple(places[place] for place, item in enumerate(block.items) if is_level(item.expression))

        def run() -> Changed:
            given = dict(zip(places, run_query(first_of(query), self._below, self._settings).rows[0], strict=True))
            values = self._row(table, places, tuple(given.values()))
            if table.key is not None and most > 1 and table.key not in levels:
                raise OraError(ora(1, f"{table.owner}.{table.name}_PK"))
            table.numbered = Numbered(most=most, values=tuple(values), places=levels)
            return Changed(message=_rows_done(most, "created"), rows=most, undo=_emptied(table))

        return run

    def _row(self, table: UserTable, places: Sequence[int], given: Sequence[Value]) -> list[Value]:
        if len(given) != len(places):
            raise OraError(ora(947 if len(given) < len(places) else 913))
        values: list[Value] = [None] * len(table.columns)
        for place, value in zip(places, given, strict=True):
            values[place] = value
        return [
            column.taken(value, table, self._settings.date_format)
            for column, value in zip(table.columns, values, strict=True)
        ]

    # -- changing and deleting ------------------------------------------------------------------------------------

    def _update(self, table: UserTable, reader: TokenReader) -> Callable[[], Changed]:
        reader.expect("SET", 971)
        scope = self._scope(table)
        wanted: list[tuple[int, Compiled]] = []
        while True:
            at = reader.here.at
            place = table.place(reader.name(904), at)
            reader.expect_mark("=", 927)
            wanted.append((place, self._value(self._parser.expression(), scope)))
            if not reader.accept_mark(","):
                break
        where = self._condition(table, reader)

        def run() -> Changed:
            rows = self._chosen(table, where)
            before = [list(row) for row in rows]
            undo = _as_before(rows, before)
            try:
                for row, old in zip(rows, before, strict=True):
                    env = Env((old,), None)
                    for place, value in wanted:
                        row[place] = table.columns[place].taken(value(env), table, self._settings.date_format)
                if any(place == table.key for place, _ in wanted):
                    table.check_key()
            except OraError:
                undo()
                raise
            return Changed(message=_rows_done(len(rows), "updated"), rows=len(rows), undo=undo)

        return run

    def _delete(self, table: UserTable, reader: TokenReader) -> Callable[[], Changed]:
        where = self._condition(table, reader)

        def run() -> Changed:
            gone = self._chosen(table, where)
            _without(table, gone)()
            return Changed(
                message=_rows_done(len(gone), "deleted"), rows=len(gone), undo=lambda: table.rows.extend(gone)
            )

        return run


def _without(table: UserTable, rows: Sequence[list[Value]]) -> Undo:
    """Return an undo that removes exactly these rows from a table, and not others that are equal."""
    own = {id(row) for row in rows}

    def remove() -> None:
        table.rows[:] = [row for row in table.rows if id(row) not in own]

    return remove


def _emptied(table: UserTable) -> Undo:
    def remove() -> None:
        table.numbered = None

    return remove


def _as_before(rows: Sequence[list[Value]], before: Sequence[list[Value]]) -> Undo:
    def restore() -> None:
        for row, old in zip(rows, before, strict=True):
            row[:] = old

    return restore


def _rows_done(count: int, done: str) -> str:
    return f"{count} row{'' if count == 1 else 's'} {done}."
