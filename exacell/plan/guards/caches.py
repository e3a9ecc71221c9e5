"""Guard CellCLI's statements on caches and logs: nothing is dropped that may hold the only copy of data. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from functools import partial

from exacell.cellcli.statement import Change as CellChange, Scalar
from exacell.core.cellset import fold, label_of
from exacell.core.errors import ExacellError, RefusedError
from exacell.core.units import format_size, parse_size, whole_size
from exacell.plan.facts import FLUSHED, FLUSHING, PMEM_UNTIL, CellFacts, rounded_cache
from exacell.plan.guards.create import having_disks, refuse_cache_room, refuse_log_room
from exacell.plan.guards.steps import (
    ByCell,
    guarded_plan,
    guarded_step,
    lossy,
)
from exacell.plan.implausible import hidden_cache
from exacell.plan.model import Change, Check, Op, Plan, Risk, Step, Undo
from exacell.plan.planners.flashcache import flush_refusal, still_write_through
from exacell.plan.planners.pmem import FLUSH_WITHIN, PMEM_FLUSHED

_EXISTS = Check(object="flashcache", op=Op.COUNT, value=1)
_GONE = Check(object="flashcache", op=Op.ABSENT)
_PROOF = Check(object="flashcache", attribute="status", value=FLUSHED, why="it is the proof that nothing is dirty")


def flashcache(rack: str, facts: Mapping[str, CellFacts], statement: CellChange, text: str) -> Plan:
    """Return the plan for a statement on the flash cache."""
    if statement.verb == "CREATE":
        facts = having_disks(facts, statement, text)
        refuse_cache_room(facts, statement, text)
        steps = [
            guarded_step(
                c,
                statement,
                Risk.PERFORMANCE,
                caching_on=True,
                expect=1,
                proves=_made(fact, statement),
                changes=_resized(fact, statement),
                undo=Undo.STATEMENT,
                inverse="DROP FLASHCACHE",
            )
            for c, fact in facts.items()
        ]
        # If the cache has become write-back, its guard demands a flush first.
        return guarded_plan(rack, text, steps, inverse=dict.fromkeys(facts, ("drop flashcache",)))
    # With a size or members it is a resize, even with further settings.
    alone = not statement.has("FORCE") and statement.setting("size") is None
    if statement.action == "CANCEL FLUSH" and alone:
        normal = (Check(object="flashcache", attribute="status", value="normal"),)
        return guarded_plan(rack, text, [_cancel(cell, statement, proves=normal) for cell in facts])
    if statement.action == "FLUSH" and alone:
        return _flush(rack, facts, statement, text)
    if any(fact.flash_cache is None for fact in facts.values()) and statement.verb == "ALTER":
        cells = [cell for cell, fact in facts.items() if fact.flash_cache is None]
        raise RefusedError(
            f"{text}: {fold(cells)} has no flash cache; nothing was sent",
            hint="`create flashcache all` creates one; `use` leaves these cells out",
        )
    force = statement.has("FORCE")
    reasons = {cell: reason for cell, fact in facts.items() if (reason := unproven_cache(fact, force=force))}
    dropping = statement.verb == "DROP"
    plan = lossy(
        rack,
        facts,
        statement,
        text,
        reasons,
        ByCell(
            needs={cell: _proof(fact) for cell, fact in facts.items()},
            changes={cell: _resized(fact, statement) for cell, fact in facts.items()},
            proves={cell: (_GONE,) if dropping else _made(fact, statement) for cell, fact in facts.items()},
        ),
        caching_off=dropping,
        caching_on=not dropping,
        expect=1,
        inverse="the cached blocks are gone",
    )
    # Nothing shows how to restore removed or added members with their old share.
    whole = dropping or (statement.all and statement.setting("size") is not None)
    sizes = {cell: fact.cache_size for cell, fact in facts.items() if whole and fact.cache_size}
    return replace(
        plan, inverse={cell: (f"resize flashcache size={whole_size(size)}",) for cell, size in sizes.items()}
    )


def _proof(fact: CellFacts) -> tuple[Check, ...]:
    """Return the checks right before the statement: there is no cache, or its mode or status proves that it has no dirty data."""
    if fact.flash_cache is None:
        return (_GONE,)
    if not fact.writeback:
        return still_write_through(fact)
    return (_PROOF, PMEM_FLUSHED) if fact.pmem_writeback else (_PROOF,)


_SIZE = re.compile(r"\d+[KMGT]?", re.IGNORECASE)


def _resized(fact: CellFacts, statement: CellChange) -> tuple[Change, ...]:
    """Return the cache's size before and after, if the statement gives it."""
    cache, said = fact.flash_cache, statement.setting("size")
    after = "-"
    if statement.verb != "DROP":
        if not statement.all or not isinstance(said, Scalar):
            return ()
        after = format_size(parse_size(said.text)) if _SIZE.fullmatch(said.text) else said.text
    before = format_size(cache.size) if cache is not None else "-"
    if before == after:
        return ()
    name = cache.name if cache is not None else f"{label_of(fact.cell)}_FLASHCACHE"
    return (Change(object="flashcache", name=name, attribute="size", before=before, after=after),)


def _made(fact: CellFacts, statement: CellChange) -> tuple[Check, ...]:
    """Return the checks that prove a created cache: it exists, and has the given size if there is one."""
    said = statement.setting("size")
    if said is None or not statement.all or not fact.flash_disks:
        return (_EXISTS,)
    try:
        size = parse_size(said.text if isinstance(said, Scalar) else "")
    except ExacellError:
        return (_EXISTS,)
    sizes = tuple(dict.fromkeys((size, rounded_cache(size, len(fact.flash_disks)))))
    return (_EXISTS, Check(object="flashcache", attribute="size", op=Op.IN, value=sizes))


def _cancel(cell: str, statement: CellChange, **more: object) -> Step:
    """Return the step of a CANCEL FLUSH on one cell; ``more`` are Step's own keywords."""
    how: dict[str, object] = {"caching_on": True, "expect": 1, "undo": Undo.NOTHING, "inverse": "", **more}
    return guarded_step(cell, statement, Risk.NONE, **how)


def _flush(rack: str, facts: Mapping[str, CellFacts], statement: CellChange, text: str) -> Plan:
    """Return the plan of a plain FLUSH.

    On cells where exacell's own ``flush flashcache`` would refuse to start, the user must type the cell's name.
    """
    reasons = {cell: reason for cell, fact in facts.items() if (reason := flush_refusal(fact))}
    pmem = [cell for cell, fact in facts.items() if fact.pmem_writeback]
    warnings = ["caching stays off until ALTER FLASHCACHE ALL CANCEL FLUSH; flush flashcache does that by itself"]
    if pmem:
        warnings.append(f"{fold(pmem)}: it can't end before ALTER PMEMCACHE ALL FLUSH; `flush flashcache` does both")
    flushing = (Check(object="flashcache", attribute="status", op=Op.IN, value=FLUSHING),) if statement.all else ()
    plan = lossy(
        rack,
        facts,
        statement,
        text,
        reasons,
        ByCell(proves=dict.fromkeys(facts, flushing)),
        caching_off=True,
        expect=1,
        undo=Undo.STATEMENT,
        inverse="ALTER FLASHCACHE ALL CANCEL FLUSH",
    )
    back = dict.fromkeys(facts, ("alter flashcache all cancel flush",))
    return replace(plan, warnings=tuple(warnings), inverse=back)


def unproven_cache(fact: CellFacts, *, force: bool = False) -> str:
    """Return why the cell's cache may hold the only copy of data; empty if it is proven not to.

    The proof is write-through mode, or status ``normal - flushed``, and the same for write-back PMEM in front of it. ``normal``
    with FC_BY_DIRTY = 0 proves nothing, because caching continues. Source: reference cellcli.md 6.3.
    """
    if fact.flash_cache is None:
        return hidden_cache(fact)
    if fact.writeback and force:
        return "FORCE throws away dirty data that can't be flushed"
    if not fact.writeback:
        return ""
    if fact.flash_cache.status != FLUSHED:
        return (
            f"its write-back flash cache is {fact.flash_cache.status}, not {FLUSHED}: it may hold the only copy of "
            f"data (`resize flashcache` and `flush flashcache` flush it first)"
        )
    return _unproven_pmem(fact)


def _unproven_pmem(fact: CellFacts) -> str:
    cache = fact.pmem_cache
    if fact.pmem_writeback and cache is not None and cache.status != FLUSHED:
        return f"its write-back PMEM cache is {cache.status}, not {FLUSHED}: it may hold the only copy of data"
    return ""


def _pmem_proof(fact: CellFacts) -> tuple[Check, ...]:
    """Return the checks right before a statement that removes the PMEM cache; as :func:`_proof`."""
    if fact.at_least(PMEM_UNTIL):
        return ()  # The old name of a cache that is always write-through.
    if fact.pmem_cache is None:
        return (Check(object="pmemcache", op=Op.ABSENT),)
    if fact.pmem_writeback:
        return (PMEM_FLUSHED,)
    through = Check(object="pmem", attribute="pmemCacheMode", value="writethrough", why="then nothing in it is dirty")
    return (through,) if fact.pmem_mode else ()


def pmemcache(rack: str, facts: Mapping[str, CellFacts], statement: CellChange, text: str) -> Plan:
    """Return the plan for a statement on the PMEM cache (XRMEM from 23.1, which is never write-back)."""
    cache = statement.object.lower()
    guarded = partial(lossy, rack, facts, statement, text)
    alone = not statement.has("FORCE") and statement.setting("size") is None
    if statement.action == "FLUSH" and alone:
        # XRMEMCACHE's status during a flush on PMEM is not documented: there only the reply counts.
        waits = "NOWAIT" not in statement.flags and cache == "pmemcache"
        back = f"alter {cache} all cancel flush"
        plan = guarded(
            {},
            ByCell(proves=dict.fromkeys(facts, (PMEM_FLUSHED,) if waits else ())),
            within=FLUSH_WITHIN,
            expect=1,
            caching_off=True,
            cache=cache,
            undo=Undo.STATEMENT,
            inverse=back.upper(),
        )
        off = f"{cache} does not cache again until {back.upper()}"
        return replace(plan, warnings=(off,), inverse=dict.fromkeys(facts, (back,)))
    if statement.action == "CANCEL FLUSH" and alone:
        return guarded_plan(rack, text, [_cancel(cell, statement, cache=cache) for cell in facts])
    if statement.verb == "CREATE":
        made = (Check(object=cache, op=Op.COUNT, value=1),)
        return guarded({}, ByCell(proves=dict.fromkeys(facts, made)), expect=1, caching_on=True, cache=cache)
    force = statement.has("FORCE")
    reasons = {
        cell: "FORCE throws away dirty data that can't be flushed" if force else _unproven_pmem(fact)
        for cell, fact in facts.items()
        if fact.pmem_writeback and (force or _unproven_pmem(fact))
    }
    needs = {cell: _pmem_proof(fact) for cell, fact in facts.items() if cache == "pmemcache" or fact.pmem_writeback}
    gone = (Check(object=cache, op=Op.ABSENT),) if statement.verb == "DROP" else ()
    return guarded(
        reasons,
        ByCell(needs=needs, proves=dict.fromkeys(facts, gone)),
        expect=1,
        inverse="the cached blocks are gone",
        # A cache in DRAM comes back by itself.
        caching_off=statement.verb == "DROP" and cache == "pmemcache",
        cache=cache,
    )


def flashlog(rack: str, facts: Mapping[str, CellFacts], statement: CellChange, text: str) -> Plan:
    """Return the plan for a statement on the flash log; it waits for unsaved redo."""
    if statement.verb != "DROP":
        facts = having_disks(facts, statement, text)
        refuse_log_room(facts, statement, text)
        exists = (Check(object="flashlog", op=Op.COUNT, value=1),)
        how: dict[str, object] = {"proves": exists, "undo": Undo.STATEMENT, "inverse": "DROP FLASHLOG"}
        steps = [guarded_step(cell, statement, Risk.PERFORMANCE, **how) for cell in facts]
        return guarded_plan(rack, text, steps, inverse=dict.fromkeys(facts, ("drop flashlog",)))
    if statement.has("FORCE"):
        reason = "FORCE throws away redo that is saved on flash only"
        none = dict.fromkeys(facts, (Check(object="flashlog", op=Op.ABSENT),))
        return lossy(rack, facts, statement, text, dict.fromkeys(facts, reason), ByCell(proves=none), expect=1)
    saved = (
        Check(
            object="flashlogmetric",
            attribute="metricValue",
            value=0,
            where={"name": "FL_BY_KEEP"},
            why="redo is saved on flash only; wait until the disks have it",
        ),
    )
    gone = (Check(object="flashlog", op=Op.ABSENT),)
    back = {
        cell: f"CREATE FLASHLOG ALL size={whole_size(fact.flash_log)}" for cell, fact in facts.items() if fact.flash_log
    }
    steps = [
        guarded_step(
            cell,
            statement,
            Risk.PERFORMANCE,
            needs=saved,
            proves=gone,
            expect=1,
            changes=_log_gone(fact),
            **({"undo": Undo.STATEMENT, "inverse": back[cell]} if cell in back else {}),
        )
        for cell, fact in facts.items()
    ]
    return guarded_plan(rack, text, steps, inverse={cell: (again,) for cell, again in back.items()})


def _log_gone(fact: CellFacts) -> tuple[Change, ...]:
    before = format_size(fact.flash_log) if fact.flash_log else "-"
    return (
        Change(object="flashlog", name=f"{label_of(fact.cell)}_FLASHLOG", attribute="size", before=before, after="-"),
    )
