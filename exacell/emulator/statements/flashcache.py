"""CREATE, ALTER and DROP FLASHCACHE, and the flush.

FLUSH tells members to give up all data; nothing new is cached in them until CANCEL FLUSH, a new cache or a restart of
CELLSRV. A write-back cache can only go while a completed FLUSH is in force. Source: reference cellcli.md 6.2 and 6.3.
"""

from __future__ import annotations

from collections.abc import Iterable

from exacell.emulator.build import new_id
from exacell.emulator.changes import (
    AlterFlashCache,
    CreateFlashCache,
)
from exacell.emulator.messages import CellError, Code
from exacell.emulator.models import CacheMember, Cell, FlashCache
from exacell.emulator.objects import Place
from exacell.emulator.program import Pause
from exacell.emulator.space import all_free, even_share, flash_members
from exacell.emulator.statements.effects import Effects, line, require_cellsrv
from exacell.emulator.workload import flush_seconds
from exacell.units import ALLOCATION_UNIT, format_size

_LOOK_AGAIN_S, _LEAST_PAUSE_S = 60.0, 0.5
"""Rack seconds between two looks at a flush: bounded below, because clocks cannot tell tiny pauses from none."""


def create(place: Place, statement: CreateFlashCache) -> Effects:
    """Create the flash cache over all free space, or of an explicit size over all its disks."""
    cell = place.cell
    require_cellsrv(cell)
    if cell.flash_cache is not None:
        raise CellError(Code.FLASHCACHE_EXISTS, name=cell.flash_cache.name)
    cell.flash_cache = _new_cache(place, statement.members, statement.size_bytes)
    place.rack.metrics[cell.host].restart_cache_counters()
    yield line(f"Flash cache {cell.flash_cache.name} successfully created")


def _new_cache(place: Place, names: tuple[str, ...] | None, size_bytes: int | None) -> FlashCache:
    cell = place.cell
    disks = flash_members(cell, names)
    if size_bytes is None:
        shares = {name: size for name, size in all_free(cell, disks).items() if size >= ALLOCATION_UNIT}
        if not shares:
            what, minimum = "Flash cache", format_size(ALLOCATION_UNIT)
            raise CellError(Code.TOO_SMALL, what=what, wanted=0, limit=minimum)
    else:
        shares = even_share(cell, disks, size_bytes, what="Flash cache")
    return FlashCache(
        name=f"{cell.name}_FLASHCACHE",
        id=new_id(cell, place.rack.spec.seed),
        creation_time=place.rack.now(),
        members={name: CacheMember(cell_disk=name, size_bytes=size) for name, size in shares.items()},
    )


def drop(place: Place) -> Effects:
    """Drop the flash cache; refused in write-back mode unless it is flushed (or the cell is unguarded)."""
    cell = place.cell
    require_cellsrv(cell)
    name = _existing(cell).name
    _give_up(place)
    yield line(f"Flash cache {name} successfully dropped")


def _existing(cell: Cell) -> FlashCache:
    if cell.flash_cache is None:
        raise CellError(Code.FLASHCACHE_MISSING, cell=cell.name)
    return cell.flash_cache


def _give_up(place: Place) -> None:
    """Remove the cache from the cell, counting the dirty data that is lost with it."""
    cell, cache = place.cell, _existing(place.cell)
    if cell.write_back and not cache.flushed and not cell.unguarded:
        raise CellError(Code.NOT_FLUSHED, name=cache.name)
    cell.lost_dirty_bytes += cache.dirty_bytes
    cell.flash_cache = None
    place.rack.metrics[cell.host].restart_cache_counters()


def alter(place: Place, statement: AlterFlashCache) -> Effects:
    """Flush, cancel a flush, or change size or members of the flash cache."""
    cell = place.cell
    require_cellsrv(cell)
    cache = _existing(cell)
    if statement.action == "FLUSH":
        members = list(cache.members) if statement.members is None else _members(cache, statement.members)
        flush_members(place, members)
        if not statement.nowait:
            yield from wait_for_flush(place, members)
    elif statement.action == "CANCEL":
        place.rack.resume_caching(cell)
    else:
        _rebuild(place, statement)
    yield line(f"Flash cache {cache.name} altered successfully")


def _members(cache: FlashCache, names: Iterable[str]) -> list[str]:
    known = {name.lower(): name for name in cache.members}
    for name in names:
        if name.lower() not in known:
            raise CellError(Code.OBJECT_MISSING, kind="Cell disk of the flash cache", name=name)
    return [known[name.lower()] for name in names]


def flush_members(place: Place, names: Iterable[str]) -> None:
    """Tell members of the cache to give up their data; those that already do go on."""
    cache, now = _existing(place.cell), place.rack.now()
    for name in names:
        member = cache.members[name]
        if member.flush_from is None:
            member.flush_from = now
            member.flush_dirty, member.flush_used = member.dirty_bytes, member.used_bytes


def wait_for_flush(place: Place, names: Iterable[str]) -> Effects:
    """Let time pass until members hold nothing, the flush is cancelled, or the cache is gone."""
    cache, wanted = _existing(place.cell), tuple(names)
    while True:
        place.rack.advance()
        waiting = [
            member
            for name in wanted
            if (member := cache.members[name]).flush_from is not None and (member.used_bytes or member.dirty_bytes)
        ]
        require_cellsrv(place.cell)
        if not waiting or place.cell.flash_cache is not cache:
            return
        left = max(
            (member.flush_from or 0.0)
            + flush_seconds(member.flush_dirty - member.stuck_bytes, place.rack.flush_rate)
            - place.rack.now()
            for member in waiting
        )
        yield Pause(min(max(left, _LEAST_PAUSE_S), _LOOK_AGAIN_S) if left > 0 else _LOOK_AGAIN_S)


def _rebuild(place: Place, statement: AlterFlashCache) -> None:
    """Drop and create the cache with another size or other members; one that is kept stays as it is.

    With FORCE what cannot be flushed is thrown away. Source: Oracle SAGUG, alter-flashcache.
    """
    cell, cache = place.cell, _existing(place.cell)
    guarded = cell.unguarded
    keep = statement.size_bytes is None and statement.members is not None
    if keep and set(flash_members(cell, statement.members)) == set(cache.members):
        return
    metrics = place.rack.metrics[cell.host]
    counters, lost, epoch = dict(metrics.counters), cell.lost_dirty_bytes, metrics.cache_epoch
    try:
        cell.unguarded = guarded or statement.force
        _give_up(place)
        cell.flash_cache = _new_cache(place, statement.members, statement.size_bytes)
    except CellError:
        cell.flash_cache, cell.lost_dirty_bytes = cache, lost
        metrics.counters, metrics.cache_epoch = counters, epoch
        raise
    finally:
        cell.unguarded = guarded
