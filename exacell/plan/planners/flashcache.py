"""Plan changes of the flash cache: flush it, and re-create it at another size."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from exacell.core.cellset import fold, grouped, label_of, told_together
from exacell.core.errors import RefusedError
from exacell.core.units import exact_size, format_size, human_size, parse_size, size_text, whole_size
from exacell.plan.estimate import flush_notes, flush_seconds, resize_notes, resize_warnings
from exacell.plan.facts import FLUSHED, FLUSHING, CellFacts, FlashCache, rounded_cache
from exacell.plan.model import Change, Check, Gate, Op, Plan, Risk, Stage, Step, Undo, Watch, staged
from exacell.plan.planners.pmem import (
    PMEM_FLUSHED,
    flush_stages,
    pmem_off,
    rearm_stages,
    unhealthy,
)

FLUSH_SINCE = "11.2.3.2"
"""The first release with ALTER FLASHCACHE … FLUSH. Source: reference cellcli.md section 8."""

_GONE = "the cached blocks are gone; reads are slower until the cache is warm again"
NEW = "there was no flash cache before; drop flashcache would remove it"

_COLD = Check(
    object="flashcache",
    attribute="status",
    value=FLUSHED,
    why="only an active FLUSH keeps new dirty data out of a write-back cache",
)
WRITE_THROUGH = Check(
    object="cell", attribute="flashCacheMode", value="writethrough", why="then nothing in it is dirty"
)
"""The check that allows dropping an unflushed cache."""
_FLUSH_ACTIVE = Check(object="flashcache", attribute="status", op=Op.IN, value=FLUSHING)
_NO_CACHE = Check(object="flashcache", op=Op.ABSENT)
_HAS_CACHE = Check(object="flashcache", op=Op.COUNT, value=1)


def applicable(facts: Mapping[str, CellFacts]) -> tuple[dict[str, CellFacts], dict[str, str]]:
    """Return the cells that can have a flash cache, and by cell why the others can't."""
    skipped = {
        cell: "it has no flash cell disks"
        if not fact.flash_disks
        else "an Extreme Flash cell caches nothing but its own"
        for cell, fact in facts.items()
        if not fact.flash_disks or "extreme flash" in fact.model.lower() or not fact.hard_disks
    }
    return {cell: fact for cell, fact in facts.items() if cell not in skipped}, skipped


def flush_refusal(fact: CellFacts) -> str:
    """Return why a flush must not start on this cell; empty if it may. Source: reference cellcli.md 6.1, 6.2."""
    cache = fact.flash_cache
    if cache is None:
        return "it has no flash cache: create one with `resize flashcache size=…`"
    for name, status in fact.flash_physical:
        if status != "normal":
            return f"flash disk {name} is {status}, not normal: its dirty data could not be read"
    for disk in fact.flash_disks:
        if disk.status != "normal":
            return f"flash cell disk {disk.name} is {disk.status}, not normal: its dirty data could not be read"
        if disk.flush_error:
            return f"flash cell disk {disk.name} reports flushError {disk.flush_error}"
    if not cache.healthy:
        degraded = f" ({', '.join(cache.degraded)})" if cache.degraded else ""
        return f"its flash cache is {cache.status}{degraded}, not normal"
    stale = fact.metric_bytes("FC_BY_STALE_DIRTY")
    if stale:
        return f"{human_size(stale)} of dirty data belong to grid disks that cannot be written (FC_BY_STALE_DIRTY)"
    if fact.pmem_writeback and (reason := unhealthy(fact)):
        return reason
    return unwritable(fact)


def _knows_no_flush(fact: CellFacts) -> bool:
    return bool(fact.release) and not fact.at_least(FLUSH_SINCE)


def _refusals(cells: Iterable[CellFacts]) -> dict[str, str]:
    """Return, by cell, why these caches must not be flushed."""
    known = tuple(cells)
    found = {fact.cell: reason for fact in known if (reason := flush_refusal(fact))}
    dirty = [fact for fact in known if fact.cell not in found and fact.writeback and _knows_no_flush(fact)]
    return found | {f.cell: f"release {f.release} has no FLUSH and its cache is write-back" for f in dirty}


def unwritable(fact: CellFacts) -> str:
    """Return which grid disk could not take its dirty data from the cell's caches; empty if all can."""
    for grid in fact.grid_disks:
        if grid.flash or grid.caching_policy == "none":
            continue
        if grid.asm_mode == "OFFLINE" or (grid.status != "active" and grid.asm_mode not in ("UNUSED", "DROPPED")):
            return (
                f"grid disk {grid.name} is {grid.status}, ASM mode {grid.asm_mode}: its dirty data could not be written"
            )
    return ""


def refuse(reasons: Mapping[str, str], what: str, hint: str = "") -> None:
    """Raise RefusedError if there is a reason for any cell; cells with the same reason are folded."""
    if reasons:
        text = "; ".join(told_together(reasons.items()))
        raise RefusedError(f"{what} refused on {text}; nothing was sent", hint=hint)


def _flush_step(fact: CellFacts, cache: FlashCache, limit: float | None) -> Step:
    """Return the step of the flush; a cache that is already flushing or flushed is only watched."""
    active = cache.caching == "off"
    return Step(
        target=fact.cell,
        statement="" if active else "ALTER FLASHCACHE ALL FLUSH NOWAIT",
        what="flush flashcache" if not active else f"follow the flush that is under way ({cache.status})",
        needs=(_HAS_CACHE,),
        watch=Watch.FLUSH,
        expect=0 if active else 1,
        risk=Risk.PERFORMANCE,
        undo=Undo.NOTHING,
        caching_off=True,
        limit=limit,
        estimate=flush_seconds(fact),
    )


def _rearm(fact: CellFacts) -> Step:
    return Step(
        target=fact.cell,
        statement="ALTER FLASHCACHE ALL CANCEL FLUSH",
        what="switch caching on again",
        only_if=(_FLUSH_ACTIVE,),
        proves=(Check(object="flashcache", attribute="status", value="normal"),),
        expect=1,
        risk=Risk.NONE,
        caching_on=True,
    )


def still_write_through(fact: CellFacts) -> tuple[Check, ...]:
    """Return the checks right before the flash cache of a cell that is not write-back is dropped: it can't have dirty data.

    Releases without flashCacheMode know only write-through, as long as the cell runs one of them.
    """
    if fact.mode:
        return (WRITE_THROUGH,)
    why = f"release {fact.release} knows write-through only"
    return (Check(object="cell", attribute="releaseVersion", value=fact.release, why=why),) if fact.release else ()


def drop_step(fact: CellFacts, cache: FlashCache, *, only_if: tuple[Check, ...] = ()) -> Step:
    """Return the step that drops the cache.

    A write-back cache is dropped only while it is proven flushed, another one only while it is not write-back.
    """
    guard: tuple[Check, ...] = (_COLD,) if fact.writeback else still_write_through(fact)
    if fact.pmem_writeback:
        # Data in write-back PMEM still has to pass through this cache.
        guard += (PMEM_FLUSHED,)
    return Step(
        target=fact.cell,
        statement="DROP FLASHCACHE",
        what="drop flashcache" + (" while it is still flushed" if fact.writeback else ""),
        only_if=only_if,
        needs=(_HAS_CACHE, *guard),
        proves=(_NO_CACHE,),
        expect=1,
        risk=Risk.PERFORMANCE,
        undo=Undo.IMPOSSIBLE,
        inverse=_GONE,
        changes=(
            Change(object="flashcache", name=cache.name, attribute="size", before=format_size(cache.size), after="-"),
        ),
        caching_off=True,
    )


def _sizes_made(fact: CellFacts, size: int) -> tuple[int, ...]:
    return tuple(dict.fromkeys((size, rounded_cache(size, len(fact.flash_disks)))))


def create_step(fact: CellFacts, size: int, *, what: str, before: str = "-") -> Step:
    """Return the step that creates the cache at an explicit size, if there is none."""
    return Step(
        target=fact.cell,
        statement=f"CREATE FLASHCACHE ALL size={whole_size(size)}",
        what=what,
        only_if=(_NO_CACHE,),
        proves=(
            # A size that is not a multiple of 16M per disk, such as an X6's default, may come back rounded down.
            Check(object="flashcache", attribute="size", op=Op.IN, value=_sizes_made(fact, size)),
            Check(object="flashcache", attribute="status", value="normal"),
        ),
        expect=1,
        risk=Risk.PERFORMANCE,
        undo=Undo.IMPOSSIBLE if before == "-" else Undo.NOTHING,
        inverse=(_GONE if fact.flash_cache is not None else NEW) if before == "-" else "",
        changes=(
            Change(
                object="flashcache",
                name=f"{label_of(fact.cell)}_FLASHCACHE",
                attribute="size",
                before=before,
                after=format_size(size),
            ),
        ),
        caching_on=True,
    )


def flush_plan(
    rack: str, facts: Mapping[str, CellFacts], *, recreate: bool, statement: str, limit: float | None = None
) -> Plan:
    """Return the plan that leaves every cell's cache empty, proven empty, and caching again.

    Args:
        limit: seconds after which a flush that has not ended is cancelled; None for no limit.
        facts: with CELL, FLASHCACHE, CELLDISK, FLASH_PHYSICALDISK, GRIDDISK and FLASH_METRICS read.
        recreate: drop and re-create the cache at the same explicit size if the flush left data in it.

    Raises:
        RefusedError: on some cell a flush must not start, or the release can't flush a write-back cache.
    """
    cells, skipped = applicable(facts)
    refuse(_refusals(cells.values()), "flush flashcache")
    old = [fact for fact in cells.values() if _knows_no_flush(fact)]
    can = [fact for fact in cells.values() if fact not in old]
    sizes = {cell: fact.cache_size for cell, fact in cells.items()}
    stages = [
        *flush_stages(can),
        *flush_stage(can, limit=limit),
        *(_recreate_stages(can, sizes, Gate.EACH, only_if=(_USED,), key="left", where=_LEFT) if recreate else ()),
        *staged("switch caching on again", map(_rearm, can), "rearm"),
        *mending(can, "rearm", "dropleft"),
        *rearm_stages(can, "dropleft"),
        *_recreate_stages(old, sizes, Gate.EACH, key="old"),
    ]
    return Plan(
        statement=statement,
        rack=rack,
        stages=tuple(stages),
        skipped=skipped,
        notes=flush_notes(cells),
        warnings=("caching is off on each cell from FLUSH until the last step; FC_* counters restart there",)
        if stages
        else (),
        risk=Risk.PERFORMANCE if stages else Risk.NONE,
    )


_USED = Check(object="metriccurrent", attribute="metricValue", op=Op.ABOVE, value=0, where={"name": "FC_BY_USED"})
_LEFT = ", where the flush left something in it"


def flush_stage(cells: Sequence[CellFacts], gate: Gate = Gate.EACH, *, limit: float | None = None) -> list[Stage]:
    """Return the stage that flushes these caches and proves each empty."""
    steps = (_flush_step(fact, fact.flash_cache, limit) for fact in cells if fact.flash_cache is not None)
    return staged("flush flashcache", steps, "flush", gate=gate)


def _recreate_stages(
    cells: Sequence[CellFacts],
    sizes: Mapping[str, int],
    gate: Gate,
    *,
    only_if: tuple[Check, ...] = (),
    key: str = "",
    where: str = "",
) -> list[Stage]:
    """Return the stages that drop and create; ``where`` completes their titles if ``only_if`` may skip them."""
    drops = (drop_step(fact, fact.flash_cache, only_if=only_if) for fact in cells if fact.flash_cache)
    creates = (create_step(fact, sizes[fact.cell], what="create flashcache") for fact in cells)
    return [
        *staged(f"drop flashcache{where}", drops, f"drop{key}", gate=gate),
        *staged(f"create flashcache{where}", creates, f"create{key}"),
        *back_stage(cells, key),
    ]


def back_stage(cells: Sequence[CellFacts], key: str = "") -> list[Stage]:
    """Return the mending stage that creates dropped caches at their old sizes."""
    back = (
        create_step(fact, fact.flash_cache.size, what="create flashcache at its old size", before="gone")
        for fact in cells
        if fact.flash_cache
    )
    mends, unless = f"drop{key}", f"create{key}"
    return staged("bring back the old flash cache", back, f"back{key}", gate=Gate.MEND, mends=mends, unless=unless)


def mending(cells: Sequence[CellFacts], unless: str, drop: str = "drop") -> list[Stage]:
    """Return the mending stage that switches caching on again if a flush was begun and ``unless`` not reached.

    If the stage ``drop`` was not answered, the flush stays active: a DROP that still happens later then drops a clean cache.
    """
    title = "switch caching on again after the failure"
    return staged(title, map(_rearm, cells), "mend", gate=Gate.MEND, mends="flush", unless=unless, unsure=drop)


def resize_plan(rack: str, facts: Mapping[str, CellFacts], *, size: int, statement: str) -> Plan:
    """Return the plan that re-creates the flash cache at ``size`` bytes on every cell.

    Args:
        facts: with CELL, FLASHCACHE, CELLDISK, FLASH_PHYSICALDISK, GRIDDISK, IORMPLAN and FLASH_METRICS read.
        size: bytes per cell, over all its flash disks; rounded down to equal shares of 16M units.

    Raises:
        RefusedError: the size is larger than the free space of a cell, or smaller than its IORM plan promises; or a flush must
            not start.
    """
    cells, skipped = applicable(facts)
    sizes = {cell: rounded_cache(size, len(fact.flash_disks)) for cell, fact in cells.items()}
    _refuse_room(cells, sizes, size)
    _refuse_size(cells, sizes, size)
    done = {
        cell: f"its flash cache is {size_text(sizes[cell])} already"
        for cell, fact in cells.items()
        if fact.flash_cache and fact.flash_cache.size == sizes[cell] and fact.flash_cache.caching == "on"
    }
    todo = [fact for cell, fact in cells.items() if cell not in done]
    # An earlier attempt that died before its last step left PMEM flushed.
    idle = [cells[cell] for cell in done if pmem_off(cells[cell])]
    done = {cell: why for cell, why in done.items() if cells[cell] not in idle}
    stages = recreate_stages(todo, sizes, idle=[*idle, *(fact for fact in todo if pmem_off(fact))])
    return Plan(
        statement=statement,
        rack=rack,
        stages=tuple(stages),
        skipped=skipped,
        done=done,
        inverse={
            fact.cell: (f"resize flashcache size={whole_size(fact.flash_cache.size)}",)
            for fact in todo
            if fact.flash_cache
        },
        notes=resize_notes(todo, sizes, size),
        warnings=resize_warnings(todo),
        risk=Risk.PERFORMANCE if stages else Risk.NONE,
    )


def recreate_stages(
    todo: Sequence[CellFacts], sizes: Mapping[str, int], *, idle: Sequence[CellFacts] = ()
) -> list[Stage]:
    """Return the stages that re-create the caches of ``todo`` at ``sizes``; write-back caches are flushed and proven empty first.

    Args:
        idle: cells whose PMEM cache was left flushed; it is switched on last, also on cells outside ``todo``.

    Raises:
        RefusedError: a write-back cache must not be flushed, or the release can't flush it.
    """
    flushing = [fact for fact in todo if fact.flash_cache is not None and fact.writeback]
    refuse(_refusals(flushing), "re-creating the flash cache")
    return [
        # A drop begins only if all cells get this far; so no flush is done in vain.
        *flush_stages(flushing, Gate.ALL),
        *flush_stage(flushing, Gate.ALL),
        *_recreate_stages(todo, sizes, Gate.ALL),
        *mending(flushing, "drop"),
        *rearm_stages([*flushing, *(fact for fact in idle if fact not in flushing)]),
    ]


def _refuse_room(cells: Mapping[str, CellFacts], sizes: Mapping[str, int], size: int) -> None:
    # The real size counts: an X6's default cache is not a multiple of 16M per disk, and undo must restore it.
    short = grouped((room, cell) for cell, fact in cells.items() if sizes[cell] > (room := fact.cache_room()))
    if short:
        text = "; ".join(f"at most {size_text(r)} ({r} bytes) on {fold(c)}" for r, c in short.items())
        raise RefusedError(
            f"resize flashcache: {size_text(size)} does not fit, {text}; nothing was sent",
            hint="grid disks on flash and the flash log use the rest; `show griddisk` lists them, `release griddisk` frees them",
        )


def _refuse_size(cells: Mapping[str, CellFacts], sizes: Mapping[str, int], asked: int) -> None:
    for cell, fact in cells.items():
        if sizes[cell] == 0:
            least = len(fact.flash_disks) * 16
            raise RefusedError(
                f"resize flashcache: {exact_size(asked)}{' bytes' if asked < 1024 else ''} is less than 16M on each of "
                f"{len(fact.flash_disks)} flash disks of {cell}; at least {least}M",
                hint=f"a number without a unit is bytes: did you mean size={asked}G?" if asked < 1 << 20 else "",
            )
        promised = _promised(fact)
        if sizes[cell] < promised:
            raise RefusedError(
                f"resize flashcache: {exact_size(sizes[cell])} is less than the {exact_size(promised)} that the IORM plan "
                f"of {cell} promises as flashCacheMin",
                hint="lower flashcachemin first; `list iormplan attributes dbPlan` shows it",
            )


def _promised(fact: CellFacts) -> int:
    """Return the bytes that the cell's IORM plan promises to databases as flashCacheMin."""
    directives = fact.iorm.directives if fact.iorm else ()
    return sum(parse_size(value) for d in directives if (value := d.get("flashcachemin")))
