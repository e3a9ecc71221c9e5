"""Whether a cell can go offline now, and if not, why and what would change that. Pure.

Source: Oracle DBMMN, shutting down an Exadata storage server; reference cellcli.md 6.5.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from exacell.core.units import counted
from exacell.core.values import dataclass
from exacell.plan.asmfacts import Operation
from exacell.plan.facts import CellFacts, GridDisk
from exacell.plan.gate import closed, in_use


@dataclass(frozen=True, kw_only=True)
class Obstacle:
    """One reason against it.

    Attributes:
        reason: a clause with the object, the attribute and its value.
        disks: the cell's own grid disks that it is about; empty when it is about something else.
        way: what to do, or to wait for.
    """

    reason: str
    disks: tuple[str, ...] = ()
    way: str


def obstacles(cell: str, facts: Mapping[str, CellFacts], running: Sequence[Operation] | None) -> tuple[Obstacle, ...]:
    """Return why ``cell`` can't go offline alone now; nothing when it can.

    Args:
        facts: of every cell of the rack that answered, with the gate's facts read.
        running: what ASM moves or resyncs; None when no ASM could be asked, which is no obstacle.
    """
    found = list(_own(facts[cell]))
    others = {name: fact for name, fact in facts.items() if name != cell}
    found += [
        Obstacle(reason=f"{item.target}: {item.reason}", way=_way_of(item.target, others[item.target]))
        for item in closed(others, (), offline=False)
    ]
    found += [
        Obstacle(
            reason=f"ASM runs {operation.kind} in {operation.diskgroup or 'a disk group'} (state {operation.state})",
            way="show rebalance tells how long; wait until it is over",
        )
        for operation in dict.fromkeys(running or ())
        if operation.work or operation.state == "RUN"
    ]
    return tuple(found)


def _own(fact: CellFacts) -> list[Obstacle]:
    if fact.cellsrv.lower() == "stopped":
        return [
            Obstacle(
                reason="CELLSRV is stopped, so that ASM can't say anything about its grid disks",
                way=f"online cell {fact.cell} starts it and brings the disks back",
            )
        ]
    by_reason: dict[str, list[GridDisk]] = {}
    for grid in fact.grid_disks:
        if in_use(grid) and grid.status == "active" and grid.deactivation.lower() != "yes":
            by_reason.setdefault(grid.deactivation or "unknown", []).append(grid)
    return [
        Obstacle(
            reason=f"asmDeactivationOutcome of {_several(grids)} is {reason}",
            disks=tuple(grid.name for grid in grids),
            way=_way(grids),
        )
        for reason, grids in by_reason.items()
    ]


def _several(grids: Sequence[GridDisk]) -> str:
    if len(grids) == 1:
        return f"grid disk {grids[0].name}"
    groups = ", ".join(sorted({grid.asm_group for grid in grids if grid.asm_group}))
    return counted(len(grids), "grid disk") + (f" of {groups}" if groups else "") + f" ({grids[0].name} …)"


def _way(grids: Sequence[GridDisk]) -> str:
    groups = sorted({grid.asm_group for grid in grids if grid.asm_group})
    shown = f"show asmdisk diskgroup={groups[0]}" if len(groups) == 1 else "show asmdisk"
    return f"{shown}: bring back the disks that are not ONLINE, or wait for show rebalance"


def _way_of(cell: str, fact: CellFacts) -> str:
    if any(in_use(grid) and grid.status == "inactive" for grid in fact.grid_disks):
        return f"online cell {cell}"
    if any(grid.asm_mode == "SYNCING" for grid in fact.grid_disks):
        return "wait for the resync: show rebalance"
    return f"on {cell} show health"
