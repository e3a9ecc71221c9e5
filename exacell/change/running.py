"""Where a plan stands while it is carried out, and what became of it: outcomes, the report, who goes on. No I/O.

How a step ended is judged from its target's text, and becomes a row of the journal.
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
    """The user interrupted, an earlier step failed, or a gate stayed closed."""

    @property
    def good(self) -> bool:
        """Whether the target may go on."""
        return self in (Outcome.DONE, Outcome.NOT_NEEDED)


@dataclass(frozen=True, kw_only=True)
class StepResult:
    """One step's end.

    Attributes:
        reason: one line, empty when it went well.
        said: the target's own text.
        fingerprint: of the key that logged in for the statement, empty when unknown or when nothing was sent.
        wave: of a rolled plan, from 1; 0 outside of waves.
        looked: the look that the statement went upon, or was refused upon; None where it went upon none.
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
    """What became of a plan.

    Attributes:
        change: its number in the journal.
        flushed: per cell, the last state of a followed flush.
        stopped: why no more waves were begun, empty when all were; one line.
    """

    change: int
    results: list[StepResult] = field(default_factory=list)
    flushed: dict[str, FlushState] = field(default_factory=dict)
    interrupted: bool = False
    stopped: str = ""

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


@dataclass
class Run:
    """Where each target stands while a plan runs.

    Attributes:
        ended: stage key (or title) → target → outcome.
        dropped: targets that take no further part.
        wave: of a rolled plan, the one being carried out; 0 outside of waves.
        under_way: statements have left whose outcome is not in the journal.
    """

    plan: Plan
    report: Report
    ended: dict[str, dict[str, Outcome]] = field(default_factory=dict)
    dropped: set[str] = field(default_factory=set)
    wave: int = 0
    under_way: bool = False

    def entering(self, stage: Stage) -> list[Step]:
        """Return the steps of ``stage``, which may be a wave's part of one, whose targets take part in it."""
        if stage.gate is Gate.MEND:
            left = self.unsure(stage)
            return [step for step in self._broken_off(stage) if step not in left]
        if stage.gate is Gate.ALL and self.dropped - self._elsewhere(stage):
            return []
        return [step for step in stage.steps if step.target not in self.dropped]

    def unsure(self, stage: Stage) -> list[Step]:
        """Return the steps of a mending stage that must not be sent: what has no answer there may still be carried out."""
        ended = self.ended.get(stage.unsure, {})
        return [step for step in self._broken_off(stage) if ended.get(step.target) is Outcome.UNKNOWN]

    def _broken_off(self, stage: Stage) -> list[Step]:
        """Return the steps of a mending stage for targets on which what it takes back was begun and not finished."""
        started = self.ended.get(stage.mends, {})
        maybe = (Outcome.DONE, Outcome.FAILED, Outcome.UNKNOWN)
        return [
            step
            for step in stage.steps
            if started.get(step.target) in maybe and not self._finished(stage.unless, step.target)
        ]

    def _elsewhere(self, stage: Stage) -> set[str]:
        """The cells of other waves: whether this wave begins although they failed was decided before it."""
        if not self.wave or self.plan.rolling is None:
            return set()
        here = {step.target for step in stage.steps}
        return {cell for wave in self.plan.rolling.waves for cell in wave} - here

    def _finished(self, unless: str, target: str) -> bool:
        """Whether the stage that makes mending unnecessary ended well: on the target, or where it runs instead of it."""
        ended = self.ended.get(unless, {})
        if any(step.target == target for stage in self.plan.stages if stage.key == unless for step in stage.steps):
            return target in ended and ended[target].good
        return bool(ended) and all(outcome.good for outcome in ended.values())

    def others(self, *, gate: bool = False) -> str:
        """Return where the cells of the other waves are, one line; empty outside of waves.

        Args:
            gate: the present wave has not begun, so that its cells wait like those behind it.
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
        """Take note of how steps ended; whose step did not end well takes no further part."""
        outcomes = self.ended.setdefault(stage.key or stage.title, {})
        for result in results:
            outcomes[result.step.target] = result.outcome
            if not result.outcome.good:
                self.dropped.add(result.step.target)
        self.report.results += results

    def skip(self, steps: Sequence[Step], reason: str, *, mending: bool = False) -> None:
        """Take note that steps are not sent, and why."""
        self.report.results += [
            StepResult(step=s, outcome=Outcome.NOT_SENT, reason=reason, mending=mending, wave=self.wave) for s in steps
        ]
        for step in steps:
            self.dropped.add(step.target)

    def finishes(self, stage: Stage) -> bool:
        """Whether an interrupted plan still runs this stage: it brings back caching that an earlier one switched off."""
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
"""Characters of a target's text that the journal keeps."""


def judge(step: Step, reply: Reply) -> StepResult:
    """Return how a CellCLI step ended: by the text per object, never by the exit status alone; a host's by its own words."""
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
    """Return the result with the look that its statement went upon; one that it did not need counts as such."""
    looked = reply.looked
    if looked is None:
        return result
    if looked.needless:
        return StepResult(step=result.step, outcome=Outcome.NOT_NEEDED, reason=looked.refused, looked=looked)
    return replace(result, looked=looked)


def told_late(result: StepResult) -> StepResult:
    """Return the result as it is told: a statement that was held up behind its look is a failure, whatever it did."""
    why = why_late(result.looked)
    if not why:
        return result
    return replace(result, outcome=Outcome.FAILED, reason=f"{result.reason}; {why}" if result.reason else why)


def why_late(looked: Looked | None) -> str:
    """Return what is told of a statement that left too long after its look; empty when it did not."""
    if looked is None or not looked.sent or looked.age <= LATE:
        return ""
    return (
        f"it was sent {looked.age:.1f}s after the check, because this process was suspended in between: data "
        "written in that time may be lost; check the databases"
    )


def look_row(looked: Looked | None) -> dict[str, object]:
    """Return what an outcome's row says of the look: when it was, what it said, how old it was when the statement left."""
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
    """Return whether a cell printed nothing at all to a statement to which it always prints something."""
    if reply.stdout.strip() or reply.stderr.strip():
        return False
    try:
        return always_prints(parse(step.statement))
    except ExacellError:
        return False  # It is no CellCLI statement, such as a command for the host's shell.


def judge_sql(step: Step, reply: Reply, problem: str) -> StepResult:
    """Return how an ASM step ended; ``problem`` is what the client found wrong in the answer, empty for nothing."""
    return _upon(_judge_sql(step, reply, problem), reply)


def _judge_sql(step: Step, reply: Reply, problem: str) -> StepResult:
    who = reply.fingerprint
    if not problem:
        return StepResult(step=step, outcome=Outcome.DONE, said=reply.stdout, fingerprint=who)
    if reply.state in (State.UNREACHABLE, State.NOT_ATTEMPTED):
        return StepResult(step=step, outcome=Outcome.REFUSED, reason=problem)
    # Only an error line is a no; an answer that ends early may have been cut behind a statement that passed.
    outcome = Outcome.FAILED if sql_errors(reply.stdout) else Outcome.UNKNOWN
    return StepResult(step=step, outcome=outcome, reason=problem, said=reply.stdout, fingerprint=who)


def phrase(result: StepResult) -> str:
    """Return the words for a progress line."""
    return str(result.outcome) if result.outcome.good else f"{result.outcome}: {result.reason}"


def intent(step: Step, wave: int = 0) -> Row:
    """Return the row that is on disk before the step's statement leaves."""
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
    """Return the row about how a step ended."""
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
    """Return what both rows say of a step: which it is, and what it does to caches and disks."""
    return {
        "what": step.what,
        "cachingOff": step.caching_off,
        "cachingOn": step.caching_on,
        "cache": step.cache,
        "offline": step.offline,
        "online": step.online,
    }
