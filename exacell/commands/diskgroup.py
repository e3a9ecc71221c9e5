"""Show, create and drop ASM disk groups."""

from __future__ import annotations

from typing import TYPE_CHECKING

from exacell.change.consent import accepted_loss
from exacell.change.probe import asm_records
from exacell.core.errors import RefusedError
from exacell.core.meant import ask_for, refuse_slip
from exacell.language.registry import Call, Kind
from exacell.output.result import Column, Result
from exacell.plan import facts as f
from exacell.plan.asmspace import AU_SIZES
from exacell.plan.model import Planned
from exacell.plan.planners.diskgroup import (
    Wanted,
    create_plan,
    drop_plan,
    instance_nodes,
)
from exacell.plan.planners.griddisk import members
from exacell.plan.planners.rebalance import power_plan
from exacell.session.factreading import read_facts

if TYPE_CHECKING:
    from exacell.session.request import Request
    from exacell.session.services import Services
    from exacell.session.state import Session

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
    """Return one record per disk group; empty when there is none of that name."""
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
            raise RefusedError(f"create diskgroup {name}: {key}={value} holds a quote", hint="leave the quotes out")
    client = services.asm(call.text_arg("asm"))
    facts = read_facts(session, services, request, f.CELL, f.GRIDDISK)
    asm = client.facts()
    wanted = Wanted(
        name=name, prefix=prefix, redundancy=call.text_arg("redundancy"), au_size=au_size, attributes=dict(call.extra)
    )
    nodes = instance_nodes(client.config.nodes, asm.instances)
    plan = create_plan(session.need_rack().name, asm, members(facts, prefix), wanted, nodes=nodes, statement=call.text)
    return Planned(plan, facts)


def drop(session: Session, services: Services, request: Request, call: Call) -> Planned:
    """Return the plan; its result is one record per node with its outcome."""
    client = services.asm(call.text_arg("asm"))
    asm = client.facts()
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
    """Return one record per operation that is not done; a note when there is none."""
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
    return Result(records=rows, columns=_OPERATION_COLUMNS, data=True, notes=[] if rows else ["no rebalance runs"])


def set_rebalance(session: Session, services: Services, request: Request, call: Call) -> Planned:
    """Return the plan; its result is one record per node with its outcome."""
    power = call.int_arg("power")
    assert power is not None
    asm = services.asm(call.text_arg("asm")).facts()
    plan = power_plan(
        session.need_rack().name,
        asm,
        power=power,
        group=call.text_arg("diskgroup"),
        statement=call.text,
        starts=not request.origin.startswith("undo "),
    )
    return Planned(plan)
