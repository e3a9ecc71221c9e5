"""Answers of millions of rows written a block at a time: the same text as the other writers of the formats make. Pure.

What a text becomes in a format is found out once for each different text: a column mostly has few of them, or repeats them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from exacell.cellcli.rows import UNIT, ByBlocks, Columns, LargeRows
from exacell.cellcli.typed import METRIC_VALUES
from exacell.output import formats
from exacell.output.largetable import large_table
from exacell.output.largevalues import Field, is_exact, unit_maker, value_of
from exacell.output.memo import Memo
from exacell.output.result import Column


class _Form(NamedTuple):
    """How rows are put together: what stands before a row, between its fields, and behind it, and what makes a field."""

    lead: str
    between: str
    tail: str
    field: Field


_FORMS = {
    "csv": _Form("", ",", "", lambda key, value: formats.csv_field(formats.flat(value))),
    "tsv": _Form("", "\t", "", lambda key, value: formats.tsv_field(formats.flat(value))),
    "md": _Form("| ", " | ", " |", lambda key, value: formats.md_field(formats.flat(value))),
    "json": _Form(" {", ", ", "}", formats.json_field),
    "jsonl": _Form("{", ", ", "}", formats.json_field),
    "yaml": _Form("- ", "\n  ", "", formats.yaml_field),
}


def large_blocks(
    records: ByBlocks, name: str, columns: Sequence[Column], *, color: bool, header: bool
) -> Iterator[str]:
    """Yield the lines of a format, many of them at a time.

    Args:
        name: of the format: one of ``_FORMS``, or table.
        columns: which attributes the table shows, in order; empty: all.
    """
    assert isinstance(records, LargeRows)
    if name == "table":
        yield from large_table(records, columns, color=color, header=header)
        return
    keys = ("cell", *records.keys)
    if header and name in ("csv", "tsv"):
        yield formats.csv_line(keys) if name == "csv" else "\t".join(keys)
    elif header and name == "md":
        yield from formats.md_titles(keys)
    form = _FORMS[name]
    blocks = _rows(records, form)
    if name == "json":
        blocks = _as_array(blocks)
    yield from blocks


def _as_array(blocks: Iterator[str]) -> Iterator[str]:
    """Yield blocks of objects, each line led by a blank, as one array."""
    before: str | None = None
    for block in blocks:
        lines = block.replace("\n", ",\n")
        if before is not None:
            yield before + ","
        before = lines if before is not None else f"[{lines[1:]}"
    yield "[]" if before is None else before + "]"


def _rows(rows: LargeRows, form: _Form) -> Iterator[str]:
    makers = [_maker(rows, key, form.field) for key in rows.keys]
    cells: dict[str, str] = {}
    between = f"{form.tail}\n{form.lead}"
    for cell, columns in rows.blocks():
        if cell not in cells:
            cells[cell] = form.field("cell", cell)
        fields = [[cells[cell]] * len(columns[0]), *(make(columns) for make in makers)]
        yield form.lead + between.join(map(form.between.join, zip(*fields, strict=True))) + form.tail


def _maker(rows: LargeRows, key: str, field: Field) -> Callable[[Columns], Sequence[str]]:
    """Return what makes the fields of one attribute from a block's texts."""
    if key not in rows.names:
        if key == UNIT and rows.object_type and any(name in METRIC_VALUES for name in rows.names):
            return unit_maker(rows, field)
        absent = field(key, None)
        return lambda columns: [absent] * len(columns[0])
    place = rows.names.index(key)
    memo = Memo(lambda text: field(key, value_of(rows, key, text)))
    if rows.object_type and key in METRIC_VALUES:
        # Most values of a metric come once: what is written as it came is not read first.
        lead = field(key, 0.5).removesuffix("0.5")
        memo = Memo(lambda text: lead + text if is_exact(text) else field(key, value_of(rows, key, text)))
    return lambda columns: list(map(memo.__getitem__, columns[place]))
