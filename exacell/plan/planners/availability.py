"""Plan to take a cell's disks away from ASM for a while and bring them back: offline, online, restart of services.

The order is Oracle's: every disk's asmDeactivationOutcome is Yes, grid disks INACTIVE, ASM has them OFFLINE, the work
itself, grid disks ACTIVE, ASM has them ONLINE again, and only then another cell. Source: Oracle DBMMN, shutting down
an Exadata storage server; reference cellcli.md 6.5.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from types import MappingProxyType

from exacell.core.cellset import fold
from exacell.core.errors import RefusedError
from exacell.core.units import counted
from exacell.plan.checks import on_disks
from exacell.plan.facts import CellFacts, GridDisk
from exacell.plan.gate import NOT_IN_USE, UNMOUNTED, in_use, needed, offline_cells
from exacell.plan.model import Change, Check, Gate, Op, Plan, Risk, Stage, Step, Undo, staged

ONLINE_WITHIN = 6 * 3600.0
"""Seconds within which ASM resyncs the disks of a cell that was away; after a long absence this takes hours."""

OFFLINE_WITHIN = 900.0
"""Seconds within which ASM takes the disks of a cell offline."""

SERVICE_WITHIN = 900.0
"""Seconds within which a service runs again."""

SERVICES = ("cellsrv", "ms", "rs", "all")
"""The services of a cell that a plan can start, stop or restart, besides those of Exascale."""

_STATUS = {"cellsrv": ("cellsrvStatus",), "ms": ("msStatus",), "rs": ("rsStatus",)}


def refuse_deactivation(what: str, facts: Mapping[str, CellFacts]) -> None:
    """Raise RefusedError if ASM can't spare a disk of these cells, judged for each cell as it is now.

    Raises:
        RefusedError: an asmDeactivationOutcome is not Yes; names disk and reason.
    """
    for cell, fact in facts.items():
        for grid in fact.grid_disks:
            if needed(grid) and grid.status == "active" and grid.deactivation.lower() != "yes":
                pool = f" of the Exascale pool {grid.pool}" if grid.pool else ""
                raise RefusedError(
                    f"{what} refused on {cell}: grid disk {grid.name}{pool} must not go offline: asmDeactivationOutcome is "
                    f"{grid.deactivation or 'unknown'}; nothing was sent",
                    hint="bring the other disks of its disk group online first; `show griddisk`, `show asmdisk` and "
                    "`show rebalance` show them",
                )


def may_go(grids: Sequence[GridDisk]) -> tuple[Check, ...]:
    """Return the checks right before disks go offline: ASM can spare the used ones, and the others are still unused."""
    # A disk that is offline already takes nothing more away.
    used = [grid for grid in grids if needed(grid) and grid.status == "active"]
    others = [grid for grid in grids if not needed(grid)]
    lost, taken = "a disk group would lose data or dismount", "it is in use now"
    return (
        *on_disks(used, "asmDeactivationOutcome", "Yes", why=lost),
        *on_disks(others, "asmModeStatus", NOT_IN_USE, op=Op.IN, why=taken),
    )


def unused(grids: Sequence[GridDisk]) -> tuple[Check, ...]:
    """Return the checks right before grid disks are dropped: no disk group uses them."""
    return on_disks(grids, "asmModeStatus", NOT_IN_USE, op=Op.IN, why="exacell never drops a grid disk that ASM uses")


def back_online(grids: Sequence[GridDisk]) -> tuple[Check, ...]:
    """Return the proof that ASM has the disks again: active, and ONLINE unless they were unused before."""
    used = [grid for grid in grids if in_use(grid) and grid.asm_mode]
    # With CELLSRV stopped it is unknown which ones are in use.
    unknown = [grid for grid in grids if not grid.asm_mode]
    return (
        *on_disks(grids, "status", "active"),
        *on_disks(used, "asmModeStatus", "ONLINE"),
        *on_disks(unknown, "asmModeStatus", ("ONLINE", *NOT_IN_USE), op=Op.IN),
    )


def kept_by_asm(grids: Sequence[GridDisk]) -> tuple[Check, ...]:
    """Return the checks that ASM has not dropped any of the used disks for good."""
    why = "ASM dropped it because disk_repair_time is over; ALTER DISKGROUP … ADD DISK adds it again"
    return _never(grids, "DROPPED", why)


def still_members(grids: Sequence[GridDisk]) -> tuple[Check, ...]:
    """Return the checks that waiting can bring disks back: ASM has neither dropped them nor dismounted their group."""
    lost = 'no ASM instance has its disk group mounted: `resume` mounts it, or sql asm "alter diskgroup … mount"'
    return (*kept_by_asm(grids), *_never(grids, UNMOUNTED, lost))


def _never(grids: Sequence[GridDisk], mode: str, why: str) -> tuple[Check, ...]:
    used = [grid for grid in grids if in_use(grid) and grid.asm_mode]
    return on_disks(used, "asmModeStatus", mode, op=Op.NE, why=why)


def gone_offline(grids: Sequence[GridDisk]) -> tuple[Check, ...]:
    """Return the proof that ASM has its used disks OFFLINE, and has dropped none of them for good."""
    used = [grid for grid in grids if in_use(grid) and grid.asm_mode]
    others = [grid for grid in grids if grid not in used]
    return (
        *on_disks(used, "asmModeStatus", "OFFLINE"),
        *on_disks(others, "asmModeStatus", ("OFFLINE", *NOT_IN_USE), op=Op.IN),
    )


def deactivate(fact: CellFacts) -> Step | None:
    """Return the step that takes the cell's active grid disks offline; None if no grid disk is active."""
    grids = tuple(grid for grid in fact.grid_disks if grid.status == "active")
    if not grids:
        return None
    names = tuple(grid.name for grid in grids)
    used = any(needed(grid) for grid in grids)
    return Step(
        target=fact.cell,
        statement=f"ALTER GRIDDISK {_which(fact, names)} INACTIVE",
        what=f"take {counted(len(names), 'grid disk')} offline",
        needs=may_go(grids),
        proves=(*on_disks(grids, "status", "inactive"), *gone_offline(grids)),
        hopes=still_members(grids),
        within=OFFLINE_WITHIN,
        expect=len(names),
        risk=Risk.REDUNDANCY if used else Risk.NONE,
        undo=Undo.STATEMENT,
        inverse=f"ALTER GRIDDISK {_which(fact, names)} ACTIVE",
        changes=(_status(len(names), "active", "inactive"),),
        offline=used,
    )


def _away(fact: CellFacts) -> tuple[Check, ...]:
    """Return the checks right before CELLSRV stops: somebody may have brought a disk back meanwhile."""
    why = "CELLSRV stops while ASM has the disks of its cell offline"
    return on_disks(fact.grid_disks, "status", "active", op=Op.NE, why=why, object="plain griddisk")


def _which(fact: CellFacts, names: Sequence[str]) -> str:
    """Return ALL if that means exactly these disks, else their names; from 24.1 on ALL leaves out some media. Source: reference
    cellcli.md 2.4."""
    everything = len(names) == len(fact.grid_disks) and bool(fact.release) and not fact.at_least("24.1")
    return "ALL" if everything else ",".join(names)


def activate(fact: CellFacts, grids: Sequence[GridDisk]) -> Step | None:
    """Return the step that brings ``grids`` back and waits until ASM has them ONLINE; None without grid disks."""
    if not grids:
        return None
    names = tuple(grid.name for grid in grids)
    return Step(
        target=fact.cell,
        statement=f"ALTER GRIDDISK {_which(fact, names)} ACTIVE",
        what=f"bring {counted(len(names), 'grid disk')} back"
        + (" and wait for ASM" if any(in_use(grid) for grid in grids) else ""),
        proves=back_online(grids),
        hopes=still_members(grids),
        within=ONLINE_WITHIN,
        expect=len(names),
        undo=Undo.STATEMENT,
        inverse=f"ALTER GRIDDISK {_which(fact, names)} INACTIVE",
        changes=(_status(len(names), "inactive", "active"),),
        online=True,
    )


def _status(count: int, before: str, after: str) -> Change:
    return Change(object="griddisk", name=counted(count, "disk"), attribute="status", before=before, after=after)


def services_check(service: str, state: str) -> tuple[Check, ...]:
    """Return the checks that a service, or all of them, is ``running`` or ``stopped``."""
    names = ("rs", "ms", "cellsrv") if service == "all" else (service,)
    return tuple(Check(object="service", attribute=_STATUS[name][0], value=state) for name in names)


def cellsrv(fact: CellFacts, action: str) -> Step:
    """Return the step that stops (``SHUTDOWN``) or starts (``STARTUP``) CELLSRV; to stop it, its disks must be inactive."""
    stopping = action == "SHUTDOWN"
    return Step(
        target=fact.cell,
        statement=f"ALTER CELL {action} SERVICES CELLSRV",
        what="stop CELLSRV" if stopping else "start CELLSRV",
        only_if=services_check("cellsrv", "running" if stopping else "stopped"),
        needs=_away(fact) if stopping else (),
        proves=services_check("cellsrv", "stopped" if stopping else "running"),
        within=SERVICE_WITHIN,
        risk=Risk.PERFORMANCE if stopping else Risk.NONE,
        undo=Undo.STATEMENT,
        inverse=f"ALTER CELL {'STARTUP' if stopping else 'SHUTDOWN'} SERVICES CELLSRV",
        changes=(
            Change(
                object="cell",
                name=fact.cell,
                attribute="cellsrvStatus",
                before="running" if stopping else "stopped",
                after="stopped" if stopping else "running",
            ),
        ),
    )


def offline_plan(rack: str, fact: CellFacts, *, statement: str) -> Plan:
    """Return the plan that takes all grid disks of one cell offline, for work on the cell.

    Args:
        fact: with CELL and GRIDDISK read.

    Raises:
        RefusedError: ASM can't spare one of its disks.
    """
    refuse_deactivation("offline cell", {fact.cell: fact})
    step = deactivate(fact)
    if step is None:
        return Plan(statement=statement, rack=rack, done={fact.cell: "all of its grid disks are already inactive"})
    used = sum(1 for grid in fact.grid_disks if in_use(grid) and grid.status == "active")
    return Plan(
        statement=statement,
        rack=rack,
        stages=(Stage(title="take the grid disks offline", key="inactive", steps=(step,)),),
        inverse={fact.cell: (f"online cell {fact.cell}",)},
        notes=(
            f"{fact.cell}: {counted(len(fact.grid_disks), 'grid disk')}, {used or 'none'} of them in use by a disk group",
        ),
        warnings=(f"until it is online again, a mirror is missing; `online cell {fact.cell}` brings its disks online",)
        if used
        else (),
    )


def online_plan(rack: str, fact: CellFacts, *, statement: str) -> Plan:
    """Return the plan that brings a cell's grid disks back and waits until ASM has all of them ONLINE.

    Args:
        fact: with CELL and GRIDDISK read, or GRIDDISK_PLAIN if CELLSRV is stopped.
    """
    stages: list[Stage] = []
    if fact.cellsrv.lower() == "stopped":
        stages.append(Stage(title="start CELLSRV", key="startup", steps=(cellsrv(fact, "STARTUP"),)))
    away = tuple(g for g in fact.grid_disks if g.status == "inactive")
    syncing = tuple(g for g in fact.grid_disks if in_use(g) and g.asm_mode != "ONLINE" and g.status == "active")
    step = activate(fact, away)
    if step is not None:
        stages.append(Stage(title="bring the grid disks back", key="active", steps=(step,)))
    elif syncing:
        waiting = Step(
            target=fact.cell,
            what="wait until ASM has its disks",
            proves=back_online(syncing),
            hopes=still_members(syncing),
            within=ONLINE_WITHIN,
            online=True,
        )
        stages.append(Stage(title="wait for ASM", key="active", steps=(waiting,)))
    if not stages:
        return Plan(statement=statement, rack=rack, done={fact.cell: "all of its grid disks are active and ONLINE"})
    return Plan(
        statement=statement,
        rack=rack,
        stages=tuple(stages),
        inverse={fact.cell: (f"offline cell {fact.cell}",)} if away else {},
        notes=_returning(fact, away, syncing),
        warnings=dropped(fact.cell, fact.grid_disks),
    )


def _returning(fact: CellFacts, away: Sequence[GridDisk], syncing: Sequence[GridDisk]) -> tuple[str, ...]:
    """Return notes about the number of grid disks that come back, and whether ASM has to resync them."""
    missed = sum(1 for grid in (*away, *syncing) if in_use(grid))
    parts = [f"{counted(len(away), 'grid disk')} inactive"] if away else []
    parts += [f"{counted(len(syncing), 'grid disk')} not ONLINE yet"] if syncing else []
    parts += ["ASM resyncs what was written meanwhile" if missed else "not in use by a disk group"] if parts else []
    return (f"{fact.cell}: {'; '.join(parts)}",) if parts else ()


def dropped(cell: str, grids: Sequence[GridDisk]) -> tuple[str, ...]:
    """Return a warning about grid disks of a cell that become active and still belong to no disk group; empty without any."""
    count = sum(1 for grid in grids if grid.asm_mode == "DROPPED" and grid.asm_group)
    if not count:
        return ()
    return (
        f"{cell}: ASM has dropped {count} of its grid disks for good (disk_repair_time has passed): "
        "alter diskgroup … add disk takes them in again",
    )


def _named(service: str) -> str:
    return "all services" if service == "all" else service.upper()


def restart_words(service: str) -> str:
    """Return the name of the step that restarts a service, for plans and the journal."""
    return f"restart {_named(service)}"


def restart_plan(
    rack: str, facts: Mapping[str, CellFacts], *, service: str, statement: str, restarted: Collection[str] = ()
) -> Plan:
    """Return the plan that restarts a service on every cell; one cell after the other if that takes disks away.

    Args:
        facts: with CELL, GRIDDISK and FLASHCACHE read.
        service: one of SERVICES.
        restarted: cells that the continued attempt has restarted; if CELLSRV runs there, only their disks are brought back.

    Raises:
        RefusedError: a flush is active, which a restart of CELLSRV would end, or ASM can't spare a disk.
    """
    stops = service in ("cellsrv", "all")
    back = {cell: fact for cell, fact in facts.items() if cell in restarted and fact.cellsrv == "running" and stops}
    todo = {cell: fact for cell, fact in facts.items() if cell not in back}
    warnings: tuple[str, ...] = ()
    if stops and todo:
        refuse_flushing("restart of CELLSRV", todo)
        refuse_unspared(f"restart service {service}", todo, first=back)
        warnings = ("CELLSRV restarts: the cell's counters are reset, and databases read from other cells meanwhile",)
    restarts = (
        Step(
            target=fact.cell,
            statement=f"ALTER CELL RESTART SERVICES {service.upper()}",
            what=restart_words(service),
            needs=_away(fact) if stops else (),
            proves=services_check(service, "running"),
            within=SERVICE_WITHIN,
            risk=Risk.PERFORMANCE if stops else Risk.NONE,
            undo=Undo.NOTHING,
        )
        for fact in todo.values()
    )
    stages = [
        *staged("take the grid disks offline", map(deactivate, todo.values()) if stops else (), "inactive"),
        *staged(restart_words(service), restarts, "restart"),
        *(active_stages(list(facts.values())) if stops else ()),
    ]
    return Plan(
        statement=statement,
        rack=rack,
        stages=tuple(stages),
        warnings=warnings,
        notes=(f"{fold(list(back))}: {_named(service)} already restarted; only the grid disks must come online",)
        if back
        else (),
    )


def active_stages(cells: Sequence[CellFacts]) -> list[Stage]:
    """Return the stage that brings the grid disks back, and the stage that does so after a failure.

    Inactive disks that a disk group misses come back too: an earlier attempt that died left them inactive.
    """
    back = [tuple(g for g in fact.grid_disks if g.status == "active" or in_use(g)) for fact in cells]
    steps = list(map(activate, cells, back))
    again = "bring the grid disks back after the failure"
    return [
        *staged("bring the grid disks back", steps, "active"),
        *staged(again, steps, "active-again", gate=Gate.MEND, mends="inactive", unless="active"),
    ]


def refuse_unspared(
    what: str, facts: Mapping[str, CellFacts], *, first: Mapping[str, CellFacts] = MappingProxyType({})
) -> None:
    """Raise RefusedError if ASM can't spare a disk of a cell; each outcome is read again right before that cell's wave.

    While disks of one cell are away, the outcomes of the others only reflect that: this cell goes first, and nothing is checked.

    Args:
        first: other cells of the plan, which only get back the disks that an earlier attempt took away.

    Raises:
        RefusedError: an asmDeactivationOutcome is not Yes.
    """
    if not offline_cells({**facts, **first}):
        refuse_deactivation(what, facts)


def refuse_flushing(what: str, facts: Mapping[str, CellFacts]) -> None:
    """Raise RefusedError if a flush is active on a cell: stopping CELLSRV ends it.

    Raises:
        RefusedError: names the cells.
    """
    flushing = [cell for cell, fact in facts.items() if fact.flash_cache and fact.flash_cache.caching == "off"]
    if flushing:
        raise RefusedError(
            f"{what} refused on {fold(flushing)}: the flash cache is flushing or flushed, and stopping CELLSRV "
            "would end that; nothing was sent",
            hint="wait for `flush flashcache`, or type `alter flashcache all cancel flush`",
        )
