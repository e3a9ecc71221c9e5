"""The cache's mode while CELLSRV is stopped: only where the release has that procedure, and the disks show no cache."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from plan_factory import CELLS, cell, disk, grid
from plan_guarding import guard, only

from exacell.cellcli.statement import parse
from exacell.core.errors import RefusedError
from exacell.core.units import GIB, MIB
from exacell.plan.facts import CellFacts
from exacell.plan.guards.cell import may_be_stopped
from exacell.plan.model import Op, Risk

ONE = CELLS[0]
TEXT = "alter cell flashCacheMode=writeback"
OLD = "11.2.3.2.1"
LEAST = 24 * GIB - 48 * MIB - 256 * MIB
"""What must be free on each of two flash disks of 24G beside what it keeps and its part of the flash log."""


def stopped(*free: int, release: str = OLD, **changes: Any) -> CellFacts:
    """A cell as it tells of itself with CELLSRV stopped, so much free on its flash disks."""
    disks = tuple(disk(f"FD_0{number}_{ONE}", free=size) for number, size in enumerate(free or (LEAST, LEAST)))
    found = cell(
        release=release,
        cellsrv="stopped",
        flash_cache=None,
        metrics=None,
        cell_disks=(disk(f"CD_00_{ONE}", free=0), *disks),
        grid_disks=(grid(f"CD_00_{ONE}", asm_mode="", deactivation="", status="inactive"),),
    )
    return replace(found, **changes)


@pytest.mark.parametrize("release", [OLD, "11.2.3.2.0", "11.2.3.3.1.140708", "12.1.2.3.7.180424"])
@pytest.mark.parametrize("mode", ["writeback", "writethrough", ""])
def test_the_mode_changes_with_cellsrv_stopped(release: str, mode: str) -> None:
    """Where the procedure of the release has CELLSRV stopped, the mode changes, and the disks are looked at again before."""
    step = only(guard(TEXT, stopped(release=release, mode=mode)))
    assert step.risk is Risk.PERFORMANCE
    assert [(c.object, c.attribute, c.op, c.value) for c in step.needs] == [
        ("service", "cellsrvStatus", Op.EQ, "stopped"),
        ("celldisk", "freeSpace", Op.AT_LEAST, LEAST),
        ("celldisk", "freeSpace", Op.AT_LEAST, LEAST),
    ]
    assert [c.where for c in step.needs[1:]] == [{"name": f"FD_0{number}_{ONE}"} for number in (0, 1)]


CACHED = (grid(f"CD_00_{ONE}", asm_mode="", cached_by=(f"FD_01_{ONE}",)),)
REFUSED: dict[str, tuple[CellFacts, str]] = {
    "a release that needs it not": (stopped(release="12.2.1.1.0"), "release 12.2.1.1.0 changes the mode while it runs"),
    "a newer one": (stopped(release="19.3.2.0.0"), "release 19.3.2.0.0 changes"),
    "an older one": (stopped(release="11.2.3.1.0"), "release 11.2.3.1.0 changes"),
    "an unknown one": (stopped(release=""), "release unknown"),
    "no flash disk": (stopped(cell_disks=(disk(f"CD_00_{ONE}"),)), "lists no flash disks"),
    "something is cached": (stopped(grid_disks=CACHED), f"grid disk DATA_CD_00_{ONE} is cachedBy FD_01_{ONE}"),
    "a cache of the rest": (stopped(0, 0), f"24G of FD_00_{ONE} are not free and not used by a grid disk"),
    "a little more than a log": (stopped(LEAST, LEAST - 1), f"of FD_01_{ONE} are not free and"),
    "a sick disk": (
        stopped(cell_disks=(disk(f"FD_00_{ONE}", free=LEAST), disk(f"FD_01_{ONE}", free=LEAST, status="not present"))),
        f"FD_01_{ONE} is not present",
    ),
    "a silent disk": (stopped(cell_disks=(disk(f"FD_00_{ONE}", free=24 * GIB, status=""),)), "in no known state"),
}


@pytest.mark.parametrize(("found", "said"), REFUSED.values(), ids=list(REFUSED))
def test_what_may_be_a_cache_is_not_left_behind(found: CellFacts, said: str) -> None:
    """With CELLSRV stopped a mode never changes over what may be a cache, whatever is accepted, and the way out is named."""
    with pytest.raises(RefusedError) as caught:
        guard(TEXT, found, accepted=CELLS)
    assert said in caught.value.message and caught.value.message.startswith(
        f"{TEXT}: CELLSRV of {ONE} is stopped, and "
    )
    assert f"online cell {ONE}" in caught.value.hint and "set flashcache mode" in caught.value.hint


def test_what_grid_disks_hold_is_no_cache() -> None:
    """A flash grid disk takes its part of its cell disk, in whatever case the cell names that; other disks' count not."""
    on_flash = grid(f"FD_00_{ONE}".upper(), size=GIB, asm_mode="")
    free = (LEAST - GIB, LEAST)
    assert only(guard(TEXT, stopped(*free, grid_disks=(on_flash,))))
    with pytest.raises(RefusedError, match="not free"):
        guard(TEXT, stopped(*free, grid_disks=(grid(f"CD_00_{ONE}", size=GIB, asm_mode=""),)))


def test_what_runs_is_judged_by_its_cache() -> None:
    """Where CELLSRV runs the flash cache itself is looked at, as ever."""
    step = only(guard(TEXT, stopped(cellsrv="running")))
    assert [(c.object, c.op) for c in step.needs] == [("flashcache", Op.ABSENT)]
    assert only(guard(TEXT, stopped(cellsrv="Stopped"))).needs[0].object == "service"


def test_the_mode_of_pmem_asks_for_its_own_cache() -> None:
    """Where CELLSRV is stopped pmemCacheMode is judged by the PMEM cache, whatever the flash disks and the release say."""
    step = only(guard("alter cell pmemCacheMode=writethrough", stopped(release="19.3.2.0.0")))
    assert [(c.object, c.op) for c in step.needs] == [("pmemcache", Op.ABSENT)]


@pytest.mark.parametrize(
    ("text", "may"),
    [
        (TEXT, True),
        ("alter cell FLASHCACHEMODE=writethrough", True),
        ("alter cell flashCacheMode=writeback, comment=x", False),
        ("alter cell pmemCacheMode=writeback", False),
        ("alter cell comment=x", False),
        ("drop flashcache", False),
        ("grant role r to user u", False),
    ],
)
def test_only_the_mode_alone_is_set_so(text: str, may: bool) -> None:
    """With CELLSRV stopped a statement sets the mode of the flash cache and nothing else."""
    assert may_be_stopped(parse(text)) is may
