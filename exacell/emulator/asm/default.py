"""The ASM content of a new emulated rack: DATA and RECO over its hard disks, and databases with files in them.

Sizes are shares of the group, so that every hardware model gets plausible ones; they depend only on the rack.
"""

from __future__ import annotations

import random

from exacell.core.units import GIB, MIB
from exacell.emulator.asm.attributes import DEFAULT_AU_BYTES, defaults
from exacell.emulator.asm.instance import Asm
from exacell.emulator.basics.clusters import Cluster
from exacell.emulator.basics.versions import version_text
from exacell.emulator.storage.databases import CACHE_FILE, CACHE_SIZE, Database, RedoGroup
from exacell.emulator.storage.disk_groups import AsmDisk, AsmFile, DiskGroup, Header, HeaderStatus, Redundancy
from exacell.emulator.storage.segments import default_segments
from exacell.emulator.work.sessions import WorkingRack

DAY = 86400.0
DATABASE_RDBMS = "11.2.0.4.0"
"""compatible.rdbms of the groups that the databases use."""
REDO_BYTES = 4 * GIB
LOGS_PER_THREAD = 4

_DATA_FILES = (("SYSTEM", 2), ("SYSAUX", 4), ("UNDOTBS1", 8), ("USERS", 1), ("APPDATA", 100), ("APPINDEX", 40))
"""Tablespace and weight: how the databases' share of DATA is divided."""


def new_asm(
    rack: WorkingRack, cluster: Cluster | None = None, headers: dict[tuple[str, str], Header] | None = None
) -> Asm:
    """Return the ASM of a new rack, attached to it: DATA and RECO, mounted everywhere, with databases and files.

    Args:
        cluster: the cluster of the rack that it belongs to; None for the first.
        headers: shared by all clusters of a rack.
    """
    asm = Asm(rack, cluster, headers)
    _populate(asm)
    rack.asm = asm
    return asm


def _populate(asm: Asm) -> None:
    """Create DATA and RECO on the cells that have such grid disks, and the databases of the rack with their files."""
    now = asm.now()
    asm.started = now - 9 * DAY
    cluster = asm.cluster
    dice = random.Random(f"{asm.rack.spec.seed}:asm{cluster.suffix}")
    data = _group(asm, cluster.data, now - 200 * DAY)
    reco = _group(asm, cluster.reco, now - 200 * DAY)
    if data is None:
        return
    data.voting_files = True
    _cluster_files(asm, data)
    names = [name.upper() for name in cluster.databases]
    for rank, name in enumerate(names):
        created = now - (190 - 7 * rank) * DAY
        database = Database(
            name=name,
            dbid=dice.randrange(10**9, 4 * 10**9),
            created=created,
            started=now - (9 - rank % 5) * DAY,
            change=dice.randrange(10**7, 10**8),
        )
        if asm.rack.spec.dbcache:
            database.spfile = {CACHE_FILE: f"/u01/flash/{name}.dat", CACHE_SIZE: str(asm.rack.spec.dbcache)}
            database.parameters = dict(database.spfile)
        asm.databases[name] = database
        _data_files(asm, data, database, 60 // (rank + 2))
        _redo(asm, database, [group for group in (data, reco) if group is not None], now)
        if reco is not None:
            _recovery_files(asm, reco, database, 40 // (rank + 2), now)


def _group(asm: Asm, name: str, created: float) -> DiskGroup | None:
    members = [disk for disk in asm.discover() if disk.name.startswith(f"{name}_")]
    if not members:
        return None
    fail_groups = {disk.fail_group for disk in members}
    redundancy = Redundancy.NORMAL if len(fail_groups) > 1 else Redundancy.EXTERN
    group = DiskGroup(name=name, redundancy=redundancy, au_bytes=DEFAULT_AU_BYTES, created=created)
    compatible = {"compatible.asm": version_text(asm.version), "compatible.rdbms": DATABASE_RDBMS}
    appliance = {"appliance.mode": "TRUE"} if len(fail_groups) > 2 else {}
    group.attributes = {**defaults(asm.version), **compatible, "cell.smart_scan_capable": "TRUE", **appliance}
    for number, disk in enumerate(members):
        title = disk.name.upper()
        size = disk.size_mb // group.au_mb * group.au_mb
        group.disks[title] = AsmDisk(
            number=number,
            name=title,
            fail_group=disk.fail_group,
            cell=disk.cell,
            grid_disk=disk.name,
            size_mb=size,
            created=created,
        )
        asm.headers[disk.cell, disk.name] = Header(
            status=HeaderStatus.MEMBER,
            group=name,
            disk=title,
            fail_group=disk.fail_group,
            redundancy=redundancy.value,
        )
    asm.groups[name] = group
    for node in range(len(asm.nodes)):
        asm.mount(group, node)
    return group


def new_file(
    group: DiskGroup, kind: str, database: str, tag: str, size_bytes: int, created: float, block_size: int = 8192
) -> AsmFile:
    """Return a new file for a group: control files have three copies in a NORMAL group, others as many as the group.

    Source: reference asm.md section 4.
    """
    copies = group.redundancy.copies
    if kind == "CONTROLFILE" and group.redundancy is Redundancy.NORMAL:
        copies = min(3, len(group.fail_groups()))
    # Incarnations of system aliases are seconds since 1988. Source: alias names such as SYSTEM.256.1123456789.
    return AsmFile(
        number=group.next_file,
        incarnation=int(created) - 567993600,
        kind=kind,
        database=database,
        tag=tag,
        size_bytes=size_bytes,
        block_size=block_size,
        copies=copies,
        created=created,
    )


def _cluster_files(asm: Asm, data: DiskGroup) -> None:
    for kind, tag, size, block in (
        ("ASMPARAMETERFILE", "REGISTRY", 4 * MIB, 512),
        ("PASSWORD", "pwdasm", 4 * MIB, 512),
        ("OCRFILE", "REGISTRY", 512 * MIB, 4096),
    ):
        asm.add_file(data, new_file(data, kind, "ASM", tag, size, data.created + 60, block))


def _data_files(asm: Asm, data: DiskGroup, database: Database, percent: int) -> None:
    share = data.total_mb // data.redundancy.copies * percent // 100
    total = sum(weight for _, weight in _DATA_FILES)
    files = [("DATAFILE", tag, share * weight // total * MIB, 8192) for tag, weight in _DATA_FILES]
    files += [
        ("TEMPFILE", "TEMP", share * 5 // 100 * MIB, 8192),
        ("CONTROLFILE", "Current", 20 * MIB, 16384),
        ("PARAMETERFILE", "spfile", 4 * MIB, 512),
        ("PASSWORD", f"pwd{database.name.lower()}", 4 * MIB, 512),
    ]
    sizes = {tag: size for _, tag, size, _ in files}
    database.segments = default_segments(sizes["APPDATA"], sizes["APPINDEX"])
    for kind, tag, size, block in files:
        size -= size % block
        asm.add_file(data, new_file(data, kind, database.name, tag, size, database.created, block))


def _recovery_files(asm: Asm, reco: DiskGroup, database: Database, percent: int, now: float) -> None:
    share = reco.total_mb // reco.redundancy.copies * percent // 100
    for age in range(3, 0, -1):
        tag = f"thread_1_seq_{1200 - age}"
        size = share * 8 // 100 * MIB // 512 * 512
        asm.add_file(reco, new_file(reco, "ARCHIVELOG", database.name, tag, size, now - age * DAY / 2, 512))
    backup = share * 50 // 100 * MIB // 16384 * 16384
    asm.add_file(reco, new_file(reco, "BACKUPSET", database.name, "nnndn0_TAG", backup, now - DAY, 16384))


def _redo(asm: Asm, database: Database, groups: list[DiskGroup], now: float) -> None:
    size = min(REDO_BYTES, max(64 * MIB, groups[0].total_mb // 400 * MIB))
    for node in range(len(asm.nodes)):
        for place in range(LOGS_PER_THREAD):
            number = node * LOGS_PER_THREAD + place + 1
            members = []
            for group in groups:
                file = new_file(group, "ONLINELOG", database.name, f"group_{number}", size, database.created, 512)
                members.append(asm.add_file(group, file))
            current = place == LOGS_PER_THREAD - 1
            database.redo.append(
                RedoGroup(
                    number=number,
                    thread=node + 1,
                    sequence=1197 + place,
                    size_bytes=size,
                    block_size=512,
                    members=members,
                    status="CURRENT" if current else "INACTIVE",
                    archived=not current,
                    first_change=database.change - (LOGS_PER_THREAD - place) * 10000,
                    first_time=now - (LOGS_PER_THREAD - place) * 3600,
                )
            )
