"""Carries out disk group statements on the shared ASM: everything is checked first, then everything is changed.

The nesting and the order of the error codes follow reference asm.md sections 2, 8 and 9. Statements come from
:mod:`asm.statement`; the session that runs a statement checks its privileges and the kind of instance.
"""

from __future__ import annotations

from dataclasses import dataclass

from exacell.emulator.asm.attributes import set_attribute
from exacell.emulator.asm.create import create_group, members_for
from exacell.emulator.asm.instance import Asm, disk_repair_time
from exacell.emulator.asm.statement import (
    ChangeDisks,
    CheckGroup,
    CreateGroup,
    DropGroup,
    MountGroup,
    Rebalance,
    RebalanceGroup,
    ResizeDisks,
    SetAttribute,
    Statement,
    SwitchDisks,
)
from exacell.emulator.basics.ora_messages import OraError, ora
from exacell.emulator.storage.disk_groups import (
    AsmDisk,
    DiskGroup,
    DiskMode,
    DiskState,
    Header,
    HeaderStatus,
    Redundancy,
)

MOST_POWER = 1024
"""The highest power with compatible.asm 11.2.0.2 and later; before, it is 11. Source: reference asm.md section 6."""


@dataclass(frozen=True, kw_only=True)
class Done:
    """The result of a statement.

    Attributes:
        message: the line that SQL*Plus prints, such as ``Diskgroup created.``
        wait_for: the group whose rebalance the statement waits for, empty for none.
    """

    message: str
    wait_for: str = ""


def execute(asm: Asm, node: int, statement: Statement) -> Done:
    """Carry out one statement on the instance of one node.

    Raises:
        OraError: it is refused; nothing has changed.
    """
    asm.settle()
    match statement:
        case CreateGroup():
            create_group(asm, node, statement)
            return Done(message="Diskgroup created.")
        case DropGroup():
            _drop(asm, node, statement)
            return Done(message="Diskgroup dropped.")
        case MountGroup():
            _mount_or_not(asm, node, statement)
        case SetAttribute():
            _set_attribute(asm, node, statement)
        case CheckGroup():
            mounted_group(asm, node, statement.name)
        case RebalanceGroup():
            group = mounted_group(asm, node, statement.name)
            _rebalance(asm, node, group, statement.rebalance)
            return _altered(group, statement.rebalance)
        case ChangeDisks():
            group = mounted_group(asm, node, statement.name)
            _change_disks(asm, node, group, statement)
            return _altered(group, statement.rebalance)
        case SwitchDisks():
            _switch(asm, mounted_group(asm, node, statement.name), statement)
        case ResizeDisks():
            group = mounted_group(asm, node, statement.name)
            _resize(asm, node, group, statement)
            return _altered(group, statement.rebalance)
    return Done(message="Diskgroup altered.")


def _altered(group: DiskGroup, rebalance: Rebalance) -> Done:
    return Done(message="Diskgroup altered.", wait_for=group.name if rebalance.wait and group.operation else "")


def mounted_group(asm: Asm, node: int, name: str) -> DiskGroup:
    """Return a group that is mounted on a node.

    Raises:
        OraError: ORA-15032 over ORA-15001.
    """
    group = asm.groups.get(name)
    if group is None or node not in group.mounted:
        raise OraError(ora(15032), ora(15001, name))
    return group


def _drop(asm: Asm, node: int, statement: DropGroup) -> None:
    wrapper, name = ora(15039), statement.name
    group = asm.groups.get(name)
    if statement.force:
        if group is not None and (group.mounted or not _missing(asm, group)):
            raise OraError(wrapper, ora(15230, name))
        if group is None:
            raise OraError(wrapper, ora(15001, name))
    elif group is None or node not in group.mounted:
        raise OraError(wrapper, ora(15001, name))
    elif [other for other in group.mounted if other != node]:
        raise OraError(wrapper, ora(15073, name))
    elif group.files and not statement.including:
        raise OraError(wrapper, ora(15053, name))
    elif asm.clients(group, node) or group.voting_files:
        raise OraError(wrapper, ora(15027, name))
    for disk in group.disks.values():
        header = asm.header(disk.cell, disk.grid_disk)
        if header is not None and header.group == name and asm.reachable(disk.cell, disk.grid_disk):
            header.status = HeaderStatus.FORMER
    asm.unmount(group, list(group.mounted))
    del asm.groups[name]
    asm.resources.discard(name)


# -- mounting -------------------------------------------------------------------------------------------------------


def _mount_or_not(asm: Asm, node: int, statement: MountGroup) -> None:
    change = mount_group if statement.mount else dismount_group
    if statement.names:
        for name in statement.names:
            change(asm, node, name, force=statement.force, restricted=statement.restricted)
        return
    wanted = [name for name, group in asm.groups.items() if (node in group.mounted) != statement.mount]
    if not wanted and not statement.mount:
        raise OraError(ora(15032), ora(15110))
    for name in wanted:
        change(asm, node, name, force=statement.force, restricted=statement.restricted)


def mount_group(asm: Asm, node: int, name: str, *, force: bool = False, restricted: bool = False) -> None:
    """Mount a group on a node.

    Raises:
        OraError: ORA-15032 and ORA-15017 over ORA-15063, 15013, or 15040 with an ORA-15042 for each missing disk.
    """
    asm.settle()
    wrapper = ora(15032), ora(15017, name)
    group = asm.groups.get(name)
    if group is None:
        raise OraError(*wrapper, ora(15063, name))
    if node in group.mounted:
        raise OraError(*wrapper, ora(15013, name))
    missing = _missing(asm, group)
    lost = {disk.fail_group for disk in missing if not disk.quorum}
    if len(lost) >= group.redundancy.copies:
        raise OraError(*wrapper, ora(15040), *(ora(15042, disk.number, "") for disk in missing[:20]))
    newly = [disk for disk in missing if disk.mode is DiskMode.ONLINE]
    if newly and not force and not group.mounted:
        raise OraError(*wrapper, ora(15040), *(ora(15042, disk.number, "") for disk in newly[:20]))
    if force and not newly:
        raise OraError(*wrapper, ora(15230, name))
    asm.mount(group, node, restricted=restricted)
    asm.settle()


def _missing(asm: Asm, group: DiskGroup) -> list[AsmDisk]:
    """Return the disks whose grid disks ASM does not see, or whose grid disks now belong to another ASM disk."""
    return [
        disk
        for disk in group.disks.values()
        if not asm.reachable(disk.cell, disk.grid_disk)
        or (header := asm.header(disk.cell, disk.grid_disk)) is None
        or header.group != group.name
    ]


def dismount_group(asm: Asm, node: int, name: str, *, force: bool = False, restricted: bool = False) -> None:
    """Dismount a group on a node.

    Raises:
        OraError: ORA-15032 over ORA-15001, or ORA-15027 while a client uses it and ``force`` is not given.
    """
    group = mounted_group(asm, node, name)
    if not force and (asm.clients(group, node) or group.voting_files):
        raise OraError(ora(15032), ora(15027, name))
    asm.unmount(group, [node])


# -- attributes, rebalance --------------------------------------------------------------------------------------------


def _set_attribute(asm: Asm, node: int, statement: SetAttribute) -> None:
    group = mounted_group(asm, node, statement.name)
    group.attributes = set_attribute(
        group.attributes,
        statement.attribute,
        statement.value,
        creating=False,
        software=asm.version,
        wrapper=ora(15032),
    )


def _checked_power(power: int | None) -> None:
    if power is not None and power > MOST_POWER:
        raise OraError(ora(15032), ora(15238, power, "power"))


def _rebalance(asm: Asm, node: int, group: DiskGroup, rebalance: Rebalance) -> None:
    _checked_power(rebalance.power)
    if group.operation is not None:
        power = int(asm.parameters["asm_power_limit"]) if rebalance.power is None else rebalance.power
        group.operation.set_power(power, asm.now())
    else:
        asm.start_rebalance(group, asm.now(), node=node, power=rebalance.power)


# -- disks ------------------------------------------------------------------------------------------------------------


def _disk(group: DiskGroup, name: str) -> AsmDisk:
    disk = group.disks.get(name)
    if disk is None:
        raise OraError(ora(15032), ora(15054, name, group.name))
    return disk


def _chosen(group: DiskGroup, disks: tuple[str, ...], fail_groups: tuple[str, ...]) -> list[AsmDisk]:
    """Return the named disks and the disks of the named failure groups; all disks when nothing is named."""
    found = [_disk(group, name) for name in disks]
    for name in fail_groups:
        inside = [disk for disk in group.disks.values() if disk.fail_group == name]
        if not inside:
            raise OraError(ora(15032), ora(15054, name, group.name))
        found += inside
    return found if disks or fail_groups else list(group.disks.values())


def _change_disks(asm: Asm, node: int, group: DiskGroup, statement: ChangeDisks) -> None:
    wrapper = ora(15032)
    _checked_power(statement.rebalance.power)
    if statement.undrop:
        for disk in group.disks.values():
            if disk.state is DiskState.DROPPING:
                disk.state = DiskState.NORMAL
        asm.start_rebalance(group, asm.now(), node=node)
        return
    dropping: list[AsmDisk] = []
    if statement.drop or statement.drop_fail_groups:
        dropping = _chosen(group, statement.drop, statement.drop_fail_groups)
        _check_drop(group, dropping, statement, len(statement.add))
    added = members_for(asm, statement.add, group, wrapper=wrapper)
    if group.redundancy is Redundancy.EXTERN and any(spec.fail_group for spec in statement.add):
        raise OraError(wrapper, ora(15067))
    for disk in dropping:
        disk.state = DiskState.FORCING if statement.force else DiskState.DROPPING
    first = max((disk.number for disk in group.disks.values()), default=-1) + 1
    for offset, disk in enumerate(added):
        disk.number, disk.state = first + offset, DiskState.ADDING
        group.disks[disk.name] = disk
        asm.headers[disk.cell, disk.grid_disk] = Header(
            status=HeaderStatus.MEMBER,
            group=group.name,
            disk=disk.name,
            fail_group=disk.fail_group,
            redundancy=group.redundancy.value,
        )
    asm.start_rebalance(group, asm.now(), node=node, power=statement.rebalance.power)


def _check_drop(group: DiskGroup, dropping: list[AsmDisk], statement: ChangeDisks, adding: int) -> None:
    """Raise OraError if the drop would leave too few failure groups or too little space.

    Raises:
        OraError: ORA-15032 over ORA-15084, 15067 or 15250.
    """
    wrapper = ora(15032)
    names = {disk.name for disk in dropping}
    for disk in dropping:
        if disk.mode is not DiskMode.ONLINE and not statement.force:
            raise OraError(wrapper, ora(15084, disk.name))
    staying = [d for d in group.disks.values() if d.name not in names and d.state is not DiskState.DROPPING]
    left = {disk.fail_group for disk in staying if not disk.quorum}
    if len(left) < group.redundancy.least_fail_groups and not adding:
        raise OraError(wrapper, ora(15067))
    used = sum(group.used_by_disk().values())
    if sum(disk.size_mb for disk in staying) < used and not adding:
        raise OraError(wrapper, ora(15250))


def _switch(asm: Asm, group: DiskGroup, statement: SwitchDisks) -> None:
    chosen = _chosen(group, statement.disks, statement.fail_groups)
    now = asm.now()
    if statement.online:
        for disk in chosen:
            disk.kept_offline = False
        asm.settle()
        return
    lost = group.impaired_fail_groups() | {disk.fail_group for disk in chosen}
    if len(lost) >= group.redundancy.copies:
        raise OraError(ora(15032), *(ora(15066, disk.name, group.name) for disk in chosen[:20]))
    for disk in chosen:
        disk.mode, disk.kept_offline, disk.sync_ends = DiskMode.OFFLINE, True, None
        disk.offline_since = disk.offline_since if disk.offline_since is not None else now
        disk.drop_after, disk.repair = statement.drop_after, disk_repair_time(group)


def _resize(asm: Asm, node: int, group: DiskGroup, statement: ResizeDisks) -> None:
    chosen = _chosen(group, statement.disks, statement.fail_groups)
    present = {(disk.cell, disk.name): disk.size_mb for disk in asm.discover()}
    sizes: dict[str, int] = {}
    for disk in chosen:
        whole = present.get((disk.cell, disk.grid_disk))
        if whole is None:
            raise OraError(ora(15032), ora(15084, disk.name))
        wanted = whole if statement.size_bytes is None else statement.size_bytes // (1 << 20)
        if wanted > whole:
            raise OraError(ora(15032), ora(15036, disk.name, whole, wanted))
        sizes[disk.name] = wanted // group.au_mb * group.au_mb
    used = sum(group.used_by_disk().values())
    if sum(sizes.get(disk.name, disk.size_mb) for disk in group.disks.values()) < used:
        raise OraError(ora(15032), ora(15250))
    for name, size in sizes.items():
        group.disks[name].size_mb = size
    asm.start_rebalance(group, asm.now(), node=node, power=statement.rebalance.power)
