"""What of persistent memory stands in the way of a flush, and what does not."""

from __future__ import annotations

import pytest
from plan_factory import CELLS, cell, disk
from plan_guarding import pmem

from exacell.core.errors import RefusedError
from exacell.plan.facts import CellDisk, CellFacts
from exacell.plan.model import Op
from exacell.plan.planners.flashcache import flush_plan
from exacell.plan.planners.memorycache import memory_flush_plan
from exacell.plan.planners.pmem import unhealthy

DISKS = cell().cell_disks
FAILED = disk("CD_09_x", status="failed")
ERROR = disk("CD_09_x", flush_error="E1")
FAILED_PMEM = disk("PM_00_x", pmem=True, status="failed")
ERROR_PMEM = disk("PM_00_x", pmem=True, flush_error="E1")

HEALTH = {
    "no PMEM at all": (cell(), ""),
    "PMEM as usual": (pmem(), ""),
    "degraded": (pmem("warning - degraded"), "its PMEMCACHE is warning - degraded, not normal"),
    "a PMEM disk failed": (pmem(cell_disks=(FAILED_PMEM,)), "PMEM cell disk PM_00_x is failed, not normal"),
    "a PMEM disk could not flush": (pmem(cell_disks=(ERROR_PMEM,)), "PMEM cell disk PM_00_x reports flushError E1"),
    "a hard disk failed": (pmem(cell_disks=(FAILED,)), ""),
    "a hard disk could not flush": (pmem(cell_disks=(ERROR,)), ""),
}


@pytest.mark.parametrize("case", HEALTH)
def test_only_pmem_itself_is_in_the_way_of_its_flush(case: str) -> None:
    """PMEM can't be proven flushed while its cache or a disk of its own is not normal; other disks do not count."""
    fact, reason = HEALTH[case]
    assert unhealthy(fact).startswith(reason)
    assert bool(unhealthy(fact)) is bool(reason)


def plan_of_flush(fact: CellFacts) -> None:
    flush_plan("t1", {fact.cell: fact}, recreate=False, statement="x")


@pytest.mark.parametrize("disks", [(*DISKS, FAILED_PMEM), (*DISKS, ERROR_PMEM), DISKS])
def test_write_through_pmem_holds_up_no_flush_of_flash(disks: tuple[CellDisk, ...]) -> None:
    """The flash cache is flushed behind a write-through PMEM cache in whatever state, behind a write-back one only if healthy."""
    plan_of_flush(pmem("warning - degraded", "writethrough", cell_disks=disks))
    with pytest.raises(RefusedError, match="PMEMCACHE is warning - degraded"):
        plan_of_flush(pmem("warning - degraded", cell_disks=disks))


def test_a_failed_hard_disk_holds_up_no_flush_of_write_through_pmem() -> None:
    """A write-through PMEM cache has nothing to write to disks, so that it is flushed whatever they are."""
    plan = memory_flush_plan("t1", {CELLS[0]: pmem(mode="writethrough", cell_disks=(FAILED, ERROR))}, statement="x")
    assert [step.statement for step in plan.stages[0].steps] == ["ALTER PMEMCACHE ALL FLUSH NOWAIT"]


def test_a_flush_of_pmem_that_is_gone_is_waited_for_no_longer() -> None:
    """Where a cell restarts, or somebody cancels, the flush that comes first is not under way any more: it can not end well."""
    plan = flush_plan("t1", {CELLS[0]: pmem()}, recreate=False, statement="x")
    (step,) = next(stage for stage in plan.stages if stage.key == "pmemflush").steps
    (hope,) = step.hopes
    assert (hope.object, hope.attribute, hope.op) == ("pmemcache", "status", Op.IN)
    assert {"normal - flushing", "normal - flushed"} <= set(hope.value) and "normal" not in hope.value
    assert "has restarted" in hope.why
