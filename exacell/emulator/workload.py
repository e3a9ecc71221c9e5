"""What moves counters: loads of a database on the cells, destaging, and the chance that decides races.

A load is so many redo writes a second; its profile says how much else comes with each of them: reads and writes of
blocks, and megabytes of smart scans.

Counts are drawn for a whole minute and cell at a time, so millions of writes cost no more than a few. All chance comes
from the rack's seed and the number of the load: the same rack driven in the same way gives the same numbers.
"""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

from exacell.emulator.cache_fill import held_share, warmth
from exacell.emulator.cache_models import FlashLog
from exacell.emulator.clock import MINUTE
from exacell.emulator.device_io import (
    FLASH,
    LARGE,
    LARGE_KB,
    READ,
    SMALL,
    WRITE,
    Counters,
    backing,
    device_io,
    network,
)
from exacell.emulator.load_profiles import PROFILES, Profile
from exacell.emulator.models import Cell
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


STORAGE_INDEX_SHARE, RETURNED_SHARE, PASSED_SHARE = 0.35, 0.06, 0.02
"""Of what a scan asks for: what storage indexes save, what goes back to the database, what goes back unprocessed."""


@dataclass(kw_only=True)
class Load:
    """Redo of one database, and what its profile brings with it.

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
    profile: str = "redo"

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


def _add(counters: Counters, **amounts: float) -> None:
    for name, amount in amounts.items():
        counters[name] = counters.get(name, 0) + amount


def content_counter(database: str, *, hit: bool) -> str:
    """Return the name of the counter of reads of a database's data from the flash cache, or from disk past it.

    It begins as those of the cache do, and starts anew with them.
    """
    return f"FC_{'HITS' if hit else 'MISSES'}|{database}"


FAILED_RATE = 0.02
"""Share of redo writes that disks fail while an injected fault makes them."""

DISK_ERRORS = "H.ERRS"
"""Counter of requests that failed on the disks behind the cache."""


def keep(log: FlashLog, writes: int) -> dict[str, int]:
    """Let redo writes fail on disk, so that only the flash log holds them; return what that adds to the cell's counters.

    What is kept never takes more than half of the log.
    """
    log.kept_bytes = min(log.kept_bytes + writes * REDO_WRITE_BYTES, log.size_bytes // 2)
    return {"FL_DISK_IO_ERRS": writes, DISK_ERRORS: writes}


def redo_writes(rng: random.Random, cell: Cell, counters: Counters, database: str, writes: int) -> None:
    """Count ``writes`` redo writes of a database on one cell: races, or skips when its flash log is off.

    Keeps FL_DISK_FIRST + FL_FLASH_FIRST = FL_IO_W and FL_RQ_W = FL_IO_W + all FL_IO_W_SKIP_*.
    """
    _add(counters, FL_RQ_W=writes)
    kilobytes = round(writes * REDO_WRITE_BYTES / KIB)
    network(counters, sent_kb=writes // 8, received_kb=kilobytes)
    back = backing(cell)
    _io(rng, counters, database, back, WRITE, SMALL, writes, kilobytes)
    skip = ""
    if cell.flash_log is None:
        skip = "FL_IO_W_SKIP_NO_FL_DISKS"
    elif back == FLASH:
        skip = "FL_IO_W_SKIP_LOG_ON_FAST_DEV"
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
    padded = round(kilobytes * REDO_PADDING)
    if cell.redo_stays_on_flash and cell.flash_log is not None:
        _add(counters, **keep(cell.flash_log, min(flash_first, binomial(rng, writes, FAILED_RATE))))
    _io(rng, counters, database, FLASH, WRITE, SMALL, writes, padded)
    _add(counters, **{f"{database}:FL.RQ": writes, f"{database}:FL.KB": padded})
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


def _io(
    rng: random.Random,
    counters: Counters,
    database: str,
    medium: str,
    kind: str,
    size: str,
    requests: int,
    kilobytes: int | None = None,
) -> None:
    """Count requests of blocks, or of megabytes when they are large."""
    each = LARGE_KB if size == LARGE else _BLOCK // KIB
    device_io(
        rng,
        counters,
        database=database,
        medium=medium,
        kind=kind,
        size=size,
        requests=requests,
        kilobytes=requests * each if kilobytes is None else kilobytes,
    )


def data_io(
    rng: random.Random,
    cell: Cell,
    counters: Counters,
    database: str,
    redo: int,
    profile: Profile = PROFILES["redo"],
    *,
    now: float,
    clauses: tuple[float, float] = (0.0, 0.0),
) -> tuple[int, int]:
    """Count the reads, writes and scans of data that come with ``redo`` redo writes on one cell.

    Reads hit more often the warmer the cache is; misses fill it. Writes dirty lines in write-back mode only.

    Args:
        clauses: which share of the data has CELL_FLASH_CACHE KEEP, and which NONE: what is in the cache already still
            serves reads, but nothing of it comes in.

    Returns:
        The bytes that come into the cache, and how many of them are dirty; for :func:`cache_fill.fill`.
    """
    reads, writes = round(redo * profile.reads), round(redo * profile.writes)
    network(counters, sent_kb=reads * _BLOCK // KIB, received_kb=writes * _BLOCK // KIB)
    cache = cell.flash_cache
    back = backing(cell)
    caching = cache is not None and not cache.flush_asked and cell.iorm.flash_cache_on(database)
    scanned = round(redo * profile.scanned_mb)
    if not caching:
        _add(
            counters,
            FC_IO_RQ_R_SKIP=reads,
            FC_IO_BY_R_SKIP=reads * _BLOCK / MIB,
            FC_IO_RQ_W_SKIP=writes,
            FC_IO_BY_W_SKIP=writes * _BLOCK / MIB,
        )
        _io(rng, counters, database, back, READ, SMALL, reads)
        _io(rng, counters, database, back, WRITE, SMALL, writes)
        _scan(rng, counters, database, back, scanned, None)
        if clauses[0]:
            _add(counters, FC_IO_RQKEEP_R_SKIP=binomial(rng, reads, clauses[0]))
        return 0, 0
    warm = warmth(cell, now)
    hits = binomial(rng, reads, warm)
    kept, none = clauses
    skipped = binomial(rng, reads - hits, none)
    misses = reads - hits - skipped
    overwrites = binomial(rng, writes, 0.75 * warm)
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
        FC_IO_RQ_R_SKIP=skipped,
        FC_IO_BY_R_SKIP=skipped * _BLOCK / MIB,
        **{f"{database}:FC.SM": hits + writes, f"{database}:FC.KB": (hits + writes) * _BLOCK // KIB},
        **{content_counter(database, hit=True): hits, content_counter(database, hit=False): misses},
    )
    _io(rng, counters, database, FLASH, READ, SMALL, hits)
    if kept:
        hot, cold = binomial(rng, hits, kept), binomial(rng, misses, kept)
        _add(counters, FC_IO_RQKEEP_R=hot, FC_IO_BYKEEP_R=hot * _BLOCK / MIB, FC_IO_RQKEEP_R_MISS=cold)
    _io(rng, counters, database, back, READ, SMALL, misses + skipped)
    _io(rng, counters, database, FLASH, WRITE, SMALL, writes + misses)
    if not cell.write_back:
        _io(rng, counters, database, back, WRITE, SMALL, writes)
    populated = _scan(rng, counters, database, back, scanned, held_share(cell))
    if kept:
        hot = binomial(rng, writes, kept)
        _add(counters, FC_IO_RQKEEP_W=hot, FC_IO_BYKEEP_W=hot * _BLOCK / MIB)
    return (misses + first) * _BLOCK + populated * MIB, first * _BLOCK if cell.write_back else 0


def _scan(rng: random.Random, counters: Counters, database: str, back: str, asked_mb: int, held: float | None) -> int:
    """Count a smart scan over ``asked_mb`` megabytes and return how many of them come into the cache.

    What is eligible is what storage indexes save, what is read from flash or disk, and what is passed through.

    Args:
        held: the share of the data that the cache holds; None where nothing is cached.
    """
    if not asked_mb:
        return 0
    saved = binomial(rng, asked_mb, STORAGE_INDEX_SHARE)
    flash = binomial(rng, asked_mb - saved, held or 0.0)
    disk = asked_mb - saved - flash
    passed = binomial(rng, flash + disk, PASSED_SHARE)
    returned = passed + binomial(rng, asked_mb - saved - passed, RETURNED_SHARE)
    _add(
        counters,
        SIO_IO_EL_OF=asked_mb,
        SIO_IO_SI_SV=saved,
        SIO_IO_RD_FC=flash,
        SIO_IO_RD_RQ_FC=flash,
        SIO_IO_RD_HD=disk,
        SIO_IO_RD_RQ_HD=disk,
        SIO_IO_PA_TH=passed,
        SIO_IO_OF_RE=returned,
        SIO_FG_CPU=round((flash + disk) * 820 * rng.uniform(0.95, 1.05)),
        SIO_BG_CPU=round((flash + disk) * 35 * rng.uniform(0.95, 1.05)),
        FC_IO_RQ_R_DW=flash,
        FC_IO_BY_R_DW=flash,
        FC_IO_RQ_R_MISS_DW=0 if held is None else disk,
        FC_IO_BY_R_MISS_DW=0 if held is None else disk,
        **{f"{database}:FC.LG": flash, f"{database}:FC.KB": flash * LARGE_KB},
        **{
            content_counter(database, hit=True): flash,
            content_counter(database, hit=False): 0 if held is None else disk,
        },
    )
    _io(rng, counters, database, FLASH, READ, LARGE, flash)
    _io(rng, counters, database, back, READ, LARGE, disk)
    network(counters, sent_kb=returned * LARGE_KB, received_kb=asked_mb // 64)
    return 0 if held is None else disk // 4
