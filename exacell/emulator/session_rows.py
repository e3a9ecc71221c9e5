"""The rows of the views of an instance's processes, sessions and memory, and of its parameters as X$ tables have them.

Names and columns follow the Oracle Database Reference (V$SESSION, V$PROCESS, V$SGA). Only the background processes and
the session that asks are there; addresses and sizes are ours.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from exacell.core.units import MIB
from exacell.emulator.db_rows import parameters
from exacell.emulator.instances import Instance
from exacell.emulator.sql.values import Value, from_epoch
from exacell.emulator.stat_rows import OWN_SESSION

_BACKGROUND = ("PMON", "VKTM", "DIAG", "DIA0", "LMON", "LMD0", "LMS0", "LCK0", "DBW0", "LGWR", "CKPT", "SMON", "RECO")
_OF_ASM = (*_BACKGROUND[:-1], "RBAL", "GMON", "ASMB")
_FIRST_OS_PROCESS = 9012


def _processes(instance: Instance) -> Iterator[tuple[int, str]]:
    """Yield number and name of each process, of the session that asks an empty name."""
    names = _OF_ASM if instance.database is None else _BACKGROUND
    yield from enumerate(names, start=2)
    yield OWN_SESSION, ""


def _program(instance: Instance, name: str) -> str:
    host = instance.asm.nodes[instance.node]
    return f"oracle@{host} ({name})" if name else f"sqlplus@{host} (TNS V1-V3)"


def _address(number: int) -> str:
    return f"{0x6F0000000 + number * 0x1C8:016X}"


def sessions(instance: Instance) -> Iterator[Mapping[str, Value]]:
    """Yield the rows of V$SESSION."""
    started, now = instance.started, instance.asm.now()
    owner = "grid" if instance.database is None else "oracle"
    for number, name in _processes(instance):
        yield {
            "SADDR": _address(number + 4096),
            "SID": number,
            "SERIAL#": 1 if name else 4711,
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
            "MODULE": None if name else _program(instance, ""),
            "LOGON_TIME": from_epoch(started if name else now),
            "LAST_CALL_ET": int(now - started) if name else 0,
            "EVENT": "rdbms ipc message" if name else "SQL*Net message to client",
            "WAIT_CLASS": "Idle" if name else "Network",
            "STATE": "WAITING" if name else "WAITED SHORT TIME",
            "SERVICE_NAME": "SYS$BACKGROUND" if name else "SYS$USERS",
            "SQL_TRACE": "DISABLED",
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
    for number, name in _processes(instance):
        yield {
            "ADDR": _address(number),
            "PID": number,
            "SPID": str(_FIRST_OS_PROCESS + number),
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
    """Return what every row of an X$ table begins with; ``first`` sets the addresses of one table apart."""
    return {"ADDR": _address(first + number), "INDX": number, "INST_ID": instance.node + 1}


def _all_parameters(instance: Instance) -> dict[str, tuple[int, str | None]]:
    hidden: dict[str, tuple[int, str | None]] = {"_disk_sector_size_override": (1, "FALSE")}
    return dict(sorted((hidden | parameters(instance)).items()))
