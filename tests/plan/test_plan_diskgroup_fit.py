"""Whether grid disks are large enough for a disk group, before ASM says so."""

from __future__ import annotations

from dataclasses import replace

import pytest
from plan_factory import asm, asm_disk, group

from exacell.core.errors import RefusedError
from exacell.core.units import MIB
from exacell.plan.planners.diskgroup_disks import refuse_small, taken_by


@pytest.mark.parametrize(("disk", "fits"), [(400, True), (1, False)])
def test_the_way_out_names_an_allocation_unit_only_where_one_fits(disk: int, fits: bool) -> None:
    """Disks too small for the allocation unit are refused with the largest one that fits; where none does, with larger disks
    alone."""
    with pytest.raises(RefusedError, match="nothing was sent") as caught:
        refuse_small("DATA", "data", 64 * MIB, disk * MIB)
    assert ("fits" in caught.value.hint) is fits
    assert "au_size=0m" not in caught.value.hint
    assert "carve griddisk prefix=data with size=" in caught.value.hint


def test_disks_of_no_group_that_is_mounted_are_nobodys() -> None:
    """A MEMBER whose disk group ASM has not mounted is not told as the disk of another one that is dismounted, too."""
    taken = asm_disk("ssd_FD_00_exa1cel01", header="MEMBER")
    away, there = group("OLD", number=0), group("DATA", number=1)
    assert taken_by(asm([away, there], [taken]), [taken]) == "ssd_FD_00_exa1cel01 is MEMBER"
    used = replace(taken, group=1)
    assert taken_by(asm([away, there], [used]), [used]) == "ssd_FD_00_exa1cel01 is MEMBER of disk group DATA"
