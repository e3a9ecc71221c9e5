"""The objects that have metrics on a cell, and the base values of each at a collection.

Base values are the input of the rules of :mod:`exacell.emulator.metrics.rules`: the cumulative metrics of an object under their
own names, computed by dividing the cell's counters among its disks, databases and hosts. The shares always add up to the whole.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from exacell.core.units import KIB, MIB
from exacell.emulator.cell.disk_models import DiskType, GridDisk
from exacell.emulator.io.device_io import CAPACITY, FLASH, HARD, RECEIVED, SENT, share
from exacell.emulator.io.iorm_queues import waits
from exacell.emulator.io.network_errors import host_errors, port_errors, server_errors
from exacell.emulator.metrics.ambient import ambient
from exacell.emulator.metrics.bases import KINDS, CacheBase, Columns, DiskBase, MediumColumns
from exacell.emulator.metrics.collection import Collection
from exacell.emulator.metrics.iorm import WAIT_PART, IormBases, allocated_in_memory, iorm_objects
from exacell.emulator.metrics.metrics import CellMetrics
from exacell.emulator.metrics.rules import DISKS, Base
from exacell.emulator.metrics.scene import IB_PORTS, INFINIBAND_PORTS, MEDIA, ROCE_PORTS, Scene
from exacell.emulator.metrics.scrubbing import READ_US

_SPARSE_AT_FIRST = 0.02
"""Share of a sparse grid disk that is allocated when it is created."""


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
        case "HOST_INTERCONNECT":
            return sorted(scene.hosts)
        case "IBPORT":
            return list(IB_PORTS) if scene.infiniband else []
        case "DEVICE":
            return [] if scene.infiniband else list(ROCE_PORTS)
        case "NETDEV_QUEUE":
            return [] if scene.infiniband else [f"{port}.{queue}" for port in ROCE_PORTS for queue in (0, 5)]
        case "NET_INTERFACE":
            return sorted(("eth0", *(INFINIBAND_PORTS if scene.infiniband else ROCE_PORTS)))
        case "DISKGROUP":
            return sorted(scene.disk_groups())
        case "PMEMCACHE" | "XRMEMCACHE":
            return [object_type] if object_type == f"{scene.memory}CACHE" else []
        case _:
            return iorm_objects(object_type, scene) or []


class Bases:
    """The base values of a cell's objects at one collection.

    Args:
        moment: a whole minute; the collection is that of this minute, or the last one before it that is stored.
    """

    def __init__(self, scene: Scene, metrics: CellMetrics, collection: Collection, moment: float) -> None:
        self._scene = scene
        self._metrics = metrics
        self._collection = collection
        self._moment = moment
        self._disks = scene.disks
        self._media: dict[tuple[str, str, float], MediumColumns] = {}
        iorm = IormBases(scene, collection)
        self._makers: Mapping[str, Callable[[str], Base]] = {
            "FLASHCACHE": lambda name: CacheBase(collection.values, iorm.kept_share()),
            "FLASHLOG": lambda name: collection.values,
            "SMARTIO": lambda name: {**collection.values, **iorm.scans_of_pdbs()},
            "CELLDISK": self._cell_disk,
            "GRIDDISK": self._grid_disk,
            "DISK": self._device,
            "DISKGROUP": self._disk_group,
            "INPUTOUTPUT": self._queues,
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
            **iorm.makers,
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
        medium = MEDIA[self._scene.cell.cell_disks[disk].disk_type]
        disks = self._disks[medium]
        return medium, disks.index(disk), len(disks)

    def _cell_disk(self, name: str) -> Base:
        values = self._collection.values
        medium, index, count = self._medium(name)
        errors = share(values.get(f"{medium}.ERRS", 0), index, count)
        other = {
            "CD_BY_FC_DIRTY": values.get(f"CD_BY_FC_DIRTY|{name}", 0.0),
            "CD_IO_ERRS": self._scene.cell.cell_disks[name].error_count + errors,
        }
        scrubbed = 0
        if medium == HARD:
            disk = self._scene.cell.cell_disks[name]
            scrubbed = self._scene.scrub.read(disk, self._moment)
            other |= {
                "CD_IO_BY_R_SCRUB": scrubbed,
                "CD_IO_RQ_R_SCRUB": scrubbed,
                "CD_IO_TM_R_SCRUB": scrubbed * READ_US,
                "CD_IO_ERRS_SCRUB": self._scene.scrub.errors(disk, self._moment),
            }
        busy = {"RQ": scrubbed, "TM": scrubbed * READ_US, "TM_LG": scrubbed * READ_US}
        return DiskBase(self._columns("CD", medium, self._collection), index, other, more=busy)

    def _grid_disk(self, name: str) -> Base:
        """Return the base of a grid disk. All I/O of a disk behind the cache goes to its outermost grid disk."""
        scene, values, cell = self._scene, self._collection.values, self._scene.cell
        disk = cell.grid_disks[name]
        base: dict[str, float] = {"GD_BY_FC_DIRTY": values.get(f"GD_BY_FC_DIRTY|{name}", 0.0)}
        cell_disk = cell.cell_disks[disk.cell_disk]
        if cell_disk.disk_type is DiskType.HARD:
            base["GD_IO_BY_R_SCRUB"] = base["GD_IO_RQ_R_SCRUB"] = scene.scrub.read(cell_disk, self._moment, part=disk)
            base["GD_IO_ERRS_SCRUB"] = scene.scrub.errors(cell_disk, self._moment, part=disk)
        if not disk.disk_type.is_cached or cell.grid_disks_on(disk.cell_disk)[0].name != name:
            return base if disk.virtual_size is None else {**base, **_sparse(disk, base)}
        medium, index, count = self._medium(disk.cell_disk)
        base["GD_IO_ERRS"] = share(values.get(f"{medium}.ERRS", 0), index, count)
        before: MediumColumns | None = None
        if disk.creation_time > self._metrics.begin and self._moment >= disk.creation_time:
            # Its counters began when it was created; earlier I/O of the disk belongs to a grid disk that no longer exists.
            earlier = self._metrics.at(disk.creation_time)
            if earlier.server_epoch == self._collection.server_epoch:
                before = self._columns("GD", medium, earlier)
        if disk.caching_policy == "default":
            base["HITS"], base["MISSES"] = values.get("FC_IO_RQ_R", 0), values.get("FC_IO_RQ_R_MISS", 0)
        found = DiskBase(self._columns("GD", medium, self._collection), index, base, before)
        return found if disk.virtual_size is None else {**found, **_sparse(disk, found)}

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
        if medium == HARD:
            scrubbed = self._scene.scrub.read(self._scene.cell.cell_disks[self._scene.by_device[name]], self._moment)
            for suffix in ("", "_R"):
                for what, each in (("RQ", 1), ("KB", KIB), ("MS", READ_US / 1000), ("TM", READ_US)):
                    base[what + suffix] += scrubbed * each
        for kind in ("R", "W"):
            base[f"OS_IO_BY_{kind}"] = base[f"KB_{kind}"] / KIB
            base[f"OS_IO_RQ_{kind}"] = base[f"RQ_{kind}"]
        return base

    def _queues(self, name: str) -> Base:
        """Return the milliseconds that requests of each kind have waited in IORM's queues."""
        base: dict[str, float] = {}
        for device, media in (("HDD", (HARD,)), ("FLASH", (FLASH, CAPACITY))):
            for kind, size in KINDS:
                values = self._collection.values
                times = (int(values.get(f"{medium}.{kind}_{size}.TM", 0)) for medium in media)
                more = sum(int(values.get(waits("", medium, f"{kind}_{size}"), 0)) for medium in media)
                base[f"EXW_IORM_RQ_{kind}_{size}_QUEUE_{device}"] = sum(times) // WAIT_PART + more
            base[f"EXW_IORM_RQ_QUEUE_{device}"] = sum(
                base[f"EXW_IORM_RQ_{kind}_{size}_QUEUE_{device}"] for kind, size in KINDS
            )
        return base

    def _disk_group(self, name: str) -> Base:
        power, since = self._scene.disk_groups().get(name, (0, 0.0))
        return {"REBAL_POWER": power if self._moment >= since else 0}

    def _memory_cache(self, name: str) -> Base:
        values = self._collection.values
        return {**values, "XRM_BY_ALLOCATED": allocated_in_memory(values)}

    # -- the cell and its network ----------------------------------------------------------------------------------

    def _host(self, name: str) -> Base:
        values, hosts = self._collection.values, sorted(self._scene.hosts)
        index = hosts.index(name)
        return {
            "N_MB_SENT": share(values.get(SENT, 0), index, len(hosts)) / KIB,
            "N_MB_RECEIVED": share(values.get(RECEIVED, 0), index, len(hosts)) / KIB,
            **host_errors(values, index, len(hosts)),
        }

    def _port(self, name: str) -> Base:
        """Return the base of one of two RDMA ports, or of its queues or interface; the admin network has no traffic."""
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
            **port_errors(self._collection.values, index, 2),
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
            **server_errors(values),
            "CL_IO_RQ_NODATA": values.get("CL_IO_RQ_NODATA", 0),
            **ambient(
                f"{scene.seed}|{scene.cell.host}|{int(self._moment)}",
                cpus=scene.cpus,
                memory_gb=scene.memory_gb,
                fans=scene.fans,
                objective=scene.cell.iorm.objective,
                requests_per_second=requests / 60.0,
            ),
        }


def _sparse(disk: GridDisk, base: Base) -> dict[str, float]:
    """Return the allocated space of a sparse grid disk, and the reads that its own data could not serve.

    Writes allocate space; the parent serves a third of the reads, and both together serve one in fifty.
    """
    written = base.get("GD_IO_BY_W_SM", 0) + base.get("GD_IO_BY_W_LG", 0)
    allocated = min(disk.size_bytes / MIB, disk.size_bytes / MIB * _SPARSE_AT_FIRST + written)
    requests = base.get("GD_IO_RQ_R_SM", 0) + base.get("GD_IO_RQ_R_LG", 0)
    read_bytes = (base.get("GD_IO_BY_R_SM", 0) + base.get("GD_IO_BY_R_LG", 0)) * MIB
    return {
        "GD_SP_BY_ALLOCATED": allocated,
        "GD_SP_PRCT_ALLOCATED": 100.0 * allocated * MIB / disk.size_bytes,
        "GD_SP_IO_BY_REDIRECTED": int(read_bytes / 3),
        "GD_SP_IO_BY_PARTIAL": int(read_bytes / 50),
        "GD_SP_IO_RQ_PARTIAL": int(requests / 50),
    }
