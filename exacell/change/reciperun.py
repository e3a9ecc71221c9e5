"""Run the lines of a recipe, and take back what a run changed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import nullcontext, suppress
from dataclasses import replace
from fnmatch import fnmatchcase
from functools import partial
from itertools import groupby
from typing import TYPE_CHECKING

from exacell.change.dcli.told import in_own_words
from exacell.change.execute import execute
from exacell.change.here import loads_given
from exacell.change.outcomes import idle_sentences
from exacell.change.waves import TOGETHER, own_turns, pass_gate
from exacell.core.cellset import fold
from exacell.core.errors import (
    ExacellError,
    ExitCode,
    InterruptedByUserError,
    RecipeError,
    RefusedError,
    StatementError,
)
from exacell.core.units import format_duration
from exacell.journal.confirming import WaitingRun
from exacell.language.line import Line
from exacell.language.registry import Call, Effect, Kind, Value
from exacell.output.faults import sentence
from exacell.output.folding import each_cell_apart
from exacell.output.render import for_eyes
from exacell.output.result import Column, Draw, Record, Result, worst
from exacell.output.tables import table_blocks
from exacell.plan.alike import Agreed
from exacell.plan.foreseen import Foreseen
from exacell.recipes.answers import reads
from exacell.recipes.record import BEGUN, DONE, FAILED, LineState
from exacell.recipes.values import RISKS
from exacell.session.given import Request, Services, Session
from exacell.session.recording import Recording, told_while_waiting
from exacell.session.store import StoreError

if TYPE_CHECKING:
    from exacell.change.recipeready import Ready, ReadyLine
    from exacell.change.waves import Wave
    from exacell.plan.rolling import Asked
    from exacell.session.runs import Track


class RecipeRunner:
    """Runs the lines of one recipe and collects their answers."""

    def __init__(
        self,
        session: Session,
        services: Services,
        request: Request,
        ready: Ready,
        call: Call,
        track: Track | None = None,
        turns: Asked = TOGETHER,
    ) -> None:
        recipe = ready.recipe
        within = call.flags.get("confirm-within")
        # An inner recipe waits together with the outer one.
        self._inside = bool(request.origin)
        own = isinstance(within, (int, float)) and not self._inside
        self._waiting = WaitingRun(within=float(within)) if own and isinstance(within, (int, float)) else None
        waiting = request.waiting_run if self._inside else self._waiting
        risk = stricter(request.risk_ceiling, recipe.risk)
        typed = loads_given(recipe, ready.given) if request.typed and not self._inside else frozenset[str]()
        request = replace(
            request, origin=recipe.name, risk_ceiling=risk, waiting_run=waiting, typed=False, loads=request.loads | typed
        )  # fmt: skip
        if track is not None:
            request = replace(request, run=track.run.key)
        self._track = track
        self._session, self._services, self._request = session, services, request
        self._ready, self._recipe = ready, recipe
        self._flags = call.flags
        self._turns = turns
        begun = [each.wave for number, each in enumerate(ready.lines, start=1) if self._before(number).state]
        self._agreed = request.agreed or Agreed()
        self._passed = {(wave.line, wave.number) for wave in begun if wave is not None}
        """Waves that have begun: (line of their rolling, number)."""
        self._statement = call.text
        self._first_change = len(session.changes)
        self._results: list[Result] = []
        self._codes: list[ExitCode] = []
        self._unkept: set[tuple[Kind, Value]] = set()
        """With -n: (kind, name) of everything that statements of this run would have kept."""
        self._planned = False
        """With -n: whether a change was planned; later lines may depend on it."""
        self._mark = 0
        """With -n: what was planned before this recipe began."""
        self._problems: list[str] = []
        self._left: list[str] = []
        """The lines about done and undone waves, if one failed."""
        self._begun = self._of = 0
        """Number of lines begun, and of all lines."""
        self.unsettled = False
        """True once a final line has failed."""

    def run(self) -> Result:
        """Run all lines, and the final ones in any case; then raise the error that stopped the others, if nothing else failed.

        Raises:
            RefusedError: the run is to be confirmed in time, and a line can't be taken back.
        """
        waiting = self._waiting
        if self._dry and self._request.foreseen is None:
            self._request = replace(self._request, foreseen=Foreseen())
        foreseen = self._request.foreseen
        self._mark = foreseen.mark if foreseen is not None else 0
        if waiting is None:
            return self._run()
        for each in self._ready.every():
            if each.effect is Effect.OPAQUE:
                raise RefusedError(
                    f"recipe {self._recipe.name}, line {each.source.number} ({each.line.text}): "
                    "--confirm-within needs changes that exacell can take back, but it can't read this one; "
                    "nothing was run"
                )
        session, services = self._session, self._services
        if self._track is not None:
            waiting.go_on(services.journal, session.need_rack().name, self._track.run.key)
        try:
            result = self._run()
        finally:
            until = waiting.over(services.journal, session.need_rack().name) if waiting.changes else None
        if until is None:
            return result
        first, last = min(waiting.changes), max(waiting.changes)
        which = f"change {first} is" if first == last else f"changes {first} to {last} are"
        when = f"{until.astimezone():%H:%M:%S} (in {format_duration(waiting.within)})"
        return replace(result, notes=[*result.notes, f"{which} taken back at {when}: `confirm {first}` keeps all"])

    def _run(self) -> Result:
        """Run the lines. The final lines set back what the others changed, so they run even if the program is being ended."""
        self._of = len(self._ready.lines)
        with self._services.while_changing() if self._ready.changes and not self._inside else nullcontext():
            return self._run_through()

    def _run_through(self) -> Result:
        stopped: ExacellError | None = None
        for number, each in enumerate(self._ready.lines, start=1):
            before = self._before(number)
            if each.source.final or stopped is not None or before.state == DONE:
                self._begun += before.state == DONE
                continue
            if before.state == FAILED:
                stopped = RecipeError(before.said)
                stopped.exit_code = ExitCode.FAILED
                continue
            try:
                self._one(number, each, before)
            except ExacellError as error:
                stopped = error
                self._note(number, FAILED, error.message)
                self._left += self._left_of(each)
        for number, each in enumerate(self._ready.lines, start=1):
            before = self._before(number)
            if each.source.final and before.state != DONE:
                try:
                    self._one(number, each, before)
                except ExacellError as error:
                    self.unsettled = True
                    self._problems.append(f"finally, {each.place}: {sentence(error)}")
                    self._codes.append(ExitCode.FAILED)
                    self._note(number, FAILED, error.message)
        return self._gathered(stopped)

    def _before(self, number: int) -> LineState:
        """Return the state of a line that an earlier process of the run left."""
        place = f"{self._ready.place}{number}"
        return _NEW if self._track is None else self._track.lines.get(place, _NEW)

    def _note(self, number: int, state: str, said: str = "") -> None:
        """Save the state of a line; if it can't be saved, final lines are carried out all the same."""
        if self._track is None:
            return
        try:
            self._track.note(f"{self._ready.place}{number}", state, said)
        except StoreError as error:
            if state == BEGUN and not self._ready.lines[number - 1].source.final:
                raise  # Without this state nobody could continue the run.
            self._problems.append(error.message)

    def _one(self, number: int, each: ReadyLine, before: LineState) -> None:
        source, line = each.source, each.line
        session, services = self._session, self._services
        if (session.interrupted.is_set() or session.told_to_end) and not source.final:
            raise InterruptedByUserError(
                f"recipe {self._recipe.name} was interrupted before {each.place}",
                hint="" if self._takes_back() else f"its changes so far are kept; `{self._way_back}` takes them back",
            )
        self._begun += 1
        wave = each.wave
        if wave is not None and (wave.line, wave.number) not in self._passed and not self._dry:
            pass_gate(session, services, wave, self._turns, unread=self._unread_in(wave))
            self._passed.add((wave.line, wave.number))
        if before.state != BEGUN:
            self._note(number, BEGUN)
        if self._track is not None:
            self._request = replace(self._request, place=f"{self._ready.place}{number}")
        if line.call is None or line.call.command.words != ("prompt",):  # This error contains its own text.
            services.console.say(f"[{self._begun}/{self._of}] {each.place}: {line.text}")
        interrupted = session.interrupted.is_set()
        if interrupted:
            session.interrupted.clear()  # This interruption ended the other lines; only another one ends the final lines.
        try:
            self._carry_out(each, before)
        finally:
            if interrupted:
                session.interrupted.set()
        self._note(number, DONE)

    def _left_of(self, each: ReadyLine) -> Iterator[str]:
        """Yield the waves that were carried out and the other ones, if the run stopped in or before a wave."""
        wave = each.wave
        if wave is not None:
            where = "in" if (wave.line, wave.number) in self._passed else "before"
            parts = [f"{fold(wave.before)} done"] if wave.before else []
            parts += [f"{fold(wave.after)} not touched"] if wave.after else []
            left, turns = (*wave.targets, *wave.after), each.source.turns
            in_use = turns is not None and not turns.on and set(left) <= set(self._session.need_rack().cells)
            if wave.before and in_use and not self._takes_back():
                parts.append(f"type `use {fold(left)}`, then the same run again, to continue with them")
            yield "; ".join((f"stopped {where} {wave} ({fold(wave.targets)})", *parts))

    def _takes_back(self) -> bool:
        """Return whether the recipe takes back its own changes at its end."""
        return any(each.source.final and _is_undo_run(each.line) for each in self._ready.lines)

    def _unread_in(self, wave: Wave) -> bool:
        """Return whether a wave has a line that exacell can't read."""
        lines = tuple(each for each in self._ready.lines if each.wave == wave)
        return any(each.effect is Effect.OPAQUE for each in replace(self._ready, lines=lines).every())

    def _carry_out(self, each: ReadyLine, before: LineState) -> None:
        line, inner = each.line, each.inner
        session, services, request = self._session, self._services, self._request
        if each.wave is not None or request.agreed is not None:
            later = fold(each.wave.after) if each.wave is not None else ""
            request = replace(request, agreed=self._agreed.at(each.source.number, later))
        if line.call is not None:
            flags = {**{k: v for k, v in self._flags.items() if k in PASSED_ON}, **line.call.flags}
            line = replace(line, call=replace(line.call, flags=flags, text=line.call.text), flags=flags)
            if inner is not None and line.call is not None:
                turns = own_turns(self._turns, each.line.flags)
                if each.chosen:
                    request = replace(request, shows=None)
                runner = RecipeRunner(session, services, request, inner, line.call, self._track, turns=turns)
                result = runner.run()
                self._planned = self._planned or runner._planned
                self.unsettled = self.unsettled or runner.unsettled
                return self._keep(each, line, result)
            if _is_undo_run(line):
                from exacell.change.undoing import undo

                changes = self._changes()
                if self._dry and not changes:
                    if request.foreseen is not None:
                        request.foreseen.back_to(self._mark)
                    return services.console.say("-n: `undo run` would take back what the run changed up to this line")
                return self._keep(each, line, undo(session, services, request, changes, flags, whole=True))
            if self._dry and line.call is not None and self._left_out(line.call):
                return None
        elif line.cellcli is not None:
            line = replace(line, flags={**{k: v for k, v in self._flags.items() if k in PASSED_ON}, **line.flags})
        if before.state != _NEW.state and self._track is not None:
            from exacell.change.rerun import end_of  # Only a broken-off run has such a line.

            ended = end_of(session, services, request, line, before, again=self._track.again)
            if ended is not None:
                return self._keep(each, line, ended)
        try:
            result = (
                self._read(line)
                if line.effect is Effect.READ and session.rack is not None
                else execute(session, services, request, line)
            )
        except (RecipeError, RefusedError, StatementError) as error:
            if not (self._dry and self._planned and line.effect is Effect.READ):
                raise
            done = "checked" if line.call is not None and line.call.command.words == ("check",) else "shown"
            return services.console.say(
                f"-n: {error.message}; perhaps an earlier line mends this, but -n runs none, so this line is not {done}"
            )
        self._planned = self._planned or line.effect in (Effect.WRITE, Effect.OPAQUE)
        return self._keep(each, line, result)

    @property
    def _way_back(self) -> str:
        return f"undo run {self._track.run.name}" if self._track is not None else "undo run"

    def _changes(self) -> list[int]:
        """Return the changes of this run of the recipe, oldest first; those of an earlier process are included."""
        track, services = self._track, self._services
        if track is None:
            return self._session.changes[self._first_change :]
        rack = self._session.need_rack().name
        rows = services.journal.of_run(rack, track.run.key)
        own = [row for row in rows if row.place.startswith(self._ready.place)]
        roots = list(dict.fromkeys(row.root for row in own if not row.undoes))
        one = roots[0] if len(roots) == 1 else 0
        return [] if one and services.journal.whole_state(rack, one).undone else roots

    def _read(self, line: Line) -> Result:
        """Carry out a reading line, and show the cells that it waits for."""
        recording = Recording(self._services.fleet)
        session, services = self._services.aside(recording, same_interruption=True)
        with told_while_waiting(recording.sentence, self._services.console.waiting):
            result = execute(session, services, self._request, line)
        self._session.selection.take_over(session.selection)
        return result

    @property
    def _dry(self) -> bool:
        return bool(self._flags.get("dry-run") or self._session.options.dry_run)

    def _left_out(self, call: Call) -> bool:
        """Return whether -n skips a statement because it needs something that an earlier one would have kept; prints that."""
        given = [(p.name, p.kind, call.args[p.name]) for p in call.command.params if p.name in call.args]
        own = {(kind, value) for name, kind, value in given if name == "as"}
        if not call.command.dry_runs or call.command.name == "keep":
            self._unkept |= own
            return False
        missing = next((v for name, kind, v in given if name != "as" for v in self._lacking(kind, v)), None)
        if missing is not None:
            self._services.console.say(f"-n: {missing} was not kept, so this is left out")
        self._unkept |= own
        return missing is not None

    def _lacking(self, kind: Kind, value: Value) -> Iterator[Value]:
        """Yield the names in a value that earlier lines would have kept; the value may be a pattern, or several names."""
        of_any_kind = {name for _, name in self._unkept}  # A comparison may be of things of several kinds.
        for each in value if isinstance(value, tuple) else (value,):
            same = (kind, each) in self._unkept
            if kind in (Kind.MEASURED, Kind.KEPT, Kind.FILE):
                same = same or any(fnmatchcase(str(name), str(each)) for name in of_any_kind)
            if same:
                yield each

    def _keep(self, each: ReadyLine, line: Line, result: Result) -> None:
        for note in result.notes:
            self._services.console.say(note)
        self._codes.append(result.exit_code)
        self._problems += list(result.problems)
        if _says(line, result):
            if result.raw:
                draw, apart = (partial(for_eyes, shown) for shown in (result, each_cell_apart(result)))
                result = replace(result, draw=draw, apart=apart)
            self._answer(each, result)
        elif (reads(line) or _answers(line)) and result.data:
            # The values that a matrix chose distinguish its records.
            records = [{**row, **_besides(each.chosen, row)} for row in result.records]
            self._answer(each, replace(result, records=records))
        elif result.text:
            self._services.console.say(result.text)
        elif line.effect is Effect.WRITE:
            for said in idle_sentences(result.records):
                self._services.console.say(said)
        if result.exit_code not in (ExitCode.DONE, ExitCode.CHANGES) and not each.source.final:
            first = next(iter(in_own_words(result.problems, dict(result.raw or ()))), "it failed")
            error = RecipeError(
                f"recipe {self._recipe.name}, {each.place} ({line.text}): {first}",
                hint=f"`journal` shows what was done; `{self._way_back}` takes it back"
                if self._changes()
                else "the run has changed nothing; mend the cause and run it again",
            )
            error.exit_code = result.exit_code
            raise error

    def _answer(self, each: ReadyLine, result: Result) -> None:
        """Show a line's answer at once if messages go to the same screen; a matrix's answers are one table at the end."""
        shows = None if each.chosen else self._request.shows
        if shows is not None:
            # An error in drawing must not keep the next lines, also final ones, from running. The answer is drawn again at the
            # end, and fails there.
            with suppress(Exception):
                shows(result)
                return
        self._results.append(result)

    def _gathered(self, stopped: ExacellError | None) -> Result:
        records = [record for result in self._results for record in result.records]
        shapes = set(map(_shape, self._results))
        columns = _told_apart(self._results) if len(shapes) == 1 else ()
        problems = list(dict.fromkeys(self._problems))
        code = worst(self._codes)
        if stopped is not None:
            problems = [p for p in problems if p not in stopped.message]
            problems += [sentence(stopped), *self._left]
            if self._dry and self._planned:
                problems.append(
                    f"-n does not run the earlier lines, and this line may need them: `rehearse {self._statement}` "
                    f"runs all lines on a copy of the rack"
                )
            done = any(c is ExitCode.DONE for c in self._codes)
            code = worst([stopped.exit_code, ExitCode.FAILED if done and self._session.changes else stopped.exit_code])
        # Sentences and tables of statements are kept, and answers of different columns are separate tables.
        own = len(shapes) > 1 or (bool(self._results) and all(result.draw is not None for result in self._results))
        draw, apart = (
            partial(_one_after_another, list(_drawn_apart(self._results, folded=folded))) for folded in (True, False)
        )
        return Result(
            records=records,
            columns=columns,
            data=bool(self._results),
            fold=any(result.fold for result in self._results) or (not own and len(self._results) != 1),
            problems=problems,
            exit_code=code,
            draw=draw if own else None,
            apart=apart if own else None,
        )


def _is_undo_run(line: Line) -> bool:
    return line.call is not None and line.call.command.words == ("undo", "run")


def _drawn_apart(results: Sequence[Result], *, folded: bool) -> Iterator[Draw]:
    """Yield how to draw the answers: consecutive ones with equal columns as one table; ``folded``: equal cells once."""
    every: dict[tuple[str, ...], list[Result]] = {}
    for result in results:
        every.setdefault(_shape(result), []).append(result)
    for shape, group in groupby(results, key=_shape):
        alike = list(group)
        draws = [draw for result in alike if (draw := result.draw if folded or not result.fold else result.apart)]
        if len(draws) == len(alike):
            yield from draws
            continue
        records = [record for result in alike for record in result.records]
        if records:
            fold = folded and all(result.fold for result in alike)
            yield partial(_table, records, _told_apart(every[shape]), fold)


def _shape(result: Result) -> tuple[str, ...]:
    return tuple(column.name for column in result.columns)


def _table(
    records: Sequence[Record], columns: Sequence[Column], folded: bool, width: int | None, color: bool, header: bool
) -> Iterator[str]:
    for block in table_blocks(records, columns, folded=folded, width=width, color=color, header=header):
        yield from block.split("\n")


def _one_after_another(drawn: Sequence[Draw], width: int | None, color: bool, header: bool) -> Iterator[str]:
    """Yield the lines of each statement's answer, with an empty line between two."""
    for place, draw in enumerate(drawn):
        if place:
            yield ""
        yield from draw(width, color, header)


def _told_apart(results: Sequence[Result]) -> tuple[Column, ...]:
    """Return the columns of results of one shape; columns that distinguish the results follow the first.

    For example, two deltas of a run show the snapshots that they compare.
    """
    columns = tuple(results[0].columns)
    if len(results) == 1 or not columns:
        return columns
    shown = {column.name for column in columns}
    own: dict[str, list[set[str]]] = {}
    for result in results:
        for name in dict.fromkeys(name for record in result.records for name in record if name not in shown):
            own.setdefault(name, []).append({str(record.get(name)) for record in result.records})
    telling = [
        Column(name)
        for name, values in own.items()
        if len(values) == len(results) and all(len(of) == 1 for of in values) and len(set.union(*values)) > 1
    ]
    return (*columns[:1], *telling, *columns[1:])


def _besides(chosen: Mapping[str, Value], row: Record) -> Mapping[str, Value]:
    """Return the chosen values whose names are not attributes of the record."""
    own = {name.lower() for name in row}
    return {name: value for name, value in chosen.items() if name.lower() not in own}


def _answers(line: Line) -> bool:
    """Return whether a line's answer matters, though it may also keep or change something."""
    return line.call is not None and line.call.command.words in (("run",), ("experiment",), ("import",))


def _says(line: Line, result: Result) -> bool:
    """Return whether a line is a shell command that has printed something."""
    carries = line.call is not None and line.call.command.words == ("sh",)
    return carries and bool(result.raw or any(record.get("text") for record in result.records))


def stricter(one: str, other: str) -> str:
    """Return the lower of two ceilings of risk; an empty one means no ceiling."""
    return min((each for each in (one, other) if each), key=RISKS.index, default="")


_NEW = LineState(state="")
"""The state of a line that has not begun."""

PASSED_ON = frozenset({"yes", "dry-run", "detailed-exitcode", "reason", "ticket", "accept-opaque", "confirm-within"})
"""Flags of ``run`` that hold for each of the recipe's statements; loss of data is never accepted for all of them at once."""
