"""The rows of the V$ASM views at this moment, for the instance that is asked.

A row is a mapping by column; columns that it leaves out are 0 or NULL (see :mod:`database.views`). Values follow reference
asm.md sections 3 to 6 (Oracle Database Reference).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from types import MappingProxyType

from exacell.core.units import MIB
from exacell.emulator.asm.attributes import ATTRIBUTES, visible
from exacell.emulator.asm.create import visible as discovered
from exacell.emulator.asm.instance import Asm, drop_time
from exacell.emulator.asm.instances import Instance
from exacell.emulator.basics.versions import version_text
from exacell.emulator.io.device_io import share
from exacell.emulator.sql.values import Value, from_epoch
from exacell.emulator.storage.databases import Database
from exacell.emulator.storage.disk_groups import AsmDisk, DiskGroup, DiskMode, HeaderStatus

COMPOUND = 1 << 24
"""The upper byte of a compound index is the group number."""


def _sees(instance: Instance, group: DiskGroup) -> bool:
    """Return whether an instance shows a group: an ASM instance if it mounts it, a database if it has files in it."""
    if instance.node not in group.mounted:
        return False
    return instance.database is None or instance.database in instance.asm.clients(group, instance.node)


def disk_groups(instance: Instance) -> Iterator[Mapping[str, Value]]:
    """Yield the rows of V$ASM_DISKGROUP: the groups mounted here, then the other groups that discovery finds, with zeros."""
    asm = instance.asm
    seen = {header.group for (cell, name), header in asm.headers.items() if asm.reachable(cell, name)}
    for group in sorted(asm.groups.values(), key=lambda g: (instance.node not in g.mounted, g.number, g.name)):
        if instance.node not in group.mounted:
            if group.name in seen:
                none = "0.0.0.0.0"
                yield {
                    "NAME": group.name,
                    "STATE": "DISMOUNTED",
                    "COMPATIBILITY": none,
                    "DATABASE_COMPATIBILITY": none,
                    "VOTING_FILES": "N",
                }
            continue
        state = "RESTRICTED" if instance.node in group.restricted else "MOUNTED"
        if instance.database is not None and _sees(instance, group):
            state = "CONNECTED"
        by_fail_group = asm.mirror_by_fail_group
        total, free = group.total_mb, group.free_mb
        yield {
            "GROUP_NUMBER": group.number,
            "NAME": group.name,
            "SECTOR_SIZE": int(group.attributes["sector_size"]),
            "LOGICAL_SECTOR_SIZE": int(group.attributes["logical_sector_size"]),
            "BLOCK_SIZE": 4096,
            "ALLOCATION_UNIT_SIZE": group.au_bytes,
            "STATE": state,
            "TYPE": group.redundancy.value,
            "TOTAL_MB": total,
            "FREE_MB": free,
            "COLD_USED_MB": total - free,
            "REQUIRED_MIRROR_FREE_MB": group.required_mirror_free_mb(by_fail_group=by_fail_group),
            "USABLE_FILE_MB": group.usable_file_mb(by_fail_group=by_fail_group),
            "OFFLINE_DISKS": group.offline_disks,
            "COMPATIBILITY": group.attributes["compatible.asm"],
            "DATABASE_COMPATIBILITY": group.attributes["compatible.rdbms"],
            "VOTING_FILES": "Y" if group.voting_files else "N",
        }


def disks(instance: Instance) -> Iterator[Mapping[str, Value]]:
    """Yield the rows of V$ASM_DISK: first the disks that are in no group mounted here, then the members."""
    asm = instance.asm
    shown = {group.name: group for group in asm.groups.values() if _sees(instance, group)}
    found = {(disk.cell, disk.name): disk for disk in discovered(asm)}
    members = {
        (d.cell, d.grid_disk) for g in shown.values() for d in g.disks.values() if d.mode is not DiskMode.OFFLINE
    }
    if instance.database is None:
        free = [disk for key, disk in found.items() if key not in members]
        for number, disk in enumerate(free):
            header = asm.header(disk.cell, disk.name)
            yield {
                **_DISK_DEFAULTS,
                "GROUP_NUMBER": 0,
                "DISK_NUMBER": number,
                "COMPOUND_INDEX": number,
                "INCARNATION": 0,
                "MOUNT_STATUS": "CLOSED",
                "HEADER_STATUS": header.status.value if header else HeaderStatus.CANDIDATE.value,
                "MODE_STATUS": "ONLINE",
                "STATE": "NORMAL",
                "OS_MB": disk.size_mb,
                "TOTAL_MB": 0,
                "FREE_MB": 0,
                "PATH": disk.path,
                "CREATE_DATE": None,
            }
    for group in sorted(shown.values(), key=lambda g: g.number):
        used, counted, voting = group.used_by_disk(), group_io(asm, group), _voting(group)
        for index, member in enumerate(sorted(group.disks.values(), key=lambda d: d.number)):
            present = found.get((member.cell, member.grid_disk))
            row = _member_row(instance, group, member, used[member.name], present.size_mb if present else None)
            yield {
                **row,
                "VOTING_FILE": "Y" if member.number in voting else "N",
                **counted.of_disk(index, len(group.disks), used[member.name]),
            }


def client_io(instance: Instance) -> Iterator[Mapping[str, Value]]:
    """Yield the rows of V$ASM_DISK_IOSTAT: the I/O of each client of this ASM instance on each disk.

    A database shows its own rows only; its I/O is spread evenly over its instances. Source: Oracle Database Reference.
    """
    asm, nodes = instance.asm, len(instance.asm.nodes)
    for group in own_groups(instance):
        for database in asm.clients(group, instance.node):
            if instance.database not in (None, database):
                continue
            counted = group_io(asm, group, database).part(instance.node, nodes)
            for index, disk in enumerate(sorted(group.disks.values(), key=lambda d: d.number)):
                yield {
                    **counted.of_disk(index, len(group.disks), 0),
                    "INSTNAME": f"{database.name}{instance.node + 1}",
                    "DBNAME": database.name,
                    "CLUSTERNAME": cluster_name(asm),
                    "GROUP_NUMBER": group.number,
                    "DISK_NUMBER": disk.number,
                    "FAILGROUP": disk.fail_group,
                    "PREFERRED_READ": "U",
                }


def cluster_name(asm: Asm) -> str:
    """Return the name of the clusterware's cluster."""
    return f"{asm.rack.spec.name}-{asm.cluster.name if asm.cluster.suffix else 'cluster'}"


_DISK_DEFAULTS: Mapping[str, Value] = MappingProxyType(
    {
        "REDUNDANCY": "UNKNOWN",
        "LIBRARY": "CELL",
        "PREFERRED_READ": "U",
        "VOTING_FILE": "N",
        "SECTOR_SIZE": 512,
        "LOGICAL_SECTOR_SIZE": 512,
        "FAILGROUP_TYPE": "REGULAR",
        "SITE_STATUS": "UNKNOWN",
        "SITE_GUID": "0" * 32,
    }
)


def _member_row(
    instance: Instance, group: DiskGroup, disk: AsmDisk, used_mb: int, os_mb: int | None
) -> Mapping[str, Value]:
    asm, offline = instance.asm, disk.mode is DiskMode.OFFLINE
    timer = 0
    if offline and disk.offline_since is not None:
        timer = max(0, int(drop_time(group, disk) - asm.now()))
    on_asm = instance.database is None
    header = HeaderStatus.MEMBER.value if on_asm and not offline else "UNKNOWN"
    # A lost disk has no path; one that an operator took offline is still there but is not opened.
    lost = offline and os_mb is None
    return {
        **_DISK_DEFAULTS,
        "GROUP_NUMBER": group.number,
        "DISK_NUMBER": disk.number,
        "COMPOUND_INDEX": group.number * COMPOUND + disk.number,
        "INCARNATION": 0xE0000000 + group.number * 4096 + disk.number,
        "MOUNT_STATUS": "MISSING" if offline else "CACHED" if on_asm else "OPENED",
        "HEADER_STATUS": header,
        "MODE_STATUS": disk.mode.value,
        "STATE": disk.state.value,
        "OS_MB": 0 if os_mb is None else os_mb,
        "TOTAL_MB": disk.size_mb,
        "FREE_MB": disk.size_mb - used_mb,
        "COLD_USED_MB": used_mb,
        "NAME": disk.name,
        "FAILGROUP": disk.fail_group,
        "PATH": None if lost or offline else asm.path(disk),
        "CREATE_DATE": from_epoch(disk.created),
        "MOUNT_DATE": from_epoch(max(disk.created, asm.started)),
        "REPAIR_TIMER": timer,
        "FAILGROUP_TYPE": "QUORUM" if disk.quorum else "REGULAR",
    }


def _voting(group: DiskGroup) -> set[int]:
    """Return the numbers of the disks with a voting file."""
    return {disk.number for disk in group.voting_places} if group.voting_files else set()


def partners(instance: Instance) -> Iterator[Mapping[str, Value]]:
    """Yield the rows of X$KFDPARTNER: which disks of other failure groups hold the copies of a disk's extents.

    A disk has up to eight partners, and is a partner of each of them. It is not known which ones ASM chooses; here they are the
    disks in similar places of the other failure groups.
    """
    for group in own_groups(instance):
        if group.redundancy.copies < 2:
            continue
        for disk, others in group.partners().items():
            for other in others:
                yield {
                    "GRP": group.number,
                    "DISK": disk,
                    "COMPOUND": group.number * COMPOUND + disk,
                    "NUMBER_KFDPARTNER": other,
                    "PARITY": 1,
                    "ACTIVE_KFDPARTNER": 1,
                }


def operations(instance: Instance) -> Iterator[Mapping[str, Value]]:
    """Yield the rows of V$ASM_OPERATION; SOFAR and the estimates are only on the instance that does the work."""
    asm, now = instance.asm, instance.asm.now()
    for group in asm.groups.values():
        operation = group.operation
        if operation is None or instance.node not in group.mounted:
            continue
        working = operation.node == instance.node
        base: dict[str, Value] = {"GROUP_NUMBER": group.number, "OPERATION": "REBAL"}
        base |= {"POWER": operation.power, "ACTUAL": operation.power}
        if not working:
            passes = ("REBUILD", "REBALANCE", "COMPACT") if asm.version >= (12, 1) else ("",)
            for name in passes:
                yield {**base, "PASS": name, "STATE": "WAIT"}
            continue
        so_far, rate = operation.so_far(now), operation.rate
        minutes = -(-(operation.work - so_far) // rate) if rate else 0
        sizes: dict[str, Value] = {
            "SOFAR": so_far,
            "EST_WORK": operation.work,
            "EST_RATE": rate,
            "EST_MINUTES": minutes,
        }
        zeros: dict[str, Value] = dict.fromkeys(sizes, 0)
        if asm.version >= (12, 1):
            yield {**base, **zeros, "PASS": "REBUILD", "STATE": "DONE"}
        yield {**base, **sizes, "PASS": "REBALANCE", "STATE": "RUN" if rate else "WAIT"}
        if asm.version >= (12, 1):
            yield {**base, **zeros, "PASS": "COMPACT", "STATE": "WAIT"}


def clients(instance: Instance) -> Iterator[Mapping[str, Value]]:
    """Yield the rows of V$ASM_CLIENT."""
    asm = instance.asm
    software = version_text(asm.version)
    for group in sorted(asm.groups.values(), key=lambda g: g.number):
        if instance.node not in group.mounted:
            continue
        names = [(f"{d.name}{instance.node + 1}", d.name) for d in asm.clients(group, instance.node)]
        if instance.database is not None:
            names = [(instance.name, instance.database.name)] if _sees(instance, group) else []
        elif group.voting_files:
            names.append((f"+ASM{instance.node + 1}", "+ASM"))
        for name, database in names:
            yield {
                "GROUP_NUMBER": group.number,
                "INSTANCE_NAME": name,
                "DB_NAME": database,
                "CLUSTER_NAME": cluster_name(asm),
                "STATUS": "CONNECTED",
                "SOFTWARE_VERSION": software,
                "COMPATIBLE_VERSION": software,
            }


def own_groups(instance: Instance) -> list[DiskGroup]:
    """Return the groups that an instance shows, by number."""
    groups = [group for group in instance.asm.groups.values() if _sees(instance, group)]
    return sorted(groups, key=lambda group: group.number)


def files(instance: Instance) -> Iterator[Mapping[str, Value]]:
    """Yield the rows of V$ASM_FILE."""
    for group in own_groups(instance):
        for file in sorted(group.files, key=lambda f: f.number):
            copies = {1: "UNPROT", 2: "MIRROR"}.get(file.copies, "HIGH")
            yield {
                "GROUP_NUMBER": group.number,
                "FILE_NUMBER": file.number,
                "COMPOUND_INDEX": group.number * COMPOUND + file.number,
                "INCARNATION": file.incarnation,
                "BLOCK_SIZE": file.block_size,
                "BLOCKS": -(-file.size_bytes // file.block_size),
                "BYTES": file.size_bytes,
                "SPACE": file.units(group.au_bytes) * group.au_bytes,
                "TYPE": file.kind,
                "REDUNDANCY": copies,
                "STRIPED": "FINE" if file.kind == "CONTROLFILE" else "COARSE",
                "CREATION_DATE": from_epoch(file.created),
                "MODIFICATION_DATE": from_epoch(max(file.created, instance.asm.now() // 3600 * 3600)),
                "REDUNDANCY_LOWERED": "N",
                "PERMISSIONS": "rw-rw-rw-",
            }


def aliases(instance: Instance) -> Iterator[Mapping[str, Value]]:
    """Yield the rows of V$ASM_ALIAS: directories and files."""
    for group in own_groups(instance):
        root = group.number * COMPOUND
        index = 0
        places: dict[tuple[str, ...], int] = {(): root}
        for file in sorted(group.files, key=lambda f: (f.directories, f.number)):
            for depth in range(1, len(file.directories) + 1):
                path: tuple[str, ...] = file.directories[:depth]
                if path not in places:
                    index += 53
                    places[path] = root + index
                    yield _alias(group, path[-1], None, index, places[path[:-1]], root + index)
            index += 1
            name = (file.alias, file.number, file.incarnation)
            yield _alias(group, name[0], name, index, places[file.directories], root + COMPOUND - 1)


def _alias(
    group: DiskGroup, name: str, file: tuple[str, int, int] | None, index: int, parent: int, reference: int
) -> Mapping[str, Value]:
    return {
        "NAME": name,
        "GROUP_NUMBER": group.number,
        "FILE_NUMBER": file[1] if file else 4294967295,
        "FILE_INCARNATION": file[2] if file else 4294967295,
        "ALIAS_INDEX": index,
        "ALIAS_INCARNATION": 3 if file is None else 5,
        "PARENT_INDEX": parent,
        "REFERENCE_INDEX": reference,
        "ALIAS_DIRECTORY": "N" if file else "Y",
        "SYSTEM_CREATED": "Y",
    }


def attributes(instance: Instance) -> Iterator[Mapping[str, Value]]:
    """Yield the rows of V$ASM_ATTRIBUTE."""
    for group in own_groups(instance):
        for index, (name, value) in enumerate(visible(group.attributes)):
            fixed = ATTRIBUTES[name].when != "both"
            yield {
                "NAME": name,
                "VALUE": value,
                "GROUP_NUMBER": group.number,
                "ATTRIBUTE_INDEX": index,
                "ATTRIBUTE_INCARNATION": 1,
                "READ_ONLY": "Y" if fixed else "N",
                "SYSTEM_CREATED": "Y",
            }


_TEMPLATES = (
    "ARCHIVELOG ASMPARAMETERFILE AUTOBACKUP BACKUPSET CHANGETRACKING CONTROLFILE DATAFILE DATAGUARDCONFIG DUMPSET"
    " FLASHBACK OCRFILE ONLINELOG PARAMETERFILE TEMPFILE XTRANSPORT"
)
"""Templates that every disk group has. Source: Oracle ASM Administrator's Guide, "Managing Disk Group Templates"."""


def templates(instance: Instance) -> Iterator[Mapping[str, Value]]:
    """Yield the rows of V$ASM_TEMPLATE: control files are striped finely and have three copies in a NORMAL group; other files are
    not.
    """
    for group in own_groups(instance):
        mirrored = {1: "UNPROT", 2: "MIRROR"}.get(group.redundancy.copies, "HIGH")
        for number, name in enumerate(_TEMPLATES.split()):
            control = name == "CONTROLFILE"
            yield {
                "GROUP_NUMBER": group.number,
                "ENTRY_NUMBER": 60 + number,
                "REDUNDANCY": "HIGH" if control and group.redundancy.copies > 1 else mirrored,
                "STRIPE": "FINE" if control else "COARSE",
                "SYSTEM": "Y",
                "NAME": name,
                "PRIMARY_REGION": "COLD",
                "MIRROR_REGION": "COLD",
            }


_DATA = "DATAFILE"
_FILLED = {"READS": 3, "WRITES": 2}
"""Requests of one megabyte for each megabyte on a disk, before any load has run."""
_SMALL_S, _LARGE_S = Decimal("0.0006"), Decimal("0.0098")
"""Seconds for a normal request of a database, and for a request of one megabyte: made up."""


@dataclass(frozen=True)
class GroupIo:
    """Requests and bytes that the databases have read from a group and written to it; all copies count."""

    reads: int
    bytes_read: int
    writes: int
    bytes_written: int

    def of_disk(self, index: int, count: int, used_mb: int) -> dict[str, int | Decimal]:
        """Return the counters of the index-th of ``count`` disks, which holds ``used_mb`` MB."""
        filling = {name: used_mb * each for name, each in _FILLED.items()}
        counted = {"READS": share(self.reads, index, count), "WRITES": share(self.writes, index, count)}
        return {
            **{name: filling[name] + counted[name] for name in counted},
            "READ_TIME": filling["READS"] * _LARGE_S + counted["READS"] * _SMALL_S,
            "WRITE_TIME": filling["WRITES"] * _LARGE_S + counted["WRITES"] * _SMALL_S,
            "BYTES_READ": filling["READS"] * MIB + share(self.bytes_read, index, count),
            "BYTES_WRITTEN": filling["WRITES"] * MIB + share(self.bytes_written, index, count),
        }

    def part(self, index: int, count: int) -> GroupIo:
        """Return the index-th of ``count`` even shares."""
        amounts = (self.reads, self.bytes_read, self.writes, self.bytes_written)
        return GroupIo(*(share(amount, index, count) for amount in amounts))


def group_io(asm: Asm, group: DiskGroup, only: Database | None = None) -> GroupIo:
    """Return the requests and bytes that all databases, or only one of them, have read and written in a group.

    A database's requests go to the groups that hold its data files, in proportion to their sizes, and there evenly to all disks;
    a write goes to as many of them as there are copies.
    """
    reads = bytes_read = writes = bytes_written = 0.0
    for database in asm.databases.values() if only is None else (only,):
        counted = asm.statistics(database)
        everywhere = sum(_data_bytes(other, database.name) for other in asm.groups.values())
        if not counted or not everywhere:
            continue
        part = _data_bytes(group, database.name) / everywhere
        reads += part * counted.get("physical read total IO requests", 0)
        bytes_read += part * counted.get("physical read total bytes", 0)
        writes += part * counted.get("physical write total IO requests", 0)
        bytes_written += part * counted.get("physical write total bytes", 0)
    copies = group.redundancy.copies
    return GroupIo(int(reads), int(bytes_read), int(writes) * copies, int(bytes_written) * copies)


def _data_bytes(group: DiskGroup, database: str) -> int:
    return sum(file.size_bytes for file in group.files if file.kind == _DATA and file.database == database)
