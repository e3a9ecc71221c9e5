"""Plan the steps that a write-back PMEM cache (X8M, X9M before 23.1) needs when the flash cache changes.

A flush of the flash cache never ends while write-back PMEM has data in front of it, and the flash cache can't leave
write-back before the PMEM cache has. So PMEM is flushed first and caches again last. Source: Oracle DBMMN,
disabling the write-back PMEM cache; Oracle SAGUG, ALTER PMEMCACHE; reference cellcli.md 6.3.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from exacell.plan.facts import FLUSHED, FLUSHING, CellFacts, PmemCache
from exacell.plan.model import Change, Check, Gate, Op, Risk, Stage, Step, Undo, staged

FLUSH_WITHIN = 2 * 3600.0
"""Seconds within which PMEM is flushed: it is small and fast."""

_GONE = "the PMEM cache is empty; reads are slower until it is warm again"
PMEM_FLUSHED = Check(
    object="pmemcache", attribute="status", value=FLUSHED, why="a write-back PMEM cache may hold the only copy of data"
)
_NONE = Check(object="pmemcache", op=Op.ABSENT)
_CACHING = ("normal", "warning", "warning - degraded")
_UNDER_WAY = Check(
    object="pmemcache",
    attribute="status",
    op=Op.IN,
    value=FLUSHING,
    why="its flush is no longer running: the cell has restarted, or somebody has cancelled it",
)


def flush_stages(cells: Sequence[CellFacts], gate: Gate = Gate.EACH) -> list[Stage]:
    """Return the stage that flushes write-back PMEM caches; empty if there are none."""
    steps = (_flush(fact, fact.pmem_cache) for fact in cells if fact.pmem_mode == "writeback" and fact.pmem_cache)
    return staged("flush the PMEM cache first", steps, "pmemflush", gate=gate)


def unhealthy(fact: CellFacts) -> str:
    """Return why the cell's cache on persistent memory can't be proven flushed; empty if it can.

    The proof is ``normal - flushed``, which a degraded cache never shows.
    """
    cache = fact.pmem_cache
    if cache is not None and not cache.status.startswith("normal"):
        return f"its {fact.memory_cache.upper()} is {cache.status}, not normal"
    for disk in fact.cell_disks:
        if disk.pmem and disk.status != "normal":
            return f"PMEM cell disk {disk.name} is {disk.status}, not normal: its dirty data could not be read"
        if disk.pmem and disk.flush_error:
            return f"PMEM cell disk {disk.name} reports flushError {disk.flush_error}"
    return ""


def pmem_off(fact: CellFacts) -> bool:
    """Return whether the cell has a write-back PMEM cache that is flushing or flushed, so that it caches nothing."""
    return fact.pmem_mode == "writeback" and fact.pmem_cache is not None and fact.pmem_cache.caching == "off"


def rearm_stages(cells: Sequence[CellFacts], drop: str = "drop") -> list[Stage]:
    """Return the stages that switch PMEM caching on again: the last one of a plan, and the one after a failure.

    Args:
        drop: the key of the stage that drops the flash cache; if it was not answered, PMEM stays flushed.
    """
    steps = [rearm_step(fact) for fact in cells if fact.pmem_writeback]
    return [*staged("switch PMEM caching on again", steps, "pmemrearm"), *_mending(steps, "pmemrearm", drop)]


def _mending(steps: Sequence[Step], unless: str, unsure: str) -> list[Stage]:
    again = "switch PMEM caching on again after the failure"
    return staged(again, steps, "pmemmend", gate=Gate.MEND, mends="pmemflush", unless=unless, unsure=unsure)


def leave_writeback_stages(cells: Sequence[CellFacts], dropped: Collection[str] = ()) -> list[Stage]:
    """Return the stages that make write-back PMEM caches write-through: flush, drop, mode, create.

    Args:
        dropped: cells on which an earlier attempt has dropped the PMEM cache; it is created if it is still missing.
    """
    caches = [fact for fact in cells if fact.pmem_writeback]
    drops = (_drop(fact, fact.pmem_cache) for fact in caches if fact.pmem_cache)
    modes = (_mode(fact.cell) for fact in cells if fact.pmem_mode == "writeback")
    creates = [_create(fact.cell) for fact in caches]
    missing = [_create(fact.cell) for fact in cells if fact.cell in dropped and fact.pmem_cache is None]
    again = "bring back the PMEM cache"
    return [
        *flush_stages(caches, Gate.ALL),
        *staged("drop the PMEM cache while it is flushed", drops, "pmemdrop", gate=Gate.ALL),
        *staged("PMEM to write-through", modes, "pmemmode"),
        *staged("create the PMEM cache", [*creates, *missing], "pmemcreate"),
        *staged(again, creates, "pmemback", gate=Gate.MEND, mends="pmemdrop", unless="pmemcreate"),
        *_mending([rearm_step(fact) for fact in caches], "pmemdrop", "pmemdrop"),
    ]


def _flush(fact: CellFacts, cache: PmemCache) -> Step:
    active = cache.caching == "off"
    return Step(
        target=fact.cell,
        statement="" if active else "ALTER PMEMCACHE ALL FLUSH NOWAIT",
        what="flush PMEM" if not active else f"follow the PMEM flush that is under way ({cache.status})",
        proves=(Check(object="pmemcache", attribute="status", value=FLUSHED),),
        hopes=(_UNDER_WAY,),
        within=FLUSH_WITHIN,
        expect=0 if active else 1,
        risk=Risk.PERFORMANCE,
        caching_off=True,
        cache="pmemcache",
    )


def rearm_step(fact: CellFacts, cache: str = "pmemcache") -> Step:
    """Return the step that ends a flush of the cell's cache on persistent memory, if one is active."""
    return Step(
        target=fact.cell,
        statement=f"ALTER {cache.upper()} ALL CANCEL FLUSH",
        what="switch PMEM caching on again",
        only_if=(Check(object=cache, attribute="status", op=Op.IN, value=FLUSHING),),
        proves=(Check(object=cache, attribute="status", op=Op.IN, value=_CACHING),),
        expect=1,
        caching_on=True,
        cache=cache,
    )


def _drop(fact: CellFacts, cache: PmemCache) -> Step:
    return Step(
        target=fact.cell,
        statement="DROP PMEMCACHE",
        what="drop the PMEM cache while it is flushed",
        needs=(PMEM_FLUSHED,),
        proves=(_NONE,),
        expect=1,
        risk=Risk.PERFORMANCE,
        undo=Undo.IMPOSSIBLE,
        inverse=_GONE,
        changes=(Change(object="pmemcache", name=cache.name, attribute="status", before=cache.status, after="-"),),
        caching_off=True,
        cache="pmemcache",
    )


def _mode(cell: str) -> Step:
    return Step(
        target=cell,
        statement="ALTER CELL pmemCacheMode=writethrough",
        what="PMEM to write-through",
        needs=(_NONE,),
        proves=(Check(object="pmem", attribute="pmemCacheMode", value="writethrough"),),
        expect=1,
        risk=Risk.PERFORMANCE,
        undo=Undo.IMPOSSIBLE,
        inverse="pmemCacheMode stays write-through, from 23.1 on the only mode; drop pmemcache, alter cell "
        "pmemCacheMode=writeback and create pmemcache all change it",
        changes=(
            Change(object="cell", name=cell, attribute="pmemCacheMode", before="writeback", after="writethrough"),
        ),
    )


def _create(cell: str) -> Step:
    return Step(
        target=cell,
        statement="CREATE PMEMCACHE ALL",
        what="create the PMEM cache",
        only_if=(_NONE,),
        proves=(Check(object="pmemcache", attribute="status", value="normal"),),
        expect=1,
        changes=(Change(object="pmemcache", name=cell, attribute="status", before="-", after="normal"),),
        caching_on=True,
        cache="pmemcache",
    )
