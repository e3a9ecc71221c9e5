"""A session's reads of one table: look-ups by key and scans, as many as a loop asks for, and the waits for them.

A look-up reads one block. The cell that has the block serves it from its flash cache or from disk; a block read from disk
comes into the cache, unless the table has CELL_FLASH_CACHE NONE. So a table is cached while it is read, and other data
replaces it in a full cache, unless it has KEEP. A table in a tablespace on grid disks of flash is read from these, with no
cache between. A flash cache that the instance has on its own node comes before all of this, and keeps what has been read.
Simplified: blocks of indexes are in the buffer cache, those of the table are
not; disks do not limit a cell's reads; smart scans take as long everywhere; trace files have no lines about the reads.

Cells count the reads with their next collection; the session and its instance count them at once.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, field

from exacell.core.units import MIB
from exacell.emulator.cell.models import Cell
from exacell.emulator.io.cache_fill import fill
from exacell.emulator.io.database_io import BLOCK_BYTES, WATCHED, counted_by_sessions, statistics
from exacell.emulator.io.load_profiles import PROFILES
from exacell.emulator.io.redo_times import SPREAD
from exacell.emulator.io.table_reads import TableReads
from exacell.emulator.io.truth import Truth
from exacell.emulator.storage.segments import KEEP, NONE
from exacell.emulator.work.sessions import UserSession

READ, SCAN = "cell single block physical read", "cell smart table scan"
OWN_READ = "db flash cache single block physical read"
GRID_DISK_US, FLASH_US, OWN_US, DISK_US = 320, 350, 450, 2250
"""Mean microseconds for a read of one block: from a grid disk of flash, from the flash cache, from the database's own flash
cache, and from disk. Source: the posts on flash of a quarter rack: look-ups were fastest from flash disks, the cache was close.
"""
SCAN_US, SCANNED_AT_ONCE = 2100, 16 * MIB
"""Microseconds of a wait for a smart scan, and the bytes that one wait covers."""

_EXECUTION_US = 22
"""Microseconds of a SELECT by key in PL/SQL in addition to the read."""
_ROWS_SHARE = 0.9
"""Share of a block that rows fill."""
_AT_ONCE = 1000
"""Look-ups after which other tasks get a turn."""


@dataclass(frozen=True, kw_only=True)
class ReadTable:
    """A table as sessions read it.

    Attributes:
        name: with its owner, so that cells can distinguish it.
        clause: its CELL_FLASH_CACHE.
        size_bytes: the bytes of its blocks.
        flash: the cells on whose flash disks its tablespace is; empty if it is on hard disks.
        own: the bytes of the flash cache that the instance has on its node; 0 if there is none.
    """

    name: str
    clause: str
    size_bytes: int
    flash: frozenset[str] = frozenset()
    own: int = 0


def blocks_of(rows: int, row_bytes: int) -> int:
    """Return the bytes of the blocks for so many rows."""
    each = max(1, int(BLOCK_BYTES * _ROWS_SHARE) // max(1, row_bytes))
    return -(-rows // each) * BLOCK_BYTES


def look_ups(user: UserSession, table: ReadTable, count: int) -> Iterator[None]:
    """Let a session look up ``count`` keys, one after the other, and yield now and then.

    Keys are drawn from the whole table, so that all its blocks are equally likely.
    """
    parts = _parts(user, table)
    chance, own = user.chance, _Own.of(user, table)
    for first in range(0, count, _AT_ONCE):
        here = min(_AT_ONCE, count - first)
        seen = TableReads()
        waited, most = 0, 0
        own.served = own.waited = own.most = 0
        for _ in range(here):
            if own.read(chance):
                continue
            flash = bool(parts) and parts[int(chance.random() * len(parts))].read(chance, seen)
            wait = _wait(chance, (GRID_DISK_US if table.flash else FLASH_US) if flash else DISK_US)
            waited, most = waited + wait, max(most, wait)
        own.settle(user)
        for part in parts:
            part.settle(user)
        user.spend(here * _EXECUTION_US)
        if own.served < here:
            user.wait(READ, here - own.served, waited, most)
        _count(user, here, seen, own.served)
        yield


def scans(user: UserSession, table: ReadTable, count: int) -> Iterator[None]:
    """Let a session read the whole table ``count`` times by smart scans, and yield after each."""
    parts = _parts(user, table)
    waits = max(1, -(-table.size_bytes // SCANNED_AT_ONCE))
    for _ in range(count):
        waited, most = 0, 0
        for _ in range(waits):
            wait = round(SCAN_US * user.chance.lognormvariate(-SPREAD * SPREAD / 2, SPREAD))
            waited, most = waited + wait, max(most, wait)
        for part in parts:
            size_mb = -(-table.size_bytes // len(parts) // MIB)
            if table.flash:
                part.reads.direct_mb += size_mb
            else:
                part.reads.scanned_mb += size_mb
            part.settle(user)
        user.spend(_EXECUTION_US)
        user.wait(SCAN, waits, waited, most)
        _count(user, 1, TableReads(scanned_mb=-(-table.size_bytes // MIB)))
        yield


def _wait(chance: random.Random, mean: int) -> int:
    return round(mean * chance.lognormvariate(-SPREAD * SPREAD / 2, SPREAD))


@dataclass(kw_only=True)
class _Own:
    """The flash cache that an instance has on its node, for one table.

    Attributes:
        room: the most bytes of the table that it holds; 0 without such a cache.
        served, waited, most: reads from it, their microseconds, and the longest of them.
    """

    key: str
    table: str
    whole: int
    room: int
    held: int
    served: int = 0
    waited: int = 0
    most: int = 0

    @classmethod
    def of(cls, user: UserSession, table: ReadTable) -> _Own:
        """Return the cache of a session's instance."""
        key = f"{user.desk.name}|{user.desk.node}"
        whole = max(BLOCK_BYTES, table.size_bytes)
        room = min(whole, table.own)
        held = min(room, user.desk.work.own.get(key, {}).get(table.name, 0))
        return cls(key=key, table=table.name, whole=whole, room=room, held=held)

    def read(self, chance: random.Random) -> bool:
        """Look for a block; return whether it is there. One that is not comes in."""
        if not self.room:
            return False
        if chance.random() >= self.held / self.whole:
            self.held = min(self.room, self.held + BLOCK_BYTES)
            return False
        wait = _wait(chance, OWN_US)
        self.served, self.waited, self.most = self.served + 1, self.waited + wait, max(self.most, wait)
        return True

    def settle(self, user: UserSession) -> None:
        """Let the instance keep what has come in, and the session count its waits."""
        if self.served or self.held:
            user.desk.work.own.setdefault(self.key, {})[self.table] = self.held
        if self.served:
            user.wait(OWN_READ, self.served, self.waited, self.most)


@dataclass(kw_only=True)
class _Part:
    """The part of a table on one cell.

    Attributes:
        share: the planted share of reads that the cache serves; None if the cached bytes decide.
        open: whether the cache accepts data of the database.
        held: the bytes of the table that the cache has.
        fresh: those of them that are not yet counted in the cache.
    """

    host: str
    cell: Cell
    key: str
    table: ReadTable
    whole: int
    share: float | None
    open: bool
    reads: TableReads = field(default_factory=TableReads)
    held: int = 0
    fresh: int = 0

    def read(self, chance: random.Random, seen: TableReads) -> bool:
        """Read one block; return whether it came from flash."""
        if self.table.flash:
            for count in (self.reads, seen):
                count.direct += 1
            return True
        kept = self.table.clause == KEEP
        share = (self.held / self.whole if self.share is None else self.share) if self.open else 0.0
        if chance.random() < share:
            for count in (self.reads, seen):
                count.hits += 1
                count.kept_hits += kept
            return True
        missed = self.open and self.table.clause != NONE
        for count in (self.reads, seen):
            count.misses += missed
            count.skipped += not missed
            count.kept_misses += missed and kept
        if missed and self.held < self.whole:
            self.held, self.fresh = self.held + BLOCK_BYTES, self.fresh + BLOCK_BYTES
        return False

    def settle(self, user: UserSession) -> None:
        """Tell the cell what was read, and its cache what has come in."""
        waiting = user.desk.work.reads.setdefault(user.desk.name, {})
        waiting[self.host] = waiting.get(self.host, TableReads()).with_more(self.reads)
        self.reads = TableReads()
        if self.fresh and self.cell.flash_cache is not None:
            self.cell.flash_cache.tables[self.key] = self.held
            fill(self.cell.flash_cache, used=self.fresh, dirty=0)
            self.fresh = 0


def _parts(user: UserSession, table: ReadTable) -> list[_Part]:
    rack, name = user.instance.asm.rack, user.desk.name
    up = [
        (host, cell)
        for host, cell in rack.cells.items()
        if cell.cellsrv_up and (not table.flash or host in table.flash)
    ]
    work = user.desk.work
    key = f"{name}|{table.name}"
    work.kept.add(key) if table.clause == KEEP else work.kept.discard(key)
    found: list[_Part] = []
    for host, cell in up:
        cache = cell.flash_cache
        taken = cache is not None and not cache.flush_asked and cell.iorm.flash_cache_on(name)
        whole = max(BLOCK_BYTES, table.size_bytes // len(up))
        found.append(
            _Part(
                host=host,
                cell=cell,
                key=key,
                table=table,
                whole=whole,
                share=_planted(rack.truth(name), cell, table.clause, cell.iorm.cache_limit(name)),
                open=taken,
                held=min(whole, cache.tables.get(key, 0)) if cache is not None else 0,
            )
        )
    return found


def _planted(truth: Truth | None, cell: Cell, clause: str, most: int | None) -> float | None:
    """Return the share of reads that a cache serves by the planted truth; None without one."""
    known = truth.served(cell, most) if truth is not None else None
    if known is None:
        return None
    return known.keep if clause == KEEP else known.none if clause == NONE else known.rest


def _count(user: UserSession, executions: int, seen: TableReads, own: int = 0) -> None:
    """Count the reads in the statistics of the instance; ``own`` are those that its own flash cache has served."""
    grown = dict.fromkeys(WATCHED, 0.0)
    grown |= {"FC_IO_RQ_R": seen.hits, "FC_IO_RQ_R_MISS": seen.misses, "FC_IO_RQ_R_SKIP": seen.skipped + seen.direct}
    grown |= {"SIO_IO_EL_OF": seen.scanned_mb}
    found = statistics(grown, writes=0, copies=1, profile=PROFILES["redo"], own=own)
    user.count({name: amount for name, amount in found.items() if amount and not counted_by_sessions(name)})
    user.count({DIRECT: seen.direct} if seen.direct else {})
    user.count({"execute count": executions, KEYED: seen.hits + seen.misses + seen.skipped + seen.direct})


DIRECT = "physical reads of one block by key from grid disks of flash"
KEYED = "physical reads of one block by key"
"""Counters besides Oracle's statistics: requests of which each reads only one block."""
