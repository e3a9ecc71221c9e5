"""The facts besides its counters on which a cell's metrics depend."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property

from exacell.emulator.cell.disk_models import DiskType
from exacell.emulator.cell.models import Cell
from exacell.emulator.io.device_io import CAPACITY, FLASH, HARD, PMEM
from exacell.emulator.metrics.scrubbing import Scrub

MEDIA = {DiskType.HARD: HARD, DiskType.FLASH: FLASH, DiskType.CAPACITY: CAPACITY, DiskType.PMEM: PMEM}


@dataclass(frozen=True, kw_only=True)
class Scene:
    """The facts besides its counters on which one cell's metrics depend.

    Attributes:
        clusters: the databases of each ASM cluster; empty if there is only one, which has no name on cells.
        hosts: the database nodes.
        pdbs: pluggable databases with their databases: ``SPOT.SALES``.
        vaults: the databases of each vault.
        kept: by database, the share of its data with CELL_FLASH_CACHE KEEP; databases without such data are left out.
        disk_groups: the disk groups that use the cell's grid disks, each with the power of its rebalance (0 without one) and
            since when it has that power.
        rdma: names of the RDMA network's ports: those of IBPORT on InfiniBand, otherwise RoCE's interfaces.
        cpus: logical processors.
        memory_gb: the cell's memory.
        scrub: the reads by scrubs of its hard disks.
        whole_rates: megabytes a second of databases are printed without decimals.
        memory: the name of the cache in memory, ``PMEM`` or ``XRMEM``; empty if there is none.
    """

    cell: Cell
    seed: int
    databases: tuple[str, ...]
    clusters: Mapping[str, tuple[str, ...]]
    pdbs: tuple[str, ...]
    vaults: Mapping[str, tuple[str, ...]]
    kept: Mapping[str, float]
    hosts: tuple[str, ...]
    disk_groups: Callable[[], Mapping[str, tuple[int, float]]]
    infiniband: bool
    cpus: int
    memory_gb: int
    fans: int
    memory: str
    scrub: Scrub
    whole_rates: bool

    @cached_property
    def disks(self) -> dict[str, list[str]]:
        """Return the names of the cell disks of each medium."""
        disks = sorted(self.cell.cell_disks.items())
        return {medium: [name for name, disk in disks if disk.disk_type is kind] for kind, medium in MEDIA.items()}

    @cached_property
    def by_device(self) -> dict[str, str]:
        """Return the cell disks by the names of their block devices."""
        disks = (disk for disk in self.cell.cell_disks.values() if disk.disk_type is not DiskType.PMEM)
        return {disk.device_name.removeprefix("/dev/"): disk.name for disk in disks}

    @property
    def ports(self) -> tuple[str, ...]:
        """Return the names of the two RDMA ports as their metrics have them."""
        return IB_PORTS if self.infiniband else ROCE_PORTS


IB_PORTS = ("HCA-1:1", "HCA-1:2")
"""Source: Oracle SAGUG, alter-ibport."""

INFINIBAND_PORTS = ("ib0", "ib1")
ROCE_PORTS = ("re0", "re1")
"""Interfaces of the RDMA network. Source: Oracle DBMMN, RoCE network fabric; published LIST CELL DETAIL of an X5."""
