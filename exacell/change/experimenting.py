"""Carry out an experiment: one run after another, each saved when it ends; the factor is set back in any case."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from time import monotonic

from exacell.change.changing import refuse_to_begin
from exacell.change.execute import execute
from exacell.change.experimentready import read_back
from exacell.change.factors import factor_of, level_of
from exacell.change.here import loads_in
from exacell.change.racklock import LockedError, lock_in
from exacell.change.undoing import undo
from exacell.change.warmup import warm_up
from exacell.core.errors import ExacellError, ExitCode, InterruptedByUserError, RefusedError
from exacell.core.units import format_duration
from exacell.journal.actor import actor
from exacell.journal.rows import Actor
from exacell.language.line import with_call_flags
from exacell.language.registry import Value
from exacell.measure.experiments import fairness
from exacell.measure.experiments.record import ABANDONED, DONE, RUNNING, STOPPED, Experiment, Measured, Pause
from exacell.measure.experiments.said import MEASURES, same_line, time_left
from exacell.measure.experiments.schedule import Run
from exacell.measure.snapshot import CellCounters
from exacell.output.console import SilentConsole
from exacell.output.result import Result
from exacell.session.given import Request, Services, Session
from exacell.session.measuring import Waited, around, conditions, fio_waited, unfair, waited
from exacell.session.recording import since, told_while_waiting
from exacell.session.trials import conducted_elsewhere, keep


def carry_out(
    session: Session, services: Services, request: Request, experiment: Experiment, flags: Mapping[str, Value]
) -> tuple[Experiment, ExacellError | None]:
    """Do the remaining runs, set the factor back, and return the experiment as it ended and the error that stopped it.

    Args:
        flags: of the statement; they hold for everything that the runs carry out.

    Raises:
        LockedError: somebody else has the rack; nothing was sent.
    """
    refuse_to_begin(session, services)
    services.journal.refuse_damaged()
    lock = lock_in(session)
    experiment = replace(
        experiment.whole(),
        state=RUNNING,
        keeps=lock.take(kept=True) or experiment.keeps,
        who={name: str(value) for name, value in actor().items()},
    )
    loads = loads_in(experiment.design.workload) if request.typed else frozenset[str]()
    conduct = _Conduct(session, services, replace(request, loads=request.loads | loads), experiment, flags)
    with services.while_changing():
        return conduct.all()


def give_back(
    session: Session, services: Services, request: Request, experiment: Experiment, flags: Mapping[str, Value]
) -> Experiment:
    """Take back the changes of an experiment that nobody continues, and return the experiment as ended.

    Raises:
        ExacellError: they can't be taken back; the experiment stays as it was.
    """
    refuse_to_begin(session, services)
    conduct = _Conduct(session, services, request, experiment, flags)
    with services.while_changing():
        conduct.restore()
        return conduct.end(ABANDONED)


def refuse_conducted(experiment: Experiment) -> None:
    """Raise RefusedError if another living process carries out the experiment.

    Raises:
        RefusedError: a process does, or a process of another host may.
    """
    who = Actor.of(experiment.who)
    if conducted_elsewhere(experiment):
        raise RefusedError(
            f"experiment {experiment.name} is being run by process {who.pid} on {who.host}",
            hint="wait until it ends, or end that process first",
        )


LONGEST_PAUSE, MOST_ANEW = 3600.0, 5
"""The longest single pause in seconds, and how often one block is repeated at most."""

_PASSED_ON = frozenset({"reason", "ticket", "accept-opaque", "rolling", "no-rolling"})
"""Flags of the experiment that hold for the statements of its runs; loss of data is never accepted for all of them at once."""


class _Conduct:
    """Carries out one experiment.

    Statements run in a separate session that shows no plans: the user agreed to the whole schedule before.
    """

    def __init__(
        self, session: Session, services: Services, request: Request, experiment: Experiment, flags: Mapping[str, Value]
    ) -> None:
        self._user, self._console = session, services.console
        self._quiet = SilentConsole()
        self._session, self._services = services.aside(services.fleet, same_interruption=True, console=self._quiet)
        self._session.options = replace(self._session.options, quiet=True)
        self._request = replace(request, shows=None)  # The experiment shows its verdict, not the answer of each run.
        self._flags: dict[str, Value] = {k: v for k, v in flags.items() if k in _PASSED_ON}
        self._flags |= {"yes": True, "format": "table"}
        self.experiment = experiment
        self._level = ""
        self._seen: Mapping[str, CellCounters] = {}
        self._disturbed: dict[str, int] = {}
        self._lasted: list[float] = []  # Seconds that each run of this process took.
        self._wishes = session.interrupted.times

    def all(self) -> tuple[Experiment, ExacellError | None]:
        """Do the remaining runs and set the factor back; both are saved."""
        stopped: ExacellError | None = None
        try:
            self._keep()
            while (run := self.experiment.next) is not None:
                self._refuse_interrupted()
                self._one(run)
            self._look_again()
        except ExacellError as error:
            # If an interruption broke anything off, it is the reason why the runs stopped.
            stopped = self._interruption() or error
        finally:
            # The factor must also be set back if the program itself is ended.
            failed = self._restored()
        if failed is not None and stopped is None:
            stopped = failed
        elif failed is not None:
            self._console.say(f"the factor could not be reset: {failed.message}; `resume --abandon` tries again")
        return self.end(DONE if stopped is None else STOPPED), stopped

    def _look_again(self) -> None:
        """Note new causes that make the comparison unfair and were absent at its beginning: a rebalance, another load."""
        design, cells = self.experiment.design, conditions(self._session, self._services, self._request)
        now = unfair(self._session, self._services, self._request, cells, design)
        came = [f"at the end {line}" for line in fairness.new_among(now, self.experiment.noticed)]
        self.experiment = replace(self.experiment, noticed=(*self.experiment.noticed, *came))

    def _restored(self) -> ExacellError | None:
        interrupted = self._user.interrupted.times > self._wishes
        self._user.interrupted.clear()  # This interruption ended the runs; only another one keeps the factor from being set back.
        try:
            self.restore()
        except ExacellError as error:
            return error
        finally:
            if interrupted:
                self._user.interrupted.set()
        return None

    def restore(self) -> None:
        """Take back the changes of the experiment, as ``undo run`` does in a recipe.

        Raises:
            ExacellError: not all of them could be taken back.
        """
        rack, journal = self.experiment.rack, self._services.journal
        rows = [
            row for row in journal.with_origin(rack, self.experiment.origin) if row.origin == self.experiment.origin
        ]
        changes = [row.change for row in rows if not journal.whole_state(rack, row.change).undone]
        # All changed the same thing: the value that the first one found is set again.
        if changes:
            result = undo(self._session, self._services, self._request, changes, self._flags)
            if result.exit_code is not ExitCode.DONE:
                raise RefusedError(next(iter(result.problems), "not all of it could be taken back"))
            self._console.say(f"experiment {self.experiment.name}: the factor has its old value again")
        self.experiment = replace(self.experiment, given_back=True)

    def end(self, state: str) -> Experiment:
        """Save the experiment in its last state, and free the rack if the experiment took it."""
        if self.experiment.keeps:
            with suppress(LockedError):  # Somebody has taken the rack over: it is theirs.
                lock_in(self._session).give_back()
        self.experiment = replace(self.experiment, state=state, keeps=False, ended=_now())
        self._keep()
        return self.experiment

    def _keep(self) -> None:
        keep(self._services.store(), self.experiment)

    def _interruption(self) -> InterruptedByUserError | None:
        # A statement that begins clears the interruption; the count of interruptions stays.
        if self._user.interrupted.times > self._wishes or self._user.told_to_end:
            return InterruptedByUserError(
                f"experiment {self.experiment.name} was interrupted; what was measured is kept",
                hint="`results` shows it",
            )
        return None

    def _refuse_interrupted(self) -> None:
        if (interruption := self._interruption()) is not None:
            raise interruption

    def _one(self, run: Run) -> None:
        design, where = self.experiment.design, f"run {run.number} of {len(self.experiment.schedule)}"
        if self._give_way(run, where):
            return
        started, runs = monotonic(), len(self.experiment.schedule) - run.number + 1
        doing = where + time_left(design, self._lasted, runs)
        if run.block or run.level != self.experiment.now:
            self._set(run.level)
        if design.reset:
            self._carry_out(design.reset, f"{doing}: {design.reset}", self._request)
        self._wait(design.settle, f"{doing}: settling")
        if design.warm:
            self._warm_up(run, doing)
        seen = self._before(run)
        beside = around(self._session, self._services, self._request)
        before = self._waited()
        began = datetime.now(UTC)
        told: list[str] = []
        for statement in design.workload:
            told += self._carry_out(statement, f"{doing}: {statement}", self._request)
        if not design.workload:
            self._wait(design.seconds, f"{doing}: measuring")
        after = self._waited(told).since(before)
        cells = self._look(run, seen, beside)
        anew = design.measure == "flashlog" and fairness.begun_anew(seen, cells)
        if anew or after.count < 0 or after.micros < 0:
            raise RefusedError(
                f"{where}: the counters were reset in between (a restart of an instance or of CELLSRV)",
                hint="`show alerts` shows what restarted",
            )
        if not after.count:
            raise RefusedError(
                f"{where} measured nothing: {design.db or 'its workload'} had no "
                f"{MEASURES[design.measure].removeprefix('an ')}",
                hint="give a load for the runs with workload=, or wait longer for another load with for=",
            )
        micros = fairness.redo_since(seen, cells)
        if design.limit and micros > 1e6 * design.limit:
            self._discard_block(run, Pause(run=run.number, seconds=0.0, micros=micros, again=True, level=run.level))
        else:
            self._add(run, after, began, fairness.outliers(seen, cells))
        self._lasted.append(monotonic() - started)

    def _warm_up(self, run: Run, where: str) -> None:
        """Run the workload unmeasured until the flash cache serves the same share of its reads as in the pass before."""
        design = self.experiment.design

        def once(number: int) -> tuple[int, int]:
            before = self._waited()
            for statement in design.workload:
                self._carry_out(statement, f"{where}, warm-up {number}: {statement}", self._request)
            if not design.workload:
                self._wait(design.seconds, f"{where}, warm-up {number}")
            return self._waited().since(before).reads or (0, 0)

        if said := warm_up(once, most=design.warm):
            self._notice(run, [said])

    def _give_way(self, run: Run, where: str) -> bool:
        """Wait while redo writes take longer than the limit; return whether the run's block has to begin again because of that.

        Raises:
            RefusedError: the wait was longer than allowed.
        """
        limit = 1e6 * self.experiment.design.limit
        cells = conditions(self._session, self._services, self._request) if limit else {}
        micros = now = fairness.redo_now(cells)
        if now <= limit:
            return False
        began, told = monotonic(), f"{where}: a redo write takes {now / 1000:,.1f} ms: pausing"
        self._console.say(told)
        while now > limit:
            if monotonic() - began > LONGEST_PAUSE:
                raise RefusedError(
                    f"{told} lasted {format_duration(LONGEST_PAUSE)}, the longest allowed pause",
                    hint="type `resume` when the load is lower",
                )
            self._wait(self._session.need_rack().poll, told)
            now = fairness.redo_now(conditions(self._session, self._services, self._request))
        apart = any(each.group == (run.block, run.pair) for each in self.experiment.runs)
        pause = Pause(
            run=run.number,
            seconds=monotonic() - began,
            micros=micros,
            again=apart,
            level=self._level or self.experiment.now,
        )
        self._console.say(
            f"{where}: a redo write takes {now / 1000:,.1f} ms: continuing after "
            f"{format_duration(round(pause.seconds))}"
        )
        if apart:  # The other run of its pair was before the pause.
            self._discard_block(run, pause)
        else:
            self._pause(pause)
        return apart

    def _pause(self, pause: Pause) -> None:
        self.experiment = replace(self.experiment, pauses=(*self.experiment.pauses, pause))
        self._keep()

    def _discard_block(self, run: Run, pause: Pause) -> None:
        """Discard the measurements of a run's block, so that this run is repeated.

        Raises:
            RefusedError: the block has been disturbed too often.
        """
        self.experiment = self.experiment.without((run.block, run.pair))
        self._pause(pause)
        where = f"block {run.block}" if run.block else f"A/A pair {run.pair}"
        self._console.say(
            f"{where} was disturbed: a redo write took {pause.micros / 1000:,.1f} ms; this run is repeated"
        )
        self._disturbed[where] = self._disturbed.get(where, 0) + 1
        if self._disturbed[where] > MOST_ANEW:
            raise RefusedError(
                f"{where} was disturbed {self._disturbed[where]} times: redo writes took longer than yield=",
                hint="a larger yield=, a smaller workload, or another time of the day",
            )

    def _set(self, level: str) -> None:
        """Set the factor to a level; nothing is sent if it has this level already."""
        if level == self._level:
            return
        design = self.experiment.design
        statement = factor_of(design).statement(design, level)
        if self.experiment.given_back:  # Saved before anything is sent, so that it is known after a kill.
            self.experiment = replace(self.experiment, given_back=False)
            self._keep()
        self._carry_out(statement, statement, replace(self._request, origin=self.experiment.origin))
        self._level = level

    def _carry_out(self, statement: str, told: str, request: Request) -> list[str]:
        """Carry out one statement and return the lines of its answer; ``told`` names it in an error.

        Raises:
            ExacellError: it failed.
        """
        self._refuse_interrupted()
        self._quiet.said.clear()
        with told_while_waiting(since(told), self._console.waiting):
            try:
                result = execute(self._session, self._services, request, with_call_flags(statement, self._flags))
            except ExacellError:
                self._tell()
                raise
        if result.exit_code is ExitCode.DONE:
            return [*self._quiet.said, *(text for _, text in result.raw or ())]
        self._tell()
        error = RefusedError(
            f"{statement}: {next(iter(result.problems), 'it failed')}",
            hint="`journal show` shows what was sent",
        )
        error.exit_code = result.exit_code
        raise error

    def _tell(self) -> None:
        for line in self._quiet.said:
            self._console.say(line)

    def _wait(self, seconds: float, told: str) -> None:
        if not seconds:
            return
        with told_while_waiting(since(f"{told} for {format_duration(round(seconds))}"), self._console.waiting):
            self._user.interrupted.wait(seconds)
        self._refuse_interrupted()

    def _waited(self, told: Sequence[str] = ()) -> Waited:
        self._refuse_interrupted()
        design = self.experiment.design
        if design.measure == "fio":
            return fio_waited(told)
        return waited(self._session, self._services, self._request, measure=design.measure, db=design.db)

    def _before(self, run: Run) -> Mapping[str, CellCounters]:
        """Return the conditions of the cells before a run, by cell.

        Notes conditions that differ from those before the first run, and restarts since the last run.
        """
        cells = conditions(self._session, self._services, self._request)
        if not self.experiment.passports:
            found = {cell: dict(counters.passport) for cell, counters in cells.items()}
            self.experiment = replace(self.experiment, passports=found)
        self._notice(run, [*self._changed(cells), *fairness.starts(self._seen, cells)])
        return cells

    def _changed(self, cells: Mapping[str, CellCounters]) -> list[str]:
        design = self.experiment.design
        return fairness.changed(self.experiment.passports, cells, partial(factor_of(design).own, design))

    def _look(self, run: Run, seen: Mapping[str, CellCounters], beside: fairness.Around) -> Mapping[str, CellCounters]:
        """Return the conditions of the cells after a run, by cell.

        Notes disturbances, conditions that differ from those of the first run, and a level other than the run's.

        Args:
            seen, beside: the readings before the run.
        """
        self._refuse_interrupted()
        cells = conditions(self._session, self._services, self._request)
        design = self.experiment.design
        lines = [*self._changed(cells), *fairness.starts(seen, cells)]
        after = around(self._session, self._services, self._request)
        lines += fairness.came(beside, after, design.db)
        lines += fairness.had_room(design.factor, design.among or design.levels, after.used, cells)
        read = read_back(self._session, self._services, self._request, design)
        self._level = level_of(design, [text for _, text in read])  # The next run sets it back if somebody changed it.
        if self._level != run.level:
            lines.append(f"{design.said} was {self._level or 'not the same everywhere'} at its end, not {run.level}")
        self._notice(run, lines)
        self._seen = cells
        return cells

    def _notice(self, run: Run, lines: Sequence[str]) -> None:
        noticed = [f"run {run.number}: {line}" for line in lines]
        noticed = [line for line in noticed if line not in self.experiment.noticed]
        self.experiment = replace(self.experiment, noticed=(*self.experiment.noticed, *noticed))
        for line in noticed:
            self._console.say(line)

    def _add(self, run: Run, found: Waited, began: datetime, tail: tuple[int | None, int | None, int | None]) -> None:
        value = found.micros / found.count
        measured = Measured(
            number=run.number,
            block=run.block,
            pair=run.pair,
            level=run.level,
            value=value,
            count=found.count,
            sizes=tuple(sorted((size, count) for size, count in found.sizes.items() if count > 0)),
            at=_now(),
            began=began.isoformat(timespec="milliseconds"),
            redo=tail[0],
            outliers=tail[1],
            prevented=tail[2],
            reads=found.reads,
        )
        self.experiment = replace(self.experiment, runs=(*self.experiment.runs, measured))
        self._keep()
        where = f"block {run.block}" if run.block else f"A/A pair {run.pair}"
        lasted = format_duration(round((datetime.now(UTC) - began).total_seconds()))
        self._console.say(
            f"[{run.number}/{len(self.experiment.schedule)}] {where}, {run.level}: {value:,.1f} us on average, "
            f"{found.count:,} in {lasted}"
        )
        if run.pair and not any(left.pair for left in self.experiment.left):
            self._console.say(same_line(self.experiment))


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def ended(experiment: Experiment, stopped: ExacellError | None, result: Result) -> Result:
    """Return the result of an experiment with the error that stopped it, and the way to continue."""
    if stopped is None:
        return result
    way = "`resume` continues with the other runs; `resume --abandon` ends it"
    return replace(
        result,
        problems=[*result.problems, f"{stopped.message}; {stopped.hint}" if stopped.hint else stopped.message],
        notes=[*result.notes, f"{len(experiment.left)} of {len(experiment.schedule)} runs are left: {way}"],
        exit_code=ExitCode.INTERRUPTED if stopped.exit_code is ExitCode.INTERRUPTED else ExitCode.FAILED,
    )
