"""Smart scans: the data requested, the part that storage indexes and columns save, the places read, and the data sent back.

Source: reference cellcli.md 4.3. The shares are made up.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

from exacell.emulator.io.cache_chores import read_columns
from exacell.emulator.io.device_io import FLASH, LARGE, LARGE_KB, READ, Counters, medium_io, network

STORAGE_INDEX_SHARE, RETURNED_SHARE, PASSED_SHARE = 0.35, 0.06, 0.02
"""Shares of the requested data: saved by storage indexes, sent back to the database, sent back unprocessed."""

_MIXED_SHARE = 0.05
"""Share of the data read that is only partly in the cache, so that it is read from both."""

_TOO_LARGE_SHARE = 0.05
"""Share of the data read from disks in requests that are too large for the cache."""

_FG_US, _BG_US = 820, 35
"""Microseconds of processor time for a megabyte in the two parts of a scan."""

_BUSY_SHARE, _REVERSED_SHARE = 0.5, 0.1
"""Share of the cell's processor time from which on scans are left to the database nodes; and the share of the scans that then is.
"""

_SESSION_MB = 15_000
"""Megabytes that one session scans in a minute."""

SESSIONS_HWM = "SIO.SESSIONS_HWM"
"""Counter of the most simultaneous sessions of smart scans since CELLSRV was started."""


def content_counter(database: str, *, hit: bool) -> str:
    """Return the name of the counter of reads of a database's data from the flash cache, or from disk if ``hit`` is False.

    The name begins like the cache's counters, so that it is reset with them.
    """
    return f"FC_{'HITS' if hit else 'MISSES'}|{database}"


def sessions(asked_mb: float) -> int:
    """Return the number of sessions that are needed to scan this many megabytes in a minute."""
    return -(-int(asked_mb) // _SESSION_MB)


def scan(
    rng: random.Random,
    counters: Counters,
    database: str,
    back: str,
    asked_mb: int,
    *,
    held: float | None,
    kept: float,
    cpus: int,
) -> int:
    """Count a minute's smart scans over ``asked_mb`` megabytes; return the megabytes of them that come into the cache.

    Eligible data is the data that storage indexes save, and the data read from flash, from disk or from both.

    Args:
        back: the medium behind the cache.
        held: the share of the data that the cache holds; None if nothing is cached.
        kept: the share of the data that has CELL_FLASH_CACHE KEEP.
        cpus: the cell's processors.
    """
    if not asked_mb:
        return 0
    saved = round(asked_mb * STORAGE_INDEX_SHARE * rng.uniform(0.97, 1.03))
    left = asked_mb - saved
    read = _read(left, held)
    passed = round(left * PASSED_SHARE * rng.uniform(0.9, 1.1))
    returned = passed + round((left - passed) * RETURNED_SHARE * rng.uniform(0.95, 1.05))
    busy_us = left * _FG_US
    reversed_mb = int(left * _REVERSED_SHARE) if cpus and busy_us > _BUSY_SHARE * cpus * 60e6 else 0
    amounts = {
        "SIO_IO_EL_OF": asked_mb,
        "SIO_IO_SI_SV": saved,
        "CL_IO_RQ_NODATA": saved,
        "SIO_IO_PA_TH": passed,
        "SIO_IO_RV_OF": reversed_mb,
        "SIO_IO_OF_RE": returned + reversed_mb,
        "SIO_FG_CPU": round((busy_us - reversed_mb * _FG_US) * rng.uniform(0.95, 1.05)),
        "SIO_BG_CPU": round(left * _BG_US * rng.uniform(0.95, 1.05)),
        **_amounts_read(read, database),
    }
    for name, amount in amounts.items():
        if amount:
            counters[name] = counters.get(name, 0) + amount
    counters[SESSIONS_HWM] = max(counters.get(SESSIONS_HWM, 0), sessions(asked_mb))
    medium_io(rng, counters, database, FLASH, READ, LARGE, read.flash)
    medium_io(rng, counters, database, back, READ, LARGE, read.disk)
    network(counters, sent_kb=(returned + reversed_mb) * LARGE_KB, received_kb=asked_mb // 64)
    if held is not None:
        read_columns(counters, flash_mb=read.flash, populated_mb=read.populated, kept=kept)
    return read.populated


@dataclass(frozen=True, kw_only=True)
class _Read:
    """Where the megabytes of a minute's smart scans were read.

    Attributes:
        flash, disk: read from the cache, and from disk; ``both`` of each in requests that needed both.
        missed: of those from disk, the ones that were looked up in the cache; ``populated`` of them come into it.
        large: of those from disk, the ones that are too large for it.
    """

    flash: int
    disk: int
    both: int
    missed: int = 0
    populated: int = 0
    large: int = 0


def _read(left_mb: int, held: float | None) -> _Read:
    """Divide the data that storage indexes did not save; ``held`` is the share in the cache, None if nothing is cached."""
    flash = round(left_mb * (held or 0.0))
    disk = left_mb - flash
    both = int(min(flash, disk) * _MIXED_SHARE)
    if held is None:
        return _Read(flash=flash, disk=disk, both=both)
    large = int(disk * _TOO_LARGE_SHARE)
    missed = disk - large
    return _Read(flash=flash, disk=disk, both=both, missed=missed, populated=missed // 4, large=large)


def _amounts_read(read: _Read, database: str) -> dict[str, int]:
    """Return the amount to add to each counter for the reads of a minute's smart scans. A request is one megabyte."""
    return {
        "SIO_IO_RD_FC": read.flash - read.both,
        "SIO_IO_RD_RQ_FC": read.flash - read.both,
        "SIO_IO_RD_HD": read.disk - read.both,
        "SIO_IO_RD_RQ_HD": read.disk - read.both,
        "SIO_IO_RD_FC_HD": 2 * read.both,
        "SIO_IO_RD_RQ_FC_HD": 2 * read.both,
        "SIO_IO_WR_FC": read.populated,
        "SIO_IO_WR_RQ_FC": read.populated,
        "FC_IO_RQ_R_DW": read.flash,
        "FC_IO_BY_R_DW": read.flash,
        "FC_IO_RQ_R_MISS_DW": read.missed,
        "FC_IO_BY_R_MISS_DW": read.missed,
        "FC_IO_RQ_R_SKIP": read.large,
        "FC_IO_BY_R_SKIP": read.large,
        "FC_IO_RQ_R_SKIP_LG": read.large,
        "FC_IO_BY_R_SKIP_LG": read.large,
        f"{database}:FC.LG": read.flash,
        f"{database}:FC.KB": read.flash * LARGE_KB,
        content_counter(database, hit=True): read.flash,
        content_counter(database, hit=False): read.missed,
    }
