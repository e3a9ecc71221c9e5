"""Compute how much data with CELL_FLASH_CACHE KEEP or NONE is in a flash cache, and how many of the reads of it are cache hits.

While a cache has room, data with KEEP comes in like any other data. Once it is full, new data replaces only data without
KEEP, so that in time all data with KEEP is in the cache. Data with NONE does not come in; the part that was cached when the
clause was set stays, and serves reads, until other data replaces it or the cache is emptied.

Source: Oracle SAGUG, "CELL_FLASH_CACHE storage clause": KEEP is cached more aggressively than DEFAULT, NONE never; the posts on
flash of a quarter rack: NONE leaves what is cached, so that caches were dropped before each run.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from exacell.emulator.cell.models import Cell
from exacell.emulator.io.cache_fill import HOT_SHARE, MAX_USED_SHARE, SKEW, WORKING_SET_SHARE, ripeness

_KEEP, _NONE = "KEEP", "NONE"


@dataclass(frozen=True, kw_only=True)
class Served:
    """The shares (0 to 1) of reads that a cache serves: of data with KEEP, of data with NONE, and of the rest."""

    keep: float
    none: float
    rest: float

    def of_all(self, kept: float, none: float) -> float:
        """Return the share over all reads; ``kept`` and ``none`` are the shares of the data with KEEP and NONE."""
        return kept * self.keep + none * self.none + (1.0 - kept - none) * self.rest


def served(cell: Cell, now: float, database: str, clauses: tuple[float, float], most: int | None = None) -> Served:
    """Return the shares of a database's reads of blocks that a cell's flash cache serves.

    Args:
        clauses: the shares of the data that have KEEP and NONE.
        most: bytes that the database may have in the cache; None if there is no limit.
    """
    cache = cell.flash_cache
    if cache is None:
        return Served(keep=0.0, none=0.0, rest=0.0)
    kept, none = clauses
    own = _held(cell, database, clauses)
    used = _used(cell, most)
    keep = min(own.get(_KEEP, 0), used)
    left = min(own.get(_NONE, 0), used - keep)
    ripe, whole = ripeness(cache, now), _whole(cell)
    return Served(
        keep=_hot(keep, kept * whole) * ripe,
        none=_hot(left, none * whole) * ripe,
        rest=_hot(used - keep - left, (1.0 - kept - none) * whole) * ripe,
    )


def bring_in(cell: Cell, database: str, clauses: tuple[float, float], *, keep: int, rest: int) -> None:
    """Update the bytes of data with KEEP and NONE in a cell's flash cache before missed data fills it.

    The new bytes take free room first, then the room of data without KEEP.

    Args:
        keep, rest: missed bytes that come in, of data with KEEP and of other data.
    """
    cache = cell.flash_cache
    if cache is None or not any(clauses):
        return
    own = _held(cell, database, clauses)
    most = int(cache.size_bytes * MAX_USED_SHARE)
    room = max(0, most - cache.used_bytes)
    if _KEEP in own:
        own[_KEEP] = min(own[_KEEP] + keep, int(clauses[0] * _whole(cell)), most)
    if _NONE in own:
        others = max(1, min(most, cache.used_bytes + keep + rest) - own.get(_KEEP, 0))
        own[_NONE] = round(own[_NONE] * max(0.0, 1.0 - max(0, keep + rest - room) / others))


def _held(cell: Cell, database: str, clauses: tuple[float, float]) -> dict[str, int]:
    """Return the cached bytes of a database's data with KEEP and with NONE, as a dict that the caller may change.

    When a clause covers more data than before, its part of the other cached bytes is added.
    """
    cache = cell.flash_cache
    assert cache is not None
    wanted = {word: share for word, share in zip((_KEEP, _NONE), clauses, strict=True) if share}
    shares = cache.clauses.setdefault(database, {})
    own = cache.apart.setdefault(database, {})
    if shares != wanted:
        others = 1.0 - sum(shares.values())
        rest = max(0, cache.used_bytes - sum(own.values()))
        for word in (_KEEP, _NONE):
            share, before = wanted.get(word, 0.0), shares.get(word, 0.0)
            if share > before and others:
                own[word] = own.get(word, 0) + round(rest * (share - before) / others)
            elif share and before:
                own[word] = round(own[word] * share / before)
            else:
                own.pop(word, None)
        cache.clauses[database] = wanted
    over = sum(own.values())
    if over > cache.used_bytes:  # The cache was flushed since.
        for word in own:
            own[word] = own[word] * cache.used_bytes // over
    return own


def _used(cell: Cell, most: int | None) -> int:
    assert cell.flash_cache is not None
    return cell.flash_cache.used_bytes if most is None else min(most, cell.flash_cache.used_bytes)


def _whole(cell: Cell) -> float:
    """Return the bytes of the working set: all data that databases read again and again."""
    return WORKING_SET_SHARE * sum(disk.size_bytes for disk in cell.flash_disks())


def _hot(held: int, whole: float) -> float:
    return HOT_SHARE * math.pow(min(1.0, held / whole), SKEW) if whole else 0.0
