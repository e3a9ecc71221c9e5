"""What is judged about commands and scripts before they run, without a rack."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from exacell.cellcli.statement import Change, Grant, parse
from exacell.dcli.judge import Judgement, _left_away, judge
from exacell.dcli.scan import scan_script
from exacell.errors import RefusedError
from exacell.plan.facts import CellFacts, FlashCache, GridDisk
from exacell.plan.guard import guard_plan

USED = GridDisk(
    name="DATA_CD_00_c",
    cell_disk="CD_00_c",
    flash=False,
    size=1,
    status="active",
    available_to="",
    caching_policy="",
    asm_group="DATA",
    asm_mode="ONLINE",
    deactivation="Yes",
    pool="",
)

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


@pytest.mark.parametrize(("changes", "away"), CHANGES)
def test_what_a_script_leaves_behind(changes: str, away: bool) -> None:
    """A script whose last word on grid disks or CELLSRV takes them away leaves the cell without its disks."""

    plans = []
    for text in changes.split("; "):
        statement = parse(text)
        assert isinstance(statement, (Change, Grant))
        facts = {"c": CellFacts(cell="c", grid_disks=(USED,))}
        plans.append(guard_plan("r", facts, statement, text=text, accepted=(), headers=None))
    assert _left_away(plans) is away


def group(*, facts: dict[str, CellFacts] | None = None, read_only: bool = False, **rack: bool) -> Any:
    """Cells of a rack that is reached as a real one, as far as a judgement looks at them."""
    known = {"c1": CellFacts(cell="c1"), "c2": CellFacts(cell="c2")} if facts is None else facts
    ctx = SimpleNamespace(
        read_only=read_only,
        facts=lambda *_, cells: known,
        accepted_loss=lambda _: (),
        need_rack=lambda: SimpleNamespace(asm={}),
    )
    found = {"production": False, "emulated": False, **rack}
    return SimpleNamespace(ctx=ctx, rack=SimpleNamespace(name="r", **found), cells=tuple(known))


def judged(
    group: Any, *texts: str, unread: tuple[str, ...] = (), accept: bool = False, serial: bool = False
) -> Judgement:
    findings = scan_script("".join(f"cellcli -e {text}\n" for text in texts).encode(), "s.sh")
    findings.unread += unread
    call: Any = None
    return judge(group, findings, call, serial=serial, flags={"accept-opaque": accept})


READ_ONLY: list[tuple[tuple[str, ...], tuple[str, ...], str]] = [
    (("drop flashcache",), (), "rack r is read-only, and 'drop flashcache' is no read"),
    (("drop flashcache",), ("x.py",), "rack r is read-only, and 'x.py' is no read"),
]


@pytest.mark.parametrize(("texts", "unread", "said"), READ_ONLY)
def test_a_read_only_rack_gets_reads_only(texts: tuple[str, ...], unread: tuple[str, ...], said: str) -> None:
    """On a read-only rack a change, or what can't be read, is refused by its text; what only reads is not."""
    with pytest.raises(RefusedError, match=said) as caught:
        judged(group(read_only=True), *texts, unread=unread, accept=True)
    assert caught.value.hint == "set mode rw"
    assert judged(group(read_only=True)) == Judgement()


UNREAD: list[tuple[dict[str, bool], bool, str]] = [
    ({"production": True}, False, "rack r is a production rack, and exacell can't tell what 'x.py' does"),
    ({"production": True}, True, "rack r is a production rack, and exacell can't tell what 'x.py' does"),
    ({"production": True, "emulated": True}, True, "rack r is a production rack"),
    ({}, False, r"exacell can't tell what 'x.py' does on c\[1-2\]"),
]


@pytest.mark.parametrize(("rack", "accept", "said"), UNREAD)
def test_what_cannot_be_read_is_refused(rack: dict[str, bool], accept: bool, said: str) -> None:
    """Opaque work is refused on a production rack whatever is given, and elsewhere unless it was accepted."""
    with pytest.raises(RefusedError, match=f"{said}.*; nothing was sent"):
        judged(group(**rack), unread=("x.py",), accept=accept)


def test_what_may_run_unread() -> None:
    """Accepted opaque work runs, and on an emulated rack any does; it is told as such, and further pieces are counted."""
    assert judged(group(), unread=("x.py",), accept=True).opaque == ("x.py",)
    assert judged(group(emulated=True), unread=("x.py",)).opaque == ("x.py",)
    assert judged(group(), "alter cell comment=x").opaque == ()
    with pytest.raises(RefusedError, match=r"what 'a' \(and 2 more\) does"):
        judged(group(), unread=("a", "b", "c"))


def cached(mode: str = "writeback", **changes: Any) -> CellFacts:
    """A cell with a flash cache that is not flushed."""
    cache = FlashCache(name="f", size=1, status="normal", degraded=(), cell_disks=())
    return CellFacts(**{"cell": "c1", "mode": mode, "flash_cache": cache, **changes})


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
]


@pytest.mark.parametrize(("fact", "texts", "said"), SCRIPTS)
def test_each_change_is_judged_behind_those_before_it(fact: CellFacts, texts: tuple[str, ...], said: str) -> None:
    """A script is judged line by line, each by what the lines before it leave: DROP, mode, CREATE may follow each other."""
    made = group(facts={"c1": fact})
    if said:
        with pytest.raises(RefusedError, match=said):
            judged(made, *texts)
    else:
        judged(made, *texts)


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
