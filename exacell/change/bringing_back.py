"""Bring back what an unfinished change took away, so that the rest of it can be planned.

CELLSRV is started where the change stopped it: nothing can be planned for a cell without it. If disks of a second cell failed
while the change held those of a first one offline, ASM has dismounted disk groups. They are mounted again: until then no disk
comes ONLINE and no gate opens. Source: reference asm.md section 2 (each cell is a failure group).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from exacell.change.earlier import attempts
from exacell.change.execute import execute
from exacell.change.leftbehind import unnoted
from exacell.core.cellset import fold
from exacell.core.errors import ExitCode
from exacell.core.units import counted
from exacell.journal.left import DISKS, GRID_DISKS, note_back
from exacell.journal.state import ChangeState
from exacell.language.line import with_call_flags
from exacell.language.registry import Value
from exacell.output.result import Result
from exacell.plan import facts as f
from exacell.plan.gate import all_online, unmounted
from exacell.session.given import Request, Services, Session

_ACTIVE = re.compile(r"ALTER\s+GRIDDISK\s.*\sACTIVE", re.IGNORECASE)
_INACTIVE = re.compile(r"ALTER\s+GRIDDISK\s.*\sINACTIVE", re.IGNORECASE)
_OFFLINE = re.compile(
    _INACTIVE.pattern + r"|ALTER\s+CELL\s+(SHUTDOWN|RESTART)\s+SERVICES\s+(CELLSRV|ALL)", re.IGNORECASE
)


def start_and_mount(
    session: Session, services: Services, request: Request, change: int, flags: Mapping[str, Value], origin: str
) -> Result | None:
    """Start CELLSRV and mount disk groups that ``change`` left stopped or dismounted; each is planned and confirmed.

    Returns:
        None if all of it runs now, or can't be asked. Else the result of the statement that failed or was only shown: nothing
        else can be planned yet.

    Raises:
        RefusedError: nobody agreed.
    """
    held_up = start_again(session, services, request, change, flags, origin)
    return held_up if held_up is not None else mount_again(session, services, request, change, flags, origin)


def _state(session: Session, services: Services, change: int) -> ChangeState:
    """Return the state of a change, with the changes that continued it and the attempts to take it back."""
    rack = session.need_rack().name
    rows = services.journal.chain(rack, change)
    for attempt in attempts(services.journal, rack, change):
        rows += services.journal.chain(rack, attempt.change)
    return ChangeState.of(sorted(rows, key=lambda row: row.seq))


def start_again(
    session: Session, services: Services, request: Request, change: int, flags: Mapping[str, Value], origin: str
) -> Result | None:
    """Start CELLSRV where ``change`` stopped it and it is still stopped; this is planned and confirmed like any change.

    Returns:
        None if CELLSRV runs now on every cell, or can't be asked. Else the result of the start, which failed or was only
        shown: nothing else can be planned yet.

    Raises:
        RefusedError: nobody agreed.
    """
    known = set(session.need_rack().cells)
    maybe = [cell for cell in _state(session, services, change).cellsrv if cell in known]
    if not maybe:
        return None
    answers = services.fleet.query(maybe, [f.CELL]).good
    down = [
        cell
        for cell, answer in answers.items()
        if any(str(row.get("cellsrvStatus")).lower() == "stopped" for row in answer.tables[0])
    ]
    if not down:
        return None
    statement = f"on {fold(down)} alter cell startup services cellsrv"
    services.console.say(f"change {change} left CELLSRV stopped on {fold(down)}; first: {statement}")
    return _first(session, services, request, statement, flags, origin, "CELLSRV runs")


def mount_again(
    session: Session, services: Services, request: Request, change: int, flags: Mapping[str, Value], origin: str
) -> Result | None:
    """Mount the disk groups that no ASM instance mounts any more, if ``change`` took disks of cells offline.

    Returns and raises the same as ``start_and_mount``. If the change took no disks offline, nothing is mounted.
    """
    if not any(_OFFLINE.search(row.statement) for row in _state(session, services, change).intents):
        return None
    rack = session.need_rack()
    answers = services.fleet.query(rack.cells, [f.GRIDDISK]).good
    facts = {cell: f.build(cell, [f.GRIDDISK], answer.tables) for cell, answer in answers.items()}
    wanted = unmounted(facts)
    for cluster in rack.asm if wanted else ():
        known = services.asm(cluster).facts()
        for group in known.groups:
            if group.name not in wanted or group.state != "DISMOUNTED":
                continue
            statement = f'sql asm "alter diskgroup {group.name} mount" asm={cluster}'
            services.console.say(
                f"disk group {group.name} is not mounted on any node since change {change}; first: {statement}"
            )
            held_up = _first(session, services, request, statement, flags, origin, f"{group.name} is mounted")
            if held_up is not None:
                return held_up
    return None


def _borrowed(session: Session, services: Services, change: int) -> dict[str, tuple[f.GridDisk, ...]]:
    """Return, by cell, the grid disks of the cells on which ``change`` took disks offline only for a while.

    Attempts to take the change back count too. A cell that does not answer is left out."""
    rack = session.need_rack()
    taken: set[str] = set()
    for number in (change, *(attempt.change for attempt in attempts(services.journal, rack.name, change))):
        state = services.journal.whole_state(rack.name, number)
        promised = {step.target for plan in state.plans for step, _ in plan.steps if _ACTIVE.match(step.statement)}
        gone = {row.target for row in state.intents if _INACTIVE.match(row.statement)}
        taken |= gone & promised
    maybe = [cell for cell in rack.cells if cell in taken]
    answers = services.fleet.query(maybe, [f.GRIDDISK]).good if maybe else {}
    return {cell: f.build(cell, [f.GRIDDISK], answer.tables).grid_disks for cell, answer in answers.items()}


def activate_again(
    session: Session, services: Services, request: Request, change: int, flags: Mapping[str, Value], origin: str
) -> Result | None:
    """Bring back the grid disks that ``change`` took offline only for a while and that are still inactive.

    Returns:
        None if all are back or their cell can't be asked. Else the result of ``online cell`` on the first cell where it
        failed or was only shown.

    Raises:
        RefusedError: nobody agreed.
    """
    for cell, grids in _borrowed(session, services, change).items():
        away = [grid for grid in grids if grid.status == "inactive"]
        if away:
            statement = f"online cell {cell}"
            services.console.say(
                f"change {change} left {counted(len(away), 'grid disk')} of {cell} inactive; next comes `{statement}`"
            )
            held_up = _first(session, services, request, statement, flags, origin, "they are online again")
            if held_up is not None:
                return held_up
    return None


def bring_back(
    session: Session, services: Services, request: Request, change: int, flags: Mapping[str, Value], origin: str
) -> Result | None:
    """Bring back the grid disks that ``change`` took offline only for a while, when nothing else is left to do.

    A cell may have reached the goal of the change, or its undo, before its disks are back, for example after hours without a
    link. A new plan of the statement then has nothing to do there.

    Returns:
        None if all are back or their cell can't be asked. Else the result of ``activate_again``, or a line for each cell
        from which ASM has dropped disks for good.
    """
    held_up = activate_again(session, services, request, change, flags, origin)
    if held_up is not None:
        return held_up
    problems: list[str] = []
    borrowed = _borrowed(session, services, change)
    if not (flags.get("dry-run") or session.options.dry_run):
        # No later plan contains disks that came back unseen.
        back = {cell: (GRID_DISKS,) for cell, grids in borrowed.items() if all_online(grids)}
        problem = note_back(services.journal, session.need_rack().name, DISKS, back)
        for line in unnoted(session, services, problem):
            services.console.say(line)
    for cell, grids in borrowed.items():
        dropped = [grid for grid in grids if grid.asm_mode == "DROPPED" and grid.asm_group]
        if dropped:
            groups = " and ".join(sorted({grid.asm_group for grid in dropped}))
            problems.append(
                f"{cell}: ASM dropped {len(dropped)} of its grid disks from {groups} because they were offline "
                "too long (disk_repair_time); `alter diskgroup … add disk` adds them again"
            )
    return Result(problems=problems, exit_code=ExitCode.FAILED) if problems else None


def _first(
    session: Session,
    services: Services,
    request: Request,
    statement: str,
    flags: Mapping[str, Value],
    origin: str,
    when: str,
) -> Result | None:
    """Carry out a statement as a separate change; return None if it went well, else its result."""
    if session.interrupted.is_set():  # A statement that begins clears the interruption.
        return Result(notes=[f"interrupted before: {statement}"], exit_code=ExitCode.INTERRUPTED)
    result = execute(
        session,
        services,
        replace(request, origin=origin, finishing=0),
        with_call_flags(statement, flags),
    )
    if flags.get("dry-run") or session.options.dry_run:
        services.console.say(f"the rest of the change can be planned when {when}")
        return result
    return None if result.exit_code is ExitCode.DONE else result
