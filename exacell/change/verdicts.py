"""How a step ended, judged from its target's text; and the journal's rows about it. No I/O."""

from __future__ import annotations

from dataclasses import replace

from exacell.cellcli.messages import NO_ANSWER, always_prints
from exacell.cellcli.reply import errors as reply_errors, successes
from exacell.cellcli.statement import parse
from exacell.change.running import Outcome, StepResult
from exacell.core.errors import ExacellError
from exacell.journal.record import Row
from exacell.plan.asmfacts import sql_errors
from exacell.plan.model import Step
from exacell.session.fleet import problem_of
from exacell.transport.base import Looked, Reply, State
from exacell.transport.exchange import LATE

REPLY_KEPT = 20_000
"""Characters of a target's text that the journal keeps."""


def judge(step: Step, reply: Reply) -> StepResult:
    """Return how a CellCLI step ended: by the text per object, never by the exit status alone."""
    return _upon(_judge(step, reply), reply)


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
        f"it left {looked.age:.1f}s after the look at it, because this process stood still in the very moment between the two: "
        "what was written in between may be lost; ask the databases"
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
        reason = f"{count} of {step.expect} objects were reported done: {problem_of(reply)}"
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
