"""CellCLI's own changing statements as the guards plan them, for tests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from plan_factory import CELLS, cache, cell, rack

from exacell.cellcli.statement import Change, Grant, parse
from exacell.core.units import GIB
from exacell.plan.facts import FLUSHED, CellFacts, PmemCache
from exacell.plan.guards.choice import guard_plan
from exacell.plan.model import Plan, Step


def guard(text: str, *facts: CellFacts, accepted: Sequence[str] = (), headers: Mapping[str, str] | None = None) -> Plan:
    """Return the plan of a statement on these cells, on a rack of usual ones when none is given."""
    statement = parse(text)
    assert isinstance(statement, (Change, Grant))
    cells = {fact.cell: fact for fact in facts or rack().values()}
    return guard_plan("t1", cells, statement, text=text, accepted=accepted, headers=headers)


def only(plan: Plan) -> Step:
    """Return the only step of a plan."""
    assert len(plan.steps) == 1
    return plan.steps[0]


def flushed(name: str = CELLS[0]) -> CellFacts:
    """Return a cell whose write-back flash cache is proven flushed."""
    return cell(name, flash_cache=cache(name, status=FLUSHED))


def bare(name: str = CELLS[0], free: int = 23 * GIB, **changes: Any) -> CellFacts:
    """Return a cell without flash cache and flash log, and so much free on each of its two flash disks."""
    found = cell(name, flash_cache=None, flash_log=0)
    disks = tuple(replace(disk, free=free) if disk.flash else disk for disk in found.cell_disks)
    return replace(found, **{"cell_disks": disks, **changes})


def pmem(status: str = "normal", mode: str = "writeback", **changes: Any) -> CellFacts:
    """A cell with a PMEM cache."""
    cache_ = PmemCache(name="exa1cel01_PMEMCACHE", size=1 << 40, status=status)
    return cell(pmem_mode=mode, pmem_cache=cache_, **changes)
