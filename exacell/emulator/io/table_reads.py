"""Reads of tables that cells have not counted yet, and what other data leaves of the tables in their flash caches."""

from __future__ import annotations

from dataclasses import asdict, dataclass

from exacell.emulator.cell.models import Cell
from exacell.emulator.io.cache_fill import MAX_USED_SHARE


@dataclass(kw_only=True)
class TableReads:
    """Reads of sessions on one cell that the cell has not counted yet: requests, and megabytes of smart scans.

    Attributes:
        direct, direct_mb: those of tables that are on grid disks of flash, where no cache is between.
    """

    hits: int = 0
    misses: int = 0
    skipped: int = 0
    kept_hits: int = 0
    kept_misses: int = 0
    scanned_mb: int = 0
    direct: int = 0
    direct_mb: int = 0

    def with_more(self, more: TableReads) -> TableReads:
        """Return these and more."""
        other = asdict(more)
        return TableReads(**{name: count + other[name] for name, count in asdict(self).items()})


def reads_to_state(reads: dict[str, dict[str, TableReads]]) -> dict[str, dict[str, dict[str, int]]]:
    """Return the reads that cells have not counted yet, as JSON-able data."""
    return {name: {host: asdict(own) for host, own in hosts.items()} for name, hosts in reads.items()}


def reads_from_state(state: dict[str, dict[str, dict[str, int]]]) -> dict[str, dict[str, TableReads]]:
    """Return the reads that :func:`reads_to_state` stored."""
    return {name: {host: TableReads(**own) for host, own in hosts.items()} for name, hosts in state.items()}


def crowd_out(cell: Cell, kept: set[str], used: int) -> None:
    """Let other data that comes into a full cell's cache replace cached tables, except those in ``kept``."""
    cache = cell.flash_cache
    if cache is None or not cache.tables or cache.used_bytes < cache.size_bytes * MAX_USED_SHARE * _FULL:
        return
    for name in cache.tables:
        if name not in kept:
            cache.tables[name] = int(cache.tables[name] * max(0.0, 1.0 - used / cache.size_bytes))


_FULL = 0.999
"""Share of the most that a cache holds from which on it counts as full."""
