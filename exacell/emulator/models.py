"""The state of one emulated cell: disks, cache, log, grid disks, IORM plan, services. Plain data, no behaviour of time.

Every class here can be stored: :func:`to_state` gives JSON-able data, :func:`cell_from_state` the equal object.
"""

from __future__ import annotations

from copy import deepcopy
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Any

from exacell.units import ALLOCATION_UNIT, FLASH_CELLDISK_RESERVE, parse_size


class DiskType(StrEnum):
    """The media of a cell: hard disks, performance- and capacity-optimized flash, persistent memory."""

    HARD = "HardDisk"
    FLASH = "FlashDisk"
    CAPACITY = "CapacityFlashDisk"
    PMEM = "PMEM"

    @property
    def printed(self) -> str:
        """What CellCLI prints as diskType: flash is flash there."""
        return DiskType.FLASH.value if self is DiskType.CAPACITY else self.value

    @property
    def is_flash(self) -> bool:
        """Whether this is flash of either kind."""
        return self in (DiskType.FLASH, DiskType.CAPACITY)

    @property
    def is_cached(self) -> bool:
        """Whether data on this medium may be in the flash cache: not what is on the same flash, or faster."""
        return self in (DiskType.HARD, DiskType.CAPACITY)


@dataclass(kw_only=True)
class PhysicalDisk:
    """A device as the Management Server sees it. ``size_bytes`` is the raw size."""

    name: str
    disk_type: DiskType
    device_name: str
    device_id: str
    lun: str
    make_model: str
    firmware: str
    serial: str
    size_bytes: int
    slot: str
    interface: str
    rpm: int
    insert_time: float
    status: str = "normal"


@dataclass(kw_only=True)
class Lun:
    """A LUN, one for each physical disk."""

    name: str
    disk_type: DiskType
    device_name: str
    size_bytes: int
    physical_disk: str
    cell_disk: str
    is_system: bool
    status: str = "normal"


@dataclass(kw_only=True)
class CellDisk:
    """A cell disk: the space that grid disks, flash cache and flash log share.

    Attributes:
        flush_status: of a cell disk that was flushed on its own account (hard disks); flash disks of the cache show
            their cache member's.
    """

    name: str
    size_bytes: int
    disk_type: DiskType
    lun: str
    physical_disk: str
    device_name: str
    device_partition: str
    creation_time: float
    id: str
    comment: str = ""
    status: str = "normal"
    error_count: int = 0
    flush_status: str = ""
    flush_error: str = ""


@dataclass(kw_only=True)
class GridDisk:
    """A grid disk. ``available_to`` empty means everybody; ``flushing`` keeps it out of the cache until CANCEL FLUSH.

    Attributes:
        asm_former: ASM has dropped it: the header says FORMER.
    """

    name: str
    cell_disk: str
    size_bytes: int
    offset: int
    disk_type: DiskType
    creation_time: float
    id: str
    status: str = "active"
    available_to: tuple[str, ...] = ()
    caching_policy: str = "default"
    comment: str = ""
    virtual_size: int | None = None
    asm_former: bool = False
    flushing: bool = False


@dataclass(kw_only=True)
class CacheMember:
    """One flash cell disk's part of the flash cache.

    While a flush runs, dirty and used are computed from what they were when it began (``flush_from``), so the result
    does not depend on how often anybody looks.

    Attributes:
        stuck_bytes: dirty data that no flush can write.
        stuck_how: ``stale`` when that is because its grid disk is not reachable, ``error`` when the disk reports an
            error, ``endless`` when nothing tells why.
        flush_from: rack time at which the running or completed flush began; None when none was asked for.
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
    """A cell's flash cache, or its cache on persistent memory; there is at most one of each."""

    name: str
    id: str
    creation_time: float
    members: dict[str, CacheMember]

    @property
    def size_bytes(self) -> int:
        """Size over all members."""
        return sum(member.size_bytes for member in self.members.values())

    @property
    def used_bytes(self) -> int:
        """Valid data over all members."""
        return sum(member.used_bytes for member in self.members.values())

    @property
    def dirty_bytes(self) -> int:
        """Data that is not yet on disk, over all members."""
        return sum(member.dirty_bytes for member in self.members.values())

    @property
    def stale_bytes(self) -> int:
        """Dirty data whose grid disk is not reachable, over all members."""
        members = self.members.values()
        return sum(min(member.stuck_bytes, member.dirty_bytes) for member in members if member.stuck_how == "stale")

    @property
    def flush_asked(self) -> bool:
        """Whether every member has been told to flush: nothing new is cached."""
        return bool(self.members) and all(member.flush_from is not None for member in self.members.values())

    @property
    def flushed(self) -> bool:
        """Whether a flush of all members has completed and is still in force."""
        return self.flush_asked and self.dirty_bytes == 0 and self.used_bytes == 0

    @property
    def flushing(self) -> bool:
        """Whether a member has been told to flush and still holds data."""
        return any(
            member.flush_from is not None and (member.used_bytes > 0 or member.dirty_bytes > 0)
            for member in self.members.values()
        )


@dataclass(kw_only=True)
class FlashLog:
    """A cell's flash log, or its log on persistent memory: bytes on each cell disk, and redo that is saved only there."""

    name: str
    id: str
    creation_time: float
    members: dict[str, int]
    kept_bytes: int = 0

    @property
    def size_bytes(self) -> int:
        """Size over all members."""
        return sum(self.members.values())


@dataclass(frozen=True)
class Directive:
    """One directive of an IORM plan: its attributes in the order in which they were given, lower-case names."""

    attributes: tuple[tuple[str, str], ...]

    def get(self, name: str) -> str | None:
        """Return the value of one attribute, None when the directive does not have it."""
        return dict(self.attributes).get(name)

    @property
    def name(self) -> str:
        """The database, category or cluster, ``default`` or ``other``."""
        return self.get("name") or ""


@dataclass(kw_only=True)
class IormPlan:
    """The cell's I/O resource management plan; it always exists. It is always active since 11.2.3.2."""

    objective: str
    active: bool = True
    db_plan: tuple[Directive, ...] = ()
    cat_plan: tuple[Directive, ...] = ()
    cluster_plan: tuple[Directive, ...] = ()

    def flash_log_on(self, database: str) -> bool:
        """Whether redo of ``database`` goes through the flash log by this plan.

        A database with a directive of its own follows that one alone; the others follow OTHER, or else DEFAULT.
        """
        return self._effective(database, "flashlog") != "off"

    def flash_cache_on(self, database: str) -> bool:
        """Whether data of ``database`` is cached by this plan."""
        return self._effective(database, "flashcache") != "off"

    def memory_off(self, database: str) -> bool:
        """Whether this plan keeps data of ``database`` out of memory; both names of the attribute are looked at."""
        return "off" in (self._effective(database, name) for name in ("pmemcache", "xrmemcache"))

    def cache_bytes(self, database: str, attribute: str) -> int | None:
        """Return what a size of this plan is for a database, in bytes; None when the plan has none."""
        text = self._effective(database, attribute)
        return parse_size(text) if text else None

    def _effective(self, database: str, attribute: str) -> str | None:
        named = {directive.name.lower(): directive for directive in self.db_plan}
        for name in (database.lower(), "other", "default"):
            if name in named:
                return named[name].get(attribute)
        return None


@dataclass(kw_only=True)
class Threshold:
    """Limits on a metric, ``CL_FSUT./`` for one object or ``CD_IO_UTIL`` for all.

    Attributes:
        occurrences: collections in a row that must cross it before it alerts.
        observation: collections over which a rate is meant to be averaged; kept, and without effect here.
        states: normal, warning or critical by object; ``streaks``: collections in a row that crossed it.
    """

    name: str
    comparison: str
    warning: float | None = None
    critical: float | None = None
    occurrences: int = 1
    observation: int = 1
    states: dict[str, str] = field(default_factory=dict)
    streaks: dict[str, int] = field(default_factory=dict)


@dataclass(kw_only=True)
class Alert:
    """One member of a sequence of alerts. ``end_time`` is None while the sequence is open."""

    name: str
    sequence: int
    short_name: str
    begin_time: float
    sequence_begin: float
    severity: str
    message: str
    action: str
    owner: str
    value: float
    end_time: float | None = None
    examined_by: str = ""


@dataclass(kw_only=True)
class MemoryCache:
    """The cache in the cell's memory, XRMEMCACHE; there is at most one. It never holds the only copy of anything."""

    name: str
    id: str
    creation_time: float
    size_bytes: int
    used_bytes: int = 0


Record = dict[str, Any]
"""Attributes of an object that only CellCLI keeps; JSON-able."""

RUNNING, STOPPED, DISABLED = "running", "stopped", "disabled"


@dataclass(kw_only=True)
class Cell:
    """One storage cell.

    Attributes:
        host: the name under which the rack reaches it; ``name`` is the attribute of CELL.
        ip: its RDMA network address, as ASM sees it in disk paths.
        mode: ``WriteBack`` or ``WriteThrough``; ``pmem_mode`` is that of the cache on persistent memory.
        settings: attributes of CELL that were altered, by name.
        full_disks: cell disks whose free space an injected fault has taken away.
        unguarded: True switches off the refusal to drop a write-back cache that is not flushed.
        lost_dirty_bytes: dirty data that was thrown away by drops; a careful client leaves it at 0.
        created: number of objects created so far, from which new ids are made.
        metric_settings: what ALTER METRICDEFINITION has set, by ``METRIC|attribute``.
        alert_sequences: number of alerts begun so far; ``open_alerts``: sequences that are not clear, by threshold and
            object.
        port_resets: counters of InfiniBand ports when they were reset, by port and counter.
        records: keys, roles, users, quarantines and diagnostic packages, by object type and name.
        quarantines_made: number of quarantines so far, of which the last is the newest one's name.
        offload_settings, update_settings: what was set of offload groups, by ``GROUP|attribute``, and of updates.
    """

    host: str
    name: str
    ip: str
    id: str
    mode: str
    boot_time: float
    cellsrv_start: float
    physical_disks: dict[str, PhysicalDisk]
    luns: dict[str, Lun]
    cell_disks: dict[str, CellDisk]
    grid_disks: dict[str, GridDisk]
    flash_cache: FlashCache | None
    flash_log: FlashLog | None
    iorm: IormPlan
    services: dict[str, str] = field(default_factory=lambda: {"RS": RUNNING, "MS": RUNNING, "CELLSRV": RUNNING})
    settings: dict[str, str] = field(default_factory=dict)
    full_disks: list[str] = field(default_factory=list)
    unguarded: bool = False
    lost_dirty_bytes: int = 0
    created: int = 0
    metric_settings: dict[str, str] = field(default_factory=dict)
    thresholds: dict[str, Threshold] = field(default_factory=dict)
    alerts: list[Alert] = field(default_factory=list)
    open_alerts: dict[str, int] = field(default_factory=dict)
    alert_sequences: int = 0
    port_resets: dict[str, int] = field(default_factory=dict)
    offload_settings: dict[str, str] = field(default_factory=dict)
    update_settings: dict[str, str] = field(default_factory=dict)
    memory_cache: MemoryCache | None = None
    pmem_mode: str = "WriteThrough"
    pmem_cache: FlashCache | None = None
    pmem_log: FlashLog | None = None
    records: dict[str, dict[str, Record]] = field(default_factory=dict)
    quarantines_made: int = 0

    @property
    def pmem_write_back(self) -> bool:
        """Whether the cache on persistent memory is in write-back mode."""
        return self.pmem_mode.lower() == "writeback"

    @property
    def pmem_dirty(self) -> int:
        """Bytes that only the cache on persistent memory holds, and that are still to come down to the flash cache."""
        return self.pmem_cache.dirty_bytes if self.pmem_cache is not None and self.pmem_write_back else 0

    @property
    def caches(self) -> tuple[FlashCache, ...]:
        """The caches that lie on cell disks."""
        return tuple(cache for cache in (self.flash_cache, self.pmem_cache) if cache is not None)

    @property
    def logs(self) -> tuple[FlashLog, ...]:
        """The logs that lie on cell disks."""
        return tuple(log for log in (self.flash_log, self.pmem_log) if log is not None)

    def member(self, cell_disk: str) -> CacheMember | None:
        """Return the part of a cache that lies on a cell disk, None when there is none."""
        return next((cache.members[cell_disk] for cache in self.caches if cell_disk in cache.members), None)

    @property
    def write_back(self) -> bool:
        """Whether the flash cache is in write-back mode."""
        return self.mode.lower() == "writeback"

    @property
    def cellsrv_up(self) -> bool:
        """Whether CELLSRV runs."""
        return self.services["CELLSRV"] == RUNNING

    def flash_disks(self) -> list[CellDisk]:
        """Return the cell disks on which flash cache and flash log may lie, by name: not capacity-optimized flash."""
        return [disk for _name, disk in sorted(self.cell_disks.items()) if disk.disk_type is DiskType.FLASH]

    def usable_disks(self, kind: DiskType) -> list[CellDisk]:
        """Return the cell disks of one kind whose status is normal, by name."""
        found = (disk for _name, disk in sorted(self.cell_disks.items()) if disk.disk_type is kind)
        return [disk for disk in found if disk.status == "normal"]

    def grid_disks_on(self, cell_disk: str) -> list[GridDisk]:
        """Return the grid disks on one cell disk by offset."""
        found = (disk for disk in self.grid_disks.values() if disk.cell_disk == cell_disk)
        return sorted(found, key=lambda disk: disk.offset)

    def free_space(self, cell_disk: str) -> int:
        """Return the bytes of one cell disk that nothing uses.

        A cell disk keeps 48M for itself. Source: reference cellcli.md 6.4; hard disks fit the same figure, as an X2's
        528.734375G with grid disks of 423G and 105.6875G.
        """
        disk = self.cell_disks[cell_disk]
        if cell_disk in self.full_disks:
            return 0
        taken = FLASH_CELLDISK_RESERVE + sum(grid_disk.size_bytes for grid_disk in self.grid_disks_on(cell_disk))
        taken += sum(log.members.get(cell_disk, 0) for log in self.logs)
        taken += sum(cache.members[cell_disk].size_bytes for cache in self.caches if cell_disk in cache.members)
        return disk.size_bytes - taken

    def next_offset(self, cell_disk: str) -> int:
        """Return the offset at which the next grid disk of a cell disk begins: 32M, or behind the last one."""
        last = self.grid_disks_on(cell_disk)
        return last[-1].offset + last[-1].size_bytes if last else 2 * ALLOCATION_UNIT


def to_state(cell: Cell) -> dict[str, Any]:
    """Return a cell as JSON-able data."""
    return {
        **vars(cell),
        "services": dict(cell.services),
        "settings": dict(cell.settings),
        "full_disks": list(cell.full_disks),
        **{
            kind: {name: dict(vars(disk)) for name, disk in getattr(cell, kind).items()}
            for kind in ("physical_disks", "luns", "cell_disks", "grid_disks")
        },
        "flash_cache": _cache_state(cell.flash_cache),
        "flash_log": _log_state(cell.flash_log),
        "pmem_cache": _cache_state(cell.pmem_cache),
        "pmem_log": _log_state(cell.pmem_log),
        "iorm": asdict(cell.iorm),
        "metric_settings": dict(cell.metric_settings),
        "thresholds": {name: asdict(threshold) for name, threshold in cell.thresholds.items()},
        "alerts": [dict(vars(alert)) for alert in cell.alerts],
        "open_alerts": dict(cell.open_alerts),
        "port_resets": dict(cell.port_resets),
        "offload_settings": dict(cell.offload_settings),
        "update_settings": dict(cell.update_settings),
        "memory_cache": cell.memory_cache and dict(vars(cell.memory_cache)),
        "records": deepcopy(cell.records),
    }


def _cache_state(cache: FlashCache | None) -> dict[str, Any] | None:
    if cache is None:
        return None
    return {**vars(cache), "members": {name: dict(vars(member)) for name, member in cache.members.items()}}


def _log_state(log: FlashLog | None) -> dict[str, Any] | None:
    return None if log is None else {**vars(log), "members": dict(log.members)}


def _cache_of(row: dict[str, Any] | None) -> FlashCache | None:
    if row is None:
        return None
    return FlashCache(**{**row, "members": {name: CacheMember(**member) for name, member in row["members"].items()}})


def cell_from_state(state: dict[str, Any]) -> Cell:
    """Return the cell that :func:`to_state` stored."""
    log, pmem_log, iorm = state["flash_log"], state.get("pmem_log"), state["iorm"]
    return Cell(
        **{
            **state,
            "physical_disks": {n: PhysicalDisk(**_typed(row)) for n, row in state["physical_disks"].items()},
            "luns": {n: Lun(**_typed(row)) for n, row in state["luns"].items()},
            "cell_disks": {n: CellDisk(**_typed(row)) for n, row in state["cell_disks"].items()},
            "grid_disks": {
                n: GridDisk(**{**_typed(row), "available_to": tuple(row["available_to"])})
                for n, row in state["grid_disks"].items()
            },
            "flash_cache": _cache_of(state["flash_cache"]),
            "flash_log": log and FlashLog(**log),
            "pmem_cache": _cache_of(state.get("pmem_cache")),
            "pmem_log": pmem_log and FlashLog(**pmem_log),
            "thresholds": {n: Threshold(**row) for n, row in state.get("thresholds", {}).items()},
            "memory_cache": MemoryCache(**row) if (row := state.get("memory_cache")) else None,
            "alerts": [Alert(**row) for row in state.get("alerts", ())],
            "iorm": IormPlan(
                objective=iorm["objective"],
                active=iorm.get("active", True),
                **{plan: _directives(iorm[plan]) for plan in ("db_plan", "cat_plan", "cluster_plan")},
            ),
        }
    )


def _typed(row: dict[str, Any]) -> dict[str, Any]:
    return {**row, "disk_type": DiskType(row["disk_type"])}


def _directives(rows: Any) -> tuple[Directive, ...]:
    return tuple(Directive(tuple((name, value) for name, value in row["attributes"])) for row in rows)
