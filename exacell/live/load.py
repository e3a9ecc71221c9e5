"""Compute each cell's present load from two collections of its metrics. Pure: readings in, figures out.

A cell collects its metrics once a minute, so a figure spans the time between the last two collections read.
Counters are subtracted; a counter that fell was reset, and then there is no figure for that span. Source: reference
measurement.md 2.1 for the share of redo writes that flash won.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field
from typing import Any

from exacell.core.values import dataclass

COUNTERS = (
    "FC_IO_RQ_R",
    "FC_IO_RQ_R_MISS",
    "FL_FLASH_FIRST",
    "FL_DISK_FIRST",
    "FL_ACTUAL_OUTLIERS",
    "FL_PREVENTED_OUTLIERS",
    "FL_RQ_W",
)
GAUGES = ("FC_BY_DIRTY", "FC_BY_USED", "CL_CPUT", "CD_IO_UTIL")

STATEMENT = (
    "list metriccurrent attributes name, metricObjectName, metricValue, collectionTime "
    f"where name like '{'|'.join((*COUNTERS, *GAUGES))}'"
)
"""Reads all of them in one round trip; LIKE matches whole values. Source: reference cellcli.md, LIKE."""

_MB = 2**20
_KEPT = 60
_PATIENCE = 3
"""After so many collections of one cell, cells that have not shown two are no longer waited for."""


@dataclass(frozen=True, kw_only=True)
class Reading:
    """One cell's metrics at one collection.

    Attributes:
        at: collectionTime, milliseconds.
        values: by metric; the largest value if a metric has several objects.
    """

    at: int
    values: Mapping[str, float]


@dataclass(frozen=True, kw_only=True)
class Load:
    """The load of a cell, or of all together; None for figures that are not known (yet).

    Attributes:
        cell: empty for the rack.
        seconds: the time that the figures span.
        hit_percent: the share of flash hits among small and large reads that the flash cache could have answered.
        reads, redo: per second.
        dirty, used: bytes, at the last collection.
        win_percent: the share of redo writes that flash finished before disk.
        outliers, prevented: their numbers in the span.
        cpu_percent, disk_percent: at the last collection; the latter is that of the busiest cell disk.
        hits: hit_percent of earlier spans, the newest last.
        problem: why there are no figures; else empty.
    """

    cell: str
    seconds: float | None = None
    hit_percent: float | None = None
    reads: float | None = None
    dirty: int | None = None
    used: int | None = None
    win_percent: float | None = None
    redo: float | None = None
    outliers: int | None = None
    prevented: int | None = None
    cpu_percent: float | None = None
    disk_percent: float | None = None
    hits: tuple[float | None, ...] = ()
    problem: str = ""

    def record(self) -> dict[str, Any]:
        """Return the figures as a record of a result."""
        return {
            "cell": self.cell or None, "seconds": self.seconds, "hitPercent": self.hit_percent,
            "readsPerSecond": self.reads, "dirty": self.dirty, "used": self.used, "redoPerSecond": self.redo,
            "flashWinPercent": self.win_percent, "actualOutliers": self.outliers,
            "preventedOutliers": self.prevented, "cpuPercent": self.cpu_percent, "diskPercent": self.disk_percent,
        }  # fmt: skip


def reading_of(rows: Iterable[Mapping[str, Any]], at: int) -> Reading:
    """Return a reading made from METRICCURRENT records."""
    values: dict[str, float] = {}
    for row in rows:
        name, value = row.get("name"), row.get("metricValue")
        if isinstance(name, str) and isinstance(value, (int, float)):
            values[name] = max(float(value), values.get(name, float(value)))
    return Reading(at=at, values=values)


@dataclass(kw_only=True)
class _Cell:
    last: Reading | None = None
    load: Load
    deltas: Mapping[str, float] | None = None
    seconds: float = 0.0
    steps: int = 0
    hits: deque[float | None] = field(default_factory=lambda: deque(maxlen=_KEPT))


class Loads:
    """The cells' readings so far, and their loads."""

    def __init__(self) -> None:
        self._cells: dict[str, _Cell] = {}

    def add(self, readings: Mapping[str, Reading], problems: Mapping[str, str]) -> frozenset[str]:
        """Add the cells' answers; return the cells that showed a new collection."""
        moved: set[str] = set()
        for cell, reading in readings.items():
            known = self._cells.setdefault(cell, _Cell(load=Load(cell=cell)))
            if known.last is not None and reading.at == known.last.at and not known.load.problem:
                continue
            moved.add(cell)
            self._step(cell, known, reading)
        for cell, problem in problems.items():
            known = self._cells.setdefault(cell, _Cell(load=Load(cell=cell)))
            known.load, known.deltas = Load(cell=cell, problem=problem, hits=tuple(known.hits)), None
        return frozenset(moved)

    def _step(self, cell: str, known: _Cell, reading: Reading) -> None:
        last, known.last = known.last, reading
        known.steps += 1
        known.deltas, known.seconds = None, 0.0
        if last is not None and reading.at > last.at:
            both = [name for name in COUNTERS if name in last.values and name in reading.values]
            deltas = {name: reading.values[name] - last.values[name] for name in both}
            if all(value >= 0 for value in deltas.values()):
                known.deltas, known.seconds = deltas, (reading.at - last.at) / 1000
        known.load = _load(cell, known.deltas, known.seconds, reading.values, ())
        if last is not None:
            known.hits.append(known.load.hit_percent)
        known.load = _load(cell, known.deltas, known.seconds, reading.values, tuple(known.hits))

    @property
    def measured(self) -> bool:
        """Return whether every cell that answers has shown two collections, or one cell so many that the others have
        stopped collecting."""
        steps = [known.steps for known in self._cells.values() if not known.load.problem]
        return bool(steps) and (min(steps) > 1 or max(steps) > _PATIENCE)

    @property
    def cells(self) -> list[Load]:
        """Return the load of each cell."""
        return [known.load for known in self._cells.values()]

    def rack(self) -> Load:
        """Return the load of all cells that answer: percentages are computed from sums, CPU and disk are those of the busiest.
        If one of these cells has no figures, the rack has none."""
        good = self._good()
        measured = [known for known in good if known.deltas is not None]
        return self._together(good, measured if len(measured) == len(good) else [])

    def rack_so_far(self) -> tuple[Load, int]:
        """Return the load of the cells that have figures, and their number: a cell without figures yet, or with counters
        that were just reset, does not hide the others' sum."""
        measured = [known for known in self._good() if known.deltas is not None]
        return self._together(measured or self._good(), measured), len(measured)

    def _good(self) -> list[_Cell]:
        return [known for known in self._cells.values() if not known.load.problem and known.last is not None]

    def _together(self, good: Sequence[_Cell], measured: Sequence[_Cell]) -> Load:
        sums: dict[str, float] | None = None
        if measured:
            names = set(COUNTERS).intersection(*(known.deltas or {} for known in measured))
            sums = {name: sum((known.deltas or {})[name] for known in measured) for name in names}
        gauges: dict[str, float] = {}
        for name, together in (("FC_BY_DIRTY", sum), ("FC_BY_USED", sum), ("CL_CPUT", max), ("CD_IO_UTIL", max)):
            values = [known.last.values[name] for known in good if known.last and name in known.last.values]
            if values:
                gauges[name] = together(values)
        # Cells collect at slightly different times: the rack's rates use the mean of their spans.
        seconds = sum(known.seconds for known in measured) / len(measured) if measured else 0.0
        return _load("", sums, seconds, gauges, ())


def _load(
    cell: str,
    deltas: Mapping[str, float] | None,
    seconds: float,
    gauges: Mapping[str, float],
    hits: tuple[float | None, ...],
) -> Load:
    known = deltas or {}
    reads = _sum(known.get("FC_IO_RQ_R"), known.get("FC_IO_RQ_R_MISS"))
    redo = _sum(known.get("FL_FLASH_FIRST"), known.get("FL_DISK_FIRST"))
    writes = known.get("FL_RQ_W", redo)
    return Load(
        cell=cell,
        seconds=seconds or None,
        hit_percent=_percent(known.get("FC_IO_RQ_R"), reads),
        reads=round(reads / seconds, 1) if reads is not None and seconds else None,
        dirty=_bytes(gauges.get("FC_BY_DIRTY")),
        used=_bytes(gauges.get("FC_BY_USED")),
        win_percent=_percent(known.get("FL_FLASH_FIRST"), redo),
        redo=round(writes / seconds, 1) if writes is not None and seconds else None,
        outliers=_whole(known.get("FL_ACTUAL_OUTLIERS")),
        prevented=_whole(known.get("FL_PREVENTED_OUTLIERS")),
        cpu_percent=gauges.get("CL_CPUT"),
        disk_percent=gauges.get("CD_IO_UTIL"),
        hits=hits,
    )


def _sum(one: float | None, other: float | None) -> float | None:
    return None if one is None or other is None else one + other


def _percent(part: float | None, whole: float | None) -> float | None:
    return round(100.0 * part / whole, 2) if part is not None and whole else None


def _bytes(megabytes: float | None) -> int | None:
    return None if megabytes is None else round(megabytes * _MB)


def _whole(value: float | None) -> int | None:
    return None if value is None else round(value)
