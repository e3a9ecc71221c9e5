"""What names of a query mean and what rows they stand for: relations, scopes, and the rows that an expression sees."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol, overload

from exacell.emulator.ora_messages import OraError, ora
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
"""From a view's upper-case name to its present content; None when there is no such view."""


class Env:
    """The rows that an expression sees: one of each source, perhaps a group of them, and those of the outer query."""

    __slots__ = ("group", "leaf", "level", "outer", "prior", "rolled", "rownum", "rows")

    def __init__(
        self, rows: tuple[Sequence[Value], ...], outer: Env | None, group: Sequence[Env] | None = None
    ) -> None:
        self.rows = rows
        self.outer = outer
        self.group = group
        self.rownum = 0
        self.prior: Env | None = None  # of a hierarchy: the row above, how deep this one is, whether none is below
        self.level = 0
        self.leaf = False
        self.rolled: frozenset[tree.Expression] = frozenset()  # of a row of totals: the keys that it adds up over


Compiled = Callable[[Env], Value]
"""What an expression is compiled into: from the rows that it sees to its value."""

Condition = Callable[[Env], Truth]


@dataclass(frozen=True)
class Prepared:
    """A compiled query: its columns, and what runs it inside the rows of the outer query."""

    columns: tuple[ResultColumn, ...]
    run: Callable[[Env | None], Relation]


@dataclass(frozen=True)
class Join:
    """How a source is joined to those before it: kind, condition, and perhaps an equality that finds its rows.

    ``rows`` gives those of a source that depends on the ones before it.
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
    """The sources of a block and, outside of them, those of the outer query."""

    def __init__(self, sources: Sequence[Bound], outer: Scope | None) -> None:
        self.sources = sources
        self.outer = outer
        self.hierarchical = False  # the block has CONNECT BY
        self.merged: set[str] = set()  # columns of USING and NATURAL: one column although two sources have it

    def find(self, column: tree.Column) -> tuple[int, int, int, ColumnType] | None:
        """Return (levels out, source, column, type); None when unknown."""
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
        """Return (source, column) of a column of this block; None for one of an outer query, or of none."""
        found = self.find(column)
        return (found[1], found[2]) if found is not None and found[0] == 0 else None


def value_column(call: tree.Call, scope: Scope) -> tree.Column:
    """Return the column that ``VALUE(alias)`` means.

    Raises:
        OraError: ORA-00904, no source has that alias.
    """
    argument = call.arguments[0] if len(call.arguments) == 1 else None
    if isinstance(argument, tree.Column) and not argument.qualifier:
        column = tree.Column(argument.name, COLUMN_VALUE, argument.at)
        if scope.find(column) is not None:
            return column
    raise OraError(ora(904, '"VALUE"'), at=call.at)


class Names(Protocol):
    """What a PL/SQL block adds to the names that its expressions and queries know."""

    def variable(self, column: tree.Column) -> tuple[Callable[[], Value], ColumnType] | None:
        """Return what reads a variable, a field, an attribute of a cursor; None when there is none of that name."""

    def function(self, call: tree.Call) -> tuple[Callable[[Sequence[Value]], Value], ColumnType] | None:
        """Return a function of the block, or what an element of a collection is read by; None for neither."""


class ProgramScope(Scope):
    """The outermost scope of the queries of a PL/SQL block: its variables, read when a row is asked for."""

    def __init__(self, names: Names) -> None:
        super().__init__((), None)
        self.names = names
        self._readers: list[Callable[[], Value]] = []

    def find(self, column: tree.Column) -> tuple[int, int, int, ColumnType] | None:
        """Return (0, 0, number of the variable, type); None when unknown."""
        found = self.names.variable(column)
        if found is None:
            return None
        self._readers.append(found[0])
        return 0, 0, len(self._readers) - 1, found[1]

    def env(self) -> Env:
        """Return the row of the variables."""
        return Env((_Live(self._readers),), None)


class _Live(Sequence[Value]):
    """Values that are read when they are asked for."""

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
