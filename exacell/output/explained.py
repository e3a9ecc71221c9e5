"""Show results as sentences, then figures, then charts on a terminal; programs get records."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from exacell.core.errors import ExitCode
from exacell.measure.finding import Chart
from exacell.output.charts import chart_lines
from exacell.output.result import Column, Result
from exacell.output.style import hung, takes_unicode
from exacell.output.tables import table_lines

FIGURES = (
    Column("figure"),
    Column("value", "number"),
    Column("unit"),
    Column("low", "number"),
    Column("high", "number"),
    Column("means", "prose"),
)
"""The columns of a figure over the rack."""

_WIDE = 1 << 20
"""A width that no line reaches."""


def explained(
    sentences: Sequence[str],
    figures: Sequence[Mapping[str, Any]],
    *,
    columns: Sequence[Column] = FIGURES,
    records: Sequence[Mapping[str, Any]] = (),
    below: Sequence[Mapping[str, Any]] = (),
    charts: Sequence[Chart] = (),
    notes: Sequence[str] = (),
    failed: bool = False,
) -> Result:
    """Return a result that is text with a table below it, and records for programs.

    Args:
        records: for programs, instead of ``figures``; empty for the same.
        below: rows of numbers in a table of their own; programs get them too.
        charts: drawn below the tables, on a terminal only.
        sentences: each is a paragraph, and for programs a record ``{"cell": null, "says": …}`` before the figures.
        failed: whether there is no verdict, because a cell has no figure.
    """

    def draw(width: int | None, color: bool, header: bool) -> Iterator[str]:
        for sentence in sentences:
            yield from hung(sentence, width or _WIDE, after="  ")
        if figures:
            yield ""
            yield from table_lines(figures, columns, width=width, color=color, header=header)
        if below:
            yield ""
            numbers = [Column(name, "number") for name in below[0] if name != "cell"]
            yield from table_lines(below, numbers, width=width, color=color, header=header)
        for chart in charts if width is not None else ():
            yield ""
            yield from chart_lines(chart, width or _WIDE, color=color, unicode=takes_unicode(sys.stdout))

    says = [{"cell": None, "says": sentence} for sentence in sentences]
    return Result(
        records=[*says, *(records or figures), *below],
        data=True,
        draw=draw,
        notes=notes,
        exit_code=ExitCode.FAILED if failed else ExitCode.DONE,
    )
