"""Whether two snapshots were taken under the same conditions: only then does their difference tell of the load. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from exacell.cellcli.iorm import IormPlan, diff, parse
from exacell.core.cellset import fold
from exacell.core.errors import ReplyError
from exacell.core.units import format_size
from exacell.measure.snapshot import Snapshot

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
"""What of a cell's passport must be the same in both snapshots, and how people call it."""

_PLANS = ("dbPlan", "catPlan", "clusterPlan")
_SIZES = ("cacheSize",)


def unlike(before: Snapshot, after: Snapshot) -> list[str]:
    """Return what differs between two snapshots, one line for equal cells; empty when they are alike.

    A cell that only one of them has, and what only one of them tells, is not compared. IORM plans are compared by what they
    mean, releases and modes in any case.
    """
    found: dict[str, list[str]] = {}
    for cell in before.cells.keys() & after.cells.keys():
        old, new = before.cells[cell].passport, after.cells[cell].passport
        for key, name in CONDITIONS.items():
            if key in old and key in new:
                for change in _changes(key, old[key], new[key]):
                    found.setdefault(f"{name}: {change}", []).append(cell)
    order = list(CONDITIONS.values())
    lines = sorted(found, key=lambda line: (order.index(line.partition(":")[0]), line))
    return [f"{fold(found[line])}: {line}" for line in lines]


def untold(before: Snapshot, after: Snapshot) -> list[str]:
    """Return by name what could not be compared because only one of the snapshots, or neither, tells it."""
    both = [(before.cells[cell].passport, after.cells[cell].passport) for cell in before.cells if cell in after.cells]
    return [name for key, name in CONDITIONS.items() if any(key not in old or key not in new for old, new in both)]


def _changes(key: str, old: str, new: str) -> Iterator[str]:
    if old.lower() == new.lower():
        return
    if key in _PLANS:
        plans = _plan(old), _plan(new)
        if plans[0] is not None and plans[1] is not None:
            for change in diff(plans[0], plans[1]):
                what = f"{change.directive} {change.attribute}".strip()
                yield f"{what}: {change.before or 'not set'} → {change.after or 'not set'}"
            return
    shown = [_shown(key, text) for text in (old, new)]
    yield " → ".join(shown)


def _plan(text: str) -> IormPlan | None:
    try:
        return parse(text)
    except ReplyError:
        return None  # It is compared as text.


def _shown(key: str, text: str) -> str:
    if key in _SIZES and text.isdecimal():
        return format_size(int(text))
    return text or "none"
