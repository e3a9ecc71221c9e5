"""Carry out and save runs of recipes, and continue them after a kill, in one screen with one question."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import chdir
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from exacell.cellcli.secrets import MASK, all_places, masked
from exacell.change.changing import asked, refuse_to_begin
from exacell.change.earlier import attempts, refuse_running
from exacell.change.racklock import lock_in
from exacell.change.recipeready import make_ready, read_values
from exacell.change.reciperun import PASSED_ON, RecipeRunner
from exacell.change.rerun import is_unread, parts_of, rest_of_wait, stands
from exacell.change.resuming import note_abandoned
from exacell.change.settling import settle
from exacell.change.waves import KEPT_OF_WAVES, OF_WAVES, TOGETHER
from exacell.core.cellset import CellSet
from exacell.core.errors import ExacellError, ExitCode, RefusedError
from exacell.core.units import counted, format_duration
from exacell.core.values import dataclass
from exacell.journal.rows import Actor
from exacell.language.line import parse_line
from exacell.language.reading import shown_beside
from exacell.language.registry import Effect
from exacell.output.result import Result
from exacell.recipes.files import load_recipe
from exacell.recipes.filled import values_of
from exacell.recipes.record import ABANDONED, BEGUN, DONE, FAILED, RUNNING, STOPPED, LineState, Run
from exacell.session.runs import Track, new_name, newest_row, run_lives, unfinished_runs
from exacell.session.vault import refuse_forgotten

if TYPE_CHECKING:
    from exacell.change.recipeready import Ready, ReadyLine
    from exacell.journal.rows import Planned
    from exacell.journal.state import ChangeState
    from exacell.language.registry import Call, Value
    from exacell.plan.rolling import Asked
    from exacell.session.request import Request
    from exacell.session.services import Services
    from exacell.session.state import Session


def begin(session: Session, services: Services, ready: Ready, call: Call) -> Track:
    """Save a run that begins, and return the Track that saves the state of its lines."""
    store, rack = services.store(), session.need_rack()
    hidden = _secrets(ready)
    used = session.selection.now
    run = Run(
        name=new_name(store, rack.name),
        rack=rack.name,
        statement=_without(hidden, call.text),
        recipe=ready.name,
        began=datetime.now(UTC).isoformat(timespec="milliseconds"),
        given={name: _without(hidden, text) for name, text in ready.given.items()},
        files={part.name: os.path.abspath(part.recipe.path) for part in ready.all()},
        texts={part.name: masked(part.recipe.text) for part in ready.all()},
        values={part.place: {n: _without(hidden, v) for n, v in part.values.items()} for part in ready.all()},
        targets={part.place: part.targets for part in ready.all()},
        flags={n: v for n, v in session.options.over(call.flags).items() if n in PASSED_ON | KEPT_OF_WAVES},
        cells="" if used == CellSet(rack.cells) else str(used),
        folder=os.getcwd(),
        head=newest_row(services.journal),
    )
    track = Track(store, services.journal, run)
    track.take(RUNNING)
    return track


def _secrets(ready: Ready) -> frozenset[str]:
    """Return the passwords and keys in the lines of a run."""
    texts = [each.line.text for each in ready.every()]
    return frozenset(text[start:end].strip("\\\"'") for text in texts for start, end in all_places(text)) - {""}


def _without(hidden: frozenset[str], text: str) -> str:
    for secret in hidden:
        text = text.replace(secret, MASK)
    return masked(text)


def carry_out(
    session: Session,
    services: Services,
    request: Request,
    ready: Ready,
    call: Call,
    track: Track,
    turns: Asked = TOGETHER,
    *,
    last: str = DONE,
) -> Result:
    """Carry out the rest of a run, save its end and return the answers of its reading lines.

    Args:
        last: the state to save at its end.
    """
    services.more_to_come = True
    runner = RecipeRunner(session, services, request, ready, call, track, turns)
    try:
        result = runner.run()
    except ExacellError:
        track.take(last)  # No line of it was begun.
        raise
    track.take(STOPPED if runner.unsettled else last)
    if runner.unsettled:
        note = f"run {track.run.name}: `resume` tries the failed lines of its finally again"
        return replace(result, notes=[*result.notes, note])
    return result


# -- resuming ----------------------------------------------------------------------------------------------------------

_TO_DO, _UNDER_WAY, _LEFT_OUT = "to do", "under way", "left out"


@dataclass(frozen=True, kw_only=True)
class _Line:
    """A line of a run that runs no inner recipe, with its place, and its state: done, failed, to do, under way or left out."""

    place: str
    ready: ReadyLine
    final: bool
    state: LineState
    how: str


def _lines(ready: Ready, states: Mapping[str, LineState], *, final: bool = False, over: bool = False) -> list[_Line]:
    """Return the lines of a run in the order in which they are carried out.

    Args:
        final: a final line runs this recipe.
        over: no line of it will be carried out.
    """
    found: list[_Line] = []
    stopped = over
    for last in (False, True):
        for number, each in enumerate(ready.lines, start=1):
            if each.source.final is not last:
                continue
            place = f"{ready.place}{number}"
            state = states.get(place, LineState(state=""))
            skipped = over or (stopped and not last)
            if each.inner is not None:
                inner = _lines(each.inner, states, final=final or last, over=skipped or state.state in (DONE, FAILED))
                found += [replace(line, how=DONE) for line in inner] if state.state == DONE else inner
                failed = state.state == FAILED or any(
                    line.how == FAILED and not line.ready.source.final for line in inner
                )
            else:
                how = {DONE: DONE, BEGUN: _UNDER_WAY, FAILED: _TO_DO if last else FAILED, "": _TO_DO}[state.state]
                how = _LEFT_OUT if skipped and how != DONE else how
                found.append(_Line(place=place, ready=each, final=final or last, state=state, how=how))
                failed = how == FAILED
            stopped = stopped or (failed and not last)
    return found


def go_on(
    session: Session, services: Services, request: Request, run: Run, flags: Mapping[str, Value], *, abandon: bool
) -> Result:
    """Show the state of a broken-off run and what would be done, ask, and do that.

    Args:
        abandon: carry out only its finally.

    Raises:
        RefusedError: a living process carries it out, somebody else has the rack, something differs, or nobody agreed; nothing
            was sent.
    """
    given = session.options.over(flags)
    if run_lives(services.journal, run):
        who = Actor.of(run.who)
        raise RefusedError(
            f"run {run.name} ({run.statement}) is being run by process {who.pid} on {who.host}",
            hint="wait until it ends, or end that process first",
        )
    lock_in(session).refuse_held()
    if not os.path.isdir(run.folder):
        raise RefusedError(
            f"run {run.name} began in the folder {run.folder}, which no longer exists",
            hint="create it, then type `resume`",
        )
    with chdir(run.folder), session.selection.using(run.cells):
        return _GoingOn(session, services, request, run, given, abandon=abandon).all()


class _GoingOn:
    """Continues one run."""

    def __init__(
        self,
        session: Session,
        services: Services,
        request: Request,
        run: Run,
        given: Mapping[str, Value],
        *,
        abandon: bool,
    ) -> None:
        self._session, self._services, self._request = session, services, request
        self._run, self._given, self._abandon = run, given, abandon
        self._dry = bool(given.get("dry-run"))
        self._flags = {**run.flags, **{name: value for name, value in given.items() if name in PASSED_ON | OF_WAVES}}
        self._turns = asked({name: value for name, value in self._flags.items() if name in OF_WAVES})
        self._track = Track(services.store(), services.journal, run)
        self._ready = make_ready(session, services, request, run.recipe, run.given, run=run)
        self._lines = _lines(self._ready, self._track.lines)
        self._told: list[str] = []
        """Lines about values that differ from those before the plan because the run itself changed them."""

    def all(self) -> Result:
        """Continue the run, as far as the user agrees."""
        if not self._dry:
            refuse_to_begin(self._session, self._services)
            self._services.journal.refuse_damaged()
        parts = self._under_way()
        if self._abandon:
            self._lines = _lines(self._ready, {**self._track.lines, **self._abandoned()})
        for line in self._lines:
            if line.how in (_TO_DO, _UNDER_WAY):
                self._refuse_forgotten(line)
        differs = [] if self._abandon else list(self._differences())
        for said in self._screen(parts, differs, most=_MOST):
            self._services.console.say(said)
        if self._dry:
            return Result(notes=["-n: nothing was sent"])
        self._agree(parts, differs)
        states = [state for states in parts.values() for state in states]
        unread = next((state for state in states if is_unread(self._services, state)), None)
        self._track.again = unread is not None and not self._abandon and self._again(unread)
        self._claim()
        for place in self._abandoned() if self._abandon else ():
            self._track.note(place, FAILED, _GIVEN_UP)
        return self._carried_out(states)

    def _under_way(self) -> dict[str, list[ChangeState]]:
        """Return, by place, the changes of the lines that were under way, after settling the outcome of each statement."""
        journal, rack = self._services.journal, self._run.rack
        found: dict[str, list[ChangeState]] = {}
        for line in self._lines:
            if line.how != _UNDER_WAY:
                continue
            parts = parts_of(self._services, rack, self._run.key, line.place, line.state)
            for state in parts:
                if state.plan is not None:
                    refuse_running(journal, rack, state.plan.root)
                    if not self._dry:
                        settle(self._session, self._services, state.plan.root)
            found[line.place] = parts_of(self._services, rack, self._run.key, line.place, line.state)
        return found

    def _abandoned(self) -> dict[str, LineState]:
        """Return place → state in which the next line of each begun recipe counts as failed; then only final lines remain."""
        failed: dict[str, LineState] = {}

        def mark(ready: Ready) -> None:
            for number, each in enumerate(ready.lines, start=1):
                place = f"{ready.place}{number}"
                state = self._track.lines.get(place, LineState(state="")).state
                if each.source.final or state == DONE:
                    continue
                if state == BEGUN and each.inner is not None:
                    mark(each.inner)
                elif state != FAILED:
                    failed[place] = LineState(state=FAILED, said=_GIVEN_UP)
                return

        mark(self._ready)
        return failed

    def _refuse_forgotten(self, line: _Line) -> None:
        try:
            refuse_forgotten(line.ready.line.text)
        except RefusedError as error:
            raise RefusedError(
                f"run {self._run.name}, {line.ready.place}: {error.message}",
                hint="`resume --abandon` runs only its finally; then run it again",
            ) from error

    # -- what differs ------------------------------------------------------------------------------------------------

    def _differences(self) -> Iterator[str]:
        """Yield the differences from the state at the time of agreement, one sentence each without its full stop."""
        journal, rack, key = self._services.journal, self._run.rack, self._run.key
        own = journal.of_run(rack, key)
        for root in dict.fromkeys(row.root for row in own if not row.undoes):
            if not journal.whole_state(rack, root).undone:
                continue
            if not any(attempt.run == key for attempt in attempts(journal, rack, root)):
                yield f"its change {root} was taken back since"
        about = {word for row in own for word in _objects(row)}
        for part in self._ready.all():
            left = [
                line for line in self._lines if line.how in (_TO_DO, _UNDER_WAY) and line.place.startswith(part.place)
            ]
            if part.recipe.lets and left:
                yield from self._moved(part, about)

    def _moved(self, part: Ready, about: set[str]) -> Iterator[str]:
        """Yield the values that a recipe read before its plan and that differ now, unless the run itself changed the object."""
        params = values_of(part.recipe, part.given)
        for let in part.recipe.lets:
            was, alone = part.values.get(let.name, ""), replace(part.recipe, lets=(let,))
            said = f"let {let.name}: {_sized(was)} before the plan, "
            try:
                known = {**params, **part.values}
                ((_, now),) = read_values(self._session, self._services, self._request, alone, known)
                said += f"{_sized(now)} now ({let.reading})"
            except ExacellError as error:
                now = ""
                said += f"and it can't be read now: {error.message}"
            if now == was:
                continue
            if _object(let.reading.statement) in about:
                self._told.append(f"{said}: this run changed it, so {was} is used")
            else:
                yield f"{said}, which this run did not change; {was} is used"

    # -- the screen and its question ---------------------------------------------------------------------------------

    def _screen(
        self, parts: Mapping[str, Sequence[ChangeState]], differs: Sequence[str], *, most: int
    ) -> Iterator[str]:
        """Yield the lines about the state of the run and the remaining work; at most ``most`` lines with the same state."""
        run, who = self._run, Actor.of(self._run.who)
        done = sum(1 for line in self._lines if line.how == DONE)
        yield (f"run {run.name} of {run.rack}, begun {_local(run.began)} by {who.user} on {who.host}: {run.statement}")
        yield f"  {done} of {counted(len(self._lines), 'line')} done"
        for how in (FAILED, _UNDER_WAY, _TO_DO):
            chosen = [line for line in self._lines if line.how == how]
            for line in chosen[:most]:
                mark = f"{how}, finally" if line.final and how != FAILED else how
                yield f"  {mark:<15} {line.place:>4}  {_outline(line)}"
                for state in parts.get(line.place, ()):
                    yield f"{'':>23}{stands(self._services, state)}"
                if line.how == _UNDER_WAY and not parts.get(line.place):
                    yield f"{'':>23}{_about_running(line)}"
            if len(chosen) > most:
                yield f"  {how:<15}       and {len(chosen) - most} more: d shows all"
        for name, text in run.texts.items():
            if said := self._file(name, text):
                yield f"  {said}: the run continues with the text that you confirmed"
        for said in (*self._told, *self._since()):
            yield f"  {said}"
        for said in differs:
            yield f"  differs: {said}"

    def _file(self, name: str, text: str) -> str:
        """Return the sentence about a recipe's file that has changed; empty if it has not."""
        try:
            now = load_recipe(self._session.home, name).text
        except ExacellError:
            return f"the recipe {name} can't be read any more"
        return "" if masked(now) == text else f"the recipe {name} has changed since"

    def _since(self) -> Iterator[str]:
        """Yield a line for each other change since the run began that reached the same targets."""
        journal, rack, key = self._services.journal, self._run.rack, self._run.key
        own = journal.of_run(rack, key)
        if not own:
            return
        reached = {sent.target for row in own for sent in journal.state(rack, row.change).intents}
        others = {row.change: row for row in journal.plans_after(rack, own[0].change)}
        touched: dict[int, None] = {}
        for change, target in journal.targets_after(rack, own[0].change):
            row = others.get(change)
            if row is not None and row.run != key and target in reached:
                touched[change] = None
        for change in touched:
            yield f"change {change} ({others[change].statement}) was made since, on the objects that this run changes"

    def _agree(self, parts: Mapping[str, Sequence[ChangeState]], differs: Sequence[str]) -> None:
        """Raise RefusedError unless somebody says yes, or -y was given and nothing differs.

        Raises:
            RefusedError: nobody agreed.
        """
        if not any(line.how in (_TO_DO, _UNDER_WAY) for line in self._lines):
            return
        if self._given.get("yes") and not differs:
            return
        console, name = self._services.console, self._run.name

        def whole() -> None:
            for said in self._screen(parts, differs, most=len(self._lines)):
                console.say(said)

        answer = console.confirm("continue with what you confirmed?" if differs else "proceed?", whole)
        if answer is None and differs:
            raise RefusedError(
                f"run {name}: {differs[0]}; nothing was sent",
                hint="type `resume` at a terminal, which asks; `resume --abandon` runs only its finally",
            )
        if answer is None:
            raise RefusedError(
                f"run {name}: there is no terminal for the question; nothing was sent",
                hint="-y answers yes; with -n nothing is continued and the state is shown",
            )
        if not answer:
            raise RefusedError(
                "not confirmed; nothing was sent",
                hint="`resume` asks again; with -n nothing is continued and the state is shown",
            )

    def _again(self, state: ChangeState) -> bool:
        """Return whether unreadable work may be carried out again.

        Raises:
            RefusedError: nobody can be asked, and it was not accepted.
        """
        if self._given.get("accept-opaque"):
            return True
        told = f"run {self._run.name}: {stands(self._services, state)}"
        self._services.console.say(told)
        answer = self._services.console.confirm("run it again? (no: only finally runs)")
        if answer is None:
            raise RefusedError(
                f"{told}; nothing was sent",
                hint="--accept-opaque runs it again; `resume --abandon` runs only its finally",
            )
        return answer

    def _claim(self) -> None:
        """Make this process the owner of the run.

        Raises:
            RefusedError: somebody else has the rack, or continues the run.
        """
        store = self._services.store()
        with lock_in(self._session).held():
            now = next((each for each in unfinished_runs(store, self._run.rack) if each.name == self._run.name), None)
            if now is None or now.who != self._run.who:
                raise RefusedError(
                    f"run {self._run.name} is being continued by somebody else; nothing was sent",
                    hint="`pending` shows who",
                )
            self._track.take(RUNNING)

    def _carried_out(self, states: Sequence[ChangeState]) -> Result:
        line = parse_line(self._run.statement, shell=False)
        if line is None or line.call is None:
            raise RefusedError(
                f"run {self._run.name}: '{self._run.statement}' does not run a recipe",
                hint="`resume --abandon` gives it up",
            )
        call = replace(line.call, flags={name: value for name, value in self._flags.items() if name != "dry-run"})
        last = ABANDONED if self._abandon else DONE
        given = self._session, self._services, self._request, self._ready, call, self._track, self._turns
        result = carry_out(*given, last=last)
        if not self._abandon and self._run.state != STOPPED:
            return result
        for row in (state.plan for state in states):
            if self._abandon and row is not None and self._services.journal.state(row.rack, row.change).end is None:
                result = replace(
                    result, notes=[*result.notes, *note_abandoned(self._session, self._services, row).notes]
                )
        if self._track.run.state == STOPPED:
            return result
        # Only the final lines were to be done; earlier failures are known.
        known = tuple(state.said for state in self._track.lines.values() if state.state == FAILED)
        over = [f"run {self._run.name} is not continued"] if self._abandon else []
        problems = [said for said in result.problems if not said.endswith(known)]
        return replace(result, notes=[*result.notes, *over], problems=problems, exit_code=ExitCode.DONE)


_MOST = 8
"""Number of lines of each kind that fit on a screen with everything else."""

_GIVEN_UP = "given up by resume --abandon"


def _outline(line: _Line) -> str:
    return line.ready.outline().removesuffix("  (finally)")


def _about_running(line: _Line) -> str:
    """Return the text about a line that was under way and made no change."""
    rest = rest_of_wait(line.ready.line, line.state)
    if rest is not None:
        return f"{format_duration(rest)} of it are left" if rest else "its time is over"
    if line.ready.effect in (Effect.WRITE, Effect.OPAQUE):
        return "nothing of it was sent"
    return "it runs again"


def _sized(text: str) -> str:
    """Return a value that was read, with a unit if it is bytes."""
    size = int(text) if text.isdecimal() else 0
    return f"{text} ({shown_beside(size, 'G')})" if size >= 1 << 20 else text


def _local(at: str) -> str:
    return f"{datetime.fromisoformat(at).astimezone():%Y-%m-%d %H:%M:%S}"


def _object(statement: str) -> str:
    """Return the object of a statement: ``flashcache`` for ``list flashcache``."""
    return "".join(statement.lower().split()[1:2])


def _objects(row: Planned) -> set[str]:
    """Return the objects of a change: its statement's object, and those that its steps were to prove."""
    return {_object(row.statement), *(check.object.lower() for step in row.wanted for check in step.proves)}
