"""The difference of two snapshots, and whether they were taken under the same conditions. Pure.

If counters restarted in between, there is no difference; :mod:`exacell.measure.snapshot` and the caller, who can ask the
journal and the cells, find that out. A difference shows the load only if the conditions were the same.

Formulae for flash logging: win share = 100·ΔFL_FLASH_FIRST / (ΔFL_FLASH_FIRST + ΔFL_DISK_FIRST). A rack's figure is the sum of
its cells' deltas, divided afterwards; percentages are never averaged. Source: reference measurement.md 2.1.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import field

from exacell.cellcli.directives import plan_in
from exacell.cellcli.iorm import diff
from exacell.core.cellset import fold, grouped
from exacell.core.units import size_text, sizes_apart
from exacell.core.values import dataclass
from exacell.measure.snapshot import UNTIMED, CellCounters, Snapshot, created_anew, fell

Number = int | float


@dataclass(frozen=True, kw_only=True)
class CellDelta:
    """The difference of one cell, or of the whole rack.

    Attributes:
        cell: None for the rack.
        seconds: between the two collections, by the cell's clock; for the rack the longest of its cells.
        values: metric → difference, for cumulative metrics; empty if ``invalid``.
        figures: figures calculated from the values; None if the data are not sufficient.
        alone: counters that only one of the two collections has.
        invalid: why there is no difference; empty if there is one.
    """

    cell: str | None
    seconds: float = 0.0
    values: Mapping[str, Number] = field(default_factory=dict)
    figures: Mapping[str, Number | None] = field(default_factory=dict)
    alone: tuple[str, ...] = ()
    invalid: str = ""

    @property
    def measured(self) -> float | None:
        """Return the seconds; None if there is no difference, or the time of a collection is not known."""
        return self.seconds or None


def _ratio(part: Number, whole: Number) -> float | None:
    return round(100.0 * part / whole, 4) if whole else None


def _flashlog(values: Mapping[str, Number]) -> dict[str, Number | None]:
    disk, flash = values.get("FL_DISK_FIRST"), values.get("FL_FLASH_FIRST")
    wins = _ratio(flash, disk + flash) if disk is not None and flash is not None else None
    prevented, actual = values.get("FL_PREVENTED_OUTLIERS"), values.get("FL_ACTUAL_OUTLIERS")
    return {
        "diskFirst": disk,
        "flashFirst": flash,
        "flashWinPercent": wins,
        "preventedOutliers": prevented,
        "actualOutliers": actual,
        "skippedByIormPlan": values.get("FL_IO_W_SKIP_IORM_PLAN"),
        "redoWrites": values.get("FL_RQ_W"),
    }


def _flashcache(values: Mapping[str, Number]) -> dict[str, Number | None]:
    hits, misses = values.get("FC_IO_RQ_R"), values.get("FC_IO_RQ_R_MISS")
    return {
        "readHits": hits,
        "readMisses": misses,
        "hitPercent": _ratio(hits, hits + misses) if hits is not None and misses is not None else None,
        "writes": values.get("FC_IO_RQ_W"),
        "megabytesRead": values.get("FC_IO_BY_R"),
        "megabytesWritten": values.get("FC_IO_BY_W"),
    }


_FIGURES: Mapping[str, Callable[[Mapping[str, Number]], dict[str, Number | None]]] = {
    "flashlog": _flashlog,
    "flashcache": _flashcache,
}


FIGURED = tuple(_FIGURES)
"""Kinds with one object per cell, from whose counters figures are calculated."""

_NO_LOAD: Mapping[str, tuple[tuple[str, ...], str]] = {
    "flashlog": (("redoWrites",), "no redo was written in between, so the flash log's figures say nothing"),
    "flashcache": (
        ("readHits", "readMisses", "writes"),
        "nothing was read or written through the flash cache in between",
    ),
}


def without_load(kind: str, rack: CellDelta) -> str:
    """Return a sentence if nothing happened on the rack between the two snapshots; empty if something did, or if that is not
    known.
    """
    figures, sentence = _NO_LOAD.get(kind, ((), ""))
    return sentence if not rack.invalid and all(rack.figures.get(name) == 0 for name in figures) else ""


def delta(
    before: Snapshot, after: Snapshot, cumulative: Iterable[str], void: Mapping[str, str] | None = None
) -> list[CellDelta]:
    """Return one CellDelta per cell in either snapshot, and the rack's as the last.

    Args:
        cumulative: the metrics whose difference is meaningful.
        void: cell → the reason, for cells whose counters restarted in between even if no counter is lower than before.
    """
    names = sorted(cumulative)
    cells = sorted(dict.fromkeys([*before.cells, *after.cells]))
    known = void or {}
    rows = [
        _cell(cell, before.cells.get(cell), after.cells.get(cell), names, before.kind, known.get(cell, ""))
        for cell in cells
    ]
    return [*rows, _rack(rows, before.kind)]


def _cell(
    cell: str, before: CellCounters | None, after: CellCounters | None, names: Iterable[str], kind: str, void: str
) -> CellDelta:
    if before is None or after is None:
        return CellDelta(cell=cell, invalid=f"it is missing in the {'first' if before is None else 'second'} snapshot")
    timed = UNTIMED not in (before.collected, after.collected)
    seconds = (after.collected - before.collected) / 1000 if timed else 0.0
    if timed and seconds <= 0:
        return CellDelta(
            cell=cell, invalid="both snapshots hold the same collection" if seconds == 0 else "the second is older"
        )
    why = "its cache or log was created anew in between" if created_anew(before, after) else void
    both = before.values.keys() & after.values.keys()
    counted = names if kind in _FIGURES else sorted(both)
    if not why and (fallen := fell(before, after, counted)):
        causes = (
            "a flush, a new cache, or a CELLSRV restart" if kind in _FIGURES else "a restart, or an object made anew"
        )
        why = f"{fallen}: the counters restarted ({causes})"
    if why:
        return CellDelta(cell=cell, seconds=seconds, invalid=why)
    values = {name: _tidy(after.values[name] - before.values[name]) for name in counted if name in both}
    alone = () if kind in _FIGURES else tuple(sorted(before.values.keys() ^ after.values.keys()))
    return CellDelta(cell=cell, seconds=seconds, values=values, figures=_figures(kind, values), alone=alone)


def _figures(kind: str, values: Mapping[str, Number]) -> dict[str, Number | None]:
    return _FIGURES[kind](values) if kind in _FIGURES else {}


def _rack(rows: Iterable[CellDelta], kind: str) -> CellDelta:
    rows = list(rows)
    bad = [row.cell for row in rows if row.invalid]
    good = [row for row in rows if not row.invalid]
    if bad or not good:
        return CellDelta(cell=None, invalid=f"no figure for the rack: {', '.join(str(c) for c in bad) or 'no cell'}")
    if kind in _FIGURES:
        names = set(good[0].values).intersection(*(row.values for row in good))
        values = {name: _tidy(sum(row.values[name] for row in good)) for name in sorted(names)}
    else:
        values = over_all({str(row.cell): row.values for row in good})
    return CellDelta(cell=None, seconds=max(row.seconds for row in good), values=values, figures=_figures(kind, values))


def over_all(cells: Mapping[str, Mapping[str, Number]]) -> dict[str, Number]:
    """Return the sum of each counter over all cells. Objects with the same name on every cell, such as databases, are summed
    separately; a cell's own objects, such as its disks, are summed together.
    """
    found: dict[str, Number] = {}
    for cell, values in cells.items():
        for key, value in values.items():
            metric, _, name = key.partition(" ")
            shared = metric if cell.lower() in name.lower() else key
            found[shared] = _tidy(found.get(shared, 0) + value)
    return found


def _tidy(value: Number) -> Number:
    rounded = round(float(value), 6)
    return int(rounded) if rounded == int(rounded) else rounded


CONDITIONS: Mapping[str, str] = {
    "release": "release",
    "flashCacheMode": "flash cache mode",
    "cacheSize": "flash cache size",
    "flashLog": "flash log",
    "memoryLog": "memory log",
    "services": "services",
    "objective": "IORM objective",
    "dbPlan": "IORM dbPlan",
    "catPlan": "IORM catPlan",
    "clusterPlan": "IORM clusterPlan",
}
"""Conditions in a cell's passport that must be equal in both snapshots → their names for display."""


def told_by_all(passports: Mapping[str, Mapping[str, str]]) -> dict[str, str]:
    """Return each condition by its name for display: one value if all cells agree, otherwise cell by cell.

    Args:
        passports: cell → key of CONDITIONS → value.
    """
    found: dict[str, str] = {}
    for key, name in CONDITIONS.items():
        values = grouped((_shown(key, told[key]), cell) for cell, told in passports.items() if told.get(key))
        if len(values) == 1:
            found[name] = next(iter(values))
        elif values:
            found[name] = "; ".join(f"{fold(cells)}: {value}" for value, cells in values.items())
    return found


_PLANS = ("dbPlan", "catPlan", "clusterPlan")
_SIZES = ("cacheSize",)


def unlike(before: Snapshot, after: Snapshot) -> list[str]:
    """Return the conditions that differ between two snapshots, one line for equal cells or hosts; empty if they are alike.

    Cells, hosts and conditions that only one snapshot has are not compared. IORM plans are compared by their meaning, releases
    and modes without regard to upper and lower case.
    """
    found: dict[str, list[str]] = {}
    for cell in before.cells.keys() & after.cells.keys():
        old, new = before.cells[cell].passport, after.cells[cell].passport
        for key, name in CONDITIONS.items():
            for change in _changes(key, old[key], new[key]) if key in old and key in new else ():
                found.setdefault(f"{name}: {change}", []).append(cell)
    order = list(CONDITIONS.values())
    lines = sorted(found, key=lambda line: (order.index(line.partition(":")[0]), line))
    return [
        f"{fold(cells)}: {line}" for line, cells in [*((line, found[line]) for line in lines), *_hosts(before, after)]
    ]


def _hosts(before: Snapshot, after: Snapshot) -> list[tuple[str, list[str]]]:
    """Return the differences between the facts of hosts in both snapshots, each with its hosts."""
    return list(
        grouped(
            (f"{path.replace('|', ' ')}: {old.get(path) or 'none'} → {new.get(path) or 'none'}", host)
            for host, old in before.hosts.items()
            for new in (after.hosts.get(host, old),)
            for path in dict.fromkeys([*old, *new])
            if old.get(path) != new.get(path)
        ).items()
    )


def untold(before: Snapshot, after: Snapshot) -> list[str]:
    """Return the names of conditions that could not be compared, because one of the snapshots does not have them."""
    both = [(before.cells[cell].passport, after.cells[cell].passport) for cell in before.cells if cell in after.cells]
    hosts = before.hosts.keys() ^ after.hosts.keys()
    names = [name for key, name in CONDITIONS.items() if any(key not in old or key not in new for old, new in both)]
    return [*names, *([f"facts of {fold(hosts)}"] if hosts else [])]


def _changes(key: str, old: str, new: str) -> Iterator[str]:
    if old.lower() == new.lower():
        return
    if key in _PLANS:
        plans = plan_in(old), plan_in(new)
        if plans[0] is not None and plans[1] is not None:
            for change in diff(plans[0], plans[1]):
                what = f"{change.directive} {change.attribute}".strip()
                yield f"{what}: {change.before or 'not set'} → {change.after or 'not set'}"
            return
    if key in _SIZES and old.isdecimal() and new.isdecimal():
        old, new = sizes_apart(int(old), int(new))
    yield " → ".join([_shown(key, text) for text in (old, new)])


def _shown(key: str, text: str) -> str:
    if key in _SIZES and text.isdecimal():
        return size_text(int(text))
    return text or "none"
