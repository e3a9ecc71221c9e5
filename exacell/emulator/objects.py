"""The objects of a cell as LIST sees them: one row of attribute values for each.

A row has an attribute only when a real cell would print its label in DETAIL; what is missing is an empty column in
ATTRIBUTES. Which attributes a release has is the schema's business. Source: reference cellcli.md 3.3.
"""

from __future__ import annotations

import random
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from exacell.emulator.cache_shares import cache_shares
from exacell.emulator.messages import (
    ASM_UNREACHABLE,
    FLUSH_COMPLETE,
    FLUSH_ERROR_STALE,
    FLUSH_ERROR_WRITE,
    FLUSH_WORKING,
)
from exacell.emulator.models import (
    STOPPED,
    CacheMember,
    Cell,
    CellDisk,
    Directive,
    DiskType,
    FlashCache,
    FlashLog,
    GridDisk,
    MemoryCache,
)
from exacell.emulator.rack import AsmDiskView, Rack
from exacell.emulator.schema import metric_definitions
from exacell.emulator.segments import default_segments, object_number
from exacell.emulator.values import Lines, Row, Size, Time, Value

_WORD = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.$#-"


@dataclass(frozen=True)
class Place:
    """Where a statement runs: a cell of a rack."""

    rack: Rack
    cell: Cell


_EXASCALE = {
    "bsmStatus": "BSM",
    "bswStatus": "BSW",
    "egsStatus": "EGS",
    "ersStatus": "ERS",
    "ifdStatus": "IFD",
    "sysEdsStatus": "SYSEDS",
    "usrEdsStatus": "USREDS",
}
"""Attributes of CELL that show Exascale's services."""


def cell_rows(place: Place) -> list[Row]:
    """Return the one row of LIST CELL; none after DROP CELL."""
    rack, cell = place.rack, place.cell
    if "CELL" in cell.records:
        return []
    release, model = rack.release, rack.model
    up = int(rack.now() - cell.boot_time)
    days, clock = divmod(up, 86400)
    row: Row = {
        "name": cell.name,
        "accessLevelPerm": "remoteLoginEnabled",
        "bbuStatus": "normal",
        "cellVersion": f"OSS_{release.banner}_LINUX.X64_{release.version.rsplit('.', 1)[1]}",
        "cpuCount": model.cpu_count,
        "diagHistoryDays": 7,
        "doNotServiceLEDStatus": "off",
        "fanCount": model.fan_count,
        "fanStatus": "normal",
        "flashCacheMode": cell.mode,
        "httpsAccess": "ALL",
        "id": cell.id,
        "interconnectCount": 2,
        "interconnect1": "ib0",
        "interconnect2": "ib1",
        "iormBoost": 0.0,
        "ipaddress1": f"{cell.ip}/22",
        "kernelVersion": release.kernel,
        "locatorLEDStatus": "off",
        "makeModel": model.make_model,
        "memoryGB": model.memory_gb,
        "metricCollection": True,
        "metricHistoryDays": 7,
        "notificationMethod": "none",
        "notificationPolicy": "critical,warning,clear",
        "offloadGroupEvents": "",
        "powerCount": "2/2",
        "powerStatus": "normal",
        "releaseImageStatus": "success",
        "releaseVersion": release.version,
        "rpmVersion": release.rpm,
        "releaseTrackingBug": release.tracking_bug,
        "status": "online",
        "temperatureReading": 25.0,
        "temperatureStatus": "normal",
        "upTime": f"{days} days, {clock // 3600}:{clock % 3600 // 60:02d}",
        "usbStatus": "normal",
        "cellsrvStatus": cell.services["CELLSRV"],
        "msStatus": cell.services["MS"],
        "rsStatus": cell.services["RS"],
    }
    if model.pmem is not None:
        row["pmemCacheMode"] = cell.pmem_mode
    row |= {name: cell.services.get(service, STOPPED) for name, service in _EXASCALE.items()}
    return [{**row, **cell.settings}]


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
    return {
        "name": disk.name,
        "comment": disk.comment,
        "creationTime": Time(disk.creation_time),
        "deviceName": disk.device_name,
        "devicePartition": disk.device_partition,
        "diskType": disk.disk_type.printed,
        "errorCount": disk.error_count,
        "flushStatus": flush[0],
        "flushError": flush[1],
        "freeSpace": Size(max(0, cell.free_space(disk.name))),
        "id": disk.id,
        "lun": disk.lun,
        "physicalDisk": cell.physical_disks[disk.physical_disk].serial,
        "size": Size(disk.size_bytes),
        "status": disk.status,
    }


def cell_disk_rows(place: Place) -> list[Row]:
    """Return the rows of LIST CELLDISK, by name."""
    return [cell_disk_row(place.cell, disk) for _name, disk in sorted(place.cell.cell_disks.items())]


def asm_view(place: Place, name: str) -> AsmDiskView:
    """Return what ASM says of a grid disk of the cell; UNUSED when it never knew it, UNKNOWN when there is no ASM."""
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


def grid_disk_row(place: Place, disk: GridDisk) -> Row:
    """Return the row of one grid disk; what ASM knows of it is left out when CELLSRV is down."""
    cell = place.cell
    row: Row = {
        "name": disk.name,
        "availableTo": disk.available_to,
        "cachedBy": "",
        "cachingPolicy": disk.caching_policy,
        "cellDisk": disk.cell_disk,
        "comment": disk.comment,
        "creationTime": Time(disk.creation_time),
        "diskType": disk.disk_type.printed,
        "errorCount": 0,
        "id": disk.id,
        "offset": Size(disk.offset),
        "size": Size(disk.size_bytes),
        "status": disk.status,
    }
    if place.rack.release.number >= (18,):
        row["sparse"] = disk.virtual_size is not None
    if disk.virtual_size is not None:
        row["virtualSize"] = Size(disk.virtual_size)
    if disk.disk_type.is_cached and disk.caching_policy == "default":
        # A flush of persistent memory is complete when its disks are gone from here. Source: Oracle DBMMN,
        # disable-write-back-pmem-cache.
        pairs = ((cell.flash_cache, cell.write_back), (cell.pmem_cache, cell.pmem_write_back))
        caches = [cache for cache, write_back in pairs if cache is not None and write_back and not cache.flushed]
        row["cachedBy"] = ", ".join(name for cache in caches for name in sorted(cache.members))
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


def flash_cache_rows(place: Place) -> list[Row]:
    """Return the row of LIST FLASHCACHE, none without a cache."""
    return cache_rows(place, place.cell.flash_cache)


def pmem_cache_rows(place: Place) -> list[Row]:
    """Return the row of LIST PMEMCACHE, none without a cache."""
    return cache_rows(place, place.cell.pmem_cache)


def cache_rows(place: Place, cache: FlashCache | None) -> list[Row]:
    """Return the row of a cache on cell disks, none for None."""
    if cache is None:
        return []
    degraded = [name for name in sorted(cache.members) if place.cell.cell_disks[name].status != "normal"]
    health = "warning" if degraded else "normal"
    status = "warning - degraded" if degraded else "normal"
    if cache.flushing:
        status = f"{health} - flushing"
    elif cache.flushed:
        status = f"{health} - flushed"
    order = sorted(cache.members)
    random.Random(cache.id).shuffle(order)
    effective = sum(m.size_bytes for name, m in cache.members.items() if name not in degraded)
    return [
        {
            "name": cache.name,
            "cellDisk": tuple(order),
            "creationTime": Time(cache.creation_time),
            "degradedCelldisks": tuple(degraded),
            "effectiveCacheSize": Size(effective),
            "id": cache.id,
            "size": Size(cache.size_bytes),
            "status": status,
        }
    ]


def flash_log_rows(place: Place) -> list[Row]:
    """Return the row of LIST FLASHLOG, none without a log."""
    rack, definition = place.rack, metric_definitions()["FL_EFFICIENCY_PERCENTAGE"]
    efficiency = rack.reader(place.cell).one(rack.collection_time(place.cell), definition)
    return log_rows(place, place.cell.flash_log, efficiency)


def pmem_log_rows(place: Place) -> list[Row]:
    """Return the row of LIST PMEMLOG, none without a log; nothing that it takes is ever slow."""
    return log_rows(place, place.cell.pmem_log, 100.0)


def log_rows(place: Place, log: FlashLog | None, efficiency: float) -> list[Row]:
    """Return the row of a log on cell disks, none for None."""
    if log is None:
        return []
    degraded = [name for name in sorted(log.members) if place.cell.cell_disks[name].status != "normal"]
    order = sorted(log.members)
    random.Random(log.id).shuffle(order)
    return [
        {
            "name": log.name,
            "cellDisk": tuple(order),
            "creationTime": Time(log.creation_time),
            "degradedCelldisks": tuple(degraded),
            "effectiveSize": Size(sum(size for name, size in log.members.items() if name not in degraded)),
            "efficiency": efficiency,
            "id": log.id,
            "size": Size(log.size_bytes),
            "status": "warning - degraded" if degraded else "normal",
        }
    ]


def lun_rows(place: Place) -> list[Row]:
    """Return the rows of LIST LUN in slot order, hard disks first."""
    rows: list[Row] = []
    for lun in place.cell.luns.values():
        row: Row = {
            "name": lun.name,
            "cellDisk": lun.cell_disk,
            "deviceName": lun.device_name,
            "diskType": lun.disk_type.printed,
            "errorCount": 0,
            "id": lun.name,
            "isSystemLun": lun.is_system,
            "lunSize": Size(lun.size_bytes),
            "lunUID": lun.name,
            "physicalDrives": lun.physical_disk,
            "status": lun.status,
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
        row: Row = {
            "name": disk.name,
            "deviceName": disk.device_name,
            "diskType": disk.disk_type.printed,
            "luns": disk.lun,
            "makeModel": disk.make_model,
            "physicalFirmware": disk.firmware,
            "physicalInsertTime": Time(disk.insert_time),
            "physicalSerial": disk.serial,
            "physicalSize": Size(disk.size_bytes),
            "slotNumber": disk.slot,
            "status": disk.status,
        }
        if disk.disk_type is DiskType.HARD:
            row |= {
                "deviceId": disk.device_id,
                "enclosureDeviceId": disk.name.split(":")[0],
                "errOtherCount": 0,
                "physicalInterface": disk.interface,
            }
        rows.append(row)
    return rows


def directive_line(directive: Directive) -> str:
    """Return a directive as DETAIL prints it: ``name=SPOT,share=8``."""
    return ",".join(f"{name}={_plain_or_quoted(value)}" for name, value in directive.attributes)


def _plain_or_quoted(value: str) -> str:
    return value if value and all(char in _WORD for char in value) else f"'{value}'"


def plan_value(plan: tuple[Directive, ...]) -> Value:
    """Return a plan: lines in DETAIL, ``((…),(…))`` in a column. Source: reference cellcli.md 7.4."""
    lines = tuple(directive_line(directive) for directive in plan)
    return Lines(lines, "(" + ",".join(f"({line})" for line in lines) + ")") if lines else ""


def iorm_plan_rows(place: Place) -> list[Row]:
    """Return the row of LIST IORMPLAN."""
    iorm = place.cell.iorm
    return [
        {
            "name": f"{place.cell.name}_IORMPLAN",
            "catPlan": plan_value(iorm.cat_plan),
            "clusterPlan": plan_value(iorm.cluster_plan),
            "dbPlan": plan_value(iorm.db_plan),
            "objective": iorm.objective,
            "status": "active" if iorm.active else "inactive",
        }
    ]


def database_id(name: str) -> int:
    """Return the DBID of an emulated database."""
    return zlib.crc32(name.upper().encode()) | 0x10000000


def database_rows(place: Place) -> list[Row]:
    """Return the rows of LIST DATABASE, by name."""
    named = {directive.name.lower(): directive for directive in place.cell.iorm.db_plan}
    rows: list[Row] = []
    for name in sorted(place.rack.spec.db):
        directive = named.get(name.lower(), Directive(()))
        rows.append(
            {
                "name": name,
                "asmClusterName": "",
                "databaseID": database_id(name),
                "flashCacheLimit": _size_text(directive, "flashcachelimit"),
                "flashCacheMin": _size_text(directive, "flashcachemin"),
                "flashCacheSize": _size_text(directive, "flashcachesize"),
                "iormDiskShare": int(directive.get("share") or 1),
                "iormFlashShare": int(directive.get("share") or 1),
                "iormShare": int(directive.get("share") or 1),
                "lastRequestTime": Time(place.rack.collection_time(place.cell)),
                "profile": "",
            }
        )
    return rows


def _size_text(directive: Directive, name: str) -> Value:
    return directive.get(name) or Size(0)


def flash_cache_content_rows(place: Place) -> list[Row]:
    """Return the rows of LIST FLASHCACHECONTENT: some objects of each database that may be cached."""
    cell, cache = place.cell, place.cell.flash_cache
    if cache is None:
        return []
    return content_rows(cache, cache_shares(cell.iorm, sorted(place.rack.spec.db), cache.used_bytes))


def memory_content_rows(place: Place) -> list[Row]:
    """Return the rows of LIST XRMEMCACHECONTENT: some objects of each database that may be in DRAM, none elsewhere."""
    cell, cache = place.cell, place.cell.memory_cache
    databases = [name for name in sorted(place.rack.spec.db) if not cell.iorm.memory_off(name)]
    return [] if cache is None else content_rows(cache, {n: cache.used_bytes // len(databases) for n in databases})


def content_rows(cache: FlashCache | MemoryCache, shares: Mapping[str, int]) -> list[Row]:
    """Return some objects of each database that share what it has of a cache: the biggest that every database has."""
    rows: list[Row] = []
    rng = random.Random(f"{cache.id}|content")
    for name, left in shares.items():
        for number in _object_numbers(name):
            cached = left // 2 // 8192 * 8192
            left -= cached
            if cached:
                dirty = cached * getattr(cache, "dirty_bytes", 0) // cache.used_bytes // 8192 * 8192
                rows.append(_content_row(name, number, cached, dirty, rng))
    return rows


def _object_numbers(name: str) -> list[int]:
    segments = default_segments(1 << 40, 1 << 39)
    biggest = sorted(segments, key=lambda segment: -segment.size_bytes)[:6]
    return [object_number(name, segment) for segment in biggest]


def _content_row(database: str, number: int, cached: int, dirty: int, rng: random.Random) -> Row:
    return {
        "cachedKeepSize": 0,
        "cachedSize": cached,
        "cachedWriteSize": dirty,
        "clusterName": "",
        "columnarCacheSize": 0,
        "columnarKeepSize": 0,
        "dbID": database_id(database),
        "dbUniqueName": database,
        "hitCount": rng.randrange(1_000, 5_000_000),
        "missCount": rng.randrange(10, 9_000),
        "objectNumber": number,
        "tableSpaceNumber": rng.randrange(4, 9),
    }


def nothing(place: Place) -> list[Row]:
    """Return no rows: a cell without Exascale, pluggable databases, profiles or requests."""
    return []


ROWS: Mapping[str, Callable[[Place], list[Row]]] = {
    "ACTIVEREQUEST": nothing,
    "CELL": cell_rows,
    "CELLDISK": cell_disk_rows,
    "CLUSTER": nothing,
    "DIAGPACK": nothing,
    "DATABASE": database_rows,
    "FLASHCACHE": flash_cache_rows,
    "FLASHCACHECONTENT": flash_cache_content_rows,
    "FLASHLOG": flash_log_rows,
    "GRIDDISK": grid_disk_rows,
    "IORMPLAN": iorm_plan_rows,
    "IORMPROFILE": nothing,
    "LUN": lun_rows,
    "PHYSICALDISK": physical_disk_rows,
    "PMEMCACHE": pmem_cache_rows,
    "PMEMLOG": pmem_log_rows,
    "PLUGGABLEDATABASE": nothing,
    "ESCLUSTER": nothing,
    "ESNODE": nothing,
    "VAULT": nothing,
    "VOLUME": nothing,
    "XRMEMCACHECONTENT": memory_content_rows,
    "XRMEMLOG": pmem_log_rows,
}
"""Object types that LIST answers from here; :mod:`exacell.emulator.statements.listing` has the others."""
