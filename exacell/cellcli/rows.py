"""What several cells answered to one LIST, kept by column: thousands of rows without an object for each. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, overload

from exacell.cellcli.alertrows import OBJECT as ALERTS
from exacell.cellcli.reply import plain_columns, read_columns, spelled

Columns = tuple[Sequence[str], ...]
"""The texts of one cell's answer: by column, then by row."""


class ByBlocks(Sequence[Mapping[str, Any]]):
    """Records that are too many to be held at a time; see :class:`exacell.cellcli.largerows.LargeRows`."""


class Rows(Sequence[Mapping[str, Any]]):
    """Records with ``cell`` first and the same attributes in each; one is made when somebody asks for any.

    Attributes:
        names: the attributes, all different, ``cell`` not among them.
        parts: each cell's answer, cells in the order in which they were asked.
    """

    def __init__(self, names: Sequence[str], parts: Sequence[tuple[str, Columns]]) -> None:
        self.names = tuple(names)
        self.parts = tuple(parts)
        self._count = sum(len(columns[0]) for _, columns in self.parts)
        self._records: list[Mapping[str, Any]] | None = None

    def column(self, name: str) -> list[str]:
        """Return the texts of one attribute, row by row; empty when there is no such attribute."""
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

    __hash__ = None  # type: ignore[assignment]  # as Python itself says that nothing hashes it

    def __repr__(self) -> str:
        return f"Rows({self._made()!r})"


def read_rows(answers: Mapping[str, str], columns: Sequence[str], object_type: str = "") -> Sequence[Mapping[str, Any]]:
    """Return the records of what each cell printed to a LIST with those columns, ``cell`` first, as
    :func:`exacell.cellcli.reply.read_columns` reads each answer.

    Args:
        answers: text by cell.
        columns: the attributes that were asked for, or the object's default columns.
        object_type: for the spelling of the attributes; empty keeps them as given.
    """
    names = spelled(columns, object_type)
    parts: list[tuple[str, Columns]] = []
    alike = "cell" not in names and 0 < len(set(names)) == len(names)
    for cell, text in answers.items() if alike else ():
        found = plain_columns(text, len(names)) if object_type.upper() != ALERTS else None
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
