"""Carry a plan out: check again, journal the intent, send, verify, journal the outcome; mend after a failure.

Every statement's intent is on disk before it leaves. Success is judged by the cell's text per object and then verified
by reading back. A target whose step fails takes no further part, the others go on as the stages' gates allow, and the
mending stages run for the targets that were left in between.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from enum import StrEnum

from exacell.asm import AsmClient
from exacell.cellcli.reply import errors as reply_errors
from exacell.cellcli.reply import successes
from exacell.console import Console, Progress
from exacell.errors import ExitCode, RefusedError
from exacell.fleet import Fleet, problem_of
from exacell.journal import Journal, Row, actor
from exacell.plan import facts as f
from exacell.plan.asmfacts import sql_errors
from exacell.plan.model import Check, Gate, Plan, Stage, Step, Watch
from exacell.plan.watch import FlushState, FlushWatch
from exacell.probe import NO_ANSWER, Prober
from exacell.transport.base import Reply, State

WRITE_TIMEOUT = 600.0
"""Seconds for one changing statement on a cell; a flush is sent NOWAIT and followed instead."""

REPLY_KEPT = 20_000
"""Characters of a target's text that the journal keeps."""

LOST_POLLS = 20
"""So many polls in a row may fail before a followed flush counts as lost."""


class Outcome(StrEnum):
    """How one step ended on its target."""

    DONE = "done"
    NOT_NEEDED = "not needed"
    REFUSED = "refused"
    """A precondition did not hold any more; nothing was sent."""
    FAILED = "failed"
    """It was sent and the target said no, or reading back does not show what was wanted."""
    UNKNOWN = "unknown"
    """It was sent, no answer came, and reading back could not settle it."""
    NOT_SENT = "not sent"
    """The user interrupted, or an earlier step failed."""

    @property
    def good(self) -> bool:
        """Whether the target may go on."""
        return self in (Outcome.DONE, Outcome.NOT_NEEDED)


@dataclass(frozen=True, kw_only=True)
class StepResult:
    """One step's end. ``reason`` is one line, empty when it went well; ``said`` is the target's own text."""

    step: Step
    outcome: Outcome
    reason: str = ""
    said: str = ""
    mending: bool = False


@dataclass
class Report:
    """What became of a plan.

    Attributes:
        change: its number in the journal.
        flushed: per cell, the last state of a followed flush.
    """

    change: int
    results: list[StepResult] = field(default_factory=list)
    flushed: dict[str, FlushState] = field(default_factory=dict)
    interrupted: bool = False

    @property
    def failures(self) -> list[StepResult]:
        """The steps that neither were done nor were unnecessary, without those that were not sent."""
        return [r for r in self.results if not r.outcome.good and r.outcome is not Outcome.NOT_SENT]

    @property
    def exit_code(self) -> ExitCode:
        """INTERRUPTED, FAILED, NOT_EXECUTED when every first step was refused, else DONE."""
        if self.interrupted:
            return ExitCode.INTERRUPTED
        if not self.failures and all(r.outcome.good for r in self.results if not r.mending):
            return ExitCode.DONE
        sent = [r for r in self.results if r.outcome in (Outcome.DONE, Outcome.FAILED, Outcome.UNKNOWN)]
        return ExitCode.FAILED if sent else ExitCode.NOT_EXECUTED


class Engine:
    """Runs plans on one rack.

    Args:
        poll: seconds between two looks at something that takes time.
        pause: waits so many seconds, or until the event is set; an argument so that tests need no clock.
    """

    def __init__(
        self,
        *,
        rack: str,
        fleet: Fleet,
        asm: Mapping[str, AsmClient],
        journal: Journal,
        console: Console,
        poll: float,
        cancel: threading.Event,
        pause: Callable[[threading.Event, float], object] = threading.Event.wait,
    ) -> None:
        self._rack = rack
        self._fleet = fleet
        self._asm = asm
        self._journal = journal
        self._console = console
        self._poll = poll
        self._cancel = cancel
        self._pause = pause
        self._prober = Prober(fleet, asm)

    def run(self, plan: Plan, *, reason: str = "", ticket: str = "", origin: str = "") -> Report:
        """Carry ``plan`` out and return what became of each step.

        Raises:
            JournalError: the journal can't be written; nothing was sent.
            RefusedError: the transport is read-only; nothing was sent.
        """
        if self._fleet.transport.read_only:
            raise RefusedError("read-only: nothing that changes cells is sent", hint="set mode rw")
        body = {"statement": plan.statement, "reason": reason, "ticket": ticket, "origin": origin, **actor()}
        change = self._journal.begin(self._rack, {**body, "risk": plan.risk, "plan": asdict(plan)})
        run = _Run(plan=plan, report=Report(change=change))
        try:
            self._stages(plan, run)
        finally:
            self._console.progress(None)
        end = Row(kind="end", body={"exitCode": int(run.report.exit_code), "done": run.tally()})
        self._journal.append(self._rack, change, [*self._observe_caching(plan), end])
        return run.report

    def _observe_caching(self, plan: Plan) -> list[Row]:
        """Look whether every cell whose caching was switched off has it back; the journal warns until it is seen."""
        cells = list(dict.fromkeys(step.target for step in plan.steps if step.caching_off))
        if not cells:
            return []
        rows = []
        for cell, answer in self._fleet.query(cells, [f.FLASHCACHE]).good.items():
            cache = f.build(cell, [f.FLASHCACHE], answer.tables).flash_cache
            rows.append(Row(kind="observed", target=cell, body={"caching": cache.caching if cache else "off"}))
        return rows

    def _stages(self, plan: Plan, run: _Run) -> None:
        number = 0
        of = sum(1 for stage in plan.stages if stage.gate is not Gate.MEND)
        for stage in plan.stages:
            mending = stage.gate is Gate.MEND
            number += not mending
            steps = run.entering(stage)
            if self._cancel.is_set() and not mending and not _finishes(stage, run):
                run.report.interrupted = run.report.interrupted or bool(steps)
                run.skip(stage.steps, "interrupted")
                continue
            if not mending:
                run.skip([s for s in stage.steps if s not in steps], "an earlier step failed")
            if steps:
                self._stage(stage, steps, run, number, of, mending=mending)

    def _stage(self, stage: Stage, steps: Sequence[Step], run: _Run, number: int, of: int, *, mending: bool) -> None:
        board = _Board(self._console, stage.title, number, of, [s.target for s in steps])
        ready = self._admit(stage, steps, run, mending=mending)
        if not ready:
            return
        self._journal.append(self._rack, run.report.change, [_intent(step) for step in ready])
        results = self._send(ready, board)
        watching = [r.step for r in results if r.outcome is Outcome.DONE and r.step.watch is Watch.FLUSH]
        if watching:
            followed = self._follow(watching, board, run)
            results = [followed.get(r.step.target, r) if r.step in watching else r for r in results]
        results = self._verify(results, board)
        for result in results:
            board.set(result.step.target, _phrase(result))
        run.add(stage, [replace(r, mending=mending) for r in results])
        self._journal.append(self._rack, run.report.change, [_outcome_row(r) for r in results])

    def _admit(self, stage: Stage, steps: Sequence[Step], run: _Run, *, mending: bool) -> list[Step]:
        """Judge only_if and needs, read in one round trip right before; journal and keep what is not sent."""
        failures = self._probe({step.target: (step, (*step.only_if, *step.needs)) for step in steps})
        ready: list[Step] = []
        ended: list[StepResult] = []
        for step in steps:
            failed = failures[step.target]
            silent = failed.get(NO_ANSWER)
            unneeded = [why for place, why in failed.items() if 0 <= place < len(step.only_if)]
            refused = [why for place, why in failed.items() if place >= len(step.only_if)]
            if silent:
                ended.append(StepResult(step=step, outcome=Outcome.REFUSED, reason=silent, mending=mending))
            elif unneeded:
                ended.append(StepResult(step=step, outcome=Outcome.NOT_NEEDED, reason=unneeded[0], mending=mending))
            elif refused:
                ended.append(StepResult(step=step, outcome=Outcome.REFUSED, reason=refused[0], mending=mending))
            else:
                ready.append(step)
        if ended:
            run.add(stage, ended)
            self._journal.append(self._rack, run.report.change, [_outcome_row(r) for r in ended])
        return ready

    def _probe(self, wanted: Mapping[str, tuple[Step, Sequence[Check]]]) -> dict[str, dict[int, str]]:
        """Return per target which of its checks fail, all cells in one round trip."""
        cells = {target: checks for target, (step, checks) in wanted.items() if not step.asm}
        found = self._prober.cells(cells)
        for target, (step, checks) in wanted.items():
            if step.asm:
                found[target] = self._prober.asm(step.asm, checks)
        return found

    def _send(self, steps: Sequence[Step], board: _Board) -> list[StepResult]:
        results = {step.target: StepResult(step=step, outcome=Outcome.DONE) for step in steps}
        cells = {step.target: step.statement for step in steps if step.statement and not step.asm}
        by_target = {step.target: step for step in steps}
        if cells:
            board.set_all(cells, "sent")
            for reply in self._fleet.send(cells, timeout=WRITE_TIMEOUT).replies.values():
                results[reply.target] = _judge(by_target[reply.target], reply)
        for cluster in {step.asm for step in steps if step.asm}:
            sql = {step.target: step.statement for step in steps if step.asm == cluster and step.statement}
            board.set_all(sql, "sent")
            for node, (reply, problem) in self._asm[cluster].send(sql).items():
                results[node] = _judge_sql(by_target[node], reply, problem)
        return [results[step.target] for step in steps]

    def _follow(self, steps: Sequence[Step], board: _Board, run: _Run) -> dict[str, StepResult]:
        """Follow flushes until each is proven or can't finish; an interruption stops the following, not the flush."""
        watches = {step.target: FlushWatch() for step in steps}
        by_target = {step.target: step for step in steps}
        lost = dict.fromkeys(watches, 0)
        ended: dict[str, StepResult] = {}
        statements = [f.FLASHCACHE, f.CELLDISK, f.FLASH_METRICS]
        while open_cells := [cell for cell in watches if cell not in ended]:
            if self._cancel.is_set():
                for cell in open_cells:
                    ended[cell] = StepResult(step=by_target[cell], outcome=Outcome.FAILED, reason="interrupted")
                run.report.interrupted = True
                break
            answers = self._fleet.query(open_cells, statements)
            for cell in open_cells:
                answer = answers.answers[cell]
                if answer.problem:
                    lost[cell] += 1
                    board.set(cell, f"no answer ({lost[cell]}): {answer.problem}")
                    if lost[cell] >= LOST_POLLS:
                        ended[cell] = StepResult(step=by_target[cell], outcome=Outcome.UNKNOWN, reason=answer.problem)
                    continue
                lost[cell] = 0
                fact = f.build(cell, statements, answer.tables)
                state = watches[cell].feed(
                    status=fact.flash_cache.status if fact.flash_cache else "",
                    disks=[
                        {"name": d.name, "flushStatus": d.flush_status, "flushError": d.flush_error}
                        for d in fact.flash_disks
                    ],
                    metrics=fact.metrics or {},
                )
                run.report.flushed[cell] = state
                board.set(cell, state.phrase, state.fraction)
                if state.failed:
                    ended[cell] = StepResult(step=by_target[cell], outcome=Outcome.FAILED, reason=state.failed)
                elif state.done:
                    ended[cell] = StepResult(step=by_target[cell], outcome=Outcome.DONE)
            if len(ended) < len(watches):
                self._pause(self._cancel, self._poll)
        return ended

    def _verify(self, results: Sequence[StepResult], board: _Board) -> list[StepResult]:
        """Read back until what was wanted is there; a lost answer is settled by what is read."""
        final = {r.step.target: r for r in results}
        open_steps = [r.step for r in results if r.outcome in (Outcome.DONE, Outcome.UNKNOWN) and r.step.proves]
        waited = 0.0
        while open_steps:
            board.set_all({s.target: "" for s in open_steps}, "verifying")
            failures = self._probe({step.target: (step, step.proves) for step in open_steps})
            still = []
            for step in open_steps:
                before = final[step.target]
                if not failures[step.target]:
                    final[step.target] = StepResult(step=step, outcome=Outcome.DONE, said=before.said)
                elif waited >= step.within:
                    why = next(iter(failures[step.target].values()))
                    text = f"{before.reason}; {why}" if before.reason else f"reading back: {why}"
                    unsure = before.outcome is Outcome.UNKNOWN or NO_ANSWER in failures[step.target]
                    outcome = Outcome.UNKNOWN if unsure else Outcome.FAILED
                    final[step.target] = StepResult(step=step, outcome=outcome, reason=text, said=before.said)
                else:
                    still.append(step)
            open_steps = still
            if open_steps:
                self._pause(threading.Event(), self._poll)
                waited += self._poll
        return [final[r.step.target] for r in results]


@dataclass
class _Run:
    """Where each target stands while a plan runs."""

    plan: Plan
    report: Report
    ended: dict[str, dict[str, Outcome]] = field(default_factory=dict)
    """Stage key (or title) → target → outcome."""
    dropped: set[str] = field(default_factory=set)
    """Targets that take no further part."""

    def entering(self, stage: Stage) -> list[Step]:
        if stage.gate is Gate.MEND:
            started = self.ended.get(stage.mends, {})
            maybe = (Outcome.DONE, Outcome.FAILED, Outcome.UNKNOWN)
            return [
                step
                for step in stage.steps
                if started.get(step.target) in maybe and not self._finished(stage.unless, step.target)
            ]
        if stage.gate is Gate.ALL and self.dropped:
            return []
        return [step for step in stage.steps if step.target not in self.dropped]

    def _finished(self, unless: str, target: str) -> bool:
        """Whether the stage that makes mending unnecessary ended well: on the target, or where it runs instead of it."""
        ended = self.ended.get(unless, {})
        if any(step.target == target for stage in self.plan.stages if stage.key == unless for step in stage.steps):
            return target in ended and ended[target].good
        return bool(ended) and all(outcome.good for outcome in ended.values())

    def add(self, stage: Stage, results: Sequence[StepResult]) -> None:
        outcomes = self.ended.setdefault(stage.key or stage.title, {})
        for result in results:
            outcomes[result.step.target] = result.outcome
            if not result.outcome.good:
                self.dropped.add(result.step.target)
        self.report.results += results

    def skip(self, steps: Sequence[Step], reason: str) -> None:
        self.report.results += [StepResult(step=s, outcome=Outcome.NOT_SENT, reason=reason) for s in steps]
        for step in steps:
            self.dropped.add(step.target)

    def tally(self) -> dict[str, int]:
        counts: dict[str, int] = {}
        for result in self.report.results:
            counts[result.outcome] = counts.get(result.outcome, 0) + 1
        return counts


def _finishes(stage: Stage, run: _Run) -> bool:
    """Whether an interrupted plan still runs this stage: it brings back caching that an earlier one switched off."""
    return (
        bool(stage.steps)
        and all(step.caching_on for step in stage.steps)
        and any(result.step.caching_off and result.outcome is Outcome.DONE for result in run.report.results)
    )


class _Board:
    """Collects what the progress display shows for one stage."""

    def __init__(self, console: Console, title: str, number: int, of: int, targets: Sequence[str]) -> None:
        self._console = console
        self._title, self._number, self._of = title, number, of
        self._states = dict.fromkeys(targets, "checking")
        self._fraction: dict[str, float] = {}
        self._show()

    def set(self, target: str, phrase: str, fraction: float | None = None) -> None:
        self._states[target] = phrase
        if fraction is not None:
            self._fraction[target] = fraction
        self._show()

    def set_all(self, targets: Mapping[str, object], phrase: str) -> None:
        for target in targets:
            self._states[target] = phrase
        self._show()

    def _show(self) -> None:
        self._console.progress(
            Progress(
                stage=self._title,
                number=self._number,
                of=self._of,
                states=dict(self._states),
                fraction=dict(self._fraction),
            )
        )


def _judge(step: Step, reply: Reply) -> StepResult:
    found = reply_errors(reply.stdout) or reply_errors(reply.stderr)
    if found:
        reason = "; ".join(f"{e.code}: {e.message}" for e in found[:3])
        return StepResult(step=step, outcome=Outcome.FAILED, reason=reason, said=reply.stdout)
    if reply.state in (State.UNREACHABLE, State.NOT_ATTEMPTED):
        return StepResult(step=step, outcome=Outcome.REFUSED, reason=problem_of(reply))
    if reply.state is not State.OK:
        return StepResult(step=step, outcome=Outcome.UNKNOWN, reason=problem_of(reply), said=reply.stdout)
    count = len(successes(reply.stdout))
    if count < step.expect:
        reason = f"{count} of {step.expect} objects were reported done: {problem_of(reply)}"
        return StepResult(step=step, outcome=Outcome.UNKNOWN, reason=reason, said=reply.stdout)
    return StepResult(step=step, outcome=Outcome.DONE, said=reply.stdout)


def _judge_sql(step: Step, reply: Reply, problem: str) -> StepResult:
    if not problem:
        return StepResult(step=step, outcome=Outcome.DONE, said=reply.stdout)
    if reply.state in (State.UNREACHABLE, State.NOT_ATTEMPTED):
        return StepResult(step=step, outcome=Outcome.REFUSED, reason=problem)
    # Only an error line is a no; an answer that ends early may have been cut behind a statement that passed.
    outcome = Outcome.FAILED if sql_errors(reply.stdout) else Outcome.UNKNOWN
    return StepResult(step=step, outcome=outcome, reason=problem, said=reply.stdout)


def _phrase(result: StepResult) -> str:
    return str(result.outcome) if result.outcome.good else f"{result.outcome}: {result.reason}"


def _intent(step: Step) -> Row:
    return Row(
        kind="intent",
        target=step.target,
        body={
            "what": step.what,
            "statement": step.statement,
            "asm": step.asm,
            "cachingOff": step.caching_off,
            "cachingOn": step.caching_on,
            "undo": step.undo,
            "inverse": step.inverse,
        },
    )


def _outcome_row(result: StepResult) -> Row:
    step = result.step
    return Row(
        kind="outcome",
        target=step.target,
        body={
            "what": step.what,
            "state": result.outcome,
            "reason": result.reason,
            "reply": result.said[:REPLY_KEPT],
            "cachingOff": step.caching_off,
            "cachingOn": step.caching_on,
            "mending": result.mending,
        },
    )
