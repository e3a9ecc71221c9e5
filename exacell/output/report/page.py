"""A finding as one page of HTML: no network, no script; on a phone, on paper, light and dark."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from typing import Any

from exacell.core.values import dataclass
from exacell.measure.finding import Finding, Side, Table, differences
from exacell.output.report.drawing import charts_of, spelt

_STYLE = """
:root { color-scheme: light dark; --paper: #fff; --ink: #1b1f24; --faint: #6b7480; --line: #d5dae0; --mark: #fff3cd;
  --c0: #0072b2; --c1: #d55e00; --c2: #009e73; --c3: #cc79a7; --c4: #8a6d00; --c5: #4b4b8f; }
@media (prefers-color-scheme: dark) { :root { --paper: #14171a; --ink: #e8eaed; --faint: #9aa3ad; --line: #3a4149;
  --mark: #4a3f14; --c0: #56b4e9; --c1: #e69f00; --c2: #2fc79a; --c3: #e3a3c6; --c4: #f0e442; --c5: #a9a9e8; } }
@media print { :root { color-scheme: light; --paper: #fff; --ink: #000; --faint: #555; --line: #999; --mark: #eee;
  --c0: #0072b2; --c1: #d55e00; --c2: #009e73; --c3: #cc79a7; --c4: #8a6d00; --c5: #4b4b8f; }
  figure, tr { break-inside: avoid; } h2 { break-after: avoid; } .wide, figure { overflow: visible !important; }
  table { font-size: .75rem !important; } th.n { white-space: normal !important; }
  th, td { padding-right: .4rem !important; } svg { min-width: 0 !important; } }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 1rem; max-width: 60rem; background: var(--paper); color: var(--ink);
  font: 1rem/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "DejaVu Sans", sans-serif; overflow-wrap: break-word; }
h1 { font-size: 1.1rem; font-weight: 600; color: var(--faint); margin: 0; }
h2 { font-size: 1.1rem; margin: 2rem 0 .5rem; border-bottom: 1px solid var(--line); }
.verdict { font-size: 1.35rem; line-height: 1.35; font-weight: 600; margin: .5rem 0 1rem; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-size: .9rem; font-variant-numeric: tabular-nums; }
th, td { text-align: left; padding: .2rem .7rem .2rem 0; border-bottom: 1px solid var(--line); vertical-align: top; }
th { font-weight: 600; } .n { text-align: right; white-space: nowrap; } .other td { background: var(--mark); }
.long { overflow-wrap: anywhere; min-width: 9rem; }
figure { margin: 1rem 0; overflow-x: auto; } figcaption { font-size: .9rem; color: var(--faint); }
svg { width: 100%; min-width: 32rem; height: auto; } svg .guide.line { stroke: var(--line) !important; }
svg .text-overlay text { fill: var(--ink) !important; }
pre { overflow-x: auto; white-space: pre-wrap; border: 1px solid var(--line); padding: .6rem; font-size: .9rem; }
footer { margin-top: 2rem; font-size: .85rem; color: var(--faint); }
"""


@dataclass(frozen=True, kw_only=True)
class Made:
    """How a report was made: when (ISO 8601), with which version, by which statement."""

    at: str
    version: str
    statement: str


def page(finding: Finding, made: Made) -> str:
    """Return the page."""
    return "\n".join(_page(finding, made)) + "\n"


def _page(finding: Finding, made: Made) -> Iterator[str]:
    yield "<!DOCTYPE html>"
    yield '<html lang="en"><head><meta charset="utf-8">'
    yield '<meta name="viewport" content="width=device-width, initial-scale=1">'
    # Nothing may be fetched, whatever a name in the data tries.
    yield "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">"
    yield f'<meta name="generator" content="exacell {escape(made.version)}">'
    yield f"<title>{escape(finding.title)}</title><style>{_STYLE}</style></head><body><main>"
    yield f"<h1>{escape(finding.title)}</h1>"
    yield f'<p class="verdict">{escape(finding.verdict)}</p>'
    for sentence in finding.sentences[1:]:
        yield f"<p>{escape(sentence)}</p>"
    drawn = list(charts_of(finding.charts, finding.distributions))
    if drawn:
        yield "<h2>Charts</h2>"
    for caption, svg in drawn:
        yield f"<figure>{svg}<figcaption>{escape(caption)}</figcaption></figure>"
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
    yield f'<h2>{escape(table.title)}</h2><div class="wide"><table><thead><tr>'
    yield "".join(f"<th{_right(name in numeric)}>{_HUMP.sub('<wbr>', escape(name))}</th>" for name in table.columns)
    yield "</tr></thead><tbody>"
    for row in table.rows:
        yield f"<tr>{''.join(_cell(cell(row.get(name)), name in numeric) for name in table.columns)}</tr>"
    yield "</tbody></table></div>"


_HUMP = re.compile(r"(?<=[a-z])(?=[A-Z])")
"""Where a title such as ``pauseSeconds`` may be broken."""

_LONG = 30
"""Characters from which on a word, such as a hash, is broken where there is no room."""


def _cell(text: str, right: bool) -> str:
    long = ' class="long"' if any(len(word) > _LONG for word in text.split()) else _right(right)
    return f"<td{long}>{escape(text)}</td>"


def _right(right: bool) -> str:
    return ' class="n"' if right else ""


def cell(value: Any) -> str:
    """Return a value as a table of a report shows it."""
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return f"{value:,.1f}" if 100 <= abs(value) < 1000 and value != int(value) else spelt(value)
    return _MOMENT.sub("\\1\u00a0\\2\u00a0UTC", str(value or ""))


_MOMENT = re.compile(r"^(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d)(?:\.\d+)?(?:\+00:00|Z)$")
"""A moment as the journal and experiments write it; a table shows it to the second."""


def passports(sides: Sequence[Side]) -> list[tuple[str, tuple[str, ...], bool]]:
    """Return each condition with every side's value and whether they differ; those that differ come first."""
    differ = differences(tuple(sides))
    names = dict.fromkeys((*differ, *(name for side in sides for name in side.passport)))
    return [(name, tuple(side.passport.get(name, "not told") for side in sides), name in differ) for name in names]


def _conditions(sides: Sequence[Side]) -> Iterator[str]:
    if not sides:
        return
    yield '<h2>Conditions</h2><div class="wide"><table><thead><tr><th></th>'
    yield "".join(f"<th>{escape(side.name)}</th>" for side in sides)
    yield "</tr></thead><tbody><tr><td>what</td>"
    yield "".join(f"<td>{escape(side.about)}</td>" for side in sides) + "</tr>"
    for name, values, differs in passports(sides):
        marked = ' class="other"' if differs else ""
        cells = "".join(f"<td>{escape(value)}</td>" for value in values)
        yield f"<tr{marked}><td>{escape(name)}{' (differs)' if differs else ''}</td>{cells}</tr>"
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
