"""Disk groups, disks, files and operations of an emulated ASM: plain data and its arithmetic.

Space is counted in MB and allocation units as the views show it (source: reference asm.md sections 4, 6 and 7).
"""

from __future__ import annotations

from collections.abc import Set
from dataclasses import asdict, dataclass, field, fields
from enum import StrEnum
from typing import Any

from exacell.core.units import MIB

FIRST_FILE_NUMBER = 256
"""The first number of a database file; lower numbers are ASM's own metadata."""

MOST_PARTNERS = 8
"""The most partners that a disk has."""


class Redundancy(StrEnum):
    """The redundancy of a disk group, as V$ASM_DISKGROUP.TYPE spells it."""

    EXTERN = "EXTERN"
    NORMAL = "NORMAL"
    HIGH = "HIGH"
    FLEX = "FLEX"
    EXTEND = "EXTEND"

    @property
    def voting_files(self) -> int:
        """Return how many voting files such a group holds, each in its own failure group. Source: reference asm.md 4."""
        return {Redundancy.EXTERN: 1, Redundancy.HIGH: 5}.get(self, 3)

    @property
    def copies(self) -> int:
        """Return the number of copies of a data extent; 2 for FLEX and EXTENDED groups, the default of their files."""
        return {Redundancy.EXTERN: 1, Redundancy.HIGH: 3}.get(self, 2)

    @property
    def least_fail_groups(self) -> int:
        """Return the least number of regular failure groups. Source: reference asm.md section 4."""
        return {Redundancy.EXTERN: 1, Redundancy.NORMAL: 2}.get(self, 3)


class DiskMode(StrEnum):
    """The values of V$ASM_DISK.MODE_STATUS."""

    ONLINE = "ONLINE"
    OFFLINE = "OFFLINE"
    SYNCING = "SYNCING"


class DiskState(StrEnum):
    """The values of V$ASM_DISK.STATE for a disk in a mounted group."""

    NORMAL = "NORMAL"
    ADDING = "ADDING"
    DROPPING = "DROPPING"
    FORCING = "FORCING"


class HeaderStatus(StrEnum):
    """The values of V$ASM_DISK.HEADER_STATUS that grid disks can have."""

    CANDIDATE = "CANDIDATE"
    MEMBER = "MEMBER"
    FORMER = "FORMER"


@dataclass(kw_only=True)
class Header:
    """ASM's header on a grid disk: the ASM disk and the group to which it belongs or belonged.

    Attributes:
        lost: the cell asked ASM to drop it because its disk failed; it is added again when the disk is back.
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
        size_mb: MB of the grid disk that ASM uses, a multiple of the allocation unit.
        offline_since: rack time; None while it is online.
        sync_ends: rack time at which a SYNCING disk is ONLINE again.
        drop_after: seconds given by OFFLINE … DROP AFTER; None means the disk group's own.
        repair: disk_repair_time in seconds when it went offline; a later change of the attribute does not count for it.
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
        bigfile: whether its tablespace is one of a single large file.
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
    bigfile: bool = False

    @property
    def alias(self) -> str:
        """Return the file's name in its directory, ``SYSTEM.256.1123456789``."""
        return f"{self.tag}.{self.number}.{self.incarnation}"

    @property
    def directories(self) -> tuple[str, str]:
        """Return the names of the two directories above the file, the database's and the type's."""
        return self.database, self.kind

    def units(self, au_bytes: int) -> int:
        """Return the number of allocation units of all copies."""
        return -(-self.size_bytes // au_bytes) * self.copies


@dataclass(kw_only=True)
class Operation:
    """A rebalance that is running.

    Attributes:
        node: index of the node whose instance does the work.
        work: allocation units to move in total.
        done: units moved until the rack time ``since``; later ones follow from the time and the power.
        power: the rebalance power; with 0 nothing moves.
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
        """Return the allocation units moved in a rack minute."""
        return self.power * self.UNITS_PER_MINUTE

    def so_far(self, now: float) -> int:
        """Return the units moved by ``now``."""
        return min(self.work, int(self.done + max(0.0, now - self.since) / 60 * self.rate))

    def ends(self) -> float | None:
        """Return the rack time at which it ends; None while the power is 0."""
        return self.since + (self.work - self.done) / self.rate * 60 if self.rate else None

    def set_power(self, power: int, now: float) -> None:
        """Change the power from ``now`` on."""
        self.done, self.since, self.power = self.so_far(now), now, power


@dataclass(kw_only=True)
class DiskGroup:
    """A disk group and everything in it.

    Attributes:
        number: GROUP_NUMBER on the instances that mount it; 0 while no instance mounts it.
        mounted: indexes of the nodes whose instances mount it.
        restricted: indexes of the nodes that mount it RESTRICTED.
        attributes: values as V$ASM_ATTRIBUTE shows them.
        voting_files: whether it holds the cluster's voting files.
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
        """Return the disks for voting files: the first disk of each failure group, as many as the redundancy needs."""
        first: dict[str, AsmDisk] = {}
        for disk in sorted(self.disks.values(), key=lambda d: d.number):
            first.setdefault(disk.fail_group, disk)
        return tuple(first.values())[: self.redundancy.voting_files]

    @property
    def au_mb(self) -> int:
        """Return the allocation unit in MB."""
        return self.au_bytes // MIB

    @property
    def used_units(self) -> int:
        """Return the allocation units of all files and of ASM's own metadata.

        One unit a disk and three a group are metadata. Source: the published lsdg of reference asm.md section 7 (48
        disks, allocation unit 4M, 204 MB used in an empty group).
        """
        return sum(file.units(self.au_bytes) for file in self.files) + len(self.disks) + 3

    @property
    def total_mb(self) -> int:
        """Return TOTAL_MB: raw MB over the disks that are not lost."""
        return sum(disk.size_mb for disk in self.disks.values() if disk.mode is not DiskMode.OFFLINE)

    @property
    def free_mb(self) -> int:
        """Return FREE_MB: raw MB."""
        used = self.used_by_disk()
        return sum(d.size_mb - used[d.name] for d in self.disks.values() if d.mode is not DiskMode.OFFLINE)

    @property
    def offline_disks(self) -> int:
        """Return OFFLINE_DISKS."""
        return sum(disk.mode is DiskMode.OFFLINE for disk in self.disks.values())

    @property
    def quiet(self) -> bool:
        """Return whether nothing changes by time alone: no operation runs, and all disks are ONLINE and NORMAL."""
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
        """Return the names of the regular (or the quorum) failure groups with disks that are not being dropped."""
        leaving = (DiskState.DROPPING, DiskState.FORCING)
        return {d.fail_group for d in self.disks.values() if d.quorum == quorum and d.state not in leaving}

    def impaired_fail_groups(self) -> set[str]:
        """Return the failure groups with a disk that is not ONLINE."""
        return {disk.fail_group for disk in self.disks.values() if disk.mode is not DiskMode.ONLINE}

    def may_lose(self, fail_group: str, impaired: Set[str] | None = None) -> bool:
        """Return whether disks of ``fail_group`` may go offline without losing data.

        Args:
            impaired: :meth:`impaired_fail_groups` when the caller knows them already.
        """
        known = self.impaired_fail_groups() if impaired is None else impaired
        return len(known - {fail_group}) + 1 < self.redundancy.copies

    def partners(self) -> dict[int, list[int]]:
        """Return the numbers of each disk's partners: disks in nearby places of other failure groups. Partnership is mutual."""
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
        """Return the disk on a grid disk; None if no disk of this group is there."""
        found = self.disks.get(grid_disk.upper())
        if found is not None and (found.cell, found.grid_disk) == (cell, grid_disk):
            return found
        return next((d for d in self.disks.values() if (d.cell, d.grid_disk) == (cell, grid_disk)), None)


def group_to_state(group: DiskGroup) -> dict[str, Any]:
    """Return a group as JSON-able data."""
    return asdict(group)


def group_from_state(state: dict[str, Any]) -> DiskGroup:
    """Return the group that :func:`group_to_state` stored; fields that groups no longer have are ignored."""
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
