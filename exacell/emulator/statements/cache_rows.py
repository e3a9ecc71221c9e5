"""The rows of LIST for caches and logs. Source: reference cellcli.md 3.3."""

from __future__ import annotations

import random

from exacell.emulator.basics.schema import metric_definitions
from exacell.emulator.cell.cache_models import FlashCache, FlashLog
from exacell.emulator.grammar.kept import row_of
from exacell.emulator.grammar.values import Row, Size
from exacell.emulator.state.place import Place


def flash_cache_rows(place: Place) -> list[Row]:
    """Return the row of LIST FLASHCACHE; empty without a cache."""
    return cache_rows(place, place.cell.flash_cache)


def pmem_cache_rows(place: Place) -> list[Row]:
    """Return the row of LIST PMEMCACHE; empty without a cache."""
    return cache_rows(place, place.cell.pmem_cache)


def memory_cache_rows(place: Place) -> list[Row]:
    """Return the row of LIST XRMEMCACHE; empty without such a cache. On persistent memory it is that of PMEMCACHE."""
    cache = place.cell.memory_cache
    if cache is None:
        return pmem_cache_rows(place)
    return [{**row_of("XRMEMCACHE", cache), "status": "normal"}]


def cache_rows(place: Place, cache: FlashCache | None) -> list[Row]:
    """Return the row of a cache on cell disks; empty for None."""
    if cache is None:
        return []
    degraded = [name for name in sorted(cache.members) if place.cell.cell_disks[name].status != "normal"]
    health = "warning" if degraded else "normal"
    status = "warning - degraded" if degraded else "normal"
    if cache.flushing:
        status = f"{health} - flushing"
    elif cache.flushed:
        status = f"{health} - flushed"
    order = sorted(cache.members)
    random.Random(cache.id).shuffle(order)
    effective = sum(m.size_bytes for name, m in cache.members.items() if name not in degraded)
    return [
        {
            **row_of("FLASHCACHE", cache),
            "cellDisk": tuple(order),
            "degradedCelldisks": tuple(degraded),
            "effectiveCacheSize": Size(effective),
            "status": status,
        }
    ]


def flash_log_rows(place: Place) -> list[Row]:
    """Return the row of LIST FLASHLOG; empty without a log."""
    rack, definition = place.rack, metric_definitions()["FL_EFFICIENCY_PERCENTAGE"]
    efficiency = rack.reader(place.cell).one(rack.collection_time(place.cell), definition)
    return log_rows(place, place.cell.flash_log, efficiency)


def pmem_log_rows(place: Place) -> list[Row]:
    """Return the row of LIST PMEMLOG; empty without a log. Its writes are never slow."""
    return log_rows(place, place.cell.pmem_log, 100.0)


def log_rows(place: Place, log: FlashLog | None, efficiency: float) -> list[Row]:
    """Return the row of a log on cell disks; empty for None."""
    if log is None:
        return []
    degraded = [name for name in sorted(log.members) if place.cell.cell_disks[name].status != "normal"]
    order = sorted(log.members)
    random.Random(log.id).shuffle(order)
    return [
        {
            **row_of("FLASHLOG", log),
            "cellDisk": tuple(order),
            "degradedCelldisks": tuple(degraded),
            "effectiveSize": Size(sum(size for name, size in log.members.items() if name not in degraded)),
            "efficiency": efficiency,
            "status": "warning - degraded" if degraded else "normal",
        }
    ]
