"""A simulated rack for rolling plans: cells whose disks go offline and come back, with whatever may go wrong, and no sockets.

It keeps the truth (which disks ASM misses at any moment) apart from what anybody answers, so that a test can ask both:
was a second failure group ever touched, and does the journal prove that it was not?
"""

from __future__ import annotations

import random
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from exacell.change.engine import Engine
from exacell.change.following import Times
from exacell.change.running import Report
from exacell.journal.record import Journal, Row
from exacell.journal.rows import Columns, Entry, typed
from exacell.output.console import SilentConsole
from exacell.plan import facts as f
from exacell.plan.facts import CellFacts
from exacell.plan.gate import offline_cells
from exacell.plan.model import Plan
from exacell.plan.rolling import Asked, roll
from exacell.session.answers import Answer, Answers, Record
from exacell.session.asm import AsmClient
from exacell.session.fleet import Fleet
from exacell.session.upon import Upon
from exacell.transport.base import FleetResult, Judgement, Looked, Reply, State
from exacell.transport.capabilities import SSH

DISKS = 2
"""Grid disks a cell; one of them may be in no disk group."""


class MemoryJournal(Journal):
    """A journal in memory: what is tested here is what the rows say, not that they are synced."""

    def __init__(self) -> None:
        super().__init__(Path("/nowhere/journal.db"))
        self.rows: list[Entry] = []

    def begin(self, rack: str, body: Mapping[str, Any]) -> int:
        """Keep the plan row."""
        change = 1 + max((row.change for row in self.rows), default=0)
        self.append(rack, change, [Row(kind="plan", body=body)])
        return change

    def append(self, rack: str, change: int, rows: Iterable[Row]) -> None:
        """Keep the rows."""
        for row in rows:
            self.rows.append(
                typed(
                    Columns(
                        seq=len(self.rows) + 1,
                        at="",
                        rack=rack,
                        change=change,
                        kind=row.kind,
                        target=row.target,
                        body=row.body,
                        prev="",
                        hash="",
                    )
                )
            )


@dataclass
class SimCell:
    """One cell: its disks' status, whether ASM has them, CELLSRV, and how long a resync still takes (in looks)."""

    name: str
    status: str = "active"
    cellsrv: str = "running"
    asm: str = "ONLINE"
    sync_left: int = 0
    silent_for: int = 0
    cache: str = "normal"

    @property
    def away(self) -> bool:
        """Whether ASM misses a mirror that is on this cell."""
        return self.asm != "ONLINE"


@dataclass
class World(Fleet):
    """Answers for all cells; ``trouble`` is how probable each kind of mishap is."""

    rng: random.Random
    cells: dict[str, SimCell]
    trouble: float
    cancel: threading.Event = field(default_factory=threading.Event)
    looks: int = 0
    worst: int = 0
    """The largest number of cells that were away together because of what was sent."""
    taken: set[str] = field(default_factory=set)
    log: list[str] = field(default_factory=list)
    mishap_elsewhere: str = ""
    asm: dict[str, AsmClient] = field(default_factory=dict)

    transport: Any = field(default_factory=lambda: SimpleNamespace(read_only=False, capabilities=SSH))

    def happens(self, share: float = 1.0) -> bool:
        """Whether a mishap happens now."""
        return self.rng.random() < self.trouble * share

    def tick(self) -> None:
        """Let time pass: resyncs go on, silent cells answer again, now and then a disk fails by itself."""
        self.looks += 1
        for cell in self.cells.values():
            cell.silent_for = max(0, cell.silent_for - 1)
            if cell.asm == "OFFLINE" and cell.status == "active" and cell.cellsrv == "running":
                cell.asm, cell.sync_left = "SYNCING", self.rng.randint(0, 4)
            elif cell.asm == "SYNCING":
                cell.sync_left -= 1
                if cell.sync_left <= 0:
                    cell.asm = "ONLINE"
                    self.taken.discard(cell.name)
            if self.happens(0.05):
                cell.silent_for = self.rng.randint(1, 3)
        if self.happens(0.02):
            self.cancel.set()
        if self.happens(0.03):
            victim = self.rng.choice(list(self.cells.values()))
            if victim.asm == "ONLINE" and not any(c.away for c in self.cells.values()):
                # A disk that fails by itself: ASM has it again after a while.
                victim.asm = "SYNCING"
                victim.sync_left = self.rng.randint(1, 6)
                self.mishap_elsewhere = victim.name

    def query(
        self,
        cells: Sequence[str],
        statements: Sequence[str],
        *,
        timeout: float | None = None,
        on_answer: Callable[[Answer], None] | None = None,
        cancel: threading.Event | None = None,
    ) -> Answers:
        """Return what the cells list."""
        self.tick()
        answers = {cell: self._answer(self.cells[cell], statements) for cell in cells}
        for answer in answers.values() if on_answer is not None else ():
            on_answer(answer)
        return Answers(answers=answers)

    def _answer(self, cell: SimCell, statements: Sequence[str]) -> Answer:
        reply = Reply(target=cell.name, state=State.OK)
        if cell.silent_for:
            return Answer(cell=cell.name, problem="no route to host", reply=reply)
        if cell.cellsrv != "running" and any("asm" in s for s in statements):
            return Answer(cell=cell.name, problem="CELL-02559: communication error", reply=reply)
        return Answer(cell=cell.name, tables=tuple(self._rows(cell, s) for s in statements), reply=reply)

    def _rows(self, cell: SimCell, statement: str) -> tuple[Record, ...]:
        kind = statement.split()[1]
        if kind == "griddisk":
            others = any(c.away for c in self.cells.values() if c is not cell)
            outcome = "Cannot de-activate due to other offline disks in the diskgroup" if others else "Yes"
            return tuple(
                {
                    "name": f"DATA_CD_{n:02}_{cell.name}",
                    "cellDisk": f"CD_{n:02}_{cell.name}",
                    "diskType": "HardDisk",
                    "size": 1 << 30,
                    "status": cell.status,
                    "asmDiskGroupName": "DATA",
                    "asmModeStatus": cell.asm,
                    "asmDeactivationOutcome": outcome,
                }
                for n in range(DISKS)
            )
        if kind == "flashcache":
            return ({"name": f"{cell.name}_FLASHCACHE", "size": 1 << 30, "status": cell.cache, "cellDisk": "FD"},)
        return (
            {
                "name": cell.name,
                "releaseVersion": "19.3.2.0.0",
                "cellsrvStatus": cell.cellsrv,
                "msStatus": "running",
                "rsStatus": "running",
                "flashCacheMode": "writeback",
            },
        )

    def send(self, statements: Mapping[str, str], **_: Any) -> FleetResult:
        """Carry statements out, with mishaps before, after or instead."""
        replies = {}
        for target, statement in statements.items():
            cell = self.cells[target]
            self.log.append(f"{target}: {statement}")
            if cell.silent_for or self.happens(0.1):
                replies[target] = Reply(target=target, state=State.UNREACHABLE, problem="no route to host")
            elif self.happens(0.15):
                replies[target] = Reply(target=target, state=State.FAILED, stdout="CELL-02559: it says no\n")
            else:
                text = self._do(cell, statement)
                lost = self.happens(0.15)
                state = State.TIMED_OUT if lost else State.OK
                problem = "no end within 600s" if lost else ""
                replies[target] = Reply(target=target, state=state, stdout="" if lost else text, problem=problem)
        return FleetResult(targets=tuple(replies), replies=replies)

    def send_upon(self, statements: Mapping[str, Upon], **_: Any) -> FleetResult:
        """Carry each statement out upon what its cell tells then."""
        replies = {}
        for target, upon in statements.items():
            answer = self._answer(self.cells[target], upon.lists)
            judgement = Judgement(why=answer.problem) if answer.problem else upon.judge(answer.tables)
            if judgement.why:
                looked = Looked(refused=judgement.why, needless=judgement.needless)
                replies[target] = Reply(target=target, state=State.NOT_ATTEMPTED, problem=judgement.why, looked=looked)
        # All of them are looked at before the first statement leaves: that one cell's is seen by another is luck.
        replies |= self.send({t: upon.statement for t, upon in statements.items() if t not in replies}).replies
        return FleetResult(targets=tuple(replies), replies=replies)

    def _do(self, cell: SimCell, statement: str) -> str:
        done = "".join(f"GridDisk DATA_CD_{n:02}_{cell.name} successfully altered\n" for n in range(DISKS))
        if statement.endswith("INACTIVE"):
            cell.status, cell.asm = "inactive", "OFFLINE"
            self.taken.add(cell.name)
            self.worst = max(self.worst, len({c.name for c in self.cells.values() if c.away} | self.taken))
            return done
        if statement.endswith("ACTIVE"):
            cell.status = "active"
            return done
        if "RESTART SERVICES" in statement:
            if cell.asm == "ONLINE":
                cell.asm = "OFFLINE"
            return "The SHUTDOWN of CELLSRV services was successful.\nThe STARTUP of CELLSRV services was successful.\n"
        raise AssertionError(statement)

    # -- what a session would do ----------------------------------------------------------------------------------

    def facts(self, names: Sequence[str]) -> dict[str, CellFacts]:
        """Return what a planner reads; cells that are silent just now answer in the end."""
        wanted = (f.CELL, f.GRIDDISK, f.FLASHCACHE)
        found: dict[str, CellFacts] = {}
        while len(found) < len(names):
            for cell, answer in self.query(names, wanted).good.items():
                found[cell] = f.build(cell, wanted, answer.tables)
        return {name: found[name] for name in names}

    def run(self, plan: Plan, asked: Asked, journal: Journal) -> Report:
        """Roll a plan and carry it out."""
        rolled = roll(plan, asked, rack_cells=tuple(self.cells), first=offline_cells(self.facts(tuple(self.cells))))
        return self.carry_out(rolled, journal)

    def carry_out(self, plan: Plan, journal: Journal) -> Report:
        """Carry a plan out as it is."""
        engine = Engine(
            rack="t1",
            fleet=self,
            asm=self.asm,
            journal=journal,
            console=SilentConsole(),
            times=Times(poll=600.0, cancel=self.cancel, pause=lambda event, seconds: None),
        )
        self.cancel.clear()
        return engine.run(plan)


def make_world(rng: random.Random, *, trouble: float) -> World:
    """Return a rack of two to eight cells, all well."""
    names = [f"c{n}" for n in range(1, rng.randint(2, 8) + 1)]
    return World(rng=rng, cells={name: SimCell(name) for name in names}, trouble=trouble)


Planner = Callable[[Mapping[str, CellFacts]], Plan]
