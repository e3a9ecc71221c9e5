"""FLASHCACHECONTENT and XRMEMCACHECONTENT: each database's data in the caches, and the hits and misses on it.

A database reads its segments in proportion to their sizes, so each has that part of the cached data and of the database's
hits and misses: summed over all objects these are FC_IO_RQ_R and FC_IO_RQ_R_DW, and their misses. Parts are rounded down,
so that no count ever falls. Source: reference cellcli.md 3.3; on-line DESCRIBE of a 24.x cell: hitCount and missCount are
I/Os that read an object's data from the cache, and from disk.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction

from exacell.emulator.cell.cache_models import FlashCache, MemoryCache
from exacell.emulator.grammar.values import Row
from exacell.emulator.io.cache_shares import cache_shares
from exacell.emulator.io.smart_scans import content_counter
from exacell.emulator.state.place import Place
from exacell.emulator.statements.iorm_rows import database_id
from exacell.emulator.storage.segments import Segment, default_segments, object_number

_BLOCK = 8192
_DATA_BYTES, _INDEX_BYTES = 1 << 40, 1 << 39
TABLESPACES = {"APPDATA": 6, "APPINDEX": 7}
"""Numbers of the application tablespaces that every emulated database has."""


@dataclass(frozen=True, kw_only=True)
class _Content:
    """A cache's content of one database: bytes, the share of them that has CELL_FLASH_CACHE KEEP, and reads."""

    cached: int
    kept: float = 0.0
    hits: float = 0
    misses: float = 0


def flash_cache_content_rows(place: Place) -> list[Row]:
    """Return the rows of LIST FLASHCACHECONTENT: the objects of all databases that may use the cache."""
    cell, cache = place.cell, place.cell.flash_cache
    if cache is None:
        return []
    counters = place.rack.metrics[cell.host].counters
    found = {
        name: _Content(
            cached=cached,
            kept=place.rack.cache_clauses.get(name, (0.0, 0.0))[0],
            hits=counters.get(content_counter(name, hit=True), 0),
            misses=counters.get(content_counter(name, hit=False), 0),
        )
        for name, cached in cache_shares(cell.iorm, sorted(place.rack.spec.db), cache.used_bytes).items()
    }
    return list(_rows(cache, found))


def memory_content_rows(place: Place) -> list[Row]:
    """Return the rows of LIST XRMEMCACHECONTENT: the objects of all databases that may be in DRAM; empty without XRMEMCACHE."""
    cell, cache = place.cell, place.cell.memory_cache
    databases = [name for name in sorted(place.rack.spec.db) if not cell.iorm.memory_off(name)]
    if cache is None or not databases:
        return []
    counters, part = place.rack.metrics[cell.host].counters, len(databases)
    content = _Content(
        cached=cache.used_bytes // part,
        hits=counters.get("EXW_XRM_IO_RQ_R", 0) // part,
        misses=counters.get("EXW_XRM_IO_RQ_R_MISS", 0) // part,
    )
    return list(_rows(cache, dict.fromkeys(databases, content)))


def _rows(cache: FlashCache | MemoryCache, contents: Mapping[str, _Content]) -> Iterator[Row]:
    segments = sorted(default_segments(_DATA_BYTES, _INDEX_BYTES), key=lambda segment: -segment.size_bytes)
    total = sum(segment.size_bytes for segment in segments)
    dirty = Fraction(getattr(cache, "dirty_bytes", 0), cache.used_bytes or 1)
    for name, content in contents.items():
        for segment in segments:
            row = _row(name, segment, content, Fraction(segment.size_bytes, total), dirty)
            if row["cachedSize"]:
                yield row


def _row(database: str, segment: Segment, content: _Content, part: Fraction, dirty: Fraction) -> Row:
    cached = _blocks(content.cached * part)
    return {
        "cachedKeepSize": _blocks(cached * content.kept),
        "cachedSize": cached,
        "cachedWriteSize": _blocks(cached * dirty),
        "clusterName": "",
        "columnarCacheSize": 0,
        "columnarKeepSize": 0,
        "dbID": database_id(database),
        "dbUniqueName": database,
        "hitCount": int(content.hits * part),
        "missCount": int(content.misses * part),
        "objectNumber": object_number(database, segment),
        "tableSpaceNumber": TABLESPACES[segment.tablespace],
    }


def _blocks(size: Fraction | float) -> int:
    return int(size) // _BLOCK * _BLOCK
