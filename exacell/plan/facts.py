"""Hold a cell's facts for the planners: the typed answers to one round trip of LIST statements. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from exacell.cellcli.iorm import IormPlan, parse as parse_iorm
from exacell.cellcli.schema import release_key
from exacell.core.units import ALLOCATION_UNIT, MIB, round_down
from exacell.core.values import dataclass

Record = Mapping[str, Any]

CELL = "list cell attributes name, releaseVersion, flashCacheMode, cellsrvStatus, makeModel"
CELL_PMEM = CELL + ", pmemCacheMode"
"""The same for releases whose PMEM cache may be write-back. Source: reference cellcli.md section 8 (19.3 to before 23.1)."""
PMEMCACHE = "list pmemcache attributes name, size, status"
XRMEMCACHE = "list xrmemcache detail"
"""With DETAIL a cell prints only the attributes that exist: a cache in DRAM has neither size nor status, and can't be flushed."""
FLASHCACHE = "list flashcache attributes name, size, effectiveCacheSize, status, degradedCelldisks, cellDisk"
FLASHLOG = "list flashlog attributes name, size, status"
CELLDISK = "list celldisk attributes name, diskType, size, freeSpace, status, flushStatus, flushError"
LUN = "list lun attributes name, cellDisk, diskType, lunSize, physicalDrives, status"
FLASH_PHYSICALDISK = "list physicaldisk attributes name, diskType, status where diskType=flashdisk"
GRIDDISK = (
    "list griddisk attributes name, cellDisk, diskType, size, status, availableTo, cachingPolicy, "
    "asmDiskGroupName, asmModeStatus, asmDeactivationOutcome, cachedBy, comment"
)
GRIDDISK_PLAIN = "list griddisk attributes name, cellDisk, diskType, size, status"
"""Without attributes that come from ASM through CELLSRV; for a cell whose CELLSRV is stopped."""
GRIDDISK_STOPPED = "list griddisk attributes name, cellDisk, diskType, size, status, cachedBy"
"""The same with the data in a write-back cache, which the cell itself knows."""
GRIDDISK_241 = GRIDDISK + ", storagePool, poolDiskStatus"
IORMPLAN = "list iormplan attributes name, dbPlan, objective, status"
FLASH_METRICS = (
    "list metriccurrent where objectType = 'FLASHCACHE' and name like 'FC_BY_(DIRTY|USED|STALE_DIRTY|ALLOCATED)'"
)
PMEM_METRICS = "list metriccurrent where objectType = 'PMEMCACHE' and name like 'PC_BY_ALLOCATED'"
XRMEM_METRICS = "list metriccurrent where objectType = 'XRMEMCACHE' and name like 'XRM_BY_ALLOCATED'"
DATABASE = "list database attributes name"
PMEMLOG = "list pmemlog attributes name, size, status"
XRMEMLOG = "list xrmemlog attributes name, size, status"
REDO_METRICS = "list metriccurrent where objectType = 'FLASHLOG' and name like 'FL_(RQ_W|IO_W_SKIP_LOG_ON_.*)'"

FLUSHED = "normal - flushed"
"""The status of a cache without dirty data; a degraded cache never shows it."""
FLUSHING = ("normal - flushing", FLUSHED, "warning - flushing", "warning - flushed")
"""The statuses of a cache from its FLUSH until its CANCEL FLUSH; meanwhile it caches nothing new."""

MODE_SINCE = "11.2.3.2.0"
"""The first release that shows flashCacheMode. Source: reference cellcli.md section 8."""

LET_GO = ("FORMER", "CANDIDATE")
"""header_status in v$asm_disk of a disk that belongs to no disk group. Source: reference asm.md section 6."""

EXPELLED = "expelled"
"""Replaces the header of a disk without a row in ASM, because its disk group dropped it; see :mod:`exacell.plan.asmspace`."""

PMEM_SINCE, PMEM_UNTIL = "19.3", "23.1"
"""The first release whose PMEM cache may be write-back, and the first after these. Source: reference cellcli.md section 8."""


@dataclass(frozen=True, kw_only=True)
class FlashCache:
    """A cell's flash cache. ``cell_disks`` are its members; ``status`` is in lower case (``normal - flushed``)."""

    name: str
    size: int
    status: str
    degraded: tuple[str, ...]
    cell_disks: tuple[str, ...]

    @property
    def caching(self) -> str:
        """Return ``on``, or ``off`` while the status says flushing or flushed. Source: cellcli.md 6.2."""
        return "off" if "flush" in self.status else "on"

    @property
    def healthy(self) -> bool:
        """Return whether nothing is degraded and the status is one of the normal ones."""
        return self.status.startswith("normal") and not self.degraded


@dataclass(frozen=True, kw_only=True)
class PmemCache:
    """A cell's cache on persistent memory; ``status`` has the same values as that of the flash cache.

    One in DRAM (X10M and later) has no status.
    """

    name: str
    size: int
    status: str

    @property
    def caching(self) -> str:
        """Return ``on``, or ``off`` while the status says flushing or flushed."""
        return "off" if "flush" in self.status else "on"


@dataclass(frozen=True, kw_only=True)
class CellDisk:
    """A cell disk; sizes in bytes, ``flash`` and ``pmem`` by its diskType."""

    name: str
    flash: bool
    size: int
    free: int
    status: str
    flush_status: str
    flush_error: str
    pmem: bool = False

    @property
    def hard(self) -> bool:
        """Return whether it is on a hard disk."""
        return not self.flash and not self.pmem

    @property
    def kind(self) -> str:
        """Return its diskType in lower case."""
        return "flashdisk" if self.flash else "pmem" if self.pmem else "harddisk"


@dataclass(frozen=True, kw_only=True)
class Lun:
    """The place of a cell disk; ``cell_disk`` is empty while there is none, ``kind`` is its diskType in lower case."""

    name: str
    cell_disk: str
    kind: str
    size: int
    drives: tuple[str, ...]
    status: str


@dataclass(frozen=True, kw_only=True)
class GridDisk:
    """A grid disk. The asm_* fields are empty if the cell prints nothing; the mode is in upper case.

    ``cached_by`` are the flash and PMEM cell disks that hold write-back data for it. Source: cellcli.md 6.6.
    ``asm_size`` are the bytes of it that ASM uses, as all ASM instances report them; None if they were not asked or differ.
    """

    name: str
    cell_disk: str
    flash: bool
    size: int
    status: str
    available_to: str
    caching_policy: str
    asm_group: str
    asm_mode: str
    deactivation: str
    pool: str
    cached_by: tuple[str, ...] = ()
    comment: str = ""
    asm_size: int | None = None

    @property
    def prefix(self) -> str:
        """Return the part of the name before ``_<celldisk>``; empty if the name has another form."""
        tail = "_" + self.cell_disk
        return self.name[: -len(tail)] if self.name.lower().endswith(tail.lower()) else ""

    def use(self, headers: Mapping[str, str] | None) -> str:
        """Return why the disk is not free, empty if it is.

        A grid disk is free only if no Exascale pool has it, its asmModeStatus is UNUSED or DROPPED, and one of these holds:
        it names no disk group; its header is FORMER or CANDIDATE in every ASM cluster of the rack; or the disk group that it
        names has dropped it and ASM does not see it any more. Source: cellcli.md 6.5.

        Args:
            headers: grid disk name (lower case) → header_status as ASM sees it, or ``EXPELLED``; None if no ASM could be
                asked.
        """
        if self.pool:
            return f"it belongs to the Exascale pool {self.pool}"
        if self.asm_mode not in ("UNUSED", "DROPPED"):
            group = f"disk group {self.asm_group} uses it" if self.asm_group else "ASM may use it"
            return f"{group} (asmModeStatus {self.asm_mode or 'unknown'})"
        if not self.asm_group:
            return ""
        if headers is None:
            return (
                f"it belongs to disk group {self.asm_group}, and no ASM instance could confirm that the "
                "group no longer uses it"
            )
        header = headers.get(self.name.lower(), "")
        if header in LET_GO or (header == EXPELLED and self.asm_mode == "DROPPED"):
            return ""
        return f"disk group {self.asm_group} still has it (header {header or 'not seen'})"


@dataclass(frozen=True, kw_only=True)
class CellFacts:
    """The known facts of one cell; fields that were not asked for are empty.

    Attributes:
        cell: the host name under which it is asked.
        name: its own name, which may differ from the host's; empty if it was not asked for.
        mode: ``writeback`` or ``writethrough``, lower case; empty on releases without the attribute (write-through), and if the
            cell does not show it.
        pmem_mode: the same for the PMEM cache; empty on cells and releases without one.
        metrics: FC_BY_* → (bytes, collectionTime in epoch ms).
        memory_log: bytes of the log in persistent memory, 0 without one.
        redo: FL_* → (redo writes since the counters began, collectionTime); all writes, and those that skip the flash log
            because the redo logs are on flash.
        read_now: the same text (a script, say) has no earlier statement that changed the cell after these facts were read.
    """

    cell: str
    name: str = ""
    release: str = ""
    mode: str = ""
    pmem_mode: str = ""
    pmem_cache: PmemCache | None = None
    cellsrv: str = ""
    model: str = ""
    flash_cache: FlashCache | None = None
    flash_log: int = 0
    cell_disks: tuple[CellDisk, ...] = ()
    luns: tuple[Lun, ...] = ()
    flash_physical: tuple[tuple[str, str], ...] = ()
    grid_disks: tuple[GridDisk, ...] = ()
    iorm: IormPlan | None = None
    iorm_text: str = ""
    objective: str = ""
    databases: tuple[str, ...] = ()
    metrics: Mapping[str, tuple[float, int]] | None = None
    memory_log: int = 0
    redo: Mapping[str, tuple[float, int]] | None = None
    read_now: bool = True

    @property
    def flash_disks(self) -> tuple[CellDisk, ...]:
        """Return the flash cell disks, by name."""
        return tuple(disk for disk in self.cell_disks if disk.flash)

    @property
    def hard_disks(self) -> tuple[CellDisk, ...]:
        """Return the cell disks on hard disks, by name; disks on persistent memory do not count."""
        return tuple(disk for disk in self.cell_disks if disk.hard)

    @property
    def writeback(self) -> bool:
        """Return whether the flash cache may hold the only copy of data; True also if the cell does not show its mode."""
        return self.mode == "writeback" or (self.mode != "writethrough" and self.at_least(MODE_SINCE))

    @property
    def memory_cache(self) -> str:
        """Return its release's name for the cache in memory: ``pmemcache``, from 23.1 on ``xrmemcache``."""
        return "xrmemcache" if self.at_least(PMEM_UNTIL) else "pmemcache"

    @property
    def tells_pmem(self) -> bool:
        """Return whether its release has a PMEM cache that may be write-back, and shows its mode."""
        return self.at_least(PMEM_SINCE) and not self.at_least(PMEM_UNTIL)

    @property
    def pmem_writeback(self) -> bool:
        """Return whether the PMEM cache may hold the only copy of data; True also if the cell does not show its mode."""
        unsure = self.tells_pmem and self.pmem_mode != "writethrough"
        return self.pmem_cache is not None and (self.pmem_mode == "writeback" or unsure)

    def metric_bytes(self, name: str) -> int | None:
        """Return an FC_BY_* metric in bytes; None if the cell did not return it."""
        found = (self.metrics or {}).get(name)
        return None if found is None else int(found[0])

    def at_least(self, release: str) -> bool:
        """Return whether the cell's release is ``release`` or later; False if it is unknown."""
        return bool(self.release) and release_key(self.release) >= release_key(release)

    @property
    def cache_size(self) -> int:
        """Return the bytes of the flash cache; 0 without one."""
        return self.flash_cache.size if self.flash_cache is not None else 0

    def cache_room(self, *, plus: Mapping[str, int] | None = None) -> int:
        """Return the largest flash cache in bytes that CREATE FLASHCACHE ALL can make after a drop.

        The cache takes an equal share of every flash cell disk, in units of 16M, so the disk with the least room
        decides.

        Args:
            plus: further bytes that will be free, by cell disk name.
        """
        rooms = [round_down(self._room(disk, plus or {})) for disk in self.flash_disks]
        return min(rooms) * len(rooms) if rooms else 0

    def _room(self, disk: CellDisk, plus: Mapping[str, int]) -> int:
        share = 0
        cache = self.flash_cache
        if cache is not None and disk.name in cache.cell_disks:
            share = cache.size // len(cache.cell_disks)
        return disk.free + share + plus.get(disk.name, 0)


def rounded_cache(size: int, disks: int) -> int:
    """Return the size that CREATE FLASHCACHE ALL size= makes from ``size`` over so many disks: equal shares of 16M units."""
    return round_down(size // disks, ALLOCATION_UNIT) * disks


def statements_for(*wanted: str, release: str = "") -> list[str]:
    """Return the LIST statements in the form for this release, without those that the release does not know."""
    exchanged: dict[str, str] = {}
    if release and release_key(release) >= release_key("24.1"):
        exchanged[GRIDDISK] = GRIDDISK_241
    pmem = bool(release) and release_key(PMEM_SINCE) <= release_key(release) < release_key(PMEM_UNTIL)
    xrmem = bool(release) and release_key(release) >= release_key(PMEM_UNTIL)
    if pmem and PMEMCACHE in wanted:
        exchanged[CELL] = CELL_PMEM
    unknown = {*(() if pmem else (PMEMCACHE, PMEMLOG, PMEM_METRICS))}
    unknown |= {*(() if xrmem else (XRMEMCACHE, XRMEMLOG, XRMEM_METRICS))}
    return [exchanged.get(statement, statement) for statement in wanted if statement not in unknown]


def text_of(record: Record, name: str) -> str:
    """Return an attribute of a record as text, lists with commas; empty if the record does not have it."""
    value = record.get(name)
    if isinstance(value, tuple):
        return ",".join(str(item) for item in value)
    return "" if value is None else str(value)


def _size(record: Record, name: str) -> int:
    value = record.get(name)
    return int(value) if isinstance(value, (int, float)) else 0


def _names(record: Record, name: str) -> tuple[str, ...]:
    value = record.get(name)
    if isinstance(value, tuple):
        return tuple(str(item) for item in value)
    return tuple(part.strip() for part in str(value or "").split(",") if part.strip())


def metric_values(rows: Iterable[Record]) -> dict[str, tuple[float, int]]:
    """Return metric name → (value, collectionTime in epoch ms) of METRICCURRENT records read as XML."""
    found: dict[str, tuple[float, int]] = {}
    for row in rows:
        name, value, at = row.get("name"), row.get("metricValue"), row.get("collectionTime")
        if isinstance(name, str) and isinstance(value, (int, float)):
            found[name] = (float(value), _epoch_ms(at))
    return found


def _epoch_ms(value: object) -> int:
    if isinstance(value, (int, float)):
        return int(value)
    text = str(value or "")
    if text.isdigit():
        return int(text)
    if not text:
        return 0
    try:
        return int(datetime.fromisoformat(text).timestamp() * 1000)
    except ValueError:
        return 0  # This time is earlier than any time that a wait compares it with.


def build(cell: str, statements: Sequence[str], tables: Sequence[Sequence[Record]]) -> CellFacts:
    """Return the facts in the answers to ``statements``, which are constants of this module."""
    known: dict[str, Any] = {"cell": cell}
    for statement, rows in zip(statements, tables, strict=True):
        if statement in _EACH:
            name, read = _EACH[statement]
            known[name] = tuple(map(read, rows))
        elif statement in _ONE:
            name, read = _ONE[statement]
            known[name] = read(rows[0]) if rows else None
        else:
            known |= _READERS[statement](rows)
    return CellFacts(**known)


def _cell(rows: Sequence[Record]) -> dict[str, Any]:
    row = rows[0] if rows else {}
    return {
        "name": text_of(row, "name"),
        "release": text_of(row, "releaseVersion"),
        "mode": text_of(row, "flashCacheMode").lower(),
        "pmem_mode": text_of(row, "pmemCacheMode").lower(),
        "cellsrv": text_of(row, "cellsrvStatus"),
        "model": text_of(row, "makeModel"),
    }


def _flashcache(row: Record) -> FlashCache:
    return FlashCache(
        name=text_of(row, "name"),
        size=_size(row, "size"),
        status=text_of(row, "status").lower(),
        degraded=_names(row, "degradedCelldisks"),
        cell_disks=_names(row, "cellDisk"),
    )


def _pmemcache(row: Record) -> PmemCache:
    return PmemCache(name=text_of(row, "name"), size=_size(row, "size"), status=text_of(row, "status").lower())


def _flashlog(rows: Sequence[Record]) -> dict[str, Any]:
    return {"flash_log": _size(rows[0], "size") if rows else 0}


def _memorylog(rows: Sequence[Record]) -> dict[str, Any]:
    return {"memory_log": _size(rows[0], "size")} if rows else {}


def _celldisk(row: Record) -> CellDisk:
    return CellDisk(
        name=text_of(row, "name"),
        flash=text_of(row, "diskType").lower() == "flashdisk",
        pmem=text_of(row, "diskType").lower() == "pmem",
        size=_size(row, "size"),
        free=_size(row, "freeSpace"),
        status=text_of(row, "status").lower(),
        flush_status=text_of(row, "flushStatus").lower(),
        flush_error=text_of(row, "flushError"),
    )


def _lun(row: Record) -> Lun:
    return Lun(
        name=text_of(row, "name"),
        cell_disk=text_of(row, "cellDisk"),
        kind=text_of(row, "diskType").lower(),
        size=_size(row, "lunSize"),
        drives=_names(row, "physicalDrives"),
        status=text_of(row, "status").lower(),
    )


def _physical(row: Record) -> tuple[str, str]:
    return text_of(row, "name"), text_of(row, "status").lower()


def _griddisk(row: Record) -> GridDisk:
    return GridDisk(
        name=text_of(row, "name"),
        cell_disk=text_of(row, "cellDisk"),
        flash=text_of(row, "diskType").lower() == "flashdisk",
        size=_size(row, "size"),
        status=text_of(row, "status").lower(),
        available_to=text_of(row, "availableTo"),
        caching_policy=text_of(row, "cachingPolicy").lower(),
        asm_group=text_of(row, "asmDiskGroupName"),
        asm_mode=text_of(row, "asmModeStatus").upper(),
        deactivation=text_of(row, "asmDeactivationOutcome"),
        pool=text_of(row, "storagePool") or text_of(row, "poolDiskStatus"),
        cached_by=_names(row, "cachedBy"),
        comment=text_of(row, "comment"),
    )


def dbplan_of(rows: Sequence[Record]) -> str:
    """Return the dbplan as LIST IORMPLAN prints it, even if it can't be read; empty if there is none."""
    return text_of(rows[0], "dbPlan") if rows else ""


def _iorm(rows: Sequence[Record]) -> dict[str, Any]:
    row, text = rows[0] if rows else {}, dbplan_of(rows)
    return {"iorm": parse_iorm(text), "iorm_text": text, "objective": text_of(row, "objective")}


def _metrics(rows: Sequence[Record]) -> dict[str, Any]:
    return {"metrics": {name: (value * MIB, at) for name, (value, at) in metric_values(rows).items()}}


def _redo(rows: Sequence[Record]) -> dict[str, Any]:
    return {"redo": metric_values(rows)}


def _name(row: Record) -> str:
    return text_of(row, "name")


_EACH: Mapping[str, tuple[str, Callable[[Record], object]]] = {
    **dict.fromkeys((GRIDDISK, GRIDDISK_241, GRIDDISK_PLAIN, GRIDDISK_STOPPED), ("grid_disks", _griddisk)),
    CELLDISK: ("cell_disks", _celldisk),
    LUN: ("luns", _lun),
    FLASH_PHYSICALDISK: ("flash_physical", _physical),
    DATABASE: ("databases", _name),
}
"""By statement, the fact that holds all rows of the answer, and the function that reads a row."""

_ONE: Mapping[str, tuple[str, Callable[[Record], object]]] = {
    FLASHCACHE: ("flash_cache", _flashcache),
    **dict.fromkeys((PMEMCACHE, XRMEMCACHE), ("pmem_cache", _pmemcache)),
}
"""By statement, the fact that holds the only row of the answer, and the function that reads it; None means no row."""

_READERS = {
    **dict.fromkeys((CELL, CELL_PMEM), _cell),
    FLASHLOG: _flashlog,
    **dict.fromkeys((PMEMLOG, XRMEMLOG), _memorylog),
    IORMPLAN: _iorm,
    **dict.fromkeys((FLASH_METRICS, PMEM_METRICS, XRMEM_METRICS), _metrics),
    REDO_METRICS: _redo,
}
"""By statement, the function that reads facts from the whole answer."""
