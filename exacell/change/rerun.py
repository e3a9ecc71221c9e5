"""Find out the end of a run's line whose process was killed, and finish the line if possible.

Changes that exacell planned are settled and finished like ``resume N``; a command that runs apart on hosts is followed again.
Unreadable work is repeated only if the user accepted that. Reads are repeated by the caller.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

from exacell.change.detached import GIVEN_ANEW, phrases, pick_up, standings
from exacell.change.execute import execute
from exacell.change.resuming import finish
from exacell.core.cellset import fold, grouped
from exacell.core.errors import ExitCode, RefusedError
from exacell.core.units import format_duration
from exacell.journal.record import Row
from exacell.journal.rows import Planned
from exacell.journal.state import GOOD, ChangeState, by_change
from exacell.language.line import Line, parse_line
from exacell.language.reading import read_until
from exacell.output.result import Result, together
from exacell.recipes.record import LineState
from exacell.session.detached import Stands
from exacell.session.given import Request, Services, Session


def parts_of(services: Services, rack: str, run: str, place: str, begun: LineState) -> list[ChangeState]:
    """Return the changes that a line made since it was begun, oldest first; for each its newest continuation.

    Changes of an ``undo run`` are left out: ``undo run`` continues by itself.
    """
    rows = services.journal.of_run(rack, run)
    own = [row for row in rows if row.place == place and row.seq > begun.head and not row.undoes]
    found = []
    for root in dict.fromkeys(row.root for row in own):
        found.append(list(by_change(services.journal.chain(rack, root)).values())[-1])
    return found


def is_unread(services: Services, state: ChangeState) -> bool:
    """Return whether a change sent work that exacell can't read and whose end can't be found out."""
    row = state.plan
    if row is None or row.plan is not None or state.end is not None or not state.unsettled:
        return False
    return not row.detached or any(each.stands is Stands.GONE for each in standings(services, row).values())


def stands(services: Services, state: ChangeState) -> str:
    """Return a text about the state of a line's change, for the question whether to continue."""
    row = state.plan
    if row is None:
        return ""
    change = f"change {row.change}"
    if state.end is not None:
        return f"{change} has ended" if state.end.exit_code == ExitCode.DONE else f"{change} has failed"
    if not state.intents:
        return f"{change}: nothing was sent"
    if row.detached and state.unsettled:
        return f"{change} is not started again: {'; '.join(phrases(standings(services, row)))}"
    if row.plan is None and state.unsettled:
        on = fold(dict.fromkeys(target for target, _ in state.unsettled))
        return f"{change} was sent to {on}: exacell can't read what it did there"
    told = grouped((_SAID.get(how, how), target) for (target, _), how in state.states.items())
    return f"{change}: " + "; ".join(f"{how} on {fold(dict.fromkeys(names))}" for how, names in told.items())


_SAID = {"no outcome": "not answered", "not done": "not found done"}


def end_of(
    session: Session, services: Services, request: Request, line: Line, begun: LineState, *, again: bool
) -> Result | None:
    """Finish the work that a line began and return the result; None if the line is to be carried out like a new one.

    Args:
        request: names the run and the place of the line in it.
        again: unreadable work with an unknown end may be carried out again.

    Raises:
        RefusedError: the work was taken back since, or its effects can't be known.
    """
    words = line.call.command.words if line.call is not None else ()
    rest = rest_of_wait(line, begun)
    if rest is not None:
        return _waited(session, services, request, line, rest)
    results: list[Result] = []
    for state in parts_of(services, session.need_rack().name, request.run, request.place, begun):
        if words == ("experiment",) and state.end is not None:
            continue  # The experiment itself judges the results of its runs.
        ended = _ended(session, services, request, line, state, again=again)
        results += ended
        if any(result.exit_code is not ExitCode.DONE for result in ended):
            break
    return together(results) if results and words != ("experiment",) else None


def _ended(
    session: Session, services: Services, request: Request, line: Line, state: ChangeState, *, again: bool
) -> list[Result]:
    """Return the results of one change of a line; empty if the line is to be carried out again."""
    row, end = state.plan, state.end
    if row is None:
        return []
    if services.journal.whole_state(row.rack, row.root).undone:
        raise RefusedError(
            f"change {row.root} ({row.statement}) was taken back since; nothing was sent",
            hint="`resume --abandon` runs only the rest of its finally",
        )
    if end is None:
        return _finished(session, services, request, line, row, state, again=again)
    if GIVEN_ANEW in end.done and end.exit_code in (ExitCode.DONE, ExitCode.INTERRUPTED):
        return []
    note = f"change {row.change} ({row.statement})"
    if end.exit_code == ExitCode.DONE:
        return [Result(notes=[f"{note} was done"])]
    code = ExitCode.FAILED if end.exit_code is None else ExitCode(end.exit_code)
    return [Result(problems=[f"{note} was not complete; `journal show {row.change}` shows why"], exit_code=code)]


def _finished(
    session: Session,
    services: Services,
    request: Request,
    line: Line,
    row: Planned,
    state: ChangeState,
    *,
    again: bool,
) -> list[Result]:
    if row.plan is not None:
        return finish(session, services, request, row, line.flags)
    if row.detached:
        gone = [host for host, each in standings(services, row).items() if each.stands is Stands.GONE]
        anew = gone if again else []
        found = [pick_up(session, services, row, dry=False, but=anew)]
        if anew and found[0].exit_code is ExitCode.DONE:
            found.append(execute(session, services, request, replace(line, on=fold(anew))))
        return found
    open_ = list(dict.fromkeys(target for target, _ in state.unsettled))
    bad = [target for (target, _), how in state.states.items() if how not in GOOD and target not in open_]
    if not state.intents or (open_ and again and not bad):
        _end(services, row, ExitCode.INTERRUPTED, {GIVEN_ANEW: max(1, len(open_))})
        if open_ and line.call is not None and line.call.command.words in _TAKE_ON:
            return [execute(session, services, request, replace(line, on=fold(open_)))]
        return []
    if open_:
        _end(services, row, ExitCode.INTERRUPTED, {"abandoned": len(open_)})
        raise RefusedError(
            f"change {row.change} ({row.statement}) was running on {fold(open_)}, and exacell can't read what "
            "it did there; it is not run again"
        )
    code = ExitCode.FAILED if bad else ExitCode.DONE
    _end(services, row, code, {})
    told = f"change {row.change} ({row.statement}) "
    return [
        Result(problems=[f"{told}failed on {fold(bad)}"], exit_code=code) if bad else Result(notes=[f"{told}was done"])
    ]


_TAKE_ON = (("sh",), ("copy",))
"""Unreadable commands that can be sent to only some of their targets."""


def _end(services: Services, row: Planned, code: ExitCode, done: dict[str, int]) -> None:
    services.journal.append(row.rack, row.change, [Row(kind="end", body={"exitCode": int(code), "done": done})])


def rest_of_wait(line: Line, begun: LineState) -> float | None:
    """Return the remaining seconds of a line's wait; None for a wait that ends with a check."""
    call = line.call
    if call is None or call.command.words != ("wait",):
        return None
    until = read_until(call.text_arg("what"), bounded=bool({"every", "for"} & call.args.keys()))
    if not isinstance(until, float):
        return None
    passed = (datetime.now(UTC) - datetime.fromisoformat(begun.at)).total_seconds()
    return min(until, max(0.0, until - passed))


def _waited(session: Session, services: Services, request: Request, line: Line, rest: float) -> Result:
    note = f"{line.text}: {format_duration(rest)} of it are left"
    shorter = parse_line(f"wait {rest:.3f}s", shell=False)
    if shorter is None or not rest:
        return Result(notes=[note])
    services.console.say(note)
    return execute(session, services, request, shorter)
