"""Find reasons why a comparison of two levels would not be fair, from the cells' state before it begins and while it runs.
Pure.
"""

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
"""A cell's conditions by name, as in its passport."""


def no_cache(cells: Cells) -> list[str]:
    """Return a sentence if cells have no flash cache; otherwise an empty list."""
    without = [cell for cell, counters in cells.items() if counters.passport.get("cacheSize") in (None, "0", "none")]
    return [f"there is no flash cache on {fold(without)}"] if without else []


def cannot_show(cells: Cells) -> list[str]:
    """Return why a comparison of flash logging on and off can't show anything on these cells; empty if it can."""
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
    """Return the conditions in which cells differ from each other; the rarest values come first."""
    found = []
    for key, name in CONDITIONS.items():
        if key in _EACH_CELLS_OWN:
            continue
        values = grouped((counters.passport[key], cell) for cell, counters in cells.items() if key in counters.passport)
        if len(values) > 1:
            told = "; ".join(f"{_shown(key, value)} on {fold(names)}" for value, names in values.items())
            found.append(f"cells differ: {name}: {told}")
    return found


def _shown(key: str, value: str) -> str:
    return format_size(int(value)) if key == "cacheSize" and value.isdecimal() else value or "none"


_FILLED = 0.9
"""Share of a flash cache in use above which it counts as full."""


def filling(used: Mapping[str, tuple[float, float]], *, reset: bool) -> list[str]:
    """Return a sentence if caches are still filling and nothing resets them before each run.

    Args:
        used: cell → bytes in use and total bytes of its flash cache.
    """
    cells = [cell for cell, (part, whole) in used.items() if whole and part < _FILLED * whole]
    if reset or not cells:
        return []
    part = sum(used[cell][0] for cell in cells) / sum(used[cell][1] for cell in cells)
    return [
        f"the flash cache of {fold(cells)} is still filling ({part:.0%} in use), so later runs find more in it; "
        "reset=@reset_cold gives each run the same start"
    ]


_ONLY_FULL = "KEEP and DEFAULT differ only while the flash cache is full"


def _both_clauses(factor: str, levels: Sequence[str]) -> bool:
    return factor == "cell_flash_cache" and {"keep", "default"} <= {level.lower() for level in levels}


def may_have_room(
    factor: str, levels: Sequence[str], used: Mapping[str, tuple[float, float]], *, reset: bool
) -> list[str]:
    """Return a sentence if KEEP and DEFAULT will be compared in caches that are not full, or that are emptied before each run.

    Args:
        levels: all levels of the experiment.
        used: cell → bytes in use and total bytes of its flash cache.
    """
    if not _both_clauses(factor, levels):
        return []
    if reset:
        return [
            f"{_ONLY_FULL}, and reset= empties it before each run, so its load must fill it; "
            "a smaller cache is full sooner, and each run looks whether it is"
        ]
    cells = [cell for cell, (part, whole) in used.items() if whole and part < _FILLED * whole]
    return [f"{_ONLY_FULL}, and that of {fold(cells)} is not"] if cells else []


def had_room(factor: str, levels: Sequence[str], used: Mapping[str, float], cells: Cells) -> list[str]:
    """Return a sentence if a run that compares KEEP and DEFAULT ended with caches that were not full.

    Args:
        levels: all levels of the experiment.
        used: cell → bytes in use in its flash cache.
        cells: the cells' conditions, with the size of the cache.
    """
    if not _both_clauses(factor, levels):
        return []
    sizes = {cell: int(size) for cell in cells if (size := cells[cell].passport.get("cacheSize", "")).isdecimal()}
    roomy = [cell for cell, size in sizes.items() if cell in used and used[cell] < _FILLED * size]
    return [f"{_ONLY_FULL}, and that of {fold(roomy)} was not: it can't rank them"] if roomy else []


_BUSY, _BUSY_RATE = 0.2, 50.0
"""Share of all requests, and requests per second, above which other databases count as busy."""


def others_busy(rates: Mapping[str, float], db: str) -> list[str]:
    """Return a sentence if other databases make a large part of the requests.

    Args:
        rates: database → requests per second over all cells.
    """
    others = {name: rate for name, rate in rates.items() if name.lower() != db.lower()}
    total, theirs = sum(rates.values()), sum(others.values())
    if theirs < _BUSY_RATE or theirs < _BUSY * total:
        return []
    most = max(others, key=lambda name: others[name])
    return [f"other databases have {theirs / total:.0%} of the requests to the cells ({most} {others[most]:,.0f}/s)"]


_KEEP, _LARGE, _PROFILES, _SNAPSHOTS = "24.1", "25.2", "24.1", "26.1"
_LOADS_ITSELF = 23
"""First release of the cells, and of the database, for which the sentences are true. Source: reference releases-2026.md: Oracle's
"what's new" of Exadata, proactive-flash-cache-keep, prioritize-important-large-writes-flash-cache, snapshot-aware-xrmem-cache;
Exascale, resource profiles."""


def by_release(factor: str, of: str, measure: str, cells: Cells, version: str) -> list[str]:
    """Return how the releases of the cells affect such a comparison: a list of sentences without their full stops.

    Args:
        factor, of, measure: as in the experiment.
        version: version of the database; empty if it is not known.
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
    """Return the conditions of the cells that have changed since the first run.

    Args:
        own: returns conditions without the differences that the factor itself makes.
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
    """Other activity beside a run, read before the run and again after it.

    Attributes:
        requests: cell → database → requests to the cell since its counters began.
        collected: cell → time of that collection by its own clock, epoch ms.
        rates: database → requests per second over all cells, in the cells' last minute.
        used: cell → bytes in use in its flash cache.
        flushing: cells whose flash cache is being flushed.
        alerts: (cell, name) of each critical or warning alert → its text.
        moving: data that ASM is moving, or why that is not known; sentences without their full stops.
        unread: cells that could not be read, with the reason.
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
        """Return the current disturbances, as sentences without their full stops."""
        return [*_unread(self), *others_busy(self.rates, db), *_flushing(self.flushing), *self.moving]


def came(before: Around, after: Around, db: str) -> list[str]:
    """Return the disturbances of a run between two readings: load of other databases over the whole run, a flush, data that
    ASM moved, a clock that was changed, and new alerts; as sentences without their full stops.
    """
    rates: dict[str, float] = {}
    lasted, clocks = _lasted(before, after)
    for cell, counted in after.requests.items():
        first = before.requests.get(cell, {})
        seconds = lasted.get(cell, 0.0)
        if seconds <= 0 or not first:
            continue
        grown = {name: count - first.get(name, 0.0) for name, count in counted.items()}
        # If counters restarted, they contain only the requests since then.
        for name, count in (counted if min(grown.values(), default=0.0) < 0 else grown).items():
            rates[name] = rates.get(name, 0.0) + count / seconds
    rates = rates or dict(after.rates)  # If nothing was collected in between, use the cells' last minute.
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
"""Seconds, and share of the run, by which the time between two collections may differ from that of other cells: cells collect
once a minute, and are read one after the other.
"""


def _lasted(before: Around, after: Around) -> tuple[dict[str, float], list[str]]:
    """Return cell → seconds between its two collections, and sentences about cells whose clock can't show this; for those, the
    seconds of the other cells are used.
    """
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
"""A flash cache that holds at most this share of its earlier data after a run was emptied in between."""


def _emptied(before: Around, after: Around) -> list[str]:
    """Return the caches that lost most of their data: a flush may have begun and ended between two readings."""
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
    """Return cell → the sign that its flash log counters restarted between two readings."""
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
    """Return a sentence if CELLSRV or another counting service was restarted between two readings."""
    cells = begun_anew(before, after)
    servers = [cell for cell, why in cells.items() if "start" in why]
    others = [cell for cell in cells if cell not in servers]
    return [
        *([f"CELLSRV of {fold(servers)} was restarted"] if servers else []),
        *([f"the counters of the flash log of {fold(others)} restarted"] if others else []),
    ]


def new_among(now: Sequence[str], before: Sequence[str]) -> list[str]:
    """Return the reasons of a new kind; two reasons are of one kind if they are equal up to their first figure or name."""
    kinds = {_kind(line) for line in before}
    return [line for line in now if _kind(line) not in kinds]


def in_run(line: str) -> tuple[str, str]:
    """Return the number of the run in which something was noticed (empty for none), and the notice."""
    where, _, what = line.partition(": ")
    number = where.removeprefix("run ")
    return (number, what) if where.startswith("run ") and number.isdecimal() else ("", line)


def _kind(line: str) -> str:
    return " ".join(in_run(line)[1].split()[:3])


def redo_now(cells: Cells) -> float:
    """Return the microseconds of a redo write in the last minute, over all databases, on the slowest cell."""
    return max((counters.values.get(REDO_RATE, 0.0) for counters in cells.values()), default=0.0)


def redo_since(before: Cells, after: Cells) -> float:
    """Return the microseconds of a redo write between two readings, over all databases, on the slowest cell.

    0 if no cell has collected in between.
    """
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
"""Metric with the microseconds of a redo write in the last minute, over all databases: cells don't count it by database. Source:
Oracle SAGUG, monitoring Exadata Smart Flash Log."""


def outliers(before: Cells, after: Cells) -> tuple[int | None, int | None, int | None]:
    """Return the redo writes between two readings of all cells, the outliers that reached a database, and the prevented outliers.

    All three are None if a cell has not collected in between, does not count them, or its counters restarted.
    """
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
"""Counters of redo writes, of outliers that a database waited for, and of prevented outliers. Source: reference
measurement.md 2.1."""

_COUNTED = tuple(name for names in _TAIL for name in names)


def _snapshot(passports: Mapping[str, Told]) -> Snapshot:
    cells = {cell: CellCounters(collected=0, passport=told) for cell, told in passports.items()}
    return Snapshot(rack="", name="", kind="flashlog", taken="", cells=cells)
