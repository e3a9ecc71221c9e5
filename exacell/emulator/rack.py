"""An emulated rack: its cells, its clock, and everything that happens to them by themselves as time passes.

A rack is pure state. Whoever serves it calls :meth:`Rack.advance` before every statement; between two calls nothing
moves.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from typing import Any, Protocol

from exacell.emulator.alerts import watch
from exacell.emulator.build import build_cell
from exacell.emulator.clock import RackClock, last_minute, next_minute
from exacell.emulator.device_io import PENDING, destaged
from exacell.emulator.fault_effects import settle as settle_faults
from exacell.emulator.faults import FaultBook
from exacell.emulator.metric_objects import Scene
from exacell.emulator.metric_reader import MetricReader
from exacell.emulator.metrics import CellMetrics
from exacell.emulator.models import Cell, cell_from_state, to_state
from exacell.emulator.profiles import (
    WRITE_BACK_SINCE,
    HardwareModel,
    ReleaseProfile,
    hardware_model,
    release_profile,
)
from exacell.emulator.workload import PROFILES, Load, data_io, fill, mirrored, redo_writes, settle_flush
from exacell.errors import EmulatorError

FORMAT = 2
MODES = ("writeback", "writethrough")
QUIET_S = 3600.0
"""Rack seconds of history with which a new rack begins: nothing happened in them."""

_MAX_CELLS, _MAX_DBNODES = 512, 64
_DATABASE = re.compile(r"[A-Za-z][A-Za-z0-9_$#]{0,29}")
_MAX_WRITES_PER_SECOND = 10_000_000


@dataclass(frozen=True, kw_only=True)
class RackSpec:
    """What a rack is made with. ``release`` empty means the model's own; after construction it is always filled in.

    Releases without write-back mode have ``mode`` writethrough whatever is asked for.

    Attributes:
        cellcli_start: wall seconds that the start of ``cellcli`` takes, as a Java client does.

    Raises:
        EmulatorError: a value is out of its range, or the release does not run on the model.
    """

    name: str
    cells: int = 3
    dbnodes: int = 2
    db: tuple[str, ...] = ("SPOT", "ERP")
    model: str = "x2"
    release: str = ""
    mode: str = "writeback"
    speed: float = 60.0
    seed: int = 1
    cellcli_start: float = 0.0

    def __post_init__(self) -> None:
        if not 2 <= self.cells <= _MAX_CELLS:
            raise EmulatorError(f"cells={self.cells} is not possible: a rack has 2 to {_MAX_CELLS} cells, 3 by default")
        if not 1 <= self.dbnodes <= _MAX_DBNODES:
            raise EmulatorError(f"dbnodes={self.dbnodes} is not possible: a rack has 1 to {_MAX_DBNODES} of them")
        if not self.db:
            raise EmulatorError("db= names no database: a rack has at least one, for example db=SPOT,ERP")
        for name in self.db:
            if not _DATABASE.fullmatch(name):
                raise EmulatorError(f"db={name} is not a database name: a letter, then up to 29 letters, digits, _ $ #")
        if len({name.upper() for name in self.db}) != len(self.db):
            raise EmulatorError(f"db={','.join(self.db)} names a database twice")
        if self.mode.lower() not in MODES:
            raise EmulatorError(f"mode={self.mode} is no flash cache mode; there are {' and '.join(MODES)}")
        if not 0 < self.speed <= 100_000:
            raise EmulatorError(f"speed={self.speed:g} is not possible: it must be above 0 and at most 100000")
        if self.cellcli_start < 0:
            raise EmulatorError(f"cellcli-start={self.cellcli_start:g} is no time: it must be 0 or more seconds")
        model = hardware_model(self.model)
        object.__setattr__(self, "db", tuple(self.db))
        object.__setattr__(self, "model", model.name)
        object.__setattr__(self, "mode", self.mode.lower())
        release = release_profile(self.release, model)
        object.__setattr__(self, "release", release.name)
        if release.number < WRITE_BACK_SINCE:
            object.__setattr__(self, "mode", "writethrough")


@dataclass(frozen=True, kw_only=True)
class AsmDiskView:
    """What ASM knows of one grid disk.

    Attributes:
        mode_status: ONLINE, OFFLINE, DROPPED, UNUSED, SYNCING or UNKNOWN.
        deactivation_outcome: ``Yes``, or the sentence why it can't go offline.
    """

    disk_group: str | None
    disk_group_type: str | None
    disk_name: str | None
    fail_group: str | None
    mode_status: str
    deactivation_outcome: str
    size_bytes: int | None


class AsmView(Protocol):
    """What cells ask of ASM, and tell it."""

    def disk(self, cell: str, griddisk: str) -> AsmDiskView | None:
        """Return what ASM knows of a grid disk, None when it was never in a disk group."""

    def grid_disk_changed(self, cell: str, griddisk: str, what: str) -> None:
        """Take note that a grid disk is now ``inactive``, ``active``, ``dropped``, ``created`` or ``resized``."""


@dataclass(kw_only=True)
class _Progress:
    """How far the rack's own time has been played."""

    advanced: float
    changed: set[str] = field(default_factory=set)
    loads: list[Load] = field(default_factory=list)
    loads_started: int = 0


class Rack:
    """The cells of one rack and what the passing of time does to them."""

    def __init__(self, spec: RackSpec, clock: RackClock, *, _state: dict[str, Any] | None = None) -> None:
        """Make a new rack that has been running for some days; :meth:`from_state` makes a stored one."""
        self.spec = spec
        self.clock = clock
        self.faults = FaultBook(clock)
        self.asm: AsmView | None = None
        self.model: HardwareModel = hardware_model(spec.model)
        self.release: ReleaseProfile = release_profile(spec.release, self.model)
        self.dbnodes: tuple[str, ...] = tuple(f"exa1db{number:02d}" for number in range(1, spec.dbnodes + 1))
        self._progress = _Progress(advanced=clock.now())
        self.cells: dict[str, Cell] = {}
        self.metrics: dict[str, CellMetrics] = {}
        if _state is None:
            self._build()
        else:
            self._restore(_state)

    def _build(self) -> None:
        spec, now = self.spec, self._progress.advanced
        for number in range(1, spec.cells + 1):
            cell, metrics = build_cell(
                number,
                model=self.model,
                databases=spec.db,
                mode=spec.mode,
                seed=spec.seed,
                now=now,
                release=self.release.number,
            )
            self.cells[cell.host] = cell
            self.metrics[cell.host] = metrics
            metrics.collect(cell, last_minute(now) - QUIET_S)

    def _restore(self, state: dict[str, Any]) -> None:
        self._progress = _Progress(
            advanced=state["advanced"],
            changed=set(state["changed"]),
            loads=[Load(**row) for row in state["loads"]],
            loads_started=state["loads_started"],
        )
        self.cells = {host: cell_from_state(row) for host, row in state["cells"].items()}
        self.metrics = {host: CellMetrics.from_state(row) for host, row in state["metrics"].items()}
        self.faults = FaultBook.from_state(state["faults"], self.clock)

    # -- time ----------------------------------------------------------------------------------------------------

    def advance(self) -> None:
        """Bring all state up to the clock: collections on whole minutes, flushes, loads, faults."""
        now = self.clock.now()
        progress = self._progress
        while (minute := next_minute(progress.advanced)) <= now:
            self._settle(minute)
            self._apply_loads(minute)
            self._collect(minute)
            progress.advanced = minute
            if not self._active():
                progress.advanced = max(minute, last_minute(now))
                break
        self._settle(now)
        progress.advanced = max(progress.advanced, now)
        if self.faults:
            settle_faults(self)

    def _active(self) -> bool:
        """Whether the next minute will differ from the last one although nobody does anything."""
        cells = self.cells.values()
        return bool(self._progress.loads) or any(cell.thresholds or self.is_flushing(cell) for cell in cells)

    @staticmethod
    def is_flushing(cell: Cell) -> bool:
        """Whether a flush on the cell is under way."""
        return cell.flash_cache is not None and cell.cellsrv_up and cell.flash_cache.flushing

    def _settle(self, moment: float) -> None:
        for cell in self.cells.values():
            cache = cell.flash_cache
            if cache is None or not cell.cellsrv_up or not cache.flushing:
                continue
            before = cache.dirty_bytes
            settle_flush(cache, moment, self.flush_rate)
            written = before - cache.dirty_bytes
            counters = self.metrics[cell.host].counters
            counters[PENDING] = counters.get(PENDING, 0) + written
            self._progress.changed.add(cell.host)

    @property
    def flush_rate(self) -> float:
        """Bytes a rack second that one flash cell disk destages while it is flushed."""
        return self.model.cache.flush_per_second / len(self.model.flash.places)

    def _apply_loads(self, minute: float) -> None:
        progress = self._progress
        for load in progress.loads:
            if not load.start < minute <= load.end:
                continue
            rng = random.Random(f"{self.spec.seed}|load|{load.ordinal}|{load.minutes_done}")
            up = [host for host, cell in self.cells.items() if cell.cellsrv_up]
            for host, writes in mirrored(rng, load.writes_in(load.minutes_done), up).items():
                if writes:
                    counters = self.metrics[host].counters
                    redo_writes(rng, self.cells[host], counters, load.database, writes)
                    profile = PROFILES[load.profile]
                    used, dirty = data_io(rng, self.cells[host], counters, load.database, writes, profile)
                    if used and (cache := self.cells[host].flash_cache) is not None:
                        destaged(rng, counters, fill(cache, used=used, dirty=dirty))
                    progress.changed.add(host)
            load.minutes_done += 1
        progress.loads = [load for load in progress.loads if not load.done]

    def _collect(self, minute: float) -> None:
        for host, metrics in self.metrics.items():
            cell = self.cells[host]
            if not cell.cellsrv_up:
                continue
            if host in self._progress.changed or metrics.frozen_at is not None:
                metrics.frozen_at = None
                # Counted once a minute, so that the counters do not depend on how often anybody looks at a flush.
                rng = random.Random(f"{self.spec.seed}|destage|{host}|{int(minute)}")
                destaged(rng, metrics.counters, int(metrics.counters.pop(PENDING, 0)))
                metrics.collect(cell, minute)
        for host, cell in self.cells.items():
            if cell.thresholds and self.metrics[host].frozen_at is None:
                watch(self, cell, minute)
        self._progress.changed.clear()

    def touch(self, cell: Cell) -> None:
        """Take note that a statement has changed the cell: the next collection looks at it."""
        self._progress.changed.add(cell.host)

    def collection_time(self, cell: Cell) -> float:
        """Return the time of the cell's last collection."""
        frozen = self.metrics[cell.host].frozen_at
        return last_minute(self._progress.advanced) if frozen is None else frozen

    def now(self) -> float:
        """Return the rack time to which the state has been advanced."""
        return self._progress.advanced

    def reader(self, cell: Cell) -> MetricReader:
        """Return what computes the cell's metric values."""
        return MetricReader(Scene.of(self, cell), self.metrics[cell.host])

    # -- services ------------------------------------------------------------------------------------------------

    def stop_cellsrv(self, cell: Cell) -> None:
        """Stop CELLSRV: no I/O, no collection of its counters; its grid disks are gone for ASM."""
        self.metrics[cell.host].frozen_at = self.collection_time(cell)
        cell.services["CELLSRV"] = "stopped"
        self._tell_asm(cell, "inactive")

    def start_cellsrv(self, cell: Cell) -> None:
        """Start CELLSRV: counters begin anew, a flush is no longer in force."""
        cell.services["CELLSRV"] = "running"
        cell.cellsrv_start = self.now()
        if self.metrics[cell.host].frozen_at is None:
            self.metrics[cell.host].frozen_at = self.collection_time(cell)
        self.metrics[cell.host].restart_server_counters()
        self.resume_caching(cell)
        self._tell_asm(cell, "active")

    def resume_caching(self, cell: Cell) -> None:
        """End any flush of the cell: data is cached again, and the FC_* counters begin anew."""
        if cell.flash_cache is not None:
            for member in cell.flash_cache.members.values():
                member.flush_from = None
                member.flush_dirty = member.flush_used = 0
        for disk in cell.cell_disks.values():
            disk.flush_status = disk.flush_error = ""
        for grid_disk in cell.grid_disks.values():
            grid_disk.flushing = False
        self.metrics[cell.host].restart_cache_counters()
        self.touch(cell)

    def _tell_asm(self, cell: Cell, what: str) -> None:
        if self.asm is not None:
            for disk in list(cell.grid_disks.values()):
                if disk.status == "active":
                    self.asm.grid_disk_changed(cell.host, disk.name, what)

    # -- loads ---------------------------------------------------------------------------------------------------

    def start_load(self, *, db: str, redo: float, seconds: float, profile: str = "redo") -> float:
        """Schedule redo of one database, and what its profile brings with it, from the next whole minute on.

        Args:
            profile: one of PROFILES.

        Returns:
            The rack time at which all of it has been applied and collected.

        Raises:
            EmulatorError: the rack has no such database, there is no such profile, or a number is not above zero.
        """
        database = next((name for name in self.spec.db if name.upper() == db.upper()), None)
        if database is None:
            raise EmulatorError(f"db={db} is no database of rack {self.spec.name}; it has {', '.join(self.spec.db)}")
        if profile not in PROFILES:
            raise EmulatorError(f"profile={profile} is no load; there are {', '.join(PROFILES)}")
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
        return load.end

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
            "cells": {host: to_state(cell) for host, cell in self.cells.items()},
            "metrics": {host: metrics.to_state() for host, metrics in self.metrics.items()},
        }

    @classmethod
    def from_state(cls, state: dict[str, Any], clock: RackClock) -> Rack:
        """Return the rack that :meth:`to_state` stored.

        Args:
            clock: made with ``rack_start`` at the time that the state was stored, or later.

        Raises:
            EmulatorError: the state was stored by another version of the emulator.
        """
        if state.get("format") != FORMAT:
            raise EmulatorError(
                f"the stored rack has format {state.get('format')}, this exacell reads {FORMAT}: use reset=yes"
            )
        return cls(RackSpec(**state["spec"]), clock, _state=state)

    def grid_disk_names(self, *, besides: str = "") -> Iterable[str]:
        """Return the names of the grid disks of all cells but one."""
        return (name for host, cell in self.cells.items() if host != besides for name in cell.grid_disks)
