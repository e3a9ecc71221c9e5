"""Hold the state of a plan while it is carried out, and its result: outcomes, the report, targets that continue. No I/O.

A step's outcome is judged from its target's text, and becomes a row of the journal.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum

from exacell.cellcli.messages import NO_ANSWER, always_prints
from exacell.cellcli.reply import errors as reply_errors, successes
from exacell.cellcli.statement import parse
from exacell.core.cellset import fold, summed
from exacell.core.errors import ExacellError, ExitCode
from exacell.core.values import dataclass, field, replace
from exacell.journal.record import Row
from exacell.plan.asmfacts import sql_errors
from exacell.plan.model import Gate, Plan, Stage, Step
from exacell.plan.watch import FlushState
from exacell.session.answers import problem_of
from exacell.transport.base import Looked, Reply, State
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
        """Return the cells of other waves; whether this wave begins although they failed was decided before it."""
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


def judge(step: Step, reply: Reply) -> StepResult:
    """Return a CellCLI step's result, judged by the text per object, not by the exit status alone; a host's by its own words."""
    return _judge_host(step, reply) if step.host else _upon(_judge(step, reply), reply)


def _judge_host(step: Step, reply: Reply) -> StepResult:
    who, said = reply.fingerprint, reply.stdout + reply.stderr
    if reply.state in (State.UNREACHABLE, State.NOT_ATTEMPTED):
        return StepResult(step=step, outcome=Outcome.REFUSED, reason=problem_of(reply))
    if reply.state is State.OK:
        return StepResult(step=step, outcome=Outcome.DONE, said=said, fingerprint=who)
    told = reply.exit_status is not None and said.strip()
    reason = said.strip().splitlines()[-1] if told else problem_of(reply)
    outcome = Outcome.FAILED if told else Outcome.UNKNOWN
    return StepResult(step=step, outcome=outcome, reason=reason, said=said, fingerprint=who)


def _upon(result: StepResult, reply: Reply) -> StepResult:
    """Return the result with the look before its statement; after a needless look the outcome is "nothing to do"."""
    looked = reply.looked
    if looked is None:
        return result
    if looked.needless:
        return StepResult(step=result.step, outcome=Outcome.NOT_NEEDED, reason=looked.refused, looked=looked)
    return replace(result, looked=looked)


def told_late(result: StepResult) -> StepResult:
    """Return the result for people: a statement that was sent too long after its look is a failure, whatever it did."""
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


def _judge(step: Step, reply: Reply) -> StepResult:
    who = reply.fingerprint
    found = reply_errors(reply.stdout) or reply_errors(reply.stderr)
    if found:
        reason = "; ".join(f"{e.code}: {e.message}" for e in found[:3])
        return StepResult(step=step, outcome=Outcome.FAILED, reason=reason, said=reply.stdout, fingerprint=who)
    if reply.state in (State.UNREACHABLE, State.NOT_ATTEMPTED):
        return StepResult(step=step, outcome=Outcome.REFUSED, reason=problem_of(reply))
    if reply.state is not State.OK:
        reason = problem_of(reply)
        return StepResult(step=step, outcome=Outcome.UNKNOWN, reason=reason, said=reply.stdout, fingerprint=who)
    if _is_mute(step, reply):
        return StepResult(step=step, outcome=Outcome.UNKNOWN, reason=NO_ANSWER, fingerprint=who)
    count = len(successes(reply.stdout))
    if count < step.expect:
        reason = f"{count} of {step.expect} objects are done: {problem_of(reply)}"
        return StepResult(step=step, outcome=Outcome.UNKNOWN, reason=reason, said=reply.stdout, fingerprint=who)
    return StepResult(step=step, outcome=Outcome.DONE, said=reply.stdout, fingerprint=who)


def _is_mute(step: Step, reply: Reply) -> bool:
    """Return whether a cell printed nothing at all for a statement that always prints something."""
    if reply.stdout.strip() or reply.stderr.strip():
        return False
    try:
        return always_prints(parse(step.statement))
    except ExacellError:
        return False  # This is not a CellCLI statement; it may be a command for the host's shell.


def judge_sql(step: Step, reply: Reply, problem: str) -> StepResult:
    """Return an ASM step's result; ``problem`` is the client's finding about the answer, empty for none."""
    return _upon(_judge_sql(step, reply, problem), reply)


def _judge_sql(step: Step, reply: Reply, problem: str) -> StepResult:
    who = reply.fingerprint
    if not problem:
        return StepResult(step=step, outcome=Outcome.DONE, said=reply.stdout, fingerprint=who)
    if reply.state in (State.UNREACHABLE, State.NOT_ATTEMPTED):
        return StepResult(step=step, outcome=Outcome.REFUSED, reason=problem)
    # Only an error line is a refusal; an answer that ends early may have been cut after a successful statement.
    outcome = Outcome.FAILED if sql_errors(reply.stdout) else Outcome.UNKNOWN
    return StepResult(step=step, outcome=outcome, reason=problem, said=reply.stdout, fingerprint=who)


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
