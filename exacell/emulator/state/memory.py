"""The caches in memory before the flash cache: persistent memory on X8M, and DRAM from X10M on.

Database servers read both over RDMA without CELLSRV, so cells count no such I/O: only the allocated space has
metrics. A write-back cache on persistent memory keeps written data until it is flushed to the flash cache.
Source: Oracle SAGUG, monitoring-pmem-cache and monitoring-xrmem-cache.
"""

from __future__ import annotations

import random

from exacell.core.units import KIB, MIB
from exacell.emulator.basics.profiles import XRMEM_SINCE
from exacell.emulator.basics.schema import Release
from exacell.emulator.cell.models import Cell
from exacell.emulator.io.cache_fill import fill
from exacell.emulator.io.device_io import Counters, add
from exacell.emulator.state.build import new_memory_cache

_BLOCK = 8 * KIB
_POPULATE_SHARE = 0.05
"""Share of the block reads that bring a new block into memory while it is not full."""

_OWN_READS_SHARE = 0.02
"""Share of the reads from memory that go through CELLSRV and not over RDMA; ExaWatcher counts them."""

_TRICKLE = 16 * MIB
"""Bytes on each disk that a flush of the flash cache can't write while dirty data still comes from memory."""


def remember(
    rng: random.Random,
    cell: Cell,
    counters: Counters,
    database: str,
    reads: int,
    dirty: int,
) -> int:
    """Put the data that a database reads and writes into the cell's memory.

    Args:
        reads: reads of blocks.
        dirty: bytes that the writes would make dirty in the flash cache without this memory.

    Returns:
        The dirty bytes that are passed on to the flash cache.
    """
    fresh = int(reads * _POPULATE_SHARE) * _BLOCK
    if cell.memory_cache is not None:
        cache = cell.memory_cache
        if cell.iorm.memory_off(database):
            own = round(reads * _OWN_READS_SHARE)
            add(counters, EXW_XRM_IO_RQ_R_SKIP=own, EXW_XRM_IO_BY_R_SKIP=own * _BLOCK // KIB)
        else:
            cache.used_bytes = min(cache.size_bytes, cache.used_bytes + fresh)
            _count_own_reads(rng, counters, reads, fresh)
    above = cell.pmem_cache
    if above is None or above.flush_asked or cell.iorm.memory_off(database):
        return dirty
    if cell.pmem_write_back:
        return fill(above, used=fresh + dirty, dirty=dirty)
    fill(above, used=fresh, dirty=0)
    return dirty


def _count_own_reads(rng: random.Random, counters: Counters, reads: int, fresh: int) -> None:
    own = round(reads * _OWN_READS_SHARE * rng.uniform(0.9, 1.1))
    hits = own * 7 // 8
    add(
        counters,
        EXW_XRM_IO_RQ_R=hits,
        EXW_XRM_IO_BY_R=hits * _BLOCK // KIB,
        EXW_XRM_IO_RQ_R_MISS=own - hits,
        EXW_XRM_IO_BY_R_MISS=(own - hits) * _BLOCK // KIB,
        EXW_XRM_IO_RQ_W_POPULATE=fresh // _BLOCK,
        EXW_XRM_IO_BY_W_POPULATE=fresh // KIB,
    )


def came_down(cell: Cell, size_bytes: int) -> int:
    """Move dirty data from persistent memory into the flash cache.

    Returns:
        The bytes that went to disks, because the flash cache is full of dirty data or is being flushed itself.
    """
    cache = cell.flash_cache
    if size_bytes <= 0 or not cell.pmem_write_back:
        return 0
    if cache is None or cache.flush_asked:
        return size_bytes
    return fill(cache, used=size_bytes, dirty=size_bytes)


def hold_back(cell: Cell) -> None:
    """Keep a flush of the flash cache from ending while dirty data can still come from persistent memory."""
    cache, waiting = cell.flash_cache, cell.pmem_dirty
    if cache is None or not waiting:
        return
    least = min(_TRICKLE, waiting // len(cache.members))
    for member in cache.members.values():
        if member.flush_from is not None:
            member.dirty_bytes = max(member.dirty_bytes, least)
            member.used_bytes = max(member.used_bytes, member.dirty_bytes)


def refresh_memory_cache(cell: Cell, size_bytes: int, *, release: Release, seed: int, now: float) -> None:
    """Empty the cache in memory, as a start of CELLSRV does; a cache that was dropped exists again.

    Source: Oracle SAGUG, create-xrmemcache.
    """
    if size_bytes and release >= XRMEM_SINCE:
        cell.memory_cache = cell.memory_cache or new_memory_cache(cell, size_bytes, seed=seed, now=now)
        cell.memory_cache.used_bytes = 0
