"""The ASM that all database nodes of an emulated rack share: disk groups over the cells' grid disks.

State is plain (see :mod:`storage.disk_groups`); nothing waits for time to pass: :meth:`Asm.settle` brings every operation up
to the rack's clock before each answer. ASM reads the state of grid disks from the cells.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from exacell.core.units import MIB
from exacell.emulator.asm.attributes import repair_seconds
from exacell.emulator.basics.clusters import Cluster
from exacell.emulator.basics.schema import release_of
from exacell.emulator.basics.versions import Version
from exacell.emulator.state.asm_view import AsmDiskView
from exacell.emulator.storage.databases import Database, database_from_state, database_to_state
from exacell.emulator.storage.disk_groups import (
    AsmDisk,
    AsmFile,
    DiskGroup,
    DiskMode,
    DiskState,
    Header,
    HeaderStatus,
    Operation,
    group_from_state,
    group_to_state,
)
from exacell.emulator.work.sessions import WorkingRack

if TYPE_CHECKING:
    from exacell.emulator.cell.disk_models import GridDisk

SYNC_SECONDS = 40.0
"""Rack seconds from OFFLINE through SYNCING to ONLINE for a grid disk that is active again."""

_GLANCE_SECONDS, _QUIET_SECONDS = 5.0, 60.0
"""Rack seconds for which a cell's question about a grid disk is answered without looking at all cells again: the first while an
operation runs in a disk group, the second while none runs. Changes by cells or statements are noticed at once.
"""

_READABLE = ("active", "proactive failure")
"""Status of grid disks that ASM reads and writes; a disk that is about to fail is used until its data has been moved."""

CANNOT_DEACTIVATE = "Cannot de-activate due to other offline disks in the diskgroup"
"""Source: reference cellcli.md section 3.3, GRIDDISK asmDeactivationOutcome."""


@dataclass(frozen=True, kw_only=True)
class Discovered:
    """A grid disk that ASM sees. ``path`` is ``o/<cell's address>/<grid disk>``."""

    cell: str
    fail_group: str
    name: str
    path: str
    size_mb: int
    flash: bool
    created: float


def drop_time(group: DiskGroup, disk: AsmDisk) -> float:
    """Return the rack time at which ASM drops an offline disk; infinite for a disk that is online.

    For a whole failure group the shorter of its two times counts: Oracle's releases differ in which one they use.
    """
    if disk.offline_since is None:
        return float("inf")
    if disk.drop_after is not None:
        return disk.offline_since + disk.drop_after
    times = [disk_repair_time(group) if disk.repair is None else disk.repair]
    whole = all(d.mode is DiskMode.OFFLINE for d in group.disks.values() if d.fail_group == disk.fail_group)
    if whole and (failgroup := group.attributes.get("failgroup_repair_time")):
        times.append(repair_seconds(failgroup))
    return disk.offline_since + min(times)


def disk_repair_time(group: DiskGroup) -> float:
    """Return the seconds that a disk which goes offline now may stay offline."""
    return repair_seconds(group.attributes.get("disk_repair_time", "3.6h"))


class Asm:
    """One ASM cluster over all nodes of a rack.

    Attributes:
        groups: disk groups by name.
        headers: ASM's header on each grid disk, by (cell, grid disk); a disk without a header is a CANDIDATE.
        databases: by unique name.
        parameters: ``asm_diskstring`` and ``asm_power_limit``.
        resources: names of the disk groups that have a clusterware resource.
        mirror_by_fail_group: how REQUIRED_MIRROR_FREE_MB is counted, see :mod:`storage.disk_groups`.
    """

    def __init__(
        self, rack: WorkingRack, cluster: Cluster | None = None, headers: dict[tuple[str, str], Header] | None = None
    ) -> None:
        """Make an ASM cluster without disk groups.

        Args:
            cluster: the cluster of the rack that it belongs to; None for the first.
            headers: shared by all clusters of a rack.
        """
        self.rack = rack
        self.cluster = cluster or rack.clusters[0]
        self.groups: dict[str, DiskGroup] = {}
        self.headers: dict[tuple[str, str], Header] = {} if headers is None else headers
        self.databases: dict[str, Database] = {}
        self.parameters = {"asm_diskstring": "o/*/*", "asm_power_limit": "4"}
        self.resources: set[str] = set()
        self.started = rack.clock.now()
        self.mirror_by_fail_group = False
        self._glanced: tuple[float, list[str], float] | None = None
        self._impaired: dict[str, set[str]] = {}

    @classmethod
    def from_state(
        cls,
        rack: WorkingRack,
        state: dict[str, Any],
        cluster: Cluster | None = None,
        headers: dict[tuple[str, str], Header] | None = None,
    ) -> Asm:
        """Return the ASM that :meth:`to_state` stored, attached to ``rack``."""
        asm = cls(rack, cluster, headers)
        asm.groups = {row["name"]: group_from_state(row) for row in state["groups"]}
        for row in state["headers"]:
            header = Header(**{**row["header"], "status": HeaderStatus(row["header"]["status"])})
            asm.headers[row["cell"], row["grid_disk"]] = header
        asm.databases = {row["name"]: database_from_state(row) for row in state["databases"]}
        asm.parameters = dict(state["parameters"])
        asm.resources = set(state["resources"])
        asm.started = state["started"]
        asm.mirror_by_fail_group = state["mirror_by_fail_group"]
        rack.asm = asm
        return asm

    def to_state(self) -> dict[str, Any]:
        """Return everything as JSON-able data."""
        return {
            "groups": [group_to_state(group) for group in self.groups.values()],
            "headers": [
                {"cell": cell, "grid_disk": name, "header": asdict(header)}
                for (cell, name), header in self.headers.items()
            ],
            "databases": [database_to_state(database) for database in self.databases.values()],
            "parameters": self.parameters,
            "resources": sorted(self.resources),
            "started": self.started,
            "mirror_by_fail_group": self.mirror_by_fail_group,
        }

    # -- looking ----------------------------------------------------------------------------------------------------

    def now(self) -> float:
        """Return the rack's time in epoch seconds."""
        return self.rack.clock.now()

    @property
    def nodes(self) -> tuple[str, ...]:
        """Return the cluster's database nodes; the index of a node is the number of its instances minus one."""
        return self.cluster.nodes

    @property
    def version(self) -> Version:
        """Return the release of the ASM instances and databases, chosen to go with the cells' release."""
        release = release_of(self.rack.spec.release)
        if release < (12,):
            return (11, 2, 0, 4, 0)
        if release < (18,):
            return (12, 1, 0, 2, 0) if release < (12, 2) else (12, 2, 0, 1, 0)
        return (18, 0, 0, 0, 0) if release < (19,) else (19, 0, 0, 0, 0)

    def discover(self) -> Iterator[Discovered]:
        """Yield every grid disk that ASM sees now, by cell and name."""
        for host, cell in self.rack.cells.items():
            if not cell.cellsrv_up:
                continue
            for name, disk in sorted(cell.grid_disks.items()):
                if self._offered(disk):
                    yield Discovered(
                        cell=host,
                        fail_group=cell.name.upper().replace("-", "_"),
                        name=name,
                        path=f"o/{cell.ip}/{name}",
                        size_mb=disk.size_bytes // MIB,
                        flash=disk.disk_type.is_flash,
                        created=disk.creation_time,
                    )

    def _offered(self, disk: GridDisk) -> bool:
        return disk.status in _READABLE and self.cluster.may_use(disk.available_to)

    def reachable(self, cell: str, grid_disk: str) -> bool:
        """Return whether ASM can read and write a grid disk now."""
        found = self.rack.cells.get(cell)
        if found is None or not found.cellsrv_up:
            return False
        disk = found.grid_disks.get(grid_disk)
        return disk is not None and self._offered(disk)

    def path(self, disk: AsmDisk) -> str:
        """Return the path of a member disk."""
        return f"o/{self.rack.cells[disk.cell].ip}/{disk.grid_disk}"

    def header(self, cell: str, grid_disk: str) -> Header | None:
        """Return ASM's header of a grid disk; None for a CANDIDATE."""
        return self.headers.get((cell, grid_disk))

    def clients(self, group: DiskGroup, node: int) -> list[Database]:
        """Return the databases whose instance on a node has files of a mounted group open."""
        if node not in group.mounted:
            return []
        owners = {file.database for file in group.files}
        return [database for name, database in self.databases.items() if name in owners]

    def statistics(self, database: Database) -> Mapping[str, float]:
        """Return a database's own statistics, summed over all its nodes since it started: value by name."""
        found = (amounts for name, amounts in self.rack.statistics.items() if name.upper() == database.name)
        return next(found, {})

    def own_statistics(self, database: Database, node: str) -> Mapping[str, float]:
        """Return the statistics that a database's user sessions have counted on one node: value by name."""
        counted = self.rack.work.counted
        return next((own.get(node, {}) for name, own in counted.items() if name.upper() == database.name), {})

    # -- what cells ask ---------------------------------------------------------------------------------------------

    def disk(self, cell: str, griddisk: str) -> AsmDiskView | None:
        """Return what ASM knows of a grid disk; None when it has never been in a disk group."""
        self._glance()
        header = self.header(cell, griddisk)
        if header is None:
            return None
        group = self.groups.get(header.group)
        found = group.disk_of(cell, griddisk) if group is not None else None
        if group is None or found is None:
            return AsmDiskView(
                disk_group=header.group,
                disk_group_type=header.redundancy,
                disk_name=header.disk,
                fail_group=header.fail_group,
                mode_status="DROPPED",
                deactivation_outcome="Yes",
                size_bytes=None,
            )
        mounted = bool(group.mounted)
        if group.name not in self._impaired:
            self._impaired[group.name] = group.impaired_fail_groups()
        safe = not mounted or group.may_lose(found.fail_group, self._impaired[group.name])
        return AsmDiskView(
            disk_group=group.name,
            disk_group_type=group.redundancy.value,
            disk_name=found.name,
            fail_group=found.fail_group,
            mode_status=found.mode.value if mounted else "UNKNOWN",
            deactivation_outcome="Yes" if safe else CANNOT_DEACTIVATE,
            size_bytes=found.size_mb * MIB,
            rebalance=(group.operation.power, group.operation.since) if group.operation is not None else (0, 0.0),
        )

    def uses(self, cell: str, griddisk: str) -> bool:
        """Return whether a grid disk is a member of one of the cluster's disk groups."""
        header = self.header(cell, griddisk)
        group = self.groups.get(header.group) if header is not None else None
        return group is not None and group.disk_of(cell, griddisk) is not None

    def grid_disk_changed(self, cell: str, griddisk: str, what: str) -> None:
        """Update disk groups after a change of a grid disk or the disk below it; ``what`` is one of :class:`AsmView`'s words."""
        self._glanced = None
        header = self.header(cell, griddisk)
        if header is not None and header.group in self.groups:
            _disk_came(self, cell, griddisk, what)
        if what in ("dropped", "created"):
            self.headers.pop((cell, griddisk), None)
        group = self.groups.get(header.group) if header is not None else None
        disk = group.disk_of(cell, griddisk) if group is not None else None
        if group is None or disk is None or not group.mounted:
            return
        self._impaired.pop(group.name, None)
        self._settle_disk(group, disk, self.now())
        if disk.mode is DiskMode.OFFLINE and not self._survives(group):
            self.unmount(group, list(group.mounted))
        elif what in ("failed", "failing"):
            _lose(self, group, disk, force=what == "failed")

    def _glance(self) -> None:
        """Settle disks and rebalances, but only once for all the grid disks that a single LIST asks about."""
        # Called for each grid disk of each cell: comparing the states themselves is the quickest check.
        now, up = self.now(), [cell.services["CELLSRV"] for cell in self.rack.cells.values()]
        if self._glanced is not None and self._glanced[1] == up and 0 <= now - self._glanced[0] < self._glanced[2]:
            return
        self.settle()
        quiet = all(group.quiet for group in self.groups.values() if group.mounted)
        self._glanced = (now, up, _QUIET_SECONDS if quiet else _GLANCE_SECONDS)

    # -- time -------------------------------------------------------------------------------------------------------

    def settle(self) -> None:
        """Bring disks and rebalances of all mounted groups up to the rack's clock and the cells' present state."""
        # A caller that is not a cell may be about to change something.
        self._glanced = None
        now = self.now()
        for group in self.groups.values():
            self._settle_group(group, now)

    def _settle_group(self, group: DiskGroup, now: float) -> None:
        self._impaired.pop(group.name, None)
        if not group.mounted:
            return
        for disk in group.disks.values():
            self._settle_disk(group, disk, now)
        self._settle_operation(group, now)
        if not self._survives(group):
            self.unmount(group, list(group.mounted))

    def _settle_disk(self, group: DiskGroup, disk: AsmDisk, now: float) -> None:
        if not self._still_there(group, disk):
            if disk.mode is not DiskMode.OFFLINE:
                disk.mode, disk.offline_since, disk.sync_ends = DiskMode.OFFLINE, now, None
                disk.repair = disk_repair_time(group)
            elif disk.state is DiskState.NORMAL and now >= drop_time(group, disk):
                self.force_out(group, disk, now)
        elif disk.kept_offline and disk.state is DiskState.NORMAL and now >= drop_time(group, disk):
            self.force_out(group, disk, now)
        elif disk.mode is DiskMode.OFFLINE and not disk.kept_offline and disk.state is DiskState.NORMAL:
            disk.mode, disk.sync_ends = DiskMode.SYNCING, now + SYNC_SECONDS
        if disk.mode is DiskMode.SYNCING and disk.sync_ends is not None and now >= disk.sync_ends:
            disk.mode, disk.offline_since, disk.sync_ends, disk.drop_after = DiskMode.ONLINE, None, None, None

    def _still_there(self, group: DiskGroup, disk: AsmDisk) -> bool:
        header = self.header(disk.cell, disk.grid_disk)
        return header is not None and header.group == group.name and self.reachable(disk.cell, disk.grid_disk)

    def force_out(self, group: DiskGroup, disk: AsmDisk, now: float) -> None:
        """Begin to drop an offline disk: its data is rebuilt from the other copies."""
        disk.state = DiskState.FORCING
        self.start_rebalance(group, now, node=group.mounted[0])

    def _settle_operation(self, group: DiskGroup, now: float) -> None:
        operation = group.operation
        ends = operation.ends() if operation else None
        if operation is None or ends is None or now < ends:
            return
        group.operation = None
        for disk in list(group.disks.values()):
            if disk.state is DiskState.ADDING:
                disk.state = DiskState.NORMAL
            elif disk.state in (DiskState.DROPPING, DiskState.FORCING):
                header = self.header(disk.cell, disk.grid_disk)
                if header is not None and header.group == group.name and disk.state is DiskState.DROPPING:
                    header.status = HeaderStatus.FORMER
                del group.disks[disk.name]

    @staticmethod
    def _survives(group: DiskGroup) -> bool:
        lost = {d.fail_group for d in group.disks.values() if d.mode is DiskMode.OFFLINE and not d.quorum}
        return len(lost) < group.redundancy.copies

    def start_rebalance(self, group: DiskGroup, now: float, *, node: int, power: int | None = None) -> None:
        """Start the rebalance of a mounted group; one that runs is restarted with all that is to do now.

        Args:
            power: None means ASM_POWER_LIMIT.
        """
        moving = [disk for disk in group.disks.values() if disk.state is not DiskState.NORMAL]
        used = group.used_by_disk()
        share = sum(used[disk.name] for disk in moving) // group.au_mb
        even = group.used_units // max(1, len(group.disks)) * sum(d.state is DiskState.ADDING for d in moving)
        limit = int(self.parameters["asm_power_limit"]) if power is None else power
        group.operation = Operation(node=node, power=limit, work=max(1, share, even), since=now)

    # -- mounting ---------------------------------------------------------------------------------------------------

    def mount(self, group: DiskGroup, node: int, *, restricted: bool = False) -> None:
        """Mount a group on one node; its number is the lowest that no other mounted group has."""
        if not group.mounted:
            taken = {other.number for other in self.groups.values() if other.mounted}
            group.number = next(number for number in range(1, len(taken) + 2) if number not in taken)
        group.mounted = sorted({*group.mounted, node})
        if restricted:
            group.restricted = sorted({*group.restricted, node})
        self.resources.add(group.name)

    def unmount(self, group: DiskGroup, nodes: list[int]) -> None:
        """Dismount a group on these nodes."""
        group.mounted = [node for node in group.mounted if node not in nodes]
        group.restricted = [node for node in group.restricted if node not in nodes]
        if not group.mounted:
            group.number = 0
            group.operation = None
        elif group.operation is not None and group.operation.node in nodes:
            group.operation.node = group.mounted[0]

    def add_file(self, group: DiskGroup, file: AsmFile) -> str:
        """Add a file to a group and return its complete name."""
        group.files.append(file)
        group.next_file = max(group.next_file, file.number + 1)
        return f"+{group.name}/{'/'.join(file.directories)}/{file.alias}"


# -- disks that cells lose --------------------------------------------------------------------------------------------
# Source: Oracle SAGUG, handling-disk-replacement; Oracle DBMMN, replacing-hard-disk-due-disk-failure and
# replacing-hard-disk-due-disk-problems.


def _lose(asm: Asm, group: DiskGroup, disk: AsmDisk, *, force: bool) -> None:
    """Drop a disk of a mounted group; with ``force`` if none of its data can be read any more.

    The disk stays a member if the other disks have no room for its data.
    """
    used = sum(group.used_by_disk().values())
    staying = [d for d in group.disks.values() if d is not disk and d.state is DiskState.NORMAL]
    if disk.state is not DiskState.NORMAL or sum(d.size_mb for d in staying) < used:
        return
    header = asm.header(disk.cell, disk.grid_disk)
    if header is not None:
        header.lost = True
    disk.state = DiskState.FORCING if force or disk.mode is not DiskMode.ONLINE else DiskState.DROPPING
    asm.start_rebalance(group, asm.now(), node=group.mounted[0])


def _disk_came(asm: Asm, cell: str, grid_disk: str, what: str) -> None:
    """Add a grid disk to its disk group again: a lost disk that is well again, or the replacement of a member.

    A replacement of a disk whose grid disk was no longer a member gets no header: it counts as never used.
    """
    header = asm.headers[cell, grid_disk]
    group = asm.groups[header.group]
    old = group.disk_of(cell, grid_disk)
    if what == "replaced" and not header.lost and (old is None or not group.mounted):
        if old is not None or header.status is HeaderStatus.FORMER:
            del asm.headers[cell, grid_disk]
    elif (what == "replaced" or (what == "active" and header.lost)) and asm.reachable(cell, grid_disk):
        _add_again(asm, group, header, cell, grid_disk)


def _add_again(asm: Asm, group: DiskGroup, header: Header, cell: str, grid_disk: str) -> None:
    old = group.disk_of(cell, grid_disk)
    if not group.mounted or (old is None and header.disk in group.disks):
        return
    number = 1 + max((disk.number for disk in group.disks.values()), default=-1) if old is None else old.number
    group.disks[header.disk] = AsmDisk(
        number=number,
        name=header.disk,
        fail_group=header.fail_group,
        cell=cell,
        grid_disk=grid_disk,
        size_mb=asm.rack.cells[cell].grid_disks[grid_disk].size_bytes // MIB // group.au_mb * group.au_mb,
        created=asm.now(),
        state=DiskState.ADDING,
    )
    header.status, header.lost = HeaderStatus.MEMBER, False
    asm.start_rebalance(group, asm.now(), node=group.mounted[0])
