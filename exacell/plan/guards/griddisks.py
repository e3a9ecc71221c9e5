"""Guard CellCLI's statements on grid disks: a disk that ASM uses is never taken away. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from exacell.cellcli.fold import neutral_text
from exacell.cellcli.statement import Change as CellChange, Scalar, render
from exacell.core.cellset import fold, fold_briefly
from exacell.core.errors import RefusedError
from exacell.core.meant import absent, no_such
from exacell.core.units import (
    counted,
    format_size,
    parse_size,
    round_down,
)
from exacell.plan.checks import on_disks
from exacell.plan.facts import CellFacts, GridDisk
from exacell.plan.gate import NOT_IN_USE, UNMOUNTED, needed
from exacell.plan.guards.create import having_disks, passed_over, refuse_beside, refuse_grid_room
from exacell.plan.guards.in_use import grows_first, refuse_in_use, resized
from exacell.plan.guards.steps import ByCell, guarded_plan, guarded_step, lossy, only_words, settings_proof
from exacell.plan.guards.targets import (
    grids_meant,
    items,
    names_made,
    own_of,
    prefixes,
    refuse_one_name,
    targets_of,
)
from exacell.plan.model import Change, Check, Op, Plan, Risk, Step, Undo
from exacell.plan.planners.availability import dropped, kept_by_asm, may_go, unused
from exacell.plan.planners.griddisk import Headers

_NAMED = 2
"""Above this number, a plan shows only the number of disks before and after."""


def griddisk(rack: str, facts: Mapping[str, CellFacts], statement: CellChange, text: str, headers: Headers) -> Plan:
    """Return the plan for a statement on grid disks; each cell gets only the names of its own disks."""
    if statement.verb == "CREATE":
        return _create(rack, facts, statement, text)
    plan = _judged(rack, facts, statement, text, headers)
    if not statement.names:
        return plan

    def own(step: Step) -> Step:
        names = tuple(grid.name for grid in targets_of(facts[step.target], statement))
        return replace(step, statement=render(replace(statement, names=names)))

    return plan.each(own)


def _absent(statement: CellChange, fact: CellFacts) -> str:
    """Return why a cell has none of the grid disks that DROP names, with the most similar names that it has."""
    if statement.names:
        return absent("it has no such grid disk", statement.names, [grid.name for grid in fact.grid_disks])
    return absent(
        "it has no such grid disk", prefixes(statement), [grid.prefix for grid in fact.grid_disks if grid.prefix]
    )


def _judged(rack: str, facts: Mapping[str, CellFacts], statement: CellChange, text: str, headers: Headers) -> Plan:
    """Return the plan for the statement as it was typed."""
    hit = {cell: targets_of(fact, statement) for cell, fact in facts.items()}
    if not any(hit.values()):
        if statement.verb == "DROP":
            done = {cell: _absent(statement, fact) for cell, fact in facts.items()}
            return Plan(statement=text, rack=rack, done=done)
        known = [grid.name for fact in facts.values() for grid in fact.grid_disks]
        raise no_such(text, "grid disk", fold(facts), statement.names, known)
    meant = {cell: grids_meant(fact, statement, hit[cell]) for cell, fact in facts.items()}
    if all(meant[cell] == () for cell in facts if hit[cell]):
        raise RefusedError(
            f"{text}: {fold(facts)} has no such grid disk: since release 24.1, ALL means hard disks, on cells "
            "that have any; nothing was sent",
            hint="for those on flash, type ALL FLASHDISK",
        )
    facts = {cell: fact for cell, fact in facts.items() if hit[cell] and meant[cell] != ()}
    hit = {cell: hit[cell] for cell in facts}
    sure = {cell: grids for cell, grids in meant.items() if grids}
    changed = {s.attribute.lower() for s in statement.settings}
    if statement.verb == "DROP" or statement.has("FORCE"):
        refuse_in_use(text, hit, headers)
    if statement.settings and statement.action:
        raise RefusedError(
            f"{text}: one statement sets attributes, another one is for {statement.action}; nothing was sent",
            hint="use two statements, so that the second is checked after the first",
        )
    if statement.action in ("FLUSH", "CANCEL FLUSH"):
        return flush(rack, facts, statement, text)
    refuse_one_name(text, statement, sum(map(len, hit.values())))
    free = {cell: unused(hit[cell]) for cell in facts}
    expect = {cell: len(sure.get(cell, ())) for cell in facts}
    proves = {cell: _proof(sure[cell], statement) if cell in sure else () for cell in facts}
    if statement.has("FORCE"):
        reason = "FORCE drops grid disks that are in use"
        return lossy(rack, facts, statement, text, dict.fromkeys(facts, reason), ByCell(always=free, proves=proves))
    if statement.verb == "DROP":
        gone = "the data on the grid disks is lost"
        steps = [
            guarded_step(
                c,
                statement,
                Risk.REDUNDANCY,
                needs=(*free[c], *_inactive(hit[c], statement)),
                expect=expect[c],
                inverse=gone,
                proves=proves[c],
                changes=_gone(sure[c]) if proves[c] else (),
            )
            for c in facts
        ]
        return guarded_plan(rack, text, steps)
    if statement.action in ("INACTIVE", "ACTIVE"):
        return _switch(rack, hit, sure, statement, text, expect, proves)
    warnings: tuple[str, ...] = ()
    if "size" in changed:
        needs = resized(text, facts, hit, sure, statement, headers)
        warnings = grows_first(hit, statement)
    else:
        needs = {cell: _apart(text, hit[cell], statement) for cell in facts}
    risk = Risk.NONE if only_words(statement) else Risk.PERFORMANCE
    steps = [
        guarded_step(
            c,
            statement,
            risk,
            needs=needs[c],
            expect=expect[c],
            proves=proves[c],
        )
        for c in facts
    ]
    return guarded_plan(rack, text, steps, warnings=warnings)


def _apart(text: str, grids: Sequence[GridDisk], statement: CellChange) -> tuple[Check, ...]:
    """Return the checks for a new name or other clients: nobody uses a disk that would then be out of reach.

    A disk group that is dismounted everywhere may be changed like this; its disks then show UNKNOWN.

    Raises:
        RefusedError: ASM uses one of the disks.
    """
    name = statement.setting("name")
    allowed = {client.lower() for client in items(statement.setting("availableTo"))}

    def shut_out(grid: GridDisk) -> bool:
        now = {client.strip().lower() for client in grid.available_to.split(",") if client.strip()}
        return bool(allowed) and (not now or not now <= allowed)

    moved = [grid for grid in grids if name is not None or shut_out(grid)]
    states = (*NOT_IN_USE, UNMOUNTED)
    pooled = next((grid for grid in moved if grid.pool), None)
    if pooled is not None:
        raise RefusedError(
            f"{text}: refused: {pooled.name} belongs to the Exascale pool {pooled.pool}; nothing was sent",
            hint="remove it from the pool in Exascale first",
        )
    used = next((grid for grid in moved if grid.asm_mode not in states), None)
    if used is not None:
        what = "under another name" if name is not None else "if it is not available to all its present clients"
        raise RefusedError(
            f"{text}: refused: {used.use(None)}: {used.name} would not be found {what}; nothing was sent",
            hint="dismount the disk group on all nodes first",
        )
    return on_disks(moved, "asmModeStatus", states, op=Op.IN, why="a mounted disk group would lose it")


def flush(rack: str, facts: Mapping[str, CellFacts], statement: CellChange, text: str) -> Plan:
    """Return the plan for FLUSH or CANCEL FLUSH of single disks; a flushed disk is not cached again before CANCEL FLUSH.

    Source: reference cellcli.md 6.2.
    """
    what = statement.object.lower()
    which = ("ALL " + (statement.media or "")).strip() if statement.all else ",".join(statement.names)
    back = f"ALTER {statement.object} {which} CANCEL FLUSH"
    if statement.action == "CANCEL FLUSH":
        steps = [guarded_step(c, statement, Risk.NONE, undo=Undo.NOTHING, inverse="", caching_on=True) for c in facts]
        return guarded_plan(rack, text, steps)
    if statement.filters:
        undo, inverse, inverses = Undo.IMPOSSIBLE, "only the cell knows which disks matched WHERE", {}
    else:
        undo, inverse, inverses = Undo.STATEMENT, back, dict.fromkeys(facts, (back,))
    steps = [guarded_step(c, statement, Risk.PERFORMANCE, caching_off=True, undo=undo, inverse=inverse) for c in facts]
    warning = f"these {what}s are not cached again until {back}"
    return guarded_plan(rack, text, steps, inverse=inverses, warnings=(warning,))


def _switch(
    rack: str,
    hit: Mapping[str, Sequence[GridDisk]],
    sure: Mapping[str, Sequence[GridDisk]],
    statement: CellChange,
    text: str,
    expect: Mapping[str, int],
    proves: Mapping[str, tuple[Check, ...]],
) -> Plan:
    """Return the plan of INACTIVE or ACTIVE; each undoes the other on the disks whose state it changes.

    Args:
        hit: the disks that it may mean, by cell.
        sure: the disks that it means, for the cells where that is known.
    """
    leaving = statement.action == "INACTIVE"
    if leaving:
        refuse_offline(text, hit)
    back: dict[str, tuple[str, ...]] = {}
    steps = []
    for cell, grids in hit.items():
        undo, inverse = _taken_back(sure.get(cell), statement)
        if undo is Undo.STATEMENT:
            back[cell] = (inverse,)
        offline = leaving and any(needed(grid) and grid.status == "active" for grid in grids)
        steps.append(
            guarded_step(
                cell,
                statement,
                Risk.REDUNDANCY if offline else Risk.PERFORMANCE,
                needs=may_go(grids) if leaving else (),
                expect=expect[cell],
                proves=proves[cell],
                offline=offline,
                undo=undo,
                inverse=inverse,
                changes=_switched(sure.get(cell, ()), statement),
            )
        )
    lost = () if leaving else tuple(said for cell, grids in hit.items() for said in dropped(cell, grids))
    return guarded_plan(rack, text, steps, inverse=back, warnings=lost)


def _gone(grids: Sequence[GridDisk]) -> tuple[Change, ...]:
    """Return the removed disks as changes, grouped by size."""
    sizes = dict.fromkeys(grid.size for grid in grids)
    alike = ([grid for grid in grids if grid.size == size] for size in sizes)
    return tuple(change for some in alike for change in _count(some, "size", format_size(some[0].size), "-"))


def _switched(grids: Sequence[GridDisk], statement: CellChange) -> tuple[Change, ...]:
    """Return the state before and after of the disks whose state changes."""
    after = statement.action.lower()
    moved = [grid for grid in grids if grid.status != after]
    return _count(moved, "status", moved[0].status, after) if moved else ()


def _count(grids: Sequence[GridDisk], attribute: str, before: str, after: str) -> tuple[Change, ...]:
    """Return one change: a few disks by name, more disks by their number."""
    name = ",".join(grid.name for grid in grids) if len(grids) <= _NAMED else counted(len(grids), "disk")
    return (Change(object="griddisk", name=name, attribute=attribute, before=before, after=after),)


def _taken_back(grids: Sequence[GridDisk] | None, statement: CellChange) -> tuple[Undo, str]:
    """Return the undo of INACTIVE or ACTIVE on a cell, or the reason why there is no undo."""
    if grids is None:
        return Undo.IMPOSSIBLE, f"only the cell knows which disks {'WHERE left' if statement.filters else 'ALL means'}"
    states = {grid.status for grid in grids}
    if states == {statement.action.lower()}:
        return Undo.NOTHING, ""
    other = "ACTIVE" if statement.action == "INACTIVE" else "INACTIVE"
    if states <= {"active", "inactive"}:
        names = ",".join(grid.name for grid in grids if grid.status == other.lower())
        return Undo.STATEMENT, f"ALTER GRIDDISK {names} {other}"
    strange = next(grid for grid in grids if grid.status not in ("active", "inactive"))
    return Undo.IMPOSSIBLE, f"grid disk {strange.name} was {strange.status or 'in no known state'}"


def _create(rack: str, facts: Mapping[str, CellFacts], statement: CellChange, text: str) -> Plan:
    """Return the plan of CREATE GRIDDISK; its undo drops the new disks while nobody uses them."""
    facts = having_disks(facts, statement, text)
    refuse_beside(facts, statement, text)
    refuse_grid_room(facts, statement, text)
    steps = []
    back: dict[str, tuple[str, ...]] = {}
    full: list[str] = []
    for cell, fact in facts.items():
        mine = own_of(statement, cell)
        over = passed_over(fact, mine)
        full += over
        names = names_made(fact, mine, over)
        where = {"name": names}
        more: dict[str, object] = {}
        if names:
            more["proves"] = (Check(object="griddisk", op=Op.COUNT, value=len(names), where=where),)
        if inverse := _uncreated(fact, mine, names):
            back[cell] = inverse
            # Disks that somebody else creates meanwhile must not count as ours.
            more |= {"needs": (Check(object="griddisk", op=Op.ABSENT, where=where),)}
            more |= {"undo": Undo.STATEMENT, "inverse": "; ".join(inverse)}
        steps.append(guarded_step(cell, mine, Risk.NONE, **more))
    said = (f"no free space on {fold_briefly(full)}, so nothing is created there",) if full else ()
    return guarded_plan(rack, text, steps, inverse=back, warnings=said)


def _uncreated(fact: CellFacts, statement: CellChange, names: Sequence[str]) -> tuple[str, ...]:
    """Return the statements that undo CREATE GRIDDISK on a cell; empty if some of the disks existed before."""
    known = {grid.name.lower() for grid in fact.grid_disks}
    wanted = {prefix.lower(): prefix for prefix in prefixes(statement)}
    taken = {grid.prefix.lower() for grid in fact.grid_disks}
    if not names or any(name.lower() in known for name in names) or taken & set(wanted):
        return ()
    if wanted:
        return tuple(f"release griddisk prefix={prefix}" for prefix in wanted.values())
    return (f"release griddisk name={','.join(names)}",)


def _proof(grids: Sequence[GridDisk], statement: CellChange) -> tuple[Check, ...]:
    where = {"name": tuple(grid.name for grid in grids)}
    if statement.verb == "DROP":
        return (Check(object="griddisk", op=Op.ABSENT, where=where),) if not slow(statement) else ()
    if statement.action in ("INACTIVE", "ACTIVE"):
        status = Check(object="griddisk", attribute="status", value=statement.action.lower(), where=where)
        return (status, *kept_by_asm(grids))
    size = statement.setting("size")
    if not isinstance(size, Scalar):
        return settings_proof(statement, where["name"])
    wanted = parse_size(size.text)
    sizes = tuple(dict.fromkeys((wanted, round_down(wanted))))
    resized = Check(object="griddisk", attribute="size", op=Op.IN, value=sizes, where=where)
    return (resized, *settings_proof(statement, where["name"]))


def _inactive(grids: Sequence[GridDisk], statement: CellChange) -> tuple[Check, ...]:
    """Return the checks right before DROP without FORCE: no disk is active, because a cell does not drop active disks."""
    if any(flag in statement.flags for flag in ("PREPARE", "CANCEL")):
        return ()
    names = ",".join(grid.name for grid in grids[:_NAMED])
    why = f"CellCLI does not drop an active grid disk: type `alter griddisk {names} inactive` first"
    return on_disks(grids, "status", "active", op=Op.NE, why=why)


def refuse_active(facts: Mapping[str, CellFacts], statement: CellChange, text: str) -> None:
    """Raise RefusedError if DROP without FORCE names a grid disk that is active now.

    A preview does not ask this: an earlier line may deactivate the disk before this one is sent.

    Raises:
        RefusedError: names the disks, and the statement that deactivates and drops them.
    """
    if (statement.verb, statement.object) != ("DROP", "GRIDDISK") or statement.has("FORCE"):
        return
    found = {cell: [g for g in targets_of(fact, statement) if g.status == "active"] for cell, fact in facts.items()}
    active = {cell: grids for cell, grids in found.items() if grids}
    if not active or not _inactive(next(iter(active.values())), statement):
        return
    every = [(cell, grid) for cell, grids in active.items() for grid in grids]
    names = list(dict.fromkeys(g.name if len(active) == 1 else neutral_text(g.name, cell) for cell, g in every))
    starts = {grid.prefix.lower() for _, grid in every}
    way = "`alter griddisk … inactive` first"
    if len(starts) == 1 and starts == {prefix.lower() for prefix in prefixes(statement)} - {""}:
        way = f"`release griddisk prefix={every[0][1].prefix}` deactivates and drops them"
    elif len(names) <= _NAMED:
        way = f"`release griddisk name={','.join(names)}` deactivates and drops {'it' if len(every) == 1 else 'them'}"
    raise RefusedError(
        f"{text} refused on {fold(active)}: {fold_briefly(names)} {'is' if len(every) == 1 else 'are'} active, and "
        "CellCLI drops only inactive grid disks; nothing was sent",
        hint=way,
    )


def slow(statement: CellChange) -> bool:
    """Return whether DROP continues in the background, or is only prepared."""
    changed = any(setting.attribute.lower() != "prefix" for setting in statement.settings)
    return changed or any(flag in statement.flags for flag in ("NOWAIT", "PREPARE", "CANCEL"))


def _leaving(hit: Mapping[str, Sequence[GridDisk]]) -> dict[str, list[GridDisk]]:
    """Return the disks that ASM would miss, by cell; cells without such disks are left out."""
    used = {cell: [grid for grid in grids if needed(grid) and grid.status == "active"] for cell, grids in hit.items()}
    return {cell: grids for cell, grids in used.items() if grids}


def refuse_together(text: str, hit: Mapping[str, Sequence[GridDisk]]) -> None:
    """Raise RefusedError if disks of several cells would go offline and stay offline.

    Raises:
        RefusedError: names the cells.
    """
    used = _leaving(hit)
    if len(used) > 1:
        raise RefusedError(
            f"{text}: it would take disks of {fold(used)} offline together; each cell is a failure group; nothing was sent",
            hint=f"change one cell at a time: `on {next(iter(used))} …`",
        )


def refuse_offline(text: str, hit: Mapping[str, Sequence[GridDisk]]) -> None:
    """Raise RefusedError if disks of several cells would go offline and stay offline, or ASM can't spare a disk of one cell.

    Raises:
        RefusedError: names the disk and its asmDeactivationOutcome, or the cells.
    """
    for cell, leaving in _leaving(hit).items():
        bad = next((grid for grid in leaving if grid.deactivation.lower() != "yes"), None)
        if bad is not None:
            raise RefusedError(
                f"{text}: {cell}: grid disk {bad.name} must not go offline (asmDeactivationOutcome "
                f"{bad.deactivation or 'unknown'}); nothing was sent"
            )
    refuse_together(text, hit)
