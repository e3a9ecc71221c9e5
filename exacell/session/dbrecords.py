"""Turn the query results of a database instance into the records that checks name. Pure.

``db.trace`` holds the enabled traces, ``db.session`` the users' sessions, ``db.parameter`` the values of parameters in memory
and in the server parameter file, for each instance and for all (``*``), ``db.log`` the redo log groups, ``db.instance`` the
instances with their threads and hosts, ``db.diskgroup`` the disk groups as the database sees them, ``db.table`` and
``db.index`` the storage settings of the tables and indexes that checks name, ``db.place`` and ``db.placeIndex`` a table's
tablespace and its indexes, ``db.tablespace`` the tablespaces that checks name.

Source: Oracle Database Reference: DBA_ENABLED_TRACES, V$SESSION, V$SYSTEM_PARAMETER, V$SPPARAMETER, V$LOG, V$STANDBY_LOG,
V$LOGFILE, GV$INSTANCE, V$ASM_DISKGROUP, DBA_TABLES, DBA_INDEXES.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from exacell.plan.dbchange import literal
from exacell.plan.model import Check

Row = Sequence[Any]

_TRACES = """\
select 'trace' kind, trace_type a, nvl(primary_id, '-') b, nvl(qualifier_id1, '-') c, nvl(qualifier_id2, '-') d, \
waits e, nvl(instance_name, '-') f from dba_enabled_traces \
union all select 'session', to_char(sid), to_char(serial#), sql_trace, '-', sql_trace_waits, nvl(module, '-') \
from v$session where type = 'USER'"""
"""The query for enabled traces. Source: Oracle Database Reference, DBA_ENABLED_TRACES, V$SESSION."""

_LOGS = """\
select 'log' kind, to_char(group#) a, to_char(thread#) b, to_char(bytes) c, to_char(blocksize) d, status e from v$log \
union all select 'standby', to_char(group#), to_char(thread#), to_char(bytes), to_char(blocksize), status from v$standby_log \
union all select 'file', to_char(group#), member, '-', '-', '-' from v$logfile"""

_PARAMETERS = """\
select 'instance' kind, instance_name sid, '-' name, '-' value from gv$instance \
union all select 'memory', i.instance_name, p.name, p.value from gv$system_parameter p, gv$instance i \
where i.inst_id = p.inst_id and p.name in ({0}) \
union all select distinct 'entry', sid, '-', '-' from v$spparameter where isspecified = 'TRUE' \
union all select 'spfile', sid, name, value from v$spparameter where isspecified = 'TRUE' and name in ({0})"""
"""The values in effect for each instance, and the entries under each SID. Source: Oracle Database Reference,
V$SYSTEM_PARAMETER ("currently in effect for the instance"), V$SPPARAMETER ("SID for which the parameter is defined")."""

_LOOKS: Mapping[str, tuple[str, ...]] = {
    _TRACES: ("db.trace", "db.session"),
    _LOGS: ("db.log",),
    "select instance_name, thread#, host_name from gv$instance": ("db.instance",),
    "select name, sector_size, usable_file_mb from v$asm_diskgroup": ("db.diskgroup",),
}
_SEGMENTS = {
    "db.table": "select owner, table_name, cell_flash_cache from dba_tables where owner = {} and table_name = {}",
    "db.index": "select owner, index_name, cell_flash_cache from dba_indexes where owner = {} and index_name = {}",
}

_PLACE = """\
select 'table' kind, owner a, table_name b, tablespace_name c from dba_tables where owner = {0} and table_name = {1} \
union all select 'bytes', to_char(nvl(sum(bytes), 0)), '-', '-' from dba_segments \
where owner = {0} and segment_name = {1} and segment_type like 'TABLE%' \
union all select 'kind', iot_type, temporary, partitioned from dba_tables where owner = {0} and table_name = {1} \
union all select 'index', owner, index_name, status from dba_indexes where table_owner = {0} and table_name = {1} \
and index_type not in ('LOB', 'IOT - TOP')"""
_SPACES = """\
select 'space' kind, tablespace_name a, contents b from dba_tablespaces where tablespace_name in ({0}) \
union all select 'file', tablespace_name, file_name from dba_data_files where tablespace_name in ({0}) \
union all select 'bytes', tablespace_name, to_char(sum(bytes)) from dba_data_files where tablespace_name in ({0}) \
group by tablespace_name \
union all select 'free', tablespace_name, to_char(sum(bytes)) from dba_free_space where tablespace_name in ({0}) \
group by tablespace_name \
union all select 'segments', tablespace_name, to_char(count(*)) from dba_segments where tablespace_name in ({0}) \
group by tablespace_name \
union all select 'tables', tablespace_name, to_char(count(*)) from dba_tables where tablespace_name in ({0}) \
group by tablespace_name \
union all select 'users', default_tablespace, to_char(count(*)) from dba_users where default_tablespace in ({0}) \
group by default_tablespace \
union all select 'bigfile', tablespace_name, bigfile from dba_tablespaces where tablespace_name in ({0}) \
union all select 'trait', tablespace_name, 'ENCRYPTED' from dba_tablespaces \
where tablespace_name in ({0}) and encrypted = 'YES' \
union all select 'trait', tablespace_name, 'compressed by default' from dba_tablespaces \
where tablespace_name in ({0}) and def_tab_compression = 'ENABLED' \
union all select 'trait', tablespace_name, logging from dba_tablespaces \
where tablespace_name in ({0}) and logging <> 'LOGGING' \
union all select 'trait', tablespace_name, 'FORCE LOGGING' from dba_tablespaces \
where tablespace_name in ({0}) and force_logging = 'YES' \
union all select 'trait', tablespace_name, status from dba_tablespaces \
where tablespace_name in ({0}) and status <> 'ONLINE' \
union all select 'trait', tablespace_name, 'SEGMENT SPACE MANAGEMENT ' || segment_space_management from dba_tablespaces \
where tablespace_name in ({0}) and segment_space_management <> 'AUTO' \
union all select 'trait', tablespace_name, 'ALLOCATION ' || allocation_type from dba_tablespaces \
where tablespace_name in ({0}) and allocation_type <> 'SYSTEM' \
union all select 'trait', tablespace_name, 'BLOCKSIZE ' || to_char(block_size) from dba_tablespaces \
where tablespace_name in ({0}) and block_size <> 8192 \
union all select 'default', property_value, '-' from database_properties \
where property_name = 'DEFAULT_PERMANENT_TABLESPACE' and property_value in ({0}) \
union all select distinct 'trait', tablespace_name, 'AUTOEXTEND' from dba_data_files \
where tablespace_name in ({0}) and autoextensible = 'YES'"""
"""A table's place and a tablespace. Source: Oracle Database Reference, DBA_TABLES, DBA_SEGMENTS, DBA_INDEXES, DBA_TABLESPACES,
DBA_DATA_FILES, DBA_FREE_SPACE, DBA_USERS, DATABASE_PROPERTIES."""


def looks(checks: Sequence[Check]) -> dict[str, str]:
    """Return the queries for the objects that checks name, each under the object it is for."""
    wanted = {check.object for check in checks}
    found = {objects[0]: sql for sql, objects in _LOOKS.items() if wanted & set(objects)}
    if names := _names(checks):
        found["db.parameter"] = _PARAMETERS.format(", ".join(map(literal, names)))
    for check in checks:
        if check.object in _SEGMENTS:
            owner, name = (literal(str(check.where[word])) for word in ("owner", "name"))
            found[check.object] = _SEGMENTS[check.object].format(owner, name)
        elif check.object in ("db.place", "db.placeIndex"):
            words = ("owner", "name") if check.object == "db.place" else ("tableOwner", "table")
            found["db.place"] = _PLACE.format(*(literal(str(check.where[word])) for word in words))
    if spaces := _named(checks, "db.tablespace", "name"):
        found["db.tablespace"] = _SPACES.format(", ".join(map(literal, spaces)))
    return found


def read_look(look: str, rows: Sequence[Row], checks: Sequence[Check]) -> dict[str, list[dict[str, Any]]]:
    """Return the records of a query's rows by object; ``look`` is the query's key in :func:`looks`."""
    if look == "db.trace":
        return _traces(rows)
    if look == "db.log":
        return {"db.log": _logs(rows)}
    if look == "db.parameter":
        return {"db.parameter": _parameters(rows, _names(checks))}
    if look == "db.instance":
        return {look: [{"name": str(name), "thread": int(thread), "host": str(host)} for name, thread, host in rows]}
    if look == "db.place":
        return _place(rows)
    if look == "db.tablespace":
        return {look: _spaces(rows)}
    if look == "db.diskgroup":
        return {
            look: [{"name": str(name), "sectorSize": int(sector), "usableMb": int(mb)} for name, sector, mb in rows]
        }
    return {
        look: [{"owner": str(owner), "name": str(name), "cache": value and str(value)} for owner, name, value in rows]
    }


def _traces(rows: Sequence[Row]) -> dict[str, list[dict[str, Any]]]:
    traces, sessions = [], []
    for kind, *texts in rows:
        a, b, c, d, e, f = (str(text) for text in texts)
        if kind == "trace":
            name = " ".join(part for part in (a, b, c, d) if part != "-")
            trace = {"type": a, "service": b, "module": c, "action": d, "waits": e, "instance": f}
            traces.append({"name": name, **trace, "trace": "ENABLED"})
        else:
            sessions.append({"name": f"{a},{b}", "sid": a, "serial": b, "trace": c, "waits": e, "module": f})
    return {"db.trace": traces, "db.session": sessions}


def _logs(rows: Sequence[Row]) -> list[dict[str, Any]]:
    members: dict[str, list[str]] = {}
    for kind, group, member, *_ in rows:
        if kind == "file":
            members.setdefault(str(group), []).append(str(member).removeprefix("+").partition("/")[0].upper())
    return [
        {
            "name": str(group),
            "type": kind,
            "thread": int(thread),
            "bytes": int(size),
            "blockSize": int(block),
            "status": str(status),
            "diskgroups": tuple(members.get(str(group), ())),
        }
        for kind, group, thread, size, block, status in rows
        if kind != "file"
    ]


def _place(rows: Sequence[Row]) -> dict[str, list[dict[str, Any]]]:
    tables, indexes, size, iot, temporary = [], [], 0, False, False
    for kind, a, b, c in rows:
        if kind == "table":
            tables.append({"owner": str(a), "name": str(b), "tablespace": c and str(c)})
        elif kind == "bytes":
            size = int(a)
        elif kind == "kind":
            iot, temporary = a is not None, str(b) == "Y"
        else:
            indexes.append({"owner": str(a), "name": str(b), "status": str(c)})
    of = {"tableOwner": tables[0]["owner"], "table": tables[0]["name"]} if tables else {}
    return {
        "db.place": [{**table, "bytes": size, "iot": iot, "temporary": temporary} for table in tables],
        "db.placeIndex": [{**of, **index} for index in indexes],
    }


def _spaces(rows: Sequence[Row]) -> list[dict[str, Any]]:
    found: dict[str, dict[str, Any]] = {}
    whole: dict[str, Any]
    files: dict[str, list[str]] = {}
    for kind, name, told in rows:
        if kind == "space":
            whole = dict.fromkeys(("bytes", "free", "segments", "tables", "users"), 0)
            whole |= {"name": str(name), "contents": str(told), "diskgroups": (), "bigfile": False}
            whole |= {"traits": (), "default": False}
            found[str(name)] = whole
        elif kind == "file":
            files.setdefault(str(name), []).append(str(told).removeprefix("+").partition("/")[0].upper())
    for kind, name, told in rows:
        if str(name) not in found:
            continue
        if kind in ("bytes", "free", "segments", "tables", "users"):
            found[str(name)][kind] = int(told)
        elif kind == "bigfile":
            found[str(name)]["bigfile"] = str(told) == "YES"
        elif kind == "default":
            found[str(name)]["default"] = True
        elif kind == "trait":
            found[str(name)]["traits"] += (str(told),)
    for name, groups in files.items():
        if name in found:
            found[name]["diskgroups"] = tuple(groups)
    return list(found.values())


def _names(checks: Sequence[Check]) -> tuple[str, ...]:
    """Return the parameters that checks name."""
    return _named(checks, "db.parameter", "parameter")


def _named(checks: Sequence[Check], kind: str, word: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(str(check.where[word]) for check in checks if check.object == kind))


def _parameters(rows: Sequence[Row], names: Sequence[str]) -> list[dict[str, Any]]:
    """Return each parameter for each SID, ``*`` first; the value None means that nobody has set it.

    An entry of the server parameter file may write its SID in another case than the running instance.
    """
    sids = {"*": "*"}
    for wanted in ("instance", "entry"):
        for sid in (str(sid) for kind, sid, *_ in rows if kind == wanted):
            sids.setdefault(sid.lower(), sid)
    found: dict[tuple[str, str], dict[str, Any]] = {
        (name, sid): {
            "name": name if sid == "*" else f"{name} of {told}",
            "parameter": name,
            "sid": told,
            "memory": None,
            "spfile": None,
        }
        for name in names
        for sid, told in sids.items()
    }
    for kind, sid, name, value in rows:
        if kind in ("memory", "spfile"):
            found[str(name).lower(), str(sid).lower()][kind] = None if value is None else str(value)
    return list(found.values())
