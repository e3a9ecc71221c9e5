"""The work of each minute of a rack's time: apply loads, collect metrics, compare them with thresholds."""

from __future__ import annotations

import random
from dataclasses import dataclass, field, replace

from exacell.emulator.basics.profiles import LARGE_WRITES_SINCE, LIMIT_ON_FLASH_ONLY_SINCE
from exacell.emulator.io.block_io import Told, data_io, table_io
from exacell.emulator.io.cache_chores import written_for
from exacell.emulator.io.cache_fill import fill
from exacell.emulator.io.database_io import counted_by_sessions, growth, statistics, watched
from exacell.emulator.io.device_io import OTHER_DATABASE, PENDING, add, backing, destaged
from exacell.emulator.io.iorm_queues import queue
from exacell.emulator.io.load_profiles import COMMITS, PROFILES, Profile
from exacell.emulator.io.network_errors import lose
from exacell.emulator.io.surroundings import Partners
from exacell.emulator.io.table_reads import crowd_out
from exacell.emulator.io.workload import Load, mirrored, redo_writes
from exacell.emulator.metrics.alerts import watch
from exacell.emulator.metrics.scrubbing import count_busy
from exacell.emulator.state.memory import remember
from exacell.emulator.storage.databases import CACHE_SIZE
from exacell.emulator.work.sessions import WorkingRack

OWN_SHARE = 0.6
"""Share of a database's block reads that its own flash cache serves, if it has one that is on. Made up."""


@dataclass(kw_only=True)
class Progress:
    """How far the rack's time has been emulated.

    Attributes:
        changed: the cells that the next collection must include.
        moved: the cells that have changed with time since they were last stored.
    """

    advanced: float
    changed: set[str] = field(default_factory=set)
    loads: list[Load] = field(default_factory=list)
    loads_started: int = 0
    moved: set[str] = field(default_factory=set)


def apply_loads(rack: WorkingRack, progress: Progress, minute: float) -> None:
    """Apply the minute that ends at ``minute`` for each running load, and forget the loads that are done."""
    for load in progress.loads:
        if not load.start < minute <= load.end:
            continue
        rng = random.Random(f"{rack.spec.seed}|load|{load.ordinal}|{load.minutes_done}")
        up = [host for host, cell in rack.cells.items() if cell.cellsrv_up]
        writes = mirrored(rng, load.writes_in(load.minutes_done), up)
        made = load.writes_in(load.minutes_done)
        counted = _apply(rack, progress, load.database, made, PROFILES[load.profile], writes, rng, minute)
        add(rack.statistics[load.database], **counted)
        load.minutes_done += 1
    progress.loads = [load for load in progress.loads if not load.done]


def apply_commits(rack: WorkingRack, progress: Progress, minute: float) -> None:
    """Count on the cells the redo writes of user sessions; the sessions' own statistics are counted already."""
    for database, made in rack.work.take_writes().items():
        rng = random.Random(f"{rack.spec.seed}|commits|{database}|{int(minute)}")
        writes = mirrored(rng, made, [host for host, cell in rack.cells.items() if cell.cellsrv_up])
        counted = _apply(rack, progress, database, made, COMMITS, writes, rng, minute)
        add(
            rack.statistics[database],
            **{name: amount for name, amount in counted.items() if not counted_by_sessions(name)},
        )


def apply_reads(rack: WorkingRack, progress: Progress, minute: float) -> None:
    """Count on the cells the reads of single tables by user sessions; the database has counted them already."""
    partners = Partners(rack.cells)
    for database, hosts in rack.work.take_reads().items():
        rng = random.Random(f"{rack.spec.seed}|reads|{database}|{int(minute)}")
        for host, reads in hosts.items():
            here = partners.around(
                host, minute, cpus=rack.model.cpus, takes_large_writes=rack.release.number >= LARGE_WRITES_SINCE
            )
            table_io(rng, rack.cells[host], rack.metrics[host].counters, database, reads, around=here)
            progress.changed.add(host)


def _apply(
    rack: WorkingRack,
    progress: Progress,
    database: str,
    made: int,
    profile: Profile,
    writes: dict[str, int],
    rng: random.Random,
    minute: float,
) -> dict[str, float]:
    """Count ``made`` redo writes of one minute, with the other I/O of the profile, on the cells that get copies of them.

    Returns:
        The database's own statistics for this I/O.
    """
    on = rack.spec.dbcache and rack.parameters.get(database, {}).get(CACHE_SIZE) != "0"
    own = round(sum(writes.values()) * profile.reads * OWN_SHARE) if on else 0
    if own:
        profile = replace(profile, reads=profile.reads * (1 - OWN_SHARE))
    seen: dict[str, float] = {}
    partners = Partners(rack.cells)
    takes_large_writes = rack.release.number >= LARGE_WRITES_SINCE
    truth = rack.truth(database)
    for host, count in writes.items():
        if not count:
            continue
        cell, counters = rack.cells[host], rack.metrics[host].counters
        before = watched(counters)
        here = partners.around(host, minute, cpus=rack.model.cpus, takes_large_writes=takes_large_writes)
        redo_writes(rng, cell, counters, database, count, around=here, truth=truth)
        kept, none = rack.cache_clauses.get(database, (0.0, 0.0))
        filled = data_io(
            rng, cell, counters, database, count, profile, around=here, told=Told(kept=kept, none=none, truth=truth)
        )
        dirty = remember(rng, cell, counters, database, round(count * profile.reads), filled.dirty)
        if filled.used and cell.flash_cache is not None:
            over = fill(cell.flash_cache, used=filled.used, dirty=dirty)
            crowd_out(cell, rack.work.kept, filled.used)
            destaged(rng, counters, over, back=backing(cell))
            written_for(counters, over, large_share=min(1.0, filled.large / dirty) if dirty else 0.0)
        add(seen, **growth(counters, before))
        progress.changed.add(host)
    if not seen:
        return {}
    copies, planted = round(sum(writes.values()) / made), truth is not None and truth.adds is not None
    return statistics(seen, writes=made, copies=copies, profile=profile, own=own, in_proportion=planted)


def collect(rack: WorkingRack, progress: Progress, minute: float) -> None:
    """Collect the metrics of the cells that have changed, and raise and clear alerts of thresholds."""
    for host, metrics in rack.metrics.items():
        cell = rack.cells[host]
        if not cell.cellsrv_up:
            continue
        if host in progress.changed or metrics.frozen_at is not None:
            metrics.frozen_at = None
            # Counted once a minute, so that the counters do not depend on how often a flush is read.
            rng = random.Random(f"{rack.spec.seed}|destage|{host}|{int(minute)}")
            destaged(rng, metrics.counters, int(metrics.counters.pop(PENDING, 0)), back=backing(cell))
            count_busy(cell, metrics)
            if cell.lossy_network:
                lose(metrics.counters, metrics.last_values())
            queue(
                cell,
                metrics.counters,
                metrics.last_values(),
                (*rack.spec.db, OTHER_DATABASE),
                minute,
                limits_disks=rack.release.number < LIMIT_ON_FLASH_ONLY_SINCE,
            )
            metrics.collect(cell, minute)
            progress.moved.add(host)
    for host, cell in rack.cells.items():
        if cell.thresholds and rack.metrics[host].frozen_at is None:
            watch(cell, rack.reader(cell), minute)
    progress.changed.clear()
