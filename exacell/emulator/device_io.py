"""Counts the I/O of a cell's devices and of its databases, from which all metrics of disks and of IORM are computed.

Counters are kept for the cell, not for each disk: the I/O of a medium spreads evenly over its disks (:func:`share`). A
counter's name is ``H.R_SM.RQ`` for the cell (medium H or F, read or write, small or large; RQ requests, KB, TM
microseconds) and ``SPOT:H.SM.RQ`` for a database.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping

from exacell.emulator.disk_models import DiskType
from exacell.emulator.models import Cell

HARD, FLASH, CAPACITY = "H", "F", "C"
PMEM = "P"
"""Persistent memory: a medium whose I/O cells do not count. Source: Oracle SAGUG, monitoring-pmem-cache."""
READ, WRITE = "R", "W"
SMALL, LARGE = "SM", "LG"

OTHER_DATABASE = "_OTHER_DATABASE_"
"""Whose I/O it is when no database asked for it: the disk writer's. Source: reference cellcli.md 4.3."""

SENT, RECEIVED = "NET.SENT_KB", "NET.RCVD_KB"
"""KB that the cell has sent to database nodes, and received from them."""

PENDING = "FC_PENDING_BYTES"
"""Bytes that a flush has destaged since the last collection; they are counted at the next one."""

LARGE_KB = 1024
"""Size of a large I/O. Those up to 128 KB count as small. Source: Oracle SAGUG, monitoring-cell-disk-io-metrics."""

BLOCK_KB = 8
"""Size of a block of a database."""

OVERLOAD_SKIPS = tuple(f"FL_IO_W_SKIP_{why}" for why in ("BUSY", "NO_BUFFER", "LARGE", "IORM_LIMIT"))
"""Counters of redo writes that bypass the flash log because it, or the disk behind it, has too much to do."""

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
    """Count requests of blocks, or of megabytes when they are large; other sizes are said in ``kilobytes``."""
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
    """Count what went over the RDMA network between the cell and the database nodes."""
    add(counters, **{SENT: sent_kb, RECEIVED: received_kb})


def backing(cell: Cell) -> str:
    """Return the medium behind the flash cache: hard disks, else capacity-optimized flash, else the same flash."""
    kinds = {disk.disk_type for disk in cell.cell_disks.values()}
    return HARD if DiskType.HARD in kinds else CAPACITY if DiskType.CAPACITY in kinds else FLASH


def destaged(rng: random.Random, counters: Counters, size_bytes: int, *, back: str = HARD) -> None:
    """Count dirty data that the disk writer has read from flash and written to the disks behind, a megabyte at a time."""
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
    """Return the part of a total that the index-th of ``count`` equal objects has; parts add up and never shrink."""
    whole, rest = divmod(int(total), count)
    return whole + (1 if index < rest else 0)


def spread(total: float, count: int) -> Iterator[int]:
    """Yield the parts of a total, one for each object."""
    return (share(total, index, count) for index in range(count))
