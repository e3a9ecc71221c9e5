"""Counts the effects of a database's reads and writes on a cell: in its flash cache, on its flash and on the disks behind it."""

from __future__ import annotations

import random
from dataclasses import dataclass

from exacell.core.units import KIB, MIB
from exacell.emulator.basics.chance import binomial
from exacell.emulator.basics.clock import MINUTE
from exacell.emulator.cell.models import Cell
from exacell.emulator.io.cache_chores import absorb, for_partners, other_mirrors, pass_by, replace_lines
from exacell.emulator.io.cache_clauses import Served, bring_in, served
from exacell.emulator.io.cache_fill import Filled, held_share
from exacell.emulator.io.device_io import (
    FLASH,
    LATENCY_US,
    READ,
    SMALL,
    WRITE,
    Counters,
    add,
    backing,
    medium_io,
    network,
)
from exacell.emulator.io.load_profiles import PROFILES, Profile
from exacell.emulator.io.smart_scans import content_counter, scan
from exacell.emulator.io.surroundings import Around
from exacell.emulator.io.table_reads import TableReads
from exacell.emulator.io.truth import Truth

_BLOCK = 8 * KIB

_THROTTLED_SHARE = 0.02
"""Share of the requests that bypass an overloaded cache."""


@dataclass(frozen=True, kw_only=True)
class Told:
    """What is known in advance of a database's reads.

    Attributes:
        kept, none: the shares of the data that have CELL_FLASH_CACHE KEEP and NONE. Data with NONE that is in the cache already
            still serves reads, but no more of it comes in.
        truth: a planted effect that gives the share of reads that the cache serves; None: the share grows as the cache warms.
    """

    kept: float = 0.0
    none: float = 0.0
    truth: Truth | None = None


_NOTHING_TOLD = Told()


def data_io(
    rng: random.Random,
    cell: Cell,
    counters: Counters,
    database: str,
    redo: int,
    profile: Profile = PROFILES["redo"],
    *,
    around: Around,
    told: Told = _NOTHING_TOLD,
) -> Filled:
    """Count the reads, writes and scans of data that come with ``redo`` redo writes on one cell.

    Reads hit more often the warmer the cache is; misses fill it. Writes dirty lines in write-back mode only.

    Args:
        told: the clauses and planted effects that change the reads.

    Returns:
        The bytes that come into the cache, for :func:`cache_fill.fill`.
    """
    reads, writes = round(redo * profile.reads), round(redo * profile.writes)
    network(counters, sent_kb=reads * _BLOCK // KIB, received_kb=writes * _BLOCK // KIB)
    cache = cell.flash_cache
    back = backing(cell)
    scanned, large = round(redo * profile.scanned_mb), round(redo * profile.loaded_mb)
    clauses, truth = (told.kept, told.none), told.truth
    kept, none = clauses
    network(counters, sent_kb=0, received_kb=large * KIB)
    if cache is None or cache.flush_asked or not cell.iorm.flash_cache_on(database):
        _count_past_cache(rng, counters, database, back, reads=reads, writes=writes)
        pass_by(rng, counters, database, back, large)
        scan(rng, counters, database, back, scanned, held=None, kept=kept, cpus=around.cpus)
        if kept:
            add(counters, FC_IO_RQKEEP_R_SKIP=binomial(rng, reads, kept))
        return Filled()
    most = cell.iorm.cache_limit(database)
    known = truth.served(cell, most) if truth is not None else None
    shares = served(cell, around.moment, database, clauses, most) if known is None else known
    warm = shares.of_all(kept, none)
    blocks = _shared_out(rng, cell, reads, writes, shares=shares, clauses=clauses, minutes=around.minutes)
    _count_cached(counters, database, blocks)
    _move_blocks(rng, cell, counters, database, blocks)
    populated = scan(rng, counters, database, back, scanned, held=held_share(cell, most), kept=kept, cpus=around.cpus)
    taken = absorb(rng, counters, database, large, kept) if cell.write_back and around.takes_large_writes else 0
    pass_by(rng, counters, database, back, large - taken)
    replace_lines(cell, counters, small=blocks.misses + blocks.first, large=populated + taken, kept=kept)
    other_mirrors(rng, counters, hits=blocks.hits, misses=blocks.misses, share=around.secondary)
    for_partners(rng, counters, reads=reads, hit_share=warm, share=around.proxied)
    if kept:
        hot = binomial(rng, blocks.writes, kept)
        add(counters, FC_IO_RQKEEP_W=hot, FC_IO_BYKEEP_W=hot * _BLOCK / MIB)
    dirty = blocks.first * _BLOCK + taken * MIB if cell.write_back else 0
    used = (blocks.misses + blocks.first) * _BLOCK + (populated + taken) * MIB
    of_keep = blocks.kept_misses * _BLOCK
    bring_in(cell, database, clauses, keep=of_keep, rest=used - of_keep)
    return Filled(used=used, dirty=dirty, large=taken * MIB)


def table_io(
    rng: random.Random, cell: Cell, counters: Counters, database: str, reads: TableReads, *, around: Around
) -> None:
    """Count the reads of single tables on a cell; the blocks themselves have been put into its cache before."""
    cache, back = cell.flash_cache, backing(cell)
    blocks_sent = reads.hits + reads.misses + reads.skipped + reads.direct
    network(counters, sent_kb=blocks_sent * _BLOCK // KIB, received_kb=0)
    medium_io(rng, counters, database, FLASH, READ, SMALL, reads.direct)
    scan(rng, counters, database, FLASH, reads.direct_mb, held=None, kept=0.0, cpus=around.cpus)
    if cache is None:
        _count_past_cache(rng, counters, database, back, reads=reads.skipped, writes=0)
    else:
        blocks = _Blocks(
            hits=reads.hits,
            misses=reads.misses,
            skipped=reads.skipped,
            writes=0,
            overwrites=0,
            throttled_reads=0,
            throttled_writes=0,
            kept_hits=reads.kept_hits,
            kept_misses=reads.kept_misses,
        )
        _count_cached(counters, database, blocks)
        _move_blocks(rng, cell, counters, database, blocks)
    held = None if cache is None else held_share(cell)
    scan(rng, counters, database, back, reads.scanned_mb, held=held, kept=0.0, cpus=around.cpus)


def _count_past_cache(
    rng: random.Random, counters: Counters, database: str, back: str, *, reads: int, writes: int
) -> None:
    """Count reads and writes of blocks that bypass the cache or have none."""
    add(
        counters,
        FC_IO_RQ_R_SKIP=reads,
        FC_IO_BY_R_SKIP=reads * _BLOCK / MIB,
        FC_IO_RQ_W_SKIP=writes,
        FC_IO_BY_W_SKIP=writes * _BLOCK / MIB,
    )
    medium_io(rng, counters, database, back, READ, SMALL, reads)
    medium_io(rng, counters, database, back, WRITE, SMALL, writes)


@dataclass(frozen=True, kw_only=True)
class _Blocks:
    """How a minute's reads and writes of blocks were served, in requests.

    Attributes:
        hits, misses: reads that the cache served, and reads that it did not serve but whose data it took in.
        skipped: reads that bypassed it, throttled ones included.
        writes: writes that it took: to lines it had (``overwrites``) and to new ones (``first``).
        throttled_reads, throttled_writes: requests that bypassed it because its flash was overloaded.
        kept_hits, kept_misses: the hits and misses that were on data with KEEP.
    """

    hits: int
    misses: int
    skipped: int
    writes: int
    overwrites: int
    throttled_reads: int
    throttled_writes: int
    kept_hits: int
    kept_misses: int

    @property
    def first(self) -> int:
        return self.writes - self.overwrites


def _shared_out(
    rng: random.Random,
    cell: Cell,
    reads: int,
    writes: int,
    *,
    shares: Served,
    clauses: tuple[float, float],
    minutes: float,
) -> _Blocks:
    """Draw how the cache serves a minute's reads and writes.

    Args:
        shares: the shares of the reads that it serves.
        clauses: the shares of the data that have KEEP and NONE.
    """
    kept, none = clauses
    of_keep = binomial(rng, reads, kept) if kept else 0
    of_none = binomial(rng, reads - of_keep, min(1.0, none / (1.0 - kept))) if none and kept < 1.0 else 0
    kept_hits = binomial(rng, of_keep, shares.keep) if of_keep else 0
    left = binomial(rng, of_none, shares.none) if of_none else 0
    hits = kept_hits + left + binomial(rng, reads - of_keep - of_none, shares.rest)
    skipped = of_none - left
    misses = reads - hits - skipped
    warm = shares.of_all(kept, none)
    overloaded = _overloaded(cell, hits / minutes, (writes + misses) / minutes)
    throttled_reads, throttled_writes = (int(count * overloaded) for count in (hits, writes))
    writes -= throttled_writes
    return _Blocks(
        hits=hits - throttled_reads,
        misses=misses,
        skipped=skipped + throttled_reads,
        writes=writes,
        overwrites=binomial(rng, writes, 0.75 * warm),
        throttled_reads=throttled_reads,
        throttled_writes=throttled_writes,
        kept_hits=min(kept_hits, hits - throttled_reads),
        kept_misses=of_keep - kept_hits,
    )


def _count_cached(counters: Counters, database: str, blocks: _Blocks) -> None:
    """Add a minute's reads and writes to the flash cache's counters: requests and megabytes of each kind."""
    requests = {
        "R": blocks.hits,
        "R_MISS": blocks.misses,
        "W": blocks.writes,
        "W_FIRST": blocks.first,
        "W_OVERWRITE": blocks.overwrites,
        "W_POPULATE": blocks.misses,
        "R_SKIP": blocks.skipped,
        "R_SKIP_FC_THROTTLE": blocks.throttled_reads,
        "W_SKIP": blocks.throttled_writes,
        "W_SKIP_FC_THROTTLE": blocks.throttled_writes,
    }
    for kind, count in requests.items():
        add(counters, **{f"FC_IO_RQ_{kind}": count, f"FC_IO_BY_{kind}": count * _BLOCK / MIB})
    small = blocks.hits + blocks.writes
    add(
        counters,
        **{f"{database}:FC.SM": small, f"{database}:FC.KB": small * _BLOCK // KIB},
        **{
            content_counter(database, hit=True): blocks.hits,
            content_counter(database, hit=False): blocks.misses,
        },
    )


def _move_blocks(rng: random.Random, cell: Cell, counters: Counters, database: str, blocks: _Blocks) -> None:
    """Count the I/O that flash and the medium below it do for a minute's reads and writes."""
    back = backing(cell)
    medium_io(rng, counters, database, FLASH, READ, SMALL, blocks.hits)
    if blocks.kept_hits or blocks.kept_misses:
        add(
            counters,
            FC_IO_RQKEEP_R=blocks.kept_hits,
            FC_IO_BYKEEP_R=blocks.kept_hits * _BLOCK / MIB,
            FC_IO_RQKEEP_R_MISS=blocks.kept_misses,
        )
    medium_io(rng, counters, database, back, READ, SMALL, blocks.misses + blocks.skipped)
    medium_io(rng, counters, database, FLASH, WRITE, SMALL, blocks.writes + blocks.misses)
    through = 0 if cell.write_back else blocks.writes
    medium_io(rng, counters, database, back, WRITE, SMALL, blocks.throttled_writes + through)


def _overloaded(cell: Cell, reads: float, writes: float) -> float:
    """Return the share of a minute's requests that bypass the cache because its flash is overloaded."""
    disks = len(cell.flash_disks())
    demand_us = reads * LATENCY_US[FLASH, READ, SMALL] + writes * LATENCY_US[FLASH, WRITE, SMALL]
    return _THROTTLED_SHARE if demand_us > disks * MINUTE * 1e6 else 0.0
