"""How a step ended, judged from its target's text; and the journal's rows about it. No I/O."""

from __future__ import annotations

from exacell.cellcli.reply import errors as reply_errors
from exacell.cellcli.reply import successes
from exacell.change.running import Outcome, StepResult
from exacell.fleet import problem_of
from exacell.journal.record import Row
from exacell.plan.asmfacts import sql_errors
from exacell.plan.model import Step
from exacell.transport.base import Reply, State

REPLY_KEPT = 20_000
"""Characters of a target's text that the journal keeps."""


def judge(step: Step, reply: Reply) -> StepResult:
    """Return how a CellCLI step ended: by the text per object, never by the exit status alone."""
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
    count = len(successes(reply.stdout))
    if count < step.expect:
        reason = f"{count} of {step.expect} objects were reported done: {problem_of(reply)}"
        return StepResult(step=step, outcome=Outcome.UNKNOWN, reason=reason, said=reply.stdout, fingerprint=who)
    return StepResult(step=step, outcome=Outcome.DONE, said=reply.stdout, fingerprint=who)


def judge_sql(step: Step, reply: Reply, problem: str) -> StepResult:
    """Return how an ASM step ended; ``problem`` is what the client found wrong in the answer, empty for nothing."""
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
