"""Plan changes of the IORM plan: only the named parts change, everything else stays as it is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from exacell.cellcli.directives import DATABASE as A_DATABASE, IDENTITY, PROFILE, ways
from exacell.cellcli.fold import fold_equal
from exacell.cellcli.iorm import (
    DEFAULT,
    OTHER,
    DirectiveName,
    IormPlan,
    diff,
    find,
    inherited,
    remove,
    render,
    set_attributes,
)
from exacell.cellcli.schema import find_object
from exacell.core.cellset import fold
from exacell.core.errors import RefusedError, StatementError
from exacell.core.meant import ask_for, closest
from exacell.core.units import format_size
from exacell.core.values import dataclass, replace
from exacell.measure.limits import FAST_DEVICE, RedoPath, limits
from exacell.plan.facts import CellFacts
from exacell.plan.model import Change, Check, Plan, Risk, Stage, Step, Undo


def agree(facts: Mapping[str, CellFacts]) -> IormPlan:
    """Return the IORM plan that all cells have.

    Raises:
        RefusedError: they have different plans; names the cells that differ.
    """
    groups = fold_equal({cell: fact.iorm or IormPlan() for cell, fact in facts.items()})
    if len(groups) > 1:
        ordered = [cells for cells, _ in groups]
        raise RefusedError(
            f"the cells hold different IORM plans: {'; '.join(fold(cells) for cells in ordered)}; nothing was sent",
            hint="`show iorm` compares them; `set iorm like=CELL` gives all of them the plan of one cell",
        )
    return groups[0][1] if groups else IormPlan()


def known(facts: Mapping[str, CellFacts], wanted: DirectiveName, plan: IormPlan) -> DirectiveName:
    """Return a directive's name as the plan or the cells spell it; this is needed because a cell accepts any misspelt name.

    A profile exists only through its directive, so a new one is accepted as given; so is a database if no cell's release can list
    databases.

    Raises:
        RefusedError: the database is unknown (the message has the known ones), or several directives may be meant.
    """
    if find(plan, wanted) is not None or wanted.kind == PROFILE or wanted.name.lower() in (DEFAULT, OTHER):
        return wanted
    own = [found for found in plan.named(wanted.name) if found.identity[2] == A_DATABASE]
    if own:
        return replace(wanted, name=own[0].name)
    names = {name.rsplit(".", 1)[-1].lower(): name for fact in facts.values() for name in fact.databases}
    if wanted.name.lower() in names:
        return replace(wanted, name=names[wanted.name.lower()].rsplit(".", 1)[-1])
    if not any(_lists_databases(fact) for fact in facts.values()):
        return wanted
    listed = ", ".join(sorted(set(names.values()), key=str.lower)) or "none"
    near = ask_for(wanted.name, names.values())
    raise RefusedError(f"no cell knows a database {wanted.name}; LIST DATABASE has: {listed}", hint=near)


def _is_listed(facts: Mapping[str, CellFacts], db: str) -> bool:
    """Return whether a cell has seen a database with this name."""
    return any(db.lower() == name.rsplit(".", 1)[-1].lower() for fact in facts.values() for name in fact.databases)


def _lists_databases(fact: CellFacts) -> bool:
    """Return whether the cell's release has LIST DATABASE."""
    database = find_object("DATABASE")
    return database is not None and (not fact.release or database.lifetime.includes(fact.release))


def flashlog_plan(
    rack: str, facts: Mapping[str, CellFacts], *, wanted: DirectiveName, on: bool, statement: str
) -> Plan:
    """Return the plan that switches flash logging in one directive of a database; there may be several directives.

    Args:
        facts: with CELL, IORMPLAN, DATABASE, FLASHLOG, PMEMLOG, XRMEMLOG and REDO_METRICS read.

    Raises:
        RefusedError: the cells disagree, the database is unknown, several directives may be meant, or the values
            that the database inherits can't be split off.
    """
    old = agree(facts)
    word = "on" if on else "off"
    already = Plan(
        statement=statement, rack=rack, done=dict.fromkeys(facts, f"flashLog is {word} for {wanted.label} already")
    )
    # Flash logging is on for every database unless a directive says otherwise. Source: Oracle SAGUG, flashlog.
    meant = replace(wanted, kind=wanted.kind or A_DATABASE)
    own = [found for found in old.directives if meant.matches(found)]
    if own and all((directive.get("flashlog") or "on").lower() == word for directive in own):
        return already
    wanted = known(facts, wanted, old)
    if find(old, wanted) is None:
        word_now = inherited(old).get("flashlog")
        if (word_now.value.lower() == word) if word_now else on:
            return already
    plan = plan_change(rack, facts, set_attributes(old, wanted, {"flashLog": word}), statement)
    return replace(plan, notes=(*plan.notes, *limits(_redo_paths(facts))))


def _redo_paths(facts: Mapping[str, CellFacts]) -> dict[str, RedoPath]:
    return {
        cell: RedoPath(
            release=fact.release,
            mode=fact.mode,
            model=fact.model,
            memory_log=format_size(fact.memory_log) if fact.memory_log else "none",
            flash_log=format_size(fact.flash_log) if fact.flash_log else "none",
            on_flash=sum(count for name, (count, _) in (fact.redo or {}).items() if name in FAST_DEVICE),
            writes=(fact.redo or {}).get("FL_RQ_W", (0, 0))[0],
        )
        for cell, fact in facts.items()
    }


def plan_change(rack: str, facts: Mapping[str, CellFacts], new: IormPlan, statement: str) -> Plan:
    """Return the plan that makes ``new`` the dbplan of every cell; it shows the changed directives."""
    warnings = () if any(_lists_databases(fact) for fact in facts.values()) else (_UNLISTED,)
    return goal_plan(rack, facts, dict.fromkeys(facts, Goal(dbplan=new)), statement, warnings=warnings)


@dataclass(frozen=True, kw_only=True)
class Goal:
    """The wanted state of a cell; ``dbplan`` None and ``objective`` empty leave the present values."""

    dbplan: IormPlan | None = None
    objective: str = ""


def goal_plan(
    rack: str,
    facts: Mapping[str, CellFacts],
    goals: Mapping[str, Goal],
    statement: str,
    *,
    warnings: tuple[str, ...] = (),
) -> Plan:
    """Return the plan that brings each cell to its goal and shows the changed directives; a cell at its goal gets no step.

    ALTER IORMPLAN dbplan= replaces the complete dbplan; plans and objective that are not mentioned stay. Source:
    reference cellcli.md 7.2.
    """
    reached = {cell: found for cell, goal in goals.items() if (found := _reach(facts[cell], goal)) is not None}
    steps = [step for step, _ in reached.values()]
    title = "replace the dbplan" if any("dbplan=" in step.statement for step in steps) else "set the objective"
    return Plan(
        statement=statement,
        rack=rack,
        stages=(Stage(title=title, key="iorm", steps=tuple(steps)),) if steps else (),
        done={cell: "it already has that IORM plan" for cell in goals if cell not in reached},
        inverse={cell: (f"alter iormplan {back}",) for cell, (_, back) in reached.items()},
        warnings=warnings,
    )


def _reach(fact: CellFacts, goal: Goal) -> tuple[Step, str] | None:
    """Return the step that brings one cell to its goal, and the settings that take it back; None if it is at the goal."""
    old = fact.iorm or IormPlan()
    new = old if goal.dbplan is None else goal.dbplan
    differences = diff(old, new)
    # (attribute in the statement, attribute in the answer) → (before, after)
    moved: dict[tuple[str, str], tuple[str, str]] = {}
    changes = []
    if goal.objective.lower() not in ("", fact.objective.lower()):
        moved["objective", "objective"] = fact.objective, goal.objective
        changes.append(_change("", "objective", fact.objective, goal.objective))
    if differences:
        moved["dbplan", "dbPlan"] = render(old), render(new)
        changes += directive_changes(old, new)
    if not moved:
        return None
    back = ", ".join(f"{word}={before}" for (word, _), (before, _) in moved.items())
    step = Step(
        target=fact.cell,
        statement="ALTER IORMPLAN " + ", ".join(f"{word}={after}" for (word, _), (_, after) in moved.items()),
        what="send the whole dbplan" if differences else "set the objective",
        needs=tuple(_holds(attribute, before) for (_, attribute), (before, _) in moved.items()),
        proves=tuple(_holds(attribute, after) for (_, attribute), (_, after) in moved.items()),
        expect=1,
        risk=Risk.PERFORMANCE,
        undo=Undo.STATEMENT,
        inverse=f"ALTER IORMPLAN {back}",
        changes=tuple(changes),
    )
    return step, back


def directive_changes(old: IormPlan, new: IormPlan) -> tuple[Change, ...]:
    """Return the differences between two plans for people: one attribute of a directive, or a whole directive, each."""
    spelt = {**_SPELLED, "": "directive"}
    return tuple(
        _change(d.directive, spelt.get((d.attribute or "").lower(), d.attribute or ""), d.before, d.after)
        for d in diff(old, new)
    )


def _change(name: str, attribute: str, before: str | None, after: str | None) -> Change:
    return Change(object="iormplan", name=name, attribute=attribute, before=before or "-", after=after or "-")


def _holds(attribute: str, value: str) -> Check:
    return Check(object="iormplan", attribute=attribute, value=value, why="the plan has changed in the meantime")


def set_plan(
    rack: str,
    facts: Mapping[str, CellFacts],
    *,
    wanted: DirectiveName | None,
    settings: Mapping[str, str],
    objective: str,
    statement: str,
) -> Plan:
    """Return the plan that sets attributes of one directive, the objective, or both.

    Args:
        facts: with CELL, IORMPLAN and DATABASE read.
        wanted: None if only the objective is set.

    Raises:
        RefusedError: the cells disagree, the database is unknown, several directives may be meant, or the values
            that the database inherits can't be split off.
        StatementError: an attribute is unknown or can't have that value.
    """
    if wanted is None:
        return goal_plan(rack, facts, dict.fromkeys(facts, Goal(objective=objective)), statement)
    old = agree(facts)
    wanted = known(facts, wanted, old)
    new = set_attributes(old, wanted, {_attribute(key): value for key, value in settings.items()})
    warnings = () if any(_lists_databases(fact) for fact in facts.values()) else (_UNLISTED,)
    if wanted.kind == PROFILE and find(old, wanted) is None:
        warnings = (_UNLISTED_PROFILE,)
    return goal_plan(
        rack, facts, dict.fromkeys(facts, Goal(dbplan=new, objective=objective)), statement, warnings=warnings
    )


def unset_plan(
    rack: str, facts: Mapping[str, CellFacts], *, wanted: DirectiveName, attributes: Sequence[str], statement: str
) -> Plan:
    """Return the plan that removes attributes from one directive, or the directive itself if no attribute is named.

    Raises:
        RefusedError: the cells disagree, the database is unknown, several directives may be meant, or only its name
            would be left.
        StatementError: an attribute is unknown.
    """
    old = agree(facts)
    spelled = [_attribute(name) for name in attributes]
    own = find(old, wanted)
    if own is None and wanted.kind != PROFILE and _is_listed(facts, wanted.name):
        return plan_change(rack, facts, old, statement)
    if own is None:
        names = ", ".join(found.label for found in old.directives) or "none"
        raise RefusedError(
            f"the dbplan has no directive for {wanted.label}; it has: {names}; nothing was sent",
            hint=ask_for(wanted.name, [found.name for found in old.directives if found.name != wanted.name]),
        )
    if not attributes:
        return plan_change(rack, facts, remove(old, wanted), statement)
    there = [name for name in spelled if own.get(name) is not None]
    if there and all(found.key in (*IDENTITY, *map(str.lower, there)) for found in own.attributes):
        (way,) = ways([own])
        raise RefusedError(
            f"the directive for {own.label} would be empty; nothing was sent",
            hint=f"`unset iorm {way}` removes the whole directive",
        )
    return plan_change(rack, facts, set_attributes(old, wanted, dict.fromkeys(there)), statement)


def _attribute(name: str) -> str:
    """Return the name of a directive's attribute in Oracle's spelling.

    Raises:
        StatementError: directives of a dbplan have no such attribute.
    """
    found = _SPELLED.get(name.lower())
    if found is None:
        near = closest(name, _SPELLED, limit=2)
        there_are = "" if near else f": {', '.join(_SPELLED.values())}"  # List all names only if none is similar.
        raise StatementError(
            f"'{name}' is not an attribute of a dbplan directive{there_are}",
            suggestions=tuple(_SPELLED[key] for key in near),
        )
    return found


_SPELLED: Mapping[str, str] = {
    name.lower(): name
    for name in (
        *("share", "limit", "level", "allocation", "flashCache", "flashLog"),
        *("flashCacheMin", "flashCacheLimit", "flashCacheSize", "pmemCache", "pmemLog", "xrmemCache", "xrmemLog"),
        *("pmemCacheMin", "pmemCacheLimit", "pmemCacheSize", "xrmemCacheMin", "xrmemCacheLimit", "xrmemCacheSize"),
    )
}
"""Attributes of a dbplan directive that can be set. Source: reference cellcli.md 7.1."""

_UNLISTED_PROFILE = "cells don't list profiles before a database uses one: a misspelt name goes unnoticed"
_UNLISTED = "these releases have no LIST DATABASE: a misspelt database name goes unnoticed"
