"""Plans for CellCLI's own changing statements: the same guards as the verbs, judged from what is on the cells.

A statement reaches DROP, resize or mode change of a write-back cache, DROP FLASHLOG, or any FORCE only with proof on that
object at that moment, or with the loss accepted by name. A grid disk in ASM use is refused whatever is given.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from exacell.cellcli.iorm import IormPlan
from exacell.cellcli.iorm import render as render_plan
from exacell.cellcli.statement import Change as CellChange
from exacell.cellcli.statement import Grant, Media, Statement, render
from exacell.cellset import fold
from exacell.errors import RefusedError
from exacell.plan import facts as f
from exacell.plan.facts import CellFacts, GridDisk
from exacell.plan.flashcache import FLUSHED
from exacell.plan.griddisk import Headers, refuse_used
from exacell.plan.iorm import agree
from exacell.plan.model import Change, Check, Op, Plan, Risk, Stage, Step, Undo

_ALWAYS = (f.CELL,)
_FACTS: Mapping[str, tuple[str, ...]] = {
    "FLASHCACHE": (f.FLASHCACHE, f.CELLDISK, f.FLASH_METRICS),
    "FLASHLOG": (f.FLASHLOG,),
    "GRIDDISK": (f.GRIDDISK,),
    "CELLDISK": (f.GRIDDISK, f.CELLDISK, f.FLASHCACHE),
    "CELL": (f.GRIDDISK, f.FLASHCACHE),
    "IORMPLAN": (f.IORMPLAN,),
    "PHYSICALDISK": (f.GRIDDISK,),
}

_HARMLESS = frozenset(
    {
        "THRESHOLD",
        "ALERTHISTORY",
        "METRICDEFINITION",
        "USER",
        "ROLE",
        "PRIVILEGE",
        "DIAGPACK",
        "IBPORT",
        "QUARANTINE",
        "SOFTWAREHISTORY",
        "OFFLOADGROUP",
    }
)
"""Objects whose changes touch no data, no redundancy and no I/O path."""

_CELL_SERVICES = ("SHUTDOWN SERVICES", "RESTART SERVICES")


def facts_needed(statement: Statement) -> tuple[str, ...]:
    """Return the LIST statements whose answers :func:`guard_plan` needs for this statement.

    None for starting services, which is what brings back a cell that answers nothing.
    """
    if isinstance(statement, CellChange) and statement.action == "STARTUP SERVICES":
        return ()
    return _ALWAYS + _FACTS.get(getattr(statement, "object", ""), ())


def guard_plan(
    rack: str,
    facts: Mapping[str, CellFacts],
    statement: CellChange | Grant,
    *,
    text: str,
    accepted: Sequence[str],
    headers: Headers,
) -> Plan:
    """Return the plan that sends ``statement`` to every cell, with its risk judged per cell.

    Args:
        accepted: names whose loss of data was accepted.

    Raises:
        RefusedError: a grid disk in use would go, several failure groups would be touched at once, or data would be
            lost and that was not accepted.
    """
    if isinstance(statement, Grant) or statement.object in _HARMLESS:
        return _simple(rack, facts, statement, text, Risk.NONE)
    match statement.object:
        case "FLASHCACHE":
            return _flashcache(rack, facts, statement, text, accepted)
        case "FLASHLOG":
            return _flashlog(rack, facts, statement, text, accepted)
        case "GRIDDISK":
            return _griddisk(rack, facts, statement, text, accepted, headers)
        case "IORMPLAN":
            return _iormplan(rack, facts, statement, text)
        case "CELL":
            return _cell(rack, facts, statement, text, accepted)
        case "CELLDISK":
            return _celldisk(rack, facts, statement, text, accepted, headers)
    if statement.verb == "CREATE" and not statement.has("FORCE"):
        return _simple(rack, facts, statement, text, Risk.PERFORMANCE)
    reason = "exacell can't judge what it takes away"
    return _lossy(rack, facts, statement, text, dict.fromkeys(facts, reason), accepted)


def _step(cell: str, statement: Statement, risk: Risk, **more: object) -> Step:
    values: dict[str, object] = {
        "target": cell,
        "statement": render(statement),
        "what": render(statement)[:60],
        "risk": risk,
        "expect": 0,
        "undo": Undo.IMPOSSIBLE,
        "inverse": "exacell keeps no inverse of CellCLI's own statement",
        **more,
    }
    return Step(**values)  # type: ignore[arg-type]  # the keywords are Step's own


def _plan(rack: str, text: str, steps: Sequence[Step], **more: object) -> Plan:
    stage = Stage(title="send the statement", key="send", steps=tuple(steps))
    return Plan(statement=text, rack=rack, stages=(stage,), **more)  # type: ignore[arg-type]  # the keywords are Plan's own


def _simple(rack: str, facts: Mapping[str, CellFacts], statement: Statement, text: str, risk: Risk) -> Plan:
    return _plan(rack, text, [_step(cell, statement, risk) for cell in facts])


def _lossy(
    rack: str,
    facts: Mapping[str, CellFacts],
    statement: Statement,
    text: str,
    reasons: Mapping[str, str],
    accepted: Sequence[str],
    *,
    needs: Mapping[str, tuple[Check, ...]] | None = None,
    always: Mapping[str, tuple[Check, ...]] | None = None,
    **more: object,
) -> Plan:
    """Return the plan when every cell in ``reasons`` had its loss accepted by name; refuse otherwise.

    Args:
        needs: what stands in for the acceptance on the other cells, read again right before.
        always: what no acceptance replaces.
    """
    lower = {name.lower() for name in accepted}
    missing = [cell for cell in reasons if cell.lower() not in lower]
    if missing:
        by_reason: dict[str, list[str]] = {}
        for cell in missing:
            by_reason.setdefault(reasons[cell], []).append(cell)
        said = "; ".join(f"{fold(cells)}: {reason}" for reason, cells in by_reason.items())
        raise RefusedError(
            f"{text}: refused on {said}; nothing was sent",
            hint=f"--accept-data-loss={','.join(missing)} sends it all the same; -y never does",
        )
    steps = [
        _step(
            cell,
            statement,
            Risk.DATA if cell in reasons else Risk.PERFORMANCE,
            needs=((always or {}).get(cell, ())) + (() if cell in reasons else (needs or {}).get(cell, ())),
            **more,
        )
        for cell in facts
    ]
    return _plan(rack, text, steps, loss=tuple(reasons))


def _flashcache(
    rack: str, facts: Mapping[str, CellFacts], statement: CellChange, text: str, accepted: Sequence[str]
) -> Plan:
    if statement.verb == "CREATE":
        return _plan(rack, text, [_step(c, statement, Risk.PERFORMANCE, caching_on=True, expect=1) for c in facts])
    if statement.action == "CANCEL FLUSH":
        return _plan(
            rack,
            text,
            [
                _step(
                    c,
                    statement,
                    Risk.NONE,
                    caching_on=True,
                    expect=1,
                    undo=Undo.NOTHING,
                    inverse="",
                    proves=(Check(object="flashcache", attribute="status", value="normal"),),
                )
                for c in facts
            ],
        )
    if statement.action == "FLUSH":
        steps = [
            _step(
                c,
                statement,
                Risk.PERFORMANCE,
                caching_off=True,
                expect=1,
                undo=Undo.STATEMENT,
                inverse="ALTER FLASHCACHE ALL CANCEL FLUSH",
            )
            for c in facts
        ]
        warning = "caching stays off until ALTER FLASHCACHE ALL CANCEL FLUSH; flush flashcache does that by itself"
        return _plan(rack, text, steps, warnings=(warning,))
    if any(fact.flash_cache is None for fact in facts.values()) and statement.verb == "ALTER":
        cells = [cell for cell, fact in facts.items() if fact.flash_cache is None]
        raise RefusedError(f"{text}: {fold(cells)} has no flash cache; nothing was sent")
    reasons = {
        cell: reason for cell, fact in facts.items() if (reason := unproven_cache(fact, force=statement.has("FORCE")))
    }
    proof = (
        Check(object="flashcache", attribute="status", value=FLUSHED, why="it is the proof that nothing is dirty"),
    )
    needs = {cell: proof for cell, fact in facts.items() if fact.writeback and fact.flash_cache is not None}
    dropping = statement.verb == "DROP"
    return _lossy(
        rack,
        facts,
        statement,
        text,
        reasons,
        accepted,
        needs=needs,
        caching_off=dropping,
        caching_on=not dropping,
        expect=1,
        inverse="the cached blocks are gone",
    )


def unproven_cache(fact: CellFacts, *, force: bool = False) -> str:
    """Return why the cell's cache may hold the only copy of data, empty when it is proven not to.

    Proof is write-through mode, or status ``normal - flushed``; ``normal`` with FC_BY_DIRTY = 0 is none, because
    caching goes on. Source: reference cellcli.md 6.3.
    """
    if fact.flash_cache is None:
        return ""
    if fact.writeback and force:
        return "FORCE throws away dirty data that can't be flushed"
    if not fact.writeback or fact.flash_cache.status == FLUSHED:
        return ""
    return (
        f"its write-back flash cache is {fact.flash_cache.status}, not {FLUSHED}: it may hold the only copy of data "
        "(resize flashcache and flush flashcache flush it first)"
    )


def _flashlog(
    rack: str, facts: Mapping[str, CellFacts], statement: CellChange, text: str, accepted: Sequence[str]
) -> Plan:
    if statement.verb != "DROP":
        return _simple(rack, facts, statement, text, Risk.PERFORMANCE)
    if statement.has("FORCE"):
        reason = "FORCE throws away redo that is saved on flash only"
        return _lossy(rack, facts, statement, text, dict.fromkeys(facts, reason), accepted)
    saved = (
        Check(
            object="flashlogmetric",
            attribute="metricValue",
            value=0,
            where={"name": "FL_BY_KEEP"},
            why="redo is saved on flash only; wait until the disks have it",
        ),
    )
    return _plan(rack, text, [_step(c, statement, Risk.PERFORMANCE, needs=saved, expect=1) for c in facts])


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
    setting = next((s.text for s in statement.settings if s.attribute.lower() == "prefix"), "")
    prefixes = {part.strip().lower() for part in setting.split(",") if part.strip()}
    # The prefix is matched as the start of the name, the widest way in which a cell could read it.
    return tuple(g for g in grids if not prefixes or any(g.name.lower().startswith(p + "_") for p in prefixes))


def _griddisk(
    rack: str,
    facts: Mapping[str, CellFacts],
    statement: CellChange,
    text: str,
    accepted: Sequence[str],
    headers: Headers,
) -> Plan:
    if statement.verb == "CREATE":
        return _plan(rack, text, [_step(c, statement, Risk.NONE) for c in facts])
    hit = {cell: targets_of(fact, statement) for cell, fact in facts.items()}
    if not any(hit.values()):
        raise RefusedError(f"{text}: there is no such grid disk on {fold(facts)}; nothing was sent")
    facts = {cell: fact for cell, fact in facts.items() if hit[cell]}
    changed = {s.attribute.lower() for s in statement.settings}
    if statement.verb == "DROP" or statement.has("FORCE") or "size" in changed:
        refuse_used(text, {cell: grids for cell, grids in hit.items() if grids}, headers)
    if statement.action == "INACTIVE":
        _refuse_offline(text, {cell: grids for cell, grids in hit.items() if grids})
    free = {cell: _unused(hit[cell]) for cell in facts}
    if statement.verb == "DROP" and not statement.has("FORCE"):
        steps = [
            _step(
                c,
                statement,
                Risk.REDUNDANCY,
                needs=free[c],
                expect=len(hit[c]),
                inverse="what the grid disks held is gone",
            )
            for c in facts
        ]
        return _plan(rack, text, steps)
    if statement.has("FORCE"):
        reason = "FORCE drops grid disks under whoever uses them"
        return _lossy(rack, facts, statement, text, dict.fromkeys(facts, reason), accepted, always=free)
    # What a WHERE leaves of them only the cell knows.
    expect = {cell: 0 if statement.filters else len(hit[cell]) for cell in facts}
    if statement.action == "INACTIVE":
        steps = [_step(c, statement, Risk.REDUNDANCY, needs=_may_go(hit[c]), expect=expect[c]) for c in facts]
        return _plan(rack, text, steps)
    needs = free if "size" in changed else dict.fromkeys(facts, ())
    steps = [_step(c, statement, Risk.PERFORMANCE, needs=needs[c], expect=expect[c]) for c in facts]
    return _plan(rack, text, steps)


def _unused(grids: Sequence[GridDisk]) -> tuple[Check, ...]:
    if not grids:
        return ()
    return (
        Check(
            object="griddisk",
            attribute="asmModeStatus",
            op=Op.IN,
            value=("UNUSED", "DROPPED"),
            where={"name": tuple(grid.name for grid in grids)},
            why="a grid disk that ASM uses is never taken away",
        ),
    )


def _may_go(grids: Sequence[GridDisk]) -> tuple[Check, ...]:
    """What is read again right before disks go offline: ASM can spare the used ones, the others are still unused."""
    used = tuple(grid.name for grid in grids if grid.asm_mode not in ("UNUSED", "DROPPED"))
    spare = Check(
        object="griddisk",
        attribute="asmDeactivationOutcome",
        value="Yes",
        where={"name": used},
        why="a disk group would lose data or dismount",
    )
    return ((spare,) if used else ()) + _unused([grid for grid in grids if grid.name not in used])


def _refuse_offline(text: str, hit: Mapping[str, Sequence[GridDisk]]) -> None:
    used = {
        cell: [g for g in grids if g.asm_mode not in ("UNUSED", "DROPPED")]
        for cell, grids in hit.items()
        if any(g.asm_mode not in ("UNUSED", "DROPPED") for g in grids)
    }
    for cell, grids in used.items():
        bad = next((g for g in grids if g.deactivation.lower() != "yes"), None)
        if bad is not None:
            raise RefusedError(
                f"{text}: {cell}: grid disk {bad.name} must not go offline (asmDeactivationOutcome "
                f"{bad.deactivation or 'unknown'}); nothing was sent"
            )
    if len(used) > 1:
        raise RefusedError(
            f"{text}: it would take disks of {fold(used)} offline together; each cell is a failure group; nothing was sent",
            hint=f"one cell at a time: on {next(iter(used))} …",
        )


def _iormplan(rack: str, facts: Mapping[str, CellFacts], statement: CellChange, text: str) -> Plan:
    steps = []
    names = [s.attribute.lower() for s in statement.settings]
    for cell, fact in facts.items():
        inverse = f"ALTER IORMPLAN dbplan={render_plan(fact.iorm or IormPlan())}" if names == ["dbplan"] else ""
        change = Change(
            object="iormplan", name=cell, attribute="dbPlan", before=fact.iorm_text or "-", after="replaced"
        )
        steps.append(
            _step(
                cell,
                statement,
                Risk.PERFORMANCE,
                expect=1,
                changes=(change,) if "dbplan" in names else (),
                undo=Undo.STATEMENT if inverse else Undo.IMPOSSIBLE,
                inverse=inverse or "exacell keeps an inverse of dbplan changes alone",
            )
        )
    back = {
        cell: (f"alter iormplan dbplan={render_plan(fact.iorm or IormPlan())}",)
        for cell, fact in facts.items()
        if names == ["dbplan"]
    }
    try:
        agree(facts)
    except RefusedError as error:
        warning = error.message.removesuffix("; nothing was sent")
        return _plan(rack, text, steps, warnings=(warning,), inverse=back)
    return _plan(rack, text, steps, inverse=back)


def _cell(rack: str, facts: Mapping[str, CellFacts], statement: CellChange, text: str, accepted: Sequence[str]) -> Plan:
    if statement.verb in ("DROP", "CREATE"):
        reason = f"{statement.verb} CELL takes everything on the cell away"
        return _lossy(rack, facts, statement, text, dict.fromkeys(facts, reason), accepted)
    changed = {s.attribute.lower() for s in statement.settings}
    if "flashcachemode" in changed:
        reasons = {cell: reason for cell, fact in facts.items() if (reason := _mode_reason(fact))}
        absent = {
            c: (Check(object="flashcache", op=Op.ABSENT, why="the mode changes while there is no flash cache"),)
            for c, fact in facts.items()
            if fact.flash_cache is None
        }
        return _lossy(rack, facts, statement, text, reasons, accepted, needs=absent, expect=1)
    if statement.action in _CELL_SERVICES and statement.argument in ("CELLSRV", "ALL", ""):
        if "IGNORE REDUNDANCY" in statement.flags:
            reason = "IGNORE REDUNDANCY stops the cell even where a disk group would dismount"
            return _lossy(rack, facts, statement, text, dict.fromkeys(facts, reason), accepted)
        _refuse_offline(text, {cell: fact.grid_disks for cell, fact in facts.items()})
        steps = [_step(c, statement, Risk.REDUNDANCY, needs=_may_go(fact.grid_disks)) for c, fact in facts.items()]
        return _plan(rack, text, steps)
    return _simple(rack, facts, statement, text, Risk.PERFORMANCE)


def _mode_reason(fact: CellFacts) -> str:
    if fact.flash_cache is None:
        return ""
    return unproven_cache(fact) or "it still has a flash cache: drop it first (write-back: flushed)"


def _celldisk(
    rack: str,
    facts: Mapping[str, CellFacts],
    statement: CellChange,
    text: str,
    accepted: Sequence[str],
    headers: Headers,
) -> Plan:
    takes = statement.verb in ("DROP", "EXPORT") or statement.has("FORCE")
    if not takes:
        return _simple(rack, facts, statement, text, Risk.PERFORMANCE)
    names = {name.lower() for name in statement.names}
    hit = {
        cell: tuple(g for g in fact.grid_disks if statement.all or g.cell_disk.lower() in names)
        for cell, fact in facts.items()
    }
    refuse_used(text, {cell: grids for cell, grids in hit.items() if grids}, headers)
    reason = "the cell disks' contents are lost"
    always = {cell: _unused(grids) for cell, grids in hit.items()}
    return _lossy(rack, facts, statement, text, dict.fromkeys(facts, reason), accepted, always=always)
