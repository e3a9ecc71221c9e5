"""What ASM keeps of a disk group for itself, and the least disk for an allocation unit."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import pytest
from plan_factory import asm, asm_disk, group

from exacell.core.errors import RefusedError
from exacell.core.units import ALLOCATION_UNIT, GIB, MIB
from exacell.plan.asmfacts import AsmDisk, AsmFacts, DiskGroup
from exacell.plan.asmspace import AU_SIZES, COPIES, Keeping, keeps_failgroup, largest_au, least_disk
from tests.support.every import every

PUBLISHED = [16, 16, 16]
"""Disks a cell of the empty group whose lsdg is published: 48 of 6144 MB. Source: reference asm.md section 7."""


def test_as_published() -> None:
    """The usable space of an empty group comes out as a published lsdg of a real rack shows it."""
    keeping = Keeping(redundancy="normal", by_failgroup=False)
    assert keeping.metadata(48) == (294912 - 294708) * MIB
    assert keeping.usable(6144 * MIB, PUBLISHED) == 144282 * MIB


@every(product(COPIES, [False, True], AU_SIZES, [1, 700 * MIB + 1, 10 * GIB]))
def test_what_is_asked_can_be_used_and_no_less_would_do(
    redundancy: str, by_failgroup: bool, au_size: int, asked: int
) -> None:
    """A group on disks of the size that is found has at least what was asked, and on the next smaller size less."""
    keeping, spread = Keeping(redundancy=redundancy, au_size=au_size, by_failgroup=by_failgroup), [4, 4, 2]
    each = keeping.each(asked, spread)
    step = max(ALLOCATION_UNIT, au_size)
    assert keeping.usable(each, spread) >= asked
    assert each % ALLOCATION_UNIT == 0 and each >= least_disk(au_size)
    assert keeping.usable(each - step, spread) < asked or each - step < least_disk(au_size)


def test_no_size_will_do() -> None:
    """Where all of a group would stay free for the mirrors, no size is named."""
    with pytest.raises(RefusedError, match="2 grid disks on 2 cells can't give usable space with high redundancy"):
        Keeping(redundancy="high").each(GIB, [1, 1])


def mirrored(required: int, kind: str = "NORMAL") -> AsmFacts:
    disks: list[AsmDisk] = [
        asm_disk(f"DATA_CD_0{n}_c{cell}", group=1, failgroup=f"C{cell}", os_mb=100)
        for cell in (1, 2, 3)
        for n in (0, 1, 2)
    ]
    found: DiskGroup = group(type=kind, required_mirror_free_mb=required)
    return asm([found], disks)


@pytest.mark.parametrize(
    ("facts", "found"),
    [
        (mirrored(100), False),
        (mirrored(300), True),
        (mirrored(292), True),
        (mirrored(200, "HIGH"), False),
        (mirrored(600, "HIGH"), True),
        (mirrored(0, "EXTERN"), None),
        (mirrored(0), None),
        (replace(mirrored(100), disks=mirrored(100).disks[::3]), None),
        (asm(), None),
    ],
)
def test_the_racks_own_groups_tell_what_stays_free(facts: AsmFacts, found: bool | None) -> None:
    """required_mirror_free_mb of a mounted group tells whether a disk or a failure group is meant; else nobody knows."""
    assert keeps_failgroup(facts) is found


def test_least_disk() -> None:
    """A disk has seven allocation units at least, and the largest unit that fits is found."""
    assert least_disk(64 * MIB) == 448 * MIB
    assert [largest_au(size * MIB) for size in (6, 7, 27, 28, 447, 448, 9999)] == [
        size * MIB for size in (0, 1, 2, 4, 32, 64, 64)
    ]
