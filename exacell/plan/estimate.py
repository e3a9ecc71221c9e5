"""How long a plan may take: rough figures from what was read, shown before anybody confirms. Pure.

Only sizes are facts (dirty bytes, megabytes that a rebalance moves). The rates are assumptions on the slow side: Oracle
publishes none, and databases use the same disks meanwhile. What no figure is known for is named instead of guessed.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from exacell.core.units import MIB, human_size
from exacell.core.values import dataclass
from exacell.plan.facts import CellFacts
from exacell.plan.model import Gate, Plan, Stage, Step, Watch
from exacell.plan.rolling import laps

FLUSH_RATE = 20 * MIB
"""Bytes a second that one hard disk takes of a flush's scattered writes, beside its databases' own. An assumption."""

COLLECTIONS = 90.0
"""Seconds until a flush is proven after it is complete: collections come once a minute, and a later one is waited for."""

MOVE_RATE = 10 * MIB
"""Bytes a second and disk that a rebalance moves at a modest power. An assumption."""

GATE = 10.0
"""Seconds to look whether a gate between waves is open, when it is."""

OFTEN = 5.0
"""Seconds for a statement on a cell: CellCLI's own start, the statement, reading back."""

_USUAL: tuple[tuple[str, float | None], ...] = (
    (r"ALTER (FLASH|PMEM|XRMEM)CACHE .*CANCEL FLUSH", OFTEN),
    (r"ALTER (FLASH|PMEM|XRMEM)CACHE .*\bFLUSH\b", None),
    (r"ALTER (FLASH|PMEM|XRMEM)CACHE .*SIZE", None),
    (r"(CREATE|DROP) (FLASH|PMEM|XRMEM)(CACHE|LOG)", 15.0),
    (r"ALTER CELL (RESTART|STARTUP) SERVICES", 90.0),
    (r"ALTER CELL SHUTDOWN SERVICES", 30.0),
    (r"ALTER GRIDDISK .*\bINACTIVE", 30.0),
    (r"ALTER GRIDDISK .*\bACTIVE", 120.0),
    (r"(CREATE|DROP) (GRIDDISK|CELLDISK)", 20.0),
    (r"CALIBRATE", None),
    (r"(CREATE|DROP) DISKGROUP", 30.0),
    (r"ALTER DISKGROUP \S+ (MOUNT|DISMOUNT)", 15.0),
    (r"(ALTER CELL VALIDATE|CREATE DIAGPACK|IMPORT)", None),
)
"""How a statement begins → the seconds that it takes as a rule, None when that depends on what nobody reads before."""


@dataclass(frozen=True, kw_only=True)
class Estimate:
    """How long a plan may take, without the time that somebody takes to answer.

    Attributes:
        seconds: of all that a figure is known for.
        unknown: titles of stages for which none is known.
    """

    seconds: float
    unknown: tuple[str, ...] = ()


def flush_seconds(fact: CellFacts) -> float | None:
    """Return how long a flush of the cell's flash cache and its proof may take, None when what is dirty was not read.

    Dirty data goes to the hard disks, all at once.
    """
    dirty = fact.metric_bytes("FC_BY_DIRTY")
    disks = sum(1 for disk in fact.cell_disks if disk.hard)
    if dirty is None or not disks:
        return None
    return dirty / (FLUSH_RATE * disks) + COLLECTIONS


def flush_note(facts: Sequence[CellFacts]) -> str:
    """Return the arithmetic of the slowest cell's flush in one line, empty when nothing is known."""
    known = [(seconds, fact) for fact in facts if (seconds := flush_seconds(fact)) is not None]
    if not known:
        return ""
    _, slowest = max(known, key=lambda item: item[0])
    dirty = slowest.metric_bytes("FC_BY_DIRTY") or 0
    disks = sum(1 for disk in slowest.cell_disks if disk.hard)
    if not dirty:
        return "time of the flush: nothing is dirty, so a collection of metrics"
    return (
        f"time of the flush: {human_size(dirty)} dirty on {slowest.cell} to {disks} hard disks, {human_size(FLUSH_RATE)} a "
        "second each (assumed), and a collection of metrics"
    )


def rebalance_seconds(moved_mb: int, disks: int) -> float:
    """Return how long ASM may take to move so many MB between so many disks."""
    return 30.0 + moved_mb * MIB / (MOVE_RATE * max(disks, 1))


def step_seconds(step: Step) -> float | None:
    """Return how long a step may take, None when nothing tells."""
    if step.estimate is not None:
        return step.estimate
    if step.watch is Watch.FLUSH:
        return None
    text = " ".join(step.statement.split())
    for begin, seconds in _USUAL:
        if re.match(begin, text, re.IGNORECASE):
            return seconds
    return OFTEN if text else None


def stage_seconds(stage: Stage) -> float | None:
    """Return how long a stage may take: its slowest target's time, None when nothing tells for one of them."""
    times = [step_seconds(step) for step in stage.steps]
    known = [seconds for seconds in times if seconds is not None]
    return max(known, default=0.0) if len(known) == len(times) else None


def estimate(plan: Plan) -> Estimate:
    """Return how long a plan may take when nothing fails: stages one after the other, wave by wave."""
    total, unknown = 0.0, []
    for lap in laps(plan):
        total += GATE if lap.wave else 0.0
        total += plan.rolling.pause if plan.rolling is not None and lap.wave > 1 else 0.0
        for stage in lap.stages:
            if stage.gate is Gate.MEND or not stage.steps:
                continue
            seconds = stage_seconds(stage)
            if seconds is None:
                unknown.append(stage.title)
            total += seconds or 0.0
    return Estimate(seconds=total, unknown=tuple(dict.fromkeys(unknown)))


def timed(plan: Plan) -> Plan:
    """Return the plan with its estimate, and with a step's own in each step where one is known."""
    stages = tuple(
        replace(stage, steps=tuple(replace(step, estimate=step_seconds(step)) for step in stage.steps))
        for stage in plan.stages
    )
    found = estimate(plan)
    return replace(plan, stages=stages, estimate=found.seconds, untimed=found.unknown)
