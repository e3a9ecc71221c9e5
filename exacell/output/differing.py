"""Show only differences: the attributes in which cells do not agree, side by side. Pure.

Values are compared without the cell's own name and without the order of lists. Attributes that always differ between cells, or
change by themselves, are left out, and a line names them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from exacell.cellcli.fold import KEYS, VOLATILE, for_cell
from exacell.core.cellset import fold, natural_key
from exacell.core.values import dataclass, replace
from exacell.output.folding import mask_value
from exacell.output.result import Record, Result
from exacell.output.style import paint, paint_within
from exacell.output.tables import GAP, padded_column, texts_of, turned_lines

ABSENT = "(none)"


@dataclass(frozen=True, kw_only=True)
class Differing:
    """One attribute of one record that differs between cells.

    Attributes:
        name: the record's name, with the cell's own name as ``{cell}``.
        values: cell → the value it printed; None if it has no such record or attribute.
        usual: the value that most cells have; None if no value is the most frequent.
        odd: the cells without the usual value; all cells if there is none.
    """

    name: str
    attribute: str
    values: Mapping[str, Any]
    usual: Any
    odd: tuple[str, ...]


def differences(records: Sequence[Record], *, volatile: Iterable[str] = VOLATILE) -> tuple[list[Differing], list[str]]:
    """Return the differences between cells, and the names of the attributes that were left out."""
    ignored = frozenset(volatile)
    cells = sorted({str(r["cell"]) for r in records if r.get("cell") is not None}, key=natural_key)
    tables: dict[str, dict[str, Record]] = {cell: {} for cell in cells}
    order: dict[str, None] = {}
    left_out: dict[str, None] = {}
    for record in records:
        if record.get("cell") is None:
            continue
        cell = str(record["cell"])
        left_out |= dict.fromkeys(name for name in record if name in ignored)
        key = record_key(record, cell)
        while key in tables[cell]:
            key += "'"  # A second record of the same name is compared with the second one of another cell.
        tables[cell][key] = record
        order.setdefault(key)
    found = []
    for key in order:
        rows = {cell: tables[cell].get(key) for cell in cells}
        names = dict.fromkeys(n for row in rows.values() if row for n in row if n != "cell" and n not in ignored)
        present = {cell: ("(there)" if row is not None else None) for cell, row in rows.items()}
        if None in present.values():
            found.append(_differing(key, "", present))
            rows = {cell: row for cell, row in rows.items() if row is not None}
        for name in names:
            values = {cell: row.get(name) if row is not None else None for cell, row in rows.items()}
            item = _differing(key, name, values)
            if item.odd:
                found.append(item)
    return found, list(left_out)


def record_key(record: Record, cell: str) -> str:
    """Return the key that finds a record of ``cell`` on other cells and at other times: its names, the cell's name masked."""
    parts = [str(mask_value(record[name], cell)) for name in KEYS if record.get(name)]
    return " ".join(dict.fromkeys(parts))


def _comparable(value: Any, cell: str) -> object:
    masked = mask_value(value, cell)
    if isinstance(masked, str) and "," in masked:
        return ",".join(sorted(part.strip() for part in masked.split(",")))
    return repr(sorted(map(str, masked))) if isinstance(masked, tuple) else repr(masked)


def _differing(key: str, attribute: str, values: Mapping[str, Any]) -> Differing:
    neutral = {cell: _comparable(value, cell) for cell, value in values.items()}
    ranked = Counter(neutral.values()).most_common(2)
    clear = len(ranked) == 1 or ranked[0][1] > ranked[1][1]
    usual = ranked[0][0] if clear else object()
    odd = tuple(cell for cell, value in neutral.items() if value != usual)
    agreed = [cell for cell in values if cell not in odd]
    return Differing(
        name=key,
        attribute=attribute,
        values=values,
        usual=mask_value(values[agreed[0]], agreed[0]) if agreed else None,
        odd=odd,
    )


def difference_of(result: Result) -> Result:
    """Return a result with only the differences between the cells of ``result``.

    It has one record for each cell whose value is not the usual one: ``cell name attribute value usual``, each with that cell's
    own names; an empty ``attribute`` means that the whole record is missing there, or missing on most cells.
    """
    cells = {str(r["cell"]) for r in result.records if r.get("cell") is not None}
    found, left_out = differences(result.records)
    records = [
        {
            "cell": cell,
            "name": for_cell(item.name, cell) or None,
            "attribute": item.attribute or None,
            "value": item.values[cell],
            "usual": _own(item.usual, cell),
        }
        for item in found
        for cell in item.odd
    ]
    notes = list(result.notes)
    if len(cells) < 2:
        notes.append(f"--diff compares cells, and {'only one' if cells else 'none'} gave records")
    elif not found:
        notes.append(f"{fold(cells)}: no difference")
    if left_out and len(cells) > 1:
        notes.append(f"left out, because different on every cell: {', '.join(left_out)}")

    def draw(width: int | None, color: bool, header: bool) -> Iterator[str]:
        return difference_lines(found, width=width, color=color, header=header)

    return replace(
        result, records=records, columns=(), text="", raw=(), fold=True, data=False, notes=notes, draw=draw, apart=None
    )


def _own(value: Any, cell: str) -> Any:
    """Return a masked value with the name of ``cell`` in it."""
    if isinstance(value, str):
        return for_cell(value, cell)
    return tuple(_own(part, cell) for part in value) if isinstance(value, tuple) else value


def difference_lines(
    found: Sequence[Differing], *, width: int | None = None, color: bool = False, header: bool = True
) -> Iterator[str]:
    """Yield a table with one line per attribute and one column for each group of cells that agree in all of them, the
    largest first; unusual values are highlighted."""
    if not found:
        return
    groups = _groups(found)
    grid = [texts_of([item.name for item in found]), [item.attribute or "(record)" for item in found]]
    marks = [[False] * len(found), [False] * len(found)]
    for members in groups:
        grid.append([_shown(item, members) for item in found])
        marks.append([members[0] in item.odd for item in found])
    titles = ["name", "attribute", *(fold(members) for members in groups)]
    if all(not item.name for item in found):
        grid, marks, titles = grid[1:], marks[1:], titles[1:]
    padded = [padded_column(title, texts, to_right=False) for title, texts in zip(titles, grid, strict=True)]
    if width is not None and sum(size for _, size in padded) + len(GAP) * (len(padded) - 1) > width:
        yield from turned_lines(titles, grid, [False] * len(found), width=width, color=color)
        return
    if header:
        yield paint(GAP.join(texts[0] for texts, _ in padded).rstrip(), "title", color=color)
        yield GAP.join("-" * size for _, size in padded)
    for index in range(len(found)):
        parts = [
            paint_within(texts[index + 1], "odd", color=color and flags[index])
            for (texts, _), flags in zip(padded, marks, strict=True)
        ]
        yield GAP.join(parts).rstrip()


def _groups(found: Sequence[Differing]) -> list[tuple[str, ...]]:
    """Return the cells in groups with equal values in all attributes, the largest group first."""
    cells = dict.fromkeys(cell for item in found for cell in item.values)
    alike: dict[tuple[object, ...], list[str]] = {}
    for cell in cells:
        answer = tuple(_comparable(item.values[cell], cell) if cell in item.values else ABSENT for item in found)
        alike.setdefault(answer, []).append(cell)
    groups = sorted(alike.values(), key=len, reverse=True)
    return [tuple(sorted(members, key=natural_key)) for members in groups]


def _shown(item: Differing, members: tuple[str, ...]) -> str:
    if members[0] not in item.values:
        return "-"
    value = item.values[members[0]]
    if value is None:
        return ABSENT
    return texts_of([mask_value(value, members[0]) if len(members) > 1 else value])[0]
