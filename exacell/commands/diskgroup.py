"""Show, create and drop ASM disk groups."""

from __future__ import annotations

from typing import TYPE_CHECKING

from exacell.change.consent import accepted_loss
from exacell.errors import RefusedError
from exacell.factreading import read_facts
from exacell.language.registry import Call, Effect, Kind, Param, command
from exacell.output.result import Column, Result
from exacell.plan.planned import Planned

if TYPE_CHECKING:
    from exacell.context import Context

GROUP = "ASM"

_ASM = Param(name="asm", kind=Kind.ASM, help="which ASM cluster, when the rack has several")
_COLUMNS = (
    Column("name"),
    Column("state"),
    Column("type"),
    Column("auSize", "size"),
    Column("disks", "number"),
    Column("failgroups", "number"),
    Column("totalMb", "number"),
    Column("freeMb", "number"),
    Column("usableFileMb", "number"),
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
    Column("osMb", "number"),
    Column("failgroup"),
)


@command(
    "show diskgroup",
    group=GROUP,
    effect=Effect.READ,
    summary="disk groups: state, redundancy, allocation unit, disks, failure groups, space, files, clients",
    details="Sizes ending in Mb are raw megabytes as ASM counts them, auSize is bytes.",
    example="show diskgroup DATA",
    params=(Param(name="name", kind=Kind.DISKGROUP, positional=True, help="only this one"), _ASM),
)
def show(ctx: Context, call: Call) -> Result:
    """Return one record per disk group; empty when there is none of that name."""
    from exacell.change.probe import asm_records

    records = asm_records(ctx.asm(call.text_arg("asm")).facts())["asm.diskgroup"]
    ctx.services.learned.learn({Kind.DISKGROUP: [str(r["name"]) for r in records]})
    wanted = call.text_arg("name").upper()
    rows = [{"cell": None, **record} for record in records if not wanted or record["name"] == wanted]
    if wanted and not rows:
        raise RefusedError(
            f"there is no disk group {wanted}; there are: {', '.join(str(r['name']) for r in records) or 'none'}"
        )
    return Result(records=rows, columns=_COLUMNS, data=True)


@command(
    "show asmdisk",
    group=GROUP,
    effect=Effect.READ,
    summary="disks as ASM sees them: disk group, header, mode, size, failure group",
    example="show asmdisk",
    params=(Param(name="diskgroup", kind=Kind.DISKGROUP, help="only those of this disk group"), _ASM),
)
def show_disks(ctx: Context, call: Call) -> Result:
    """Return one record per discovered disk."""
    from exacell.change.probe import asm_records

    wanted = call.text_arg("diskgroup").upper()
    records = asm_records(ctx.asm(call.text_arg("asm")).facts())["asm.disk"]
    rows = [{"cell": None, **r} for r in records if not wanted or r["diskgroup"] == wanted]
    return Result(records=rows, columns=_DISK_COLUMNS, data=True)


@command(
    "create diskgroup",
    group=GROUP,
    effect=Effect.WRITE,
    summary="create a disk group on grid disks of one prefix, and mount it on all nodes",
    details="One failure group per cell. compatible.asm is the ASM software's, compatible.rdbms that of the disk groups "
    "in use now, unless given; both can only be raised. Any other key=value becomes an ATTRIBUTE.",
    example="create diskgroup DATA_SSD prefix=ssddisk redundancy=normal au_size=4m -y",
    params=(
        Param(name="name", kind=Kind.DISKGROUP, positional=True, required=True, help="at most 30 characters"),
        Param(name="prefix", kind=Kind.PREFIX, required=True, help="grid disks prefix_<celldisk> of all cells"),
        Param(
            name="redundancy",
            kind=Kind.CHOICE,
            choices=("external", "normal", "high"),
            default="normal",
            help="can't be changed later",
        ),
        Param(name="au_size", kind=Kind.SIZE, default="4m", help="allocation unit: 1, 2, 4 … 64M"),
        _ASM,
    ),
    open_keys=True,
)
def create(ctx: Context, call: Call) -> Planned:
    """Return the plan; its result is one record per node with its outcome."""
    from exacell.plan import facts as f
    from exacell.plan.asmspace import AU_SIZES
    from exacell.plan.diskgroup import Wanted, create_plan, instance_nodes
    from exacell.plan.griddisk import members

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
            raise RefusedError(f"create diskgroup {name}: {key}={value} holds a quote")
    client = ctx.asm(call.text_arg("asm"))
    facts = read_facts(ctx, f.CELL, f.GRIDDISK)
    asm = client.facts()
    wanted = Wanted(
        name=name, prefix=prefix, redundancy=call.text_arg("redundancy"), au_size=au_size, attributes=dict(call.extra)
    )
    nodes = instance_nodes(client.config.nodes, asm.instances)
    plan = create_plan(ctx.need_rack().name, asm, members(facts, prefix), wanted, nodes=nodes, statement=call.text)
    return Planned(plan, facts)


@command(
    "drop diskgroup",
    group=GROUP,
    effect=Effect.WRITE,
    summary="dismount a disk group on the other nodes and drop it",
    details="Without files -y suffices. With files its name must be typed, or given to --accept-data-loss. Refused "
    "while a database is connected to it, or when it holds voting files.",
    example="drop diskgroup DATA_SSD -y",
    params=(Param(name="name", kind=Kind.DISKGROUP, positional=True, required=True, help="the disk group"), _ASM),
)
def drop(ctx: Context, call: Call) -> Planned:
    """Return the plan; its result is one record per node with its outcome."""
    from exacell.plan.diskgroup import drop_plan, instance_nodes
    from exacell.plan.nearby import refuse_slip

    client = ctx.asm(call.text_arg("asm"))
    asm = client.facts()
    if not ctx.request.replaying:
        refuse_slip(call.text, "disk group", (call.text_arg("name").upper(),), [group.name for group in asm.groups])
    plan = drop_plan(
        ctx.need_rack().name,
        asm,
        call.text_arg("name"),
        nodes=instance_nodes(client.config.nodes, asm.instances),
        accepted=accepted_loss(ctx.flags_of(call)),
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


@command(
    "show rebalance",
    group=GROUP,
    effect=Effect.READ,
    summary="what ASM moves or resyncs now: disk group, power, percent, minutes left as ASM estimates",
    details="Only the instance that does the work knows how far it is; the others wait. Nothing listed: ASM is quiet.",
    example="show rebalance",
    params=(_ASM,),
)
def show_rebalance(ctx: Context, call: Call) -> Result:
    """Return one record per operation that is not done; a note when there is none."""
    found = ctx.asm(call.text_arg("asm")).facts().running
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


@command(
    "set rebalance",
    group=GROUP,
    effect=Effect.WRITE,
    summary="change the power of the rebalances that run; diskgroup=NAME starts one of that group",
    details="power=0 makes a rebalance stand still. 1 to 4 leaves databases their disks, more is for a window.",
    example="set rebalance power=4 -y",
    params=(
        Param(name="power", kind=Kind.INT, required=True, help="0 to 1024"),
        Param(name="diskgroup", kind=Kind.DISKGROUP, help="this one, whether it is being rebalanced or not"),
        _ASM,
    ),
)
def set_rebalance(ctx: Context, call: Call) -> Planned:
    """Return the plan; its result is one record per node with its outcome."""
    from exacell.plan.rebalance import power_plan

    power = call.int_arg("power")
    assert power is not None
    asm = ctx.asm(call.text_arg("asm")).facts()
    plan = power_plan(
        ctx.need_rack().name,
        asm,
        power=power,
        group=call.text_arg("diskgroup"),
        statement=call.text,
        starts=not ctx.request.origin.startswith("undo "),
    )
    return Planned(plan)
