"""Turn a finding into a statement's result."""

from __future__ import annotations

from exacell.measure.finding import Finding, Table
from exacell.output.explained import explained
from exacell.output.result import Column, Result

_CHARTS = 2
"""How many charts a terminal shows; a report shows all."""


def columns_of(table: Table) -> list[Column]:
    """Return a table's columns: columns of numbers are aligned right, those of sentences wrap."""
    kinds = {}
    for name in table.columns:
        values = [row[name] for row in table.rows if row.get(name) is not None]
        numbers = bool(values) and all(isinstance(value, (int, float)) for value in values)
        kinds[name] = "number" if numbers else "prose" if name in ("means", "basis") else "text"
    return [Column(name, kind) for name, kind in kinds.items()]


def shown(finding: Finding) -> Result:
    """Return a finding as a result.

    On a terminal, its first charts are shown below the table.
    """
    table = finding.figures or Table(title="", columns=(), rows=())
    return explained(
        finding.sentences,
        table.rows,
        columns=columns_of(table),
        records=finding.records,
        charts=finding.charts[:_CHARTS],
        notes=finding.notes,
        failed=finding.failed,
    )
