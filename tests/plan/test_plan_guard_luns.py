"""CREATE CELLDISK by hand: a LUN that is missing, in use or not normal is named before the question."""

from __future__ import annotations

from dataclasses import replace

import pytest
from plan_factory import CELLS, cell, disk, grid
from plan_guarding import guard, only

from exacell.cellcli.statement import parse
from exacell.core.errors import RefusedError
from exacell.core.units import GIB
from exacell.plan import facts as f
from exacell.plan.facts import CellFacts, Lun
from exacell.plan.guards.choice import facts_needed
from exacell.plan.model import Op, Risk

ONE, TWO, THREE = CELLS


def lun(name: str, cell_disk: str = "", **changes: object) -> Lun:
    """A LUN of 557G on a hard disk, or of 24G on flash."""
    kind, size = ("harddisk", 557 * GIB) if name.startswith("0_") else ("flashdisk", 24 * GIB)
    found = Lun(name=name, cell_disk=cell_disk, kind=kind, size=size, drives=(f"20:{name[2:]}",), status="normal")
    return replace(found, **changes)  # type: ignore[arg-type]  # Lun's own fields


def with_luns(*more: Lun, name: str = ONE) -> CellFacts:
    """A cell whose four cell disks are on a LUN each, with these LUNs beside."""
    places = {"0_0": "CD_00", "0_1": "CD_01", "1_0": "FD_00", "1_1": "FD_01"}
    return cell(name, luns=(*(lun(place, f"{disk}_{name}") for place, disk in places.items()), *more))


SPARE = with_luns(lun("0_9"))

REFUSED = {
    "a LUN that has one": (
        "create celldisk NEW lun=0_1",
        SPARE,
        f"LUN 0_1 has the cell disk CD_01_{ONE}",
        "drop celldisk",
    ),
    "a name in use": (
        f"create celldisk cd_01_{ONE} lun=0_9",
        SPARE,
        f"has a cell disk cd_01_{ONE} already",
        "another name",
    ),
    "a LUN that is nowhere": ("create celldisk NEW lun=7_9", SPARE, "there is no LUN 7_9", "without a cell disk: 0_9"),
    "and none is free": ("create celldisk NEW lun=7_9", with_luns(), "there is no LUN 7_9", "each LUN has a cell disk"),
    "a physical disk in use": ("create celldisk NEW physicalDisk='20:1'", with_luns(), "LUN 0_1 has the cell disk", ""),
    "a dead disk's": (
        "create celldisk NEW lun=0_9",
        with_luns(lun("0_9", status="critical")),
        f"{ONE}: LUN 0_9 is critical",
        "replace its disk first",
    ),
    "a dead disk's with ALL": (
        "create celldisk all harddisk",
        with_luns(lun("0_9", status="critical"), lun("0_8")),
        f"{ONE}: LUN 0_9 is critical, no cell disk can be made on it",
        "give the other LUNs",
    ),
    "one of no status": (
        "create celldisk NEW lun=0_9",
        with_luns(lun("0_9", status="")),
        f"{ONE}: LUN 0_9 is of unknown status",
        "",
    ),
    "one of no status with ALL": (
        "create celldisk all harddisk",
        with_luns(lun("0_9", status="")),
        "LUN 0_9 is of unknown status, no cell disk can be made on it",
        "",
    ),
    "a slip": ("create celldisk NEW lun=09", SPARE, "there is no LUN 09", "did you mean 0_9?"),
    "larger than the LUN": ("create celldisk NEW lun=0_9, size=600G", SPARE, "LUN 0_9 has 557G, not 600G", ""),
    "too small": ("create celldisk NEW lun=0_9, size=1M", SPARE, "at least 16M, not 1M", ""),
    "one of several": (
        "create celldisk ((name=a, lun=0_9), (name=b, lun=0_1))",
        SPARE,
        "LUN 0_1 has the cell disk",
        "",
    ),
}


@pytest.mark.parametrize(("text", "fact", "says", "hint"), REFUSED.values(), ids=REFUSED)
def test_what_no_cell_disk_can_be_made_on_is_refused(text: str, fact: CellFacts, says: str, hint: str) -> None:
    """A cell disk that a cell could not make is refused with cell, LUN and the way out, and nothing is sent."""
    with pytest.raises(RefusedError) as caught:
        guard(text, fact)
    assert says in caught.value.message
    assert caught.value.message.endswith("nothing was sent")
    assert hint in (caught.value.hint or "")


def test_the_plan_shows_and_proves_the_place_of_each_disk() -> None:
    """The plan of CREATE CELLDISK shows the LUN of each disk that it names, and reads back that the disks are there."""
    step = only(
        guard("create celldisk ((name=a, lun=0_9), (name=b, physicalDisk='20:8'))", with_luns(lun("0_9"), lun("0_8")))
    )
    assert [(change.name, change.after) for change in step.changes] == [("a", "0_9"), ("b", "0_8")]
    assert [(check.op, check.value, check.where) for check in step.proves] == [(Op.COUNT, 2, {"name": ("a", "b")})]
    assert step.expect == 2


def test_all_goes_to_the_cells_that_have_a_lun_left() -> None:
    """CREATE CELLDISK ALL is sent where a LUN of the medium has no cell disk, and is done elsewhere."""
    plan = guard("create celldisk all harddisk", SPARE, with_luns(lun("1_9"), name=TWO), with_luns(name=THREE))
    assert {step.target: step.changes[0].after for step in plan.steps} == {ONE: "0_9"}
    assert set(plan.done) == {TWO, THREE}
    assert guard("create celldisk all", with_luns()).done == {ONE: "each LUN of the statement already has a cell disk"}
    many = with_luns(*(lun(f"0_{number}") for number in range(2, 12)))
    assert only(guard("create celldisk all", many)).changes[0].after == "10 LUNs without a cell disk"


@pytest.mark.parametrize(
    ("said", "place"),
    [
        ("lun=0_9, size=4G", "0_9"),
        ("lun=0_9, size=16M", "0_9"),
        ("lun=0_9, size=557G", "0_9"),
        ("lun=0_9, comment=(a,b)", "0_9"),
        ("lun=0_8, size=4G", "0_8"),
        ("physicalDisk=E0KWYP", "of physical disk E0KWYP"),
        ("physicalDisk=E0KWYP, size=900G", "of physical disk E0KWYP"),
    ],
)
def test_what_fits_is_sent(said: str, place: str) -> None:
    """A size from 16M to all of the LUN fits, also where the LUN tells none; a disk that only the cell finds is not judged."""
    step = only(guard(f"create celldisk NEW {said}", with_luns(lun("0_9"), lun("0_8", size=0))))
    assert [change.after for change in step.changes] == [place]


def test_which_luns_all_means_may_be_the_cells_to_say() -> None:
    """Where only the cell knows which disks ALL means, a LUN that is not normal may be none of them and refuses nothing."""
    found = with_luns(lun("0_9", status="critical"), lun("1_9"))
    assert [change.after for change in only(guard("create celldisk all", replace(found, release=""))).changes] == [
        "0_9,1_9"
    ]


def test_as_many_luns_as_fit_a_line_are_named() -> None:
    """Four LUNs are named in the plan of CREATE CELLDISK ALL; with nothing to make there is nothing to send."""
    found = with_luns(*(lun(f"0_{number}") for number in range(2, 6)))
    assert only(guard("create celldisk all", found)).changes[0].after == "0_2,0_3,0_4,0_5"
    assert guard("create celldisk all", with_luns()).stages == ()


def test_force_never_takes_a_lun_from_disks_in_use() -> None:
    """FORCE on the LUN of another cell disk is refused while ASM uses a grid disk there, whatever the new name and consent."""
    for place in ("lun=0_1", "lun=0_1, comment='x'", "physicalDisk='20:1'", "physicalDisk=E0KWYP", "lun=7_7"):
        with pytest.raises(RefusedError, match="disk group DATA uses it"):
            guard(f"create celldisk NEW {place} force", SPARE, accepted=[ONE, "DATA"], headers={})
    free = replace(SPARE, grid_disks=(grid(f"CD_00_{ONE}"),), cell_disks=(disk(f"CD_01_{ONE}"),))
    step = only(guard("create celldisk NEW lun=0_1 force", free, accepted=[ONE]))
    assert step.statement == "CREATE CELLDISK NEW lun=0_1 FORCE"


def test_a_cell_disk_that_is_brought_in_takes_no_other() -> None:
    """IMPORT CELLDISK takes no LUN from another cell disk, FORCE or not: its cell is accepted by name, as ever."""
    step = only(guard("import celldisk NEW lun=0_1 force", SPARE, accepted=[ONE], headers={}))
    assert step.risk is Risk.DATA and not step.needs


def test_behind_another_change_the_cell_has_the_last_word() -> None:
    """What stands before in the same text may have freed a LUN: CREATE CELLDISK behind it is not refused."""
    assert guard("create celldisk NEW lun=0_1", replace(SPARE, read_now=False)).steps
    assert guard("create celldisk all", replace(with_luns(), read_now=False)).steps
    assert guard("create celldisk NEW lun=0_1", replace(SPARE, luns=())).steps


def test_luns_are_read_for_create_celldisk_alone() -> None:
    """LIST LUN is asked before CREATE CELLDISK, and read into LUNs."""
    assert f.LUN in facts_needed(parse("create celldisk all"))
    assert f.LUN not in facts_needed(parse("drop celldisk all"))
    row = {
        "name": "0_9",
        "cellDisk": None,
        "diskType": "HardDisk",
        "lunSize": 557 * GIB,
        "physicalDrives": ("20:9",),
        "status": "normal",
    }
    assert f.build(ONE, [f.LUN], [[row]]).luns == (lun("0_9"),)


def test_a_lun_that_is_not_there_is_not_enabled_again() -> None:
    """ALTER LUN … REENABLE of a LUN that no cell has is refused before the question, also beside one that is there."""
    for text in ("alter lun 0_55 reenable", "alter lun 0_1,0_55 reenable force"):
        with pytest.raises(RefusedError, match=f"there is no LUN 0_55 on {ONE}; nothing was sent"):
            guard(text, SPARE)
    assert facts_needed(parse("alter lun 0_1 reenable")) == (f.CELL, f.LUN)
    for name, way in (("0_99", "did you mean 0_9?"), ("nix", "list lun")):
        with pytest.raises(RefusedError) as told:
            guard(f"alter lun {name} reenable", SPARE)
        assert told.value.hint == way


def test_a_lun_is_enabled_again_on_one_cell() -> None:
    """REENABLE makes disks anew: on the one cell that has the LUN, its loss accepted; never on several failure groups."""
    plan = guard("alter lun 0_9 reenable force", SPARE, with_luns(name=TWO), accepted=[ONE])
    assert plan.targets == (ONE,) and "creates cell disks and grid disks" in plan.loss_reasons[ONE]
    with pytest.raises(RefusedError, match="each cell is a failure group"):
        guard("alter lun all reenable force", SPARE, with_luns(name=TWO), accepted=[ONE, TWO])
    assert guard("alter lun 0_9 reenable force", cell(THREE), accepted=[THREE]).targets == (THREE,)
