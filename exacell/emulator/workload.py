"""What moves counters: loads of a database on the cells, destaging by a flush, and the chance that decides races.

Counts are drawn for a whole minute and cell at a time, so millions of writes cost no more than a few. All chance comes
from the rack's seed and the number of the load: the same rack driven in the same way gives the same numbers.
"""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

from exacell.emulator.clock import MINUTE
from exacell.emulator.models import Cell, FlashCache
from exacell.units import KIB, MIB

_NORMAL = NormalDist()
_SMALL = 200
_BLOCK = 8 * KIB

FLASH_FIRST_SHARE = 0.80
"""Share of races that flash wins, about; each cell has its own within a few percent."""

PREVENTED_RATE = 2.5e-5
ACTUAL_RATE = 1.2e-6
FLASH_ONLY_RATE = 6e-6
"""Outliers a race: disk slow but hidden by flash, both slow, flash slow but hidden by disk."""

REDO_WRITE_BYTES = 6 * KIB
REDO_PADDING = 1.06
"""Bytes of a redo write on disk, and how much more flash writes for it."""

OUTLIER_US = 620_000
DISK_US, FLASH_US, OVERHEAD_US = 410.0, 290.0, 165.0
"""Latencies in microseconds: of an outlier, of a write that disk or flash won, and what a request costs beyond it."""

MAX_DIRTY_SHARE = 0.30
MAX_USED_SHARE = 0.985


@dataclass(kw_only=True)
class Load:
    """Redo of one database.

    Attributes:
        redo: redo writes a second by the database.
        start: rack time of the whole minute with which it begins.
        minutes_done: whole minutes that have been applied.
    """

    database: str
    redo: float
    seconds: float
    start: float
    ordinal: int
    minutes_done: int = 0

    @property
    def end(self) -> float:
        """Rack time of the collection that has all of it."""
        return self.start + math.ceil(self.seconds / MINUTE) * MINUTE

    @property
    def done(self) -> bool:
        """Whether all of it has been applied."""
        return self.start + self.minutes_done * MINUTE >= self.end

    def writes_in(self, minute: int) -> int:
        """Return the redo writes of its n-th minute; over all minutes exactly ``round(redo * seconds)``."""
        before = min(minute * MINUTE, self.seconds)
        after = min((minute + 1) * MINUTE, self.seconds)
        return round(self.redo * after) - round(self.redo * before)


def binomial(rng: random.Random, trials: int, chance: float) -> int:
    """Return how many of ``trials`` happen when each happens with ``chance``; approximated by a normal when many."""
    if trials <= 0 or chance <= 0:
        return 0
    if chance >= 1:
        return trials
    if chance > 0.5:
        return trials - binomial(rng, trials, 1 - chance)
    expected = trials * chance
    if expected > _SMALL:
        drawn = expected + math.sqrt(expected * (1 - chance)) * _NORMAL.inv_cdf(rng.random() or 0.5)
        return min(trials, max(0, round(drawn)))
    # Waiting times between successes are geometric: as many draws as successes, however many trials.
    found, position = 0, 0
    step = math.log1p(-chance)
    while True:
        position += 1 + int(math.log(1.0 - rng.random()) / step)
        if position > trials:
            return found
        found += 1


def multinomial(rng: random.Random, trials: int, parts: int) -> list[int]:
    """Return ``trials`` split by chance over ``parts`` equally likely parts."""
    counts: list[int] = []
    left = trials
    for remaining in range(parts, 0, -1):
        drawn = binomial(rng, left, 1 / remaining)
        counts.append(drawn)
        left -= drawn
    return counts


def mirrored(rng: random.Random, writes: int, cells: Sequence[str]) -> dict[str, int]:
    """Return how many of ``writes`` each cell gets when each goes to two of them in different failure groups.

    With many cells a cell has eight partners, as ASM limits the partners of a disk. With one cell left it gets all,
    once.
    """
    count = len(cells)
    if count < 2:
        return dict.fromkeys(cells, writes)
    if count <= 9:
        pairs = [(i, j) for i in range(count) for j in range(i + 1, count)]
    else:
        pairs = [(i, (i + step) % count) for i in range(count) for step in (1, 2, 3, 4)]
    totals = [0] * count
    for (first, second), drawn in zip(pairs, multinomial(rng, writes, len(pairs)), strict=True):
        totals[first] += drawn
        totals[second] += drawn
    return dict(zip(cells, totals, strict=True))


Counters = dict[str, float]


def _add(counters: Counters, **amounts: float) -> None:
    for name, amount in amounts.items():
        counters[name] = counters.get(name, 0) + amount


def redo_writes(rng: random.Random, cell: Cell, counters: Counters, database: str, writes: int) -> None:
    """Count ``writes`` redo writes of a database on one cell: races, or skips when its flash log is off.

    Keeps FL_DISK_FIRST + FL_FLASH_FIRST = FL_IO_W and FL_RQ_W = FL_IO_W + all FL_IO_W_SKIP_*.
    """
    _add(counters, FL_RQ_W=writes)
    skip = ""
    if cell.flash_log is None:
        skip = "FL_IO_W_SKIP_NO_FL_DISKS"
    elif not cell.iorm.flash_log_on(database):
        skip = "FL_IO_W_SKIP_IORM_PLAN"
    if skip:
        slow = binomial(rng, writes, PREVENTED_RATE + ACTUAL_RATE)
        latency = round((writes - slow) * DISK_US * rng.uniform(0.97, 1.03)) + slow * OUTLIER_US
        _add(counters, **{skip: writes}, FL_SKIP_OUTLIERS=slow, FL_RQ_TM_W=latency + round(writes * OVERHEAD_US))
        return
    share = FLASH_FIRST_SHARE + rng.uniform(-0.03, 0.03)
    prevented = binomial(rng, writes, PREVENTED_RATE)
    actual = binomial(rng, writes - prevented, ACTUAL_RATE)
    flash_only = binomial(rng, writes - prevented - actual, FLASH_ONLY_RATE)
    flash_first = prevented + binomial(rng, writes - prevented - flash_only, share)
    disk_first = writes - flash_first
    latency = round(disk_first * DISK_US * rng.uniform(0.97, 1.03) + flash_first * FLASH_US * rng.uniform(0.97, 1.03))
    latency += actual * OUTLIER_US
    megabytes = writes * REDO_WRITE_BYTES / MIB
    _add(
        counters,
        FL_IO_W=writes,
        FL_FLASH_FIRST=flash_first,
        FL_DISK_FIRST=disk_first,
        FL_PREVENTED_OUTLIERS=prevented,
        FL_ACTUAL_OUTLIERS=actual,
        FL_FLASH_ONLY_OUTLIERS=flash_only,
        FL_IO_TM_W=latency,
        FL_RQ_TM_W=latency + round(writes * OVERHEAD_US * rng.uniform(0.97, 1.03)),
        FL_IO_DB_BY_W=megabytes,
        FL_IO_FL_BY_W=megabytes * REDO_PADDING,
    )


def data_io(rng: random.Random, cell: Cell, counters: Counters, database: str, redo: int) -> tuple[int, int]:
    """Count the reads and writes of data blocks that come with ``redo`` redo writes on one cell.

    Reads hit more often the warmer the cache is; misses fill it. Writes dirty lines in write-back mode only.

    Returns:
        The bytes that come into the cache, and how many of them are dirty; for :func:`fill`.
    """
    reads, writes = redo * 4, redo
    cache = cell.flash_cache
    if cache is None or cache.flush_asked or not cell.iorm.flash_cache_on(database):
        _add(
            counters,
            FC_IO_RQ_R_SKIP=reads,
            FC_IO_BY_R_SKIP=reads * _BLOCK / MIB,
            FC_IO_RQ_W_SKIP=writes,
            FC_IO_BY_W_SKIP=writes * _BLOCK / MIB,
        )
        return 0, 0
    warmth = cache.used_bytes / cache.size_bytes
    hits = binomial(rng, reads, 0.05 + 0.90 * warmth)
    misses = reads - hits
    overwrites = binomial(rng, writes, 0.10 + 0.60 * warmth)
    first = writes - overwrites
    _add(
        counters,
        FC_IO_RQ_R=hits,
        FC_IO_BY_R=hits * _BLOCK / MIB,
        FC_IO_RQ_R_MISS=misses,
        FC_IO_BY_R_MISS=misses * _BLOCK / MIB,
        FC_IO_RQ_W=writes,
        FC_IO_BY_W=writes * _BLOCK / MIB,
        FC_IO_RQ_W_FIRST=first,
        FC_IO_BY_W_FIRST=first * _BLOCK / MIB,
        FC_IO_RQ_W_OVERWRITE=overwrites,
        FC_IO_BY_W_OVERWRITE=overwrites * _BLOCK / MIB,
        FC_IO_RQ_W_POPULATE=misses,
        FC_IO_BY_W_POPULATE=misses * _BLOCK / MIB,
    )
    return (misses + first) * _BLOCK, first * _BLOCK if cell.write_back else 0


def fill(cache: FlashCache, *, used: int, dirty: int) -> None:
    """Put clean and dirty bytes into the members that cache, evenly and within their limits."""
    members = [member for member in cache.members.values() if member.flush_from is None]
    for member in members:
        used_limit = int(member.size_bytes * MAX_USED_SHARE) // KIB * KIB
        dirty_limit = int(member.size_bytes * MAX_DIRTY_SHARE) // KIB * KIB
        member.used_bytes = max(member.used_bytes, min(used_limit, member.used_bytes + used // len(members)))
        more_dirty = min(dirty_limit, member.dirty_bytes + dirty // len(members))
        member.dirty_bytes = min(member.used_bytes, max(member.dirty_bytes, more_dirty))


def settle_flush(cache: FlashCache, now: float, bytes_per_second: float) -> None:
    """Bring members that are being flushed to what is left in them at ``now``.

    Dirty data goes at a steady rate, clean data leaves in the same time; what is stuck stays.

    Args:
        bytes_per_second: of one member, in rack time.
    """
    for member in cache.members.values():
        if member.flush_from is None:
            continue
        elapsed = max(0.0, now - member.flush_from)
        duration = flush_seconds(member.flush_dirty - member.stuck_bytes, bytes_per_second)
        left = max(0.0, 1.0 - elapsed / duration)
        member.dirty_bytes = member.stuck_bytes + int((member.flush_dirty - member.stuck_bytes) * left)
        member.used_bytes = max(member.dirty_bytes, int(member.flush_used * left))


def flush_seconds(dirty_bytes: int, bytes_per_second: float) -> float:
    """Return how long a member takes to flush: never under five seconds, to evict what is clean."""
    return max(5.0, dirty_bytes / bytes_per_second)
