"""Guard CREATE: a lack of space or disks on a cell is reported before the question. Pure.

If the same text has changed the cell before (``CellFacts.read_now`` is False), nothing is refused: the cell itself decides.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from exacell.cellcli.statement import Change as CellChange
from exacell.core.cellset import fold, grouped
from exacell.core.errors import ExacellError, RefusedError
from exacell.core.meant import near
from exacell.core.units import ALLOCATION_UNIT, exact_size, parse_size, round_down, size_text, whole_size
from exacell.plan.facts import CellDisk, CellFacts, rounded_cache
from exacell.plan.guards.targets import items, kinds_meant, own_of, prefixes
from exacell.plan.planners.carve import held_by, taken_prefix


def having_disks(facts: Mapping[str, CellFacts], statement: CellChange, text: str) -> dict[str, CellFacts]:
    """Return the cells that have the cell disks which CREATE names; all cells if it names no cell disk.

    Raises:
        RefusedError: no cell has them, or one has only some of them.
    """
    found: dict[str, CellFacts] = {}
    known = [disk.name for fact in facts.values() for disk in fact.cell_disks]
    for cell, fact in facts.items():
        named = items(own_of(statement, cell).setting("celldisk"))
        here = {disk.name.lower() for disk in fact.cell_disks}
        missing = [name for name in named if name.lower() not in here]
        if not missing or not fact.read_now:
            found[cell] = fact
        elif len(missing) < len(named):
            raise _no_disk(text, missing[0], cell, known)
    if not found:
        raise _no_disk(text, items(own_of(statement, next(iter(facts))).setting("celldisk"))[0], fold(facts), known)
    return found


def _no_disk(text: str, name: str, where: str, known: Collection[str]) -> RefusedError:
    meant = near(name, known)
    return RefusedError(
        f"{text}: there is no cell disk {name} on {where}; nothing was sent",
        hint=f"did you mean {' or '.join(meant)}?" if meant else "list celldisk",
    )


def refuse_grid_room(facts: Mapping[str, CellFacts], statement: CellChange, text: str) -> None:
    """Raise RefusedError if cell disks are too small, too full or not normal for the grid disks that CREATE makes on them.

    Without a size each grid disk takes the free space, and ALL skips full disks (``passed_over``).

    Raises:
        RefusedError: names cell and disk.
    """
    each = _each(statement, text)
    for cell, fact in facts.items():
        disks = places(fact, own_of(statement, cell)) if fact.read_now else []
        bad = next((disk for disk in disks if disk.status not in ("", "normal")), None)
        if bad is not None:
            raise RefusedError(
                f"{text}: {cell}: {bad.name} is {bad.status}, no grid disk can be made on it; nothing was sent",
                hint="repair or replace it first, or give the other cell disks one by one",
            )
        full = [disk for disk in disks if disk.free < (each or ALLOCATION_UNIT)]
        if full and (each or len(full) == len(disks)):
            wanted = f", {exact_size(each)} are needed" if each else ", less than the 16M of the smallest grid disk"
            raise RefusedError(
                f"{text}: {cell}: {full[0].name} has {size_text(full[0].free)} free{wanted}; nothing was sent",
                hint=held_by(fact, full[0].name),
            )


def passed_over(fact: CellFacts, statement: CellChange) -> list[str]:
    """Return the cell disks of a cell that CREATE GRIDDISK ALL skips, because less than 16M is free on them.

    CellCLI names them in one line, "Cell disks were skipped", which is no failure. Source: a published session. A full disk that
    the statement names was refused before.
    """
    if not fact.read_now:
        return []
    return [disk.name for disk in places(fact, statement) if disk.free < ALLOCATION_UNIT]


def refuse_beside(facts: Mapping[str, CellFacts], statement: CellChange, text: str) -> None:
    """Raise RefusedError if grid disks on another kind of disk have the prefix of the new ones, given by PREFIX= or in names.

    ``release griddisk`` and a disk string take all disks of a prefix, and the others may belong to a disk group.

    Raises:
        RefusedError: names the others and their disk group.
    """
    known = {fact.cell: {disk.name.lower(): disk.kind for disk in fact.cell_disks} for fact in facts.values()}
    having = grouped(
        (grid.prefix.lower(), (kind, grid))
        for cell, fact in facts.items()
        for grid in (fact.grid_disks if fact.read_now else ())
        if (kind := known[cell].get(grid.cell_disk.lower()))
    )
    for cell, fact in facts.items():
        for prefix, kinds in _prefixes_made(own_of(statement, cell), fact, known[cell]):
            others = [grid for kind, grid in having.get(prefix.lower(), ()) if kind not in kinds]
            if others and prefix and kinds:
                raise taken_prefix(text, prefix, others, "another kind of disk")


def _prefixes_made(
    statement: CellChange, fact: CellFacts, known: Mapping[str, str]
) -> list[tuple[str, frozenset[str]]]:
    """Return (prefix, kinds of disks) for each prefix that CREATE GRIDDISK uses on a cell; no kinds if only the cell knows."""
    if statement.all:
        kinds = kinds_meant(fact, statement) or frozenset()
        there = frozenset(disk.kind for disk in fact.cell_disks if disk.kind in kinds)
        return [(prefix, there) for prefix in prefixes(statement)]
    places = items(statement.setting("celldisk"))
    return [
        (name[: -len(place) - 1], frozenset(filter(None, (known.get(place.lower()),))))
        for name in statement.names
        for place in places
        if name.lower().endswith(f"_{place.lower()}")
    ]


def _each(statement: CellChange, text: str) -> int:
    """Return the bytes that CREATE GRIDDISK takes of each cell disk; 0 if it does not give a size.

    Raises:
        RefusedError: a size is smaller than any grid disk.
    """
    sizes = [round_down(parse_size(size)) for size in items(statement.setting("size"))]
    if any(size < ALLOCATION_UNIT for size in sizes):
        raise RefusedError(f"{text}: a grid disk has at least 16M; nothing was sent")
    count = len(prefixes(statement)) if statement.all else 1
    return sum(sizes) if len(sizes) == count else sum(sizes[:1]) * count


def places(fact: CellFacts, statement: CellChange) -> list[CellDisk]:
    """Return the cell disks on which CREATE GRIDDISK makes grid disks; empty if only the cell knows them."""
    if statement.all:
        kinds = kinds_meant(fact, statement) or ()
        return [disk for disk in fact.cell_disks if disk.kind in kinds]
    names = {name.lower() for name in items(statement.setting("celldisk"))}
    return [disk for disk in fact.cell_disks if disk.name.lower() in names]


def refuse_cache_room(facts: Mapping[str, CellFacts], statement: CellChange, text: str) -> None:
    """Raise RefusedError if a flash cache exists already, or has no room for the size that CREATE FLASHCACHE gives.

    Raises:
        RefusedError: names the cell.
    """
    size = size_asked(statement)
    for cell, fact in facts.items():
        if not fact.read_now:
            continue
        if fact.flash_cache is not None:
            wanted = whole_size(size) if size else "…"
            raise RefusedError(
                f"{text}: {cell} has a flash cache of {size_text(fact.cache_size)} already; nothing was sent",
                hint=f"`resize flashcache size={wanted}` flushes, drops and creates it",
            )
        disks = flash_members(fact, statement)
        if not disks:
            continue
        room = min(round_down(disk.free) for disk in disks) * len(disks)
        if not room or size > room:
            most = f"there is room for {exact_size(room)} at most" if room else "its flash disks have no free space"
            raise RefusedError(
                f"{text}: {cell}: {most}; nothing was sent", hint="`show griddisk` shows what uses the space"
            )
        if size and not rounded_cache(size, len(disks)):
            least = exact_size(ALLOCATION_UNIT * len(disks))
            raise RefusedError(
                f"{text}: {cell}: a flash cache on {len(disks)} disks has at least {least}; nothing was sent"
            )


def size_asked(statement: CellChange) -> int:
    """Return the requested bytes; 0 if there is no size, or it can't be read."""
    said = items(statement.setting("size"))
    try:
        return parse_size(said[0]) if said else 0
    except ExacellError:
        return 0


def flash_members(fact: CellFacts, statement: CellChange) -> Sequence[CellDisk]:
    """Return the flash cell disks that CREATE uses: those that it names, or all."""
    names = {name.lower() for name in items(statement.setting("celldisk"))}
    return [disk for disk in fact.flash_disks if disk.name.lower() in names] if names else fact.flash_disks


def refuse_log_room(facts: Mapping[str, CellFacts], statement: CellChange, text: str) -> None:
    """Raise RefusedError if a flash log exists already, or no flash disk has room for its smallest part.

    Raises:
        RefusedError: names the cell.
    """
    for cell, fact in facts.items():
        disks = flash_members(fact, statement) if fact.read_now else ()
        if fact.read_now and fact.flash_log:
            raise RefusedError(
                f"{text}: {cell} has a flash log of {size_text(fact.flash_log)} already; nothing was sent",
                hint="type `drop flashlog` first",
            )
        if disks and all(disk.free < ALLOCATION_UNIT for disk in disks):
            raise RefusedError(
                f"{text}: {cell}: its flash disks have no free space; nothing was sent",
                hint="make the flash cache smaller: `resize flashcache size=…`",
            )
