"""Guards for CellCLI's statements on cell disks and physical disks: what takes one away takes its contents. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from exacell.cellcli.statement import Change as CellChange
from exacell.cellcli.statement import Media, render
from exacell.core.cellset import fold
from exacell.core.errors import RefusedError
from exacell.plan.facts import CellFacts
from exacell.plan.guards.free import refuse_in_use, unused
from exacell.plan.guards.griddisks import flush, slow
from exacell.plan.guards.luns import created, forced
from exacell.plan.guards.settings import settings_proof
from exacell.plan.guards.steps import (
    guarded_plan,
    guarded_step,
    lossy,
    simple,
)
from exacell.plan.guards.targets import means
from exacell.plan.media import kinds_meant
from exacell.plan.model import Check, Op, Plan, Risk, Step
from exacell.plan.nearby import no_such
from exacell.plan.planners.griddisk import Headers


def physicaldisk(rack: str, facts: Mapping[str, CellFacts], statement: CellChange, text: str) -> Plan:
    """Return the plan for a statement on physical disks: its LED harms nobody, REENABLE brings disks back that were dropped
    for replacement, all else takes disks from their users. Source: Oracle SAGUG, ALTER PHYSICALDISK."""
    if statement.action == "SERVICELED":
        return simple(rack, facts, statement, text, Risk.NONE)
    if statement.action == "REENABLE" and not statement.has("FORCE"):
        return simple(rack, facts, statement, text, Risk.PERFORMANCE)
    _one_cell(facts, text)
    force = " (FORCE)" if statement.has("FORCE") else ""
    reason = f"{statement.action}{force} takes its grid disks and its part of the flash cache away"
    return lossy(rack, facts, statement, text, dict.fromkeys(facts, reason))


def _one_cell(facts: Mapping[str, CellFacts], text: str) -> None:
    if len(facts) > 1:
        raise RefusedError(
            f"{text}: it would touch disks of {fold(facts)} together; each cell is a failure group; nothing was sent",
            hint=f"one cell at a time: on {next(iter(facts))} …",
        )


def lun(rack: str, facts: Mapping[str, CellFacts], statement: CellChange, text: str) -> Plan:
    """Return the plan for ALTER LUN … REENABLE on one cell: it makes cell disk and grid disks anew there.

    Source: Oracle SAGUG, ALTER LUN: what is on them may be lost.

    Raises:
        RefusedError: a LUN is on none of the cells, or several cells are meant.
    """
    there = {cell: {lun.name.lower() for lun in fact.luns} for cell, fact in facts.items() if fact.luns}
    for name in statement.names if len(there) == len(facts) else ():
        if not any(name.lower() in luns for luns in there.values()):
            raise RefusedError(f"{text}: there is no LUN {name} on {fold(facts)}; nothing was sent", hint="list lun")
    wanted = {name.lower() for name in statement.names}
    facts = {cell: fact for cell, fact in facts.items() if not wanted or cell not in there or wanted & there[cell]}
    _one_cell(facts, text)
    reason = f"{statement.action} makes cell disks and grid disks anew on it: what is on them is lost"
    return lossy(rack, facts, statement, text, dict.fromkeys(facts, reason))


def celldisk(
    rack: str,
    facts: Mapping[str, CellFacts],
    statement: CellChange,
    text: str,
    headers: Headers,
) -> Plan:
    """Return the plan for a statement on cell disks: what takes one away takes its contents. Each cell gets the names of
    its own disks alone."""
    if statement.verb == "CREATE" and not statement.has("FORCE"):
        return created(rack, facts, statement, text)
    plan = _judged(rack, facts, statement, text, headers)
    if statement.verb in ("CREATE", "IMPORT"):
        return plan

    def own(step: Step) -> Step:
        here = {disk.name.lower() for disk in facts[step.target].cell_disks}
        names = tuple(name for name in statement.names if name.lower() in here)
        return replace(step, statement=render(replace(statement, names=names)))

    stages = tuple(replace(stage, steps=tuple(map(own, stage.steps))) for stage in plan.stages)
    return replace(plan, stages=stages)


def _judged(
    rack: str,
    facts: Mapping[str, CellFacts],
    statement: CellChange,
    text: str,
    headers: Headers,
) -> Plan:
    """The plan with the statement as it was typed."""
    having = {cell: fact for cell, fact in facts.items() if means(statement, fact)}
    if not having:
        known = [disk.name for fact in facts.values() for disk in fact.cell_disks]
        raise no_such(text, "cell disk", fold(facts), statement.names, known)
    facts = having
    takes = statement.verb in ("DROP", "EXPORT") or statement.has("FORCE")
    if statement.action:
        return flush(rack, facts, statement, text)
    if not takes:
        return _altered(rack, facts, statement, text)
    hit = {
        cell: tuple(grid for grid in fact.grid_disks if grid.cell_disk.lower() in taken)
        for cell, fact in facts.items()
        for taken in (_meant(fact, statement) | forced(fact, statement),)
    }
    refuse_in_use(text, hit, headers)
    reason = "the cell disks' contents are lost"
    always = {cell: unused(grids) for cell, grids in hit.items()}
    gone = (Check(object="celldisk", op=Op.ABSENT, where={"name": statement.names}),)
    proves = gone if statement.verb == "DROP" and statement.names and not slow(statement) else ()
    reasons = dict.fromkeys(facts, reason)
    return lossy(rack, facts, statement, text, reasons, always=always, proves=dict.fromkeys(facts, proves))


def _meant(fact: CellFacts, statement: CellChange) -> frozenset[str]:
    """The cell disks that a statement means, in lower case: by name, or ALL of a medium; IMPORT and the like mean none."""
    if not statement.all:
        return frozenset(name.lower() for name in statement.names)
    known = {disk.name.lower(): disk for disk in fact.cell_disks}
    match statement.media:
        case None:
            others = {name for name, disk in known.items()}
        case Media.HARDDISK:
            others = {name for name, disk in known.items() if disk.hard}
        case Media.PMEM:
            others = {name for name, disk in known.items() if disk.pmem}
        case _:
            others = {name for name, disk in known.items() if disk.flash}
    # What is not known to lie on another kind of disk counts.
    return frozenset(others | ({grid.cell_disk.lower() for grid in fact.grid_disks} - set(known)))


def _altered(rack: str, facts: Mapping[str, CellFacts], statement: CellChange, text: str) -> Plan:
    """IMPORT, or ALTER of attributes, which are read back."""
    if statement.verb != "ALTER":
        return simple(rack, facts, statement, text, Risk.PERFORMANCE)
    steps = [
        guarded_step(c, statement, Risk.PERFORMANCE, proves=settings_proof(statement, disks) if disks else ())
        for c, disks in ((c, _altered_disks(fact, statement)) for c, fact in facts.items())
    ]
    return guarded_plan(rack, text, steps)


def _altered_disks(fact: CellFacts, statement: CellChange) -> list[str]:
    """The cell disks that ALTER means; none where only the cell knows."""
    if not statement.all:
        names = {name.lower() for name in statement.names}
        return [disk.name for disk in fact.cell_disks if disk.name.lower() in names]
    kinds = kinds_meant(fact, statement) or ()
    return [disk.name for disk in fact.cell_disks if disk.kind in kinds]
