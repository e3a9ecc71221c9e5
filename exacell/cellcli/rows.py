"""The answers of several cells to one LIST, stored by column. Pure.

Thousands of rows need no object each. An answer that is too large for memory is read from disk as often as it is needed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain, islice
from typing import Any, NamedTuple, overload

from exacell.cellcli.alertrows import of_several_lines
from exacell.cellcli.reply import plain_columns, read_columns, spelled
from exacell.cellcli.schema import METRIC_VALUES, values

Columns = tuple[Sequence[str], ...]
"""The texts of one cell's answer: by column, then by row."""


class ByBlocks(Sequence[Mapping[str, Any]]):
    """Records that are too many for memory; see :class:`exacell.cellcli.rows.LargeRows`."""


class Rows(Sequence[Mapping[str, Any]]):
    """Records with ``cell`` first and the same attributes in each; they are created on first access.

    Attributes:
        names: the attributes, all different, without ``cell``.
        parts: each cell's answer, in the order in which the cells were asked.
    """

    def __init__(self, names: Sequence[str], parts: Sequence[tuple[str, Columns]]) -> None:
        self.names = tuple(names)
        self.parts = tuple(parts)
        self._count = sum(len(columns[0]) for _, columns in self.parts)
        self._records: list[Mapping[str, Any]] | None = None

    def column(self, name: str) -> list[str]:
        """Return the texts of one attribute, row by row; empty if there is no such attribute."""
        if name not in self.names:
            return []
        place = self.names.index(name)
        return list(chain.from_iterable(columns[place] for _, columns in self.parts))

    def _made(self) -> list[Mapping[str, Any]]:
        if self._records is None:
            keys = ("cell", *self.names)
            self._records = [
                dict(zip(keys, (cell, *row), strict=True))
                for cell, columns in self.parts
                for row in zip(*columns, strict=True)
            ]
        return self._records

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[Mapping[str, Any]]:
        return iter(self._made())

    @overload
    def __getitem__(self, place: int) -> Mapping[str, Any]: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[Mapping[str, Any]]: ...
    def __getitem__(self, place: int | slice) -> Mapping[str, Any] | Sequence[Mapping[str, Any]]:
        return self._made()[place]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and not isinstance(other, str) and self._made() == list(other)

    __hash__ = None  # type: ignore[assignment]  # as Python itself marks a class that can't be hashed

    def __repr__(self) -> str:
        return f"Rows({self._made()!r})"


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
                alike = False  # A row has more than was asked for.
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

UNIT = "unit"


class Part(NamedTuple):
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
        """Yield cell and texts by column, many rows at a time."""
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
