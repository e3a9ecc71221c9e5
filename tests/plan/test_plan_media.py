"""Which disks ALL and its medium mean on a cell, and what is planned, told and read back of them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from plan_factory import CELLS, cell, disk, grid, rack, with_flash_grids
from plan_guarding import guard, only

from exacell.cellcli.statement import Change, parse
from exacell.core.errors import RefusedError
from exacell.plan.facts import CellFacts
from exacell.plan.guards.targets import grids_meant, kinds_meant, rows_meant
from exacell.plan.model import Undo
from tests.support.every import every

OLD, NEW = "23.1.0", "24.1.0"
HARD, FLASH, PMEM = {"harddisk"}, {"flashdisk"}, {"pmem"}
ONLY_FLASH = tuple(disk(f"FD_{n:02}_{CELLS[0]}") for n in range(2))


def change(text: str) -> Change:
    statement = parse(text)
    assert isinstance(statement, Change)
    return statement


MEANT: list[tuple[str, dict[str, Any], set[str] | None]] = [
    ("harddisk", {"release": NEW}, HARD),
    ("pmem", {"release": NEW}, PMEM),
    ("pmem", {"release": OLD}, PMEM),
    ("", {"release": OLD}, HARD | FLASH | PMEM),
    ("flashdisk", {"release": OLD}, FLASH),
    ("", {"release": OLD, "cell_disks": ONLY_FLASH}, HARD | FLASH | PMEM),
    ("", {"release": NEW}, HARD),
    ("flashdisk", {"release": NEW}, FLASH),
    ("performanceoptimized flashdisk", {"release": NEW}, FLASH),
    ("capacityoptimized flashdisk", {"release": NEW}, None),
    # A cell without hard disks may have two kinds of flash, which nothing tells apart.
    ("", {"release": NEW, "cell_disks": ONLY_FLASH}, None),
    ("flashdisk", {"release": NEW, "cell_disks": ONLY_FLASH}, None),
    ("performanceoptimized flashdisk", {"release": NEW, "cell_disks": ONLY_FLASH}, None),
    ("harddisk", {"release": NEW, "cell_disks": ONLY_FLASH}, HARD),
    # An unknown release may be any.
    ("", {"release": ""}, None),
    ("flashdisk", {"release": ""}, None),
    ("harddisk", {"release": ""}, HARD),
]


@every(MEANT)
def test_what_all_means(medium: str, facts: dict[str, Any], kinds: set[str] | None) -> None:
    """From 24.1 on ALL alone means the primary medium; None where only the cell knows."""
    fact = cell(**facts)
    statement = change(f"alter celldisk all {medium} comment=x")
    assert kinds_meant(fact, statement) == kinds
    rows = [
        {"name": "a", "diskType": "HardDisk"},
        {"name": "b", "diskType": "FlashDisk"},
        {"name": "c", "diskType": "PMEM"},
    ]
    found = rows_meant(fact, statement, rows)
    assert found == (None if kinds is None else [row for row in rows if row["diskType"].lower() in kinds])


@pytest.mark.parametrize(
    "text", ["alter celldisk a comment=x", "alter threshold all warning=1", "alter cell comment=x"]
)
def test_what_is_named_or_is_no_disk_has_no_medium(text: str) -> None:
    """All rows count where no medium chooses among them."""
    rows = [{"name": "a"}, {"name": "b"}]
    assert rows_meant(cell(release=NEW), change(text), rows) == rows


def test_grid_disks_are_those_of_the_medium() -> None:
    """Of the disks that a statement may mean, those are meant that lie on its medium; behind a WHERE only the cell knows."""
    fact = with_flash_grids(cell(release=NEW))
    hard, flash = fact.grid_disks[:2], fact.grid_disks[2:]
    assert grids_meant(fact, change("alter griddisk all comment=x"), fact.grid_disks) == hard
    assert grids_meant(fact, change("alter griddisk all flashdisk comment=x"), fact.grid_disks) == flash
    assert grids_meant(fact, change("alter griddisk a comment=x"), flash) == flash
    assert grids_meant(fact, change("alter griddisk all comment=x where size > 1G"), fact.grid_disks) is None


def mixed(release: str) -> CellFacts:
    """A cell with two grid disks on hard disks that nobody uses, and two on flash."""
    fact = with_flash_grids(cell(release=release))
    free = tuple(replace(g, asm_group="", asm_mode="UNUSED") for g in fact.grid_disks)
    return replace(fact, grid_disks=free)


@pytest.mark.parametrize(("release", "count"), [(OLD, 4), (NEW, 2)])
@pytest.mark.parametrize("what", ["comment=x", "inactive", "size=1G"])
def test_only_disks_that_are_meant_are_read_back(release: str, count: int, what: str) -> None:
    """From 24.1 on disks on flash stay as they are under ALL alone: reading them back would call what was done a failure."""
    step = only(guard(f"alter griddisk all {what}", mixed(release)))
    assert step.expect == count
    assert {len(check.where["name"]) for check in step.proves} == {count}


@pytest.mark.parametrize(("release", "count"), [(OLD, 4), (NEW, 2)])
def test_only_cell_disks_that_are_meant_are_read_back(release: str, count: int) -> None:
    """So it is with cell disks, of each medium."""
    step = only(guard("alter celldisk all comment=x", cell(release=release)))
    assert [len(check.where["name"]) for check in step.proves] == [count]
    flash = only(guard("alter celldisk all flashdisk comment=x", cell(release=release)))
    assert [check.where["name"] for check in flash.proves] == [(f"FD_00_{CELLS[0]}", f"FD_01_{CELLS[0]}")]
    named = only(guard(f"alter celldisk FD_00_{CELLS[0]} comment=x", cell(release=release)))
    assert [check.where["name"] for check in named.proves] == [(f"FD_00_{CELLS[0]}",)]


def test_what_only_the_cell_knows_is_not_read_back() -> None:
    """Nothing is expected, proven, told or taken back of disks that perhaps are not meant."""
    fact = cell(
        release=NEW, cell_disks=ONLY_FLASH, grid_disks=(grid(ONLY_FLASH[0].name, asm_mode="UNUSED", asm_group=""),)
    )
    step = only(guard("alter griddisk all flashdisk inactive", fact))
    assert (step.expect, step.proves, step.changes) == (0, (), ())
    assert (step.undo, step.inverse) == (Undo.IMPOSSIBLE, "only the cell knows which disks ALL means")
    assert only(guard("alter celldisk all comment=x", fact)).proves == ()


def test_a_cell_without_such_disks_takes_no_part() -> None:
    """Where only the cell would know what ALL means, and none of its disks could be meant, it gets nothing and hides nothing."""
    bare = cell(CELLS[1], release=NEW, cell_disks=ONLY_FLASH, grid_disks=())
    assert guard("alter griddisk all comment=x", mixed(NEW), bare).targets == (CELLS[0],)
    with pytest.raises(RefusedError, match="has no such grid disk"):
        guard("drop griddisk all prefix=ssd", with_flash_grids(cell(release=NEW)), bare)


def test_inactive_is_taken_back_on_the_disks_that_are_meant() -> None:
    """ACTIVE is for the disks that INACTIVE took, which the plan counts."""
    step = only(guard("alter griddisk all inactive", mixed(NEW)))
    assert step.inverse == f"ALTER GRIDDISK DATA_CD_00_{CELLS[0]},DATA_CD_01_{CELLS[0]} ACTIVE"
    assert [change.name for change in step.changes] == [f"DATA_CD_00_{CELLS[0]},DATA_CD_01_{CELLS[0]}"]


def test_all_that_means_none_of_the_disks_it_seems_to_mean_is_refused() -> None:
    """Someone who drops flash disks with ALL alone learns from what release on that means hard disks."""
    with pytest.raises(RefusedError, match=r"exa1cel01 has no such grid disk: since release 24.1, ALL") as caught:
        guard("drop griddisk all prefix=ssd", with_flash_grids(cell(release=NEW)))
    assert caught.value.hint == "for those on flash, type ALL FLASHDISK"
    assert only(guard("drop griddisk all flashdisk prefix=ssd", with_flash_grids(cell(release=NEW)))).expect == 2
    assert only(guard("drop griddisk all prefix=ssd", with_flash_grids(cell(release=OLD)))).expect == 2


def test_of_mixed_releases_only_cells_with_such_disks_get_it() -> None:
    """A cell on which ALL means none of the disks gets nothing."""
    cells = rack(*CELLS[:2])
    old, new = (with_flash_grids(fact) for fact in cells.values())
    plan = guard("drop griddisk all prefix=ssd", old, replace(new, release=NEW))
    assert [step.target for step in plan.steps] == [CELLS[0]]


def test_disks_on_flash_that_asm_uses_are_refused_under_all() -> None:
    """What the cell might read in ALL more widely than its documentation is refused all the same."""
    used = with_flash_grids(mixed(NEW), prefix="db", asm_group="FLASH", asm_mode="ONLINE")
    with pytest.raises(RefusedError, match="db_FD_00_exa1cel01 would shrink"):
        guard("alter griddisk all size=256M", used, headers={})
