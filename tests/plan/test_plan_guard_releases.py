"""What a release changes in the guards: the same statement is judged by what cells of that release can hold dirty."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import pytest
from plan_factory import CELLS, cell
from plan_guarding import flushed, guard, only, pmem

from exacell.core.errors import RefusedError
from exacell.plan.facts import FLUSHED
from exacell.plan.model import Plan
from tests.support.every import every

RELEASES = (
    "11.2.3.2.1.130109",
    "12.1.2.1.0.141206",
    "12.2.1.1.0.170126",
    "18.1.5.0.0.180506",
    "19.3.2.0.0.191119",
    "20.1.0.0.0.200616",
    "23.1.0.0.0.230517",
    "24.1.4.0.0.240913",
    "25.1.0.0.0.241130",
    "26.1.0.0.0.260131",
)
PERSISTENT = ("19.3.2.0.0.191119", "20.1.0.0.0.200616", "22.1.9.0.0.230302")
TAKES_FLASH = (
    "drop flashcache",
    "alter flashcache all size=20G",
    "alter flashcache celldisk='FD_00_exa1cel01'",
    "alter cell flashCacheMode=writethrough",
    "alter cell flashCacheMode=writeback",
    "alter cell flashCacheCompress=true",
)
TAKES_PMEM = ("drop pmemcache", "drop xrmemcache", "alter pmemcache all size=1g", "alter xrmemcache all size=1g")


def judged(text: str, release: str, *, mode: str = "writeback") -> Plan:
    """Return the plan of a statement on a cell of a release whose cache is not flushed."""
    return guard(text, replace(cell(), release=release, mode=mode))


@every(product(RELEASES, TAKES_FLASH, ["writeback", ""]))
def test_an_unproven_cache_stays(release: str, text: str, mode: str) -> None:
    """On every release that has write-back, also where the mode is not told, an unflushed cache is not taken away."""
    with pytest.raises(RefusedError, match="may hold the only copy of data"):
        judged(text, release, mode=mode)


@pytest.mark.parametrize("release", RELEASES)
def test_a_proven_cache_goes(release: str) -> None:
    """On every release a flushed cache may be dropped, and the proof is looked at again right before."""
    step = only(guard("drop flashcache", replace(flushed(CELLS[0]), release=release)))
    assert FLUSHED in [need.value for need in step.needs]


@pytest.mark.parametrize("text", TAKES_PMEM)
@pytest.mark.parametrize("release", PERSISTENT)
def test_an_unproven_pmem_cache_stays(release: str, text: str) -> None:
    """Where PMEM may be write-back, no name of its cache takes it away unflushed."""
    with pytest.raises(RefusedError, match="may hold the only copy of data"):
        guard(text, replace(pmem(), release=release))
    with pytest.raises(RefusedError, match="may hold the only copy of data"):
        guard(text, replace(pmem(mode=""), release=release))
