"""The disks of an emulated cell: devices, LUNs, cell disks and grid disks. Plain data."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from exacell.core.units import FLASH_CELLDISK_RESERVE


class DiskType(StrEnum):
    """The media of a cell: hard disks, performance- and capacity-optimized flash, persistent memory."""

    HARD = "HardDisk"
    FLASH = "FlashDisk"
    CAPACITY = "CapacityFlashDisk"
    PMEM = "PMEM"

    @property
    def printed(self) -> str:
        """Return diskType as CellCLI prints it; both kinds of flash are printed the same."""
        return DiskType.FLASH.value if self is DiskType.CAPACITY else self.value

    @property
    def is_flash(self) -> bool:
        """Return whether this is flash of either kind."""
        return self in (DiskType.FLASH, DiskType.CAPACITY)

    @property
    def is_cached(self) -> bool:
        """Return whether the flash cache may hold data of this medium: not data that is on the same flash, or on faster media."""
        return self in (DiskType.HARD, DiskType.CAPACITY)

    @property
    def reserve_bytes(self) -> int:
        """Return the bytes that a cell disk on this medium keeps for itself.

        48M, and twice that on persistent memory. Source: reference cellcli.md 6.4; a published LIST CELLDISK of an X8M with
        modules of 125.984375G, and Oracle SAGUG, list-pmemcache, with a cache of 1.474365234375T on twelve of them.
        """
        return FLASH_CELLDISK_RESERVE * (2 if self is DiskType.PMEM else 1)


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


@dataclass(frozen=True, kw_only=True)
class ScrubSchedule:
    """When hard disks are scrubbed: every ``interval_s`` seconds from ``start`` on; never if it is 0.

    Attributes:
        since: rack time from which this schedule applies.
    """

    since: float
    start: float
    interval_s: float


@dataclass(kw_only=True)
class CellDisk:
    """A cell disk: the space that grid disks, flash cache and flash log share.

    Attributes:
        interleaving: how old releases spread its grid disks, as set; stored but without effect here.
        flush_status: of a cell disk that was flushed by itself (hard disks); flash disks of the cache show that of their cache
            member.
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
    interleaving: str = "none"
    status: str = "normal"
    error_count: int = 0
    flush_status: str = ""
    flush_error: str = ""


@dataclass(kw_only=True)
class GridDisk:
    """A grid disk. Empty ``available_to`` means all clients; ``flushing`` keeps its data out of the cache until CANCEL FLUSH.

    Attributes:
        asm_former: whether ASM has dropped it, so that its header is FORMER.
        status_before: while its disk is failing or missing, the earlier status, which it gets back with the disk.
        storage_pool: the Exascale storage pool for which it was made; empty for a disk of ASM.
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
    storage_pool: str = ""
    status_before: str = ""
