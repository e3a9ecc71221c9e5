"""The V$ views of the emulated ASM instances and databases: which columns they have, and how they are found.

Columns, their order and the releases that have them follow reference asm.md sections 3, 6, 7 and 10 (Oracle Database
Reference); declared widths are those of Oracle's own views, because SQL*Plus lays out its columns by them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from exacell.emulator import asm_rows, cell_views, db_rows, file_rows, segment_rows, session_rows, stat_rows
from exacell.emulator.asm_attributes import Version
from exacell.emulator.instances import Instance
from exacell.emulator.sql_scope import Relation, ResultColumn, Row
from exacell.emulator.sql_values import DATE, NUMBER, ColumnType, Kind, Value, char

Rows = Callable[[Instance], Iterator[Mapping[str, Value]]]


@dataclass(frozen=True, kw_only=True)
class View:
    """One view.

    Attributes:
        columns: name, type, release that has it first; in order.
        rows: gives a mapping a row; of the columns that it leaves out numbers are 0 and others NULL.
        where: ``asm``, ``db`` or ``both``: the kind of instance that has rows in it.
    """

    columns: tuple[tuple[str, ColumnType, Version], ...]
    rows: Rows
    where: str = "both"


def catalog(instance: Instance) -> Callable[[str], Relation | None]:
    """Return what gives the content of a view by its upper-case name, for queries on ``instance``."""

    def find(name: str) -> Relation | None:
        plain = name.replace("V_$", "V$", 1) if name.startswith(("V_$", "GV_$")) else name
        plain = _SYNONYMS.get(plain, plain)
        everywhere = plain.startswith("GV$")
        view = VIEWS.get(plain.removeprefix("G") if everywhere else plain)
        if view is None or (everywhere and not plain.startswith("GV$")):
            return None
        return _relation(view, instance, everywhere)

    return find


def _relation(view: View, instance: Instance, everywhere: bool) -> Relation:
    version = instance.asm.version
    columns = [ResultColumn(name, kind) for name, kind, since in view.columns if since <= version]
    kind = "db" if instance.database else "asm"
    nodes = range(len(instance.asm.nodes)) if everywhere else [instance.node]
    missing: dict[Kind, Value] = {Kind.NUMBER: 0, Kind.CHAR: None, Kind.DATE: None}
    rows: list[Row] = []
    for node in nodes if view.where in ("both", kind) else []:
        there = Instance(asm=instance.asm, node=node, database=instance.database)
        first: tuple[Value, ...] = (node + 1,) if everywhere else ()
        for row in view.rows(there):
            rows.append((*first, *(row.get(column.name, missing[column.type.kind]) for column in columns)))
    if everywhere:
        columns.insert(0, ResultColumn("INST_ID", NUMBER))
    return Relation(tuple(columns), rows)


def _columns(*groups: str) -> tuple[tuple[str, ColumnType, Version], ...]:
    """Return columns from ``NAME`` (number), ``NAME:30`` (text), ``NAME:date``; ``@12.2``: since that release."""
    columns: list[tuple[str, ColumnType, Version]] = []
    for word in " ".join(groups).split():
        spec, _, since = word.partition("@")
        name, _, kind = spec.partition(":")
        column = DATE if kind == "date" else char(int(kind)) if kind else NUMBER
        columns.append((name, column, tuple(int(part) for part in since.split(".")) if since else ()))
    return tuple(columns)


_DISK_GROUP_COLUMNS = _columns(
    "GROUP_NUMBER NAME:30 SECTOR_SIZE LOGICAL_SECTOR_SIZE@12.2 BLOCK_SIZE ALLOCATION_UNIT_SIZE STATE:11 TYPE:6",
    "TOTAL_MB FREE_MB HOT_USED_MB COLD_USED_MB REQUIRED_MIRROR_FREE_MB USABLE_FILE_MB OFFLINE_DISKS COMPATIBILITY:60",
    "DATABASE_COMPATIBILITY:60 VOTING_FILES:1 CON_ID@12.1",
)
_DISK_COLUMNS = _columns(
    "GROUP_NUMBER DISK_NUMBER COMPOUND_INDEX INCARNATION MOUNT_STATUS:7 HEADER_STATUS:12 MODE_STATUS:7 STATE:8",
    "REDUNDANCY:7 LIBRARY:64 OS_MB TOTAL_MB FREE_MB HOT_USED_MB COLD_USED_MB NAME:30 FAILGROUP:30 LABEL:31 PATH:256",
    "UDID:64 PRODUCT:32 CREATE_DATE:date MOUNT_DATE:date REPAIR_TIMER READS WRITES READ_ERRS WRITE_ERRS READ_TIMEOUT",
    "WRITE_TIMEOUT READ_TIME WRITE_TIME BYTES_READ BYTES_WRITTEN PREFERRED_READ:1 HASH_VALUE HOT_READS HOT_WRITES",
    "HOT_BYTES_READ HOT_BYTES_WRITTEN COLD_READS COLD_WRITES COLD_BYTES_READ COLD_BYTES_WRITTEN VOTING_FILE:1",
    "SECTOR_SIZE FAILGROUP_TYPE:7 LOGICAL_SECTOR_SIZE@12.2 SITE_NAME:30@12.2 SITE_GUID:32@12.2 SITE_STATUS:7@12.2",
    "CON_ID@12.1",
)
_PARAMETER_COLUMNS = _columns(
    "NUM NAME:80 TYPE VALUE:4000 DISPLAY_VALUE:4000 ISDEFAULT:9 ISSES_MODIFIABLE:5 ISSYS_MODIFIABLE:9",
    "ISINSTANCE_MODIFIABLE:5 ISMODIFIED:10 ISDEPRECATED:5 CON_ID@12.1",
)

_HIDDEN_VALUES = _columns("ADDR:16 INDX INST_ID CON_ID@12.1 KSPPSTVL:512 KSPPSTDVL:512 KSPPSTDF:9 KSPPSTVF")

_STORAGE = "BUFFER_POOL:7 FLASH_CACHE:7@11.2 CELL_FLASH_CACHE:7@11.2"

VIEWS: Mapping[str, View] = MappingProxyType(
    {
        "DUAL": View(columns=_columns("DUMMY:1"), rows=db_rows.dual),
        "V$ASM_DISKGROUP": View(columns=_DISK_GROUP_COLUMNS, rows=asm_rows.disk_groups),
        "V$ASM_DISKGROUP_STAT": View(columns=_DISK_GROUP_COLUMNS, rows=asm_rows.disk_groups),
        "V$ASM_DISK": View(columns=_DISK_COLUMNS, rows=asm_rows.disks),
        "X$KFDPARTNER": View(
            columns=_columns("GRP DISK COMPOUND NUMBER_KFDPARTNER PARITY ACTIVE_KFDPARTNER"),
            rows=asm_rows.partners,
            where="asm",
        ),
        "V$ASM_DISK_STAT": View(columns=_DISK_COLUMNS, rows=asm_rows.disks),
        "V$ASM_DISK_IOSTAT": View(
            columns=_columns(
                "INSTNAME:64 DBNAME:8 CLUSTERNAME:31@12.2 GROUP_NUMBER DISK_NUMBER FAILGROUP:30 READS WRITES READ_ERRS",
                "WRITE_ERRS READ_TIMEOUT WRITE_TIMEOUT READ_TIME WRITE_TIME BYTES_READ BYTES_WRITTEN PREFERRED_READ:1",
                "HOT_READS HOT_WRITES HOT_BYTES_READ HOT_BYTES_WRITTEN COLD_READS COLD_WRITES COLD_BYTES_READ",
                "COLD_BYTES_WRITTEN CON_ID@12.1",
            ),
            rows=asm_rows.client_io,
        ),
        "V$ASM_OPERATION": View(
            columns=_columns(
                "GROUP_NUMBER OPERATION:5 PASS:9@12.1 STATE:4 POWER ACTUAL SOFAR EST_WORK EST_RATE EST_MINUTES",
                "ERROR_CODE:44 CON_ID@12.1",
            ),
            rows=asm_rows.operations,
            where="asm",
        ),
        "V$ASM_CLIENT": View(
            columns=_columns(
                "GROUP_NUMBER INSTANCE_NAME:64 DB_NAME:8 CLUSTER_NAME:31@12.2 STATUS:12 SOFTWARE_VERSION:60",
                "COMPATIBLE_VERSION:60 CON_ID@12.1",
            ),
            rows=asm_rows.clients,
        ),
        "V$ASM_FILE": View(
            columns=_columns(
                "GROUP_NUMBER FILE_NUMBER COMPOUND_INDEX INCARNATION BLOCK_SIZE BLOCKS BYTES SPACE TYPE:64",
                "REDUNDANCY:6 STRIPED:6 CREATION_DATE:date MODIFICATION_DATE:date REDUNDANCY_LOWERED:1",
                "PERMISSIONS:16 CON_ID@12.1",
            ),
            rows=asm_rows.files,
            where="asm",
        ),
        "V$ASM_ALIAS": View(
            columns=_columns(
                "NAME:70 GROUP_NUMBER FILE_NUMBER FILE_INCARNATION ALIAS_INDEX ALIAS_INCARNATION PARENT_INDEX",
                "REFERENCE_INDEX ALIAS_DIRECTORY:1 SYSTEM_CREATED:1 CON_ID@12.1",
            ),
            rows=asm_rows.aliases,
            where="asm",
        ),
        "V$ASM_ATTRIBUTE": View(
            columns=_columns(
                "NAME:256 VALUE:256 GROUP_NUMBER ATTRIBUTE_INDEX ATTRIBUTE_INCARNATION READ_ONLY:7 SYSTEM_CREATED:7",
                "CON_ID@12.1",
            ),
            rows=asm_rows.attributes,
        ),
        "V$ASM_TEMPLATE": View(
            columns=_columns(
                "GROUP_NUMBER ENTRY_NUMBER REDUNDANCY:6 STRIPE:6 SYSTEM:1 NAME:30 PRIMARY_REGION:4@11.2",
                "MIRROR_REGION:4@11.2 CON_ID@12.1",
            ),
            rows=asm_rows.templates,
            where="asm",
        ),
        "V$INSTANCE": View(
            columns=_columns(
                "INSTANCE_NUMBER INSTANCE_NAME:16 HOST_NAME:64 VERSION:17 VERSION_LEGACY:17@18 VERSION_FULL:17@18",
                "STARTUP_TIME:date STATUS:12 PARALLEL:3 THREAD# ARCHIVER:7 LOG_SWITCH_WAIT:15 LOGINS:10",
                "SHUTDOWN_PENDING:3 DATABASE_STATUS:17 INSTANCE_ROLE:18 ACTIVE_STATE:9 BLOCKED:3 CON_ID@12.1",
                "INSTANCE_MODE:11@12.1 EDITION:7@12.1 FAMILY:80@12.1 DATABASE_TYPE:15@12.2",
            ),
            rows=db_rows.instance_row,
        ),
        "V$VERSION": View(
            columns=_columns("BANNER:80 BANNER_FULL:160@18 BANNER_LEGACY:80@18 CON_ID@12.1"), rows=db_rows.version_row
        ),
        "V$PARAMETER": View(columns=_PARAMETER_COLUMNS, rows=db_rows.parameter_rows),
        "V$DATABASE": View(
            columns=_columns(
                "DBID NAME:9 CREATED:date LOG_MODE:12 OPEN_MODE:20 DATABASE_ROLE:16 PLATFORM_NAME:101 FLASHBACK_ON:18",
                "CURRENT_SCN DB_UNIQUE_NAME:30 FORCE_LOGGING:39 CDB:3@12.1 CON_ID@12.1",
            ),
            rows=db_rows.database_row,
            where="db",
        ),
        "V$LOG": View(
            columns=_columns(
                "GROUP# THREAD# SEQUENCE# BYTES BLOCKSIZE MEMBERS ARCHIVED:3 STATUS:16 FIRST_CHANGE# FIRST_TIME:date",
                "NEXT_CHANGE# NEXT_TIME:date CON_ID@12.1",
            ),
            rows=db_rows.logs,
            where="db",
        ),
        "V$LOGFILE": View(
            columns=_columns("GROUP# STATUS:7 TYPE:7 MEMBER:513 IS_RECOVERY_DEST_FILE:3 CON_ID@12.1"),
            rows=db_rows.log_files,
            where="db",
        ),
        "DBA_SEGMENTS": View(
            columns=_columns(
                "OWNER:128 SEGMENT_NAME:128 PARTITION_NAME:128 SEGMENT_TYPE:18 SEGMENT_SUBTYPE:10 TABLESPACE_NAME:30",
                "HEADER_FILE HEADER_BLOCK BYTES BLOCKS EXTENTS INITIAL_EXTENT NEXT_EXTENT",
                _STORAGE,
            ),
            rows=segment_rows.segments,
            where="db",
        ),
        "DBA_OBJECTS": View(
            columns=_columns(
                "OWNER:128 OBJECT_NAME:128 SUBOBJECT_NAME:128 OBJECT_ID DATA_OBJECT_ID OBJECT_TYPE:23 STATUS:7"
            ),
            rows=segment_rows.all_objects,
            where="db",
        ),
        "DBA_TABLES": View(
            columns=_columns(
                "OWNER:128 TABLE_NAME:128 TABLESPACE_NAME:30 STATUS:8 NUM_ROWS BLOCKS PARTITIONED:3", _STORAGE
            ),
            rows=segment_rows.objects("TABLE"),
            where="db",
        ),
        "DBA_INDEXES": View(
            columns=_columns(
                "OWNER:128 INDEX_NAME:128 INDEX_TYPE:27 TABLE_OWNER:128 TABLE_NAME:128 TABLE_TYPE:11 UNIQUENESS:9",
                "TABLESPACE_NAME:30 STATUS:8 NUM_ROWS PARTITIONED:3",
                _STORAGE,
            ),
            rows=segment_rows.objects("INDEX"),
            where="db",
        ),
        "DBA_TAB_PARTITIONS": View(
            columns=_columns(
                "TABLE_OWNER:128 TABLE_NAME:128 PARTITION_NAME:128 PARTITION_POSITION TABLESPACE_NAME:30 NUM_ROWS BLOCKS",
                _STORAGE,
            ),
            rows=segment_rows.partitions,
            where="db",
        ),
        "V$SYSSTAT": View(
            columns=_columns("STATISTIC# NAME:64 CLASS VALUE STAT_ID CON_ID@12.1"), rows=stat_rows.sysstat
        ),
        "V$STATNAME": View(
            columns=_columns("STATISTIC# NAME:64 CLASS STAT_ID DISPLAY_NAME:64@12.1 CON_ID@12.1"),
            rows=stat_rows.statname,
        ),
        "V$SESSTAT": View(columns=_columns("SID STATISTIC# VALUE CON_ID@12.1"), rows=stat_rows.session_statistics),
        "V$CELL": View(columns=_columns("CELL_PATH:400 CELL_HASHVAL CON_ID@12.1"), rows=cell_views.cells),
        "V$CELL_CONFIG": View(
            columns=_columns("CELLNAME:1024 CONFTYPE:15 CONFVAL:4000 CON_ID@12.1"), rows=cell_views.configurations
        ),
        "V$SESSION": View(
            columns=_columns(
                "SADDR:16 SID SERIAL# AUDSID PADDR:16 USER# USERNAME:128 COMMAND OWNERID STATUS:8 SERVER:9 SCHEMA#",
                "SCHEMANAME:128 OSUSER:128 PROCESS:24 MACHINE:64 PORT TERMINAL:30 PROGRAM:48 TYPE:10 SQL_ADDRESS:16",
                "SQL_HASH_VALUE SQL_ID:13 SQL_CHILD_NUMBER PREV_SQL_ID:13 MODULE:64 ACTION:64 CLIENT_INFO:64",
                "LOGON_TIME:date LAST_CALL_ET BLOCKING_SESSION_STATUS:11 BLOCKING_INSTANCE BLOCKING_SESSION SEQ# EVENT#",
                "EVENT:64 P1TEXT:64 P1 P2TEXT:64 P2 P3TEXT:64 P3 WAIT_CLASS# WAIT_CLASS:64 WAIT_TIME SECONDS_IN_WAIT",
                "STATE:19 SERVICE_NAME:64 CON_ID@12.1",
            ),
            rows=session_rows.sessions,
        ),
        "V$PROCESS": View(
            columns=_columns(
                "ADDR:16 PID SPID:24 PNAME:5 USERNAME:15 SERIAL# TERMINAL:30 PROGRAM:48 TRACEID:255 TRACEFILE:513",
                "BACKGROUND:1 PGA_USED_MEM PGA_ALLOC_MEM PGA_FREEABLE_MEM PGA_MAX_MEM CON_ID@12.1",
            ),
            rows=session_rows.processes,
        ),
        "V$SGA": View(columns=_columns("NAME:20 VALUE CON_ID@12.1"), rows=session_rows.memory),
        "X$KSPPI": View(
            columns=_columns("ADDR:16 INDX INST_ID CON_ID@12.1 KSPPINM:80 KSPPITY KSPPDESC:255 KSPPIFLG"),
            rows=session_rows.parameter_names,
        ),
        "X$KSPPCV": View(columns=_HIDDEN_VALUES, rows=session_rows.parameter_values),
        "X$KSPPSV": View(columns=_HIDDEN_VALUES, rows=session_rows.parameter_values),
        "V$DATAFILE": View(
            columns=_columns(
                "FILE# CREATION_CHANGE# CREATION_TIME:date TS# RFILE# STATUS:7 ENABLED:10 CHECKPOINT_CHANGE#",
                "CHECKPOINT_TIME:date BYTES BLOCKS CREATE_BYTES BLOCK_SIZE NAME:513 CON_ID@12.1",
            ),
            rows=file_rows.data_files,
            where="db",
        ),
        "V$TEMPFILE": View(
            columns=_columns(
                "FILE# CREATION_CHANGE# CREATION_TIME:date TS# RFILE# STATUS:7 ENABLED:10 BYTES BLOCKS CREATE_BYTES",
                "BLOCK_SIZE NAME:513 CON_ID@12.1",
            ),
            rows=file_rows.temporary_files,
            where="db",
        ),
        "V$CONTROLFILE": View(
            columns=_columns("STATUS:7 NAME:513 IS_RECOVERY_DEST_FILE:3 BLOCK_SIZE FILE_SIZE_BLKS CON_ID@12.1"),
            rows=file_rows.control_files,
            where="db",
        ),
        "V$TABLESPACE": View(
            columns=_columns("TS# NAME:30 INCLUDED_IN_DATABASE_BACKUP:3 BIGFILE:3 FLASHBACK_ON:3 CON_ID@12.1"),
            rows=file_rows.tablespaces,
            where="db",
        ),
        "DBA_DATA_FILES": View(
            columns=_columns(
                "FILE_NAME:513 FILE_ID TABLESPACE_NAME:30 BYTES BLOCKS STATUS:9 RELATIVE_FNO AUTOEXTENSIBLE:3 MAXBYTES",
                "MAXBLOCKS INCREMENT_BY USER_BYTES USER_BLOCKS ONLINE_STATUS:7",
            ),
            rows=file_rows.dictionary_files,
            where="db",
        ),
        "DBA_TEMP_FILES": View(
            columns=_columns(
                "FILE_NAME:513 FILE_ID TABLESPACE_NAME:30 BYTES BLOCKS STATUS:7 RELATIVE_FNO AUTOEXTENSIBLE:3 MAXBYTES",
                "MAXBLOCKS INCREMENT_BY USER_BYTES USER_BLOCKS",
            ),
            rows=file_rows.dictionary_temporary_files,
            where="db",
        ),
        "V$SQL": View(
            columns=_columns(
                "SQL_TEXT:1000 SQL_FULLTEXT:4000 SQL_ID:13 SHARABLE_MEM SORTS LOADED_VERSIONS USERS_EXECUTING EXECUTIONS",
                "PX_SERVERS_EXECUTIONS FIRST_LOAD_TIME:19 INVALIDATIONS PARSE_CALLS DISK_READS DIRECT_WRITES BUFFER_GETS",
                "APPLICATION_WAIT_TIME CONCURRENCY_WAIT_TIME CLUSTER_WAIT_TIME USER_IO_WAIT_TIME ROWS_PROCESSED",
                "COMMAND_TYPE OPTIMIZER_COST PARSING_SCHEMA_NAME:128 HASH_VALUE PLAN_HASH_VALUE CHILD_NUMBER SERVICE:64",
                "MODULE:64 ACTION:64 CPU_TIME ELAPSED_TIME OBJECT_STATUS:19 LAST_LOAD_TIME:19 LAST_ACTIVE_TIME:date",
                "SQL_PROFILE:64 SQL_PLAN_BASELINE:128 IO_CELL_OFFLOAD_ELIGIBLE_BYTES@11.2 IO_INTERCONNECT_BYTES@11.2",
                "PHYSICAL_READ_REQUESTS PHYSICAL_READ_BYTES PHYSICAL_WRITE_REQUESTS PHYSICAL_WRITE_BYTES",
                "OPTIMIZED_PHY_READ_REQUESTS IO_CELL_UNCOMPRESSED_BYTES IO_CELL_OFFLOAD_RETURNED_BYTES CON_ID@12.1",
            ),
            rows=file_rows.no_statements,
        ),
        "V$MYSTAT": View(columns=_columns("SID STATISTIC# VALUE CON_ID@12.1"), rows=stat_rows.session_statistics),
    }
)

_SYNONYMS = {
    **{
        f"{g}V${name}": f"{g}V$PARAMETER"
        for name in ("SYSTEM_PARAMETER", "SPPARAMETER", "PARAMETER2")
        for g in ("", "G")
    },
    **{f"ALL_{name}": f"DBA_{name}" for name in ("TABLES", "INDEXES", "TAB_PARTITIONS")},
}
