"""CellCLI's own statements on grid disks and cell disks: what ASM uses stays."""

from __future__ import annotations

import pytest
from plan_factory import CELLS, cell, free_grid, grid, rack, with_flash_grids
from plan_guarding import guard, only

from exacell.errors import RefusedError
from exacell.plan.model import Op, Risk, Undo


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


def test_cell_disks_without_used_grid_disks_are_a_loss() -> None:
    """Dropping cell disks loses what is on them, even when nobody uses the grid disks; those are looked at again."""
    fact = with_flash_grids(cell())
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
    fact = with_flash_grids(cell(grid_disks=()))
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
    # release takes all disks of a prefix: those that were there before stay.
    assert not guard("create griddisk all harddisk prefix=ssd, size=16M", with_flash_grids(cell())).inverse
    named = guard("create griddisk p_1 celldisk=FD_00_exa1cel01", cell())
    assert named.inverse == {CELLS[0]: ("ALTER GRIDDISK p_1 INACTIVE", "DROP GRIDDISK p_1")}
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
