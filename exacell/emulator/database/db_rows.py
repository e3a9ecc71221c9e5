"""The rows of views that are not ASM's own: instance, parameters, version, database, redo logs.

Values follow reference asm.md sections 1, 5 and 10.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType

from exacell.emulator.asm.instances import Instance
from exacell.emulator.basics.versions import banner, version_text
from exacell.emulator.database.asm_rows import own_groups
from exacell.emulator.sql.values import Value, from_epoch
from exacell.emulator.storage.databases import CACHE_FILE, CACHE_SIZE, OVERRIDE

SETTABLE: Mapping[str, tuple[int, str | None]] = MappingProxyType(
    {
        "audit_sys_operations": (1, "TRUE"),
        "audit_trail": (2, "DB"),
        "cell_offload_compaction": (2, "ADAPTIVE"),
        "cell_offload_decryption": (1, "TRUE"),
        "cell_offload_parameters": (2, None),
        "cell_offload_plan_display": (2, "AUTO"),
        "cell_offload_processing": (1, "TRUE"),
        "cell_offloadgroup_name": (2, None),
        "db_cache_size": (6, "0"),
        "db_file_multiblock_read_count": (3, "128"),
        CACHE_FILE: (2, None),
        CACHE_SIZE: (6, "0"),
        "db_files": (3, "1024"),
        "db_recovery_file_dest_size": (6, None),
        "deferred_segment_creation": (1, "TRUE"),
        "fast_start_mttr_target": (3, "300"),
        "filesystemio_options": (2, "setall"),
        "job_queue_processes": (3, "1000"),
        "log_buffer": (6, "134217728"),
        "log_checkpoint_interval": (3, "0"),
        "log_checkpoint_timeout": (3, "0"),
        "open_cursors": (3, "1000"),
        "open_links": (3, "4"),
        "open_links_per_instance": (3, "4"),
        "optimizer_features_enable": (2, None),
        "parallel_degree_policy": (2, "MANUAL"),
        "parallel_force_local": (1, "FALSE"),
        "parallel_max_servers": (3, "240"),
        "pga_aggregate_target": (6, "17179869184"),
        "processes": (3, "2048"),
        "recyclebin": (2, "on"),
        "resource_limit": (1, "TRUE"),
        "resource_manager_plan": (2, None),
        "sga_max_size": (6, "25769803776"),
        "sga_target": (6, "25769803776"),
        "statistics_level": (2, "TYPICAL"),
        "streams_pool_size": (6, "0"),
        "undo_retention": (3, "900"),
        "use_large_pages": (2, "ONLY"),
    }
)
"""Parameters of a database that ALTER SYSTEM sets: type and first value. Only the size of its flash cache has an effect; the
others are just shown.

Source: Oracle Database Reference, "Initialization Parameters"; values are made up.
"""


def instance_row(instance: Instance) -> Iterator[Mapping[str, Value]]:
    """Yield the rows of V$INSTANCE."""
    version = version_text(instance.asm.version)
    on_asm = instance.database is None
    yield {
        "INSTANCE_NUMBER": instance.node + 1,
        "INSTANCE_NAME": instance.name,
        "HOST_NAME": instance.asm.nodes[instance.node],
        "VERSION": version,
        "VERSION_LEGACY": version,
        "VERSION_FULL": version,
        "STARTUP_TIME": from_epoch(instance.started),
        "STATUS": "STARTED" if on_asm else "OPEN",
        "PARALLEL": "YES",
        "THREAD#": 0 if on_asm else instance.node + 1,
        "ARCHIVER": "STOPPED" if on_asm else "STARTED",
        "LOGINS": "ALLOWED",
        "SHUTDOWN_PENDING": "NO",
        "DATABASE_STATUS": "ACTIVE",
        "INSTANCE_ROLE": "UNKNOWN" if on_asm else "PRIMARY_INSTANCE",
        "ACTIVE_STATE": "NORMAL",
        "BLOCKED": "NO",
        "INSTANCE_MODE": "REGULAR",
        "EDITION": "EE",
        "DATABASE_TYPE": "RAC",
    }


def parameters(instance: Instance) -> dict[str, tuple[int, str | None]]:
    """Return the parameters of an instance by name: Oracle's type number and the value."""
    asm, database = instance.asm, instance.database
    data, reco = asm.cluster.data, asm.cluster.reco
    mounted = ", ".join(group.name for group in own_groups(instance) if group.name != data)
    common: dict[str, tuple[int, str | None]] = {
        "cluster_database": (1, "TRUE"),
        "instance_name": (2, instance.name),
        "instance_number": (3, str(instance.node + 1)),
    }
    if database is None:
        return {
            "asm_diskgroups": (2, mounted or None),
            "asm_diskstring": (2, asm.parameters["asm_diskstring"] or None),
            "asm_power_limit": (3, asm.parameters["asm_power_limit"]),
            "cluster_database": (1, "TRUE"),
            "instance_name": common["instance_name"],
            "instance_number": common["instance_number"],
            "instance_type": (2, "asm"),
            "processes": (3, "1024"),
            "remote_login_passwordfile": (2, "EXCLUSIVE"),
            "spfile": (2, f"+{data}/ASM/ASMPARAMETERFILE/registry.253.1"),
        }
    given = database.in_memory(instance.name)
    values: dict[str, tuple[int, str | None]] = {
        **common,
        **{name: (kind, given.get(name, value)) for name, (kind, value) in SETTABLE.items()},
        "compatible": (2, ".".join(str(part) for part in asm.version[:3])),
        "cpu_count": (3, "48"),
        "db_block_size": (3, "8192"),
        "db_create_file_dest": (2, f"+{data}"),
        "db_create_online_log_dest_1": (2, f"+{data}"),
        "db_name": (2, database.name),
        "db_recovery_file_dest": (2, f"+{reco}"),
        "db_unique_name": (2, database.name),
        "instance_type": (2, "RDBMS"),
        "thread": (3, str(instance.node + 1)),
    }
    if given.get(OVERRIDE) == "TRUE":
        values[OVERRIDE] = (1, "TRUE")
    return dict(sorted(values.items()))


def parameter_rows(instance: Instance) -> Iterator[Mapping[str, Value]]:
    """Yield the rows of V$PARAMETER."""
    for number, (name, (kind, value)) in enumerate(parameters(instance).items(), start=1):
        yield {
            "NUM": number,
            "NAME": name,
            "TYPE": kind,
            "VALUE": value,
            "DISPLAY_VALUE": value,
            "ISDEFAULT": "FALSE",
            "ISSES_MODIFIABLE": "FALSE",
            "ISSYS_MODIFIABLE": "IMMEDIATE"
            if name.startswith("asm_") or (name in SETTABLE and name != CACHE_FILE)
            else "FALSE",
            "ISINSTANCE_MODIFIABLE": "TRUE",
            "ISMODIFIED": "FALSE",
            "ISDEPRECATED": "FALSE",
            "ISADJUSTED": "FALSE",
            "ISBASIC": "FALSE",
            "ISPDB_MODIFIABLE": "FALSE",
        }


def spfile_rows(instance: Instance) -> Iterator[Mapping[str, Value]]:
    """Yield the rows of V$SPPARAMETER: the entries of the server parameter file, and an empty row for each other parameter."""
    database = instance.database
    held = {"*": {}} if database is None else {"*": database.spfile, **database.own_spfile}
    known = {name: kind for name, (kind, _) in parameters(instance).items()}
    for name in sorted({*known, *(name for kept in held.values() for name in kept)}):
        kind = known.get(name, 1 if name[0] == "_" else 2)
        for sid in [sid for sid, kept in held.items() if name in kept] or ["*"]:
            kept = held[sid]
            yield {
                "FAMILY": None,
                "SID": sid,
                "NAME": name,
                "TYPE": {1: "boolean", 2: "string", 3: "integer"}.get(kind, "string"),
                "VALUE": kept.get(name),
                "DISPLAY_VALUE": kept.get(name),
                "ISSPECIFIED": "TRUE" if name in kept else "FALSE",
                "ORDINAL": 1 if name in kept else 0,
                "UPDATE_COMMENT": None,
            }


def version_row(instance: Instance) -> Iterator[Mapping[str, Value]]:
    """Yield the rows of V$VERSION."""
    version = instance.asm.version
    line = banner(version)
    yield {
        "BANNER": line,
        "BANNER_FULL": f"{line}\nVersion {version_text(version)}",
        "BANNER_LEGACY": line,
    }


def database_row(instance: Instance) -> Iterator[Mapping[str, Value]]:
    """Yield the rows of V$DATABASE."""
    database = instance.database
    if database is None:
        return
    yield {
        "DBID": database.dbid,
        "NAME": database.name[:8],
        "CREATED": from_epoch(database.created),
        "LOG_MODE": "ARCHIVELOG",
        "OPEN_MODE": "READ WRITE",
        "DATABASE_ROLE": "PRIMARY",
        "PLATFORM_NAME": "Linux x86 64-bit",
        "FLASHBACK_ON": "NO",
        "CURRENT_SCN": database.change,
        "DB_UNIQUE_NAME": database.name,
        "FORCE_LOGGING": "YES",
        "RESETLOGS_TIME": from_epoch(database.created),
        "RESETLOGS_CHANGE#": 1,
        "CHECKPOINT_CHANGE#": database.change,
        "CONTROLFILE_TYPE": "CURRENT",
        "CONTROLFILE_CREATED": from_epoch(database.created),
        "OPEN_RESETLOGS": "NOT ALLOWED",
        "PROTECTION_MODE": "MAXIMUM PERFORMANCE",
        "PROTECTION_LEVEL": "MAXIMUM PERFORMANCE",
        "REMOTE_ARCHIVE": "ENABLED",
        "SWITCHOVER_STATUS": "NOT ALLOWED",
        "DATAGUARD_BROKER": "DISABLED",
        "GUARD_STATUS": "NONE",
        "SUPPLEMENTAL_LOG_DATA_MIN": "NO",
        "SUPPLEMENTAL_LOG_DATA_PK": "NO",
        "SUPPLEMENTAL_LOG_DATA_UI": "NO",
        "SUPPLEMENTAL_LOG_DATA_FK": "NO",
        "SUPPLEMENTAL_LOG_DATA_ALL": "NO",
        "PLATFORM_ID": 13,
        "FS_FAILOVER_STATUS": "DISABLED",
        "CDB": "NO",
    }


def logs(instance: Instance) -> Iterator[Mapping[str, Value]]:
    """Yield the rows of V$LOG."""
    database = instance.database
    for group in sorted(database.redo, key=lambda g: g.number) if database else []:
        current = group.status == "CURRENT"
        yield {
            "GROUP#": group.number,
            "THREAD#": group.thread,
            "SEQUENCE#": group.sequence,
            "BYTES": group.size_bytes,
            "BLOCKSIZE": group.block_size,
            "MEMBERS": len(group.members),
            "ARCHIVED": "YES" if group.archived else "NO",
            "STATUS": group.status,
            "FIRST_CHANGE#": group.first_change,
            "FIRST_TIME": from_epoch(group.first_time) if group.status != "UNUSED" else None,
            "NEXT_CHANGE#": 18446744073709551615 if current else group.first_change + 1000,
            "NEXT_TIME": None if current or group.status == "UNUSED" else from_epoch(group.first_time + 3600),
        }


def standby_logs(instance: Instance) -> Iterator[Mapping[str, Value]]:
    """Yield the rows of V$STANDBY_LOG; no redo of another database ever arrives."""
    database = instance.database
    for group in sorted(database.standby, key=lambda g: g.number) if database else []:
        yield {
            "GROUP#": group.number,
            "DBID": "UNASSIGNED",
            "THREAD#": group.thread,
            "SEQUENCE#": 0,
            "BYTES": group.size_bytes,
            "BLOCKSIZE": group.block_size,
            "USED": 0,
            "ARCHIVED": "YES",
            "STATUS": group.status,
        }


def log_files(instance: Instance) -> Iterator[Mapping[str, Value]]:
    """Yield the rows of V$LOGFILE."""
    database = instance.database
    for group in sorted((*database.redo, *database.standby), key=lambda g: g.number) if database else []:
        kind = "STANDBY" if database is not None and group in database.standby else "ONLINE"
        for member in group.members:
            recovery = "YES" if member.startswith(f"+{instance.asm.cluster.reco}/") else "NO"
            yield {
                "GROUP#": group.number,
                "TYPE": kind,
                "MEMBER": member,
                "IS_RECOVERY_DEST_FILE": recovery,
            }


def dual(_: Instance) -> Iterator[Mapping[str, Value]]:
    """Yield the rows of DUAL."""
    yield {"DUMMY": "X"}
