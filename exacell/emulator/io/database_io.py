"""A database's own statistics, V$SYSSTAT, for its I/O on the cells: the same requests, counted by the database.

Names are those of reference asm.md section 11 and of the Oracle Database Reference, "Statistics Descriptions". A statistic
counts for all instances of a database; each instance has its
even share (:func:`exacell.emulator.io.device_io.share`), so that they add up.
"""

from __future__ import annotations

from collections.abc import Mapping

from exacell.core.units import KIB, MIB
from exacell.emulator.io.cache_chores import ABSORBED, REJECTED
from exacell.emulator.io.device_io import Counters
from exacell.emulator.io.load_profiles import Profile
from exacell.emulator.io.redo_times import DISK_US, OVERHEAD_US
from exacell.emulator.io.wait_sizes import SYNC, WRITE, counted_sizes
from exacell.emulator.io.workload import REDO_WRITE_BYTES

BLOCK_BYTES = 8 * KIB
REDO_BLOCK_BYTES = 512

SYNC_US = 45
"""Microseconds that a session waits for the log writer in addition to the write itself."""
COMMIT_SHARE = 0.9
"""Commits for each redo write; the other writes happen because the buffer is full."""
LOGICAL_READS = 40
"""Reads of blocks in the buffer cache for each read from a cell."""
SCAN_MB = 512
"""Megabytes of one smart scan of a table."""

WATCHED = (
    "FC_IO_RQ_R",
    "FC_IO_RQ_R_MISS",
    "FC_IO_RQ_R_SKIP",
    "FC_IO_RQ_R_SKIP_LG",
    "FC_IO_RQ_R_DW",
    "FC_IO_RQ_W",
    "FC_IO_RQ_W_OVERWRITE",
    "FC_IO_RQ_W_SKIP",
    ABSORBED,
    REJECTED,
    "FL_RQ_W",
    "FL_RQ_TM_W",
    *("FL_ACTUAL_OUTLIERS", "FL_SKIP_OUTLIERS"),
    "SIO_IO_EL_OF",
    "SIO_IO_SI_SV",
    "SIO_IO_OF_RE",
)
"""Counters of a cell from which the statistics are computed."""

OWN = ("user commits", "execute count", "redo synch writes", "redo synch time (usec)")
"""Statistics that the user sessions of an instance count themselves."""


def counted_by_sessions(name: str) -> bool:
    """Return whether the user sessions of an instance count this statistic themselves."""
    return name in OWN or name.startswith(SYNC)


STATISTICS: tuple[tuple[str, int], ...] = (
    ("user commits", 1),
    ("execute count", 64),
    ("physical read total IO requests", 8),
    ("physical read total bytes", 8),
    ("physical read requests optimized", 8),
    ("physical read total bytes optimized", 8),
    ("physical read IO requests", 8),
    ("physical reads", 8),
    ("physical read bytes", 8),
    ("physical read flash cache hits", 8),
    ("session logical reads", 1),
    ("logical read bytes from cache", 8),
    ("physical writes", 8),
    ("physical write total IO requests", 8),
    ("physical write requests optimized", 8),
    ("physical write total bytes optimized", 8),
    ("physical write IO requests", 8),
    ("physical write total bytes", 8),
    ("physical write bytes", 8),
    ("redo size", 2),
    ("redo writes", 2),
    ("redo blocks written", 2),
    ("redo write time", 2),
    ("redo synch writes", 2),
    ("redo synch time (usec)", 2),
    ("cell physical IO interconnect bytes", 64),
    ("cell physical IO interconnect bytes returned by smart scan", 64),
    ("cell physical IO bytes eligible for predicate offload", 64),
    ("cell physical IO bytes saved by storage index", 64),
    ("cell scans", 64),
    ("cell IO uncompressed bytes", 64),
    ("cell flash cache read hits", 8),
    ("cell flash cache read hits for smart IO", 8),
    ("cell overwrites in flash cache", 8),
    ("cell writes to flash cache", 8),
    ("cell partial writes in flash cache", 8),
)
"""Name and class of each statistic. Classes as in V$SYSSTAT: 1 user, 2 redo, 8 cache, 64 SQL."""


def watched(counters: Counters) -> dict[str, float]:
    """Return the present values of a cell's watched counters."""
    return {name: counters.get(name, 0) for name in WATCHED}


def growth(counters: Counters, before: Mapping[str, float]) -> dict[str, float]:
    """Return by how much the watched counters have grown."""
    return {name: counters.get(name, 0) - before[name] for name in WATCHED}


def statistics(
    seen: Mapping[str, float], *, writes: int, copies: int, profile: Profile, own: int = 0, in_proportion: bool = False
) -> dict[str, float]:
    """Return a database's statistics for I/O that the cells have counted, by the names of :data:`STATISTICS`, with its redo wait
    times.

    Args:
        seen: the growth of the watched counters, summed over all cells.
        writes: redo writes of the database; the cells saw ``copies`` of each, and of each block written.
        own: reads that the database's own flash cache has served, which no cell has seen.
        in_proportion: a session's wait beyond the write grows with the write time, so that both have the same true effect.
    """
    skipped = seen["FC_IO_RQ_R_SKIP"] - seen["FC_IO_RQ_R_SKIP_LG"]
    small = round(seen["FC_IO_RQ_R"] + seen["FC_IO_RQ_R_MISS"] + skipped)
    hits, smart = round(seen["FC_IO_RQ_R"]), round(seen["FC_IO_RQ_R_DW"])
    eligible, saved, returned = (round(seen[name]) for name in ("SIO_IO_EL_OF", "SIO_IO_SI_SV", "SIO_IO_OF_RE"))
    absorbed, rejected = round(seen[ABSORBED]), round(seen[REJECTED])
    large, large_cached = (absorbed + rejected) // copies, absorbed // copies
    blocks = round(seen["FC_IO_RQ_W"] + seen["FC_IO_RQ_W_SKIP"] - absorbed - rejected) // copies
    cached = round(seen["FC_IO_RQ_W"] - absorbed) // copies
    written = blocks * BLOCK_BYTES + large * MIB
    redo = writes * REDO_WRITE_BYTES
    latency_us = seen["FL_RQ_TM_W"] / seen["FL_RQ_W"] if seen["FL_RQ_W"] else 0.0
    beyond_us = latency_us * SYNC_US / (DISK_US + OVERHEAD_US) if in_proportion else SYNC_US
    commits = round(writes * COMMIT_SHARE)
    slow = seen["FL_ACTUAL_OUTLIERS"] + seen["FL_SKIP_OUTLIERS"]
    slow_share = slow / seen["FL_RQ_W"] if seen["FL_RQ_W"] else 0.0
    return {
        **counted_sizes(WRITE, writes, latency_us, slow_share),
        **counted_sizes(SYNC, commits, latency_us + beyond_us, slow_share, beyond_us),
        "user commits": commits,
        "execute count": round(writes * profile.executions),
        "physical read total IO requests": small + eligible,
        "physical read total bytes": small * BLOCK_BYTES + eligible * MIB,
        "physical read requests optimized": hits + smart + saved,
        "physical read total bytes optimized": hits * BLOCK_BYTES + (smart + saved) * MIB,
        "physical read IO requests": small + eligible,
        "physical reads": small + eligible * MIB // BLOCK_BYTES,
        "physical read bytes": small * BLOCK_BYTES + eligible * MIB,
        "physical read flash cache hits": own,
        "session logical reads": (small + own) * LOGICAL_READS + eligible * MIB // BLOCK_BYTES,
        "logical read bytes from cache": (small + own) * LOGICAL_READS * BLOCK_BYTES,
        "physical writes": written // BLOCK_BYTES,
        "physical write total IO requests": blocks + large + writes,
        "physical write requests optimized": cached + large_cached,
        "physical write total bytes optimized": cached * BLOCK_BYTES + large_cached * MIB,
        "physical write IO requests": blocks + large,
        "physical write total bytes": written + redo,
        "physical write bytes": written,
        "redo size": redo,
        "redo writes": writes,
        "redo blocks written": redo // REDO_BLOCK_BYTES,
        "redo write time": round(writes * latency_us / 10_000),
        "redo synch writes": commits,
        "redo synch time (usec)": round(commits * (latency_us + beyond_us)),
        "cell physical IO interconnect bytes": small * BLOCK_BYTES + (written + redo) * copies + returned * MIB,
        "cell physical IO interconnect bytes returned by smart scan": returned * MIB,
        "cell physical IO bytes eligible for predicate offload": eligible * MIB,
        "cell physical IO bytes saved by storage index": saved * MIB,
        "cell scans": -(-eligible // SCAN_MB),
        "cell IO uncompressed bytes": (eligible - saved) * MIB,
        "cell flash cache read hits": hits + smart,
        "cell flash cache read hits for smart IO": smart,
        "cell overwrites in flash cache": round(seen["FC_IO_RQ_W_OVERWRITE"]),
        "cell writes to flash cache": round(seen["FC_IO_RQ_W"]),
        "cell partial writes in flash cache": 0,
    }
