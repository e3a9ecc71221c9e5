"""An emulated rack in this process, reached without SSH, that fails at a chosen moment of a change.

The rack, its cells, ASM and programs are the emulator's own; only the wire and the clock are replaced. Every cell is
``unguarded``: it drops a cache with dirty data when it is told to, so that the guard under test is exacell's. What the
operator's process does is watched at two places, the journal and the wire, and each moment there has a name.
"""

from __future__ import annotations

import json
import shlex
import shutil
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any
from unittest import mock

from matrix_moments import KilledError, Kind, Mishap
from matrix_watch import RackTransport, Watch, WatchedJournal

from exacell.change import settling
from exacell.change.engine import Engine
from exacell.change.execute import execute
from exacell.change.following import Times
from exacell.change.pending import Pending, pending
from exacell.core.config import AsmConfig, Config, RackConfig
from exacell.core.errors import ExacellError, ExitCode
from exacell.core.paths import Home
from exacell.emulator.basics.beneath import OwnFiles
from exacell.emulator.basics.names import GRID_HOME
from exacell.emulator.basics.program import Ask, Out, Pause, Program
from exacell.emulator.cell.models import Cell
from exacell.emulator.hosts.simple_command import simple_command
from exacell.emulator.rack.world import Launch
from exacell.emulator.server.rack_world import RackWorld
from exacell.emulator.storage.disk_groups import DiskMode
from exacell.journal.actor import actor
from exacell.journal.record import Row
from exacell.language.line import parse_line
from exacell.output.console import SilentConsole
from exacell.session.request import Request as Asking
from exacell.session.services import Services
from exacell.session.state import Options, Session
from exacell.transport.base import Reply, Request, Role, State
from tests.support.clocks import LongAgo

DEAD_PID = 4_194_305
"""No process has this number: Linux gives at most 4194304. Source: proc(5), /proc/sys/kernel/pid_max."""

MORNING = 1_700_000_000.0
PAUSE_S = 2.0
"""Wall seconds that each wait of the engine takes; the rack's clock goes 60 times as fast."""

CELLS = ("exa1cel01", "exa1cel02", "exa1cel03")
NODES = ("exa1db01", "exa1db02")


@dataclass(frozen=True)
class Prepared:
    """A rack before the case begins: its state as JSON, the time, and the files of the operator's home."""

    state: str
    wall: float
    files: Mapping[str, bytes]


@dataclass(frozen=True)
class Said:
    """How a statement ended."""

    statement: str
    code: int
    text: str
    killed: bool = False

    def __str__(self) -> str:
        return f"{self.statement} -> {'killed' if self.killed else self.code}: {self.text}"


class MatrixRack:
    """A rack of three cells on a clock that only waits turn, with its second operator and its auditor.

    Args:
        options: what a new rack is made with, as ``emulator start`` names it.

    Attributes:
        home: the operator's EXACELL_HOME.
        other: what the second operator does: (host, statement) each, with ``sql:`` in front for SQL.
        later: statements that are still to be carried out when nobody waits for them any more.
        lost: bytes that were dirty in a cache when it went, as the auditor counted them.
        offline: the most cells that had disks of a mounted disk group offline after a statement of ours took some offline.
        sent: (host, statement) of every changing statement that was carried out.
        copied: host -> what a script held when it was copied there.
        yes: whether the operator answers yes to all that exacell asks, as ``exacell -y`` does: dcli and sh take no -y.
    """

    def __init__(
        self, folder: Path, prepared: Prepared | None = None, options: Mapping[str, object] = MappingProxyType({})
    ) -> None:
        self.folder = folder
        self.home = folder / "home"
        self.wall = prepared.wall if prepared else MORNING
        self.other: Sequence[tuple[str, str]] = ()
        self.kept: dict[str, tuple[str, ...]] = {}
        self.later: list[Callable[[], object]] = []
        self.lost = 0
        self.offline = 0
        self.sent: list[tuple[str, str]] = []
        self.copied: dict[str, str] = {}
        self.yes = False
        if prepared is None:
            self.world = RackWorld.create("t1", options, wall=lambda: self.wall, today=lambda: self.wall)
        else:
            self.world = RackWorld.from_state(json.loads(prepared.state), wall=lambda: self.wall)
        self.rack = self.world._rack
        self.home.mkdir(parents=True)
        recipes = Home.from_env({"EXACELL_HOME": str(self.home)}).recipes_dir
        shutil.copytree(Path(__file__).parent / "recipes", recipes)
        if prepared is None:
            self.world.inject(CELLS, "unguarded", {})
        else:
            for name, content in prepared.files.items():
                (self.home / name).write_bytes(content)

    # -- the operator ----------------------------------------------------------------------------------------------

    def operator(self, *mishaps: Mishap) -> Operator:
        """Return a new process of the operator."""
        return Operator(self, mishaps)

    def pause(self, event: threading.Event, seconds: float) -> bool:
        """Let time pass instead of waiting."""
        self.wall += PAUSE_S
        return event.is_set()

    def pass_time(self, rack_seconds: float) -> None:
        """Let rack time pass."""
        self.wall += rack_seconds / self.rack.clock.speed
        self.rack.advance()

    def freeze(self) -> None:
        """Keep what the operator's disk holds now."""
        shutil.copytree(self.home, self.folder / "frozen")

    def thaw(self) -> None:
        """Put back what the disk held when the process died, whatever was cleaned up since."""
        frozen = self.folder / "frozen"
        if frozen.exists():
            shutil.rmtree(self.home)
            frozen.rename(self.home)

    # -- what goes wrong -------------------------------------------------------------------------------------------

    def before(self, mishap: Mishap) -> None:
        """Let a mishap take effect on the rack itself, before requests reach it."""
        away = {"for": 86400} if mishap.lasting else {"for": 60}
        if mishap.kind is Kind.MS:
            self._once(mishap, "ms-down", away)
        elif mishap.kind is Kind.CELLSRV:
            self._once(mishap, "restart", {"down": 30})
        elif mishap.kind is Kind.OTHER:
            self.interfere(mishap)

    def _once(self, mishap: Mishap, kind: str, options: Mapping[str, object]) -> None:
        hosts = CELLS if mishap.everywhere else CELLS[1:2]
        if not any(str(fault.kind) == kind for fault in self.world.faults):
            self.world.inject(hosts, kind, options)

    def interfere(self, mishap: Mishap | None) -> None:
        """Let the second operator do what he does, once."""
        if mishap is None:
            return
        todo, self.other = self.other, ()
        for host, statement in todo:
            self.raw(host, statement)
        self.kept = self._groups()

    def _groups(self) -> dict[str, tuple[str, ...]]:
        groups = getattr(self.rack.asm, "groups", {})
        return {name: tuple(sorted(group.disks)) for name, group in groups.items()}

    def harmed(self) -> list[str]:
        """Return the disk groups of the moment after the second operator's change that are gone or lack disks now."""
        now = self._groups()
        return [
            name
            for name, disks in self.kept.items()
            if now.get(name, disks) != disks or (name == "QQ" and name not in now)
        ]

    def mend(self) -> None:
        """End all faults, and let what still hangs be carried out: minutes later, in which the databases go on writing."""
        for fault in list(self.world.faults):
            if str(fault.kind) != "unguarded":
                self.world.clear_faults([fault.host], str(fault.kind))
        todo, self.later = self.later, []
        if todo:
            self.pass_time(300)
        for do in todo:
            do()

    # -- the rack --------------------------------------------------------------------------------------------------

    def raw(self, host: str, statement: str) -> str:
        """Run a statement as somebody else does, and return what it printed."""
        if statement.startswith("sql:"):
            script = f"{statement.removeprefix('sql:')};\nexit\n"
            env = {"ORACLE_HOME": GRID_HOME, "ORACLE_SID": f"+ASM{NODES.index(host) + 1}"}
            return self._drive("sqlplus", host, "grid", ["-S", "-L", "/ as sysasm"], env, script)[1]
        return self._drive("cellcli", host, "celladmin", ["-e", statement], {}, "")[1]

    def deed(self, request: Request) -> Callable[[], tuple[int, str]]:
        """Return what carries a request out, whenever that may be: a file travels as it is when it is sent."""
        if request.upload is None:
            return partial(self.carry_out, request)
        return partial(self._copy, request.target, request.upload.sources[0].read_text(encoding="utf-8"))

    def _copy(self, host: str, text: str) -> tuple[int, str]:
        self.copied[host] = text
        return 0, ""

    def carry_out(self, request: Request) -> tuple[int, str]:
        """Run a request's command and return its exit status and output, audited when it changes anything."""
        if request.upload is not None:
            return self.deed(request)()
        if request.command.startswith("(if [ -d "):  # How dcli runs what it has copied with -x.
            lines = [line for line in self.copied[request.target].splitlines() if not line.startswith("#")]
            done = [self.carry_out(replace(request, command=line)) for line in lines]
            return done[-1][0], "".join(text for _, text in done)
        # dcli wraps what it sends; a shell only joins its two streams. Source: reference fanout.md, dcli.
        told = request.command
        if told.startswith("/bin/sh -c "):
            (told,) = shlex.split(told.removeprefix("/bin/sh -c "))
        command = told.removesuffix(") 2>&1").removeprefix("(").strip().replace(":$PATH", "")
        simple = simple_command(command)
        assert simple is not None, f"this needs a shell: {request.command}"
        login = {Role.READ: "cellmonitor", Role.WRITE: "celladmin"}.get(request.role, "grid")
        stdin = request.stdin or ""
        if request.pair is not None and request.target in NODES:
            stdin = request.pair.statement
        words = (simple.program, request.target, login, simple.words[1:], simple.environment, stdin)
        if not request.role.changes:
            return self._drive(*words)
        self.sent.append((request.target, simple.words[-1] if simple.program == "cellcli" else stdin))
        return self._audited(lambda: self._drive(*words))

    def looked(self, request: Request, look: str) -> str:
        """Return what a program answers to the look that a request's statement goes upon."""
        pair = request.pair
        assert pair is not None
        if request.role.changes and request.target in NODES:
            return self.carry_out(replace(request, command=pair.program, stdin=look, role=Role.ASM_READ, pair=None))[1]
        argv = [*pair.program.split()[1:], "-e", "; ".join(look.splitlines())]
        return self._drive("cellcli", request.target, "celladmin", argv, {}, "")[1]

    def _audited(self, do: Callable[[], tuple[int, str]]) -> tuple[int, str]:
        self.rack.advance()
        before = {host: _dirty(cell) for host, cell in self.rack.cells.items()}
        # Who mounts a disk group again takes no disk offline.
        gone = self._offline_cells(mounted=False)
        done = do()
        for host, cell in self.rack.cells.items():
            now = _dirty(cell)
            self.lost += sum(dirty for identity, dirty in before[host].items() if identity not in now)
        after = self._offline_cells()
        if after - gone:
            self.offline = max(self.offline, len(after))
        return done

    def _offline_cells(self, *, mounted: bool = True) -> set[str]:
        """Return the cells that have disks of a disk group, a mounted one unless told otherwise, which are not ONLINE."""
        groups = [g for g in getattr(self.rack.asm, "groups", {}).values() if g.mounted or not mounted]
        return {d.cell for g in groups for d in g.disks.values() if d.mode is not DiskMode.ONLINE}

    def refuse(self, request: Request) -> Reply:
        """Return the reply of a host that says no."""
        if request.upload is not None:
            return Reply(target=request.target, state=State.FAILED, problem="no space left on device", exit_status=1)
        cell = request.target in CELLS
        text = "CELL-02559: There is a communication error between MS and CELLSRV.\n" if cell else _ORA
        return Reply(target=request.target, state=State.OK, stdout=text, exit_status=0)

    def _drive(
        self, name: str, host: str, login: str, argv: Sequence[str], env: Mapping[str, str], text: str
    ) -> tuple[int, str]:
        files = OwnFiles(str(self.folder))
        program: Program = self.world.program(
            Launch(name=name, host=host, login=login, argv=argv, env=env, files=files, tty=False, has_stdin=True)
        )
        lines = iter(text.splitlines())
        shown: list[str] = []
        answer: str | None = None
        while True:
            try:
                event = program.send(answer)
            except StopIteration as end:
                return int(end.value or 0), "".join(shown)
            answer = None
            if isinstance(event, Out):
                shown.append(event.text)
            elif isinstance(event, Pause):
                self.wall += self.world.wall_seconds(event)
            elif isinstance(event, Ask):
                answer = next(lines, None)

    def prepared(self) -> Prepared:
        """Return everything as it is now, to begin cases from."""
        files = {p.name: p.read_bytes() for p in self.home.iterdir() if p.is_file() and p.name.startswith("store.")}
        return Prepared(state=json.dumps(self.world.to_state()), wall=self.wall, files=files)

    @property
    def lost_dirty(self) -> int:
        """Dirty bytes that went with a cache: the auditor's count, or the cells' own when that is higher."""
        return max(self.lost, sum(cell.lost_dirty_bytes for cell in self.rack.cells.values()))


_ORA = "ERROR at line 1:\nORA-15041: diskgroup space exhausted\n\n\n__EXACELL_END__\n"


def _dirty(cell: Cell) -> dict[object, int]:
    """Return the dirty bytes in each of the cell's write-back caches, flash and PMEM, by what identifies the cache."""
    pairs = ((cell.flash_cache, cell.write_back), (cell.pmem_cache, cell.pmem_write_back))
    return {cache.id: cache.dirty_bytes for cache, write_back in pairs if cache is not None and write_back}


class Answering(SilentConsole):
    """Somebody who says yes, after something else has happened."""

    def __init__(self, meanwhile: Callable[[], object]) -> None:
        super().__init__()
        self.meanwhile = meanwhile

    def confirm(self, question: str, details: Callable[[], None] | None = None) -> bool | None:
        """Let it happen and say yes."""
        self.meanwhile()
        return True


class Operator:
    """One process of the operator: a context with its connections; it may die.

    Attributes:
        guardian: starts the guardian of a change that has to be confirmed; unless told otherwise it is killed at once.
    """

    def __init__(self, rack: MatrixRack, mishaps: Sequence[Mishap] = ()) -> None:
        self.rack = rack
        self.watch = Watch(rack, mishaps)
        self.console = SilentConsole()
        self.guardian: Callable[[Session, Services, Asking, int], int] = _killed_guardian
        home = Home.from_env({"EXACELL_HOME": str(rack.home)})
        asm = AsmConfig(name="main", nodes=NODES, home=GRID_HOME)
        # One target of dcli and sh at a time: the moments of a case come in the same order each time.
        config = RackConfig(name="t1", cells=CELLS, dbnodes=NODES, asm={"main": asm}, emulated=True, fanout=1)
        self.session = Session(
            home=home,
            config=Config(default_rack="t1", racks={"t1": config}),
            options=Options(yes=rack.yes),
            env={"EXACELL_HOME": str(rack.home)},
        )
        self.services = Services(self.session, self.console, RackTransport(rack, self.watch))
        self.request = Asking()
        self.services.journal = WatchedJournal(self.services.journal.path, self.watch)

    def do(self, statement: str) -> Said:
        """Carry out a statement and return how it ended."""
        line = parse_line(statement)
        assert line is not None
        with (
            waiting_without_time(self.rack),
            mock.patch("os.getpid", return_value=self._pid()),
            mock.patch("exacell.change.changing.spawn", self.guardian),
        ):
            try:
                result = execute(self.session, self.services, self.request, line)
            except ExacellError as error:
                return Said(statement, int(error.exit_code), " | ".join(filter(None, (error.message, error.hint))))
            except KilledError:
                self.rack.thaw()
                return Said(statement, -9, str(self.watch.struck[-1]), killed=True)
        return Said(statement, int(result.exit_code), "; ".join((*result.problems, *result.notes)))

    def pending(self) -> tuple[Pending, ...]:
        """Return what a new start would tell."""
        self.session.need_rack()
        return pending(self.services.journal, "t1")

    def _pid(self) -> int:
        """Who is going to be killed has a number that nobody has afterwards."""
        import os

        return DEAD_PID if any(m.kind is Kind.KILL for m in self.watch.mishaps) else os.getpid()

    def must(self, statement: str) -> None:
        """Carry out a statement that has to go well."""
        said = self.do(statement)
        assert said.code == ExitCode.DONE, said


def _killed_guardian(session: Session, services: Services, change: int) -> int:
    """Leave a guardian that begins to wait and is killed before it has anything to do."""
    services.journal.append(session.need_rack().name, change, [Row(kind="guardian", body={**actor(), "pid": DEAD_PID})])
    return DEAD_PID


@contextmanager
def waiting_without_time(rack: MatrixRack) -> Iterator[None]:
    """Let engines that are made in here wait on the rack's clock, and every statement count as one that was sent just now."""
    original = Engine.__init__

    def made(self: Engine, *, times: Times, **given: Any) -> None:
        poll = PAUSE_S * rack.rack.clock.speed
        original(self, times=replace(times, pause=rack.pause, clock=rack.rack.clock.now, poll=poll), **given)

    with (
        mock.patch.object(Engine, "__init__", made),
        mock.patch.object(settling, "_pause", rack.pause),
        mock.patch.object(settling, "datetime", LongAgo),
    ):
        yield
