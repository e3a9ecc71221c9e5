"""The caches and logs of an emulated cell: their members, and how much each holds. Plain data."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(kw_only=True)
class CacheMember:
    """One flash cell disk's part of the flash cache.

    While a flush runs, dirty and used bytes are computed from those at its beginning (``flush_from``), so that the result does
    not depend on how often they are read.

    Attributes:
        stuck_bytes: dirty data that no flush can write.
        stuck_how: ``stale`` if the grid disk is not reachable, ``error`` if the disk reports an error, ``endless`` if no reason
            is shown.
        flush_from: rack time at which the running or completed flush began; None if no flush was asked for.
    """

    cell_disk: str
    size_bytes: int
    used_bytes: int = 0
    dirty_bytes: int = 0
    stuck_bytes: int = 0
    stuck_how: str = "stale"
    flush_from: float | None = None
    flush_used: int = 0
    flush_dirty: int = 0


@dataclass(kw_only=True)
class FlashCache:
    """A cell's flash cache, or its cache on persistent memory; there is at most one of each.

    Attributes:
        clauses: by database, the shares of its data with CELL_FLASH_CACHE KEEP and NONE, as the cache last saw them.
        apart: by database, the cached bytes of data with KEEP and NONE.
        tables: the cached bytes of tables that single sessions read, by database and table.
    """

    name: str
    id: str
    creation_time: float
    members: dict[str, CacheMember]
    clauses: dict[str, dict[str, float]] = field(default_factory=dict)
    apart: dict[str, dict[str, int]] = field(default_factory=dict)
    tables: dict[str, int] = field(default_factory=dict)

    @property
    def size_bytes(self) -> int:
        """Return the size in bytes over all members."""
        return sum(member.size_bytes for member in self.members.values())

    @property
    def used_bytes(self) -> int:
        """Return the bytes of valid data over all members."""
        return sum(member.used_bytes for member in self.members.values())

    @property
    def dirty_bytes(self) -> int:
        """Return the bytes that are not yet on disk, over all members."""
        return sum(member.dirty_bytes for member in self.members.values())

    @property
    def stale_bytes(self) -> int:
        """Return the dirty bytes whose grid disk is not reachable, over all members."""
        members = self.members.values()
        return sum(min(member.stuck_bytes, member.dirty_bytes) for member in members if member.stuck_how == "stale")

    @property
    def flush_asked(self) -> bool:
        """Return whether every member was asked to flush, so that nothing new is cached."""
        return bool(self.members) and all(member.flush_from is not None for member in self.members.values())

    @property
    def flushed(self) -> bool:
        """Return whether a flush of all members has completed and is still in force."""
        return self.flush_asked and self.dirty_bytes == 0 and self.used_bytes == 0

    @property
    def flushing(self) -> bool:
        """Return whether a member was asked to flush and still holds data."""
        return any(
            member.flush_from is not None and (member.used_bytes > 0 or member.dirty_bytes > 0)
            for member in self.members.values()
        )


@dataclass(kw_only=True)
class FlashLog:
    """A cell's flash log, or its log on persistent memory: bytes on each cell disk, and redo that is saved only in the log."""

    name: str
    id: str
    creation_time: float
    members: dict[str, int]
    kept_bytes: int = 0

    @property
    def size_bytes(self) -> int:
        """Return the size in bytes over all members."""
        return sum(self.members.values())


@dataclass(kw_only=True)
class MemoryCache:
    """The cache in the cell's memory, XRMEMCACHE; at most one. It never holds the only copy of any data."""

    name: str
    id: str
    creation_time: float
    size_bytes: int
    used_bytes: int = 0
