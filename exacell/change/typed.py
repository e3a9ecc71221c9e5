"""Plan and guard CellCLI's own changing statements, as somebody typed them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from exacell.cellcli.fold import OWN_NAME, for_cell, has_own_name
from exacell.cellcli.statement import Change, Grant, parse, render
from exacell.change.consent import accepted_loss
from exacell.change.leftbehind import unnoted
from exacell.core.errors import RefusedError
from exacell.core.meant import absent, refuse_slip
from exacell.journal.left import CACHES, SERVICES, note_back
from exacell.language.line import Line
from exacell.plan.facts import CellFacts
from exacell.plan.guards.already import reached
from exacell.plan.guards.cell import refuse_locked_out, refuse_taken
from exacell.plan.guards.choice import facts_needed, guard_plan
from exacell.plan.guards.griddisks import refuse_active
from exacell.plan.guards.steps import with_inverse
from exacell.plan.guards.targets import means, own_of, rows_meant, takes_own_name
from exacell.plan.guards.unchanged import (
    doubt,
    holds_already,
    same_iorm_plan,
    services_of,
    told_by,
    with_changes,
)
from exacell.plan.model import Plan, Planned
from exacell.session.factreading import (
    facts_with_cellsrv_stopped,
    headers_if_needed,
    read_facts,
    with_asm_sizes,
)
from exacell.session.given import Request, Services, Session
from exacell.session.vault import hide


def plan_typed(session: Session, services: Services, request: Request, line: Line) -> Planned:
    """Return the guarded plan of a typed CellCLI statement that changes cells, and the facts that were read for it.

    Raises:
        RefusedError: a guard forbids it; nothing was sent.
    """
    statement = line.cellcli
    assert isinstance(statement, (Change, Grant))
    statement, line = _without_secrets(statement, line)
    _refuse_own_name(statement, line.text)
    refuse_taken(statement, line.text, session.cells(), session.need_rack().cells)
    user = session.options.login or session.need_rack().write_user
    refuse_locked_out(statement, line.text, user=user, ssh=services.transport.capabilities.programs)
    needed = facts_with_cellsrv_stopped(services, (statement,), session.cells()) or facts_needed(statement)
    facts = read = read_facts(session, services, request, *needed)
    told = _told(services, statement, facts)
    _refuse_slip(request, statement, line.text, told)
    done = _unchanged(session, services, statement, facts, told)
    if isinstance(statement, Change) and statement.verb != "CREATE" and has_own_name("".join(statement.names)):
        # The guard fills in the names of each cell's own disks.
        names = (for_cell(name, cell) for cell in facts for name in statement.names)
        statement = replace(statement, names=tuple(dict.fromkeys(names)))
    facts = {cell: fact for cell, fact in facts.items() if cell not in done and (not done or means(statement, fact))}
    headers = (
        headers_if_needed(session, services, request, facts)
        if any(fact.grid_disks for fact in facts.values())
        else None
    )
    if not facts:
        return Planned(Plan(statement=line.text, rack=session.need_rack().name, done=done))
    plan = guard_plan(
        session.need_rack().name,
        with_asm_sizes(session, services, facts, (statement,)),
        statement,
        text=line.text,
        accepted=accepted_loss(session.options.over(line.flags)),
        headers=headers,
        may_ask=True,
        exact=request.replaying,
    )
    plan = with_inverse(with_changes(plan, statement, told))
    if isinstance(statement, Change) and not session.options.over(line.flags).get("dry-run"):
        refuse_active(facts, statement, line.text)
    unsure = tuple(filter(None, (doubt(statement, told, plan.targets),)))
    plan = replace(plan, done={**done, **plan.done}, warnings=(*plan.warnings, *unsure))
    return Planned(plan, read if needed else {})


def _without_secrets(statement: Change | Grant, line: Line) -> tuple[Change | Grant, Line]:
    """Return a statement and its line with placeholders for passwords and keys; only sending sees the secrets again."""
    text = render(statement)
    hidden = hide(text)
    if hidden == text:
        return statement, line
    again = parse(hidden)
    assert isinstance(again, (Change, Grant))
    return again, replace(line, text=hide(line.text), cellcli=again)


def _refuse_own_name(statement: Change | Grant, text: str) -> None:
    """Raise RefusedError if ``{cell}`` appears in a change outside the names of disks."""
    if not takes_own_name(statement):
        raise RefusedError(
            f"{text}: {OWN_NAME} (a cell's own name) is allowed only in LIST, and in ALTER, DROP and CREATE "
            f"GRIDDISK for names of cell disks and grid disks; nothing was sent",
            hint="type `on <cell> …` with the full name",
        )


def _refuse_slip(request: Request, statement: Change | Grant, text: str, told: _Told) -> None:
    """Raise RefusedError if a threshold, role or user to drop does not exist, but one with a similar name does."""
    if isinstance(statement, Change) and statement.verb == "DROP" and not request.replaying:
        known = {str(row.get("name")) for rows in told.values() for row in rows}
        refuse_slip(text, statement.object.lower(), statement.names, sorted(known))


def _on(statement: Change | Grant, cell: str) -> Change | Grant:
    """Return the statement for one cell, with the names of the objects there."""
    return own_of(statement, cell) if isinstance(statement, Change) and statement.names else statement


_Told = Mapping[str, Sequence[Mapping[str, Any]]]
"""Cell → the rows of the LIST that shows whether a statement changes anything. Left out are cells that did not answer, and
cells on which only CellCLI itself knows which disks ALL means."""


def _told(services: Services, statement: Change | Grant, facts: Mapping[str, CellFacts]) -> _Told:
    wanted = told_by(statement)
    if not wanted or not facts:
        return {}
    told = {cell: answer.tables[0] for cell, answer in services.fleet.query(list(facts), [wanted]).good.items()}
    if not isinstance(statement, Change):
        return told
    meant = {cell: rows_meant(facts[cell], statement, rows) for cell, rows in told.items()}
    return {cell: rows for cell, rows in meant.items() if rows is not None}


def _unchanged(
    session: Session, services: Services, statement: Change | Grant, facts: Mapping[str, CellFacts], told: _Told
) -> dict[str, str]:
    """Return cell → reason for the cells on which the statement would change nothing."""
    holds = "it already has these values"
    done = {cell: why for cell, fact in facts.items() if (why := reached(_on(statement, cell), fact))}
    done |= {cell: holds for cell, fact in facts.items() if same_iorm_plan(statement, fact)}
    if done and isinstance(statement, Change) and statement.action == "CANCEL FLUSH":
        _caches_again(session, services, statement, done)
    holds = {"CREATE": "it already has it", "DROP": "it does not have it"}.get(statement.verb, holds)
    if isinstance(statement, Grant):
        holds = (
            "the users already have these roles" if statement.verb == "GRANT" else "the users have none of these roles"
        )
        if statement.object == "PRIVILEGE":
            holds = "the roles already have it" if statement.verb == "GRANT" else "the roles do not have it"
    elif statement.action in ("STARTUP SERVICES", "SHUTDOWN SERVICES"):
        what = statement.argument or "ALL"
        runs = "all services are already running" if what == "ALL" else f"{what} is already running"
        holds = runs if statement.action == "STARTUP SERVICES" else f"{what} is already stopped"
    elif (statement.verb, statement.object) == ("CREATE", "USER"):
        holds = "it already has that user, and a password can't be compared: ALTER USER sets a new one"
    same = [cell for cell, rows in told.items() if holds_already(_on(statement, cell), rows)]
    if same and (named := services_of(statement)):
        _run_again(session, services, named, same)
    if isinstance(statement, Change) and statement.verb == "DROP":
        return done | {
            cell: absent(holds, statement.names, [str(row.get("name")) for row in told[cell]]) for cell in same
        }
    return done | dict.fromkeys(same, holds)


def _caches_again(session: Session, services: Services, statement: Change, cells: Iterable[str]) -> None:
    """Journal that these caches need no repair any more."""
    on = dict.fromkeys(cells, (statement.object.lower(),))
    problem = note_back(services.journal, session.need_rack().name, CACHES, on)
    for line in unnoted(session, services, problem):
        services.console.say(line)


def _run_again(session: Session, services: Services, named: Sequence[str], cells: Iterable[str]) -> None:
    """Journal that these services, which a change may have stopped, were seen running."""
    problem = note_back(services.journal, session.need_rack().name, SERVICES, dict.fromkeys(cells, named))
    for line in unnoted(session, services, problem):
        services.console.say(line)
