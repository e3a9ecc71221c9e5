"""Show, carve and release grid disks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from exacell import cellset
from exacell.errors import ExacellError, StatementError
from exacell.factreading import read_facts
from exacell.language.registry import Call, Effect, Kind, Param, command
from exacell.output.result import Column, Result
from exacell.plan.planned import Planned

if TYPE_CHECKING:
    from exacell.context import Context

GROUP = "grid disks"

_COLUMNS = (
    Column("cell"),
    Column("prefix"),
    Column("disks", "number"),
    Column("size", "size"),
    Column("media"),
    Column("status"),
    Column("diskgroup"),
    Column("asmModeStatus"),
)

_PREFIX = Param(name="prefix", kind=Kind.PREFIX, required=True, help="exactly the disks named prefix_<celldisk>")


@command(
    "show griddisk",
    group=GROUP,
    effect=Effect.READ,
    summary="grid disks per cell and prefix: how many, how big, on what, used by which disk group",
    details="LIST GRIDDISK shows every single one.",
    example="show griddisk",
    params=(Param(name="prefix", kind=Kind.PREFIX, help="only these"),),
)
def show(ctx: Context, call: Call) -> Result:
    """Return one record per cell, prefix and size."""
    from exacell.plan import facts as f

    answers = ctx.query(f.GRIDDISK)
    wanted = call.text_arg("prefix").lower()
    rows: list[dict[str, object]] = []
    for cell, answer in answers.good.items():
        fact = f.build(cell, [f.GRIDDISK], answer.tables)
        groups: dict[tuple[str, int, str, str, str, str], int] = {}
        for grid in fact.grid_disks:
            prefix = grid.prefix or grid.name
            if wanted and prefix.lower() != wanted:
                continue
            key = (prefix, grid.size, "flash" if grid.flash else "hard", grid.status, grid.asm_group, grid.asm_mode)
            groups[key] = groups.get(key, 0) + 1
        for (prefix, size, media, status, group, mode), count in groups.items():
            rows.append(
                {
                    "cell": cell,
                    "prefix": prefix,
                    "disks": count,
                    "size": size,
                    "media": media,
                    "status": status,
                    "diskgroup": group or None,
                    "asmModeStatus": mode or None,
                }
            )
    ctx.services.learned.learn({Kind.PREFIX: [str(row["prefix"]) for row in rows]})
    # No cell is left out without a word, not one that has nothing to show either.
    there = {row["cell"] for row in rows}
    bare = [cell for cell in answers.good if cell not in there]
    such = f" with prefix {wanted}" if wanted else ""
    return Result(
        records=rows,
        columns=_COLUMNS,
        fold=True,
        data=True,
        notes=(f"{cellset.fold(bare)}: no grid disks{such}",) if bare else (),
        problems=answers.problems,
        exit_code=answers.exit_code,
    )


@command(
    "carve griddisk",
    group=GROUP,
    effect=Effect.WRITE,
    summary="make one grid disk of equal, explicit size on every flash (or hard) cell disk",
    details="Without size= every disk gets what is free on the fullest disk of all cells, rounded down to 16M. "
    "If the flash cache owns the space, the way to make room is named. usable= counts the copies, what ASM needs for itself "
    "and what it keeps free for the mirrors. Refused while a disk is not normal, and for a prefix that grid disks on another "
    "kind of disk have.",
    example="carve griddisk prefix=ssddisk -y",
    params=(
        _PREFIX,
        Param(name="size", kind=Kind.SIZE, help="of each grid disk"),
        Param(name="free", kind=Kind.CHOICE, choices=("all",), help="all: take what is free (the default)"),
        Param(
            name="usable",
            kind=Kind.SIZE,
            help="usable_file_mb that an empty disk group of redundancy= on them shall have",
        ),
        Param(
            name="redundancy",
            kind=Kind.CHOICE,
            choices=("external", "normal", "high"),
            default="normal",
            help="for usable=",
        ),
        Param(name="au_size", kind=Kind.SIZE, default="4m", help="for usable=: the disk group's allocation unit"),
        Param(
            name="media",
            kind=Kind.CHOICE,
            choices=("flash", "performance", "capacity", "hard"),
            default="flash",
            help="which cell disks; performance and capacity from release 24.1",
        ),
        Param(name="asm", kind=Kind.ASM, help="which ASM cluster may use them, when the rack has several"),
        Param(name="availableTo", kind=Kind.TEXT, help="the ASM clients that may use them; else as the rack's others"),
    ),
)
def carve(ctx: Context, call: Call) -> Planned:
    """Return the plan; its result is one record per cell with its outcome."""
    from exacell.plan import facts as f
    from exacell.plan.asmspace import AU_SIZES, Keeping
    from exacell.plan.carve import carve_plan

    given = [name for name in ("size", "free", "usable") if call.args.get(name) is not None]
    if len(given) > 1:
        raise StatementError(f"carve griddisk: {' and '.join(f'{g}=' for g in given)} exclude each other")
    au_size = call.int_arg("au_size") or 0
    if au_size not in AU_SIZES:
        raise StatementError("carve griddisk: au_size is 1M, 2M, 4M, 8M, 16M, 32M or 64M")
    facts = read_facts(ctx, f.CELL, f.FLASHCACHE, f.CELLDISK, f.GRIDDISK, f.FLASH_PHYSICALDISK)
    asm = call.text_arg("asm")
    if asm and call.text_arg("availableTo"):
        raise StatementError("carve griddisk: asm= and availableTo= exclude each other")
    groups = {group.name for group in ctx.asm(asm).facts().groups} if asm else None
    usable = call.int_arg("usable")
    keeping = Keeping(
        redundancy=call.text_arg("redundancy"),
        au_size=au_size,
        by_failgroup=_kept_by_failgroup(ctx, asm) if usable is not None else None,
    )
    plan = carve_plan(
        ctx.need_rack().name,
        facts,
        prefix=call.text_arg("prefix"),
        media=call.text_arg("media"),
        each=call.int_arg("size"),
        usable=usable,
        keeping=keeping,
        statement=call.text,
        groups=groups,
        available_to=call.text_arg("availableTo") or None,
    )
    return Planned(plan, facts)


def _kept_by_failgroup(ctx: Context, asm: str) -> bool | None:
    """Return whether the rack's ASM keeps the space of a whole failure group free for the mirrors, as its disk groups tell.

    Args:
        asm: the ASM cluster that is asked; empty asks all.

    Returns:
        True where any of them does; None where none could be asked or none tells.
    """
    from exacell.plan.asmspace import keeps_failgroup

    told: list[bool] = []
    for name in (asm,) if asm else ctx.need_rack().asm:
        try:
            found = keeps_failgroup(ctx.asm(name).facts())
        except ExacellError as error:
            ctx.console.say(f"ASM cluster {name}: {error.message}")
            continue
        if found is not None:
            told.append(found)
    return any(told) if told else None


@command(
    "release griddisk",
    group=GROUP,
    effect=Effect.WRITE,
    summary="deactivate and drop grid disks that no disk group uses",
    details="Refused while ASM uses one of them, whatever is given. regrow=yes then re-creates the flash cache over all "
    "the flash that is free, with its own flush.",
    example="release griddisk prefix=ssddisk regrow=yes -y",
    params=(
        _PREFIX,
        Param(name="media", kind=Kind.CHOICE, choices=("flash", "hard"), help="only those on such disks"),
        Param(name="regrow", kind=Kind.BOOL, default="no", help="give the space to the flash cache"),
    ),
)
def release(ctx: Context, call: Call) -> Planned:
    """Return the plan; its result is one record per cell with its outcome."""
    from exacell.commands.flashcache import planning_facts
    from exacell.factreading import headers_if_needed
    from exacell.plan import facts as f
    from exacell.plan.griddisk import release_plan
    from exacell.plan.nearby import refuse_slip

    facts = read_facts(ctx, *planning_facts(), f.IORMPLAN)
    if not ctx.request.replaying:
        known = dict.fromkeys(grid.prefix for fact in facts.values() for grid in fact.grid_disks if grid.prefix)
        refuse_slip(call.text, "grid disk with the prefix", (call.text_arg("prefix"),), known)
    plan = release_plan(
        ctx.need_rack().name,
        facts,
        prefix=call.text_arg("prefix"),
        headers=headers_if_needed(ctx, facts),
        regrow=bool(call.args.get("regrow")),
        media=call.text_arg("media"),
        statement=call.text,
    )
    return Planned(plan, facts)


@command(
    "resize griddisk",
    group=GROUP,
    effect=Effect.WRITE,
    summary="give all grid disks of a prefix another size, with the disk group that uses them",
    details="To shrink, ASM goes first and its rebalance is waited for, then the cells; to grow, the cells go first. Sizes "
    "are multiples of 16M. Refused when what the disk group holds would not fit, a cell disk has no room, a disk is not "
    "ONLINE, another rebalance of the group has not ended, or only some of its disks are selected.",
    example="resize griddisk prefix=RECO size=96g -y",
    params=(
        _PREFIX,
        Param(name="size", kind=Kind.SIZE, required=True, help="of each grid disk"),
        Param(name="asm", kind=Kind.ASM, help="which ASM cluster, when the rack has several"),
    ),
)
def resize(ctx: Context, call: Call) -> Planned:
    """Return one record per cell and node with its outcome."""
    from exacell.change.settling import sent_by
    from exacell.plan import facts as f
    from exacell.plan.griddisk import members
    from exacell.plan.griddisk_size import resize_griddisk_plan

    facts = read_facts(ctx, f.CELL, f.CELLDISK, f.GRIDDISK)
    prefix, size = call.text_arg("prefix"), call.int_arg("size")
    assert size is not None
    used = any(g.asm_mode not in ("UNUSED", "DROPPED") for grids in members(facts, prefix).values() for g in grids)
    asm = ctx.asm(call.text_arg("asm")).facts() if used else None
    rack = ctx.need_rack().name
    sent = sent_by(ctx.journal, rack, ctx.request.finishing) if ctx.request.finishing else ()
    plan = resize_griddisk_plan(rack, facts, asm, prefix=prefix, size=size, statement=call.text, sent=sent)
    return Planned(plan, facts)
