"""The disks, caches and logs of a copied cell, as they were listed.

Values that a listing does not show (such as a missing LUN's place or a disk's speed) are taken from the model's disk of the
same name, or else from one of the same medium.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Protocol, TypeVar

from exacell.emulator.cell.cache_models import CacheMember, FlashCache, FlashLog
from exacell.emulator.cell.disk_models import CellDisk, DiskType, GridDisk, Lun, PhysicalDisk
from exacell.emulator.cell.models import Cell
from exacell.emulator.grammar.changing import listed
from exacell.emulator.grammar.kept import state_of

Objects = Mapping[str, Sequence[Mapping[str, str]]]


class _OfAMedium(Protocol):
    name: str
    disk_type: DiskType
    size_bytes: int


_D = TypeVar("_D", bound=_OfAMedium)


def copy_disks(cell: Cell, objects: Objects, now: float) -> None:
    """Replace a cell's devices, LUNs, cell disks and grid disks by the listed ones."""
    devices, luns = dict(cell.physical_disks), dict(cell.luns)
    cell.physical_disks = {
        device.name: device for device in _like(objects.get("PHYSICALDISK", ()), "PHYSICALDISK", devices)
    }
    cell.luns = {lun.name: lun for lun in _like(objects.get("LUN", ()), "LUN", luns)}
    models, cell.cell_disks = cell.cell_disks, {}
    for record, disk in _pairs(objects["CELLDISK"], "CELLDISK", models):
        _put_on(cell, disk, record, luns[_models_lun(disk, models)], devices)
        cell.cell_disks[disk.name] = disk
    _grid_disks(cell, objects.get("GRIDDISK", ()), now)


def _models_lun(disk: CellDisk, models: Mapping[str, CellDisk]) -> str:
    """Return the name of the model's LUN for a cell disk: that of the same name, or one of the same medium."""
    own = models.get(disk.name)
    fitting = [model for model in models.values() if model.disk_type is disk.disk_type] or list(models.values())
    return own.lun if own is not None and own.disk_type is disk.disk_type else fitting[0].lun


def _like(records: Iterable[Mapping[str, str]], owner: str, models: Mapping[str, _D]) -> list[_D]:
    return [made for _record, made in _pairs(records, owner, models)]


def _pairs(
    records: Iterable[Mapping[str, str]], owner: str, models: Mapping[str, _D]
) -> list[tuple[Mapping[str, str], _D]]:
    """Return each record with a disk made from it: a copy of the model's disk of the same name or medium, with listed values.

    A disk on a medium that the emulator does not know is left out.
    """
    found: list[tuple[Mapping[str, str], _D]] = []
    for record in records:
        fitting = [model for model in models.values() if model.disk_type.printed == record.get("diskType")]
        if not fitting:
            continue
        state = state_of(owner, record)
        model = next((model for model in fitting if model.name == record["name"]), None)
        if model is None:
            wanted = state.get("size_bytes", 0)
            model = min(fitting, key=lambda known: abs(known.size_bytes - wanted))
        found.append((record, replace(model, **state)))  # type: ignore[type-var]  # all three are dataclasses
    return found


def _put_on(
    cell: Cell, disk: CellDisk, record: Mapping[str, str], model: Lun, devices: Mapping[str, PhysicalDisk]
) -> None:
    """Put a cell disk on its listed LUN and device; on the model's if these were not listed."""
    luns, known = cell.luns, cell.physical_disks.values()
    serial, own = record.get("physicalDisk"), record.get("deviceName")
    lun = luns.get(record.get("lun", "")) or next((x for x in luns.values() if x.cell_disk == disk.name), None)
    device = cell.physical_disks.get(lun.physical_disk) if lun is not None else None
    device = device or next((d for d in known if serial and d.serial == serial), None)
    device = device or next((d for d in known if own and d.device_name == own), None)
    if device is None:
        device = replace(devices[model.physical_disk])
        device.name = _free_name(device.name, cell.physical_disks)
        cell.physical_disks[device.name] = device
    if lun is None and "" not in (record.get("lun"), serial):  # A dead disk has neither.
        lun = replace(model, name=_free_name(record.get("lun") or model.name, luns), cell_disk=disk.name)
        lun.physical_disk = device.name
        luns[lun.name] = lun
        device.lun = lun.name
    disk.lun, disk.physical_disk = lun.name if lun is not None else "", device.name


def _free_name(name: str, taken: Mapping[str, object]) -> str:
    number, free = 0, name
    while free in taken:
        number += 1
        free = f"{name}_{number}"
    return free


def _grid_disks(cell: Cell, records: Sequence[Mapping[str, str]], now: float) -> None:
    cell.grid_disks = {}
    for number, record in enumerate(records):
        under = cell.cell_disks.get(record.get("cellDisk", ""))
        if under is None:
            continue  # Its cell disk is gone: neither CellCLI nor ASM can do anything with it.
        state = {**state_of("GRIDDISK", record), "available_to": listed(record.get("availableTo", ""))}
        unsaid = {"creation_time": now, "id": f"{cell.id}-{number}", "offset": cell.next_offset(under.name)}
        cell.grid_disks[record["name"]] = GridDisk(**{**unsaid, **state, "disk_type": under.disk_type})


def copy_caches(cell: Cell, objects: Objects, now: float, *, dirty: int, used: int) -> None:
    """Give a cell the listed caches and logs, in the space that is neither free nor in grid disks.

    Args:
        dirty: bytes in the flash cache that are not yet on disk; ``used``: all bytes in it.
    """
    free = {record["name"]: _bytes(record.get("freeSpace", "")) for record in objects["CELLDISK"]}
    memory_caches = [*objects.get("PMEMCACHE", ()), *objects.get("XRMEMCACHE", ())]
    logs = [*objects.get("PMEMLOG", ()), *objects.get("XRMEMLOG", ())]
    cell.flash_log, cell.pmem_log = _log(cell, objects.get("FLASHLOG", ())), _log(cell, logs)
    before, cell.flash_cache, cell.pmem_cache = cell.pmem_cache, None, None
    flash, memory = _cache(cell, objects.get("FLASHCACHE", ()), free), _cache(cell, memory_caches, free)
    cell.flash_cache, cell.pmem_cache = flash, memory
    if flash is not None:
        for member in flash.members.values():
            member.used_bytes = min(member.size_bytes, used // len(flash.members))
            member.dirty_bytes = min(member.size_bytes, dirty // len(flash.members))
    if memory is not None and before is not None:
        for member in memory.members.values():
            was = before.members.get(member.cell_disk)
            if was is not None:
                member.used_bytes = min(member.size_bytes, was.used_bytes)
                member.dirty_bytes = min(member.size_bytes, was.dirty_bytes)
    for cache, records in ((flash, objects.get("FLASHCACHE", ())), (memory, memory_caches)):
        if cache is not None:
            _flushed(cache, records[0].get("status", ""), objects["CELLDISK"], now)


def _bytes(text: str) -> int:
    found: int = state_of("CELLDISK", {"size": text}).get("size_bytes", 0)
    return found


def _log(cell: Cell, records: Sequence[Mapping[str, str]]) -> FlashLog | None:
    for record in records:
        state, disks = state_of("FLASHLOG", record), [d for d in listed(record["cellDisk"]) if d in cell.cell_disks]
        size = state.pop("size_bytes")
        shares = dict.fromkeys(disks, size // max(1, len(disks)))
        for disk in disks[:1]:
            shares[disk] += size - sum(shares.values())
        return FlashLog(**{"id": cell.id, "creation_time": 0.0, **state, "members": shares})
    return None


def _cache(cell: Cell, records: Sequence[Mapping[str, str]], free: Mapping[str, int]) -> FlashCache | None:
    """Return the listed cache; on each cell disk it has the space that nothing else has, and in total the listed size."""
    for record in records:
        disks = [name for name in listed(record.get("cellDisk", "")) if name in cell.cell_disks]
        if not disks:
            continue
        state = state_of("FLASHCACHE", record)
        size = state.pop("size_bytes")
        shares = {name: max(0, cell.free_space(name) - free.get(name, 0)) for name in disks}
        missing = size - sum(shares.values())
        if missing and shares[disks[-1]] + missing >= 0:
            shares[disks[-1]] += missing
        members = {name: CacheMember(cell_disk=name, size_bytes=share) for name, share in sorted(shares.items())}
        return FlashCache(**{"id": cell.id, "creation_time": 0.0, **state, "members": members})
    return None


def _flushed(cache: FlashCache, status: str, records: Sequence[Mapping[str, str]], now: float) -> None:
    """Flush a cache as it was listed: all of it, or some of its disks."""
    whole = "flush" in status
    told = {record["name"]: record.get("flushStatus", "") for record in records}
    some = [name for name in cache.members if told.get(name)]
    for name, member in cache.members.items():
        if not whole and (name not in some or len(some) == len(cache.members)):
            continue
        if status.endswith("flushed") or told.get(name, "").startswith("complete"):
            member.used_bytes = member.dirty_bytes = 0
        member.flush_from, member.flush_used, member.flush_dirty = now, member.used_bytes, member.dirty_bytes
