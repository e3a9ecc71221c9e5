"""Makes the cells of a new rack: hardware of the model, and a deployment that has been in use for some weeks."""

from __future__ import annotations

import hashlib
import random
import uuid
from collections.abc import Sequence

from exacell.core.units import KIB, round_down
from exacell.emulator.basics.clusters import Cluster
from exacell.emulator.basics.names import cell_address
from exacell.emulator.basics.profiles import (
    PMEM_SINCE,
    SHARES_SINCE,
    XRMEM_SINCE,
    FlashDisks,
    HardwareModel,
    PersistentMemory,
)
from exacell.emulator.basics.rack_spec import RackSpec
from exacell.emulator.basics.schema import Release
from exacell.emulator.cell.cache_kinds import FLASH_LOG_BYTES, memory_name, pmem_log_bytes
from exacell.emulator.cell.cache_models import CacheMember, FlashCache, FlashLog, MemoryCache
from exacell.emulator.cell.disk_models import CellDisk, DiskType, GridDisk, Lun, PhysicalDisk
from exacell.emulator.cell.iorm_models import Directive, IormPlan
from exacell.emulator.cell.models import Cell
from exacell.emulator.cell.space import log_share
from exacell.emulator.io.block_io import data_io
from exacell.emulator.io.database_io import growth, watched
from exacell.emulator.io.surroundings import Around
from exacell.emulator.io.workload import redo_writes
from exacell.emulator.metrics.metric_store import MetricStore
from exacell.emulator.metrics.metrics import CellMetrics

DAY = 86400.0
DEPLOYED_DAYS, BOOTED_DAYS = 40, 12
DISK_PREFIX = {DiskType.HARD: "CD", DiskType.FLASH: "FD", DiskType.CAPACITY: "FD", DiskType.PMEM: "PM"}
"""First part of a cell disk's name, by medium. Source: reference cellcli.md 6.9."""

_REDO_BEFORE = 1_800_000
"""Redo writes of a database on a new rack's cell since CELLSRV started."""


def new_id(cell: Cell, seed: int) -> str:
    """Return the GUID of the next object of a cell; cells with the same history get the same GUIDs."""
    cell.created += 1
    return guid(f"{seed}|{cell.host}|{cell.created}")


def guid(text: str) -> str:
    """Return a GUID that is derived from ``text``."""
    return str(uuid.UUID(bytes=hashlib.sha256(text.encode()).digest()[:16]))


def build_cell(
    number: int,
    spec: RackSpec,
    *,
    model: HardwareModel,
    clusters: Sequence[Cluster],
    now: float,
    release: Release,
    history: MetricStore,
) -> tuple[Cell, CellMetrics, dict[str, dict[str, float]]]:
    """Return the n-th cell of a new rack, its counters, and each database's part of them."""
    host, seed = f"exa1cel{number:02d}", spec.seed
    rng = random.Random(f"{seed}|build|{host}")
    deployed = now - DEPLOYED_DAYS * DAY + number * 97
    cell = Cell(
        host=host,
        name=host,
        ip=cell_address(number),
        id=f"{1100 + number * 7}FMM{seed % 1000:03d}{number:02d}",
        mode="WriteBack" if spec.mode == "writeback" else "WriteThrough",
        boot_time=now - BOOTED_DAYS * DAY - number * 61,
        cellsrv_start=now - BOOTED_DAYS * DAY - number * 61 + 140,
        physical_disks={},
        luns={},
        cell_disks={},
        grid_disks={},
        flash_cache=None,
        flash_log=None,
        iorm=IormPlan(objective="auto", db_plan=_db_plan(spec.db, release)),
    )
    _add_hard_disks(cell, model, rng, deployed, seed)
    _add_flash_disks(cell, model.flash, DiskType.FLASH, model.hard.disks, rng, deployed, seed)
    if model.capacity is not None:
        _add_flash_disks(cell, model.capacity, DiskType.CAPACITY, model.hard.disks, rng, deployed, seed)
    if not model.extreme_flash:
        _add_grid_disks(cell, model, clusters, deployed, seed)
    _add_flash_log_and_cache(cell, model, deployed, seed)
    if model.extreme_flash:
        _add_grid_disks(cell, model, clusters, deployed, seed)
    _fill_cache(cell, model, rng)
    if model.memory_cache and release >= XRMEM_SINCE:
        cell.memory_cache = new_memory_cache(cell, model.memory_cache, seed=seed, now=cell.cellsrv_start)
        cell.memory_cache.used_bytes = int(model.memory_cache * rng.uniform(0.6, 0.8)) // KIB * KIB
    if model.pmem is not None and release >= PMEM_SINCE:
        _add_pmem(cell, model.pmem, rng, deployed, seed)
        _add_pmem_cache(
            cell, model.pmem, rng, release, "WriteBack" if spec.pmem == "writeback" else "WriteThrough", seed
        )
    metrics = CellMetrics(past=f"{seed}|{host}", collections=history.of(host))
    metrics.collections.forget_after(float("-inf"))
    return cell, metrics, _run_before(cell, metrics, spec.db, rng, now)


def _add_flash_log_and_cache(cell: Cell, model: HardwareModel, deployed: float, seed: int) -> None:
    """Create flash log and flash cache on all flash disks, as the deployment does."""
    disks = [disk.name for disk in cell.flash_disks()]
    cell.flash_log = FlashLog(
        name=f"{cell.host}_FLASHLOG",
        id=new_id(cell, seed),
        creation_time=deployed + 900,
        members=dict.fromkeys(disks, log_share(FLASH_LOG_BYTES, len(disks))),
    )
    cell.flash_cache = FlashCache(
        name=f"{cell.host}_FLASHCACHE",
        id=new_id(cell, seed),
        creation_time=deployed + 960,
        members={name: CacheMember(cell_disk=name, size_bytes=_cache_bytes(cell, model, name)) for name in disks},
    )


def _run_before(
    cell: Cell, metrics: CellMetrics, databases: Sequence[str], rng: random.Random, now: float
) -> dict[str, dict[str, float]]:
    """Count the databases' work since the cell started, and return it as database → counter → amount."""
    caused: dict[str, dict[str, float]] = {}
    days = Around(moment=now, minutes=BOOTED_DAYS * 24 * 60)
    for database in databases:
        before = watched(metrics.counters)
        redo_writes(rng, cell, metrics.counters, database, _REDO_BEFORE + rng.randrange(_REDO_BEFORE), around=days)
        data_io(rng, cell, metrics.counters, database, _REDO_BEFORE + rng.randrange(_REDO_BEFORE), around=days)
        caused[database] = growth(metrics.counters, before)
    return caused


def new_memory_cache(cell: Cell, size_bytes: int, *, seed: int, now: float) -> MemoryCache:
    """Return an empty XRMEMCACHE in a cell's memory."""
    return MemoryCache(name=f"{cell.name}_XRMEMCACHE", id=new_id(cell, seed), creation_time=now, size_bytes=size_bytes)


def _add_pmem(cell: Cell, pmem: PersistentMemory, rng: random.Random, deployed: float, seed: int) -> None:
    """Add the modules of persistent memory. Their names and places are plausible, not published."""
    for index, (processor, dimm) in enumerate(pmem.places):
        device, lun, name = f"/dev/dax{processor}.{index}", f"P{processor}_D{dimm}", f"PMEM_{processor}_{dimm}"
        disk = f"{DISK_PREFIX[DiskType.PMEM]}_{index:02d}_{cell.host}"
        cell.physical_disks[name] = PhysicalDisk(
            name=name,
            disk_type=DiskType.PMEM,
            device_name=device,
            device_id="",
            lun=lun,
            make_model=pmem.make_model,
            firmware=pmem.firmware,
            serial=f"8089-a2-{new_serial(rng)}",
            size_bytes=pmem.physical,
            slot=f"CPU: {processor}; DIMM: {dimm}",
            interface="",
            rpm=0,
            insert_time=deployed - DAY + 120 + index,
        )
        cell.luns[lun] = Lun(
            name=lun,
            disk_type=DiskType.PMEM,
            device_name=device,
            size_bytes=pmem.physical,
            physical_disk=name,
            cell_disk=disk,
            is_system=False,
        )
        cell.cell_disks[disk] = CellDisk(
            name=disk,
            size_bytes=pmem.cell_disk,
            disk_type=DiskType.PMEM,
            lun=lun,
            physical_disk=name,
            device_name=device,
            device_partition=device,
            creation_time=deployed + 120 + index,
            id=new_id(cell, seed),
        )


def _add_pmem_cache(
    cell: Cell, pmem: PersistentMemory, rng: random.Random, release: Release, mode: str, seed: int
) -> None:
    """Add the log and the cache on persistent memory: the log first, because the cache takes the rest."""
    disks = [disk.name for disk in cell.usable_disks(DiskType.PMEM)]
    memory = memory_name(release)
    cell.pmem_mode = mode
    cell.pmem_log = FlashLog(
        name=f"{cell.name}_{memory}LOG",
        id=new_id(cell, seed),
        creation_time=cell.boot_time - DAY,
        members=dict.fromkeys(disks, log_share(pmem_log_bytes(release), len(disks))),
    )
    cell.pmem_cache = FlashCache(
        name=f"{cell.name}_{memory}CACHE",
        id=new_id(cell, seed),
        creation_time=cell.boot_time - DAY + 60,
        members={name: CacheMember(cell_disk=name, size_bytes=cell.free_space(name)) for name in disks},
    )
    for member in cell.pmem_cache.members.values():
        used = member.size_bytes * pmem.used_percent / 100 * rng.uniform(0.97, 1.03)
        member.used_bytes = int(used) // KIB * KIB
        dirty = pmem.dirty / len(disks) * rng.uniform(0.9, 1.1) if cell.pmem_write_back else 0.0
        member.dirty_bytes = int(dirty) // KIB * KIB


def _cache_bytes(cell: Cell, model: HardwareModel, disk: str) -> int:
    """Return the bytes of a flash disk that the cache has on delivery: all free space, or the model's share of it."""
    percent = model.cache.share_percent
    free = cell.free_space(disk)
    return free if percent == 100 else round_down(cell.cell_disks[disk].size_bytes * percent // 100)


def _db_plan(databases: Sequence[str], release: Release) -> tuple[Directive, ...]:
    """Return the IORM plan of a new rack: the first database is preferred and limited, the second is not cached; a DEFAULT.

    The plan is empty for releases that know no shares.
    """
    if release < SHARES_SINCE:
        return ()
    first = [Directive((("name", databases[0]), ("share", "8"), ("limit", "80")))]
    second = [Directive((("name", name), ("share", "4"), ("flashcache", "off"))) for name in databases[1:2]]
    return (*first, *second, Directive((("name", "default"), ("share", "1"))))


def _fill_cache(cell: Cell, model: HardwareModel, rng: random.Random) -> None:
    """Fill the cache and make it dirty as far as the model's data say, unevenly over its disks."""
    cache = cell.flash_cache
    if cache is None:
        return
    dirty = model.cache.dirty * rng.uniform(0.85, 1.2) / len(cache.members) if cell.write_back else 0.0
    for member in cache.members.values():
        used = member.size_bytes * model.cache.used_percent / 100 * rng.uniform(0.97, 1.03)
        member.used_bytes = int(used) // KIB * KIB
        member.dirty_bytes = int(dirty * rng.uniform(0.9, 1.1)) // KIB * KIB


def _device(kind: str, index: int) -> str:
    if kind == "nvme":
        return f"/dev/nvme{index}n1"
    letters = "abcdefghijklmnopqrstuvwxyz"
    return f"/dev/sd{letters[index]}" if index < 26 else f"/dev/sd{letters[index // 26 - 1]}{letters[index % 26]}"


def new_serial(rng: random.Random) -> str:
    """Return the serial number of a new disk."""
    return "".join(rng.choice("0123456789ABCDEFGHJKLMNPQRSTUVWXYZ") for _ in range(6))


def _add_hard_disks(cell: Cell, model: HardwareModel, rng: random.Random, deployed: float, seed: int) -> None:
    hard = model.hard
    for slot in range(hard.disks):
        device, lun, name = _device("sd", slot), f"0_{slot}", f"{hard.enclosure}:{slot}"
        system = slot < 2 and hard.system_cell_disk != hard.cell_disk
        disk = f"CD_{slot:02d}_{cell.host}"
        cell.physical_disks[name] = PhysicalDisk(
            name=name,
            disk_type=DiskType.HARD,
            device_name=device,
            device_id=str(19 - slot),
            lun=lun,
            make_model=hard.make_model,
            firmware="0B25",
            serial=new_serial(rng),
            size_bytes=hard.physical,
            slot=str(slot),
            interface=hard.interface,
            rpm=hard.rpm,
            insert_time=deployed - DAY + slot,
        )
        cell.luns[lun] = Lun(
            name=lun,
            disk_type=DiskType.HARD,
            device_name=device,
            size_bytes=hard.lun,
            physical_disk=name,
            cell_disk=disk,
            is_system=system,
        )
        cell.cell_disks[disk] = CellDisk(
            name=disk,
            size_bytes=hard.system_cell_disk if system else hard.cell_disk,
            disk_type=DiskType.HARD,
            lun=lun,
            physical_disk=name,
            device_name=device,
            device_partition=f"{device}3" if system else device,
            creation_time=deployed + slot,
            id=new_id(cell, seed),
        )


def _add_flash_disks(
    cell: Cell, flash: FlashDisks, kind: DiskType, hard: int, rng: random.Random, deployed: float, seed: int
) -> None:
    first = 0 if flash.device == "nvme" else hard + 1
    before = sum(disk.disk_type.is_flash for disk in cell.cell_disks.values())
    for index, (slot, fdom) in enumerate(flash.places, before):
        device, lun, name = _device(flash.device, first + index), f"{slot}_{fdom}", f"FLASH_{slot}_{fdom}"
        disk = f"FD_{index:02d}_{cell.host}"
        cell.physical_disks[name] = PhysicalDisk(
            name=name,
            disk_type=kind,
            device_name=device,
            device_id="",
            lun=lun,
            make_model=flash.make_model,
            firmware=flash.firmware,
            serial=f"10{new_serial(rng)}",
            size_bytes=flash.physical,
            slot=f"PCI Slot: {slot}; FDOM: {fdom}",
            interface="",
            rpm=0,
            insert_time=deployed - DAY + 60 + index,
        )
        cell.luns[lun] = Lun(
            name=lun,
            disk_type=kind,
            device_name=device,
            size_bytes=flash.lun,
            physical_disk=name,
            cell_disk=disk,
            is_system=False,
        )
        cell.cell_disks[disk] = CellDisk(
            name=disk,
            size_bytes=flash.cell_disk,
            disk_type=kind,
            lun=lun,
            physical_disk=name,
            device_name=device,
            device_partition=device,
            creation_time=deployed + 60 + index,
            id=new_id(cell, seed),
        )


def _add_grid_disks(cell: Cell, model: HardwareModel, clusters: Sequence[Cluster], deployed: float, seed: int) -> None:
    medium = DiskType.CAPACITY if model.capacity else DiskType.FLASH if model.extreme_flash else DiskType.HARD
    parts = [(prefix, size, cluster) for prefix, size in model.grid_disks.items() for cluster in clusters]
    for order, (prefix, size, cluster) in enumerate(parts):
        for disk in list(cell.cell_disks.values()):
            if disk.disk_type is not medium:
                continue
            name = f"{prefix}{cluster.suffix}_{disk.name}"
            cell.grid_disks[name] = GridDisk(
                name=name,
                cell_disk=disk.name,
                size_bytes=size if len(clusters) == 1 else round_down(size // len(clusters)),
                offset=cell.next_offset(disk.name),
                disk_type=medium,
                creation_time=deployed + 300 + 60 * order,
                id=new_id(cell, seed),
                caching_policy="default" if order < len(clusters) else "none",
                available_to=cluster.clients,
            )
