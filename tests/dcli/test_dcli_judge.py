"""What is judged about commands and scripts before they run, without a rack."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from exacell.cellcli.statement import Change, Grant, parse
from exacell.change.dcli import verdict as module
from exacell.change.dcli.hosts import Group, target
from exacell.change.dcli.sequence import left_away, needs_now
from exacell.change.dcli.verdict import Judgement, agree, judge
from exacell.change.racklock import lock_of
from exacell.core.errors import JournalError, RefusedError
from exacell.opaque.findings import Findings
from exacell.opaque.scan import script_findings
from exacell.plan.facts import CellDisk, CellFacts, FlashCache, PmemCache
from exacell.plan.guards.choice import guard_plan
from exacell.plan.model import Plan, Stage, Step
from exacell.session.request import Request
from exacell.transport.capabilities import DCLI, SSH
from tests.plan.plan_factory import grid
from tests.support.every import every
from tests.support.sessions import Session

USED = grid("CD_00_c", size=1)

CHANGES = [
    ("alter griddisk all inactive", True),
    ("alter griddisk all inactive; alter griddisk all active", False),
    ("alter griddisk all inactive; alter cell shutdown services cellsrv; alter cell startup services cellsrv", True),
    ("alter cell shutdown services cellsrv", True),
    ("alter cell shutdown services ms", False),
    ("alter cell shutdown services cellsrv; alter cell shutdown services ms", True),
    ("alter cell shutdown services cellsrv; alter cell startup services cellsrv", False),
    ("alter griddisk all inactive; alter cell restart services cellsrv; alter griddisk all active", False),
    ("alter cell restart services cellsrv", True),
    ("alter cell restart services ms", False),
    ("alter cell comment='x'", False),
    ("grant role x to user y", False),
]


@every(CHANGES)
def test_what_a_script_leaves_behind(changes: str, away: bool) -> None:
    """A script whose last word on grid disks or CELLSRV takes them away leaves the cell without its disks."""

    plans = []
    for text in changes.split("; "):
        statement = parse(text)
        assert isinstance(statement, (Change, Grant))
        facts = {"c": CellFacts(cell="c", grid_disks=(USED,))}
        plans.append(guard_plan("r", facts, statement, text=text, accepted=(), headers=None))
    assert left_away(plans) is away


@pytest.fixture(autouse=True)
def reading(monkeypatch: pytest.MonkeyPatch) -> None:
    """The facts of a group are those that it was made with."""
    monkeypatch.setattr(
        module, "read_facts", lambda session, services, request, *wanted, cells: session.read(*wanted, cells=cells)
    )


def group(*, facts: dict[str, CellFacts] | None = None, read_only: bool = False, **rack: Any) -> Any:
    """Cells of a rack that is reached as a real one, as far as a judgement looks at them."""
    known = {"c1": CellFacts(cell="c1"), "c2": CellFacts(cell="c2")} if facts is None else facts
    found = SimpleNamespace(
        name="r",
        asm={},
        **{"production": False, "opaque": "ask", "write_user": "celladmin", "cells": tuple(known), **rack},
    )
    ctx = SimpleNamespace(
        read_only=read_only,
        read=lambda *_, cells: known,
        fleet=SimpleNamespace(query=lambda *_: SimpleNamespace(good={})),  # CELLSRV of no cell is said to be stopped.
        need_rack=lambda: found,
        rack=found,
        options=SimpleNamespace(dry_run=False, monitor=False, login="", over=lambda _: {}),
        request=Request(),
        journal=SimpleNamespace(note=lambda *_: 1),
        recognition=SimpleNamespace(recognise=lambda targets: None),
        owner=lambda targets: None,
        refuse_closed=lambda targets: None,
        in_production=lambda targets: found.production,
    )
    return SimpleNamespace(
        session=ctx,
        services=ctx,
        request=ctx.request,
        rack=found,
        cells=tuple(known),
        hosts=(),
        targets=(target("n1"),),
        transport=SimpleNamespace(capabilities=SSH),
    )


def judged(
    group: Any,
    *texts: str,
    unread: tuple[str, ...] = (),
    accept: bool = False,
    serial: bool = False,
    paired: bool = False,
    named: bool = False,
) -> Judgement:
    findings = (
        Findings()
        if not texts
        else script_findings(("#!/bin/sh\n" + "".join(f"cellcli -e '{text}'\n" for text in texts)).encode(), "s.sh")
    )
    findings.unread += unread
    call: Any = SimpleNamespace(text="dcli …", flags={})
    return judge(group, findings, call, serial=serial, flags={"accept-opaque": accept}, paired=paired, named=named)


def test_no_text_gives_a_cell_the_name_of_another_one() -> None:
    """What a typed statement may not, dcli's may not."""
    with pytest.raises(RefusedError, match="c1 would have the name of c9, but each cell needs its own"):
        judged(group(facts={"c1": CellFacts(cell="c1")}, cells=("c1", "c9")), "alter cell name=c9")


def test_no_text_closes_the_way_to_a_cell() -> None:
    """A carried text that closes SSH is refused like the same statement typed, for the login that changes cells."""
    with pytest.raises(RefusedError, match="it closes SSH, by which exacell reaches the cell"):
        judged(group(), "alter cell accessLevelPerm=remoteLoginDisabled")
    root_only = "alter cell accessLevelPerm=remoteLoginEnabledRootLoginDisabled"
    assert judged(group(), root_only).changes
    with pytest.raises(RefusedError, match="it closes SSH for root"):
        judged(group(write_user="root"), root_only)


def test_a_read_only_rack_gets_reads_only() -> None:
    """On a read-only rack a CellCLI change is refused by its text; what only reads is not."""
    said = "rack r is read-only, and 'drop flashcache' changes cells; nothing was sent"
    with pytest.raises(RefusedError, match=said) as caught:
        judged(group(read_only=True), "drop flashcache")
    assert caught.value.hint == "set mode rw"
    assert judged(group(read_only=True)) == Judgement()


def test_what_is_unread_is_told() -> None:
    """Accepted opaque work is told as such beside the changes that were read; what is not accepted is named by its cells."""
    assert judged(group(), unread=("x.py",), accept=True).opaque == ("x.py",)
    assert judged(group(), "alter cell comment=x").opaque == ()
    with pytest.raises(RefusedError, match=r"what this does on c\[1-2\]: a \(and 2 more\); nothing was sent") as caught:
        judged(group(), unread=("a", "b", "c"))
    assert caught.value.hint == "exacell --accept-opaque dcli … runs it without a guard"


def test_a_production_rack_runs_unread_work_only_where_its_configuration_names_it() -> None:
    """Programs that the configuration names run on a production rack when they are accepted; others, or unaccepted, do not."""
    assert judged(group(production=True), unread=("fio",), accept=True, named=True).opaque == ("fio",)
    with pytest.raises(RefusedError, match=r"^exacell can't tell what this does on c"):
        judged(group(production=True), unread=("fio",), named=True)
    with pytest.raises(RefusedError, match=r"^rack r is a production rack"):
        judged(group(production=True), unread=("fio",), accept=True)
    with pytest.raises(RefusedError, match=r"^rack r is read-only"):
        judged(group(production=True, read_only=True), unread=("fio",), accept=True, named=True)


def test_a_production_rack_takes_no_change_whose_proof_ages() -> None:
    """On a production rack a script's change whose proof may go stale until its turn comes is refused, with the way to do it;
    what nothing can go stale of is not, nor what its own CellCLI takes upon a look."""
    facts = {"c1": CellFacts(cell="c1", mode="writethrough", flash_cache=cached().flash_cache)}
    said = (
        "rack r is a production rack, and 'drop flashcache' is part of a text: .* in these seconds the cell may change"
    )
    with pytest.raises(RefusedError, match=said) as caught:
        judged(group(facts=facts, production=True), "drop flashcache")
    assert caught.value.hint == "type it in exacell, which checks and sends with one CellCLI: `drop flashcache`"
    assert judged(group(facts=facts, production=True), "alter cell comment=x").wide == ()
    assert judged(group(facts=facts), "drop flashcache").wide == ("drop flashcache",)
    assert judged(group(facts=facts, production=True), "drop flashcache", paired=True).wide == ()
    unable = group(facts=facts, production=True)
    unable.transport = SimpleNamespace(capabilities=DCLI)
    with pytest.raises(RefusedError, match="is a production rack"):
        judged(unable, "drop flashcache", paired=True)
    assert judged(group(facts={}), "drop flashcache").wide == ()
    assert judged(group(facts={}, production=True), "drop flashcache").plans == ()


def cached(mode: str = "writeback", *, status: str = "normal", **changes: Any) -> CellFacts:
    """A cell with a flash cache, not flushed unless told otherwise."""
    cache = FlashCache(name="f", size=1, status=status, degraded=(), cell_disks=())
    return CellFacts(**{"cell": "c1", "mode": mode, "flash_cache": cache, **changes})


FLUSHED = "normal - flushed"
PMEM: dict[str, Any] = {"pmem_mode": "writeback", "pmem_cache": PmemCache(name="p", size=1, status=FLUSHED)}
X = CellDisk(name="X", flash=False, size=1, free=1, status="normal", flush_status="", flush_error="")
SICK = cached(
    flash_cache=FlashCache(name="f", size=1, status="warning", degraded=("FD_00_c1",), cell_disks=("FD_00_c1",))
)
SCRIPTS: list[tuple[CellFacts, tuple[str, ...], str]] = [
    (cached(), ("drop flashcache",), "may hold the only copy"),
    (cached(), ("alter flashcache all cancel flush", "drop flashcache"), "may hold the only copy"),
    (cached("writethrough"), ("drop flashcache", "alter cell flashCacheMode=writeback", "create flashcache all"), ""),
    (cached("writethrough"), ("alter cell flashCacheMode=writeback",), "still has a flash cache"),
    (
        cached("writethrough"),
        ("drop flashcache", "create flashcache all", "alter cell flashCacheMode=writeback"),
        "still has",
    ),
    (
        cached("writethrough"),
        ("drop flashcache", "alter cell flashCacheMode=WriteBack", "create flashcache all", "drop flashcache"),
        "may hold the only copy",
    ),
    (
        cached("writethrough"),
        ("drop flashcache", "alter cell comment=x", "create flashcache all", "drop flashcache"),
        "",
    ),
    (cached("writethrough"), ("grant role x to user y", "drop flashcache"), ""),
    (cached(), ("drop flashlog", "drop flashcache"), "may hold the only copy"),
    (cached("writethrough", flash_cache=None), ("create flashlog all", "alter cell flashCacheMode=writeback"), ""),
    (cached("writethrough", flash_cache=None), ("drop griddisk nix",), ""),
    (
        cached("writethrough", flash_cache=None),
        ("create griddisk all flashdisk prefix=p", "drop griddisk all prefix=p"),
        "",
    ),
    (CellFacts(cell="c1", grid_disks=(USED,)), ("drop griddisk all prefix=data",), "disk group DATA uses it"),
    (cached(status=FLUSHED), ("drop flashcache",), ""),
    (cached(status=FLUSHED), ("alter flashcache all flush", "drop flashcache"), ""),
    (
        cached(status=FLUSHED),
        ("alter flashcache all cancel flush", "drop flashcache"),
        "is normal, not normal - flushed",
    ),
    (cached(status=FLUSHED), ("alter flashcache all size=1G", "drop flashcache"), "is normal, not normal - flushed"),
    (cached(status=FLUSHED), ("drop flashcache", "create flashcache all", "drop flashcache"), "is normal, not normal"),
    (cached(status=FLUSHED, **PMEM), ("drop flashcache",), ""),
    (cached(status=FLUSHED, **PMEM), ("alter pmemcache all flush", "drop flashcache"), ""),
    (
        cached(status=FLUSHED, **PMEM),
        ("alter pmemcache all cancel flush", "drop flashcache"),
        "PMEM cache is normal, not",
    ),
    (
        cached(status=FLUSHED, **PMEM),
        ("drop pmemcache", "alter pmemcache all size=1G", "drop pmemcache"),
        "PMEM cache is normal",
    ),
    (cached(status=FLUSHED, **PMEM), ("drop pmemcache", "drop flashcache"), ""),
    (cached("writethrough"), ("create flashlog all", "drop flashlog"), "after a CREATE FLASHLOG in the same text"),
    (cached("writethrough"), ("create flashlog all", "create flashlog all"), ""),
    (
        cached("writethrough"),
        ("create flashlog all", "grant role x to user y", "drop flashlog"),
        "after a CREATE FLASHLOG",
    ),
    (cached("writethrough"), ("drop flashlog", "create flashlog all"), ""),
    (cached("writethrough", cell_disks=(X,)), ("create flashlog all", "drop celldisk x"), "contents are lost"),
    (cached("writethrough"), ("create celldisk x lun=0_0", "drop celldisk x"), ""),
    (cached("writethrough"), ("import celldisk all", "drop celldisk x"), "after an IMPORT CELLDISK"),
    (cached("writethrough"), ("import celldisk all", "drop griddisk all prefix=p"), "after an IMPORT CELLDISK"),
    (cached("writethrough"), ("import celldisk all", "drop flashcache"), ""),
    (cached("writethrough"), ("import celldisk all", "alter cell comment=x", "drop celldisk x"), "after an IMPORT"),
    (cached("writethrough", cell_disks=(X,)), ("import celldisk all", "alter celldisk x comment=y"), ""),
    (cached("writethrough"), ("alter griddisk all active",), ""),
    (cached("writethrough"), ("create flashlog all", "drop flashcache"), ""),
    (SICK, ("alter flashcache all cancel flush", "alter flashcache all flush"), "FD_00_c1"),
]


@every(SCRIPTS)
def test_each_change_is_judged_behind_those_before_it(fact: CellFacts, texts: tuple[str, ...], said: str) -> None:
    """A script is judged line by line, each by what the lines before it leave: DROP, mode, CREATE may follow each other."""
    made = group(facts={"c1": fact})
    if said:
        with pytest.raises(RefusedError, match=said):
            judged(made, *texts)
    else:
        judged(made, *texts)


NEEDS: list[tuple[tuple[str, ...], list[str]]] = [
    (("drop flashcache",), ["flashcache"]),
    (("drop flashcache", "drop flashlog"), ["flashcache", "flashlogmetric"]),
    (("alter flashcache all flush", "drop flashcache"), []),
    (("drop flashcache", "alter cell flashCacheMode=writethrough", "create flashcache all"), ["flashcache"]),
    (("grant role x to user y", "drop flashlog"), ["flashlogmetric"]),
    (("alter cell comment=x", "drop flashcache"), ["flashcache"]),
]


@pytest.mark.parametrize(("texts", "objects"), NEEDS)
def test_what_must_hold_when_a_script_leaves(texts: tuple[str, ...], objects: list[str]) -> None:
    """Each precondition counts at the start, unless a line before it in the script changes what it is about."""
    plans = judged(group(facts={"c1": cached(status=FLUSHED)}), *texts).plans
    assert [check.object for check in needs_now(plans)["c1"]] == objects


def test_needs_are_each_cells_own() -> None:
    """What the work does on one cell should take no precondition away from another."""
    facts = {"c1": cached(status=FLUSHED), "c2": replace(cached(status=FLUSHED), cell="c2")}
    plans = judged(group(facts=facts), "drop flashcache").plans
    assert {cell: len(checks) for cell, checks in needs_now(plans).items()} == {"c1": 1, "c2": 1}


def test_work_for_database_nodes_alone_asks_no_cell() -> None:
    """CellCLI in a command for hosts that are no cells should be judged without reading any cell."""
    made = group(facts={})
    made.session.read = None
    assert judged(made, "drop flashcache").plans == ()


def test_starting_services_asks_the_cell_nothing() -> None:
    """A cell that answers nothing should still be told to start its services: no facts are read for that."""
    asked: list[tuple[str, ...]] = []
    made = group()
    made.session.read = lambda *wanted, cells: asked.append(wanted) or {c: CellFacts(cell=c) for c in cells}
    assert len(judged(made, "alter cell startup services all").plans) == 1
    assert asked == [()]


@pytest.mark.parametrize("stopped", [True, False])
def test_a_cell_whose_cellsrv_is_stopped_is_asked_what_it_can_tell(
    monkeypatch: pytest.MonkeyPatch, stopped: bool
) -> None:
    """Where CELLSRV is stopped for a change, the cells are asked for what they can tell then, and nothing else."""
    asked: list[tuple[str, ...]] = []
    made = group()
    made.session.read = lambda *wanted, cells: asked.append(wanted) or {c: CellFacts(cell=c) for c in cells}
    plain = ("list cell attributes name, cellsrvStatus",) if stopped else ()
    monkeypatch.setattr("exacell.change.dcli.verdict.facts_with_cellsrv_stopped", lambda *_: plain)
    judged(made, "alter cell comment=x")
    assert (asked == [plain]) is stopped


def test_what_is_unread_for_hosts_that_are_no_cells_names_them() -> None:
    """Where no cell is among the hosts, the refusal of what can't be read names the hosts."""
    with pytest.raises(RefusedError, match="what this does on n1: a; nothing was sent"):
        judged(group(facts={}), unread=("a",))


AWAY = "alter griddisk all inactive"
LEFT: list[tuple[tuple[str, ...], bool]] = [
    ((AWAY, "alter griddisk c1_disk, c2_disk active"), False),
    ((AWAY, "alter griddisk c2_disk active"), True),
    ((AWAY, "alter griddisk c1_disk active"), False),
    ((AWAY,), True),
]


@pytest.mark.parametrize(("texts", "refused"), LEFT)
def test_only_the_last_cell_may_stay_away(texts: tuple[str, ...], refused: bool) -> None:
    """One after the other, a cell that comes before another one has to have its disks back; the last one need not."""
    facts = {c: CellFacts(cell=c, grid_disks=(replace(USED, name=f"{c}_disk"),)) for c in ("c1", "c2")}
    if refused:
        with pytest.raises(RefusedError, match=r"disks of c\[1-2\] offline together"):
            judged(group(facts=facts), *texts, serial=True)
    else:
        assert judged(group(facts=facts), *texts, serial=True).plans


def test_what_a_script_makes_itself_is_looked_for_where_it_is() -> None:
    """A change of grid disks is planned on the cells that have them; CREATE and all others on every cell."""
    facts = {
        "c1": CellFacts(cell="c1", grid_disks=(replace(USED, asm_mode="UNUSED", asm_group=""),)),
        "c2": CellFacts(cell="c2"),
    }
    for text, targets in (("drop griddisk all prefix=data", ("c1",)), ("create griddisk all prefix=p", ("c1", "c2"))):
        (plan,) = judged(group(facts=facts), text).plans
        assert plan.targets == targets


@pytest.mark.parametrize("serial", [False, True])
def test_two_cells_never_go_offline(serial: bool) -> None:
    """Disks of two cells never go offline together; one cell may, and one after the other where each brings its own back."""
    both = {name: CellFacts(cell=name, grid_disks=(USED,)) for name in ("c1", "c2")}
    for text in ("alter cell restart services cellsrv", "alter griddisk all inactive"):
        with pytest.raises(RefusedError, match=r"disks of c\[1-2\] offline together"):
            judged(group(facts=both), text, serial=serial)
        assert judged(group(facts={"c1": both["c1"]}), text, serial=serial).plans
    returning = ("alter griddisk all inactive", "alter griddisk all active")
    if serial:
        assert len(judged(group(facts=both), *returning, serial=True).plans) == 4
    else:
        with pytest.raises(RefusedError, match="offline together"):
            judged(group(facts=both), *returning)


def test_a_disk_group_goes_by_its_name_only() -> None:
    """What is not read should never take a disk group away because reading it was done without."""
    found = script_findings(b"#!/bin/sh\nsqlplus / as sysasm <<E\ndrop diskgroup data;\nE\n", "x.sh")
    call: Any = SimpleNamespace(text="dcli …", flags={})
    target = group()
    with pytest.raises(RefusedError, match="data would be lost on DATA"):
        judge(target, found, call, serial=False, flags={"accept-opaque": True})
    target.session.options.over = lambda _: {"accept-data-loss": "data"}
    assert judge(target, found, call, serial=False, flags={"accept-opaque": True}).opaque


def test_nobody_is_asked_for_what_is_refused_then(tmp_path: Path) -> None:
    """A lock that somebody else holds, and a journal that can't take the change, are said instead of the question."""
    rack = Session(tmp_path)
    steps = (Step(target="c1", what="w", statement="ALTER CELL"),)
    work = Judgement(plans=(Plan(statement="alter cell", rack="r", stages=(Stage(title="t", steps=steps),)),))

    def asked() -> None:
        agree(
            Group(session=rack.session, services=rack.services, request=rack.request, targets=(target("c1"),)), work, {}
        )

    with pytest.raises(RefusedError, match="not confirmed; nothing was sent"):
        asked()
    assert rack.console.questions == ["proceed?"]
    holder = {"user": "maria", "host": "elsewhere", "pid": "77", "since": "2026-01-01T00:00:00+00:00", "why": "resize"}
    lock = lock_of(rack.session.need_rack(), rack.session.home.state_dir).path
    lock.write_text(json.dumps({"running": {**holder, "kept": False}}))
    with pytest.raises(RefusedError, match="rack r is locked by maria"):
        asked()
    lock.unlink()
    rack.services.journal.begin("r", {"statement": "s"})
    rack.services.journal.head_path.unlink()
    with pytest.raises(JournalError, match=r"its kept head .* is missing"):
        asked()
    assert rack.console.questions == ["proceed?"]
