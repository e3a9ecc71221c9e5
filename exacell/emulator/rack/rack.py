"""An emulated rack: its cells, its clock, and all changes that happen by themselves as time passes.

A rack is pure state. Its server calls :meth:`Rack.advance` before every statement; between two calls nothing changes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import asdict, replace
from typing import Any

from exacell.core.errors import EmulatorError, RackFormatError
from exacell.emulator.basics.clock import RackClock, last_minute, next_minute
from exacell.emulator.basics.clusters import Cluster, make_clusters
from exacell.emulator.basics.profiles import (
    WHOLE_RATES_UNTIL,
    HardwareModel,
    ReleaseProfile,
    hardware_model,
    release_profile,
)
from exacell.emulator.basics.rack_spec import RackSpec, dbnode_names
from exacell.emulator.basics.tenants import vault_databases
from exacell.emulator.cell.cache_kinds import memory_name
from exacell.emulator.cell.cache_models import CacheMember
from exacell.emulator.cell.cell_store import cell_from_state, to_state
from exacell.emulator.cell.disk_models import DiskType
from exacell.emulator.cell.models import Cell
from exacell.emulator.faults.effects import settle as settle_faults
from exacell.emulator.io.cache_fill import settle_flush
from exacell.emulator.io.database_io import statistics
from exacell.emulator.io.device_io import PENDING, add
from exacell.emulator.io.load_profiles import PROFILES
from exacell.emulator.io.truth import Truth
from exacell.emulator.io.workload import Load
from exacell.emulator.metrics.metric_store import MetricStore
from exacell.emulator.metrics.metrics import CellMetrics
from exacell.emulator.metrics.reader import MetricReader
from exacell.emulator.metrics.scene import Scene
from exacell.emulator.metrics.scrubbing import Scrub
from exacell.emulator.rack.minutes import Progress, apply_commits, apply_loads, apply_reads, collect
from exacell.emulator.state.asm_view import AsmView
from exacell.emulator.state.build import build_cell
from exacell.emulator.state.fault_book import FaultBook
from exacell.emulator.state.memory import came_down, hold_back, refresh_memory_cache
from exacell.emulator.work.sessions import Work

FORMAT = 2
QUIET_S = 3600.0
"""Rack seconds of history, without events, with which a new rack begins."""

_MAX_WRITES_PER_SECOND = 10_000_000


class Rack:
    """The cells of one rack and the effects of time on them."""

    def __init__(
        self,
        spec: RackSpec,
        clock: RackClock,
        *,
        history: MetricStore | None = None,
        _state: dict[str, Any] | None = None,
    ) -> None:
        """Make a new rack that has been running for some days; :meth:`from_state` makes a stored one.

        Args:
            history: the store for the metrics that its cells collect; None for one in memory.
        """
        self.history = MetricStore() if history is None else history
        self.spec = spec
        self.clock = clock
        self.faults = FaultBook(clock)
        self.asm: AsmView | None = None
        # The texts of V$CELL_CONFIG for each cell, with the state of the cell for which they were made.
        self.configurations: dict[str, tuple[bytes, dict[str, str]]] = {}
        self.model: HardwareModel = hardware_model(spec.model)
        self.release: ReleaseProfile = release_profile(spec.release, self.model)
        self.dbnodes: tuple[str, ...] = spec.node_names or dbnode_names(spec.dbnodes)
        clusters = make_clusters(spec.clusters, self.dbnodes, spec.db)
        self.clusters: tuple[Cluster, ...] = (
            tuple(replace(cluster, key=spec.client) for cluster in clusters) if spec.client else clusters
        )
        self._progress = Progress(advanced=clock.now())
        self.cells: dict[str, Cell] = {}
        self.metrics: dict[str, CellMetrics] = {}
        self.statistics: dict[str, dict[str, float]] = {name: {} for name in spec.db}
        self.cache_clauses: dict[str, tuple[float, float]] = {}
        self.parameters: dict[str, dict[str, str]] = {}
        self.work = Work()
        self.truths: dict[str, Truth] = {}
        """By database: the true effect of its loads."""
        """By database node and attribute: the values that DBMCLI has set."""
        if _state is None:
            self._build()
        else:
            self._restore(_state)
        self._draining = set(self.cells)

    def _build(self) -> None:
        spec, now = self.spec, self._progress.advanced
        seen: dict[str, dict[str, float]] = {name: {} for name in spec.db}
        for number in range(1, spec.cells + 1):
            cell, metrics, caused = build_cell(
                number,
                spec,
                model=self.model,
                clusters=self.clusters,
                now=now,
                release=self.release.number,
                history=self.history,
            )
            self.cells[cell.host] = cell
            self.metrics[cell.host] = metrics
            for database, amounts in caused.items():
                add(seen[database], **amounts)
            metrics.collect(cell, last_minute(now) - QUIET_S)
        for database, amounts in seen.items():
            writes = int(amounts["FL_RQ_W"]) // 2
            add(self.statistics[database], **statistics(amounts, writes=writes, copies=2, profile=PROFILES["redo"]))

    def _restore(self, state: dict[str, Any]) -> None:
        self._progress = Progress(
            advanced=state["advanced"],
            changed=set(state["changed"]),
            loads=[Load(**row) for row in state["loads"]],
            loads_started=state["loads_started"],
        )
        self.cells = {host: cell_from_state(row) for host, row in state["cells"].items()}
        moments = state.get("moments", {})
        for host, row in state["metrics"].items():
            moment = moments.get(host, state["advanced"])
            self.metrics[host] = CellMetrics.from_state(row, self.history.of(host), moment)
            if self.metrics[host].collections.last is None:
                self.metrics[host].collect(self.cells[host], last_minute(moment))
        self.faults = FaultBook.from_state(state["faults"], self.clock)
        self.statistics |= state.get("statistics", {})
        self.work = Work.from_state(state.get("work", {}))
        self.truths = {name: Truth(**known) for name, known in state.get("truths", {}).items()}
        self.cache_clauses = {name: (kept, none) for name, (kept, none) in state.get("cache_clauses", {}).items()}
        self.parameters = {name: dict(known) for name, known in state.get("parameters", {}).items()}

    # -- time ----------------------------------------------------------------------------------------------------

    def advance(self) -> None:
        """Bring all state up to the clock: collections on whole minutes, flushes, loads, faults."""
        self.play()

    def play(self, enough: Callable[[], bool] = lambda: False) -> bool:
        """Bring all state nearer to the clock, and return whether it has reached the clock.

        Args:
            enough: called after each minute; if it returns True, the rest is left for the next call.
        """
        now = self.clock.now()
        progress = self._progress
        while (minute := next_minute(progress.advanced)) <= now:
            self._settle(minute)
            apply_loads(self, progress, minute)
            apply_commits(self, progress, minute)
            apply_reads(self, progress, minute)
            collect(self, progress, minute)
            progress.advanced = minute
            if not self._active():
                progress.advanced = max(minute, last_minute(now))
                break
            if enough() and next_minute(minute) <= now:
                return False
        self._settle(now)
        progress.advanced = max(progress.advanced, now)
        if self.faults:
            settle_faults(self)
        return True

    def hold_back(self) -> None:
        """Set the clock back to the time that has been emulated; the time after that is skipped."""
        if self.clock.now() > self._progress.advanced:
            self.clock.hold(self._progress.advanced)

    def take_moved(self) -> set[str]:
        """Return the cells that have changed with time since the last call."""
        moved, self._progress.moved = self._progress.moved, set()
        return moved

    def load_end(self, ordinal: int) -> float | None:
        """Return the rack time at which the load of this number is applied and collected; None if it already is."""
        return next((load.end for load in self._progress.loads if load.ordinal == ordinal), None)

    def _active(self) -> bool:
        """Return whether the next minute will differ from the last one even if nobody changes anything."""
        cells = self.cells.values()
        return bool(self._progress.loads) or any(cell.thresholds or self.is_flushing(cell) for cell in cells)

    @staticmethod
    def is_flushing(cell: Cell) -> bool:
        """Return whether a flush on the cell is running."""
        return cell.cellsrv_up and any(cache.flushing for cache in cell.caches)

    def _settle(self, moment: float) -> None:
        """Bring flushes up to a moment. Only cells that were flushing the last time, or that statements have changed since, can
        flush.
        """
        for host in self._draining | self._progress.changed:
            cell = self.cells[host]
            if not cell.cellsrv_up:
                continue
            held_back = cell.pmem_dirty and cell.flash_cache is not None and cell.flash_cache.flush_asked
            if not held_back and not self.is_flushing(cell):
                self._draining.discard(host)
                continue
            self._draining.add(host)
            cache, above = cell.flash_cache, cell.pmem_cache
            written = 0
            if above is not None and above.flushing:
                before = above.dirty_bytes
                settle_flush(above, moment, self._pmem_rate)
                written += came_down(cell, before - above.dirty_bytes)
                self._progress.changed.add(cell.host)
            if cache is not None and (cache.flushing or (cache.flush_asked and cell.pmem_dirty)):
                before = cache.dirty_bytes
                settle_flush(cache, moment, self.flush_rate)
                hold_back(cell)
                written += max(0, before - cache.dirty_bytes)
                self._progress.changed.add(cell.host)
            if written:
                counters = self.metrics[cell.host].counters
                counters[PENDING] = counters.get(PENDING, 0) + written

    @property
    def flush_rate(self) -> float:
        """Return the bytes that one flash cell disk writes to disk in a rack second of a flush."""
        return self.model.cache.flush_per_second / len(self.model.flash.places)

    @property
    def _pmem_rate(self) -> float:
        pmem = self.model.pmem
        return pmem.flush_per_second / pmem.modules if pmem is not None else 1.0

    def flush_rate_of(self, cell: Cell, member: CacheMember) -> float:
        """Return the bytes that the disk of a cache's member writes in a rack second of a flush."""
        above = cell.pmem_cache
        return self._pmem_rate if above is not None and member.cell_disk in above.members else self.flush_rate

    def touch(self, cell: Cell) -> None:
        """Note that a statement has changed the cell, so that the next collection includes it."""
        self._progress.changed.add(cell.host)

    def collection_time(self, cell: Cell) -> float:
        """Return the time of the cell's last collection."""
        frozen = self.metrics[cell.host].frozen_at
        return last_minute(self._progress.advanced) if frozen is None else frozen

    def now(self) -> float:
        """Return the rack time to which the state has been advanced."""
        return self._progress.advanced

    def reader(self, cell: Cell) -> MetricReader:
        """Return a reader that computes the cell's metric values."""
        return MetricReader(self._scene(cell), self.metrics[cell.host])

    def _scene(self, cell: Cell) -> Scene:
        """Return what a cell's metrics depend on besides its counters."""

        def disk_groups() -> dict[str, tuple[int, float]]:
            if self.asm is None:
                return {}
            views = (self.asm.disk(cell.host, name) for name in cell.grid_disks)
            known = (view for view in views if view is not None)
            return {view.disk_group: view.rebalance for view in known if view.disk_group}

        model = self.model
        return Scene(
            cell=cell,
            seed=self.spec.seed,
            databases=self.spec.db,
            clusters={cluster.key: cluster.databases for cluster in self.clusters if cluster.suffix},
            pdbs=self.spec.pdb,
            vaults=vault_databases(self.spec.vault, self.spec.db),
            kept={name: kept for name, (kept, _none) in self.cache_clauses.items() if kept},
            hosts=self.dbnodes,
            disk_groups=disk_groups,
            infiniband=model.infiniband,
            cpus=model.cpus,
            memory_gb=model.memory_gb,
            fans=int(model.fan_count.partition("/")[0]),
            scrub=Scrub(cell, self.metrics[cell.host]),
            memory=memory_name(self.release.number) if cell.memory_cache or cell.pmem_cache else "",
            whole_rates=self.release.number < WHOLE_RATES_UNTIL,
        )

    # -- services ------------------------------------------------------------------------------------------------

    def stop_cellsrv(self, cell: Cell) -> None:
        """Stop CELLSRV: no I/O, no collection of its counters, and ASM no longer sees its grid disks."""
        self.metrics[cell.host].frozen_at = self.collection_time(cell)
        cell.services["CELLSRV"] = "stopped"
        self._tell_asm(cell, "inactive")

    def start_cellsrv(self, cell: Cell) -> None:
        """Start CELLSRV: its counters are reset, and a flush is no longer in force."""
        cell.services["CELLSRV"] = "running"
        cell.cellsrv_start = self.now()
        if self.metrics[cell.host].frozen_at is None:
            self.metrics[cell.host].frozen_at = self.collection_time(cell)
        self.metrics[cell.host].restart_server_counters()
        self.resume_caching(cell)
        self.resume_pmem(cell)
        refresh_memory_cache(
            cell, self.model.memory_cache, release=self.release.number, seed=self.spec.seed, now=self.now()
        )
        self._tell_asm(cell, "active")

    def resume_caching(self, cell: Cell) -> None:
        """End any flush of the cell: data is cached again, and the FC_* counters are reset."""
        if cell.flash_cache is not None:
            for member in cell.flash_cache.members.values():
                member.flush_from = None
                member.flush_dirty = member.flush_used = 0
        for disk in cell.cell_disks.values():
            if disk.disk_type is not DiskType.PMEM:
                disk.flush_status = disk.flush_error = ""
        for grid_disk in cell.grid_disks.values():
            grid_disk.flushing = False
        self.metrics[cell.host].restart_cache_counters()
        self.touch(cell)

    def resume_pmem(self, cell: Cell) -> None:
        """End any flush of the cache on persistent memory."""
        if cell.pmem_cache is not None:
            for member in cell.pmem_cache.members.values():
                member.flush_from = None
                member.flush_dirty = member.flush_used = 0
        self.touch(cell)

    def _tell_asm(self, cell: Cell, what: str) -> None:
        if self.asm is not None:
            for disk in list(cell.grid_disks.values()):
                if disk.status == "active":
                    self.asm.grid_disk_changed(cell.host, disk.name, what)

    # -- loads ---------------------------------------------------------------------------------------------------

    def start_load(self, *, seconds: float, db: str = "", redo: float | None = None, profile: str = "redo") -> Load:
        """Schedule redo writes of one database, with the other I/O of the profile, from the next whole minute on.

        Args:
            db: empty for the rack's first database.
            redo: redo writes a second; None for the profile's own.
            profile: one of PROFILES.

        Returns:
            The load; when its end has passed, all of it has been applied and collected.

        Raises:
            EmulatorError: the rack has no such database, there is no such profile, or a number is not above zero.
        """
        database = self.database(db)
        if profile not in PROFILES:
            raise EmulatorError(f"profile={profile} is no load; there are {', '.join(PROFILES)}")
        redo = PROFILES[profile].redo if redo is None else redo
        if not 0 < redo <= _MAX_WRITES_PER_SECOND:
            raise EmulatorError(f"redo={redo:g} is not possible: above 0 and at most {_MAX_WRITES_PER_SECOND} a second")
        if not 0 < seconds <= 7 * 86400:
            raise EmulatorError(f"for={seconds:g}s is not possible: above 0 and at most 7 days")
        self.advance()
        progress = self._progress
        progress.loads_started += 1
        load = Load(
            database=database,
            redo=redo,
            seconds=seconds,
            start=next_minute(progress.advanced),
            ordinal=progress.loads_started,
            profile=profile,
        )
        progress.loads.append(load)
        return load

    def plant(self, db: str, truth: Truth | None) -> str:
        """Give the loads of a database a true effect (None removes it), and return the database's name.

        Minutes that have been applied already do not change.

        Raises:
            EmulatorError: the rack has no such database.
        """
        database = self.database(db)
        self.advance()
        self.truths.pop(database, None)
        if truth is not None:
            self.truths[database] = truth
        return database

    def truth(self, database: str) -> Truth | None:
        """Return the present true effect of a database's loads; None if there is none."""
        found = self.truths.get(database)
        return None if found is None else found.at(self.parameters.get(database, {}))

    def database(self, db: str) -> str:
        """Return a database's name in the rack's spelling; that of the first database if ``db`` is empty."""
        wanted = (db or self.spec.db[0]).upper()
        database = next((name for name in self.spec.db if name.upper() == wanted), None)
        if database is None:
            raise EmulatorError(f"db={db} is no database of rack {self.spec.name}; it has {', '.join(self.spec.db)}")
        return database

    def running_loads(self) -> list[Load]:
        """Return the loads that are running at the time to which the state has been advanced."""
        now = self._progress.advanced
        return [load for load in self._progress.loads if load.start <= now < load.end]

    # -- storing -------------------------------------------------------------------------------------------------

    def to_state(self) -> dict[str, Any]:
        """Return the complete state as JSON-able data; ASM is not part of it."""
        progress = self._progress
        return {
            "format": FORMAT,
            "spec": asdict(self.spec),
            "advanced": progress.advanced,
            "changed": sorted(progress.changed),
            "loads": [asdict(load) for load in progress.loads],
            "loads_started": progress.loads_started,
            "faults": self.faults.to_state(),
            "statistics": self.statistics,
            "cache_clauses": self.cache_clauses,
            "parameters": self.parameters,
            "work": self.work.to_state(),
            "truths": {name: asdict(truth) for name, truth in self.truths.items()},
            "cells": {host: to_state(cell) for host, cell in self.cells.items()},
            "metrics": {host: metrics.to_state() for host, metrics in self.metrics.items()},
        }

    @classmethod
    def from_state(cls, state: dict[str, Any], clock: RackClock, *, history: MetricStore | None = None) -> Rack:
        """Return the rack that :meth:`to_state` stored.

        Args:
            clock: made with ``rack_start`` at the time that the state was stored, or later.
            history: the store with the metrics that its cells have collected, unless the state holds them.

        Raises:
            RackFormatError: the state was stored by another version of the emulator.
        """
        if state.get("format") != FORMAT:
            name = state["spec"]["name"]
            raise RackFormatError(
                f"the emulated rack {name} was stored by another exacell (format {state.get('format')}, this one "
                f"reads {FORMAT})",
                hint=f"begin it anew: emulator start {name} reset=yes",
            )
        return cls(RackSpec(**state["spec"]), clock, history=history, _state=state)

    def grid_disk_names(self, *, besides: str = "") -> Iterable[str]:
        """Return the names of the grid disks of all cells except one."""
        return (name for host, cell in self.cells.items() if host != besides for name in cell.grid_disks)
