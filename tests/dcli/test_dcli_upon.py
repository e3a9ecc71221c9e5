"""Which CellCLI changes in carried text go upon a look by their own CellCLI, and what is said of the others."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from exacell.change.clocks import against_clocks
from exacell.change.dcli.leaving import Leaving
from exacell.change.dcli.sequence import plans_in_order
from exacell.change.dcli.verdict import Judgement, agree, facts_for, single_change, stale_by_then
from exacell.opaque.scan import command_findings
from exacell.plan.facts import build
from exacell.plan.model import Check, Plan, Stage, Step
from tests.support.every import every

ALONE = [
    ("cellcli -e drop flashcache", "drop flashcache"),
    ("cellcli -e 'drop flashcache'", "drop flashcache"),
    ("cellcli -n -x -e drop griddisk all prefix=p", "drop griddisk all prefix=p"),
    ("cellcli -e alter cell flashCacheMode=writethrough;", "alter cell flashCacheMode=writethrough"),
]
OTHERS = [
    ("", "nothing"),
    ("hostname", "no CellCLI"),
    ("sqlplus -S / as sysasm <<E\nselect 1 from dual;\nE\n", "no CellCLI either"),
    ("cellcli -e list cell", "it only reads"),
    ("cellcli -e alter iormplan objective=basic", "nothing of it goes stale"),
    ("cellcli -e 'drop flashcache; create flashcache all'", "two statements"),
    ("cellcli -e drop flashcache; hostname", "another command behind it"),
    ("hostname && cellcli -e drop flashcache", "another command before it"),
    ("cellcli -e drop flashcache | tail -1", "a pipe"),
    ("cellcli -e drop flashcache >/dev/null", "its answer goes elsewhere"),
    ("cellcli -xml -e drop flashcache", "an option that changes what it prints"),
    ("cellcli -m -e drop flashcache", "an option that forbids it"),
    ("cellcli <<EOF\ndrop flashcache\nEOF\n", "a here-document"),
    ("cellcli -e drop $x", "it is unread"),
]


@pytest.mark.parametrize(("text", "statement"), ALONE)
def test_one_change_is_known(text: str, statement: str) -> None:
    """A command that is one cellcli -e with one change which may go stale is that change."""
    assert single_change(text) == statement


@every(OTHERS)
def test_anything_else_is_not_one_change(text: str, why: str) -> None:
    """A command in which something else stands, or nothing can go stale, is not."""
    assert single_change(text) == "", why


def test_what_goes_stale_is_named() -> None:
    """Of the changes in a text those are named whose proof may go stale until their turn comes."""
    text = "cellcli -e 'alter iormplan objective=basic; drop flashcache; alter griddisk all inactive'"
    assert stale_by_then(command_findings(text)) == ("drop flashcache", "alter griddisk all inactive")


NEED = Check(object="flashcache", attribute="status", value="normal - flushed", why="the proof")


def plan(*steps: Step) -> Plan:
    return Plan(statement="s", rack="r", stages=tuple(Stage(title="t", steps=(step,)) for step in steps))


def step(cell: str, statement: str = "DROP FLASHCACHE") -> Step:
    return Step(target=cell, what="w", statement=statement, needs=(NEED,))


def leaving(*steps: Step) -> Leaving:
    return Leaving(group=SimpleNamespace(), judgement=Judgement(), _plans={"c1": (plan(*steps),)})  # type: ignore[arg-type]


def test_the_look_is_that_of_the_cells_own_step() -> None:
    """The one change of a cell goes upon what its step needs; a cell with several steps, or without a plan, has no such look."""
    found = leaving(step("c1"), step("c2", "DROP PMEMCACHE")).upon("c1")
    assert found is not None and found.statement == "DROP FLASHCACHE"
    (asked,) = found.lists
    assert asked.startswith("list flashcache")
    assert found.judge([[{"name": "f", "status": "normal - flushed"}]]).why == ""
    assert "the proof" in found.judge([[{"name": "f", "status": "normal"}]]).why
    assert leaving(step("c1"), step("c1")).upon("c1") is None
    assert leaving(step("c1")).upon("c2") is None


def _group(**ctx: Any) -> Any:
    rack = SimpleNamespace(name="r", cells=("c1",), asm={})
    home = SimpleNamespace(state_dir=None)
    found = SimpleNamespace(home=home, need_rack=lambda: rack, interrupted=None, **ctx)
    return SimpleNamespace(session=found, services=found, rack=rack, cells=("c1",))


@pytest.fixture
def ours(monkeypatch: pytest.MonkeyPatch) -> None:
    """The rack's lock is ours."""
    monkeypatch.setattr("exacell.change.dcli.leaving.lock_in", lambda *_: SimpleNamespace(still_mine=lambda: ""))


@pytest.mark.usefixtures("ours")
def test_work_that_changes_no_cell_asks_none() -> None:
    """Right before work leaves that holds no CellCLI change, or leaves for a host that is no cell, no cell is asked."""
    change = SimpleNamespace(statement=None)
    assert Leaving(group=_group(), judgement=Judgement()).why_not("c1") == ""
    assert Leaving(group=_group(), judgement=Judgement(changes=(change,))).why_not("db01") == ""  # type: ignore[arg-type]


@pytest.mark.usefixtures("ours")
@pytest.mark.parametrize("stopped", [True, False])
def test_a_cell_whose_cellsrv_is_stopped_is_asked_what_it_can_tell(
    monkeypatch: pytest.MonkeyPatch, stopped: bool
) -> None:
    """Right before the work leaves, a cell whose CELLSRV is stopped for it is asked for what it can tell then, nothing else."""
    asked: list[tuple[str, ...]] = []

    def gather(_fleet: object, _query: object, needed: tuple[str, ...], *_: object, **__: object) -> Any:
        asked.append(needed)
        return {}, {"c1": None}

    plain = ("list cell attributes name, cellsrvStatus",) if stopped else ()
    monkeypatch.setattr("exacell.change.dcli.leaving.facts_with_cellsrv_stopped", lambda *_: plain)
    monkeypatch.setattr("exacell.change.dcli.leaving.gather", gather)
    monkeypatch.setattr("exacell.change.dcli.leaving.problem_of", lambda _: "silent")
    changes = tuple(command_findings("cellcli -e drop flashcache").changes)
    work = Leaving(group=_group(fleet=SimpleNamespace(query=print)), judgement=Judgement(changes=changes))
    assert work.why_not("c1") == "silent"
    assert (asked == [plain]) is stopped and asked[0]


DISK = {
    "name": "DATA_CD_00_c1", "cellDisk": "CD_00_c1", "diskType": "HardDisk", "size": "1073741824", "status": "active",
    "asmDiskGroupName": "DATA", "asmModeStatus": "ONLINE", "asmDeactivationOutcome": "Yes",
}  # fmt: skip
CELL = {"name": "c1", "releaseVersion": "19.3.2.0.0", "cellsrvStatus": "running", "flashCacheMode": "writethrough"}


@pytest.mark.usefixtures("ours")
@pytest.mark.parametrize(
    ("before", "now", "why"),
    [
        ("3.6h", "3.6h", ""),
        ("3.6h", "5m", "disk_repair_time of DATA is 5m"),
        ("3.6h", "", "exacell can't find out when ASM drops the disks"),
        ("", "", ""),
    ],
)
def test_asms_clocks_are_read_once_more_for_each_target(
    monkeypatch: pytest.MonkeyPatch, before: str, now: str, why: str
) -> None:
    """Right before a restart in a text leaves for its cell it is held against ASM's clocks as they are then; what was judged
    with one that could not be read goes on without."""
    told = [before]

    def asm(*_: object) -> Any:
        times = {"disk_repair_time": told[0], "failgroup_repair_time": "24h"}
        disk = SimpleNamespace(grid_disk="DATA_CD_00_c1", name="", failgroup="C1", mode="ONLINE")
        group = SimpleNamespace(name="DATA", attributes=times, compatible_asm="19.0.0.0.0")
        return [SimpleNamespace(groups=[group], members=lambda _: [disk])], []

    def gather(_fleet: object, _query: object, needed: tuple[str, ...], *_: object, **__: object) -> Any:
        rows = {"griddisk": (DISK,), "cell": (CELL,)}
        return {"c1": build("c1", needed, [rows.get(text.split()[1], ()) for text in needed])}, {}

    monkeypatch.setattr("exacell.change.clocks.asm_facts", asm)
    monkeypatch.setattr("exacell.change.dcli.leaving.facts_with_cellsrv_stopped", lambda *_: ())
    monkeypatch.setattr("exacell.change.dcli.leaving.gather", gather)
    monkeypatch.setattr("exacell.change.dcli.leaving.with_asm_sizes", lambda session, services, facts, _: facts)
    monkeypatch.setattr("exacell.change.dcli.leaving.failed_on_cells", lambda *_: {})
    changes = tuple(command_findings("cellcli -e alter cell restart services cellsrv").changes)
    group = _group(fleet=SimpleNamespace(query=print))
    group.request = SimpleNamespace(read_timeout=1.0)
    facts, _ = gather(None, None, facts_for(changes))
    plans = plans_in_order("r", facts, changes, accepted=(), headers=None)
    held = tuple(against_clocks(group.session, group.services, group.request, plan, facts) for plan in plans)
    told[0] = now
    said = Leaving(group=group, judgement=Judgement(changes=changes, plans=held)).why_not("c1")
    assert why in said and bool(said) is bool(why)


@pytest.mark.parametrize(("login", "chosen"), [("x", [""]), ("joe", ["joe"]), ("cellmonitor", [])])
def test_whether_its_login_gets_in_is_asked_before_anybody_agrees(
    monkeypatch: pytest.MonkeyPatch, login: str, chosen: list[str]
) -> None:
    """Before changes are agreed to, their cells are asked whether the login gets in; a reader's is told by each cell itself."""
    tried: list[tuple[tuple[str, ...], str]] = []
    monkeypatch.setattr(
        "exacell.change.dcli.verdict.refuse_writer", lambda session, services, cells, user: tried.append((cells, user))
    )
    session = SimpleNamespace(in_production=lambda hosts: False)
    rack = SimpleNamespace(opaque="allow")
    group: Any = SimpleNamespace(session=session, services=None, rack=rack, login="x", targets=())
    agree(group, Judgement(plans=(plan(step("c1"), step("c2")),)), {}, login=login)
    assert tried == [(("c1", "c2"), user) for user in chosen]


@pytest.mark.parametrize(
    ("opaque", "production", "flags", "told"),
    [("ask", False, {"yes": True}, 1), ("allow", False, {}, 0), ("allow", True, {"yes": True}, 1)],
)
def test_how_wide_the_moment_is_is_said_first(
    monkeypatch: pytest.MonkeyPatch, opaque: str, production: bool, flags: dict[str, Any], told: int
) -> None:
    """Before such a change goes it is said how long its proof may age, also with -y; not where the rack asks for nothing,
    unless one of its targets is a production rack's."""
    monkeypatch.setattr("exacell.change.dcli.verdict.refuse_writer", lambda *_: None)
    said: list[str] = []
    group: Any = SimpleNamespace(
        session=SimpleNamespace(in_production=lambda hosts: production),
        services=SimpleNamespace(console=SimpleNamespace(say=said.append)),
        rack=SimpleNamespace(opaque=opaque),
        login="x",
        targets=(),
    )
    work = Judgement(plans=(plan(step("c1")),), wide=("drop flashcache",))
    agree(group, work, flags)
    assert len(said) == told
    assert all("'drop flashcache' is part of a text: after the last check of a cell" in line for line in said)
