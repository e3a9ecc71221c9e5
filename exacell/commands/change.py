"""Commands of change control: stored plans, resume, retry and undo; and the rack's lock."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial

from exacell.cellcli.secrets import holds_secret
from exacell.change.changing import UNSENT
from exacell.change.earlier import newest_to_undo, run_to_undo
from exacell.change.execute import execute
from exacell.change.leftovers import look, look_at_caches
from exacell.change.lockwatch import SETTLES
from exacell.change.pending import pending as pending_on
from exacell.change.racklock import LockedError, describe, lock_in
from exacell.change.recipeplan import WITHOUT, not_copied, plan_run, rehearsed
from exacell.change.recipeready import make_ready
from exacell.change.reciperun import RecipeRunner
from exacell.change.resuming import NOTHING, resume as go_on, retry as once_more
from exacell.change.runs import go_on as go_on_with_run
from exacell.change.undoing import undo as take_back
from exacell.commands.experiments import end as end_experiment, go_on as go_on_with
from exacell.commands.rehearsal.trial import rehearse as try_out
from exacell.core.cellset import fold
from exacell.core.errors import ExitCode, RefusedError, StatementError
from exacell.core.units import counted
from exacell.journal.actor import actor
from exacell.journal.record import Row
from exacell.language.line import with_call_flags
from exacell.language.registry import Call, Effect
from exacell.output.changes import lock_sentence
from exacell.output.result import Column, Result, together, worst
from exacell.output.style import wrapped
from exacell.recipes.answers import is_planned, reads
from exacell.session.given import Services, Session
from exacell.session.holding import held_line, holder_of
from exacell.session.request import Request
from exacell.session.runs import changes_of_run, ended_runs, left_runs, run_lives, unfinished_runs
from exacell.session.saved import (
    Expected,
    SavedPlan,
    flatten,
    kept_flags,
    stages_json,
)
from exacell.session.store import Store
from exacell.session.trials import conducted_elsewhere, left_line, unfinished
from exacell.transport.held.steering import Stands


def plan(session: Session, services: Services, request: Request, call: Call) -> Result:
    """Return the planned steps; nothing is sent."""
    line = with_call_flags(call.text_arg("statement"), {**call.flags, "dry-run": True})
    if line.call is not None and line.call.command.words == ("run",):
        return _plan_of_run(session, services, request, call, line.call)
    if call.text_arg("as") and holds_secret(line.text):
        raise RefusedError("a plan with a password or key can't be kept; nothing was kept", hint="plan it without as=")
    if not is_planned(line):
        if reads(line):
            raise StatementError(
                f"'{line.text}' changes nothing, so there is nothing to plan", hint="run it without plan"
            )
        raise StatementError(f"'{line.text}' is not a single change, so it can't be kept as a plan", hint=_SHOWN)
    name = call.text_arg("as")
    if name and line.effect is not Effect.WRITE:
        raise StatementError(
            "a kept plan holds a change of cells or of ASM, and this one is for a database; nothing was kept",
            hint=f"`plan {line.whole}` shows it; a recipe keeps it",
        )
    result = execute(session, services, request, line)
    said = "nothing was sent"
    if name and result.planned is not None:
        facts = result.planned.facts
        # If it is applied in another session, it must go to the same cells.
        some = () if set(session.cells()) == set(session.need_rack().cells) else session.cells()
        kept = line if line.on else replace(line, on=fold(some))
        saved = SavedPlan(
            name=name,
            rack=session.need_rack().name,
            statement=kept.whole,
            cells=tuple(facts),
            facts={cell: flatten(fact) for cell, fact in facts.items()},
            stages=stages_json(result.planned.plan),
            made=datetime.now(UTC).isoformat(timespec="seconds"),
            flags=kept_flags(line.flags),
        )
        Store(session.home.state_dir / "store.db").save_plan(saved)
        said = f"nothing was sent; kept as {name}: apply {name} carries it out"
    # The user did not type the -n that the note mentions.
    return replace(result, notes=[said if note == UNSENT else note for note in result.notes])


_SHOWN = "with dcli, sh and copy, -n shows which parts change cells"


def _plan_of_run(session: Session, services: Services, request: Request, call: Call, run: Call) -> Result:
    """Return the plans of a recipe's lines; each is made from the current state of the rack."""
    if call.text_arg("as"):
        raise StatementError(
            "a kept plan has one change, but a recipe plans each line when it gets there; nothing was kept",
            hint=f"`plan {run.text}` shows all of them",
        )
    ready = make_ready(session, services, request, run.text_arg("name"), run.extra)
    title = f": {ready.recipe.title}" if ready.recipe.title else ""
    services.console.say(f"recipe {ready.recipe.name} on {session.need_rack().name}{title}")
    return plan_run(session, services, request, ready, run.flags)


def rehearse(session: Session, services: Services, request: Request, call: Call) -> Result:
    """Return one record per attribute that the statement would change.

    Raises:
        StatementError: it changes nothing, or it is for something that a copy does not have.
    """
    line = with_call_flags(call.text_arg("statement"), {**call.flags, "yes": True})
    if line.effect is not Effect.READ and (kind := not_copied(session, line)):
        raise StatementError(
            f"a copy of a rack has no {kind}: {line.whole}; nothing was rehearsed",
            hint=f"`plan {line.whole}` shows what it would do" if line.effect is Effect.WRITE else "",
        )
    if line.effect is not Effect.WRITE and not (line.call is not None and line.call.command.words == ("run",)):
        raise StatementError(
            f"'{line.text}' changes nothing that a copy of the rack has, so there is nothing to rehearse",
            hint="run it without rehearse",
        )
    given = call.args.get("without")
    without = tuple(word.lower() for word in given) if isinstance(given, tuple) else ()
    unknown = next((word for word in without if word not in WITHOUT), "")
    if unknown:
        raise StatementError(f"without={unknown}: give one or more of {', '.join(WITHOUT)}")
    if line.call is None or line.call.command.words != ("run",):
        return try_out(session, services, partial(execute, request=Request(), line=line))
    return _rehearse_run(session, services, request, line.call, without)


def _rehearse_run(session: Session, services: Services, request: Request, run: Call, without: Sequence[str]) -> Result:
    """Return the changes that a recipe's run would make; its values are read from the rack itself.

    Raises:
        RecipeError: it needs something that a copy does not have, and ``without`` does not name it.
    """
    whole = make_ready(session, services, request, run.text_arg("name"), run.extra)
    ready, left = rehearsed(session, whole, without)
    for said in left:
        services.console.say(f"left out, because the copy does not have it: {said}")

    def carry_out(session: Session, services: Services) -> Result:
        return RecipeRunner(session, services, Request(run="rehearsal"), ready, run).run()

    result = try_out(session, services, carry_out)
    more = [f"{counted(len(left), 'line')} left out, because the copy does not have what they need"] if left else []
    return replace(result, notes=[*more, *result.notes])


def apply(session: Session, services: Services, request: Request, call: Call) -> Result:
    """Return one record per target with its outcome."""
    rack = session.need_rack()
    saved = services.store().find_plan(rack.name, call.text_arg("name"), (*rack.cells, *rack.host_names))
    line = with_call_flags(saved.statement, saved.flags_with(call.flags))
    expected = Expected(saved)
    try:
        return execute(
            session,
            services,
            replace(request, expected=expected),
            line,
        )
    except RefusedError as error:
        if expected.moved is None or expected.moved is error:
            raise
        raise expected.moved from error  # It explains more than the planner's error.


def plans(session: Session, services: Services, call: Call) -> Result:
    """Return one record per stored plan: name, time when it was made, number of cells, statement."""
    found = services.store().plans(session.need_rack().name)
    rows = [{"cell": None, "name": p.name, "made": p.made, "cells": len(p.cells), "statement": p.line} for p in found]
    return Result(records=rows, columns=[Column(n) for n in ("name", "made", "cells", "statement")], data=True)


def resume(session: Session, services: Services, request: Request, call: Call) -> Result:
    """Return the outcomes of all resumed changes, and the results of the experiments that were continued.

    A cache that is still off after an interruption or failure is a problem, so the result is then never successful. A cache
    that was dropped on purpose is not a problem.
    """
    result = _resumed(session, services, request, call)
    off = look_at_caches(session, services)
    if not off or result.planned is not None:  # A plan that is only shown will bring them back.
        return result
    notes = [note for note in result.notes if note not in NOTHING]
    code = worst([result.exit_code, ExitCode.FAILED])
    return replace(result, notes=notes, problems=[*result.problems, *off], exit_code=code)


def _resumed(session: Session, services: Services, request: Request, call: Call) -> Result:
    own = {name: value for name, value in call.flags.items() if name != "abandon"}
    change, abandon, rack = call.int_arg("change"), call.flag("abandon"), session.need_rack().name
    runs = unfinished_runs(services.store(), rack) if change is None else []
    # A run that a living process carries out is refused only if there is no other run.
    left = [run for run in runs if not run_lives(services.journal, run)] or runs
    result = go_on(
        session, services, request, own, change=change, abandon=abandon, runs=frozenset(run.key for run in runs)
    )
    if change is not None or result.exit_code is not ExitCode.DONE or session.interrupted.is_set():
        return result
    results = [] if result.notes == NOTHING else [result]
    for run in left:  # The newest one first, because it began with the state that the others had left.
        results.append(go_on_with_run(session, services, request, run, own, abandon=abandon))
        if results[-1].exit_code is not ExitCode.DONE or session.interrupted.is_set():
            return replace(together(results), data=True, draw=results[-1].draw)
    # Changes and runs come first: the rest of an experiment begins with their state.
    for found in unfinished(services.store(), rack):
        results.append(
            end_experiment(session, services, request, found, own)
            if abandon
            else go_on_with(session, services, request, found, own)
        )
    if not results:
        return result
    return results[0] if len(results) == 1 else replace(together(results), data=True)


def retry(session: Session, services: Services, request: Request, call: Call) -> Result:
    """Return the outcomes on the cells that are tried again."""
    return once_more(session, services, request, call.flags)


def undo(session: Session, services: Services, request: Request, call: Call) -> Result:
    """Return one record per target with its outcome; without a number, the newest change or its run is taken back."""
    number = call.int_arg("change")
    if number is None:
        number = newest_to_undo(session, services)
        if (run := run_to_undo(session, services, number)) is not None:
            services.console.say(
                f"this takes back the whole run {run.name} ({run.statement}); to take back only change "
                f"{number}, type `undo {number}`"
            )
            changes = changes_of_run(services.store(), services.journal, run.rack, run.name)
            return take_back(session, services, request, changes, call.flags, whole=True)
    return take_back(session, services, request, [number], call.flags)


def undo_run(session: Session, services: Services, request: Request, call: Call) -> Result:
    """Return one record per target with its outcome.

    Raises:
        RefusedError: there is no such run, or it has not ended.
    """
    rack, name = session.need_rack().name, call.text_arg("run")
    if name:
        return take_back(
            session,
            services,
            request,
            changes_of_run(services.store(), services.journal, rack, name),
            call.flags,
            whole=True,
        )
    here = [number for number in session.changes if services.journal.entries(rack=rack, change=number)]
    result = take_back(session, services, request, here, call.flags, whole=True)
    ended = [] if here else ended_runs(services.store(), rack)
    newest = [f"`undo run {run.name}` takes back the newest run ({run.statement})" for run in ended[:1]]
    return replace(result, notes=[*result.notes, *newest]) if newest else result


def pending(session: Session, services: Services, call: Call) -> Result:
    """Return one record per change or run that has not ended: its state, its statement, and what to do about it."""
    store, rack = services.store(), session.need_rack().name
    runs = left_runs(store, services.journal, rack)
    left, notes = look(session, services, frozenset(run.key for run, _ in runs))
    rows = [
        {
            "cell": None,
            "change": p.change,
            "state": p.state,
            "statement": p.statement or None,
            "mend": p.mend,
            "says": p.sentence,
        }
        for p in left
    ]
    told = [(run.statement, says) for run, says in runs]
    told += [(each.statement, left_line(each)) for each in unfinished(store, rack) if not conducted_elsewhere(each)]
    rows += [
        {"cell": None, "change": None, "state": "unfinished", "statement": statement, "mend": "resume", "says": says}
        for statement, says in told
    ]
    columns = [*(Column(n) for n in ("change", "state", "mend")), Column("says", "prose")]
    held = holder_of(session, services)
    if held is not None and held[1].stands is not Stands.NONE:
        notes = (*notes, f"{held_line(held[1])}; `hold off` ends it")
    return Result(records=rows, columns=columns, data=True, notes=list(notes))


def lock(session: Session, services: Services, call: Call) -> Result:
    """Return one record about the lock.

    Raises:
        RefusedError: another user holds it.
        JournalError: the reason can't be recorded.
    """
    lock = lock_in(session)
    flags = session.options.over(call.flags)
    reason, ticket = (str(flags.get(name) or "") for name in ("reason", "ticket"))
    reason = "; ".join(filter(None, (call.text_arg("reason"), reason)))
    if reason or ticket:
        services.journal.refuse_damaged()
    new = lock.take(kept=True)
    if new and (reason or ticket):
        _record(session, services, "lock", reason, ticket)
    notes = [] if new else [f"you already hold the lock of rack {lock.rack}"]
    return _lock_result(describe(lock.holder(), lock), notes)


def _record(session: Session, services: Services, statement: str, reason: str, ticket: str) -> None:
    """Write a journal entry about the lock; nothing is sent to cells."""
    rack = session.need_rack().name
    change = services.journal.begin(rack, {"statement": statement, "reason": reason, "ticket": ticket, **actor()})
    services.journal.append(rack, change, [Row(kind="end", body={"exitCode": 0})])


def unlock(session: Session, services: Services, call: Call) -> Result:
    """Release the lock; return a note that names who held it.

    Raises:
        LockedError: another user holds it.
        JournalError: a takeover could not be recorded; the lock stays.
    """
    lock, rack = lock_in(session), session.need_rack().name
    takeover = call.flag("takeover")
    if takeover:
        services.journal.refuse_damaged()  # The journal names both owners.
    forgotten: list[str] = []
    try:
        lock.holder()
        forgotten = [holder.trace for holder in lock.left_by_others()] if takeover else []
        held = str(lock.give_back(takeover=takeover) or "")
    except LockedError:
        if not takeover:
            raise
        lock.give_back(takeover=True)
        held = "somebody (its file is damaged, the name is lost)"
    elsewhere = _changes_elsewhere(services, rack) if takeover and not held else ""
    if forgotten and not held and not elsewhere:
        return Result(notes=[f"rack {rack} is not locked", *(f"told no more: {said}" for said in forgotten)])
    if not held and not elsewhere:
        return Result(notes=[f"rack {rack} is not locked"])
    if takeover:
        statement = f"unlock --takeover from {held or elsewhere}"
        _record(session, services, statement, call.flag_text("reason"), call.flag_text("ticket"))
        # Wait, so that statements which the old owner had already sent arrive before anything is read.
        time.sleep(SETTLES)
    if not held:
        return Result(notes=[f"rack {rack} is not locked; {elsewhere} now counts as ended: `resume` continues it"])
    return Result(notes=[f"rack {rack} was locked by {held}; the lock is removed"])


def _changes_elsewhere(services: Services, rack: str) -> str:
    """Return the changes of the rack that other hosts are carrying out, according to the journal; empty for none."""
    found = [item.change for item in pending_on(services.journal, rack) if item.state == "elsewhere"]
    return f"change {', '.join(map(str, found))} of another host" if found else ""


def show_lock(session: Session, call: Call) -> Result:
    """Return one record about the lock."""
    lock = lock_in(session)
    row = describe(lock.holder(), lock)
    return _lock_result(row, [holder.trace for holder in lock.left_by_others()])


def _lock_result(row: Mapping[str, object], notes: Sequence[str] = ()) -> Result:
    """Return a record about the lock; a terminal shows it as a sentence."""

    def draw(width: int | None, color: bool, header: bool) -> Iterator[str]:
        yield from wrapped(lock_sentence(row, zone=None), width)

    names = (
        ("rack", "locked", "user", "host", "pid", "since", "change", "kept", "lives")
        if row["locked"]
        else ("rack", "locked")
    )
    return Result(records=[row], columns=[Column(name) for name in names], data=True, notes=notes, draw=draw)
