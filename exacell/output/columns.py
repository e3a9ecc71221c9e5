"""Thousands of records folded by column: the same rows as :func:`exacell.output.folding.fold_records` gives;
and text in prose, wrapped as the terminal can show it.

Nothing is done record by record that can be done for a whole answer: a row is one text of its values, a cell's name is
masked in all of an answer at once, and an answer that another cell gave too is looked at once.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple, Protocol

from exacell.cellcli.rows import Rows
from exacell.core.cellset import natural_key
from exacell.output.folding import masker
from exacell.output.style import hung, paint

_BETWEEN, _END = "\0", "\n"
"""Stand between the values of a row and behind it; an answer with one of them in a value is not folded here."""

_Key = str | tuple[str, int]
"""A row by what it is compared: its values, masked; with its number from 2 on where a cell has it more than once."""


class Body(NamedTuple):
    """A table without titles, by column.

    Attributes:
        cells: by row, the cells that have it, in natural order.
        odd: by row, whether not every cell has it.
        columns: values by attribute, then by row; the cell's name masked in rows of several cells.
    """

    cells: Sequence[tuple[str, ...]]
    odd: Sequence[bool]
    columns: Mapping[str, Sequence[Any]]


def body_of(rows: Rows, *, folded: bool) -> Body | None:
    """Return the rows of a table of ``rows``, equal cells shown once if ``folded``; None where values are such that
    they have to be compared one by one."""
    if not folded:
        cells = [(cell,) for cell, columns in rows.parts for _ in columns[0]]
        return Body(cells, [False] * len(cells), {name: rows.column(name) for name in rows.names})
    parts = sorted(
        ((cell, columns) for cell, columns in rows.parts if columns[0]), key=lambda part: natural_key(part[0])
    )
    groups: dict[str, _Group] = {}
    for cell, columns in parts:
        text = _END.join(map(_BETWEEN.join, zip(*columns, strict=True)))
        count = len(columns[0])
        if text.count(_END) != count - 1 or text.count(_BETWEEN) != count * (len(columns) - 1):
            return None
        masked = masker(cell)(text)
        if masked in groups:
            groups[masked].cells.append(cell)
        else:
            groups[masked] = _Group([cell], _numbered(masked.split(_END)), text.split(_END))
    chosen, who = _merged(list(groups.values()))
    flat = _BETWEEN.join(chosen).split(_BETWEEN) if chosen else []
    width = len(rows.names)
    values = {name: flat[place::width] for place, name in enumerate(rows.names)}
    return Body(who, [len(cells) < len(parts) for cells in who], values)


class _Group(NamedTuple):
    """Cells with one answer: what its rows are compared by, and the rows as the first of them printed them."""

    cells: list[str]
    keys: list[_Key]
    rows: list[str]


def _numbered(rows: list[str]) -> list[_Key]:
    """Return rows as keys that are all different: a cell may list the same record twice."""
    if len(set(rows)) == len(rows):
        return list(rows)
    seen: dict[str, int] = {}
    keys: list[_Key] = []
    for row in rows:
        seen[row] = number = seen.get(row, 0) + 1
        keys.append(row if number == 1 else (row, number))
    return keys


def _merged(groups: Sequence[_Group]) -> tuple[list[str], list[tuple[str, ...]]]:
    """Return each different row once, and the cells that have it, in the order of :func:`fold_records`."""
    if len(set[_Key]().union(*(group.keys for group in groups))) == sum(len(group.keys) for group in groups):
        # Hardly two cells ever have the same metrics: all rows, cell by cell.
        alone = [(tuple(group.cells), len(group.rows)) for group in groups]
        chosen = [row for group in groups for row in (group.rows if len(group.cells) == 1 else map(_shown, group.keys))]
        return chosen, [cells for cells, count in alone for _ in range(count)]
    have: dict[_Key, tuple[int, ...]] = {}
    printed: dict[_Key, str] = {}
    following: dict[_Key | None, _Key | None] = {None: None}
    last: _Key | None = None
    for number, (_, keys, rows) in enumerate(groups):
        own = set(keys)
        if have.keys().isdisjoint(own):
            # Nothing that an earlier cell has: all of it comes behind.
            have.update(dict.fromkeys(keys, (number,)))
            printed.update(zip(keys, rows, strict=True))
            following[last] = keys[0]
            following.update(pairwise(keys))
            last = keys[-1]
            following[last] = None
            continue
        previous: _Key | None = None
        for key, row in zip(keys, rows, strict=True):
            known = have.get(key)
            if known is not None:
                have[key] = (*known, number)
            else:
                place, after = previous, following[previous]
                while after is not None and after not in own:
                    place, after = after, following[after]
                have[key], printed[key] = (number,), row
                following[place], following[key] = key, after
                if after is None:
                    last = key
            previous = key
    names = _cells_of(groups, set(have.values()))
    chosen = []
    who: list[tuple[str, ...]] = []
    now = following[None]
    while now is not None:
        cells = names[have[now]]
        who.append(cells)
        chosen.append(printed[now] if len(cells) == 1 else _shown(now))
        now = following[now]
    return chosen, who


def _shown(key: _Key) -> str:
    return key if isinstance(key, str) else key[0]


def _cells_of(groups: Sequence[_Group], wanted: Iterable[tuple[int, ...]]) -> dict[tuple[int, ...], tuple[str, ...]]:
    return {
        numbers: tuple(sorted((cell for number in numbers for cell in groups[number].cells), key=natural_key))
        for numbers in wanted
    }


_LEAST = 16
"""Columns that the sentences have at least; with fewer the table is turned like any other that is too wide."""

_GAP = "  "
_ABSENT = "-"


class Aligned(Protocol):
    """A column ready to be written: its title as wide as the column, and the form and texts of its rows."""

    @property
    def title(self) -> str:
        """As wide as the column."""

    @property
    def size(self) -> int:
        """Characters of each row."""

    @property
    def form(self) -> str:
        """The ``%`` form of one row, which takes one text of each of ``fields``."""

    @property
    def fields(self) -> Sequence[Sequence[str]]:
        """Texts by row."""


def prose_lines(
    columns: Sequence[Aligned], prose: int, texts: Sequence[str], *, width: int, color: bool, header: bool
) -> list[str]:
    """Return the lines of the table with column ``prose`` last and broken between words, no wider than ``width``.

    Columns in which nothing stands are left out, so that the sentences have their room.

    Returns:
        the lines; none where too little room is left for the sentences.
    """
    others = [column for place, column in enumerate(columns) if place != prose]
    left = [column for column in others if any(text != _ABSENT for field in column.fields for text in field)]
    before = sum(column.size + len(_GAP) for column in left)
    room = width - before
    if room < _LEAST:
        return []
    broken = [hung(text, room) for text in texts]
    return list(_rows(left, columns[prose].title.strip(), broken, color=color, header=header))


def _rows(
    left: Sequence[Aligned], title: str, broken: Sequence[Sequence[str]], *, color: bool, header: bool
) -> Iterator[str]:
    before = " " * sum(column.size + len(_GAP) for column in left)
    if header:
        longest = max(len(title), *(len(line) for lines in broken for line in lines))
        yield paint(_GAP.join([*(column.title for column in left), title]), "title", color=color)
        yield _GAP.join(["-" * column.size for column in left] + ["-" * longest])
    for number, lines in enumerate(broken):
        shown = [column.form % tuple(field[number] for field in column.fields) for column in left]
        yield _GAP.join([*shown, *lines[:1]]).rstrip()
        yield from (before + line for line in lines[1:])
