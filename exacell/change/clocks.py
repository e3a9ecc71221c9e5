"""ASM's clocks, read and held against what would take disks away from it. See :mod:`exacell.plan.planners.clock`."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from exacell.plan.facts import CellFacts
from exacell.plan.model import Plan
from exacell.plan.planners.clock import away_steps, held_against_clocks
from exacell.session.factreading import asm_facts
from exacell.session.given import Request, Services, Session


def against_clocks(
    session: Session, services: Services, request: Request, plan: Plan, facts: Mapping[str, CellFacts]
) -> Plan:
    """Return a plan with what ASM's clocks mean for the disks that it takes away; ASM is asked where it takes some.

    Raises:
        RefusedError: a clock is shorter than the work may take.
    """
    if not away_steps(plan):
        return plan
    asm, problems = asm_facts(session, services, request.read_timeout)
    return held_against_clocks(plan, facts, asm or (), untold=next(iter(problems), ""), now=datetime.now().astimezone())
