"""CREATE and DROP CELLDISK. Source: reference cellcli.md 2.3, 5 and 6."""

from __future__ import annotations

from collections.abc import Mapping

from exacell.core.units import ALLOCATION_UNIT, format_size, round_down
from exacell.emulator.basics.messages import CellError, Code
from exacell.emulator.basics.profiles import HardwareModel
from exacell.emulator.basics.program import Pause
from exacell.emulator.cell.disk_models import CellDisk, DiskType, GridDisk, Lun
from exacell.emulator.cell.models import Cell
from exacell.emulator.grammar.admin import AdminStatement
from exacell.emulator.grammar.changing import size_of
from exacell.emulator.state.build import DISK_PREFIX, new_id
from exacell.emulator.state.place import Place
from exacell.emulator.statements.effects import Effects, line, media_types, named, require_cellsrv

_MAX_COMMENT = 255
_FOR_ALL = ("comment", "size", "interleaving")
_FOR_ONE = ("name", "lun", "physicaldisk", *_FOR_ALL)
_INTERLEAVING = ("none", "normal_redundancy", "high_redundancy")
_INTERLEAVING_UNTIL = (12, 1, 2, 1)
"""Releases before this let CREATE CELLDISK choose how grid disks are spread. Source: published CREATE CELLDISK and LIST CELLDISK
DETAIL of 11.2; the first release without this is our guess.
"""
_ERASE_S = {"1PASS": 3600.0, "3PASS": 10800.0, "7PASS": 25200.0}


def create_cell_disks(place: Place, statement: AdminStatement) -> Effects:
    """Create cell disks on all LUNs of the media that have none, or one on a named LUN."""
    cell = place.cell
    require_cellsrv(cell)
    if statement.names is not None:
        if len(statement.names) != 1:
            raise CellError(Code.SYNTAX)
        yield line(_create_named(place, statement.names[0], statement.values, force="FORCE" in statement.options))
        return
    if statement.tuples:
        for values in statement.tuples:
            try:
                yield line(_create_named(place, values["name"], values, force=False))
            except CellError as error:
                yield line(error.line)
        return
    _check_values(place, statement.values, _FOR_ALL)
    types = media_types(place, statement.media)
    numbers = dict.fromkeys(DISK_PREFIX.values(), 0)
    for lun in cell.luns.values():
        prefix = DISK_PREFIX[lun.disk_type]
        name = f"{prefix}_{numbers[prefix]:02d}_{cell.name}"
        numbers[prefix] += 1
        if lun.disk_type in types and not lun.cell_disk:
            try:
                yield line(_create(place, lun, name, statement.values, force=False))
            except CellError as error:
                yield line(error.line)


def _create_named(place: Place, name: str, values: Mapping[str, str], *, force: bool) -> str:
    _check_values(place, values, _FOR_ONE)
    return _create(place, _lun_for(place.cell, values), name, values, force=force)


def _check_values(place: Place, values: Mapping[str, str], known: tuple[str, ...]) -> None:
    if place.rack.release.number >= _INTERLEAVING_UNTIL:
        known = tuple(name for name in known if name != "interleaving")
    unknown = next((name for name in values if name not in known), None)
    if unknown is not None:
        raise CellError(Code.UNKNOWN_ATTRIBUTE, attribute=unknown, object="CELLDISK")
    if len(comment := values.get("comment", "")) > _MAX_COMMENT:
        raise CellError(Code.BAD_VALUE, value=comment, attribute="comment", rule="at most 255 characters")
    if (interleaving := values.get("interleaving", "none").lower()) not in _INTERLEAVING:
        rule = f"{', '.join(_INTERLEAVING[:-1])} or {_INTERLEAVING[-1]}"
        raise CellError(Code.BAD_VALUE, value=interleaving, attribute="interleaving", rule=rule)


def _lun_for(cell: Cell, values: Mapping[str, str]) -> Lun:
    wanted = values.get("lun"), values.get("physicaldisk")
    for lun in cell.luns.values():
        disk = cell.physical_disks[lun.physical_disk]
        if wanted[0] == lun.name or (wanted[1] is not None and wanted[1] in (disk.name, disk.serial)):
            return lun
    raise CellError(Code.OBJECT_MISSING, kind="LUN", name=wanted[0] or wanted[1] or "(lun= is missing)")


def _create(place: Place, lun: Lun, name: str, values: Mapping[str, str], *, force: bool) -> str:
    cell, size = place.cell, cell_disk_bytes(place.rack.model, lun)
    if "size" in values:
        wanted = round_down(size_of(values["size"]))
        if not ALLOCATION_UNIT <= wanted <= size:
            code, limit = (Code.TOO_LARGE, size) if wanted > size else (Code.TOO_SMALL, ALLOCATION_UNIT)
            what, text = f"Cell disk {name}", format_size(limit)
            raise CellError(code, what=what, wanted=values["size"], limit=text, cell=cell.name)
        size = wanted
    if (name in cell.cell_disks or lun.cell_disk) and not force:
        # A name in use is reported before a LUN in use. Source: a published session with CD_09 on the LUN of CD_05.
        raise CellError(Code.PREEXISTING_CELLDISK, disk=name if name in cell.cell_disks else lun.cell_disk)
    if lun.status != "normal":
        raise CellError(Code.NOT_NORMAL, kind="LUN", name=lun.name, status=lun.status)
    if name in cell.cell_disks and name != lun.cell_disk:
        raise CellError(Code.PREEXISTING_CELLDISK, disk=name)
    if lun.cell_disk:
        _remove(place, lun.cell_disk, force=True)
    cell.cell_disks[name] = CellDisk(
        name=name,
        size_bytes=size,
        disk_type=lun.disk_type,
        lun=lun.name,
        physical_disk=lun.physical_disk,
        device_name=lun.device_name,
        device_partition=f"{lun.device_name}3" if lun.is_system else lun.device_name,
        creation_time=place.rack.now(),
        id=new_id(cell, place.rack.spec.seed),
        comment=values.get("comment", ""),
        interleaving=values.get("interleaving", "none").lower(),
    )
    lun.cell_disk = name
    return f"CellDisk {name} successfully created"


def cell_disk_bytes(model: HardwareModel, lun: Lun) -> int:
    """Return the bytes of the cell disk on a LUN of a model."""
    if lun.disk_type is DiskType.HARD:
        return model.hard.system_cell_disk if lun.is_system else model.hard.cell_disk
    if lun.disk_type is DiskType.PMEM and model.pmem is not None:
        return model.pmem.cell_disk
    if lun.disk_type is DiskType.CAPACITY and model.capacity is not None:
        return model.capacity.cell_disk
    return model.flash.cell_disk


def drop_cell_disks(place: Place, statement: AdminStatement) -> Effects:
    """Drop cell disks. Disks with grid disks need FORCE; disks with flash cache or flash log can't be dropped."""
    cell = place.cell
    require_cellsrv(cell)
    if statement.names is None:
        types = media_types(place, statement.media)
        chosen: list[str | CellError] = [d.name for _n, d in sorted(cell.cell_disks.items()) if d.disk_type in types]
    else:
        chosen = list(named(statement.names, sorted(cell.cell_disks), "Cell disk"))
    erase = statement.options.get("ERASE", "")
    for found in chosen:
        if isinstance(found, CellError):
            yield line(found.line)
            continue
        try:
            _remove(place, found, force="FORCE" in statement.options)
        except CellError as error:
            yield line(error.line)
            continue
        if erase and "NOWAIT" in statement.options:
            yield line(f"CellDisk {found} erase is in progress")
            continue
        if erase:
            yield Pause(_ERASE_S[erase])
        yield line(f"CellDisk {found} successfully dropped")


def _remove(place: Place, name: str, *, force: bool) -> None:
    cell = place.cell
    users = [(cache.name, name in cache.members) for cache in cell.caches]
    users += [(log.name, name in log.members) for log in cell.logs]
    for user, uses in users:
        if uses:
            raise CellError(Code.CELLDISK_IN_USE, disk=name, user=user)
    grid_disks = cell.grid_disks_on(name)
    if grid_disks and not force:
        raise CellError(Code.CELLDISK_HAS_GRIDDISKS, disk=name, grid_disks=", ".join(d.name for d in grid_disks))
    for disk in grid_disks:
        _drop_grid_disk(place, disk)
    lun = cell.luns.get(cell.cell_disks[name].lun)
    if lun is not None:
        lun.cell_disk = ""
    del cell.cell_disks[name]


def _drop_grid_disk(place: Place, disk: GridDisk) -> None:
    del place.cell.grid_disks[disk.name]
    if place.rack.asm is not None:
        place.rack.asm.grid_disk_changed(place.cell.host, disk.name, "dropped")
