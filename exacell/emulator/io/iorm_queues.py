"""How long requests wait in IORM's queues: longer on overloaded disks, for databases that want more than their share, and for
databases at the limit of the plan.

The wait of a minute's requests is counted when the minute is collected, for each database and for the cell, so that both
agree. Source: Oracle SAGUG, about-iorm, alter-iormplan: shares divide busy disks, a limit always holds, the objective decides
whether small or large requests go first; basic enforces neither. The lengths of the waits are made up.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from exacell.emulator.basics.clock import MINUTE
from exacell.emulator.cell.disk_models import DiskType
from exacell.emulator.cell.iorm_models import IormPlan
from exacell.emulator.cell.models import Cell
from exacell.emulator.io.device_io import CAPACITY, FLASH, HARD, LARGE, READ, SMALL, WRITE, Counters

_MEDIA = MappingProxyType({HARD: DiskType.HARD, FLASH: DiskType.FLASH, CAPACITY: DiskType.CAPACITY})

_PATIENCE: Mapping[str, Mapping[str, float]] = MappingProxyType(
    {
        "low_latency": MappingProxyType({SMALL: 0.3, LARGE: 2.0}),
        "high_throughput": MappingProxyType({SMALL: 1.5, LARGE: 0.6}),
    }
)
"""Factors by which small and large requests wait longer or shorter under an objective."""

_EVEN = MappingProxyType({SMALL: 1.0, LARGE: 1.0})

_LONGEST_S = 2.0
"""The most seconds of waiting for each second of service: a session that waits sends no new request."""

_FAR_OVER = 2.0
"""From this many times its limit on, a database's redo has to wait so long that it bypasses the flash log."""


def waits(prefix: str, medium: str, size: str) -> str:
    """Return the name of the counter of milliseconds that requests have waited in IORM's queues.

    Args:
        prefix: the database's prefix, ``SPOT:``; empty for all databases of the cell.
    """
    return f"{prefix}{medium}.{size}.WT"


def limited_at(database: str) -> str:
    """Return the name of the counter that holds the last time at which a database was far over its limit on the disks."""
    return f"{database}:LIMITED_AT"


@dataclass(frozen=True, kw_only=True)
class _Demand:
    """The service time in a minute that one database asked of a medium: microseconds of small and of large requests."""

    database: str
    small_us: float
    large_us: float

    @property
    def total_us(self) -> float:
        return self.small_us + self.large_us


def queue(
    cell: Cell,
    counters: Counters,
    before: Mapping[str, float],
    databases: Sequence[str],
    moment: float,
    *,
    limits_disks: bool,
) -> None:
    """Count the wait of the requests of the minute that ends at ``moment``.

    Args:
        before: the counters a minute ago.
        limits_disks: whether the plan's limits hold for hard disks too, or only for flash.
    """
    for medium, kind in _MEDIA.items():
        disks = len(cell.usable_disks(kind))
        demands = list(_demands(counters, before, medium, databases)) if disks else []
        capacity_us = disks * MINUTE * 1e6
        for demand in demands:
            limit = cell.iorm.limit(demand.database) if medium != HARD or limits_disks else 0.0
            held_back = _held_back(cell.iorm, demand, demands, capacity_us, limit)
            patience = _PATIENCE.get(cell.iorm.objective, _EVEN)
            for size, spent_us in ((SMALL, demand.small_us), (LARGE, demand.large_us)):
                waited = int(spent_us * min(_LONGEST_S, held_back * patience[size]) / 1000)
                _count(counters, waits(f"{demand.database}:", medium, size), waited)
                _divide(counters, before, medium, size, waited)
            if medium == HARD and 0 < _FAR_OVER * limit * capacity_us < demand.total_us and cell.iorm.enforced:
                counters[limited_at(demand.database)] = moment


def _demands(
    counters: Counters, before: Mapping[str, float], medium: str, databases: Iterable[str]
) -> Iterator[_Demand]:
    for database in databases:
        small, large = (
            counters.get(name, 0) - before.get(name, 0)
            for name in (f"{database}:{medium}.{size}.TM" for size in (SMALL, LARGE))
        )
        if small > 0 or large > 0:
            yield _Demand(database=database, small_us=max(0.0, small), large_us=max(0.0, large))


def _held_back(plan: IormPlan, demand: _Demand, demands: Sequence[_Demand], capacity_us: float, limit: float) -> float:
    """Return the seconds that a database's requests wait for each second of service."""
    total_us = sum(other.total_us for other in demands)
    over = max(0.0, total_us / capacity_us - 1.0)
    if not plan.enforced:
        return over
    shares = {other.database: plan.share(other.database) for other in demands}
    fair_us = total_us * shares[demand.database] / sum(shares.values())
    unfair = min(3.0, demand.total_us / fair_us)
    beyond = max(0.0, demand.total_us / (capacity_us * limit) - 1.0) if limit else 0.0
    return over * unfair + beyond


def _divide(counters: Counters, before: Mapping[str, float], medium: str, size: str, waited: int) -> None:
    """Count for the cell the wait of requests of one size, divided between reads and writes by their service time."""
    names = {kind: f"{medium}.{kind}_{size}.TM" for kind in (READ, WRITE)}
    spent = {kind: max(0.0, counters.get(name, 0) - before.get(name, 0)) for kind, name in names.items()}
    all_us = sum(spent.values())
    reads = int(waited * spent[READ] / all_us) if all_us else 0
    _count(counters, waits("", medium, f"{READ}_{size}"), reads)
    _count(counters, waits("", medium, f"{WRITE}_{size}"), waited - reads)


def _count(counters: Counters, name: str, amount: int) -> None:
    if amount:
        counters[name] = counters.get(name, 0) + amount
