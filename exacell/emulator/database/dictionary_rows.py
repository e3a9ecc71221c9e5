"""The rows of views about a whole database: tablespaces, users, components, archived logs, the recovery area.

Columns follow the Oracle Database Reference. A database has only Oracle's own users and APP, which owns its tables.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from decimal import Decimal

from exacell.core.units import GIB, MIB
from exacell.emulator.asm.instances import Instance
from exacell.emulator.basics.versions import banner, version_text
from exacell.emulator.database.file_rows import tablespaces
from exacell.emulator.sql.values import Value, from_epoch, number_of
from exacell.emulator.storage.disk_groups import AsmFile, DiskGroup
from exacell.emulator.storage.segments import DEFAULT_PERMANENT, DEFAULT_TEMPORARY, default_tablespace

_USERS = ("SYS", "SYSTEM", "DBSNMP", "XDB", "APP")
_COMPONENTS = {
    "CATALOG": "Oracle Database Catalog Views",
    "CATPROC": "Oracle Database Packages and Types",
    "RAC": "Oracle Real Application Clusters",
    "XDB": "Oracle XML Database",
}
_OPTIONS = {
    "Partitioning": "TRUE",
    "Real Application Clusters": "TRUE",
    "Automatic Storage Management": "TRUE",
    "Advanced Compression": "TRUE",
    "Exadata Discovery": "TRUE",
    "OLAP": "FALSE",
    "Oracle Label Security": "FALSE",
}
_OWN = ("SYS", "UNDO", "USERS")
"""Beginnings of the names of tablespaces that are used without any segment that the emulator knows."""
_RECOVERY_SHARE = 2
"""Ratio of db_recovery_file_dest_size to the size of the files in the recovery area."""
_RECOVERY_KINDS = {
    "CONTROL FILE": "CONTROLFILE",
    "REDO LOG": "ONLINELOG",
    "ARCHIVED LOG": "ARCHIVELOG",
    "BACKUP PIECE": "BACKUPSET",
    "IMAGE COPY": "",
    "FLASHBACK LOG": "FLASHBACK",
    "FOREIGN ARCHIVED LOG": "",
    "AUXILIARY DATAFILE COPY": "",
}


def dictionary_tablespaces(instance: Instance) -> Iterator[Mapping[str, Value]]:
    """Yield the rows of DBA_TABLESPACES."""
    for row in tablespaces(instance):
        name = str(row["NAME"])
        kind = "TEMPORARY" if name.startswith("TEMP") else "UNDO" if name.startswith("UNDO") else "PERMANENT"
        yield {
            "TABLESPACE_NAME": name,
            "BLOCK_SIZE": 8192,
            "INITIAL_EXTENT": 65536,
            "MIN_EXTENTS": 1,
            "STATUS": "ONLINE",
            "CONTENTS": kind,
            "LOGGING": "NOLOGGING" if kind == "TEMPORARY" else "LOGGING",
            "FORCE_LOGGING": "NO",
            "EXTENT_MANAGEMENT": "LOCAL",
            "ALLOCATION_TYPE": "UNIFORM" if kind == "TEMPORARY" else "SYSTEM",
            "PLUGGED_IN": "NO",
            "SEGMENT_SPACE_MANAGEMENT": "AUTO" if kind == "PERMANENT" and name != "SYSTEM" else "MANUAL",
            "DEF_TAB_COMPRESSION": "DISABLED",
            "RETENTION": "NOGUARANTEE" if kind == "UNDO" else "NOT APPLY",
            "BIGFILE": row["BIGFILE"],
            "PREDICATE_EVALUATION": "STORAGE",
            "ENCRYPTED": "NO",
        }


def free_space(instance: Instance) -> Iterator[Mapping[str, Value]]:
    """Yield the rows of DBA_FREE_SPACE: the space in each data file that no segment uses."""
    database = instance.database
    if database is None:
        return
    used: dict[str, int] = {}
    for segment in database.segments:
        used[segment.tablespace] = used.get(segment.tablespace, 0) + segment.size_bytes
    files = [f for group in instance.asm.groups.values() for f in group.files if f.database == database.name]
    files = sorted((file for file in files if file.kind == "DATAFILE"), key=lambda file: file.number)
    for number, file in enumerate(files, start=1):
        space = file.tag
        own = file.size_bytes * 6 // 10 if space.startswith(_OWN) else MIB
        taken = min(used.get(space, own), file.size_bytes - MIB)
        if space in used:
            used[space] -= taken
        free = (file.size_bytes - taken) // MIB * MIB
        yield {
            "TABLESPACE_NAME": space,
            "FILE_ID": number,
            "BLOCK_ID": taken // file.block_size,
            "BYTES": free,
            "BLOCKS": free // file.block_size,
            "RELATIVE_FNO": number,
        }


def properties(instance: Instance) -> Iterator[Mapping[str, Value]]:
    """Yield the rows of DATABASE_PROPERTIES that name the default tablespaces."""
    for kind, name in (("PERMANENT", DEFAULT_PERMANENT), ("TEMP", DEFAULT_TEMPORARY)):
        if instance.database is not None:
            yield {
                "PROPERTY_NAME": f"DEFAULT_{kind}_TABLESPACE",
                "PROPERTY_VALUE": name,
                "DESCRIPTION": f"Name of default {'permanent' if kind == 'PERMANENT' else 'temporary'} tablespace",
            }


def users(instance: Instance) -> Iterator[Mapping[str, Value]]:
    """Yield the rows of DBA_USERS."""
    database = instance.database
    for number, name in enumerate(_USERS if database is not None else ()):
        assert database is not None
        yield {
            "USERNAME": name,
            "USER_ID": number if name != "APP" else 104,
            "ACCOUNT_STATUS": "OPEN" if name in ("SYS", "SYSTEM", "APP") else "EXPIRED & LOCKED",
            "DEFAULT_TABLESPACE": default_tablespace(name),
            "TEMPORARY_TABLESPACE": "TEMP",
            "CREATED": from_epoch(database.created),
            "PROFILE": "DEFAULT",
            "ORACLE_MAINTAINED": "N" if name == "APP" else "Y",
        }


def components(instance: Instance) -> Iterator[Mapping[str, Value]]:
    """Yield the rows of DBA_REGISTRY."""
    version = version_text(instance.asm.version)
    for code, name in _COMPONENTS.items():
        yield {
            "COMP_ID": code,
            "COMP_NAME": name,
            "VERSION": version,
            "VERSION_FULL": version,
            "STATUS": "VALID",
            "SCHEMA": "SYS",
        }


def options(_: Instance) -> Iterator[Mapping[str, Value]]:
    """Yield the rows of V$OPTION."""
    for name, value in _OPTIONS.items():
        yield {"PARAMETER": name, "VALUE": value}


def products(instance: Instance) -> Iterator[Mapping[str, Value]]:
    """Yield the rows of PRODUCT_COMPONENT_VERSION."""
    version = version_text(instance.asm.version)
    yield {
        "PRODUCT": banner(instance.asm.version).partition(" Release")[0] + " ",
        "VERSION": version,
        "VERSION_FULL": version,
        "STATUS": "Production",
    }


def threads(instance: Instance) -> Iterator[Mapping[str, Value]]:
    """Yield the rows of V$THREAD."""
    database = instance.database
    for number, _ in enumerate(instance.asm.nodes if database else (), start=1):
        assert database is not None
        own = database.of_thread(number)
        current = next((group for group in own if group.status == "CURRENT"), None)
        yield {
            "THREAD#": number,
            "STATUS": "OPEN",
            "ENABLED": "PUBLIC",
            "GROUPS": len(own),
            "INSTANCE": f"{database.name}{number}",
            "OPEN_TIME": from_epoch(database.started),
            "CURRENT_GROUP#": current.number if current else 0,
            "SEQUENCE#": current.sequence if current else 0,
        }


def active_instances(instance: Instance) -> Iterator[Mapping[str, Value]]:
    """Yield the rows of V$ACTIVE_INSTANCES."""
    name = instance.database.name if instance.database is not None else "+ASM"
    for number, node in enumerate(instance.asm.nodes, start=1):
        yield {"INST_NUMBER": number, "INST_NAME": f"{node}:{name}{number}"}


def _recovery_files(instance: Instance) -> tuple[DiskGroup | None, list[AsmFile]]:
    group = instance.asm.groups.get(instance.asm.cluster.reco)
    if group is None or instance.database is None:
        return None, []
    return group, [file for file in group.files if file.database == instance.database.name]


def archived_logs(instance: Instance) -> Iterator[Mapping[str, Value]]:
    """Yield the rows of V$ARCHIVED_LOG: the archived logs that ASM still has, numbered back from the current ones."""
    group, found = _recovery_files(instance)
    database = instance.database
    if group is None or database is None:
        return
    logs = sorted((file for file in found if file.kind == "ARCHIVELOG"), key=lambda file: file.created)
    threads_ = len(instance.asm.nodes)
    newest = {n: max((g.sequence for g in database.of_thread(n)), default=1) for n in range(1, threads_ + 1)}
    for place, file in enumerate(reversed(logs)):
        thread = place % threads_ + 1
        change = database.change - 1000 * (place + 1)
        yield {
            "RECID": len(logs) - place,
            "STAMP": int(file.created),
            "NAME": f"+{group.name}/{'/'.join(file.directories)}/{file.alias}",
            "DEST_ID": 1,
            "THREAD#": thread,
            "SEQUENCE#": newest[thread] - 1 - place // threads_,
            "RESETLOGS_CHANGE#": 1,
            "FIRST_CHANGE#": change,
            "FIRST_TIME": from_epoch(file.created - 3600),
            "NEXT_CHANGE#": change + 1000,
            "NEXT_TIME": from_epoch(file.created),
            "BLOCKS": file.size_bytes // 512,
            "BLOCK_SIZE": 512,
            "CREATOR": "ARCH",
            "REGISTRAR": "ARCH",
            "STANDBY_DEST": "NO",
            "ARCHIVED": "YES",
            "APPLIED": "NO",
            "DELETED": "NO",
            "STATUS": "A",
            "COMPLETION_TIME": from_epoch(file.created),
            "IS_RECOVERY_DEST_FILE": "YES",
            "COMPRESSED": "NO",
            "FAL": "NO",
        }


def log_history(instance: Instance) -> Iterator[Mapping[str, Value]]:
    """Yield the rows of V$LOG_HISTORY: one for each archived log."""
    for row in archived_logs(instance):
        names = ("RECID", "STAMP", "THREAD#", "SEQUENCE#", "FIRST_CHANGE#", "FIRST_TIME", "NEXT_CHANGE#")
        yield {name: row[name] for name in names}


def _sizes(instance: Instance) -> tuple[str, int, int, int]:
    """Return the recovery area's name, its limit and used bytes, and the number of its files."""
    group, found = _recovery_files(instance)
    used = sum(file.size_bytes for file in found)
    limit = -(-used * _RECOVERY_SHARE // (10 * GIB)) * 10 * GIB
    return f"+{group.name}" if group is not None else "", limit, used, len(found)


def recovery_area(instance: Instance) -> Iterator[Mapping[str, Value]]:
    """Yield the rows of V$RECOVERY_FILE_DEST."""
    name, limit, used, count = _sizes(instance)
    if name:
        yield {"NAME": name, "SPACE_LIMIT": limit, "SPACE_USED": used, "NUMBER_OF_FILES": count}


def recovery_area_usage(instance: Instance) -> Iterator[Mapping[str, Value]]:
    """Yield the rows of V$RECOVERY_AREA_USAGE and V$FLASH_RECOVERY_AREA_USAGE."""
    _, found = _recovery_files(instance)
    _, limit, _, _ = _sizes(instance)
    for title, kind in _RECOVERY_KINDS.items() if limit else ():
        own = [file.size_bytes for file in found if file.kind == kind]
        yield {
            "FILE_TYPE": title,
            "PERCENT_SPACE_USED": number_of(Decimal(sum(own) * 10000 // limit) / 100),
            "PERCENT_SPACE_RECLAIMABLE": 0,
            "NUMBER_OF_FILES": len(own),
        }


def system_resources(instance: Instance) -> Iterator[Mapping[str, Value]]:
    """Yield the rows of V$OSSTAT."""
    for number, (name, value) in enumerate({"NUM_CPUS": 48, "NUM_CPU_CORES": 24, "NUM_CPU_SOCKETS": 2}.items()):
        yield {"STAT_NAME": name, "VALUE": value, "OSSTAT_ID": number * 16, "CUMULATIVE": "NO"}
    yield {"STAT_NAME": "PHYSICAL_MEMORY_BYTES", "VALUE": 256 * GIB, "OSSTAT_ID": 1008, "CUMULATIVE": "NO"}


def global_name(instance: Instance) -> Iterator[Mapping[str, Value]]:
    """Yield the row of GLOBAL_NAME."""
    if instance.database is not None:
        yield {"GLOBAL_NAME": instance.database.name}


def services(instance: Instance) -> Iterator[Mapping[str, Value]]:
    """Yield the rows of V$SERVICES and V$ACTIVE_SERVICES."""
    name = instance.database.name if instance.database is not None else "+ASM"
    for number, service in enumerate(("SYS$BACKGROUND", "SYS$USERS", name), start=1):
        yield {
            "SERVICE_ID": number,
            "NAME": service,
            "NETWORK_NAME": service if service == name else None,
            "CREATION_DATE": from_epoch(instance.started),
            "GOAL": "NONE",
            "BLOCKED": "NO",
        }


_NLS = {
    "NLS_LANGUAGE": "AMERICAN",
    "NLS_TERRITORY": "AMERICA",
    "NLS_CHARACTERSET": "AL32UTF8",
    "NLS_NCHAR_CHARACTERSET": "AL16UTF16",
    "NLS_DATE_FORMAT": "DD-MON-RR",
    "NLS_NUMERIC_CHARACTERS": ".,",
    "NLS_SORT": "BINARY",
}


def languages(_: Instance) -> Iterator[Mapping[str, Value]]:
    """Yield the rows of NLS_DATABASE_PARAMETERS and similar views."""
    for name, value in _NLS.items():
        yield {"PARAMETER": name, "VALUE": value}
