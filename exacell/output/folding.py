"""Show equal cells once: answers that differ only in the cell's own name are one answer; and when they are
shown apart.

A cell's name inside a value (``DATA_CD_00_exa1cel01``) is masked as ``{cell}`` before values are compared, and stays
masked where several cells are shown together. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from functools import cache
from typing import Any, NamedTuple

from exacell.cellcli.fold import OWN_NAME, OWN_UPPER, label_of
from exacell.core.cellset import fold, natural_key
from exacell.core.errors import StatementError
from exacell.core.values import dataclass, replace
from exacell.output.result import Result

Record = Mapping[str, Any]

MASK = OWN_NAME
"""What stands for the cell's own name in a folded answer."""


class FoldedRecord(NamedTuple):
    """One record for all the cells that have it. A tuple, because an answer has thousands of them.

    Attributes:
        cells: in natural order; empty for a rack's own record.
        record: without ``cell``; values masked when there is more than one cell.
        odd: not every cell of the answer has it.
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
    # It begins with the name, so that the search skips to where that stands.
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


def unmasked(text: str, cell: str) -> str:
    """Return ``text`` as it is about this cell alone."""
    return text.replace(MASK, cell).replace(OWN_UPPER, label_of(cell).upper())


def mask_value(value: Any, cell: str) -> Any:
    """Return ``value`` with the cell's name masked, inside sequences too; hashable whenever its parts are."""
    if isinstance(value, str):
        return masker(cell)(value) if value else value
    if isinstance(value, (list, tuple)):
        return tuple(mask_value(part, cell) for part in value)
    return value


def fold_records(records: Sequence[Record], *, ignore: Iterable[str] = ()) -> list[FoldedRecord]:
    """Return ``records`` with those of equal cells shown once, in the order in which a reader expects them.

    Args:
        ignore: attributes that are left out of the comparison and of the answer.

    A record that only some cells have follows the one that it follows on its own cell, so that the odd disk stands
    beside its siblings. Records without a cell stay as they are.
    """
    ignored = frozenset(ignore)
    cells = sorted({str(r["cell"]) for r in records if r.get("cell") is not None}, key=natural_key)
    by_cell: dict[str | None, list[Record]] = {}
    for record in records:
        cell = record.get("cell")
        by_cell.setdefault(None if cell is None else str(cell), []).append(record)
    chain = _Chain()
    numbers: dict[object, int] = {}  # Contents are compared once; from there on numbers are.
    for cell in cells:
        entries = _keyed(by_cell[cell], cell, ignored)
        keys = [numbers.setdefault(content, len(numbers) + 1) for content, _ in entries]
        own, previous = set(keys), 0
        for key, (_, plain) in zip(keys, entries, strict=True):
            chain.add(key, previous, own, cell, plain)
            previous = key
    folded = [
        FoldedRecord(tuple(who), _masked(plain, who[0]) if len(who) > 1 else plain, len(who) < len(cells))
        for who, plain in chain.entries()
    ]
    rack = [
        FoldedRecord(cells=(), record={k: v for k, v in r.items() if k != "cell" and k not in ignored}, odd=False)
        for r in by_cell.get(None, ())
    ]
    return folded + rack


_BETWEEN = "\0"
"""Stands between the values of a record that are compared as one text; no value has it, or it is compared otherwise."""


def _keyed(records: Sequence[Record], cell: str, ignored: frozenset[str]) -> list[tuple[object, dict[str, Any]]]:
    """Return for each record of one cell what it is compared by, and its attributes."""
    seen: dict[object, int] = {}
    found: list[tuple[object, dict[str, Any]]] = []
    mask = masker(cell)
    left_out = tuple(ignored)
    for record in records:
        plain = dict(record)
        plain.pop("cell", None)
        for name in left_out:
            plain.pop(name, None)
        content: object
        try:
            # One text of all values is compared, hashed and searched at once: thousands of records come here.
            text = _BETWEEN.join(plain.values())
        except TypeError:
            # repr tells True from 1 and takes what has no hash.
            content = repr(_masked(plain, cell))
        else:
            if text.count(_BETWEEN) >= len(plain) > 0:
                content = tuple(_masked(plain, cell).items())
            else:
                content = (mask(text), *plain)
        # A cell may list the same record twice; its second copy only equals another cell's second copy.
        copies = seen[content] = seen.get(content, 0) + 1
        found.append((content if copies == 1 else (content, copies), plain))
    return found


def _masked(record: dict[str, Any], cell: str) -> dict[str, Any]:
    return {name: mask_value(value, cell) for name, value in record.items()}


class _Chain:
    """An ordered set of numbers into which the records of one cell after the other are merged; 0 is its beginning."""

    def __init__(self) -> None:
        self._entry: dict[int, tuple[list[str], dict[str, Any]]] = {}
        self._next: dict[int, int] = {0: 0}

    def add(self, key: int, after: int, own: Set[int], cell: str, plain: dict[str, Any]) -> None:
        """Add a record of ``cell`` that follows ``after`` there, before the next one that the cell has too (``own``)."""
        if key in self._entry:
            self._entry[key][0].append(cell)
            return
        place, following = after, self._next[after]
        while following and following not in own:
            place, following = following, self._next[following]
        self._entry[key] = ([cell], plain)
        self._next[key] = following
        self._next[place] = key

    def entries(self) -> Iterable[tuple[list[str], dict[str, Any]]]:
        key = self._next[0]
        while key:
            yield self._entry[key]
            key = self._next[key]


def fold_texts(texts: Sequence[tuple[str, str]]) -> list[FoldedText]:
    """Return (cell, text) pairs with equal texts shown once: what most cells printed first, the odd ones after it.

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
"""Problems up to which each has a line of its own."""

_ADDRESS = re.compile(r"\d+\.\d+\.\d+\.\d+(?: port \d+)?")


def fold_problems(problems: Sequence[tuple[str, str]]) -> list[tuple[tuple[str, ...], str]]:
    """Return (cell, problem) pairs with the same problem told once: cells in natural order, and what is wrong with them.

    A cell's name and its address do not tell problems apart; where several cells share one they are masked.
    """
    groups: dict[str, list[tuple[str, str]]] = {}
    for cell, text in problems:
        groups.setdefault(_ADDRESS.sub("{address}", masker(cell)(text)), []).append((cell, text))
    return [
        (
            tuple(sorted(dict.fromkeys(cell for cell, _ in members), key=natural_key)),
            masked if len(members) > 1 else members[0][1],
        )
        for masked, members in groups.items()
    ]


def brief_problems(lines: Sequence[str]) -> list[str]:
    """Return ``cell: problem`` lines with the cells of the same problem in one, where there are more than three lines.

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
        return list(lines)  # What stands first is no cell's name.
    return [*(f"{fold(cells)}: {text}" for cells, text in fold_problems(pairs)), *told]


MOST_FOLDED = 100_000
"""Rows of an answer above which nothing is folded: nobody reads so many, and comparing them takes memory and time."""


def wants_folding(flags: Mapping[str, object], setting: str) -> bool | None:
    """Return whether equal cells are to be shown once; None leaves it to where the answer goes.

    Args:
        flags: of the statement; ``--fold`` and ``--no-fold`` win over the setting.
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
    """Return why nothing of a result is folded; empty where nothing speaks against it."""
    if not result.fold or len(result.records) <= MOST_FOLDED:
        return ""
    return f"{len(result.records):,} rows: above {MOST_FOLDED:,} cells are not folded, each has its own rows"
