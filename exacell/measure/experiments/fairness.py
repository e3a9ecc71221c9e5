"""Why a comparison of two levels would not be fair, from what cells tell before it begins and while it goes on. Pure."""

from __future__ import annotations

from collections.abc import Mapping

from exacell.cellcli.directives import DirectiveName
from exacell.cellcli.iorm import inherited, parse, render, set_attributes
from exacell.core.cellset import fold, grouped
from exacell.core.errors import ExacellError
from exacell.core.units import format_size
from exacell.measure.delta import CONDITIONS, unlike
from exacell.measure.limits import FAST_DEVICE, RedoPath, limits
from exacell.measure.snapshot import CellCounters, Snapshot

Cells = Mapping[str, CellCounters]


def level_now(plans: Mapping[str, str], db: str) -> str:
    """Return whether IORM lets a database use the flash log: ``on`` or ``off``; empty where cells differ in it.

    Args:
        plans: cell → dbPlan, as the cell writes it.

    Raises:
        ReplyError: a plan can't be read.
    """
    found = {_flash_log(text, db) for text in plans.values()}
    return found.pop() if len(found) == 1 else ""


def _flash_log(text: str, db: str) -> str:
    plan = parse(text)
    own = plan.named(db)
    if own:
        words = {(directive.get("flashlog") or "on").lower() for directive in own}
        return words.pop() if len(words) == 1 else ""
    told = inherited(plan).get("flashlog")
    return told.value.lower() if told is not None else "on"


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
        f"the flash cache of {fold(cells)} is still filling ({part:.0%} in use), so that later runs find more in it: "
        "reset=@reset_cold makes each run begin alike"
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


def changed(before: Mapping[str, Mapping[str, str]], after: Cells, db: str) -> list[str]:
    """Return what of the cells' conditions is another now than in the first run, but for the flash log of one database."""
    found = unlike(_snapshot(before, db), _snapshot({cell: counters.passport for cell, counters in after.items()}, db))
    gone = [cell for cell in before if cell not in after]
    if gone:
        found.append(f"{fold(gone)}: no answer")
    return found


def outliers(before: Cells, after: Cells) -> tuple[int | None, int | None, int | None]:
    """Return redo writes between two readings of all cells, outliers that reached a database, and how many were prevented;
    three times None where a cell has collected nothing in between, or its counters began anew."""
    found = [0, 0, 0]
    for cell, first in before.items():
        second = after.get(cell)
        if second is None or second.collected <= first.collected or second.started != first.started:
            return None, None, None
        for place, names in enumerate(_TAIL):
            found[place] += int(sum(second.values.get(name, 0) - first.values.get(name, 0) for name in names))
    return (found[0], found[1], found[2]) if min(found) >= 0 else (None, None, None)


_TAIL = (("FL_RQ_W",), ("FL_ACTUAL_OUTLIERS", "FL_SKIP_OUTLIERS"), ("FL_PREVENTED_OUTLIERS",))
"""Counters of redo writes, of outliers that a database waited for, and of those that it did not. Source: reference
measurement.md 2.1."""


def _snapshot(passports: Mapping[str, Mapping[str, str]], db: str) -> Snapshot:
    cells = {cell: CellCounters(collected=0, passport=_without(told, db)) for cell, told in passports.items()}
    return Snapshot(rack="", name="", kind="flashlog", taken="", cells=cells)


def _without(told: Mapping[str, str], db: str) -> dict[str, str]:
    """Return a passport whose plan lets the database use the flash log by a directive of its own, as the experiment makes it."""
    try:
        plan = set_attributes(parse(told.get("dbPlan", "")), DirectiveName(name=db), {"flashLog": "on"})
    except ExacellError:  # It is compared as it stands.
        return dict(told)
    return {**told, "dbPlan": render(plan)}
