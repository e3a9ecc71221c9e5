"""The rack that the servers serve: cells, their shared ASM, and the clock of both."""

from __future__ import annotations

import os
import pickle
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import asdict, fields, replace
from functools import partial
from typing import Any

from exacell.core.errors import EmulatorError
from exacell.emulator.asm.clusters import AsmClusters
from exacell.emulator.basics.beneath import Files
from exacell.emulator.basics.clock import RackClock, last_minute
from exacell.emulator.basics.clusters import Cluster
from exacell.emulator.basics.names import fold
from exacell.emulator.basics.profiles import RESTRICTED_SINCE
from exacell.emulator.basics.program import Pause, Program
from exacell.emulator.basics.rack_spec import RackSpec
from exacell.emulator.basics.spool import FileAccess
from exacell.emulator.basics.store import Json
from exacell.emulator.cell.cell_store import to_state as cell_to_state
from exacell.emulator.cellcli.program import cellcli
from exacell.emulator.faults.disks import check_fault
from exacell.emulator.faults.effects import end as end_fault
from exacell.emulator.hosts.tools import PROCESSES
from exacell.emulator.io.truth import Truth
from exacell.emulator.metrics.metric_store import MetricStore
from exacell.emulator.metrics.metrics import CellMetrics
from exacell.emulator.programs.cellsrvstat import cellsrvstat
from exacell.emulator.programs.date import date
from exacell.emulator.programs.dbmcli import dbmcli
from exacell.emulator.programs.dmidecode import dmidecode
from exacell.emulator.programs.exacli import exacli
from exacell.emulator.programs.imageinfo import imagehistory, imageinfo
from exacell.emulator.programs.ipmitool import ipmitool
from exacell.emulator.programs.machine import Machine, machine_of
from exacell.emulator.programs.network import NETWORK
from exacell.emulator.programs.power import PROGRAMS as POWER, power
from exacell.emulator.programs.proc import fixed_files, moving_files
from exacell.emulator.programs.raid_tools import raid_tool
from exacell.emulator.programs.reports import REPORTS, processes
from exacell.emulator.rack.rack import Rack
from exacell.emulator.rack.world import Launch, StartedLoad
from exacell.emulator.state.fault_book import FaultBook, Kind as FaultKind, make_fault

_HARDWARE = {"dmidecode": dmidecode, "ipmitool": ipmitool, "MegaCli64": raid_tool, "storcli64": raid_tool}
"""Programs that every host has and that read its firmware."""
_TOOLS = {**REPORTS, **NETWORK, PROCESSES: processes}
"""Programs that every host has and that read its operating system."""
_CORE = "rack"
_ASM = "asm"
_CELL = "cell-"
_SCRIPT_LIMIT = 4 << 20
"""The most characters that are read of a script file: far more than any script has, and far less than would be a burden."""


class RackWorld:
    """A rack with its ASM; implements :class:`~exacell.emulator.rack.world.World`.

    Its state is stored in parts (the rack's core, ASM, each cell), so that a statement on one of 300 cells costs the same as on
    one of three.
    """

    def __init__(self, rack: Rack, clusters: AsmClusters) -> None:
        self._rack = rack
        self._clusters = clusters
        self._machines: dict[str, tuple[float, Machine]] = {}
        self._seen: dict[str, bytes] = {_ASM: self._asm_print(), _CORE: self._fault_print()}
        for host in rack.cells:
            self._seen[host] = self._cell_print(host)

    @classmethod
    def create(
        cls,
        name: str,
        options: Mapping[str, object],
        *,
        history: MetricStore | None = None,
        wall: Callable[[], float] = time.monotonic,
        today: Callable[[], float] = time.time,
    ) -> RackWorld:
        """Return a new rack made with ``options``, whose names are the fields of RackSpec.

        Args:
            history: the store for the metrics that its cells collect; None for one in memory.
            wall: returns seconds that never decrease.
            today: returns the epoch seconds with which the rack's time begins; it is called once.

        Raises:
            EmulatorError: an option is unknown or has a wrong value.
        """
        known = {field.name for field in fields(RackSpec)}
        values: dict[str, Any] = {key: value for key, value in options.items() if key in known}
        if "db" in values:
            values["db"] = tuple(values["db"])
        spec = RackSpec(**{**values, "name": name})
        rack = Rack(spec, RackClock(speed=spec.speed, wall=wall, rack_start=today()), history=history)
        return cls(rack, AsmClusters.default(rack))

    @classmethod
    def from_state(
        cls,
        parts: Mapping[str, Json],
        *,
        history: MetricStore | None = None,
        wall: Callable[[], float] = time.monotonic,
    ) -> RackWorld:
        """Return the rack that :meth:`to_state` stored; its clock continues where it stopped.

        Args:
            history: the store with the metrics that its cells have collected, unless the parts hold them.
            wall: returns seconds that never decrease.

        Raises:
            EmulatorError: a part is missing, or was stored by another version.
        """
        try:
            core: dict[str, Any] = dict(parts[_CORE])
            cells: dict[str, Any] = {name.removeprefix(_CELL): parts[name] for name in core["cell_order"]}
            core["cells"] = {host: part["cell"] for host, part in cells.items()}
            core["metrics"] = {host: part["metrics"] for host, part in cells.items()}
            core["moments"] = {host: part["moment"] for host, part in cells.items() if "moment" in part}
            speed, stopped_at = float(core["spec"]["speed"]), float(core["advanced"])
            rack = Rack.from_state(core, RackClock(speed=speed, wall=wall, rack_start=stopped_at), history=history)
            states = {cluster.name: dict(parts[_part_of(cluster)]) for cluster in rack.clusters}
            return cls(rack, AsmClusters.from_states(rack, states))
        except (KeyError, TypeError) as error:
            raise EmulatorError(
                f"the stored rack can't be read: {error!r} is missing or of another version",
                hint="start it with reset=yes",
            ) from error

    @property
    def cells(self) -> tuple[str, ...]:
        """Return the storage cells' host names."""
        return tuple(self._rack.cells)

    def address(self, cell: str) -> str:
        """Return a cell's address on the storage network."""
        return self._rack.cells[cell].ip

    @property
    def dbnodes(self) -> tuple[str, ...]:
        """Return the database nodes' host names."""
        return self._rack.dbnodes

    @property
    def clusters(self) -> Sequence[Cluster]:
        """Return the ASM clusters."""
        return self._rack.clusters

    @property
    def faults(self) -> FaultBook:
        """Return the injected faults."""
        return self._rack.faults

    def inject(self, hosts: Sequence[str], kind: str, options: Mapping[str, object]) -> None:
        """Inject a fault into hosts; it acts at once unless ``after`` delays it. On an error no host gets it."""
        rack, now = self._rack, self._rack.clock.now()
        names = [self._host(host) for host in hosts]
        faults = [make_fault(name, kind, options, is_cell=name in rack.cells, now=now) for name in names]
        for fault in faults:
            if (cell := rack.cells.get(fault.host)) is not None:
                check_fault(cell, fault)
        for fault in faults:
            if (replaced := rack.faults.put(fault)) is not None:
                end_fault(rack, replaced)
        rack.advance()

    def clear_faults(self, hosts: Sequence[str] | None, kind: str | None) -> int:
        """End faults and return how many were ended."""
        rack = self._rack
        wanted = None if hosts is None else [self._host(host) for host in hosts]
        if kind is not None and kind not in tuple(FaultKind):
            raise EmulatorError(f"{kind} is no kind of fault; there are {', '.join(FaultKind)}")
        rack.advance()
        found = [f for f in rack.faults if (wanted is None or f.host in wanted) and kind in (None, f.kind)]
        for fault in found:
            end_fault(rack, fault)
            rack.faults.remove(fault)
        return len(found)

    def give_files(self, files: Callable[[str], Files]) -> None:
        """Set the function that opens the files of a host, so that databases write their traces there."""
        self._rack.work.files = files

    def _host(self, name: str) -> str:
        for known in (*self.cells, *self.dbnodes):
            if known.lower() == name.lower():
                return known
        raise EmulatorError(
            f"rack {self._rack.spec.name} has no host {name}; it has {fold(self.cells)} and {fold(self.dbnodes)}"
        )

    def describe(self) -> Json:
        """Return the options of the rack and the names of its hosts."""
        spec = asdict(self._rack.spec)
        return {
            **spec,
            "db": list(self._rack.spec.db),
            "cell_names": list(self.cells),
            "dbnode_names": list(self.dbnodes),
            "asm": [
                {"name": cluster.name, "nodes": list(cluster.nodes), "databases": list(cluster.databases)}
                for cluster in self._rack.clusters
            ],
            "restricted": self._rack.release.number >= RESTRICTED_SINCE,
        }

    def program(self, launch: Launch) -> Program:
        """Start a program on a cell or a database node and return it."""
        name, host, login, argv = launch.name, launch.host, launch.login, launch.argv
        env, files, tty, has_stdin = launch.env, launch.files, launch.tty, launch.has_stdin
        self._rack.advance()
        reader, writer = partial(read_script, files), partial(write_spool, files)
        if name in POWER:
            return power(self._rack, host, login, name, argv)
        if name == "imageinfo":
            return imageinfo(self._rack, host, argv)
        if name == "imagehistory":
            return imagehistory(self._rack, host, argv)
        if name == "date":
            return date(self._rack.clock.now(), argv)
        if name in _TOOLS:
            return _TOOLS[name](partial(self._machine, host), argv)
        if name in _HARDWARE:
            return _HARDWARE[name](self._rack, host, login, argv)
        if name == "dbmcli":
            return dbmcli(self._rack, host, argv, tty=tty, has_stdin=has_stdin)
        if name == "exacli":
            return exacli(self._rack, argv, env=env, files=files, has_stdin=has_stdin, read=reader)
        if host in self._rack.cells and name == "cellsrvstat":
            return cellsrvstat(self._rack, host, argv)
        if host in self._rack.cells:
            return cellcli(
                self._rack, host, login, argv, tty=tty, has_stdin=has_stdin, files=FileAccess(read=reader, write=writer)
            )
        # Imported on first use: SQL and PL/SQL take a third of the start of a rack's process.
        from exacell.emulator.programs.dbnode import program as dbnode_program

        own = FileAccess(read=reader, write=writer)
        return dbnode_program(name, self._rack, host, login, argv, env=env, tty=tty, files=own)

    def _machine(self, host: str) -> Machine:
        self._rack.advance()
        return machine_of(self._rack, host)

    def machine_files(self, host: str) -> dict[str, str]:
        """Return the files of /proc and /sys about a host's machine: text by path."""
        machine = self._machine(host)
        return {**fixed_files(machine), **moving_files(machine)}

    def moving_files(self, host: str) -> dict[str, str]:
        """Return those of these files that change with time; all but the time show the last whole minute."""
        self._rack.advance()
        minute, known = self._machines.get(host, (0.0, None))
        if known is None or minute != last_minute(self._rack.now()):
            known = machine_of(self._rack, host)
            self._machines[host] = last_minute(known.now), known
        return moving_files(replace(known, now=self._rack.now()))

    def wall_seconds(self, pause: Pause) -> float:
        """Return how long a pause lasts on the wall clock."""
        return pause.seconds if pause.wall else pause.seconds / self._rack.clock.speed

    def start_load(self, *, db: str, redo: float | None, seconds: float, profile: str) -> StartedLoad:
        """Schedule a load."""
        load = self._rack.start_load(db=db, redo=redo, seconds=seconds, profile=profile)
        return StartedLoad(number=load.ordinal, db=load.database, redo=load.redo, profile=load.profile)

    def commit_load(self, *, db: str, sessions: int, commits: int) -> Iterator[None]:
        """Let sessions of a database commit, and yield now and then; the redo is collected at the next whole minute."""
        from exacell.emulator.database.load import commit_load

        name = self._rack.database(db)
        asm = next(asm for asm in self._clusters.all if name.upper() in asm.databases)
        yield from commit_load(asm, name, sessions=sessions, commits=commits)

    def uncounted(self) -> bool:
        """Return whether some redo writes of user sessions are not yet in the cells' counters."""
        return bool(self._rack.work.writes)

    def truth(self, *, db: str, known: Mapping[str, Any] | None) -> Mapping[str, object]:
        """Plant a true effect, or return the present one if ``known`` is None."""
        rack = self._rack
        if known is not None:
            rack.plant(db, Truth(**known) if known else None)
        database = rack.database(db)
        found = rack.truths.get(database)
        return {"db": database, **(asdict(found) if found is not None else {})}

    def load_left(self, number: int) -> float | None:
        """Return the wall seconds until a load is applied and collected; None if it already is."""
        end = self._rack.load_end(number)
        return None if end is None else max(0.0, end - self._rack.clock.now()) / self._rack.clock.speed

    def advance(self) -> None:
        """Bring counters, flushes and rebalances up to the rack's clock."""
        self._rack.advance()

    def play(self, enough: Callable[[], bool]) -> bool:
        """Bring the rack nearer to its clock until ``enough`` returns True; return whether it has reached the clock."""
        return self._rack.play(enough)

    def hold_back(self) -> None:
        """Set the clock back to the time that has been emulated."""
        self._rack.hold_back()

    def recollect(self) -> None:
        """Make the newest collection of each cell's metrics match the cell, after its state was replaced."""
        for host, cell in self._rack.cells.items():
            metrics = self._rack.metrics[host]
            if metrics.collections.last is not None:
                metrics.collect(cell, metrics.collections.last.moment)

    def changed_parts(self, host: str) -> dict[str, Json]:
        """Return the parts that a program on ``host`` has changed since the last call; empty if there are none."""
        changed: dict[str, Json] = {}
        on_cell = host in self._rack.cells
        if on_cell and self._is_new(host, self._cell_print(host)):
            changed[_CELL + host] = self._cell_part(host)
        if (changed or not on_cell) and self._is_new(_ASM, self._asm_print()):
            changed |= self._asm_parts()
        if changed or self._is_new(_CORE, self._fault_print()):
            changed[_CORE] = self._core()
        return changed

    def moved_parts(self) -> dict[str, Json]:
        """Return the parts that have changed with time since the last call; the time itself is always among them."""
        moved = {_CELL + host: self._cell_part(host) for host in self._rack.take_moved()}
        changed = self._asm_parts() if self._is_new(_ASM, self._asm_print()) else {}
        return {**moved, **changed, _CORE: self._core()}

    def to_state(self) -> dict[str, Json]:
        """Return all parts."""
        self._rack.advance()
        cells = {_CELL + host: self._cell_part(host) for host in self._rack.cells}
        return {_CORE: self._core(), **self._asm_parts(), **cells}

    def _asm_parts(self) -> dict[str, Json]:
        states = self._clusters.to_states()
        return {_part_of(cluster): states[cluster.name] for cluster in self._rack.clusters}

    def _core(self) -> Json:
        """Return the rack's own state, without its cells' states."""
        core = copy(self._rack)
        core.cells, core.metrics = {}, {}
        # Collections are stored first: the next start deletes those that are later than a cell's stored moment.
        self._rack.history.commit()
        return {**core.to_state(), "cell_order": [_CELL + host for host in self._rack.cells]}

    def _cell_part(self, host: str) -> Json:
        metrics: CellMetrics = self._rack.metrics[host]
        cell = cell_to_state(self._rack.cells[host])
        return {"cell": cell, "metrics": metrics.to_state(), "moment": self._rack.now()}

    def _is_new(self, part: str, fingerprint: bytes) -> bool:
        if self._seen[part] == fingerprint:
            return False
        self._seen[part] = fingerprint
        return True

    def _cell_print(self, host: str) -> bytes:
        """Return bytes that differ if the cell differs; pickling is 20 times as fast as building its state."""
        return pickle.dumps(self._rack.cells[host], pickle.HIGHEST_PROTOCOL)

    def _fault_print(self) -> bytes:
        rack = self._rack
        return f"{rack.faults.revision} {rack.work.ended}".encode()

    def _asm_print(self) -> bytes:
        parts = [(a.groups, a.headers, a.databases, a.parameters, a.resources) for a in self._clusters.all]
        return pickle.dumps(parts, pickle.HIGHEST_PROTOCOL)


def _part_of(cluster: Cluster) -> str:
    """Return the name of a cluster's part of the state."""
    return f"{_ASM}-{cluster.name}" if cluster.suffix else _ASM


def read_script(files: Files, name: str) -> str | None:
    """Return the text of a script file; None if there is no such file or it can't be read."""
    try:
        with open(files.open(name, os.O_RDONLY), encoding="utf-8", errors="surrogateescape") as file:
            return file.read(_SCRIPT_LIMIT)
    except OSError:
        return None


def write_spool(files: Files, name: str, text: str, append: bool) -> bool:
    """Write text to a spool file and return whether that worked."""
    flags = os.O_WRONLY | os.O_CREAT | (os.O_APPEND if append else os.O_TRUNC)
    try:
        with open(files.open(name, flags), "w", encoding="utf-8", errors="surrogateescape") as file:
            file.write(text)
    except OSError:
        return False
    return True
