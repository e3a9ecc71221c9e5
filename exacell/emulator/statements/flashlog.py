"""CREATE and DROP FLASHLOG; PMEMLOG and XRMEMLOG likewise. There is no ALTER. Source: reference cellcli.md 2.3 and 6.4."""

from __future__ import annotations

from exacell.core.units import format_size
from exacell.emulator.basics.messages import CellError, Code
from exacell.emulator.cell.cache_kinds import FLASH_LOG, log_kind
from exacell.emulator.cell.cache_models import FlashLog
from exacell.emulator.cell.space import MAX_LOG, MAX_LOG_PER_DISK, even_share, flash_members
from exacell.emulator.grammar.changes import (
    CreateFlashLog,
    DropFlashLog,
)
from exacell.emulator.state.build import new_id
from exacell.emulator.state.place import Place
from exacell.emulator.statements.effects import Effects, line, require_cellsrv


def create(place: Place, statement: CreateFlashLog) -> Effects:
    """Create the log in equal parts on its disks, with the given size or the default size."""
    cell, kind = place.cell, log_kind(statement.object_name, place.rack.release.number)
    require_cellsrv(cell)
    if (old := kind.of(cell)) is not None:
        if kind is FLASH_LOG:
            raise CellError(Code.FLASHLOG_EXISTS, name=old.name)
        raise CellError(Code.OBJECT_EXISTS, kind=kind.noun, name=old.name)
    disks = flash_members(cell, statement.members, kind.media)
    size = kind.default_bytes if statement.size_bytes is None else statement.size_bytes
    if kind is FLASH_LOG and (size >= MAX_LOG or size // len(disks) >= MAX_LOG_PER_DISK):
        limit = f"less than {format_size(min(MAX_LOG, MAX_LOG_PER_DISK * len(disks)))}"
        raise CellError(Code.TOO_LARGE, what=kind.noun, wanted=format_size(size), limit=limit, cell=cell.name)
    log = FlashLog(
        name=kind.name(cell),
        id=new_id(cell, place.rack.spec.seed),
        creation_time=place.rack.now(),
        members=even_share(cell, disks, size, what=kind.noun),
    )
    kind.put(cell, log)
    if kind is FLASH_LOG:
        place.rack.metrics[cell.host].restart_log_counters()
    yield line(f"{kind.noun} {log.name} successfully created")


def drop(place: Place, statement: DropFlashLog) -> Effects:
    """Drop the log; refused without FORCE while it holds redo that is not on disk."""
    cell, kind = place.cell, log_kind(statement.object_name, place.rack.release.number)
    require_cellsrv(cell)
    log = kind.of(cell)
    if log is None:
        if kind is FLASH_LOG:
            raise CellError(Code.FLASHLOG_MISSING, cell=cell.name)
        raise CellError(Code.OBJECT_MISSING, kind=kind.noun, name=kind.name(cell))
    if log.kept_bytes and not statement.force:
        raise CellError(Code.REDO_SAVED, kind=kind.noun, name=log.name, kept=log.kept_bytes)
    kind.put(cell, None)
    if kind is FLASH_LOG:
        place.rack.metrics[cell.host].restart_log_counters()
    yield line(f"{kind.noun} {log.name} successfully dropped")
