"""Which kinds of disks ALL and its medium mean on a cell, so far as anybody but the cell can tell. Pure.

From 24.1 on, ALL alone means the primary medium: the hard disks of a cell that has some, one kind of flash elsewhere; and
on a cell without hard disks nothing that LIST prints tells the two kinds of flash apart. Source: reference cellcli.md 2.4.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from exacell.cellcli.statement import Change as CellChange
from exacell.cellcli.statement import Media
from exacell.plan.facts import CellFacts, GridDisk

DISKS = frozenset(("CELLDISK", "GRIDDISK"))
"""Objects that a medium chooses."""

_HARD, _FLASH, _PMEM = frozenset(("harddisk",)), frozenset(("flashdisk",)), frozenset(("pmem",))

_PRIMARY_SINCE = "24.1"


def kinds_meant(fact: CellFacts, statement: CellChange) -> frozenset[str] | None:
    """Return the diskType, in small letters, of what ALL means on a cell; None where only the cell knows it."""
    newer = not fact.release or fact.at_least(_PRIMARY_SINCE)
    mixed = any(disk.hard for disk in fact.cell_disks)
    match statement.media:
        case Media.HARDDISK:
            return _HARD
        case Media.PMEM:
            return _PMEM
        case Media.CAPACITY:
            return None
        case None if not newer:
            return _HARD | _FLASH | _PMEM
        case Media.FLASHDISK if not newer:
            return _FLASH
    if not mixed or not fact.release:
        return None
    return _HARD if statement.media is None else _FLASH


def grids_meant(fact: CellFacts, statement: CellChange, named: Sequence[GridDisk]) -> tuple[GridDisk, ...] | None:
    """Return those of ``named`` (all that the statement may mean) that it does mean; None where only the cell knows.

    What a WHERE leaves of them only the cell knows, too.
    """
    if statement.filters:
        return None
    if not statement.all:
        return tuple(named)
    kinds = kinds_meant(fact, statement)
    return None if kinds is None else tuple(grid for grid in named if (_FLASH if grid.flash else _HARD) <= kinds)


def rows_meant(
    fact: CellFacts, statement: CellChange, rows: Sequence[Mapping[str, Any]]
) -> Sequence[Mapping[str, Any]] | None:
    """Return the rows of LIST that ALL means, of disks with their diskType; None where only the cell knows which these are."""
    if not statement.all or statement.object not in DISKS:
        return rows
    kinds = kinds_meant(fact, statement)
    return None if kinds is None else [row for row in rows if str(row.get("diskType")).lower() in kinds]
