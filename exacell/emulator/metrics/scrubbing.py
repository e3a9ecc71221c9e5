"""Scrubbing of hard disks: cells regularly read them from end to end, and find bad sectors.

The progress follows from the schedule, the size of the disk and its other I/O, so it need not be emulated minute by minute.
A scrub reads one megabyte at a time: at full speed on an idle disk, and in the remaining time on a busy one.

Source: Oracle SAGUG, alter-cell-disk-scrubbing-attributes: every two weeks unless altered, between one and two hours for
each terabyte of an idle disk, whose utilisation it can bring to 100 %; IORM lets users' I/O go first.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import takewhile
from types import MappingProxyType

from exacell.core.units import MIB
from exacell.emulator.basics.clock import MINUTE
from exacell.emulator.cell.disk_models import CellDisk, GridDisk, ScrubSchedule
from exacell.emulator.cell.models import Cell
from exacell.emulator.io.device_io import HARD
from exacell.emulator.metrics.metrics import BUSY_S, CellMetrics

DAY = 86400.0
INTERVALS: Mapping[str, float] = MappingProxyType(
    {"daily": DAY, "weekly": 7 * DAY, "biweekly": 14 * DAY, "none": 0.0},
)
"""Values of hardDiskScrubInterval, in seconds."""

DEFAULT_INTERVAL = "biweekly"

PACE = 176 * MIB
"""Bytes a second: a terabyte takes an hour and a half."""

READ_US = 5650
"""Microseconds for a megabyte: at full speed the disk is busy nearly all the time."""

_FIRST_S = 8.5 * DAY
"""Seconds from the start of a new rack's cells to the last scrub of their disks, which was some days before the rack was made."""

_TIMES = tuple(f"{HARD}.{kind}_{size}.TM" for kind in ("R", "W") for size in ("SM", "LG"))

_REMEMBERED = 64
"""Moments whose results are kept in memory: a statement asks for them disk by disk."""

Window = tuple[float, float]
"""The moment at which a scrub begins, and the moment by which it must end."""


def alter_schedule(cell: Cell, now: float, *, interval: str | None = None, start: float | None = None) -> None:
    """Change a cell's schedule of scrubbing from now on; ``none`` also stops a running scrub."""
    before = _schedules(cell)[-1]
    fresh = ScrubSchedule(
        since=now,
        start=before.start if start is None else start,
        interval_s=before.interval_s if interval is None else INTERVALS[interval],
    )
    cell.scrub_schedules.append(fresh)


def count_busy(cell: Cell, metrics: CellMetrics) -> None:
    """Count how long other I/O has kept the hard disks busy since the last collection; the rest is for scrubbing."""
    disks = len(cell.hard_disks())
    last = metrics.last_values()
    busy = sum(metrics.counters.get(name, 0) - last.get(name, 0) for name in _TIMES)
    if disks and metrics.collections.last is not None and busy > 0:
        metrics.count(**{BUSY_S: min(MINUTE, busy / disks / 1e6)})


def _schedules(cell: Cell) -> list[ScrubSchedule]:
    first = cell.boot_time + _FIRST_S
    usual = ScrubSchedule(since=first, start=first, interval_s=INTERVALS[DEFAULT_INTERVAL])
    return [usual, *cell.scrub_schedules]


class Scrub:
    """The reads by the scrubs of one cell, for one statement: the schedule must not change while it is used."""

    def __init__(self, cell: Cell, metrics: CellMetrics) -> None:
        self._cell, self._metrics = cell, metrics
        self._schedules = _schedules(cell)
        self._reads: dict[tuple[float, int], int] = {}
        self._positions: dict[tuple[float, int], tuple[float, ...]] = {}

    def pace(self, moment: float) -> tuple[float, ...]:
        """Return a value that differs between two moments exactly if something was read between them, on the largest disk."""
        sizes = [disk.size_bytes for disk in self._cell.hard_disks()]
        return self._reached(moment, max(sizes)) if sizes else ()

    def read(self, disk: CellDisk, moment: float, *, part: GridDisk | None = None) -> int:
        """Return the megabytes of a disk, or of a grid disk on it, read up to ``moment`` since the counters began."""
        key = moment, disk.size_bytes
        if part is None and key in self._reads:
            return self._reads[key]
        low, high = (part.offset, part.offset + part.size_bytes) if part else (0, disk.size_bytes)
        now, before = self._both(disk, moment, part)
        found = sum(
            (min(max(end, low), high) - low) // MIB - (min(max(begin, low), high) - low) // MIB
            for end, begin in zip(map(int, now), map(int, before), strict=True)
        )
        if part is None:
            if len(self._reads) >= _REMEMBERED:
                self._reads.clear()
            self._reads[key] = found
        return found

    def errors(self, disk: CellDisk, moment: float, *, part: GridDisk | None = None) -> int:
        """Return the number of bad sectors that scrubs have found and repaired up to ``moment``, since the counters began."""
        if disk.name not in self._cell.bad_sectors:
            return 0
        low, high = (part.offset, part.offset + part.size_bytes) if part else (0, disk.size_bytes)
        now, before = self._both(disk, moment, part)
        found = 0
        for offset, since in self._cell.bad_sectors[disk.name]:
            if low <= offset < high and since <= moment:
                at_first = self._padded(since, disk, len(now))
                rows = zip(now, before, at_first, strict=True)
                found += any(max(begin, first) <= offset < end for end, begin, first in rows)
        return found

    def _both(self, disk: CellDisk, moment: float, part: GridDisk | None) -> tuple[tuple[float, ...], ...]:
        """Return how far each scrub was at ``moment``, and how far when the counters began."""
        now = self._reached(moment, disk.size_bytes)
        begin = self._metrics.counting_since(moment, self._cell.cellsrv_start)
        begin = max(begin, part.creation_time) if part else begin
        return now, self._padded(begin, disk, len(now))

    def _padded(self, moment: float, disk: CellDisk, count: int) -> tuple[float, ...]:
        found = self._reached(moment, disk.size_bytes)[:count]
        return found + (0.0,) * (count - len(found))

    def _reached(self, moment: float, size: int) -> tuple[float, ...]:
        """Return the bytes of a disk that each scrub has read at ``moment``, in the order in which the scrubs began."""
        key = moment, size
        known = self._positions.get(key)
        if known is None:
            if len(self._positions) >= _REMEMBERED:
                self._positions.clear()
            begun = takewhile(lambda window: window[0] <= moment, self._windows())
            known = self._positions[key] = tuple(
                min(float(size), PACE * self._idle_s(begin, min(end, moment))) for begin, end in begun
            )
        return known

    def _windows(self) -> Iterator[Window]:
        """Yield the times of the scrubs in order, without end if the schedule has none; each scrub ends when the next begins."""
        pending: float | None = None
        for index, schedule in enumerate(self._schedules):
            last = index == len(self._schedules) - 1
            until = float("inf") if last else self._schedules[index + 1].since
            if not schedule.interval_s:
                if pending is not None:
                    yield pending, schedule.since
                pending = None
                continue
            late = max(0.0, schedule.since - schedule.start)
            begin = schedule.start + -(-late // schedule.interval_s) * schedule.interval_s
            while begin < until:
                if pending is not None:
                    yield pending, begin
                pending = begin
                begin += schedule.interval_s
        if pending is not None:
            yield pending, float("inf")

    def _idle_s(self, begin: float, end: float) -> float:
        """Return the seconds of a disk's time that other I/O did not use."""
        metrics = self._metrics
        if end < metrics.begin:
            return end - begin
        earlier = metrics.at(max(begin, metrics.begin))
        return end - begin - (metrics.at(end).values.get(BUSY_S, 0.0) - earlier.values.get(BUSY_S, 0.0))
