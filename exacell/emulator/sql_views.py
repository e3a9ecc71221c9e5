"""The V$ views of the emulated ASM instances and databases: which columns they have, and how they are found.

Columns, their order and the releases that have them are data (``data/sql_views.tsv``); declared widths are those of Oracle's
own views, because SQL*Plus lays out its columns by them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType

from exacell.emulator import asm_rows, cell_views, db_rows, file_rows, segment_rows, session_rows, stat_rows
from exacell.emulator.asm_attributes import Version
from exacell.emulator.instances import Instance
from exacell.emulator.schema import rows_of
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
        view = views().get(plain.removeprefix("G") if everywhere else plain)
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


@cache
def views() -> Mapping[str, View]:
    """Return every view by its name."""
    found = {
        name: View(columns=_columns(columns), rows=_ROWS[name], where=where)
        for name, where, columns in rows_of("sql_views.tsv", "emulator")
    }
    return MappingProxyType(found)


def _columns(text: str) -> tuple[tuple[str, ColumnType, Version], ...]:
    """Return columns from ``NAME`` (number), ``NAME:30`` (text), ``NAME:date``; ``@12.2``: since that release."""
    columns: list[tuple[str, ColumnType, Version]] = []
    for word in text.split():
        spec, _, since = word.partition("@")
        name, _, kind = spec.partition(":")
        column = DATE if kind == "date" else char(int(kind)) if kind else NUMBER
        columns.append((name, column, tuple(int(part) for part in since.split(".")) if since else ()))
    return tuple(columns)


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
        "V$DATABASE": db_rows.database_row,
        "V$LOG": db_rows.logs,
        "V$LOGFILE": db_rows.log_files,
        "DBA_SEGMENTS": segment_rows.segments,
        "DBA_OBJECTS": segment_rows.all_objects,
        "DBA_TABLES": segment_rows.objects("TABLE"),
        "DBA_INDEXES": segment_rows.objects("INDEX"),
        "DBA_TAB_PARTITIONS": segment_rows.partitions,
        "V$SYSSTAT": stat_rows.sysstat,
        "V$STATNAME": stat_rows.statname,
        "V$SESSTAT": stat_rows.session_statistics,
        "V$CELL": cell_views.cells,
        "V$CELL_CONFIG": cell_views.configurations,
        "V$SESSION": session_rows.sessions,
        "V$PROCESS": session_rows.processes,
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
        "V$MYSTAT": stat_rows.session_statistics,
    }
)
"""What finds the rows of each view."""

_SYNONYMS = {
    **{
        f"{g}V${name}": f"{g}V$PARAMETER"
        for name in ("SYSTEM_PARAMETER", "SPPARAMETER", "PARAMETER2")
        for g in ("", "G")
    },
    **{f"ALL_{name}": f"DBA_{name}" for name in ("TABLES", "INDEXES", "TAB_PARTITIONS")},
}
