"""Why a comparison of two levels would not be fair, from what cells tell before it begins and while it goes on. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from statistics import median_low

from exacell.cellcli.schema import release_key
from exacell.core.cellset import fold, grouped
from exacell.core.units import format_size
from exacell.core.values import dataclass
from exacell.measure.delta import CONDITIONS, unlike
from exacell.measure.limits import FAST_DEVICE, RedoPath, limits
from exacell.measure.snapshot import CellCounters, Snapshot, created_anew, fell, restarted

Cells = Mapping[str, CellCounters]
Told = Mapping[str, str]
"""A cell's conditions by name, as its passport has them."""


def no_cache(cells: Cells) -> list[str]:
    """Return that there is no flash cache, where that is so."""
    without = [cell for cell, counters in cells.items() if counters.passport.get("cacheSize") in (None, "0", "none")]
    return [f"there is no flash cache on {fold(without)}"] if without else []


def cannot_show(cells: Cells) -> list[str]:
    """Return why a comparison of flash logging on and off can't show anything on these cells; empty where nothing does."""
    paths = {}
    for cell, counters in cells.items():
        told = counters.passport
        paths[cell] = RedoPath(
            release=told.get("release", ""),
            mode=told.get("flashCacheMode", ""),
            model=told.get("model", ""),
            memory_log=told.get("memoryLog", ""),
            flash_log=told.get("flashLog", ""),
            on_flash=sum(counters.values.get(name, 0) for name in FAST_DEVICE),
            writes=counters.values.get("FL_RQ_W", 0),
        )
    return limits(paths)


_EACH_CELLS_OWN = frozenset({"services"})


def unlike_cells(cells: Cells) -> list[str]:
    """Return in what cells differ from each other: what is found on fewer cells first."""
    found = []
    for key, name in CONDITIONS.items():
        if key in _EACH_CELLS_OWN:
            continue
        values = grouped((counters.passport[key], cell) for cell, counters in cells.items() if key in counters.passport)
        if len(values) > 1:
            told = "; ".join(f"{_shown(key, value)} on {fold(names)}" for value, names in values.items())
            found.append(f"cells are not alike: {name}: {told}")
    return found


def _shown(key: str, value: str) -> str:
    return format_size(int(value)) if key == "cacheSize" and value.isdecimal() else value or "none"


_FILLED = 0.9
"""Share of a flash cache in use from which on it counts as full."""


def filling(used: Mapping[str, tuple[float, float]], *, reset: bool) -> list[str]:
    """Return that caches are still filling, where nothing puts them into one state before each run.

    Args:
        used: cell → bytes in use and bytes in all of its flash cache.
    """
    cells = [cell for cell, (part, whole) in used.items() if whole and part < _FILLED * whole]
    if reset or not cells:
        return []
    part = sum(used[cell][0] for cell in cells) / sum(used[cell][1] for cell in cells)
    return [
        f"the flash cache of {fold(cells)} is still filling ({part:.0%} in use), so later runs find more in it; "
        "reset=@reset_cold gives each run the same start"
    ]


_BUSY, _BUSY_RATE = 0.2, 50.0
"""Share of all requests, and requests a second, from which on other databases count as busy."""


def others_busy(rates: Mapping[str, float], db: str) -> list[str]:
    """Return that other databases have a good part of the requests.

    Args:
        rates: database → requests a second over all cells.
    """
    others = {name: rate for name, rate in rates.items() if name.lower() != db.lower()}
    total, theirs = sum(rates.values()), sum(others.values())
    if theirs < _BUSY_RATE or theirs < _BUSY * total:
        return []
    most = max(others, key=lambda name: others[name])
    return [f"other databases have {theirs / total:.0%} of the requests to the cells ({most} {others[most]:,.0f}/s)"]


_KEEP, _LARGE, _PROFILES, _SNAPSHOTS = "24.1", "25.2", "24.1", "26.1"
_LOADS_ITSELF = 23
"""Releases of the cells, and of the database, from which on what is told holds. Source: reference releases-2026.md: Oracle's
"what's new" of Exadata, proactive-flash-cache-keep, prioritize-important-large-writes-flash-cache, snapshot-aware-xrmem-cache;
Exascale, resource profiles."""


def by_release(factor: str, of: str, measure: str, cells: Cells, version: str) -> list[str]:
    """Return what the releases of the cells make of such a comparison, a sentence each without its stop.

    Args:
        factor, of, measure: of the experiment.
        version: of the database; empty where it is not known.
    """
    releases = {cell: counters.passport.get("release", "") for cell, counters in cells.items()}
    what = of.lower() if factor == "iorm" else factor
    clause = factor == "cell_flash_cache"
    cached = clause or what.startswith("flashcache") or measure == "reads"
    major = version.partition(".")[0]
    loads = not major.isdecimal() or int(major) >= _LOADS_ITSELF
    known = "" if major else ", if it is one,"
    told = (
        (
            clause and loads,
            _KEEP,
            f"a 23ai database{known} loads tables with KEEP into the flash cache by itself, so a run at keep may find data there "
            "that no run has read",
        ),
        (
            cached,
            _LARGE,
            "a flash cache that is more than half full takes no large writes but those of temporary data and flashback logs, so "
            "runs before and after that point differ",
        ),
        (
            what.startswith(("flashlog", "flashcache")),
            _PROFILES,
            "a database on Exascale has flash logging and flash cache from its resource profile, so IORM's directives "
            "change nothing for it",
        ),
        (
            cached,
            _SNAPSHOTS,
            "the XRMEM cache also keeps snapshots, which stay warm when the flash cache is made cold",
        ),
    )
    found = []
    for applies, since, line in told:
        on = [cell for cell, release in releases.items() if release and release_key(release) >= release_key(since)]
        if applies and on:
            found.append(f"from {since} on ({fold(on)}) {line}")
    return found


def changed(before: Mapping[str, Told], after: Cells, own: Callable[[Told], Told]) -> list[str]:
    """Return what of the cells' conditions is another now than in the first run.

    Args:
        own: makes conditions equal in what the factor itself changes.
    """
    found = unlike(
        _snapshot({cell: own(told) for cell, told in before.items()}),
        _snapshot({cell: own(counters.passport) for cell, counters in after.items()}),
    )
    gone = [cell for cell in before if cell not in after]
    if gone:
        found.append(f"{fold(gone)}: no answer")
    return found


@dataclass(frozen=True, kw_only=True)
class Around:
    """What else goes on beside a run, read before it and again after it.

    Attributes:
        requests: cell → database → requests to the cell since its counters began.
        collected: cell → when these were collected, on its own clock, epoch ms.
        rates: database → requests a second over all cells, as the cells tell of their last minute.
        used: cell → bytes in use in its flash cache.
        flushing: cells whose flash cache is being flushed.
        alerts: cell and name of each critical or warning alert that there is → what it says.
        moving: what is being moved in ASM, or why that is not known; a sentence each without its stop.
        unread: cells that did not tell, with the reason.
    """

    requests: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    collected: Mapping[str, int] = field(default_factory=dict)
    rates: Mapping[str, float] = field(default_factory=dict)
    used: Mapping[str, float] = field(default_factory=dict)
    flushing: tuple[str, ...] = ()
    alerts: Mapping[tuple[str, str], str] = field(default_factory=dict)
    moving: tuple[str, ...] = ()
    unread: tuple[str, ...] = ()

    def now(self, db: str) -> list[str]:
        """Return what disturbs at this moment, a sentence each without its stop."""
        return [*_unread(self), *others_busy(self.rates, db), *_flushing(self.flushing), *self.moving]


def came(before: Around, after: Around, db: str) -> list[str]:
    """Return what disturbed a run between two readings: the load of other databases over all of it, a flush, what ASM moved, a
    clock that was set, and alerts that are new. A sentence each without its stop."""
    rates: dict[str, float] = {}
    lasted, clocks = _lasted(before, after)
    for cell, counted in after.requests.items():
        first = before.requests.get(cell, {})
        seconds = lasted.get(cell, 0.0)
        if seconds <= 0 or not first:
            continue
        grown = {name: count - first.get(name, 0.0) for name, count in counted.items()}
        # Counters that restarted hold what came since then.
        for name, count in (counted if min(grown.values(), default=0.0) < 0 else grown).items():
            rates[name] = rates.get(name, 0.0) + count / seconds
    rates = rates or dict(after.rates)  # Where nothing was collected meanwhile, the cells' last minute.
    new = grouped(
        (text.strip().split("  ")[0], cell)
        for (cell, name), text in after.alerts.items()
        if (cell, name) not in before.alerts
    )
    return list(
        dict.fromkeys(
            [
                *_unread(before),
                *_unread(after),
                *others_busy(rates, db),
                *_flushing(sorted({*before.flushing, *after.flushing})),
                *_emptied(before, after),
                *clocks,
                *before.moving,
                *after.moving,
                *(f"an alert on {fold(dict.fromkeys(cells))}: {text}" for text, cells in new.items()),
            ]
        )
    )


_CLOCK_S, _CLOCK_SHARE = 150.0, 0.25
"""Seconds, and share of the run, by which the time between two collections of a cell is another than on the other cells: they
collect once a minute, and are asked one after the other."""


def _lasted(before: Around, after: Around) -> tuple[dict[str, float], list[str]]:
    """Return cell → seconds between its two collections, those of the other cells where its own clock can't tell them, and which
    cells these are."""
    own = {
        cell: (after.collected[cell] - at) / 1000 for cell, at in before.collected.items() if after.collected.get(cell)
    }
    usual = median_low(own.values()) if own else 0.0
    odd = {cell: told for cell, told in own.items() if abs(told - usual) > max(_CLOCK_S, _CLOCK_SHARE * abs(usual))}
    said = [
        f"the clock of {cell} was set, or its MS stopped: between its collections are {told:,.0f} s by it, and "
        f"{usual:,.0f} s on the other cells"
        for cell, told in odd.items()
    ]
    return {cell: usual if cell in odd else told for cell, told in own.items()}, said


_EMPTIED = 0.5
"""Share of what a flash cache held before a run that it holds behind it at most where it was emptied in between."""


def _emptied(before: Around, after: Around) -> list[str]:
    """Return which caches lost most of what they held: a flush may have begun and ended between two readings."""
    found = {
        cell: (had, after.used[cell])
        for cell, had in before.used.items()
        if cell in after.used and had and after.used[cell] < _EMPTIED * had
    }
    if not found:
        return []
    had, has = (f"{sum(pair[place] for pair in found.values()) / 2**30:,.0f}G" for place in (0, 1))
    return [f"the flash cache of {fold(list(found))} was emptied ({had} in use before, {has} after)"]


def _unread(around: Around) -> list[str]:
    return [f"{problem}: whether it is busy is not known" for problem in around.unread]


def _flushing(cells: Sequence[str]) -> list[str]:
    return [f"the flash cache of {fold(cells)} is being flushed"] if cells else []


def begun_anew(before: Cells, after: Cells) -> dict[str, str]:
    """Return the cells whose counters of the flash log restarted between two readings, and how that shows."""
    found = {}
    for cell, first in before.items():
        second = after.get(cell)
        if second is None:
            continue
        why = restarted(first, second)
        if not why and first.started and second.started != first.started:
            why = "CELLSRV was restarted"
        if not why and created_anew(first, second):
            why = "its flash log was created again"
        if why := why or fell(first, second, _COUNTED):
            found[cell] = why
    return found


def starts(before: Cells, after: Cells) -> list[str]:
    """Return that CELLSRV, or what else counts, was restarted between two readings, where that is so."""
    cells = begun_anew(before, after)
    servers = [cell for cell, why in cells.items() if "start" in why]
    others = [cell for cell in cells if cell not in servers]
    return [
        *([f"CELLSRV of {fold(servers)} was restarted"] if servers else []),
        *([f"the counters of the flash log of {fold(others)} restarted"] if others else []),
    ]


def new_among(now: Sequence[str], before: Sequence[str]) -> list[str]:
    """Return the reasons of which none of the same kind was there before: they are alike up to their first figure or name."""
    kinds = {_kind(line) for line in before}
    return [line for line in now if _kind(line) not in kinds]


def in_run(line: str) -> tuple[str, str]:
    """Return the number of the run in which something was noticed, empty where it was none, and what it was."""
    where, _, what = line.partition(": ")
    number = where.removeprefix("run ")
    return (number, what) if where.startswith("run ") and number.isdecimal() else ("", line)


def _kind(line: str) -> str:
    return " ".join(in_run(line)[1].split()[:3])


def redo_now(cells: Cells) -> float:
    """Return the microseconds that a redo write took in the last minute, of all databases, on the slowest cell."""
    return max((counters.values.get(REDO_RATE, 0.0) for counters in cells.values()), default=0.0)


def redo_since(before: Cells, after: Cells) -> float:
    """Return the same between two readings of all cells; 0 where no cell has collected in between."""
    found = [0.0]
    for cell, first in before.items():
        second = after.get(cell, first)
        writes, took = (
            second.values.get(name, 0.0) - first.values.get(name, 0.0) for name in ("FL_RQ_W", "FL_RQ_TM_W")
        )
        if writes > 0 and took > 0:
            found.append(took / writes)
    return max(found)


REDO_RATE = "FL_RQ_TM_W_RQ"
"""Microseconds of a redo write in the last minute, of all databases: cells don't tell it by database. Source: Oracle SAGUG,
monitoring Exadata Smart Flash Log."""


def outliers(before: Cells, after: Cells) -> tuple[int | None, int | None, int | None]:
    """Return redo writes between two readings of all cells, outliers that reached a database, and how many were prevented;
    three times None where a cell has collected nothing in between, does not count them, or its counters restarted."""
    found = [0, 0, 0]
    if begun_anew(before, after):
        return None, None, None
    for cell, first in before.items():
        second = after.get(cell)
        if second is None or second.collected <= first.collected:
            return None, None, None
        for place, names in enumerate(_TAIL):
            if any(name not in first.values or name not in second.values for name in names):
                return None, None, None
            found[place] += int(sum(second.values[name] - first.values[name] for name in names))
    return found[0], found[1], found[2]


_TAIL = (("FL_RQ_W",), ("FL_ACTUAL_OUTLIERS", "FL_SKIP_OUTLIERS"), ("FL_PREVENTED_OUTLIERS",))
"""Counters of redo writes, of outliers that a database waited for, and of those that it did not. Source: reference
measurement.md 2.1."""

_COUNTED = tuple(name for names in _TAIL for name in names)


def _snapshot(passports: Mapping[str, Told]) -> Snapshot:
    cells = {cell: CellCounters(collected=0, passport=told) for cell, told in passports.items()}
    return Snapshot(rack="", name="", kind="flashlog", taken="", cells=cells)
