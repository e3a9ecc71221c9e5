"""CellCLI's own statements on grid disks and cell disks: what ASM uses stays."""

from __future__ import annotations

from dataclasses import replace

import pytest
from plan_factory import CELLS, cache, cell, disk, free_grid, grid, rack, with_flash_grids
from plan_guarding import guard, only

from exacell.cellcli.statement import Change, parse
from exacell.core.errors import RefusedError
from exacell.plan.facts import CellFacts
from exacell.plan.guards.griddisks import refuse_active
from exacell.plan.model import Op, Risk, Undo
from tests.support.every import every


@pytest.mark.parametrize(
    "text",
    [
        "drop griddisk DATA_CD_00_exa1cel01",
        "drop griddisk DATA_CD_00_exa1cel01 force",
        "drop griddisk all prefix=DATA",
        "drop griddisk all harddisk prefix=data",
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
    with pytest.raises(RefusedError, match="FORCE drops grid disks that are in use"):
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


def test_an_active_disk_is_not_dropped() -> None:
    """A DROP without FORCE needs disks that are not active, and says that ALTER GRIDDISK … INACTIVE goes before it."""
    fact = with_flash_grids(cell())
    (status,) = [
        check for check in only(guard("drop griddisk ssd_FD_00_exa1cel01", fact)).needs if check.attribute == "status"
    ]
    assert (status.op, status.value, status.where) == (Op.NE, "active", {"name": ("ssd_FD_00_exa1cel01",)})
    assert "`alter griddisk ssd_FD_00_exa1cel01 inactive` first" in status.why
    forced = only(guard("drop griddisk ssd_FD_00_exa1cel01 force", fact, accepted=[CELLS[0]]))
    assert all(check.attribute != "status" for check in forced.needs)


def test_cells_without_such_disks_are_left_out() -> None:
    """Only cells that have the disks are sent anything; when none has, DROP has nothing to do, and all else is an error."""
    plan = guard("drop griddisk ssd_FD_00_exa1cel02", *(with_flash_grids(c) for c in rack().values()))
    assert plan.targets == (CELLS[1],)
    for text in ("drop griddisk nix", "drop griddisk all flashdisk prefix=nix force"):
        plan = guard(text)
        assert all(why.startswith("it has no such grid disk; there are: DATA") for why in plan.done.values())
        assert [*plan.done] == [*CELLS] and not plan.changes_something
    (named,) = guard("drop griddisk nix", cell(CELLS[0])).done.values()
    assert named == "it has no such grid disk; there are: DATA_CD_00_exa1cel01, DATA_CD_01_exa1cel01"
    (prefix,) = guard("drop griddisk all prefix=DATB", cell(CELLS[0])).done.values()
    assert prefix == "it has no such grid disk; did you mean DATA?"
    with pytest.raises(RefusedError, match=r"exa1cel\[01-03\] has no such grid disk"):
        guard("alter griddisk nix comment=x")
    with pytest.raises(RefusedError, match=r"exa1cel\[01-03\] has no such cell disk"):
        guard("alter celldisk nix comment=x")
    assert guard("alter celldisk FD_00_exa1cel02 comment=x").targets == (CELLS[1],)


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("drop celldisk CD_011_exa1cel01", "CD_01_exa1cel01"),
        ("alter celldisk CDD_01_exa1cel01 comment=x", "CD_01_exa1cel01"),
        ("alter griddisk DATTA_CD_01_exa1cel01 comment=x", "DATA_CD_01_exa1cel01"),
        ("drop griddisk DATA_CD_01_exa1cel011", "DATA_CD_01_exa1cel01"),
    ],
)
def test_a_name_that_nearly_is_there_is_asked_about(text: str, meant: str) -> None:
    """Where no cell has the named disks, the refusal offers those that may be meant, the likeliest first."""
    with pytest.raises(RefusedError) as caught:
        guard(text)
    assert caught.value.hint.startswith(f"did you mean {meant}")


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


def test_cell_disks_without_used_grid_disks_are_a_loss() -> None:
    """Dropping cell disks loses what is on them, even when nobody uses the grid disks; those are looked at again."""
    fact = with_flash_grids(cell(flash_cache=None))
    with pytest.raises(RefusedError, match="contents are lost"):
        guard("drop celldisk FD_00_exa1cel01", fact)
    step = only(guard("drop celldisk FD_00_exa1cel01", fact, accepted=[CELLS[0]]))
    assert step.risk is Risk.DATA
    assert step.needs[0].where == {"name": ("ssd_FD_00_exa1cel01",)}


@pytest.mark.parametrize(
    ("text", "proven"),
    [
        ("drop celldisk FD_00_exa1cel01", True),
        ("drop celldisk FD_00_exa1cel01 force", True),
        ("drop celldisk all", False),
        ("drop celldisk FD_00_exa1cel01 erase=1pass", False),
        ("drop celldisk FD_00_exa1cel01 erase=1pass nowait", False),
        ("export celldisk FD_00_exa1cel01", False),
    ],
)
def test_a_dropped_cell_disk_is_looked_for(text: str, proven: bool) -> None:
    """DROP is proven by the cell disks that it names being gone; not where it goes on behind its answer, nor is an EXPORT."""
    fact = with_flash_grids(cell(grid_disks=(), flash_cache=None))
    gone = [check.where for check in only(guard(text, fact, accepted=[CELLS[0]])).proves if check.op is Op.ABSENT]
    assert gone == ([{"name": ("FD_00_exa1cel01",)}] if proven else [])


def test_created_disks_are_dropped_to_take_them_back() -> None:
    """What CREATE GRIDDISK makes is dropped by its inverse, and only where none of it was there before or comes meanwhile."""
    plan = guard("create griddisk all flashdisk prefix=ssd, size=16M", cell())
    step = only(plan)
    assert (plan.risk, step.undo) == (Risk.NONE, Undo.STATEMENT)
    assert plan.inverse == {CELLS[0]: ("release griddisk prefix=ssd",)}
    (need,) = step.needs
    assert (need.object, need.op) == ("griddisk", Op.ABSENT)
    there = guard("create griddisk all flashdisk prefix=SSD, size=16M", with_flash_grids(cell()))
    assert not there.inverse
    assert only(there).undo is Undo.IMPOSSIBLE
    # release takes all disks of a prefix: those that were there before stay. Alone such a CREATE is refused.
    behind = replace(with_flash_grids(cell()), read_now=False)
    assert not guard("create griddisk all harddisk prefix=ssd, size=16M", behind).inverse
    named = guard("create griddisk p_1 celldisk=FD_00_exa1cel01", cell())
    assert named.inverse == {CELLS[0]: ("release griddisk name=p_1",)}
    assert not guard("create griddisk ssd_fd_00_exa1cel01 celldisk=FD_00_exa1cel01", with_flash_grids(cell())).inverse


def test_disks_in_different_states_go_back_to_their_own() -> None:
    """The inverse of INACTIVE names those disks alone that were active; a disk in another state is brought back by nobody."""
    one = (grid("CD_00_exa1cel01"), grid("CD_01_exa1cel01", status="inactive"))
    plan = guard("alter griddisk all inactive", cell(grid_disks=one))
    assert plan.inverse == {CELLS[0]: ("ALTER GRIDDISK DATA_CD_00_exa1cel01 ACTIVE",)}
    strange = (*one, grid("CD_02_exa1cel01", status="not present"))
    step = only(guard("alter griddisk all inactive", cell(grid_disks=strange)))
    assert (step.undo, step.inverse) == (Undo.IMPOSSIBLE, "grid disk DATA_CD_02_exa1cel01 was not present")
    untold = (*one, grid("CD_02_exa1cel01", status=""))
    step = only(guard("alter griddisk all inactive", cell(grid_disks=untold)))
    assert step.inverse == "grid disk DATA_CD_02_exa1cel01 was in no known state"


@pytest.mark.parametrize(("size", "sizes"), [("1G", (1 << 30,)), ("1000M", (1000 << 20, 992 << 20))])
def test_a_size_is_read_back(size: str, sizes: tuple[int, ...]) -> None:
    """Free grid disks that are resized are proven to have that size, or the cell's rounding of it."""
    step = only(guard(f"alter griddisk all flashdisk size={size}", with_flash_grids(cell())))
    assert [(check.attribute, check.value) for check in step.proves] == [("size", sizes)]


BESIDE = [
    # Another cell's disks are none of this one's.
    (
        "alter griddisk DATA_CD_00_exa1cel01,DATA_CD_00_exa1cel02 comment=x",
        "ALTER GRIDDISK DATA_CD_00_{cell} comment=x",
    ),
    ("alter griddisk data_cd_00_EXA1CEL01, DATA_CD_00_exa1cel02 active", "ALTER GRIDDISK DATA_CD_00_{cell} ACTIVE"),
]


@pytest.mark.parametrize(("text", "sent"), BESIDE)
def test_each_cell_gets_the_names_of_its_own_disks(text: str, sent: str) -> None:
    """A statement that names disks of two cells should reach each of them with its own disks alone."""
    plan = guard(text)
    assert {step.target: step.statement for step in plan.steps} == {c: sent.format(cell=c) for c in CELLS[:2]}


@every(
    [
        ("alter griddisk all availableTo=other", "", "ONLINE", "refused"),
        ("alter griddisk all availableTo='other,asm1'", "", "SYNCING", "refused"),
        ("alter griddisk all availableTo=other", "asm1", "ONLINE", "refused"),
        ("alter griddisk all availableTo=asm1", "asm1,other", "OFFLINE", "refused"),
        ("alter griddisk all availableTo='other, ASM1'", "asm1", "ONLINE", "free"),
        ("alter griddisk all availableTo=asm1", "asm1", "ONLINE", "free"),
        ("alter griddisk all availableTo=asm1", "asm1, ", "ONLINE", "free"),
        ("alter griddisk all availableTo=''", "asm1", "ONLINE", "free"),
        ("alter griddisk all availableTo=other", "asm1", "UNUSED", "looked at"),
        ("alter griddisk all availableTo=other", "asm1", "UNKNOWN", "looked at"),
        ("alter griddisk DATA_CD_00_exa1cel01 name=x", "", "ONLINE", "refused"),
        ("alter griddisk DATA_CD_00_exa1cel01 name=x", "", "", "refused"),
        ("alter griddisk DATA_CD_00_exa1cel01 name=x", "", "DROPPED", "looked at"),
        ("alter griddisk DATA_CD_00_exa1cel01 name=x", "", "UNKNOWN", "looked at"),
    ]
)
def test_no_mounted_disk_group_loses_sight_of_its_disks(text: str, available: str, mode: str, end: str) -> None:
    """A new name, or clients that leave somebody out, should wait until no disk group is mounted on the disks."""
    disk = grid("CD_00_exa1cel01", available_to=available, asm_mode=mode)
    fact = cell(grid_disks=(disk,))
    if end == "refused":
        how = "under another name" if "name=" in text else "if it is not available to all its present clients"
        said = f"asmModeStatus {mode or 'unknown'}\\): DATA_CD_00_exa1cel01 would not be found {how}"
        with pytest.raises(RefusedError, match=said):
            guard(text, fact, accepted=[CELLS[0]])
        return
    step = only(guard(text, fact))
    assert bool(step.needs) is (end == "looked at")
    if step.needs:
        assert step.needs[0].value == ("UNUSED", "DROPPED", "UNKNOWN")


WHERE = {
    "name like 'ssd_.*'": 2,
    "name = 'SSD_FD_00_exa1cel01'": 1,
    "name != 'ssd_FD_00_exa1cel01'": -1,
    "cellDisk like 'FD_.*'": 2,
    "cellDisk like 'CD_.*'": -1,
    "diskType = 'FlashDisk'": 2,
    "diskType = 'HardDisk'": -1,
    "name not like 'DATA.*' and name not like 'RECO.*'": 2,
    "status = 'active'": -1,
    "name like 'ssd[.*'": -1,
    "name > 'ssd'": -1,
}


@pytest.mark.parametrize(("where", "count"), WHERE.items())
def test_where_rules_out_what_a_name_can_tell(where: str, count: int) -> None:
    """Disks that a WHERE leaves out by name or place should not be in the way; what else it says should not be relied on."""
    fact = with_flash_grids(cell())
    text = f"alter griddisk all size=1G where {where}"
    if count < 0:
        with pytest.raises(RefusedError, match=r"DATA_CD_00_exa1cel01 would shrink"):
            guard(text, fact, headers={})
        return
    assert len(only(guard(text, fact, headers={})).needs[0].where["name"]) == count


@pytest.mark.parametrize(
    ("text", "fails"),
    [
        ("drop celldisk all flashdisk", False),
        ("drop celldisk all harddisk", True),
        ("drop celldisk all", True),
        ("drop celldisk all pmem", False),
        ("drop celldisk all capacityoptimized flashdisk", False),
        ("export celldisk all", True),
    ],
)
def test_cell_disks_of_another_medium_are_not_in_the_way(text: str, fails: bool) -> None:
    """Disk groups on hard disks should not keep the flash cell disks, whose loss is still to be accepted."""
    unknown = cell(cell_disks=(), mode="writethrough")
    with pytest.raises(RefusedError, match="disk group DATA uses it"):
        guard(text, unknown, headers={})
    with pytest.raises(RefusedError, match="disk group DATA uses it" if fails else "the cell disks' contents are lost"):
        guard(text, cell(mode="writethrough"), headers={})


@pytest.mark.parametrize(
    ("text", "disk"),
    [
        ("drop celldisk FD_01_exa1cel01", "FD_01"),
        ("drop celldisk fd_00_exa1cel01 force", "FD_00"),
        ("drop celldisk all flashdisk", "FD_00"),
        ("drop celldisk all", "FD_00"),
        ("drop celldisk CD_00_exa1cel01", ""),
        ("export celldisk FD_00_exa1cel01", ""),
    ],
)
def test_a_flash_disk_of_a_write_back_cache_is_not_dropped(text: str, disk: str) -> None:
    """It is refused by what to do first, whatever loss is accepted; where the cache is write-through or elsewhere it may go."""
    fact = cell(grid_disks=())
    for other in (replace(fact, mode="writethrough"), replace(fact, flash_cache=cache(CELLS[0], cell_disks=()))):
        assert only(guard(text, other, accepted=[CELLS[0]]))
    if not disk:
        assert only(guard(text, fact, accepted=[CELLS[0]]))
        return
    with pytest.raises(
        RefusedError, match=f"{disk}_exa1cel01 can't be dropped: a write-back flash cache is on it"
    ) as caught:
        guard(text, fact, accepted=[CELLS[0]])
    assert caught.value.hint.startswith("type `on exa1cel01 flush flashcache`, then `drop flashcache`")


@pytest.mark.parametrize("kind", ["griddisk", "celldisk"])
def test_no_two_disks_get_one_name(kind: str) -> None:
    """Not on one cell, and not on several."""
    free = [cell(n, grid_disks=(free_grid(f"FD_00_{n}"), free_grid(f"FD_01_{n}"))) for n in CELLS]
    with pytest.raises(RefusedError, match="would all have the name x, but each needs its own"):
        guard(f"alter {kind} all flashdisk name=x", free[0])
    names = ",".join(f"{'ssd_' if kind == 'griddisk' else ''}FD_00_{n}" for n in CELLS[:2])
    with pytest.raises(RefusedError, match="2 disks would all have the name x"):
        guard(f"alter {kind} {names} name=x", *free[:2])
    one = names.partition(",")[0]
    assert only(guard(f"alter {kind} {one} name=x", free[0])).statement.lower().endswith("name=x")


@pytest.mark.parametrize(("medium", "fails"), [("flashdisk", True), ("harddisk", False)])
def test_a_disk_group_on_flash_keeps_no_hard_disks(medium: str, fails: bool) -> None:
    """Disk groups on flash should not keep the cell disks on hard disks, whose loss is still to be accepted."""
    fact = with_flash_grids(cell(grid_disks=()), asm_mode="ONLINE", asm_group="FAST")
    with pytest.raises(RefusedError, match="disk group FAST uses it" if fails else "the cell disks' contents are lost"):
        guard(f"drop celldisk all {medium}", fact, headers={})


def test_one_statement_does_one_thing() -> None:
    """Attributes and a state in one statement should be two, each judged alone."""
    for text in ("alter griddisk all inactive, comment=x", "alter griddisk all comment=x flush"):
        with pytest.raises(RefusedError, match="one statement sets attributes, another one is for"):
            guard(text, with_flash_grids(cell()))


@pytest.mark.parametrize(
    ("text", "back"),
    [
        ("alter griddisk all flush", "ALTER GRIDDISK ALL CANCEL FLUSH"),
        ("alter griddisk all harddisk flush nowait", "ALTER GRIDDISK ALL HARDDISK CANCEL FLUSH"),
        ("alter griddisk DATA_CD_00_exa1cel01 flush", "ALTER GRIDDISK DATA_CD_00_exa1cel01 CANCEL FLUSH"),
        ("alter celldisk all flashdisk flush", "ALTER CELLDISK ALL FLASHDISK CANCEL FLUSH"),
        ("alter celldisk FD_00_exa1cel01 flush", "ALTER CELLDISK FD_00_exa1cel01 CANCEL FLUSH"),
    ],
)
def test_a_flush_of_single_disks_says_what_ends_it(text: str, back: str) -> None:
    """Disks that were flushed should not stay out of the cache without a word of it."""
    plan = guard(text, cell())
    assert (only(plan).undo, only(plan).inverse, plan.inverse[CELLS[0]]) == (Undo.STATEMENT, back, (back,))
    assert only(plan).caching_off and back in plan.warnings[0]
    ends = only(guard(back, cell()))
    assert ends.caching_on and ends.undo is Undo.NOTHING


def test_what_where_left_to_flush_only_the_cell_knows() -> None:
    """Nothing should be taken back on disks that were perhaps not flushed."""
    step = only(guard("alter griddisk all flush where size > 1G", cell()))
    assert step.undo is Undo.IMPOSSIBLE


@every(
    [
        ("alter griddisk all comment='new'", [("griddisk", "comment", "new")]),
        ("alter griddisk all cachingPolicy=none", [("griddisk", "cachingPolicy", "none")]),
        ("alter griddisk all comment=x where size > 1G", []),
        ("alter celldisk all comment='new'", [("celldisk", "comment", "new")]),
        ("alter celldisk all flashdisk comment='new'", [("celldisk", "comment", "new")]),
        ("create celldisk CD_00_exa1cel01 lun=0_0, comment='new'", []),
        ("import celldisk CD_00_exa1cel01 comment='new'", []),
        (
            "alter cell comment='new', location=here, traceLevel=x",
            [("cell", "comment", "new"), ("cell", "location", "here")],
        ),
        ("alter cell name=new", []),
        ("alter griddisk all comment=(a,b)", []),
        ("alter cell metricHistoryDays=7", [("cell", "metricHistoryDays", 7)]),
        ("alter cell comment=''", [("cell", "comment", None)]),
    ]
)
def test_plain_attributes_are_read_back(text: str, wanted: list[tuple[str, str, object]]) -> None:
    """What an ALTER has set should be seen on the cell, for every object that it means."""
    proofs = only(guard(text, cell())).proves
    assert [(check.object, check.attribute, check.value) for check in proofs] == wanted
    assert all(bool(check.where) is (check.object != "cell") for check in proofs)


def test_a_new_name_is_read_back() -> None:
    """A renamed disk should be looked for under its new name."""
    step = only(guard("alter celldisk CD_00_exa1cel01 name=x, comment=y", cell()))
    assert [(check.op, dict(check.where)) for check in step.proves] == [
        (Op.COUNT, {"name": "x"}),
        (Op.EQ, {"name": ("x",)}),
    ]


def test_the_led_of_a_disk_harms_nobody_and_all_else_goes_cell_by_cell() -> None:
    """Physical disks of two failure groups should never go together, whatever is accepted."""
    assert guard("alter physicaldisk 20:0 serviceled on").risk is Risk.NONE
    text = "alter physicaldisk 20:0 drop for replacement"
    with pytest.raises(RefusedError, match="each cell is a failure group"):
        guard(text, accepted=CELLS)
    with pytest.raises(
        RefusedError, match="DROP FOR REPLACEMENT removes its grid disks and its part of the flash cache"
    ):
        guard(text, cell())
    with pytest.raises(RefusedError, match=r"DROP FOR REPLACEMENT \(FORCE\) removes"):
        guard(f"{text} force", cell())
    assert guard(text, cell(), accepted=[CELLS[0]]).risk is Risk.DATA


def test_a_disk_that_is_brought_back_loses_nothing() -> None:
    """REENABLE brings disks back, on several cells too, and needs nobody's word; with FORCE, or as POWERCYCLE, it does."""
    plan = guard("alter physicaldisk 20:0 reenable")
    assert plan.risk is Risk.PERFORMANCE and plan.targets == CELLS and not plan.loss
    for text in ("alter physicaldisk 20:0 reenable force", "alter physicaldisk 20:0 powercycle"):
        with pytest.raises(RefusedError, match="removes its grid disks"):
            guard(text, cell())


POOLED = {
    "alter griddisk all inactive": "asmDeactivationOutcome unknown",
    "alter griddisk p_CD_00_exa1cel01 name=x": "belongs to the Exascale pool P1",
    "alter griddisk all availableTo=x": "belongs to the Exascale pool P1",
    "alter griddisk all size=1G": "belongs to the Exascale pool P1",
    "drop griddisk all prefix=p force": "belongs to the Exascale pool P1",
    "alter cell restart services cellsrv": "of the Exascale pool P1 must not go offline",
    "alter cell shutdown services cellsrv": "asmDeactivationOutcome unknown",
}


@pytest.mark.parametrize(("text", "said"), POOLED.items())
def test_the_disks_of_a_pool_are_exascales(text: str, said: str) -> None:
    """A grid disk of an Exascale pool should neither go nor go offline, although ASM does not use it."""
    pooled = free_grid("CD_00_exa1cel01", "p", pool="P1", deactivation="")
    with pytest.raises(RefusedError, match=said):
        guard(text, cell(grid_disks=(pooled,)), headers={})


@pytest.mark.parametrize("text", ["alter griddisk all inactive", "alter cell shutdown services all"])
def test_pool_disks_of_two_cells_stay(text: str) -> None:
    """Two cells' disks of a pool should never go offline together, even where each could be spared alone."""
    facts = [cell(name, grid_disks=(free_grid(f"CD_00_{name}", "p", pool="P1"),)) for name in CELLS[:2]]
    with pytest.raises(RefusedError, match="together; each cell is a failure group"):
        guard(text, *facts)
    assert only(guard(text, facts[0])).offline


def test_disks_that_go_are_told_by_size() -> None:
    """Before and after should name a few disks, count more of them, and keep sizes apart."""
    few = with_flash_grids(cell())
    dropped = only(guard("drop griddisk all prefix=ssd", few)).changes
    assert [(c.name, c.before, c.after) for c in dropped] == [("ssd_FD_00_exa1cel01,ssd_FD_01_exa1cel01", "512M", "-")]
    sizes = [1, 1, 1, 2]
    disks = tuple(free_grid(f"FD_0{n}_x", "q", size=size << 30) for n, size in enumerate(sizes))
    dropped = only(guard("drop griddisk all prefix=q", cell(grid_disks=disks))).changes
    assert [(c.name, c.before) for c in dropped] == [("3 disks", "1G"), ("q_FD_03_x", "2G")]


def test_disks_that_asm_has_dropped_are_told_as_dropped() -> None:
    """ACTIVE brings them back on the cell and not into their group; what ASM still has is proven not to be dropped."""
    gone = grid("CD_00_exa1cel01", status="inactive", asm_mode="DROPPED")
    away = grid("CD_01_exa1cel01", status="inactive", asm_mode="OFFLINE")
    plan = guard("alter griddisk all active", cell(grid_disks=(gone, away)), headers={})
    assert plan.warnings[-1].startswith("exa1cel01: ASM has dropped 1 of its grid disks for good")
    (proof,) = (check for check in only(plan).proves if check.attribute == "asmModeStatus")
    assert (proof.op, proof.value, proof.where) == (Op.NE, "DROPPED", {"name": (away.name,)})
    assert "ADD DISK adds it again" in proof.why
    assert not guard("alter griddisk all active", cell(grid_disks=(away,)), headers={}).warnings


def test_only_what_is_brought_back_is_told_as_dropped() -> None:
    """Disks that ASM has dropped are named where ACTIVE would seem to bring them back, and not where they go."""
    gone = cell(grid_disks=(grid("CD_00_exa1cel01", asm_mode="DROPPED", status="inactive"), grid("CD_01_exa1cel01")))
    back = guard("alter griddisk all active", gone)
    assert any("ASM has dropped 1 of its grid disks for good" in line for line in back.warnings)
    assert not any("has dropped" in line for line in guard("alter griddisk all inactive", gone).warnings)


def drop(text: str, *facts: CellFacts) -> None:
    statement = parse(text)
    assert isinstance(statement, Change)
    refuse_active({fact.cell: fact for fact in facts}, statement, text)


ACTIVE = [
    ("drop griddisk ssd_FD_00_exa1cel01", "release griddisk name=ssd_FD_00_exa1cel01` deactivates and drops it"),
    ("drop griddisk all prefix=ssd", "release griddisk prefix=ssd` deactivates and drops them"),
    (f"drop griddisk {','.join(f'ssd_FD_0{n}_exa1cel01' for n in range(3))}", "`alter griddisk … inactive` first"),
]


@pytest.mark.parametrize(("text", "way"), ACTIVE)
def test_an_active_disk_is_refused_with_the_statement_for_it(text: str, way: str) -> None:
    """DROP GRIDDISK of an active disk is refused with the statement that drops it, if there is one."""
    many = with_flash_grids(cell(cell_disks=tuple(disk(f"FD_0{n}_exa1cel01") for n in range(3))))
    with pytest.raises(RefusedError, match="CellCLI drops only inactive grid disks; nothing was sent") as caught:
        drop(text, many)
    assert way in caught.value.hint


ONE, TWO = (f"ssd_FD_0{n}_exa1cel01" for n in range(2))
TOLD_ACTIVE: list[tuple[str, int, str, str]] = [
    (
        f"drop griddisk {ONE}",
        1,
        f"on exa1cel01: {ONE} is active",
        f"`release griddisk name={ONE}` deactivates and drops it",
    ),
    (
        f"drop griddisk {ONE},{TWO}",
        1,
        "_exa1cel01 are active",
        f"`release griddisk name={ONE},{TWO}` deactivates and drops them",
    ),
    (
        "drop griddisk ssd_FD_00_exa1cel01,ssd_FD_00_exa1cel02",
        2,
        "on exa1cel[01-02]: ssd_FD_00_{cell} are active",
        "`release griddisk name=ssd_FD_00_{cell}` deactivates and drops them",
    ),
]


@pytest.mark.parametrize(("text", "cells", "said", "way"), TOLD_ACTIVE)
def test_the_active_disks_are_named_on_their_cells(text: str, cells: int, said: str, way: str) -> None:
    """Only cells with active disks are named; disks of several cells are told with ``{cell}`` for the cell's name."""
    active = [with_flash_grids(cell(name, grid_disks=())) for name in CELLS[:cells]]
    others = [with_flash_grids(cell(name, grid_disks=()), status="inactive") for name in CELLS[cells:]]
    with pytest.raises(RefusedError) as caught:
        drop(text, *active, *others)
    assert f"{said}, and CellCLI drops" in caught.value.message
    assert caught.value.hint == way


def test_two_prefixes_are_released_by_name_or_one_by_one() -> None:
    """Where active disks have several prefixes, no prefix alone is offered as the way to drop them."""
    both = with_flash_grids(with_flash_grids(cell(grid_disks=())), "log")
    with pytest.raises(RefusedError) as caught:
        drop("drop griddisk all prefix='ssd, log'", both)
    assert caught.value.hint == "`alter griddisk … inactive` first"


def test_a_longer_prefix_is_not_released_by_the_given_one() -> None:
    """CellCLI may take a prefix for the beginning of a longer one: then the disks are offered by name."""
    with pytest.raises(RefusedError) as caught:
        drop("drop griddisk all prefix=ssd", with_flash_grids(cell(grid_disks=()), "ssd_2"))
    assert caught.value.hint.startswith("`release griddisk name=ssd_2_FD_00_exa1cel01,ssd_2_FD_01_exa1cel01`")


def test_a_disk_without_a_prefix_is_no_suggestion() -> None:
    """A prefix that no disk has is answered with the prefixes that are there, not with those of disks named freely."""
    named = replace(grid("CD_00_exa1cel01"), name="nameless")
    (why,) = guard(
        "drop griddisk all prefix=nix", cell(CELLS[0], grid_disks=(named, grid("CD_01_exa1cel01")))
    ).done.values()
    assert why == "it has no such grid disk; there are: DATA"


@pytest.mark.parametrize(
    "text",
    [
        "drop griddisk all prefix=ssd force",
        "drop griddisk all prefix=ssd prepare",
        "drop griddisk all harddisk prefix=ssd",
        "alter griddisk all size=1G",
    ],
)
def test_what_drops_no_active_disk_is_not_refused_for_it(text: str) -> None:
    """FORCE, PREPARE, other disks and other verbs pass the question for active disks."""
    drop(text, with_flash_grids(cell(grid_disks=())))


def test_an_inactive_disk_may_be_dropped() -> None:
    """DROP GRIDDISK passes where each named disk is inactive."""
    text = "drop griddisk all prefix=ssd"
    drop(text, with_flash_grids(cell(), status="inactive"))
