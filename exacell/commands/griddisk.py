"""Show, create (carve) and release grid disks; show the cell disks under them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from exacell.cellcli.fold import for_cell
from exacell.change.earlier import sent_by
from exacell.commands.flashcache import planning_facts
from exacell.core import cellset
from exacell.core.errors import ExacellError, StatementError
from exacell.core.meant import no_such, refuse_slip
from exacell.language.registry import Call, Kind
from exacell.output.result import Column, Result
from exacell.plan import facts as f
from exacell.plan.asmspace import AU_SIZES, Keeping, keeps_failgroup
from exacell.plan.model import Planned
from exacell.plan.planners.carve import Carving, carve_plan
from exacell.plan.planners.griddisk import members, release_plan
from exacell.plan.planners.griddisk_size import resize_griddisk_plan
from exacell.session.factreading import headers_if_needed, planning_asm, read_facts
from exacell.session.given import Request, Services, Session

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

_CELLDISK_COLUMNS = (
    Column("cell"),
    Column("media"),
    Column("disks", "number"),
    Column("diskSize", "size"),
    Column("free", "size"),
    Column("leastFree", "size"),
    Column("status"),
)


def show(services: Services, request: Request, call: Call) -> Result:
    """Return one record per cell, prefix and size."""
    answers = services.query(f.GRIDDISK, timeout=request.read_timeout)
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
    services.learned.learn({Kind.PREFIX: [str(row["prefix"]) for row in rows]})
    # Each cell without an answer or without grid disks is mentioned, too.
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


def show_celldisk(services: Services, request: Request) -> Result:
    """Return one record per cell, media, size and status of its cell disks."""
    answers = services.query(f.CELLDISK, timeout=request.read_timeout)
    rows = []
    for cell, answer in answers.good.items():
        alike: dict[tuple[str, int, str], list[int]] = {}
        for disk in f.build(cell, [f.CELLDISK], answer.tables).cell_disks:
            alike.setdefault((disk.kind.removesuffix("disk"), disk.size, disk.status), []).append(disk.free)
        for (media, size, status), free in alike.items():
            found = {"cell": cell, "media": media, "disks": len(free), "diskSize": size, "free": sum(free)}
            rows.append({**found, "leastFree": min(free), "status": status or None})
    there = {row["cell"] for row in rows}
    bare = [cell for cell in answers.good if cell not in there]
    return Result(
        records=rows,
        columns=_CELLDISK_COLUMNS,
        fold=True,
        data=True,
        notes=(f"{cellset.fold(bare)}: no cell disks",) if bare else (),
        problems=answers.problems,
        exit_code=answers.exit_code,
    )


def carve(session: Session, services: Services, request: Request, call: Call) -> Planned:
    """Return the plan; its result is one record per cell with its outcome."""
    given = [name for name in ("size", "free", "usable") if call.args.get(name) is not None]
    if len(given) > 1:
        raise StatementError(f"carve griddisk: {' and '.join(f'{g}=' for g in given)} exclude each other")
    au_size = call.int_arg("au_size") or 0
    if au_size not in AU_SIZES:
        raise StatementError("carve griddisk: au_size is 1M, 2M, 4M, 8M, 16M, 32M or 64M")
    facts = read_facts(session, services, request, f.CELL, f.FLASHCACHE, f.CELLDISK, f.GRIDDISK, f.FLASH_PHYSICALDISK)
    asm = call.text_arg("asm")
    if asm and call.text_arg("availableTo"):
        raise StatementError("carve griddisk: asm= and availableTo= exclude each other")
    groups = {group.name for group in planning_asm(services, request, asm).groups} if asm else None
    usable = call.int_arg("usable")
    keeping = Keeping(
        redundancy=call.text_arg("redundancy"),
        au_size=au_size,
        by_failgroup=_kept_by_failgroup(session, services, asm) if usable is not None else None,
    )
    plan = carve_plan(
        session.need_rack().name,
        facts,
        Carving(
            prefix=call.text_arg("prefix"),
            media=call.text_arg("media"),
            each=call.int_arg("size"),
            usable=usable,
            keeping=keeping,
            groups=groups,
            available_to=call.text_arg("availableTo") or None,
        ),
        statement=call.text,
    )
    return Planned(plan, facts)


def _kept_by_failgroup(session: Session, services: Services, asm: str) -> bool | None:
    """Return whether the rack's ASM keeps the space of a whole failure group free for mirrors, according to its disk groups.

    Args:
        asm: the ASM cluster; empty for all clusters.

    Returns:
        True if at least one does; None if no cluster could be asked or shows it.
    """
    told: list[bool] = []
    for name in (asm,) if asm else session.need_rack().asm:
        try:
            found = keeps_failgroup(services.asm(name).facts())
        except ExacellError as error:
            services.console.say(f"ASM cluster {name}: {error.message}")
            continue
        if found is not None:
            told.append(found)
    return any(told) if told else None


def _refuse_unknown(text: str, names: Sequence[str], cells: Iterable[str], known: Sequence[str]) -> None:
    """Raise RefusedError if no cell has a grid disk that was named; on some of the cells it may be missing."""
    there = {name.lower() for name in known}
    for name in names:
        own = dict.fromkeys(for_cell(name, cell) for cell in cells)
        if not there.intersection(each.lower() for each in own):
            raise no_such(text, f"grid disk {name}", cellset.fold(cells), tuple(own), known)


def release(session: Session, services: Services, request: Request, call: Call) -> Planned:
    """Return the plan; its result is one record per cell with its outcome."""
    prefix, names = call.text_arg("prefix"), tuple(filter(None, call.text_arg("name").split(",")))
    if bool(prefix) == bool(names):
        raise StatementError(
            "release griddisk needs prefix= or name=, and not both", hint=f"for example: {call.command.example}"
        )
    if names and call.args.get("media"):
        raise StatementError("release griddisk: media= goes with prefix=", hint="leave media= out")
    if odd := [name for name in names if name.lower() == "all" or not re.fullmatch(r"[\w.$#{}-]+", name)]:
        raise StatementError(
            f"release griddisk: name= takes the whole names of grid disks, not {odd[0]}",
            hint="`name=DATA_CD_00_{cell}` names one on each cell; `prefix=DATA` takes all that begin with DATA_",
        )
    facts = read_facts(session, services, request, *planning_facts(), f.IORMPLAN)
    if not request.replaying:
        grids = [(cell, grid) for cell, fact in facts.items() for grid in fact.grid_disks]
        if names:
            own = dict.fromkeys(for_cell(name, cell) for name in names for cell in facts)
            there = list(dict.fromkeys(grid.name for _, grid in grids))
            refuse_slip(call.text, "grid disk", tuple(own), there)
            _refuse_unknown(call.text, names, facts, there)
        else:
            known = dict.fromkeys(grid.prefix for _, grid in grids if grid.prefix)
            refuse_slip(call.text, "grid disk with the prefix", (prefix,), known)
    plan = release_plan(
        session.need_rack().name,
        facts,
        prefix=prefix,
        names=names,
        headers=headers_if_needed(session, services, request, facts),
        regrow=bool(call.args.get("regrow")),
        media=call.text_arg("media"),
        statement=call.text,
    )
    return Planned(plan, facts)


def resize(session: Session, services: Services, request: Request, call: Call) -> Planned:
    """Return the plan; its result is one record per cell and node with its outcome."""
    facts = read_facts(session, services, request, f.CELL, f.CELLDISK, f.GRIDDISK)
    prefix, size = call.text_arg("prefix"), call.int_arg("size")
    assert size is not None
    used = any(g.asm_mode not in ("UNUSED", "DROPPED") for grids in members(facts, prefix).values() for g in grids)
    asm = planning_asm(services, request, call.text_arg("asm")) if used else None
    rack = session.need_rack().name
    sent = sent_by(services.journal, rack, request.finishing) if request.finishing else ()
    plan = resize_griddisk_plan(rack, facts, asm, prefix=prefix, size=size, statement=call.text, sent=sent)
    return Planned(plan, facts)
