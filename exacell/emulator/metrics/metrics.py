"""The collections of a cell's Management Server: counters, gauges, and their history.

Collections happen on whole minutes. Only those that differ from the one before are stored; between two stored ones nothing
changed, so the values at any earlier minute are known. :mod:`exacell.emulator.metrics.metric_store` stores them;
:mod:`exacell.emulator.metrics.past` makes up the time before the first one, when nobody watched this rack.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from exacell.core.units import MIB
from exacell.emulator.cell.models import Cell
from exacell.emulator.io.device_io import add
from exacell.emulator.metrics.collection import Collection
from exacell.emulator.metrics.metric_store import Collections, MetricStore
from exacell.emulator.metrics.past import before

_KEPT_PAST = 64
"""Generated collections that are kept in memory: enough for a reading, which needs a minute, the one before, an hour ago."""

HISTORY_S = 7 * 86400.0
"""Rack seconds of history, metricHistoryDays' default. Source: Oracle SAGUG, describe-cell."""


BUSY_S = "H.BUSY_S"
"""Counter of the seconds that I/O other than scrubbing has taken of each hard disk's time. It is never reset."""


@dataclass(kw_only=True)
class CellMetrics:
    """Counters of one cell, and its collections.

    Attributes:
        counters: FC_*, FL_* and SIO_* as CELLSRV counts them now, and what :mod:`exacell.emulator.io.device_io` counts.
        cache_epoch, log_epoch, server_epoch: how often the FC_*, the FL_* and all other counters have been reset.
        frozen_at: rack time of the last collection, while CELLSRV is down or nothing was collected since; else None.
        past: the key from which collections before the first one are generated; empty when there are none.
    """

    counters: dict[str, float] = field(default_factory=dict)
    cache_epoch: int = 0
    log_epoch: int = 0
    server_epoch: int = 0
    frozen_at: float | None = None
    past: str = ""
    collections: Collections = field(default_factory=lambda: MetricStore().of(""))
    _before: dict[float, Collection] = field(default_factory=dict, init=False, repr=False, compare=False)

    def restart_cache_counters(self) -> None:
        """Reset the FC_* counters."""
        self.counters = {name: value for name, value in self.counters.items() if not name.startswith("FC_")}
        self.cache_epoch += 1

    def count(self, **amounts: float) -> None:
        """Add amounts to counters."""
        add(self.counters, **amounts)

    def restart_log_counters(self) -> None:
        """Reset the FL_* counters."""
        self.counters = {name: value for name, value in self.counters.items() if not name.startswith("FL_")}
        self.log_epoch += 1

    def restart_server_counters(self) -> None:
        """Reset all counters, as a start of CELLSRV does."""
        self.counters = {name: self.counters[name] for name in (BUSY_S,) if name in self.counters}
        self.cache_epoch += 1
        self.log_epoch += 1
        self.server_epoch += 1

    def epochs(self) -> tuple[int, int, int]:
        """Return how often each kind of counter has been reset."""
        return self.cache_epoch, self.log_epoch, self.server_epoch

    def last_values(self) -> Mapping[str, float]:
        """Return the counters at the last collection; empty if CELLSRV has been started since."""
        last = self.collections.last
        return last.values if last is not None and last.server_epoch == self.server_epoch else {}

    def collect(self, cell: Cell, moment: float) -> None:
        """Collect the cell's values at ``moment``, a whole minute; they are stored only if they differ from the last ones."""
        values = {**self.counters, **gauges(cell)}
        fresh = Collection(moment, values, *self.epochs())
        last = self.collections.last
        if last is not None and last.values == values and last.epochs == fresh.epochs:
            return
        self.collections.put(fresh)
        self.collections.forget_before(moment - HISTORY_S)

    @property
    def begin(self) -> float:
        """Return the rack time of the first stored collection."""
        return self.collections.begin

    def counting_since(self, moment: float, started: float) -> float:
        """Return since when the counters other than FC_* and FL_*, as collected at ``moment``, had been counting.

        Args:
            started: when CELLSRV was started last.
        """
        epoch = self.at(moment).server_epoch
        if epoch == self.server_epoch:
            return min(started, moment)
        since = self.collections.since(epoch)
        return moment if since is None else since

    def at(self, moment: float) -> Collection:
        """Return the collection of ``moment`` or the last one before it; before the first one, a generated one of the past."""
        known = self.collections.at(moment)
        if known is not None:
            return known
        first = self.collections.at(self.collections.begin)
        if not self.past or first is None:
            return Collection(moment, {}, *self.epochs())
        found = self._before.get(moment)
        if found is None:
            if len(self._before) >= _KEPT_PAST:
                self._before.clear()
            found = self._before[moment] = before(first, moment, self.past)
        return found

    def to_state(self) -> dict[str, Any]:
        """Return this as JSON-able data; with the collections, unless they are stored in a file."""
        state: dict[str, Any] = {
            "counters": dict(self.counters),
            "cache_epoch": self.cache_epoch,
            "log_epoch": self.log_epoch,
            "server_epoch": self.server_epoch,
            "frozen_at": self.frozen_at,
            "past": self.past,
        }
        if not self.collections.kept:
            state["collections"] = [[c.moment, dict(c.values), *c.epochs] for c in self.collections]
        return state

    @classmethod
    def from_state(cls, state: dict[str, Any], collections: Collections, moment: float) -> CellMetrics:
        """Return the object that :meth:`to_state` stored.

        Args:
            collections: the cell's collections in a file; collections in the state replace them.
            moment: rack time at which the state was stored.
        """
        stored = state.get("collections")
        collections.forget_after(moment if stored is None else float("-inf"))
        for row in stored or ():
            collections.put(Collection(*row))
        return cls(**{**state, "collections": collections})


def gauges(cell: Cell) -> dict[str, float]:
    """Return the present values of a cell's cache and log, and of its disks by ``metric|disk``."""
    values: dict[str, float] = {}
    cache = cell.flash_cache
    if cache is not None:
        used, dirty, size = cache.used_bytes, cache.dirty_bytes, cache.size_bytes
        allocated = min(size, used + used // 50)
        dirty_lines = min(allocated, dirty + dirty // 40)
        values |= {
            "FC_BY_USED": used / MIB,
            "FC_BY_DIRTY": dirty / MIB,
            "FC_BY_ALLOCATED": allocated / MIB,
            "FC_BY_ALLOCATED_DIRTY": dirty_lines / MIB,
            "FC_BY_SYNCED": (dirty_lines - dirty) // 2 / MIB,
            "FC_BY_ALLOCATED_OLTP": allocated // 10 * 8 / MIB,
            "FC_BY_STALE_DIRTY": cache.stale_bytes / MIB,
        }
        for member in cache.members.values():
            values[f"CD_BY_FC_DIRTY|{member.cell_disk}"] = member.dirty_bytes / MIB
        for name, share in dirty_by_grid_disk(cell).items():
            values[f"GD_BY_FC_DIRTY|{name}"] = share / MIB
    if cell.flash_log is not None:
        values["FL_BY_KEEP"] = cell.flash_log.kept_bytes
    if cell.pmem_cache is not None:
        values["PC_BY_ALLOCATED"] = cell.pmem_cache.used_bytes / MIB
    if cell.memory_cache is not None:
        values["XRM_BY_ALLOCATED"] = cell.memory_cache.used_bytes / MIB
    return values


def cached_grid_disks(cell: Cell) -> list[str]:
    """Return the grid disks whose data the flash cache may hold, by name."""
    return sorted(
        disk.name
        for disk in cell.grid_disks.values()
        if disk.disk_type.is_cached and disk.caching_policy == "default" and not disk.flushing
    )


def dirty_by_grid_disk(cell: Cell) -> dict[str, int]:
    """Return how the cache's dirty bytes are divided among grid disks; the sum is exact."""
    names = cached_grid_disks(cell)
    if cell.flash_cache is None or not names:
        return {}
    share, rest = divmod(cell.flash_cache.dirty_bytes, len(names))
    return {name: share + (1 if index < rest else 0) for index, name in enumerate(names)}
