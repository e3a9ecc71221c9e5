"""Write a result to standard output as text, in any of the formats."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain, islice
from typing import IO

from exacell.cellcli.fold import has_own_name
from exacell.cellcli.rows import ByBlocks, TypedRows
from exacell.core.cellset import fold
from exacell.core.formats import check_format
from exacell.output import formats
from exacell.output.folding import fold_texts
from exacell.output.result import Record, Result
from exacell.output.style import paint, printable, readable, takes_unicode
from exacell.output.tables import table_blocks

_AT_ONCE = 256
"""How many single lines are written together: an unbuffered stream makes a system call for each write."""

_EXACT = ("raw", "csv", "tsv", "md")
"""Formats that keep control characters: exact for programs, spelt out on a terminal."""


def render(
    result: Result, format: str, stream: IO[str], *, width: int | None = None, color: bool = False, header: bool = True
) -> bool:
    """Write the data of ``result`` to ``stream``, without notes and problems, and return whether ``{cell}`` is in it.

    Args:
        format: one of :data:`exacell.core.formats.FORMATS`.
        width: columns of the terminal, None if the stream is not a terminal.
        header: whether tables, csv, tsv and md begin with titles.

    Raises:
        StatementError: there is no such format.
    """
    masked = False
    name = check_format(format)
    spelt = name in _EXACT and stream.isatty()
    for block in _blocks(result, name, width=width, color=color, header=header):
        stream.write((printable(block) if spelt else block) + "\n")
        masked = masked or has_own_name(block)
    return masked


def lines(
    result: Result, format: str, *, width: int | None = None, color: bool = False, header: bool = True
) -> Iterator[str]:
    """Yield the lines that ``render`` writes, without their line ends (a csv line may hold some inside quotes)."""
    name = check_format(format)
    if name not in ("raw", "table") and not isinstance(result.records, ByBlocks):
        found = _for_programs(result, name, header=header)
    else:
        blocks = _blocks(result, name, width=width, color=color, header=header)
        found = chain.from_iterable(block.split("\n") for block in blocks)
    return map(printable, found) if name in _EXACT and width is not None else found


def _blocks(result: Result, name: str, *, width: int | None, color: bool, header: bool) -> Iterator[str]:
    """Yield the text to write, many lines at a time."""
    if name == "raw":
        yield from _raw(result)
    elif isinstance(result.records, TypedRows) and name != "table":
        from exacell.output.large import large_blocks

        yield from large_blocks(result.records.by_blocks, name, result.columns, color=color, header=header)
    elif isinstance(result.records, ByBlocks) and result.draw is None and not (name == "table" and result.text):
        from exacell.output.large import large_blocks

        yield from large_blocks(result.records, name, result.columns, color=color, header=header)
    elif name == "table" and result.records and result.draw is None and not result.text:
        yield from table_blocks(
            result.records, result.columns, folded=result.fold, width=width, color=color, header=header
        )
    else:
        found = (
            for_eyes(result, width, color, header) if name == "table" else _for_programs(result, name, header=header)
        )
        while some := list(islice(found, _AT_ONCE)):
            yield "\n".join(some)


def _for_programs(result: Result, name: str, *, header: bool) -> Iterator[str]:
    records = result.records
    if not records and not result.data:
        if not result.raw:
            return iter(result.text.splitlines())
        records = [{"cell": cell, "text": text.strip("\n")} for cell, text in result.raw]
    if name in formats.TITLED and not records:
        # An empty answer still gets its titles if the columns are known.
        keys = [column.name for column in result.columns]
        return iter([formats.FORMS[name].between.join(keys)] if keys and header else [])
    if name in formats.TITLED:
        return formats.as_rows(records, name, header=header)
    whole = {"json": formats.as_json, "jsonl": formats.as_jsonl, "yaml": formats.as_yaml}
    return whole[name](records)


def for_eyes(result: Result, width: int | None, color: bool, header: bool) -> Iterator[str]:
    """Yield the lines of a table form that is not a plain table of the records."""
    if result.draw is not None:
        yield from (readable(line, sys.stdout) for line in result.draw(width, color, header))
    elif result.text:
        yield from (printable(line) for line in result.text.splitlines())
    elif result.raw and result.fold:
        yield from _folded_texts(result.raw, named=result.named, color=color)
    elif result.raw:
        for block in _raw(result):
            yield from block.split("\n")


def _folded_texts(raw: Sequence[tuple[str, str]], *, named: bool, color: bool) -> Iterator[str]:
    """Yield folded blocks: a line that names the cells, then their text."""
    for index, block in enumerate(fold_texts(raw)):
        if index:
            yield ""
        if len(raw) > 1 or named:
            yield paint(fold(block.cells), "odd" if block.odd else "title", color=color)
        yield from (printable(line) for line in block.text.splitlines())


def _raw(result: Result) -> Iterator[str]:
    """Yield the cells' own text, one cell at a time: unchanged from one cell, as ``cell: line`` from several, like dcli."""
    if result.pieces:
        for cell, pieces in result.pieces:
            lead = f"{cell}: " if len(result.pieces) > 1 or result.named else ""
            for piece in pieces():
                body = piece.removesuffix("\n")
                yield lead + body.replace("\n", f"\n{lead}") if lead else body
        return
    if not result.raw:
        found = (
            formats.as_rows(result.records, "tsv", header=False) if result.records else iter(result.text.splitlines())
        )
        while some := list(islice(found, _AT_ONCE)):
            yield "\n".join(some)
        return
    alone = len(result.raw) == 1 and not result.named
    for cell, text in result.raw:
        body = text.removesuffix("\n")
        if body:
            yield body if alone else f"{cell}: " + body.replace("\n", f"\n{cell}: ")


def with_local_dates(result: Result) -> Result:
    """Return ``result`` with the times in its columns in this host's format and time zone, for SET DATEFORMAT LOCAL."""
    names = [column.name for column in result.columns if column.kind == "time"]

    def local(record: Record) -> Record:
        return {key: _local_time(value) if key in names else value for key, value in record.items()}

    return replace(result, records=[local(record) for record in result.records]) if names else result


def _local_time(value: object) -> object:
    from datetime import datetime

    try:
        return datetime.fromisoformat(str(value)).astimezone().strftime("%c")
    except ValueError:
        return value  # Not a time: shown as the cell printed it.


def document_lines(markdown: str, width: int, *, color: bool) -> list[str]:
    """Return the lines of a Markdown page for the terminal on standard output."""
    from exacell.output.draw import Look  # rich is loaded when something is drawn.
    from exacell.output.markdown import page_lines

    return page_lines(markdown, Look(width, color, takes_unicode(sys.stdout)))
