"""What a change left stopped or dismounted, and that it is brought back before anything is planned for its cells."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from exacell.change import bringing_back
from exacell.change.bringing_back import activate_again, bring_back, mount_again, start_again, start_and_mount
from exacell.core.errors import ExitCode
from exacell.journal.record import Journal, Row
from exacell.journal.state import ChangeState
from exacell.output.result import Result
from exacell.plan.model import Plan, Stage, Step, as_data
from exacell.session.request import Request

STOP, START = "ALTER CELL SHUTDOWN SERVICES CELLSRV", "ALTER CELL STARTUP SERVICES CELLSRV"
RESTART = "ALTER CELL RESTART SERVICES ALL"


def intent(cell: str, statement: str) -> Row:
    return Row(kind="intent", target=cell, body={"statement": statement})


def outcome(cell: str, state: str) -> Row:
    return Row(kind="outcome", target=cell, body={"state": state})


CASES: list[tuple[list[Row], tuple[str, ...]]] = [
    ([], ()),
    ([intent("c1", "DROP FLASHCACHE"), outcome("c1", "done")], ()),
    ([intent("c1", STOP)], ("c1",)),
    ([intent("c1", STOP), outcome("c1", "unknown"), intent("c2", STOP), outcome("c2", "done")], ("c1", "c2")),
    ([intent("c1", STOP), outcome("c1", "done"), intent("c1", START)], ("c1",)),
    ([intent("c1", STOP), outcome("c1", "done"), intent("c1", START), outcome("c1", "failed")], ("c1",)),
    ([intent("c1", STOP), outcome("c1", "done"), intent("c1", START), outcome("c1", "done")], ()),
    ([intent("c1", START), outcome("c1", "done"), intent("c1", STOP)], ("c1",)),
    ([intent("c1", RESTART), outcome("c1", "unknown")], ("c1",)),
    ([intent("c1", "alter  cell shutdown services cellsrv")], ("c1",)),
    ([intent("c1", "ALTER CELL SHUTDOWN SERVICES MS")], ()),
]


@pytest.mark.parametrize(("rows", "cells"), CASES)
def test_which_cells_were_stopped(tmp_path: Path, rows: list[Row], cells: tuple[str, ...]) -> None:
    """A cell counts from the intent to stop its CELLSRV until an outcome says that it was started again."""
    journal = Journal(tmp_path / "journal.db")
    change = journal.begin("t1", {"statement": "s"})
    journal.append("t1", change, rows)
    assert tuple(ChangeState.of(journal.entries()).cellsrv) == cells


class Ctx:
    """A session whose cells answer with a state of CELLSRV, and that keeps what it was asked to carry out."""

    def __init__(self, journal: Journal, states: dict[str, str], code: ExitCode = ExitCode.DONE) -> None:
        self.journal, self.states, self.code = journal, states, code
        self.done: list[tuple[str, str, int]] = []
        self.said: list[str] = []
        self.request = Request(origin="resume 1", finishing=1)
        self.rack = None
        self.interrupted = threading.Event()
        self.options = SimpleNamespace(dry_run=False)
        self.console = SimpleNamespace(say=self.said.append)
        self.fleet = SimpleNamespace(query=self._query)

    def need_rack(self) -> Any:
        return SimpleNamespace(name="t1", cells=("c1", "c2"))

    def _query(self, cells: list[str], statements: list[str]) -> Any:
        good = {c: SimpleNamespace(tables=[[{"name": c, "cellsrvStatus": self.states[c]}]]) for c in cells}
        return SimpleNamespace(good=good)

    def execute(self, line: Any, request: Request) -> Result:
        self.done.append((f"on {line.on} {line.text}", request.origin, request.finishing))
        return Result(exit_code=self.code)


@pytest.fixture(autouse=True)
def carried_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """A session here keeps what it is asked to carry out."""
    monkeypatch.setattr(bringing_back, "execute", lambda _, services, request, line: services.execute(line, request))


@pytest.fixture
def journal(tmp_path: Path) -> Journal:
    made = Journal(tmp_path / "journal.db")
    made.append("t1", made.begin("t1", {"statement": "s"}), [intent("c1", STOP), intent("c2", STOP)])
    return made


def test_stopped_cells_are_started_as_a_change_of_its_own(journal: Journal) -> None:
    """It should start CELLSRV only where it is stopped still, and not as a part of the change that is gone on with."""
    ctx: Any = Ctx(journal, {"c1": "stopped", "c2": "running"})
    assert start_again(ctx, ctx, ctx.request, 1, {"yes": True}, "first") is None
    assert ctx.done == [("on c1 alter cell startup services cellsrv", "first", 0)]
    assert (ctx.request.origin, ctx.request.finishing) == ("resume 1", 1)
    assert "change 1 left CELLSRV stopped on c1" in ctx.said[0]


def test_nothing_is_started_where_all_run(journal: Journal) -> None:
    """It should do nothing when somebody has started the cells meanwhile."""
    ctx: Any = Ctx(journal, {"c1": "running", "c2": "running"})
    assert start_again(ctx, ctx, ctx.request, 1, {}, "first") is None
    assert ctx.done == []


@pytest.mark.parametrize("flags", [{"dry-run": True}, {"yes": True}])
def test_what_is_left_waits_for_the_start(journal: Journal, flags: dict[str, Any]) -> None:
    """It should hand back the start's own result when it was only shown, or failed: nothing more can be planned."""
    code = ExitCode.DONE if "dry-run" in flags else ExitCode.FAILED
    ctx: Any = Ctx(journal, {"c1": "stopped", "c2": "stopped"}, code)
    held_up = start_again(ctx, ctx, ctx.request, 1, flags, "first")
    assert held_up is not None and held_up.exit_code is code
    assert ctx.done == [("on c[1-2] alter cell startup services cellsrv", "first", 0)]


# -- disk groups -----------------------------------------------------------------------------------------------------

INACTIVE = "ALTER GRIDDISK DATA_CD_00_c1,DATA_CD_01_c1 INACTIVE"


class Dismounted(Ctx):
    """A session on whose cells ``says`` is the asmModeStatus, with disk groups that are in these states on two nodes."""

    def __init__(
        self, journal: Journal, says: str, states: dict[str, tuple[str, str]], code: ExitCode = ExitCode.DONE
    ) -> None:
        super().__init__(journal, {"c1": "running", "c2": "running"}, code)
        self.says, self.states_of = says, states

    def need_rack(self) -> Any:
        return SimpleNamespace(name="t1", cells=("c1", "c2"), asm={"main": None})

    def _query(self, cells: list[str], statements: list[str]) -> Any:
        rows = [{"name": f"{g}_1", "asmDiskGroupName": g, "asmModeStatus": self.says} for g in ("DATA", "RECO")]
        rows += [{"name": "x", "cellsrvStatus": "running"}] if "cellsrvStatus" in statements[0] else []
        return SimpleNamespace(good={c: SimpleNamespace(tables=[rows]) for c in cells})

    def asm(self, name: str) -> Any:
        groups = tuple(
            SimpleNamespace(name=n, state="MOUNTED" if "MOUNTED" in states else "DISMOUNTED")
            for n, states in self.states_of.items()
        )
        return SimpleNamespace(facts=lambda: SimpleNamespace(groups=groups))

    def execute(self, line: Any, request: Request) -> Result:
        self.done.append((line.text, request.origin, request.finishing))
        return Result(exit_code=self.code)


NOWHERE, SOMEWHERE = ("DISMOUNTED", "DISMOUNTED"), ("DISMOUNTED", "MOUNTED")
MOUNTS: list[tuple[str, str, dict[str, tuple[str, str]], list[str]]] = [
    (INACTIVE, "UNKNOWN", {"DATA": NOWHERE, "RECO": SOMEWHERE, "OLD": NOWHERE}, ["DATA"]),
    (RESTART, "UNKNOWN", {"DATA": NOWHERE, "RECO": NOWHERE}, ["DATA", "RECO"]),
    ("DROP FLASHCACHE", "UNKNOWN", {"DATA": NOWHERE}, []),
    ("ALTER GRIDDISK ALL ACTIVE", "UNKNOWN", {"DATA": NOWHERE}, []),
    (INACTIVE, "OFFLINE", {"DATA": NOWHERE}, []),
]


@pytest.mark.parametrize(("statement", "says", "states", "mounted"), MOUNTS)
def test_dismounted_disk_groups_are_mounted(
    tmp_path: Path, statement: str, says: str, states: dict[str, tuple[str, str]], mounted: list[str]
) -> None:
    """After a change that took disks offline, what no node has mounted and cells' disks belong to is mounted; nothing else."""
    journal = Journal(tmp_path / "journal.db")
    journal.append("t1", journal.begin("t1", {"statement": "s"}), [intent("c1", statement)])
    ctx: Any = Dismounted(journal, says, states)
    assert start_and_mount(ctx, ctx, ctx.request, 1, {"yes": True}, "first") is None
    assert ctx.done == [(f'sql asm "alter diskgroup {name} mount" asm=main', "first", 0) for name in mounted]
    assert (ctx.request.origin, ctx.request.finishing) == ("resume 1", 1)


def test_what_is_left_waits_for_the_first_mount(tmp_path: Path) -> None:
    """It should hand back the mount's own result when that failed, and try no other disk group."""
    journal = Journal(tmp_path / "journal.db")
    journal.append("t1", journal.begin("t1", {"statement": "s"}), [intent("c1", INACTIVE)])
    ctx: Any = Dismounted(journal, "UNKNOWN", {"DATA": NOWHERE, "RECO": NOWHERE}, ExitCode.FAILED)
    held_up = mount_again(ctx, ctx, ctx.request, 1, {"yes": True}, "first")
    assert held_up is not None and held_up.exit_code is ExitCode.FAILED
    assert len(ctx.done) == 1


# -- grid disks ------------------------------------------------------------------------------------------------------


class Away(Ctx):
    """A session on whose cells grid disks have this status and asmModeStatus."""

    def __init__(self, journal: Journal, status: str, asm_mode: str, code: ExitCode = ExitCode.DONE) -> None:
        super().__init__(journal, {}, code)
        self.row = {"name": "D_CD_00_c1", "asmDiskGroupName": "D", "asmModeStatus": asm_mode, "status": status}

    def _query(self, cells: list[str], statements: list[str]) -> Any:
        return SimpleNamespace(good={c: SimpleNamespace(tables=[[self.row]]) for c in cells})


BOTH = ("ALTER GRIDDISK ALL INACTIVE", "ALTER GRIDDISK ALL ACTIVE")


def planned(statements: Iterable[str]) -> Any:
    """A plan of these statements for c1, as the journal keeps it."""
    stages = tuple(
        Stage(title=text, key=text, steps=(Step(target="c1", statement=text, what=text),)) for text in statements
    )
    return json.loads(json.dumps(as_data(Plan(statement="s", rack="t1", stages=stages))))


def borrow(journal: Journal, statements: Iterable[str], **body: Any) -> None:
    """Leave a change that has taken disks of c1 offline, with these statements in its plan."""
    change = journal.begin("t1", {"statement": "s", "plan": planned(statements), **body})
    journal.append("t1", change, [intent("c1", BOTH[0])])


def taken_away(tmp_path: Path, *statements: str) -> Journal:
    """A journal of one change that has taken disks of c1 offline, with these statements in its plan."""
    journal = Journal(tmp_path / "journal.db")
    borrow(journal, statements)
    return journal


def test_disks_that_were_to_be_away_for_a_while_are_brought_back(tmp_path: Path) -> None:
    """Disks that the plan took offline and was to bring back are brought back as a change of its own."""
    ctx: Any = Away(taken_away(tmp_path, *BOTH), "inactive", "OFFLINE")
    assert bring_back(ctx, ctx, ctx.request, 1, {"yes": True}, "after") is None
    assert [(line, origin) for line, origin, _ in ctx.done] == [("on  online cell c1", "after")]
    assert "left 1 grid disk of c1 inactive" in ctx.said[0]


@pytest.mark.parametrize("code", [ExitCode.DONE, ExitCode.FAILED])
def test_disks_that_an_undo_took_away_are_brought_back(tmp_path: Path, code: ExitCode) -> None:
    """Before a change is taken back once more, disks that an earlier attempt to do so left inactive are active again, or it
    is told what kept them away."""
    journal = Journal(tmp_path / "journal.db")
    journal.begin("t1", {"statement": "s"})
    borrow(journal, BOTH, origin="undo 1")
    ctx: Any = Away(journal, "inactive", "OFFLINE", code)
    held_up = activate_again(ctx, ctx, ctx.request, 1, {"yes": True}, "first")
    assert (held_up is None) == (code is ExitCode.DONE)
    assert [(line, origin) for line, origin, _ in ctx.done] == [("on  online cell c1", "first")]


def test_disks_that_a_change_leaves_away_and_its_undo_brings_back_are_no_loan(tmp_path: Path) -> None:
    """What offline cell took away on purpose is brought back by its undo itself, not before it."""
    journal = Journal(tmp_path / "journal.db")
    borrow(journal, BOTH[:1])
    change = journal.begin("t1", {"statement": "s", "origin": "undo 1", "plan": planned(BOTH[1:])})
    journal.append("t1", change, [intent("c1", BOTH[1])])
    ctx: Any = Away(journal, "inactive", "OFFLINE")
    assert activate_again(ctx, ctx, ctx.request, 1, {"yes": True}, "first") is None
    assert ctx.done == []


@pytest.mark.parametrize(("statements", "status"), [(BOTH, "active"), (BOTH[:1], "inactive")])
def test_disks_that_are_back_or_were_to_stay_away_are_left_alone(
    tmp_path: Path, statements: tuple[str, ...], status: str
) -> None:
    """Nothing is done to active disks, nor to those that offline cell took away on purpose."""
    ctx: Any = Away(taken_away(tmp_path, *statements), status, "ONLINE")
    assert bring_back(ctx, ctx, ctx.request, 1, {"yes": True}, "after") is None
    assert ctx.done == []


def test_a_cell_that_does_not_come_back_is_told(tmp_path: Path) -> None:
    """What online cell came to is the answer when it failed."""
    ctx: Any = Away(taken_away(tmp_path, *BOTH), "inactive", "OFFLINE", ExitCode.FAILED)
    held_up = bring_back(ctx, ctx, ctx.request, 1, {"yes": True}, "after")
    assert held_up is not None and held_up.exit_code is ExitCode.FAILED


def test_disks_that_asm_dropped_meanwhile_are_told(tmp_path: Path) -> None:
    """Active disks that are in no disk group any more make the change end as failed, with what adds them again."""
    ctx: Any = Away(taken_away(tmp_path, *BOTH), "active", "DROPPED")
    told = bring_back(ctx, ctx, ctx.request, 1, {"yes": True}, "after")
    assert told is not None and told.exit_code is ExitCode.FAILED
    assert "c1: ASM dropped 1 of its grid disks from D because" in told.problems[0] and "add disk" in told.problems[0]


@pytest.mark.parametrize(("code", "cells"), [(ExitCode.DONE, ["c1", "c2"]), (ExitCode.FAILED, ["c1"])])
def test_disks_of_several_cells_come_back_one_cell_after_the_other(
    tmp_path: Path, code: ExitCode, cells: list[str]
) -> None:
    """Each cell whose disks are away is brought back, the next one only when the one before it is."""
    journal = Journal(tmp_path / "journal.db")
    steps = tuple(Step(target=cell, statement=BOTH[1], what="back") for cell in ("c1", "c2"))
    back = Plan(statement="s", rack="t1", stages=(Stage(title="back", steps=steps),))
    change = journal.begin("t1", {"statement": "s", "plan": json.loads(json.dumps(as_data(back)))})
    journal.append("t1", change, [intent(cell, BOTH[0]) for cell in ("c1", "c2")])
    ctx: Any = Away(journal, "inactive", "OFFLINE", code)
    activate_again(ctx, ctx, ctx.request, 1, {"yes": True}, "first")
    assert [line for line, _, _ in ctx.done] == [f"on  online cell {cell}" for cell in cells]


def test_disks_that_were_in_no_disk_group_are_no_loss(tmp_path: Path) -> None:
    """A disk that ASM dropped before, and that names no disk group, is nothing to be told of."""
    ctx: Any = Away(taken_away(tmp_path, *BOTH), "active", "DROPPED")
    ctx.row["asmDiskGroupName"] = ""
    assert bring_back(ctx, ctx, ctx.request, 1, {"yes": True}, "after") is None


def test_cells_that_the_rack_has_no_more_are_not_asked(tmp_path: Path) -> None:
    """Of the cells that a change stopped only those that the rack still has are asked, and started."""
    journal = Journal(tmp_path / "journal.db")
    change = journal.begin("t1", {"statement": "s"})
    journal.append("t1", change, [intent("c9", STOP)])
    ctx: Any = Ctx(journal, {"c9": "stopped"})
    assert start_again(ctx, ctx, ctx.request, 1, {"yes": True}, "first") is None
    assert ctx.done == []
