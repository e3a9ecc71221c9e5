"""Plan ASM disk groups on grid disks: create one, mount it everywhere, drop it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from exacell.core.errors import RefusedError
from exacell.core.meant import absent, ask_for
from exacell.core.units import MIB, counted
from exacell.core.values import dataclass, replace
from exacell.plan.asmfacts import AsmDisk, AsmFacts, AsmInstance, DiskGroup
from exacell.plan.asmspace import Keeping, keeps_failgroup
from exacell.plan.checks import group_check
from exacell.plan.facts import GridDisk
from exacell.plan.model import Change, Check, Gate, Op, Plan, Risk, Stage, Step, Undo, staged
from exacell.plan.planners.diskgroup_disks import ADDABLE, add_stage, refuse_few, refuse_mismatch, refuse_small
from exacell.plan.planners.griddisk import refuse_mixed

_CARVED = re.compile(r"(.+)_(?:FD|CD)_\d+_.+", re.IGNORECASE)
"""A grid disk named prefix_<celldisk>. Source: reference cellcli.md 6.9."""

_TYPE = {"external": "EXTERN", "normal": "NORMAL", "high": "HIGH"}


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """The requested disk group; ``attributes`` in ASM's spelling, ``au_size`` in bytes."""

    name: str
    prefix: str
    redundancy: str
    au_size: int
    attributes: Mapping[str, str]


def create_plan(
    rack: str,
    asm: AsmFacts,
    grid_disks: Mapping[str, Sequence[GridDisk]],
    wanted: Wanted,
    *,
    nodes: Mapping[str, str],
    statement: str,
) -> Plan:
    """Return the plan that creates a disk group on the grid disks ``prefix_<celldisk>`` and mounts it on all nodes.

    Args:
        grid_disks: these grid disks by cell, as the cells list them.
        nodes: database node → its ASM instance id, for every node with a running instance.

    Raises:
        RefusedError: there are no such grid disks, ASM sees others, they are taken, or the group could not be mounted.
    """
    name = wanted.name.upper()
    expected = {grid.name.lower(): grid for grids in grid_disks.values() for grid in grids}
    if not expected:
        raise RefusedError(
            f"create diskgroup {name}: there are no grid disks {wanted.prefix}_* on the cells",
            hint=f"`carve griddisk prefix={wanted.prefix}` creates them",
        )
    # ASM compares names with case, so the disk string uses the spelling of the disks.
    wanted = replace(wanted, prefix=next(iter(expected.values())).prefix or wanted.prefix)
    refuse_mixed(f"create diskgroup {name}", wanted.prefix, expected.values())
    refuse_few(name, wanted.redundancy, len(grid_disks))
    matched = [d for d in asm.disks if d.grid_disk.lower().startswith(wanted.prefix.lower() + "_")]
    existing = asm.group(name)
    if existing is not None:
        return _existing(rack, asm, existing, wanted, expected, nodes, statement)
    refuse_mismatch(asm, name, wanted.prefix, matched, expected)
    refuse_small(name, wanted.prefix, wanted.au_size, matched[0].os_mb * MIB)
    attributes = _attributes(asm, wanted)
    sql = (
        f"CREATE DISKGROUP {name} {wanted.redundancy.upper()} REDUNDANCY DISK 'o/*/{wanted.prefix}_*' ATTRIBUTE "
        + ", ".join(f"'{key}'='{value}'" for key, value in attributes.items())
    )
    first, others = asm.node, [node for node in nodes if node != asm.node]
    made = _create(asm, first, name, sql, wanted, matched)
    stages = [*staged("create the disk group", [made], "create"), *_mount_stages(asm, others, nodes, name)]
    total = sum(disk.os_mb for disk in matched)
    keeping = Keeping(redundancy=wanted.redundancy, au_size=wanted.au_size, by_failgroup=keeps_failgroup(asm))
    spread = [len(grids) for grids in grid_disks.values()]
    usable = keeping.usable(matched[0].os_mb * MIB, spread) // MIB
    copies = keeping.copies
    notes = (
        f"{counted(len(matched), 'grid disk')} of {matched[0].os_mb} MB on {counted(len(grid_disks), 'cell')}: "
        f"{total} MB raw, about {usable} MB usable in {copies} cop{'y' if copies == 1 else 'ies'} beside {keeping.said(spread)}",
        f"one failure group per cell; {', '.join(f'{k}={v}' for k, v in attributes.items())}",
        f"created on {first}" + (f", then mounted on {', '.join(others)}" if others else ""),
    )
    return Plan(
        statement=statement,
        rack=rack,
        stages=tuple(stages),
        notes=notes,
        inverse={first: (f"drop diskgroup {name} asm={asm.cluster}",)},
        warnings=("compatible.asm and compatible.rdbms can only be raised, never lowered",),
    )


def _attributes(asm: AsmFacts, wanted: Wanted) -> dict[str, str]:
    """Return the attributes of the group: those asked for, and the default ones that cells and databases need."""
    version = min((i.version for i in asm.instances), key=_version_key)
    return {
        "compatible.asm": version,
        "compatible.rdbms": _rdbms(asm, version),
        "cell.smart_scan_capable": "TRUE",
        "au_size": f"{wanted.au_size >> 20}M",
        **wanted.attributes,
    }


def _version_key(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", text))


def _rdbms(asm: AsmFacts, version: str) -> str:
    """Return the lowest compatible.rdbms of the groups that databases use now: raising it is irreversible."""
    used = [g.compatible_rdbms for g in asm.groups if g.clients and g.compatible_rdbms.strip("0.")]
    known = used or [g.compatible_rdbms for g in asm.groups if g.compatible_rdbms.strip("0.")]
    return min(known, key=_version_key) if known else version


def _existing(
    rack: str,
    asm: AsmFacts,
    group: DiskGroup,
    wanted: Wanted,
    expected: Mapping[str, GridDisk],
    nodes: Mapping[str, str],
    statement: str,
) -> Plan:
    members = {disk.grid_disk.lower() for disk in asm.members(group)}
    other = group.type != _TYPE[wanted.redundancy] or group.au_size != wanted.au_size
    if not members or members - set(expected) or other:
        raise RefusedError(
            f"create diskgroup {group.name}: a disk group of that name exists ({group.state}, {group.type or 'unknown type'}, "
            f"au_size {group.au_size >> 20}M, {len(members)} disks known)",
            hint=f"`show diskgroup {group.name}` shows it; `drop diskgroup {group.name}` drops it; or use another name",
        )
    whole = members == set(expected)
    unmounted = [node for node, inst in nodes.items() if group.states.get(inst) != "MOUNTED"]
    if whole and not unmounted:
        done = {
            asm.node: f"disk group {group.name} exists on these {len(members)} grid disks and is mounted everywhere"
        }
        return Plan(statement=statement, rack=rack, done=done)
    added = [] if whole else [add_stage(asm, group, expected, wanted.prefix)]
    stages = (*added, *_mount_stages(asm, unmounted, nodes, group.name))
    return Plan(statement=statement, rack=rack, stages=stages, notes=() if whole else _added_notes(group, wanted))


def _added_notes(group: DiskGroup, wanted: Wanted) -> tuple[str, ...]:
    said: tuple[str, ...] = ()
    if group.files:
        files = counted(group.files, "file")
        said = (
            f"a rebalance spreads its data ({files}) over the new disks; exacell does not wait for it: `show rebalance` shows it",
        )
    if "appliance.mode" in (key.lower() for key in wanted.attributes):
        return said
    # Source: reference asm.md section 3: set on new groups that qualify, at least three failure groups among other things.
    return (
        *said,
        "ASM sets appliance.mode only when it creates a group: if this one lacks it, alter diskgroup … set attribute",
    )


def _create(asm: AsmFacts, node: str, name: str, sql: str, wanted: Wanted, matched: Sequence[AsmDisk]) -> Step:
    paths = tuple(disk.grid_disk for disk in matched)
    return Step(
        target=node,
        asm=asm.cluster,
        statement=sql,
        what=f"create {name} on {counted(len(matched), 'grid disk')}",
        needs=(
            Check(object="asm.diskgroup", op=Op.ABSENT, where={"name": name}, why="the name is taken"),
            Check(object="asm.disk", attribute="header", op=Op.IN, value=ADDABLE, where={"gridDisk": paths}),
            Check(object="asm.disk", op=Op.COUNT, value=len(matched), where={"gridDisk": f"{wanted.prefix}_*"}),
        ),
        proves=(
            group_check(name, "state", "MOUNTED"),
            group_check(name, "type", _TYPE[wanted.redundancy]),
            group_check(name, "disks", len(matched)),
            group_check(name, "offlineDisks", 0),
            group_check(name, "auSize", wanted.au_size),
        ),
        risk=Risk.NONE,
        undo=Undo.STATEMENT,
        inverse=f"DROP DISKGROUP {name}",
        changes=(Change(object="diskgroup", name=name, attribute="state", before="-", after="MOUNTED"),),
    )


def _mount_stages(
    asm: AsmFacts, nodes: Sequence[str], instances: Mapping[str, str], name: str, *, everywhere: bool = False
) -> list[Stage]:
    steps = (_mount(asm, node, instances, name) for node in nodes)
    return staged("mount it" if everywhere else "mount it on the other nodes", steps, "mount", gate=Gate.ALL)


def _mounted(name: str, instance: str, op: Op = Op.EQ) -> Check:
    where = {"name": name, "instance": instance}
    return Check(object="asm.mount", attribute="state", op=op, value="MOUNTED", where=where)


def _mount(asm: AsmFacts, node: str, instances: Mapping[str, str], name: str, *, away: bool = False) -> Step:
    """Return the step that mounts a disk group on one node; ``away`` dismounts it there."""
    there, gone = _mounted(name, instances[node]), _mounted(name, instances[node], Op.NE)
    word, back = ("DISMOUNT", "MOUNT") if away else ("MOUNT", "DISMOUNT")
    before, after = ("MOUNTED", "-") if away else ("-", "MOUNTED")
    return Step(
        target=node,
        asm=asm.cluster,
        statement=f"ALTER DISKGROUP {name} {word}",
        what=f"{word.lower()} {name}",
        only_if=() if away else (gone,),
        proves=(gone if away else there,),
        risk=Risk.REDUNDANCY if away else Risk.NONE,
        undo=Undo.STATEMENT,
        inverse=f"ALTER DISKGROUP {name} {back}",
        changes=(Change(object="diskgroup", name=f"{name} on {node}", attribute="state", before=before, after=after),),
    )


def known_group(asm: AsmFacts, name: str) -> DiskGroup:
    """Return the disk group with this name.

    Raises:
        RefusedError: ASM knows no group of that name.
    """
    group = asm.group(name)
    if group is None:
        known = ", ".join(found.name for found in asm.groups) or "none"
        near = ask_for(name, (found.name for found in asm.groups))
        raise RefusedError(f"there is no disk group {name}; there are {known}; nothing was sent", hint=near)
    return group


def mount_plan(rack: str, asm: AsmFacts, name: str, *, nodes: Sequence[str], statement: str) -> Plan:
    """Return the plan that mounts a disk group on nodes without it; if it was mounted nowhere before, undo dismounts it.

    Raises:
        RefusedError: ASM knows no such disk group.
    """
    group = known_group(asm, name)
    instances = instance_nodes(nodes, asm.instances)
    unmounted = [node for node, inst in instances.items() if group.states.get(inst) != "MOUNTED"]
    if not unmounted:
        return Plan(statement=statement, rack=rack, done={asm.node: f"disk group {name} is mounted everywhere"})
    back = (f'sql asm "ALTER DISKGROUP {name} DISMOUNT" asm={asm.cluster}',)
    return Plan(
        statement=statement,
        rack=rack,
        stages=tuple(_mount_stages(asm, unmounted, instances, name, everywhere=group.state == "DISMOUNTED")),
        inverse=dict.fromkeys(unmounted, back) if group.state == "DISMOUNTED" else {},
    )


def dismount_plan(rack: str, asm: AsmFacts, name: str, *, nodes: Sequence[str], statement: str) -> Plan:
    """Return the plan that dismounts a disk group on all nodes.

    Raises:
        RefusedError: ASM knows no such disk group, a database or the cluster uses it, it is being rebalanced, or an instance has
            it mounted that is on none of ``nodes``.
    """
    group, what = known_group(asm, name), f"alter diskgroup {name} dismount"
    instances = instance_nodes(nodes, asm.instances)
    _refuse_strangers(asm, group, instances, what)
    mounted = [node for node, inst in instances.items() if group.states.get(inst) == "MOUNTED"]
    if not mounted:
        return Plan(statement=statement, rack=rack, done={asm.node: f"disk group {name} is mounted nowhere"})
    _refuse_clients(group, what)
    if group.voting_files or group.clusterware:
        raise RefusedError(
            f"{what} refused: the cluster's own files are there (ORA-15027), and nodes that can't read them leave "
            f"the cluster; nothing "
            "was sent",
            hint=_voting_elsewhere(asm, group) if group.voting_files else "",
        )
    if asm.told(name):
        raise RefusedError(
            f"{what} refused: {asm.told(name)}; nothing was sent",
            hint="repeat this when `show rebalance` lists none of it",
        )
    alone = group_check(name, "clients", (), why="databases use it")
    steps = (_mount(asm, node, instances, name, away=True) for node in mounted)
    stages = staged("dismount it", (replace(step, needs=(alone,)) for step in steps), "dismount", gate=Gate.ALL)
    back = (f'sql asm "ALTER DISKGROUP {name} MOUNT" asm={asm.cluster}',)
    return Plan(
        statement=statement,
        rack=rack,
        stages=tuple(stages),
        inverse=dict.fromkeys(mounted, back),
        notes=(f"on {', '.join(mounted)}: no database reads or writes {name} until it is mounted again",),
    )


def _refuse_clients(group: DiskGroup, what: str) -> None:
    if group.clients:
        raise RefusedError(
            f"{what} refused: {', '.join(group.clients)} {'is' if len(group.clients) == 1 else 'are'} connected to it; nothing "
            "was sent",
            hint="stop them or move them to another disk group first",
        )


def drop_plan(
    rack: str,
    asm: AsmFacts,
    name: str,
    *,
    nodes: Mapping[str, str],
    accepted: Sequence[str],
    statement: str,
    may_ask: bool = False,
) -> Plan:
    """Return the plan that dismounts a disk group on all nodes but one, and drops it there.

    Args:
        accepted: names whose loss of data was accepted.
        may_ask: the plan is shown to a user who may type the name that was not accepted.

    Raises:
        RefusedError: databases use it, it holds voting files, its files can't be counted because it is not mounted, or an
            instance has it mounted that is on none of ``nodes``.
    """
    name = name.upper()
    group = asm.group(name)
    if group is None:
        why = absent(f"there is no disk group {name}", [name], [group.name for group in asm.groups])
        return Plan(statement=statement, rack=rack, done={asm.node: why})
    destroyed = _checked_files(asm, group, nodes, accepted, may_ask=may_ask)
    others = [node for node, inst in nodes.items() if node != asm.node and group.states.get(inst) == "MOUNTED"]
    members = asm.members(group)
    drop, files = _drop(asm, group, members), counted(destroyed, "file")
    loss = (name,) if destroyed else ()
    return Plan(
        statement=statement,
        rack=rack,
        stages=tuple(_drop_stages(asm, name, drop, others, nodes)),
        risk=drop.risk,
        loss=loss,
        loss_reasons=dict.fromkeys(loss, f"it has {files}, which would be destroyed"),
        inverse={} if loss else _created_again(asm, group, members, (asm.node, *others)),
        notes=(f"{name}: {files}, {counted(len(members), 'disk')}, {group.total_mb} MB; their headers become FORMER",),
    )


def _checked_files(
    asm: AsmFacts, group: DiskGroup, nodes: Mapping[str, str], accepted: Sequence[str], *, may_ask: bool
) -> int:
    """Return how many files a group loses; raise RefusedError if that was not accepted, or the group is needed.

    Raises:
        RefusedError: as for :func:`drop_plan`.
    """
    begin = f"drop diskgroup {group.name} refused"
    if group.files is None:
        raise RefusedError(
            f"{begin}: it is {group.state} on {asm.node}, so its files can't be counted",
            hint=f'type `sql asm "alter diskgroup {group.name} mount"` first',
        )
    _refuse_strangers(asm, group, nodes, f"drop diskgroup {group.name}")
    if group.voting_files:
        raise RefusedError(
            f"{begin}: it holds the cluster's voting files; a node that can't reach most of them leaves the cluster; "
            "nothing was sent",
            hint=_voting_elsewhere(asm, group),
        )
    if group.files and not may_ask and group.name not in (item.upper() for item in accepted):
        used = f", in use by {', '.join(group.clients)}" if group.clients else ""
        raise RefusedError(
            f"{begin}: it has {counted(group.files, 'file')}{used}; nothing was sent",
            hint="move them away first"
            + ("" if group.clients else f"; --accept-data-loss={group.name} would destroy them"),
        )
    _refuse_clients(group, f"drop diskgroup {group.name}")
    return group.files


VOTING_FAILGROUPS = {"EXTERN": 1, "NORMAL": 3, "HIGH": 5}
"""By v$asm_diskgroup.type, the failure groups that a disk group needs for voting files. Source: reference asm.md 4."""


def _voting_elsewhere(asm: AsmFacts, group: DiskGroup) -> str:
    """Return how to move the voting files out of a disk group: to the suitable one with the most failure groups, if any."""
    spread = {
        other.name: len({disk.failgroup for disk in asm.members(other)})
        for other in asm.groups
        if other.name != group.name and other.state == "MOUNTED"
    }
    needed = {other.name: VOTING_FAILGROUPS.get(other.type, 3) for other in asm.groups}
    fit = [name for name in spread if spread[name] >= needed[name]]
    move = "move them first, on a database node: crsctl replace votedisk"
    if fit:
        return f"{move} +{max(fit, key=spread.__getitem__)}; then drop diskgroup {group.name} again"
    return f"{move} +OTHER, to a mounted disk group of 3 failure groups (5 with high redundancy); there is none now"


def _drop_stages(asm: AsmFacts, name: str, drop: Step, others: Sequence[str], nodes: Mapping[str, str]) -> list[Stage]:
    """Return the drop, after a dismount on the other nodes, which is taken back if the drop fails."""
    away = (_mount(asm, node, nodes, name, away=True) for node in others)
    back = (_mount(asm, node, nodes, name) for node in others)
    again = "mount it again after the failure"
    return [
        *staged("dismount it on the other nodes", away, "dismount"),
        *staged("drop the disk group", [drop], "drop", gate=Gate.ALL),
        *staged(again, back, "back", gate=Gate.MEND, mends="dismount", unless="drop"),
    ]


def _refuse_strangers(asm: AsmFacts, group: DiskGroup, nodes: Mapping[str, str], what: str) -> None:
    """Raise RefusedError if an instance has the group mounted that the rack's configuration does not name.

    Exacell can't dismount it there.
    """
    known = set(nodes.values())
    others = [i for i in asm.instances if group.states.get(i.inst_id) == "MOUNTED" and i.inst_id not in known]
    unseen = [inst for inst, state in group.states.items() if state == "MOUNTED" and inst not in known]
    if unseen:
        where = ", ".join(f"{i.name} on {i.host}" for i in others) or f"instance {', '.join(unseen)}"
        raise RefusedError(
            f"{what} refused: {where} has it mounted and is not a node of ASM cluster {asm.cluster}; nothing was sent",
            hint="name that node in the rack's [asm.…] table, or dismount the group there",
        )


def _created_again(
    asm: AsmFacts, group: DiskGroup, members: Sequence[AsmDisk], nodes: Sequence[str]
) -> dict[str, tuple[str, ...]]:
    """Return, by node, the statement that creates an empty group again, or mounts it if only the mount was taken back.

    Empty unless its disks are the grid disks of one prefix.
    """
    prefixes = {match[1] if (match := _CARVED.fullmatch(disk.grid_disk)) else "" for disk in members}
    if len(prefixes) != 1 or "" in prefixes:
        return {}
    kind = next((word for word, code in _TYPE.items() if code == group.type), "")
    if not kind:
        return {}
    statement = (
        f"create diskgroup {group.name} prefix={prefixes.pop()} redundancy={kind} au_size={group.au_size >> 20}M "
        f"compatible.asm={group.compatible_asm} compatible.rdbms={group.compatible_rdbms} asm={asm.cluster}"
    )
    return dict.fromkeys(nodes, (statement,))


def _drop(asm: AsmFacts, group: DiskGroup, members: Sequence[AsmDisk]) -> Step:
    name, contents = group.name, " INCLUDING CONTENTS" if group.files else ""
    paths = tuple(disk.grid_disk for disk in members)
    alone = group_check(name, "clients", (), why="databases use it")
    files = (alone,) if contents else (group_check(name, "files", 0), alone)
    disks = ", ".join(f"'{disk.path}'" for disk in members)
    kind = next((word for word, code in _TYPE.items() if code == group.type), "normal").upper()
    again = (
        f"CREATE DISKGROUP {name} {kind} REDUNDANCY DISK {disks} ATTRIBUTE 'compatible.asm'='{group.compatible_asm}', "
        f"'compatible.rdbms'='{group.compatible_rdbms}', 'au_size'='{group.au_size >> 20}M'"
    )
    proofs: tuple[Check, ...] = (Check(object="asm.diskgroup", op=Op.ABSENT, where={"name": name}),)
    if paths:
        # Count them: a disk that can't be reached now is not listed, and comes back later as MEMBER of a group that is gone.
        # FORMER, or CANDIDATE after they were released and carved again: both belong to no group.
        free: dict[str, tuple[str, ...]] = {"gridDisk": paths, "header": ADDABLE}
        proofs += (Check(object="asm.disk", op=Op.COUNT, value=len(paths), where=free),)
    return Step(
        target=asm.node,
        asm=asm.cluster,
        statement=f"DROP DISKGROUP {name}{contents}",
        what=f"drop {name}",
        needs=files,
        proves=proofs,
        risk=Risk.DATA if contents else Risk.REDUNDANCY,
        undo=Undo.IMPOSSIBLE if contents else Undo.STATEMENT,
        inverse="its files are destroyed" if contents else again,
        changes=(Change(object="diskgroup", name=name, attribute="state", before=group.state, after="-"),),
    )


def instance_nodes(nodes: Sequence[str], instances: Sequence[AsmInstance]) -> dict[str, str]:
    """Return node → instance id for every configured node with a running ASM instance, in the nodes' order."""
    by_host = {i.host.split(".")[0].lower(): i.inst_id for i in instances}
    return {node: by_host[node.split(".")[0].lower()] for node in nodes if node.split(".")[0].lower() in by_host}
