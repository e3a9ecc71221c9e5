"""Show, create and drop ASM disk groups, and plan changes of them that are given as SQL."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from fnmatch import fnmatchcase

from exacell.change.consent import accepted_loss
from exacell.change.execute import execute
from exacell.change.targets.asm import asm_records
from exacell.core.errors import RefusedError
from exacell.core.meant import ask_for, refuse_slip
from exacell.language.line import with_call_flags
from exacell.language.registry import Call, Kind
from exacell.output.result import Column, Result
from exacell.plan import facts as f
from exacell.plan.asmchange import (
    AddDisks,
    Change,
    DropDisks,
    DropGroup,
    MountGroup,
    NewGroup,
    ResizeDisks,
    SetAttribute,
    SetPower,
    SwitchDisks,
)
from exacell.plan.asmfacts import AsmFacts
from exacell.plan.asmspace import AU_SIZES
from exacell.plan.facts import GridDisk
from exacell.plan.model import Planned
from exacell.plan.planners.asm_attribute import attribute_plan
from exacell.plan.planners.asm_disks import disks_plan
from exacell.plan.planners.diskgroup import (
    Wanted,
    create_plan,
    dismount_plan,
    drop_plan,
    instance_nodes,
    mount_plan,
)
from exacell.plan.planners.griddisk import members
from exacell.plan.planners.rebalance import power_plan
from exacell.session.factreading import planning_asm, read_facts
from exacell.session.given import Request, Services, Session

_COLUMNS = (
    Column("name"),
    Column("state"),
    Column("type"),
    Column("auSize", "size"),
    Column("disks", "number"),
    Column("failgroups", "number"),
    Column("totalMb", "mib", "total"),
    Column("freeMb", "mib", "free"),
    Column("usableFileMb", "mib", "usable"),
    Column("offlineDisks", "number"),
    Column("files", "number"),
    Column("clients"),
)
_DISK_COLUMNS = (
    Column("diskgroup"),
    Column("name"),
    Column("gridDisk"),
    Column("header"),
    Column("mode"),
    Column("osMb", "mib", "size"),
    Column("failgroup"),
)


def show(services: Services, call: Call) -> Result:
    """Return one record per disk group; empty if there is none of that name."""
    records = asm_records(services.asm(call.text_arg("asm")).facts())["asm.diskgroup"]
    services.learned.learn({Kind.DISKGROUP: [str(r["name"]) for r in records]})
    wanted = call.text_arg("name").upper()
    rows = [{"cell": None, **record} for record in records if not wanted or record["name"] == wanted]
    if wanted and not rows:
        known = [str(record["name"]) for record in records]
        listed = ", ".join(known) or "none"
        raise RefusedError(f"there is no disk group {wanted}; there are: {listed}", hint=ask_for(wanted, known))
    return Result(records=rows, columns=_COLUMNS, data=True)


def show_disks(services: Services, call: Call) -> Result:
    """Return one record per discovered disk."""
    wanted = call.text_arg("diskgroup").upper()
    records = asm_records(services.asm(call.text_arg("asm")).facts())["asm.disk"]
    rows = [{"cell": None, **r} for r in records if not wanted or r["diskgroup"] == wanted]
    return Result(records=rows, columns=_DISK_COLUMNS, data=True)


def create(session: Session, services: Services, request: Request, call: Call) -> Planned:
    """Return the plan; its result is one record per node with its outcome."""
    name, prefix = call.text_arg("name"), call.text_arg("prefix")
    au_size = call.int_arg("au_size") or 0
    if au_size not in AU_SIZES:
        raise RefusedError(f"create diskgroup {name}: au_size is 1M, 2M, 4M, 8M, 16M, 32M or 64M")
    if len(name) > 30:
        raise RefusedError(
            f"create diskgroup {name}: a disk group's name has at most 30 characters, this has {len(name)}"
        )
    for key, value in call.extra.items():
        if "'" in key + value:
            raise RefusedError(f"create diskgroup {name}: {key}={value} has a quote in it", hint="leave the quotes out")
        if not value.strip():
            raise RefusedError(
                f"create diskgroup {name}: {key}= has no value",
                hint=f"leave {key} out, or give it a value; without it, compatible.asm and compatible.rdbms "
                "come from the instances",
            )
    client = services.asm(call.text_arg("asm"))
    facts = read_facts(session, services, request, f.CELL, f.GRIDDISK)
    asm = planning_asm(services, request, client.config.name)
    wanted = Wanted(
        name=name, prefix=prefix, redundancy=call.text_arg("redundancy"), au_size=au_size, attributes=dict(call.extra)
    )
    nodes = instance_nodes(client.config.nodes, asm.instances)
    plan = create_plan(session.need_rack().name, asm, members(facts, prefix), wanted, nodes=nodes, statement=call.text)
    return Planned(plan, facts)


def drop(session: Session, services: Services, request: Request, call: Call) -> Planned:
    """Return the plan; its result is one record per node with its outcome."""
    client = services.asm(call.text_arg("asm"))
    asm = planning_asm(services, request, client.config.name)
    if not request.replaying:
        refuse_slip(call.text, "disk group", (call.text_arg("name").upper(),), [group.name for group in asm.groups])
    plan = drop_plan(
        session.need_rack().name,
        asm,
        call.text_arg("name"),
        nodes=instance_nodes(client.config.nodes, asm.instances),
        accepted=accepted_loss(session.options.over(call.flags)),
        statement=call.text,
        may_ask=True,
    )
    return Planned(plan)


_OPERATION_COLUMNS = (
    Column("diskgroup"),
    Column("instance"),
    Column("operation"),
    Column("state"),
    Column("power", "number"),
    Column("percent", "number"),
    Column("minutes", "number"),
)


def show_rebalance(services: Services, call: Call) -> Result:
    """Return one record per operation that has not ended; a note if there is none."""
    found = services.asm(call.text_arg("asm")).facts().running
    rows = [
        {
            "cell": None,
            "diskgroup": operation.diskgroup or None,
            "instance": operation.inst_id,
            "operation": operation.kind,
            "state": operation.state,
            "power": operation.power,
            "percent": 100 * operation.sofar // operation.work if operation.work else None,
            "minutes": operation.minutes if operation.work else None,
        }
        for operation in found
    ]
    return Result(
        records=rows, columns=_OPERATION_COLUMNS, data=True, notes=[] if rows else ["no rebalance is running"]
    )


def set_rebalance(session: Session, services: Services, request: Request, call: Call) -> Planned:
    """Return the plan; its result is one record per node with its outcome."""
    power = call.int_arg("power")
    assert power is not None
    asm = planning_asm(services, request, call.text_arg("asm"))
    plan = power_plan(
        session.need_rack().name,
        asm,
        power=power,
        group=call.text_arg("diskgroup"),
        statement=call.text,
        starts=not request.origin.startswith("undo "),
    )
    return Planned(plan)


def asm_change(session: Session, services: Services, request: Request, call: Call, change: Change) -> Result | Planned:
    """Return the plan of a change in SQL, or the result of the exacell statement that does the same.

    Raises:
        RefusedError: a guard forbids it.
    """
    rack, cluster = session.need_rack().name, call.text_arg("asm")
    client = services.asm(cluster)
    own = ""
    match change:
        case NewGroup():
            prefix = _prefix(change)
            own = f"create diskgroup {change.group} prefix={prefix} redundancy={change.redundancy}"
            own += "".join(f' {key}="{value}"' for key, value in change.attributes)
            _refuse_others(planning_asm(services, request, cluster), change, prefix)
        case DropGroup():
            own = f"drop diskgroup {change.group}"
        case SetPower() if change.starts:
            own = f"set rebalance power={change.power} diskgroup={change.group}"
    if own:
        own += f" asm={cluster}" if cluster else ""
        services.console.say(f"this is: {own}")
        return execute(session, services, request, with_call_flags(own, call.flags))
    asm = planning_asm(services, request, cluster)
    match change:
        case MountGroup():
            made = mount_plan if change.mount else dismount_plan
            plan = made(rack, asm, change.group, nodes=client.config.nodes, statement=call.text)
        case SetPower():
            plan = power_plan(rack, asm, power=change.power, group=change.group, statement=call.text, starts=False)
        case SetAttribute():
            plan = attribute_plan(rack, asm, change, statement=call.text)
        case AddDisks() | DropDisks() | ResizeDisks() | SwitchDisks():
            grids = _grid_disks(session, services, request, change)
            now = datetime.now().astimezone()
            plan = disks_plan(rack, asm, change, grids=grids, statement=call.text, now=now)
    return Planned(plan)


def _grid_disks(
    session: Session, services: Services, request: Request, change: Change
) -> Mapping[str, Sequence[GridDisk]]:
    """Return the grid disks of the cells that a change needs.

    A change that brings disks online does not wait for cells that don't answer.
    """
    cells = tuple(session.cells())
    if isinstance(change, AddDisks):
        return {cell: fact.grid_disks for cell, fact in read_facts(session, services, request, f.GRIDDISK).items()}
    if isinstance(change, SwitchDisks) and change.online:
        good = services.fleet.query(cells, [f.GRIDDISK]).good
        return {cell: f.build(cell, [f.GRIDDISK], answer.tables).grid_disks for cell, answer in good.items()}
    return dict.fromkeys(cells, ())


def _prefix(change: NewGroup) -> str:
    """Return the prefix of the grid disks of a new disk group.

    Raises:
        RefusedError: the SQL names other disks, or an attribute is empty, so that no exacell statement does the same.
    """
    what = f"create diskgroup {change.group} refused"
    _, address, name = change.search.split("/")
    prefix = name.removesuffix("*").removesuffix("_")
    if address != "*" or not name.endswith("*") or "*" in prefix or not prefix:
        raise RefusedError(
            f"{what}: exacell makes a disk group from the grid disks of one prefix on all cells; "
            f"'{change.search}' is not such a set; nothing was sent",
            hint=f"DISK 'o/*/{prefix.strip('*') or 'prefix'}_*'",
        )
    empty = [key for key, value in change.attributes if not value.strip()]
    if empty:
        raise RefusedError(
            f"{what}: {' and '.join(empty)} are empty; nothing was sent",
            hint="leave them out: then exacell uses the versions of the ASM software and of the databases' disk groups",
        )
    return prefix


def _refuse_others(asm: AsmFacts, change: NewGroup, prefix: str) -> None:
    """Raise RefusedError if the search string in the SQL matches more than the grid disks of its prefix.

    Raises:
        RefusedError: names one of the others.
    """
    caught = [disk.grid_disk for disk in asm.disks if disk.grid_disk and fnmatchcase(disk.path, change.search)]
    other = next((name for name in caught if not name.lower().startswith(f"{prefix.lower()}_")), "")
    if other:
        raise RefusedError(
            f"create diskgroup {change.group} refused: '{change.search}' also catches {other}; nothing was sent",
            hint=f"DISK 'o/*/{prefix}_*' matches only the grid disks {prefix}_<celldisk>",
        )
