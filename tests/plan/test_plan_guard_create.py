"""CREATE by hand: what a cell has no disk or no room for is said before the question."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest
from plan_factory import CELLS, cache, cell, disk, grid, rack, with_flash_grids
from plan_guarding import bare, guard, only

from exacell.cellcli.statement import parse
from exacell.core.errors import RefusedError
from exacell.core.units import GIB, MIB
from exacell.plan import facts as f
from exacell.plan.facts import CellFacts
from exacell.plan.guards.choice import facts_needed

ONE, TWO, THREE = CELLS
ON_ONE = f"celldisk=FD_00_{ONE}"
NEWER = "24.1.4.0.0"


def with_disks(**free: int) -> CellFacts:
    """A cell without flash cache whose cell disks have so much free."""
    return bare(cell_disks=tuple(disk(f"{name}_{ONE}", free=size) for name, size in free.items()))


FULL = with_disks(CD_00=0, CD_01=0, FD_00=0, FD_01=0)
HALF = with_disks(CD_00=0, CD_01=GIB, FD_00=0, FD_01=GIB)
SICK = bare(cell_disks=(disk(f"FD_00_{ONE}", status="not present"), disk(f"FD_01_{ONE}")))

REFUSED: dict[str, tuple[str, Sequence[CellFacts], str, str]] = {
    "a cell disk that nobody has": (
        "create griddisk x celldisk=NIX",
        (),
        "there is no cell disk NIX on exa1cel[01-03]",
        "list celldisk",
    ),
    "nearly": (
        f"create griddisk x celldisk=FDD_00_{TWO}",
        (),
        f"there is no cell disk FDD_00_{TWO} on exa1cel[01-03]",
        f"did you mean FD_00_{TWO}",
    ),
    "a part of a cache": (
        f"create flashcache celldisk='FD_00_{ONE},FD_09_{ONE}'",
        (bare(),),
        f"there is no cell disk FD_09_{ONE} on {ONE}",
        "",
    ),
    "a log nowhere": ("create flashlog celldisk='NIX'", (bare(),), f"no cell disk NIX on {ONE}", ""),
    "no room": (
        f"create griddisk x {ON_ONE}, size=2G",
        (cell(),),
        f"{ONE}: FD_00_{ONE} has 1G free, 2G are needed",
        "the flash cache has the space (40G): `resize flashcache size=…` makes room, at most 21G on each flash disk",
    ),
    "no room on a hard disk": (
        f"create griddisk x celldisk=CD_00_{ONE}, size=2G",
        (cell(),),
        f"CD_00_{ONE} has 1G free",
        f"CD_00_{ONE} holds DATA_CD_00_{ONE} (100G, disk group DATA)",
    ),
    "no room without a cache": (
        f"create griddisk x {ON_ONE}, size=32G",
        (bare(),),
        f"FD_00_{ONE} has 23G free",
        "`show griddisk` shows what uses the space",
    ),
    "no free space": (
        f"create griddisk x {ON_ONE}",
        (FULL,),
        f"FD_00_{ONE} has 0 free, less than the 16M of the smallest grid disk",
        "",
    ),
    "a little too little": (
        f"create griddisk x {ON_ONE}",
        (with_disks(FD_00=16 * MIB - 1),),
        "less than the 16M",
        "",
    ),
    "all of a medium": ("create griddisk all flashdisk prefix=p, size=2G", (HALF,), f"FD_00_{ONE} has 0 free", ""),
    "all hard disks": ("create griddisk all harddisk prefix=p, size=2G", (HALF,), f"CD_00_{ONE} has 0 free", ""),
    "one of all": ("create griddisk all flashdisk prefix=p, size=512M", (HALF,), f"FD_00_{ONE} has 0 free", ""),
    "no room beside a cache that is elsewhere": (
        f"create griddisk x {ON_ONE}, size=2G",
        (cell(flash_cache=replace(cache(ONE), cell_disks=(f"FD_01_{ONE}",))),),
        "has 1G free",
        "`show griddisk` shows what uses the space",
    ),
    "all, nothing free": ("create griddisk all flashdisk prefix=p", (FULL,), f"FD_00_{ONE} has 0 free", ""),
    "the second cell": (
        "create griddisk all flashdisk prefix=p, size=2G",
        (bare(), cell(TWO)),
        f"{TWO}: FD_00_{TWO} has 1G free",
        "",
    ),
    "two of a size": ("create griddisk all flashdisk prefix='p,q', size=12G", (bare(),), "24G are needed", ""),
    "two of two sizes": (
        "create griddisk all flashdisk prefix='p,q', size='12G,13G'",
        (bare(),),
        "25G are needed",
        "",
    ),
    "too small": (f"create griddisk x {ON_ONE}, size=15M", (bare(),), "a grid disk has at least 16M", ""),
    "one too small": (
        "create griddisk all flashdisk prefix='p,q', size='1G,15M'",
        (bare(),),
        "a grid disk has at least 16M",
        "",
    ),
    "a disk that is not there": (
        f"create griddisk x {ON_ONE}, size=1G",
        (SICK,),
        f"{ONE}: FD_00_{ONE} is not present, no grid disk can be made on it",
        "repair or replace it",
    ),
    "a disk that is not there among all": ("create griddisk all flashdisk prefix=p", (SICK,), "is not present", ""),
    "a cache": (
        "create flashcache all size=20G",
        (cell(),),
        f"{ONE} has a flash cache of 40G already",
        "`resize flashcache size=20G` flushes",
    ),
    "a cache, no size said": (
        "create flashcache all",
        (cell(),),
        "of 40G already",
        "`resize flashcache size=…` flushes",
    ),
    "no room for a cache": (
        "create flashcache all size=47G",
        (bare(),),
        f"{ONE}: there is room for 46G at most",
        "show griddisk",
    ),
    "the fullest disk counts": (
        "create flashcache all size=4G",
        (with_disks(FD_00=GIB + MIB, FD_01=9 * GIB),),
        "room for 2G at most",
        "",
    ),
    "on one disk": (f"create flashcache {ON_ONE}, size=24G", (bare(),), "room for 23G at most", ""),
    "no free space for a cache": ("create flashcache all", (FULL,), "its flash disks have no free space", ""),
    "a cache too small": ("create flashcache all size=31M", (bare(),), "on 2 disks has at least 32M", ""),
    "a log": (
        "create flashlog all size=256M",
        (bare(flash_log=512 * MIB),),
        "a flash log of 512M already",
        "drop flashlog",
    ),
    "no room for a log": ("create flashlog all", (FULL,), "have no free space", "resize flashcache size=…"),
    "no room for a log there": (f"create flashlog {ON_ONE}", (HALF,), "have no free space", ""),
}


@pytest.mark.parametrize(("text", "facts", "said", "way"), REFUSED.values(), ids=list(REFUSED))
def test_what_can_not_be_made_is_refused(text: str, facts: Sequence[CellFacts], said: str, way: str) -> None:
    """What the cells would say no to is said with their names, disks and figures before anybody is asked."""
    with pytest.raises(RefusedError) as caught:
        guard(text, *facts, accepted=CELLS)
    assert said in caught.value.message and caught.value.message.endswith("nothing was sent")
    assert way in caught.value.hint


MADE: dict[str, tuple[str, Sequence[CellFacts], Sequence[str]]] = {
    "only where its cell disk is": (f"create griddisk x celldisk=FD_00_{TWO}", (), (TWO,)),
    "in any case": (f"create griddisk x celldisk=fd_00_{TWO.upper()}", (), (TWO,)),
    "with each cell's own name": ("create griddisk x_{cell} celldisk=FD_00_{cell}, size=1G", (), CELLS),
    "as large as what is free": (f"create griddisk x {ON_ONE}, size=1G", (cell(),), (ONE,)),
    "rounded down to it": (f"create griddisk x {ON_ONE}, size=1030M", (cell(),), (ONE,)),
    "the smallest": (f"create griddisk x {ON_ONE}, size=16M", (cell(),), (ONE,)),
    "what is left": (f"create griddisk x {ON_ONE}", (with_disks(FD_00=16 * MIB),), (ONE,)),
    "all that have room": ("create griddisk all harddisk prefix=p", (HALF,), (ONE,)),
    "all of which only the cell knows": (
        "create griddisk all flashdisk prefix=p, size=2G",
        (replace(FULL, cell_disks=tuple(d for d in FULL.cell_disks if d.flash), release=NEWER),),
        (ONE,),
    ),
    "two that fit": ("create griddisk all flashdisk prefix='p,q', size='12G,11G'", (bare(),), (ONE,)),
    "a cache on its own cell": (f"create flashcache {ON_ONE}, size=1G", (bare(), bare(TWO)), (ONE,)),
    "a cache of all": ("create flashcache all size=46G", (bare(),), (ONE,)),
    "the smallest cache": ("create flashcache all size=32M", (bare(),), (ONE,)),
    "a cache of all there is": ("create flashcache all", (bare(),), (ONE,)),
    "a log in the last 16M": ("create flashlog all", (with_disks(FD_00=0, FD_01=16 * MIB),), (ONE,)),
    "a cache without flash": ("create flashcache all", (with_disks(CD_00=0),), (ONE,)),
    "a log where some is free": ("create flashlog all", (HALF,), (ONE,)),
    "a log on one disk": (f"create flashlog celldisk='FD_01_{ONE}'", (HALF,), (ONE,)),
    "a log without flash": ("create flashlog all", (with_disks(CD_00=0),), (ONE,)),
    "no status told": (f"create griddisk x {ON_ONE}", (bare(cell_disks=(disk(f"FD_00_{ONE}", status=""),)),), (ONE,)),
}


@pytest.mark.parametrize(("text", "facts", "cells"), MADE.values(), ids=list(MADE))
def test_what_can_be_made_goes_where_it_can(text: str, facts: Sequence[CellFacts], cells: Sequence[str]) -> None:
    """A cell that has the disk and the room gets the statement, and only such a cell."""
    assert guard(text, *facts).targets == tuple(cells)


@pytest.mark.parametrize(
    "text",
    [
        f"create griddisk x {ON_ONE}, size=99G",
        "create griddisk x celldisk=NIX",
        "create griddisk all flashdisk prefix=p",
        "create flashcache all size=99G",
        f"create flashcache celldisk='FD_00_{ONE},NIX'",
        "create flashlog all",
    ],
)
def test_behind_another_statement_of_its_text_the_cell_decides(text: str) -> None:
    """What a text drops or makes before a CREATE is on no cell yet that was read: the cell says whether there is room."""
    for fact in (cell(), FULL):
        assert only(guard(text, replace(fact, read_now=False))).target == ONE


def test_a_flash_log_is_judged_by_its_disks() -> None:
    """CREATE FLASHLOG is planned from the cell disks, too."""
    assert any("celldisk" in need for need in facts_needed(parse("create flashlog all")))
    assert not any("celldisk" in need for need in facts_needed(parse("drop flashlog")))
    assert rack()


@pytest.mark.parametrize(
    "text",
    [
        "create griddisk all flashdisk prefix=DATA, size=512M",
        "create griddisk all flashdisk prefix='new,data', size=512M",
        f"create griddisk data_FD_00_{ONE} {ON_ONE}, size=512M",
        f"create griddisk DATA_FD_00_{{cell}} {ON_ONE.replace(ONE, '{cell}')}, size=512M",
    ],
)
def test_the_prefix_of_disks_on_another_kind_of_disk_is_refused(text: str) -> None:
    """CREATE GRIDDISK makes nothing on flash whose prefix a disk group's grid disks on hard disks have, as carve does not."""
    with pytest.raises(RefusedError) as caught:
        guard(text, bare())
    assert (
        "is the prefix of 2 grid disks of disk group DATA on another kind of disk: DATA_CD_[00-01]"
        in caught.value.message
    )
    assert "use another prefix" in (caught.value.hint or "")


@pytest.mark.parametrize(
    "text",
    [
        "create griddisk all flashdisk prefix=DATA2, size=512M",
        "create griddisk all harddisk prefix=DATA, size=512M",
        f"create griddisk DATA_CD_01_{ONE} celldisk=CD_01_{ONE}, size=512M",
        f"create griddisk DATA_x {ON_ONE}, size=512M",
        f"create griddisk DATA {ON_ONE}, size=512M",
    ],
)
def test_a_prefix_of_the_same_kind_of_disk_or_of_its_own_is_free(text: str) -> None:
    """A prefix that only grid disks on the same kind of disk have, or none, refuses nothing."""
    assert guard(text, bare()).steps


@pytest.mark.parametrize(
    ("text", "fact"),
    [
        ("create griddisk all prefix=DATA, size=512M", bare(release="")),
        (
            f"create griddisk _FD_00_{ONE} {ON_ONE}, size=512M",
            bare(grid_disks=(replace(grid(f"CD_00_{ONE}"), name="odd"),)),
        ),
        (f"create griddisk DATA_XX_99_{ONE} {ON_ONE}, size=512M", bare()),
    ],
    ids=["the cell knows which disks ALL means", "no prefix", "a name of another form"],
)
def test_what_has_no_prefix_of_that_kind_is_not_refused_for_it(text: str, fact: CellFacts) -> None:
    """Where the kind of disk is the cell's to say, or a name has no prefix, nothing is told of other disks' prefix."""
    assert guard(text, fact).steps


def test_disks_of_no_disk_group_keep_their_prefix_too() -> None:
    """The prefix of grid disks that no disk group uses is refused as well, and no disk group is named."""
    with pytest.raises(RefusedError, match="ssd is the prefix of 2 grid disks on another kind of disk: ssd_FD_"):
        guard("create griddisk all harddisk prefix=ssd, size=512M", with_flash_grids(bare()))


def test_the_owner_of_the_space_is_asked_for() -> None:
    """The flash cache is read before CREATE GRIDDISK, so that the refusal can name it as the owner of the space."""
    assert f.FLASHCACHE in facts_needed(parse(f"create griddisk x {ON_ONE}, size=2G"))


def test_full_disks_that_all_passes_over_are_named_and_not_waited_for() -> None:
    """CREATE GRIDDISK ALL without a size says before the question which disks are full, and proves the others alone."""
    plan = guard("create griddisk all harddisk prefix=p", HALF)
    assert plan.warnings == (f"no free space on CD_00_{ONE}, so nothing is created there",)
    assert only(plan).proves[0].where == {"name": (f"p_CD_01_{ONE}",)}
    assert not guard("create griddisk all harddisk prefix=p", with_disks(CD_00=GIB)).warnings
    assert not guard("create griddisk all harddisk prefix=p", with_disks(CD_00=16 * MIB)).warnings
    assert not guard("create griddisk all harddisk prefix=p", replace(HALF, read_now=False)).warnings
