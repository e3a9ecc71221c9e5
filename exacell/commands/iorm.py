"""Show the IORM plan, change one directive at a time, and store and restore plans."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from exacell.cellcli.directives import DirectiveName
from exacell.cellcli.iorm import IormPlan, parse, render
from exacell.commands.declared.iorm import WHICH
from exacell.core.cellset import fold
from exacell.core.errors import (
    ExitCode,
    RefusedError,
    ReplyError,
    StatementError,
)
from exacell.core.units import counted
from exacell.language.registry import Call, Kind
from exacell.output.result import Column, Result, worst
from exacell.plan import facts as f
from exacell.plan.model import Planned
from exacell.plan.planners.iorm import (
    Goal,
    flashlog_plan,
    goal_plan,
    set_plan,
    unset_plan,
)
from exacell.session.factreading import read_facts
from exacell.session.given import Request, Services, Session
from exacell.session.store import Store


def _wanted(call: Call) -> DirectiveName:
    return DirectiveName(
        name=call.text_arg("db"),
        role=call.text_arg("role"),
        kind=call.text_arg("type"),
        asmcluster=call.text_arg("asmcluster"),
    )


def show(session: Session, services: Services, request: Request, call: Call) -> Result:
    """Return one record per cell and directive; a cell without directives has one record with a null name."""
    saved = call.text_arg("saved")
    if saved:
        return _show_saved(session, saved)
    answers = services.query(f.IORMPLAN, f.DATABASE, timeout=request.read_timeout)
    held: dict[str, tuple[str, IormPlan]] = {}
    unread: list[str] = []
    for cell, answer in answers.good.items():
        try:
            fact = f.build(cell, (f.IORMPLAN, f.DATABASE), answer.tables)
        except ReplyError as error:
            unread.append(f"{cell}: {error.message}")
            continue
        held[cell] = (fact.objective, fact.iorm or IormPlan())
        names = [directive.name for directive in held[cell][1].directives]
        services.learned.learn({Kind.DB: fact.databases, Kind.DIRECTIVE: names})
    code = worst([answers.exit_code, ExitCode.FAILED if unread else ExitCode.DONE])
    return replace(_table(held), problems=(*answers.problems, *unread), exit_code=code)


def _show_saved(session: Session, name: str) -> Result:
    found = Store(session.home.state_dir / "store.db").find_iorm(
        session.need_rack().name, name, session.need_rack().cells
    )
    return _table({cell: (body["objective"], parse(body["dbPlan"])) for cell, body in found.items()})


def _table(held: Mapping[str, tuple[str, IormPlan]]) -> Result:
    """Return one record per cell and directive; a cell without directives has one record with a null name."""
    rows: list[dict[str, object]] = []
    names: dict[str, None] = {}
    identity = [
        key for key in ("role", "type", "asmcluster") if any(d.get(key) for _, p in held.values() for d in p.directives)
    ]
    for cell, (objective, plan) in held.items():
        for directive in plan.directives:
            who = {key: directive.get(key) for key in identity}
            others = {a.name: a.value for a in directive.attributes if a.key not in ("name", *identity)}
            names |= dict.fromkeys((*identity, *others))
            rows.append({"cell": cell, "objective": objective, "name": directive.name, **who, **others})
        if not plan.directives:
            rows.append({"cell": cell, "objective": objective, "name": None})
    columns = (Column("cell"), Column("objective"), Column("name"), *(Column(name) for name in names))
    return Result(records=rows, columns=columns, fold=True, data=True)


def set_iorm(session: Session, services: Services, request: Request, call: Call) -> Planned:
    """Return the plan; its result is one record per cell with its outcome.

    Raises:
        StatementError: nothing is set, attributes are given without db=, or other parameters together with like=.
    """
    if like := call.text_arg("like"):
        return _set_like(session, services, request, call, like)
    db, objective = call.text_arg("db"), call.text_arg("objective")
    unowned = (*call.extra, *(param.name for param in WHICH if call.text_arg(param.name)))
    if not db and unowned:
        raise StatementError(f"set iorm {unowned[0]}=…: give db=NAME too")
    if not (call.extra or objective):
        raise StatementError(
            f"set iorm{f' db={db}' if db else ''}: nothing to set",
            hint="for example: set iorm db=SPOT share=8 limit=50",
        )
    facts = read_facts(session, services, request, f.CELL, f.IORMPLAN, f.DATABASE)
    plan = set_plan(
        session.need_rack().name,
        facts,
        wanted=_wanted(call) if db else None,
        settings=call.extra,
        objective=objective,
        statement=call.text,
    )
    return Planned(plan, facts)


def _set_like(session: Session, services: Services, request: Request, call: Call, like: str) -> Planned:
    """Return the plan that gives every selected cell the database plan and objective of one cell."""
    beside = next((name for name in (*call.extra, *call.args) if name != "like"), "")
    one = tuple(session.selection.resolve(like))
    if beside or len(one) != 1:
        told = f"like= can't be given with {beside}=" if beside else f"like= names one cell, not {len(one)}"
        raise StatementError(f"set iorm: {told}", hint="for example: set iorm like=exa1cel01")
    cells = session.cells()
    facts = read_facts(session, services, request, f.CELL, f.IORMPLAN, cells=tuple(dict.fromkeys((*cells, *one))))
    model = facts[one[0]]
    goal = Goal(dbplan=model.iorm or IormPlan(), objective=model.objective)
    facts = {cell: facts[cell] for cell in cells}
    return Planned(goal_plan(session.need_rack().name, facts, dict.fromkeys(facts, goal), call.text), facts)


def unset_iorm(session: Session, services: Services, request: Request, call: Call) -> Planned:
    """Return the plan; its result is one record per cell with its outcome."""
    given = call.args.get("attributes")
    names = tuple(str(name) for name in given) if isinstance(given, tuple) else ()
    facts = read_facts(session, services, request, f.CELL, f.IORMPLAN, f.DATABASE)
    plan = unset_plan(session.need_rack().name, facts, wanted=_wanted(call), attributes=names, statement=call.text)
    return Planned(plan, facts)


def reset_iorm(session: Session, services: Services, request: Request, call: Call) -> Planned:
    """Return the plan; its result is one record per cell with its outcome."""
    facts = read_facts(session, services, request, f.CELL, f.IORMPLAN)
    goals = dict.fromkeys(facts, Goal(dbplan=IormPlan()))
    return Planned(goal_plan(session.need_rack().name, facts, goals, call.text), facts)


def save_iorm(session: Session, services: Services, request: Request, call: Call) -> Result:
    """Store the plans of the cells and return a note.

    Raises:
        RefusedError: a cell did not answer.
    """
    facts = read_facts(session, services, request, f.IORMPLAN)
    held = {
        cell: {"dbPlan": render(fact.iorm or IormPlan()), "objective": fact.objective} for cell, fact in facts.items()
    }
    name = call.text_arg("as")
    Store(session.home.state_dir / "store.db").save_iorm(session.need_rack().name, name, held)
    plans = len({text["dbPlan"] for text in held.values()})
    several = f", {plans} different plans" if plans > 1 else ""
    return Result(notes=[f"IORM plan {name}: {counted(len(held), 'cell')}{several}; `restore iorm {name}` restores it"])


def restore_iorm(session: Session, services: Services, request: Request, call: Call) -> Planned:
    """Return the plan; its result is one record per cell with its outcome.

    Raises:
        RefusedError: a selected cell is not among the stored ones.
    """
    rack, name = session.need_rack().name, call.text_arg("name")
    held = services.store().find_iorm(rack, name, session.need_rack().cells)
    missing = [cell for cell in session.cells() if cell not in held]
    if missing:
        raise RefusedError(
            f"IORM plan {name} was saved on {fold(held)}, not on {fold(missing)}; nothing was sent",
            hint=f"type `on {fold(held)} restore iorm {name}`",
        )
    facts = read_facts(session, services, request, f.CELL, f.IORMPLAN)
    goals = {c: Goal(dbplan=parse(held[c]["dbPlan"]), objective=held[c]["objective"]) for c in facts}
    return Planned(goal_plan(rack, facts, goals, call.text), facts)


def _toggle(session: Session, services: Services, request: Request, call: Call, *, on: bool) -> Planned:
    way = (f.FLASHLOG, f.PMEMLOG, f.XRMEMLOG, f.REDO_METRICS)
    facts = read_facts(session, services, request, f.CELL, f.IORMPLAN, f.DATABASE, *way)
    plan = flashlog_plan(session.need_rack().name, facts, wanted=_wanted(call), on=on, statement=call.text)
    return Planned(plan, facts)


def enable(session: Session, services: Services, request: Request, call: Call) -> Planned:
    """Return the plan; its result is one record per cell with its outcome."""
    return _toggle(session, services, request, call, on=True)


def disable(session: Session, services: Services, request: Request, call: Call) -> Planned:
    """Return the plan; its result is one record per cell with its outcome."""
    return _toggle(session, services, request, call, on=False)
