"""A plan's way through a session: shown, judged by the session's policy, confirmed, carried out, told.

Every write of every surface comes through here, so that read-only mode, confirmation, the lock and the journal cannot
be gone round.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from exacell.carrying import capabilities_of, refuse_plan
from exacell.cellcli.fold import fold_equal
from exacell.cellset import fold
from exacell.confirming import refuse_unrevertible, set_deadline
from exacell.consent import agree, refuse_above
from exacell.engine import Engine
from exacell.errors import ExitCode, RefusedError
from exacell.outcomes import ended_records, idle_records, outcome_columns, planned_columns, planned_records
from exacell.output.result import Result, worst
from exacell.plan.estimate import timed
from exacell.plan.saved import refuse_other_plan
from exacell.running import Outcome, Report
from exacell.units import format_duration
from exacell.waves import rolled

if TYPE_CHECKING:
    from exacell.context import Context
    from exacell.language.registry import Call, Value
    from exacell.plan.model import Plan
    from exacell.transport.base import FleetResult

EMULATED_POLL = 0.2
"""Seconds between two looks at an emulated rack, whose clock runs faster than ours."""

POLL = 5.0
"""Seconds between two looks at a real cell: metrics change once a minute, and asm* attributes are slow to read."""


def carry_out(ctx: Context, plan: Plan, call: Call) -> Result:
    """Show a plan, have it confirmed, carry it out and return one record per target.

    Raises:
        RefusedError: nobody agreed, or the plan needs more than that; nothing was sent.
    """
    flags = ctx.flags_of(call)
    plan = _gone_on_with(ctx, plan)
    if plan.changes_something:
        # Otherwise the records say it.
        for cells, why in fold_equal(plan.skipped):
            ctx.console.say(f"{fold(cells)}: {why}")
    if not plan.changes_something:
        return Result(records=idle_records(plan, ctx.need_rack().dbnodes), data=True, fold=True)
    plan = timed(rolled(ctx, plan, flags))
    ctx.last_plan = plan
    if ctx.expected is not None:
        refuse_other_plan(ctx.expected, plan)
    within = _within(flags)
    if within is not None:
        refuse_unrevertible(plan, within)
    shown = not (ctx.options.quiet and flags.get("yes"))
    if shown:
        ctx.console.show_plan(plan)
    refuse_plan(plan, capabilities_of(ctx.transport))
    if flags.get("dry-run"):
        code = ExitCode.CHANGES if flags.get("detailed-exitcode") else ExitCode.DONE
        ctx.console.say("-n: nothing was sent")
        rows, columns = planned_records(plan), planned_columns(plan)
        return Result(records=rows, columns=columns, fold=True, shown=shown, exit_code=code)
    refuse_read_only(ctx)
    refuse_above(plan, ctx.risk_ceiling)
    refuse_login(ctx, plan)
    agree(plan, flags, ctx.console)
    report = _run(ctx, plan, call, within)
    result = _result(ctx, plan, report)
    return result if within is None else _guarded(ctx, plan, report, result, within)


READERS = frozenset(("cellmonitor",))
"""Logins of cells that may only read. Source: Oracle SAGUG, "Using CellCLI": cellmonitor can only view."""


def refuse_login(ctx: Context, plan: Plan) -> None:
    """Return when the login for writes gets into every cell that the plan changes, and may change something there.

    Raises:
        RefusedError: it does not, or it is a reader's; said before anybody confirms.
    """
    cells = [step.target for step in plan.steps if step.statement and not step.asm]
    refuse_writer(ctx, tuple(dict.fromkeys(cells)))


def refuse_writer(ctx: Context, cells: Sequence[str], login: str = "") -> None:
    """Return when a login gets into all ``cells`` and may change something there.

    Args:
        login: empty for the one that writes.

    Raises:
        RefusedError: it does not, or it is a reader's; said before anybody confirms.
    """
    from exacell.transport.base import Role

    rack = ctx.need_rack()
    user = login or rack.write_user
    if not cells:
        return
    hint = "-l USER logs in as another one"
    if not login:
        hint += f", write_user= in the rack's file for good ({rack.source or rack.name})"
    if user in READERS:
        raise RefusedError(f"writes would log in as {user}, which may only read; nothing was sent", hint=hint)
    logins = getattr(ctx.transport, "logins", None) if user == rack.write_user else None
    if logins is None and not hasattr(ctx.transport, "capabilities"):
        return
    tried = logins(cells, Role.WRITE) if logins is not None else _reading_as_writer(ctx, cells, user)
    # Whom the cell's own programs answer, if only that its services are down, did get in.
    problems = [reply for reply in tried.problems if not reply.stdout.startswith("CELL-")]
    if problems:
        more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
        raise RefusedError(
            f"{problems[0].target}: writes log in as {user}: {problems[0].problem}{more}; nothing was sent", hint=hint
        )


def _reading_as_writer(ctx: Context, cells: Sequence[str], login: str) -> FleetResult:
    """Read something with the login for writes: how a transport that can't log in alone tells whether that login gets in."""
    from exacell.cellcli import wire
    from exacell.transport.base import Request, Role

    command = wire.command(["list cell attributes name"])
    return ctx.fleet.run([Request(target=cell, command=command, role=Role.READ, login=login) for cell in cells])


RESTRICTED_SINCE = "26.1"
"""From this release on the logins of RESTRICTED run CellCLI and a few commands that only read. Source: reference
cellcli.md section 8."""

RESTRICTED = frozenset(("celladmin", "cellmonitor"))


def restricted_cells(ctx: Context, cells: Sequence[str], login: str = "") -> tuple[str, ...]:
    """Return those of ``cells`` on which a login can't run scripts, change files or take any.

    Args:
        login: empty for the one that writes.
    """
    from exacell.plan.facts import CellFacts

    if (login or ctx.need_rack().write_user) not in RESTRICTED or not cells:
        return ()
    releases = ctx.fleet.releases(cells)
    return tuple(c for c in cells if CellFacts(cell=c, release=releases.get(c, "")).at_least(RESTRICTED_SINCE))


_BARE = re.compile(r"[\w./=:, -]+")


def goes_bare(text: str, closed: Sequence[str]) -> bool:
    """Whether a command is to be sent without the subshell around it: where single commands are let through only."""
    return bool(closed) and _BARE.fullmatch(text) is not None


def refuse_restricted(ctx: Context, what: str, cells: Sequence[str], login: str = "") -> None:
    """Return when the login may do on all ``cells`` what is neither CellCLI nor one of the few commands that only read.

    Raises:
        RefusedError: their release does not let it; said before anybody confirms.
    """
    closed = restricted_cells(ctx, cells, login)
    if closed:
        user = login or ctx.need_rack().write_user
        raise RefusedError(
            f"{what}: {fold(closed)} run release {RESTRICTED_SINCE} or later, where {user} may run CellCLI and a few commands "
            "that only read, no scripts and no copies; nothing was sent",
            hint="-l USER logs in as another one",
        )


def _gone_on_with(ctx: Context, plan: Plan) -> Plan:
    """Return the plan with the inverse of the change that it goes on with: what was there before that one began."""
    if not ctx.finishing:
        return plan
    from exacell.resuming import inverse_of

    before = inverse_of(ctx, ctx.finishing)
    return replace(plan, inverse={**plan.inverse, **{t: s for t, s in before.items() if t in plan.targets}})


def refuse_read_only(ctx: Context) -> None:
    """Return when the session may change its rack.

    Raises:
        RefusedError: it is read-only.
    """
    if ctx.read_only:
        why = "with -m" if ctx.options.monitor else "set mode rw changes that"
        raise RefusedError(f"rack {ctx.need_rack().name} is read-only ({why}); nothing was sent")


def _within(flags: Mapping[str, Value]) -> float | None:
    value = flags.get("confirm-within")
    return float(value) if isinstance(value, (int, float)) else None


def _run(ctx: Context, plan: Plan, call: Call, within: float | None) -> Report:
    rack, flags = ctx.need_rack(), ctx.flags_of(call)
    clusters = {step.asm for step in plan.steps if step.asm} | set(plan.rolling.clusters if plan.rolling else ())
    lock = ctx.lock()
    engine = Engine(
        rack=rack.name,
        fleet=ctx.fleet,
        asm={name: ctx.asm(name) for name in clusters},
        journal=ctx.journal,
        console=ctx.console,
        poll=EMULATED_POLL if rack.emulated else POLL,
        cancel=ctx.interrupted,
        permit=lock.still_mine,
    )
    reason, ticket = str(flags.get("reason") or ""), str(flags.get("ticket") or "")
    why = "; ".join(filter(None, (plan.statement, reason, ticket)))
    with lock.held(why):
        details: dict[str, object] = {} if within is None else {"confirmWithin": within}
        if ctx.finishing:
            details["finishes"] = ctx.finishing
        own = {flag.name: flags[flag.name] for flag in call.command.flags if flags.get(flag.name) is not None}
        if own:
            details["flags"] = own
        report = engine.run(plan, reason=reason, ticket=ticket, origin=ctx.origin, details=details)
    ctx.changes.append(report.change)
    return report


def _result(ctx: Context, plan: Plan, report: Report) -> Result:
    said = {id(r): f"{r.step.target}: {r.step.what}: {r.outcome}: {r.reason}" for r in report.failures}
    firsts = {r.step.target: r for r in reversed(report.results) if not r.outcome.good and not r.mending}
    notes = [f"change {report.change}, journal {ctx.journal.head}"]
    if report.interrupted:
        notes.append("interrupted: what was under way has ended, nothing more was started")
    if report.stopped:
        notes.append(f"{report.stopped}; resume {report.change} goes on with the cells that are left")
    return Result(
        records=[*ended_records(plan, report), *idle_records(plan)],
        columns=outcome_columns(plan, report),
        fold=True,
        notes=notes,
        problems=list(said.values()),
        told=[said[id(r)] for r in firsts.values() if id(r) in said],
        exit_code=report.exit_code,
    )


def _guarded(ctx: Context, plan: Plan, report: Report, result: Result, within: float) -> Result:
    """Leave a guardian behind the change, which takes it back unless it is confirmed in time."""
    from exacell.guardian import spawn

    if not any(r.outcome is Outcome.DONE and r.step.statement for r in report.results):
        return replace(result, notes=[*result.notes, "nothing was changed, so nothing waits to be confirmed"])
    change = ctx.finishing or report.change
    run = ctx.waiting_run
    if run is not None:
        run.changes[change] = plan.statement
        set_deadline(ctx.journal, ctx.need_rack().name, change, plan.statement, within, run=run.first, going_on=True)
        if run.first != change:
            return result
        note = f"change {change} and those that follow are taken back unless confirm {change} comes in time"
    else:
        until = set_deadline(ctx.journal, ctx.need_rack().name, change, plan.statement, within)
        note = f"change {report.change} is taken back at {until.astimezone():%H:%M:%S} (in {format_duration(within)}): "
        note += f"confirm {change} keeps it, undo {change} takes it back"
    ways = f"confirm {change} keeps it, undo {change} takes it back"
    try:
        spawn(ctx, change)
    except OSError as error:
        problem = f"change {change} has no guardian ({error.strerror}): nothing takes it back; {ways}"
        return replace(
            result, problems=[*result.problems, problem], exit_code=worst([result.exit_code, ExitCode.FAILED])
        )
    return replace(result, notes=[*result.notes, note])
