"""Which canary can't go first, because the cells that wait for it keep its gate closed."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from plan_factory import CELLS, cache, cell, rack

from exacell.change.changing import rolled
from exacell.core.errors import RefusedError
from exacell.plan.model import Plan, Planned
from exacell.plan.planners.flashcache import flush_plan
from exacell.session.request import Request

ONE, TWO, THREE = CELLS


def waves(plan: Plan, *flushed: str, canary: str = "", **changes: Any) -> tuple[tuple[str, ...], ...]:
    """Return the waves of a plan for a rack on which the flush of these cells is in force."""
    facts = rack(**changes) | {name: cell(name, flash_cache=cache(name, status="normal - flushed")) for name in flushed}
    place = SimpleNamespace(cells=CELLS, asm={}, production=False)
    ctx: Any = SimpleNamespace(need_rack=lambda: place, request=Request(), in_production=lambda cells: False)
    found = rolled(ctx, ctx.request, Planned(plan, facts), {"canary": canary} if canary else {"rolling": True}).rolling
    assert found is not None
    return found.waves


def flush(*cells: str) -> Plan:
    return flush_plan("t1", rack(*cells), recreate=False, statement="flush flashcache")


@pytest.mark.parametrize(
    ("flushed", "said"), [((ONE, THREE), "exa1cel[01,03] hold its gate"), ((ONE,), "exa1cel01 holds its gate")]
)
def test_a_canary_whose_gate_never_opens_is_refused(flushed: tuple[str, ...], said: str) -> None:
    """Before cells whose flush an attempt left in force, and which the plan changes behind it, no canary can go."""
    with pytest.raises(RefusedError) as caught:
        waves(flush(), *flushed, canary=TWO)
    assert said in caught.value.message and f"the canary {TWO} can't go first" in caught.value.message
    assert caught.value.hint == "without --canary they go first"
    assert waves(flush(), *flushed) == (flushed, *((name,) for name in CELLS if name not in flushed))


def test_a_canary_that_holds_no_other_up_goes_first() -> None:
    """Its own flush, or that of a cell which the plan leaves alone, is no reason; nor are cells without a cache."""
    assert waves(flush(), TWO, canary=TWO) == ((TWO,), (ONE, THREE))
    assert waves(flush(ONE, TWO), THREE, canary=TWO) == ((TWO,), (ONE,))
    assert waves(flush(), canary=TWO, flash_cache=None) == ((TWO,), (ONE, THREE))
