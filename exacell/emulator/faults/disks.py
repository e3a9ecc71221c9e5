"""The effects of disk and flash cache faults on a cell, and how they are undone."""

from __future__ import annotations

import random

from exacell.core.errors import EmulatorError
from exacell.core.units import KIB, MIB
from exacell.emulator.cell.disk_models import DiskType
from exacell.emulator.cell.models import Cell
from exacell.emulator.faults.disk_health import fail, mend, swap
from exacell.emulator.io.device_io import FLASH, backing
from exacell.emulator.io.workload import REDO_WRITE_BYTES, keep
from exacell.emulator.state.fault_book import Fault, Kind
from exacell.emulator.state.view import RackView

_STUCK_SHARE = 4
"""A stuck flush keeps a quarter of each disk's dirty data, at least a megabyte; this is the divisor."""


_BROKEN = {Kind.FLASH_DISK: DiskType.FLASH, Kind.HARD_DISK: DiskType.HARD}
"""Faults that break disks, and the medium of each."""


def check_disk(cell: Cell, name: str, *, kind: DiskType | None) -> str:
    """Return the cell disk that a fault names; if it names none, the first of its kind, or of flash.

    Args:
        name: of a cell disk, with or without ``_<cell>`` at its end, or of a physical disk.
        kind: the medium that it must have; None for any.

    Raises:
        EmulatorError: the cell has no such disk.
    """
    disks = [disk for disk in cell.cell_disks.values() if kind in (None, disk.disk_type)]
    for disk in disks:
        names = (disk.name, disk.physical_disk, disk.name.removesuffix(f"_{cell.host}"))
        if name.lower() in [known.lower() for known in names]:
            return disk.name
    first = cell.hard_disks() if kind is DiskType.HARD else cell.flash_disks()
    if not name and first:
        return first[0].name
    what = {DiskType.FLASH: "flash cell disk", DiskType.HARD: "cell disk on a hard disk", None: "cell disk"}[kind]
    known = ", ".join(sorted(disk.name for disk in disks)) or "none"
    raise EmulatorError(f"{cell.host} has no {what} {name or 'at all'}; it has {known}")


def _place_of(cell: Cell, name: str) -> str:
    """Return the name of the physical disk that ``name`` means, itself or its cell disk.

    Raises:
        EmulatorError: ``name`` is empty, or the cell has no such disk.
    """
    if not name:
        raise EmulatorError("replace takes disk=: the disk in whose place a new one is put")
    known = next((device for device in cell.physical_disks if device.lower() == name.lower()), None)
    return known or cell.cell_disks[check_disk(cell, name, kind=None)].physical_disk


def check_fault(cell: Cell, fault: Fault) -> None:
    """Raise EmulatorError if a cell can't have a fault; complete the name of the disk that the fault is about.

    Raises:
        EmulatorError: the cell does not have the disk, or a flush could not get stuck there.
    """
    if fault.kind in _BROKEN:
        fault.options["disk"] = check_disk(cell, str(fault.options["disk"]), kind=_BROKEN[fault.kind])
    elif fault.kind is Kind.REPLACE:
        fault.options["disk"] = _place_of(cell, str(fault.options["disk"]))
    elif fault.kind is Kind.DISK_FULL and fault.options["disk"]:
        fault.options["disk"] = check_disk(cell, str(fault.options["disk"]), kind=None)
    elif fault.kind is Kind.BAD_SECTOR:
        fault.options["disk"] = check_disk(cell, str(fault.options["disk"]), kind=DiskType.HARD)
    elif fault.kind is Kind.STUCK_FLUSH and not cell.write_back:
        raise EmulatorError(
            f"{cell.host} is in {cell.mode} mode: there is no dirty data that could get stuck",
            hint="`emulator start … mode=writeback` makes a rack with dirty data",
        )
    elif fault.kind is Kind.KEPT_REDO and (cell.flash_log is None or backing(cell) == FLASH):
        why = "has no flash log" if cell.flash_log is None else "has no disks behind its flash"
        raise EmulatorError(f"{cell.host} {why}: there is no redo that only the flash log could hold")


def stick_flush(rack: RackView, cell: Cell, fault: Fault) -> None:
    """Make some dirty data of every cache member impossible to write.

    In write-through mode there is no dirty data, so nothing happens.
    """
    if cell.flash_cache is None or not cell.write_back:
        return
    for member in cell.flash_cache.members.values():
        stuck = max(MIB, member.dirty_bytes // _STUCK_SHARE // KIB * KIB)
        member.dirty_bytes = max(member.dirty_bytes, stuck)
        member.used_bytes = max(member.used_bytes, member.dirty_bytes)
        member.flush_dirty = max(member.flush_dirty, stuck) if member.flush_from is not None else 0
        member.flush_used = max(member.flush_used, member.flush_dirty)
        member.stuck_bytes, member.stuck_how = stuck, str(fault.options["variant"])


def release_flush(rack: RackView, cell: Cell, fault: Fault) -> None:
    """Make stuck data writable again."""
    if cell.flash_cache is not None:
        for member in cell.flash_cache.members.values():
            member.stuck_bytes, member.stuck_how = 0, ""


def keep_redo(rack: RackView, cell: Cell, fault: Fault) -> None:
    """Let the disks fail redo writes: the flash log keeps its copies, and can't be dropped while it has them.

    Source: reference cellcli.md 4.2, FL_BY_KEEP, and 6.4, DROP FLASHLOG.
    """
    cell.redo_stays_on_flash = True
    if cell.flash_log is not None:
        rack.metrics[cell.host].count(**keep(cell.flash_log, max(1, int(fault.options["bytes"]) // REDO_WRITE_BYTES)))


def save_redo(rack: RackView, cell: Cell, fault: Fault) -> None:
    """Let the disks accept redo again: the redo that the flash log kept is written to them."""
    cell.redo_stays_on_flash = False
    if cell.flash_log is not None:
        cell.flash_log.kept_bytes = 0


def spoil_sector(rack: RackView, cell: Cell, fault: Fault) -> None:
    """Make a sector of a hard disk bad, somewhere on its first grid disk: the next scrub finds and repairs it."""
    disk = cell.cell_disks[check_disk(cell, str(fault.options["disk"]), kind=DiskType.HARD)]
    grid_disks = cell.grid_disks_on(disk.name)
    begin, size = (grid_disks[0].offset, grid_disks[0].size_bytes) if grid_disks else (0, disk.size_bytes)
    place = random.Random(f"{rack.spec.seed}|{disk.name}|{fault.begins}").randrange(size)
    cell.bad_sectors.setdefault(disk.name, []).append((begin + place, fault.begins))


def break_disk(rack: RackView, cell: Cell, fault: Fault) -> None:
    """Break a disk with its LUN, cell disk and grid disks; ASM drops the grid disks.

    Nothing happens to a disk that somebody has dropped before the fault begins.
    """
    try:
        disk = cell.cell_disks[check_disk(cell, str(fault.options["disk"]), kind=_BROKEN[fault.kind])]
    except EmulatorError:
        return
    fault.before["disk"] = disk.physical_disk
    fail(rack, cell, cell.physical_disks[disk.physical_disk], str(fault.options["status"]))


def mend_disk(rack: RackView, cell: Cell, fault: Fault) -> None:
    """Make the broken disk normal again; its grid disks are available again, and ASM takes them back."""
    device = cell.physical_disks.get(fault.before.get("disk", ""))
    if device is not None:
        mend(rack, cell, device)


def replace_disk(rack: RackView, cell: Cell, fault: Fault) -> None:
    """Replace a disk by a new one, which ends the faults of the old one."""
    place = str(fault.options["disk"])
    for other in rack.faults:
        if other.host == fault.host and other.kind in _BROKEN and other.before.get("disk") == place:
            rack.faults.remove(other)
    swap(rack, cell, cell.physical_disks[place], bare=bool(fault.options["bare"]))


def fill_disks(rack: RackView, cell: Cell, fault: Fault) -> None:
    """Take away all free space of a disk, or of all flash disks."""
    name = str(fault.options["disk"])
    names = [check_disk(cell, name, kind=None)] if name else [disk.name for disk in cell.flash_disks()]
    cell.full_disks = sorted({*cell.full_disks, *names})
    fault.before["disks"] = ",".join(names)


def free_disks(rack: RackView, cell: Cell, fault: Fault) -> None:
    """Give the free space back."""
    mine = fault.before.get("disks", "").split(",")
    cell.full_disks = [name for name in cell.full_disks if name not in mine]
