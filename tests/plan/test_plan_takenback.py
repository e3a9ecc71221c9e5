"""What takes a plan back is one thing, on the screen and in JSON."""

from __future__ import annotations

from collections.abc import Callable

from test_plan_approved import CASES

from exacell.change.outcomes import planned_records
from exacell.core.errors import RefusedError
from exacell.output.folding import masker
from exacell.output.plans import plan_lines
from exacell.plan.guards.steps import all_taken_back
from exacell.plan.model import Plan
from tests.support.every import every


def planned(make: Callable[[], Plan]) -> Plan | None:
    try:
        return make()
    except RefusedError:
        return None


@every(CASES)
def test_the_screen_and_json_say_the_same(name: str) -> None:
    """Each step's undo in JSON stands on the screen for its target, and the screen tells of no other; risks agree."""
    plan = planned(CASES[name])
    if plan is None:
        return
    screen = [line.strip() for line in plan_lines(plan, width=100_000)]
    for target, back in all_taken_back(plan):
        label = "By hand" if back.by_hand else "Undo" if back.undo else "Cannot be undone"
        lines = [line for line in screen if line.startswith(f"{label}: ")]
        texts = [text for text in (back.by_hand, back.undo, back.but) if text]
        shown = [text if len(text) <= 160 or back.but else "undo takes all of it back" for text in texts]
        assert any(all(text in line or masker(target)(text) in line for text in shown) for line in lines), (back, lines)
    records = planned_records(plan)
    told = {str(row["undo"]) for row in records if row["undo"]}
    assert told == {str(back) for _, back in all_taken_back(plan)}
    assert not records or str(plan.risk) in {row["risk"] for row in records}
    undone = any(line.startswith(("Undo: ", "By hand: ", "Cannot be undone: ")) for line in screen)
    assert undone == bool(told) or (undone and plan.inverse)


def test_the_cases_have_every_kind_of_way_back() -> None:
    """Among the cases are plans that undo takes back, whole or but for something, that nothing does, and that a hand does."""
    kinds = set()
    for make in CASES.values():
        plan = planned(make)
        for _, back in all_taken_back(plan) if plan is not None else ():
            kinds.add((bool(back.undo), bool(back.but), bool(back.by_hand)))
    assert kinds == {(True, False, False), (True, True, False), (False, True, False), (False, False, True)}
