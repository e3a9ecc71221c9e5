"""Carry a plan through a session: show it, apply the session's policy, ask, carry it out, and report.

Every write of every surface comes through here, so that nothing bypasses read-only mode, confirmation, the lock and the
journal. Before the question, the transport is asked whether it can carry the plan; so no plan stops half-way for that reason.
The plan rolls as its flags ask and as its rack demands.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime

from exacell.cellcli.fold import fold_equal, neutral_text
from exacell.cellcli.secrets import holds_secret
from exacell.change.clocks import against_clocks
from exacell.change.consent import agree, is_asked, refuse_above
from exacell.change.earlier import changed_since, inverse_of
from exacell.change.engine import Engine
from exacell.change.following import Times
from exacell.change.outcomes import (
    ended_records,
    idle_columns,
    idle_records,
    loads,
    measured,
    outcome_columns,
    planned_columns,
    planned_records,
)
from exacell.change.pending import pending
from exacell.change.racklock import LockedError, RackLock, lock_in
from exacell.change.running import Outcome, Report
from exacell.change.sentry import spawn
from exacell.change.targets.kinds import opened
from exacell.core.cellset import fold, grouped
from exacell.core.errors import ExitCode, JournalError, RefusedError
from exacell.core.units import format_duration
from exacell.journal.confirming import refuse_unrevertible, set_deadline
from exacell.journal.left import FLASHCACHE
from exacell.language.registry import Flag, Value
from exacell.output.result import Result, worst
from exacell.plan.ageing import ages
from exacell.plan.estimate import timed
from exacell.plan.gate import first_cells, flushed_cells
from exacell.plan.model import Plan, Planned, Step, Undo
from exacell.plan.rolling import Asked, moment, roll
from exacell.session.given import Request, Services, Session
from exacell.session.logins import refuse_login
from exacell.session.saved import refuse_other_plan
from exacell.session.vault import refuse_forgotten
from exacell.transport.base import Capabilities


def refuse_plan(plan: Plan, capabilities: Capabilities) -> None:
    """Raise RefusedError if the transport can't carry a step of a plan. Only CellCLI is checked.

    Raises:
        RefusedError: the transport can't carry a step, would show a password to others, or the password is no longer known;
            names the step, the transport's rule, and the way out.
    """
    for step in plan.steps:
        if not step.kind.cellcli or not step.statement:
            continue
        refuse_forgotten(step.statement)
        if not capabilities.stdin and holds_secret(step.statement):
            raise RefusedError(
                f"{step.target}: '{step.statement}' has a password or a key, and the transport "
                f"{capabilities.name} would put it into the arguments of a process, which all users of the host "
                "can read; nothing was sent",
                hint="type `set transport ssh`, if the cells allow SSH",
            )
        why = capabilities.problem(step.statement)
        if why:
            raise RefusedError(
                f"{step.target}: '{step.statement}' can't go over the transport {capabilities.name}: {why}; "
                "nothing was sent",
                hint="type `set transport ssh`, if the cells allow SSH",
            )


def wide_moment(plan: Plan, capabilities: Capabilities, *, production: bool) -> str:
    """Return a sentence about the seconds in which the proof of a plan's statements may become stale.

    It is empty if each cell's own CellCLI checks the cell right before its statement, or if no proof can become stale.

    Raises:
        RefusedError: the proof may become stale and the rack is a production rack.
    """
    if capabilities.pairs:
        return ""
    step = next(
        (step for step in plan.steps if step.statement and step.kind.cellcli and ages(step.statement)),
        None,
    )
    if step is None:
        return ""
    wide = (
        f"'{step.statement}' goes over the transport {capabilities.name}: between the last check of a cell and "
        "the statement there is a login and a start of CellCLI; in these seconds the cell may change"
    )
    if production:
        raise RefusedError(
            f"rack {plan.rack} is a production rack, and {wide}; nothing was sent",
            hint="type `set transport ssh`, if the cells allow SSH",
        )
    return wide


def asked(flags: Mapping[str, Value], *, gently: bool = False) -> Asked:
    """Return the settings for rolling from the flags. ``gently``: the flags were given with an earlier statement.

    Raises:
        RefusedError: they contradict each other.
    """
    rolling, pause, timeout = flags.get("rolling"), flags.get("pause"), flags.get("timeout")
    size = 1 if rolling is True else rolling if isinstance(rolling, int) else None
    if flags.get("no-rolling"):
        if size:
            raise RefusedError("--rolling and --no-rolling can't be given together: leave one out; nothing was sent")
        size = 0
    return Asked(
        size=size,
        canary=str(flags.get("canary") or ""),
        pause=float(pause) if isinstance(pause, (int, float)) else None,
        ask=pause == "ask",
        on_error=str(flags.get("on-error") or ""),
        within=float(timeout) if isinstance(timeout, (int, float)) else None,
        not_after=moment(str(until), datetime.now().astimezone()) if (until := flags.get("not-after")) else "",
        gently=gently,
    )


def _refuse_shut_out(planned: Planned, canary: str) -> None:
    """Raise RefusedError if the canary waits for cells that themselves wait for the canary."""
    plan = planned.plan
    holding = [cell for cell in flushed_cells(planned.facts) if cell in plan.targets and cell != canary]
    if canary in plan.targets and holding:
        hold = "holds its gate" if len(holding) == 1 else "hold its gate"
        raise RefusedError(
            f"{plan.statement}: the canary {canary} can't go first: {fold(holding)} {hold} closed, because a "
            "flush there stays in force until their turn; nothing was sent",
            hint="without --canary they go first",
        )


def rolled(session: Session, request: Request, planned: Planned, flags: Mapping[str, Value]) -> Plan:
    """Return the plan with its cells in waves, if the flags, the rack or the plan demand waves.

    Raises:
        RefusedError: it was asked for and can't be done.
    """
    rack, plan = session.need_rack(), planned.plan
    if not all(step.kind.rolls for step in plan.steps):  # Gates ask cells and ASM.
        if asked(flags).size or flags.get("canary"):
            raise RefusedError(
                f"{plan.statement}: only cells take turns in waves; nothing was sent",
                hint="type `on HOST …` for one host at a time",
            )
        return plan
    _refuse_shut_out(planned, str(flags.get("canary") or ""))
    creating = {step.target for step in plan.steps if step.caching_on and step.cache == FLASHCACHE}
    return roll(
        plan,
        asked(flags, gently=request.origin.startswith("undo ")),
        rack_cells=rack.cells,
        clusters=tuple(rack.asm),
        production=session.in_production(plan.targets),
        first=first_cells(planned.facts, creating),
    )


UNSENT = "-n: nothing was sent"
"""The note below a plan that was shown and not sent."""


def carry_out(
    session: Session,
    services: Services,
    request: Request,
    planned: Planned,
    flags: Mapping[str, Value],
    own: Sequence[Flag] = (),
) -> Result:
    """Show a plan, ask, carry it out and return one record per target; the result also contains the plan.

    Args:
        flags: of the statement, with the flags that were given for all statements.
        own: the flags that only this command has.

    Raises:
        RefusedError: nobody agreed, or the plan needs more than a yes; nothing was sent.
    """
    result = _carried_out(session, services, request, planned, flags, own)
    if request.foreseen is not None and result.planned is not None:
        request.foreseen.note_plan(result.planned.plan, planned.facts)
    if planned.afterwards:
        services.console.say(planned.afterwards)
    return result


def _carried_out(
    session: Session,
    services: Services,
    request: Request,
    planned: Planned,
    flags: Mapping[str, Value],
    own: Sequence[Flag],
) -> Result:
    expected = request.expected
    plan = _gone_on_with(session, services, request, planned.plan)
    if not plan.changes_something:  # Even if something has changed since, nothing is refused: the goal is reached.
        hosts = bool(len(session.selection.hosts))
        idle = idle_records(plan, () if hosts else session.need_rack().dbnodes)
        return Result(records=idle, columns=idle_columns(idle, hosts=hosts), data=True, fold=True)
    if expected is not None and expected.moved is not None:
        raise expected.moved
    services.recognition.recognise(plan.targets)
    for cells, why in fold_equal(plan.skipped):
        services.console.say(f"{fold(cells)}: {why}")
    plan = timed(rolled(session, request, replace(planned, plan=plan), flags))
    plan = against_clocks(session, services, request, plan, planned.facts)
    if expected is not None:
        refuse_other_plan(expected.saved, plan)
    within = _within(flags)
    if within is not None:
        refuse_unrevertible(plan, within)
    shown = not (session.options.quiet and flags.get("yes"))
    agreed = request.agreed if is_asked(plan, flags) else None
    covered = agreed is not None and agreed.covers(plan)
    if covered:
        which = "plan shown above" if agreed is not None and agreed.exact else "same plan as in an earlier wave"
        services.console.say(f"{fold(plan.targets)}: the {which}, which you confirmed")
    elif shown:
        services.console.show_plan(plan, brief=is_asked(plan, flags))
    for said in _left_by_others(session):
        services.console.say(said)
    refuse_plan(plan, services.transport.capabilities)
    wide = wide_moment(plan, services.transport.capabilities, production=session.in_production(plan.targets))
    if wide:
        services.console.say(f"Warning: {wide}")
    if flags.get("dry-run"):
        code = ExitCode.CHANGES if flags.get("detailed-exitcode") else ExitCode.DONE
        rows, columns = planned_records(plan), planned_columns(plan)
        return Result(
            records=rows, columns=columns, fold=True, notes=[UNSENT], shown=shown, exit_code=code,
            planned=replace(planned, plan=plan),
        )  # fmt: skip
    refuse_to_ask(session, services, request, plan)
    if not covered:
        if agreed is not None and agreed.later and not plan.loss:
            services.console.say(
                f"yes also counts for {agreed.later} if the plan there is the same; if not, you are asked again"
            )
        agree(plan, flags, services.console)
        if agreed is not None:
            agreed.add(plan)
    with services.while_changing():
        report = _run(session, services, request, plan, flags, own, within)
        result = _result(services, request, plan, report)
        if planned.keeps and (found := loads(report)):
            from exacell.session.imports import keep_load  # All importers come with it, which few changes need.

            said = keep_load(session, planned.keeps, report.change, found[0][1])
            result = replace(result, notes=[*result.notes, said])
        return result if within is None else _guarded(session, services, request, plan, report, result, within)


def refuse_to_ask(session: Session, services: Services, request: Request, plan: Plan) -> None:
    """Raise RefusedError if a plan can't be carried out whatever the user answers: refuse before the question, not after it.

    Raises:
        RefusedError: the rack is read-only or locked, the risk is above that of the recipe, the login may not change the cells,
            or the journal is damaged.
    """
    refuse_read_only(session, plan.targets)
    refuse_above(plan, request.risk_ceiling)
    refuse_login(session, services, plan)
    lock_in(session).refuse_held()
    services.journal.refuse_damaged()


def _gone_on_with(session: Session, services: Services, request: Request, plan: Plan) -> Plan:
    """Return the plan with the inverse of the change that it continues: the state before that change began.

    If somebody has changed a value since, a warning names it. If this plan does all of the work again, undo brings back the
    value that somebody set.
    """
    finishing, rack = request.finishing, session.need_rack().name
    if not finishing:
        return plan
    found = inverse_of(services.journal, rack, finishing)
    before = {t: s for t, s in found.items() if t in plan.targets}
    told: list[tuple[str, str]] = []
    for since in changed_since(services.journal.whole_state(rack, finishing), plan):
        if own := since.all_of_it and since.target in plan.inverse:
            before.pop(since.target, None)
        for change, first in since.values:
            what = f"{change.object} {neutral_text(change.name, since.target)} {change.attribute}"
            told.append(
                (
                    f"{what} was {first} before change {finishing} and is {change.before} now: somebody has "
                    f"changed it since; undo sets it to {change.before if own else first}",
                    since.target,
                )
            )
    said = tuple(f"{fold(targets)}: {what}" for what, targets in grouped(told).items())
    plan = replace(plan, warnings=(*plan.warnings, *said), inverse={**plan.inverse, **before})
    return plan.each(lambda step: _made_again(step, before))


def _made_again(step: Step, before: Mapping[str, tuple[str, ...]]) -> Step:
    """Return a step that creates a cache which the first attempt dropped; the cache's state before the drop is known."""
    from exacell.plan.planners.flashcache import NEW

    known = step.undo is Undo.IMPOSSIBLE and step.inverse == NEW and step.target in before
    return replace(step, undo=Undo.NOTHING, inverse="") if known else step


def refuse_read_only(session: Session, targets: Sequence[str] | None = None) -> None:
    """Raise RefusedError if the session may not change its rack.

    Args:
        targets: what is to be changed; None means the selected cells or hosts. Their rack was found out before, if possible.

    Raises:
        RefusedError: the session is read-only, or a target belongs to a production rack that is read-only.
    """
    if session.read_only:
        why = "with -m" if session.options.monitor else "type `set mode rw` to change that"
        raise RefusedError(f"rack {session.need_rack().name} is read-only ({why}); nothing was sent")
    session.refuse_closed(session.chosen() if targets is None else targets)


def refuse_to_begin(session: Session, services: Services) -> None:
    """Raise RefusedError if this session may not begin to change the selected targets.

    First finds out which rack the selected targets belong to.

    Raises:
        RefusedError: as :func:`refuse_read_only`.
    """
    if not session.read_only:
        services.recognition.recognise(session.chosen())
    refuse_read_only(session)


def _within(flags: Mapping[str, Value]) -> float | None:
    value = flags.get("confirm-within")
    return float(value) if isinstance(value, (int, float)) else None


def _run(
    session: Session,
    services: Services,
    request: Request,
    plan: Plan,
    flags: Mapping[str, Value],
    own: Sequence[Flag],
    within: float | None,
) -> Report:
    rack = session.need_rack()
    lock = lock_in(session)
    engine = Engine(
        rack=rack.name,
        fleet=services.fleet,
        asm=opened(session, services, plan.steps, clusters=plan.rolling.clusters if plan.rolling else ()),
        journal=services.journal,
        console=services.console,
        times=Times(
            poll=rack.poll,
            cancel=session.interrupted,
            write_timeout=session.settings.write_timeout,
            read_timeout=rack.command_timeout or session.settings.timeout,
        ),
        begun=lock.tell,
        permit=lock.still_mine,
    )
    reason, ticket = str(flags.get("reason") or ""), str(flags.get("ticket") or "")
    with lock.held():
        details: dict[str, object] = {**request.part, **({} if within is None else {"confirmWithin": within})}
        if request.finishing:
            details["finishes"] = request.finishing
        given = {flag.name: flags[flag.name] for flag in own if flags.get(flag.name) is not None}
        if given:
            details["flags"] = given
        try:
            report = engine.run(plan, reason=reason, ticket=ticket, origin=request.origin, details=details)
        finally:
            _leave(services, lock)
    session.changes.append(report.change)
    return report


def _left_by_others(session: Session) -> list[str]:
    """Return a line for each other operator who left something behind on the rack; this user's journal does not know it."""
    try:
        return [holder.trace for holder in lock_in(session).left_by_others()]
    except LockedError:
        return []  # Reported when the lock is taken.


def _leave(services: Services, lock: RackLock) -> None:
    """Note in the lock, for the other operators, which change left something behind according to this user's journal."""
    # If this fails, the user has seen the warning already, or sees it at the next start.
    with suppress(LockedError, JournalError):
        found = [
            item for item in pending(services.journal, lock.rack) if item.state not in ("elsewhere", "unconfirmed")
        ]
        lock.leave(found[0].change if found else 0)


def _result(services: Services, request: Request, plan: Plan, report: Report) -> Result:
    said = {id(r): f"{r.step.target}: {r.step.what}: {r.outcome}: {r.reason}" for r in report.failures}
    firsts = {r.step.target: r for r in reversed(report.results) if not r.outcome.good and not r.mending}
    notes = [*measured(report), f"change {report.change}, journal {services.journal.head}"]
    if report.interrupted and not report.stopped:
        notes.append(_interrupted(report))
    if report.stopped:
        notes.append(f"{report.stopped}; `resume {report.change}` continues with the other cells")
    if firsts and not (report.interrupted or report.stopped):
        notes += _ways_on(request, plan, report, fold(firsts))
    return Result(
        records=[*ended_records(plan, report), *idle_records(plan)],
        columns=outcome_columns(plan, report),
        fold=True,
        notes=notes,
        problems=list(said.values()),
        told=[said[id(r)] for r in firsts.values() if id(r) in said],
        exit_code=report.exit_code,
    )


def _interrupted(report: Report) -> str:
    """Return the note about an interrupted change; on targets whose answer nobody waited for, the outcome is unknown."""
    open_cells = dict.fromkeys(r.step.target for r in report.results if r.outcome is Outcome.UNKNOWN)
    if not open_cells:
        return "interrupted: running statements have ended; nothing more was started"
    return (
        f"interrupted: nothing more was started; exacell did not wait for {fold(open_cells)}: `resume "
        f"{report.change}` checks the result"
    )


def _ways_on(request: Request, plan: Plan, report: Report, cells: str) -> list[str]:
    """Return the notes on how to continue a failed change; none for a line of a recipe."""
    origin = request.origin
    if origin.startswith("undo "):
        return [f"not complete on {cells}: `{origin}` continues there"]
    if origin and not origin.startswith(("resume ", "retry ")):
        return []
    back = f", `undo {request.finishing or report.change}` takes it back" if plan.inverse else ""
    return [f"not complete on {cells}: `retry failed` repeats it there{back}"]


def _guarded(
    session: Session, services: Services, request: Request, plan: Plan, report: Report, result: Result, within: float
) -> Result:
    """Start a guardian process for the change, which takes the change back unless it is confirmed in time."""
    if not any(r.outcome is Outcome.DONE and r.step.statement for r in report.results):
        return replace(result, notes=[*result.notes, "nothing was changed, so there is nothing to confirm"])
    change = request.finishing or report.change
    ways = f"`confirm {change}` keeps it, `undo {change}` takes it back"
    journal, rack, run = services.journal, session.need_rack().name, request.waiting_run
    if run is not None:
        run.changes[change] = plan.statement
        set_deadline(journal, rack, change, plan.statement, within, run=run.first, going_on=True)
        if run.first != change:
            return result
        note = (
            f"change {change} and the later changes of the run are taken back unless you type `confirm "
            f"{change}` in time"
        )
    else:
        until = set_deadline(journal, rack, change, plan.statement, within)
        note = f"change {change} is taken back at {until.astimezone():%H:%M:%S} (in {format_duration(within)}): {ways}"
    try:
        spawn(session, services, change)
    except OSError as error:
        problem = (
            f"change {change} has no guardian process ({error.strerror}), so it is not taken back automatically; {ways}"
        )
        return replace(
            result, problems=[*result.problems, problem], exit_code=worst([result.exit_code, ExitCode.FAILED])
        )
    return replace(result, notes=[*result.notes, note])
