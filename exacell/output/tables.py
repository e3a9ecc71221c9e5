"""Write tables for people: aligned, folded, and fast for thousands of rows. Pure: records in, lines out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any

from exacell.cellcli.rows import Rows
from exacell.core.cellset import fold
from exacell.core.patterns import pattern
from exacell.core.units import MIB, human_size, size_text
from exacell.core.values import dataclass, replace
from exacell.output.folding import Body, FoldedRecord, body_of, fold_records
from exacell.output.formats import flat, keys_of
from exacell.output.result import Column
from exacell.output.style import hung, paint, paint_around, paint_within, printable

if TYPE_CHECKING:
    from typing import TypedDict, Unpack

    class Look(TypedDict, total=False):
        """The optional arguments of :func:`table_blocks`."""

        folded: bool
        width: int | None
        color: bool
        header: bool


Record = Mapping[str, Any]

GAP = "  "
"""The text between two columns."""

_TURNED = 20
"""A table of up to so many records that is too wide is turned; a longer one stays at one line per record."""

_SEVERAL = 3
"""From so many records on, a table that is too wide keeps its titles on top."""

_MOST_LINES = 3
"""The most lines of a record below such titles; a record with more is easier to read as a block."""

_INDENT = " " * 4
"""The text before a record's further lines."""

_LEAST = 16
"""The least width of a column of sentences; with less room the table is turned like any other."""

_AT_ONCE = 1024
"""How many rows are formatted in one piece."""

TROUBLE = {
    **dict.fromkeys(
        ("critical", "failed", "failure", "offline", "not present", "stopped", "unhealthy", "down", "dropped", "poor performance",
         "predictive failure", "proactive failure", "peer failure", "dropping", "broken"),
        "error",
    ),
    **dict.fromkeys(("warning", "degraded", "inactive", "syncing", "unconfigured", "flushing", "normal - flushed"), "warning"),
}  # fmt: skip
"""Values that are coloured: the words of CellCLI and ASM for something that is not well."""

CELLS = "cells"
"""The kind of a column of cell names with commas between them; the names are folded if equal cells are."""

PROSE = "prose"
"""The kind of a column of sentences; they are wrapped within the column if the table is too wide."""

RIGHT = frozenset(("size", "mib", "number", "percent"))
"""Kinds of columns whose values are aligned right."""


def number_text(value: int | float) -> str:
    """Return a number as text: thousands separated, at most three decimals, small numbers with three digits."""
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
    """Return one value as text on one line; ``-`` for an absent one."""
    if value is None or value == "" or value == ():
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if _is_number(value):
        if kind == "size":
            return size_text(value)
        if kind == "mib":
            return human_size(value * MIB)
        if kind == "percent":
            return f"{value:.1f}%"
        return number_text(value) if kind == "number" else flat(value)
    text = flat(value)
    if "\n" in text or "\t" in text:
        text = " ".join(text.split())
    return text if text.isprintable() else printable(text)


def columns_of(records: Sequence[Record], columns: Sequence[Column] = ()) -> list[Column]:
    """Return the columns to show besides ``cell``: those given, else all keys, with kinds found from their values."""
    if columns:
        return [column for column in columns if column.name != "cell"]
    if isinstance(records, Rows):
        return [Column(name) for name in records.names]
    chosen = []
    for key in keys_of(records):
        if key != "cell":
            values = [record.get(key) for record in records if record.get(key) is not None]
            chosen.append(Column(key, "number" if values and all(_is_number(v) for v in values) else "text"))
    return chosen


def table_lines(records: Sequence[Record], columns: Sequence[Column] = (), **look: Unpack[Look]) -> Iterator[str]:
    """Yield the lines of a table; see :func:`table_blocks`."""
    return chain.from_iterable(block.split("\n") for block in table_blocks(records, columns, **look))


def table_blocks(
    records: Sequence[Record],
    columns: Sequence[Column] = (),
    *,
    folded: bool = False,
    width: int | None = None,
    color: bool = False,
    header: bool = True,
) -> Iterator[str]:
    """Yield the lines of a table, many of them at a time.

    Args:
        folded: whether equal cells are shown once, and the odd ones marked.
        width: columns of the terminal. A short table that is wider has its column of sentences wrapped; a table without such a
            column is turned, so that each record is a column, and if that does not fit either, each attribute gets its own
            line. None: the table keeps its width.
        color: whether titles and odd cells are coloured.
        header: whether the two title lines are wanted.
    """
    shown = columns_of(records, columns)
    body = body_of(records, folded=folded) if isinstance(records, Rows) else None
    if body is None:
        body, whose = _body_of(records, shown, folded=folded)
    else:
        whose = []
    cells, count = body.cells, len(body.cells)
    if not count:
        return
    absent = [None] * count
    grid = [
        texts_of(body.columns.get(column.name, absent), "text" if column.kind == CELLS and not folded else column.kind)
        for column in shown
    ]
    titles = [column.title or column.name for column in shown]
    right = [column.kind in RIGHT for column in shown]
    if names := _names(cells, whose):
        grid.insert(0, names)
        titles.insert(0, next((column.title for column in columns if column.name == "cell" and column.title), "cell"))
        right.insert(0, False)
    if not grid:
        return
    # If hardly two cells agree, as with metrics, marks on every row would mean nothing.
    mark = color and sum(body.odd) * 2 <= count
    aligned = [aligned_column(title, texts, to_right=to) for title, texts, to in zip(titles, grid, right, strict=True)]
    kinds = [*[""] * (len(grid) - len(shown)), *(column.kind for column in shown)]
    if width is not None and _width(aligned) > width:
        told = [place for place, texts in enumerate(grid) if any(text != "-" for text in texts)]
        if told and _width([aligned[place] for place in told]) <= width:
            # On a narrow terminal, columns in which no record has a value are left out.
            titles, grid = [titles[place] for place in told], [grid[place] for place in told]
            kinds, aligned = [kinds[place] for place in told], [aligned[place] for place in told]
    if width is not None and _width(aligned) > width and count <= _TURNED:
        if PROSE in kinds:
            prose = kinds.index(PROSE)
            ready = _ready(aligned, color=color)
            if found := prose_lines(ready, prose, grid[prose], width=width, color=color, header=header):
                yield "\n".join(found)
                return
        odd = [mark and one for one in body.odd]
        yield "\n".join(turned_lines(titles, grid, odd, width=width, color=color))
        return
    if header:
        title = GAP.join(column.title for column in aligned)
        yield paint(title.rstrip(), "title", color=color)
        yield GAP.join("-" * column.size for column in aligned)
    aligned = _ready(aligned, color=color)
    form = GAP.join(column.form for column in aligned)
    fields = [field for column in aligned for field in column.fields]
    odd_rows = [place for place, odd in enumerate(body.odd) if odd] if mark else []
    yield from _blocks(form, fields, odd_rows)


def _width(columns: Sequence[Aligned]) -> int:
    return sum(column.size for column in columns) + len(GAP) * (len(columns) - 1)


def _names(cells: Sequence[tuple[str, ...]], whose: Sequence[str]) -> list[str]:
    """Return each row's cells, folded, or the owner of a row without a cell; empty if no row has a cell."""
    names = {each: fold(each) for each in set(cells)}
    if not any(names.values()):
        return []
    if all(names.values()):
        return [names[each] for each in cells]
    return [names[each] or place for each, place in zip(cells, whose, strict=True)]


def _ready(aligned: list[Aligned], *, color: bool) -> list[Aligned]:
    return [_with_trouble(column) for column in aligned] if color else aligned


def _with_trouble(column: Aligned) -> Aligned:
    """Return a column with its words for trouble coloured; the alignment stays."""
    texts = column.fields[0]
    found = {text: meaning for text in set(texts) if (meaning := TROUBLE.get(text.lower()))}
    if not found or len(column.fields) > 1:
        return column
    shown = {text: column.form % text for text in set(texts)}
    shown |= {text: paint_within(shown[text], meaning, color=True) for text, meaning in found.items()}
    return replace(column, form="%s", fields=([shown[text] for text in texts],))


def _blocks(form: str, fields: Sequence[Sequence[str]], odd: Sequence[int]) -> Iterator[str]:
    """Yield rows as blocks, many formatted at once; rows whose numbers are in ``odd`` are coloured."""
    marked = frozenset(odd)
    for start in range(0, len(fields[0]), _AT_ONCE):
        part = list(zip(*[field[start : start + _AT_ONCE] for field in fields], strict=True))
        block = ((form + "\n") * len(part))[:-1] % tuple(chain.from_iterable(part))
        if " \n" in block or block.endswith(" "):
            block = "\n".join([line.rstrip() for line in block.split("\n")])
        if marked:
            rows = enumerate(block.split("\n"), start)
            block = "\n".join(
                [paint_around(row, "odd", color=True) if number in marked else row for number, row in rows]
            )
        yield block


def _body_of(records: Sequence[Record], shown: Sequence[Column], *, folded: bool) -> tuple[Body, list[str]]:
    """Return the rows of a table of any records, and by row the text for a missing cell."""
    rows = fold_records(records) if folded else [_alone(record) for record in records]
    columns = {column.name: [row.record.get(column.name) for row in rows] for column in shown}
    # A record without a cell belongs to the rack, unless it names a database node.
    whose = ["-" if "node" in row.record else "rack" for row in rows]
    return Body([row.cells for row in rows], [row.odd for row in rows], columns), whose


def texts_of(values: Sequence[Any], kind: str = "text") -> list[str]:
    """Return the values of one column as texts."""
    if kind == CELLS:
        values = [fold(value.split(",")) if isinstance(value, str) and value else value for value in values]
    if set(map(type, values)) == {str} and all(values) and "".join(values).isprintable():
        return list(values)
    return [
        value if type(value) is str and value and value.isprintable() else value_text(value, kind) for value in values
    ]


@dataclass(frozen=True)
class Aligned:
    """A column ready to be written.

    Attributes:
        title: padded to the width of the column.
        form: the ``%`` form of one row, which takes one text from each of ``fields``.
    """

    title: str
    size: int
    form: str
    fields: Sequence[Sequence[str]]


def padded_column(title: str, texts: Sequence[str], *, to_right: bool) -> tuple[list[str], int]:
    """Return a column's title and texts, all of one width, and that width; see :func:`aligned_column`."""
    aligned = aligned_column(title, texts, to_right=to_right)
    return [aligned.title, *map(aligned.form.__mod__, zip(*aligned.fields, strict=True))], aligned.size


def aligned_column(title: str, texts: Sequence[str], *, to_right: bool) -> Aligned:
    """Return a column with the title and each text padded to one width.

    Numbers are aligned right. If every text is a number with a unit, as in CellCLI's metric values and sizes, the
    numbers are aligned right and the units left.
    """
    if not to_right and (parted := quantities(texts)):
        numbers, units = parted
        number_size, unit_size = max(map(len, numbers)), max(map(len, units))
        if unit_size:
            size = max(len(title), number_size + 1 + unit_size)
            return Aligned(f"{title:<{size}}", size, f"%{number_size}s %-{size - number_size - 1}s", parted)
        to_right = True
    size = max(len(title), max(map(len, texts), default=0))
    sign = ">" if to_right else "<"
    return Aligned(f"{title:{sign}{size}}", size, f"%{size}s" if to_right else f"%-{size}s", (texts,))


_NUMBER = r"(?:-?\d[\d,]*(?:\.\d+)?)"
_NUMBERS = pattern(rf"(?:{_NUMBER}\n)+")
_UNIT = pattern(r"[A-Za-z%/][A-Za-z%/ ]*")
_QUANTITIES = pattern(rf"({_NUMBER}(?:[KMGT](?=\n))?|-(?=\n))(?: ({_UNIT.pattern}))?\n")
"""Quantities, or ``-`` for an absent one, one per line: one search checks a whole column."""


def quantities(texts: Sequence[str]) -> tuple[Sequence[str], Sequence[str]] | None:
    """Return the number and the unit of each text; None if one of them is neither a quantity nor absent, or if all are
    absent. A letter directly after a number belongs to the number."""
    if not texts or _QUANTITIES.match(f"{texts[0]}\n") is None:
        return None
    # Nearly always each text has one digit before a blank, and the unit after it.
    joined = "\n".join(texts)
    for digit in "0123456789":
        joined = joined.replace(f"{digit} ", f"{digit}\0")
    if joined.count("\0") == len(texts):
        parts = joined.replace("\n", "\0").split("\0")
        numbers, units = parts[::2], parts[1::2]
        if len(numbers) == len(units) == len(texts) and all(map(_UNIT.fullmatch, set(units))):
            return (numbers, units) if _NUMBERS.fullmatch("\n".join(numbers) + "\n") else None
    found = _QUANTITIES.findall("".join([f"{text}\n" for text in texts]))
    if len(found) != len(texts) or any(
        f"{number} {unit}" != text if unit else number != text
        for (number, unit), text in zip(found, texts, strict=True)
    ):
        return None
    numbers, units = map(list, zip(*found, strict=True))
    return (numbers, units) if any(number != "-" for number in numbers) else None


def _alone(record: Record) -> FoldedRecord:
    cell = record.get("cell")
    return FoldedRecord(cells=() if cell is None else (str(cell),), record=record, odd=False)


def turned_lines(
    titles: Sequence[str], grid: Sequence[Sequence[str]], odd: Sequence[bool], *, width: int, color: bool
) -> Iterator[str]:
    """Yield a table that is too wide, in the first form that fits: records as columns; each record on two or three lines, below
    titles that are wrapped in the same way; each record as a block of lines, which one or two records always are.

    Args:
        grid: texts by column, then by row.
        odd: by row, whether it is marked.
    """
    label = max(len(title) for title in titles)
    sizes = [max(len(texts[row]) for texts in grid) for row in range(len(grid[0]))]
    if len(sizes) > 1 and label + sum(len(GAP) + size for size in sizes) <= width:
        for index, (title, texts) in enumerate(zip(titles, grid, strict=True)):
            parts = [
                paint(text.ljust(size), "odd" if is_odd else "title", color=color and (is_odd or not index))
                for text, size, is_odd in zip(texts, sizes, odd, strict=True)
            ]
            yield GAP.join((paint(title.ljust(label), "title", color=color), *parts)).rstrip()
            if not index:
                yield GAP.join("-" * size for size in (label, *sizes))
        return
    if len(sizes) >= _SEVERAL and (rows := _in_lines(titles, grid, width)):
        yield from _broken_rows(rows, odd, color=color)
        return
    for row in range(len(sizes)):
        if row:
            yield ""
        for title, texts in zip(titles, grid, strict=True):
            line = f"{(title + ':').ljust(label + 1)} {texts[row]}"
            yield paint(line, "odd", color=color) if odd[row] and title == "cell" else line


def _in_lines(titles: Sequence[str], grid: Sequence[Sequence[str]], width: int) -> list[list[tuple[list[str], int]]]:
    """Return the padded columns for each line of a record that is too wide for one; empty if it takes too many lines."""
    parts: list[list[tuple[list[str], int]]] = []
    room = 0
    for column in (padded_column(title, texts, to_right=False) for title, texts in zip(titles, grid, strict=True)):
        size = column[1]
        if not parts or size + len(GAP) > room:
            room = width - (len(_INDENT) if parts else 0) + len(GAP)
            parts.append([])
        if size + len(GAP) > room:
            return []
        parts[-1].append(column)
        room -= size + len(GAP)
    return parts if len(parts) <= _MOST_LINES else []


def _broken_rows(
    parts: Sequence[Sequence[tuple[list[str], int]]], odd: Sequence[bool], *, color: bool
) -> Iterator[str]:
    """Yield titles, a rule and the records, each on as many lines as there are parts."""
    lines = [("" if part is parts[0] else _INDENT, part) for part in parts]
    for indent, part in lines:
        yield paint(indent + GAP.join(texts[0] for texts, _ in part).rstrip(), "title", color=color)
    for indent, part in lines:
        yield indent + GAP.join("-" * size for _, size in part)
    for row, is_odd in enumerate(odd, 1):
        for indent, part in lines:
            yield paint(indent + GAP.join(texts[row] for texts, _ in part).rstrip(), "odd", color=color and is_odd)


def prose_lines(
    columns: Sequence[Aligned], prose: int, texts: Sequence[str], *, width: int, color: bool, header: bool
) -> list[str]:
    """Return the lines of the table with column ``prose`` last and wrapped between words, no wider than ``width``.

    Columns without any value are left out, to give the sentences more room.

    Returns:
        the lines; none if too little room is left for the sentences.
    """
    others = [column for place, column in enumerate(columns) if place != prose]
    left = [column for column in others if any(text != "-" for field in column.fields for text in field)]
    before = sum(column.size + len(GAP) for column in left)
    room = width - before
    if room < _LEAST:
        return []
    broken = [hung(text, room) for text in texts]
    return list(_prose_rows(left, columns[prose].title.strip(), broken, color=color, header=header))


def _prose_rows(
    left: Sequence[Aligned], title: str, broken: Sequence[Sequence[str]], *, color: bool, header: bool
) -> Iterator[str]:
    before = " " * sum(column.size + len(GAP) for column in left)
    if header:
        longest = max(len(title), *(len(line) for lines in broken for line in lines))
        yield paint(GAP.join([*(column.title for column in left), title]), "title", color=color)
        yield GAP.join(["-" * column.size for column in left] + ["-" * longest])
    for number, lines in enumerate(broken):
        shown = [column.form % tuple(field[number] for field in column.fields) for column in left]
        yield GAP.join([*shown, *lines[:1]]).rstrip()
        yield from (before + line for line in lines[1:])
