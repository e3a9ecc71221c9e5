"""What became of a plan, as records for eyes: one a target, in words that say what was done there."""

from __future__ import annotations

from dataclasses import replace

import pytest

from exacell.change.outcomes import ended_records
from exacell.change.running import Outcome, Report, StepResult
from exacell.plan.model import Check, Plan, Stage, Step

STEPS = tuple(
    Step(target="c1", what=what, statement=statement, proves=(Check(object="cell", attribute=what, value="1"),))
    for what, statement in (("a", "A"), ("b", "B"), ("w", ""))
)
PLAN = Plan(statement="s", rack="t1", stages=tuple(Stage(title=step.what, steps=(step,)) for step in STEPS))

CASES: list[tuple[tuple[Outcome, ...], tuple[str, str]]] = [
    ((Outcome.DONE, Outcome.DONE, Outcome.DONE), ("done", "2 statements, verified")),
    ((Outcome.NOT_NEEDED, Outcome.DONE, Outcome.DONE), ("done", "1 statement, verified")),
    ((Outcome.DONE, Outcome.NOT_SENT, Outcome.NOT_SENT), ("stopped", "1 of 2 statements done, then not sent: b: why")),
    ((Outcome.NOT_SENT, Outcome.NOT_SENT, Outcome.NOT_SENT), ("not sent", "a: why")),
    ((Outcome.NOT_NEEDED, Outcome.NOT_SENT, Outcome.NOT_SENT), ("not sent", "b: why")),
    ((Outcome.DONE, Outcome.FAILED, Outcome.NOT_SENT), ("failed", "b: why")),
    ((Outcome.DONE, Outcome.UNKNOWN, Outcome.NOT_SENT), ("unknown", "b: why")),
    ((Outcome.REFUSED, Outcome.NOT_SENT, Outcome.NOT_SENT), ("refused", "a: why")),
]


@pytest.mark.parametrize(("outcomes", "told"), CASES)
def test_a_targets_outcome(outcomes: tuple[Outcome, ...], told: tuple[str, str]) -> None:
    """A target on which statements were done and the rest was not sent is stopped, never merely not sent."""
    results = [
        StepResult(step=step, outcome=outcome, reason="" if outcome.good else "why")
        for step, outcome in zip(STEPS, outcomes, strict=True)
    ]
    (row,) = ended_records(PLAN, Report(change=1, results=results))
    assert (row["cell"], row["outcome"], row["detail"]) == ("c1", *told)


def test_what_nothing_proves_is_not_called_verified() -> None:
    """A statement of which nothing can be read back should say so; any proof behind it makes it verified."""
    bare, proven = Step(target="c1", what="x", statement="X"), STEPS[1]
    for steps, told in (
        ((bare,), "1 statement, as the target answered; there is nothing to read back"),
        ((bare, proven), "2 statements, verified"),
    ):
        plan = Plan(statement="s", rack="t1", stages=tuple(Stage(title=step.what, steps=(step,)) for step in steps))
        results = [StepResult(step=step, outcome=Outcome.DONE) for step in steps]
        assert ended_records(plan, Report(change=1, results=results))[0]["detail"] == told


@pytest.mark.parametrize("ended", [Outcome.DONE, Outcome.FAILED])
def test_what_was_mended_stands_with_what_failed(ended: Outcome) -> None:
    """Who reads that a flush was interrupted should read there, too, whether caching is on again."""
    mend = Step(target="c1", what="switch caching on again", statement="M")
    wait = replace(mend, what="wait", statement="")
    results = [
        StepResult(step=STEPS[0], outcome=Outcome.FAILED, reason="interrupted"),
        StepResult(step=mend, outcome=ended, mending=True),
        StepResult(step=wait, outcome=Outcome.DONE, mending=True),
        StepResult(step=replace(mend, target="c2"), outcome=Outcome.DONE, mending=True),
    ]
    plan = Plan(statement="s", rack="t1", stages=(Stage(title="a", steps=STEPS[:1]),))
    (row,) = ended_records(plan, Report(change=1, results=results))
    assert row["detail"] == f"a: interrupted; switch caching on again: {ended}"
