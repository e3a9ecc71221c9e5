"""What a cell collected before its rack was made: a week of ordinary days, generated when somebody looks.

Counters grew to what they are at the first real collection along one curve that rises all the time, faster by day than
by night; the space in the cache breathed with it. The same rack always has the same past.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Iterator, Mapping
from functools import lru_cache

from exacell.emulator.clock import MINUTE
from exacell.emulator.collection import Collection
from exacell.emulator.device_io import OVERLOAD_SKIPS

DAY = 86400.0
SPAN = 12 * DAY
"""Seconds over which the counters grew: since CELLSRV started on a new rack's cells."""

_SWING = 0.7
"""How much busier than the average the busiest minute of the day is, as a share."""
_JITTER_S = 8.0
"""Seconds of activity that a minute may be ahead or behind: less than half of the quietest minute's, so time never
runs backwards."""

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
"""Counters that are sums of others, so that rounding does not part them."""

_DIRTY = ("FC_BY_DIRTY", "FC_BY_SYNCED", "FC_BY_ALLOCATED_DIRTY", "CD_BY_FC_DIRTY|", "GD_BY_FC_DIRTY|")
_SPACE = ("FC_BY_", "CD_BY_FC_", "GD_BY_FC_", "PC_BY_", "XRM_BY_")


def _noise(key: str) -> float:
    return zlib.crc32(key.encode()) / 0x7FFFFFFF - 1.0


def _activity(key: str, moment: float) -> float:
    """Return the activity up to a moment, in seconds of average activity; its derivative is never below 0."""
    phase = 2 * math.pi * (moment / DAY - 0.35)
    return (
        moment + _SWING * DAY / (2 * math.pi) * math.sin(phase) + _JITTER_S * _noise(f"{key}|{int(moment // MINUTE)}")
    )


@lru_cache(maxsize=1024)
def _span(key: str, end: float) -> tuple[float, float]:
    """Return the activity at which the counters began, and that at which they had their final values."""
    return _activity(key, end - SPAN), _activity(key, end)


def grown(key: str, moment: float, end: float) -> float:
    """Return which share of the counters' final values they had at ``moment``: 1 at ``end``, 0 before they began."""
    low, high = _span(key, end)
    return min(1.0, max(0.0, (_activity(key, moment) - low) / (high - low)))


def growth_before(moment: float, key: str) -> float:
    """Return the activity of the minute before ``moment``: how busy the past was."""
    return _activity(key, moment) - _activity(key, moment - MINUTE)


class _PastValues(Mapping[str, float]):
    """What was collected at one minute of the past, computed name by name when it is asked for."""

    def __init__(self, first: Mapping[str, float], moment: float, end: float, key: str) -> None:
        self._first = first
        self._known: dict[str, float] = {}
        self._factor = grown(key, moment, end)
        breath = _noise(f"{key}|dirty|{int(moment // (30 * MINUTE))}"), _noise(f"{key}|d|{moment}")
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
    """Return what was collected at a whole minute before the first real collection.

    Args:
        key: names the rack and the cell.
    """
    return Collection(moment, _PastValues(first.values, moment, first.moment, key), *first.epochs)
