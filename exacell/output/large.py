"""Answers of millions of rows written a block at a time: the same text as the other writers of the formats make. Pure.

Each different text is converted to the format only once: most columns have few different texts, or repeat them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from exacell.cellcli.rows import ByBlocks, LargeRows
from exacell.cellcli.schema import METRIC_VALUES, kind_of, known_unit, metric_value, typed_value
from exacell.cellcli.tables import UNIT, Columns
from exacell.output import formats
from exacell.output.result import Column
from exacell.output.style import paint, paint_within
from exacell.output.tables import GAP, TROUBLE, number_text, quantities, texts_of, value_text


def large_blocks(
    records: ByBlocks, name: str, columns: Sequence[Column], *, color: bool, header: bool
) -> Iterator[str]:
    """Yield the lines of a format, many at a time.

    Args:
        name: the format: one of :data:`exacell.output.formats.FORMS`, or table.
        columns: the attributes that the table shows, in order; empty means all.
    """
    assert isinstance(records, LargeRows)
    if name == "table":
        yield from large_table(records, columns, color=color, header=header)
        return
    keys = ("cell", *records.keys)
    if header and name in formats.TITLED:
        yield from formats.titles(name, keys)
    blocks = _rows(records, formats.FORMS[name])
    if name == "json":
        blocks = _as_array(blocks)
    yield from blocks


def _as_array(blocks: Iterator[str]) -> Iterator[str]:
    """Yield blocks of objects, whose lines begin with a blank, as one array."""
    before: str | None = None
    for block in blocks:
        lines = block.replace("\n", ",\n")
        if before is not None:
            yield before + ","
        before = lines if before is not None else f"[{lines[1:]}"
    yield "[]" if before is None else before + "]"


def _rows(rows: LargeRows, form: formats.Form) -> Iterator[str]:
    makers = [_maker(rows, key, form.field) for key in rows.keys]
    cells: dict[str, str] = {}
    between = f"{form.tail}\n{form.lead}"
    for cell, columns in rows.blocks():
        if cell not in cells:
            cells[cell] = form.field("cell", cell)
        fields = [[cells[cell]] * len(columns[0]), *(make(columns) for make in makers)]
        yield form.lead + between.join(map(form.between.join, zip(*fields, strict=True))) + form.tail


def _maker(rows: LargeRows, key: str, field: Field) -> Callable[[Columns], Sequence[str]]:
    """Return a function that makes the fields of one attribute from a block's texts."""
    if key not in rows.names:
        if key == UNIT and rows.object_type and any(name in METRIC_VALUES for name in rows.names):
            return unit_maker(rows, field)
        absent = field(key, None)
        return lambda columns: [absent] * len(columns[0])
    place = rows.names.index(key)
    memo = Memo(lambda text: field(key, value_of(rows, key, text)))
    if rows.object_type and key in METRIC_VALUES:
        # Most values of a metric occur once: a text that needs no change is not parsed first.
        lead = field(key, 0.5).removesuffix("0.5")
        memo = Memo(lambda text: lead + text if is_exact(text) else field(key, value_of(rows, key, text)))
    return lambda columns: list(map(memo.__getitem__, columns[place]))


Field = Callable[[str, Any], str]
"""Makes the field of an attribute from its name and its value."""


def value_of(rows: LargeRows, key: str, text: str) -> Any:
    """Return the value of an attribute from its text, the same as :func:`exacell.cellcli.schema.values` returns."""
    if not rows.object_type:
        return text
    text = text.strip()
    if key in METRIC_VALUES and text:
        return metric_value(text)[0]
    return typed_value(text, kind_of(rows.object_type, key))


def is_exact(text: str) -> bool:
    """Return whether a text is a number in Python's own notation of a float, so that every format can use it unchanged."""
    if not text or not text[-1].isdigit():
        return False
    try:
        return repr(float(text)) == text
    except ValueError:
        return False


def unit_maker(rows: LargeRows, field: Field) -> Callable[[Columns], Sequence[str]]:
    """Return a function that makes the units: that of a row's first value, or the metric's unit if the value has none."""
    places = [place for place, name in enumerate(rows.names) if name in METRIC_VALUES]
    named = rows.names.index("name") if "name" in rows.names else None
    printed = Memo(lambda text: metric_value(text.strip())[1] if text.strip() else None)
    known = Memo(lambda name: field(UNIT, known_unit(name.strip())))
    nowhere, nothing = field(UNIT, ""), field(UNIT, None)
    made = Memo(lambda unit: field(UNIT, unit))

    def make(columns: Columns) -> Sequence[str]:
        by_name = [nowhere] * len(columns[0]) if named is None else list(map(known.__getitem__, columns[named]))
        if all(columns[places[0]]) and not any(blank in "\n".join(columns[places[0]]) for blank in (" ", "\t", "\r")):
            return by_name  # A unit comes after a blank.
        units = list(map(printed.__getitem__, columns[places[0]]))
        for place in places[1:]:
            units = [
                unit if unit is not None else printed[text] for unit, text in zip(units, columns[place], strict=True)
            ]
        if set(units) == {""}:
            return by_name
        return [
            made[unit] if unit else of_name if unit is not None else nothing
            for unit, of_name in zip(units, by_name, strict=True)
        ]

    return make


MOST = 50_000
"""How many texts are remembered; with one more, all are forgotten."""


class Memo(dict[str, Any]):
    """Text → the result of ``make`` for it, computed when it is first needed."""

    def __init__(self, make: Callable[[str], Any]) -> None:
        super().__init__()
        self._make = make

    def __missing__(self, text: str) -> Any:
        if len(self) >= MOST:
            self.clear()
        made = self[text] = self._make(text)
        return made


class _Fitting:
    """One column: finds its width, then pads each of its texts to it."""

    def __init__(self, rows: LargeRows, column: Column, *, color: bool, last: bool) -> None:
        self._rows, self._column, self._color, self._last = rows, column, color, last
        self.place = rows.names.index(column.name) if column.name in rows.names else len(rows.names)
        self._title = column.title or column.name
        self._eyes = Memo(lambda text: value_text(value_of(rows, column.name, text)))
        self._seen: set[str] = set()
        self._as_text = self._as_number = len(self._title)
        self._numbers = bool(rows.object_type)
        self._quantities = True
        self._parts: tuple[int, int] | None = None
        self._fields = Memo(self._field)

    def look(self, texts: Sequence[str]) -> None:
        """Take the texts of a block in this column into account."""
        if not self._rows.object_type and self._quantities and self._looked_at_quantities(texts):
            return
        new = set(texts) - self._seen
        if not new:
            return
        if len(self._seen) > MOST:
            self._seen.clear()
        self._seen |= new
        self._as_text = max(self._as_text, max(len(self._eyes[text]) for text in new))
        if self._numbers:
            values = [value_of(self._rows, self._column.name, text) for text in new]
            numbers = [value for value in values if value is not None]
            self._numbers = all(isinstance(value, (int, float)) and not isinstance(value, bool) for value in numbers)
            if self._numbers:
                self._as_number = max(self._as_number, *(len(number_text(value)) for value in numbers), 1)

    def _looked_at_quantities(self, texts: Sequence[str]) -> bool:
        """Take a block's numbers with units into account and return True; False if a text is neither that nor absent."""
        found = self._in_two(texts)
        self._quantities = found is not None
        if found is None:
            return False
        if found[1] and not any(found[1]) and set(found[0]) == {"-"}:
            self._as_text = max(self._as_text, 1)
            return True
        sizes = [max(map(len, part)) for part in found]
        before = self._parts or (1, 0)
        self._parts = (max(before[0], sizes[0]), max(before[1], sizes[1]))
        # If a later block has other texts, these texts have their full width.
        self._as_text = max(self._as_text, *(len(a) + (len(b) and 1 + len(b)) for a, b in zip(*found, strict=True)))
        return True

    def _in_two(self, texts: Sequence[str]) -> tuple[Sequence[str], Sequence[str]] | None:
        shown = texts_of(texts)
        if set(shown[:2]) == {"-"} and set(shown) == {"-"}:
            return shown, [""] * len(shown)
        return quantities(shown)

    @property
    def _units(self) -> int:
        """Return the width of the units if each text is a number with a unit; else 0."""
        return self._parts[1] if self._quantities and self._parts is not None else 0

    @property
    def _to_right(self) -> bool:
        return self._numbers or (self._quantities and self._parts is not None)

    @property
    def size(self) -> int:
        """Return the width of the column."""
        if self._units and self._parts is not None:
            return max(len(self._title), self._parts[0] + 1 + self._units)
        return self._as_number if self._numbers else self._as_text

    @property
    def title(self) -> str:
        """Return the title, padded to the width of the column."""
        return f"{self._title:{'>' if self._to_right and not self._units else '<'}{self.size}}"

    def fields(self, texts: Sequence[str]) -> Sequence[str]:
        """Return a block's texts, each padded to the width of the column."""
        found = self._in_two(texts) if self._units else None
        if found is None or self._parts is None:
            return list(map(self._fields.__getitem__, texts))
        form = f"%{self._parts[0]}s %-{self.size - self._parts[0] - 1}s"
        fields = list(map(form.__mod__, zip(*found, strict=True)))
        return [field.rstrip() for field in fields] if self._last else fields

    def _field(self, text: str) -> str:
        value = value_of(self._rows, self._column.name, text)
        shown = number_text(value) if self._numbers and value is not None else self._eyes[text]
        padded = f"{shown:{'>' if self._to_right else '<'}{self.size}}"
        if self._last:
            padded = padded.rstrip()
        meaning = TROUBLE.get(shown.lower()) if self._color else None
        return paint_within(padded, meaning, color=True) if meaning else padded


def blocks_with_units(rows: LargeRows) -> Iterator[tuple[str, Columns]]:
    """Yield cell and texts by column; the units of metric values are the last column if records have them."""
    if UNIT in rows.names or UNIT not in rows.keys:
        yield from rows.blocks()
        return
    units = unit_maker(rows, lambda key, unit: unit or "")
    for cell, block in rows.blocks():
        yield cell, (*block, units(block))


def large_table(rows: LargeRows, columns: Sequence[Column], *, color: bool, header: bool) -> Iterator[str]:
    """Yield the lines of a table, many at a time, each cell's rows separately; see
    :func:`exacell.output.tables.table_blocks`.

    Args:
        columns: the attributes to show, in order; empty means all.
    """
    wanted = [column for column in columns if column.name != "cell"] or [Column(name) for name in rows.keys]
    shown = [column for column in wanted if column.name in rows.keys]
    fitting = [_Fitting(rows, column, color=color, last=column is shown[-1]) for column in shown]
    for _, block in blocks_with_units(rows):
        for column in fitting:
            column.look(block[column.place])
    size = max([len("cell"), *(len(part.cell) for part in rows.parts)])
    if header:
        titles = GAP.join([f"{'cell':<{size}}", *(column.title for column in fitting)])
        yield paint(titles.rstrip(), "title", color=color)
        yield GAP.join(["-" * size, *("-" * column.size for column in fitting)])
    for cell, block in blocks_with_units(rows):
        fields = [column.fields(block[column.place]) for column in fitting]
        lead = f"{cell:<{size}}{GAP}"
        yield lead + f"\n{lead}".join(map(GAP.join, zip(*fields, strict=True)))
