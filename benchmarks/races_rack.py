"""An emulated rack inside the process of benchmarks/races.py: over real SSH, with every statement seen as it comes.

Cells refuse nothing by themselves (``unguarded``). Between two races the rack is put back to how it was prepared; its
servers, keys and ports stay. Whatever touches the rack does so on its one thread: no statement is half done then.
"""

from __future__ import annotations

import asyncio
import json
import re
import shutil
import tempfile
import threading
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from exacell.emulator.basics.beneath import OwnFiles
from exacell.emulator.basics.clock import RackClock
from exacell.emulator.basics.names import GRID_HOME
from exacell.emulator.basics.program import Ask, Event, Out, Pause
from exacell.emulator.basics.store import RackFiles, rack_files
from exacell.emulator.cell.models import Cell
from exacell.emulator.control import status
from exacell.emulator.io.cache_fill import fill
from exacell.emulator.rack.file import write_rack_file
from exacell.emulator.rack.world import Launch
from exacell.emulator.server.daemon import Daemon
from exacell.emulator.server.rack_world import RackWorld
from exacell.emulator.storage.disk_groups import AsmFile

NAME = "t1"
SPEED = 600
"""Rack seconds in a second: a flush and the collection behind it take a fraction of one."""
LOSING = re.compile(
    r"\s*(drop\s+(flashcache|pmemcache|xrmemcache|flashlog|griddisk|celldisk|diskgroup)\b"
    r"|alter\s+(flashcache|pmemcache|xrmemcache)\b.*\bsize\b|alter\s+cell\s+(flash|pmem)cachemode\b)",
    re.IGNORECASE,
)
"""Statements that lose data when what was known of their cell is no longer so."""
CHANGING = re.compile(r"\s*(alter|create|drop)\s", re.IGNORECASE)
LOOKING = re.compile(r"\s*(list|select|set\s+pages|with)\b", re.IGNORECASE)
_MARK = re.compile(r"\s*start\s", re.IGNORECASE)
"""What exacell puts behind a batch of reads to know where their answers end."""

Got = TypeVar("Got")


@dataclass
class Told:
    """One statement that a host was told.

    Attributes:
        at: when it came, by the monotonic clock.
        looked: for a read: when it was carried out; 0 while it was not.
        run: which program it came to.
    """

    at: float
    host: str
    login: str
    run: int
    text: str
    looked: float = 0.0

    @property
    def loses(self) -> bool:
        """Whether it loses data when the proof before it is stale."""
        return bool(LOSING.match(self.text))

    @property
    def changes(self) -> bool:
        """Whether it changes something."""
        return bool(CHANGING.match(self.text))

    @property
    def looks(self) -> bool:
        """Whether it only reads."""
        return bool(LOOKING.match(self.text))

    @property
    def marks(self) -> bool:
        """Whether it only marks the end of a batch of reads."""
        return bool(_MARK.match(self.text))


@dataclass
class Lost:
    """Something that a statement of the operator took away: bytes that were dirty, files, or disks of a group.

    Attributes:
        told: the statement.
    """

    host: str
    what: str
    size: int
    told: Told
    seen: float = field(default_factory=time.monotonic)


class StagedWorld:
    """A world whose rack can be exchanged while servers serve it; hands every statement to who watches."""

    def __init__(self, world: RackWorld) -> None:
        self.inner = world
        self.book = world.faults
        self.heard: Callable[[Told], object] = lambda told: None
        self.late: Callable[[Told], float] = lambda told: 0.0
        self.told: list[Told] = []
        self.lost: list[Lost] = []
        self._runs = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)

    def program(self, launch: Launch) -> Any:
        """Return a program that is watched."""
        return self._watched(self.inner.program(launch), launch.host, launch.login, launch.argv)

    def _watched(self, inner: Any, host: str, login: str, argv: Sequence[str]) -> Generator[Event, str | None, int]:
        self._runs += 1
        run, texts = self._runs, _statements(argv)
        hears = None
        answer: str | None = None
        try:
            if texts:
                hears = self._hear(host, login, run, texts)
            while True:
                before = self._held(host) if hears is not None and hears.changes else None
                try:
                    event = inner.send(answer)
                except StopIteration as end:
                    self._after(host, hears, before)
                    return int(end.value or 0)
                self._after(host, hears, before)
                if isinstance(event, Out | Ask) and hears is not None and not hears.looked:
                    hears.looked = time.monotonic()
                    if hears.looks and (wait := self.late(hears)):
                        yield Pause(wait, wall=True)
                answer = yield event
                if isinstance(event, Ask) and answer and answer.strip():
                    hears = self._hear(host, login, run, answer.strip())
        finally:
            inner.close()

    def _hear(self, host: str, login: str, run: int, text: str) -> Told:
        told = Told(time.monotonic(), host, login, run, text)
        self.told.append(told)
        self.heard(told)
        return told

    def _held(self, host: str) -> dict[str, int]:
        """Return what would be lost with a host's things: dirty bytes, files of disk groups, disks of such."""
        rack = self.inner._rack
        groups = getattr(rack.asm, "groups", {})
        held: dict[str, int] = {}
        if (cell := rack.cells.get(host)) is not None:
            held["dirty bytes"] = cell.lost_dirty_bytes
            used = [d.grid_disk for g in groups.values() for d in g.disks.values() if d.cell == host]
            held["disks of a group"] = sum(name not in cell.grid_disks for name in used)
        else:
            held = {f"files of {name}": sum(f.size_bytes for f in g.files) for name, g in groups.items()}
        return held

    def _after(self, host: str, told: Told | None, before: dict[str, int] | None) -> None:
        if told is None or before is None:
            return
        now = self._held(host)
        for what, size in before.items():
            gone = (
                size - now.get(what, 0) if what.startswith("files") and what not in now else now.get(what, size) - size
            )
            if gone > 0 and not (what.startswith("files") and what in now):
                self.lost.append(Lost(host, what, gone, told))


def _statements(argv: Sequence[str]) -> str:
    words = list(argv)
    return " ".join(words[words.index("-e") + 1 :]).strip() if "-e" in words else ""


class RacesRack:
    """The rack, served from a thread of its own.

    Attributes:
        folder: everything that is written; the operators' homes are made in it.
    """

    def __init__(self, options: Mapping[str, object], seed: int) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="exacell-races-", dir="/dev/shm"))
        self.options = options
        self.place = self.folder / "rack"
        self.place.mkdir()
        self.files: RackFiles = rack_files(self.place, NAME)
        self.files.root.mkdir(mode=0o700, parents=True)
        given = {"speed": SPEED, "seed": seed % 1000, **options}
        self.world = StagedWorld(RackWorld.create(NAME, given))
        self.cells, self.nodes = self.world.cells, self.world.dbnodes
        self.prepared: dict[str, str] = {}
        self._given = given
        self._up = threading.Event()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve()), daemon=True)
        self._thread.start()
        deadline = time.monotonic() + 60
        while not self.files.control.exists():
            if time.monotonic() > deadline or not self._thread.is_alive():
                raise RuntimeError("the rack did not come up")
            time.sleep(0.01)
        write_rack_file(self.place, status(self.place, NAME)[0])
        self.keep("new")

    async def _serve(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._daemon = Daemon(self.files, self.world, self._given)
        # What statements change is not written to disk: the rack ends with this process.
        self._daemon.save = lambda host: None  # type: ignore[method-assign]
        await self._daemon.serve()

    def on(self, do: Callable[[], Got]) -> Got:
        """Do something on the rack's thread and return what came of it."""
        assert self._loop is not None
        if threading.current_thread() is self._thread:
            return do()
        found: Future[Got] = Future()

        def call() -> None:
            try:
                found.set_result(do())
            except BaseException as error:
                found.set_exception(error)

        self._loop.call_soon_threadsafe(call)
        return found.result(60)

    def later(self, seconds: float, do: Callable[[], object]) -> None:
        """Do something on the rack's thread after a while; only from that thread."""
        assert self._loop is not None
        if seconds <= 0:
            do()
        else:
            self._loop.call_later(seconds, do)

    # -- states ----------------------------------------------------------------------------------------------------

    def keep(self, name: str) -> None:
        """Remember the rack as it is under a name."""
        self.prepared[name] = self.on(lambda: json.dumps(self.world.to_state()))

    def reset(self, name: str) -> None:
        """Make the rack what it was when it was kept under a name, with nothing heard yet."""
        self.on(lambda: self._reset(name))

    def _reset(self, name: str) -> None:
        world = RackWorld.from_state(json.loads(self.prepared[name]))
        for fault in list(self.world.book):
            self.world.book.remove(fault)
        self.world.book._clock = world._rack.clock
        world._rack.faults = self.world.book
        world.inject(self.cells, "unguarded", {})
        for cell in world._rack.cells.values():
            cell.lost_dirty_bytes = 0
        self.world.inner = world
        self.world.told.clear()
        self.world.lost.clear()
        self.world.heard, self.world.late = lambda told: None, lambda told: 0.0

    def pass_time(self, rack_seconds: float) -> None:
        """Let rack time pass at once."""

        def skip() -> None:
            clock: RackClock = self.world.inner._rack.clock
            clock._rack_start += rack_seconds
            self.world.advance()

        self.on(skip)

    # -- what others do --------------------------------------------------------------------------------------------

    def cell(self, host: str) -> Cell:
        """Return a cell as it is."""
        return self.world.inner._rack.cells[host]

    def raw(self, host: str, statement: str) -> str:
        """Carry a statement out at once, as somebody does who is on the host itself; return what was printed."""
        if statement.startswith("sql:"):
            lines = [f"{statement.removeprefix('sql:')};", "exit"]
            env = {"ORACLE_HOME": GRID_HOME, "ORACLE_SID": f"+ASM{self.nodes.index(host) + 1}"}
            return self.on(lambda: self._drive("sqlplus", host, "grid", ["-S", "-L", "/ as sysasm"], env, lines))
        return self.on(lambda: self._drive("cellcli", host, "celladmin", ["-e", statement], {}, []))

    def _drive(
        self, name: str, host: str, login: str, argv: Sequence[str], env: Mapping[str, str], lines: list[str]
    ) -> str:
        world = self.world.inner
        files = OwnFiles(str(self.folder))
        program = world.program(
            Launch(name=name, host=host, login=login, argv=argv, env=env, files=files, tty=False, has_stdin=True)
        )
        left, answer = iter(lines), None
        shown: list[str] = []
        while True:
            try:
                event = program.send(answer)
            except StopIteration:
                return "".join(shown)
            answer = None
            if isinstance(event, Out):
                shown.append(event.text)
            elif isinstance(event, Pause):
                world._rack.clock._rack_start += world.wall_seconds(event) * world._rack.clock.speed
            elif isinstance(event, Ask):
                answer = next(left, None)

    def restart(self, host: str, *, cut: bool) -> None:
        """Let CELLSRV of a cell restart in no time: no flush is in force any more."""

        def again() -> None:
            rack = self.world.inner._rack
            rack.advance()
            rack.stop_cellsrv(rack.cells[host])
            rack.start_cellsrv(rack.cells[host])
            if cut:
                rack.faults.on_restart(host)

        self.on(again)

    def write(self, host: str, size: int) -> int:
        """Let a database write into the caches of a cell and return how many bytes became dirty."""

        def load() -> int:
            rack = self.world.inner._rack
            cell = rack.cells[host]
            rack.touch(cell)
            before = _dirty(cell)
            for cache, back in ((cell.flash_cache, cell.write_back), (cell.pmem_cache, cell.pmem_write_back)):
                if cache is not None and back:
                    fill(cache, used=size, dirty=size)
            return _dirty(cell) - before

        return self.on(load)

    def make_file(self, group: str, size: int) -> bool:
        """Let a database make a file in a disk group; False where there is none."""

        def make() -> bool:
            rack = self.world.inner._rack
            found = getattr(rack.asm, "groups", {}).get(group)
            if found is None or not found.mounted:
                return False
            number = max([300, *(file.number for file in found.files)]) + 1
            file = AsmFile(
                number=number, incarnation=1123456789, kind="DATAFILE", database="SPOT", tag="NEW", size_bytes=size,
                block_size=8192, copies=2, created=rack.now(),
            )  # fmt: skip
            found.files.append(file)
            return True

        return self.on(make)

    def fault(self, hosts: Sequence[str], kind: str, **options: object) -> None:
        """Inject a fault."""
        self.on(lambda: self.world.inject(hosts, kind, options))

    def clear(self, kind: str) -> None:
        """End the faults of a kind."""
        self.on(lambda: self.world.clear_faults(None, kind))

    def close(self) -> None:
        """Stop the rack and remove all."""
        assert self._loop is not None
        self._loop.call_soon_threadsafe(self._daemon.stop)
        self._thread.join(20)
        shutil.rmtree(self.folder, ignore_errors=True)


def _dirty(cell: Cell) -> int:
    return sum(cache.dirty_bytes for cache in cell.caches)
