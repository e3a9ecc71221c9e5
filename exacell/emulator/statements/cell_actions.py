"""Actions on a cell besides its attributes: lights, checks, battery, and creating and dropping the cell itself.

Source: reference cellcli.md 2.3; Oracle SAGUG, alter-cell, create-cell, drop-cell. Lines that no public session shows
follow those of ALTER CELL.
"""

from __future__ import annotations

from exacell.emulator.basics.messages import CellError, Code
from exacell.emulator.basics.program import Pause
from exacell.emulator.cell.disk_models import PhysicalDisk
from exacell.emulator.cell.models import RUNNING, Cell
from exacell.emulator.grammar.admin import AdminStatement
from exacell.emulator.grammar.changes import CellAction
from exacell.emulator.state.place import Place
from exacell.emulator.statements.cell_attributes import check_selector
from exacell.emulator.statements.effects import Effects, line

_LIGHTS = {"LED": "locatorLEDStatus", "DONOTSERVICELED": "doNotServiceLEDStatus"}
_BATTERY = {
    ("BBU", "DROP", "FOR", "REPLACEMENT"): ("dropped for replacement", "dropped for replacement"),
    ("BBU", "REENABLE"): ("normal", "reenabled"),
}
_BMC_S = 90.0


def act(place: Place, statement: CellAction) -> Effects:
    """Carry out an action of ALTER CELL: switch a light, check something, or service the battery or management controller."""
    cell, words = place.cell, statement.words
    if words[0] in _LIGHTS:
        cell.settings[_LIGHTS[words[0]]] = words[1].lower()
    elif words in _BATTERY:
        status, done = _BATTERY[words]
        cell.settings["bbuStatus"] = status
        yield line(f"HDD disk controller battery has been {done}")
        return
    elif words[0] == "VALIDATE":
        _validate(cell, words[1], statement.argument)
    else:
        yield Pause(_BMC_S)
    yield line(f"Cell {cell.name} successfully altered")


def _validate(cell: Cell, what: str, argument: str) -> None:
    """Check that notifications could be sent; an emulated cell sends nothing."""
    needed = {"MAIL": ("smtpToAddr",), "SNMP": ("snmpSubscriber",)}.get(what, ())
    missing = next((name for name in needed if not cell.settings.get(name)), None)
    if missing is not None:
        raise CellError(Code.VALIDATION, what=what, cell=cell.name, reason=f"{missing} is not set")
    issues = [_issue(disk) for disk in cell.physical_disks.values() if disk.status != "normal"]
    if what == "CONFIGURATION" and issues:
        raise CellError(Code.CONFIGURATION_ISSUES, issues="\n\n".join(issues))
    if what == "SYSLOGCONF":
        check_selector(argument)


def _issue(disk: PhysicalDisk) -> str:
    """Return the finding of the configuration check about a disk that is not normal.

    Source of the layout: Oracle SAGUG, alter-cell-config-validation; a published alert of 19.2.1. The attribute is made up.
    """
    facts = {
        "Slot Number": disk.slot,
        "Attribute Name": f"{disk.disk_type.printed}Status",
        "Required": "normal",
        "Found": disk.status,
    }
    lines = [f"    {name:<15}: {value}" for name, value in facts.items()]
    return "\n".join((f"{disk.disk_type.printed} check has detected the following issue(s):", *lines))


def create(place: Place, statement: AdminStatement) -> Effects:
    """Create a cell on a server that has none, as after DROP CELL, and start its services."""
    cell = place.cell
    if "CELL" not in cell.records:
        raise CellError(Code.OBJECT_EXISTS, kind="Cell", name=cell.name)
    del cell.records["CELL"]
    cell.name = statement.names[0] if statement.names else cell.host
    for service in ("RS", "MS"):
        cell.services[service] = RUNNING
    if not cell.cellsrv_up:
        place.rack.start_cellsrv(cell)
    yield line(f"Cell {cell.name} successfully created")
    yield line("Starting CELLSRV services...")
    yield line("The STARTUP of CELLSRV services was successful.")


def drop(place: Place, statement: AdminStatement) -> Effects:
    """Remove everything from a cell; refused while it has caches or logs, and without FORCE while it has disks."""
    cell = place.cell
    if "CELL" in cell.records:
        raise CellError(Code.OBJECT_MISSING, kind="Cell", name=cell.name)
    used = [cache.name for cache in cell.caches] + [log.name for log in cell.logs]
    if used or (cell.cell_disks and "FORCE" not in statement.options):
        raise CellError(Code.CELL_IN_USE, cell=cell.name, what=", ".join(used) or f"{len(cell.cell_disks)} cell disks")
    for name in list(cell.grid_disks):
        del cell.grid_disks[name]
        if place.rack.asm is not None:
            place.rack.asm.grid_disk_changed(cell.host, name, "dropped")
    for disk in cell.cell_disks.values():
        cell.luns[disk.lun].cell_disk = ""
    cell.cell_disks.clear()
    cell.settings.clear()
    cell.thresholds.clear()
    cell.records.clear()
    cell.records["CELL"] = {}
    yield line(f"Cell {cell.name} successfully dropped")
