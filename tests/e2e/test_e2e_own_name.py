"""A cell's own name in the names of its objects: what a folded answer shows can be typed as it stands."""

from __future__ import annotations

import pytest

from tests.support.program import InProcess, Program

CELLS = ["exa1cel01", "exa1cel02", "exa1cel03"]
DISK = "DATA_CD_00_{cell}"


@pytest.mark.parametrize("more", ["", "detail", "attributes all"])
@pytest.mark.parametrize("form", ["json", "table"])
def test_a_folded_name_finds_each_cell_s_own_object(inside: InProcess, more: str, form: str) -> None:
    """LIST of a name with {cell} in it asks each cell for its own disk, whatever is asked of it and in whatever format."""
    done = inside.ok("-r", "t1", "-o", form, "list", "griddisk", DISK, *more.split())
    if form == "json":
        assert [row["name"] for row in done.records] == [f"DATA_CD_00_{cell}" for cell in CELLS]
    else:
        assert DISK in done.out or all(f"DATA_CD_00_{cell}" in done.out for cell in CELLS)


def test_a_condition_may_hold_it(inside: InProcess) -> None:
    """WHERE and the choice of cells by a condition take {cell} as well."""
    words = ("list", "celldisk", "attributes", "name", "where", "name", "like", ".*_0[01]_{cell}")
    found = {row["name"] for row in inside.ok("-r", "t1", "-o", "json", *words).records}
    assert found == {f"{kind}_0{n}_{cell}" for kind in ("CD", "FD") for n in (0, 1) for cell in CELLS}
    chosen = inside.ok("-r", "t1", "-o", "json", "on (where griddisk.name = 'DATA_CD_00_{cell}') list cell")
    assert [row["name"] for row in chosen.records] == CELLS


def test_a_change_goes_to_each_cell_s_own_disk_once(inside: InProcess) -> None:
    """ALTER GRIDDISK of such a name is one statement a cell with its own disk, verified; repeated it is nothing to do; undone
    it is as before."""
    change = ("-r", "t1", "alter", "griddisk", DISK, "comment=ours", "-y")
    assert "1 statement, verified" in inside.ok(*change).out
    look = ("-r", "t1", "-o", "json", "list", "griddisk", "attributes", "name,comment", "where", "comment='ours'")
    assert [row["name"] for row in inside.ok(*look).records] == [f"DATA_CD_00_{cell}" for cell in CELLS]
    assert "nothing to do" in inside.ok(*change).out
    inside.ok("-r", "t1", "undo", "-y")
    assert inside.ok(*look).records == []


def test_each_cell_gets_its_own_cell_disk(inside: InProcess) -> None:
    """ALTER CELLDISK of such a name goes to each cell with its own disk alone, in the plan and on the cell; repeated it is
    nothing to do; undone it is as before."""
    change = ("-r", "t1", "alter", "celldisk", "CD_00_{cell}", "comment=ours", "-y")
    assert "1 statement, verified" in inside.ok(*change).out
    look = ("-r", "t1", "-o", "json", "list", "celldisk", "attributes", "name,comment", "where", "comment='ours'")
    assert [row["name"] for row in inside.ok(*look).records] == [f"CD_00_{cell}" for cell in CELLS]
    assert "nothing to do" in inside.ok(*change).out
    inside.ok("-r", "t1", "undo", "-y")
    assert inside.ok(*look).records == []


def test_a_grid_disk_is_made_on_each_cell_s_own_cell_disk(inside: InProcess) -> None:
    """CREATE GRIDDISK takes {cell} in the new name and in cellDisk=; repeated it is nothing to do; undo takes it back."""
    inside.ok("-r", "t1", "resize", "flashcache", "size=300g", "-y")
    change = ("-r", "t1", "create", "griddisk", "own_{cell}", "celldisk=FD_00_{cell},", "size=112m", "-y")
    assert "1 statement, verified" in inside.ok(*change).out
    look = (
        "-r",
        "t1",
        "-o",
        "json",
        "list",
        "griddisk",
        "attributes",
        "name,celldisk",
        "where",
        "name",
        "like",
        "'own.*'",
    )
    made = [(row["name"], row["cellDisk"]) for row in inside.ok(*look).records]
    assert made == [(f"own_{cell}", f"FD_00_{cell}") for cell in CELLS]
    assert "nothing to do" in inside.ok(*change).out
    inside.ok("-r", "t1", "undo", "-y")
    assert inside.ok(*look).records == []
    inside.ok("-r", "t1", "undo", "-y")


def test_a_name_in_capitals_folds_as_what_it_is(inside: InProcess) -> None:
    """ASM's names hold the cell's in capitals: a folded table and DETAIL show {CELL} for them, and LIST takes it."""
    words = ("-r", "t1", "--fold", "list", "griddisk", DISK, "attributes", "name,asmDiskName,asmFailGroupName")
    table = inside.ok(*words).out
    assert table.splitlines()[-1].split() == ["exa1cel[01-03]", DISK, "DATA_CD_00_{CELL}", "{CELL}"]
    detail = inside.ok(*words, "detail").out
    assert "{CELL}" in detail and detail.count("asmDiskName:") == 1
    found = inside.ok("-r", "t1", "-o", "json", "list", "griddisk", "where", "asmDiskName='DATA_CD_00_{CELL}'").records
    assert [row["name"] for row in found] == [f"DATA_CD_00_{cell}" for cell in CELLS]


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        (f"drop griddisk {DISK}", "refused on exa1cel[01-03]: disk group DATA uses it"),
        (f"alter griddisk {DISK} inactive", "it would take disks of exa1cel[01-03] offline together"),
        ("drop griddisk NO_{cell}", "there is no such grid disk"),
        ("drop celldisk CD_00_{cell}", "refused on exa1cel[01-03]: disk group DATA uses it"),
        ("alter celldisk CD_77_{cell} comment=x", "exa1cel[01-03] has no such cell disk"),
        ("alter griddisk all comment='{cell}'", "(a cell's own name) is allowed only in LIST"),
        (
            "create griddisk p_{cell} celldisk=CD_00_{cell}, comment='{CELL}'",
            "(a cell's own name) is allowed only in LIST",
        ),
        ("create threshold ct_io_rq_{cell}.a warning=1", "(a cell's own name) is allowed only in LIST"),
    ],
)
def test_guards_judge_the_disks_that_are_meant(inside: InProcess, statement: str, said: str) -> None:
    """A change with {cell} is guarded as if the names had been typed; where it can stand for nothing it is refused."""
    done = inside("-r", "t1", *statement.split(), "-y", "-n")
    if statement.startswith("drop griddisk NO_"):
        assert done.code == 0 and "it has no such grid disk" in done.out
    else:
        assert done.code == 2 and said in done.err
        assert "nothing was sent" in done.err


def test_a_terminal_is_told_once_what_it_means(outside: Program) -> None:
    """The first folded answer of a session that shows {cell} says what it stands for; no other does, and no pipe."""
    said = "{cell} stands for each cell's own name; you can type it"
    with outside.at_terminal("-r", "t1").ready() as prompt:
        assert said not in prompt.enter("on exa1cel01 list flashcache")
        assert said in prompt.enter("list flashcache")
        assert said not in prompt.enter("list celldisk where diskType=FlashDisk")
    assert said not in outside.ok("-r", "t1", "list", "flashcache").err
