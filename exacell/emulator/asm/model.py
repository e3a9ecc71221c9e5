"""The things that an emulated ASM is made of: disk groups, disks, files, operations. Plain data and its arithmetic.

Space is counted in MB and allocation units as the views show it (source: reference asm.md sections 4, 6 and 7).
"""

from __future__ import annotations

from collections.abc import Set
from dataclasses import asdict, dataclass, field, fields
from enum import StrEnum
from typing import Any

from exacell.core.units import MIB

FIRST_FILE_NUMBER = 256
"""File numbers below are ASM's own metadata."""

MOST_PARTNERS = 8
"""Partners of a disk at most."""


class Redundancy(StrEnum):
    """How V$ASM_DISKGROUP.TYPE spells the redundancy of a group."""

    EXTERN = "EXTERN"
    NORMAL = "NORMAL"
    HIGH = "HIGH"
    FLEX = "FLEX"
    EXTEND = "EXTEND"

    @property
    def voting_files(self) -> int:
        """How many voting files such a group holds, each in a failure group of its own. Source: reference asm.md 4."""
        return {Redundancy.EXTERN: 1, Redundancy.HIGH: 5}.get(self, 3)

    @property
    def copies(self) -> int:
        """How many copies of a data extent there are; FLEX and EXTENDED groups count as two, their files' default."""
        return {Redundancy.EXTERN: 1, Redundancy.HIGH: 3}.get(self, 2)

    @property
    def least_fail_groups(self) -> int:
        """How many regular failure groups it takes at least. Source: reference asm.md section 4."""
        return {Redundancy.EXTERN: 1, Redundancy.NORMAL: 2}.get(self, 3)


class DiskMode(StrEnum):
    """V$ASM_DISK.MODE_STATUS."""

    ONLINE = "ONLINE"
    OFFLINE = "OFFLINE"
    SYNCING = "SYNCING"


class DiskState(StrEnum):
    """V$ASM_DISK.STATE of a disk in a mounted group."""

    NORMAL = "NORMAL"
    ADDING = "ADDING"
    DROPPING = "DROPPING"
    FORCING = "FORCING"


class HeaderStatus(StrEnum):
    """V$ASM_DISK.HEADER_STATUS as far as grid disks have it."""

    CANDIDATE = "CANDIDATE"
    MEMBER = "MEMBER"
    FORMER = "FORMER"


@dataclass(kw_only=True)
class Header:
    """What stands on a grid disk: which ASM disk of which group it is or was.

    Attributes:
        lost: the cell had ASM drop it because its disk failed, and gives it back when the disk is back.
    """

    status: HeaderStatus
    group: str
    disk: str
    fail_group: str
    redundancy: str
    lost: bool = False


@dataclass(kw_only=True)
class AsmDisk:
    """One disk of a group.

    Attributes:
        cell: host name of its cell.
        size_mb: what ASM uses of the grid disk, a multiple of the allocation unit.
        offline_since: rack time; None while it is online.
        sync_ends: rack time at which a SYNCING disk is ONLINE again.
        drop_after: seconds that OFFLINE … DROP AFTER gave it; None takes the disk group's.
        repair: seconds of disk_repair_time when it went offline; a new value is for disks that go offline later.
        kept_offline: ALTER DISKGROUP … OFFLINE was given, so it does not come back by itself.
    """

    number: int
    name: str
    fail_group: str
    cell: str
    grid_disk: str
    size_mb: int
    created: float
    quorum: bool = False
    state: DiskState = DiskState.NORMAL
    mode: DiskMode = DiskMode.ONLINE
    offline_since: float | None = None
    sync_ends: float | None = None
    kept_offline: bool = False
    drop_after: float | None = None
    repair: float | None = None


@dataclass(kw_only=True)
class AsmFile:
    """One file of a group.

    Attributes:
        kind: DATAFILE, ONLINELOG, … as V$ASM_FILE.TYPE and the alias directory spell it.
        database: the unique name of the database it belongs to, ``ASM`` for the cluster's own files.
        tag: the first part of the system alias, for example the tablespace.
        copies: 1, 2 or 3.
    """

    number: int
    incarnation: int
    kind: str
    database: str
    tag: str
    size_bytes: int
    block_size: int
    copies: int
    created: float

    @property
    def alias(self) -> str:
        """The file's name in its directory, ``SYSTEM.256.1123456789``."""
        return f"{self.tag}.{self.number}.{self.incarnation}"

    @property
    def directories(self) -> tuple[str, str]:
        """The two directories above it."""
        return self.database, self.kind

    def units(self, au_bytes: int) -> int:
        """Return the allocation units of all copies."""
        return -(-self.size_bytes // au_bytes) * self.copies


@dataclass(kw_only=True)
class Operation:
    """A rebalance that runs.

    Attributes:
        node: index of the node whose instance does the work.
        work: allocation units to move in all.
        done: units moved until ``since``; from then on time counts.
        power: 0 stands still.
    """

    node: int
    power: int
    work: int
    since: float
    done: float = 0.0

    UNITS_PER_MINUTE = 1500
    """Allocation units that power 1 moves in a minute of the rack."""

    @property
    def rate(self) -> int:
        """Allocation units a rack minute."""
        return self.power * self.UNITS_PER_MINUTE

    def so_far(self, now: float) -> int:
        """Return the units moved by ``now``."""
        return min(self.work, int(self.done + max(0.0, now - self.since) / 60 * self.rate))

    def ends(self) -> float | None:
        """Return the rack time of its end, None when it stands still."""
        return self.since + (self.work - self.done) / self.rate * 60 if self.rate else None

    def set_power(self, power: int, now: float) -> None:
        """Go on with another power."""
        self.done, self.since, self.power = self.so_far(now), now, power


@dataclass(kw_only=True)
class DiskGroup:
    """A disk group and everything in it.

    Attributes:
        number: GROUP_NUMBER on the instances that mount it; 0 while none does.
        mounted: indexes of the nodes whose instances mount it.
        restricted: those that mount it RESTRICTED.
        attributes: values as V$ASM_ATTRIBUTE shows them.
        voting_files: it holds the cluster's voting files.
    """

    name: str
    redundancy: Redundancy
    au_bytes: int
    created: float
    number: int = 0
    disks: dict[str, AsmDisk] = field(default_factory=dict)
    files: list[AsmFile] = field(default_factory=list)
    attributes: dict[str, str] = field(default_factory=dict)
    mounted: list[int] = field(default_factory=list)
    restricted: list[int] = field(default_factory=list)
    operation: Operation | None = None
    next_file: int = FIRST_FILE_NUMBER
    voting_files: bool = False

    @property
    def voting_places(self) -> tuple[AsmDisk, ...]:
        """The disks on which it holds voting files, or would: the first of each failure group, as many as its kind has."""
        first: dict[str, AsmDisk] = {}
        for disk in sorted(self.disks.values(), key=lambda d: d.number):
            first.setdefault(disk.fail_group, disk)
        return tuple(first.values())[: self.redundancy.voting_files]

    @property
    def au_mb(self) -> int:
        """Allocation unit in MB."""
        return self.au_bytes // MIB

    @property
    def used_units(self) -> int:
        """Allocation units of all files and of ASM's own metadata.

        One unit a disk and three a group are metadata. Source: the published lsdg of reference asm.md section 7 (48
        disks, allocation unit 4M, 204 MB used in an empty group).
        """
        return sum(file.units(self.au_bytes) for file in self.files) + len(self.disks) + 3

    @property
    def total_mb(self) -> int:
        """TOTAL_MB: raw, over the disks that are not lost."""
        return sum(disk.size_mb for disk in self.disks.values() if disk.mode is not DiskMode.OFFLINE)

    @property
    def free_mb(self) -> int:
        """FREE_MB: raw."""
        used = self.used_by_disk()
        return sum(d.size_mb - used[d.name] for d in self.disks.values() if d.mode is not DiskMode.OFFLINE)

    @property
    def offline_disks(self) -> int:
        """OFFLINE_DISKS."""
        return sum(disk.mode is DiskMode.OFFLINE for disk in self.disks.values())

    @property
    def quiet(self) -> bool:
        """Whether time alone changes nothing: no operation runs, all disks are ONLINE and NORMAL."""
        return self.operation is None and all(
            disk.mode is DiskMode.ONLINE and disk.state is DiskState.NORMAL for disk in self.disks.values()
        )

    def used_by_disk(self) -> dict[str, int]:
        """Return the MB used on each disk by name: the group's units, spread evenly in the order of the numbers."""
        ranked = sorted(self.disks.values(), key=lambda d: d.number)
        units, rest = divmod(self.used_units, len(ranked)) if ranked else (0, 0)
        return {disk.name: (units + (place < rest)) * self.au_mb for place, disk in enumerate(ranked)}

    def required_mirror_free_mb(self, *, by_fail_group: bool = False) -> int:
        """Return REQUIRED_MIRROR_FREE_MB.

        One disk for NORMAL and two for HIGH, as on a real rack; with ``by_fail_group`` the largest failure group or
        the two largest, as generic ASM counts. Source: reference asm.md section 4.
        """
        losses = self.redundancy.copies - 1
        if by_fail_group:
            sizes: dict[str, int] = {}
            for disk in self.disks.values():
                sizes[disk.fail_group] = sizes.get(disk.fail_group, 0) + disk.size_mb
            return sum(sorted(sizes.values(), reverse=True)[:losses])
        return sum(sorted((disk.size_mb for disk in self.disks.values()), reverse=True)[:losses])

    def usable_file_mb(self, *, by_fail_group: bool = False) -> int:
        """Return USABLE_FILE_MB, rounded towards zero; it may be negative."""
        return int((self.free_mb - self.required_mirror_free_mb(by_fail_group=by_fail_group)) / self.redundancy.copies)

    def fail_groups(self, *, quorum: bool = False) -> set[str]:
        """Return the names of the regular (or the quorum) failure groups whose disks stay."""
        leaving = (DiskState.DROPPING, DiskState.FORCING)
        return {d.fail_group for d in self.disks.values() if d.quorum == quorum and d.state not in leaving}

    def impaired_fail_groups(self) -> set[str]:
        """Return the failure groups with a disk that is not ONLINE."""
        return {disk.fail_group for disk in self.disks.values() if disk.mode is not DiskMode.ONLINE}

    def may_lose(self, fail_group: str, impaired: Set[str] | None = None) -> bool:
        """Whether disks of ``fail_group`` may go offline without losing data.

        Args:
            impaired: :meth:`impaired_fail_groups` when the caller knows them already.
        """
        known = self.impaired_fail_groups() if impaired is None else impaired
        return len(known - {fail_group}) + 1 < self.redundancy.copies

    def partners(self) -> dict[int, list[int]]:
        """Return the numbers of each disk's partners: in other failure groups, in places near its own; both ways."""
        places: dict[str, list[int]] = {}
        for disk in sorted(self.disks.values(), key=lambda d: d.number):
            if not disk.quorum:
                places.setdefault(disk.fail_group, []).append(disk.number)
        found: dict[int, list[int]] = {number: [] for numbers in places.values() for number in numbers}
        reach = max(1, MOST_PARTNERS // max(1, len(places) - 1))
        offsets = [step // 2 if step % 2 else -(step // 2) for step in range(1, reach + 1)]
        for name, numbers in places.items():
            for other, theirs in places.items():
                if other <= name:
                    continue
                for place, number in enumerate(numbers):
                    for partner in {theirs[(place + offset) % len(theirs)] for offset in offsets}:
                        if max(len(found[number]), len(found[partner])) < MOST_PARTNERS:
                            found[number].append(partner)
                            found[partner].append(number)
        return {number: sorted(partners) for number, partners in sorted(found.items())}

    def disk_of(self, cell: str, grid_disk: str) -> AsmDisk | None:
        """Return the disk on a grid disk, None when it is none of this group."""
        found = self.disks.get(grid_disk.upper())
        if found is not None and (found.cell, found.grid_disk) == (cell, grid_disk):
            return found
        return next((d for d in self.disks.values() if (d.cell, d.grid_disk) == (cell, grid_disk)), None)


def group_to_state(group: DiskGroup) -> dict[str, Any]:
    """Return a group as JSON-able data."""
    return asdict(group)


def group_from_state(state: dict[str, Any]) -> DiskGroup:
    """Return the group that :func:`group_to_state` stored; what is no longer kept of a group is left out."""
    operation = state["operation"]
    kept = {part.name: state[part.name] for part in fields(DiskGroup) if part.name in state}
    return DiskGroup(
        **{
            **kept,
            "redundancy": Redundancy(state["redundancy"]),
            "disks": {
                name: AsmDisk(**{**row, "state": DiskState(row["state"]), "mode": DiskMode(row["mode"])})
                for name, row in state["disks"].items()
            },
            "files": [AsmFile(**row) for row in state["files"]],
            "operation": Operation(**operation) if operation else None,
        }
    )
