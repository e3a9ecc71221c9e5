"""Read the changes of a database that exacell understands from their SQL; other SQL is not read here. Pure.

The text that is read is not sent: plans write their own statements from it.

Source: Oracle SQL Language Reference: ALTER SYSTEM (alter_system_set_clause, alter_system_reset_clause), ALTER DATABASE
(logfile_clauses), ALTER TABLE and ALTER INDEX (storage_clause, move_table_clause), CREATE and DROP TABLESPACE; reference asm.md
section 10.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from exacell.core.errors import StatementError, UnitError
from exacell.core.units import parse_size
from exacell.core.values import dataclass

_SWITCH = "TRUE|FALSE"
SPEED: Mapping[str, str] = {
    "_disk_sector_size_override": _SWITCH,
    "asm_power_limit": r"[1-9]\d{0,2}|10[01]\d|102[0-4]",
    "cell_offload_decryption": _SWITCH,
    "cell_offload_plan_display": "AUTO|ALWAYS|NEVER",
    "cell_offload_processing": _SWITCH,
    "cursor_sharing": "EXACT|FORCE",
    "db_file_multiblock_read_count": r"[1-9]\d{0,3}",
    "db_flash_cache_file": r".*",
    "db_flash_cache_size": r"\d+[KMGT]?",
    "fast_start_mttr_target": r"\d{1,3}|[12]\d{3}|3[0-5]\d\d|3600",
    "max_dump_file_size": r"[1-9]\d*[KMG]?",
    "open_cursors": r"[5-9]\d|[1-9]\d{2,3}|[1-5]\d{4}|6[0-4]\d{3}|65[0-4]\d\d|655[0-2]\d|6553[0-5]",  # The default and more.
    "optimizer_adaptive_plans": _SWITCH,
    "optimizer_dynamic_sampling": r"\d|1[01]",
    "optimizer_index_caching": r"\d{1,2}|100",
    "optimizer_index_cost_adj": r"[1-9]\d{0,3}|10000",
    "optimizer_mode": r"ALL_ROWS|FIRST_ROWS(?:_10{0,3})?",
    "parallel_degree_policy": "MANUAL|LIMITED|AUTO|ADAPTIVE",
    "parallel_force_local": _SWITCH,
    "parallel_min_time_threshold": r"AUTO|[1-9]\d*",
    "result_cache_mode": "MANUAL|FORCE",
    "session_cached_cursors": r"\d{1,4}|[1-5]\d{4}|6[0-4]\d{3}|65[0-4]\d\d|655[0-2]\d|6553[0-5]",
    "statistics_level": "TYPICAL|ALL",
    "timed_statistics": _SWITCH,
}
"""Parameters (lower case) and those values (any case) that only change a database's speed and the figures that it shows. They do
not change what a commit guarantees, or whether an instance starts or sessions work. (For the database's own flash cache see
:mod:`exacell.plan.planners.smart_cache`.) Any other value is not read: its risk is unknown. Source: Oracle Database Reference,
Initialization Parameters; reference asm.md section 10; docs/risk.md."""


def is_speed(name: str, value: str | None) -> bool:
    """Return whether this value of a parameter (lower case) changes only speed; None means its default."""
    return name in SPEED and (value is None or re.fullmatch(SPEED[name], value, re.IGNORECASE) is not None)


OWNER = "oracle"
"""The owner of the database software unless another user is named. Source: reference asm.md section 1."""


@dataclass(frozen=True, kw_only=True)
class SetParameter:
    """ALTER SYSTEM SET or RESET of one parameter; ``value`` is None for RESET.

    Attributes:
        name: lower case, without quotes.
        scope: BOTH if SET gives none; SPFILE for RESET, which removes an entry from the server parameter file.
        sid: the instance, as typed; ``*`` for all of them, also if the statement names none.
    """

    name: str
    value: str | None
    scope: str = "BOTH"
    sid: str = "*"


@dataclass(frozen=True, kw_only=True)
class AddLog:
    """ALTER DATABASE ADD [STANDBY] LOGFILE of one group; numbers are 0 and sizes None if the statement does not give them."""

    thread: int = 0
    group: int = 0
    targets: tuple[str, ...] = ()
    size: int | None = None
    block_size: int | None = None
    standby: bool = False


@dataclass(frozen=True, kw_only=True)
class DropLog:
    """ALTER DATABASE DROP [STANDBY] LOGFILE GROUP."""

    group: int
    standby: bool = False


@dataclass(frozen=True, kw_only=True)
class KeepInCache:
    """ALTER TABLE or INDEX … STORAGE (CELL_FLASH_CACHE …); names in upper case as in the dictionary."""

    kind: str
    owner: str
    name: str
    value: str


@dataclass(frozen=True, kw_only=True)
class AddTablespace:
    """CREATE [BIGFILE] TABLESPACE with one data file on the disk group ``target``; names in upper case as in the dictionary."""

    name: str
    target: str
    size: int
    bigfile: bool = False


@dataclass(frozen=True, kw_only=True)
class DropTablespace:
    """DROP TABLESPACE without its contents."""

    name: str


@dataclass(frozen=True, kw_only=True)
class MoveTable:
    """ALTER TABLE … MOVE TABLESPACE.

    Attributes:
        before: the tablespace where the table is; empty until it was read.
    """

    owner: str
    name: str
    tablespace: str
    before: str = ""


Change = SetParameter | AddLog | DropLog | KeepInCache | AddTablespace | DropTablespace | MoveTable

_NAME = r"(?:[A-Za-z][\w$#]*|\"[^\"]+\")"
_VALUE = r"(?:'(?:[^']|'')*'|[\w.$+/-]+)"
_SET = re.compile(
    rf"alter\s+system\s+(?:set\s+(?P<name>[A-Za-z_][\w$]*|\"[\w$]+\")\s*=\s*(?P<value>{_VALUE})"
    rf"|reset\s+(?P<reset>[A-Za-z_][\w$]*|\"[\w$]+\"))"
    r"(?P<tail>(?:\s+(?:scope\s*=\s*(?:both|memory|spfile)|sid\s*=\s*'(?:\*|[A-Za-z][\w$#]*)'))*)",
    re.IGNORECASE,
)
_MEMBER = r"'\+[\w$#]+'"
_SIZE = r"\d+\s*[KMGT]?"
_ADD = re.compile(
    r"alter\s+database\s+add\s+(?P<standby>standby\s+)?logfile(?:\s+thread\s+(?P<thread>\d+))?(?:\s+group\s+(?P<group>\d+))?"
    rf"(?:\s*(?P<members>{_MEMBER}|\(\s*{_MEMBER}(?:\s*,\s*{_MEMBER})*\s*\)))?"
    rf"(?:\s+size\s+(?P<size>{_SIZE}))?(?:\s+blocksize\s+(?P<block>{_SIZE}))?",
    re.IGNORECASE,
)
_DROP = re.compile(r"alter\s+database\s+drop\s+(?P<standby>standby\s+)?logfile\s+group\s+(?P<group>\d+)", re.IGNORECASE)
_STORAGE = re.compile(
    rf"alter\s+(?P<kind>table|index)\s+(?P<owner>{_NAME})\s*\.\s*(?P<name>{_NAME})\s+storage\s*"
    r"\(\s*cell_flash_cache\s+(?P<value>keep|default|none)\s*\)",
    re.IGNORECASE,
)

_SPACE = re.compile(
    rf"create\s+(?P<big>bigfile\s+)?tablespace\s+(?P<name>{_NAME})\s+datafile\s*(?P<target>{_MEMBER})\s*size\s+(?P<size>{_SIZE})",
    re.IGNORECASE,
)
_GONE = re.compile(rf"drop\s+tablespace\s+(?P<name>{_NAME})", re.IGNORECASE)
_MOVE = re.compile(
    rf"alter\s+table\s+(?P<owner>{_NAME})\s*\.\s*(?P<name>{_NAME})\s+move\s+tablespace\s+(?P<space>{_NAME})",
    re.IGNORECASE,
)


def _read_place(sql: str) -> AddTablespace | DropTablespace | MoveTable | None:
    """Return the change of a tablespace or of a table's place."""
    if found := _SPACE.fullmatch(sql):
        try:
            size = parse_size(found["size"])
        except UnitError:
            return None
        return AddTablespace(
            name=_plain(found["name"]), target=found["target"][2:-1].upper(), size=size, bigfile=bool(found["big"])
        )
    if found := _GONE.fullmatch(sql):
        return DropTablespace(name=_plain(found["name"]))
    if found := _MOVE.fullmatch(sql):
        return MoveTable(owner=_plain(found["owner"]), name=_plain(found["name"]), tablespace=_plain(found["space"]))
    return None


def read_change(sql: str) -> Change | None:
    """Return the change that a one-line statement makes; None if exacell does not understand it."""
    if found := _SET.fullmatch(sql):
        scope, sid = (re.search(rf"\b{w}\s*=\s*'?([^\s']+)", found["tail"], re.IGNORECASE) for w in ("scope", "sid"))
        name, value = (found["name"] or found["reset"]).strip('"').lower(), found["value"]
        told = scope[1].upper() if scope else "BOTH" if value is not None else "SPFILE"
        plain = value[1:-1].replace("''", "'") if value is not None and value[0] == "'" else value
        # A hidden name and SID need different quotes, so that no single statement could undo it.
        if (
            not is_speed(name, plain)
            or (value is None and told != "SPFILE")
            or (name[0] == "_" and sid and sid[1] != "*")
        ):
            return None
        return SetParameter(
            name=name,
            value=plain,
            scope=told,
            sid=sid[1] if sid else "*",
        )
    if found := _ADD.fullmatch(sql):
        try:
            size, block = (parse_size(found[name]) if found[name] else None for name in ("size", "block"))
        except UnitError:
            return None
        return AddLog(
            thread=int(found["thread"] or 0),
            group=int(found["group"] or 0),
            targets=tuple(re.findall(r"\+([\w$#]+)", (found["members"] or "").upper())),
            size=size,
            block_size=block,
            standby=found["standby"] is not None,
        )
    if found := _DROP.fullmatch(sql):
        return DropLog(group=int(found["group"]), standby=found["standby"] is not None)
    if found := _STORAGE.fullmatch(sql):
        return KeepInCache(
            kind=found["kind"].upper(),
            owner=_plain(found["owner"]),
            name=_plain(found["name"]),
            value=found["value"].upper(),
        )
    return _read_place(sql)


def literal(text: str) -> str:
    """Return a text as a SQL literal.

    Raises:
        StatementError: the text is more than one line.
    """
    if not text.isprintable():
        raise StatementError("a text in SQL must be one line of printable characters", hint="leave the others out")
    return "'" + text.replace("'", "''") + "'"


def quoted(text: str) -> str:
    """Return a word in quotes for a statement of exacell; if it contains both kinds, its double quotes are doubled."""
    return f"'{text}'" if "'" not in text else '"' + text.replace('"', '""') + '"'


def _plain(name: str) -> str:
    """Return a name as the dictionary has it: in upper case unless it is quoted."""
    return name[1:-1] if name.startswith('"') else name.upper()
