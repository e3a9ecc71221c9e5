"""Which grid disks ASM has let go of, over all clusters of a rack: by their headers, or because it has expelled them. Pure.

A dead disk can't be read, so that no header tells that ASM dropped it. That it did is proven by its disk group, which is
mounted where ASM was asked, misses no disk, and has no such member. Source: reference asm.md section 6 (v$asm_disk has a row
without a path for a disk that is lost or is being expelled, until ASM has dropped it), cellcli.md 6.5 (asmModeStatus DROPPED).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from exacell.plan.asmfacts import AsmFacts
from exacell.plan.facts import EXPELLED, LET_GO, GridDisk


def headers_over(clusters: Sequence[AsmFacts], grids: Iterable[GridDisk]) -> dict[str, str]:
    """Return grid disk name (lower case) → the worst header_status that any cluster sees.

    ``EXPELLED`` stands for the header of each of ``grids`` that no cluster sees, and that its disk group has dropped.
    """
    headers: dict[str, str] = {}
    for asm in clusters:
        for disk, header in asm.headers().items():
            # A disk is free only where all of them let go.
            if headers.get(disk) in (None, *LET_GO):
                headers[disk] = header
    gone = [grid.name.lower() for grid in grids if grid.name.lower() not in headers and _is_expelled(grid, clusters)]
    return headers | dict.fromkeys(gone, EXPELLED)


def _is_expelled(grid: GridDisk, clusters: Sequence[AsmFacts]) -> bool:
    """Whether the disk group that a disk names can be read wherever it is, and misses no disk."""
    groups = [(asm, group) for asm in clusters if (group := asm.group(grid.asm_group)) is not None]
    whole = all(group.number and all(disk.path for disk in asm.members(group)) for asm, group in groups)
    return bool(groups) and whole


def ways_out(
    grids_by_cell: Mapping[str, Sequence[GridDisk]], headers: Mapping[str, str] | None, *, members: bool = True
) -> str:
    """Return what lets go of the disks that are not free, the most urgent first; empty where all are free.

    Args:
        members: tell it of disks of a disk group, too, and not only of those that ASM has dropped.
    """
    used = [(grid, grid.use(headers)) for grids in grids_by_cell.values() for grid in grids]
    used = [(grid, why) for grid, why in used if why and not grid.pool]
    stale = [grid for grid, _ in used if grid.asm_mode == "DROPPED"]
    inside = [grid for grid, _ in used if grid.asm_mode != "DROPPED" and grid.asm_group]
    if inside:
        return _members(inside) if members else ""
    if stale:
        return _stale(stale, headers)
    return ""


def _members(grids: Sequence[GridDisk]) -> str:
    """The way for disks of a disk group: single disks leave it, or all of it goes."""
    groups = sorted({grid.asm_group for grid in grids})
    whole = " and ".join(f"drop diskgroup {group}" for group in groups)
    give = "gives" if len(groups) == 1 else "give"
    first = grids[0]
    # A disk that is offline can't be emptied first: ORA-15084.
    force = " force" if first.asm_mode == "OFFLINE" else ""
    single = f'sql asm "alter diskgroup {first.asm_group} drop disk {first.name.upper()}{force}"'
    return (
        f"{single} and so on takes single disks out, once its rebalance has ended; {whole} {give} up all of them with "
        "their files"
    )


def _stale(grids: Sequence[GridDisk], headers: Mapping[str, str] | None) -> str:
    """The way for disks that ASM has dropped, says their cell, and of which ASM does not show it."""
    first = grids[0]
    if headers is None:
        return f"start an ASM instance and mount {first.asm_group}: it alone tells that it has dropped the disks"
    if first.name.lower() in headers:
        return (
            f"ASM has dropped {first.name} and its header was never changed: alter griddisk {first.name} inactive hides it "
            "from ASM, and then it may go"
        )
    return f"mount {first.asm_group}, and wait until it misses no disk: show diskgroup, show asmdisk, show rebalance"
