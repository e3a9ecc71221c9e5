"""What takes a plan back, in the one form in which eyes and programs are told. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from exacell.core.values import dataclass
from exacell.plan.model import Gate, Plan, Risk, Step, Undo, highest


@dataclass(frozen=True, kw_only=True)
class Back:
    """What takes back what a step does.

    Attributes:
        undo: what ``undo`` carries out on the step's target, statements of exacell; empty where it can do nothing.
        but: what it does not bring back; without ``undo``, why nothing can be taken back.
        by_hand: the statement of CellCLI or SQL that takes the step back, where ``undo`` does nothing of it.
    """

    undo: str = ""
    but: str = ""
    by_hand: str = ""

    def __str__(self) -> str:
        if self.by_hand:
            return f"by hand: {self.by_hand}; undo does not send it"
        if not self.undo:
            return f"cannot be undone: {self.but}"
        return f"{self.undo}, but {self.but}" if self.but else self.undo


def taken_back(plan: Plan, step: Step) -> Back | None:
    """Return what takes a step of the plan back; None where there is nothing to take back, or nothing is known of it."""
    undo = "; ".join(plan.inverse.get(step.target, ()))
    if step.undo is Undo.IMPOSSIBLE:
        return Back(undo=undo, but=step.inverse or step.what)
    if step.undo is Undo.NOTHING or not (undo or step.inverse):
        return None
    return Back(undo=undo) if undo else Back(by_hand=step.inverse)


def all_taken_back(plan: Plan) -> Iterator[tuple[str, Back]]:
    """Yield target and what takes a step back there, for all that the plan does unless it fails, each once a target."""
    told: set[tuple[str, Back]] = set()
    for stage in plan.stages:
        for step in stage.steps if stage.gate is not Gate.MEND else ():
            back = taken_back(plan, step)
            if back is not None and (step.target, back) not in told:
                told.add((step.target, back))
                yield step.target, back


def risk_of(plan: Plan, step: Step) -> Risk:
    """Return a step's risk; the plan's, where it is above that of every step that is sent unless another one fails."""
    sent = highest(s.risk for stage in plan.stages if stage.gate is not Gate.MEND for s in stage.steps)
    return step.risk if plan.risk is sent else plan.risk
