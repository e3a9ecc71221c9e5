"""The content of a flash cache: how it fills, becomes dirty and warm, and what a flush leaves in it."""

from __future__ import annotations

import math
from dataclasses import dataclass

from exacell.core.units import KIB
from exacell.emulator.cell.cache_models import FlashCache
from exacell.emulator.cell.models import Cell

MAX_DIRTY_SHARE = 0.30
MAX_USED_SHARE = 0.985

WORKING_SET_SHARE = 1.3
"""The data that databases read again and again, as a multiple of a cell's flash: it never fits completely."""

HOT_SHARE, SKEW, RIPENING_S = 0.97, 0.35, 600.0
"""The largest share of reads that can hit; how uneven reads are (a cache of a tenth of the data serves about half of them); and
the rack seconds after which a new cache has learned about two thirds of the data that is read often.
"""


@dataclass(frozen=True, kw_only=True)
class Filled:
    """Bytes that come into the cache in a minute: all, the dirty ones, and those of large writes."""

    used: int = 0
    dirty: int = 0
    large: int = 0


def ripeness(cache: FlashCache, now: float) -> float:
    """Return how well a cache has learned which data is read often: 0 when it is new, rising to 1."""
    return 1.0 - math.exp(-max(0.0, now - cache.creation_time) / RIPENING_S)


def held_share(cell: Cell, most: int | None = None) -> float:
    """Return the share of the databases' working set that is in the flash cache, from 0 to 1.

    Args:
        most: bytes that the database may have in the cache; None if there is no limit.
    """
    flash = sum(disk.size_bytes for disk in cell.flash_disks())
    if cell.flash_cache is None or not flash:
        return 0.0
    used = cell.flash_cache.used_bytes if most is None else min(most, cell.flash_cache.used_bytes)
    return min(1.0, used / (WORKING_SET_SHARE * flash))


def fill(cache: FlashCache, *, used: int, dirty: int) -> int:
    """Add clean and dirty bytes to the members that cache, evenly and within their limits.

    Returns:
        The dirty bytes beyond the limits; the disk writer has to write as many to disk.
    """
    members = [member for member in cache.members.values() if member.flush_from is None]
    kept = 0
    for member in members:
        used_limit = int(member.size_bytes * MAX_USED_SHARE) // KIB * KIB
        dirty_limit = int(member.size_bytes * MAX_DIRTY_SHARE) // KIB * KIB
        before = member.dirty_bytes
        member.used_bytes = max(member.used_bytes, min(used_limit, member.used_bytes + used // len(members)))
        more_dirty = min(dirty_limit, member.dirty_bytes + dirty // len(members))
        member.dirty_bytes = min(member.used_bytes, max(member.dirty_bytes, more_dirty))
        kept += member.dirty_bytes - before
    return max(0, dirty // len(members) * len(members) - kept) if members else 0


def settle_flush(cache: FlashCache, now: float, bytes_per_second: float) -> None:
    """Set members that are being flushed to the bytes that are left at ``now``.

    Dirty data is written at a steady rate, clean data leaves in the same time; stuck data stays.

    Args:
        bytes_per_second: the rate of one member, in rack time.
    """
    for member in cache.members.values():
        if member.flush_from is None:
            continue
        elapsed = max(0.0, now - member.flush_from)
        duration = flush_seconds(member.flush_dirty - member.stuck_bytes, bytes_per_second)
        left = max(0.0, 1.0 - elapsed / duration)
        member.dirty_bytes = member.stuck_bytes + int((member.flush_dirty - member.stuck_bytes) * left)
        member.used_bytes = max(member.dirty_bytes, int(member.flush_used * left))
    if cache.flushed:
        cache.apart = {database: dict.fromkeys(own, 0) for database, own in cache.apart.items()}
        cache.tables.clear()


def flush_seconds(dirty_bytes: int, bytes_per_second: float) -> float:
    """Return the seconds that a member takes to flush; at least 5, to evict clean data."""
    return max(5.0, dirty_bytes / bytes_per_second)
