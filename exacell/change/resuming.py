"""Continue a change that did not come to its end: resume after a crash, retry where it failed."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace

from exacell.change.bringing_back import bring_back, start_and_mount
from exacell.change.changing import refuse_to_begin
from exacell.change.earlier import plan_row, refuse_running, root_of
from exacell.change.execute import execute
from exacell.change.pending import half_undone, newest_stopped, note_resumed
from exacell.change.probe import seen
from exacell.change.settling import drops_to_come, settle
from exacell.change.targets.kinds import Targets
from exacell.change.undoing import undo
from exacell.core.cellset import fold, grouped
from exacell.core.errors import ExitCode, RefusedError
from exacell.core.formats import AS_PRINTED
from exacell.journal.actor import actor
from exacell.journal.left import CACHES, caching_on, note_back
from exacell.journal.record import Row
from exacell.journal.rows import Planned
from exacell.journal.state import by_change
from exacell.language.line import with_call_flags
from exacell.language.registry import Value
from exacell.output.result import Result, together
from exacell.plan.rolling import manner_again, with_given
from exacell.session.given import Request, Services, Session
from exacell.session.runs import unfinished_runs

NOTHING = ["nothing is unfinished"]
"""The note if no change is unfinished."""


def unfinished(session: Session, services: Services, runs: Collection[str] = ()) -> list[Planned]:
    """Return the plan rows of the changes that resume continues, oldest first.

    These are: changes that never ended; the newest one that the user or a gate stopped and that no later change replaced; and the
    rack's newest change if it took back a part of another one and the rest was not taken back.

    Args:
        runs: journal keys of recipe runs that are continued as a whole: their changes are left out.
    """
    rack = session.need_rack().name
    rows = services.journal.unfinished(rack)
    newest = newest_stopped(services.journal, rack)
    if newest is not None:  # This change has an end, the others do not.
        rows = sorted([*rows, newest], key=lambda row: row.change)
    half = half_undone(services.journal, rack)
    if half is not None:
        rows.append(half)
    # If the undo of a change did not end, the undo is continued, not the change.
    going_back = {row.undoes for row in rows}
    return [row for row in rows if row.root not in going_back and row.run not in runs]


def resume(
    session: Session,
    services: Services,
    request: Request,
    flags: Mapping[str, Value],
    *,
    change: int | None = None,
    abandon: bool = False,
    runs: Collection[str] = (),
) -> Result:
    """Finish each unfinished change, or the one with the given number, and return all outcomes.

    Args:
        runs: journal keys of recipe runs whose changes are left out unless ``change`` names one.
        abandon: leave the change as it is and only record that it is not continued.

    Raises:
        RefusedError: the session is read-only; its process still runs; the change is not unfinished; or exacell can't read
            its work.
    """
    rack = session.need_rack().name
    _refuse_read_only(session, services, flags)
    rows = unfinished(session, services, runs if change is None else ())
    rows = [row for row in rows if change is None or row.change == change]
    if not rows and change is not None:
        # A number may also name a change that was stopped before others were made, such as a repair of a closed gate.
        state = services.journal.state(rack, change)
        if (
            state.stopped
            and not services.journal.gone_on_with(rack, change)
            and not _taken_back(session, services, change)
        ):
            rows = state.plans
    if not rows:
        if change is not None:
            raise RefusedError(f"change {change} of rack {rack} is not unfinished", hint="pending; journal show")
        return Result(notes=NOTHING)
    results = []
    for place, row in enumerate(rows, 1):
        refuse_running(services.journal, rack, row.change)
        if abandon:
            results.append(note_abandoned(session, services, row))
        else:
            results += finish(session, services, request, row, flags)
            results += _rest_of_recipe(session, services, row, results[-1])
            if session.interrupted.is_set() and place < len(rows):  # The rest is reported again at the next start.
                left = "interrupted: nothing more was started; `resume` continues"
                results.append(Result(notes=[left], exit_code=ExitCode.INTERRUPTED))
                break
    return replace(together(results), fold=True, data=True)


def _rest_of_recipe(session: Session, services: Services, row: Planned, ended: Result) -> list[Result]:
    """Return the note after a finished line of a recipe: the lines after it are not continued."""
    rack = session.need_rack().name
    first = plan_row(services.journal, rack, root_of(services.journal, rack, row.change))
    recipe = first.origin
    if ended.exit_code is not ExitCode.DONE or not recipe or " " in recipe:  # Others: resume 3, undo 3.
        return []
    ways = f"`run {recipe}` runs all lines"
    if any(run.key == first.run for run in unfinished_runs(services.store(), rack)):
        ways = "`resume` continues with them"
    note = f"change {row.change} was a line of recipe {recipe}; the lines after it were not run; {ways}"
    return [Result(notes=[note])]


def _taken_back(session: Session, services: Services, change: int) -> bool:
    """Return whether undo has taken back ``change``, or the change that it continued."""
    rack = session.need_rack().name
    return services.journal.state(rack, root_of(services.journal, rack, change)).undone


def _refuse_read_only(session: Session, services: Services, flags: Mapping[str, Value]) -> None:
    """Raise RefusedError if the session may not change the rack, before anything is journalled; a dry run only looks."""
    if not (flags.get("dry-run") or session.options.dry_run):
        refuse_to_begin(session, services)


def retry(session: Session, services: Services, request: Request, flags: Mapping[str, Value]) -> Result:
    """Repeat the newest change of the rack on exactly the targets on which it failed.

    Raises:
        RefusedError: the session is read-only; there is no change, it still runs, or it failed nowhere.
    """
    rack = session.need_rack().name
    _refuse_read_only(session, services, flags)
    last = services.journal.newest_plan(rack)
    if last is None:
        raise RefusedError(f"there is no change of rack {rack} to retry", hint="journal show")
    refuse_running(services.journal, rack, last.change)
    settle(session, services, last.change, wait=not (flags.get("dry-run") or session.options.dry_run))
    bad = _open_targets(session, services, last)
    held_up = (
        start_and_mount(session, services, request, root_of(services.journal, rack, last.change), _plain(flags), _FIRST)
        if bad
        else None
    )
    if held_up is not None:
        return held_up
    if not bad:
        _refuse_unread(services, last)
        raise RefusedError(
            f"change {last.change} ({last.statement}) did not fail on any cell",
            hint=f"journal show {last.change}",
        )
    result = again(session, services, request, last, f"retry {last.change}", bad, _in_its_manner(last, flags))
    return replace(together(_with_disks_back(session, services, request, last, flags, result)), fold=True, data=True)


def _refuse_unread(services: Services, row: Planned) -> None:
    """Raise RefusedError if a change without a plan did not succeed everywhere.

    Raises:
        RefusedError: exacell can't read its work, and it did not succeed on some target.
    """
    if row.plan is not None:
        return
    states = services.journal.state(row.rack, row.change).states
    bad = [target for (target, _), state in states.items() if state != "done"]
    if bad:
        raise RefusedError(
            f"change {row.change} ({row.statement}) did not end well on {fold(bad)}, but exacell can't read its "
            "text, so it is not repeated; nothing was sent",
            hint=f"check {fold(bad)} and type it again for them: `journal show {row.change}` shows each answer",
        )


def _with_disks_back(
    session: Session, services: Services, request: Request, row: Planned, flags: Mapping[str, Value], result: Result
) -> list[Result]:
    """Return the result of a finished change, followed by the result of bringing back disks that it left inactive."""
    if result.exit_code is not ExitCode.DONE or row.undoes:
        return [result]  # Undo does this for its own changes.
    root = root_of(services.journal, session.need_rack().name, row.change)
    brought = bring_back(session, services, request, root, _plain(flags), f"resume {row.change}")
    return [result] if brought is None else [result, brought]


def _open_targets(session: Session, services: Services, row: Planned) -> list[str]:
    """Return the targets of a change on which a step is not done or no longer proven, in the plan's order.

    A cell also counts if its last step was done but does not hold any more. If one target is a database node, all are returned:
    statements for ASM look at every cell.
    """
    rack = session.need_rack()
    state = services.journal.state(rack.name, row.change)
    targets = list(dict.fromkeys(step.target for step in row.wanted))
    bad = set(state.left)
    last = {step.target: step for step in row.wanted if step.chosen(rack.cells)}
    held = Targets(services.fleet, {}).failed({target: (step, step.proves) for target, step in last.items()})
    bad |= {target for target, failed in held.items() if failed}
    return targets if bad - set(rack.cells) - last.keys() else [target for target in targets if target in bad]


def finish(
    session: Session, services: Services, request: Request, row: Planned, flags: Mapping[str, Value]
) -> list[Result]:
    """Finish an unfinished change; return its result, and the result of bringing back disks that it left inactive.

    Raises:
        RefusedError: exacell can't read its work.
    """
    ended = _finish(session, services, request, row, flags)
    return _with_disks_back(session, services, request, row, flags, ended)


def _finish(session: Session, services: Services, request: Request, row: Planned, flags: Mapping[str, Value]) -> Result:
    back = row.undoes
    if back:
        return undo(session, services, request, [back], with_given(_manner(row), flags))
    if row.plan is None and row.detached:
        from exacell.change.detached import pick_up  # Few changes are like this.

        form = str(flags.get("format") or session.settings.format)
        dry_run = bool(flags.get("dry-run") or session.options.dry_run)
        return pick_up(session, services, row, dry=dry_run, printing=form in AS_PRINTED)
    if row.plan is None:
        raise RefusedError(
            f"change {row.change} ({row.statement}) has text that exacell can't read, so it can't be continued",
            hint=f"check the cells and run it again if needed; `resume {row.change} --abandon` ends the warning",
        )
    dry = flags.get("dry-run") or session.options.dry_run
    if not dry:
        found = settle(session, services, root_of(services.journal, session.need_rack().name, row.change))
        if found:
            told = ", ".join(f"{count} {_SEEN.get(state, state)}" for state, count in sorted(found.items()))
            services.console.say(f"change {row.change}: statements whose end was not recorded: {told}")
    targets = _open_targets(session, services, row)
    if not targets and not dry:
        return _nothing_left(session, services, row, f"resume {row.change}")
    held_up = start_and_mount(
        session,
        services,
        request,
        root_of(services.journal, session.need_rack().name, row.change),
        _plain(flags),
        _FIRST,
    )
    if held_up is not None:
        return held_up
    within = row.confirm_within
    kept: dict[str, Value] = {} if within is None else {"confirm-within": float(within)}
    return again(
        session, services, request, row, f"resume {row.change}", targets, _in_its_manner(row, {**kept, **flags})
    )


_SEEN = {"not done": "not found done"}
"""The words for a statement without an answer whose effect is not there: it may still happen."""

_FIRST = "so that resume can plan"
"""Origin of a change that resume needs before it can plan the rest; not the resumed change itself."""


def _plain(flags: Mapping[str, Value]) -> dict[str, Value]:
    """Return the flags without those about waves."""
    return {
        name: value
        for name, value in flags.items()
        if name not in ("rolling", "canary", "pause", "on-error", "not-after")
    }


def _manner(row: Planned) -> dict[str, Value]:
    return manner_again(row.rolling, [step for step, _ in row.steps])


def _in_its_manner(row: Planned, flags: Mapping[str, Value]) -> dict[str, Value]:
    """Return the flags for the rest of a change: of its statement, of its rolling, and ``flags``, which have priority.

    With --no-rolling all cells go together, and no flag about waves holds.
    """
    return with_given({**row.flags, **_manner(row)}, flags)


def note_abandoned(session: Session, services: Services, row: Planned) -> Result:
    """Record that a change is not continued, and return a note about that."""
    body = {"exitCode": int(ExitCode.INTERRUPTED), "done": {"abandoned": 1}, **actor()}
    services.journal.append(session.need_rack().name, row.change, [Row(kind="end", body=body)])
    return Result(notes=[f"change {row.change} ({row.statement}) stays as it is and is not continued"])


def again(
    session: Session,
    services: Services,
    request: Request,
    row: Planned,
    origin: str,
    targets: Sequence[str],
    flags: Mapping[str, Value],
) -> Result:
    """Plan and carry out a journalled statement again, on those ``targets`` that are cells or hosts.

    The work belongs to the change that it continues: undoing either one takes back both.
    """
    if session.interrupted.is_set():  # A statement that begins clears the interruption.
        way = "retry failed" if origin.startswith("retry ") else origin
        return Result(notes=[f"interrupted: nothing was started; `{way}` continues"], exit_code=ExitCode.INTERRUPTED)
    rack = session.need_rack()
    chosen = {step.target for step in row.wanted if step.chosen(rack.cells)}
    cells = [target for target in targets if target in chosen]
    statement = row.statement
    together = session.in_production(cells) and flags.get("no-rolling") and len(cells) > 1
    how = ", all cells together" if together else ""
    services.console.say(f"{origin}: {statement}" + (f" on {fold(cells)}{how}" if cells else ""))
    root = root_of(services.journal, rack.name, row.change)
    for told in (
        *drops_to_come(services.journal.whole_state(rack.name, root)),
        *_made_since(session, services, row, targets),
    ):
        services.console.say(told)
    line = with_call_flags(f"on {fold(cells)} {statement}" if cells else statement, flags)
    changes = len(session.changes)
    result = execute(
        session,
        services,
        replace(request, origin=origin, finishing=root),
        line,
    )
    dry = flags.get("dry-run") or session.options.dry_run
    if result.exit_code is ExitCode.DONE and not dry:
        if len(session.changes) == changes:
            _nothing_left(session, services, row, origin)
        else:
            _look_at_caches(session, services, root)
    return result


def _made_since(session: Session, services: Services, row: Planned, targets: Sequence[str]) -> Iterator[str]:
    """Yield a warning for each other change that worked on these targets since; the continued work may no longer be wanted."""
    rack = session.need_rack().name
    root = root_of(services.journal, rack, row.change)
    later = by_change(entry for entry in services.journal.after(row.change) if entry.rack == rack)
    for number, state in later.items():
        plan, touched = state.plan, {target for target, _ in state.did if target in targets}
        if plan is None or plan.finishes == root or plan.undoes or state.undone or not touched:
            continue
        where = fold(sorted(touched))
        yield f"since then change {number} ({plan.statement}) was made on {where}; the plan starts from its result"


def _nothing_left(session: Session, services: Services, row: Planned, origin: str) -> Result:
    """Record that a change needed nothing more, and which of its cells cache again."""
    rack = session.need_rack()
    root = root_of(services.journal, rack.name, row.change)
    note_resumed(services.journal, rack.name, row.statement, origin, root)
    _look_at_caches(session, services, root)
    return Result(notes=[f"change {row.change} ({row.statement}) is complete: there is nothing left to do"])


def _look_at_caches(session: Session, services: Services, root: int) -> None:
    """Record that caches which a change or its parts left off cache again; no later plan records this."""
    rack = session.need_rack().name
    left = CACHES.left(services.journal, rack)
    own = [item for item in left if root_of(services.journal, rack, item.change) == root]
    for cache, cells in grouped((item.cache, cell) for item in own for cell in item.cells).items():
        note_back(services.journal, rack, CACHES, caching_on(cache, seen(services.fleet, cells, cache)))
