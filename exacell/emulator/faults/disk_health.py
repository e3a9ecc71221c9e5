"""How the disks of a cell fail, are dropped for replacement, come back, and are replaced by new ones.

A physical disk's status decides the status of its LUN, its cell disk and its grid disks, and what the cell asks of ASM: a disk
that failed is dropped with FORCE, a disk that is about to fail without FORCE, and a pulled disk stays offline. A new disk gets
the cell disk and grid disks of its place, and ASM takes the grid disks back. Source: Oracle DBMMN,
replacing-hard-disk-due-disk-failure, replacing-hard-disk-due-disk-problems; Oracle SAGUG, handling-disk-replacement; two
published sessions of replaced disks.
"""

from __future__ import annotations

import random

from exacell.emulator.cell.disk_models import CellDisk, DiskType, GridDisk, PhysicalDisk
from exacell.emulator.cell.models import Cell
from exacell.emulator.faults.hardware_alerts import disk_failed, disk_replaced
from exacell.emulator.state.build import new_id, new_serial
from exacell.emulator.state.view import RackView

NORMAL, FAILED, NOT_PRESENT, PROACTIVE = "normal", "failed", "not present", "proactive failure"
DROPPED = " - dropped for replacement"
POOR = "warning - poor performance"


def cell_disk_on(cell: Cell, device: PhysicalDisk) -> CellDisk | None:
    """Return the cell disk of a physical disk, else the dead cell disk of its place, else None."""
    disks = [disk for disk in cell.cell_disks.values() if disk.physical_disk == device.name]
    return next((disk for disk in disks if disk.lun), disks[0] if disks else None)


def set_status(rack: RackView, cell: Cell, device: PhysicalDisk, status: str) -> None:
    """Set a physical disk's status and with it that of its LUN, cell disk and grid disks; report the change to ASM.

    Flash that is only slow continues to serve I/O.
    """
    device.status = status
    if device.disk_type.is_flash and status == POOR:
        return
    lun_status, disk_status, told = _consequences(status)
    cell.luns[device.lun].status = lun_status
    disk = cell_disk_on(cell, device)
    if disk is None or not disk.lun:
        return
    disk.status = disk_status
    for grid_disk in cell.grid_disks_on(disk.name):
        if disk_status == NORMAL:
            grid_disk.status = grid_disk.status_before or grid_disk.status
            grid_disk.status_before = ""
        else:
            grid_disk.status_before = grid_disk.status_before or grid_disk.status
            grid_disk.status = disk_status
        _tell(rack, cell, grid_disk, told)


def _consequences(status: str) -> tuple[str, str, str]:
    """Return the status of the LUN, the status of the cell disk, and the change that is reported to ASM."""
    if status.endswith(DROPPED) or status == NOT_PRESENT:
        return NOT_PRESENT, NOT_PRESENT, "inactive"
    if status == NORMAL:
        return NORMAL, NORMAL, "active"
    return (status, NOT_PRESENT, "failed") if status == FAILED else (status, PROACTIVE, "failing")


def fail(rack: RackView, cell: Cell, device: PhysicalDisk, status: str) -> None:
    """Let a disk fail, or be about to fail: an alert is raised, and the cached data on a failed flash disk is lost."""
    set_status(rack, cell, device, status)
    disk = cell_disk_on(cell, device)
    if disk is None:
        return
    disk_failed(rack, cell, disk)
    if device.disk_type.is_flash and status == POOR:
        return
    disk.error_count += 1
    if status == FAILED:
        _empty(cell, disk)
        counted = {"FC_IO_ERRS": cell.flash_cache, "FL_FLASH_IO_ERRS": cell.flash_log}
        errors = {name: 1 for name, user in counted.items() if user is not None and disk.name in user.members}
        rack.metrics[cell.host].count(**errors)


def mend(rack: RackView, cell: Cell, device: PhysicalDisk) -> None:
    """Make a disk normal again: its data is available again, and the alert about it is cleared."""
    set_status(rack, cell, device, NORMAL)
    disk = cell_disk_on(cell, device)
    if disk is not None and disk.lun:
        disk.error_count = 0
        disk_replaced(rack, cell, disk)


def swap(rack: RackView, cell: Cell, device: PhysicalDisk, *, bare: bool) -> None:
    """Replace a disk by a new one, with another serial number and insertion time.

    The cell disk and the grid disks of its place are created on the new disk, and ASM takes the grid disks back.

    Args:
        bare: create nothing on the new disk, as happens at times: the old cell disk and grid disks stay ``not present`` until
            somebody drops the cell disk and creates them by hand.
    """
    now, disk = rack.now(), cell_disk_on(cell, device)
    serial = new_serial(random.Random(f"{rack.spec.seed}|{cell.host}|{device.name}|{now}"))
    device.serial = f"10{serial}" if device.disk_type.is_flash else serial
    device.insert_time, device.status = now, NORMAL
    if device.disk_type is DiskType.HARD:
        device.device_id = str(1 + max(int(d.device_id) for d in cell.physical_disks.values() if d.device_id))
    lun = cell.luns[device.lun]
    lun.status = NORMAL
    if disk is None:
        return
    _empty(cell, disk)
    disk_replaced(rack, cell, disk)
    lun.cell_disk, disk.lun = ("", "") if bare else (disk.name, lun.name)
    disk.status = NOT_PRESENT if bare else NORMAL
    if not bare:
        disk.creation_time, disk.id, disk.error_count = now, new_id(cell, rack.spec.seed), 0
        disk.flush_status = disk.flush_error = ""
    for grid_disk in cell.grid_disks_on(disk.name):
        if bare:
            grid_disk.status, grid_disk.status_before = NOT_PRESENT, ""
        else:
            grid_disk.status, grid_disk.status_before = grid_disk.status_before or grid_disk.status, ""
            grid_disk.creation_time, grid_disk.id = now, new_id(cell, rack.spec.seed)
        _tell(rack, cell, grid_disk, "dropped" if bare else "replaced")


def _empty(cell: Cell, disk: CellDisk) -> None:
    member = cell.member(disk.name)
    if member is not None:
        member.dirty_bytes = member.used_bytes = member.stuck_bytes = member.flush_dirty = member.flush_used = 0


def _tell(rack: RackView, cell: Cell, grid_disk: GridDisk, what: str) -> None:
    if rack.asm is not None:
        rack.asm.grid_disk_changed(cell.host, grid_disk.name, what)
