"""Compute the notes of plans: how long they may take, the content of caches, the arithmetic of sizes, and the cost. Pure.

Times are rough figures, computed from the facts that were read, and shown before anybody confirms. Only sizes are facts (dirty
bytes, megabytes that a rebalance moves). The rates are assumptions on the slow side: Oracle publishes none, and databases use
the same disks meanwhile. Steps without a known figure are named instead of guessed.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from exacell.core.cellset import fold, grouped, told_together
from exacell.core.units import MIB, exact_size, human_size
from exacell.core.values import dataclass, replace
from exacell.plan.asmchange import outline_of
from exacell.plan.facts import CellFacts, Record
from exacell.plan.model import Gate, Plan, Stage, Step, Watch
from exacell.plan.rolling import laps

FLUSH_RATE = 20 * MIB
"""Bytes per second of a flush's scattered writes that one hard disk takes besides the databases' writes. An assumption."""

COLLECTIONS = 90.0
"""Seconds until a complete flush is proven: collections come once a minute, and a later one is needed."""

MOVE_RATE = 10 * MIB
"""Bytes per second and disk that a rebalance moves at a modest power. An assumption."""

GATE = 10.0
"""Seconds that the check of an open gate between waves takes."""

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
    (r"(ALTER CELL VALIDATE|CREATE DIAGPACK|IMPORT)", None),
)
"""Beginning of a statement → its usual seconds; None if they depend on things that are not read before."""

_USUAL_OF_GROUPS = {"CREATE": 30.0, "DROP": 30.0, "MOUNT": 15.0, "DISMOUNT": 15.0}
"""Verb of a disk group statement, or clause of ALTER DISKGROUP → its usual seconds."""


@dataclass(frozen=True, kw_only=True)
class Estimate:
    """How long a plan may take, without the time for answers to questions.

    Attributes:
        seconds: the sum of all stages with a known figure.
        unknown: titles of stages without one.
    """

    seconds: float
    unknown: tuple[str, ...] = ()


def flush_seconds(fact: CellFacts) -> float | None:
    """Return how many seconds a flush of the cell's flash cache and its proof may take; None if the dirty bytes were not read.

    Dirty data goes to all hard disks at once.
    """
    dirty = fact.metric_bytes("FC_BY_DIRTY")
    disks = sum(1 for disk in fact.cell_disks if disk.hard)
    if dirty is None or not disks:
        return None
    return dirty / (FLUSH_RATE * disks) + COLLECTIONS


def flush_note(facts: Sequence[CellFacts]) -> str:
    """Return the arithmetic of the slowest cell's flush in one line; empty if nothing is known."""
    known = [(seconds, fact) for fact in facts if (seconds := flush_seconds(fact)) is not None]
    if not known:
        return ""
    _, slowest = max(known, key=lambda item: item[0])
    dirty = slowest.metric_bytes("FC_BY_DIRTY") or 0
    disks = sum(1 for disk in slowest.cell_disks if disk.hard)
    if not dirty:
        return "time of the flush: nothing is dirty: only the time until the next metrics"
    return (
        f"time of the flush: {human_size(dirty)} dirty on {slowest.cell} to {disks} hard disks, "
        f"{human_size(FLUSH_RATE)} a second each (assumed), and then the time until the next metrics"
    )


def rebalance_seconds(moved_mb: int, disks: int) -> float:
    """Return how many seconds ASM may take to move so many MB between so many disks."""
    return 30.0 + moved_mb * MIB / (MOVE_RATE * max(disks, 1))


def step_seconds(step: Step) -> float | None:
    """Return how many seconds a step may take; None if unknown."""
    if step.estimate is not None:
        return step.estimate
    if step.watch is Watch.FLUSH:
        return None
    text = " ".join(step.statement.split())
    group = outline_of(text)
    if group is not None:
        word = group.verb if group.verb != "ALTER" else "".join(group.clause[:1])
        return _USUAL_OF_GROUPS.get(word, OFTEN)
    return next((seconds for begin, seconds in _USUAL if re.match(begin, text, re.IGNORECASE)), OFTEN if text else None)


def stage_seconds(stage: Stage) -> float | None:
    """Return how many seconds a stage may take: the time of its slowest target; None if one target's time is unknown."""
    times = [step_seconds(step) for step in stage.steps]
    known = [seconds for seconds in times if seconds is not None]
    return max(known, default=0.0) if len(known) == len(times) else None


def estimate(plan: Plan) -> Estimate:
    """Return how long a plan may take if nothing fails: stages one after the other, wave by wave."""
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
    """Return the plan with its estimate, and each step with its own estimate if one is known."""
    stages = tuple(
        replace(stage, steps=tuple(replace(step, estimate=step_seconds(step)) for step in stage.steps))
        for stage in plan.stages
    )
    found = estimate(plan)
    return replace(plan, stages=stages, estimate=found.seconds, untimed=found.unknown)


_FEW = 4
"""Up to this number, each cell has its own line in a plan's notes."""


def flush_notes(cells: Mapping[str, CellFacts]) -> tuple[str, ...]:
    """Return lines about the caches' contents and the time of their flush: one for each of a few cells, a sum for many.

    Args:
        cells: with FLASHCACHE, CELLDISK and FLASH_METRICS read; those without figures are left out.
    """
    known = {
        cell: (dirty, used)
        for cell, fact in cells.items()
        if (dirty := fact.metric_bytes("FC_BY_DIRTY")) is not None
        and (used := fact.metric_bytes("FC_BY_USED")) is not None
    }
    if len(known) <= _FEW:
        notes = told_together(
            (cell, f"{human_size(dirty)} dirty, {human_size(used)} used of {human_size(cells[cell].cache_size)}")
            for cell, (dirty, used) in known.items()
        )
    else:
        most = max(known, key=lambda cell: known[cell][0])
        dirty, used = (sum(pair[place] for pair in known.values()) for place in (0, 1))
        where = f"{human_size(dirty)} dirty in all, most on {most} ({human_size(known[most][0])})"
        notes = [f"{len(known)} cells: {where if dirty else 'nothing dirty'}; {human_size(used)} used"]
    return (*notes, *filter(None, [flush_note(list(cells.values()))]))


LARGEST = 100
"""Number of objects that a cell lists: those with most data. Source: reference cellcli.md 2.1, LIMIT with ORDER BY."""

CONTENT = (
    "list flashcachecontent attributes dbUniqueName, cachedSize, hitCount, missCount "
    f"order by cachedSize desc limit {LARGEST}"
)
"""The LIST statement for the databases' data in the cache, and for how often the cache answered them."""


def cost_notes(content: Mapping[str, Sequence[Record]]) -> tuple[str, ...]:
    """Return a line per database about data that will be read from disk again, largest first.

    It shows the data in the cache, and the share of reads of these objects that the cache has answered so far.

    Args:
        content: cell → its records of ``CONTENT``.
    """
    sums: dict[str, list[int]] = {}
    for row in (row for rows in content.values() for row in rows):
        into = sums.setdefault(str(row.get("dbUniqueName") or "") or "no database", [0, 0, 0])
        for place, name in enumerate(("cachedSize", "hitCount", "missCount")):
            into[place] += int(row.get(name) or 0)
    told = []
    for name, (size, hits, misses) in sorted(sums.items(), key=lambda item: -item[1][0]):
        part = f" (the cache answered {100 * hits / (hits + misses):.1f} % of its reads)" if hits + misses else ""
        if size:
            told.append(f"{name} {human_size(size)}{part}")
    if not told:
        return ()
    least = any(len(rows) >= LARGEST for rows in content.values())
    what = f"of the {LARGEST} largest objects of a cell" if least else "at most"
    return (f"read from disk again, {what}: {'; '.join(told)}",)


def resize_notes(todo: Sequence[CellFacts], sizes: Mapping[str, int], asked: int) -> tuple[str, ...]:
    """Return the arithmetic of each size, folded over cells with the same, and the time of the flush before it.

    Args:
        sizes: bytes of each cell's new cache.
        asked: bytes that were asked for; they may have been rounded.
    """
    groups = grouped(((len(fact.flash_disks), sizes[fact.cell], fact.cache_room()), fact.cell) for fact in todo)
    notes = []
    for (disks, size, room), cells in groups.items():
        note = f"{fold(cells)}: {exact_size(size)} = {disks} flash disks × {exact_size(size // disks)}"
        if size != asked:
            note += f" ({exact_size(asked)} rounded down to 16M a disk)"
        notes.append(f"{note}; {exact_size((room - size) // disks)} stay free on each flash disk")
    writeback = [fact for fact in todo if fact.writeback and fact.flash_cache]
    if writeback:
        notes.append("write-back: each cache is flushed and proven empty before it is dropped")
    return (*notes, *filter(None, [flush_note(writeback)]))


def resize_warnings(todo: Sequence[CellFacts]) -> tuple[str, ...]:
    """Return a warning about the cost of re-creating these caches."""
    return ("the cache starts empty: databases on these cells read from disk until it is warm",) if todo else ()
