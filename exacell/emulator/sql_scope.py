"""What names of a query mean and what rows they stand for: relations, scopes, and the rows that an expression sees."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from exacell.emulator import sql_tree as tree
from exacell.emulator.ora_messages import OraError, ora
from exacell.emulator.sql_compare import Truth
from exacell.emulator.sql_values import ColumnType, Value

Row = tuple[Value, ...]


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

    __slots__ = ("group", "outer", "peers", "rownum", "rows")

    def __init__(self, rows: tuple[Row, ...], outer: Env | None, group: Sequence[Env] | None = None) -> None:
        self.rows = rows
        self.outer = outer
        self.group = group
        self.rownum = 0
        self.peers: Sequence[Env] = ()  # all rows of the block, for analytic functions


Compiled = Callable[[Env], Value]
"""What an expression is compiled into: from the rows that it sees to its value."""

Condition = Callable[[Env], Truth]


@dataclass(frozen=True)
class Join:
    """How a source is joined to those before it: kind, condition, and perhaps an equality that finds its rows."""

    kind: str
    condition: Condition | None
    probe: tuple[Compiled, int] | None = None


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
