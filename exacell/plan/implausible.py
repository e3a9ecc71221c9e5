"""What a cell tells of itself that can't be true, or leaves out: the reasons not to plan by it. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from exacell.core.units import size_text
from exacell.plan.facts import CELL, CELL_PMEM, CellFacts


def untold(fact: CellFacts, statements: Sequence[str]) -> str:
    """Return why nobody knows what may be dirty on a cell that was asked for itself, one clause; empty when it tells."""
    asked = CELL in statements or CELL_PMEM in statements
    return (
        "LIST CELL told neither releaseVersion nor flashCacheMode"
        if asked and not fact.release and not fact.mode
        else ""
    )


def mistaken(facts: Mapping[str, CellFacts], others: Sequence[str]) -> dict[str, str]:
    """Return why which cells are not the ones that they are taken for, one clause each: a wrong address, or one cell twice.

    Args:
        facts: of the cells that are asked, by the name under which they are.
        others: the names of the rack's cells, one of which a wrong address may lead to.
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
    """Return why a cell whose LIST FLASHCACHE told no cache may have a write-back one all the same, one clause; else empty.

    An answer without a row is what a cell without a cache gives, and what one may give whose Management Server has not
    read its objects yet. What the cell says elsewhere contradicts it: a grid disk that is cachedBy a flash cell disk, dirty
    bytes in the newest collection of metrics, and flash that is neither free nor any grid disk's.

    Args:
        fact: with CELL, FLASHCACHE, CELLDISK and GRIDDISK read; and FLASH_METRICS, for what those tell.
    """
    if fact.flash_cache is not None or not fact.writeback:
        return ""
    flash = {disk.name.lower() for disk in fact.flash_disks}
    why = _cached(fact, flash) or _dirty(fact) or _taken(fact, flash)
    return f"LIST FLASHCACHE shows none, but {why}: {_MAYBE}" if why else ""


def hidden_pmem(fact: CellFacts) -> str:
    """Return why a cell whose LIST PMEMCACHE told no cache may have a write-back one all the same, one clause; else empty."""
    if fact.pmem_cache is not None or fact.pmem_mode == "writethrough":
        return ""
    why = _cached(fact, {disk.name.lower() for disk in fact.cell_disks if disk.pmem})
    return f"LIST PMEMCACHE shows none, but {why}: {_MAYBE}" if why else ""


_MAYBE = "it may hold the only copy of data (look again in a minute)"


def _cached(fact: CellFacts, disks: set[str]) -> str:
    """Return which grid disk names one of the cell disks as what holds data for it; empty when none does."""
    for grid in fact.grid_disks:
        for name in grid.cached_by:
            if name.lower() in disks:
                return f"grid disk {grid.name} is cachedBy {name}"
    return ""


def _dirty(fact: CellFacts) -> str:
    dirty = fact.metric_bytes("FC_BY_DIRTY")
    return f"FC_BY_DIRTY is {size_text(dirty)}" if dirty else ""


def _taken(fact: CellFacts, flash: set[str]) -> str:
    """Return how much of its flash nothing listed takes, where that is the greater part of it; empty else.

    Log, metadata and whatever a release keeps for itself are far less than that, a cache mostly is more.
    """
    size = sum(disk.size - disk.free for disk in fact.flash_disks)
    lost = size - sum(grid.size for grid in fact.grid_disks if grid.cell_disk.lower() in flash)
    most = lost > sum(disk.size for disk in fact.flash_disks) // 2
    return f"{size_text(lost)} of its flash are neither free nor a grid disk's" if most else ""
