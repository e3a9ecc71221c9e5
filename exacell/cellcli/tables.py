"""Records that are stored by column and created on first access. Pure."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Generic, TypeVar, overload

from exacell.cellcli.schema import METRIC_VALUES, Kind, Value, kind_of, known_unit, metric_value, typed_value, values

Columns = tuple[Sequence[str], ...]
"""The texts of one cell's answer: by column, then by row."""

UNIT = "unit"


Record = TypeVar("Record", bound=Mapping[str, Any])


class Made(Sequence[Record], Generic[Record]):
    """Records that are made together, on first access."""

    _records: Sequence[Record] | None = None

    @abstractmethod
    def _make(self) -> Sequence[Record]:
        """Return all records."""

    def _made(self) -> Sequence[Record]:
        if self._records is None:
            self._records = self._make()
        return self._records

    def __len__(self) -> int:
        return len(self._made())

    def __iter__(self) -> Iterator[Record]:
        return iter(self._made())

    @overload
    def __getitem__(self, place: int) -> Record: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[Record]: ...
    def __getitem__(self, place: int | slice) -> Record | Sequence[Record]:
        return self._made()[place]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and not isinstance(other, str) and list(self._made()) == list(other)

    __hash__ = None  # type: ignore[assignment]  # as Python itself marks a class that can't be hashed

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._made()!r})"


class Table(Made[dict[str, str]]):
    """Records of texts that all have the same attributes.

    Attributes:
        names: the attributes, all different.
        columns: their texts, by column; at least one row.
    """

    def __init__(self, names: Sequence[str], columns: Columns) -> None:
        self.names, self.columns = tuple(names), columns

    def __len__(self) -> int:
        return len(self.columns[0])

    def _make(self) -> list[dict[str, str]]:
        return [dict(zip(self.names, row, strict=True)) for row in zip(*self.columns, strict=True)]


class TypedTable(Made[dict[str, Value]]):
    """The records of a table with typed values, each as :func:`exacell.cellcli.schema.values` makes it.

    Attributes:
        texts: the table.
        object_type: its attributes give the texts their types.
    """

    def __init__(self, texts: Table, object_type: str) -> None:
        self.texts, self.object_type = texts, object_type

    def __len__(self) -> int:
        return len(self.texts)

    @property
    def alike(self) -> bool:
        """Return whether all records have the same attributes, because each metric value is printed and so has a unit."""
        table = self.texts
        found = [column for name, column in zip(table.names, table.columns, strict=True) if name in METRIC_VALUES]
        return UNIT not in table.names and all(map(all, found))

    def _make(self) -> list[dict[str, Value]]:
        if not self.alike:
            return [values(record, self.object_type) for record in self.texts]
        typed: dict[str, list[Value]] = {}
        for name, column in zip(self.texts.names, self.texts.columns, strict=True):
            if name not in METRIC_VALUES:
                typed[name] = _each(column, kind_of(self.object_type, name))
                continue
            found = [metric_value(text) for text in column]
            typed[name] = [value for value, _ in found]
            if UNIT not in typed:
                typed[UNIT] = self._units([unit for _, unit in found])
        return [dict(zip(typed, row, strict=True)) for row in zip(*typed.values(), strict=True)]

    def _units(self, printed: Sequence[str]) -> list[Value]:
        """Return the units of metric values, from the units that were printed with them."""
        table = self.texts
        names = table.columns[table.names.index("name")] if "name" in table.names else [""] * len(table)
        known = {name: known_unit(name) for name in set(names)}
        return [unit or known[name] for unit, name in zip(printed, names, strict=True)]


def _each(column: Sequence[str], kind: Kind) -> list[Value]:
    """Return the typed value of each text; equal texts are converted only once."""
    found = {text: typed_value(text, kind) for text in set(column)}
    return [found[text] for text in column]
