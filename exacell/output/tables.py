"""The column writer for eyes: aligned, folded, and fast for thousands of rows. Pure: records in, lines out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from exacell.cellset import fold
from exacell.output.folding import FoldedRecord, fold_records
from exacell.output.formats import flat, keys_of
from exacell.output.result import Column
from exacell.output.style import paint, printable
from exacell.units import format_size, human_size

Record = Mapping[str, Any]

_EXACT_SIZE = 10
"""Characters up to which a size is shown exactly, as CellCLI prints it; longer ones are rounded."""

_RIGHT = frozenset(("size", "number", "percent"))


def size_text(size_bytes: int | float) -> str:
    """Return a size for eyes: exactly as CellCLI prints it when that is short (``364.75G``), else rounded."""
    exact = format_size(int(size_bytes)) if float(size_bytes).is_integer() else ""
    return exact if exact and len(exact) <= _EXACT_SIZE else human_size(size_bytes)


def number_text(value: int | float) -> str:
    """Return a number for eyes: thousands separated, at most three decimals, six digits for small ones."""
    if isinstance(value, int):
        return f"{value:,}"
    if value != value or value in (float("inf"), float("-inf")):
        return "-"
    if value and abs(value) < 0.001:
        return f"{value:.3g}"
    text = f"{value:,.3f}".rstrip("0").rstrip(".")
    return text if text not in ("-0", "") else "0"


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def value_text(value: Any, kind: str = "text") -> str:
    """Return one value for eyes, on one line; ``-`` for an absent one."""
    if value is None or value == "" or value == ():
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if _is_number(value):
        if kind == "size":
            return size_text(value)
        if kind == "percent":
            return f"{value:.1f}%"
        return number_text(value) if kind == "number" else flat(value)
    text = flat(value)
    if "\n" in text or "\t" in text:
        text = " ".join(text.split())
    return text if text.isprintable() else printable(text)


def columns_of(records: Sequence[Record], columns: Sequence[Column] = ()) -> list[Column]:
    """Return the columns to show besides ``cell``: those given, else all keys, whose kind is told by their values."""
    if columns:
        return [column for column in columns if column.name != "cell"]
    chosen = []
    for key in keys_of(records):
        if key != "cell":
            values = [record.get(key) for record in records if record.get(key) is not None]
            chosen.append(Column(key, "number" if values and all(_is_number(v) for v in values) else "text"))
    return chosen


def table_lines(
    records: Sequence[Record],
    columns: Sequence[Column] = (),
    *,
    folded: bool = False,
    width: int | None = None,
    color: bool = False,
    header: bool = True,
) -> Iterator[str]:
    """Yield the lines of a table.

    Args:
        folded: show equal cells once, the odd ones marked.
        width: columns of the terminal; a table that is wider is shown one attribute a line. None: never.
        color: mark titles and odd cells with colour.
        header: whether the two title lines are wanted.
    """
    shown = columns_of(records, columns)
    rows = fold_records(records) if folded else [_alone(record) for record in records]
    if not rows:
        return
    grid = [[value_text(row.record.get(column.name), column.kind) for row in rows] for column in shown]
    titles = [column.title or column.name for column in shown]
    right = [column.kind in _RIGHT for column in shown]
    if any(row.cells for row in rows):
        names: dict[tuple[str, ...], str] = {(): "-"}
        for row in rows:
            if row.cells not in names:
                names[row.cells] = fold(row.cells)
        grid.insert(0, [names[row.cells] for row in rows])
        titles.insert(0, "cell")
        right.insert(0, False)
    if not grid:
        return
    widths = [max(len(title), max(map(len, texts))) for title, texts in zip(titles, grid, strict=True)]
    if width is not None and sum(widths) + 2 * (len(widths) - 1) > width:
        yield from _vertical(rows, titles, grid, color=color)
        return
    last = len(widths) - 1
    align: list[Callable[[str], str]] = [
        _aligner(size, to_right=flag, last=index == last)
        for index, (size, flag) in enumerate(zip(widths, right, strict=True))
    ]
    if header:
        yield paint("  ".join(put(title) for put, title in zip(align, titles, strict=True)), "title", color=color)
        yield "  ".join("-" * size for size in widths)
    # Where hardly two cells agree, as in metrics, marking every row would mark nothing.
    mark = color and sum(row.odd for row in rows) * 2 <= len(rows)
    padded = [[put(text) for text in texts] for put, texts in zip(align, grid, strict=True)]
    for row, parts in zip(rows, zip(*padded, strict=True), strict=True):
        line = "  ".join(parts)
        yield paint(line, "odd", color=True) if mark and row.odd else line


def _alone(record: Record) -> FoldedRecord:
    cell = record.get("cell")
    return FoldedRecord(cells=() if cell is None else (str(cell),), record=record, odd=False)


def _aligner(size: int, *, to_right: bool, last: bool) -> Callable[[str], str]:
    if to_right:
        return lambda text: text.rjust(size)
    if last:
        return lambda text: text
    return lambda text: text.ljust(size)


def _vertical(
    rows: Sequence[FoldedRecord], titles: Sequence[str], grid: Sequence[Sequence[str]], *, color: bool
) -> Iterator[str]:
    label = max(len(title) for title in titles) + 1
    for index, row in enumerate(rows):
        if index:
            yield ""
        for title, texts in zip(titles, grid, strict=True):
            line = f"{(title + ':').ljust(label)} {texts[index]}"
            yield paint(line, "odd", color=color) if row.odd and title == "cell" else line
