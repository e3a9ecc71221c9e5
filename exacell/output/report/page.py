"""Write a finding as one HTML page, without network and script, for phone and paper, light and dark."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from typing import Any

from exacell.core.values import dataclass
from exacell.measure.finding import Finding, Side, Table, differences
from exacell.output.report.drawing import charts_of, spelt

_STYLE = """
:root { color-scheme: light dark; --paper: #fff; --ink: #1b1f24; --faint: #5d6671; --line: #d5dae0; --mark: #fff3cd;
  --c0: #0072b2; --c1: #c04d00; --c2: #00805c; --c3: #b0508a; --c4: #7a6000; --c5: #4b4b8f; }
@media (prefers-color-scheme: dark) { :root { --paper: #14171a; --ink: #e8eaed; --faint: #9aa3ad; --line: #3a4149;
  --mark: #4a3f14; --c0: #56b4e9; --c1: #e69f00; --c2: #2fc79a; --c3: #e3a3c6; --c4: #f0e442; --c5: #a9a9e8; } }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 1rem; max-width: 60rem; background: var(--paper); color: var(--ink);
  font: 1rem/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "DejaVu Sans", sans-serif; overflow-wrap: break-word; }
h1 { font-size: 1.1rem; font-weight: 600; color: var(--faint); margin: 0; }
h2 { font-size: 1.1rem; margin: 2rem 0 .5rem; border-bottom: 1px solid var(--line); }
p { margin: .6rem 0; }
.verdict { font-size: 1.35rem; line-height: 1.35; font-weight: 600; margin: .5rem 0 1rem; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-size: .9rem; font-variant-numeric: tabular-nums; }
th, td { text-align: left; padding: .2rem .7rem .2rem 0; border-bottom: 1px solid var(--line); vertical-align: top; }
th { font-weight: 600; } .n { text-align: right; white-space: nowrap; } .other td { background: var(--mark); }
.long { overflow-wrap: anywhere; min-width: 9rem; }
figure { margin: 1.2rem 0; max-width: 48rem; } figcaption { font-weight: 600; }
figure ul { list-style: none; margin: .2rem 0; padding: 0; font-size: .9rem; }
.legend { display: flex; flex-wrap: wrap; gap: 0 1.2rem; } .key { width: 2.5rem; height: .75rem; margin-right: .4rem; }
.axis { margin: .2rem 0; font-size: .9rem; color: var(--faint); } .below { text-align: center; }
.chart { display: block; width: 100%; height: auto; } .chart text { font-size: 9px; fill: var(--ink); }
.chart .x, .chart .mark { text-anchor: middle; } .chart .y { text-anchor: end; dominant-baseline: central; }
.chart .x:not(.wide) { display: none; }
.grid { stroke: var(--line); stroke-width: .7; } .zero { stroke: var(--ink); stroke-width: .8; }
.line { fill: none; stroke: currentColor; stroke-width: 1.6; stroke-linejoin: round; } .sign, .series rect { fill: currentColor; }
.series .interval { fill-opacity: .22; } .bar { display: block; width: 100%; height: .6rem; margin-bottom: .4rem; }
.c0 { color: var(--c0); } .c1 { color: var(--c1); } .c2 { color: var(--c2); }
.c3 { color: var(--c3); } .c4 { color: var(--c4); } .c5 { color: var(--c5); }
pre { white-space: pre-wrap; overflow-wrap: anywhere; border: 1px solid var(--line); padding: .6rem; font-size: .9rem; }
footer { padding-top: 2rem; font-size: .85rem; color: var(--faint); }
@media screen and (max-width: 40rem) {
  .chart text { font-size: 15px; } .chart .x.narrow { display: inline; } .chart .x:not(.narrow) { display: none; }
  table, tbody, tr, td { display: block; } thead { display: none; }
  tr { display: grid; grid-template-columns: 1fr 1fr; gap: 0 .8rem; padding: .5rem 0; border-bottom: 1px solid var(--line); }
  td:first-child { grid-column: 1 / -1; font-weight: 600; }
  td, td.n, td.long { padding: .1rem 0; border: 0; text-align: left; white-space: normal; min-width: 0;
    overflow-wrap: anywhere; }
  td:empty { display: none; } td.long { grid-column: 1 / -1; }
  td[data-name]::before { content: attr(data-name); display: block; font-size: .8rem; line-height: 1.2; color: var(--faint); }
  td[data-name]:first-child::before { display: inline; content: attr(data-name) " "; } .other td::before { color: var(--ink); } }
@page { size: A4; margin: 15mm; }
@media print { :root { color-scheme: light; --paper: #fff; --ink: #000; --faint: #444; --line: #999; --mark: #eee;
  --c0: #0072b2; --c1: #c04d00; --c2: #00805c; --c3: #b0508a; --c4: #7a6000; --c5: #4b4b8f; }
  :root { font-size: 10pt; } body { padding: 0; line-height: 1.35; } h2 { margin-top: 1rem; } .verdict { font-size: 1.3rem; }
  .charts:has(figure + figure) { columns: 2; column-gap: 6mm; } figure { margin: 0 0 .8rem; } .chart text { font-size: 14px; }
  .chart .x.narrow { display: inline; } .chart .x:not(.narrow) { display: none; }
  figure, tr, pre { break-inside: avoid; } h2 { break-after: avoid; } .wide { overflow: visible; }
  table { font-size: 8pt; } th.n { white-space: normal; } th, td { padding-right: .4rem; } }
"""


@dataclass(frozen=True, kw_only=True)
class Made:
    """How a report was made: when (ISO 8601), with which version, by which statement."""

    at: str
    version: str
    statement: str


def page(finding: Finding, made: Made) -> str:
    """Return the page as HTML text."""
    return "\n".join(_page(finding, made)) + "\n"


def _page(finding: Finding, made: Made) -> Iterator[str]:
    yield "<!DOCTYPE html>"
    yield '<html lang="en"><head><meta charset="utf-8">'
    yield '<meta name="viewport" content="width=device-width, initial-scale=1">'
    # The page may fetch nothing, even if a name in the data contains HTML.
    yield "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">"
    yield f'<meta name="generator" content="exacell {escape(made.version)}">'
    yield f"<title>{escape(finding.title)}</title><style>{_STYLE}</style></head><body><main>"
    yield f"<h1>{escape(finding.title)}</h1>"
    yield f'<p class="verdict">{escape(finding.verdict)}</p>'
    for sentence in finding.sentences[1:]:
        yield f"<p>{escape(sentence)}</p>"
    drawn = list(charts_of(finding.charts, finding.distributions))
    if drawn:
        yield '<h2>Charts</h2><div class="charts">'
        yield from drawn
        yield "</div>"
    for table in (*([finding.figures] if finding.figures else []), *finding.tables):
        yield from _table(table)
    yield from _conditions(finding.sides)
    yield from _changes(finding)
    yield "<h2>How to repeat it</h2>"
    yield f"<pre>{escape(chr(10).join((*finding.repeat, made.statement)))}</pre>"
    if finding.notes:
        yield "<h2>Notes</h2><ul>"
        yield from (f"<li>{escape(note)}</li>" for note in finding.notes)
        yield "</ul>"
    yield f"</main><footer>Made {escape(made.at)} by exacell {escape(made.version)}.</footer></body></html>"


def _table(table: Table) -> Iterator[str]:
    if not table.rows:
        return
    numeric = {
        name for name in table.columns if all(isinstance(row.get(name), (int, float, type(None))) for row in table.rows)
    }
    yield from _opened(table.title, [(name, name in numeric) for name in table.columns])
    for row in table.rows:
        yield f"<tr>{''.join(_cell(name, cell(row.get(name)), name in numeric) for name in table.columns)}</tr>"
    yield "</tbody></table></div>"


def _opened(title: str, columns: Sequence[tuple[str, bool]]) -> Iterator[str]:
    """Yield the beginning of a table up to its rows; the keyboard can scroll a table wider than the window."""
    yield f'<h2>{escape(title)}</h2><div class="wide" tabindex="0" role="group" aria-label="{escape(title)}">'
    yield "<table><thead><tr>"
    yield "".join(f'<th scope="col"{_right(right)}>{_HUMP.sub("<wbr>", escape(name))}</th>' for name, right in columns)
    yield "</tr></thead><tbody>"


_HUMP = re.compile(r"(?<=[a-z])(?=[A-Z])")
"""Where a title such as ``pauseSeconds`` may be wrapped."""

_LONG = 30
"""A word of more characters, such as a hash, is broken if there is no room."""


def _cell(name: str, text: str, right: bool = False) -> str:
    """Return a table cell with the name of its column, which is shown in windows too narrow for a table."""
    long = ' class="long"' if any(len(word) > _LONG for word in text.split()) else _right(right)
    return f'<td{long} data-name="{escape(name)}">{escape(text)}</td>'


def _right(right: bool) -> str:
    return ' class="n"' if right else ""


def cell(value: Any) -> str:
    """Return a value in the form of a report's table."""
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return f"{value:,.1f}" if 100 <= abs(value) < 1000 and value != int(value) else spelt(value)
    return _MOMENT.sub("\\1\u00a0\\2\u00a0UTC", str(value or ""))


_MOMENT = re.compile(r"^(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d)(?:\.\d+)?(?:\+00:00|Z)$")
"""A time as the journal and experiments write it; a table shows it to the second."""


def passports(sides: Sequence[Side]) -> list[tuple[str, tuple[str, ...], bool]]:
    """Return each condition with every side's value and whether they differ; differing ones come first."""
    differ = differences(tuple(sides))
    names = dict.fromkeys((*differ, *(name for side in sides for name in side.passport)))
    return [(name, tuple(side.passport.get(name, "not told") for side in sides), name in differ) for name in names]


def _conditions(sides: Sequence[Side]) -> Iterator[str]:
    if not sides:
        return
    yield from _opened("Conditions", [("condition", False), *((side.name, False) for side in sides)])
    rows = [("what", tuple(side.about for side in sides), False), *passports(sides)]
    for name, values, differs in rows:
        marked = ' class="other"' if differs else ""
        cells = "".join(_cell(side.name, value) for side, value in zip(sides, values, strict=True))
        yield f"<tr{marked}>{_cell('condition', name + (' (differs)' if differs else ''))}{cells}</tr>"
    yield "</tbody></table></div>"


def changes_rows(finding: Finding) -> list[Mapping[str, Any]]:
    """Return the journal's changes as rows of a table."""
    return [
        {"change": one.id, "at": one.at, "statement": one.statement, "outcome": one.outcome, "hash": one.chained}
        for one in finding.changes
    ]


def _changes(finding: Finding) -> Iterator[str]:
    if finding.changes:
        columns = ("change", "at", "statement", "outcome", "hash")
        rows = tuple(changes_rows(finding))
        yield from _table(Table(title="Changes in the journal meanwhile", columns=columns, rows=rows))
