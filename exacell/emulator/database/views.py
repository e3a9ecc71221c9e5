"""The V$ views of the emulated ASM instances and databases: their columns and the functions that make their rows.

Columns, their order and the releases that have them are data (``data/sql_views.tsv``); declared widths are those of Oracle's
own views, because SQL*Plus uses them as column widths.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from types import MappingProxyType

from exacell.emulator.asm.instances import Instance
from exacell.emulator.basics.schema import rows_of
from exacell.emulator.basics.versions import Version
from exacell.emulator.database import (
    asm_rows,
    awr_rows,
    cell_views,
    db_rows,
    dictionary_rows,
    event_rows,
    extent_rows,
    file_rows,
    io_calibration,
    segment_rows,
    session_rows,
)
from exacell.emulator.sql.scope import Relation, ResultColumn, Row
from exacell.emulator.sql.values import DATE, NUMBER, TIMESTAMP, ColumnType, Kind, Value, char
from exacell.emulator.work.tables import UserTable, known_as

Rows = Callable[[Instance], Iterator[Mapping[str, Value]]]


@dataclass(frozen=True, kw_only=True)
class View:
    """One view.

    Attributes:
        columns: name, type and first release of each, in order.
        rows: returns a mapping for each row; missing numbers are 0, other missing columns are NULL.
        where: ``asm``, ``db`` or ``both``: the kind of instance that has rows in it.
    """

    columns: tuple[tuple[str, ColumnType, Version], ...]
    rows: Rows
    where: str = "both"


def catalog(instance: Instance) -> Callable[[str], Relation | None]:
    """Return a function that returns the content of a view on ``instance``, by upper-case name with or without its owner."""

    def find(named: str) -> Relation | None:
        owner, _, name = named.rpartition(".")
        own = _user_table(instance, known_as(owner, name))
        if own is not None:
            return own
        plain = name.replace("V_$", "V$", 1) if name.startswith(("V_$", "GV_$")) else name
        plain = _SYNONYMS.get(plain, plain)
        everywhere = plain.startswith("GV$")
        view = views().get(plain.removeprefix("G") if everywhere else plain)
        if view is None or not any(since <= instance.asm.version for _, _, since in view.columns):
            return None
        return _relation(view, instance, everywhere)

    return find


def _user_table(instance: Instance, name: str) -> Relation | None:
    """Return a user's table; None if there is none of that name."""
    table = user_tables(instance).get(name)
    if table is None:
        return None
    return Relation(tuple(ResultColumn(c.name, c.type) for c in table.columns), table.shown())


def user_tables(instance: Instance) -> dict[str, UserTable]:
    """Return the users' tables of a database by name, as a dict that may be changed; empty for an ASM instance."""
    if instance.database is None:
        return {}
    work = instance.asm.rack.work
    return work.tables.setdefault(work.desk(instance).name, {})


def _relation(view: View, instance: Instance, everywhere: bool) -> Relation:
    version = instance.asm.version
    columns = [ResultColumn(name, kind) for name, kind, since in view.columns if since <= version]
    kind = "db" if instance.database else "asm"
    nodes = range(len(instance.asm.nodes)) if everywhere else [instance.node]
    missing: dict[Kind, Value] = {Kind.NUMBER: 0, Kind.CHAR: None, Kind.DATE: None}
    rows: list[Row] = []
    for node in nodes if view.where in ("both", kind) else []:
        there = instance if node == instance.node else replace(instance, node=node, sid=0)
        first: tuple[Value, ...] = (node + 1,) if everywhere else ()
        for row in view.rows(there):
            rows.append((*first, *(row.get(column.name, missing[column.type.kind]) for column in columns)))
    if everywhere:
        columns.insert(0, ResultColumn("INST_ID", NUMBER))
    return Relation(tuple(columns), rows)


@cache
def views() -> Mapping[str, View]:
    """Return every view by its name."""
    found = {
        name: View(columns=_columns(columns), rows=_ROWS.get(name, _nothing), where=where)
        for name, where, columns in rows_of("sql_views.tsv", "emulator")
    }
    return MappingProxyType(found)


def _columns(text: str) -> tuple[tuple[str, ColumnType, Version], ...]:
    """Return columns from the forms ``NAME`` (number), ``NAME:30`` (text), ``NAME:date``; ``@12.2`` means since that release."""
    columns: list[tuple[str, ColumnType, Version]] = []
    for word in text.split():
        spec, _, since = word.partition("@")
        name, _, kind = spec.partition(":")
        column = _DATES[kind] if kind in _DATES else char(int(kind)) if kind else NUMBER
        columns.append((name, column, tuple(int(part) for part in since.split(".")) if since else ()))
    return tuple(columns)


_DATES = {"date": DATE, "timestamp": TIMESTAMP}


def _nothing(_: Instance) -> Iterator[Mapping[str, Value]]:
    return iter(())


_ROWS: Mapping[str, Rows] = MappingProxyType(
    {
        "DUAL": db_rows.dual,
        "V$ASM_DISKGROUP": asm_rows.disk_groups,
        "V$ASM_DISKGROUP_STAT": asm_rows.disk_groups,
        "V$ASM_DISK": asm_rows.disks,
        "X$KFDPARTNER": asm_rows.partners,
        "V$ASM_DISK_STAT": asm_rows.disks,
        "V$ASM_DISK_IOSTAT": asm_rows.client_io,
        "V$ASM_OPERATION": asm_rows.operations,
        "V$ASM_CLIENT": asm_rows.clients,
        "V$ASM_FILE": asm_rows.files,
        "V$ASM_ALIAS": asm_rows.aliases,
        "V$ASM_ATTRIBUTE": asm_rows.attributes,
        "V$ASM_TEMPLATE": asm_rows.templates,
        "V$INSTANCE": db_rows.instance_row,
        "V$VERSION": db_rows.version_row,
        "V$PARAMETER": db_rows.parameter_rows,
        "V$SPPARAMETER": db_rows.spfile_rows,
        "V$DATABASE": db_rows.database_row,
        "V$LOG": db_rows.logs,
        "V$LOGFILE": db_rows.log_files,
        "V$STANDBY_LOG": db_rows.standby_logs,
        "DBA_SEGMENTS": segment_rows.segments,
        "DBA_OBJECTS": segment_rows.all_objects,
        "DBA_TABLES": segment_rows.objects("TABLE"),
        "DBA_INDEXES": segment_rows.objects("INDEX"),
        "DBA_TAB_PARTITIONS": segment_rows.partitions,
        "V$SYSSTAT": event_rows.sysstat,
        "V$STATNAME": event_rows.statname,
        "V$SESSTAT": event_rows.session_statistics,
        "V$CELL": cell_views.cells,
        "V$CELL_CONFIG": cell_views.configurations,
        "V$SESSION": session_rows.sessions,
        "V$PROCESS": session_rows.processes,
        "V$DIAG_INFO": session_rows.diagnostics,
        "DBA_ENABLED_TRACES": session_rows.enabled_traces,
        "V$SGA": session_rows.memory,
        "X$KSPPI": session_rows.parameter_names,
        "X$KSPPCV": session_rows.parameter_values,
        "X$KSPPSV": session_rows.parameter_values,
        "V$DATAFILE": file_rows.data_files,
        "V$TEMPFILE": file_rows.temporary_files,
        "V$CONTROLFILE": file_rows.control_files,
        "V$TABLESPACE": file_rows.tablespaces,
        "DBA_DATA_FILES": file_rows.dictionary_files,
        "DBA_TEMP_FILES": file_rows.dictionary_temporary_files,
        "V$SQL": file_rows.no_statements,
        "V$MYSTAT": event_rows.session_statistics,
        "X$KFFXP": extent_rows.extents,
        "V$CELL_STATE": cell_views.states,
        "V$EVENT_NAME": event_rows.event_names,
        "V$SYSTEM_EVENT": event_rows.system_events,
        "V$SYSTEM_WAIT_CLASS": event_rows.wait_classes,
        "V$EVENT_HISTOGRAM": event_rows.event_histogram,
        "V$EVENT_HISTOGRAM_MICRO": event_rows.event_histogram_micro,
        "V$SESSION_EVENT": event_rows.session_events,
        "V$SESSION_WAIT": event_rows.session_waits,
        "V$OSSTAT": dictionary_rows.system_resources,
        "V$OPTION": dictionary_rows.options,
        "V$THREAD": dictionary_rows.threads,
        "V$ACTIVE_INSTANCES": dictionary_rows.active_instances,
        "V$SERVICES": dictionary_rows.services,
        "V$ACTIVE_SERVICES": dictionary_rows.services,
        "V$ARCHIVED_LOG": dictionary_rows.archived_logs,
        "V$LOG_HISTORY": dictionary_rows.log_history,
        "V$RECOVERY_FILE_DEST": dictionary_rows.recovery_area,
        "V$RECOVERY_AREA_USAGE": dictionary_rows.recovery_area_usage,
        "V$FLASH_RECOVERY_AREA_USAGE": dictionary_rows.recovery_area_usage,
        "DBA_TABLESPACES": dictionary_rows.dictionary_tablespaces,
        "DBA_FREE_SPACE": dictionary_rows.free_space,
        "DATABASE_PROPERTIES": dictionary_rows.properties,
        "DBA_USERS": dictionary_rows.users,
        "ALL_USERS": dictionary_rows.users,
        "DBA_REGISTRY": dictionary_rows.components,
        "PRODUCT_COMPONENT_VERSION": dictionary_rows.products,
        "GLOBAL_NAME": dictionary_rows.global_name,
        "NLS_DATABASE_PARAMETERS": dictionary_rows.languages,
        "NLS_SESSION_PARAMETERS": dictionary_rows.languages,
        "NLS_INSTANCE_PARAMETERS": dictionary_rows.languages,
        "V$NLS_PARAMETERS": dictionary_rows.languages,
        "DBA_RSRC_IO_CALIBRATE": io_calibration.last_run,
        "DBA_HIST_SNAPSHOT": awr_rows.snapshots,
        "DBA_HIST_SYSSTAT": awr_rows.statistics,
        "DBA_HIST_SYSTEM_EVENT": awr_rows.events,
        "DBA_HIST_DATABASE_INSTANCE": awr_rows.instances,
        "DBA_HIST_WR_CONTROL": awr_rows.control,
    }
)
"""The functions that make the rows of each view; views that are not here are empty, because the emulator has nothing like them.
"""

_SCOPED = (
    "CONSTRAINTS", "DB_LINKS", "INDEXES", "IND_PARTITIONS", "JOBS", "LOBS", "MVIEWS", "OBJECTS", "SCHEDULER_JOBS",
    "SEGMENTS", "SYNONYMS", "TABLES", "TAB_PARTITIONS", "TRIGGERS",
)  # fmt: skip
"""Views of the dictionary that exist with the prefixes DBA_, ALL_ and USER_."""

_SYNONYMS = {
    **{f"{g}V${name}": f"{g}V$PARAMETER" for name in ("SYSTEM_PARAMETER", "PARAMETER2") for g in ("", "G")},
    **{f"{scope}_{name}": f"DBA_{name}" for name in _SCOPED for scope in ("ALL", "USER")},
    **{f"CDB_{name}": f"DBA_{name}" for name in (*_SCOPED, "DATA_FILES", "TABLESPACES", "REGISTRY", "USERS")},
}
