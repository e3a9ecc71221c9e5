"""Plan attributes of ASM disk groups. Source: reference asm.md section 3."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace

from exacell.core.errors import RefusedError
from exacell.plan.asmchange import SetAttribute, meant
from exacell.plan.asmfacts import TIMES, AsmFacts, DiskGroup
from exacell.plan.dbchange import quoted
from exacell.plan.model import Change, Check, Plan, Risk, Stage, Step, Undo
from exacell.plan.planners.clock import STAYS, needed_for, seconds_of
from exacell.plan.planners.diskgroup import known_group

Version = tuple[int, ...]

_CONTENTS = ("DATA", "RECOVERY", "SYSTEM")


def attribute_plan(rack: str, asm: AsmFacts, change: SetAttribute, *, statement: str) -> Plan:
    """Return the plan that sets an attribute; a plan without steps if it has the value already.

    Raises:
        RefusedError: ASM would refuse it, or its effect on disks that are away is unknown.
    """
    group, name = known_group(asm, change.group), change.name

    def refuse(why: str, hint: str = "") -> RefusedError:
        return RefusedError(
            f"alter diskgroup {group.name} set attribute {name} refused: {why}; nothing was sent", hint=hint
        )

    if name not in CHANGEABLE:
        raise refuse(
            "it is set when a disk group is created and can't be changed (ORA-15241)",
            f"drop diskgroup {group.name}, then create diskgroup {group.name} … {name}={change.value}"
            if not group.files
            else "move its files to a disk group that is created with it",
        )
    if not group.number:
        raise refuse(f"it is not mounted on {asm.node}", f'sql asm "alter diskgroup {group.name} mount"')
    before = group.attributes.get(name)
    if before is None:
        raise refuse(f"V$ASM_ATTRIBUTE shows none: compatible.asm is {group.compatible_asm} (ORA-15221)")
    wanted = meant(name, change.value)
    if why := CHANGEABLE[name](asm, group, name, change.value):
        raise refuse(why)
    if wanted == meant(name, before):
        return Plan(statement=statement, rack=rack, done={asm.node: f"{name} of {group.name} is {before} already"})
    raised = name.startswith("compatible.")
    sql, where = f"ALTER DISKGROUP {group.name} SET ATTRIBUTE '{name}'=", {"diskgroup": group.name, "name": name}
    now = Check(
        object="asm.attribute",
        attribute="value",
        value=meant(name, before),
        where=where,
        why="somebody has changed it since it was read",
    )
    step = Step(
        target=asm.node,
        asm=asm.cluster,
        statement=f"{sql}'{change.value}'",
        what=f"set {name} of {group.name} to {change.value}",
        needs=(now,),
        proves=(replace(now, value=wanted, why=""),),
        risk=Risk.DATA if raised else Risk.REDUNDANCY if _is_short(name, change.value) else Risk.PERFORMANCE,
        undo=Undo.IMPOSSIBLE if raised else Undo.STATEMENT,
        inverse=f"{name} can only be raised, never lowered" if raised else f"{sql}'{before}'",
        changes=(Change(object="diskgroup", name=group.name, attribute=name, before=before, after=change.value),),
    )
    loss = (group.name,) if raised else ()
    return Plan(
        statement=statement,
        rack=rack,
        stages=(Stage(title=f"set {name}", key="attribute", steps=(step,)),),
        inverse={} if raised else {asm.node: (f"sql asm {quoted(step.inverse)} asm={asm.cluster}",)},
        notes=_notes(name),
        warnings=(*_warnings(group, name), *_short(name, change.value)),
        loss=loss,
        loss_reasons=dict.fromkeys(loss, _NO_WAY_BACK[name]) if raised else {},
    )


_NO_WAY_BACK = {
    "compatible.asm": "compatible.asm can't be lowered again: older ASM software will not be able to mount the group",
    "compatible.rdbms": "compatible.rdbms can't be lowered again: a database with a lower COMPATIBLE will not "
    "be able to use the group",
}


def _notes(name: str) -> tuple[str, ...]:
    if name == "content.type":
        return ("files move to other partners in the next rebalance: set rebalance power=4 diskgroup=…",)
    return ()


def _warnings(group: DiskGroup, name: str) -> tuple[str, ...]:
    if name in TIMES and group.offline_disks:
        return ("`show asmdisk` shows whether disks that are OFFLINE now get the longer time (repair_timer)",)
    return ()


def _is_short(name: str, value: str) -> bool:
    seconds = seconds_of(value) if name in TIMES else None
    return seconds is not None and seconds < max(map(needed_for, STAYS))


def _short(name: str, value: str) -> tuple[str, ...]:
    """Return a warning that names the work for which such a clock is too short; empty if there is none."""
    if not _is_short(name, value):
        return ()
    seconds = seconds_of(value) or 0.0
    work = " and ".join(stay.words for kind, stay in STAYS.items() if seconds < needed_for(kind))
    return (f"{value} is too short for {work}: ASM would drop the disks before the end",)


# -- the allowed values of each attribute: each function returns why a value is refused, empty if it is allowed


def _time(asm: AsmFacts, group: DiskGroup, name: str, value: str) -> str:
    wanted, before = meant(name, value), meant(name, group.attributes[name])
    if not wanted:
        return f"'{value}' is not a time: use a number with m or h, such as 3.6h or 90m (ORA-15238)"
    if group.offline_disks and (not before or _seconds(wanted) < _seconds(before)):
        return "some of its disks are OFFLINE, and with less time ASM may drop them for good"
    return ""


def _seconds(text: str) -> float:
    return float(text.removesuffix("s"))


def _smart_scan(asm: AsmFacts, group: DiskGroup, name: str, value: str) -> str:
    if value.upper() not in ("TRUE", "FALSE"):
        return f"'{value}' must be TRUE or FALSE (ORA-15238)"
    other = next((disk.path for disk in asm.members(group) if not disk.grid_disk), "")
    return f"{other} is not a grid disk" if other and value.upper() == "TRUE" else ""


def _content(asm: AsmFacts, group: DiskGroup, name: str, value: str) -> str:
    if value.upper() not in _CONTENTS:
        return f"'{value}' must be data, recovery or system (ORA-15238)"
    return "a disk group of external redundancy has no partners" if group.type == "EXTERN" else ""


def _compatible(asm: AsmFacts, group: DiskGroup, name: str, value: str) -> str:
    wanted, before = meant(name, value), meant(name, group.attributes[name])
    if not wanted or not before:
        return f"'{value}' is not a version such as 19.0.0.0 (ORA-15243)"
    if _version(wanted) < _version(before):
        return f"it is {group.attributes[name]} and can only be raised (ORA-15244)"
    if name == "compatible.asm":
        oldest = min((i.version for i in asm.instances), key=_version)
        return f"ASM is {oldest}" if _version(wanted)[:2] > _version(oldest)[:2] else ""
    if _version(wanted) > _version(group.compatible_asm):
        return f"compatible.asm is {group.compatible_asm}, and this can't be higher (ORA-15221)"
    low = [f"{user} ({shown})" for user, shown in group.compatible.items() if _version(shown) < _version(wanted)]
    return (
        f"COMPATIBLE is lower in {', '.join(low)}, which could then not use the disk group any more (ORA-15204)"
        if low
        else ""
    )


def _version(text: str) -> Version:
    found = tuple(int(part) for part in re.findall(r"\d+", text))
    return (*found, 0, 0, 0, 0, 0)[:5]


CHANGEABLE: Mapping[str, Callable[[AsmFacts, DiskGroup, str, str], str]] = {
    "cell.smart_scan_capable": _smart_scan,
    "compatible.asm": _compatible,
    "compatible.rdbms": _compatible,
    "content.type": _content,
    **dict.fromkeys(TIMES, _time),
}
"""Attributes that exacell sets → the function that returns why a value is refused."""
