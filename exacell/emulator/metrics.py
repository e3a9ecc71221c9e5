"""What the Management Server of a cell has collected: counters, their history, and the value of every metric.

Collections happen on whole minutes. Only those that differ from the one before are kept; between two kept ones nothing
moved, so the values at any earlier minute, and the rates, follow from what is kept.
"""

from __future__ import annotations

import random
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from exacell.emulator.clock import MINUTE, last_minute
from exacell.emulator.models import Cell, DiskType
from exacell.emulator.schema import MetricDefinition
from exacell.units import MIB

HISTORY_S = 7 * 86400.0
"""Rack seconds of history, metricHistoryDays' default. Source: Oracle SAGUG, describe-cell."""


@dataclass(frozen=True)
class Collection:
    """All raw values of one moment: cumulative counters and gauges by metric name, per object behind a ``|``."""

    moment: float
    values: dict[str, float]
    cache_epoch: int
    log_epoch: int


@dataclass(kw_only=True)
class CellMetrics:
    """Counters of one cell and what was collected of them.

    Attributes:
        counters: FC_* and FL_* as CELLSRV counts them now.
        cache_epoch, log_epoch: how often the FC_* and FL_* counters have started anew.
        frozen_at: rack time of the last collection while CELLSRV is down or has not been collected since; else None.
    """

    counters: dict[str, float] = field(default_factory=dict)
    cache_epoch: int = 0
    log_epoch: int = 0
    frozen_at: float | None = None
    collections: list[Collection] = field(default_factory=list)

    def restart_cache_counters(self) -> None:
        """Start the FC_* counters anew."""
        self.counters = {name: value for name, value in self.counters.items() if not name.startswith("FC_")}
        self.cache_epoch += 1

    def restart_log_counters(self) -> None:
        """Start the FL_* counters anew."""
        self.counters = {name: value for name, value in self.counters.items() if not name.startswith("FL_")}
        self.log_epoch += 1

    def collect(self, cell: Cell, moment: float) -> None:
        """Record the cell as it is at ``moment``, a whole minute; kept only if it differs from the last record."""
        values = {**self.counters, **gauges(cell)}
        fresh = Collection(moment, values, self.cache_epoch, self.log_epoch)
        last = self.collections[-1] if self.collections else None
        if last is not None and (last.values, last.cache_epoch, last.log_epoch) == (
            values,
            self.cache_epoch,
            self.log_epoch,
        ):
            return
        if last is not None and last.moment == moment:
            self.collections.pop()
        self.collections.append(fresh)
        oldest = bisect_right([c.moment for c in self.collections], moment - HISTORY_S) - 1
        if oldest > 0:
            del self.collections[:oldest]

    def at(self, moment: float) -> Collection:
        """Return what was collected at ``moment`` or last before; all zero before the first collection."""
        index = bisect_right(self.collections, moment, key=lambda c: c.moment)
        return self.collections[index - 1] if index else Collection(moment, {}, self.cache_epoch, self.log_epoch)

    def to_state(self) -> dict[str, Any]:
        """Return this as JSON-able data."""
        return {
            "counters": dict(self.counters),
            "cache_epoch": self.cache_epoch,
            "log_epoch": self.log_epoch,
            "frozen_at": self.frozen_at,
            "collections": [[c.moment, dict(c.values), c.cache_epoch, c.log_epoch] for c in self.collections],
        }

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> CellMetrics:
        """Return the object that :meth:`to_state` stored."""
        return cls(**{**state, "collections": [Collection(*row) for row in state["collections"]]})


def gauges(cell: Cell) -> dict[str, float]:
    """Return the instantaneous values of a cell's cache and log, and of its disks behind a ``|``."""
    values: dict[str, float] = {}
    cache = cell.flash_cache
    if cache is not None:
        used, dirty, size = cache.used_bytes, cache.dirty_bytes, cache.size_bytes
        allocated = min(size, used + used // 50)
        values |= {
            "FC_BY_USED": used / MIB,
            "FC_BY_DIRTY": dirty / MIB,
            "FC_BY_ALLOCATED": allocated / MIB,
            "FC_BY_ALLOCATED_DIRTY": min(allocated, dirty + dirty // 40) / MIB,
            "FC_BY_ALLOCATED_OLTP": allocated // 10 * 8 / MIB,
            "FC_BY_STALE_DIRTY": cache.stale_bytes / MIB,
        }
        for member in cache.members.values():
            values[f"CD_BY_FC_DIRTY|{member.cell_disk}"] = member.dirty_bytes / MIB
        for name, share in dirty_by_grid_disk(cell).items():
            values[f"GD_BY_FC_DIRTY|{name}"] = share / MIB
    if cell.flash_log is not None:
        values["FL_BY_KEEP"] = cell.flash_log.kept_bytes
    return values


def cached_grid_disks(cell: Cell) -> list[str]:
    """Return the grid disks whose data the flash cache may hold, by name."""
    return sorted(
        disk.name
        for disk in cell.grid_disks.values()
        if disk.disk_type is DiskType.HARD and disk.caching_policy == "default" and not disk.flushing
    )


def dirty_by_grid_disk(cell: Cell) -> dict[str, int]:
    """Return how the dirty bytes of the cache spread over grid disks; the sum is exact."""
    names = cached_grid_disks(cell)
    if cell.flash_cache is None or not names:
        return {}
    share, rest = divmod(cell.flash_cache.dirty_bytes, len(names))
    return {name: share + (1 if index < rest else 0) for index, name in enumerate(names)}


@dataclass(frozen=True)
class Reading:
    """One metric of one object at one collection."""

    definition: MetricDefinition
    object_name: str
    moment: float
    number: float


def _efficiency(now: dict[str, float], before: dict[str, float]) -> float:
    prevented = now.get("FL_PREVENTED_OUTLIERS", 0) - before.get("FL_PREVENTED_OUTLIERS", 0)
    actual = now.get("FL_ACTUAL_OUTLIERS", 0) - before.get("FL_ACTUAL_OUTLIERS", 0)
    return 100.0 * prevented / (prevented + actual) if prevented + actual else 100.0


class MetricReader:
    """Computes metric values of one cell from its collections.

    Args:
        seed: the rack's, for the ambient metrics (CPU, temperature) that nothing else moves.
    """

    def __init__(self, cell: Cell, metrics: CellMetrics, *, seed: int) -> None:
        self._cell = cell
        self._metrics = metrics
        self._seed = seed

    def readings(self, moment: float, definitions: Iterable[MetricDefinition]) -> Iterator[Reading]:
        """Yield the values of metrics at the collection of ``moment``, by object; none for what is not emulated."""
        for definition in definitions:
            if definition.object_type not in _READABLE:
                continue
            for object_name in self._objects(definition):
                number = self._number(definition, object_name, moment)
                if definition.unit == "IO requests" or definition.unit in ("us", "ms"):
                    number = int(number)
                yield Reading(definition, object_name, moment, number)

    def _objects(self, definition: MetricDefinition) -> tuple[str, ...]:
        cell = self._cell
        if definition.object_type in ("FLASHCACHE", "FLASHLOG"):
            return (definition.object_type,)
        if definition.name == "CD_BY_FC_DIRTY":
            return tuple(sorted(cell.cell_disks))
        if definition.name == "GD_BY_FC_DIRTY":
            return tuple(sorted(cell.grid_disks))
        if definition.name == "CL_FSUT":
            return ("/",)
        return (cell.name,) if definition.name in _AMBIENT else ()

    def _number(self, definition: MetricDefinition, object_name: str, moment: float) -> float:
        name = definition.name
        if definition.object_type in ("CELLDISK", "GRIDDISK"):
            return self._metrics.at(moment).values.get(f"{name}|{object_name}", 0.0)
        if definition.object_type not in ("FLASHCACHE", "FLASHLOG"):
            return self._ambient(name, moment)
        now = self._metrics.at(moment)
        if name == "FL_EFFICIENCY_PERCENTAGE":
            return _efficiency(now.values, {})
        if name == "FL_EFFICIENCY_PERCENTAGE_HOUR":
            return _efficiency(now.values, self._before(now, moment - 60 * MINUTE, definition))
        if name in now.values:
            return now.values[name]
        before = self._before(now, moment - MINUTE, definition)
        if name.endswith("_SEC"):
            return _delta(name.removesuffix("_SEC"), now.values, before) / MINUTE
        if name.endswith("_MIN"):
            return _delta(name.removesuffix("_MIN"), now.values, before)
        if name in _MEAN_OF:
            requests = _delta(_MEAN_OF[name], now.values, before)
            return _delta(name.removesuffix("_RQ"), now.values, before) / requests if requests else 0.0
        return 0 if definition.unit in ("Number", "IO requests", "us") else 0.0

    def _before(self, now: Collection, moment: float, definition: MetricDefinition) -> dict[str, float]:
        """Return the earlier values that a difference starts from: nothing when the counters restarted since."""
        earlier = self._metrics.at(moment)
        if definition.object_type == "FLASHLOG":
            return earlier.values if earlier.log_epoch == now.log_epoch else {}
        return earlier.values if earlier.cache_epoch == now.cache_epoch else {}

    def _ambient(self, name: str, moment: float) -> float:
        base, spread, decimals = _AMBIENT[name]
        if not spread:
            return base
        chance = random.Random(f"{self._seed}|{self._cell.host}|{name}|{int(last_minute(moment))}")
        return round(base + spread * chance.uniform(-1, 1), decimals)


def _delta(name: str, now: dict[str, float], before: dict[str, float]) -> float:
    return now.get(name, 0) - before.get(name, 0)


_MEAN_OF = {"FL_IO_TM_W_RQ": "FL_IO_W", "FL_RQ_TM_W_RQ": "FL_RQ_W"}
_READABLE = frozenset(("FLASHCACHE", "FLASHLOG", "CELLDISK", "GRIDDISK", "CELL", "CELL_FILESYSTEM"))

_AMBIENT: dict[str, tuple[float, float, int]] = {
    "CL_BBU_CHARGE": (92.0, 0.0, 1),
    "CL_BBU_TEMP": (38.0, 1.0, 0),
    "CL_CPUT": (2.1, 0.8, 1),
    "CL_CPUT_CS": (1.2, 0.4, 1),
    "CL_CPUT_MS": (0.3, 0.1, 1),
    "CL_CPU_COUNT": (24, 0.0, 0),
    "CL_CPU_POWER_CONSUMPTION": (148.0, 5.0, 0),
    "CL_FANS": (12, 0.0, 0),
    "CL_FFI_CAP": (0.0, 0.0, 3),
    "CL_FFI_USED": (0.0, 0.0, 3),
    "CL_FSUT": (38, 0.0, 0),
    "CL_IO_RQ_NODATA": (0, 0.0, 0),
    "CL_IO_RQ_NODATA_SEC": (0.0, 0.0, 1),
    "CL_MEMUT": (41.0, 1.0, 0),
    "CL_MEMUT_CS": (27.0, 0.5, 1),
    "CL_MEMUT_MS": (1.4, 0.1, 1),
    "CL_POWER_CONSUMPTION": (412.0, 9.0, 0),
    "CL_RUNQ": (0.9, 0.5, 1),
    "CL_SWAP_IN_BY_SEC": (0.0, 0.0, 1),
    "CL_SWAP_OUT_BY_SEC": (0.0, 0.0, 1),
    "CL_SWAP_USAGE": (0.0, 0.0, 1),
    "CL_TEMP": (25.0, 0.6, 0),
    "CL_VIRTMEM_CS": (25_312.0, 0.0, 0),
    "CL_VIRTMEM_MS": (1_204.0, 0.0, 0),
    "IORM_MODE": (3.0, 0.0, 1),
    "N_HCA_MB_RCV_SEC": (0.42, 0.1, 3),
    "N_HCA_MB_TRANS_SEC": (0.65, 0.1, 3),
    "N_NIC_KB_RCV_SEC": (2.1, 0.6, 3),
    "N_NIC_KB_TRANS_SEC": (3.4, 0.8, 3),
}
