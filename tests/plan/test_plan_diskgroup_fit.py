"""Whether grid disks are large enough for a disk group, before ASM says so."""

from __future__ import annotations

import pytest

from exacell.core.errors import RefusedError
from exacell.core.units import MIB
from exacell.plan.planners.diskgroup_disks import refuse_small


@pytest.mark.parametrize(("disk", "fits"), [(400, True), (1, False)])
def test_the_way_out_names_an_allocation_unit_only_where_one_fits(disk: int, fits: bool) -> None:
    """Disks too small for the allocation unit are refused with the largest one that fits; where none does, with larger disks
    alone."""
    with pytest.raises(RefusedError, match="nothing was sent") as caught:
        refuse_small("DATA", "data", 64 * MIB, disk * MIB)
    assert ("fits" in caught.value.hint) is fits
    assert "au_size=0m" not in caught.value.hint
    assert "carve griddisk prefix=data with size=" in caught.value.hint
