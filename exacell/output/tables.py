"""The column writer for eyes: aligned, folded, and fast for thousands of rows. Pure: records in, lines out."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
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

_GAP = 2
"""Blanks between two columns."""

_TURNED = 20
"""Records up to which a table that is too wide is turned; a longer list stays one line a record."""

RIGHT = frozenset(("size", "number", "percent"))
"""Kinds of columns whose values stand right."""


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
        width: columns of the terminal; a short table that is wider is turned, so that each record is a column, and
            where that does not fit either it is shown one attribute a line. None: never.
        color: mark titles and odd cells with colour.
        header: whether the two title lines are wanted.
    """
    shown = columns_of(records, columns)
    rows = fold_records(records) if folded else [_alone(record) for record in records]
    if not rows:
        return
    grid = [texts_of([row.record.get(column.name) for row in rows], column.kind) for column in shown]
    titles = [column.title or column.name for column in shown]
    right = [column.kind in RIGHT for column in shown]
    if any(row.cells for row in rows):
        names: dict[tuple[str, ...], str] = {(): ""}
        for row in rows:
            if row.cells not in names:
                names[row.cells] = fold(row.cells)
        grid.insert(0, [names[row.cells] or _whose(row.record) for row in rows])
        titles.insert(0, "cell")
        right.insert(0, False)
    if not grid:
        return
    # Where hardly two cells agree, as in metrics, marking every row would mark nothing.
    mark = color and sum(row.odd for row in rows) * 2 <= len(rows)
    aligned, widths, forms = [], [], []
    for title, texts, to_right in zip(titles, grid, right, strict=True):
        column_texts, size, form = aligned_column(title, texts, to_right=to_right)
        aligned.append(column_texts)
        widths.append(size)
        forms.append(form)
    if width is not None and sum(widths) + _GAP * (len(widths) - 1) > width and len(rows) <= _TURNED:
        odd = [mark and row.odd for row in rows]
        yield from turned_lines(titles, grid, odd, width=width, color=color)
        return
    if header:
        yield paint((" " * _GAP).join(forms).__mod__(tuple(titles)).rstrip(), "title", color=color)
        yield "  ".join("-" * size for size in widths)
    # One formatting a row, not one a value: thousands of rows come here.
    line_of = (" " * _GAP).join(forms).__mod__
    for row, parts in zip(rows, zip(*aligned, strict=True), strict=True):
        line = line_of(parts).rstrip()
        yield paint(line, "odd", color=True) if mark and row.odd else line


def texts_of(values: Sequence[Any], kind: str = "text") -> list[str]:
    """Return the values of one column for eyes."""
    return [
        value if type(value) is str and value and value.isprintable() else value_text(value, kind) for value in values
    ]


def _whose(record: Record) -> str:
    """Return what stands for the cell of a record that is no cell's: the rack, unless a database node is named."""
    return "-" if "node" in record else "rack"


def padded_column(title: str, texts: Sequence[str], *, to_right: bool) -> tuple[list[str], int]:
    """Return a column's title and texts, all of one width, and that width; see :func:`aligned_column`."""
    texts, size, form = aligned_column(title, texts, to_right=to_right)
    return [form % text for text in (title, *texts)], size


def aligned_column(title: str, texts: Sequence[str], *, to_right: bool) -> tuple[Sequence[str], int, str]:
    """Return a column's texts, its width, and the ``%`` form that gives the title and each text that width.

    Numbers stand right. Where every text is a number with a unit, as CellCLI prints metric values and sizes, the
    numbers end in one column of characters and the units begin in one.
    """
    if not to_right and (parted := _quantities(texts)):
        number_size = max(len(number) for number, _ in parted)
        texts = [f"{number:>{number_size}}{unit}" for number, unit in parted]
        if not any(unit.startswith(" ") for _, unit in parted):
            to_right, texts = True, [text.strip() for text in texts]
    size = max(len(title), max(map(len, texts), default=0))
    return texts, size, f"%{size}s" if to_right else f"%-{size}s"


_QUANTITIES = re.compile(r"(-?\d[\d,]*(?:\.\d+)?|-)((?<!-)(?:[KMGT]| [A-Za-z%/][A-Za-z%/ ]*)|)\n")
"""Quantities, or ``-`` for an absent one, one a line: all of a column are looked at in one search."""


def _quantities(texts: Sequence[str]) -> list[tuple[str, str]]:
    """Return number and unit of each text, the unit with the blank before it; nothing when one of them is neither a
    quantity nor absent, or when none is there."""
    if not texts or _QUANTITIES.match(f"{texts[0]}\n") is None:
        return []
    found = _QUANTITIES.findall("".join([f"{text}\n" for text in texts]))
    if len(found) != len(texts) or any(
        number + unit != text for (number, unit), text in zip(found, texts, strict=True)
    ):
        return []
    return found if any(number != "-" for number, _ in found) else []


def _alone(record: Record) -> FoldedRecord:
    cell = record.get("cell")
    return FoldedRecord(cells=() if cell is None else (str(cell),), record=record, odd=False)


def turned_lines(
    titles: Sequence[str], grid: Sequence[Sequence[str]], odd: Sequence[bool], *, width: int, color: bool
) -> Iterator[str]:
    """Yield a table that is too wide: its records as columns where they fit, else a block of lines for each.

    Args:
        grid: texts by column, then by row.
        odd: by row, whether it is marked.
    """
    label = max(len(title) for title in titles)
    sizes = [max(len(texts[row]) for texts in grid) for row in range(len(grid[0]))]
    if len(sizes) > 1 and label + sum(_GAP + size for size in sizes) <= width:
        for index, (title, texts) in enumerate(zip(titles, grid, strict=True)):
            parts = [
                paint(text.ljust(size), "odd" if is_odd else "title", color=color and (is_odd or not index))
                for text, size, is_odd in zip(texts, sizes, odd, strict=True)
            ]
            yield "  ".join((paint(title.ljust(label), "title", color=color), *parts)).rstrip()
            if not index:
                yield "  ".join("-" * size for size in (label, *sizes))
        return
    for row in range(len(sizes)):
        if row:
            yield ""
        for title, texts in zip(titles, grid, strict=True):
            line = f"{(title + ':').ljust(label + 1)} {texts[row]}"
            yield paint(line, "odd", color=color) if odd[row] and title == "cell" else line
