"""Show equal cells once: answers that differ only in the cell's own name count as one; also decide when cells are shown
apart.

A cell's name inside a value (``DATA_CD_00_exa1cel01``) is masked as ``{cell}`` before values are compared, and stays
masked if several cells are shown together. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from functools import cache
from itertools import pairwise
from typing import Any, Generic, NamedTuple, TypeVar

from exacell.cellcli.fold import OWN_NAME, OWN_UPPER
from exacell.cellcli.rows import Rows
from exacell.core.cellset import CellSet, fold, grouped, label_of, natural_key
from exacell.core.errors import CellSetError, StatementError
from exacell.core.patterns import pattern
from exacell.core.values import dataclass, replace
from exacell.output.result import Result

Record = Mapping[str, Any]

MASK = OWN_NAME
"""The placeholder for the cell's own name in a folded answer."""


class FoldedRecord(NamedTuple):
    """One record for all the cells that have it. A tuple, because an answer has thousands of them.

    Attributes:
        cells: in natural order; empty for a record about the whole rack.
        record: without ``cell``; values masked if there is more than one cell.
        odd: whether some cell of the answer does not have it.
    """

    cells: tuple[str, ...]
    record: Record
    odd: bool


@dataclass(frozen=True, kw_only=True)
class FoldedText:
    """One block of text for all the cells that printed it; masked when there is more than one cell."""

    cells: tuple[str, ...]
    text: str
    odd: bool


@cache
def masker(cell: str) -> Callable[[str], str]:
    """Return a function that replaces the name of ``cell`` (and its first label) by ``{cell}``, in capitals by ``{CELL}``.

    Only whole names count: ``cel1`` is not found in ``cel12``; ``_`` and ``-`` delimit a name.
    """
    label = label_of(cell)
    dot, domain = cell[len(label) :][:1], cell[len(label) + 1 :]
    # The pattern begins with the name, so that the search skips to its first place in the text.
    name, rest = re.escape(label), f"(?:{re.escape(dot + domain)})?" if dot else ""
    pattern = re.compile(f"{name}(?<![A-Za-z0-9]{name}){rest}(?![A-Za-z0-9])")
    upper = label.upper()
    loud = re.escape(upper)
    capitals = re.compile(f"{loud}(?<![A-Za-z0-9]{loud})(?![A-Za-z0-9])")

    def mask(text: str) -> str:
        if label in text:
            text = pattern.sub(MASK, text)
        return capitals.sub(OWN_UPPER, text) if upper in text else text

    return mask


def alike(said: Iterable[tuple[str, str]]) -> list[tuple[str, list[str]]]:
    """Return each text once, with its targets; the input is (target, text) for each.

    If several targets have the same text, their own names are masked in it; the text of a single target is unchanged.
    """
    groups = grouped((masker(target)(text) if target else text, (target, text)) for target, text in said)
    return [
        (masked if len(members) > 1 else members[0][1], [target for target, _ in members])
        for masked, members in groups.items()
    ]


def folded(names: Iterable[str]) -> str:
    """Return names as one set in cell set notation, or as a list if a name has a character that the notation can't hold."""
    known = sorted(set(names), key=natural_key)
    try:
        return CellSet.parse(fold(known)).fold() if known else ""
    except CellSetError:
        return ", ".join(known)


def mask_value(value: Any, cell: str) -> Any:
    """Return ``value`` with the cell's name masked, also inside sequences; hashable if its parts are."""
    if isinstance(value, str):
        return masker(cell)(value) if value else value
    if isinstance(value, (list, tuple)):
        return tuple(mask_value(part, cell) for part in value)
    return value


def fold_records(records: Sequence[Record], *, ignore: Iterable[str] = ()) -> list[FoldedRecord]:
    """Return ``records`` with equal records of several cells shown once, in a natural reading order.

    Args:
        ignore: attributes that are left out of the comparison and of the answer.

    A record that only some cells have comes after its predecessor on these cells, so that an odd disk is shown beside
    its siblings. Records without a cell come last, unchanged.
    """
    ignored = frozenset(("cell", *ignore))
    by_cell = grouped((str(record["cell"]), record) for record in records if record.get("cell") is not None)
    groups: dict[Hashable, _Group[Record]] = {}
    for cell in sorted(by_cell, key=natural_key):
        plain = [_without(record, ignored) for record in by_cell[cell]]
        keys = _numbered([_content(record, cell) for record in plain])
        groups.setdefault(tuple(keys), _Group([], keys, plain)).cells.append(cell)
    folded = [
        FoldedRecord(who, _masked(record, who[0]) if len(who) > 1 else record, len(who) < len(by_cell))
        for _, record, who in _merged(list(groups.values()))
    ]
    rack = [FoldedRecord((), _without(record, ignored), odd=False) for record in records if record.get("cell") is None]
    return folded + rack


def _without(record: Record, names: frozenset[str]) -> dict[str, Any]:
    return {name: value for name, value in record.items() if name not in names}


_BETWEEN, _END = "\0", "\n"
"""Separate the values of a row that is compared as one text, and end the row; rows whose values contain them are compared in
another way."""


def _content(record: Record, cell: str) -> Hashable:
    """Return the key by which a record of one cell is compared with another's."""
    try:
        # One text of all values is compared, hashed and searched at once: thousands of records come here.
        text = _BETWEEN.join(record.values())
    except TypeError:
        # repr distinguishes True from 1 and works for values without a hash.
        return repr(_masked(record, cell))
    if text.count(_BETWEEN) >= len(record) > 0:
        return tuple(_masked(record, cell).items())
    return (masker(cell)(text), *record)


def _masked(record: Record, cell: str) -> dict[str, Any]:
    return {name: mask_value(value, cell) for name, value in record.items()}


@dataclass(frozen=True)
class Body:
    """A table without titles, by column.

    Attributes:
        cells: by row, the cells that have it, in natural order.
        odd: by row, whether some cell does not have it.
        columns: attribute → values by row; the cell's name is masked in rows of several cells.
    """

    cells: Sequence[tuple[str, ...]]
    odd: Sequence[bool]
    columns: Mapping[str, Sequence[Any]]


def body_of(rows: Rows, *, folded: bool) -> Body | None:
    """Return the rows of a table of ``rows``, equal cells once if ``folded`` as in :func:`fold_records`; None if values must be
    compared one by one.

    To be fast, it works on whole answers, not on single records: a row is one text of its values, a cell's name is masked in
    all of an answer at once, and equal answers of several cells are processed once.
    """
    if not folded:
        cells = [(cell,) for cell, columns in rows.parts for _ in columns[0]]
        return Body(cells, [False] * len(cells), {name: rows.column(name) for name in rows.names})
    parts = sorted(
        ((cell, columns) for cell, columns in rows.parts if columns[0]), key=lambda part: natural_key(part[0])
    )
    groups: dict[str, _Group[str]] = {}
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
    merged = _merged(list(groups.values()))
    chosen = [row if len(who) == 1 else key if isinstance(key, str) else key[0] for key, row, who in merged]
    flat = _BETWEEN.join(chosen).split(_BETWEEN) if chosen else []
    width = len(rows.names)
    values = {name: flat[place::width] for place, name in enumerate(rows.names)}
    return Body([who for _, _, who in merged], [len(who) < len(parts) for _, _, who in merged], values)


Key = TypeVar("Key", bound=Hashable)
Row = TypeVar("Row")


@dataclass(frozen=True)
class _Group(Generic[Row]):
    """Cells with the same answer: the keys by which its rows are compared, and the rows as the first cell printed them."""

    cells: list[str]
    keys: list[Any]
    rows: Sequence[Row]


def _numbered(rows: list[Key]) -> list[Key | tuple[Key, int]]:
    """Return rows as keys that are all different: a cell may list the same record twice, and its second copy equals only
    the second copy of another cell."""
    if len(set(rows)) == len(rows):
        return list(rows)
    seen: dict[Key, int] = {}
    keys: list[Key | tuple[Key, int]] = []
    for row in rows:
        seen[row] = number = seen.get(row, 0) + 1
        keys.append(row if number == 1 else (row, number))
    return keys


def _merged(groups: Sequence[_Group[Row]]) -> list[tuple[Any, Row, tuple[str, ...]]]:
    """Return each different row once: its key, the row as it was first printed, and the cells that have it.

    A row that only some cells have comes after its predecessor on these cells, before the next row that they share.
    """
    if len(set[object]().union(*(group.keys for group in groups))) == sum(len(group.keys) for group in groups):
        # Two cells hardly ever have the same metrics: all rows, cell by cell.
        alone = ((tuple(group.cells), group) for group in groups)
        return [(key, row, who) for who, group in alone for key, row in zip(group.keys, group.rows, strict=True)]
    have: dict[Any, tuple[int, ...]] = {}
    printed: dict[Any, Row] = {}
    following: dict[Any, Any] = {None: None}
    last = None
    for number, group in enumerate(groups):
        keys, rows = group.keys, group.rows
        own = set(keys)
        if have.keys().isdisjoint(own):
            # No row is shared with an earlier cell: all of them come at the end.
            have.update(dict.fromkeys(keys, (number,)))
            printed.update(zip(keys, rows, strict=True))
            following[last] = keys[0]
            following.update(pairwise(keys))
            last = keys[-1]
            following[last] = None
            continue
        previous = None
        for key, row in zip(keys, rows, strict=True):
            if key in have:
                have[key] = (*have[key], number)
            else:
                place, after = previous, following[previous]
                while after is not None and after not in own:
                    place, after = after, following[after]
                have[key], printed[key] = (number,), row
                following[place], following[key] = key, after
                if after is None:
                    last = key
            previous = key
    names = {
        numbers: tuple(sorted((cell for number in numbers for cell in groups[number].cells), key=natural_key))
        for numbers in set(have.values())
    }
    found = []
    now = following[None]
    while now is not None:
        found.append((now, printed[now], names[have[now]]))
        now = following[now]
    return found


def fold_texts(texts: Sequence[tuple[str, str]]) -> list[FoldedText]:
    """Return (cell, text) pairs with equal texts shown once, the text of most cells first.

    Blank lines around a text and blanks at line ends do not count.
    """
    groups: dict[str, list[tuple[str, str]]] = {}
    for cell, text in texts:
        tidy = "\n".join(line.rstrip() for line in text.splitlines()).strip("\n")
        groups.setdefault(masker(cell)(tidy), []).append((cell, tidy))
    ordered = sorted(groups.items(), key=lambda group: -len(group[1]))
    return [
        FoldedText(
            cells=tuple(sorted((cell for cell, _ in members), key=natural_key)),
            text=masked if len(members) > 1 else members[0][1],
            odd=len(ordered) > 1 and len(members) < len(ordered[0][1]),
        )
        for masked, members in ordered
    ]


_FEW = 3
"""Up to so many problems each get their own line."""

_ADDRESS = pattern(r"\d+\.\d+\.\d+\.\d+(?: port \d+)?")


def fold_problems(problems: Sequence[tuple[str, str]]) -> list[tuple[tuple[str, ...], str]]:
    """Return (cell, problem) pairs as (cells in natural order, problem), with equal problems once.

    Problems that differ only in a cell's name or address are equal; for several cells these are masked in the text.
    """
    groups = grouped((_ADDRESS.sub("{address}", masker(cell)(text)), (cell, text)) for cell, text in problems)
    return [
        (
            tuple(sorted(dict.fromkeys(cell for cell, _ in members), key=natural_key)),
            masked if len(members) > 1 else members[0][1],
        )
        for masked, members in groups.items()
    ]


def brief_problems(lines: Sequence[str]) -> list[str]:
    """Return ``cell: problem`` lines; if there are more than three, cells with the same problem share a line.

    A line that does not begin with one word and a colon stays as it is.
    """
    if len(lines) <= _FEW:
        return list(lines)
    told: list[str] = []
    pairs: list[tuple[str, str]] = []
    for line in lines:
        cell, colon, text = line.partition(": ")
        if colon and cell and " " not in cell:
            pairs.append((cell, text))
        else:
            told.append(line)
    if len({cell for cell, _ in pairs}) < len(pairs):
        return list(lines)  # The first word of a line is not a cell's name.
    return [*(f"{fold(cells)}: {text}" for cells, text in fold_problems(pairs)), *told]


MOST_FOLDED = 100_000
"""Answers with more rows are not folded: nobody reads so many, and comparing them takes memory and time."""


def wants_folding(flags: Mapping[str, object], setting: str) -> bool | None:
    """Return whether equal cells are shown once; None means that it depends on where the answer goes.

    Args:
        flags: the statement's flags; ``--fold`` and ``--no-fold`` have priority over the setting.
        setting: one of :data:`exacell.core.formats.FOLDING`.

    Raises:
        StatementError: both flags.
    """
    if flags.get("fold") and flags.get("no-fold"):
        raise StatementError("--fold and --no-fold exclude each other: give one of them")
    if flags.get("fold") or flags.get("no-fold"):
        return bool(flags.get("fold"))
    return None if setting == "auto" else setting == "on"


def each_cell_apart(result: Result) -> Result:
    """Return a result whose table form has one row for each cell and object, with every name written out."""
    if result.apart is not None:
        return replace(result, fold=False, draw=result.apart, text="")
    return replace(result, fold=False, draw=None) if result.fold else result


def too_many_to_fold(result: Result) -> str:
    """Return why a result is not folded; empty if it can be."""
    if not result.fold or len(result.records) <= MOST_FOLDED:
        return ""
    return f"{len(result.records):,} rows: answers with more than {MOST_FOLDED:,} rows are not folded, each cell has its own rows"
