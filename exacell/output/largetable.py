"""A table of millions of rows: read once to learn how wide its columns are, and once more to be written. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from exacell.cellcli.rows import UNIT, Columns, LargeRows
from exacell.output.largevalues import unit_maker, value_of
from exacell.output.memo import MOST, Memo
from exacell.output.result import Column
from exacell.output.style import paint, paint_within
from exacell.output.tables import TROUBLE, number_text, quantities, texts_of, value_text

_GAP = "  "


class _Fitting:
    """One column: how wide it is, and then each of its texts as wide as that."""

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
        """Take what a block has in this column."""
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
        """Take a block's numbers with units and return True; False where one of its texts is neither that nor absent."""
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
        # Should a later block have other texts, these are as wide as they are.
        self._as_text = max(self._as_text, *(len(a) + (len(b) and 1 + len(b)) for a, b in zip(*found, strict=True)))
        return True

    def _in_two(self, texts: Sequence[str]) -> tuple[Sequence[str], Sequence[str]] | None:
        shown = texts_of(texts)
        if set(shown[:2]) == {"-"} and set(shown) == {"-"}:
            return shown, [""] * len(shown)
        return quantities(shown)

    @property
    def _units(self) -> int:
        """How wide units are where each text is a number with a unit; 0 where they are not."""
        return self._parts[1] if self._quantities and self._parts is not None else 0

    @property
    def _to_right(self) -> bool:
        return self._numbers or (self._quantities and self._parts is not None)

    @property
    def size(self) -> int:
        """How wide it is."""
        if self._units and self._parts is not None:
            return max(len(self._title), self._parts[0] + 1 + self._units)
        return self._as_number if self._numbers else self._as_text

    @property
    def title(self) -> str:
        """Its title, as wide as the column."""
        return f"{self._title:{'>' if self._to_right and not self._units else '<'}{self.size}}"

    def fields(self, texts: Sequence[str]) -> Sequence[str]:
        """Return a block's texts, each as wide as the column."""
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
    """Yield cell and texts by column, the units of metric values last where records have them."""
    if UNIT in rows.names or UNIT not in rows.keys:
        yield from rows.blocks()
        return
    units = unit_maker(rows, lambda key, unit: unit or "")
    for cell, block in rows.blocks():
        yield cell, (*block, units(block))


def large_table(rows: LargeRows, columns: Sequence[Column], *, color: bool, header: bool) -> Iterator[str]:
    """Yield the lines of a table, many at a time, each cell's rows for themselves; see
    :func:`exacell.output.tables.table_blocks`.

    Args:
        columns: which attributes it shows, in order; empty: all.
    """
    wanted = [column for column in columns if column.name != "cell"] or [Column(name) for name in rows.keys]
    shown = [column for column in wanted if column.name in rows.keys]
    fitting = [_Fitting(rows, column, color=color, last=column is shown[-1]) for column in shown]
    for _, block in blocks_with_units(rows):
        for column in fitting:
            column.look(block[column.place])
    size = max([len("cell"), *(len(part.cell) for part in rows.parts)])
    if header:
        titles = _GAP.join([f"{'cell':<{size}}", *(column.title for column in fitting)])
        yield paint(titles.rstrip(), "title", color=color)
        yield _GAP.join(["-" * size, *("-" * column.size for column in fitting)])
    for cell, block in blocks_with_units(rows):
        fields = [column.fields(block[column.place]) for column in fitting]
        lead = f"{cell:<{size}}{_GAP}"
        yield lead + f"\n{lead}".join(map(_GAP.join, zip(*fields, strict=True)))
