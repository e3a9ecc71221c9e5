"""The changes of a database that exacell understands, read from their SQL; anything else is not read here. Pure.

What is read is not sent: plans write their own statements from it.

Source: Oracle SQL Language Reference: ALTER SYSTEM (alter_system_set_clause, alter_system_reset_clause), ALTER DATABASE
(logfile_clauses), ALTER TABLE and ALTER INDEX (storage_clause); reference asm.md section 10.
"""

from __future__ import annotations

import re

from exacell.core.errors import StatementError, UnitError
from exacell.core.units import parse_size
from exacell.core.values import dataclass

SPEED = frozenset(
    (
        *("_disk_sector_size_override", "asm_power_limit"),
        *("cell_offload_compaction", "cell_offload_decryption", "cell_offload_parameters"),
        *("cell_offload_plan_display", "cell_offload_processing", "cursor_sharing", "db_file_multiblock_read_count"),
        *("db_flash_cache_file", "db_flash_cache_size"),
        *("fast_start_mttr_target", "max_dump_file_size", "open_cursors", "optimizer_adaptive_plans"),
        *("optimizer_dynamic_sampling", "optimizer_index_caching", "optimizer_index_cost_adj", "optimizer_mode"),
        *("parallel_degree_policy", "parallel_force_local", "parallel_min_time_threshold", "result_cache_mode"),
        *("session_cached_cursors", "statistics_level", "timed_statistics"),
    )
)
"""Parameters, lower case, that change how fast a database is and what it tells, and nothing else: neither what a commit promises
nor whether an instance starts (for the flash cache of its own see :mod:`exacell.plan.planners.smart_cache`). Source: Oracle
Database Reference, Initialization Parameters; reference asm.md section 10."""


@dataclass(frozen=True, kw_only=True)
class SetParameter:
    """ALTER SYSTEM SET or RESET of one parameter; ``value`` is None for RESET.

    Attributes:
        name: lower case, without quotes.
        scope: BOTH where SET says nothing; RESET takes an entry out of the server parameter file: SPFILE.
        sid: the instance, as it was typed; ``*`` for all of them, also where the statement names none.
    """

    name: str
    value: str | None
    scope: str = "BOTH"
    sid: str = "*"


@dataclass(frozen=True, kw_only=True)
class AddLog:
    """ALTER DATABASE ADD [STANDBY] LOGFILE of one group; numbers are 0 and sizes None where the statement leaves them out."""

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
    """ALTER TABLE or INDEX … STORAGE (CELL_FLASH_CACHE …); names upper case as the dictionary has them."""

    kind: str
    owner: str
    name: str
    value: str


Change = SetParameter | AddLog | DropLog | KeepInCache

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


def read_change(sql: str) -> Change | None:
    """Return the change that a statement on one line makes, None for one that exacell does not understand."""
    if found := _SET.fullmatch(sql):
        scope, sid = (re.search(rf"\b{w}\s*=\s*'?([^\s']+)", found["tail"], re.IGNORECASE) for w in ("scope", "sid"))
        name, value = (found["name"] or found["reset"]).strip('"').lower(), found["value"]
        told = scope[1].upper() if scope else "BOTH" if value is not None else "SPFILE"
        # A hidden name and SID both need quotes, each its own kind: nothing could type what takes it back.
        if name not in SPEED or (value is None and told != "SPFILE") or (name[0] == "_" and sid and sid[1] != "*"):
            return None
        return SetParameter(
            name=name,
            value=None if value is None else value[1:-1].replace("''", "'") if value[0] == "'" else value,
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
    return None


def literal(text: str) -> str:
    """Return a text as SQL writes it.

    Raises:
        StatementError: it is more than a line.
    """
    if not text.isprintable():
        raise StatementError("a text in SQL is one line of signs that can be printed", hint="leave the others out")
    return "'" + text.replace("'", "''") + "'"


def quoted(text: str) -> str:
    """Return a word of a statement of exacell with quotes around it; where it holds both kinds, its double ones written twice."""
    return f"'{text}'" if "'" not in text else '"' + text.replace('"', '""') + '"'


def _plain(name: str) -> str:
    """Return a name as the dictionary has it: quotes keep its case."""
    return name[1:-1] if name.startswith('"') else name.upper()
