"""Read ASM's clocks and compare them with work that takes disks away from ASM. See :mod:`exacell.plan.planners.clock`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from exacell.core.errors import ExacellError
from exacell.opaque.findings import Absence
from exacell.plan import facts as f
from exacell.plan.asmfacts import AsmFacts
from exacell.plan.facts import CellFacts
from exacell.plan.model import Plan, Step
from exacell.plan.planners.clock import (
    NOBODY,
    UNTOLD,
    away_steps,
    clock_of,
    held_against_clocks,
    moment_of,
    refuse_short,
    why_not_now,
)
from exacell.session.asm import AsmClient
from exacell.session.factreading import asm_facts
from exacell.session.fleet import Fleet
from exacell.session.given import Request, Services, Session


def refuse_absences(
    session: Session,
    services: Services,
    request: Request,
    absences: Sequence[Absence],
    *,
    statement: str,
    where: str = "",
    beside: bool = False,
) -> None:
    """Raise RefusedError if a disk group's clock would run out while an unread text keeps disks away from ASM.

    Warns about clocks that can't be read, and about when ASM drops disks whose return is unknown.

    Args:
        statement: as it was given.
        where: the cells that it goes to, folded.
        beside: it goes to hosts other than cells, whose own disks do not belong to ASM.

    Raises:
        RefusedError: a clock is shorter than the work may take.
    """
    found = [absence for absence in absences if absence.elsewhere or not beside]
    if not found or session.rack is None:
        return
    asm, problems = asm_facts(session, services, request.read_timeout)
    now = datetime.now().astimezone()
    said: dict[str, None] = dict.fromkeys(f"{UNTOLD}: {problem}" for problem in problems)
    if not asm and not problems:
        said[f"{UNTOLD}: {NOBODY}"] = None
    for absence in found:
        groups = [g for cluster in asm or () for g in cluster.groups if g.number and absence.group in ("", g.name)]
        clocks = [clock_of(group, whole=True) for group in groups]
        refuse_short(f"{statement[:_SHOWN]}: '{absence.words}'", where, clocks, absence.kind)
        for clock in clocks:
            if clock.seconds is None:
                said[f"{UNTOLD}: {clock.sentence} ({clock.default})"] = None
            elif not absence.kind:
                said[moment_of(clock, now)] = None
    for text in said:
        services.console.say(f"Warning: {text}")


_SHOWN = 60
"""Characters of a statement in messages."""


def against_clocks(
    session: Session, services: Services, request: Request, plan: Plan, facts: Mapping[str, CellFacts]
) -> Plan:
    """Return a plan with the consequences of ASM's clocks for the disks that it takes away; ASM is asked only if it takes some.

    Raises:
        RefusedError: a clock is shorter than the work may take.
    """
    if not away_steps(plan):
        return plan
    asm, problems = asm_facts(session, services, request.read_timeout)
    return held_against_clocks(plan, facts, asm or (), untold=next(iter(problems), ""), now=datetime.now().astimezone())


def held_back(
    fleet: Fleet, asm: Mapping[str, AsmClient], plan: Plan, steps: Sequence[Step], *, timeout: float
) -> dict[str, str]:
    """Return, by target, why steps of a plan must not take disks from ASM now, according to its clocks.

    ASM is asked only if one of the steps takes disks and an ASM cluster of the rack can be asked.

    Args:
        timeout: seconds that each question may take.
    """
    away = [step for step in steps if step.offline]
    if not away or not asm:
        return {}
    clusters: list[AsmFacts] = []
    problems: list[str] = []
    for client in asm.values():
        try:
            clusters.append(client.facts(timeout=timeout))
        except ExacellError as error:
            problems.append(error.message)
    asked = (f.GRIDDISK,)
    answers = fleet.query([step.target for step in away], asked, timeout=timeout)
    # A cell whose CELLSRV is stopped can't list this; its disks are away already.
    facts = {cell: f.build(cell, asked, answer.tables) for cell, answer in answers.good.items()}
    untold = next(iter(problems), "")
    found = {step.target: why_not_now(plan, step, facts, clusters, untold=untold) for step in away}
    return {target: why for target, why in found.items() if why}
