"""The changes of counters by work: loads of a database on the cells, writing dirty data to disk, and the random races.

A load is a number of redo writes in a second; its profile gives the I/O that comes with each of them: reads and writes of
blocks, and megabytes of smart scans.

Counts are drawn for a whole minute and cell at a time, so that millions of writes take no longer than a few. All random numbers
come from the rack's seed and the number of the load: the same rack with the same statements gives the same numbers.
"""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass

from exacell.core.units import KIB, MIB
from exacell.emulator.basics.chance import binomial, multinomial
from exacell.emulator.basics.clock import MINUTE
from exacell.emulator.cell.cache_models import FlashLog
from exacell.emulator.cell.models import Cell
from exacell.emulator.io.device_io import (
    FLASH,
    HARD,
    SMALL,
    WRITE,
    Counters,
    add,
    backing,
    medium_io,
    network,
)
from exacell.emulator.io.iorm_queues import limited_at
from exacell.emulator.io.redo_times import (
    ACTUAL_RATE,
    DISK_US,
    FLASH_FIRST_SHARE,
    FLASH_ONLY_RATE,
    FLASH_US,
    OUTLIER_US,
    OVERHEAD_US,
    PREVENTED_RATE,
    SPREAD,
)
from exacell.emulator.io.surroundings import Around
from exacell.emulator.io.truth import Truth

REDO_WRITE_BYTES = 6 * KIB
REDO_PADDING = 1.06
"""Bytes of a redo write on disk, and the factor by which flash writes more."""


def write_latency_us(rng: random.Random, *, logged: bool, truth: Truth | None = None) -> int:
    """Return the database's wait for one redo write, in whole microseconds.

    Args:
        logged: whether the flash log takes part: the faster of flash and disk answers, and outliers are prevented.
        truth: the planted effect of the flash log on the time of a write; None: the model decides.
    """
    planted = truth if truth is not None and truth.adds is not None else None
    slow = ACTUAL_RATE if logged else PREVENTED_RATE + ACTUAL_RATE
    if rng.random() < (planted.outlier_rate(logged=logged) if planted else slow):
        return round(OUTLIER_US * rng.uniform(0.8, 1.2))
    around = rng.lognormvariate(-SPREAD * SPREAD / 2, SPREAD)
    if planted:
        return round(planted.plain_us(logged=logged) * around)
    return round((FLASH_US if logged and rng.random() < FLASH_FIRST_SHARE else DISK_US) * around + OVERHEAD_US)


def takes_part(cell: Cell, database: str) -> bool:
    """Return whether a cell's flash log takes part in a database's redo writes."""
    return cell.flash_log is not None and backing(cell) != FLASH and cell.iorm.flash_log_on(database)


@dataclass(kw_only=True)
class Load:
    """Redo writes of one database, with the other I/O of the load's profile.

    Attributes:
        redo: the database's redo writes in a second.
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
        """Return the rack time of the collection that has all of it."""
        return self.start + math.ceil(self.seconds / MINUTE) * MINUTE

    @property
    def done(self) -> bool:
        """Return whether all of it has been applied."""
        return self.start + self.minutes_done * MINUTE >= self.end

    def writes_in(self, minute: int) -> int:
        """Return the redo writes of its n-th minute; over all minutes exactly ``round(redo * seconds)``."""
        before = min(minute * MINUTE, self.seconds)
        after = min((minute + 1) * MINUTE, self.seconds)
        return round(self.redo * after) - round(self.redo * before)


def mirrored(rng: random.Random, writes: int, cells: Sequence[str]) -> dict[str, int]:
    """Return the number of ``writes`` that each cell gets; each write goes to two cells in different failure groups.

    With many cells each has eight partners, the most that ASM gives a disk. If only one cell is left, it gets each write once.
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


DISK_REDO_BYTES = 100 * MIB
"""Bytes of redo that one hard disk accepts in a second; more redo becomes a backlog in the flash log."""

_LARGE_REDO_SHARE, _LIMITED_SHARE = 0.01, 0.3
"""Shares of redo writes: those too large for the rest of a log, and those that wait because of a limit on the disks."""

FAILED_RATE = 0.02
"""Share of redo writes that fail on disk while a fault is injected."""

DISK_ERRORS = "H.ERRS"
"""Counter of requests that failed on the disks behind the cache."""


def keep(log: FlashLog, writes: int) -> dict[str, int]:
    """Let redo writes fail on disk, so that only the flash log holds them; return the amounts to add to the cell's counters.

    The kept redo never takes more than half of the log.
    """
    log.kept_bytes = min(log.kept_bytes + writes * REDO_WRITE_BYTES, log.size_bytes // 2)
    return {"FL_DISK_IO_ERRS": writes, DISK_ERRORS: writes}


def redo_writes(
    rng: random.Random,
    cell: Cell,
    counters: Counters,
    database: str,
    writes: int,
    *,
    around: Around,
    truth: Truth | None = None,
) -> None:
    """Count ``writes`` redo writes of a database on one cell: races, or skips when its flash log is off.

    Keeps FL_DISK_FIRST + FL_FLASH_FIRST = FL_IO_W and FL_RQ_W = FL_IO_W + all FL_IO_W_SKIP_*.

    Args:
        truth: the planted effect of the flash log on the time of a write; None: the model decides.
    """
    add(counters, FL_RQ_W=writes)
    kilobytes = round(writes * REDO_WRITE_BYTES / KIB)
    network(counters, sent_kb=writes // 8, received_kb=kilobytes)
    back = backing(cell)
    medium_io(rng, counters, database, back, WRITE, SMALL, writes, kilobytes)
    skip = ""
    if cell.flash_log is None:
        skip = "FL_IO_W_SKIP_NO_FL_DISKS"
    elif back == FLASH:
        skip = "FL_IO_W_SKIP_LOG_ON_FAST_DEV"
    elif not cell.iorm.flash_log_on(database):
        skip = "FL_IO_W_SKIP_IORM_PLAN"
    if truth is not None and truth.adds is None:
        truth = None
    if skip:
        slow = binomial(rng, writes, truth.outlier_rate(logged=False) if truth else PREVENTED_RATE + ACTUAL_RATE)
        latency = round((writes - slow) * DISK_US * rng.uniform(0.97, 1.03)) + slow * OUTLIER_US
        add(counters, **{skip: writes}, FL_SKIP_OUTLIERS=slow, FL_RQ_TM_W=latency + round(writes * OVERHEAD_US))
        return
    assert cell.flash_log is not None
    writes -= _pass_log_by(rng, cell, cell.flash_log, counters, database, writes, around)
    share = FLASH_FIRST_SHARE + rng.uniform(-0.03, 0.03)
    prevented = binomial(rng, writes, truth.prevented_rate if truth else PREVENTED_RATE)
    actual = binomial(rng, writes - prevented, ACTUAL_RATE)
    flash_only = binomial(rng, writes - prevented - actual, FLASH_ONLY_RATE)
    flash_first = prevented + binomial(rng, writes - prevented - flash_only, share)
    disk_first = writes - flash_first
    latency = round(disk_first * DISK_US * rng.uniform(0.97, 1.03) + flash_first * FLASH_US * rng.uniform(0.97, 1.03))
    latency += actual * OUTLIER_US
    megabytes = writes * REDO_WRITE_BYTES / MIB
    padded = round(writes * REDO_WRITE_BYTES / KIB * REDO_PADDING)
    if cell.redo_stays_on_flash and cell.flash_log is not None:
        add(counters, **keep(cell.flash_log, min(flash_first, binomial(rng, writes, FAILED_RATE))))
    medium_io(rng, counters, database, FLASH, WRITE, SMALL, writes, padded)
    add(counters, **{f"{database}:FL.RQ": writes, f"{database}:FL.KB": padded})
    beyond = round(writes * OVERHEAD_US * rng.uniform(0.97, 1.03))
    if truth is not None:
        plain = (writes - actual) * truth.plain_us(logged=True) * rng.uniform(0.97, 1.03)
        latency = round(plain) + actual * OUTLIER_US - beyond
    add(
        counters,
        FL_IO_W=writes,
        FL_FLASH_FIRST=flash_first,
        FL_DISK_FIRST=disk_first,
        FL_PREVENTED_OUTLIERS=prevented,
        FL_ACTUAL_OUTLIERS=actual,
        FL_FLASH_ONLY_OUTLIERS=flash_only,
        FL_IO_TM_W=latency,
        FL_RQ_TM_W=latency + beyond,
        FL_IO_DB_BY_W=megabytes,
        FL_IO_FL_BY_W=megabytes * REDO_PADDING,
    )


def _pass_log_by(
    rng: random.Random, cell: Cell, log: FlashLog, counters: Counters, database: str, writes: int, around: Around
) -> int:
    """Count a minute's redo writes that bypass the flash log because there are too many; return their number.

    If disks accept redo more slowly than it comes, there is a backlog; kept redo leaves little room for large writes; and a
    database that is far over its limit on the disks has to wait for them.
    """
    reasons: dict[str, int] = {}
    room = len(cell.hard_disks()) * DISK_REDO_BYTES * around.minutes * MINUTE / REDO_WRITE_BYTES
    if backing(cell) == HARD and writes > room:
        reasons["BUSY"] = int((writes - room) * 0.9)
        reasons["NO_BUFFER"] = int(writes - room) - reasons["BUSY"]
    if log.kept_bytes >= log.size_bytes // 10:
        reasons["LARGE"] = int(writes * _LARGE_REDO_SHARE)
    if around.moment - counters.get(limited_at(database), 0.0) <= MINUTE:
        reasons["IORM_LIMIT"] = int((writes - sum(reasons.values())) * _LIMITED_SHARE)
    passed = sum(reasons.values())
    if passed:
        slow = binomial(rng, passed, PREVENTED_RATE + ACTUAL_RATE)
        latency = round((passed - slow) * (DISK_US + OVERHEAD_US)) + slow * OUTLIER_US
        add(counters, FL_SKIP_OUTLIERS=slow, FL_RQ_TM_W=latency)
        add(counters, **{f"FL_IO_W_SKIP_{why}": count for why, count in reasons.items()})
    return passed
