"""Snapshots of counters on the cells."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from exacell.commands.metrics import Pairs, figure_row, not_alike, pairs_of
from exacell.commands.subjects.sort import Asked, Sort
from exacell.core.cellset import fold, grouped
from exacell.core.errors import ConfigError
from exacell.measure.delta import CONDITIONS, CellDelta
from exacell.measure.explain import explain
from exacell.measure.finding import Change, Chart, Finding, Form, Series, Side, Table
from exacell.measure.snapshot import Snapshot
from exacell.session.journalled import changes_in
from exacell.session.store import Store

_FIGURES = ("figure", "value", "unit", "low", "high", "means")
_BARS = {"flashlog": ("flashFirst", "diskFirst"), "flashcache": ("readHits", "readMisses")}


def _has(asked: Asked, name: str) -> bool:
    try:
        rack = asked.session.need_rack().name
    except ConfigError:
        return False
    names = Store(asked.session.home.state_dir / "store.db").snapshot_names(rack)
    return name.lower() in {known.lower() for known in names}


def _pair(asked: Asked, a: str, b: str) -> Finding:
    pairs = pairs_of((asked.session, asked.services, asked.request), (a, b), anyway=asked.anyway)
    sentences: list[str] = [*not_alike(pairs.compared.unlike)]
    rows, tables, charts, failed = [], [], [], False
    for kind, deltas in zip(pairs.kinds, pairs.compared.deltas, strict=True):
        found = explain(kind, pairs.first[kind], pairs.second[kind], deltas)
        sentences += found.sentences
        rows += [{"kind": kind, **figure_row(figure)} for figure in found.figures]
        failed = failed or bool(deltas[-1].invalid)
        tables.append(_by_cell(kind, deltas))
        charts += _chart(kind, deltas)
    return Finding(
        title=f"{asked.session.need_rack().name}: from {a} to {b}",
        sentences=tuple(sentences),
        figures=Table(title="Over the rack", columns=_FIGURES, rows=tuple(rows)),
        tables=tuple(tables),
        charts=tuple(charts),
        sides=tuple(
            Side(name=name, about=_when(shot, pairs.kinds), passport=_told(shot, pairs.kinds))
            for name, shot in ((a, pairs.first), (b, pairs.second))
        ),
        changes=_meanwhile(asked, pairs),
        notes=tuple(pairs.compared.notes),
        failed=failed,
    )


def _meanwhile(asked: Asked, pairs: Pairs) -> tuple[Change, ...]:
    """Return the journal's changes between the two snapshots."""
    first, second = pairs.first[pairs.kinds[0]], pairs.second[pairs.kinds[0]]
    return changes_in(asked.services.journal, first.rack, first.began or first.taken, second.taken)


def _by_cell(kind: str, deltas: list[CellDelta]) -> Table:
    rows = [
        {"cell": one.cell or "rack", "seconds": one.measured, **one.figures, "void": one.invalid or None}
        for one in deltas
    ]
    columns = dict.fromkeys(name for row in rows for name, value in row.items() if value is not None)
    return Table(title=f"{kind} by cell", columns=tuple(columns), rows=tuple(rows))


def _chart(kind: str, deltas: list[CellDelta]) -> list[Chart]:
    cells = [one for one in deltas if one.cell is not None and not one.invalid]
    series = []
    for name in _BARS[kind]:
        values = [(float(place), one.figures.get(name)) for place, one in enumerate(cells)]
        series.append(
            Series(name=name, points=tuple((place, float(value)) for place, value in values if value is not None))
        )
    names = tuple(str(one.cell) for one in cells)
    chart = Chart(title=f"{kind} by cell", x="", y="requests", series=tuple(series), form=Form.BARS, names=names)
    return [chart] if any(one.points for one in series) else []


def _when(shots: Mapping[str, Snapshot], kinds: Sequence[str]) -> str:
    return "; ".join(f"{kind}, taken {shots[kind].taken}" for kind in kinds)


def _told(shots: Mapping[str, Snapshot], kinds: Sequence[str]) -> dict[str, str]:
    """Return the passport of all cells: each condition once where they agree, else cell by cell."""
    found: dict[str, str] = {}
    for kind in kinds:
        cells = shots[kind].cells
        for key, name in CONDITIONS.items():
            by_value: dict[str, list[str]] = {}
            for cell, counters in cells.items():
                if counters.passport.get(key):
                    by_value.setdefault(counters.passport[key], []).append(cell)
            if len(by_value) == 1:
                found[name] = next(iter(by_value))
            elif by_value:
                found[name] = "; ".join(f"{fold(own)}: {value}" for value, own in by_value.items())
    hosts = shots[kinds[0]].hosts
    kernels = grouped((facts.get("kernel|kernel|release", "not told"), host) for host, facts in hosts.items())
    return found | {f"kernel of {fold(own)}": release for release, own in kernels.items()}


SNAPSHOTS = Sort(title="snapshots", has=_has, alone=None, pair=_pair)
