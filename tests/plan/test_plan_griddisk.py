"""Plans that carve grid disks out of free space and give them back; when a grid disk is free."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest
from plan_factory import CELLS, cache, cell, disk, free_grid, grid, rack, sent, stage, step, with_flash_grids, with_free

from exacell.core.cellset import fold
from exacell.core.errors import RefusedError
from exacell.core.units import GIB, MIB
from exacell.plan.asmspace import Keeping
from exacell.plan.facts import CellFacts, GridDisk
from exacell.plan.model import Check, Gate, Op, Plan, Risk, Undo
from exacell.plan.planners.carve import Carving, carve_plan, media_of
from exacell.plan.planners.griddisk import members, refuse_used, release_plan


def carve(*facts: CellFacts, **options: Any) -> Plan:
    values: dict[str, Any] = {
        "prefix": "ssd",
        "media": "flash",
        "keeping": Keeping(redundancy="normal"),
        **options,
    }
    return carve_plan("t1", {f.cell: f for f in facts}, Carving(**values), statement="carve griddisk")


def release(
    *facts: CellFacts,
    headers: Mapping[str, str] | None = None,
    regrow: bool = False,
    prefix: str = "ssd",
    media: str = "",
    names: tuple[str, ...] = (),
) -> Plan:
    return release_plan(
        "t1",
        {f.cell: f for f in facts},
        prefix=prefix,
        headers=headers,
        regrow=regrow,
        media=media,
        names=names,
        statement="release griddisk",
    )


# -- when a grid disk is free ----------------------------------------------------------------------------------------

FREE: list[tuple[str, GridDisk, Mapping[str, str] | None]] = [
    ("unused", free_grid("FD_00_x"), None),
    ("dropped", free_grid("FD_00_x", asm_mode="DROPPED"), None),
    ("former group", free_grid("FD_00_x", asm_group="OLD"), {"ssd_fd_00_x": "FORMER"}),
    ("candidate", free_grid("FD_00_x", asm_group="OLD", asm_mode="DROPPED"), {"ssd_fd_00_x": "CANDIDATE"}),
]

USED: list[tuple[str, GridDisk, Mapping[str, str] | None, str]] = [
    ("online", grid("FD_00_x"), None, r"disk group DATA uses it \(asmModeStatus ONLINE\)"),
    ("online, header former", grid("FD_00_x"), {"data_fd_00_x": "FORMER"}, "disk group DATA uses it"),
    ("unknown", free_grid("FD_00_x", asm_mode="UNKNOWN"), None, r"ASM may use it \(asmModeStatus UNKNOWN\)"),
    ("offline", grid("FD_00_x", asm_mode="OFFLINE"), None, "asmModeStatus OFFLINE"),
    ("no mode", free_grid("FD_00_x", asm_mode=""), None, "asmModeStatus unknown"),
    ("pool", free_grid("FD_00_x", pool="HC1"), {"ssd_fd_00_x": "FORMER"}, "Exascale pool HC1"),
    ("named, nobody asked", free_grid("FD_00_x", asm_group="OLD"), None, "no ASM instance could confirm"),
    ("named, not seen", free_grid("FD_00_x", asm_group="OLD"), {}, r"header not seen"),
    ("named, member", free_grid("FD_00_x", asm_group="OLD"), {"ssd_fd_00_x": "MEMBER"}, r"header MEMBER"),
    ("named, unknown", free_grid("FD_00_x", asm_group="OLD"), {"ssd_fd_00_x": "UNKNOWN"}, r"header UNKNOWN"),
    ("named, provisioned", free_grid("FD_00_x", asm_group="OLD"), {"ssd_fd_00_x": "PROVISIONED"}, "PROVISIONED"),
]


@pytest.mark.parametrize(("found", "headers"), [f[1:] for f in FREE], ids=[f[0] for f in FREE])
def test_free(found: GridDisk, headers: Mapping[str, str] | None) -> None:
    """A grid disk is free when ASM does not use it and it names no group, or every ASM let go of it."""
    assert found.use(headers) == ""
    refuse_used("x", {CELLS[0]: [found]}, headers)


@pytest.mark.parametrize(("found", "headers", "said"), [u[1:] for u in USED], ids=[u[0] for u in USED])
def test_used(found: GridDisk, headers: Mapping[str, str] | None, said: str) -> None:
    """A grid disk that is used, or of which it can't be told, is refused with what is known of it."""
    with pytest.raises(RefusedError, match=said) as caught:
        refuse_used("x", {CELLS[0]: [free_grid("FD_01_x"), found]}, headers)
    assert "more reasons" not in caught.value.message
    assert caught.value.message.startswith(f"x refused on {CELLS[0]}: ")
    if found.asm_group:
        assert f"drop diskgroup {found.asm_group}" in caught.value.hint
    else:
        assert ("escli" if found.pool else "start ASM") in caught.value.hint


def test_used_on_several_cells_is_folded() -> None:
    """All cells with one reason are named together, other reasons are counted, and two groups let go, one lets go."""
    used = {name: [grid(f"FD_00_{name}")] for name in CELLS}
    used[CELLS[2]] = [grid(f"FD_00_{CELLS[2]}", "RECO")]
    with pytest.raises(RefusedError, match=r"refused on exa1cel\[01-02\]: .*\(and 1 more reason\)") as caught:
        refuse_used("x", used, None)
    assert caught.value.hint == "`drop diskgroup DATA` and `drop diskgroup RECO` first"
    with pytest.raises(RefusedError) as caught:
        refuse_used("x", {CELLS[0]: used[CELLS[0]]}, None)
    assert caught.value.hint == "`drop diskgroup DATA` first"


# -- carve -----------------------------------------------------------------------------------------------------------


def test_carve_takes_the_smallest_free_space() -> None:
    """Every disk gets what is free on the fullest disk of all cells, rounded down to 16M, as an explicit size."""
    facts = rack()
    facts[CELLS[1]] = with_free(facts[CELLS[1]], {"FD_01": 700 * MIB})
    plan = carve(*facts.values())
    for name in CELLS:
        assert sent(plan, name) == ["CREATE GRIDDISK ALL FLASHDISK PREFIX=ssd, size=688M"]
    assert "smallest free space: 700M on FD_01_exa1cel02" in plan.notes[0]
    assert "43 × 16M" in plan.notes[0]
    assert "6 grid disks" in plan.notes[1]
    first = step(plan, "create")
    names = ("ssd_FD_00_exa1cel01", "ssd_FD_01_exa1cel01")
    assert first.inverse == f"DROP GRIDDISK {','.join(names)}"
    assert first.needs == (Check(object="griddisk", op=Op.ABSENT, where={"name": names}, why="the name is taken"),)
    assert Check(object="griddisk", attribute="size", value=688 * MIB, where={"name": names}) in first.proves
    assert Check(object="griddisk", op=Op.COUNT, value=2, where={"name": names}) in first.proves
    assert plan.risk is Risk.NONE


def test_carve_size_is_rounded_down() -> None:
    """An explicit size is rounded down to 16M."""
    assert sent(carve(cell(), each=100 * MIB)) == ["CREATE GRIDDISK ALL FLASHDISK PREFIX=ssd, size=96M"]


def test_carve_wakes_what_a_release_left_inactive() -> None:
    """Grid disks that exist and are inactive are activated, and those that are active are left alone."""
    asleep, awake = with_flash_grids(cell(), status="inactive"), with_flash_grids(cell(CELLS[1]))
    plan = carve(asleep, awake)
    assert sent(plan) == ["ALTER GRIDDISK ssd_FD_00_exa1cel01,ssd_FD_01_exa1cel01 ACTIVE"]
    assert sent(plan, CELLS[1]) == []
    assert list(plan.done) == [CELLS[1]]
    assert not carve(awake).stages


@pytest.mark.parametrize(
    ("redundancy", "by_failgroup", "size"),
    [
        ("external", None, "160M"),
        ("normal", None, "368M"),
        ("normal", True, "464M"),
        ("high", None, "688M"),
        ("high", False, "688M"),
    ],
)
def test_carve_usable(redundancy: str, by_failgroup: bool | None, size: str) -> None:
    """usable= counts the copies, ASM's metadata and what stays free for the mirrors, and rounds each disk up."""
    keeping = Keeping(redundancy=redundancy, by_failgroup=by_failgroup)
    plan = carve(*rack().values(), usable=900 * MIB, keeping=keeping)
    assert sent(plan) == [f"CREATE GRIDDISK ALL FLASHDISK PREFIX=ssd, size={size}"]
    assert "36M of ASM's own" in plan.notes[-1] and "rounded up to 16M" in plan.notes[-1]
    assert ("exacell could not find out from a disk group" in plan.notes[-1]) == (
        by_failgroup is None and redundancy != "external"
    )


def test_carve_beside_disks_of_another_kind() -> None:
    """A prefix that grid disks on hard disks have is refused for flash, in any case and whatever cell has them, and named."""
    for prefix, facts in (("DATA", [cell()]), ("data", [cell()]), ("DATA", [cell(grid_disks=()), cell(CELLS[1])])):
        with pytest.raises(RefusedError, match=rf"{prefix} is the prefix of 2 grid disks of disk group DATA") as caught:
            carve(*facts, prefix=prefix)
        assert f"DATA_CD_[00-01]_{facts[-1].cell}" in caught.value.message
    with pytest.raises(RefusedError, match="ssd is the prefix of 2 grid disks on other disks than media=hard means"):
        carve(with_flash_grids(cell()), media="hard")
    assert carve(cell(), prefix="DATA2").changes_something


def test_carve_sees_failed_disks() -> None:
    """A disk that is not normal is named before anything is sent, with the way to go on without its cell."""
    dead = cell(CELLS[1])
    bad = tuple(replace(d, status="not present") if d.name.startswith("FD_01") else d for d in dead.cell_disks)
    dead = replace(dead, cell_disks=bad, flash_physical=(("FLASH_1_0", "normal"), ("FLASH_1_1", "failed")))
    with pytest.raises(RefusedError) as caught:
        carve(cell(), dead)
    assert caught.value.message == (
        "carve griddisk refused on exa1cel02: flash disk FLASH_1_1 is failed and cell disk FD_01_exa1cel02 is not present: no "
        "grid disk can be made there; nothing was sent"
    )
    assert "on exa1cel01 carve griddisk" in caught.value.hint
    worn = replace(cell(), flash_physical=(("FLASH_1_0", "warning - predictive failure"),))
    with pytest.raises(RefusedError, match="FLASH_1_0 is warning - predictive failure") as caught:
        carve(worn)
    assert caught.value.hint == "replace the disk and wait until it is normal"
    assert carve(dead, media="hard", prefix="R").changes_something
    assert not carve(with_flash_grids(dead)).changes_something


def test_carve_copies_available_to() -> None:
    """availableTo is as the ASM cluster's other grid disks have it; when they differ nothing is guessed."""
    keyed = cell(grid_disks=(grid("CD_00_x", available_to="+asm"), free_grid("CD_01_x", "old", available_to="other")))
    assert sent(carve(keyed)) == ["CREATE GRIDDISK ALL FLASHDISK PREFIX=ssd, size=1G, availableTo='+asm'"]
    mixed = cell(CELLS[1], grid_disks=(grid("CD_00_y"),))
    with pytest.raises(RefusedError, match=r"availableTo different clients \(\(all\); \+asm\)"):
        carve(keyed, mixed)


def test_carve_done_and_completed() -> None:
    """Cells that have the disks already are done; the others get disks of the same size."""
    have = with_flash_grids(cell())
    plan = carve(have, cell(CELLS[1]))
    assert plan.done == {CELLS[0]: "it has 2 grid disks ssd_* of 512M already"}
    assert sent(plan, CELLS[1]) == ["CREATE GRIDDISK ALL FLASHDISK PREFIX=ssd, size=512M"]
    assert not carve(have).changes_something
    assert not carve(have, each=512 * MIB).changes_something


@pytest.mark.parametrize(
    ("facts", "options", "said"),
    [
        ([with_flash_grids(cell())], {"each": 256 * MIB}, r"has grid disks ssd_\* of 512M already"),
        (
            [with_flash_grids(cell()), with_flash_grids(cell(CELLS[1]), size=256 * MIB)],
            {},
            r"has grid disks ssd_\* of 256M, 512M already",
        ),
        ([cell(grid_disks=(free_grid(f"FD_00_{CELLS[0]}"),))], {}, r"has 1 of 2 grid disks ssd_\* already"),
        ([cell()], {"each": 15 * MIB}, "15M is too small: a grid disk has at least 16M"),
        ([with_free(cell(flash_cache=None), 15 * MIB)], {"each": 16 * MIB}, "16M each does not fit: 0 is free"),
        ([with_free(cell(flash_cache=None), 15 * MIB)], {"each": 16 * MIB + 7}, "16M each does not fit: 0 is free"),
        ([cell()], {"each": 2 * GIB}, r"2G each does not fit: 1G is free on FD_00_exa1cel01"),
        ([with_free(cell(flash_cache=None), 15 * MIB)], {}, "0 is free on FD_00_exa1cel01"),
        ([cell()], {"prefix": "a" * 15}, "has 31 characters; at most 30 are allowed"),
        ([cell(), replace(cell(CELLS[1]), cell_disks=cell().cell_disks)], {}, "would both have a grid disk ssd_FD_00"),
        (
            [cell(), cell(CELLS[1], grid_disks=(free_grid(f"FD_00_{CELLS[0]}"),))],
            {},
            "exa1cel02 has a grid disk ssd_FD_00_exa1cel01 already; the new grid disk of exa1cel01 would get the same name",
        ),
    ],
)
def test_carve_refused(facts: list[CellFacts], options: dict[str, Any], said: str) -> None:
    """No room, a taken or too long name, and half-made disks are refused with what is there."""
    with pytest.raises(RefusedError, match=said):
        carve(*facts, **options)


def test_smallest_size_allowed() -> None:
    """A grid disk of exactly 16M is allowed."""
    assert sent(carve(with_free(cell(), 16 * MIB))) == ["CREATE GRIDDISK ALL FLASHDISK PREFIX=ssd, size=16M"]


def test_longest_name_allowed() -> None:
    """A name of exactly 30 characters is allowed."""
    assert carve(cell(), prefix="a" * 14).changes_something


WAYS = "; `resize griddisk` makes them smaller, `release griddisk` frees those that no disk group uses"


def test_carve_offers_the_resize() -> None:
    """Where the flash cache owns the space, the resize that makes room is named, and it really does."""
    full = with_free(cell(), 0)
    with pytest.raises(RefusedError) as caught:
        carve(full, each=GIB)
    assert "the flash cache has the space (40G): `resize flashcache size=38G` makes room" in caught.value.hint
    with pytest.raises(RefusedError) as caught:
        carve(full)
    assert "resize flashcache size=40928M` makes room for 16M on each flash disk" in caught.value.hint
    assert "each flash disk gets one grid disk of at least 16M" in caught.value.message
    with pytest.raises(RefusedError) as caught:
        carve(
            replace(full, cell_disks=tuple(replace(d, free=0) for d in full.cell_disks)),
            media="hard",
            prefix="R",
            each=GIB,
        )
    assert "each hard disk gets one grid disk of 1G" in caught.value.message
    assert caught.value.hint == f"CD_00_exa1cel01 holds DATA_CD_00_exa1cel01 (100G, disk group DATA){WAYS}"
    with pytest.raises(RefusedError) as caught:
        carve(replace(full, flash_cache=None))
    assert caught.value.hint == "`show griddisk` shows what uses the space"
    with pytest.raises(RefusedError) as caught:
        carve(full, each=20 * GIB)
    assert caught.value.hint == (
        "the flash cache has the space (40G): `resize flashcache size=…` makes room, at most 20G on each flash disk"
    )
    smaller = with_free(replace(full, flash_cache=cache(CELLS[0], size=38 * GIB)), GIB)
    assert carve(smaller, each=GIB).changes_something


def test_what_holds_the_tightest_disk_is_told_of_its_own_cell() -> None:
    """Where the tightest disk is another cell's than the first, what is named holds that disk and no other."""
    roomy = replace(cell(), cell_disks=tuple(replace(d, free=9 * GIB) for d in cell().cell_disks))
    with pytest.raises(RefusedError) as caught:
        carve(roomy, cell(CELLS[1]), media="hard", prefix="R", each=2 * GIB)
    assert caught.value.hint == f"CD_00_{CELLS[1]} holds DATA_CD_00_{CELLS[1]} (100G, disk group DATA){WAYS}"


def test_carve_skips_cells_without_that_media() -> None:
    """A cell without such disks is skipped; when no cell has any, nothing happens."""
    none = cell(CELLS[1], cell_disks=(disk("CD_00_x"),))
    plan = carve(cell(), none)
    assert plan.skipped == {CELLS[1]: "it has no flash cell disks"}
    assert plan.targets == (CELLS[0],)
    assert not carve(none).changes_something


def test_carve_hard_disks() -> None:
    """media=hard takes the hard disks' free space."""
    assert sent(carve(cell(), media="hard", prefix="RECO")) == ["CREATE GRIDDISK ALL HARDDISK PREFIX=RECO, size=1G"]


MEMORY = disk("PM_00_exa1cel01", pmem=True, free=0, size=GIB)


def with_pmem(fact: CellFacts) -> CellFacts:
    """An X8M or X9M cell: one more cell disk, on persistent memory, all of which its cache and log take."""
    return replace(fact, cell_disks=(*fact.cell_disks, MEMORY))


def test_persistent_memory_is_no_hard_disk() -> None:
    """Where a cell has persistent memory, grid disks on its hard disks are carved, and brought back, as on any other."""
    plain, modern = cell(grid_disks=()), with_pmem(cell(grid_disks=()))
    assert carve(modern, media="hard", prefix="R").stages == carve(plain, media="hard", prefix="R").stages
    used = tuple(free_grid(f"CD_0{n}_{CELLS[0]}", "R", flash=False) for n in (0, 1))
    before, now = (release(replace(fact, grid_disks=used), prefix="R") for fact in (plain, modern))
    assert (now.stages, now.inverse) == (before.stages, before.inverse)
    assert now.inverse


@pytest.mark.parametrize(
    ("release", "media", "words"),
    [
        ("19.3.2", "flash", "FLASHDISK"),
        ("", "flash", "FLASHDISK"),
        ("24.1.0", "flash", "PERFORMANCEOPTIMIZED FLASHDISK"),
        ("24.1.0", "capacity", "CAPACITYOPTIMIZED FLASHDISK"),
        ("24.1.0", "performance", "PERFORMANCEOPTIMIZED FLASHDISK"),
        ("24.1.0", "hard", "HARDDISK"),
    ],
)
def test_media_words(release: str, media: str, words: str) -> None:
    """From 24.1 the kind of flash is always said."""
    assert media_of(cell(release=release), media).words == words


def test_old_all_flash_cells_have_one_kind() -> None:
    """Before 24.1 plain flash is clear on a cell without hard disks too."""
    assert media_of(cell(cell_disks=(disk("FD_00_x"),)), "flash").words == "FLASHDISK"


@pytest.mark.parametrize(
    ("fact", "media", "said"),
    [
        (cell(release="24.1.0", cell_disks=(disk("FD_00_x"),)), "flash", "may have two kinds of flash"),
        (cell(), "capacity", "runs 19.3.2.0.0, which has only one kind of flash"),
        (cell(release=""), "performance", "an unknown release"),
    ],
)
def test_media_refused(fact: CellFacts, media: str, said: str) -> None:
    """Plain flash on a cell that may have both kinds, and a kind that the release does not know, are refused."""
    with pytest.raises(RefusedError, match=said):
        media_of(fact, media)


# -- release ---------------------------------------------------------------------------------------------------------


def test_release_deactivates_then_drops() -> None:
    """Grid disks are made inactive everywhere before any is dropped, and both look again that nobody uses them."""
    plan = release(*(with_flash_grids(f) for f in rack().values()))
    names = "ssd_FD_00_exa1cel01,ssd_FD_01_exa1cel01"
    assert sent(plan) == [f"ALTER GRIDDISK {names} INACTIVE", f"DROP GRIDDISK {names}"]
    where = {"name": tuple(names.split(","))}
    assert step(plan, "inactive").proves == (
        Check(object="griddisk", attribute="status", value="inactive", where=where),
    )
    assert step(plan, "dropgrid").proves == (Check(object="griddisk", op=Op.ABSENT, where=where),)
    assert step(plan, "dropgrid").undo is Undo.STATEMENT
    unused = [c for c in step(plan, "inactive").needs if c.attribute == "asmModeStatus"]
    assert unused[0].op is Op.IN
    assert unused[0].value == ("UNUSED", "DROPPED")
    assert unused[0].where == {"name": tuple(names.split(","))}
    assert unused[0] in step(plan, "dropgrid").needs
    assert any(c.attribute == "status" and c.value == "inactive" for c in step(plan, "dropgrid").needs)
    assert stage(plan, "dropgrid").gate is Gate.ALL
    assert step(plan, "dropgrid").inverse == "CREATE GRIDDISK ALL FLASHDISK PREFIX=ssd, size=512M"
    assert plan.risk is Risk.PERFORMANCE


def test_release_undo_only_when_exact() -> None:
    """Dropped disks of different sizes, or not on all disks, have no inverse and say so."""
    uneven = cell(grid_disks=(free_grid(f"FD_00_{CELLS[0]}"), free_grid(f"FD_01_{CELLS[0]}", size=GIB)))
    assert step(release(uneven), "dropgrid").undo is Undo.IMPOSSIBLE
    assert "different sizes" in step(release(uneven), "dropgrid").inverse
    hard = cell(grid_disks=tuple(free_grid(f"CD_0{n}_{CELLS[0]}") for n in (0, 1)))
    assert step(release(hard), "dropgrid").inverse == "CREATE GRIDDISK ALL HARDDISK PREFIX=ssd, size=512M"
    more = replace(hard, cell_disks=(*hard.cell_disks, disk(f"CD_02_{CELLS[0]}")))
    assert step(release(more), "dropgrid").undo is Undo.IMPOSSIBLE, "as many as there are flash disks"
    single = cell(grid_disks=(free_grid(f"FD_00_{CELLS[0]}"),))
    assert step(release(single), "dropgrid").undo is Undo.IMPOSSIBLE


def test_release_by_name_is_one_plan() -> None:
    """Each cell releases its own disks of those named, in one plan; what was inactive is only dropped, and each comes back."""
    awake, asleep = with_flash_grids(cell()), with_flash_grids(cell(CELLS[1]), status="inactive")
    plan = release(awake, asleep, cell(CELLS[2]), prefix="", names=("ssd_FD_00_{cell}", f"SSD_fd_01_{CELLS[0]}"))
    both = f"ssd_FD_00_{CELLS[0]},ssd_FD_01_{CELLS[0]}"
    assert sent(plan) == [f"ALTER GRIDDISK {both} INACTIVE", f"DROP GRIDDISK {both}"]
    assert sent(plan, CELLS[1]) == [f"DROP GRIDDISK ssd_FD_00_{CELLS[1]}"]
    assert list(plan.done) == [CELLS[2]] and plan.done[CELLS[2]].startswith("it has no such grid disk")
    assert plan.inverse == {
        CELLS[0]: tuple(
            f"CREATE GRIDDISK ssd_{disk}_{CELLS[0]} cellDisk={disk}_{CELLS[0]}, size=512M"
            for disk in ("FD_00", "FD_01")
        ),
        CELLS[1]: (f"CREATE GRIDDISK ssd_FD_00_{CELLS[1]} cellDisk=FD_00_{CELLS[1]}, size=512M",),
    }


def test_what_was_set_of_a_named_disk_comes_back() -> None:
    """A named disk that the flash cache does not serve, and that certain clients may use, is created again as such."""
    fact = cell(grid_disks=(replace(free_grid(f"CD_00_{CELLS[0]}"), caching_policy="none", available_to="+ASM,+B"),))
    (back,) = release(fact, prefix="", names=("ssd_CD_00_{cell}",)).inverse[CELLS[0]]
    assert back.endswith(", size=512M, cachingPolicy=none, availableTo='+ASM,+B'")


@pytest.mark.parametrize(
    ("comment", "setting"),
    [
        ("archive", "comment='archive'"),
        ("Ann's own", 'comment="Ann\'s own"'),
        ('the "old" one', "comment='the \"old\" one'"),
    ],
)
def test_the_comment_of_a_disk_comes_back(comment: str, setting: str) -> None:
    """Of a named disk and of all disks of a prefix, whatever it contains; disks with different comments come back one by one."""
    told = with_flash_grids(cell(), comment=comment)
    named = release(told, prefix="", names=("ssd_FD_00_{cell}",))
    made = "CREATE GRIDDISK ALL FLASHDISK PREFIX=ssd, size=512M"
    assert named.inverse[CELLS[0]][0].endswith(f", size=512M, {setting}")
    assert release(told).inverse == {CELLS[0]: (f"{made}, {setting}",)}
    assert step(release(told), "dropgrid").inverse == f"{made}, {setting}"
    first, *rest = (grid for grid in told.grid_disks if grid.prefix == "ssd")
    apart = release(replace(told, grid_disks=(replace(first, comment=""), *rest)))
    one, *others = apart.inverse[CELLS[0]]
    assert one == f"CREATE GRIDDISK {first.name} cellDisk={first.cell_disk}, size=512M"
    assert len(others) == len(rest) and all(statement.endswith(f", size=512M, {setting}") for statement in others)
    assert step(apart, "dropgrid").inverse == "; ".join((one, *others))


def test_a_comment_that_no_statement_can_write_is_named() -> None:
    """CellCLI has no escape: a comment with both kinds of quotes is lost, and the plan says so."""
    plan = release(with_flash_grids(cell(), comment="""Ann's "own\""""))
    assert plan.inverse == {CELLS[0]: ("carve griddisk prefix=ssd size=512M media=flash",)}
    assert plan.notes[-1] == (
        "undo does not restore the comment of ssd_FD_[00-01]_exa1cel01: it has both kinds of quotes"
    )


def test_a_named_disk_in_use_is_not_released() -> None:
    """A disk of a disk group is refused by name too, with the statement that takes it out of ASM."""
    fact = cell(grid_disks=(grid(f"CD_00_{CELLS[0]}"),))
    with pytest.raises(RefusedError, match="disk group DATA uses it") as caught:
        release(fact, prefix="", names=("DATA_CD_00_{cell}",))
    assert "drop disk" in caught.value.hint


def test_release_takes_exactly_the_prefix() -> None:
    """prefix=ssd means ssd_<celldisk> and nothing whose name merely begins alike."""
    fact = with_flash_grids(with_flash_grids(cell()), "ssd_2")
    assert {g.name for g in members({CELLS[0]: fact}, "SSD")[CELLS[0]]} == {f"ssd_FD_0{n}_exa1cel01" for n in (0, 1)}
    assert "ssd_2" not in " ".join(sent(release(fact)))


def test_release_refuses_used_disks() -> None:
    """One disk in use refuses the release everywhere, whatever else is free."""
    facts = [with_flash_grids(f) for f in rack().values()]
    facts[1] = with_flash_grids(cell(CELLS[1]), asm_mode="ONLINE", asm_group="DATA_SSD")
    with pytest.raises(RefusedError, match="release griddisk refused on exa1cel02") as caught:
        release(*facts, headers={})
    assert "drop diskgroup DATA_SSD" in caught.value.hint


def test_release_without_such_disks() -> None:
    """Cells without the disks are done already."""
    plan = release(with_flash_grids(cell()), cell(CELLS[1]))
    assert plan.done == {CELLS[1]: "it has no grid disks ssd_*; there are: DATA"}
    assert not release(cell(), prefix="nix").changes_something


def test_regrow_tells_equal_cells_once() -> None:
    """Cells whose caches grow alike are one note, and one that differs is another."""
    facts = [with_free(with_flash_grids(f), 8 * MIB) for f in rack().values()]
    grows = [note for note in release(*facts, regrow=True).notes if "flash cache" in note]
    assert len(grows) == 1
    assert grows[0].startswith(f"{fold(CELLS)}: flash cache ")
    facts[0] = with_free(facts[0], 32 * MIB)
    grows = [note for note in release(*facts, regrow=True).notes if "flash cache" in note]
    assert [note.split(":")[0] for note in grows] == [CELLS[0], fold(CELLS[1:])]


def test_regrow_flushes_and_creates_over_what_is_freed() -> None:
    """regrow=yes re-creates the cache at an explicit size over the freed space, with its own flush and proof."""
    fact = with_free(with_flash_grids(cell()), 8 * MIB)
    plan = release(fact, regrow=True)
    assert sent(plan)[2:] == ["ALTER FLASHCACHE ALL FLUSH NOWAIT", "DROP FLASHCACHE", "CREATE FLASHCACHE ALL size=41G"]
    assert stage(plan, "flush").gate is Gate.ALL, "nothing is flushed unless all disks were released"
    assert "40G → 41G" in plan.notes[-2]
    assert plan.notes[-1].startswith("time of the flush: 2G dirty")
    assert "time of the flush" not in " ".join(release(replace(fact, mode="writethrough"), regrow=True).notes)


def test_regrow_without_disks_takes_the_free_space() -> None:
    """regrow=yes also grows over space that was free, can be taken back, and leaves a cache alone that has it all."""
    plan = release(cell(), regrow=True)
    assert plan.done == {}
    assert plan.inverse == {CELLS[0]: ("resize flashcache size=40G",)}
    assert release(replace(cell(), flash_cache=None), regrow=True).inverse == {}
    assert sent(plan)[-1] == "CREATE FLASHCACHE ALL size=42G"
    assert not release(with_free(cell(), 0), regrow=True).changes_something


def test_grid_disk_prefix() -> None:
    """A grid disk's prefix is what stands before _<celldisk>, and empty when its name has another form."""
    assert free_grid("FD_00_x").prefix == "ssd"
    assert replace(free_grid("FD_00_x"), name="SSD_fd_00_X").prefix == "SSD"
    assert replace(free_grid("FD_00_x"), name="mine").prefix == ""


def test_what_brings_released_disks_back() -> None:
    """Released disks come back by carve, behind the cache's old size when it grew; only where carve makes just those."""
    fact = with_free(with_flash_grids(cell()), 8 * MIB)
    carved = "carve griddisk prefix=ssd size=512M media=flash"
    assert release(fact).inverse == {CELLS[0]: (carved,)}
    assert release(fact, regrow=True).inverse == {CELLS[0]: ("resize flashcache size=40G", carved)}
    assert release(cell(grid_disks=(free_grid(f"FD_00_{CELLS[0]}"),))).inverse == {}
    uneven = cell(grid_disks=(free_grid(f"FD_00_{CELLS[0]}"), free_grid(f"FD_01_{CELLS[0]}", size=GIB)))
    assert release(uneven).inverse == {}
    assert carve(cell()).inverse == {CELLS[0]: ("release griddisk prefix=ssd media=flash",)}
    assert carve(cell(), media="hard").inverse == {CELLS[0]: ("release griddisk prefix=ssd media=hard",)}


def test_carve_for_clients_that_somebody_names() -> None:
    """availableTo= is taken as it is said; disks that are there for other clients are not what was asked for."""
    keyed = cell(grid_disks=(grid("CD_00_x", available_to="c1"), grid("CD_01_x", available_to="c2", asm_group="D2")))
    said = carve(keyed, available_to="c2")
    assert sent(said) == ["CREATE GRIDDISK ALL FLASHDISK PREFIX=ssd, size=1G, availableTo='c2'"]
    assert sent(carve(keyed, groups={"D2"})) == sent(said)
    there = with_flash_grids(keyed, available_to="c1")
    assert not carve(there, groups={"DATA"}).changes_something
    for asked in ({"groups": {"D2"}}, {"available_to": "c2"}):
        with pytest.raises(RefusedError, match="ssd_FD_00_exa1cel01 already, availableTo 'c1', not 'c2'"):
            carve(there, **asked)


def test_release_is_undone_for_the_same_clients() -> None:
    """What brings released grid disks back names who may use them; disks of several clients can't be brought back."""
    keyed = with_flash_grids(cell(), available_to="c2")
    assert release(keyed).inverse[CELLS[0]] == ("carve griddisk prefix=ssd size=512M media=flash availableTo='c2'",)
    names = [f"FD_0{number}_{CELLS[0]}" for number in (0, 1)]
    mixed = cell(grid_disks=(free_grid(names[0], available_to="c1"), free_grid(names[1], available_to="c2")))
    assert release(mixed).inverse == {}


def test_a_refusal_names_the_disks_in_use() -> None:
    """What is in use is named, folded; where that would be long, the first and how many more."""
    with pytest.raises(
        RefusedError, match=r"asmModeStatus ONLINE\): DATA_CD_\[00-01\]_exa1cel\[01-03\]; nothing was sent"
    ):
        release(*rack().values(), prefix="DATA")
    odd = {CELLS[0]: [grid(f"CD_{n:02d}_{'x' * n}") for n in range(1, 60)]}
    with pytest.raises(RefusedError, match=r": DATA_CD_01_x and 58 more; nothing was sent"):
        refuse_used("x", odd, None)


def test_release_of_one_kind_of_disk() -> None:
    """Where a disk group uses those of a prefix on hard disks, those on flash can be released alone, and that is said."""
    both = with_flash_grids(cell(), "DATA")
    with pytest.raises(RefusedError) as caught:
        release(both, prefix="DATA")
    names = [f"DATA_FD_0{n}_{CELLS[0]}" for n in (0, 1)]
    assert caught.value.hint == (
        "`release griddisk prefix=DATA media=flash` releases only the unused ones: DATA_FD_[00-01]_exa1cel01"
    )
    plan = release(both, prefix="DATA", media="flash")
    assert sent(plan) == [f"ALTER GRIDDISK {','.join(names)} INACTIVE", f"DROP GRIDDISK {','.join(names)}"]
    # carve would refuse to make them again, so it is not promised.
    assert plan.inverse == {}
    assert step(plan, "dropgrid").undo is Undo.IMPOSSIBLE and "beside" in step(plan, "dropgrid").inverse
    with pytest.raises(RefusedError, match="disk group DATA uses it"):
        release(both, prefix="DATA", media="hard")
    assert release(cell(), prefix="DATA", media="flash").done == {
        CELLS[0]: "it has no grid disks DATA_* on flash disks"
    }


def test_undo_brings_back_that_disks_are_not_cached() -> None:
    """What takes a release back says cachingPolicy=none where the disks had it; where they differ there is no way back."""
    uncached = with_flash_grids(cell(), caching_policy="none")
    made = "CREATE GRIDDISK ALL FLASHDISK PREFIX=ssd, size=512M, cachingPolicy=none"
    assert release(uncached).inverse == {CELLS[0]: (made,)}
    theirs = with_flash_grids(cell(), caching_policy="none", available_to="c2")
    assert release(theirs).inverse == {CELLS[0]: (f"{made}, availableTo='c2'",)}
    flash = [grid for grid in uncached.grid_disks if grid.prefix == "ssd"]
    mixed = replace(uncached, grid_disks=(replace(flash[0], caching_policy="default"), *flash[1:]))
    assert release(mixed).inverse == {}
