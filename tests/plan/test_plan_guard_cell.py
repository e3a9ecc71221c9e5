"""CellCLI's own statements on the cell: its services and its modes."""

from __future__ import annotations

from dataclasses import replace

import pytest
from plan_factory import CELLS, cell, grid
from plan_guarding import flushed, guard, only, pmem

from exacell.cellcli.statement import Change, parse
from exacell.errors import RefusedError
from exacell.plan.guard import guard_plan
from exacell.plan.model import Op, Risk


@pytest.mark.parametrize("verb", ["shutdown", "restart"])
@pytest.mark.parametrize("service", ["cellsrv", "CELLSRV", "all"])
def test_stopping_cellsrv_asks_asm(verb: str, service: str) -> None:
    """CELLSRV stops only where ASM can spare the cell's disks, on one cell at a time, and that is read again."""
    text = f"alter cell {verb} services {service}"
    if verb == "shutdown":
        with pytest.raises(RefusedError, match="failure group"):
            guard(text)
    else:
        # A restart brings the disks back: the cells take turns.
        assert all(step.offline and step.online and step.proves for step in guard(text).steps)
    step = only(guard(text, cell()))
    assert step.offline
    assert step.risk is Risk.REDUNDANCY
    assert step.needs[0].attribute == "asmDeactivationOutcome"
    with pytest.raises(RefusedError, match="must not go offline"):
        guard(text, cell(grid_disks=(grid("CD_00_x", deactivation="No"),)))


def test_a_service_that_is_not_said_is_all_of_them() -> None:
    """A statement without a service, whoever built it, is guarded as one for all services."""
    statement = parse("alter cell shutdown services cellsrv")
    assert isinstance(statement, Change)
    plan = guard_plan("t1", {CELLS[0]: cell()}, replace(statement, argument=""), text="x", accepted=(), headers=None)
    assert only(plan).offline
    assert only(plan).needs


def test_ignore_redundancy_never_stops_two_cells() -> None:
    """Accepting it for one cell is possible, for two failure groups at once it is not."""
    text = "alter cell shutdown services cellsrv ignore redundancy"
    with pytest.raises(RefusedError, match=r"disks of exa1cel\[01-03\] offline together"):
        guard(text, accepted=CELLS)


def test_ignore_redundancy_is_a_loss() -> None:
    """IGNORE REDUNDANCY needs the loss accepted by the cell's name."""
    text = "alter cell shutdown services cellsrv ignore redundancy"
    with pytest.raises(RefusedError, match="IGNORE REDUNDANCY stops the cell"):
        guard(text, cell())
    assert guard(text, cell(), accepted=[CELLS[0]]).risk is Risk.DATA


def test_drop_cell_is_a_loss() -> None:
    """DROP CELL takes everything away."""
    with pytest.raises(RefusedError, match="takes everything on the cell away"):
        guard("drop cell", cell())
    assert guard("drop cell", cell(), accepted=[CELLS[0]]).risk is Risk.DATA


def test_mode_changes_without_a_cache_only() -> None:
    """flashCacheMode changes where there is no cache, which is looked at again; a cache must go first."""
    text = "alter cell flashCacheMode=writeback"
    step = only(guard(text, cell(flash_cache=None)))
    assert [(n.object, n.op) for n in step.needs] == [("flashcache", Op.ABSENT)]
    with pytest.raises(RefusedError, match="may hold the only copy"):
        guard(text, cell())
    with pytest.raises(RefusedError, match="still has a flash cache: drop it first"):
        guard(text, cell(mode="writethrough"))
    with pytest.raises(RefusedError, match="still has a flash cache: drop it first"):
        guard(text, flushed())


def test_modes_change_only_without_caches() -> None:
    """flashCacheMode and pmemCacheMode are asked for by name while a cache of the kind is left, or PMEM needs it."""
    with pytest.raises(RefusedError, match="still has a PMEM cache"):
        guard("alter cell pmemCacheMode=writethrough", pmem())
    with pytest.raises(RefusedError, match="needs a write-back flash cache"):
        guard("alter cell flashCacheMode=writethrough", pmem(flash_cache=None))
    step = only(guard("alter cell flashCacheMode=writethrough", cell(flash_cache=None)))
    assert (step.needs[0].op, step.proves[0].value) == (Op.ABSENT, "writethrough")
