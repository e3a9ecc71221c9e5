"""Guards for CellCLI's statements on grid disks and cell disks: what ASM uses is never taken away. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from exacell.cellcli.statement import Change as CellChange
from exacell.cellcli.statement import Group, Media, Scalar
from exacell.cellset import fold
from exacell.errors import RefusedError
from exacell.plan.availability import may_go
from exacell.plan.facts import CellFacts, GridDisk
from exacell.plan.gate import NOT_IN_USE, in_use
from exacell.plan.griddisk import Headers, refuse_used
from exacell.plan.guard_steps import guarded_plan, guarded_step, lossy, simple
from exacell.plan.model import Check, Op, Plan, Risk, Undo
from exacell.units import parse_size, round_down


def targets_of(fact: CellFacts, statement: CellChange) -> tuple[GridDisk, ...]:
    """Return the grid disks that the statement names on this cell."""
    if not statement.all:
        names = {name.lower() for name in statement.names}
        return tuple(grid for grid in fact.grid_disks if grid.name.lower() in names)
    grids = fact.grid_disks
    if statement.media is Media.HARDDISK:
        grids = tuple(grid for grid in grids if not grid.flash)
    elif statement.media is not None:
        grids = tuple(grid for grid in grids if grid.flash)
    prefixes = [prefix.lower() for prefix in _prefixes(statement)]
    # The prefix is matched as the start of the name, the widest way in which a cell could read it.
    return tuple(g for g in grids if not prefixes or any(g.name.lower().startswith(p + "_") for p in prefixes))


def _prefixes(statement: CellChange) -> list[str]:
    """The words of prefix=, which is one text or a list."""
    value = statement.setting("prefix")
    items = value.items if isinstance(value, Group) else (value,)
    return [part.strip() for item in items if isinstance(item, Scalar) for part in item.text.split(",") if part.strip()]


def griddisk(rack: str, facts: Mapping[str, CellFacts], statement: CellChange, text: str, headers: Headers) -> Plan:
    """Return the plan for a statement on grid disks."""
    if statement.verb == "CREATE":
        return _create(rack, facts, statement, text)
    hit = {cell: targets_of(fact, statement) for cell, fact in facts.items()}
    if not any(hit.values()):
        raise RefusedError(f"{text}: there is no such grid disk on {fold(facts)}; nothing was sent")
    facts = {cell: fact for cell, fact in facts.items() if hit[cell]}
    hit = {cell: hit[cell] for cell in facts}
    changed = {s.attribute.lower() for s in statement.settings}
    if statement.verb == "DROP" or statement.has("FORCE") or "size" in changed:
        refuse_used(text, hit, headers)
    free = {cell: _unused(hit[cell]) for cell in facts}
    # What a WHERE leaves of them only the cell knows.
    expect = {cell: 0 if statement.filters else len(hit[cell]) for cell in facts}
    proves = {cell: () if statement.filters else _proof(hit[cell], statement) for cell in facts}
    if statement.has("FORCE"):
        reason = "FORCE drops grid disks under whoever uses them"
        return lossy(rack, facts, statement, text, dict.fromkeys(facts, reason), always=free, proves=proves)
    if statement.verb == "DROP":
        gone = "what the grid disks held is gone"
        steps = [
            guarded_step(c, statement, Risk.REDUNDANCY, needs=free[c], expect=expect[c], inverse=gone, proves=proves[c])
            for c in facts
        ]
        return guarded_plan(rack, text, steps)
    if statement.action in ("INACTIVE", "ACTIVE"):
        return _switch(rack, hit, statement, text, expect, proves)
    needs = free if "size" in changed else dict.fromkeys(facts, ())
    steps = [
        guarded_step(c, statement, Risk.PERFORMANCE, needs=needs[c], expect=expect[c], proves=proves[c]) for c in facts
    ]
    return guarded_plan(rack, text, steps)


def _switch(
    rack: str,
    hit: Mapping[str, Sequence[GridDisk]],
    statement: CellChange,
    text: str,
    expect: Mapping[str, int],
    proves: Mapping[str, tuple[Check, ...]],
) -> Plan:
    """INACTIVE and ACTIVE; each takes the other back on the disks whose state it changes."""
    leaving = statement.action == "INACTIVE"
    if leaving:
        refuse_offline(text, hit)
    back: dict[str, tuple[str, ...]] = {}
    steps = []
    for cell, grids in hit.items():
        undo, inverse = _taken_back(grids, statement)
        if undo is Undo.STATEMENT:
            back[cell] = (inverse,)
        offline = leaving and any(in_use(grid) and grid.status == "active" for grid in grids)
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
            )
        )
    return guarded_plan(rack, text, steps, inverse=back)


def _taken_back(grids: Sequence[GridDisk], statement: CellChange) -> tuple[Undo, str]:
    """What takes INACTIVE or ACTIVE back on a cell, or why nothing can."""
    if statement.filters:
        return Undo.IMPOSSIBLE, "only the cell knows which disks WHERE left"
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
    """CREATE GRIDDISK: what was not there before goes to take it back, while nobody uses it."""
    steps = []
    back: dict[str, tuple[str, ...]] = {}
    for cell, fact in facts.items():
        names = _names_made(fact, statement)
        where = {"name": names}
        more: dict[str, object] = {}
        if names:
            more["proves"] = (Check(object="griddisk", op=Op.COUNT, value=len(names), where=where),)
        if inverse := _uncreated(fact, statement, names):
            back[cell] = inverse
            # What somebody else makes meanwhile must not be taken for ours.
            more |= {"needs": (Check(object="griddisk", op=Op.ABSENT, where=where),)}
            more |= {"undo": Undo.STATEMENT, "inverse": "; ".join(inverse)}
        steps.append(guarded_step(cell, statement, Risk.NONE, **more))
    return guarded_plan(rack, text, steps, inverse=back)


def _uncreated(fact: CellFacts, statement: CellChange, names: Sequence[str]) -> tuple[str, ...]:
    """The statements that take CREATE GRIDDISK back on a cell; none where some of it was there before."""
    known = {grid.name.lower() for grid in fact.grid_disks}
    prefixes = {prefix.lower(): prefix for prefix in _prefixes(statement)}
    taken = {grid.prefix.lower() for grid in fact.grid_disks}
    if not names or any(name.lower() in known for name in names) or taken & set(prefixes):
        return ()
    if prefixes:
        return tuple(f"release griddisk prefix={prefix}" for prefix in prefixes.values())
    # An active disk is not dropped.
    return (f"ALTER GRIDDISK {','.join(names)} INACTIVE", f"DROP GRIDDISK {','.join(names)}")


def _names_made(fact: CellFacts, statement: CellChange) -> tuple[str, ...]:
    """The names of the grid disks that CREATE GRIDDISK makes on a cell; none where they can't be told beforehand."""
    names = list(statement.names)
    if statement.all:
        if statement.media not in (Media.FLASHDISK, Media.HARDDISK):
            return ()
        flash = statement.media is Media.FLASHDISK
        disks = [disk.name for disk in fact.cell_disks if (disk.flash if flash else disk.hard)]
        names = [f"{prefix}_{disk}" for prefix in _prefixes(statement) for disk in disks]
    return tuple(names)


def _proof(grids: Sequence[GridDisk], statement: CellChange) -> tuple[Check, ...]:
    where = {"name": tuple(grid.name for grid in grids)}
    if statement.verb == "DROP":
        return (Check(object="griddisk", op=Op.ABSENT, where=where),) if not _slow(statement) else ()
    if statement.action in ("INACTIVE", "ACTIVE"):
        return (Check(object="griddisk", attribute="status", value=statement.action.lower(), where=where),)
    size = statement.setting("size")
    if not isinstance(size, Scalar):
        return ()
    wanted = parse_size(size.text)
    sizes = tuple(dict.fromkeys((wanted, round_down(wanted))))
    return (Check(object="griddisk", attribute="size", op=Op.IN, value=sizes, where=where),)


def _slow(statement: CellChange) -> bool:
    """Whether DROP goes on in the background, or is only prepared."""
    changed = any(setting.attribute.lower() != "prefix" for setting in statement.settings)
    return changed or any(flag in statement.flags for flag in ("NOWAIT", "PREPARE", "CANCEL"))


def _unused(grids: Sequence[GridDisk]) -> tuple[Check, ...]:
    if not grids:
        return ()
    return (
        Check(
            object="griddisk",
            attribute="asmModeStatus",
            op=Op.IN,
            value=NOT_IN_USE,
            where={"name": tuple(grid.name for grid in grids)},
            why="a grid disk that ASM uses is never taken away",
        ),
    )


def _leaving(hit: Mapping[str, Sequence[GridDisk]]) -> dict[str, list[GridDisk]]:
    """The disks that ASM would miss, by cell; cells without such disks are left out."""
    used = {cell: [grid for grid in grids if in_use(grid) and grid.status == "active"] for cell, grids in hit.items()}
    return {cell: grids for cell, grids in used.items() if grids}


def refuse_together(text: str, hit: Mapping[str, Sequence[GridDisk]]) -> None:
    """Raise when disks of several cells would go offline to stay so.

    Raises:
        RefusedError: naming the cells.
    """
    used = _leaving(hit)
    if len(used) > 1:
        raise RefusedError(
            f"{text}: it would take disks of {fold(used)} offline together; each cell is a failure group; nothing was sent",
            hint=f"one cell at a time: on {next(iter(used))} …",
        )


def refuse_offline(text: str, hit: Mapping[str, Sequence[GridDisk]]) -> None:
    """Raise when disks of several cells would go offline to stay so, or ASM can't spare one of a cell's.

    Raises:
        RefusedError: naming the disk and its asmDeactivationOutcome, or the cells.
    """
    for cell, leaving in _leaving(hit).items():
        bad = next((grid for grid in leaving if grid.deactivation.lower() != "yes"), None)
        if bad is not None:
            raise RefusedError(
                f"{text}: {cell}: grid disk {bad.name} must not go offline (asmDeactivationOutcome "
                f"{bad.deactivation or 'unknown'}); nothing was sent"
            )
    refuse_together(text, hit)


def celldisk(
    rack: str,
    facts: Mapping[str, CellFacts],
    statement: CellChange,
    text: str,
    headers: Headers,
) -> Plan:
    """Return the plan for a statement on cell disks: what takes one away takes its contents."""
    takes = statement.verb in ("DROP", "EXPORT") or statement.has("FORCE")
    if not takes:
        return simple(rack, facts, statement, text, Risk.PERFORMANCE)
    names = {name.lower() for name in statement.names}
    hit = {
        cell: tuple(g for g in fact.grid_disks if statement.all or g.cell_disk.lower() in names)
        for cell, fact in facts.items()
    }
    refuse_used(text, {cell: grids for cell, grids in hit.items() if grids}, headers)
    reason = "the cell disks' contents are lost"
    always = {cell: _unused(grids) for cell, grids in hit.items()}
    gone = (Check(object="celldisk", op=Op.ABSENT, where={"name": statement.names}),)
    proves = gone if statement.verb == "DROP" and statement.names and not _slow(statement) else ()
    reasons = dict.fromkeys(facts, reason)
    return lossy(rack, facts, statement, text, reasons, always=always, proves=dict.fromkeys(facts, proves))
