"""CREATE and DROP FLASHLOG. There is no ALTER FLASHLOG. Source: reference cellcli.md 2.3 and 6.4."""

from __future__ import annotations

from exacell.emulator.build import FLASH_LOG_BYTES, new_id
from exacell.emulator.changes import (
    CreateFlashLog,
    DropFlashLog,
)
from exacell.emulator.messages import CellError, Code
from exacell.emulator.models import FlashLog
from exacell.emulator.objects import Place
from exacell.emulator.space import MAX_LOG, MAX_LOG_PER_DISK, even_share, flash_members
from exacell.emulator.statements.effects import Effects, line, require_cellsrv
from exacell.units import format_size


def create(place: Place, statement: CreateFlashLog) -> Effects:
    """Create the flash log, 512M unless a size is given, in equal parts on its disks."""
    cell = place.cell
    require_cellsrv(cell)
    if cell.flash_log is not None:
        raise CellError(Code.FLASHLOG_EXISTS, name=cell.flash_log.name)
    disks = flash_members(cell, statement.members)
    size = FLASH_LOG_BYTES if statement.size_bytes is None else statement.size_bytes
    if size >= MAX_LOG or size // len(disks) >= MAX_LOG_PER_DISK:
        limit = f"less than {format_size(min(MAX_LOG, MAX_LOG_PER_DISK * len(disks)))}"
        raise CellError(Code.TOO_LARGE, what="Flash log", wanted=format_size(size), limit=limit, cell=cell.name)
    cell.flash_log = FlashLog(
        name=f"{cell.name}_FLASHLOG",
        id=new_id(cell, place.rack.spec.seed),
        creation_time=place.rack.now(),
        members=even_share(cell, disks, size, what="Flash log"),
    )
    place.rack.metrics[cell.host].restart_log_counters()
    yield line(f"Flash log {cell.flash_log.name} successfully created")


def drop(place: Place, statement: DropFlashLog) -> Effects:
    """Drop the flash log; refused while it holds redo that is nowhere else, unless FORCE."""
    cell = place.cell
    require_cellsrv(cell)
    log = cell.flash_log
    if log is None:
        raise CellError(Code.FLASHLOG_MISSING, cell=cell.name)
    if log.kept_bytes and not statement.force:
        raise CellError(Code.REDO_SAVED, name=log.name, kept=log.kept_bytes)
    cell.flash_log = None
    place.rack.metrics[cell.host].restart_log_counters()
    yield line(f"Flash log {log.name} successfully dropped")
