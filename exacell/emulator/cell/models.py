"""The state of one emulated cell: disks, cache, log, grid disks, IORM plan, services. Plain data, no behaviour of time."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from exacell.core.units import ALLOCATION_UNIT
from exacell.emulator.cell.alert_models import Alert, Threshold
from exacell.emulator.cell.cache_models import CacheMember, FlashCache, FlashLog, MemoryCache
from exacell.emulator.cell.disk_models import CellDisk, DiskType, GridDisk, Lun, PhysicalDisk, ScrubSchedule
from exacell.emulator.cell.iorm_models import IormPlan

Record = dict[str, Any]
"""Attributes of an object that only CellCLI uses; JSON-able."""

RUNNING, STOPPED, DISABLED = "running", "stopped", "disabled"

EXASCALE_STATUS = {
    "bsmStatus": "BSM",
    "bswStatus": "BSW",
    "egsStatus": "EGS",
    "ersStatus": "ERS",
    "ifdStatus": "IFD",
    "sysEdsStatus": "SYSEDS",
    "usrEdsStatus": "USREDS",
}
"""Attributes of CELL that show Exascale's services, with the services."""


FIRST_OFFSET = 2 * ALLOCATION_UNIT
"""Offset of the first grid disk on a cell disk. Source: published LIST GRIDDISK DETAIL of 11.2, offset 32M."""


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
        redo_stays_on_flash: True while the disks fail redo writes, so that only the flash log holds the redo.
        lossy_network: True while the RDMA network loses packets.
        lost_dirty_bytes: bytes of dirty data that drops have lost; with a careful client it stays 0.
        created: number of objects created so far; new ids are derived from it.
        metric_settings: what ALTER METRICDEFINITION has set, by ``METRIC|attribute``.
        alert_sequences: number of alerts begun so far; ``open_alerts``: sequences that are not clear, by threshold and
            object.
        port_resets: counters of InfiniBand ports when they were reset, by port and counter.
        records: keys, roles, users, quarantines and diagnostic packages, by object type and name.
        quarantines_made: number of quarantines so far, which is also the newest one's name.
        scrub_schedules: the schedules of scrubbing in order, after the one that every cell begins with.
        bad_sectors: unreadable offsets, and since when, by cell disk; also those that a scrub has repaired.
        offload_settings, update_settings: settings of offload groups, by ``GROUP|attribute``, and of updates.
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
    last_boot: float | None = None
    services: dict[str, str] = field(default_factory=lambda: {"RS": RUNNING, "MS": RUNNING, "CELLSRV": RUNNING})
    settings: dict[str, str] = field(default_factory=dict)
    full_disks: list[str] = field(default_factory=list)
    unguarded: bool = False
    redo_stays_on_flash: bool = False
    lossy_network: bool = False
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
    scrub_schedules: list[ScrubSchedule] = field(default_factory=list)
    bad_sectors: dict[str, list[tuple[int, float]]] = field(default_factory=dict)

    @property
    def pmem_write_back(self) -> bool:
        """Return whether the cache on persistent memory is in write-back mode."""
        return self.pmem_mode.lower() == "writeback"

    @property
    def pmem_dirty(self) -> int:
        """Return the bytes that only the cache on persistent memory holds and that must still move to the flash cache."""
        return self.pmem_cache.dirty_bytes if self.pmem_cache is not None and self.pmem_write_back else 0

    @property
    def caches(self) -> tuple[FlashCache, ...]:
        """Return the caches on cell disks."""
        return tuple(cache for cache in (self.flash_cache, self.pmem_cache) if cache is not None)

    @property
    def logs(self) -> tuple[FlashLog, ...]:
        """Return the logs on cell disks."""
        return tuple(log for log in (self.flash_log, self.pmem_log) if log is not None)

    def member(self, cell_disk: str) -> CacheMember | None:
        """Return the part of a cache on a cell disk; None if there is none."""
        return next((cache.members[cell_disk] for cache in self.caches if cell_disk in cache.members), None)

    @property
    def write_back(self) -> bool:
        """Return whether the flash cache is in write-back mode."""
        return self.mode.lower() == "writeback"

    @property
    def cellsrv_up(self) -> bool:
        """Return whether CELLSRV runs."""
        return self.services["CELLSRV"] == RUNNING

    def flash_disks(self) -> list[CellDisk]:
        """Return the cell disks that may hold flash cache and flash log, by name; capacity-optimized flash is left out."""
        return [disk for _name, disk in sorted(self.cell_disks.items()) if disk.disk_type is DiskType.FLASH]

    def hard_disks(self) -> list[CellDisk]:
        """Return the cell disks on hard disks, by name."""
        return [disk for _name, disk in sorted(self.cell_disks.items()) if disk.disk_type is DiskType.HARD]

    def usable_disks(self, kind: DiskType) -> list[CellDisk]:
        """Return the cell disks of one kind whose status is normal, by name."""
        found = (disk for _name, disk in sorted(self.cell_disks.items()) if disk.disk_type is kind)
        return [disk for disk in found if disk.status == "normal"]

    def grid_disks_on(self, cell_disk: str) -> list[GridDisk]:
        """Return the grid disks on one cell disk by offset."""
        found = (disk for disk in self.grid_disks.values() if disk.cell_disk == cell_disk)
        return sorted(found, key=lambda disk: disk.offset)

    def free_space(self, cell_disk: str) -> int:
        """Return the unused bytes of one cell disk.

        Hard disks reserve as much as flash: an X2's 528.734375G with grid disks of 423G and 105.6875G.
        """
        disk = self.cell_disks[cell_disk]
        if cell_disk in self.full_disks:
            return 0
        taken = disk.disk_type.reserve_bytes + sum(grid_disk.size_bytes for grid_disk in self.grid_disks_on(cell_disk))
        taken += sum(log.members.get(cell_disk, 0) for log in self.logs)
        taken += sum(cache.members[cell_disk].size_bytes for cache in self.caches if cell_disk in cache.members)
        return disk.size_bytes - taken

    def next_offset(self, cell_disk: str) -> int:
        """Return the offset at which the next grid disk of a cell disk begins: 32M, or the end of the last one."""
        last = self.grid_disks_on(cell_disk)
        return last[-1].offset + last[-1].size_bytes if last else FIRST_OFFSET
