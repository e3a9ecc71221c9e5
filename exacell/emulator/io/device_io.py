"""Counts the I/O of a cell's devices and of its databases, from which all metrics of disks and of IORM are computed.

Counters are kept for the cell, not for each disk: a medium's I/O is spread evenly over its disks (:func:`share`). A
counter's name is ``H.R_SM.RQ`` for the cell (medium H or F, read or write, small or large; RQ requests, KB, TM
microseconds) and ``SPOT:H.SM.RQ`` for a database.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping

from exacell.emulator.cell.disk_models import DiskType
from exacell.emulator.cell.models import Cell

HARD, FLASH, CAPACITY = "H", "F", "C"
PMEM = "P"
"""Persistent memory: a medium whose I/O the cells do not count. Source: Oracle SAGUG, monitoring-pmem-cache."""
READ, WRITE = "R", "W"
SMALL, LARGE = "SM", "LG"

OTHER_DATABASE = "_OTHER_DATABASE_"
"""The database name for I/O that no database asked for: the disk writer's. Source: reference cellcli.md 4.3."""

SENT, RECEIVED = "NET.SENT_KB", "NET.RCVD_KB"
"""Counters of the KB that the cell has sent to database nodes, and received from them."""

PENDING = "FC_PENDING_BYTES"
"""Counter of bytes that a flush has written to disk since the last collection; the next collection counts them."""

LARGE_KB = 1024
"""KB of a large I/O. I/Os up to 128 KB count as small. Source: Oracle SAGUG, monitoring-cell-disk-io-metrics."""

BLOCK_KB = 8
"""KB of a database block."""

OVERLOAD_SKIPS = tuple(f"FL_IO_W_SKIP_{why}" for why in ("BUSY", "NO_BUFFER", "LARGE", "IORM_LIMIT"))
"""Counters of redo writes that bypass the flash log because the log, or the disk behind it, is overloaded."""

LATENCY_US: Mapping[tuple[str, str, str], int] = {
    (HARD, READ, SMALL): 6200,
    (HARD, READ, LARGE): 9800,
    (HARD, WRITE, SMALL): 700,
    (HARD, WRITE, LARGE): 11500,
    (CAPACITY, READ, SMALL): 290,
    (CAPACITY, READ, LARGE): 2300,
    (CAPACITY, WRITE, SMALL): 210,
    (CAPACITY, WRITE, LARGE): 4100,
    (FLASH, READ, SMALL): 240,
    (FLASH, READ, LARGE): 1900,
    (FLASH, WRITE, SMALL): 160,
    (FLASH, WRITE, LARGE): 2400,
}
"""Microseconds that a request takes, by medium, kind and size."""

Counters = dict[str, float]


def add(counters: Counters, **amounts: float) -> None:
    """Add amounts to counters, name by name."""
    for name, amount in amounts.items():
        counters[name] = counters.get(name, 0) + amount


def device_io(
    rng: random.Random,
    counters: Counters,
    *,
    database: str,
    medium: str,
    kind: str,
    size: str,
    requests: int,
    kilobytes: int,
) -> None:
    """Count I/O requests of one kind on one medium, for the cell and for the database that caused them."""
    if requests <= 0:
        return
    latency = round(requests * LATENCY_US[medium, kind, size] * rng.uniform(0.94, 1.06))
    for prefix in (f"{medium}.{kind}_{size}", f"{database}:{medium}.{size}"):
        add(counters, **{f"{prefix}.RQ": requests, f"{prefix}.KB": kilobytes, f"{prefix}.TM": latency})


def medium_io(
    rng: random.Random,
    counters: Counters,
    database: str,
    medium: str,
    kind: str,
    size: str,
    requests: int,
    kilobytes: int | None = None,
) -> None:
    """Count requests of blocks, or of megabytes if they are large; ``kilobytes`` gives another total size."""
    each = LARGE_KB if size == LARGE else BLOCK_KB
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


def network(counters: Counters, *, sent_kb: int, received_kb: int) -> None:
    """Count the KB sent over the RDMA network between the cell and the database nodes."""
    add(counters, **{SENT: sent_kb, RECEIVED: received_kb})


def backing(cell: Cell) -> str:
    """Return the medium behind the flash cache: hard disks, else capacity-optimized flash, else the flash itself."""
    kinds = {disk.disk_type for disk in cell.cell_disks.values()}
    return HARD if DiskType.HARD in kinds else CAPACITY if DiskType.CAPACITY in kinds else FLASH


def destaged(rng: random.Random, counters: Counters, size_bytes: int, *, back: str = HARD) -> None:
    """Count dirty data that the disk writer has read from flash and written to the disks behind it, one megabyte at a time."""
    if size_bytes <= 0:
        return
    for name in ("FC_IO_BY_DISK_WRITE", "FC_IO_BY_W_DISK_WRITER", "FC_IO_BY_R_DISK_WRITER"):
        counters[name] = counters.get(name, 0.0) + size_bytes / 2**20
    kilobytes = -(-size_bytes // 1024)
    requests = -(-kilobytes // LARGE_KB)
    for medium, kind in ((FLASH, READ), (back, WRITE)):
        device_io(
            rng,
            counters,
            database=OTHER_DATABASE,
            medium=medium,
            kind=kind,
            size=LARGE,
            requests=requests,
            kilobytes=kilobytes,
        )


def share(total: float, index: int, count: int) -> int:
    """Return the share of a total for the index-th of ``count`` equal objects; the shares add up to it and never decrease."""
    whole, rest = divmod(int(total), count)
    return whole + (1 if index < rest else 0)


def spread(total: float, count: int) -> Iterator[int]:
    """Yield the shares of a total, one for each object."""
    return (share(total, index, count) for index in range(count))
