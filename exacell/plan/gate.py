"""The gate between two waves of a rolled plan: what must hold on the rack before the next cells are touched. Pure.

Open means: every grid disk in ASM use is ONLINE on all cells, where the wave takes disks offline ASM says Yes to each of
them, the flash cache of the other cells is normal, and ASM moves or resyncs nothing. Source: Oracle SAGUG, shutting down a
storage server; reference cellcli.md 6.5.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from exacell.plan import facts as f
from exacell.plan.facts import CellFacts, GridDisk
from exacell.units import and_more
from exacell.values import dataclass

GATE_FACTS = (f.GRIDDISK, f.FLASHCACHE)
"""What is read from every cell of the rack."""

NOT_IN_USE = ("UNUSED", "DROPPED")
"""asmModeStatus of a grid disk that no disk group uses."""

UNMOUNTED = "UNKNOWN"
"""asmModeStatus of a grid disk of a disk group while no ASM instance that the cell knows has it mounted."""


@dataclass(frozen=True, kw_only=True)
class Closed:
    """One reason why a gate is closed: where, and what is waited for."""

    target: str
    reason: str


def in_use(grid: GridDisk) -> bool:
    """Return whether ASM may use the disk; what can't be told counts as used."""
    return grid.asm_mode not in NOT_IN_USE


def needed(grid: GridDisk) -> bool:
    """Return whether somebody would miss the disk: ASM, or the Exascale pool that it belongs to."""
    return in_use(grid) or bool(grid.pool)


def closed(
    facts: Mapping[str, CellFacts], wave: Collection[str], *, offline: bool, cached: Collection[str] = ()
) -> tuple[Closed, ...]:
    """Return why the cells of ``wave`` must not be touched now, one reason a cell; empty when the gate is open.

    Args:
        facts: of all cells of the rack, with GATE_FACTS read.
        offline: the wave takes grid disks offline.
        cached: cells that must have a flash cache: those whose re-creation an earlier wave did not finish.
    """
    reasons = []
    for cell, fact in facts.items():
        reason = _own(fact, offline=offline) if cell in wave else _other(fact, must_cache=cell in cached)
        if reason:
            reasons.append(Closed(target=cell, reason=reason))
    return tuple(reasons)


def _other(fact: CellFacts, *, must_cache: bool) -> str:
    for grid in fact.grid_disks:
        if in_use(grid) and grid.asm_mode != "ONLINE":
            return f"griddisk {grid.name}: asmModeStatus is {grid.asm_mode or 'unknown'}, not ONLINE"
    cache = fact.flash_cache
    if cache is None:
        return "its flash cache is gone" if must_cache else ""
    if not cache.healthy or cache.caching == "off":
        return f"flashcache {cache.name}: status is {cache.status}, not normal"
    return ""


def _own(fact: CellFacts, *, offline: bool) -> str:
    """The wave's own disks: one that an earlier attempt left inactive can't come back by waiting and does no harm."""
    for grid in fact.grid_disks:
        if not needed(grid) or grid.status == "inactive":
            continue
        if in_use(grid) and grid.asm_mode != "ONLINE":
            return f"griddisk {grid.name}: asmModeStatus is {grid.asm_mode or 'unknown'}, not ONLINE"
        if offline and grid.deactivation.lower() != "yes":
            return f"griddisk {grid.name}: asmDeactivationOutcome is {grid.deactivation or 'unknown'}, not Yes"
    return ""


def offline_cells(facts: Mapping[str, CellFacts]) -> tuple[str, ...]:
    """Return the cells with a grid disk in ASM use that is not ONLINE: they go first, or no gate ever opens."""
    return tuple(
        cell
        for cell, fact in facts.items()
        if any(in_use(grid) and grid.asm_mode != "ONLINE" for grid in fact.grid_disks)
    )


def first_cells(facts: Mapping[str, CellFacts]) -> tuple[str, ...]:
    """Return the cells that hold the gates of others closed until their own turn mends them: disks away, caching off."""
    off = {cell for cell, fact in facts.items() if fact.flash_cache and fact.flash_cache.caching == "off"}
    return tuple(cell for cell in facts if cell in off or cell in offline_cells(facts))


def unmounted(facts: Mapping[str, CellFacts]) -> tuple[str, ...]:
    """Return the disk groups of which cells say that no ASM instance has them mounted; nobody but a DBA mounts them."""
    return tuple(
        dict.fromkeys(
            grid.asm_group.upper()
            for fact in facts.values()
            for grid in fact.grid_disks
            if grid.asm_group and grid.asm_mode == UNMOUNTED
        )
    )


def spoken(reasons: Sequence[Closed], *, most: int = 3) -> str:
    """Return the reasons in one line."""
    shown = "; ".join(f"{item.target}: {item.reason}" for item in reasons[:most])
    return shown + and_more(len(reasons), most)
