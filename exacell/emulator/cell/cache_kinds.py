"""The kinds of caches and logs on a cell's disks: on flash and on persistent memory.

Both media have the same kinds, with one statement grammar. Persistent memory is called PMEM up to 22.1 and XRMEM
since. Source: Oracle SAGUG, create-pmemcache, alter-pmemcache, create-pmemlog and their XRMEM pages.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from exacell.core.units import MIB
from exacell.emulator.basics.profiles import LARGE_PMEM_LOG_SINCE, XRMEM_SINCE
from exacell.emulator.basics.schema import Release
from exacell.emulator.cell.cache_models import FlashCache, FlashLog
from exacell.emulator.cell.disk_models import DiskType
from exacell.emulator.cell.models import Cell

FLASH_LOG_BYTES = 512 * MIB
"""The flash log's default size, in total over all flash cell disks. Source: Oracle SAGUG, create-flashlog."""

_SMALL_PMEM_LOG, _PMEM_LOG = 960 * MIB, 10176 * MIB


def memory_name(release: Release) -> str:
    """Return the release's name for memory that caches: ``PMEM`` or ``XRMEM``."""
    return "XRMEM" if release >= XRMEM_SINCE else "PMEM"


def pmem_log_bytes(release: Release) -> int:
    """Return the default size in bytes of the log on persistent memory. Source: Oracle SAGUG, create-pmemlog."""
    return _PMEM_LOG if release >= LARGE_PMEM_LOG_SINCE else _SMALL_PMEM_LOG


@dataclass(frozen=True, kw_only=True)
class CacheKind:
    """One kind of cache: the object type of its statements, its name in messages, and its place in a cell."""

    object_name: str
    noun: str
    media: DiskType
    of: Callable[[Cell], FlashCache | None]
    put: Callable[[Cell, FlashCache | None], None]
    write_back: Callable[[Cell], bool]

    def name(self, cell: Cell) -> str:
        """Return the name that this cache has on a cell."""
        return f"{cell.name}_{self.object_name}"


@dataclass(frozen=True, kw_only=True)
class LogKind:
    """One kind of log; the fields are those of :class:`CacheKind`."""

    object_name: str
    noun: str
    media: DiskType
    default_bytes: int
    of: Callable[[Cell], FlashLog | None]
    put: Callable[[Cell, FlashLog | None], None]

    def name(self, cell: Cell) -> str:
        """Return the name that this log has on a cell."""
        return f"{cell.name}_{self.object_name}"


def _put_flash_cache(cell: Cell, cache: FlashCache | None) -> None:
    cell.flash_cache = cache


def _put_pmem_cache(cell: Cell, cache: FlashCache | None) -> None:
    cell.pmem_cache = cache


def _put_flash_log(cell: Cell, log: FlashLog | None) -> None:
    cell.flash_log = log


def _put_pmem_log(cell: Cell, log: FlashLog | None) -> None:
    cell.pmem_log = log


FLASH_CACHE = CacheKind(
    object_name="FLASHCACHE",
    noun="Flash cache",
    media=DiskType.FLASH,
    of=lambda cell: cell.flash_cache,
    put=_put_flash_cache,
    write_back=lambda cell: cell.write_back,
)
FLASH_LOG = LogKind(
    object_name="FLASHLOG",
    noun="Flash log",
    media=DiskType.FLASH,
    default_bytes=FLASH_LOG_BYTES,
    of=lambda cell: cell.flash_log,
    put=_put_flash_log,
)


def cache_kind(object_name: str, release: Release) -> CacheKind:
    """Return the kind of cache for statements on ``object_name``; for PMEM and XRMEM the one that the release has."""
    if object_name == FLASH_CACHE.object_name:
        return FLASH_CACHE
    memory = memory_name(release)
    return CacheKind(
        object_name=f"{memory}CACHE",
        noun=f"{memory.capitalize()} cache",
        media=DiskType.PMEM,
        of=lambda cell: cell.pmem_cache,
        put=_put_pmem_cache,
        write_back=lambda cell: cell.pmem_write_back,
    )


def log_kind(object_name: str, release: Release) -> LogKind:
    """Return the kind of log that statements on ``object_name`` mean."""
    if object_name == FLASH_LOG.object_name:
        return FLASH_LOG
    memory = memory_name(release)
    return LogKind(
        object_name=f"{memory}LOG",
        noun=f"{memory.capitalize()} log",
        media=DiskType.PMEM,
        default_bytes=pmem_log_bytes(release),
        of=lambda cell: cell.pmem_log,
        put=_put_pmem_log,
    )
