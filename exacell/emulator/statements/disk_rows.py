"""The rows of LIST for cell disks, grid disks, LUNs and physical disks, with attribute values.

Source: reference cellcli.md 3.3.
"""

from __future__ import annotations

from collections.abc import Mapping

from exacell.core.units import format_size
from exacell.emulator.basics.messages import (
    ASM_UNREACHABLE,
    FLUSH_COMPLETE,
    FLUSH_ERROR_STALE,
    FLUSH_ERROR_WRITE,
    FLUSH_WORKING,
)
from exacell.emulator.basics.profiles import CACHED_BY_ONE_SINCE
from exacell.emulator.cell.cache_models import CacheMember, FlashCache
from exacell.emulator.cell.disk_models import CellDisk, DiskType, GridDisk
from exacell.emulator.cell.models import FIRST_OFFSET, Cell
from exacell.emulator.faults.disk_health import DROPPED
from exacell.emulator.grammar.kept import row_of
from exacell.emulator.grammar.values import Row, Size, Value
from exacell.emulator.state.asm_view import AsmDiskView
from exacell.emulator.state.place import Place

_FLUSH_ERRORS = {"stale": FLUSH_ERROR_STALE, "error": FLUSH_ERROR_WRITE}


def _member_flush(member: CacheMember | None) -> tuple[str, str]:
    """Return flushStatus and flushError of a cell disk that is part of a cache."""
    if member is None or member.flush_from is None:
        return "", ""
    if member.dirty_bytes == 0 and member.used_bytes == 0:
        return FLUSH_COMPLETE, ""
    if member.stuck_bytes and member.dirty_bytes <= member.stuck_bytes:
        return FLUSH_WORKING, _FLUSH_ERRORS.get(member.stuck_how, "")
    return FLUSH_WORKING, ""


def cell_disk_row(cell: Cell, disk: CellDisk) -> Row:
    """Return the row of one cell disk."""
    flush = (disk.flush_status, disk.flush_error)
    if not disk.disk_type.is_cached:
        flush = _member_flush(cell.member(disk.name))
    free = max(0, cell.free_space(disk.name))
    row: Row = {
        **row_of("CELLDISK", disk),
        "diskType": disk.disk_type.printed,
        "flushStatus": flush[0],
        "flushError": flush[1],
        "freeSpace": Size(free),
        "physicalDisk": cell.physical_disks[disk.physical_disk].serial if disk.lun else "",
    }
    if disk.disk_type is DiskType.HARD:
        row["raidLevel"] = "0"
        begin, end = cell.next_offset(disk.name), disk.size_bytes - disk.disk_type.reserve_bytes + FIRST_OFFSET
        if free and begin + free == end:
            # Only free space in one piece has been published: the form for several pieces is not known.
            row["freeSpaceMap"] = f"offset={format_size(begin, largest='G')},size={format_size(free, largest='G')}"
    return row


def cell_disk_rows(place: Place) -> list[Row]:
    """Return the rows of LIST CELLDISK, by name."""
    return [cell_disk_row(place.cell, disk) for _name, disk in sorted(place.cell.cell_disks.items())]


def asm_view(place: Place, name: str) -> AsmDiskView:
    """Return ASM's view of a grid disk of the cell; UNUSED if ASM never knew it, UNKNOWN without ASM."""
    if place.rack.asm is None:
        known, mode, outcome = None, "UNKNOWN", ASM_UNREACHABLE
    else:
        known, mode, outcome = place.rack.asm.disk(place.cell.host, name), "UNUSED", "Yes"
    return known or AsmDiskView(
        disk_group=None,
        disk_group_type=None,
        disk_name=None,
        fail_group=None,
        mode_status=mode,
        deactivation_outcome=outcome,
        size_bytes=None,
    )


def _cached_by(place: Place, cache: FlashCache, disk: GridDisk) -> list[str]:
    """Return the cell disks of a cache that hold data of a grid disk: all of them on old releases, one on later releases."""
    members = sorted(cache.members)
    if place.rack.release.number < CACHED_BY_ONE_SINCE or not members:
        return members
    of_medium = sorted(d.name for d in place.cell.cell_disks.values() if d.disk_type is disk.disk_type)
    return [members[of_medium.index(disk.cell_disk) % len(members)]]


def grid_disk_row(place: Place, disk: GridDisk) -> Row:
    """Return the row of one grid disk; while CELLSRV is down it has no attributes from ASM."""
    cell = place.cell
    row: Row = {
        **row_of("GRIDDISK", disk),
        "cachedBy": "",
        "diskType": disk.disk_type.printed,
        "errorCount": 0,
    }
    if place.rack.release.number >= (18,):
        row["sparse"] = disk.virtual_size is not None
    if not disk.storage_pool:
        del row["storagePool"]
    if disk.disk_type.is_cached and disk.caching_policy == "default":
        # When a flush of persistent memory is complete, its disks disappear from here. Source: Oracle DBMMN,
        # disable-write-back-pmem-cache.
        pairs = ((cell.flash_cache, cell.write_back), (cell.pmem_cache, cell.pmem_write_back))
        caches = [cache for cache, write_back in pairs if cache is not None and write_back and not cache.flushed]
        row["cachedBy"] = ", ".join(name for cache in caches for name in _cached_by(place, cache, disk))
    if cell.cellsrv_up:
        asm = asm_view(place, disk.name)
        row["asmDeactivationOutcome"] = asm.deactivation_outcome
        row["asmModeStatus"] = asm.mode_status
        named: Mapping[str, Value] = {
            "asmDiskGroupName": asm.disk_group,
            "asmDiskGroupType": asm.disk_group_type,
            "asmDiskName": asm.disk_name,
            "asmFailGroupName": asm.fail_group,
            "asmDiskSize": None if asm.size_bytes is None else Size(asm.size_bytes),
        }
        row |= {name: value for name, value in named.items() if value is not None}
    return row


def grid_disk_rows(place: Place) -> list[Row]:
    """Return the rows of LIST GRIDDISK, by name."""
    return [grid_disk_row(place, disk) for _name, disk in sorted(place.cell.grid_disks.items())]


def lun_rows(place: Place) -> list[Row]:
    """Return the rows of LIST LUN in slot order, hard disks first."""
    rows: list[Row] = []
    for lun in place.cell.luns.values():
        row: Row = {
            **row_of("LUN", lun),
            "diskType": lun.disk_type.printed,
            "errorCount": 0,
            "id": lun.name,
            "lunUID": lun.name,
        }
        if lun.disk_type is DiskType.HARD:
            row["raidLevel"] = "0"
            row["lunWriteCacheMode"] = "WriteBack, ReadAheadNone, Direct, No Write Cache if Bad BBU"
        elif lun.disk_type.is_flash:
            row["overProvisioning"] = 100.0
        rows.append(row)
    return rows


def physical_disk_rows(place: Place) -> list[Row]:
    """Return the rows of LIST PHYSICALDISK in slot order, hard disks first."""
    rows: list[Row] = []
    for disk in place.cell.physical_disks.values():
        row: Row = {**row_of("PHYSICALDISK", disk), "diskType": disk.disk_type.printed, "id": disk.serial}
        if disk.status.endswith(DROPPED):
            del row["luns"]
        if disk.disk_type is DiskType.HARD:
            row |= {"enclosureDeviceId": disk.name.split(":")[0], "errMediaCount": 0, "errOtherCount": 0}
        else:
            del row["deviceId"], row["physicalInterface"]
        rows.append(row)
    return rows
