"""CellCLI's own changing statements: planned and guarded from what is on the cells."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest
from plan_factory import CELLS, cache, cell, disk, free_grid, grid, rack, with_flash_grids

from exacell.cellcli.iorm import parse as parse_iorm
from exacell.cellcli.nodes import Group, Scalar, Setting, Value
from exacell.cellcli.statement import Change, Grant, parse
from exacell.errors import RefusedError
from exacell.plan import facts as f
from exacell.plan.facts import CellFacts, PmemCache
from exacell.plan.flashcache import FLUSHED
from exacell.plan.guard import facts_needed, guard_plan
from exacell.plan.guard_caches import unproven_cache
from exacell.plan.model import Check, Op, Plan, Risk, Step, Undo
from exacell.plan.pmem import PMEM_FLUSHED
from exacell.units import GIB, MIB


def guard(text: str, *facts: CellFacts, accepted: Sequence[str] = (), headers: Mapping[str, str] | None = None) -> Plan:
    statement = parse(text)
    assert isinstance(statement, (Change, Grant))
    cells = {fact.cell: fact for fact in facts or rack().values()}
    return guard_plan("t1", cells, statement, text=text, accepted=accepted, headers=headers)


def only(plan: Plan) -> Step:
    assert len(plan.steps) == 1
    return plan.steps[0]


def flushed(name: str = CELLS[0]) -> CellFacts:
    return cell(name, flash_cache=cache(name, status=FLUSHED))


@pytest.mark.parametrize(
    ("text", "risk"),
    [
        ("create threshold ct_io_wt_r.u warning=1, comparison='>'", Risk.NONE),
        ("drop alerthistory all", Risk.NONE),
        ("drop quarantine all", Risk.NONE),
        ("grant role gd_monitor to user agarcia", Risk.NONE),
        ("create griddisk all flashdisk prefix=ssd, size=16M", Risk.NONE),
        ("create flashcache all size=1G", Risk.PERFORMANCE),
        ("create flashlog all size=512M", Risk.PERFORMANCE),
        ("create celldisk all", Risk.PERFORMANCE),
        ("alter flashcache all cancel flush", Risk.NONE),
        ("alter flashcache all flush nowait", Risk.PERFORMANCE),
        ("alter griddisk DATA_CD_00_exa1cel01 active", Risk.PERFORMANCE),
        ("alter griddisk DATA_CD_00_exa1cel01 cachingPolicy=none", Risk.PERFORMANCE),
        ("alter cell comment='x'", Risk.PERFORMANCE),
        ("alter cell restart services ms", Risk.PERFORMANCE),
        ("alter celldisk all flush", Risk.PERFORMANCE),
    ],
)
def test_harmless_statements_go_to_every_cell(text: str, risk: Risk) -> None:
    """What takes nothing away is sent with the risk that it has, and needs no acceptance."""
    plan = guard(text, cell())
    assert plan.risk is risk
    assert only(plan).statement
    assert not only(plan).needs
    assert not plan.loss


# -- flash cache -----------------------------------------------------------------------------------------------------

LOSING = [
    "drop flashcache",
    "drop flashcache all",
    "alter flashcache all size=20G",
    "alter flashcache celldisk='FD_00_exa1cel01'",
]


@pytest.mark.parametrize("text", LOSING)
def test_write_back_cache_needs_proof(text: str) -> None:
    """A write-back cache that is not proven flushed is not dropped or altered; normal with nothing dirty is no proof."""
    clean = cell(metrics={"FC_BY_DIRTY": (0.0, 1)})
    with pytest.raises(RefusedError, match="may hold the only copy of data") as caught:
        guard(text, clean)
    assert caught.value.hint == "--accept-data-loss=exa1cel01 sends it all the same; -y never does"


@pytest.mark.parametrize("text", LOSING)
def test_proven_cache_goes_with_its_proof_read_again(text: str) -> None:
    """A cache proven flushed may go, and the proof is read again right before."""
    step = only(guard(text, flushed()))
    assert [(n.object, n.attribute, n.value) for n in step.needs] == [("flashcache", "status", FLUSHED)]
    assert step.risk is Risk.PERFORMANCE
    assert step.caching_off is text.startswith("drop")


@pytest.mark.parametrize("text", LOSING)
def test_write_through_cache_needs_none(text: str) -> None:
    """A write-through cache holds no only copy."""
    step = only(guard(text, cell(mode="writethrough")))
    assert step.needs == ()
    assert step.risk is Risk.PERFORMANCE


def test_force_is_never_proven() -> None:
    """FORCE on a write-back cache throws dirty data away even when it says flushed; on write-through it can't."""
    text = "alter flashcache celldisk='FD_00_exa1cel01' force"
    with pytest.raises(RefusedError, match="FORCE throws away dirty data"):
        guard(text, flushed())
    assert guard(text, cell(mode="writethrough")).risk is Risk.PERFORMANCE


def test_accepted_loss_is_by_name_and_cell() -> None:
    """Loss is accepted per cell by its name; a cell that is not named still refuses, and a proven one keeps its proof."""
    with pytest.raises(RefusedError, match=r"drop flashcache: refused on exa1cel\[02-03\]"):
        guard("drop flashcache", accepted=[CELLS[0]])
    plan = guard("drop flashcache", cell(), flushed(CELLS[1]), accepted=["EXA1CEL01"])
    assert plan.risk is Risk.DATA
    assert plan.loss == (CELLS[0],)
    assert [s.risk for s in plan.steps] == [Risk.DATA, Risk.PERFORMANCE]
    assert [bool(s.needs) for s in plan.steps] == [False, True]


def test_unproven_cache() -> None:
    """Only write-through, no cache at all, or normal - flushed are proof."""
    assert unproven_cache(cell(flash_cache=None), force=True) == ""
    assert unproven_cache(cell(mode="writethrough")) == ""
    assert unproven_cache(flushed()) == ""
    for status in ("normal", "normal - flushing", "warning - flushed", ""):
        assert unproven_cache(cell(flash_cache=cache("x", status=status)))


def test_alter_needs_a_cache_everywhere() -> None:
    """ALTER FLASHCACHE is refused where a cell has none; DROP and CREATE are not."""
    facts = (flushed(), cell(CELLS[1], flash_cache=None))
    with pytest.raises(RefusedError, match="exa1cel02 has no flash cache"):
        guard("alter flashcache all size=1G", *facts)
    assert [len(s.needs) for s in guard("drop flashcache", *facts).steps] == [1, 0]


def test_raw_flush_warns_that_caching_stays_off() -> None:
    """A flush by hand is journalled as caching off, with CANCEL FLUSH as its inverse, and says so."""
    plan = guard("alter flashcache all flush", cell())
    assert only(plan).caching_off
    assert only(plan).inverse == "ALTER FLASHCACHE ALL CANCEL FLUSH"
    assert "caching stays off" in plan.warnings[0]
    step = only(guard("alter flashcache all cancel flush", cell()))
    assert step.caching_on
    assert step.proves[0].value == "normal"
    assert only(guard("create flashcache all", cell())).caching_on


# -- flash log -------------------------------------------------------------------------------------------------------


def test_flash_log_goes_only_without_saved_redo() -> None:
    """DROP FLASHLOG needs FL_BY_KEEP to be 0 right before; with FORCE the loss must be accepted."""
    need = only(guard("drop flashlog", cell())).needs[0]
    assert (need.object, need.value, need.where) == ("flashlogmetric", 0, {"name": "FL_BY_KEEP"})
    with pytest.raises(RefusedError, match="redo that is saved on flash only"):
        guard("drop flashlog force", cell())
    assert guard("drop flashlog force", cell(), accepted=[CELLS[0]]).risk is Risk.DATA


# -- grid disks ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "drop griddisk DATA_CD_00_exa1cel01",
        "drop griddisk DATA_CD_00_exa1cel01 force",
        "drop griddisk all prefix=DATA",
        "drop griddisk all harddisk prefix=data",
        "alter griddisk DATA_CD_00_exa1cel01 size=1G",
        "alter griddisk DATA_CD_00_exa1cel01 inactive force",
        "drop celldisk all",
        "drop celldisk CD_00_exa1cel01 force",
        "export celldisk all",
        "create celldisk all force",
    ],
)
def test_disks_that_asm_uses_are_refused_whatever_is_given(text: str) -> None:
    """Grid disks in ASM use are never taken away, not even with the loss accepted."""
    with pytest.raises(RefusedError, match="disk group DATA uses it"):
        guard(text, cell(), accepted=[CELLS[0], "DATA"], headers={})


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("drop griddisk all flashdisk prefix=ssd", {"ssd_FD_00", "ssd_FD_01", "ssd_2_FD_00", "ssd_2_FD_01"}),
        ("drop griddisk all prefix='ssd_2'", {"ssd_2_FD_00", "ssd_2_FD_01"}),
        ("drop griddisk ssd_FD_00_exa1cel01", {"ssd_FD_00"}),
        ("drop griddisk all prefix='ssd_2, nix'", {"ssd_2_FD_00", "ssd_2_FD_01"}),
    ],
)
def test_free_disks_go_and_are_looked_at_again(text: str, names: set[str]) -> None:
    """Free grid disks may go; exactly those that the statement may mean are looked at again right before."""
    fact = with_flash_grids(with_flash_grids(cell()), "ssd_2")
    step = only(guard(text, fact))
    assert step.risk is Risk.REDUNDANCY
    need = step.needs[0]
    assert (need.attribute, need.op, need.value) == ("asmModeStatus", Op.IN, ("UNUSED", "DROPPED"))
    assert {name.removesuffix("_exa1cel01") for name in need.where["name"]} == names
    assert step.expect == len(names)


def test_force_on_free_disks_is_accepted_and_still_looks() -> None:
    """FORCE needs the loss accepted, and even then the disks must still be unused right before."""
    fact = with_flash_grids(cell())
    with pytest.raises(RefusedError, match="FORCE drops grid disks under whoever uses them"):
        guard("drop griddisk all flashdisk prefix=ssd force", fact)
    step = only(guard("drop griddisk all flashdisk prefix=ssd force", fact, accepted=[CELLS[0]]))
    assert step.needs[0].value == ("UNUSED", "DROPPED")
    assert step.risk is Risk.DATA


def test_resizing_free_disks_looks_again() -> None:
    """ALTER GRIDDISK size= of a free disk needs it still unused; other settings need nothing."""
    fact = with_flash_grids(cell())
    assert only(guard("alter griddisk ssd_FD_00_exa1cel01 size=1G", fact)).needs
    assert not only(guard("alter griddisk ssd_FD_00_exa1cel01 comment='x'", fact)).needs
    assert only(guard("alter griddisk all flashdisk comment='x'", fact)).expect == 2
    assert only(guard("alter griddisk all flashdisk comment='x' where size > 1G", fact)).expect == 0


def test_cells_without_such_disks_are_left_out() -> None:
    """Only cells that have the disks are sent anything; when none has, that is an error."""
    plan = guard("drop griddisk ssd_FD_00_exa1cel02", *(with_flash_grids(c) for c in rack().values()))
    assert plan.targets == (CELLS[1],)
    with pytest.raises(RefusedError, match=r"there is no such grid disk on exa1cel\[01-03\]"):
        guard("drop griddisk nix")


def test_inactive_asks_asm() -> None:
    """Used disks go offline only on one cell, only where asmDeactivationOutcome is Yes, and that is read again."""
    step = only(guard("alter griddisk all inactive", cell()))
    (need,) = step.needs
    assert (need.attribute, need.value) == ("asmDeactivationOutcome", "Yes")
    assert step.expect == 2
    assert need.where == {"name": ("DATA_CD_00_exa1cel01", "DATA_CD_01_exa1cel01")}
    assert step.risk is Risk.REDUNDANCY
    bad = cell(
        grid_disks=(grid("CD_00_x"), grid("CD_01_x", deactivation="Cannot de-activate due to other offline disks"))
    )
    with pytest.raises(RefusedError, match=r"DATA_CD_01_x must not go offline .*Cannot de-activate"):
        guard("alter griddisk all inactive", bad)
    unknown = cell(grid_disks=(grid("CD_00_x", deactivation=""),))
    with pytest.raises(RefusedError, match="asmDeactivationOutcome unknown"):
        guard("alter griddisk all inactive", unknown)


def test_other_changes_of_used_disks_go_everywhere() -> None:
    """What takes no disk offline may go to all cells at once."""
    assert guard("alter griddisk all comment='x'").targets == CELLS
    assert guard("alter griddisk all active").targets == CELLS


def test_inactive_never_on_two_failure_groups() -> None:
    """Disks of two cells never go offline together; unused ones may, and are looked at again."""
    with pytest.raises(RefusedError, match="failure group") as caught:
        guard("alter griddisk all inactive")
    assert "on exa1cel01" in caught.value.hint
    free = [cell(n, grid_disks=(free_grid(f"FD_00_{n}"),)) for n in CELLS]
    plan = guard("alter griddisk all inactive", *free)
    assert plan.targets == CELLS
    assert all(s.needs[0].attribute == "asmModeStatus" for s in plan.steps)


# -- cell ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("verb", ["shutdown", "restart"])
@pytest.mark.parametrize("service", ["cellsrv", "CELLSRV", "all"])
def test_stopping_cellsrv_asks_asm(verb: str, service: str) -> None:
    """CELLSRV stops only where ASM can spare the cell's disks, on one cell at a time, and that is read again."""
    text = f"alter cell {verb} services {service}"
    if verb == "shutdown":
        with pytest.raises(RefusedError, match="failure group"):
            guard(text)
    else:
        # A restart brings the disks back: the cells take turns.
        assert all(step.offline and step.online and step.proves for step in guard(text).steps)
    step = only(guard(text, cell()))
    assert step.offline
    assert step.risk is Risk.REDUNDANCY
    assert step.needs[0].attribute == "asmDeactivationOutcome"
    with pytest.raises(RefusedError, match="must not go offline"):
        guard(text, cell(grid_disks=(grid("CD_00_x", deactivation="No"),)))


def test_a_service_that_is_not_said_is_all_of_them() -> None:
    """A statement without a service, whoever built it, is guarded as one for all services."""
    statement = parse("alter cell shutdown services cellsrv")
    assert isinstance(statement, Change)
    plan = guard_plan("t1", {CELLS[0]: cell()}, replace(statement, argument=""), text="x", accepted=(), headers=None)
    assert only(plan).offline
    assert only(plan).needs


def test_ignore_redundancy_never_stops_two_cells() -> None:
    """Accepting it for one cell is possible, for two failure groups at once it is not."""
    text = "alter cell shutdown services cellsrv ignore redundancy"
    with pytest.raises(RefusedError, match=r"disks of exa1cel\[01-03\] offline together"):
        guard(text, accepted=CELLS)


def test_ignore_redundancy_is_a_loss() -> None:
    """IGNORE REDUNDANCY needs the loss accepted by the cell's name."""
    text = "alter cell shutdown services cellsrv ignore redundancy"
    with pytest.raises(RefusedError, match="IGNORE REDUNDANCY stops the cell"):
        guard(text, cell())
    assert guard(text, cell(), accepted=[CELLS[0]]).risk is Risk.DATA


def test_drop_cell_is_a_loss() -> None:
    """DROP CELL takes everything away."""
    with pytest.raises(RefusedError, match="takes everything on the cell away"):
        guard("drop cell", cell())
    assert guard("drop cell", cell(), accepted=[CELLS[0]]).risk is Risk.DATA


def test_mode_changes_without_a_cache_only() -> None:
    """flashCacheMode changes where there is no cache, which is looked at again; a cache must go first."""
    text = "alter cell flashCacheMode=writeback"
    step = only(guard(text, cell(flash_cache=None)))
    assert [(n.object, n.op) for n in step.needs] == [("flashcache", Op.ABSENT)]
    with pytest.raises(RefusedError, match="may hold the only copy"):
        guard(text, cell())
    with pytest.raises(RefusedError, match="still has a flash cache: drop it first"):
        guard(text, cell(mode="writethrough"))
    with pytest.raises(RefusedError, match="still has a flash cache: drop it first"):
        guard(text, flushed())


# -- cell disks and the rest -----------------------------------------------------------------------------------------


def test_cell_disks_without_used_grid_disks_are_a_loss() -> None:
    """Dropping cell disks loses what is on them, even when nobody uses the grid disks; those are looked at again."""
    fact = with_flash_grids(cell())
    with pytest.raises(RefusedError, match="contents are lost"):
        guard("drop celldisk FD_00_exa1cel01", fact)
    step = only(guard("drop celldisk FD_00_exa1cel01", fact, accepted=[CELLS[0]]))
    assert step.risk is Risk.DATA
    assert step.needs[0].where == {"name": ("ssd_FD_00_exa1cel01",)}


@pytest.mark.parametrize("text", ["alter physicaldisk 20:0 drop for replacement", "drop pmemlog all"])
def test_what_is_not_understood_is_a_loss(text: str) -> None:
    """What exacell can't judge needs the loss accepted."""
    with pytest.raises(RefusedError, match="can't judge what it takes away; nothing was sent"):
        guard(text, cell())
    assert guard(text, cell(), accepted=[CELLS[0]]).risk is Risk.DATA


def test_creating_what_is_not_known_takes_nothing() -> None:
    """CREATE of an object that has no guard of its own takes nothing away, unless it is forced."""
    assert guard("create pmemlog all", cell()).risk is Risk.PERFORMANCE
    statement = parse("create pmemlog all")
    assert isinstance(statement, Change)
    forced = replace(statement, flags=("FORCE",))
    with pytest.raises(RefusedError, match=r"can't judge what it takes away \(FORCE\); nothing was sent"):
        guard_plan("t1", rack(), forced, text="x", accepted=(), headers=None)


# -- PMEM ------------------------------------------------------------------------------------------------------------


def pmem(status: str = "normal", mode: str = "writeback", **changes: Any) -> CellFacts:
    """A cell with a PMEM cache."""
    cache_ = PmemCache(name="exa1cel01_PMEMCACHE", size=1 << 40, status=status)
    return replace(cell(), pmem_mode=mode, pmem_cache=cache_, **changes)


def test_write_back_pmem_needs_proof() -> None:
    """A write-back PMEM cache is dropped only while proven flushed; a write-through one any time."""
    with pytest.raises(RefusedError, match="PMEM cache is normal, not normal - flushed"):
        guard("drop pmemcache", pmem())
    assert only(guard("drop pmemcache", pmem(FLUSHED))).needs[0].value == FLUSHED
    assert not only(guard("drop pmemcache", pmem(mode="writethrough"))).needs
    with pytest.raises(RefusedError, match="FORCE throws away"):
        guard("alter pmemcache celldisk='PM_00' force", pmem(FLUSHED))


@pytest.mark.parametrize(
    ("text", "off", "on"),
    [
        ("alter pmemcache all flush", True, False),
        ("alter pmemcache all flush nowait", True, False),
        ("alter xrmemcache all flush", True, False),
        ("alter pmemcache all cancel flush", False, True),
        ("alter xrmemcache all cancel flush", False, True),
        ("create pmemcache all", False, True),
        ("drop pmemcache", True, False),
        ("drop xrmemcache", False, False),
        ("alter pmemcache all size=1T", False, False),
    ],
)
def test_whether_pmem_caches_afterwards(text: str, off: bool, on: bool) -> None:
    """FLUSH and DROP leave PMEM not caching, CANCEL FLUSH and CREATE bring it back, each under the name that was typed."""
    plan = guard(text, pmem(FLUSHED))
    step = only(plan)
    assert (step.caching_off, step.caching_on) == (off, on)
    assert step.cache == text.split()[1]
    back = (f"alter {step.cache} all cancel flush",) if off and "flush" in text else ()
    assert plan.inverse.get(step.target, ()) == back


def test_flash_behind_write_back_pmem_is_not_proven_alone() -> None:
    """A flushed flash cache may not go while write-back PMEM in front of it is not flushed."""
    flash = cache(CELLS[0], status=FLUSHED)
    with pytest.raises(RefusedError, match="PMEM cache is normal"):
        guard("drop flashcache", pmem(flash_cache=flash))
    objects = [n.object for n in only(guard("drop flashcache", pmem(FLUSHED, flash_cache=flash))).needs]
    assert objects == ["flashcache", "pmemcache"]


PMEM_PROOFS: list[tuple[str, tuple[Check, ...]]] = [
    ("create pmemcache all", ()),
    ("alter pmemcache all flush", (PMEM_FLUSHED,)),
    ("alter pmemcache all flush nowait", ()),
    ("alter pmemcache all cancel flush", ()),
    ("alter xrmemcache all flush", ()),
]


@pytest.mark.parametrize(("text", "proofs"), PMEM_PROOFS)
def test_pmem_statements_that_take_nothing(text: str, proofs: tuple[Check, ...]) -> None:
    """CREATE and the flushes of a PMEM cache need no proof before; FLUSH alone is proven by the status afterwards."""
    step = only(guard(text, pmem()))
    assert step.needs == ()
    assert step.proves == proofs


def test_write_through_pmem_holds_no_only_copy() -> None:
    """Neither FORCE on a write-through PMEM cache nor a flushed flash cache behind it, or behind none, asks for a name."""
    flash = cache(CELLS[0], status=FLUSHED)
    guard("alter pmemcache celldisk='PM_00' force", pmem(mode="writethrough"))
    guard("drop flashcache", pmem(mode="writethrough", flash_cache=flash))
    guard("drop flashcache", replace(pmem(flash_cache=flash), pmem_cache=None))


def test_a_raw_flush_behind_write_back_pmem_says_what_it_waits_for() -> None:
    """The plan warns that PMEM has to be flushed too, on the cells where it is write-back and nowhere else."""
    waits = "it can't end before ALTER PMEMCACHE ALL FLUSH"
    assert [waits in warning for warning in guard("alter flashcache all flush", pmem()).warnings] == [False, True]
    assert len(guard("alter flashcache all flush", cell()).warnings) == 1


def test_a_flush_of_some_cell_disks_is_not_proven_by_the_whole_cache() -> None:
    """The status of the whole flash cache is the proof of ALTER FLASHCACHE ALL FLUSH only."""
    assert only(guard("alter flashcache all flush", cell())).proves
    assert not only(guard("alter flashcache celldisk='FD_00_exa1cel01' flush", cell())).proves


def test_modes_change_only_without_caches() -> None:
    """flashCacheMode and pmemCacheMode are asked for by name while a cache of the kind is left, or PMEM needs it."""
    with pytest.raises(RefusedError, match="still has a PMEM cache"):
        guard("alter cell pmemCacheMode=writethrough", pmem())
    with pytest.raises(RefusedError, match="needs a write-back flash cache"):
        guard("alter cell flashCacheMode=writethrough", pmem(flash_cache=None))
    step = only(guard("alter cell flashCacheMode=writethrough", cell(flash_cache=None)))
    assert (step.needs[0].op, step.proves[0].value) == (Op.ABSENT, "writethrough")


# -- what may be typed -----------------------------------------------------------------------------------------------


def test_what_may_be_asked_is_in_the_plan() -> None:
    """Where somebody may be asked, the plan names what must be typed and why, and nothing else is needed there."""
    statement = parse("drop flashcache")
    assert isinstance(statement, Change)
    plan = guard_plan("t1", {CELLS[0]: cell()}, statement, text="x", accepted=(), headers=None, may_ask=True)
    assert plan.loss == (CELLS[0],)
    assert "may hold the only copy" in plan.loss_reasons[CELLS[0]]
    assert plan.risk is Risk.DATA


# -- raw flush -------------------------------------------------------------------------------------------------------


def test_raw_flush_starts_only_where_it_can_end() -> None:
    """A flush by hand is refused as flush flashcache is, by name and not silently; forced it is a loss."""
    sick = cell(flash_physical=(("FLASH_1_0", "failed"),))
    with pytest.raises(RefusedError, match="FLASH_1_0 is failed"):
        guard("alter flashcache all flush", sick)
    assert guard("alter flashcache all flush", sick, accepted=[CELLS[0]]).risk is Risk.DATA
    assert only(guard("alter flashcache all flush", cell())).proves[0].attribute == "status"


# -- proofs ----------------------------------------------------------------------------------------------------------

PROOFS = [
    ("create flashcache all size=20G", "flashcache", Op.COUNT),
    ("alter flashcache all size=20G", "flashcache", Op.COUNT),
    ("drop flashcache", "flashcache", Op.ABSENT),
    ("create flashlog all", "flashlog", Op.COUNT),
    ("drop flashlog", "flashlog", Op.ABSENT),
    ("create griddisk all flashdisk prefix=p", "griddisk", Op.COUNT),
    ("create griddisk g1 celldisk=FD_00_exa1cel01", "griddisk", Op.COUNT),
    ("drop griddisk ssd_FD_00_exa1cel01", "griddisk", Op.ABSENT),
    ("alter griddisk ssd_FD_00_exa1cel01 inactive", "griddisk", Op.EQ),
    ("alter griddisk all active", "griddisk", Op.EQ),
    ("alter iormplan dbplan=((name=SPOT,share=2))", "iormplan", Op.EQ),
    ("alter cell startup services cellsrv", "service", Op.EQ),
    ("alter cell restart services ms", "service", Op.EQ),
]


@pytest.mark.parametrize(("text", "kind", "op"), PROOFS)
def test_what_can_be_read_back_is(text: str, kind: str, op: Op) -> None:
    """A statement whose end can be seen on the cell carries the proof, so that a lost answer can be settled."""
    fact = with_flash_grids(flushed())
    proofs = only(guard(text, fact)).proves
    assert (proofs[0].object, proofs[0].op) == (kind, op)


EXISTS = Check(object="flashcache", op=Op.COUNT, value=1)
ODD_SIZE = 20 * GIB + 20 * MIB
"""No multiple of 16M on each of two flash disks: a cell may say the size that was asked for, or what it made of it."""

SIZES: list[tuple[str, CellFacts, tuple[int, ...]]] = [
    ("create flashcache all size=20G", cell(), (20 * GIB,)),
    ("create flashcache all size=20500M", cell(), (ODD_SIZE, 20 * GIB)),
    ("alter flashcache all size=20500M", flushed(), (ODD_SIZE, 20 * GIB)),
    ("create flashcache all", cell(), ()),
    ("create flashcache celldisk='FD_00_exa1cel01', size=20G", cell(), ()),
    ("create flashcache all size=20G", cell(cell_disks=(disk("CD_00_exa1cel01"),)), ()),
]
"""Statement, cell, and the sizes that prove it; none where the size isn't said or can't be told from the cell."""


@pytest.mark.parametrize(("text", "fact", "sizes"), SIZES)
def test_a_cache_is_proven_at_its_size(text: str, fact: CellFacts, sizes: tuple[int, ...]) -> None:
    """Where ALL and a size are said, a cache of another size does not pass for the one that was to be made."""
    size = (Check(object="flashcache", attribute="size", op=Op.IN, value=sizes),) if sizes else ()
    assert only(guard(text, fact)).proves == (EXISTS, *size)


@pytest.mark.parametrize("value", [Group(), Scalar(text="much")])
def test_a_size_that_is_none_proves_nothing(value: Value) -> None:
    """A size that can't be read is not compared, whoever built the statement; that the cache is there is still proven."""
    statement = parse("create flashcache all size=20G")
    assert isinstance(statement, Change)
    odd = replace(statement, settings=(Setting(attribute="size", value=value),))
    plan = guard_plan("t1", {CELLS[0]: cell()}, odd, text="x", accepted=(), headers=None)
    assert only(plan).proves == (EXISTS,)


BACK = [
    ("alter flashcache all flush", cell(), {CELLS[0]: ("alter flashcache all cancel flush",)}),
    ("drop flashcache", flushed(), {}),
    ("alter flashcache all size=20G", flushed(), {}),
    ("drop pmemcache", cell(), {}),
]


@pytest.mark.parametrize(("text", "fact", "inverse"), BACK)
def test_a_plan_says_what_takes_it_back(text: str, fact: CellFacts, inverse: dict[str, tuple[str, ...]]) -> None:
    """A flush by hand is taken back on each of its cells by CANCEL FLUSH; what can't be taken back names no statement."""
    assert guard(text, fact).inverse == inverse


# -- IORM ------------------------------------------------------------------------------------------------------------


def test_iorm_plan_keeps_its_inverse() -> None:
    """A dbplan by hand records the old plan as its inverse; cells that differ are warned of."""
    odd = cell(CELLS[1], iorm=parse_iorm(""), iorm_text="")
    plan = guard("alter iormplan dbplan=((name=SPOT,share=1))", cell(), odd)
    first, second = plan.steps
    assert first.inverse == "ALTER IORMPLAN dbplan=" + cell().iorm_text
    assert second.inverse == 'ALTER IORMPLAN dbplan=""'
    assert first.undo is Undo.STATEMENT
    assert [step.changes[0].before for step in plan.steps] == [cell().iorm_text, "-"]
    assert plan.inverse == {
        CELLS[0]: (f"alter iormplan dbplan={cell().iorm_text}",),
        CELLS[1]: ('alter iormplan dbplan=""',),
    }
    unread = guard("alter iormplan dbplan=((name=SPOT,share=1))", cell(iorm=None))
    assert only(unread).inverse == 'ALTER IORMPLAN dbplan=""'
    assert unread.inverse == {CELLS[0]: ('alter iormplan dbplan=""',)}
    assert "different IORM plans" in plan.warnings[0]
    assert not guard("alter iormplan dbplan=((name=SPOT,share=1))", cell()).warnings
    objective = guard("alter iormplan objective=basic", cell(objective="auto"))
    assert [(c.attribute, c.before, c.after) for c in only(objective).changes] == [("objective", "auto", "basic")]
    assert [(c.attribute, c.value) for c in only(objective).proves] == [("objective", "basic")]
    assert objective.inverse == {CELLS[0]: ("alter iormplan objective=auto",)}
    other = only(guard('alter iormplan catplan=""', cell()))
    assert other.undo is Undo.IMPOSSIBLE
    assert not other.changes
    assert other.inverse == "exacell keeps an inverse of dbplan and objective alone"
    assert not guard('alter iormplan catplan=""', cell()).inverse


def test_facts_needed() -> None:
    """A guard asks for what it judges by, and for nothing where a cell may not answer at all."""
    assert f.GRIDDISK in facts_needed(parse("drop griddisk all prefix=x"))
    assert f.FLASHCACHE in facts_needed(parse("drop flashcache"))
    assert f.IORMPLAN in facts_needed(parse('alter iormplan dbplan=""'))
    assert facts_needed(parse("alter cell startup services all")) == ()
    assert facts_needed(parse("grant role x to user y")) == (f.CELL,)
    for text in ("drop griddisk x", "drop flashcache", "drop threshold x", "alter cell comment='x'"):
        assert f.CELL in facts_needed(parse(text))


def test_no_inverse_is_said() -> None:
    """A statement of CellCLI's own says that it can't be undone."""
    step = only(guard("alter cell comment='x'", replace(cell(), iorm=None)))
    assert step.undo is Undo.IMPOSSIBLE
    assert step.inverse
