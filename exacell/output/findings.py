"""A finding as a statement's result: sentences, a table, a chart where a person reads it; records for programs."""

from __future__ import annotations

import sys
from collections.abc import Iterator

from exacell.core.errors import ExitCode
from exacell.measure.finding import Finding, Table
from exacell.output.charts import chart_lines
from exacell.output.result import Column, Result
from exacell.output.style import hung, takes_unicode
from exacell.output.tables import table_lines

_WIDE = 1 << 20
"""As good as no limit of columns."""

_CHARTS = 2
"""Charts on a terminal; a report has all."""


def columns_of(table: Table) -> list[Column]:
    """Return a table's columns: those with nothing but numbers stand right, one of sentences is broken within."""
    kinds = {}
    for name in table.columns:
        values = [row[name] for row in table.rows if row.get(name) is not None]
        numbers = bool(values) and all(isinstance(value, (int, float)) for value in values)
        kinds[name] = "number" if numbers else "prose" if name in ("means", "basis") else "text"
    return [Column(name, kind) for name, kind in kinds.items()]


def shown(finding: Finding) -> Result:
    """Return a finding as a result.

    Where lines go to a terminal, its first charts stand below the table; nowhere else.
    """
    figures = finding.figures

    def draw(width: int | None, color: bool, header: bool) -> Iterator[str]:
        for sentence in finding.sentences:
            yield from hung(sentence, width or _WIDE, after="  ")
        if figures is not None and figures.rows:
            yield ""
            yield from table_lines(figures.rows, columns_of(figures), width=width, color=color, header=header)
        for chart in finding.charts[:_CHARTS] if width is not None else ():
            yield ""
            yield from chart_lines(chart, width or _WIDE, color=color, unicode=takes_unicode(sys.stdout))

    says = [{"cell": None, "says": sentence} for sentence in finding.sentences]
    rows = finding.records or (figures.rows if figures is not None else ())
    return Result(
        records=[*says, *rows],
        data=True,
        draw=draw,
        notes=finding.notes,
        exit_code=ExitCode.FAILED if finding.failed else ExitCode.DONE,
    )
