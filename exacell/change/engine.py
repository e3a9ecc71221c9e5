"""Carry out a plan: check again, journal the intent, send, verify, journal the outcome; repair after a failure.

Every statement's intent is on disk before the statement is sent. Success is judged by the cell's text for each object and
then verified by reading back. A target whose step fails takes no further part; the others continue as far as the stages'
gates allow. The mending stages then run for the targets that were left in between. A rolled plan does this wave by wave,
with a gate before each.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from types import MappingProxyType
from typing import Any

from exacell.change.clocks import held_back
from exacell.change.following import Board, Follower, Times
from exacell.change.gatekeeper import Gatekeeper, Passage
from exacell.change.lockwatch import Vigil
from exacell.change.probe import seen
from exacell.change.running import (
    Outcome,
    Report,
    Run,
    StepResult,
    intent,
    outcome_row,
    phrase,
    told_late,
)
from exacell.change.targets.base import Going
from exacell.change.targets.kinds import Targets
from exacell.core.background import unless_interrupted
from exacell.core.errors import (
    BrokenOffError,
    ExitCode,
    JournalError,
    RefusedError,
)
from exacell.core.units import format_duration
from exacell.journal.actor import actor
from exacell.journal.left import FLASHCACHE, caching_now
from exacell.journal.record import Journal, Row
from exacell.output.console import Console
from exacell.plan.model import Gate, Plan, Rolling, Stage, Step, Watch, as_data
from exacell.plan.rolling import Lap, laps
from exacell.session.asm import AsmClient
from exacell.session.fleet import Fleet

DETACHED = "detached: the cells finish what was sent; exacell no longer waits"
"""The reason for the end of a change that was interrupted twice while a statement was running."""

LEFT = "detached: no statement was running"
"""The reason if no statement was running."""

STAYS_FLUSHED = "it stays flushed, so nothing is lost if that still happens"
"""The reason why caching is not switched on again if a DROP was not answered."""

FRESH = 30.0
"""Seconds after which a look before a statement no longer counts: one cell delayed the others, or this host slept."""

LOOKS = 3
"""How often cells that take longer than that to answer are read."""


class Engine:
    """Runs plans on one rack.

    Args:
        asm: by owner, the clients of the ASM clusters and databases that the plans change, and of the clusters that gates ask.
        times: how long to wait, and by which clocks.
        begun: called with the number of the change once it has one.
        permit: called right before statements are sent; returns why they must not be, empty if they may.
    """

    def __init__(
        self,
        *,
        rack: str,
        fleet: Fleet,
        asm: Mapping[str, Any],
        journal: Journal,
        console: Console,
        times: Times,
        begun: Callable[[int], None] = lambda change: None,
        permit: Callable[[], str] = str,
    ) -> None:
        self._rack = rack
        self._fleet = fleet
        self._journal = journal
        self._console = console
        self._write_timeout = times.write_timeout
        self._cancel = times.cancel
        self._begun = begun
        self._permit = permit
        self._read_timeout = times.read_timeout
        self._passing = times.passing
        self._targets = Targets(fleet, asm)
        self._follower = Follower(fleet, times)
        self._clusters = {name: client for name, client in asm.items() if isinstance(client, AsmClient)}
        self._gatekeeper = Gatekeeper(fleet, self._clusters, console, times)

    def run(
        self,
        plan: Plan,
        *,
        reason: str = "",
        ticket: str = "",
        origin: str = "",
        details: Mapping[str, object] = MappingProxyType({}),
    ) -> Report:
        """Carry out ``plan`` and return the outcome of each step.

        Args:
            details: further fields of the plan's row.

        Raises:
            JournalError: the journal can't be written; nothing was sent.
            BrokenOffError: the journal can't be written any more; statements before that were sent.
            RefusedError: the transport is read-only; nothing was sent.
        """
        if self._fleet.transport.read_only:
            raise RefusedError("read-only: no statement that changes cells is sent", hint="set mode rw")
        body = {"statement": plan.statement, "reason": reason, "ticket": ticket, "origin": origin, **details, **actor()}
        change = self._journal.begin(self._rack, {**body, "risk": plan.risk, "plan": as_data(plan)})
        run = Run(plan=plan, report=Report(change=change))
        try:
            self._begun(change)
            return self._carry_out(run)
        except KeyboardInterrupt:
            self._detached(run)
            raise
        except JournalError as error:
            raise BrokenOffError(change, plan.statement, error, f"`resume {change}` continues it") from error
        finally:
            self._journal.let_go(change)

    def _detached(self, run: Run) -> None:
        """Journal that nobody continues the change; the session lives on, and running statements have no outcome."""
        body = {
            "exitCode": int(ExitCode.INTERRUPTED),
            "done": run.tally(),
            "stopped": DETACHED if run.under_way else LEFT,
        }
        with suppress(JournalError):
            self._journal.append(self._rack, run.report.change, [Row(kind="end", body=body)])

    def _carry_out(self, run: Run) -> Report:
        """Carry out the laps of a plan and journal its end."""
        self._gatekeeper.close_at(run.plan.rolling.not_after if run.plan.rolling is not None else "")
        try:
            for lap in laps(run.plan):
                self._lap(lap, run)
        finally:
            self._console.progress(None)
        stopped = {"stopped": run.report.stopped} if run.report.stopped else {}
        end = Row(kind="end", body={"exitCode": int(run.report.exit_code), "done": run.tally(), **stopped})
        self._journal.append(self._rack, run.report.change, [*self._observe_caching(run), end])
        return run.report

    def _observe_caching(self, run: Run) -> Iterator[Row]:
        """Yield a row with the present caching state of each cell whose caching was switched off.

        The journal warns until a row shows it on. A cell that may still carry out a statement without an answer is left out:
        its present state proves nothing.
        """
        steps = [step for step in run.plan.steps if step.caching_off]
        unsure = {
            (r.step.target, r.step.cache)
            for r in run.report.results
            if r.step.caching_off and r.outcome is Outcome.UNKNOWN
        }
        for cache in dict.fromkeys(step.cache for step in steps):
            off = dict.fromkeys(step.target for step in steps if step.cache == cache)
            cells = [cell for cell in off if (cell, cache) not in unsure]
            caching = unless_interrupted(partial(seen, self._fleet, cells, cache), self._cancel) if cells else {}
            yield from caching_now(cache, caching or {})

    # -- waves -----------------------------------------------------------------------------------------------------

    def _lap(self, lap: Lap, run: Run) -> None:
        run.wave = lap.wave
        rolling = run.plan.rolling
        if lap.wave and rolling is not None:
            why = run.report.stopped or self._pass(lap, rolling, run)
            if why:
                run.report.stopped = why
                for stage in lap.stages:
                    if stage.gate is not Gate.MEND:
                        run.skip(stage.steps, why)
                return
        self._stages(lap.stages, run)

    def _pass(self, lap: Lap, rolling: Rolling, run: Run) -> str:
        """Wait until the wave may begin; return the reason if it must not, empty if it may."""
        if self._cancel.is_set():
            run.report.interrupted = True
            return f"interrupted before wave {lap.wave}"
        failed = sorted({r.step.target for r in run.report.failures})
        if failed and not rolling.go_on:
            return f"a step failed on {', '.join(failed)} (--on-error=stop)"
        if lap.wave > 1:
            passage = self._gatekeeper.linger(rolling, lap.wave, self._console.confirm, others=run.others())
            if not passage.open:
                return self._held(passage, lap, run)
        offline = any(step.offline and not step.forced for stage in lap.stages for step in stage.steps)
        broken = {
            r.step.target
            for r in run.report.failures
            if (r.step.caching_off or r.step.caching_on) and r.step.cache == FLASHCACHE
        }
        passage = self._gatekeeper.wait(rolling, lap.wave, offline=offline, cached=broken, others=run.others(gate=True))
        return self._held(passage, lap, run)

    def _held(self, passage: Passage, lap: Lap, run: Run) -> str:
        """Journal that a wave was let through, or why it was not; return that reason."""
        if passage.interrupted:
            run.report.interrupted = True
        body = {
            "wave": lap.wave,
            "cells": list(lap.cells),
            "open": passage.open,
            "seconds": round(passage.waited, 1),
            "met": passage.met,
            "reason": passage.reason,
        }
        self._journal.append(self._rack, run.report.change, [Row(kind="gate", body=body)])
        return passage.reason

    # -- stages ----------------------------------------------------------------------------------------------------

    def _stages(self, stages: Sequence[Stage], run: Run) -> None:
        number = 0
        of = sum(1 for stage in stages if stage.gate is not Gate.MEND)
        waves = len(run.plan.rolling.waves) if run.plan.rolling is not None else 0
        for stage in stages:
            mending = stage.gate is Gate.MEND
            number += not mending
            steps = run.entering(stage)
            if self._cancel.is_set() and not mending and not run.finishes(stage):
                run.report.interrupted = run.report.interrupted or bool(steps)
                run.skip(stage.steps, "interrupted")
                continue
            if mending:
                run.skip(run.unsure(stage), STAYS_FLUSHED, mending=True)
            else:
                run.skip([s for s in stage.steps if s not in steps], "an earlier step failed")
            if steps:
                title = f"wave {run.wave} of {waves}: {stage.title}" if run.wave else stage.title
                board = Board(self._console, title, number, of, [s.target for s in steps], others=run.others())
                self._stage(stage, steps, run, board, mending=mending)

    def _stage(self, stage: Stage, steps: Sequence[Step], run: Run, board: Board, *, mending: bool) -> None:
        ready = self._admit(stage, steps, run, mending=mending)
        looked = self._passing()
        # Nothing is repaired either: the operator who took the rack over decides now, and sees a message about it.
        why = self._permit() if ready else ""
        if why:
            run.skip(ready, why, mending=mending)
            run.report.stopped = why
            return
        if not ready:
            return
        self._journal.append(self._rack, run.report.change, [intent(step, run.wave) for step in ready])
        stood = self._passing() - looked
        if stood > FRESH and not mending:
            # Whoever took the rack over meanwhile, or changed a cell, did not know what was about to be sent.
            reason = f"exacell was suspended for {format_duration(stood)} right before it was sent: nothing was sent"
            refused = [StepResult(step=s, outcome=Outcome.REFUSED, reason=reason, wave=run.wave) for s in ready]
            self._keep(stage, refused, run)
            return
        run.under_way = True
        results = self._send(ready, board)
        watching = [r.step for r in results if r.outcome is Outcome.DONE and r.step.watch is Watch.FLUSH]
        if watching:
            followed = self._follower.flushes(watching, board, run.report)
            results = [_followed(r, followed.get(r.step.target)) if r.step in watching else r for r in results]
        results = self._follower.proofs(results, board, run.report, self._targets.failed, self._targets.far)
        results = [told_late(result) for result in results]
        for result in results:
            board.set(result.step.target, phrase(result))
        self._keep(stage, [replace(r, mending=mending, wave=run.wave) for r in results], run)
        run.under_way = False
        if any(result.outcome is Outcome.REFUSED for result in results):
            run.report.stopped = run.report.stopped or self._permit()

    def _keep(self, stage: Stage, results: Sequence[StepResult], run: Run) -> None:
        run.add(stage, results)
        self._journal.append(self._rack, run.report.change, [outcome_row(r) for r in results])

    def _admit(self, stage: Stage, steps: Sequence[Step], run: Run, *, mending: bool) -> list[Step]:
        """Check only_if and needs with one read right before sending; journal the steps that are not sent, return the others.

        If one cell delayed the others, the others are read once more. After an interruption no statement is sent, except those
        that switch caching on again.
        """
        must = mending or run.finishes(stage)
        for _ in range(LOOKS):
            began = self._passing()
            steps = self._looked_at(stage, steps, run, mending=mending, must=must)
            steps = steps if mending else self._in_time(stage, steps, run, must=must)
            if not steps or self._passing() - began <= FRESH:
                break
        if steps and self._cancel.is_set() and not must:
            self._give_up(steps, run)
            return []
        return list(steps)

    def _in_time(self, stage: Stage, steps: Sequence[Step], run: Run, *, must: bool) -> list[Step]:
        """Compare steps that take disks from ASM with its clocks as they are now; journal those not sent, return the others."""
        look = partial(held_back, self._fleet, self._clusters, run.plan, steps, timeout=self._read_timeout)
        found = look() if must else unless_interrupted(look, self._cancel)
        if found is None:
            self._give_up(steps, run)
            return []
        late = [s for s in steps if s.target in found and s.offline]
        if late:
            ended = [StepResult(step=s, outcome=Outcome.REFUSED, reason=found[s.target], wave=run.wave) for s in late]
            self._keep(stage, ended, run)
        return [step for step in steps if step not in late]

    def _give_up(self, steps: Sequence[Step], run: Run) -> None:
        run.report.interrupted = True
        run.skip(steps, "interrupted")

    def _looked_at(self, stage: Stage, steps: Sequence[Step], run: Run, *, mending: bool, must: bool) -> list[Step]:
        look = partial(self._targets.failed, {step.target: (step, (*step.only_if, *step.needs)) for step in steps})
        failures = look() if must else unless_interrupted(look, self._cancel)
        if failures is None:
            self._give_up(steps, run)
            return []
        ready: list[Step] = []
        ended: list[StepResult] = []

        def end(step: Step, outcome: Outcome, reason: str) -> None:
            ended.append(StepResult(step=step, outcome=outcome, reason=reason, mending=mending, wave=run.wave))

        for step in steps:
            failed = failures[step.target]
            unneeded = [why for place, why in failed.items() if 0 <= place < len(step.only_if)]
            if unneeded:
                end(step, Outcome.NOT_NEEDED, unneeded[0])
            elif failed:
                # A check of needs failed, or the target did not answer.
                end(step, Outcome.REFUSED, next(iter(failed.values())))
            else:
                ready.append(step)
        if ended:
            self._keep(stage, ended, run)
        return ready

    def _send(self, steps: Sequence[Step], board: Board) -> list[StepResult]:
        results = {step.target: StepResult(step=step, outcome=Outcome.DONE) for step in steps}
        with Vigil(self._permit) as vigil:
            going = Going(
                ours=vigil.ours,
                timeout=self._write_timeout,
                within=self._read_timeout,
                show=board.set,
                show_all=board.set_all,
            )
            results |= {result.step.target: result for result in self._targets.send(steps, going)}
        return [results[step.target] for step in steps]


def _followed(sent: StepResult, end: StepResult | None) -> StepResult:
    """Return the end of a followed statement, with its target's text at the time it was sent."""
    return sent if end is None else replace(end, said=sent.said, fingerprint=sent.fingerprint, looked=sent.looked)
