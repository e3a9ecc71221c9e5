"""Which plan of a later wave counts as the one that somebody agreed to."""

from __future__ import annotations

from dataclasses import replace

import pytest

from exacell.plan.alike import Agreed
from exacell.plan.model import Change, Plan, Risk, Stage, Step, Undo


def plan(*cells: str, **changed: object) -> Plan:
    """Return a plan that sets the comment of a grid disk on each of these cells; ``changed`` are other values of its steps."""
    steps = tuple(
        replace(
            Step(
                target=cell,
                statement=f"ALTER GRIDDISK DATA_CD_00_{cell} comment='x'",
                what=f"comment on {cell}",
                undo=Undo.STATEMENT,
                inverse=f"ALTER GRIDDISK DATA_CD_00_{cell} comment=''",
                changes=(
                    Change(object="griddisk", name=f"DATA_CD_00_{cell}", attribute="comment", before="", after="x"),
                ),
            ),
            **changed,
        )
        for cell in cells
    )
    return Plan(
        statement="alter griddisk",
        rack="r",
        stages=(Stage(key="send", title="send it", steps=steps),),
        inverse={cell: (f"alter griddisk DATA_CD_00_{cell} comment=''",) for cell in cells},
    )


def covered(confirmed: Plan, later: Plan, *, line: int = 4) -> bool:
    """Return whether the yes to one plan on line 4 counts for another on a line."""
    agreed = Agreed()
    agreed.at(4, "c2").add(confirmed)
    return agreed.at(line, "").covers(later)


def test_the_same_plan_on_other_cells_is_covered() -> None:
    """Names of cells are masked everywhere, and a smaller last wave is covered, too."""
    assert covered(plan("c1"), plan("c2"))
    assert covered(plan("c1", "c2"), plan("c3"))
    assert covered(replace(plan("c1"), warnings=("c1 is slow",)), replace(plan("c2"), warnings=("c2 is slow",)))


def test_a_yes_counts_for_its_own_line_alone() -> None:
    """Another line of the recipe, also of one within it, is asked about."""
    assert not covered(plan("c1"), plan("c2"), line=5)
    inner = Agreed().at(4, "c2")
    inner.at(1, "").add(plan("c1"))
    assert inner.at(1, "").covers(plan("c2")) and not inner.covers(plan("c2"))


@pytest.mark.parametrize(
    "later",
    [
        plan("c2", statement="ALTER GRIDDISK DATA_CD_01_c2 comment='x'"),
        plan("c2", changes=()),
        plan(
            "c2", changes=(Change(object="griddisk", name="DATA_CD_00_c2", attribute="comment", before="y", after="x"),)
        ),
        plan("c2", undo=Undo.IMPOSSIBLE, inverse=""),
        plan("c2", risk=Risk.PERFORMANCE),
        plan("c2", offline=True),
        plan("c2", caching_off=True),
        plan("c2", asm="asm"),
        plan("c2", host=True),
        replace(plan("c2"), warnings=("the cache is off meanwhile",)),
        replace(plan("c2"), inverse={}),
        replace(plan("c2"), stages=(*plan("c2").stages, Stage(key="more", title="more", steps=plan("c3").steps))),
    ],
    ids=range(12),
)
def test_whatever_a_person_would_look_at_is_asked_about_again(later: Plan) -> None:
    """Another statement, value, way back, risk, warning or further step is not what was agreed to."""
    assert not covered(plan("c1"), later)


@pytest.mark.parametrize("risk", [Risk.DATA, Risk.UNKNOWN])
def test_a_loss_is_asked_about_each_time(risk: Risk) -> None:
    """The same plan is asked about again where data may be lost."""
    assert not covered(replace(plan("c1"), risk=risk), replace(plan("c2"), risk=risk))
    assert not covered(plan("c1"), replace(plan("c2"), loss=("c2",)))


def test_times_and_notes_do_not_count() -> None:
    """A plan that only takes longer, or explains more, is the same."""
    assert covered(plan("c1"), replace(plan("c2", estimate=60.0, within=5.0), notes=("dirty 2G",), estimate=70.0))
