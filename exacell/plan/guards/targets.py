"""Find out which disks CellCLI's own statement means on a cell, and whether its words are typing errors. Pure.

Grid disks are selected by name, ALL, medium, prefix and WHERE. From 24.1 on, ALL alone means the primary medium: the hard disks
if the cell has any, else one kind of flash. On a cell without hard disks, LIST prints nothing that distinguishes the two
kinds of flash. Source: reference cellcli.md 2.4.

The name of a missing disk may be a typing error for an existing one. A statement that a release does not have is not sent to it.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from exacell.cellcli.fold import for_cell, has_own_name
from exacell.cellcli.releases import ended_action
from exacell.cellcli.statement import (
    Change as CellChange,
    Filter,
    Grant,
    Group,
    Media,
    Operator,
    Scalar,
    Setting,
    Statement,
    render,
)
from exacell.core.cellset import fold, grouped
from exacell.core.errors import RefusedError
from exacell.core.meant import refuse_slip
from exacell.plan.facts import CellFacts, GridDisk

_PLACE = "celldisk"
"""The setting whose value is the name of an object of the cell, like the names themselves."""


def own_of(statement: CellChange, cell: str) -> CellChange:
    """Return the statement with the cell's own name in place of ``{cell}`` in the names of its objects."""

    def own(setting: Setting) -> Setting:
        if setting.attribute.lower() != _PLACE or not isinstance(setting.value, Scalar):
            return setting
        return replace(setting, value=replace(setting.value, text=for_cell(setting.value.text, cell)))

    names = tuple(for_cell(name, cell) for name in statement.names)
    return replace(statement, names=names, settings=tuple(map(own, statement.settings)))


def without_names(statement: CellChange) -> CellChange:
    """Return the statement without the names that :func:`own_of` fills in for each cell."""
    rest = tuple(setting for setting in statement.settings if setting.attribute.lower() != _PLACE)
    return replace(statement, names=(), settings=rest)


_OWN_NAMES = frozenset(
    {("ALTER", "GRIDDISK"), ("DROP", "GRIDDISK"), ("CREATE", "GRIDDISK"), ("ALTER", "CELLDISK"), ("DROP", "CELLDISK")}
)
"""Statements in which ``{cell}`` in disk names is replaced by each cell's own name."""


def takes_own_name(statement: CellChange | Grant) -> bool:
    """Return whether ``{cell}`` in a change is replaced by each cell's own name; True if it does not appear."""
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
    # The prefix matches any name that begins with it, the widest meaning that a cell could use.
    return tuple(grid for grid in grids if not starts or grid.name.lower().startswith(starts))


def refuse_one_name(text: str, statement: CellChange, disks: int) -> None:
    """Raise RefusedError if several disks would get one name.

    Raises:
        RefusedError: names it. Source: reference cellcli.md 1.4, name.
    """
    name = statement.setting("name")
    if name is not None and disks > 1:
        rendered = name.text if isinstance(name, Scalar) else str(name)
        raise RefusedError(
            f"{text}: {disks} disks would all have the name {rendered}, but each needs its own; nothing was sent",
            hint="one disk at a time",
        )


def means(statement: Statement, fact: CellFacts) -> bool:
    """Return whether a statement that names grid disks or cell disks names any of this cell; True for all other statements."""
    if not isinstance(statement, CellChange) or statement.verb in ("CREATE", "IMPORT") or not statement.names:
        return True
    if statement.object == "GRIDDISK":
        return bool(targets_of(fact, statement))
    names = {name.lower() for name in statement.names}
    return statement.object != "CELLDISK" or any(disk.name.lower() in names for disk in fact.cell_disks)


def _may_pass(grid: GridDisk, condition: Filter) -> bool:
    """Return whether a disk may match a WHERE; False only if its name or place rules that out.

    Other attributes in conditions may change before the statement arrives.
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


def names_made(fact: CellFacts, statement: CellChange, full: Collection[str] = ()) -> tuple[str, ...]:
    """Return the names of the grid disks that CREATE GRIDDISK makes on a cell; empty if they can't be known in advance.

    Args:
        full: the cell disks that ALL skips.
    """
    names = list(statement.names)
    if statement.all:
        if statement.media not in (Media.FLASHDISK, Media.HARDDISK):
            return ()
        flash = statement.media is Media.FLASHDISK
        disks = [
            disk.name for disk in fact.cell_disks if (disk.flash if flash else disk.hard) and disk.name not in full
        ]
        names = [f"{prefix}_{disk}" for prefix in prefixes(statement) for disk in disks]
    return tuple(names)


DISKS = frozenset(("CELLDISK", "GRIDDISK"))
"""Objects that a medium, such as FLASHDISK, can select."""

_HARD, _FLASH, _PMEM = frozenset(("harddisk",)), frozenset(("flashdisk",)), frozenset(("pmem",))

_PRIMARY_SINCE = "24.1"


def kinds_meant(fact: CellFacts, statement: CellChange) -> frozenset[str] | None:
    """Return the diskTypes, in lower case, that ALL means on a cell; None if only the cell knows them."""
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
    """Return the grid disks of ``named`` that the statement means; None if only the cell knows them.

    Only the cell knows which disks match a WHERE.
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
    """Return the rows of LIST (with diskType for disks) for the objects that ALL means; None if only the cell knows them."""
    if not statement.all or statement.object not in DISKS:
        return rows
    kinds = kinds_meant(fact, statement)
    return None if kinds is None else [row for row in rows if str(row.get("diskType")).lower() in kinds]


def refuse_slips(facts: Mapping[str, CellFacts], statement: CellChange, text: str) -> None:
    """Raise RefusedError if a statement on existing grid disks or cell disks names a missing one with a similar name.

    Raises:
        RefusedError: asks which one is meant.
    """
    if statement.verb not in ("ALTER", "DROP") or not all(fact.read_now for fact in facts.values()):
        return
    if statement.object == "GRIDDISK":
        grids = [grid for fact in facts.values() for grid in fact.grid_disks]
        _refuse_short(facts, statement, text, "grid disk", [grid.name for grid in grids])
        refuse_slip(text, "grid disk", statement.names, [grid.name for grid in grids])
        known = [grid.prefix for grid in grids]
        started = [
            word
            for word in prefixes(statement)
            if not any(g.name.lower().startswith(f"{word.lower()}_") for g in grids)
        ]
        refuse_slip(text, "grid disk with the prefix", started, known)
    elif statement.object == "CELLDISK":
        disks = [disk.name for fact in facts.values() for disk in fact.cell_disks]
        _refuse_short(facts, statement, text, "cell disk", disks)
        refuse_slip(text, "cell disk", statement.names, disks)


def _refuse_short(cells: Iterable[str], statement: CellChange, text: str, kind: str, known: Sequence[str]) -> None:
    """Raise RefusedError if a disk is named without its cell: CD_03 for CD_03_exa1cel01.

    Raises:
        RefusedError: asks which one is meant.
    """
    own = [cell.split(".")[0].lower() for cell in cells]
    for name in statement.names:
        meant = [disk for disk in known if disk.lower() in [f"{name.lower()}_{cell}" for cell in own]]
        if meant and name.lower() not in [disk.lower() for disk in known]:
            each = f", or {name}_{{cell}} for each cell's own" if len(meant) > 1 else ""
            raise RefusedError(
                f"{text}: there is no {kind} {name}; nothing was sent", hint=f"did you mean {meant[0]}{each}?"
            )


def refuse_ended(facts: Mapping[str, CellFacts], statement: CellChange, text: str) -> None:
    """Raise RefusedError if a cell's release no longer has the statement: ACTIVE of an IORM plan, which is always active now.

    A statement that a release does not have yet is a warning: a patch may have added it.

    Raises:
        RefusedError: names the cells, and the last release that has it.
    """
    ended = ((ended_action(statement, fact.release), cell) for cell, fact in facts.items())
    for said, cells in grouped((said, cell) for said, cell in ended if said).items():
        rest = [cell for cell in facts if cell not in cells]
        raise RefusedError(
            f"{text}: refused on {fold(cells)}: {said}; nothing was sent",
            hint=f"on {fold(rest)} {text}" if rest else _INSTEAD.get((statement.object, statement.action), ""),
        )


_ALWAYS_ON = "the plan is always active: objective=basic limits its effect most"
_INSTEAD = {("IORMPLAN", "ACTIVE"): _ALWAYS_ON, ("IORMPLAN", "INACTIVE"): _ALWAYS_ON}
"""What to do instead, if there is a way."""
