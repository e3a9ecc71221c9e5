"""Hold the state of a plan while it is carried out, and its result: outcomes, the report, targets that continue. No I/O.

A step's outcome is judged from its target's text, and becomes a row of the journal.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum

from exacell.core.cellset import fold, summed
from exacell.core.errors import ExitCode
from exacell.core.values import dataclass, field, replace
from exacell.journal.record import Row
from exacell.plan.model import Gate, Plan, Stage, Step
from exacell.plan.watch import FlushState
from exacell.transport.base import Looked
from exacell.transport.exchange import LATE


class Outcome(StrEnum):
    """The end of one step on its target."""

    DONE = "done"
    NOT_NEEDED = "not needed"
    REFUSED = "refused"
    """A precondition did not hold any more; nothing was sent."""
    FAILED = "failed"
    """It was sent and the target refused it, or reading back does not show the wanted state."""
    UNKNOWN = "unknown"
    """It was sent, no answer came, and reading back could not settle it."""
    NOT_SENT = "not sent"
    """The user interrupted, an earlier step failed, or a gate stayed closed."""

    @property
    def good(self) -> bool:
        """Return whether the target may continue with the next step."""
        return self in (Outcome.DONE, Outcome.NOT_NEEDED)


@dataclass(frozen=True, kw_only=True)
class StepResult:
    """The result of one step.

    Attributes:
        reason: one line, empty if it succeeded.
        said: the target's own text.
        fingerprint: of the key that logged in for the statement, empty if unknown or nothing was sent.
        wave: number of the wave in a rolled plan, from 1; 0 outside of waves.
        looked: the look right before the statement, after which it was sent or refused; None if there was none.
    """

    step: Step
    outcome: Outcome
    reason: str = ""
    said: str = ""
    fingerprint: str = ""
    mending: bool = False
    wave: int = 0
    looked: Looked | None = None


@dataclass
class Report:
    """The result of a plan.

    Attributes:
        change: its number in the journal.
        flushed: by cell, the last state of a followed flush.
        stopped: why no more waves were begun, one line; empty if all were.
    """

    change: int
    results: list[StepResult] = field(default_factory=list)
    flushed: dict[str, FlushState] = field(default_factory=dict)
    interrupted: bool = False
    stopped: str = ""

    @property
    def failures(self) -> list[StepResult]:
        """Return the failed steps: neither done nor unnecessary; steps that were not sent are left out."""
        return [r for r in self.results if not r.outcome.good and r.outcome is not Outcome.NOT_SENT]

    @property
    def exit_code(self) -> ExitCode:
        """Return INTERRUPTED, FAILED, NOT_EXECUTED if every first step was refused, else DONE."""
        if self.interrupted:
            return ExitCode.INTERRUPTED
        if not self.failures and all(r.outcome.good for r in self.results if not r.mending):
            return ExitCode.DONE
        sent = [r for r in self.results if r.outcome in (Outcome.DONE, Outcome.FAILED, Outcome.UNKNOWN)]
        return ExitCode.FAILED if sent else ExitCode.NOT_EXECUTED


@dataclass
class Run:
    """The state of each target while a plan runs.

    Attributes:
        ended: stage key (or title) → target → outcome.
        dropped: targets that take no further part.
        wave: number of the wave being carried out; 0 outside of waves.
        under_way: statements were sent whose outcome is not in the journal yet.
    """

    plan: Plan
    report: Report
    ended: dict[str, dict[str, Outcome]] = field(default_factory=dict)
    dropped: set[str] = field(default_factory=set)
    wave: int = 0
    under_way: bool = False

    def entering(self, stage: Stage) -> list[Step]:
        """Return the steps of ``stage``, or of a wave's part of it, whose targets still take part."""
        if stage.gate is Gate.MEND:
            left = self.unsure(stage)
            return [step for step in self._broken_off(stage) if step not in left]
        if stage.gate is Gate.ALL and self.dropped - self._elsewhere(stage):
            return []
        return [step for step in stage.steps if step.target not in self.dropped]

    def unsure(self, stage: Stage) -> list[Step]:
        """Return the steps of a mending stage that must not be sent.

        On their targets a statement without an answer may still be carried out.
        """
        ended = self.ended.get(stage.unsure, {})
        return [step for step in self._broken_off(stage) if ended.get(step.target) is Outcome.UNKNOWN]

    def _broken_off(self, stage: Stage) -> list[Step]:
        """Return the steps of a mending stage for targets on which the work to repair was begun and not finished."""
        started = self.ended.get(stage.mends, {})
        maybe = (Outcome.DONE, Outcome.FAILED, Outcome.UNKNOWN)
        return [
            step
            for step in stage.steps
            if started.get(step.target) in maybe and not self._finished(stage.unless, step.target)
        ]

    def _elsewhere(self, stage: Stage) -> set[str]:
        """Return the cells of other waves; if they failed, it was decided earlier whether this wave begins."""
        if not self.wave or self.plan.rolling is None:
            return set()
        here = {step.target for step in stage.steps}
        return {cell for wave in self.plan.rolling.waves for cell in wave} - here

    def _finished(self, unless: str, target: str) -> bool:
        """Return whether the stage that makes mending unnecessary succeeded.

        It must have succeeded on the target, or, if it has no step there, on all of its targets.
        """
        ended = self.ended.get(unless, {})
        if any(step.target == target for stage in self.plan.stages if stage.key == unless for step in stage.steps):
            return target in ended and ended[target].good
        return bool(ended) and all(outcome.good for outcome in ended.values())

    def others(self, *, gate: bool = False) -> str:
        """Return the state of the other waves' cells, one line; empty outside of waves.

        Args:
            gate: the present wave has not begun, so that its cells count as waiting like those of later waves.
        """
        rolling = self.plan.rolling
        if rolling is None or not self.wave:
            return ""
        bad = {result.step.target for result in self.report.failures}
        before = [cell for wave in rolling.waves[: self.wave - 1] for cell in wave]
        behind = [cell for wave in rolling.waves[self.wave - gate :] for cell in wave]
        places = {
            "done": [cell for cell in before if cell not in bad],
            "failed": [cell for cell in before if cell in bad],
            f"waiting for {'its' if len(behind) == 1 else 'their'} wave": behind,
        }
        return "; ".join(f"{fold(cells)} {word}" for word, cells in places.items() if cells)

    def add(self, stage: Stage, results: Sequence[StepResult]) -> None:
        """Add the results of steps; a target whose step failed takes no further part."""
        outcomes = self.ended.setdefault(stage.key or stage.title, {})
        for result in results:
            outcomes[result.step.target] = result.outcome
            if not result.outcome.good:
                self.dropped.add(result.step.target)
        self.report.results += results

    def skip(self, steps: Sequence[Step], reason: str, *, mending: bool = False) -> None:
        """Add steps that are not sent, with the reason."""
        self.report.results += [
            StepResult(step=s, outcome=Outcome.NOT_SENT, reason=reason, mending=mending, wave=self.wave) for s in steps
        ]
        for step in steps:
            self.dropped.add(step.target)

    def finishes(self, stage: Stage) -> bool:
        """Return whether an interrupted plan still runs this stage: it brings back caching that an earlier stage switched off."""
        caches = {(step.target, step.cache) for step in stage.steps}
        return all(step.caching_on for step in stage.steps) and any(
            result.step.caching_off
            and result.outcome is Outcome.DONE
            and (result.step.target, result.step.cache) in caches
            for result in self.report.results
        )

    def tally(self) -> Mapping[str, int]:
        """Return outcome → number of steps, for the journal."""
        return summed((result.outcome, 1) for result in self.report.results)


REPLY_KEPT = 20_000
"""Number of characters of a target's text that the journal keeps."""


def told_late(result: StepResult) -> StepResult:
    """Return the result for people: a statement that was sent too long after its look counts as a failure, with any outcome."""
    why = why_late(result.looked)
    if not why:
        return result
    return replace(result, outcome=Outcome.FAILED, reason=f"{result.reason}; {why}" if result.reason else why)


def why_late(looked: Looked | None) -> str:
    """Return the text about a statement that was sent too long after its look; empty if it was not."""
    if looked is None or not looked.sent or looked.age <= LATE:
        return ""
    return (
        f"it was sent {looked.age:.1f}s after the check, because this process was suspended in between: data "
        "written in that time may be lost; check the databases"
    )


def look_row(looked: Looked | None) -> dict[str, object]:
    """Return the journal's fields about a look: its time, its answer, and its age when the statement was sent."""
    if looked is None or not looked.at:
        return {}
    return {
        "lookedAt": looked.at,
        "look": looked.text[:REPLY_KEPT],
        "looks": looked.looks,
        "lookMs": round(looked.seconds * 1000, 1),
        **({"lookAgeMs": round(looked.age * 1000, 1)} if looked.sent else {}),
    }


def phrase(result: StepResult) -> str:
    """Return the words for a progress line."""
    return str(result.outcome) if result.outcome.good else f"{result.outcome}: {result.reason}"


def intent(step: Step, wave: int = 0) -> Row:
    """Return the row that is written to disk before the step's statement is sent."""
    return Row(
        kind="intent",
        target=step.target,
        body={
            **_about(step),
            "statement": step.statement,
            "asm": step.asm,
            "wave": wave,
            "undo": step.undo,
            "inverse": step.inverse,
        },
    )


def outcome_row(result: StepResult) -> Row:
    """Return the row about a step's result."""
    return Row(
        kind="outcome",
        target=result.step.target,
        body={
            **_about(result.step),
            "state": result.outcome,
            "reason": result.reason,
            "reply": result.said[:REPLY_KEPT],
            "fingerprint": result.fingerprint,
            "wave": result.wave,
            "mending": result.mending,
            **look_row(result.looked),
        },
    )


def _about(step: Step) -> dict[str, object]:
    """Return the fields of both rows about a step: its name, and its effects on caches and disks."""
    return {
        "what": step.what,
        "cachingOff": step.caching_off,
        "cachingOn": step.caching_on,
        "cache": step.cache,
        "offline": step.offline,
        "online": step.online,
    }
