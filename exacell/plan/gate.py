"""Judge the gate between two waves of a rolled plan: what must hold on the rack before the next cells are touched. Pure.

A gate is open if every grid disk that ASM uses is ONLINE on all cells, ASM says Yes to each disk that the wave takes offline,
the flash cache of the other cells is normal, and ASM moves or resyncs nothing. Source: Oracle SAGUG, shutting down a
storage server; reference cellcli.md 6.5.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from exacell.core.units import and_more
from exacell.core.values import dataclass
from exacell.plan import facts as f

GATE_FACTS = (f.GRIDDISK, f.FLASHCACHE)
"""The LIST statements for every cell of the rack."""

NOT_IN_USE = ("UNUSED", "DROPPED")
"""asmModeStatus of a grid disk that no disk group uses."""

UNMOUNTED = "UNKNOWN"
"""asmModeStatus of a grid disk whose disk group no ASM instance known to the cell has mounted."""


@dataclass(frozen=True, kw_only=True)
class Closed:
    """One reason why a gate is closed: the target, and the state that it waits for.

    Attributes:
        ours: an earlier wave left the cell without caching; only a statement repairs that, waiting does not.
    """

    target: str
    reason: str
    ours: bool = False


def in_use(grid: f.GridDisk) -> bool:
    """Return whether ASM may use the disk; an unknown state counts as used."""
    return grid.asm_mode not in NOT_IN_USE


def all_online(grids: Sequence[f.GridDisk]) -> bool:
    """Return whether all grid disks of a cell that ASM uses are ONLINE, and ASM has dropped none of them from a group for good.

    False if the cell shows no grid disk.
    """
    expelled = any(grid.asm_mode == "DROPPED" and grid.asm_group for grid in grids)
    return bool(grids) and not expelled and all(grid.asm_mode == "ONLINE" for grid in grids if in_use(grid))


def needed(grid: f.GridDisk) -> bool:
    """Return whether ASM, or the Exascale pool that owns the disk, would miss it."""
    return in_use(grid) or bool(grid.pool)


def closed(
    facts: Mapping[str, f.CellFacts], wave: Collection[str], *, offline: bool, cached: Collection[str] = ()
) -> tuple[Closed, ...]:
    """Return why the cells of ``wave`` must not be touched now, one reason per cell; empty if the gate is open.

    Args:
        facts: of all cells of the rack, with GATE_FACTS read.
        offline: the wave takes grid disks offline.
        cached: cells that must have a flash cache because an earlier wave did not finish creating it again.
    """
    found = (
        _own(cell, fact, offline=offline) if cell in wave else _other(cell, fact, must_cache=cell in cached)
        for cell, fact in facts.items()
    )
    return tuple(item for item in found if item is not None)


def _other(cell: str, fact: f.CellFacts, *, must_cache: bool) -> Closed | None:
    for grid in fact.grid_disks:
        if in_use(grid) and grid.asm_mode != "ONLINE":
            return Closed(target=cell, reason=_not_online(grid))
    cache = fact.flash_cache
    if cache is None:
        return Closed(target=cell, reason="its flash cache is gone", ours=True) if must_cache else None
    off = cache.caching == "off"
    if off or not cache.healthy:
        reason = f"flashcache {cache.name}: status is {cache.status}, not normal"
        return Closed(target=cell, reason=reason, ours=off and must_cache)
    return None


def _not_online(grid: f.GridDisk) -> str:
    return f"griddisk {grid.name}: asmModeStatus is {grid.asm_mode or 'unknown'}, not ONLINE"


def _own(cell: str, fact: f.CellFacts, *, offline: bool) -> Closed | None:
    """Return why the wave's own disks close the gate, None if they don't; disks that an earlier attempt left inactive don't."""
    for grid in fact.grid_disks:
        if not needed(grid) or grid.status == "inactive":
            continue
        if in_use(grid) and grid.asm_mode != "ONLINE":
            return Closed(target=cell, reason=_not_online(grid))
        if offline and grid.deactivation.lower() != "yes":
            outcome = grid.deactivation or "unknown"
            return Closed(target=cell, reason=f"griddisk {grid.name}: asmDeactivationOutcome is {outcome}, not Yes")
    return None


def offline_cells(facts: Mapping[str, f.CellFacts]) -> tuple[str, ...]:
    """Return the cells with a disk that ASM uses and that is not ONLINE: they go first, or no gate would ever open."""
    return tuple(
        cell
        for cell, fact in facts.items()
        if any(in_use(grid) and grid.asm_mode != "ONLINE" for grid in fact.grid_disks)
    )


def flushed_cells(facts: Mapping[str, f.CellFacts]) -> tuple[str, ...]:
    """Return the cells that have a flash cache which does not cache; only a statement ends that, waiting does not."""
    return tuple(cell for cell, fact in facts.items() if fact.flash_cache and fact.flash_cache.caching == "off")


def first_cells(facts: Mapping[str, f.CellFacts], creating: Collection[str] = ()) -> tuple[str, ...]:
    """Return the cells that go before the others because their own turn repairs them: disks away, caching off, cache gone.

    Args:
        creating: cells whose flash cache the plan creates; a cell without a cache now caches nothing until its turn.
    """
    off = set(flushed_cells(facts))
    off |= {cell for cell in creating if cell in facts and facts[cell].flash_cache is None}
    return tuple(cell for cell in facts if cell in off or cell in offline_cells(facts))


def unmounted(facts: Mapping[str, f.CellFacts]) -> tuple[str, ...]:
    """Return the disk groups that no ASM instance has mounted according to the cells; only a DBA mounts them."""
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
