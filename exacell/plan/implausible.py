"""Find facts of a cell that can't be true or are missing, and so forbid a plan. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from exacell.core.units import size_text
from exacell.plan.facts import CELL, CELL_PMEM, CellFacts


def untold(fact: CellFacts, statements: Sequence[str]) -> str:
    """Return a clause if LIST CELL lacks the attributes that show whether a cell has dirty data; else empty."""
    asked = CELL in statements or CELL_PMEM in statements
    return (
        "LIST CELL showed neither releaseVersion nor flashCacheMode"
        if asked and not fact.release and not fact.mode
        else ""
    )


def mistaken(facts: Mapping[str, CellFacts], others: Sequence[str]) -> dict[str, str]:
    """Return, by cell, why it is not the expected cell, one clause each: a wrong address, or one cell twice.

    Args:
        facts: by the name under which each cell is asked.
        others: the names of the rack's cells; a wrong address may lead to one of them.
    """
    found: dict[str, str] = {}
    seen: dict[str, str] = {}
    for cell, fact in facts.items():
        own = fact.name.lower()
        if not own:
            continue
        first = seen.setdefault(own, cell)
        if first != cell:
            found[first] = f"it and {cell} are the same cell, {fact.name}"
            found[cell] = f"it and {first} are the same cell, {fact.name}"
        elif own != _host(cell) and any(own == _host(other) for other in others):
            found[cell] = f"the cell at this address is {fact.name}, another cell of the rack"
    return found


def _host(name: str) -> str:
    """Return a host's name without its domain."""
    return name.lower().partition(".")[0]


def hidden_cache(fact: CellFacts) -> str:
    """Return why a cell may have a write-back cache though LIST FLASHCACHE showed none, one clause; empty if nothing suggests it.

    A cell without a cache returns no row, but so may one whose Management Server has not read its objects yet. Other facts of
    the cell can contradict the answer: a grid disk that is cachedBy a flash cell disk, dirty bytes in the newest collection of
    metrics, or flash that is neither free nor part of a grid disk.

    Args:
        fact: with CELL, FLASHCACHE, CELLDISK and GRIDDISK read; also FLASH_METRICS, for the dirty bytes.
    """
    if fact.flash_cache is not None or not fact.writeback:
        return ""
    flash = {disk.name.lower() for disk in fact.flash_disks}
    why = _cached(fact, flash) or _dirty(fact) or _taken(fact, flash)
    return f"LIST FLASHCACHE shows none, but {why}: {_MAYBE}" if why else ""


def hidden_pmem(fact: CellFacts) -> str:
    """Return why a cell may have a write-back cache though LIST PMEMCACHE showed none; empty if nothing suggests it."""
    if fact.pmem_cache is not None or fact.pmem_mode == "writethrough":
        return ""
    why = _cached(fact, {disk.name.lower() for disk in fact.cell_disks if disk.pmem})
    return f"LIST PMEMCACHE shows none, but {why}: {_MAYBE}" if why else ""


_MAYBE = "it may hold the only copy of data (look again in a minute)"


def _cached(fact: CellFacts, disks: set[str]) -> str:
    """Return the grid disk that names one of these cell disks as its cache; empty if no grid disk does."""
    for grid in fact.grid_disks:
        for name in grid.cached_by:
            if name.lower() in disks:
                return f"grid disk {grid.name} is cachedBy {name}"
    return ""


def _dirty(fact: CellFacts) -> str:
    dirty = fact.metric_bytes("FC_BY_DIRTY")
    return f"FC_BY_DIRTY is {size_text(dirty)}" if dirty else ""


def _taken(fact: CellFacts, flash: set[str]) -> str:
    """Return how much flash is taken but belongs to no listed object, if it is more than half; else empty.

    Log, metadata and other space kept by a release are far less than that; a cache is usually more.
    """
    size = sum(disk.size - disk.free for disk in fact.flash_disks)
    lost = size - sum(grid.size for grid in fact.grid_disks if grid.cell_disk.lower() in flash)
    most = lost > sum(disk.size for disk in fact.flash_disks) // 2
    return f"{size_text(lost)} of its flash are not free and not used by a grid disk" if most else ""
