"""The rows of the views of an instance's processes, sessions and memory, and of the X$ tables of its parameters.

Names and columns follow the Oracle Database Reference (V$SESSION, V$PROCESS, V$SGA, V$DIAG_INFO). The rows are the background
processes and the users' sessions; addresses and sizes are made up.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from exacell.core.units import MIB
from exacell.emulator.asm.instances import Instance
from exacell.emulator.database.db_rows import parameters
from exacell.emulator.sql.values import Value, from_epoch
from exacell.emulator.storage.tracing import ADR_BASE, trace_directory
from exacell.emulator.work.sessions import OWN_SESSION

if TYPE_CHECKING:
    from exacell.emulator.work.sessions import UserSession

_BACKGROUND = ("PMON", "VKTM", "DIAG", "DIA0", "LMON", "LMD0", "LMS0", "LCK0", "DBW0", "LGWR", "CKPT", "SMON", "RECO")
_OF_ASM = (*_BACKGROUND[:-1], "RBAL", "GMON", "ASMB")
_FIRST_OS_PROCESS = 9012


def _processes(instance: Instance) -> Iterator[tuple[int, str]]:
    """Yield number and name of each process; the name is empty for users' sessions."""
    names = _OF_ASM if instance.database is None else _BACKGROUND
    yield from enumerate(names, start=2)
    for number in _users(instance) or (OWN_SESSION,):
        yield number, ""


def _users(instance: Instance) -> Mapping[int, UserSession]:
    """Return the sessions of users by number; for ASM there are none."""
    return instance.asm.rack.work.desk(instance).sessions if instance.database is not None else {}


def _program(instance: Instance, name: str) -> str:
    host = instance.asm.nodes[instance.node]
    return f"oracle@{host} ({name})" if name else f"sqlplus@{host} (TNS V1-V3)"


def _address(number: int) -> str:
    return f"{0x6F0000000 + number * 0x1C8:016X}"


def sessions(instance: Instance) -> Iterator[Mapping[str, Value]]:
    """Yield the rows of V$SESSION."""
    started, now = instance.started, instance.asm.now()
    owner = "grid" if instance.database is None else "oracle"
    users = _users(instance)
    for number, name in _processes(instance):
        user = users.get(number)
        trace = user.tracing() if user is not None else None
        yield {
            "SADDR": _address(number + 4096),
            "SID": number,
            "SERIAL#": 1 if name else user.serial if user else 4711,
            "AUDSID": 0 if name else 4294967295,
            "PADDR": _address(number),
            "USERNAME": None if name else "SYS",
            "STATUS": "ACTIVE",
            "SERVER": "DEDICATED",
            "SCHEMANAME": "SYS",
            "OSUSER": owner,
            "PROCESS": str(_FIRST_OS_PROCESS + number),
            "MACHINE": instance.asm.nodes[instance.node],
            "TERMINAL": "UNKNOWN" if name else "pts/0",
            "PROGRAM": _program(instance, name),
            "TYPE": "BACKGROUND" if name else "USER",
            "MODULE": None if name else user.module if user else _program(instance, ""),
            "ACTION": user.action or None if user else None,
            "LOGON_TIME": from_epoch(started if name else now),
            "LAST_CALL_ET": int(now - started) if name else 0,
            "EVENT": "rdbms ipc message" if name else "SQL*Net message to client",
            "WAIT_CLASS": "Idle" if name else "Network",
            "STATE": "WAITING" if name else "WAITED SHORT TIME",
            "SERVICE_NAME": "SYS$BACKGROUND" if name else user.service if user else "SYS$USERS",
            "SQL_TRACE": "ENABLED" if trace else "DISABLED",
            "SQL_TRACE_WAITS": "TRUE" if trace and trace.waits else "FALSE",
            "SQL_TRACE_BINDS": "TRUE" if trace and trace.binds else "FALSE",
            "FAILOVER_TYPE": "NONE",
            "FAILOVER_METHOD": "NONE",
            "FAILED_OVER": "NO",
            "BLOCKING_SESSION": None,
            "FINAL_BLOCKING_SESSION": None,
            "BLOCKING_SESSION_STATUS": "NO HOLDER",
            "FINAL_BLOCKING_SESSION_STATUS": "NO HOLDER",
            "PDML_STATUS": "DISABLED",
            "PDDL_STATUS": "ENABLED",
            "PQ_STATUS": "ENABLED",
            "CREATOR_ADDR": _address(number),
        }


def processes(instance: Instance) -> Iterator[Mapping[str, Value]]:
    """Yield the rows of V$PROCESS."""
    users = _users(instance)
    for number, name in _processes(instance):
        user = users.get(number)
        yield {
            "ADDR": _address(number),
            "PID": number,
            "SPID": str(user.pid if user else _FIRST_OS_PROCESS + number),
            "TRACEFILE": user.trace_path if user else None,
            "PNAME": name or None,
            "USERNAME": "grid" if instance.database is None else "oracle",
            "SERIAL#": 1,
            "TERMINAL": "UNKNOWN",
            "PROGRAM": _program(instance, name or "TNS V1-V3"),
            "BACKGROUND": "1" if name else None,
            "PGA_USED_MEM": 2 * MIB,
            "PGA_ALLOC_MEM": 3 * MIB,
            "PGA_MAX_MEM": 4 * MIB,
        }


def diagnostics(instance: Instance) -> Iterator[Mapping[str, Value]]:
    """Yield the rows of V$DIAG_INFO: the instance's trace directory, and the trace file of the session that asks."""
    if instance.database is None:
        return
    directory = trace_directory(instance.database.name, instance.name)
    user = _users(instance).get(instance.sid)
    found = {
        "Diag Enabled": "TRUE",
        "ADR Base": ADR_BASE,
        "ADR Home": posixpath.dirname(directory),
        "Diag Trace": directory,
        **({"Default Trace File": user.trace_path} if user is not None else {}),
    }
    for name, value in found.items():
        yield {"INST_ID": instance.node + 1, "NAME": name, "VALUE": value}


def enabled_traces(instance: Instance) -> Iterator[Mapping[str, Value]]:
    """Yield the rows of DBA_ENABLED_TRACES: the tracing switched on for the database or for services."""
    for trace in instance.database.traces if instance.database is not None else ():
        yield {
            "TRACE_TYPE": trace.kind,
            "PRIMARY_ID": trace.service or None,
            "QUALIFIER_ID1": trace.module or None,
            "QUALIFIER_ID2": trace.action or None,
            "WAITS": str(trace.waits).upper(),
            "BINDS": str(trace.binds).upper(),
            "PLAN_STATS": "FIRST_EXEC",
            "INSTANCE_NAME": trace.instance or None,
        }


def memory(instance: Instance) -> Iterator[Mapping[str, Value]]:
    """Yield the rows of V$SGA."""
    asm = {"Fixed Size": 8_905_544, "Variable Size": 1_103_101_952, "ASM Cache": 25_165_824}
    database = {
        "Fixed Size": 12_686_456,
        "Variable Size": 6_442_450_944,
        "Database Buffers": 17_179_869_184,
        "Redo Buffers": 134_217_728,
    }
    for name, size in (asm if instance.database is None else database).items():
        yield {"NAME": name, "VALUE": size}


def parameter_names(instance: Instance) -> Iterator[Mapping[str, Value]]:
    """Yield the rows of X$KSPPI."""
    for number, (name, (kind, _)) in enumerate(_all_parameters(instance).items()):
        yield {**_fixed(instance, 8192, number), "KSPPINM": name, "KSPPITY": kind}


def parameter_values(instance: Instance) -> Iterator[Mapping[str, Value]]:
    """Yield the rows of X$KSPPCV and X$KSPPSV."""
    for number, (_, value) in enumerate(_all_parameters(instance).values()):
        yield {**_fixed(instance, 12288, number), "KSPPSTVL": value, "KSPPSTDVL": value, "KSPPSTDF": "FALSE"}


def _fixed(instance: Instance, first: int, number: int) -> dict[str, Value]:
    """Return the columns with which every row of an X$ table begins; ``first`` separates the addresses of the tables."""
    return {"ADDR": _address(first + number), "INDX": number, "INST_ID": instance.node + 1}


def _all_parameters(instance: Instance) -> dict[str, tuple[int, str | None]]:
    hidden: dict[str, tuple[int, str | None]] = {"_disk_sector_size_override": (1, "FALSE")}
    return dict(sorted((hidden | parameters(instance)).items()))
