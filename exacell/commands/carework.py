"""Commands for the care of cells that change something or look for a disk: acknowledge alerts, find a disk, pack diagnostics."""

from __future__ import annotations

import re
from typing import Any

from exacell.care.alerts import ALERTS, ack_plan, alerts_of
from exacell.cellcli.statement import Change, parse as parse_cellcli
from exacell.change.bringing_back import mount_again
from exacell.change.earlier import done_on
from exacell.change.leftbehind import unnoted
from exacell.core.cellset import fold
from exacell.core.errors import RefusedError, StatementError
from exacell.core.meant import ask_for
from exacell.journal.actor import actor
from exacell.journal.left import DISKS, GRID_DISKS, SERVICES, note_back
from exacell.language.registry import Call, Kind
from exacell.output.result import Column, Result
from exacell.plan import facts as f
from exacell.plan.guards.choice import guard_plan
from exacell.plan.model import Planned
from exacell.plan.planners.availability import (
    offline_plan,
    online_plan,
    restart_plan,
    restart_words,
)
from exacell.session.factreading import read_facts
from exacell.session.given import Request, Services, Session

_EXAMINER = re.compile(r"[A-Za-z0-9_.@-]{1,64}")


def ack_alert(session: Session, services: Services, request: Request, call: Call) -> Planned:
    """Return the plan; its result is one record per cell with its outcome.

    Raises:
        RefusedError: no selected cell has such an alert that nobody has examined.
    """
    name = call.text_arg("alert")
    by = call.text_arg("by") or actor()["user"]
    if not _EXAMINER.fullmatch(by):
        raise StatementError(f"by={by}: the value for examinedBy may have letters, digits and _ . @ - only")
    answers = services.query(ALERTS, timeout=request.read_timeout)
    if answers.problems:
        raise RefusedError(f"{answers.problems[0]}; nothing was sent", hint=session.not_running(answers.problems))
    alerts = {cell: alerts_of(answer.tables[0]) for cell, answer in answers.good.items()}
    wanted = name.lower().partition("_")[0]
    meant = {
        cell: tuple(
            alert
            for alert in found
            if not alert.examined_by and (alert.open if wanted == "all" else alert.name.partition("_")[0] == wanted)
        )
        for cell, found in alerts.items()
    }
    meant = {cell: found for cell, found in meant.items() if found}
    if not meant:
        known = sorted({a.name for found in alerts.values() for a in found if a.open and not a.examined_by})
        raise RefusedError(
            f"ack alert {name}: {fold(alerts)} has no such unexamined alert; nothing was sent",
            hint=ask_for(name, known)
            or (f"open are {', '.join(known)}" if known else "`show alerts all` lists the earlier ones"),
        )
    return Planned(ack_plan(session.need_rack().name, meant, by=by, statement=call.text))


_PHYSICAL = "list physicaldisk attributes name, diskType, status, slotNumber, physicalSerial, makeModel"
_LUN = "list lun attributes name, cellDisk, physicalDrives"
_GRID = "list griddisk attributes name, cellDisk"


def locate_disk(services: Services, request: Request, call: Call) -> Result:
    """Return one record per disk found: its cell and its place.

    Raises:
        RefusedError: no selected cell has a disk of that name.
    """
    wanted = call.text_arg("disk").lower()
    answers = services.query(_PHYSICAL, _LUN, _GRID, timeout=request.read_timeout)
    rows: list[dict[str, Any]] = []
    for cell, answer in answers.good.items():
        physical, luns, grids = answer.tables
        for disk in physical:
            drive = str(disk.get("name"))
            own = [lun for lun in luns if drive in _list(lun.get("physicalDrives"))]
            cell_disks = [name for lun in own for name in _list(lun.get("cellDisk"))]
            on_it = [str(grid["name"]) for grid in grids if grid.get("cellDisk") in cell_disks]
            serial = str(disk.get("physicalSerial") or "")
            names = {drive, serial, *(str(lun["name"]) for lun in own), *cell_disks, *on_it}
            if wanted in {name.lower() for name in names}:
                rows.append(
                    {
                        "cell": cell,
                        "physicalDisk": drive,
                        "status": disk.get("status"),
                        "slotNumber": disk.get("slotNumber"),
                        "physicalSerial": serial or None,
                        "makeModel": disk.get("makeModel"),
                        "cellDisk": ", ".join(cell_disks) or None,
                        "gridDisks": tuple(on_it),
                    }
                )
    if not rows and not answers.problems:
        raise RefusedError(
            f"locate disk {call.text_arg('disk')}: no selected cell has a disk of that name or serial number",
            hint=ask_for(call.text_arg("disk"), services.learned.get(Kind.PHYSICALDISK))
            or "`list physicaldisk`, `list celldisk` and `list griddisk` show the names",
        )
    notes = []
    if rows:
        first = rows[0]
        notes = [f"`on {first['cell']} alter cell led on` switches the cell's own LED on"]
        if str(first["status"]).lower() != "normal":
            notes.append(f"before it is pulled: can offline {first['cell']}; show asmdisk")
    columns = ("cell", "physicalDisk", "status", "slotNumber", "physicalSerial", "cellDisk", "gridDisks")
    return Result(
        records=rows,
        columns=[Column(name) for name in columns],
        data=True,
        notes=notes,
        problems=answers.problems,
        exit_code=answers.exit_code,
    )


def _list(value: object) -> tuple[str, ...]:
    if isinstance(value, tuple):
        return tuple(str(item) for item in value)
    return tuple(part.strip() for part in str(value or "").split(",") if part.strip())


def diagpack(session: Session, services: Services, request: Request, call: Call) -> Planned:
    """Return the plan; its result is one record per cell with its outcome."""
    hours, alert, kind = call.int_arg("hours"), call.text_arg("alert"), call.text_arg("type")
    if hours is not None and not 1 <= hours <= 6:
        raise StatementError(f"hours={hours} is not possible: a diagnostic pack covers 1 to 6 hours")
    if alert and kind:
        raise StatementError("alert= and type= can't be given together: give only one of them")
    what = f"alertName={alert}" if alert else f"packType={kind}" if kind else ""
    text = f"create diagpack {what or f'packStartTime=now, durationInHrs={hours}'}"
    statement = parse_cellcli(text)
    assert isinstance(statement, Change)
    facts = read_facts(session, services, request, f.CELL)
    plan = guard_plan(
        session.need_rack().name, facts, statement, text=call.text, accepted=(), headers=None, may_ask=True
    )
    return Planned(plan, facts, afterwards="`list diagpack` shows when it is ready and where the file is")


def _one(session: Session, call: Call) -> str:
    name = call.text_arg("cell")
    found = tuple(session.selection.resolve(name)) if name else session.cells()
    if len(found) != 1:
        said = f"{name} is" if name else "selected are"
        raise RefusedError(
            f"{call.command.name}: {said} {len(found)} cells: give one at a time, as each cell is a failure group",
            hint=f"type `{call.command.name} {found[0]}`; a recipe can do all, with rolling … end, as "
            "cell_maintenance does"
            if found
            else "",
        )
    return found[0]


def offline(session: Session, services: Services, request: Request, call: Call) -> Planned:
    """Return the plan; its result is one record with the outcome."""
    cell = _one(session, call)
    facts = read_facts(session, services, request, f.CELL, f.GRIDDISK, cells=(cell,))
    return Planned(offline_plan(session.need_rack().name, facts[cell], statement=call.text), facts)


def online(session: Session, services: Services, request: Request, call: Call) -> Result | Planned:
    """Return the plan or its outcome; disk groups that ASM had dismounted in the meantime are mounted again first."""
    cell = _one(session, call)
    rack = session.need_rack().name
    for change in [item.change for item in DISKS.left(services.journal, rack) if cell in item.cells]:
        held_up = mount_again(session, services, request, change, call.flags, request.origin)
        if held_up is not None:
            return held_up
    stopped = read_facts(session, services, request, f.CELL, cells=(cell,))[cell].cellsrv.lower() == "stopped"
    facts = read_facts(session, services, request, f.CELL, f.GRIDDISK_PLAIN if stopped else f.GRIDDISK, cells=(cell,))
    if not stopped:
        problem = note_back(services.journal, rack, SERVICES, {cell: ("cellsrv",)})
        for line in unnoted(session, services, problem):
            services.console.say(line)
    plan = online_plan(rack, facts[cell], statement=call.text)
    if not plan.stages:
        for line in unnoted(session, services, note_back(services.journal, rack, DISKS, {cell: (GRID_DISKS,)})):
            services.console.say(line)
    return Planned(plan, facts)


def restart(session: Session, services: Services, request: Request, call: Call) -> Planned:
    """Return the plan; its result is one record per cell with its outcome."""
    service = call.text_arg("service")
    # If MS is down, it answers nothing, so its restart must not depend on facts.
    wanted = (f.CELL, f.GRIDDISK, f.FLASHCACHE) if service in ("cellsrv", "all") else ()
    facts = read_facts(session, services, request, *wanted)
    rack = session.need_rack().name
    restarted = done_on(services.journal, rack, request.finishing, restart_words(service)) if request.finishing else ()
    plan = restart_plan(rack, facts, service=service, statement=call.text, restarted=restarted)
    return Planned(plan, facts if wanted else {})
