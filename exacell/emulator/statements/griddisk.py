"""CREATE, ALTER and DROP GRIDDISK. ALL continues after a disk fails: one line for each disk.

Source: reference cellcli.md 2.3 and 6.5.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from exacell.core.units import ALLOCATION_UNIT, format_size, round_down
from exacell.emulator.basics.messages import CellError, Code
from exacell.emulator.cell.disk_models import DiskType, GridDisk
from exacell.emulator.cell.space import free_bytes
from exacell.emulator.grammar.changes import (
    AlterGridDisk,
    CreateGridDisk,
    DropGridDisk,
)
from exacell.emulator.grammar.changing import listed, size_of
from exacell.emulator.grammar.settable import attribute_of, checked
from exacell.emulator.grammar.values import passes
from exacell.emulator.metrics.metrics import dirty_by_grid_disk
from exacell.emulator.state.build import new_id
from exacell.emulator.state.place import Place
from exacell.emulator.statements.disk_rows import asm_view, grid_disk_row
from exacell.emulator.statements.effects import Effects, chosen, find, grid_disk_media, line, require_cellsrv

MAX_NAME = 30
_SKIPPED = "Cell disks were skipped because they had no freespace for grid disks: "
_NAME_CHARACTERS = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-")


def _changed(place: Place, disk: str, what: str) -> None:
    if place.rack.asm is not None:
        place.rack.asm.grid_disk_changed(place.cell.host, disk, what)


def create(place: Place, statement: CreateGridDisk) -> Effects:
    """Create one grid disk, or one for each prefix on each cell disk of the media."""
    cell = place.cell
    require_cellsrv(cell)
    _check_values(place, statement.values, several=len(statement.prefixes) > 1, creating=True)
    if "virtualsize" in statement.values and "size" not in statement.values:
        # Source: reference cellcli.md 6.6: a sparse grid disk needs both.
        raise CellError(
            Code.BAD_VALUE, value="''", attribute="size", rule="a sparse grid disk has size and virtualSize"
        )
    if not statement.prefixes:
        disk = find(sorted(cell.cell_disks), statement.cell_disk, "Cell disk")
        yield line(_create_one(place, statement.name, disk, statement.values))
        return
    disks = grid_disk_media(place, statement.media)
    if not disks:
        raise CellError(Code.OBJECT_MISSING, kind="Cell disk", name=f"ALL {statement.media or ''}".strip())
    for index, prefix in enumerate(statement.prefixes):
        values = _nth_values(statement.values, index, len(statement.prefixes))
        full = _full(place, disks)
        if full:
            yield line(f"{_SKIPPED}{', '.join(full)}.")
        for disk in disks:
            if disk in full:
                continue
            try:
                yield line(_create_one(place, f"{prefix}_{disk}", disk, values))
            except CellError as error:
                yield line(error.line)


def _full(place: Place, disks: Iterable[str]) -> list[str]:
    """Return the cell disks without room for the smallest grid disk; ALL skips them. Source: a published session."""
    sound = [disk for disk in disks if place.cell.cell_disks[disk].status == "normal"]
    return [disk for disk, free in free_bytes(place.cell, sound).items() if free < ALLOCATION_UNIT]


def _nth_values(values: Mapping[str, str], index: int, count: int) -> dict[str, str]:
    """Return the values for the n-th of several prefixes; a list has one value for each prefix."""
    if count == 1:
        return dict(values)
    nth: dict[str, str] = {}
    for name, text in values.items():
        parts = [part.strip() for part in text.split(",")]
        nth[name] = parts[index] if name != "availableto" and len(parts) == count else text
    return nth


def _create_one(place: Place, name: str, disk: str, values: Mapping[str, str]) -> str:
    cell = place.cell
    if cell.cell_disks[disk].disk_type is DiskType.PMEM:
        raise CellError(Code.BAD_VALUE, value=disk, attribute="cellDisk", rule="a cell disk that is not PMEM")
    # Checked before a name in use: the dead grid disk still has the name. Source: a published session of a replaced disk.
    if cell.cell_disks[disk].status != "normal":
        raise CellError(Code.CELLDISK_NOT_NORMAL, disk=disk)
    _check_name(place, name)
    free = free_bytes(cell, [disk])[disk]
    size = round_down(size_of(values["size"])) if "size" in values else free
    if "size" in values and size < ALLOCATION_UNIT:
        limit = format_size(ALLOCATION_UNIT)
        raise CellError(Code.TOO_SMALL, what=f"Grid disk {name}", wanted=values["size"], limit=limit)
    if size > free or not size:
        wanted = format_size(size or ALLOCATION_UNIT)
        raise CellError(Code.NO_SPACE, disk=disk, wanted=wanted, free=format_size(free))
    cell.grid_disks[name] = GridDisk(
        name=name,
        cell_disk=disk,
        size_bytes=size,
        offset=size_of(values["offset"], "offset") if "offset" in values else cell.next_offset(disk),
        disk_type=cell.cell_disks[disk].disk_type,
        creation_time=place.rack.now(),
        id=new_id(cell, place.rack.spec.seed),
        available_to=listed(values.get("availableto", "")),
        caching_policy=values.get("cachingpolicy", "default").lower(),
        comment=values.get("comment", ""),
        virtual_size=size_of(values["virtualsize"], "virtualSize") if "virtualsize" in values else None,
        storage_pool=values.get("storagepool", ""),
    )
    _changed(place, name, "created")
    return f"GridDisk {name} successfully created"


def _check_name(place: Place, name: str) -> None:
    if len(name) > MAX_NAME:
        raise CellError(Code.BAD_NAME, name=name, rule=f"a grid disk name has at most {MAX_NAME} characters")
    if not name or not set(name) <= _NAME_CHARACTERS:
        raise CellError(Code.BAD_NAME, name=name, rule="letters, digits, _ and - are allowed")
    taken = {other.lower() for other in place.cell.grid_disks}
    if name.lower() in taken or name in place.rack.grid_disk_names(besides=place.cell.host):
        raise CellError(Code.GRIDDISK_EXISTS, name=name)


def _check_values(place: Place, values: Mapping[str, str], *, several: bool = False, creating: bool = False) -> None:
    """Raise CellError if an attribute does not exist, can't be set, or has a value of the wrong kind.

    Args:
        several: a list has one value for each of several disks.
    """
    for name, text in values.items():
        attribute = attribute_of("GRIDDISK", name, place.rack.release.number, creating=creating)
        for part in text.split(",") if several and attribute.kind == "size" else (text,):
            checked(attribute, part.strip())


def _targets(place: Place, statement: AlterGridDisk | DropGridDisk) -> Iterator[GridDisk | CellError]:
    """Yield the grid disks that a statement means, by name, or an error for each that does not exist."""
    grid_disks = place.cell.grid_disks
    for found in list(chosen(place, statement.which, sorted(grid_disks), "Grid disk")):
        yield found if isinstance(found, CellError) else grid_disks[found]


def alter(place: Place, statement: AlterGridDisk) -> Effects:
    """Activate, deactivate or flush grid disks, or set their attributes."""
    require_cellsrv(place.cell)
    if statement.values:
        _check_values(place, statement.values)
    for target in _targets(place, statement):
        if isinstance(target, CellError):
            yield line(target.line)
            continue
        row = grid_disk_row(place, target) if statement.filters else {}
        if not all(passes(row.get(f.attribute.name), f) for f in statement.filters):
            continue
        try:
            _alter_one(place, target, statement)
            yield line(f"GridDisk {target.name} successfully altered")
        except CellError as error:
            yield line(error.line)


def _alter_one(place: Place, disk: GridDisk, statement: AlterGridDisk) -> None:
    if statement.action == "ACTIVE":
        under = place.cell.cell_disks[disk.cell_disk]
        if under.status != "normal":
            raise CellError(Code.NOT_NORMAL, kind="Cell disk", name=under.name, status=under.status)
        if disk.status != "active":
            disk.status = "active"
            _changed(place, disk.name, "active")
    elif statement.action == "INACTIVE":
        _deactivate(place, disk, force=statement.force)
    elif statement.action == "FLUSH":
        flush_grid_disk(place, disk)
    elif statement.action == "CANCEL":
        disk.flushing = False
    else:
        _set_values(place, disk, statement.values)


def _deactivate(place: Place, disk: GridDisk, *, force: bool) -> None:
    if disk.status != "active":
        return
    outcome = asm_view(place, disk.name).deactivation_outcome
    if outcome != "Yes" and not force and place.rack.asm is not None:
        raise CellError(Code.ASM_REFUSES, disk=disk.name, reason=outcome)
    disk.status = "inactive"
    _changed(place, disk.name, "inactive")


def flush_grid_disk(place: Place, disk: GridDisk) -> None:
    """Write a grid disk's dirty data from the cache to disk, and keep new data out of the cache until CANCEL FLUSH."""
    cache = place.cell.flash_cache
    share = dirty_by_grid_disk(place.cell).get(disk.name, 0)
    disk.flushing = True
    if cache is None or not share:
        return
    total = cache.dirty_bytes
    for member in cache.members.values():
        gone = member.dirty_bytes * share // total
        member.dirty_bytes -= gone
        member.used_bytes = max(member.dirty_bytes, member.used_bytes - gone)


def _set_values(place: Place, disk: GridDisk, values: Mapping[str, str]) -> None:
    """Set attributes of one grid disk; everything is checked before anything is changed."""
    cell = place.cell
    size = round_down(size_of(values["size"])) if "size" in values else disk.size_bytes
    if size < ALLOCATION_UNIT:
        limit = format_size(ALLOCATION_UNIT)
        raise CellError(Code.TOO_SMALL, what=f"Grid disk {disk.name}", wanted=values["size"], limit=limit)
    free = free_bytes(cell, [disk.cell_disk])[disk.cell_disk]
    if size - disk.size_bytes > free:
        wanted = format_size(size - disk.size_bytes)
        raise CellError(Code.NO_SPACE, disk=disk.cell_disk, wanted=wanted, free=format_size(free))
    asm_size = asm_view(place, disk.name).size_bytes
    if size < disk.size_bytes and asm_size is not None and size < asm_size:
        larger = format_size(asm_size)
        raise CellError(Code.ASM_LARGER, disk=disk.name, wanted=format_size(size), size=larger)
    new_name = values.get("name", disk.name)
    if new_name != disk.name:
        _check_name(place, new_name)
    if size != disk.size_bytes:
        disk.size_bytes = size
        _changed(place, disk.name, "resized")
    disk.comment = values.get("comment", disk.comment)
    disk.caching_policy = values.get("cachingpolicy", disk.caching_policy).lower()
    disk.available_to = listed(values["availableto"]) if "availableto" in values else disk.available_to
    if "virtualsize" in values:
        disk.virtual_size = size_of(values["virtualsize"], "virtualSize")
    if new_name != disk.name:
        _changed(place, disk.name, "dropped")
        del cell.grid_disks[disk.name]
        disk.name = new_name
        cell.grid_disks[new_name] = disk
        _changed(place, new_name, "created")


def drop(place: Place, statement: DropGridDisk) -> Effects:
    """Drop grid disks; an active one needs FORCE."""
    cell = place.cell
    require_cellsrv(cell)
    prefixes = tuple(f"{prefix}_" for prefix in statement.prefixes)
    for target in _targets(place, statement):
        if isinstance(target, CellError):
            yield line(target.line)
        elif prefixes and not _has_prefix(target, statement.prefixes):
            continue
        elif statement.pool and not target.storage_pool:
            yield line(CellError(Code.NO_POOL_DISK, disk=target.name).line)
        elif statement.pool:
            yield line(f"GridDisk {target.name} successfully altered")
        elif target.status == "active" and not statement.force:
            yield line(CellError(Code.GRIDDISK_ACTIVE, disk=target.name).line)
        else:
            del cell.grid_disks[target.name]
            _changed(place, target.name, "dropped")
            if statement.erase and statement.nowait:
                yield line(f"GridDisk {target.name} erase is in progress")
            else:
                yield line(f"GridDisk {target.name} successfully dropped")


def _has_prefix(disk: GridDisk, prefixes: tuple[str, ...]) -> bool:
    return any(disk.name == f"{prefix}_{disk.cell_disk}" for prefix in prefixes)
