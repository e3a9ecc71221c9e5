"""Plan the CellCLI changes that one text makes one after another; each is judged by the state after the earlier ones. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from exacell.cellcli.statement import Change, Grant, Scalar, Statement, parse
from exacell.core.cellset import fold
from exacell.core.errors import RefusedError
from exacell.opaque.findings import FoundStatement
from exacell.plan.facts import CellFacts, FlashCache, PmemCache
from exacell.plan.guards.choice import guard_plan
from exacell.plan.guards.targets import means, targets_of
from exacell.plan.model import Check, Plan
from exacell.plan.planners.griddisk import Headers
from exacell.plan.rolling import takes_offline

_MOVES: Mapping[str, frozenset[str]] = {
    "FLASHCACHE": frozenset({"flashcache", "celldisk", "metriccurrent"}),
    "FLASHLOG": frozenset({"flashlog", "flashlogmetric", "celldisk"}),
    "PMEMCACHE": frozenset({"pmemcache"}),
    "XRMEMCACHE": frozenset({"pmemcache"}),
    "GRIDDISK": frozenset({"griddisk", "celldisk"}),
    "CELLDISK": frozenset({"griddisk", "celldisk", "flashcache", "flashlog"}),
    "CELL": frozenset({"cell", "pmem", "service", "griddisk"}),
}
"""By object, the objects that a statement on it may change; :func:`needs_now` can't check these for later statements."""


def plans_in_order(
    rack: str,
    facts: Mapping[str, CellFacts],
    changes: Sequence[FoundStatement],
    *,
    accepted: Sequence[str],
    headers: Headers,
) -> tuple[Plan, ...]:
    """Return the plan of each change, in order, on the cells that have the objects that it names.

    Raises:
        RefusedError: a guard forbids one of them, or it would take disks of several cells offline together.
    """
    plans: list[Plan] = []
    known = facts
    logged = imported = False
    for found in changes:
        statement = found.statement
        if logged and _named(statement) == ("DROP", "FLASHLOG"):
            raise RefusedError(
                f"{found.text}: after a CREATE FLASHLOG in the same text exacell can't check that its redo is saved; nothing "
                "was sent",
                hint="run the lines up to it first, then DROP FLASHLOG by itself",
            )
        logged = logged or _named(statement) == ("CREATE", "FLASHLOG")
        if imported and statement.verb == "DROP" and statement.object in ("CELLDISK", "GRIDDISK"):
            raise RefusedError(
                f"{found.text}: after an IMPORT CELLDISK in the same text exacell can't know what disks hold; nothing was sent",
                hint="run the lines up to it first, then this one by itself",
            )
        imported = imported or _named(statement) == ("IMPORT", "CELLDISK")
        touched = _touched(known, statement)
        if touched:
            made = guard_plan(rack, touched, statement, text=found.text, accepted=accepted, headers=headers)
            _refuse_together(made)
            plans.append(made)
        known = {cell: replace(_after(fact, statement), read_now=False) for cell, fact in known.items()}
    return tuple(plans)


def _named(statement: Statement) -> tuple[str, str]:
    """Return verb and object of a statement."""
    return statement.verb, statement.object


def _refuse_together(plan: Plan) -> None:
    """Raise RefusedError if a change takes disks of several cells offline at once: a command is never rolled.

    Raises:
        RefusedError: names the cells.
    """
    away = takes_offline(plan)
    if len(away) > 1:
        raise RefusedError(
            f"{plan.statement}: it would take disks of {fold(away)} offline together; each cell is a failure group; nothing "
            "was sent",
            hint=f"type it in exacell, which restarts one cell at a time with a gate before each: `{plan.statement}`",
        )


def left_away(plans: Sequence[Plan]) -> bool:
    """Return whether the changes of one cell take disks that ASM uses offline and do not bring them back.

    After a restart ASM brings them back, but nobody waits for that: they count as away.
    """
    away: set[str] = set()
    for step in (step for plan in plans for step in plan.steps):
        statement = parse(step.statement)
        if not isinstance(statement, Change):
            continue
        if step.offline:
            away.add(statement.object)
        elif statement.action == "STARTUP SERVICES":
            away.discard("CELL")
        elif statement.action == "ACTIVE":
            away.clear()
    return bool(away)


def needs_now(plans: Sequence[Plan]) -> dict[str, tuple[Check, ...]]:
    """Return, by cell, the checks that the plans need now: those on objects that no earlier plan changes."""
    needs: dict[str, tuple[Check, ...]] = {}
    moved: dict[str, frozenset[str]] = {}
    for step in (step for plan in plans for step in plan.steps):
        before = moved.get(step.target, frozenset())
        now = tuple(need for need in step.needs if need.object not in before)
        needs[step.target] = needs.get(step.target, ()) + now
        moved[step.target] = before | _MOVES.get(_named(parse(step.statement))[1], frozenset())
    return needs


def _touched(facts: Mapping[str, CellFacts], statement: Change | Grant) -> Mapping[str, CellFacts]:
    """Return the cells that have an object that the statement names; a script may name an object that it creates itself."""
    if not isinstance(statement, Change) or statement.verb == "CREATE":
        return facts
    if statement.object == "GRIDDISK":
        return {cell: fact for cell, fact in facts.items() if targets_of(fact, statement)}
    return {cell: fact for cell, fact in facts.items() if means(statement, fact)}


def _after(fact: CellFacts, statement: Change | Grant) -> CellFacts:
    """Return the state of a cell after an allowed change; later statements of a script are judged by it.

    A flush proves nothing here, because its end is not known yet. Any other change of a cache ends the proof of an earlier
    flush, since the cache caches again.
    """
    if not isinstance(statement, Change):
        return fact
    caching = statement.action != "FLUSH"
    if statement.object == "FLASHCACHE" and caching:
        return replace(fact, flash_cache=_cache_after(fact.flash_cache, statement))
    if statement.object in ("PMEMCACHE", "XRMEMCACHE") and caching:
        again = PmemCache(name="", size=0, status="normal")
        return replace(fact, pmem_cache=None if statement.verb == "DROP" else again)
    mode = statement.setting("flashCacheMode")
    return replace(fact, mode=mode.text.lower()) if isinstance(mode, Scalar) else fact


def _cache_after(cache: FlashCache | None, statement: Change) -> FlashCache | None:
    if statement.verb == "DROP":
        return None
    return replace(cache or FlashCache(name="", size=0, status="", degraded=(), cell_disks=()), status="normal")
