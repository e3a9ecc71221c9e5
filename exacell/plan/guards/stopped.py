"""Guards for the cache's mode while CELLSRV is stopped, as old releases want it: then the cell disks show that no cache is left.

Before 11.2.3.3.1 the mode changes only so, and public procedures for 11.2.3.3.1 and 12.1 do it so too. LIST FLASHCACHE needs
CELLSRV; LIST CELLDISK and cachedBy do not. Source: reference cellcli.md 6.1 (old procedure), 6.4, 6.6. Pure.
"""

from __future__ import annotations

from collections.abc import Sequence

from exacell.cellcli.statement import Change, Statement
from exacell.core.errors import RefusedError
from exacell.core.units import MIB, format_size
from exacell.plan import facts as f
from exacell.plan.facts import CellDisk, CellFacts
from exacell.plan.model import Check, Op
from exacell.plan.planners.availability import services_check

STOPPED_FACTS = (f.CELL, f.CELLDISK, f.GRIDDISK_STOPPED)
"""What a cell tells while its CELLSRV is stopped, and this guard judges by."""

_UNTIL = "12.2"
"""Releases before this have the procedure."""

_KEPT = 48 * MIB
"""What a flash cell disk keeps for itself."""

_LOG = 512 * MIB
"""The size of a flash log, over all flash disks of a cell, unless somebody gave another one."""


def may_be_stopped(statement: Statement) -> bool:
    """Return whether a statement sets the mode of the flash cache and nothing else: CELLSRV may be stopped for that."""
    return isinstance(statement, Change) and [s.attribute.lower() for s in statement.settings] == ["flashcachemode"]


def refuse_stopped(text: str, fact: CellFacts) -> None:
    """Raise unless a cell whose CELLSRV is stopped has no flash cache, as its disks show, and its release changes the mode so.

    Args:
        fact: with ``STOPPED_FACTS`` read.

    Raises:
        RefusedError: naming what is in the way.
    """
    why = _why_not(fact)
    if why:
        raise RefusedError(
            f"{text}: CELLSRV of {fact.cell} is stopped, and {why}; nothing was sent",
            hint=f"online cell {fact.cell} starts CELLSRV and brings its grid disks back; set flashcache mode=… does all of it",
        )


def _why_not(fact: CellFacts) -> str:
    if not fact.at_least(f.MODE_SINCE) or fact.at_least(_UNTIL):
        return f"release {fact.release or 'unknown'} changes the mode while it runs"
    if not fact.flash_disks:
        return "it tells of no flash disk, which would show that there is no flash cache"
    for grid in fact.grid_disks:
        if grid.cached_by:
            return f"grid disk {grid.name} is cachedBy {grid.cached_by[0]}: drop the flash cache first (write-back: flushed)"
    log = _LOG // len(fact.flash_disks)
    for disk in fact.flash_disks:
        if disk.status != "normal":
            return f"{disk.name} is {disk.status or 'in no known state'}"
        taken = _taken(fact, disk)
        if taken > _KEPT + log:
            return (
                f"{format_size(taken)} of {disk.name} are neither free nor a grid disk's: a flash cache may be there; drop it "
                "first (write-back: flushed)"
            )
    return ""


def _taken(fact: CellFacts, disk: CellDisk) -> int:
    """Return the bytes of a cell disk that are neither free nor in a grid disk."""
    grids = sum(grid.size for grid in fact.grid_disks if grid.cell_disk.lower() == disk.name.lower())
    return disk.size - disk.free - grids


def still_stopped(fact: CellFacts) -> Sequence[Check]:
    """Return what is read again right before the mode changes: CELLSRV is stopped still, and no cache has come."""
    free = (
        Check(
            object="celldisk",
            attribute="freeSpace",
            op=Op.AT_LEAST,
            value=disk.free,
            where={"name": disk.name},
            why="the mode changes while there is no flash cache",
        )
        for disk in fact.flash_disks
    )
    return (*services_check("cellsrv", "stopped"), *free)
