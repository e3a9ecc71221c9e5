"""Plans that take cells away from ASM and bring them back, change the cache's mode, and treat PMEM first."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from plan_factory import CELLS, cache, cell, free_grid, grid, rack, sent, stage, step

from exacell.core.errors import RefusedError
from exacell.core.units import GIB
from exacell.plan.checks import failure
from exacell.plan.facts import CellFacts, PmemCache
from exacell.plan.gate import all_online, offline_cells
from exacell.plan.model import Gate, Op, Plan, Risk
from exacell.plan.planners.availability import (
    SERVICES,
    offline_plan,
    online_plan,
    restart_plan,
)
from exacell.plan.planners.cachemode import mode_plan
from exacell.plan.planners.flashcache import flush_plan, resize_plan
from exacell.plan.rolling import Asked, roll, takes_offline, why_not

ONE = CELLS[0]
NO = "Cannot de-activate due to other offline disks in the diskgroup"
FLUSH, DROP, MAKE = "ALTER FLASHCACHE ALL FLUSH NOWAIT", "DROP FLASHCACHE", "CREATE FLASHCACHE ALL size=40G"
PMEM_FLUSH, PMEM_CANCEL = "ALTER PMEMCACHE ALL FLUSH NOWAIT", "ALTER PMEMCACHE ALL CANCEL FLUSH"


def away(name: str = ONE, **changes: Any) -> CellFacts:
    """A cell whose disks are inactive and missed by ASM."""
    grids = tuple(grid(f"CD_0{n}_{name}", status="inactive", asm_mode="OFFLINE", deactivation=NO) for n in (0, 1))
    return cell(name, grid_disks=grids, **changes)


# -- offline and online ----------------------------------------------------------------------------------------------


def test_offline_cell() -> None:
    """All active grid disks go INACTIVE, proven gone from ASM, each disk's outcome read again right before."""
    plan = offline_plan("t1", cell(), statement="offline cell exa1cel01")
    found = step(plan, "inactive")
    assert found.statement == "ALTER GRIDDISK ALL INACTIVE"
    assert [(n.attribute, n.value) for n in found.needs] == [("asmDeactivationOutcome", "Yes")]
    assert [p.attribute for p in found.proves] == ["status", "asmModeStatus"]
    assert [p.value for p in found.proves] == ["inactive", "OFFLINE"]
    # Where ASM drops them, or their groups are dismounted, it never says OFFLINE: that is not waited for.
    hopes = [(hope.op, hope.value, "no ASM instance" in hope.why) for hope in found.hopes]
    assert hopes == [(Op.NE, "DROPPED", False), (Op.NE, "UNKNOWN", True)]
    assert found.offline
    assert plan.risk is Risk.REDUNDANCY
    assert plan.inverse == {ONE: ("online cell exa1cel01",)}


def test_offline_cell_refuses_with_disk_and_reason() -> None:
    """One disk that ASM can't spare refuses all, naming the disk and what ASM says."""
    fact = cell(grid_disks=(grid("CD_00_exa1cel01"), grid("CD_01_exa1cel01", deactivation=NO)))
    with pytest.raises(RefusedError, match=f"DATA_CD_01_exa1cel01 must not go offline: asmDeactivationOutcome is {NO}"):
        offline_plan("t1", fact, statement="x")


def test_disks_are_named_where_all_means_less() -> None:
    """From 24.1 on ALL means the primary media only, so disks are named; also where not all are meant."""
    new = offline_plan("t1", cell(release="24.1.0.0.0"), statement="x")
    assert step(new, "inactive").statement == "ALTER GRIDDISK DATA_CD_00_exa1cel01,DATA_CD_01_exa1cel01 INACTIVE"
    partly = cell(grid_disks=(grid("CD_00_exa1cel01"), grid("CD_01_exa1cel01", status="inactive", asm_mode="UNUSED")))
    assert sent(offline_plan("t1", partly, statement="x")) == ["ALTER GRIDDISK DATA_CD_00_exa1cel01 INACTIVE"]


def test_unused_disks_take_no_mirror_away() -> None:
    """Disks of no disk group go inactive without a risk, and are looked at again."""
    plan = offline_plan("t1", cell(grid_disks=(free_grid("FD_00_exa1cel01"),)), statement="x")
    assert takes_offline(plan) == ()
    assert step(plan, "inactive").needs[0].attribute == "asmModeStatus"


def test_offline_and_online_change_nothing_twice() -> None:
    """A cell that is offline, or online, already is left alone and says so."""
    assert offline_plan("t1", away(), statement="x").done[ONE]
    assert online_plan("t1", cell(), statement="x").done[ONE]


def test_online_cell() -> None:
    """Inactive disks come back, and ASM is waited for until all used ones are ONLINE."""
    found = step(online_plan("t1", away(), statement="x"), "active")
    assert found.statement == "ALTER GRIDDISK ALL ACTIVE"
    assert [(p.attribute, p.value) for p in found.proves] == [("status", "active"), ("asmModeStatus", "ONLINE")]
    assert found.online
    assert found.within > 3600


def test_online_cell_only_waits_for_a_resync() -> None:
    """Disks that are active and still syncing are waited for without a statement."""
    plan = online_plan("t1", cell(grid_disks=(grid("CD_00_exa1cel01", asm_mode="SYNCING"),)), statement="x")
    assert step(plan, "active").statement == ""
    assert step(plan, "active").proves[-1].value == "ONLINE"


def test_online_cell_starts_a_stopped_cellsrv_first() -> None:
    """With CELLSRV stopped it is started before the disks come back; where the use was unknown, ONLINE or unused is proof."""
    unknown = tuple(grid(f"CD_0{n}_{ONE}", status="inactive", asm_mode="", deactivation="") for n in (0, 1))
    stopped = cell(grid_disks=unknown, cellsrv="stopped")
    proof = step(online_plan("t1", stopped, statement="x"), "active").proves[-1]
    assert proof.value == ("ONLINE", "UNUSED", "DROPPED")
    plan = online_plan("t1", stopped, statement="x")
    assert sent(plan) == ["ALTER CELL STARTUP SERVICES CELLSRV", "ALTER GRIDDISK ALL ACTIVE"]


# -- restart ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("service", SERVICES)
def test_restart(service: str) -> None:
    """MS and RS just restart; CELLSRV and all of them go offline, restart, come back, with mending after a failure."""
    plan = restart_plan("t1", rack(), service=service, statement="x")
    restart = f"ALTER CELL RESTART SERVICES {service.upper()}"
    if service in ("ms", "rs"):
        assert sent(plan) == [restart]
        assert takes_offline(plan) == ()
        return
    assert sent(plan) == ["ALTER GRIDDISK ALL INACTIVE", restart, "ALTER GRIDDISK ALL ACTIVE"]
    mend = next(s for s in plan.stages if s.gate is Gate.MEND)
    assert (mend.mends, mend.unless) == ("inactive", "active")
    assert all(found.online for found in mend.steps)
    assert len(step(plan, "restart").proves) == (3 if service == "all" else 1)


def test_restart_is_refused_during_a_flush() -> None:
    """A restart of CELLSRV would end a flush, so it is refused; one of MS is not."""
    facts = rack(flash_cache=cache(ONE, status="normal - flushing"))
    with pytest.raises(RefusedError, match="stopping CELLSRV would end that"):
        restart_plan("t1", facts, service="cellsrv", statement="x")
    assert restart_plan("t1", facts, service="ms", statement="x").stages


def test_restart_refuses_a_disk_that_asm_needs_but_not_because_of_its_own_cells() -> None:
    """A No refuses the plan at once, unless a cell of the plan is away: that one goes first and the gate judges later."""
    needed = rack(grid_disks=(grid("CD_00_x", deactivation=NO),))
    with pytest.raises(RefusedError, match="must not go offline"):
        restart_plan("t1", needed, service="cellsrv", statement="x")
    plan = restart_plan("t1", {**needed, ONE: away()}, service="cellsrv", statement="x")
    assert "ALTER GRIDDISK ALL ACTIVE" in sent(plan)
    assert "ALTER GRIDDISK ALL INACTIVE" not in sent(plan)


# -- mode ------------------------------------------------------------------------------------------------------------


def mode(to: str, **changes: Any) -> Plan:
    return mode_plan("t1", rack(ONE, **changes), mode=to, statement=f"set flashcache mode={to}")


NEW = "19.3.2.0.0"
OLD = "11.2.3.2.1.130109"
ALTER = "ALTER CELL flashCacheMode="
DOWN = ["ALTER GRIDDISK ALL INACTIVE", "ALTER CELL SHUTDOWN SERVICES CELLSRV"]
UP = ["ALTER CELL STARTUP SERVICES CELLSRV", "ALTER GRIDDISK ALL ACTIVE"]
PROCEDURES = [
    (NEW, "writeback", "writethrough", [FLUSH, DROP, f"{ALTER}writethrough", MAKE]),
    (NEW, "writethrough", "writeback", [DROP, f"{ALTER}writeback", MAKE]),
    ("11.2.3.3.1.140529", "writeback", "writethrough", [FLUSH, DROP, f"{ALTER}writethrough", MAKE]),
    (OLD, "writeback", "writethrough", [FLUSH, DROP, *DOWN, f"{ALTER}writethrough", *UP, MAKE]),
    (OLD, "writethrough", "writeback", [DROP, *DOWN, f"{ALTER}writeback", *UP, MAKE]),
]


@pytest.mark.parametrize(("release", "before", "to", "statements"), PROCEDURES)
def test_mode_by_release(release: str, before: str, to: str, statements: list[str]) -> None:
    """The mode changes by the procedure of the cell's release, the cache at its explicit size again."""
    plan = mode(to, release=release, mode=before)
    assert sent(plan) == statements
    assert plan.inverse == {ONE: (f"set flashcache mode={before}",)}
    assert bool(takes_offline(plan)) is (release == OLD)
    if before == "writeback":
        assert step(plan, "drop").needs[-1].value == "normal - flushed"


def test_old_procedure_is_mended_in_order() -> None:
    """After a failure the old procedure starts CELLSRV, brings the disks back, and the cache, in that order."""
    mends = [s.key for s in mode("writethrough", release=OLD).stages if s.gate is Gate.MEND]
    assert mends == ["startup-again", "active-again", "back", "mend"]


def test_mode_that_is_there_already() -> None:
    """A cell in the mode is left alone; one without the attribute counts as write-through."""
    assert not mode("writeback").stages
    assert not mode("writethrough", mode="").stages


def test_mode_refusals() -> None:
    """No write-back before 11.2.3.2, and no mode change while the cache must not be flushed or ASM needs a disk."""
    with pytest.raises(RefusedError, match="has no write-back"):
        mode("writeback", release="11.2.2.4.2", mode="")
    with pytest.raises(RefusedError, match="FLASH_1_0 is failed"):
        mode("writethrough", flash_physical=(("FLASH_1_0", "failed"),))
    needed = (grid("CD_00_exa1cel01", deactivation=NO),)
    with pytest.raises(RefusedError, match="must not go offline"):
        mode("writethrough", release=OLD, grid_disks=needed)
    assert mode("writethrough", release=NEW, grid_disks=needed).stages


def test_mode_finishes_what_an_attempt_left() -> None:
    """A cell in the mode without a cache gets one of the others' size, or all there is; missed disks come back."""
    bare = cell(mode="writethrough", flash_cache=None)
    plan = mode_plan("t1", {ONE: bare}, mode="writethrough", statement="x", usual=GIB)
    assert sent(plan) == ["CREATE FLASHCACHE ALL size=1G"]
    plan = mode_plan("t1", {ONE: bare}, mode="writethrough", statement="x")
    assert sent(plan) == ["CREATE FLASHCACHE ALL size=2G"]
    missed = away(mode="writethrough")
    assert sent(mode_plan("t1", {ONE: missed}, mode="writethrough", statement="x")) == ["ALTER GRIDDISK ALL ACTIVE"]
    dropped = cell(flash_cache=None)
    plan = mode_plan("t1", {ONE: dropped}, mode="writethrough", statement="x", usual=GIB)
    assert sent(plan) == [f"{ALTER}writethrough", "CREATE FLASHCACHE ALL size=1G"]


def test_disks_that_an_attempt_left_away_come_back_before_another_cell_is_judged() -> None:
    """A No that only says that a cell of the plan is away refuses nothing: that cell gets its disks back in a wave before."""
    two = cell(CELLS[1], release=OLD, grid_disks=(grid("CD_00_x", deactivation=NO),))
    left = {ONE: away(mode="writethrough", release=OLD), two.cell: two}
    plan = mode_plan("t1", left, mode="writethrough", statement="x")
    assert [s.target for s in plan.steps if s.statement.endswith(" ACTIVE")][:2] == [two.cell, ONE]
    waves = roll(plan, Asked(), rack_cells=CELLS, first=offline_cells(left)).rolling
    assert waves is not None and waves.waves == ((ONE,), (two.cell,))
    bare = cell(ONE, mode="writethrough", release=OLD, flash_cache=None)
    for others in ({}, {ONE: bare}):
        with pytest.raises(RefusedError, match="must not go offline"):
            mode_plan("t1", {**others, two.cell: two}, mode="writethrough", statement="x")


# -- PMEM ------------------------------------------------------------------------------------------------------------


def pmem(fact: CellFacts, **changes: Any) -> CellFacts:
    values: dict[str, Any] = {
        "release": "22.1.9.0.0",
        "pmem_mode": "writeback",
        "pmem_cache": PmemCache(name="p", size=1 << 40, status="normal"),
        **changes,
    }
    return replace(fact, **values)


def test_pmem_is_flushed_first_and_caches_again_last() -> None:
    """Flush and resize of flash behind write-back PMEM flush PMEM first, need that for the drop, and re-arm it last."""
    facts = {ONE: pmem(cell())}
    flush = flush_plan("t1", facts, recreate=False, statement="x")
    assert sent(flush) == [PMEM_FLUSH, FLUSH, "ALTER FLASHCACHE ALL CANCEL FLUSH", PMEM_CANCEL]
    resize = resize_plan("t1", facts, size=36 * GIB, statement="x")
    assert sent(resize) == [PMEM_FLUSH, FLUSH, DROP, "CREATE FLASHCACHE ALL size=36G", PMEM_CANCEL]
    assert "pmemcache" in [n.object for n in step(resize, "drop").needs]
    mend = stage(resize, "pmemmend")
    assert (mend.mends, mend.unless) == ("pmemflush", "pmemrearm")


def test_pmem_is_re_armed_whatever_its_flush_came_to() -> None:
    """A degraded PMEM cache, too, caches again behind a flush; flash and PMEM are told apart as caches that are off."""
    plan = flush_plan("t1", {ONE: pmem(cell())}, recreate=False, statement="x")
    for key in ("pmemrearm", "pmemmend"):
        rearm = stage(plan, key).steps[0]
        statuses = rearm.only_if[0].value
        assert {f"{word} - {state}" for word in ("normal", "warning") for state in ("flushing", "flushed")} == {
            *statuses
        }
        assert rearm.proves[0].value == ("normal", "warning", "warning - degraded")
        assert rearm.caching_on and rearm.cache == "pmemcache"
    flushed = step(plan, "pmemflush")
    assert flushed.caching_off and flushed.cache == "pmemcache"
    assert step(plan, "flush").cache == "flashcache"
    assert why_not(plan) == ""
    left = replace(plan, stages=tuple(s for s in plan.stages if s.key != "pmemrearm"))
    assert "it leaves caching off" in why_not(left)


def test_write_through_pmem_needs_nothing() -> None:
    """Write-through PMEM is left alone."""
    facts = {ONE: pmem(cell(), pmem_mode="writethrough")}
    assert PMEM_FLUSH not in sent(resize_plan("t1", facts, size=36 * GIB, statement="x"))


def test_pmem_leaves_write_back_before_flash() -> None:
    """To leave write-back, PMEM is flushed, dropped while flushed, altered and made again before flash is flushed."""
    plan = mode_plan("t1", {ONE: pmem(cell())}, mode="writethrough", statement="x")
    head = [PMEM_FLUSH, "DROP PMEMCACHE", "ALTER CELL pmemCacheMode=writethrough", "CREATE PMEMCACHE ALL"]
    assert sent(plan) == [*head, FLUSH, DROP, f"{ALTER}writethrough", MAKE]
    assert step(plan, "pmemdrop").needs[0].value == "normal - flushed"
    assert [n.object for n in step(plan, "drop").needs] == ["flashcache", "flashcache"]
    assert not [
        s
        for s in mode_plan(
            "t1", {ONE: pmem(cell(mode="writethrough"), pmem_mode="writethrough")}, mode="writeback", statement="x"
        ).stages
        if s.key.startswith("pmem")
    ]


@pytest.mark.parametrize("service", ["cellsrv", "all"])
def test_cellsrv_never_stops_under_active_disks(service: str) -> None:
    """A disk that somebody brings back before CELLSRV restarts keeps it running; other services need nothing."""
    plan = restart_plan("t1", rack(), service=service, statement="x")
    for restart in next(part for part in plan.stages if part.key == "restart").steps:
        (need,) = restart.needs
        rows = [{"name": name, "status": "inactive"} for name in need.where["name"]]
        assert not failure(need, rows)
        assert "griddisk" in failure(need, [*rows[:-1], {**rows[-1], "status": "active"}])
    assert not restart_plan("t1", rack(), service="ms", statement="x").stages[0].steps[0].needs


@pytest.mark.parametrize(
    ("modes", "online"),
    [
        (("ONLINE", "ONLINE"), True),
        (("ONLINE", "UNUSED"), True),
        (("ONLINE", "SYNCING"), False),
        (("ONLINE", "OFFLINE"), False),
        (("ONLINE", "DROPPED"), False),
        (("ONLINE", ""), False),
        ((), False),
    ],
)
def test_all_disks_are_online_when_asm_misses_none(modes: tuple[str, ...], online: bool) -> None:
    """What ASM does not use is not missed, what it has dropped for good is, and a cell without disks shows nothing."""
    grids = [grid(f"CD_0{n}_c1", asm_mode=mode) for n, mode in enumerate(modes)]
    assert all_online(grids) is online
    unused = [grid("CD_09_c1", asm_mode="DROPPED", asm_group="")]
    assert all_online([*grids, *unused]) is (online or not grids)
