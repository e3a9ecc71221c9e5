"""User sessions of an emulated instance: their commits, their waits, and their traces.

A session has its own clock, in microseconds, which statements and waits move on. Sessions that are connected at the same time
begin at the same moment and share the log writer, independent of the speed of their programs.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from exacell.emulator.basics.beneath import Files
from exacell.emulator.basics.names import DATABASE_HOME
from exacell.emulator.basics.versions import banner
from exacell.emulator.io.database_io import SYNC_US
from exacell.emulator.io.device_io import add
from exacell.emulator.io.table_reads import TableReads, reads_from_state, reads_to_state
from exacell.emulator.io.wait_sizes import size_name, size_of
from exacell.emulator.io.workload import takes_part, write_latency_us
from exacell.emulator.state.view import RackView
from exacell.emulator.storage.tracing import EnabledTrace, TraceFile, trace_directory
from exacell.emulator.work import trace_text
from exacell.emulator.work.connected import Connected
from exacell.emulator.work.log_writer import LogWriter, RedoPlace
from exacell.emulator.work.tables import UserTable, table_from_state, table_to_state

SYNC = "log file sync"
OWN_SESSION = 137
"""SID of the session that asks, and of the first one that is opened."""

_FIRST_PID, _FIRST_SERIAL, _PIDS = 20_000, 4711, 40_000
_EXECUTION_US, _CLIENT_US = 70, 110
"""Microseconds of an execution and of the wait for the client: the least, and the mean in addition to it."""


@dataclass(kw_only=True)
class Waited:
    """A session's waits for one event, in microseconds."""

    waits: int = 0
    total: int = 0
    most: int = 0


@dataclass(kw_only=True)
class Work:
    """The work of users on a rack's databases.

    Attributes:
        tables: by database, in the spelling of the rack's spec, and by name.
        counted: statistics of V$SYSSTAT that instances have counted themselves, by database and node.
        writes: redo writes that the cells have not counted yet, by database.
        reads: reads of single tables that cells have not counted yet, by database and cell.
        own: bytes of tables in the flash caches that instances have on their nodes, by database, node and table.
        kept: tables with CELL_FLASH_CACHE KEEP that sessions have read, as caches name them.
        connected: the number of the last session; the first one since the rack was started has a number by the rack's time.
        ended: the number of sessions that have worked and have ended.
        files: returns the files of a database node; None if hosts have no files.
    """

    tables: dict[str, dict[str, UserTable]] = field(default_factory=dict)
    counted: dict[str, dict[str, dict[str, float]]] = field(default_factory=dict)
    writes: dict[str, int] = field(default_factory=dict)
    reads: dict[str, dict[str, TableReads]] = field(default_factory=dict)
    own: dict[str, dict[str, int]] = field(default_factory=dict)
    kept: set[str] = field(default_factory=set)
    connected: int = 0
    ended: int = 0
    files: Callable[[str], Files] | None = None
    _desks: dict[tuple[str, str], Desk] = field(default_factory=dict)

    def desk(self, instance: Connected) -> Desk:
        """Return the sessions and the log writer of an instance of a database."""
        assert instance.database is not None
        node = instance.asm.nodes[instance.node]
        name = next(name for name in instance.asm.rack.spec.db if name.upper() == instance.database.name)
        return self._desks.setdefault((name, node), Desk(work=self, instance=instance, name=name, node=node))

    def counted_on(self, name: str, node: str) -> dict[str, float]:
        """Return the statistics that an instance counts itself, as a dict to add to."""
        return self.counted.setdefault(name, {}).setdefault(node, {})

    def take_writes(self) -> dict[str, int]:
        """Return the redo writes that the cells have not counted, by database, and forget them here."""
        taken, self.writes = self.writes, {}
        return taken

    def take_reads(self) -> dict[str, dict[str, TableReads]]:
        """Return the reads of tables that the cells have not counted, by database and cell, and forget them here."""
        taken, self.reads = self.reads, {}
        return taken

    def forget_own(self, database: str) -> None:
        """Empty the flash caches that the instances of a database have on their nodes."""
        self.own = {key: held for key, held in self.own.items() if key.partition("|")[0].upper() != database.upper()}

    def to_state(self) -> dict[str, Any]:
        """Return the state to store while the rack does not run; open sessions are left out."""
        tables = {name: [table_to_state(table) for table in own.values()] for name, own in self.tables.items() if own}
        return {
            "tables": tables,
            "counted": self.counted,
            "writes": self.writes,
            "reads": reads_to_state(self.reads),
            "own": self.own,
            "kept": sorted(self.kept),
        }

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> Work:
        """Return the work that :meth:`to_state` stored."""
        made = {name: [table_from_state(row) for row in rows] for name, rows in state.get("tables", {}).items()}
        return cls(
            tables={name: {table.known_as: table for table in own} for name, own in made.items()},
            counted=state.get("counted", {}),
            writes=state.get("writes", {}),
            reads=reads_from_state(state.get("reads", {})),
            own=state.get("own", {}),
            kept=set(state.get("kept", ())),
        )


@dataclass(kw_only=True)
class Desk:
    """One instance: its sessions by SID, the log writer that they share, and when those were over that have left."""

    work: Work
    instance: Connected
    name: str
    node: str
    sessions: dict[int, UserSession] = field(default_factory=dict)
    writer: LogWriter | None = None
    began: int = 0
    last: int = 0
    over: list[int] = field(default_factory=list)

    def connect(self, module: str, *, service: str = "SYS$USERS") -> UserSession:
        """Open a new session and return it."""
        sid = next(number for number in range(OWN_SESSION, 1 << 16) if number not in self.sessions)
        self.work.connected = (self.work.connected or int(self.instance.asm.now())) + 1
        number = self.work.connected
        chance = random.Random(f"{self.instance.asm.rack.spec.seed}|session|{self.name}|{number}")
        session = UserSession(
            desk=self,
            sid=sid,
            serial=_FIRST_SERIAL + number % _PIDS,
            pid=_FIRST_PID + number % _PIDS,
            module=module,
            service=service,
            chance=chance,
        )
        self.sessions[sid] = session
        return session

    def log_writer(self) -> LogWriter:
        """Return the log writer; the first session that works gets a new one, which starts after earlier work."""
        if self.writer is None:
            assert self.instance.database is not None
            rack = self.instance.asm.rack
            cells = [cell for cell in rack.cells.values() if cell.cellsrv_up]
            chance = random.Random(f"{rack.spec.seed}|log writer|{self.name}|{self.node}|{self.work.connected}")
            logged = [takes_part(cell, self.name) for cell in cells] or [False]
            place = RedoPlace.of(self.instance)

            def latency() -> int:
                plain = write_latency_us(chance, logged=chance.choice(logged), truth=rack.truth(self.name))
                return round(plain * place.times(self.together)) if place.paged else plain

            self.writer = LogWriter(latency=latency, scn=self.instance.database.change)
            self.began = max(round(self.instance.asm.now() * 1e6), self.last)
        return self.writer

    @property
    def together(self) -> int:
        """Return how many sessions commit at the same time: those that have worked, and those that were started like them.

        A session that has ended counts until its own time is over.
        """
        now = self.writer.end if self.writer is not None else 0
        left = sum(ended > now for ended in self.over)
        modules = {session.module for session in self.sessions.values() if session.clock}
        return left + sum(session.module in modules for session in self.sessions.values())

    def leave(self, session: UserSession) -> None:
        """Forget a session; with the last one, a period of work ends."""
        self.sessions.pop(session.sid, None)
        self.last = max(self.last, session.clock)
        self.over.append(session.clock)
        if not self.sessions:
            self.over.clear()
        if not self.sessions and self.writer is not None:
            assert self.instance.database is not None
            self.instance.database.change = self.writer.last_scn
            self.last = max(self.last, self.writer.end)
            self.writer = None
        self.work.ended += bool(session.clock)


@dataclass(kw_only=True)
class UserSession:
    """One connection of a user.

    Attributes:
        pid: the process id of its server process on the node.
        traced: its own trace, switched on by DBMS_MONITOR or event 10046; None while it is off.
        clock: microseconds since 1970 on its own clock; 0 before it has worked.
        undo: functions that undo the uncommitted changes, oldest first.
    """

    desk: Desk
    sid: int
    serial: int
    pid: int
    module: str
    service: str
    chance: random.Random
    action: str = ""
    identifier: str = ""
    traced: EnabledTrace | None = None
    clock: int = 0
    undo: list[Callable[[], None]] = field(default_factory=list)
    waited: dict[str, Waited] = field(default_factory=dict)
    _file: TraceFile | None = None
    _known: set[int] = field(default_factory=set)

    @property
    def instance(self) -> Connected:
        """Return the instance to which it is connected."""
        return self.desk.instance

    @property
    def trace_path(self) -> str:
        """Return the path of its trace file."""
        assert self.instance.database is not None
        directory = trace_directory(self.instance.database.name, self.instance.name)
        tag = f"_{self.identifier}" if self.identifier else ""
        return f"{directory}/{self.instance.name}_ora_{self.pid}{tag}.trc"

    def tracing(self) -> EnabledTrace | None:
        """Return the trace setting that applies to the session; None if it is not traced."""
        if self.traced is not None:
            return self.traced
        assert self.instance.database is not None
        where = (self.service, self.module, self.action, self.instance.name)
        return next((trace for trace in self.instance.database.traces if trace.covers(*where)), None)

    def execute(self, statement: str, rows: int) -> None:
        """Let the time of one execution of a statement pass; it found or changed ``rows`` rows."""
        self._begin()
        elapsed = _EXECUTION_US + int(self.chance.expovariate(1 / 30))
        self.clock += elapsed
        self._count("execute count", 1)
        trace = self.tracing()
        if trace is not None:
            cursor = trace_text.cursor_of(statement)
            text = "" if cursor in self._known else trace_text.parsed(cursor, statement, self._tim(self.clock))
            self._known.add(cursor)
            self._write(trace, text + trace_text.executed(cursor, elapsed, rows, self._tim(self.clock)))
            self._ask(trace, cursor)
        else:
            self._ask(None, 0)

    def commit(self) -> None:
        """Make the changes permanent; if there are any, wait for the log writer."""
        if not self.undo:
            return
        self.undo.clear()
        self._begin()
        writer = self.desk.log_writer()
        before = writer.writes
        written, scn = writer.commit(self.clock)
        self.desk.work.writes[self.desk.name] = self.desk.work.writes.get(self.desk.name, 0) + writer.writes - before
        wait = written - self.clock + SYNC_US // 2 + int(self.chance.expovariate(2 / SYNC_US))
        self.clock += wait
        self._note(SYNC, 1, wait, wait)
        size = size_name(SYNC, size_of(wait))
        for name, amount in (
            ("user commits", 1),
            ("redo synch writes", 1),
            ("redo synch time (usec)", wait),
            (size, 1),
        ):
            self._count(name, amount)
        if (trace := self.tracing()) is not None:
            buffer = scn % 65_536
            self._write(trace, trace_text.committed(wait, buffer, scn, self._tim(self.clock)))
            self._ask(trace, 0)
        else:
            self._ask(None, 0)

    def moment(self) -> int:
        """Return microseconds since 1970 on the session's own clock."""
        self._begin()
        return self.clock

    def spend(self, micros: float) -> None:
        """Move the session's own clock on by this many microseconds."""
        self._begin()
        self.clock += round(micros)

    def wait(self, event: str, waits: int, total: int, most: int) -> None:
        """Let ``waits`` waits for an event pass, which take ``total`` microseconds in total, the longest of them ``most``."""
        self.spend(total)
        self._note(event, waits, total, most)

    def count(self, amounts: Mapping[str, float]) -> None:
        """Add amounts to the instance's own statistics."""
        add(self.desk.work.counted_on(self.desk.name, self.desk.node), **amounts)

    def _note(self, event: str, waits: int, total: int, most: int) -> None:
        own = self.waited.setdefault(event, Waited())
        own.waits, own.total, own.most = own.waits + waits, own.total + total, max(own.most, most)

    def rollback(self) -> None:
        """Undo the changes that are not committed."""
        while self.undo:
            self.undo.pop()()
        if (trace := self.tracing()) is not None and self.clock:
            self._write(trace, trace_text.rolled_back(self._tim(self.clock)))

    def close(self) -> None:
        """End the session: undo uncommitted changes, and write out its trace."""
        if self.undo:
            self.rollback()
        self.end_trace()
        self.desk.leave(self)

    def end_trace(self) -> None:
        """Write out the gathered lines of the trace."""
        if self._file is not None:
            self._file.flush()

    def _begin(self) -> None:
        if not self.clock:
            self.desk.log_writer()
            self.clock = self.desk.began + self.chance.randrange(400)

    def _tim(self, at: int) -> int:
        """Return the clock of trace files: 11.2 counts from 1970, later releases from the start of the node."""
        if self.instance.asm.version < (12,):
            return at
        return at - round(self.instance.started * 1e6) + 1_000_000_000_000

    def _count(self, name: str, amount: int) -> None:
        self.count({name: amount})

    def _ask(self, trace: EnabledTrace | None, cursor: int) -> None:
        wait = _CLIENT_US // 2 + int(self.chance.expovariate(2 / _CLIENT_US))
        self.clock += wait
        if trace is not None:
            self._write(trace, trace_text.asked(cursor, wait, self._tim(self.clock)))

    def _write(self, trace: EnabledTrace, text: str) -> None:
        files = self.desk.work.files
        if files is None:
            return
        if self._file is None or self._file.path != self.trace_path:
            self.end_trace()
            self._file = TraceFile(files=files(self.desk.node), path=self.trace_path)
            self._file.write(self._head())
        self._file.write(text, waits=trace.waits)

    def _head(self) -> str:
        asm, node = self.instance.asm, self.desk.node
        stamp = trace_text.moment(self.clock, asm.version)
        return trace_text.head(
            self.trace_path,
            banner(asm.version),
            DATABASE_HOME,
            node,
            self.instance.name,
            self.instance.node + 1,
            self.sid - 90,
            self.pid,
        ) + trace_text.began(stamp, self.sid, self.serial, self.service, self.module)


class WorkingRack(RackView, Protocol):
    """A rack on whose databases users work."""

    work: Work
