"""The meaning of names in a query, and the rows behind them: relations, scopes, and the rows that an expression reads."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol, overload

from exacell.emulator.basics.ora_messages import OraError, ora
from exacell.emulator.sql import tree
from exacell.emulator.sql.compare import Truth
from exacell.emulator.sql.values import ColumnType, Value

Row = tuple[Value, ...]

COLUMN_VALUE = "COLUMN_VALUE"
"""The one column of a source whose rows are single values: XMLSEQUENCE, and XMLTABLE without COLUMNS."""


@dataclass(frozen=True)
class ResultColumn:
    """One column of a result or of a view."""

    name: str
    type: ColumnType


@dataclass(frozen=True)
class Relation:
    """Named columns and their rows: a view, or the result of a query."""

    columns: tuple[ResultColumn, ...]
    rows: Sequence[Row]


Catalog = Callable[[str], Relation | None]
"""Returns the present content of a view by its upper-case name; None if there is no such view."""


class Env:
    """The rows that an expression reads: one of each source, perhaps a group of them, and those of the outer query."""

    __slots__ = ("group", "leaf", "level", "outer", "prior", "rolled", "rownum", "rows")

    def __init__(
        self, rows: tuple[Sequence[Value], ...], outer: Env | None, group: Sequence[Env] | None = None
    ) -> None:
        self.rows = rows
        self.outer = outer
        self.group = group
        self.rownum = 0
        self.prior: Env | None = (
            None  # in a hierarchy: the row above, the depth of this row, whether it has no rows below
        )
        self.level = 0
        self.leaf = False
        self.rolled: frozenset[tree.Expression] = frozenset()  # in a row of totals: the keys over which it adds up


Compiled = Callable[[Env], Value]
"""A compiled expression: a function from the rows that it reads to its value."""

Condition = Callable[[Env], Truth]


@dataclass(frozen=True)
class Prepared:
    """A compiled query: its columns, and a function that runs it inside the rows of the outer query."""

    columns: tuple[ResultColumn, ...]
    run: Callable[[Env | None], Relation]


@dataclass(frozen=True)
class Join:
    """How a source is joined to those before it: kind, condition, and perhaps an equality with which its rows are found.

    ``rows`` returns the rows of a source that depends on the sources before it.
    """

    kind: str
    condition: Condition | None
    probe: tuple[Compiled, int] | None = None
    rows: Callable[[Env], Sequence[Row]] | None = None


@dataclass(frozen=True)
class Bound:
    """A source of a block: its alias and its columns."""

    alias: str
    columns: tuple[ResultColumn, ...]


class Scope:
    """The sources of a block, with the scope of the outer query around them."""

    def __init__(self, sources: Sequence[Bound], outer: Scope | None) -> None:
        self.sources = sources
        self.outer = outer
        self.hierarchical = False  # the block has CONNECT BY
        self.merged: set[str] = set()  # columns of USING and NATURAL: one column although two sources have it

    def find(self, column: tree.Column) -> tuple[int, int, int, ColumnType] | None:
        """Return (levels outwards, source, column, type); None if the column is unknown."""
        hits = [
            (number, place, candidate.type)
            for number, source in enumerate(self.sources)
            if not column.qualifier or source.alias == column.qualifier
            for place, candidate in enumerate(source.columns)
            if candidate.name == column.name
        ]
        if len(hits) > 1 and not (column.name in self.merged and not column.qualifier):
            raise OraError(ora(918, ""), at=column.at)
        if hits:
            return 0, *hits[0]
        found = self.outer.find(column) if self.outer else None
        return None if found is None else (found[0] + 1, *found[1:])

    def place(self, column: tree.Column) -> tuple[int, int] | None:
        """Return (source, column) of a column of this block; None if it belongs to an outer query or is unknown."""
        found = self.find(column)
        return (found[1], found[2]) if found is not None and found[0] == 0 else None


def value_column(call: tree.Call, scope: Scope) -> tree.Column:
    """Return the column that ``VALUE(alias)`` means.

    Raises:
        OraError: ORA-00904 if no source has that alias.
    """
    argument = call.arguments[0] if len(call.arguments) == 1 else None
    if isinstance(argument, tree.Column) and not argument.qualifier:
        column = tree.Column(argument.name, COLUMN_VALUE, argument.at)
        if scope.find(column) is not None:
            return column
    raise OraError(ora(904, '"VALUE"'), at=call.at)


class Names(Protocol):
    """The names that a PL/SQL block adds for its expressions and queries."""

    def variable(self, column: tree.Column) -> tuple[Callable[[], Value], ColumnType] | None:
        """Return a function that reads a variable, a field or an attribute of a cursor, and its type; None if the name is
        unknown.
        """

    def function(self, call: tree.Call) -> tuple[Callable[[Sequence[Value]], Value], ColumnType] | None:
        """Return a function of the block, or one that reads an element of a collection, and its type; None if it is neither."""


class ProgramScope(Scope):
    """The outermost scope of the queries of a PL/SQL block: its variables, which are read again for each row."""

    def __init__(self, names: Names) -> None:
        super().__init__((), None)
        self.names = names
        self._readers: list[Callable[[], Value]] = []

    def find(self, column: tree.Column) -> tuple[int, int, int, ColumnType] | None:
        """Return (0, 0, number of the variable, type); None if it is unknown."""
        found = self.names.variable(column)
        if found is None:
            return None
        self._readers.append(found[0])
        return 0, 0, len(self._readers) - 1, found[1]

    def env(self) -> Env:
        """Return the variables as one row."""
        return Env((_Live(self._readers),), None)


class _Live(Sequence[Value]):
    """Values that are read only when they are needed."""

    def __init__(self, readers: Sequence[Callable[[], Value]]) -> None:
        self.readers = readers

    def __len__(self) -> int:
        return len(self.readers)

    @overload
    def __getitem__(self, place: int) -> Value: ...

    @overload
    def __getitem__(self, place: slice) -> Sequence[Value]: ...

    def __getitem__(self, place: int | slice) -> Value | Sequence[Value]:
        if isinstance(place, slice):
            return [reader() for reader in self.readers[place]]
        return self.readers[place]()
