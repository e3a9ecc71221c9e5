"""What a flash cache does besides serving small reads and writes: it replaces lines, writes metadata, absorbs large writes,
keeps columns of scanned data, and serves reads in place of another mirror.

Counters begin with ``FC_`` so that they are reset together with the cache's; those with a ``|`` become metrics in
:mod:`exacell.emulator.metrics.bases`. The shares are made up: public sources name what is counted, but no amounts.
Source: reference cellcli.md 4.2; Oracle SAGUG, monitoring-flash-cache.
"""

from __future__ import annotations

import random

from exacell.core.units import KIB, MIB
from exacell.emulator.cell.models import Cell
from exacell.emulator.io.cache_fill import MAX_USED_SHARE
from exacell.emulator.io.device_io import FLASH, LARGE, LARGE_KB, WRITE, Counters, medium_io

_BLOCK_MB = 8 * KIB / MIB

_FULL_SHARE = 0.97
"""Share of a cache's capacity above which new lines replace old ones."""

_FAILED_SMALL, _FAILED_LARGE = 0.002, 0.2
"""Shares of replacements that find no line to replace; scans must not replace what small reads need."""

_LINES_A_METADATA_WRITE, _METADATA_MB = 64, 4 * KIB / MIB

_COLUMNAR_SHARE, _READ_SHARE, _COLUMNS_SHARE = 0.5, 0.8, 0.35
"""Shares: of the scanned bytes in the cache, those that columns could serve; of these, those that columns do serve; and of these,
the bytes that must be read.
"""

LARGE_WRITES = ("TEMPSPILL", "DATATEMP", "WRITEONLY")
"""Kinds of large writes: spills of work areas, other temporary data, and data that is written but not read."""

ABSORBED, REJECTED = "FC_LW|ABSORBED", "FC_LW|REJECTED"
"""Counters of large writes, in requests of a megabyte: those that the cache took, and those that bypassed it. A tenth of the
latter is the cells' own work of creating files.
"""

FOR_LARGE_WRITES = "FC_DKWR|LWDSYNC"
"""Counter of megabytes that the disk writer has written to make room for large writes."""

_KINDS = dict(zip(LARGE_WRITES, (0.5, 0.2, 0.3), strict=True))
_ABSORBED_SHARE = 0.7
_FOR_AGEING_SHARE = 0.25
"""Share of the large writes of unread data that is kept because of its age."""


def replace_lines(cell: Cell, counters: Counters, *, small: int, large: int, kept: float) -> None:
    """Count the replacements that ``small`` and ``large`` requests need in a full cache, and the metadata writes.

    Args:
        kept: share of the data that has CELL_FLASH_CACHE KEEP; only such data pushes such data out.
    """
    cache = cell.flash_cache
    metadata = (small + large) // _LINES_A_METADATA_WRITE
    _add(counters, FC_IO_RQ_W_METADATA=metadata, FC_IO_BY_W_METADATA=metadata * _METADATA_MB)
    if cache is None or cache.used_bytes < cache.size_bytes * MAX_USED_SHARE * _FULL_SHARE:
        return
    failed = {"OLTP": int(small * _FAILED_SMALL), "DW": int(large * _FAILED_LARGE)}
    _add(counters, FC_IO_RQ_REPLACEMENT_ATTEMPTED=small + large, FC_IO_RQ_REPLACEMENT_FAILED=sum(failed.values()))
    for kind, attempted in (("OLTP", small), ("DW", large)):
        ends = {"FAILED": failed[kind], "SUCCEEDED": attempted - failed[kind]}
        _add(counters, **{f"FC_IO_RQ_REPLACEMENT_{kind}_{end}": count for end, count in ends.items()})
    _add(counters, FC_BYKEEP_OVERWR=int(small * kept) * _BLOCK_MB)


def read_columns(counters: Counters, *, flash_mb: int, populated_mb: int, kept: float) -> None:
    """Count the columns that a scan of ``flash_mb`` cached megabytes reads instead of rows, and the data turned into columns.

    FC_COL_IO_BY_R + FC_COL_IO_BY_SAVED stays at most FC_COL_IO_BY_R_ELIGIBLE.
    """
    eligible = int(flash_mb * _COLUMNAR_SHARE)
    served = int(eligible * _READ_SHARE)
    read = int(served * _COLUMNS_SHARE)
    fresh = int(populated_mb * _COLUMNAR_SHARE)
    _add(
        counters,
        FC_COL_IO_RQ_R_ELIGIBLE=eligible,
        FC_COL_IO_BY_R_ELIGIBLE=eligible,
        FC_COL_IO_RQ_R=served,
        FC_COL_IO_BY_R=read,
        FC_COL_IO_BY_SAVED=served - read,
        FC_COL_IO_RQ_W_POPULATE=fresh,
        FC_COL_IO_BY_W_POPULATE=fresh,
        FC_COL_IO_RQKEEP_R=int(served * kept),
        FC_COL_IO_BYKEEP_R=int(read * kept),
    )


def absorb(rng: random.Random, counters: Counters, database: str, large: int, kept: float) -> int:
    """Count ``large`` writes of one megabyte that a write-back cache is asked to take; return how many it takes.

    Those that it takes are written to flash, as first writes of lines. Count the rest with :func:`pass_by`.
    """
    taken = int(large * _ABSORBED_SHARE)
    counts = {kind: int(taken * share) for kind, share in _KINDS.items()}
    counts[LARGE_WRITES[0]] += taken - sum(counts.values())
    _add(
        counters,
        **{f"FC_LW|{kind}": count for kind, count in counts.items()},
        **{ABSORBED: taken},
        FC_IO_RQ_W=taken,
        FC_IO_BY_W=float(taken),
        FC_IO_RQ_W_FIRST=taken,
        FC_IO_BY_W_FIRST=float(taken),
        FC_IO_RQ_W_LG_CHINT=int(taken * kept),
        FC_IO_RQ_W_LG_DTAGE=int(counts["WRITEONLY"] * _FOR_AGEING_SHARE),
        **{f"{database}:FC.LG": taken, f"{database}:FC.KB": taken * LARGE_KB},
    )
    medium_io(rng, counters, database, FLASH, WRITE, LARGE, taken)
    return taken


def pass_by(rng: random.Random, counters: Counters, database: str, back: str, large: int) -> None:
    """Count large writes of one megabyte that bypass the cache and go to the disks."""
    _add(
        counters,
        **{REJECTED: large},
        FC_IO_RQ_W_SKIP=large,
        FC_IO_BY_W_SKIP=float(large),
        FC_IO_RQ_W_SKIP_LG=large,
        FC_IO_BY_W_SKIP_LG=float(large),
        SIO_IO_WR_HD=large // 10,
        SIO_IO_WR_RQ_HD=large // 10,
    )
    medium_io(rng, counters, database, back, WRITE, LARGE, large)


def written_for(counters: Counters, size_bytes: int, *, large_share: float) -> None:
    """Count the part of ``size_bytes`` that the disk writer has written to make room for large writes.

    Args:
        large_share: share of large writes in the data for which room was made.
    """
    megabytes = size_bytes / MIB
    _add(counters, **{FOR_LARGE_WRITES: megabytes * large_share})


def other_mirrors(rng: random.Random, counters: Counters, *, hits: int, misses: int, share: float) -> None:
    """Count the part of a database's reads that this cell serves because the cell of their primary mirror is offline."""
    if not share:
        return
    served, missed = (round(count * share * rng.uniform(0.97, 1.03)) for count in (hits, misses))
    _add(
        counters,
        FC_IO_RQ_R_ACTIVE_SECONDARY=served,
        FC_IO_BY_R_ACTIVE_SECONDARY=served * _BLOCK_MB,
        FC_IO_RQ_R_ACTIVE_SECONDARY_MISS=missed,
        FC_IO_BY_R_ACTIVE_SECONDARY_MISS=missed * _BLOCK_MB,
    )


def for_partners(rng: random.Random, counters: Counters, *, reads: int, hit_share: float, share: float) -> None:
    """Count the reads that partner cells forward because a part of their own flash cache is broken."""
    if not share:
        return
    asked = round(reads * share * rng.uniform(0.97, 1.03))
    hits = int(asked * hit_share)
    _add(counters, FC_IO_RQ_R_PROXYREAD=hits, FC_IO_RQ_R_PROXYREAD_MISS=asked - hits)


def _add(counters: Counters, **amounts: float) -> None:
    for name, amount in amounts.items():
        if amount:
            counters[name] = counters.get(name, 0) + amount
