"""Plan changes of the flash cache's mode, by the procedure of each cell's release.

From 11.2.3.3.1 on services stay up: flush and prove (write-back), drop while flushed, alter, create. On older releases each
cell also leaves ASM for the change: disks INACTIVE, CELLSRV stopped, altered, started, disks ONLINE. Source: Oracle DBMMN,
enabling and disabling write-back flash cache; reference cellcli.md 6.1.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from exacell.core.cellset import told_together
from exacell.core.units import size_text
from exacell.plan.estimate import flush_note
from exacell.plan.facts import CellFacts
from exacell.plan.gate import in_use
from exacell.plan.implausible import hidden_cache
from exacell.plan.model import Change, Check, Gate, Op, Plan, Risk, Stage, Step, Undo, staged
from exacell.plan.planners.availability import (
    active_stages,
    cellsrv,
    deactivate,
    refuse_unspared,
    services_check,
)
from exacell.plan.planners.flashcache import (
    FLUSH_SINCE,
    applicable,
    back_stage,
    create_step,
    drop_step,
    flush_refusal,
    flush_stage,
    mending,
    refuse,
)
from exacell.plan.planners.pmem import leave_writeback_stages

MODES = ("writeback", "writethrough")

ONLINE_SINCE = "11.2.3.3.1"
"""The first release on which the mode changes while CELLSRV runs. Source: reference cellcli.md section 8."""

WRITE_BACK_SINCE = FLUSH_SINCE


def mode_plan(
    rack: str,
    facts: Mapping[str, CellFacts],
    *,
    mode: str,
    statement: str,
    usual: int | None = None,
    dropped: Collection[str] = (),
) -> Plan:
    """Return the plan that changes ``flashCacheMode`` on every cell that has another mode.

    A cell without a flash cache gets one: an earlier attempt died after it had dropped the cache.

    Args:
        facts: with CELL, FLASHCACHE, CELLDISK, FLASH_PHYSICALDISK, GRIDDISK, FLASH_METRICS and PMEMCACHE read.
        mode: one of MODES.
        usual: size in bytes of the rack's other flash caches; None if they differ or there are none.
        dropped: cells whose PMEM cache was dropped by the change that this one continues.

    Raises:
        RefusedError: a cache must not be flushed or dropped now, the release has no such mode, or ASM can't spare a disk.
    """
    cells, skipped = applicable(facts)
    done = {
        cell: f"its flash cache is {mode} already" for cell, fact in cells.items() if (fact.mode or MODES[1]) == mode
    }
    left = [fact for cell, fact in cells.items() if cell in done and _left_behind(fact, dropped)]
    done = {cell: why for cell, why in done.items() if cells[cell] not in left}
    todo = [fact for cell, fact in cells.items() if cell not in done and fact not in left]
    _refuse(todo, left)
    sizes = {fact.cell: _size(fact, usual) for fact in (*todo, *left)}
    stages = _stages(todo, left, mode, sizes, dropped)
    other = MODES[1 - MODES.index(mode)]
    return Plan(
        statement=statement,
        rack=rack,
        stages=tuple(stages),
        skipped=skipped,
        done=done,
        inverse={fact.cell: (f"set flashcache mode={other}",) for fact in todo},
        notes=(
            *told_together((fact.cell, f"{_made(fact, sizes[fact.cell], usual)}; {_way(fact)}") for fact in todo),
            *filter(None, [flush_note([fact for fact in todo if fact.flash_cache is not None and fact.writeback])]),
            *(_left_note(fact, sizes) for fact in left),
        ),
        warnings=_warnings(todo, mode),
        risk=Risk.PERFORMANCE if stages else Risk.NONE,
    )


def _refuse(todo: Sequence[CellFacts], left: Sequence[CellFacts]) -> None:
    reasons: dict[str, str] = {}
    for fact in todo:
        if fact.release and not fact.at_least(WRITE_BACK_SINCE):
            reasons[fact.cell] = (
                f"release {fact.release} has no write-back flash cache; {WRITE_BACK_SINCE} is the first with it"
            )
        elif reason := hidden_cache(fact) if fact.flash_cache is None else flush_refusal(fact):
            reasons[fact.cell] = reason
    refuse(reasons, "set flashcache")
    old = {fact.cell: fact for fact in todo if _old(fact)}
    refuse_unspared("set flashcache", old, first={fact.cell: fact for fact in left})


def _left_behind(fact: CellFacts, dropped: Collection[str]) -> bool:
    """Return whether an earlier attempt died and left the cell without a cache, or with disks that ASM misses."""
    bare = fact.pmem_cache is None and fact.cell in dropped
    return (fact.flash_cache is None and fact.cache_room() > 0) or bare or _missed(fact)


def _missed(fact: CellFacts) -> bool:
    return any(grid.status == "inactive" and in_use(grid) for grid in fact.grid_disks)


def _size(fact: CellFacts, usual: int | None) -> int:
    """Return the later size of the cache: its present size; else that of the other caches, if it fits; else all free space."""
    if fact.flash_cache is not None:
        return fact.flash_cache.size
    room = fact.cache_room()
    return room if usual is None else min(usual, room)


def _old(fact: CellFacts) -> bool:
    return bool(fact.release) and not fact.at_least(ONLINE_SINCE)


def _way(fact: CellFacts) -> str:
    release = f"release {fact.release}" if fact.release else f"release unknown, treated as {ONLINE_SINCE} or later"
    how = "its disks go offline and CELLSRV is stopped for the change" if _old(fact) else "CELLSRV is not restarted"
    return f"{release}: {how}"


def _made(fact: CellFacts, size: int, usual: int | None) -> str:
    """Return a phrase with the new size of the cache, and the reason for it."""
    if fact.flash_cache is not None:
        return f"the flash cache is re-created at {size_text(size)}"
    if not size:
        return "it has no flash cache and no free space for one"
    if usual is None:
        return f"it has no flash cache: one is created at {size_text(size)}, all the free space"
    if size < usual:
        room = f"all the free space; the other cells' {size_text(usual)} do not fit"
        return f"it has no flash cache: one is created at {size_text(size)}, {room}"
    return f"it has no flash cache: one is created at {size_text(size)} as on the other cells"


def _left_note(fact: CellFacts, sizes: Mapping[str, int]) -> str:
    missing = [f"a flash cache of {size_text(sizes[fact.cell])}"] if fact.flash_cache is None else []
    missing += ["the grid disks that are missing in ASM"] if _missed(fact) else []
    missing += ["the PMEM cache"] if not missing else []
    return f"{fact.cell}: already in this mode; missing parts are restored: {', '.join(missing)}"


def _warnings(todo: Sequence[CellFacts], mode: str) -> tuple[str, ...]:
    if not todo:
        return ()
    warnings = ["the cache starts empty: databases on these cells read from disk until it is warm"]
    if mode == "writethrough" and any(fact.pmem_mode == "writeback" for fact in todo):
        warnings.append(
            "PMEM is switched to write-through first, because write-back PMEM needs a write-back flash cache"
        )
    return tuple(warnings)


def _stages(
    todo: Sequence[CellFacts],
    left: Sequence[CellFacts],
    mode: str,
    sizes: Mapping[str, int],
    dropped: Collection[str],
) -> list[Stage]:
    before: list[Stage] = []
    if mode == "writethrough":
        before = leave_writeback_stages([*todo, *left], dropped)
        # When the flash cache is dropped, the PMEM cache is already write-through.
        todo = [replace(fact, pmem_mode="writethrough") for fact in todo]
    flushing = [fact for fact in todo if fact.flash_cache is not None and fact.writeback]
    caches = [(fact, fact.flash_cache) for fact in todo if fact.flash_cache is not None]
    cached = [fact for fact, _ in caches]
    old = [fact for fact in todo if _old(fact)]
    back = active_stages([*old, *(fact for fact in left if _missed(fact))])
    made = [fact for fact in (*todo, *left) if sizes[fact.cell] and (fact.flash_cache is None or fact in cached)]
    what = "create flashcache at its size"
    startups = [cellsrv(fact, "STARTUP") for fact in old]
    again = "start CELLSRV after the failure"
    return [
        *before,
        *flush_stage(flushing, Gate.ALL),
        *staged("drop flashcache", (drop_step(*each) for each in caches), "drop", gate=Gate.ALL),
        *staged("take the grid disks offline", map(deactivate, old), "inactive"),
        *staged("stop CELLSRV", (cellsrv(fact, "SHUTDOWN") for fact in old), "shutdown"),
        *staged("change flashCacheMode", (_mode(fact, mode) for fact in todo), "mode"),
        *staged("start CELLSRV", startups, "startup"),
        *back[:1],
        *staged("create flashcache", (create_step(fact, sizes[fact.cell], what=what) for fact in made), "create"),
        *staged(again, startups, "startup-again", gate=Gate.MEND, mends="shutdown", unless="startup"),
        *(back[1:] if old else ()),
        *back_stage(cached),
        *mending(flushing, "drop"),
    ]


def _mode(fact: CellFacts, mode: str) -> Step:
    gone = Check(object="flashcache", op=Op.ABSENT, why="the mode changes while there is no flash cache")
    # LIST FLASHCACHE needs CELLSRV, which the old procedure has stopped before.
    needs = services_check("cellsrv", "stopped") if _old(fact) else (gone,)
    before = fact.mode or "writethrough"
    return Step(
        target=fact.cell,
        statement=f"ALTER CELL flashCacheMode={mode}",
        what="change flashCacheMode",
        needs=needs,
        proves=(Check(object="cell", attribute="flashCacheMode", value=mode),),
        expect=1,
        risk=Risk.PERFORMANCE,
        undo=Undo.STATEMENT,
        inverse=f"ALTER CELL flashCacheMode={before}",
        changes=(Change(object="cell", name=fact.cell, attribute="flashCacheMode", before=before, after=mode),),
    )
