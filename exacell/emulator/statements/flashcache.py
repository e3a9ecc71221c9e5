"""CREATE, ALTER and DROP FLASHCACHE, and the flush; PMEMCACHE and, on persistent memory, XRMEMCACHE likewise.

FLUSH makes members write all data to disk and keep none; nothing new is cached in them until CANCEL FLUSH, a new cache or a
restart of CELLSRV. A write-back cache can be dropped only while a completed FLUSH is in force. A cache on persistent memory is
flushed to the flash cache, so in write-back mode it has to be flushed first.
Source: reference cellcli.md 6.2 and 6.3; Oracle DBMMN, disable-write-back-flash-cache-exadata-x8m-or-later-servers.
"""

from __future__ import annotations

from collections.abc import Iterable

from exacell.core.units import ALLOCATION_UNIT, format_size
from exacell.emulator.basics.messages import CellError, Code
from exacell.emulator.basics.program import Pause
from exacell.emulator.cell.cache_kinds import FLASH_CACHE, CacheKind, cache_kind
from exacell.emulator.cell.cache_models import CacheMember, FlashCache
from exacell.emulator.cell.models import Cell
from exacell.emulator.cell.space import all_free, cache_share, flash_members
from exacell.emulator.grammar.changes import (
    AlterFlashCache,
    CreateFlashCache,
    DropFlashCache,
)
from exacell.emulator.io.cache_fill import flush_seconds
from exacell.emulator.state.build import new_id
from exacell.emulator.state.place import Place
from exacell.emulator.statements.effects import Effects, line, require_cellsrv

_LOOK_AGAIN_S, _LEAST_PAUSE_S = 60.0, 0.5
"""Rack seconds between two checks of a flush; there is a lower limit, because clocks can't measure very short pauses."""


def create(place: Place, statement: CreateFlashCache) -> Effects:
    """Create the cache from all free space, or with an explicit size over all its disks."""
    cell, kind = place.cell, cache_kind(statement.object_name, place.rack.release.number)
    require_cellsrv(cell)
    if (old := kind.of(cell)) is not None:
        if kind is FLASH_CACHE:
            raise CellError(Code.FLASHCACHE_EXISTS, name=old.name)
        raise CellError(Code.OBJECT_EXISTS, kind=kind.noun, name=old.name)
    cache = _new_cache(place, kind, statement.members, statement.size_bytes)
    kind.put(cell, cache)
    if kind is FLASH_CACHE:
        place.rack.metrics[cell.host].restart_cache_counters()
    yield line(f"{kind.noun} {cache.name} successfully created")


def _new_cache(place: Place, kind: CacheKind, names: tuple[str, ...] | None, size_bytes: int | None) -> FlashCache:
    cell = place.cell
    disks = flash_members(cell, names, kind.media)
    if size_bytes is None:
        shares = {name: size for name, size in all_free(cell, disks).items() if size >= ALLOCATION_UNIT}
        if not shares:
            minimum = format_size(ALLOCATION_UNIT)
            raise CellError(Code.TOO_SMALL, what=kind.noun, wanted=0, limit=minimum)
    else:
        shares = cache_share(cell, disks, size_bytes, what=kind.noun)
    return FlashCache(
        name=kind.name(cell),
        id=new_id(cell, place.rack.spec.seed),
        creation_time=place.rack.now(),
        members={name: CacheMember(cell_disk=name, size_bytes=size) for name, size in shares.items()},
    )


def drop(place: Place, statement: DropFlashCache) -> Effects:
    """Drop the cache; refused in write-back mode unless it is flushed (or the cell is unguarded)."""
    cell, kind = place.cell, cache_kind(statement.object_name, place.rack.release.number)
    require_cellsrv(cell)
    name = _existing(cell, kind).name
    _give_up(place, kind)
    yield line(f"{kind.noun} {name} successfully dropped")


def _existing(cell: Cell, kind: CacheKind) -> FlashCache:
    cache = kind.of(cell)
    if cache is not None:
        return cache
    if kind is FLASH_CACHE:
        raise CellError(Code.FLASHCACHE_MISSING, cell=cell.name)
    raise CellError(Code.OBJECT_MISSING, kind=kind.noun, name=kind.name(cell))


def _give_up(place: Place, kind: CacheKind) -> None:
    """Remove the cache from the cell, and count the dirty data that is lost with it."""
    cell, cache = place.cell, _existing(place.cell, kind)
    if not cell.unguarded:
        if kind is FLASH_CACHE and (above := cell.pmem_cache) and cell.pmem_write_back and not above.flushed:
            raise CellError(Code.PMEM_FIRST, name=cache.name, pmem=above.name)
        if kind.write_back(cell) and not cache.flushed:
            raise CellError(Code.NOT_FLUSHED, kind=kind.noun, name=cache.name, object=kind.object_name)
    cell.lost_dirty_bytes += cache.dirty_bytes
    kind.put(cell, None)
    if kind is FLASH_CACHE:
        place.rack.metrics[cell.host].restart_cache_counters()


def alter(place: Place, statement: AlterFlashCache) -> Effects:
    """Flush the cache, cancel a flush, or change the cache's size or members."""
    cell, kind = place.cell, cache_kind(statement.object_name, place.rack.release.number)
    require_cellsrv(cell)
    cache = _existing(cell, kind)
    if statement.action == "FLUSH":
        members = list(cache.members) if statement.members is None else _members(kind, cache, statement.members)
        flush_members(place, cache, members)
        if not statement.nowait:
            yield from wait_for_flush(place, [cache.members[name] for name in members])
    elif statement.action == "CANCEL":
        if kind is FLASH_CACHE:
            place.rack.resume_caching(cell)
        else:
            place.rack.resume_pmem(cell)
    else:
        _rebuild(place, kind, statement)
    yield line(f"{kind.noun} {cache.name} altered successfully")


def _members(kind: CacheKind, cache: FlashCache, names: Iterable[str]) -> list[str]:
    known = {name.lower(): name for name in cache.members}
    for name in names:
        if name.lower() not in known:
            raise CellError(Code.OBJECT_MISSING, kind=f"Cell disk of the {kind.noun.lower()}", name=name)
    return [known[name.lower()] for name in names]


def flush_members(place: Place, cache: FlashCache, names: Iterable[str]) -> None:
    """Start the flush of some members of a cache; members that are being flushed continue."""
    now = place.rack.now()
    place.rack.touch(place.cell)
    for name in names:
        member = cache.members[name]
        if member.flush_from is None:
            member.flush_from = now
            member.flush_dirty, member.flush_used = member.dirty_bytes, member.used_bytes


def wait_for_flush(place: Place, members: Iterable[CacheMember]) -> Effects:
    """Let time pass until the members are empty, the flush is cancelled, or their cache is dropped."""
    wanted = tuple(members)
    while True:
        place.rack.advance()
        require_cellsrv(place.cell)
        waiting = [
            member
            for member in wanted
            if member.flush_from is not None
            and (member.used_bytes or member.dirty_bytes)
            and place.cell.member(member.cell_disk) is member
        ]
        if not waiting:
            return
        left = max(
            (member.flush_from or 0.0)
            + flush_seconds(member.flush_dirty - member.stuck_bytes, place.rack.flush_rate_of(place.cell, member))
            - place.rack.now()
            for member in waiting
        )
        yield Pause(min(max(left, _LEAST_PAUSE_S), _LOOK_AGAIN_S) if left > 0 else _LOOK_AGAIN_S)


def _rebuild(place: Place, kind: CacheKind, statement: AlterFlashCache) -> None:
    """Drop and create the cache with another size or other members; a cache that would not change is kept.

    With FORCE, data that can't be flushed is lost. Source: Oracle SAGUG, alter-flashcache.
    """
    cell, cache = place.cell, _existing(place.cell, kind)
    guarded = cell.unguarded
    keep = statement.size_bytes is None and statement.members is not None
    if keep and set(flash_members(cell, statement.members, kind.media)) == set(cache.members):
        return
    metrics = place.rack.metrics[cell.host]
    counters, lost, epoch = dict(metrics.counters), cell.lost_dirty_bytes, metrics.cache_epoch
    try:
        cell.unguarded = guarded or statement.force
        _give_up(place, kind)
        kind.put(cell, _new_cache(place, kind, statement.members, statement.size_bytes))
    except CellError:
        kind.put(cell, cache)
        cell.lost_dirty_bytes = lost
        metrics.counters, metrics.cache_epoch = counters, epoch
        raise
    finally:
        cell.unguarded = guarded
