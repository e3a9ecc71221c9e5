"""Show, flush and resize the flash cache."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from exacell.change.earlier import intended_on
from exacell.change.leftbehind import unnoted
from exacell.core.cellset import fold
from exacell.journal.left import CACHES, FLASHCACHE, caching_on, note_back
from exacell.language.registry import Call
from exacell.output.result import Column, Result
from exacell.plan import facts as f
from exacell.plan.estimate import CONTENT, cost_notes
from exacell.plan.facts import IORMPLAN, CellFacts
from exacell.plan.model import Plan, Planned
from exacell.plan.planners.cachemode import mode_plan
from exacell.plan.planners.flashcache import flush_plan, resize_plan
from exacell.session.answers import Answers
from exacell.session.factreading import read_facts
from exacell.session.given import Request, Services, Session


def planning_facts() -> tuple[str, ...]:
    """Return the LIST statements for a plan that flushes or re-creates the cache."""
    return (f.CELL, f.FLASHCACHE, f.PMEMCACHE, f.CELLDISK, f.FLASH_PHYSICALDISK, f.GRIDDISK, f.FLASH_METRICS)


def show(session: Session, services: Services, request: Request, call: Call) -> Result:
    """Return one record per cell; a cell without a flash cache has nulls."""
    statements = (f.CELL, f.FLASHCACHE, f.FLASH_METRICS)
    answers = services.query(*statements, timeout=request.read_timeout)
    rows = []
    for cell, answer in answers.good.items():
        fact = f.build(cell, statements, answer.tables)
        rows.append(_row(fact))
    on = caching_on(FLASHCACHE, {each["cell"]: each["caching"] for each in rows})
    problem = note_back(services.journal, session.need_rack().name, CACHES, on)
    return cache_table(rows, answers, unnoted(session, services, problem))


def cache_table(
    rows: Sequence[Mapping[str, Any]], answers: Answers, notes: Sequence[str], *, before: Sequence[Column] = ()
) -> Result:
    """Return the table of one cache per cell: cell, the columns of ``before``, mode, bytes, status and caching.

    Args:
        rows: one record per cell that answered, with those keys; sizes in bytes.
        answers: the cells' answers, for the problems of cells without one.
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


def flush_limit(call: Call) -> float | None:
    """Return the seconds after which a flush is cancelled; None without ``--limit``."""
    value = call.flags.get("limit")
    return float(value) if isinstance(value, (int, float)) else None


def flush(session: Session, services: Services, request: Request, call: Call) -> Planned:
    """Return the plan; its result is one record per cell with its outcome and the proof."""
    facts = read_facts(session, services, request, *planning_facts())
    rack = session.need_rack().name
    recreate = call.args.get("recreate") == "needed"
    plan = flush_plan(rack, facts, recreate=recreate, statement=call.text, limit=flush_limit(call))
    return Planned(_with_cost(session, services, plan), facts)


def _with_cost(session: Session, services: Services, plan: Plan) -> Plan:
    """Return the plan with the cost of its flush for databases; if the cost can't be read, the plan says so and remains valid."""
    cells = list(dict.fromkeys(step.target for stage in plan.stages for step in stage.steps))
    if not cells:
        return plan
    answers = services.fleet.query(cells, [CONTENT], cancel=session.interrupted)
    unread = [cell for cell in cells if cell not in answers.good]
    missing = (f"{fold(unread)}: exacell could not find out what will be read from disk again",) if unread else ()
    notes = cost_notes({cell: answer.tables[0] for cell, answer in answers.good.items()})
    return replace(plan, notes=(*plan.notes, *notes, *missing))


def resize(session: Session, services: Services, request: Request, call: Call) -> Planned:
    """Return the plan; its result is one record per cell with its outcome."""
    facts = read_facts(session, services, request, *planning_facts(), IORMPLAN)
    size = call.int_arg("size")
    assert size is not None
    plan = resize_plan(session.need_rack().name, facts, size=size, statement=call.text)
    return Planned(_with_cost(session, services, plan), facts)


def set_mode(session: Session, services: Services, request: Request, call: Call) -> Planned:
    """Return the plan; its result is one record per cell with its outcome."""
    rack = session.need_rack()
    others = services.fleet.query(rack.cells, [f.FLASHCACHE]).good
    caches = [f.build(cell, [f.FLASHCACHE], answer.tables).flash_cache for cell, answer in others.items()]
    sizes = {cache.size for cache in caches if cache is not None}
    usual = sizes.pop() if len(sizes) == 1 else None
    facts = read_facts(session, services, request, *planning_facts())
    dropped = intended_on(services.journal, rack.name, request.finishing, "DROP PMEMCACHE") if request.finishing else ()
    mode = call.text_arg("mode")
    plan = mode_plan(rack.name, facts, mode=mode, statement=call.text, usual=usual, dropped=dropped)
    return Planned(plan, facts)
