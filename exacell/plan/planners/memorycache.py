"""Plan a flush of the cache in memory alone: flush it, prove it flushed, let it cache again.

It can be flushed only on persistent memory (X8M, X9M): with ALTER PMEMCACHE before release 23.1, since then with ALTER
XRMEMCACHE, which does the same. Source: Oracle SAGUG, ALTER PMEMCACHE and ALTER XRMEMCACHE ("can only be used
on Exadata X8M and X9M"). It stands apart from pmem.py, which flashcache.py imports, because it needs both.
"""

from __future__ import annotations

from collections.abc import Mapping

from exacell.core.cellset import told_together
from exacell.core.units import human_size
from exacell.plan.facts import CellFacts, PmemCache
from exacell.plan.model import Check, Gate, Op, Plan, Risk, Step, Undo, Watch, staged
from exacell.plan.planners.flashcache import refuse, unwritable
from exacell.plan.planners.pmem import rearm_step, unhealthy
from exacell.plan.watch import METERS

_STOPPED = "the memory cache is off from FLUSH until the last step: reads go to flash and disk meanwhile"
_DOWN = "dirty data of write-back PMEM goes to the flash cache and stays dirty there: `flush flashcache` flushes both"


def memory_flush_plan(rack: str, facts: Mapping[str, CellFacts], *, statement: str, limit: float | None = None) -> Plan:
    """Return the plan that leaves every cell's cache on persistent memory flushed, proven flushed, and caching again.

    Args:
        facts: with CELL, PMEMCACHE, XRMEMCACHE, CELLDISK, GRIDDISK, PMEM_METRICS and XRMEM_METRICS read.
        limit: seconds after which a flush that has not ended is cancelled; None for no limit.

    Raises:
        RefusedError: the cache is degraded on some cell, or its dirty data could not be written.
    """
    caches = {
        cell: (fact, fact.pmem_cache)
        for cell, fact in facts.items()
        if fact.pmem_cache is not None and fact.pmem_cache.status
    }
    cells = {cell: fact for cell, (fact, _) in caches.items()}
    skipped = {cell: _not_applicable(fact) for cell, fact in facts.items() if cell not in caches}
    refuse({cell: reason for cell, fact in cells.items() if (reason := _refusal(fact))}, "flush of PMEM")
    if not cells:
        return Plan(statement=statement, rack=rack, skipped=skipped)
    steps = (_flush(fact, cache, limit) for fact, cache in caches.values())
    again = [rearm_step(fact, fact.memory_cache) for fact in cells.values()]
    after = "switch the memory cache on again after the failure"
    return Plan(
        statement=statement,
        rack=rack,
        stages=(
            *staged("flush the cache in memory and prove it flushed", steps, "flush"),
            *staged("switch the memory cache on again", again, "rearm"),
            *staged(after, again, "mend", gate=Gate.MEND, mends="flush", unless="rearm"),
        ),
        skipped=skipped,
        notes=tuple(told_together((fact.cell, _holds(fact, cache)) for fact, cache in caches.values())),
        warnings=(_STOPPED, *((_DOWN,) if any(fact.pmem_writeback for fact in cells.values()) else ())),
        risk=Risk.PERFORMANCE,
    )


def _not_applicable(fact: CellFacts) -> str:
    """Return why no cache on persistent memory can be flushed on a cell."""
    if fact.pmem_cache is None:
        return "it has no memory cache: X8M and X9M have one in PMEM, later cells in DRAM"
    return "its cache is in DRAM (X10M and later), which has no FLUSH and never holds the only copy of data"


def _refusal(fact: CellFacts) -> str:
    return unhealthy(fact) or (unwritable(fact) if fact.pmem_writeback else "")


def _flush(fact: CellFacts, cache: PmemCache, limit: float | None) -> Step:
    active = cache.caching == "off"
    name = fact.memory_cache
    return Step(
        target=fact.cell,
        statement="" if active else f"ALTER {name.upper()} ALL FLUSH NOWAIT",
        what="flush PMEM" if not active else f"follow the PMEM flush that is under way ({cache.status})",
        needs=(Check(object=name, op=Op.COUNT, value=1),),
        watch=Watch.FLUSH,
        expect=0 if active else 1,
        risk=Risk.PERFORMANCE,
        undo=Undo.NOTHING,
        caching_off=True,
        cache=name,
        limit=limit,
    )


def _holds(fact: CellFacts, cache: PmemCache) -> str:
    used = fact.metric_bytes(METERS[fact.memory_cache].falls)
    holds = f"{human_size(used)} used of {human_size(cache.size)}" if used is not None else human_size(cache.size)
    mode = "write-back, and no metric shows how much of it is dirty" if fact.pmem_writeback else "write-through"
    return f"{holds}; {mode}"
