"""What resume finds changed by other hands: judged from the journal's plans and the plan that goes on with them."""

from __future__ import annotations

from collections.abc import Sequence

from exacell.change.earlier import changed_since
from exacell.journal.rows import Planned
from exacell.journal.state import ChangeState
from exacell.plan.model import Change, Plan, Stage, Step, as_data
from tests.support.every import every


def step(*values: tuple[str, str, str], host: bool = False) -> Step:
    """Return a step on one cell that changes these attributes: name, before, after."""
    changes = tuple(Change(object="cell", name="c", attribute=a, before=b, after=c) for a, b, c in values)
    return Step(target="c1", statement="ALTER", what="alter", changes=changes, host=host)


def plan(*steps: Step) -> Plan:
    stages = tuple(Stage(title=str(place), steps=(each,)) for place, each in enumerate(steps))
    return Plan(statement="s", rack="t1", stages=stages)


def left(*plans: Plan, how: str = "", touched: bool = False) -> ChangeState:
    rows = [
        Planned(
            seq=place,
            at="",
            rack="t1",
            change=place,
            kind="plan",
            target="",
            body={},
            prev="",
            hash="",
            plan=as_data(each),
        )
        for place, each in enumerate(plans, 1)
    ]
    state = ChangeState(plans=rows)
    if how:
        state.states["c1", "alter"], state.touched["c1", "alter"] = how, touched
    return state


FIRST = plan(step(("comment", "a", "b")))


@every(
    [
        (left(FIRST), step(("comment", "c", "b")), [("c", "a", True)]),
        (left(FIRST), step(("comment", "a", "b")), []),
        (left(FIRST), step(("comment", "b", "d")), []),
        (left(FIRST, plan(step(("comment", "c", "b")))), step(("comment", "c", "b")), []),
        (left(FIRST), step(("other", "c", "b")), []),
        (left(plan(step(("comment", "a", "-")), step(("comment", "-", "b")))), step(("comment", "-", "b")), []),
        (left(FIRST, how="failed", touched=True), step(("comment", "c", "b")), []),
        (left(FIRST, how="failed"), step(("comment", "c", "b")), [("c", "a", True)]),
        (left(plan(step(("comment", "a", "b"), host=True))), step(("comment", "c", "b"), host=True), []),
        (left(plan(step(("comment", "a", "b"), ("size", "1", "2")))), step(("comment", "c", "b")), [("c", "a", False)]),
        (
            left(plan(step(("comment", "a", "b"), ("size", "1", "2")))),
            step(("comment", "c", "b"), ("size", "1", "2")),
            [("c", "a", True)],
        ),
        (left(), step(("comment", "c", "b")), []),
    ]
)
def test_other_hands_are_known_by_a_value_that_no_plan_has(
    state: ChangeState, now: Step, found: Sequence[tuple[str, str, bool]]
) -> None:
    """A value is somebody's if no plan found it or wrote it, in between too; where exacell may have left it half done, or a
    kernel rounded it, nobody is blamed; what is done again is told from a part of it."""
    seen = [
        (change.before, first, each.all_of_it)
        for each in changed_since(state, plan(now))
        for change, first in each.values
    ]
    assert seen == list(found)
