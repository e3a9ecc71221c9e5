"""Judge whether a cell can go offline now, and whether a rack is ready for a rolling patch. Pure.

For a cell that can't go offline, the result shows the reason and the way out. For a patch, only public facts are checked:
all cells are healthy and equal, nothing waits for attention, ASM can do without each cell in turn and has room to restore
redundancy if a cell does not come back. patchmgr checks the needs of the patch itself. Source: Oracle DBMMN, shutting down an
Exadata storage server; reference cellcli.md 6.5, asm.md sections 4 and 6.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from exacell.care.health import CELL, Finding, Level, Observed
from exacell.core.cellset import fold, grouped
from exacell.core.units import MIB, and_more, counted, human_size
from exacell.core.values import dataclass
from exacell.plan import facts as f
from exacell.plan.asmfacts import AsmFacts, Operation
from exacell.plan.gate import closed, in_use


@dataclass(frozen=True, kw_only=True)
class Obstacle:
    """One reason why a cell can't go offline.

    Attributes:
        reason: a clause with the object, the attribute and its value.
        disks: the cell's own grid disks that cause it; empty for another cause.
        way: what to do, or to wait for.
    """

    reason: str
    disks: tuple[str, ...] = ()
    way: str


def obstacles(cell: str, facts: Mapping[str, f.CellFacts], running: Sequence[Operation] | None) -> tuple[Obstacle, ...]:
    """Return why ``cell`` can't go offline alone now; empty if it can.

    Args:
        facts: facts of every cell of the rack that answered, including those that the gate needs.
        running: operations in which ASM moves or resyncs data; None if ASM could not be asked, which is no obstacle.
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
            way="`show rebalance` shows how long; wait until it ends",
        )
        for operation in dict.fromkeys(running or ())
        if operation.work or operation.state == "RUN"
    ]
    return tuple(found)


def _own(fact: f.CellFacts) -> list[Obstacle]:
    if fact.cellsrv.lower() == "stopped":
        return [
            Obstacle(
                reason="CELLSRV is stopped, so ASM knows nothing about its grid disks",
                way=f"`online cell {fact.cell}` starts it and brings the disks online",
            )
        ]
    held = [g for g in fact.grid_disks if in_use(g) and g.status == "active" and g.deactivation.lower() != "yes"]
    by_reason = grouped((grid.deactivation or "unknown", grid) for grid in held)
    return [
        Obstacle(
            reason=f"asmDeactivationOutcome of {_several(grids)} is {reason}",
            disks=tuple(grid.name for grid in grids),
            way=_way(grids),
        )
        for reason, grids in by_reason.items()
    ]


def _several(grids: Sequence[f.GridDisk]) -> str:
    if len(grids) == 1:
        return f"grid disk {grids[0].name}"
    groups = ", ".join(sorted({grid.asm_group for grid in grids if grid.asm_group}))
    return counted(len(grids), "grid disk") + (f" of {groups}" if groups else "") + f" ({grids[0].name} …)"


def _way(grids: Sequence[f.GridDisk]) -> str:
    groups = sorted({grid.asm_group for grid in grids if grid.asm_group})
    shown = f"show asmdisk diskgroup={groups[0]}" if len(groups) == 1 else "show asmdisk"
    return f"{shown}: bring these disks ONLINE, or wait until `show rebalance` is empty"


def _way_of(cell: str, fact: f.CellFacts) -> str:
    if any(in_use(grid) and grid.status == "inactive" for grid in fact.grid_disks):
        return f"online cell {cell}"
    if any(grid.asm_mode == "SYNCING" for grid in fact.grid_disks):
        return "wait for the resync: `show rebalance` shows it"
    return f"on {cell} show health"


@dataclass(frozen=True, kw_only=True)
class Readiness:
    """The result of one check.

    Attributes:
        check: what was checked, a phrase.
        level: OK, WARN (look at it), BAD (not ready), UNKNOWN (could not be read).
        found: what was found.
        way: what to do; empty if it is OK.
    """

    check: str
    level: Level
    found: str
    way: str = ""


_HEALTH = (
    ("services run", ("services",)),
    ("fans, power, temperature", ("hw",)),
    ("hard disks normal", ("disks",)),
    ("flash disks, cache and log normal", ("flash", "cache", "log")),
    ("grid disks ONLINE in ASM", ("asm",)),
    ("no open alerts or quarantines", ("alerts",)),
    ("one release on all cells", ("image",)),
)


def readiness(
    observed: Mapping[str, Observed],
    findings: Mapping[str, Sequence[Finding]],
    silent: Sequence[str],
    asm: Sequence[AsmFacts] | None,
) -> tuple[Readiness, ...]:
    """Return the checks, in the order in which their problems should be solved.

    Args:
        silent: cells that did not answer.
        asm: the facts of each ASM cluster; None if no ASM can be asked.
    """
    checks = [_answered(observed, silent)]
    checks += [_of_areas(title, areas, findings) for title, areas in _HEALTH]
    checks.append(_spared(observed))
    if asm is None:
        text = "no database node is known, so ASM can't be queried"
        checks.append(Readiness(check="ASM is quiet", level=Level.UNKNOWN, found=text, way="name nodes in [asm.…]"))
    for facts in asm or ():
        checks += _asm(facts)
    return tuple(checks)


def _answered(observed: Mapping[str, Observed], silent: Sequence[str]) -> Readiness:
    total = len(observed) + len(silent)
    if silent:
        found = f"{fold(silent)} gave no answer"
        return Readiness(check="all cells answer", level=Level.BAD, found=found, way="show services")
    images = {str(row.get("releaseVersion")) for seen in observed.values() for row in seen.rows(CELL) or ()}
    found = f"{counted(total, 'cell')}, {', '.join(sorted(images))}"
    return Readiness(check="all cells answer", level=Level.OK, found=found)


def _of_areas(title: str, areas: Sequence[str], findings: Mapping[str, Sequence[Finding]]) -> Readiness:
    bad = [(cell, finding) for cell, found in findings.items() for finding in found if finding.area in areas]
    if not bad:
        return Readiness(check=title, level=Level.OK, found="yes")
    cell, first = max(bad, key=lambda item: item[1].level.rank)
    others = sorted({name for name, _ in bad} - {cell})
    more = f" (and {fold(others)})" if others else and_more(len(bad))
    return Readiness(check=title, level=first.level, found=f"{cell}: {first.text}{more}", way=first.way)


def _spared(observed: Mapping[str, Observed]) -> Readiness:
    title = "ASM can spare each cell in turn"
    blocked = {}
    for cell, seen in observed.items():
        fact = seen.facts(f.GRIDDISK)
        if fact is None:
            found = f"{cell}: asmDeactivationOutcome can't be read"
            return Readiness(check=title, level=Level.UNKNOWN, found=found, way=f"on {cell} show services")
        held = [g for g in fact.grid_disks if in_use(g) and g.deactivation.lower() != "yes"]
        if held:
            blocked[cell] = held[0]
    if not blocked:
        return Readiness(check=title, level=Level.OK, found="asmDeactivationOutcome is Yes for every grid disk")
    cell, grid = next(iter(blocked.items()))
    found = f"{fold(blocked)}: {grid.name}: {grid.deactivation or 'unknown'}"
    return Readiness(check=title, level=Level.BAD, found=found, way=f"can offline {cell}")


def _asm(facts: AsmFacts) -> list[Readiness]:
    running = [operation for operation in facts.running if operation.work or operation.state == "RUN"]
    found = "; ".join(f"{item.kind} of {item.diskgroup}, {item.minutes} min left" for item in running)
    name = f" ({facts.cluster})" if facts.cluster != "main" else ""
    checks = [
        Readiness(
            check=f"ASM is quiet{name}",
            level=Level.BAD if running else Level.OK,
            found=found or "no rebalance, no resync",
            way="show rebalance; wait" if running else "",
        )
    ]
    for group in facts.groups:
        usable = group.usable_file_mb * MIB
        title = f"room in {group.name}{name}"
        if group.state != "MOUNTED":
            text, way = f"it is {group.state}", f'sql asm "alter diskgroup {group.name} mount"'
            checks.append(Readiness(check=title, level=Level.WARN, found=text, way=way))
        elif group.offline_disks:
            text = f"{counted(group.offline_disks, 'disk')} offline"
            checks.append(
                Readiness(check=title, level=Level.BAD, found=text, way=f"show asmdisk diskgroup={group.name}")
            )
        elif usable < 0:
            text = (
                f"usable space is {human_size(-usable)} below zero: after the loss of a failure group, its "
                "data could not be mirrored again"
            )
            checks.append(Readiness(check=title, level=Level.WARN, found=text, way="free space, or accept it"))
        else:
            room = f"{human_size(usable)} usable, {human_size(group.free_mb * MIB)} raw free"
            checks.append(Readiness(check=title, level=Level.OK, found=room))
    return checks
