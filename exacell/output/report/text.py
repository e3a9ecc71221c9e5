"""Write a finding as Markdown and as JSON. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from exacell.measure.finding import Finding, Table
from exacell.output.report.page import Made, cell, changes_rows, passports


def markdown(finding: Finding, made: Made) -> str:
    """Return the finding without its charts as Markdown."""
    return "\n".join(_markdown(finding, made)) + "\n"


def _markdown(finding: Finding, made: Made) -> Iterator[str]:
    yield f"# {_plain(finding.title)}\n"
    if finding.verdict:
        yield f"**{_plain(finding.verdict)}**\n"
    for sentence in finding.sentences[1:]:
        yield f"{_plain(sentence)}\n"
    for table in (*([finding.figures] if finding.figures else []), *finding.tables):
        yield from _table(table)
    for one in finding.distributions:
        shares = (0.5, 0.9, 0.99, 0.999, 1.0)
        told = ", ".join(f"{100 * p:g} % {cell(one.counts.quantile(p))}" for p in shares)
        yield f"* {_plain(one.name)}, {one.what} in {one.unit}, {one.counts.n:,} counted: {told}"
    if finding.sides:
        names = tuple(side.name for side in finding.sides)
        rows = [{"": name + (" (differs)" if differs else ""), **dict(zip(names, values, strict=True))}
                for name, values, differs in passports(finding.sides)]  # fmt: skip
        about = {"": "what", **{side.name: side.about for side in finding.sides}}
        yield from _table(Table(title="Conditions", columns=("", *names), rows=(about, *rows)))
    if finding.changes:
        columns = ("change", "at", "statement", "outcome", "hash")
        rows = [dict(row) for row in changes_rows(finding)]
        yield from _table(Table(title="Changes in the journal meanwhile", columns=columns, rows=tuple(rows)))
    yield "## How to repeat it\n\n```\n" + "\n".join((*finding.repeat, made.statement)) + "\n```\n"
    if finding.notes:
        yield "## Notes\n"
        yield from (f"* {_plain(note)}" for note in finding.notes)
    yield f"\nMade {made.at} by exacell {made.version}."


def _table(table: Table) -> Iterator[str]:
    if not table.rows:
        return
    yield f"## {_plain(table.title)}\n"
    yield "| " + " | ".join(map(_plain, table.columns)) + " |"
    yield "|" + "--|" * len(table.columns)
    for row in table.rows:
        yield "| " + " | ".join(_plain(cell(row.get(name))) for name in table.columns) + " |"
    yield ""


def _plain(text: str) -> str:
    """Return text on one line with Markdown's special characters escaped."""
    for sign in "\\`*_|<>[]#":
        text = text.replace(sign, "\\" + sign)
    return " ".join(text.split())


def as_json(finding: Finding, made: Made) -> str:
    """Return a finding as JSON, without the content of its files; histograms as their values and counts."""
    whole: dict[str, Any] = {**asdict(finding), "verdict": finding.verdict, "made": asdict(made)}
    whole["artifacts"] = [{"name": file.name, "bytes": len(file.content)} for file in finding.artifacts]
    return json.dumps(whole, ensure_ascii=False, indent=1) + "\n"
