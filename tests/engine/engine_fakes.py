"""Three cells and an ASM that are dictionaries, behind a transport that does as a test says; and a journal on disk.

Nothing here knows the emulator: the state is what CellCLI would list, and each statement changes it as plainly as can be.
"""

from __future__ import annotations

import re
import shlex
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from exacell.change.engine import Engine
from exacell.change.following import Times
from exacell.change.running import Outcome, Report
from exacell.core.config import AsmConfig
from exacell.core.units import GIB, parse_size
from exacell.journal.record import Journal
from exacell.journal.rows import Entry
from exacell.output.console import SilentConsole
from exacell.plan import facts as f
from exacell.plan.asmfacts import END
from exacell.plan.facts import CellFacts
from exacell.plan.model import Plan
from exacell.session.asm import AsmClient
from exacell.session.fleet import Fleet
from exacell.transport.base import FleetResult, Reply, ReplyHandler, Request, Role, State
from tests.support.pairs import carried_out
from tests.support.transports import Open

CELLS = ("exa1cel01", "exa1cel02", "exa1cel03")
NODES = ("exa1db01", "exa1db02")


class FakeCell:
    """One cell's state: object → rows of attribute → text, as LIST shows them."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.collections = 1
        self.error_on_flush = ""
        self.tables: dict[str, list[dict[str, str]]] = {
            "cell": [
                {
                    "name": name,
                    "releaseVersion": "19.3.2.0.0",
                    "flashCacheMode": "WriteBack",
                    "cellsrvStatus": "running",
                    "makeModel": "X2",
                }
            ],
            "flashcache": [self._cache(40 * GIB)],
            "celldisk": [
                self._disk("CD_00", "HardDisk"),
                self._disk("FD_00", "FlashDisk"),
                self._disk("FD_01", "FlashDisk"),
            ],
            "physicaldisk": [{"name": "FLASH_1_0", "diskType": "FlashDisk", "status": "normal"}],
            "flashlog": [{"name": f"{name}_FLASHLOG", "size": str(GIB // 2), "status": "normal"}],
            "griddisk": [],
            "iormplan": [{"name": f"{name}_IORMPLAN", "dbPlan": "((name=SPOT,share=8))", "objective": "auto"}],
            "database": [{"name": "SPOT"}],
            "pmemlog": [],
        }
        self.metrics = {"FC_BY_DIRTY": 2048.0, "FC_BY_USED": 9000.0, "FC_BY_STALE_DIRTY": 0.0}

    def _cache(self, size: int) -> dict[str, str]:
        disks = f"FD_00_{self.name},FD_01_{self.name}"
        return {
            "name": f"{self.name}_FLASHCACHE",
            "size": str(size),
            "status": "normal",
            "degradedCelldisks": "",
            "cellDisk": disks,
        }

    def _disk(self, stem: str, kind: str) -> dict[str, str]:
        values = {"size": str(24 * GIB), "freeSpace": str(GIB), "status": "normal", "flushStatus": "", "flushError": ""}
        return {"name": f"{stem}_{self.name}", "diskType": kind, **values}

    @property
    def status(self) -> str:
        """The flash cache's status, ``gone`` without one."""
        cache = self.tables["flashcache"]
        return cache[0]["status"] if cache else "gone"

    @status.setter
    def status(self, text: str) -> None:
        self.tables["flashcache"][0]["status"] = text

    @property
    def size(self) -> int:
        """The flash cache's size, 0 without one."""
        cache = self.tables["flashcache"]
        return int(cache[0]["size"]) if cache else 0

    def answer(self, statement: str) -> str:
        """Return one XML document for a LIST."""
        words = statement.split()
        kind = words[1].lower()
        if kind == "metriccurrent":
            rows = self._collect()
        elif kind == "physicaldisk":
            rows = self.tables[kind]
        else:
            wanted = re.search(r"attributes (.*?)(?: where|$)", statement, re.IGNORECASE)
            names = [n.strip() for n in wanted[1].split(",")] if wanted else []
            rows = [{n: row.get(n, "") for n in names} for row in self.tables.get(kind, [])]
        body = "".join(f"<{kind}>{''.join(f'<{k}>{v}</{k}>' for k, v in row.items())}</{kind}>" for row in rows)
        return f'<?xml version="1.0" encoding="utf-8" ?><cli-output><context cell="{self.name}"/>{body}</cli-output>\n'

    def _collect(self) -> list[dict[str, str]]:
        self.collections += 1
        at = str(1_600_000_000_000 + self.collections * 60_000)
        self._flush_goes_on()
        return [{"name": n, "metricValue": str(v), "collectionTime": at} for n, v in self.metrics.items()]

    def _flush_goes_on(self) -> None:
        if self.status != "normal - flushing":
            return
        for disk in self.tables["celldisk"][1:]:
            disk["flushError"] = self.error_on_flush
            disk["flushStatus"] = "working" if self.error_on_flush else "complete"
        if not self.error_on_flush:
            self.status = "normal - flushed"
            self.metrics |= {"FC_BY_DIRTY": 0.0, "FC_BY_USED": 0.0}

    def change(self, statement: str) -> str:
        """Carry out one changing statement and return what CellCLI would print."""
        cache = f"Flash cache {self.name}_FLASHCACHE"
        if statement == "ALTER FLASHCACHE ALL FLUSH NOWAIT":
            self.status = "normal - flushing"
            return f"{cache} altered successfully\n"
        if statement == "ALTER FLASHCACHE ALL CANCEL FLUSH":
            self.status = "normal"
            for disk in self.tables["celldisk"]:
                disk["flushStatus"] = disk["flushError"] = ""
            return f"{cache} altered successfully\n"
        if statement == "DROP FLASHCACHE":
            self.tables["flashcache"] = []
            return f"{cache} successfully dropped\n"
        if found := re.fullmatch(r"CREATE FLASHCACHE ALL size=(\w+)", statement):
            self.tables["flashcache"] = [self._cache(parse_size(found[1]))]
            return f"{cache} successfully created\n"
        if found := re.fullmatch(r"ALTER IORMPLAN dbplan=(.*)", statement):
            self.tables["iormplan"][0]["dbPlan"] = found[1]
            return "IORMPLAN successfully altered\n"
        if found := re.fullmatch(r"CREATE GRIDDISK ALL FLASHDISK PREFIX=(\w+), size=(\w+)", statement):
            return "".join(self._grid(f"{found[1]}_{d['name']}", found[2]) for d in self.tables["celldisk"][1:])
        raise AssertionError(f"the fake cell knows no {statement}")

    def _grid(self, name: str, size: str) -> str:
        self.tables["griddisk"].append({"name": name, "size": str(parse_size(size)), "asmModeStatus": "UNUSED"})
        return f"GridDisk {name} successfully created\n"


@dataclass
class FakeAsm:
    """Two ASM instances; ``mounted`` is group → nodes, ``files`` group → number, ``headers`` grid disk → header."""

    mounted: dict[str, set[str]] = field(default_factory=lambda: {"DATA": set(NODES)})
    files: dict[str, int] = field(default_factory=dict)
    headers: dict[str, str] = field(default_factory=dict)
    groups: dict[str, list[str]] = field(default_factory=lambda: {"DATA": []})

    def facts(self) -> str:
        """Return the answer to the facts script, as the first node gives it."""
        lines = ["__EXACELL_INSTANCE__"]
        lines += [f"{n}|+ASM{n}|{node}|19.0.0.0.0" for n, node in enumerate(NODES, 1)]
        lines.append("__EXACELL_GROUP__")
        for number, name in enumerate(self.groups, 1):
            for inst, node in enumerate(NODES, 1):
                up = node in self.mounted[name]
                tail = "NORMAL|4194304|100|50|10|20|0|19.0.0.0.0|11.2.0.4.0|N" if up else "|0|0|0|0|0|0|0.0|0.0|N"
                lines.append(f"{inst}|{number if up else 0}|{name}|{'MOUNTED' if up else 'DISMOUNTED'}|{tail}")
        lines.append("__EXACELL_DISK__")
        owner = {disk: n for n, disks in enumerate(self.groups.values(), 1) for disk in disks}
        lines += [
            f"{owner.get(d, 0)}|o/10.0.0.1/{d}|{header}|CLOSED|ONLINE|512|||0|NORMAL|0|N"
            for d, header in self.headers.items()
        ]
        lines.append("__EXACELL_FILE__")
        lines += [f"{n}|{self.files[name]}" for n, name in enumerate(self.groups, 1) if self.files.get(name)]
        return "\n".join([*lines, "__EXACELL_CLIENT__", "__EXACELL_OPERATION__", END, ""])

    def change(self, node: str, sql: str) -> str:
        """Carry out one SQL statement on a node and return what SQL*Plus would print before the end marker."""
        words = sql.split()
        name = words[2]
        if words[0] == "CREATE":
            found = re.search(r"'o/\*/(\w+)_\*'", sql)
            assert found is not None
            self.groups[name] = [d for d in self.headers if d.startswith(found[1] + "_")]
            self.headers |= dict.fromkeys(self.groups[name], "MEMBER")
            self.mounted[name] = {node}
            return "Diskgroup created.\n"
        if words[0] == "DROP":
            self.headers |= dict.fromkeys(self.groups.pop(name), "FORMER")
            return "Diskgroup dropped.\n"
        if words[3] == "MOUNT":
            self.mounted[name].add(node)
        else:
            self.mounted[name].discard(node)
        return "Diskgroup altered.\n"


Script = Callable[[str, str], Reply | None]
"""(target, statement) → the reply to give instead of carrying it out, or None to carry it out."""


class FakeTransport(Open):
    """Answers from the fakes. ``script`` may answer instead; ``silent`` targets can't be reached."""

    def __init__(self) -> None:
        self.read_only = False
        self.cells = {name: FakeCell(name) for name in CELLS}
        self.asm = FakeAsm()
        self.sent: list[tuple[str, str]] = []
        """(target, statement) of every changing request that left, in order."""
        self.silent: set[str] = set()
        self.deaf: set[str] = set()
        """Cells whose CellCLI answers nothing but an error to reads, and takes writes."""
        self.script: Script = lambda target, statement: None
        self.looking: Callable[[str], object] = lambda target: None
        """Called before a cell answers the look that its statement goes upon."""
        self.reading: Callable[[], object] = lambda: None
        """Called before each round of reads."""

    def run(
        self,
        requests: Sequence[Request],
        *,
        on_reply: ReplyHandler | None = None,
        cancel: threading.Event | None = None,
    ) -> FleetResult:
        """Return one reply a target."""
        if not any(request.role.changes for request in requests):
            self.reading()
        replies = {}
        for request in requests:
            replies[request.target] = self._one(request)
            if on_reply is not None:
                on_reply(replies[request.target])
        return FleetResult(targets=tuple(replies), replies=replies)

    def _one(self, request: Request) -> Reply:
        target = request.target
        if target in self.silent:
            return Reply(target=target, state=State.UNREACHABLE, problem="no route to host")
        if request.role is Role.ASM_READ:
            return Reply(target=target, state=State.OK, stdout=self.asm.facts(), exit_status=0)
        if request.role is Role.ASM_WRITE:
            script = request.pair.statement if request.pair is not None else request.stdin
            assert script is not None
            sql = script.splitlines()[-3].rstrip(";")
            return carried_out(
                request,
                lambda look: self.asm.facts(),
                lambda: self._changing(target, sql, lambda: self.asm.change(target, sql), tail=f"{END}\n"),
            )
        argv = shlex.split(request.command)
        statements = argv[-1].split("; ")
        if request.role is Role.WRITE:
            return carried_out(
                request,
                lambda look: self._looked(target, look),
                lambda: self._changing(target, statements[0], lambda: self.cells[target].change(statements[0])),
            )
        if target in self.deaf:
            return said(target, "CELL-01514: Connect Error. Verify that Management Server is running.\n")
        if "-x" in argv:
            text = "".join(self.cells[target].answer(statement) for statement in statements)
        else:
            text = f"\t {target}\t 19.3.2.0.0\n"
        return Reply(target=target, state=State.OK, stdout=text, exit_status=0)

    def _looked(self, target: str, look: str) -> str:
        """Return what a CellCLI answers to the look before a statement."""
        self.looking(target)
        if target in self.deaf:
            return "CELL-01514: Connect Error. Verify that Management Server is running.\n"
        return "".join(self.cells[target].answer(line) for line in look.splitlines())

    def _changing(self, target: str, statement: str, do: Callable[[], str], *, tail: str = "") -> Reply:
        self.sent.append((target, statement))
        instead = self.script(target, statement)
        return instead or Reply(target=target, state=State.OK, stdout=do() + tail, exit_status=0)

    def statements(self, target: str) -> list[str]:
        """Return what was sent to one target, in order."""
        return [statement for who, statement in self.sent if who == target]


def lost(target: str) -> Reply:
    """Return the reply to a statement whose answer never came."""
    return Reply(target=target, state=State.TIMED_OUT, problem="no end within 600s")


def said(target: str, text: str, *, state: State = State.FAILED) -> Reply:
    """Return a reply with that text."""
    return Reply(target=target, state=state, stdout=text, exit_status=0 if state is State.OK else 1)


def on(target: str, begins: str, reply: Callable[[str], Reply]) -> Script:
    """Return a script that answers one target's statement which begins so."""
    return lambda who, statement: reply(who) if who == target and statement.startswith(begins) else None


class Bench:
    """An engine on the fakes, with a journal in a directory; waiting takes no time."""

    def __init__(self, folder: Path, *, journal: Journal | None = None) -> None:
        self.transport = FakeTransport()
        self.fleet = Fleet(self.transport)
        self.journal = journal or Journal(folder / "journal.db")
        self.cancel = threading.Event()
        self.console = SilentConsole()
        self.pauses = 0
        self.waited = 0.0
        """Seconds that the engine thinks it has waited."""
        self.passed = 0.0
        """Seconds that have passed for the host, asleep or not."""
        self.taken = ""
        """Why the lock is not the engine's own any more."""
        config = AsmConfig(name="main", nodes=NODES, home="/u01/grid")
        self.asm = AsmClient(self.transport, config)
        self.engine = Engine(
            rack="t1",
            fleet=self.fleet,
            asm={"main": self.asm},
            journal=self.journal,
            console=self.console,
            times=Times(
                poll=5.0,
                cancel=self.cancel,
                pause=self._pause,
                clock=lambda: self.waited,
                passing=lambda: self.passed,
            ),
            permit=lambda: self.taken,
        )

    def _pause(self, event: threading.Event, seconds: float) -> None:
        self.pauses += 1
        self.waited += seconds
        assert self.pauses < 1000, "the engine waits for ever"

    def facts(self, *statements: str) -> dict[str, CellFacts]:
        """Return what planners would read now; metrics included unless asked otherwise."""
        wanted = statements or (
            f.CELL,
            f.FLASHCACHE,
            f.CELLDISK,
            f.FLASH_PHYSICALDISK,
            f.GRIDDISK,
            f.IORMPLAN,
            f.FLASH_METRICS,
        )
        answers = self.fleet.query(CELLS, wanted)
        return {cell: f.build(cell, wanted, answer.tables) for cell, answer in answers.good.items()}

    def run(self, plan: Plan) -> Report:
        """Run a plan."""
        return self.engine.run(plan)

    def rows(self) -> list[Entry]:
        """Return the journal's rows, read as another process would."""
        return Journal(self.journal.path).entries()


def outcomes(report: Report, *, mending: bool = False) -> dict[str, list[str]]:
    """Return target → outcomes of its steps in order."""
    found: dict[str, list[str]] = {}
    for result in report.results:
        if result.mending is mending:
            found.setdefault(result.step.target, []).append(str(result.outcome))
    return found


DONE, NOT_NEEDED, REFUSED = str(Outcome.DONE), str(Outcome.NOT_NEEDED), str(Outcome.REFUSED)
FAILED, UNKNOWN, NOT_SENT = str(Outcome.FAILED), str(Outcome.UNKNOWN), str(Outcome.NOT_SENT)
