"""show, flush and resize the flash cache."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from exacell.language.registry import Call, Effect, Kind, Param, command
from exacell.output.result import Column, Result

if TYPE_CHECKING:
    from exacell.context import Context
    from exacell.plan.facts import CellFacts

GROUP = "flash cache"


def _planning_facts() -> tuple[str, ...]:
    from exacell.plan import facts as f

    return (f.CELL, f.FLASHCACHE, f.CELLDISK, f.FLASH_PHYSICALDISK, f.GRIDDISK, f.FLASH_METRICS)


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
    from exacell.pending import observe_caching
    from exacell.plan import facts as f

    statements = (f.CELL, f.FLASHCACHE, f.FLASH_METRICS)
    answers = ctx.query(*statements)
    rows = []
    for cell, answer in answers.good.items():
        fact = f.build(cell, statements, answer.tables)
        rows.append(_row(fact))
    observe_caching(ctx.journal, ctx.need_rack().name, {row["cell"]: row["caching"] for row in rows})
    return Result(
        records=rows,
        columns=(
            Column("cell"),
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


@command(
    "flush flashcache",
    group=GROUP,
    effect=Effect.WRITE,
    summary="empty the cache, prove that it is empty, and switch caching on again",
    details="FLUSH is sent NOWAIT and followed until every flash cell disk is complete and FC_BY_DIRTY is 0 in a later "
    "collection; then CANCEL FLUSH, without which caching would stay off. Refused while a flash disk is not normal, the "
    "cache is degraded, or a grid disk with dirty data can't be written. Ctrl-C ends the wait and switches caching on.",
    example="flush flashcache -y",
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
def flush(ctx: Context, call: Call) -> Result:
    """Return one record per cell with its outcome and the proof."""
    from exacell.plan.flashcache import flush_plan

    facts = ctx.facts(*_planning_facts())
    rack = ctx.need_rack().name
    plan = flush_plan(rack, facts, recreate=call.args.get("recreate") == "needed", statement=call.text)
    return ctx.change(plan, call)


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
def resize(ctx: Context, call: Call) -> Result:
    """Return one record per cell with its outcome."""
    from exacell.plan.facts import IORMPLAN
    from exacell.plan.flashcache import resize_plan

    facts = ctx.facts(*_planning_facts(), IORMPLAN)
    size = call.int_arg("size")
    assert size is not None
    return ctx.change(resize_plan(ctx.need_rack().name, facts, size=size, statement=call.text), call)
