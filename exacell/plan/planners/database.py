"""Plan the changes of a database that exacell understands: parameters, redo log groups, and where and how a table is stored.

Source: Oracle SQL Language Reference, ALTER SYSTEM, ALTER DATABASE, ALTER TABLE; reference asm.md section 10 (ORA-01378,
``_disk_sector_size_override``, ORA-01567, ORA-01623, ORA-01624).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from exacell.core.errors import RefusedError
from exacell.core.meant import absent
from exacell.core.units import MIB, exact_size, format_size, human_size
from exacell.plan.dbchange import (
    AddLog,
    AddTablespace,
    Change as SqlChange,
    DropLog,
    DropTablespace,
    KeepInCache,
    MoveTable,
    SetParameter,
)
from exacell.plan.model import Change, Check, Op, Plan, Risk, Stage, Undo
from exacell.plan.planners.parameter import OVERRIDE, Records, short
from exacell.plan.planners.smart_cache import PAIR
from exacell.plan.planners.tablespace import TablespaceMaker, of_place, of_tablespace

FLASH_BLOCK = 4096
"""Bytes of a redo block that fits a page of flash."""

_IDLE = ("INACTIVE", "UNUSED")
"""States of a log group that recovery does not need, so that it can be dropped. Source: ORA-01624."""

_SETTLES = 600.0
"""Seconds within which a checkpoint writes out the data that a log group protects."""


def asked(change: SqlChange) -> tuple[Check, ...]:
    """Return checks that name the records to read before a plan is made."""
    match change:
        case SetParameter():
            names = PAIR if change.name in PAIR else (change.name,)
            return (Check(object="db.instance"), *map(_of_parameter, names))
        case KeepInCache():
            return (_of_segment(change),)
        case AddTablespace():
            return (Check(object="db.diskgroup"), of_tablespace(change.name))
        case DropTablespace():
            return (of_tablespace(change.name),)
        case MoveTable():
            return (of_place(change), of_tablespace(change.tablespace))
        case _:
            objects = ("db.log", "db.instance", "db.diskgroup")
            return (*(Check(object=name) for name in objects), _of_parameter(OVERRIDE))


def database_plan(
    rack: str,
    change: SqlChange,
    records: Records,
    *,
    database: str,
    node: str,
    nodes: Sequence[str],
    statement: str,
) -> Plan:
    """Return the plan that makes a change; a plan without steps if it is made already.

    Args:
        records: the present records of the instance on ``node`` that :func:`asked` names.
        node: a node that runs an instance of the database.
        nodes: all nodes that may; a log switch is sent to the node of its thread.

    Raises:
        RefusedError: the database would refuse it; names the rule.
    """
    maker = _Maker(rack=rack, records=records, database=database.upper(), node=node, nodes=nodes, statement=statement)
    match change:
        case SetParameter():
            return maker.parameter(change)
        case KeepInCache():
            return maker.keep(change)
        case AddLog():
            return maker.add_log(change)
        case DropLog():
            return maker.drop_log(change)
        case AddTablespace():
            return maker.add_tablespace(change)
        case DropTablespace():
            return maker.drop_tablespace(change)
        case MoveTable():
            return maker.move(change)


LEAST_LOG = 4 * MIB
"""The smallest size of a redo log group in bytes. Source: Oracle Database Administrator's Guide, Managing the Redo Log."""


def _of_parameter(name: str) -> Check:
    return Check(object="db.parameter", where={"parameter": name})


def _of_segment(change: KeepInCache) -> Check:
    return Check(object=f"db.{change.kind.lower()}", where={"owner": change.owner, "name": change.name})


class _Maker(TablespaceMaker):
    """Makes the plan of one change of one database; see :class:`ParameterMaker` for the arguments."""

    def keep(self, change: KeepInCache) -> Plan:
        """Return the plan of STORAGE (CELL_FLASH_CACHE …)."""
        kind, name = change.kind.lower(), f"{change.owner}.{change.name}"
        found = self.records[f"db.{kind}"]
        if not found:
            raise RefusedError(
                f"{self.database} has no {kind} {name}; nothing was sent",
                hint="names without quotes are upper case in the dictionary",
            )
        if found[0]["cache"] is None:
            raise RefusedError(
                f"{kind} {name} is partitioned: each partition has its own CELL_FLASH_CACHE; nothing was sent",
                hint=f"alter {kind} {name} modify partition ... storage (cell_flash_cache ...), one by one",
            )
        before = str(found[0]["cache"])
        if before == change.value:
            return self.done(f"{kind} {name}: CELL_FLASH_CACHE is {before} already")
        where = {"owner": change.owner, "name": change.name}
        step = self.step(
            _storage(change, change.value),
            f"{kind} {name}: CELL_FLASH_CACHE {change.value}",
            needs=(Check(object=f"db.{kind}", attribute="cache", value=before, where=where),),
            proves=(Check(object=f"db.{kind}", attribute="cache", value=change.value, where=where),),
            risk=Risk.PERFORMANCE,
            undo=Undo.STATEMENT,
            inverse=_storage(change, before),
            changes=(Change(object=kind, name=name, attribute="cellFlashCache", before=before, after=change.value),),
        )
        notes = (
            ("blocks that are cached already stay: for a run that reads from disk, drop the cache too",)
            if change.value == "NONE"
            else ()
        )
        return self.plan(
            Stage(title=f"set CELL_FLASH_CACHE of {name} to {change.value}", key="keep", steps=(step,)),
            inverse=(_storage(change, before),),
            notes=notes,
        )

    def _logs(self, thread: int | None = None) -> list[Mapping[str, Any]]:
        """Return the log groups of a thread, of all threads for None; groups of a standby database are left out."""
        return [log for log in self.records["db.log"] if not _is_standby(log) and thread in (None, log["thread"])]

    def _thread_here(self) -> int:
        """Return the redo thread of the instance on ``node``.

        Raises:
            RefusedError: no instance reports that it runs on that node.
        """
        for each in self.records["db.instance"]:
            if short(str(each["host"])) == short(self.node):
                return int(each["thread"])
        raise RefusedError(
            f"GV$INSTANCE does not show the thread of the instance on {self.node}; nothing was sent",
            hint="give it: ADD LOGFILE THREAD n",
        )

    def _node_of(self, thread: int) -> str:
        """Return the node that runs a thread's instance; empty if the rack does not know it."""
        hosts = {short(str(each["host"])) for each in self.records["db.instance"] if each["thread"] == thread}
        return next((node for node in self.nodes if short(node) in hosts), "")

    def _refuse_log(self, change: AddLog, thread: int) -> None:
        """Raise RefusedError if no group can have this size, or if no instance writes this thread."""
        if change.size is not None and change.size < LEAST_LOG:
            raise RefusedError(
                f"ADD LOGFILE SIZE {exact_size(change.size)} refused: a redo log group has at least {exact_size(LEAST_LOG)} "
                "(ORA-00336); nothing was sent",
                hint="write K, M, G or T after the size: SIZE 4G",
            )
        instances = {int(each["thread"]) for each in self.records["db.instance"]}
        if thread not in instances and not self._logs(thread):
            known = ", ".join(map(str, sorted(instances))) or "none"
            raise RefusedError(
                f"ADD LOGFILE THREAD {thread} refused: no instance of {self.database} has that thread (there are {known}); "
                "nothing was sent",
                hint="without THREAD, the group goes to the thread of the queried instance",
            )

    def add_log(self, change: AddLog) -> Plan:
        """Return the plan of ADD LOGFILE."""
        every = self.records["db.log"]
        numbers = [int(log["name"]) for log in every]
        group = change.group or max(numbers, default=0) + 1
        thread = change.thread or self._thread_here()
        self._refuse_log(change, thread)
        like = self._logs(thread) or self._logs()
        size = change.size if change.size is not None else max((int(log["bytes"]) for log in like), default=100 * MIB)
        if group in numbers:
            log = next(log for log in every if int(log["name"]) == group)
            same = _is_standby(log) == change.standby and log["bytes"] == size
            same = same and (not change.targets or sorted(log["diskgroups"]) == sorted(change.targets))
            if same and (change.block_size or log["blockSize"]) == log["blockSize"] and change.group:
                return self.done(f"{_noun(change)} {group} is there already")
            raise RefusedError(
                f"{self.database} has a redo log group {group} already (ORA-01184): {human_size(int(log['bytes']))} of blocks of "
                f"{log['blockSize']} on {', '.join(log['diskgroups'])}; nothing was sent",
                hint=f"GROUP {max(numbers) + 1} is free",
            )
        targets = change.targets or tuple(like[0]["diskgroups"]) if like else change.targets
        if not targets:
            raise RefusedError("name the disk group: ADD LOGFILE ... ('+DATA') SIZE 4G", hint="nothing was sent")
        groups = {str(each["name"]): each for each in self.records["db.diskgroup"]}
        missing = [name for name in targets if name not in groups]
        if missing:
            raise RefusedError(
                f"{self.database} sees no disk group {', '.join(missing)} (ORA-15001): it has {', '.join(groups)}; "
                "nothing was sent"
            )
        for name in targets:
            if groups[name]["usableMb"] * MIB < size:
                raise RefusedError(
                    f"disk group {name} has free space for {human_size(groups[name]['usableMb'] * MIB)}, not for "
                    f"{human_size(size)} (ORA-15041); nothing was sent",
                    hint="`show diskgroup` shows the free space",
                )
        block = change.block_size or int(groups[targets[0]]["sectorSize"])
        odd = [name for name in dict.fromkeys(targets) if self._passed_over(block, groups[name])]
        sql = _add(thread, group, targets, size, block, standby=change.standby)
        drop = f"ALTER DATABASE DROP {_kind(change.standby)} GROUP {group}"
        where = {"name": str(group)}
        told = f"{human_size(size)} of blocks of {block} on {', '.join(targets)}"
        step = self.step(
            sql,
            f"add {_noun(change)} {group} of thread {thread}: {told}",
            needs=(Check(object="db.log", op=Op.ABSENT, where=where),),
            proves=(
                Check(object="db.log", attribute="bytes", value=size, where=where),
                Check(object="db.log", attribute="blockSize", value=block, where=where),
                Check(object="db.log", attribute="type", value="standby" if change.standby else "log", where=where),
            ),
            within=_SETTLES,
            undo=Undo.STATEMENT,
            inverse=drop,
            changes=(Change(object=_noun(change), name=str(group), attribute="size", before="-", after=told),),
        )
        return self.plan(
            Stage(title=f"add {_noun(change)} {group}", key="add", steps=(step,)),
            inverse=(drop,),
            notes=(f"all {human_size(size)} are written before the group can be used",),
            warnings=tuple(
                f"{name} shows sectors of {groups[name]['sectorSize']} bytes, and {OVERRIDE} overrides that: "
                "only for flash that shows 512 bytes but writes 4096"
                for name in odd
            ),
        )

    def _passed_over(self, block: int, group: Mapping[str, Any]) -> bool:
        """Return whether redo logs get blocks that do not fit a disk group's sectors, but the database allows that.

        Raises:
            RefusedError: the database does not ignore it, or never accepts such blocks.
        """
        sector = int(group["sectorSize"])
        if block not in (512, 1024, FLASH_BLOCK):
            raise RefusedError(
                f"a redo log has blocks of 512, 1024 or 4096 bytes, not {block}; nothing was sent",
                hint="leave BLOCKSIZE out",
            )
        here = {each["name"] for each in self.records["db.instance"] if short(str(each["host"])) == short(self.node)}
        passes = any(
            str(record["memory"]).upper() == "TRUE" for sid, record in self.of(OVERRIDE).items() if sid in here
        )
        if block < sector:
            raise RefusedError(
                f"blocks of {block} bytes are smaller than the sectors of {group['name']}, {sector} bytes (ORA-15347); "
                "nothing was sent",
                hint=f"leave BLOCKSIZE out: then it is {sector}",
            )
        if block != sector and not passes:
            raise RefusedError(
                f"blocks of {block} bytes do not fit the sectors of {group['name']}, {sector} bytes (ORA-01378); nothing "
                "was sent",
                hint=f"leave BLOCKSIZE out: then it is {sector}. Only if {group['name']} is on flash that shows "
                f'512 but writes 4096: `sql db={self.database} \'alter system set "{OVERRIDE}"=TRUE '
                "scope=memory'`, and undo that afterwards",
            )
        return block != sector

    def drop_log(self, change: DropLog) -> Plan:
        """Return the plan of DROP LOGFILE GROUP: it switches logs and waits until the group is not needed.

        A group for a standby database is dropped while it receives no redo.
        """
        if change.standby:
            return self._drop_standby(change)
        log = next((each for each in self._logs() if int(each["name"]) == change.group), None)
        if log is None:
            known = [str(each["name"]) for each in self._logs()]
            return self.done(absent(f"there is no redo log group {change.group}", [str(change.group)], known))
        thread, status = int(log["thread"]), str(log["status"])
        where = {"name": str(change.group)}
        stages: list[Stage] = []
        others = [each for each in self._logs(thread) if each is not log]
        if len(others) < 2:
            raise RefusedError(
                f"thread {thread} of {self.database} would have {len(others)} redo log group: it needs two (ORA-01567); "
                "nothing was sent",
                hint="add another group of that thread first",
            )
        if status == "CURRENT":
            node = self._node_of(thread)
            if not node:
                raise RefusedError(
                    f"redo log group {change.group} is the current one of thread {thread} (ORA-01623), whose instance does "
                    "not run; nothing was sent",
                    hint="start that instance, or type `alter system archive log` on another instance of the database",
                )
            step = self.step(
                "ALTER SYSTEM SWITCH LOGFILE",
                f"switch thread {thread} to its next log",
                node=node,
                only_if=(Check(object="db.log", attribute="status", value="CURRENT", where=where),),
                proves=(Check(object="db.log", attribute="status", op=Op.NE, value="CURRENT", where=where),),
                within=_SETTLES,
            )
            stages.append(Stage(title=f"switch thread {thread}", key="switch", steps=(step,)))
        if status not in _IDLE:
            step = self.step(
                "ALTER SYSTEM CHECKPOINT GLOBAL",
                f"checkpoint, until group {change.group} is no longer needed",
                needs=(
                    Check(
                        object="db.log",
                        attribute="status",
                        op=Op.NE,
                        value="CURRENT",
                        where=where,
                        why=f"thread {thread} still writes to it",
                    ),
                ),
                proves=(Check(object="db.log", attribute="status", op=Op.IN, value=_IDLE, where=where),),
                within=_SETTLES,
                risk=Risk.PERFORMANCE,
            )
            stages.append(Stage(title="checkpoint", key="checkpoint", steps=(step,)))
        idle = Check(
            object="db.log",
            attribute="status",
            op=Op.IN,
            value=_IDLE,
            where=where,
            why="recovery needs the group (ORA-01623, ORA-01624)",
        )
        return self._dropped(change, log, idle, *stages)

    def _drop_standby(self, change: DropLog) -> Plan:
        where, why = {"name": str(change.group)}, "redo of a primary database comes to it"
        log = next((log for log in self.records["db.log"] if log["name"] == where["name"] and _is_standby(log)), None)
        if log is None:
            known = [str(log["name"]) for log in self.records["db.log"] if _is_standby(log)]
            return self.done(absent(f"there is no standby redo log group {change.group}", [where["name"]], known))
        if log["status"] != "UNASSIGNED":
            raise RefusedError(f"standby redo log group {change.group} is {log['status']}: {why}; nothing was sent")
        idle = Check(object="db.log", attribute="status", value="UNASSIGNED", where=where, why=why)
        return self._dropped(change, log, idle)

    def _dropped(self, change: DropLog, log: Mapping[str, Any], idle: Check, *stages: Stage) -> Plan:
        """Return the plan that drops a group after the steps that make it idle."""
        where, thread = {"name": str(change.group)}, int(log["thread"])
        back = _add(thread, change.group, log["diskgroups"], log["bytes"], log["blockSize"], standby=change.standby)
        drop = self.step(
            f"ALTER DATABASE DROP {_kind(change.standby)} GROUP {change.group}",
            f"drop {_noun(change)} {change.group} of thread {thread}",
            needs=(idle,),
            proves=(Check(object="db.log", op=Op.ABSENT, where=where),),
            within=_SETTLES,
            undo=Undo.STATEMENT,
            inverse=back,
            changes=(
                Change(
                    object=_noun(change),
                    name=str(change.group),
                    attribute="size",
                    before=f"{human_size(int(log['bytes']))} with blocks of {log['blockSize']} on "
                    f"{', '.join(log['diskgroups'])}",
                    after="-",
                ),
            ),
        )
        last = Stage(title=f"drop {_noun(change)} {change.group}", key="drop", steps=(drop,))
        return self.plan(*stages, last, inverse=(back,))


def _storage(change: KeepInCache, value: str) -> str:
    owner, name = (
        part if re.fullmatch(r"[A-Z][A-Z0-9_$#]*", part) else f'"{part}"' for part in (change.owner, change.name)
    )
    return f"ALTER {change.kind} {owner}.{name} STORAGE (CELL_FLASH_CACHE {value})"


def _is_standby(log: Mapping[str, Any]) -> bool:
    return bool(log["type"] == "standby")


def _noun(change: AddLog | DropLog) -> str:
    return "standby redo log group" if change.standby else "redo log group"


def _kind(standby: bool) -> str:
    return "STANDBY LOGFILE" if standby else "LOGFILE"


def _add(thread: int, group: int, targets: Sequence[str], size: int, block: int, *, standby: bool = False) -> str:
    where = ", ".join(f"'+{name}'" for name in targets)
    number = format_size(size)
    told = number if re.fullmatch(r"\d+[KMGT]", number) else str(size)
    return f"ALTER DATABASE ADD {_kind(standby)} THREAD {thread} GROUP {group} ({where}) SIZE {told} BLOCKSIZE {block}"
