"""Remember the plans that the user agreed to, in a recipe's rolling or in an undo: the same plan needs no second yes. Pure.

Two plans are the same if each step of the later one, with its target's own name masked, is a step of the earlier one (same
statement, same values before and after, same undo, same risk), and if the warnings are the same. Times and notes do not
count. A plan that loses data, or has an unknown risk, is never the same as another one.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

from exacell.cellcli.fold import neutral_text
from exacell.plan.model import Plan, Risk, as_data

_VARIES = frozenset({"target", "estimate", "what", "only_if", "needs", "proves", "hopes", "within", "watch", "expect"})
"""Fields of a step that do not describe its effect: its target, its time and its checks."""


class Agreed:
    """The plans that were agreed to, by line of the recipe or by statement of the undo.

    Args:
        of: the agreed plans, shared by the views of :meth:`at`.
        line: the line of this view, after the lines of the outer recipes that run it.
        later: the targets of the later waves, for the question.
        exact: the same plan also has the same targets: it was shown for them, and not for an earlier wave.
    """

    def __init__(
        self,
        of: dict[tuple[int, ...], frozenset[str]] | None = None,
        line: tuple[int, ...] = (),
        later: str = "",
        *,
        exact: bool = False,
    ) -> None:
        self._of = {} if of is None else of
        self._line = line
        self.later = later
        self.exact = exact

    def at(self, line: int, later: str) -> Agreed:
        """Return the view of a line, which shares the agreed plans. ``later`` is empty if no wave follows."""
        return Agreed(self._of, (*self._line, line), later or self.later, exact=self.exact)

    def covers(self, plan: Plan) -> bool:
        """Return whether an agreed plan of this line is the same as this plan."""
        return may_be_covered(plan) and self._shape(plan) <= self._of.get(self._line, frozenset())

    def add(self, plan: Plan) -> None:
        """Remember that a plan of this line was agreed to."""
        if may_be_covered(plan):
            self._of[self._line] = self._of.get(self._line, frozenset()) | self._shape(plan)

    def _shape(self, plan: Plan) -> frozenset[str]:
        """Return the effects of a plan as texts without the names of its targets; if ``exact``, also its targets."""
        return frozenset((*_parts(plan), *([f"targets {plan.targets}"] if self.exact else [])))


def may_be_covered(plan: Plan) -> bool:
    """Return whether one yes may also count for this plan: it loses no data, and its risk is known."""
    return not plan.loss and plan.risk.rank < Risk.DATA.rank


def _parts(plan: Plan) -> Iterator[str]:
    yield f"risk {plan.risk}"
    for warning in plan.warnings:
        yield f"warning {_masked(warning, *plan.targets)}"
    for target, statements in plan.inverse.items():
        yield f"inverse {_masked(json.dumps(statements), target)}"
    for number, stage in enumerate(plan.stages):
        for step in stage.steps:
            told = {name: value for name, value in as_data(step).items() if name not in _VARIES}
            undoes = step.target in plan.inverse
            yield _masked(f"step {number} {stage.title} {undoes} {json.dumps(told, sort_keys=True)}", step.target)


def _masked(text: str, *targets: str) -> str:
    for target in targets:
        text = neutral_text(text, target)
    return text
