"""Which grid disks CellCLI's own statement means on a cell: by name, ALL, medium, prefix and WHERE. Pure."""

from __future__ import annotations

import re
from dataclasses import replace

from exacell.cellcli.ownname import for_cell, has_own_name
from exacell.cellcli.statement import Change as CellChange
from exacell.cellcli.statement import Filter, Grant, Group, Media, Operator, Scalar, Setting, Statement, render
from exacell.plan.facts import CellFacts, GridDisk

_PLACE = "celldisk"
"""The setting that names an object of the cell, as the names themselves do."""


def own_of(statement: CellChange, cell: str) -> CellChange:
    """Return the statement with the cell's own name wherever ``{cell}`` stands in the names of its objects."""

    def own(setting: Setting) -> Setting:
        if setting.attribute.lower() != _PLACE or not isinstance(setting.value, Scalar):
            return setting
        return replace(setting, value=replace(setting.value, text=for_cell(setting.value.text, cell)))

    names = tuple(for_cell(name, cell) for name in statement.names)
    return replace(statement, names=names, settings=tuple(map(own, statement.settings)))


def without_names(statement: CellChange) -> CellChange:
    """Return the statement without what :func:`own_of` gives each cell."""
    rest = tuple(setting for setting in statement.settings if setting.attribute.lower() != _PLACE)
    return replace(statement, names=(), settings=rest)


_OWN_NAMES = frozenset(
    {("ALTER", "GRIDDISK"), ("DROP", "GRIDDISK"), ("CREATE", "GRIDDISK"), ("ALTER", "CELLDISK"), ("DROP", "CELLDISK")}
)
"""Statements that each cell gets with its own name where ``{cell}`` stands in the names of disks."""


def takes_own_name(statement: CellChange | Grant) -> bool:
    """Return whether each cell gets its own name wherever ``{cell}`` stands in a change; True where it stands nowhere."""
    rest: CellChange | Grant = statement
    if isinstance(statement, CellChange) and (statement.verb, statement.object) in _OWN_NAMES:
        rest = without_names(statement)
    return not has_own_name(render(rest))


def targets_of(fact: CellFacts, statement: CellChange) -> tuple[GridDisk, ...]:
    """Return the grid disks that the statement names on this cell."""
    if not statement.all:
        names = {name.lower() for name in statement.names}
        return tuple(grid for grid in fact.grid_disks if grid.name.lower() in names)
    grids = fact.grid_disks
    if statement.media is Media.HARDDISK:
        grids = tuple(grid for grid in grids if not grid.flash)
    elif statement.media is not None:
        grids = tuple(grid for grid in grids if grid.flash)
    grids = tuple(grid for grid in grids if all(_may_pass(grid, condition) for condition in statement.filters))
    starts = tuple(f"{prefix.lower()}_" for prefix in prefixes(statement))
    # The prefix is matched as the start of the name, the widest way in which a cell could read it.
    return tuple(grid for grid in grids if not starts or grid.name.lower().startswith(starts))


def means(statement: Statement, fact: CellFacts) -> bool:
    """Return whether a statement that names grid disks or cell disks names some of this cell's; True for any other statement."""
    if not isinstance(statement, CellChange) or statement.verb in ("CREATE", "IMPORT") or not statement.names:
        return True
    if statement.object == "GRIDDISK":
        return bool(targets_of(fact, statement))
    names = {name.lower() for name in statement.names}
    return statement.object != "CELLDISK" or any(disk.name.lower() in names for disk in fact.cell_disks)


def _may_pass(grid: GridDisk, condition: Filter) -> bool:
    """Whether a cell may take a disk for one that passes a WHERE: False only where its name or place rules it out.

    What else conditions speak of may move before the statement arrives.
    """
    wanted = condition.value.text
    match condition.attribute.lower():
        case "name":
            value = grid.name
        case "celldisk":
            value = grid.cell_disk
        case "disktype":
            value = "FlashDisk" if grid.flash else "HardDisk"
        case _:
            return True
    if condition.operator is Operator.EQUAL:
        return value != wanted if condition.negated else value.lower() == wanted.lower()
    if condition.operator is not Operator.LIKE:
        return True
    try:
        if condition.negated:
            return re.fullmatch(wanted, value) is None
        return re.search(wanted, value, re.IGNORECASE) is not None
    except re.error:
        return True


def prefixes(statement: CellChange) -> list[str]:
    """Return the words of prefix=, which is one text or a list."""
    return items(statement.setting("prefix"))


def items(value: object) -> list[str]:
    """Return the words of a value that is one text, with commas in it or without, or a list."""
    items = value.items if isinstance(value, Group) else (value,)
    return [part.strip() for item in items if isinstance(item, Scalar) for part in item.text.split(",") if part.strip()]


def names_made(fact: CellFacts, statement: CellChange) -> tuple[str, ...]:
    """Return the names of the grid disks that CREATE GRIDDISK makes on a cell; none where they can't be told beforehand."""
    names = list(statement.names)
    if statement.all:
        if statement.media not in (Media.FLASHDISK, Media.HARDDISK):
            return ()
        flash = statement.media is Media.FLASHDISK
        disks = [disk.name for disk in fact.cell_disks if (disk.flash if flash else disk.hard)]
        names = [f"{prefix}_{disk}" for prefix in prefixes(statement) for disk in disks]
    return tuple(names)
