"""ALTER CELLDISK: comment, and the flush of one disk. Source: reference cellcli.md 2.3."""

from __future__ import annotations

import re
from collections.abc import Mapping

from exacell.emulator.basics.messages import FLUSH_COMPLETE, CellError, Code
from exacell.emulator.cell.cache_models import CacheMember
from exacell.emulator.cell.disk_models import CellDisk
from exacell.emulator.grammar.changes import (
    AlterCellDisk,
)
from exacell.emulator.grammar.settable import checked_values
from exacell.emulator.state.place import Place
from exacell.emulator.statements.effects import Effects, chosen, line, require_cellsrv
from exacell.emulator.statements.flashcache import flush_members, wait_for_flush
from exacell.emulator.statements.griddisk import flush_grid_disk


def alter(place: Place, statement: AlterCellDisk) -> Effects:
    """Flush cell disks, cancel their flush, or set their comment."""
    require_cellsrv(place.cell)
    values = checked_values("CELLDISK", statement.values, place.rack.release.number)
    waiting: list[CacheMember] = []
    altered: list[str] = []
    for found in list(chosen(place, statement.which, sorted(place.cell.cell_disks), "Cell disk")):
        if isinstance(found, CellError):
            yield line(found.line)
            continue
        altered.append(found)
        disk = place.cell.cell_disks[found]
        if statement.action == "FLUSH":
            waiting += _flush(place, disk)
        elif statement.action == "CANCEL":
            _cancel(place, disk)
        else:
            try:
                _set_values(place, disk, values)
            except CellError as error:
                altered.pop()
                yield line(error.line)
    if waiting and not statement.nowait:
        yield from wait_for_flush(place, waiting)
    for name in altered:
        yield line(f"CellDisk {name} successfully altered")


def _set_values(place: Place, disk: CellDisk, values: Mapping[str, str]) -> None:
    rename(place, disk, values.get("name", disk.name))
    disk.comment = values.get("comment", disk.comment)


def rename(place: Place, disk: CellDisk, new: str) -> None:
    """Rename a cell disk; all objects on it follow.

    Raises:
        CellError: the name is in use or not valid.
    """
    cell, old = place.cell, disk.name
    if new != old:
        if new.lower() in (name.lower() for name in cell.cell_disks):
            raise CellError(Code.OBJECT_EXISTS, kind="Cell disk", name=new)
        if not re.fullmatch(r"[A-Za-z0-9_-]{1,255}", new):
            raise CellError(Code.BAD_NAME, name=new, rule="letters, digits, _ and - are allowed, at most 255")
        del cell.cell_disks[old]
        disk.name = new
        cell.cell_disks[new] = disk
        cell.luns[disk.lun].cell_disk = new
        cell.full_disks = [new if name == old else name for name in cell.full_disks]
        for grid_disk in cell.grid_disks.values():
            if grid_disk.cell_disk == old:
                grid_disk.cell_disk = new
        for log in cell.logs:
            log.members = {new if n == old else n: size for n, size in log.members.items()}
        for cache in cell.caches:
            for member in cache.members.values():
                member.cell_disk = new if member.cell_disk == old else member.cell_disk
            cache.members = {m.cell_disk: m for m in cache.members.values()}


def _flush(place: Place, disk: CellDisk) -> list[CacheMember]:
    """Flush the part of a cache on a disk, or the cached data of the grid disks on a hard disk."""
    cell = place.cell
    if not disk.disk_type.is_cached:
        for cache in cell.caches:
            if disk.name in cache.members:
                flush_members(place, cache, [disk.name])
                return [cache.members[disk.name]]
        return []
    for grid_disk in cell.grid_disks_on(disk.name):
        flush_grid_disk(place, grid_disk)
    disk.flush_status = FLUSH_COMPLETE
    return []


def _cancel(place: Place, disk: CellDisk) -> None:
    cell = place.cell
    member = cell.member(disk.name)
    if member is not None:
        member.flush_from = None
    disk.flush_status = disk.flush_error = ""
    for grid_disk in cell.grid_disks_on(disk.name):
        grid_disk.flushing = False
