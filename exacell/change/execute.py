"""Carry out one parsed line; every surface gets the same confirmation, read-only mode, journal and exit codes."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING

from exacell.cellcli.nodes import Change, Describe, List
from exacell.cellcli.schema import DBSERVER, ON_NODES
from exacell.core.cellset import fold
from exacell.core.errors import ExitCode, StatementError
from exacell.language.line import Line
from exacell.language.registry import Effect, commands, handler_of, wanted_by
from exacell.output.result import Result
from exacell.session.given import Request, Services, Session
from exacell.session.vault import refuse_forgotten

if TYPE_CHECKING:
    from exacell.plan.model import Planned


def execute(session: Session, services: Services, request: Request, line: Line, *, inside: bool = False) -> Result:
    """Carry out one parsed line and return its result; the surface does rendering, pipe and redirection.

    Args:
        request: the context of the line.
        inside: another statement carries this line out, and interruptions belong to that one.

    Raises:
        ExacellError: any failure; one line, with the way out.
    """
    if not inside:
        session.interrupted.clear()
    refuse_forgotten(line.text)
    if line.flags.get("confirm-within"):
        from exacell.journal.confirming import refuse_ungathered

        refuse_ungathered(line)
    seconds = line.flags.get("timeout")
    own = line.effect is Effect.READ and line.call is not None and isinstance(seconds, (int, float))
    timeout = float(seconds) if own and isinstance(seconds, (int, float)) else request.read_timeout
    with session.selection.on(_cells_of(session, services, line)) if line.on else nullcontext():
        if line.on and len(session.selection.hosts):
            _refuse_on_hosts(session, line)
        try:
            result = _answer(session, services, replace(request, line=line, read_timeout=timeout), line)
        finally:
            services.recognition.note()
    hint = session.not_running(result.problems) if result.exit_code is ExitCode.NOT_EXECUTED else ""
    return replace(result, notes=(*result.notes, hint)) if hint else result


def for_hosts(line: Line) -> bool:
    """Return whether a line may go to hosts other than cells: a command that takes them, or a statement of DBMCLI."""
    if line.call is not None:
        return line.call.command.hosts
    if isinstance(line.cellcli, Change):
        return line.cellcli.object == DBSERVER
    return isinstance(line.cellcli, (List, Describe)) and line.cellcli.object in ON_NODES


def _refuse_on_hosts(session: Session, line: Line) -> None:
    """Raise StatementError if a line may not go to the hosts that its ON names.

    Raises:
        StatementError: the line is for cells.
    """
    if for_hosts(line):
        return
    what = line.call.command.name if line.call is not None else line.text
    taken = ", ".join(command.name for command in commands().values() if command.hosts)
    raise StatementError(
        f"{what} is for cells, but {fold(session.selection.hosts)} "
        f"{'is a host' if len(session.selection.hosts) == 1 else 'are hosts'}; nothing was sent",
        hint=f"hosts take {taken}; hosts with DBMCLI also `list dbserver` and its other lists",
    )


def _cells_of(session: Session, services: Services, line: Line) -> str:
    """Return the cells of ON as a set in text form; a condition is judged by a new reading."""
    from exacell.cellcli.condition import is_condition

    if not is_condition(line.on):
        return line.on
    from exacell.session.wherecells import cells_of

    return cells_of(session, services, line.on, strict=line.effect is not Effect.READ)


def _answer(session: Session, services: Services, request: Request, line: Line) -> Result:
    call = line.call
    answer: Result | Planned
    if call is not None:
        if call.command.effect is Effect.WRITE:
            session.need_rack()
        if not call.command.dry_runs and session.options.over(call.flags).get("dry-run"):
            return Result(notes=(f"-n: {call.command.name} was not carried out",))
        handler = handler_of(call.command)
        given = {"session": session, "services": services, "request": request, "call": call}
        answer = handler(**{name: given[name] for name in wanted_by(handler)})
    elif line.cellcli is not None:
        from exacell.change.passthrough import pass_through

        answer = pass_through(session, services, request, line)
    else:
        raise StatementError("the line has no statement")
    if isinstance(answer, Result):
        return answer
    from exacell.change.changing import carry_out

    flags = session.options.over((call or line).flags)
    return carry_out(session, services, request, answer, flags, call.command.flags if call is not None else ())
