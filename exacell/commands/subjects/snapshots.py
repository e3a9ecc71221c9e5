"""Snapshots of counters on the cells."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from exacell.commands.metrics import Pairs, figure_row, not_alike, pairs_of
from exacell.commands.subjects.sort import Asked, Sort
from exacell.core.cellset import fold, grouped
from exacell.core.errors import ConfigError, RefusedError
from exacell.measure import sidebyside
from exacell.measure.delta import CellDelta, told_by_all, unlike
from exacell.measure.explain import explain
from exacell.measure.finding import Change, Chart, Finding, Form, Series, Side, Table
from exacell.measure.sidebyside import Interval, lasted
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
            Side(name=name, about=_when(shot, pairs.kinds), passport=_conditions(shot, pairs.kinds))
            for name, shot in ((a, pairs.first), (b, pairs.second))
        ),
        changes=_meanwhile(asked, pairs),
        notes=tuple(pairs.compared.notes),
        failed=failed,
    )


_BETWEEN = ".."
"""Separates the names of two snapshots that stand for the interval between them."""


def _ends(name: str) -> tuple[str, str]:
    before, _, after = name.partition(_BETWEEN)
    return before, after


def _is_interval(asked: Asked, name: str) -> bool:
    return all(end and _has(asked, end) for end in _ends(name))


def _side_by_side(asked: Asked, a: str, b: str) -> Finding:
    """Return the comparison of two intervals, each between two snapshots."""
    both = {
        name: pairs_of((asked.session, asked.services, asked.request), _ends(name), anyway=asked.anyway)
        for name in (a, b)
    }
    kinds = [kind for kind in both[a].kinds if kind in both[b].kinds]
    if not kinds:
        raise RefusedError(
            f"{a} has {', '.join(both[a].kinds)} and {b} has {', '.join(both[b].kinds)}: nothing in common",
            hint=f"also take `snap {both[a].kinds[0]}` at the beginning and the end of {b}",
        )
    one, other = (_interval(name, both[name], kinds) for name in (a, b))
    whole = bool(one.seconds and other.seconds)
    differ = unlike(both[a].second[kinds[0]], both[b].second[kinds[0]])
    told = [f"They differ in: {'; '.join(differ)}."] if differ else []
    within = [line for name in both for line in not_alike(both[name].compared.unlike)]
    return Finding(
        title=f"{asked.session.need_rack().name}: {b} beside {a}",
        sentences=(*sidebyside.sentences(one, other), *told, *within),
        figures=Table(
            title="Side by side",
            columns=("kind", *sidebyside.COLUMNS),
            rows=tuple({"kind": kind, **row} for kind in kinds for row in sidebyside.rows(kind, one, other))
            if whole
            else (),
        ),
        sides=tuple(
            Side(name=each.name, about=lasted(each), passport=_conditions(both[each.name].second, kinds))
            for each in (one, other)
        ),
        changes=tuple(change for pairs in both.values() for change in _meanwhile(asked, pairs)),
        notes=tuple(dict.fromkeys(note for pairs in both.values() for note in pairs.compared.notes)),
        failed=not whole,
    )


def _interval(name: str, pairs: Pairs, kinds: Sequence[str]) -> Interval:
    explained = {
        kind: explain(kind, pairs.first[kind], pairs.second[kind], deltas)
        for kind, deltas in zip(pairs.kinds, pairs.compared.deltas, strict=True)
        if kind in kinds
    }
    racks = [deltas[-1] for kind, deltas in zip(pairs.kinds, pairs.compared.deltas, strict=True) if kind in kinds]
    seconds = 0.0 if any(rack.invalid for rack in racks) else racks[0].seconds
    return Interval(name=name, seconds=seconds, explained=explained)


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


def _conditions(shots: Mapping[str, Snapshot], kinds: Sequence[str]) -> dict[str, str]:
    """Return the conditions of all cells: each condition once if the cells agree, otherwise cell by cell."""
    found: dict[str, str] = {}
    for kind in kinds:
        found |= told_by_all({cell: counters.passport for cell, counters in shots[kind].cells.items()})
    hosts = shots[kinds[0]].hosts
    kernels = grouped((facts.get("kernel|kernel|release", "not told"), host) for host, facts in hosts.items())
    return found | {f"kernel of {fold(own)}": release for release, own in kernels.items()}


SNAPSHOTS = Sort(title="snapshots", has=_has, alone=None, pair=_pair)

INTERVALS = Sort(
    title="intervals between two snapshots",
    has=_is_interval,
    alone=lambda asked, name: _pair(asked, *_ends(name)),
    pair=_side_by_side,
)
