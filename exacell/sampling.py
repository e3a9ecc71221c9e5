"""Read counters from all cells, waiting for a new collection on each cell's own clock where that is asked."""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic
from typing import TYPE_CHECKING

from exacell.errors import ExitCode
from exacell.metrics.snapshot import CellCounters
from exacell.plan import facts as f
from exacell.units import format_duration

if TYPE_CHECKING:
    from exacell.context import Context

COLLECTION_WAIT = 150.0
"""Seconds to wait for a new collection, which comes every minute."""


def _statement(kind: str) -> str:
    return f"list metriccurrent where objectType = '{kind.upper()}'"


def _created(kind: str) -> str:
    return f"list {kind} attributes name, creationTime"


def read_counters(ctx: Context, kind: str) -> tuple[dict[str, CellCounters], tuple[str, ...], ExitCode]:
    """Return the counters of each cell that answered, the others' problems, and the exit code."""
    statements = (_statement(kind), _created(kind), f.CELL, f.IORMPLAN)
    answers = ctx.query(*statements)
    found: dict[str, CellCounters] = {}
    for cell, answer in answers.good.items():
        values = f.metric_values(answer.tables[0])
        created = answer.tables[1]
        fact = f.build(cell, [f.CELL], answer.tables[2:3])
        found[cell] = CellCounters(
            collected=max((at for _, at in values.values()), default=0),
            values={name: value for name, (value, _) in values.items()},
            passport={
                "release": fact.release,
                "flashCacheMode": fact.mode,
                "dbPlan": f.dbplan_of(answer.tables[3]),
                "created": str(created[0].get("creationTime") or "") if created else "",
            },
        )
    return found, answers.problems, answers.exit_code


def wait_for_collection(
    ctx: Context, kind: str, *, clock: Callable[[], float] = monotonic
) -> tuple[dict[str, CellCounters], tuple[str, ...], ExitCode]:
    """Read until every cell that answers shows a collection later than the one it showed first.

    The last look is the first that began when the time was over, however long the looks take.

    Args:
        clock: seconds.

    Returns:
        as :func:`read_counters`; cells that showed none in time are among the problems, without counters.
    """
    first, problems, code = read_counters(ctx, kind)
    rack = ctx.need_rack()
    # An emulated rack at the usual speed collects once a minute as well.
    limit = COLLECTION_WAIT / 2 if rack.emulated else COLLECTION_WAIT
    began = looked = clock()
    latest = first
    while first and any(latest[c].collected <= first[c].collected for c in first if c in latest):
        if looked - began >= limit or ctx.interrupted.wait(rack.poll):
            stuck = [c for c in first if c in latest and latest[c].collected <= first[c].collected]
            why = "interrupted" if ctx.interrupted.is_set() else f"no new collection within {format_duration(limit)}"
            return (
                {c: v for c, v in latest.items() if c not in stuck},
                (*problems, *(f"{c}: {why}" for c in stuck)),
                ExitCode.INTERRUPTED if ctx.interrupted.is_set() else ExitCode.FAILED,
            )
        looked = clock()
        latest, problems, code = read_counters(ctx, kind)
    return latest, problems, code
