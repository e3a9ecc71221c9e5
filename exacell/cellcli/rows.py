"""The answers of several cells to one LIST, stored by column. Pure.

Thousands of rows need no object each. An answer that is too large for memory is read from disk as often as it is needed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain, islice
from typing import Any, overload

from exacell.cellcli.alertrows import of_several_lines
from exacell.cellcli.reply import plain_columns, read_columns, spelled
from exacell.cellcli.schema import METRIC_VALUES, values
from exacell.cellcli.tables import UNIT, Columns, Made, TypedTable
from exacell.core.values import dataclass


class ByBlocks(Sequence[Mapping[str, Any]]):
    """Records that are too many for memory; see :class:`exacell.cellcli.rows.LargeRows`."""


class Rows(Made[Mapping[str, Any]]):
    """Records with ``cell`` first and the same attributes in each; they are created on first access.

    Attributes:
        names: the attributes, all different, without ``cell``.
        parts: each cell's answer, in the order in which the cells were asked.
    """

    def __init__(self, names: Sequence[str], parts: Sequence[tuple[str, Columns]]) -> None:
        self.names = tuple(names)
        self.parts = tuple(parts)
        self._count = sum(len(columns[0]) for _, columns in self.parts)

    def column(self, name: str) -> list[str]:
        """Return the texts of one attribute, row by row; empty if there is no such attribute."""
        if name not in self.names:
            return []
        place = self.names.index(name)
        return list(chain.from_iterable(columns[place] for _, columns in self.parts))

    def _make(self) -> list[Mapping[str, Any]]:
        keys = ("cell", *self.names)
        return [
            dict(zip(keys, (cell, *row), strict=True))
            for cell, columns in self.parts
            for row in zip(*columns, strict=True)
        ]

    def __len__(self) -> int:
        return self._count


def read_rows(answers: Mapping[str, str], columns: Sequence[str], object_type: str = "") -> Sequence[Mapping[str, Any]]:
    """Return the records of all cells' answers to a LIST with those columns, ``cell`` first; each answer is read as
    :func:`exacell.cellcli.reply.read_columns` does.

    Args:
        answers: cell → its answer.
        columns: the attributes that were asked for, or the object's default columns.
        object_type: for the spelling of the attributes; empty keeps them as given.
    """
    names = spelled(columns, object_type)
    parts: list[tuple[str, Columns]] = []
    alike = "cell" not in names and 0 < len(set(names)) == len(names)
    for cell, text in answers.items() if alike else ():
        found = None if of_several_lines(object_type, names) else plain_columns(text, len(names))
        if found is None:
            records = read_columns(text, columns, object_type)
            if any(len(record) != len(names) for record in records):
                alike = False  # A row has more columns than were asked for.
                break
            found = tuple([record[name] for record in records] for name in names)
        parts.append((cell, found))
    if alike:
        return Rows(names, parts)
    return [
        {"cell": cell, **record}
        for cell, text in answers.items()
        for record in read_columns(text, columns, object_type)
    ]


Record = Mapping[str, Any]


@dataclass(frozen=True)
class Part:
    """One cell's rows: ``blocks`` reads their texts by column, many at a time, from the beginning."""

    cell: str
    blocks: Callable[[], Iterator[Columns]]


class LargeRows(ByBlocks):
    """Records with ``cell`` first and the same attributes in each; each record is created only while it is read.

    Args:
        object_type: its attributes give the texts their types; empty: the texts stay as printed.

    Attributes:
        names: the attributes in the parts' columns, all different, without ``cell``.
        keys: the attributes of a record besides ``cell``: with types a metric's ``unit`` follows its value.
        object_type: see Args.
        parts: each cell's rows, in the order in which the cells were asked.
    """

    def __init__(self, names: Sequence[str], parts: Sequence[Part], *, object_type: str = "") -> None:
        self.names = tuple(names)
        self.parts = tuple(parts)
        self.object_type = object_type
        self.keys = self.names
        first = next((place for place, name in enumerate(names) if name in METRIC_VALUES), None)
        if object_type and first is not None and UNIT not in names:
            self.keys = (*self.names[: first + 1], UNIT, *self.names[first + 1 :])
        self._count: int | None = None

    def with_keys(self, keys: Sequence[str]) -> LargeRows:
        """Return the same rows with the attributes of their records in this order."""
        rows = LargeRows(self.names, self.parts, object_type=self.object_type)
        rows.keys = tuple(keys)
        return rows

    def blocks(self) -> Iterator[tuple[str, Columns]]:
        """Yield blocks of many rows: the cell, and for each column the texts of these rows."""
        for part in self.parts:
            yield from ((part.cell, columns) for columns in part.blocks())

    def __len__(self) -> int:
        if self._count is None:  # All rows must be read for this.
            self._count = sum(len(columns[0]) for _, columns in self.blocks())
        return self._count

    def __bool__(self) -> bool:
        return next(self.blocks(), None) is not None

    def __iter__(self) -> Iterator[Record]:
        for cell, columns in self.blocks():
            for row in zip(*columns, strict=True):
                yield {"cell": cell, **self._record(dict(zip(self.names, row, strict=True)))}

    def _record(self, texts: dict[str, str]) -> Record:
        if not self.object_type:
            return texts
        typed = values({name: text.strip() for name, text in texts.items()}, self.object_type)
        return {key: typed.get(key) for key in self.keys}

    @overload
    def __getitem__(self, place: int) -> Record: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[Record]: ...
    def __getitem__(self, place: int | slice) -> Record | Sequence[Record]:
        if isinstance(place, slice):
            start, stop, step = place.indices(len(self))
            return list(islice(self, start, stop, step)) if step > 0 else list(self)[place]
        found = next(islice(self, place if place >= 0 else place + len(self), None), None)
        if found is None:
            raise IndexError(place)
        return found


class TypedRows(Made[Record]):
    """The typed records of several cells' answers in XML, with ``cell`` first and the same attributes in each.

    Attributes:
        tables: each cell's records, in the order in which the cells were asked.
        keys: the attributes of a record besides ``cell``.
    """

    def __init__(self, tables: Mapping[str, TypedTable], keys: Sequence[str]) -> None:
        self.tables = dict(tables)
        self.keys = tuple(keys)

    @classmethod
    def of(cls, tables: Mapping[str, Sequence[Record]], keys: Sequence[str]) -> TypedRows | None:
        """Return the records of these tables; None if they are not stored by column, or differ in their attributes.

        Args:
            keys: the attributes to take; empty means all.
        """
        found = {cell: table for cell, table in tables.items() if table}
        typed = {cell: table for cell, table in found.items() if isinstance(table, TypedTable)}
        names = {table.texts.names for table in typed.values()}
        if not typed or len(typed) < len(found) or "cell" in keys or any("cell" in one for one in names):
            return None
        if not keys and (len(names) > 1 or not all(table.alike for table in typed.values())):
            return None
        return cls(typed, tuple(dict.fromkeys(keys)) or _large(next(iter(typed.items()))).keys)

    @property
    def by_blocks(self) -> LargeRows:
        """Return the same records in the form that is written block by block."""
        return joined([_large(item) for item in self.tables.items()]).with_keys(self.keys)

    def texts(self, name: str) -> set[str]:
        """Return the different texts of one attribute."""
        tables = [table.texts for table in self.tables.values() if name in table.texts.names]
        return {text for table in tables for text in table.columns[table.names.index(name)]}

    def __len__(self) -> int:
        return sum(map(len, self.tables.values()))

    def _make(self) -> list[Record]:
        return [
            {"cell": cell, **{key: record.get(key) for key in self.keys}}
            for cell, table in self.tables.items()
            for record in table
        ]


def _large(item: tuple[str, TypedTable]) -> LargeRows:
    cell, table = item
    columns = table.texts.columns
    return LargeRows(table.texts.names, [Part(cell, lambda: iter([columns]))], object_type=table.object_type)


def joined(tables: Sequence[LargeRows]) -> LargeRows:
    """Return the rows of several tables of one object type as one table, with all their attributes."""
    names = tuple(dict.fromkeys(name for table in tables for name in table.names))
    parts = [Part(part.cell, partial(_arranged, table.names, part, names)) for table in tables for part in table.parts]
    return LargeRows(names, parts, object_type=tables[0].object_type)


def _arranged(own: Sequence[str], part: Part, names: Sequence[str]) -> Iterator[Columns]:
    for block in part.blocks():
        columns = dict(zip(own, block, strict=True))
        absent = [""] * len(block[0])
        yield tuple(columns.get(name, absent) for name in names)
