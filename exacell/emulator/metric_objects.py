"""The objects that have metrics on a cell, and the base values of each at a collection.

Base values are what the rules of :mod:`exacell.emulator.metric_rules` start from: the cumulative metrics of an object
under their own names, made by dividing the cell's counters among its disks, databases and hosts. The parts always add up
to the whole.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from exacell.emulator.ambient import ambient
from exacell.emulator.cache_kinds import memory_name
from exacell.emulator.cache_shares import cache_shares
from exacell.emulator.collection import Collection
from exacell.emulator.device_io import CAPACITY, FLASH, HARD, OTHER_DATABASE, PMEM, RECEIVED, SENT, share
from exacell.emulator.disk_models import DiskType
from exacell.emulator.metric_bases import KINDS, CacheBase, Columns, DiskBase, MediumColumns
from exacell.emulator.metric_rules import DISKS, Base
from exacell.emulator.metrics import CellMetrics
from exacell.emulator.models import Cell
from exacell.emulator.profiles import HardwareModel
from exacell.units import KIB, MIB

if TYPE_CHECKING:
    from exacell.emulator.rack import Rack

SPECIAL_DATABASES = ("ASM", OTHER_DATABASE)
"""Databases of every cell's IORM metrics. Source: reference cellcli.md 4.3."""

GROUPS = ("OTHER_GROUPS", "_ORACLE_BACKGROUND_GROUP_")
"""Consumer groups of a database without a resource plan: its sessions, and its background processes."""

_BACKGROUND = 5
"""One part in so many of a database's I/O is its background processes'."""

_WAIT_PART = 40_000
"""A request waits in IORM's queue for about a fortieth of its service time; the counter is in milliseconds."""

_MEDIA = {DiskType.HARD: HARD, DiskType.FLASH: FLASH, DiskType.CAPACITY: CAPACITY, DiskType.PMEM: PMEM}


@dataclass(frozen=True, kw_only=True)
class Scene:
    """What the metrics of one cell depend on, besides its counters.

    Attributes:
        clusters: the databases of each ASM cluster, where there are several; one alone has no name on cells.
        hosts: the database nodes.
        disk_groups: names of the disk groups that use the cell's grid disks.
        rdma: names of the RDMA network's ports, as IBPORT has them on InfiniBand, else of RoCE's interfaces.
        cpus: logical processors.
        memory_gb: the cell's memory.
        memory: what the cache in memory is called where there is one, ``PMEM`` or ``XRMEM``; else empty.
    """

    cell: Cell
    seed: int
    databases: tuple[str, ...]
    clusters: Mapping[str, tuple[str, ...]]
    hosts: tuple[str, ...]
    disk_groups: Callable[[], Sequence[str]]
    infiniband: bool
    cpus: int
    memory_gb: int
    fans: int
    memory: str

    @classmethod
    def of(cls, rack: Rack, cell: Cell) -> Scene:
        """Return the scene of one cell of a rack."""

        def disk_groups() -> list[str]:
            if rack.asm is None:
                return []
            views = (rack.asm.disk(cell.host, name) for name in cell.grid_disks)
            return sorted({view.disk_group for view in views if view is not None and view.disk_group})

        model: HardwareModel = rack.model
        return cls(
            cell=cell,
            seed=rack.spec.seed,
            databases=rack.spec.db,
            clusters={cluster.key: cluster.databases for cluster in rack.clusters if cluster.suffix},
            hosts=rack.dbnodes,
            disk_groups=disk_groups,
            infiniband=model.infiniband,
            cpus=int(model.cpu_count.partition("/")[0]),
            memory_gb=model.memory_gb,
            fans=int(model.fan_count.partition("/")[0]),
            memory=memory_name(rack.release.number) if cell.memory_cache or cell.pmem_cache else "",
        )

    @cached_property
    def disks(self) -> dict[str, list[str]]:
        """Names of the cell disks of each medium."""
        disks = sorted(self.cell.cell_disks.items())
        return {medium: [name for name, disk in disks if disk.disk_type is kind] for kind, medium in _MEDIA.items()}

    @cached_property
    def by_device(self) -> dict[str, str]:
        """Cell disks by the names of their block devices."""
        disks = (disk for disk in self.cell.cell_disks.values() if disk.disk_type is not DiskType.PMEM)
        return {disk.device_name.removeprefix("/dev/"): disk.name for disk in disks}

    @property
    def ports(self) -> tuple[str, ...]:
        """Names of the two RDMA ports as their metrics have them."""
        return IB_PORTS if self.infiniband else ROCE_PORTS


IB_PORTS = ("HCA-1:1", "HCA-1:2")
"""Source: Oracle SAGUG, alter-ibport."""

ROCE_PORTS = ("re0", "re1")
"""Names of the two RoCE interfaces. Source: Oracle DBMMN, RoCE network fabric."""


def objects_of(object_type: str, scene: Scene) -> list[str]:
    """Return the names of the objects of one metric object type, in the order in which they are listed."""
    cell = scene.cell
    match object_type:
        case "FLASHCACHE" | "FLASHLOG" | "SMARTIO":
            return [object_type]
        case "CELL" | "SERVER" | "INPUTOUTPUT" | "MEMORY":
            return [cell.name]
        case "CELL_FILESYSTEM":
            return ["/"]
        case "CELLDISK":
            return sorted(cell.cell_disks)
        case "GRIDDISK":
            return sorted(cell.grid_disks)
        case "DISK":
            return sorted(scene.by_device)
        case "IORM_DATABASE":
            return sorted((*scene.databases, *SPECIAL_DATABASES))
        case "IORM_CONSUMER_GROUP":
            return sorted(f"{database}.{group}" for database in scene.databases for group in GROUPS)
        case "IORM_CLUSTER":
            return sorted(scene.clusters)
        case "HOST_INTERCONNECT":
            return sorted(scene.hosts)
        case "IBPORT":
            return list(IB_PORTS) if scene.infiniband else []
        case "DEVICE":
            return [] if scene.infiniband else list(ROCE_PORTS)
        case "NETDEV_QUEUE":
            return [] if scene.infiniband else [f"{port}.{queue}" for port in ROCE_PORTS for queue in (0, 5)]
        case "NET_INTERFACE":
            return sorted(("eth0", *(("ib0", "ib1") if scene.infiniband else ROCE_PORTS)))
        case "DISKGROUP":
            return list(scene.disk_groups())
        case "PMEMCACHE" | "XRMEMCACHE":
            return [object_type] if object_type == f"{scene.memory}CACHE" else []
        case _:
            return []


class Bases:
    """The base values of a cell's objects at one collection.

    Args:
        moment: a whole minute; the collection is that of this minute or the last before it that differed.
    """

    def __init__(self, scene: Scene, metrics: CellMetrics, collection: Collection, moment: float) -> None:
        self._scene = scene
        self._metrics = metrics
        self._collection = collection
        self._moment = moment
        self._disks = scene.disks
        self._media: dict[tuple[str, str, float], MediumColumns] = {}
        self._makers: Mapping[str, Callable[[str], Base]] = {
            "FLASHCACHE": lambda name: CacheBase(self._collection.values),
            "FLASHLOG": lambda name: self._collection.values,
            "SMARTIO": lambda name: self._collection.values,
            "CELLDISK": self._cell_disk,
            "GRIDDISK": self._grid_disk,
            "DISK": self._device,
            "IORM_DATABASE": self._database,
            "IORM_CONSUMER_GROUP": self._consumer_group,
            "IORM_CLUSTER": self._cluster,
            "HOST_INTERCONNECT": self._host,
            "CELL": self._cell,
            "SERVER": self._cell,
            "CELL_FILESYSTEM": self._cell,
            "IBPORT": self._port,
            "NET_INTERFACE": self._port,
            "DEVICE": self._port,
            "NETDEV_QUEUE": self._port,
            "PMEMCACHE": lambda name: self._collection.values,
            "XRMEMCACHE": self._memory_cache,
        }

    def of(self, object_type: str, objects: Sequence[str]) -> Columns:
        """Return the base values of the objects of one type."""
        maker = self._makers.get(object_type)
        return Columns([{} if maker is None else maker(name) for name in objects])

    # -- disks ---------------------------------------------------------------------------------------------------

    def _columns(self, prefix: str, medium: str, collection: Collection) -> MediumColumns:
        key = prefix, medium, collection.moment
        known = self._media.get(key)
        if known is None:
            known = self._media[key] = MediumColumns(prefix, collection.values, medium, len(self._disks[medium]))
        return known

    def _medium(self, disk: str) -> tuple[str, int, int]:
        """Return the medium of a cell disk, its place among the disks of that medium, and their number."""
        medium = _MEDIA[self._scene.cell.cell_disks[disk].disk_type]
        disks = self._disks[medium]
        return medium, disks.index(disk), len(disks)

    def _cell_disk(self, name: str) -> Base:
        values = self._collection.values
        other = {
            "CD_BY_FC_DIRTY": values.get(f"CD_BY_FC_DIRTY|{name}", 0.0),
            "CD_IO_ERRS": self._scene.cell.cell_disks[name].error_count,
        }
        medium, index, _count = self._medium(name)
        return DiskBase(self._columns("CD", medium, self._collection), index, other)

    def _grid_disk(self, name: str) -> Base:
        """Return the base of a grid disk. All I/O of a disk behind the cache goes to its outermost grid disk."""
        values, cell = self._collection.values, self._scene.cell
        disk = cell.grid_disks[name]
        base: dict[str, float] = {"GD_BY_FC_DIRTY": values.get(f"GD_BY_FC_DIRTY|{name}", 0.0)}
        if not disk.disk_type.is_cached or cell.grid_disks_on(disk.cell_disk)[0].name != name:
            return base
        medium, index, _count = self._medium(disk.cell_disk)
        before: MediumColumns | None = None
        if disk.creation_time > self._metrics.begin and self._moment >= disk.creation_time:
            # Its counters began with it; what the disk did before belongs to a grid disk that is gone.
            earlier = self._metrics.at(disk.creation_time)
            if earlier.server_epoch == self._collection.server_epoch:
                before = self._columns("GD", medium, earlier)
        if disk.caching_policy == "default":
            base["HITS"], base["MISSES"] = values.get("FC_IO_RQ_R", 0), values.get("FC_IO_RQ_R_MISS", 0)
        return DiskBase(self._columns("GD", medium, self._collection), index, base, before)

    def _device(self, name: str) -> Base:
        medium, index, count = self._medium(self._scene.by_device[name])
        values = self._collection.values
        base: dict[str, float] = {DISKS: 1}
        for kind, size in KINDS:
            requests, kilobytes, time = (
                share(values.get(f"{medium}.{kind}_{size}.{what}", 0), index, count) for what in ("RQ", "KB", "TM")
            )
            for suffix in ("", f"_{kind}"):
                for what, amount in (("RQ", requests), ("KB", kilobytes), ("MS", time / 1000), ("TM", time)):
                    base[what + suffix] = base.get(what + suffix, 0) + amount
        for kind in ("R", "W"):
            base[f"OS_IO_BY_{kind}"] = base[f"KB_{kind}"] / KIB
            base[f"OS_IO_RQ_{kind}"] = base[f"RQ_{kind}"]
        return base

    # -- databases -----------------------------------------------------------------------------------------------

    def _iorm(self, prefix: str, owner: str, part: Callable[[float], int]) -> dict[str, float]:
        """Return the base of a database, or of a part of it."""
        values = self._collection.values

        def count(name: str) -> int:
            return part(values.get(f"{owner}:{name}", 0))

        base: dict[str, float] = {}
        for medium, infix in ((HARD, ""), (FLASH, "_FD"), (CAPACITY, "_CF")):
            head = f"{prefix}{infix}_IO"
            base[f"{prefix}{infix}_{DISKS}"] = len(self._disks[medium])
            base[f"{head}_BY"] = count(f"{medium}.SM.KB") / KIB + count(f"{medium}.LG.KB") / KIB
            base[f"{head}_RQ"] = base[f"{head}_TM"] = 0
            for size in ("SM", "LG"):
                requests, time = count(f"{medium}.{size}.RQ"), count(f"{medium}.{size}.TM")
                base[f"{head}_RQ_{size}"] = requests
                base[f"{head}_TM_{size}"] = time
                base[f"{head}_WT_{size}"] = time // _WAIT_PART
                base[f"{head}_RQ"] += requests
                base[f"{head}_TM"] += time
        for size in ("SM", "LG"):
            base[f"{prefix}_FC_IO_RQ_{size}"] = count(f"FC.{size}")
        base[f"{prefix}_FC_IO_RQ"] = base[f"{prefix}_FC_IO_RQ_SM"] + base[f"{prefix}_FC_IO_RQ_LG"]
        base[f"{prefix}_FC_IO_BY"] = count("FC.KB") / KIB
        return base

    def _database(self, name: str) -> Base:
        values, cell = self._collection.values, self._scene.cell
        base = self._iorm("DB", name, int)
        base["DB_FL_IO_RQ"] = values.get(f"{name}:FL.RQ", 0)
        base["DB_FL_IO_BY"] = values.get(f"{name}:FL.KB", 0) / KIB
        shares = cache_shares(cell.iorm, self._scene.databases, int(values.get("FC_BY_ALLOCATED", 0.0) * MIB))
        base["DB_FC_BY_ALLOCATED"] = shares.get(name, 0) / MIB
        remembered = [d for d in self._scene.databases if not cell.iorm.memory_off(d)]
        in_memory = allocated_in_memory(values) / len(remembered) if name in remembered else 0.0
        base["DB_PC_BY_ALLOCATED"] = base["DB_XRM_BY_ALLOCATED"] = in_memory
        return base

    def _cluster(self, name: str) -> Base:
        """Return the base of an ASM cluster: the sum of its databases'."""
        base: dict[str, float] = {}
        for database in self._scene.clusters[name]:
            own = self._database(database)
            spaces = ("FC_BY_ALLOCATED", "PC_BY_ALLOCATED", "XRM_BY_ALLOCATED")
            parts = self._iorm("CLU", database, int) | {f"CLU_{space}": own[f"DB_{space}"] for space in spaces}
            for key, amount in parts.items():
                base[key] = amount if key.endswith(DISKS) else base.get(key, 0) + amount
        return base

    def _memory_cache(self, name: str) -> Base:
        values = self._collection.values
        return {**values, "XRM_BY_ALLOCATED": allocated_in_memory(values)}

    def _consumer_group(self, name: str) -> Base:
        database, _, group = name.partition(".")
        if group == GROUPS[1]:
            return self._iorm("CG", database, lambda total: int(total) // _BACKGROUND)
        return self._iorm("CG", database, lambda total: int(total) - int(total) // _BACKGROUND)

    # -- the cell and its network ----------------------------------------------------------------------------------

    def _host(self, name: str) -> Base:
        values, hosts = self._collection.values, sorted(self._scene.hosts)
        index = hosts.index(name)
        return {
            "N_MB_SENT": share(values.get(SENT, 0), index, len(hosts)) / KIB,
            "N_MB_RECEIVED": share(values.get(RECEIVED, 0), index, len(hosts)) / KIB,
        }

    def _port(self, name: str) -> Base:
        """Return the base of one of two RDMA ports, of its queues or its interface; of the admin network it is quiet."""
        port = name.partition(".")[0]
        index = {**dict.fromkeys(("HCA-1:1", "re0", "ib0"), 0), **dict.fromkeys(("HCA-1:2", "re1", "ib1"), 1)}.get(port)
        if index is None or name.endswith(".5"):
            return {}
        sent, received = (share(self._collection.values.get(n, 0), index, 2) / KIB for n in (SENT, RECEIVED))
        return {
            "MB_SENT": sent,
            "MB_RCVD": received,
            "EXW_ROCE_PORT_XMIT_BY": sent,
            "EXW_ROCE_PORT_RCV_BY": received,
            "EXW_ROCE_TX_BY": sent,
            "EXW_ROCE_RX_BY": received,
        }

    def _cell(self, name: str) -> Base:
        values, scene = self._collection.values, self._scene
        before = self._metrics.at(self._moment - 60.0)
        known = before.values if before.server_epoch == self._collection.server_epoch else {}
        requests = sum(
            values.get(key, 0) - known.get(key, 0)
            for key in (f"{medium}.{kind}_{size}.RQ" for medium in (HARD, FLASH, CAPACITY) for kind, size in KINDS)
        )
        return {
            "MB_SENT": values.get(SENT, 0) / KIB,
            "MB_RCVD": values.get(RECEIVED, 0) / KIB,
            **ambient(
                f"{scene.seed}|{scene.cell.host}|{int(self._moment)}",
                cpus=scene.cpus,
                memory_gb=scene.memory_gb,
                fans=scene.fans,
                objective=scene.cell.iorm.objective,
                requests_per_second=requests / 60.0,
            ),
        }


def allocated_in_memory(values: Mapping[str, float]) -> float:
    """Return the megabytes that the cache in memory holds, whichever kind of memory that is."""
    return values.get("XRM_BY_ALLOCATED", values.get("PC_BY_ALLOCATED", 0.0))
