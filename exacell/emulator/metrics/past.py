"""A cell's collections from before its rack was made: a week of ordinary days, generated when they are read.

Counters grow along one curve to their values at the first real collection; the curve always rises, faster by day than by night.
The used space in the cache follows it. The same rack always has the same past.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from functools import lru_cache

from exacell.emulator.basics.clock import MINUTE
from exacell.emulator.io.device_io import OVERLOAD_SKIPS
from exacell.emulator.metrics.ambient import noise
from exacell.emulator.metrics.collection import Collection

DAY = 86400.0
SPAN = 12 * DAY
"""Seconds over which the counters grew: since CELLSRV started on a new rack's cells."""

_SWING = 0.7
"""How much busier the busiest minute of the day is than the average, as a share."""
_JITTER_S = 8.0
"""Seconds of activity by which a minute may be early or late: less than half of the quietest minute's activity, so that counters
never decrease.
"""

_SUMS = {
    "FL_IO_W": ("FL_DISK_FIRST", "FL_FLASH_FIRST"),
    "FL_RQ_W": (
        "FL_DISK_FIRST",
        "FL_FLASH_FIRST",
        "FL_IO_W_SKIP_IORM_PLAN",
        "FL_IO_W_SKIP_NO_FL_DISKS",
        "FL_IO_W_SKIP_LOG_ON_FAST_DEV",
        *OVERLOAD_SKIPS,
    ),
    "FC_IO_RQ_W": ("FC_IO_RQ_W_FIRST", "FC_IO_RQ_W_OVERWRITE"),
}
"""Counters that are sums of others; they are computed as sums, so that rounding makes no difference."""

_DIRTY = ("FC_BY_DIRTY", "FC_BY_SYNCED", "FC_BY_ALLOCATED_DIRTY", "CD_BY_FC_DIRTY|", "GD_BY_FC_DIRTY|")
_SPACE = ("FC_BY_", "CD_BY_FC_", "GD_BY_FC_", "PC_BY_", "XRM_BY_")


def _activity(key: str, moment: float) -> float:
    """Return the activity up to a moment, in seconds of average activity; it never decreases with time."""
    phase = 2 * math.pi * (moment / DAY - 0.35)
    return moment + _SWING * DAY / (2 * math.pi) * math.sin(phase) + _JITTER_S * noise(f"{key}|{int(moment // MINUTE)}")


@lru_cache(maxsize=1024)
def _span(key: str, end: float) -> tuple[float, float]:
    """Return the activity at which the counters began, and that at which they reached their final values."""
    return _activity(key, end - SPAN), _activity(key, end)


def grown(key: str, moment: float, end: float) -> float:
    """Return the share of the counters' final values that was reached at ``moment``: 1 at ``end``, 0 before they began."""
    low, high = _span(key, end)
    return min(1.0, max(0.0, (_activity(key, moment) - low) / (high - low)))


def growth_before(moment: float, key: str) -> float:
    """Return the activity of the minute before ``moment``, in seconds of average activity."""
    return _activity(key, moment) - _activity(key, moment - MINUTE)


class _PastValues(Mapping[str, float]):
    """The values of one minute of the past, each computed when it is asked for."""

    def __init__(self, first: Mapping[str, float], moment: float, end: float, key: str) -> None:
        self._first = first
        self._known: dict[str, float] = {}
        self._factor = grown(key, moment, end)
        breath = noise(f"{key}|dirty|{int(moment // (30 * MINUTE))}"), noise(f"{key}|d|{moment}")
        self._dirty = 0.80 + 0.10 * breath[0] + 0.02 * breath[1]

    def __getitem__(self, name: str) -> float:
        known = self._known.get(name)
        if known is None:
            known = self._known[name] = self._compute(name)
        return known

    def _compute(self, name: str) -> float:
        value = self._first[name]
        if name in _SUMS:
            return sum(self.get(part, 0) for part in _SUMS[name])
        if name.startswith(_DIRTY):
            return value * self._dirty
        if name.startswith(_SPACE):
            return value * (0.93 + 0.05 * self._factor)
        return int(value * self._factor) if isinstance(value, int) else value * self._factor

    def __iter__(self) -> Iterator[str]:
        return iter(self._first)

    def __len__(self) -> int:
        return len(self._first)


def before(first: Collection, moment: float, key: str) -> Collection:
    """Return the generated collection of a whole minute before the first real collection.

    Args:
        key: names the rack and the cell.
    """
    return Collection(moment, _PastValues(first.values, moment, first.moment, key), *first.epochs)
