"""EXPORT and IMPORT CELLDISK: cell disks that are moved out of one cell and used again.

Source: reference cellcli.md 2.3; Oracle SAGUG, export-celldisk, import-celldisk. The success lines follow those of other
statements on cell disks.
"""

from __future__ import annotations

from exacell.emulator.basics.messages import CellError, Code
from exacell.emulator.cell.disk_models import CellDisk
from exacell.emulator.grammar.admin import AdminStatement
from exacell.emulator.state.place import Place
from exacell.emulator.statements.celldisk import rename
from exacell.emulator.statements.effects import Effects, find, line, require_cellsrv

EXPORTED = "importRequired"
"""Status of an exported cell disk and of the grid disks on it."""


def export(place: Place, statement: AdminStatement) -> Effects:
    """Prepare cell disks to be moved: ASM no longer sees their grid disks. Disks of a cache or log can't be exported."""
    cell = place.cell
    require_cellsrv(cell)
    if statement.names is None:
        names: list[str | CellError] = [n for n, disk in sorted(cell.cell_disks.items()) if disk.status == "normal"]
    else:
        names = list(_found(place, statement.names))
    for name in names:
        if isinstance(name, CellError):
            yield line(name.line)
            continue
        try:
            _export_one(place, cell.cell_disks[name])
        except CellError as error:
            yield line(error.line)
            continue
        yield line(f"CellDisk {name} successfully exported")


def _found(place: Place, names: tuple[str, ...]) -> list[str | CellError]:
    found: list[str | CellError] = []
    for name in names:
        try:
            found.append(find(sorted(place.cell.cell_disks), name, "Cell disk"))
        except CellError as error:
            found.append(error)
    return found


def _export_one(place: Place, disk: CellDisk) -> None:
    cell = place.cell
    holders = [(cache.name, disk.name in cache.members) for cache in cell.caches]
    holders += [(log.name, disk.name in log.members) for log in cell.logs]
    for holder, holds in holders:
        if holds:
            raise CellError(Code.CELLDISK_IN_USE, disk=disk.name, user=holder)
    if disk.status != "normal":
        raise CellError(Code.NOT_NORMAL, kind="Cell disk", name=disk.name, status=disk.status)
    for grid_disk in cell.grid_disks_on(disk.name):
        view = place.rack.asm.disk(cell.host, grid_disk.name) if place.rack.asm is not None else None
        if grid_disk.status == "active" and view is not None and view.deactivation_outcome != "Yes":
            raise CellError(Code.ASM_REFUSES, disk=grid_disk.name, reason=view.deactivation_outcome)
    disk.status = EXPORTED
    for grid_disk in cell.grid_disks_on(disk.name):
        was, grid_disk.status = grid_disk.status, EXPORTED
        if was == "active" and place.rack.asm is not None:
            place.rack.asm.grid_disk_changed(cell.host, grid_disk.name, "inactive")


def import_(place: Place, statement: AdminStatement) -> Effects:
    """Use exported cell disks again; with a name and a LUN, the disk on that LUN gets the name."""
    cell = place.cell
    require_cellsrv(cell)
    unknown = next((name for name in statement.values if name not in ("lun", "comment")), None)
    if unknown is not None:
        raise CellError(Code.UNKNOWN_ATTRIBUTE, attribute=unknown, object="CELLDISK")
    disks = [disk for _name, disk in sorted(cell.cell_disks.items())]
    lun = statement.values.get("lun")
    if lun is not None:
        disks = [disk for disk in disks if disk.lun == lun]
        if not disks:
            raise CellError(Code.OBJECT_MISSING, kind="Cell disk on LUN", name=lun)
    elif statement.names:
        disks = [cell.cell_disks[find(sorted(cell.cell_disks), name, "Cell disk")] for name in statement.names]
    else:
        disks = [disk for disk in disks if disk.status == EXPORTED]
    new_name = statement.names[0] if lun is not None and statement.names else ""
    for disk in disks:
        if disk.status != EXPORTED and "FORCE" not in statement.options:
            yield line(CellError(Code.NOT_NORMAL, kind="Cell disk", name=disk.name, status=disk.status).line)
            continue
        _import_one(place, disk)
        if new_name and new_name != disk.name:
            rename(place, disk, new_name)
        disk.comment = statement.values.get("comment", disk.comment)
        yield line(f"CellDisk {disk.name} successfully imported")


def _import_one(place: Place, disk: CellDisk) -> None:
    disk.status = "normal"
    for grid_disk in place.cell.grid_disks_on(disk.name):
        if grid_disk.status == EXPORTED:
            # Keys and names of clients are not imported. Source: Oracle SAGUG, export-celldisk.
            grid_disk.status, grid_disk.available_to = "active", ()
            if place.rack.asm is not None:
                place.rack.asm.grid_disk_changed(place.cell.host, grid_disk.name, "active")
