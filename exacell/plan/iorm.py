"""Plans for the IORM plan: one directive changes, everything else stays as it is."""

from __future__ import annotations

from collections.abc import Mapping

from exacell.cellcli.fold import fold_equal
from exacell.cellcli.iorm import IormPlan, diff, effective, render, set_directive
from exacell.cellcli.schema import find_object
from exacell.cellset import fold
from exacell.errors import RefusedError
from exacell.plan.facts import CellFacts
from exacell.plan.model import Change, Check, Plan, Risk, Stage, Step, Undo


def agree(facts: Mapping[str, CellFacts]) -> IormPlan:
    """Return the plan that all cells hold.

    Raises:
        RefusedError: they hold different ones; names the odd cells.
    """
    groups = fold_equal({cell: fact.iorm or IormPlan() for cell, fact in facts.items()})
    if len(groups) > 1:
        ordered = [cells for cells, _ in groups]
        raise RefusedError(
            f"the cells hold different IORM plans: {'; '.join(fold(cells) for cells in ordered)}; nothing was sent",
            hint="show iorm compares them; make them equal first",
        )
    return groups[0][1] if groups else IormPlan()


def known_database(facts: Mapping[str, CellFacts], db: str, plan: IormPlan) -> str:
    """Return the database as the plan or the cells spell it: a cell accepts a misspelt name without a word.

    Where no cell's release can list databases, the name is taken as it was given.

    Raises:
        RefusedError: naming the databases that there are.
    """
    known = {name.rsplit(".", 1)[-1].lower(): name for fact in facts.values() for name in fact.databases}
    own = plan.named(db)
    if own:
        return own[0].name
    if db.lower() in known:
        return known[db.lower()].rsplit(".", 1)[-1]
    if not any(_lists_databases(fact) for fact in facts.values()):
        return db
    listed = ", ".join(sorted(set(known.values()), key=str.lower)) or "none"
    raise RefusedError(f"no cell knows a database {db}; LIST DATABASE has: {listed}")


def _lists_databases(fact: CellFacts) -> bool:
    """Whether the cell's release has LIST DATABASE."""
    database = find_object("DATABASE")
    return database is not None and (not fact.release or database.lifetime.includes(fact.release))


def flashlog_plan(rack: str, facts: Mapping[str, CellFacts], *, db: str, on: bool, statement: str) -> Plan:
    """Return the plan that switches flash logging for one database.

    Args:
        facts: with CELL, IORMPLAN and DATABASE read.

    Raises:
        RefusedError: the cells disagree, the database is unknown, or its directive can't be split off.
    """
    old = agree(facts)
    db = known_database(facts, db, old)
    word = "on" if on else "off"
    inherited = effective(old, db)
    holds = old.named(db) or ((inherited,) if inherited else ())
    # Flash logging is on for every database unless a directive says otherwise. Source: Oracle SAGUG, flashlog.
    if all((directive.get("flashlog") or "on").lower() == word for directive in holds) and (holds or on):
        return Plan(statement=statement, rack=rack, done=dict.fromkeys(facts, f"flashLog is {word} for {db} already"))
    new = set_directive(old, db, "flashLog", word)
    return plan_change(rack, facts, old, new, statement)


def plan_change(rack: str, facts: Mapping[str, CellFacts], old: IormPlan, new: IormPlan, statement: str) -> Plan:
    """Return the plan that replaces the dbplan ``old`` by ``new`` on every cell, with a directive diff.

    ALTER IORMPLAN dbplan= replaces the complete dbplan. Source: reference cellcli.md 7.2.
    """
    changes = tuple(
        Change(
            object="iormplan",
            name=found.directive,
            attribute=found.attribute or "directive",
            before=found.before or "-",
            after=found.after or "-",
        )
        for found in diff(old, new)
    )
    steps = tuple(
        Step(
            target=cell,
            statement=f"ALTER IORMPLAN dbplan={render(new)}",
            what="send the whole dbplan",
            needs=(
                Check(object="iormplan", attribute="dbPlan", value=render(old), why="the plan has changed meanwhile"),
            ),
            proves=(Check(object="iormplan", attribute="dbPlan", value=render(new)),),
            expect=1,
            risk=Risk.PERFORMANCE,
            undo=Undo.STATEMENT,
            inverse=f"ALTER IORMPLAN dbplan={render(old)}",
            changes=changes,
        )
        for cell in facts
    )
    return Plan(
        statement=statement,
        rack=rack,
        stages=(Stage(title="replace the dbplan", key="iorm", steps=steps),),
        inverse={cell: (f"alter iormplan dbplan={render(old)}",) for cell in facts},
        notes=(f"dbplan: {render(new)}",),
        warnings=()
        if any(_lists_databases(fact) for fact in facts.values())
        else ("these releases have no LIST DATABASE: a misspelt database name goes unnoticed",),
    )
