"""show, flush and resize the flash cache."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from exacell.change.leftbehind import unnoted
from exacell.factreading import read_facts
from exacell.language.registry import Call, Effect, Flag, Kind, Param, command
from exacell.output.result import Column, Result
from exacell.plan.planned import Planned

if TYPE_CHECKING:
    from exacell.context import Context
    from exacell.fleet import Answers
    from exacell.plan.facts import CellFacts

GROUP = "flash cache"


def planning_facts() -> tuple[str, ...]:
    """Return the LIST statements that a plan which flushes or re-creates the cache is made from."""
    from exacell.plan import facts as f

    return (f.CELL, f.FLASHCACHE, f.PMEMCACHE, f.CELLDISK, f.FLASH_PHYSICALDISK, f.GRIDDISK, f.FLASH_METRICS)


@command(
    "show flashcache",
    group=GROUP,
    effect=Effect.READ,
    summary="mode, size, dirty and used bytes, status, and whether the cache is caching",
    details="dirty and used are as of the cell's last metric collection, once a minute on the cell's own clock. caching "
    "is off while the status says flushing or flushed: every read goes to disk until CANCEL FLUSH.",
    example="show flashcache",
)
def show(ctx: Context, call: Call) -> Result:
    """Return one record per cell; a cell without a flash cache has nulls."""
    from exacell.change.pending import observe_caching
    from exacell.plan import facts as f

    statements = (f.CELL, f.FLASHCACHE, f.FLASH_METRICS)
    answers = ctx.query(*statements)
    rows = []
    for cell, answer in answers.good.items():
        fact = f.build(cell, statements, answer.tables)
        rows.append(_row(fact))
    problem = observe_caching(ctx.journal, ctx.need_rack().name, {row["cell"]: row["caching"] for row in rows})
    return cache_table(rows, answers, unnoted(ctx, problem))


def cache_table(
    rows: Sequence[Mapping[str, Any]], answers: Answers, notes: Sequence[str], *, before: Sequence[Column] = ()
) -> Result:
    """Return the table of one cache a cell: cell, the columns of ``before``, mode, bytes, status and caching.

    Args:
        rows: one record a cell that answered, with those keys; sizes in bytes.
        answers: what the cells said, for the problems of those that did not.
    """
    return Result(
        records=rows,
        notes=notes,
        columns=(
            Column("cell"),
            *before,
            Column("mode"),
            Column("size", "size"),
            Column("dirty", "size"),
            Column("used", "size"),
            Column("status"),
            Column("caching"),
        ),
        fold=True,
        data=True,
        problems=answers.problems,
        exit_code=answers.exit_code,
    )


def _row(fact: CellFacts) -> dict[str, Any]:
    cache = fact.flash_cache
    return {
        "cell": fact.cell,
        "name": cache.name if cache else None,
        "mode": fact.mode or None,
        "size": cache.size if cache else None,
        "dirty": fact.metric_bytes("FC_BY_DIRTY"),
        "used": fact.metric_bytes("FC_BY_USED"),
        "status": cache.status if cache else None,
        "caching": cache.caching if cache else "unknown",
    }


LIMIT = Flag(name="limit", value=Kind.DURATION, help="cancel a flush that takes longer, caching on again")
"""The flag of the statements that flush a cache."""


def flush_limit(call: Call) -> float | None:
    """Return the seconds after which a flush is to be cancelled, None without ``--limit``."""
    value = call.flags.get("limit")
    return float(value) if isinstance(value, (int, float)) else None


@command(
    "flush flashcache",
    group=GROUP,
    effect=Effect.WRITE,
    summary="empty the cache, prove that it is empty, and switch caching on again",
    details="FLUSH is sent NOWAIT and followed until every flash cell disk is complete and FC_BY_DIRTY is 0 in a later "
    "collection; then CANCEL FLUSH, without which caching would stay off. Refused while a flash disk is not normal, the "
    "cache is degraded, or a grid disk with dirty data can't be written. Ctrl-C ends the wait and switches caching on, and so "
    "does --limit when it has passed. A write-back PMEM cache is flushed first and caches again last.",
    example="flush flashcache -y",
    flags=(LIMIT,),
    params=(
        Param(
            name="recreate",
            kind=Kind.CHOICE,
            choices=("never", "needed"),
            default="never",
            help="needed: drop and re-create the cache at its size where the flush left something in it",
        ),
    ),
)
def flush(ctx: Context, call: Call) -> Planned:
    """Return the plan; its result is one record per cell with its outcome and the proof."""
    from exacell.plan.flashcache import flush_plan

    facts = read_facts(ctx, *planning_facts())
    rack = ctx.need_rack().name
    recreate = call.args.get("recreate") == "needed"
    plan = flush_plan(rack, facts, recreate=recreate, statement=call.text, limit=flush_limit(call))
    return Planned(plan, facts)


@command(
    "resize flashcache",
    group=GROUP,
    effect=Effect.WRITE,
    summary="re-create the cache at another size on every cell",
    details="The size is per cell, over all its flash disks, and is rounded down to equal shares of 16M. A write-back "
    "cache is flushed first and dropped while it is still proven flushed. The flash log keeps its space; flash that "
    "grid disks own is not touched.",
    example="resize flashcache size=288g -y",
    params=(Param(name="size", kind=Kind.SIZE, required=True, help="of the cache per cell, such as 288g"),),
)
def resize(ctx: Context, call: Call) -> Planned:
    """Return the plan; its result is one record per cell with its outcome."""
    from exacell.plan.facts import IORMPLAN
    from exacell.plan.flashcache import resize_plan

    facts = read_facts(ctx, *planning_facts(), IORMPLAN)
    size = call.int_arg("size")
    assert size is not None
    return Planned(resize_plan(ctx.need_rack().name, facts, size=size, statement=call.text), facts)


@command(
    "set flashcache",
    group=GROUP,
    effect=Effect.WRITE,
    summary="change the cache's mode by the whole procedure of each cell's release",
    details="To write-through a write-back cache is flushed and proven, dropped while flushed, and re-created at its size; a "
    "write-back PMEM cache leaves write-back first. From 11.2.3.3.1 on CELLSRV stays up. Before, each cell's disks go "
    "offline and CELLSRV is stopped for the change: one cell at a time, with gates.",
    example="set flashcache mode=writethrough -y",
    params=(
        Param(
            name="mode",
            kind=Kind.CHOICE,
            choices=("writeback", "writethrough"),
            required=True,
            help="of the flash cache",
        ),
    ),
)
def set_mode(ctx: Context, call: Call) -> Planned:
    """Return the plan; its result is one record per cell with its outcome."""
    from exacell.change.settling import intended_on
    from exacell.plan import facts as f
    from exacell.plan.cachemode import mode_plan

    rack = ctx.need_rack()
    others = ctx.fleet.query(rack.cells, [f.FLASHCACHE]).good
    caches = [f.build(cell, [f.FLASHCACHE], answer.tables).flash_cache for cell, answer in others.items()]
    sizes = {cache.size for cache in caches if cache is not None}
    usual = sizes.pop() if len(sizes) == 1 else None
    facts = read_facts(ctx, *planning_facts())
    dropped = (
        intended_on(ctx.journal, rack.name, ctx.request.finishing, "DROP PMEMCACHE") if ctx.request.finishing else ()
    )
    mode = call.text_arg("mode")
    plan = mode_plan(rack.name, facts, mode=mode, statement=call.text, usual=usual, dropped=dropped)
    return Planned(plan, facts)
