"""Carry one parsed line out: whatever the surface, confirming, read-only mode, the journal and exit codes are the same."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING

from exacell.core.errors import ExitCode, StatementError
from exacell.language.registry import Effect, handler_of, wanted_by
from exacell.output.result import Result
from exacell.session.vault import refuse_forgotten

if TYPE_CHECKING:
    from exacell.language.line import Line
    from exacell.plan.model import Planned
    from exacell.session.context import Context
    from exacell.session.request import Request


def execute(ctx: Context, line: Line, request: Request | None = None) -> Result:
    """Carry one parsed line out and return its result; rendering, pipe and redirection are the surface's.

    Args:
        request: what surrounds the line; that of the statement which runs it when there is none.

    Raises:
        ExacellError: whatever went wrong; one line, with the way out.
    """
    ctx.interrupted.clear()
    refuse_forgotten(line.text)
    if line.flags.get("confirm-within"):
        from exacell.journal.confirming import refuse_ungathered

        refuse_ungathered(line)
    request = request or ctx.request
    seconds = line.flags.get("timeout")
    own = line.effect is Effect.READ and line.call is not None and isinstance(seconds, (int, float))
    timeout = float(seconds) if own and isinstance(seconds, (int, float)) else request.read_timeout
    with ctx.selection.on(_cells_of(ctx, line)) if line.on else nullcontext():
        result = _answer(ctx.on_behalf(replace(request, line=line, read_timeout=timeout)), line)
    hint = ctx.session.not_running(result.problems) if result.exit_code is ExitCode.NOT_EXECUTED else ""
    return replace(result, notes=(*result.notes, hint)) if hint else result


def _cells_of(ctx: Context, line: Line) -> str:
    """Return the cells of ON as a set; a condition is judged by a fresh reading."""
    from exacell.cellcli.condition import is_condition

    if not is_condition(line.on):
        return line.on
    from exacell.session.wherecells import cells_of

    return cells_of(ctx, line.on, strict=line.effect is not Effect.READ)


def _answer(ctx: Context, line: Line) -> Result:
    call = line.call
    answer: Result | Planned
    if call is not None:
        if call.command.effect is Effect.WRITE:
            ctx.need_rack()
        if not call.command.dry_runs and ctx.flags_of(call).get("dry-run"):
            return Result(notes=(f"-n: {call.command.name} was not carried out",))
        handler = handler_of(call.command)
        given = {
            "ctx": ctx,
            "session": ctx.session,
            "services": ctx.services,
            "request": ctx.request,
            "call": call,
        }
        answer = handler(**{name: given[name] for name in wanted_by(handler)})
    elif line.cellcli is not None:
        from exacell.change.passthrough import pass_through

        answer = pass_through(ctx, line)
    else:
        raise StatementError("the line holds no statement")
    if isinstance(answer, Result):
        return answer
    from exacell.change.changing import carry_out

    flags = ctx.options.over((call or line).flags)
    return carry_out(ctx, answer, flags, call.command.flags if call is not None else ())
