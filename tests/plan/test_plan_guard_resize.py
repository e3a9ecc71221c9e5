"""ALTER GRIDDISK size=: a disk that ASM uses shrinks once ASM has shrunk it, and grows before ASM."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from plan_factory import CELLS, asm, asm_disk, cell, disk, grid, group, operation, with_flash_grids
from plan_guarding import guard, only

from exacell.core.errors import RefusedError, ReplyError
from exacell.core.units import GIB, MIB
from exacell.plan.asmfacts import END, AsmFacts
from exacell.plan.asmspace import SIZES_SCRIPT, Told, read_sizes, sizes_over
from exacell.plan.facts import CellFacts
from exacell.plan.model import Check, Op

NAME = "DATA_CD_00_exa1cel01"
ALTER = f"alter griddisk {NAME} size="
VERB = "resize griddisk prefix=DATA size="


def used(asm_gib: int | None = 100, *, free: int = GIB, release: str = "19.3.2.0.0", **changes: Any) -> CellFacts:
    """A cell with a grid disk of 100G in use, so much of which ASM uses."""
    found = grid("CD_00_exa1cel01", asm_size=None if asm_gib is None else asm_gib * GIB, **changes)
    disks = (disk("CD_00_exa1cel01", free=free), disk("CD_01_exa1cel01", free=0))
    return cell(grid_disks=(found,), cell_disks=disks, release=release)


def needs(found: CellFacts, text: str) -> list[tuple[str, Op, object, object]]:
    return [(c.attribute, c.op, c.value, c.where["name"]) for c in only(guard(text, found, headers={})).needs]


def test_a_used_disk_shrinks_to_what_asm_uses() -> None:
    """A disk shrinks to the size that ASM has of it or more, which its cell must say again right before."""
    for text in ("60G", "61455M", "62463M"):
        (need,) = needs(used(60), ALTER + text)
        assert need[:2] == ("asmDiskSize", Op.AT_MOST) and need[3] == (NAME,)
        assert 60 * GIB <= need[2] < 61 * GIB and need[2] % (16 * MIB) == 0


def test_the_cells_answer_must_be_a_number_that_is_small_enough() -> None:
    """A cell that does not say what ASM has of the disk lets nothing be sent, nor one that says more."""
    from exacell.plan.checks import failure

    (check,) = only(guard(ALTER + "60G", used(60), headers={})).needs
    assert isinstance(check, Check)
    for size in (None, "", 61 * GIB):
        assert "ASM still has data" in failure(check, [{"name": NAME, "asmDiskSize": size}])
    assert not failure(check, [{"name": NAME, "asmDiskSize": 60 * GIB}])


REFUSED: dict[str, tuple[CellFacts, str, str, str]] = {
    "larger in ASM": (used(61), "60G", "smaller than ASM uses of it, 61G", VERB + "60G shrinks the disk group first"),
    "rounded down below it": (used(60), "61455M", "", ""),
    "not told": (used(None), "60G", "not every ASM instance shows", VERB + "60G"),
    "a cell that can't tell": (
        used(60, release="12.1.2.2.0"),
        "60G",
        "12.1.2.2.0, where exacell can't check",
        VERB + "60G",
    ),
    "an unknown release": (used(60, release=""), "60G", "an unknown release", VERB),
    "no room": (
        used(free=GIB - MIB),
        "101G",
        "CD_00_exa1cel01 has 1023M free, 1G more",
        "CD_00_exa1cel01 holds DATA_CD_00_exa1cel01 (100G",
    ),
    "nothing": (used(), "15M", "at least 16M", ""),
    "offline": (used(60, asm_mode="OFFLINE"), "60G", "asmModeStatus OFFLINE", "alter diskgroup DATA"),
    "offline, growing": (used(60, asm_mode="OFFLINE"), "101G", "asmModeStatus OFFLINE", "alter diskgroup DATA"),
    "unmounted": (used(60, asm_mode="UNKNOWN"), "101G", "asmModeStatus UNKNOWN", ""),
    "in a pool": (used(60, pool="HC", asm_group=""), "101G", "Exascale pool HC", "escli"),
    "another name, too": (used(60), "60G, name=X", "disk group DATA uses it", ""),
}


@pytest.mark.parametrize(("found", "size", "said", "way"), REFUSED.values(), ids=list(REFUSED))
def test_what_must_not_be_resized_is_refused_with_the_way(found: CellFacts, size: str, said: str, way: str) -> None:
    """What would cut off what ASM keeps, or can't be told, is refused, naming resize griddisk; so is what has no room."""
    if not said:
        assert needs(found, ALTER + size)[0][2] == 60 * GIB
        return
    with pytest.raises(RefusedError) as caught:
        guard(ALTER + size, found, headers={}, accepted=CELLS)
    assert said in caught.value.message and "nothing was sent" in caught.value.message
    assert way in caught.value.hint


def test_a_disk_of_another_name_is_resized_by_no_prefix() -> None:
    """Where a name has no prefix the way says that one is to be named."""
    with pytest.raises(RefusedError) as caught:
        guard("alter griddisk X size=60G", used(61, name="X"), headers={})
    assert caught.value.hint.startswith("resize griddisk prefix=… size=60G")


def test_a_used_disk_grows_before_asm() -> None:
    """A used disk grows into what is free on its cell disk, which is looked at again, and the plan says what ASM needs."""
    plan = guard(ALTER + "101G", used(), headers={})
    assert needs(used(), ALTER + "101G") == [("freeSpace", Op.AT_LEAST, GIB, "CD_00_exa1cel01")]
    assert plan.warnings == (f"ASM uses the new space once its disk group grows: {VERB}101G does that too",)
    assert needs(used(None, release=""), ALTER + "101G")


def test_what_stays_as_large_as_it_is_needs_nothing() -> None:
    """A used disk of that size already needs no proof, and nothing is said of ASM."""
    plan = guard(ALTER + "100G", used(None), headers={})
    assert only(plan).needs == () and plan.warnings == ()


def test_disks_of_one_cell_disk_share_its_room() -> None:
    """Two disks that grow on one cell disk need the room of both; what is free beside used ones must stay unused."""
    both = (grid("CD_00_exa1cel01", "A", asm_group="", asm_mode="UNUSED"), grid("CD_00_exa1cel01"))
    found = replace(used(free=2 * GIB), grid_disks=both)
    assert needs(found, "alter griddisk all size=101G") == [
        ("asmModeStatus", Op.IN, ("UNUSED", "DROPPED"), ("A_CD_00_exa1cel01",)),
        ("freeSpace", Op.AT_LEAST, 2 * GIB, "CD_00_exa1cel01"),
    ]
    with pytest.raises(RefusedError, match="2G more are needed"):
        guard("alter griddisk all size=101G", replace(used(free=GIB), grid_disks=both), headers={})
    # Only the cell knows which disks a WHERE leaves.
    assert guard("alter griddisk all size=101G where size = 100G", replace(used(free=GIB), grid_disks=both), headers={})


def test_free_disks_shrink_and_grow_alone() -> None:
    """Of free disks nobody asks ASM, and no plan speaks of it."""
    fact = with_flash_grids(cell())
    plan = guard("alter griddisk all flashdisk size=256M", fact, headers={})
    assert [check.attribute for check in only(plan).needs] == ["asmModeStatus"] and not plan.warnings
    assert not guard("alter griddisk all flashdisk size=1G", fact, headers={}).warnings
    assert guard("alter griddisk all flashdisk size=16M, comment=x", fact, headers={}).changes_something


def test_what_a_text_has_moved_before_is_left_to_the_cell() -> None:
    """Behind another statement of the same text nobody knows what is free: the cell is asked right before."""
    found = replace(used(free=0), read_now=False)
    assert needs(found, ALTER + "101G") == [("freeSpace", Op.AT_LEAST, GIB, "CD_00_exa1cel01")]


# -- what ASM tells --------------------------------------------------------------------------------------------------


def row(inst: str, size: int, name: str = NAME, number: str = "1") -> str:
    return f"{inst}|{number}|o/192.168.10.5/{name}|{size}"


def test_sizes_are_read_of_members_alone() -> None:
    """Each instance's size of each disk of a mounted group is read; what has no path, or is no grid disk, is left out."""
    text = "\n".join(
        [
            row("1", 512),
            row("2", 0),
            row("1", 5, number="0"),
            "1|1||5",
            "1|1|/dev/sda|5",
            "1|1|o/x|5",
            "1|1|o/x/y|",
            END,
        ]
    )
    assert read_sizes("exa1db01", text) == (
        Told(inst_id="1", grid_disk=NAME.lower(), size=512 * MIB),
        Told(inst_id="2", grid_disk=NAME.lower(), size=0),
        Told(inst_id="1", grid_disk="y", size=0),
    )
    assert SIZES_SCRIPT.count("gv$asm_disk_stat") == 1 and SIZES_SCRIPT.rstrip().endswith("exit")


@pytest.mark.parametrize("text", ["", row("1", 5), f"1|1|x\n{END}", f"1|x|o/a/b|5\n{END}", f"ORA-00942: no\n{END}"])
def test_an_answer_that_is_none_is_an_error(text: str) -> None:
    """An answer that ends early, holds an error, or another row is none at all."""
    with pytest.raises(ReplyError):
        read_sizes("exa1db01", text)


def cluster(**changes: Any) -> AsmFacts:
    return asm([group("DATA")], [asm_disk(NAME, group=1, header="MEMBER")], **changes)


def told(**sizes: int) -> list[Told]:
    return [Told(inst_id=inst[1:], grid_disk=NAME.lower(), size=size * GIB) for inst, size in sizes.items()]


HALF = asm([group("DATA", states={"1": "MOUNTED", "2": "DISMOUNTED"})], [asm_disk(NAME, group=1, header="MEMBER")])
SIZES: dict[str, tuple[Sequence[tuple[AsmFacts, Sequence[Told]]], int | None]] = {
    "all alike": ([(cluster(), told(i1=60, i2=60))], 60),
    "the largest counts": ([(cluster(), told(i1=60, i2=61))], 61),
    "one instance is silent": ([(cluster(), told(i1=60))], None),
    "one instance has none": ([(cluster(), told(i1=60, i2=0))], None),
    "mounted on one": ([(HALF, told(i1=60))], 60),
    "not mounted there, which says something": ([(HALF, told(i1=60, i2=60))], None),
    "something moves": ([(cluster(running=(operation("DATA"),)), told(i1=60, i2=60))], None),
    "something of no name moves": ([(cluster(running=(operation(""),)), told(i1=60, i2=60))], None),
    "another group moves": ([(cluster(running=(operation("RECO"),)), told(i1=60, i2=60))], 60),
    "no cluster has it": ([(asm([group("DATA")]), told(i1=60, i2=60))], None),
    "two clusters have it": ([(cluster(), told(i1=60, i2=60)), (cluster(), told(i1=60, i2=60))], None),
    "another cluster has never heard of it": ([(asm(), []), (cluster(), told(i1=60, i2=60))], 60),
    "another disk": ([(cluster(), [*told(i1=60, i2=60), Told(inst_id="3", grid_disk="x", size=1)])], 60),
}


@pytest.mark.parametrize(("clusters", "size"), SIZES.values(), ids=list(SIZES))
def test_only_what_every_instance_says_counts(
    clusters: Sequence[tuple[AsmFacts, Sequence[Told]]], size: int | None
) -> None:
    """The largest size counts, and only while the group is quiet and each instance that has it mounted says one."""
    found = sizes_over(clusters, [grid("CD_00_exa1cel01")])
    assert found == ({} if size is None else {NAME.lower(): size * GIB})
