"""Whether the transport can carry a plan is asked before anybody confirms."""

from __future__ import annotations

from typing import Any

import pytest

from exacell.change.changing import refuse_plan, wide_moment
from exacell.core.errors import RefusedError
from exacell.plan.model import Plan, Stage, Step
from exacell.transport.base import Transport
from exacell.transport.capabilities import CLUSH, EXACLI_CLOUD, SSH


def plan(**step: Any) -> Plan:
    stage = Stage(title="t", steps=(Step(**{"target": "c1", "what": "w", "statement": "DROP FLASHCACHE", **step}),))
    return Plan(statement="s", rack="r", stages=(stage,))


def test_what_the_transport_cannot_carry_is_refused_with_its_rule() -> None:
    """A statement that the transport can't carry refuses the plan, naming cell, statement, transport, rule and way out."""
    with pytest.raises(RefusedError, match=r"c1: 'DROP FLASHCACHE' can't go over the transport exacli: ") as caught:
        refuse_plan(plan(), EXACLI_CLOUD)
    assert EXACLI_CLOUD.only_why in caught.value.message
    assert "set transport ssh" in caught.value.hint


@pytest.mark.parametrize("step", [{"asm": "main"}, {"host": True}, {"statement": ""}, {"statement": "LIST CELL"}])
def test_what_it_need_not_carry_is_none_of_its_business(step: dict[str, Any]) -> None:
    """Steps of database nodes, steps that send nothing, and what the transport carries refuse nothing."""
    refuse_plan(plan(**step), EXACLI_CLOUD)


def test_ssh_carries_all() -> None:
    """ssh carries every statement, and so does a transport that publishes nothing."""
    refuse_plan(plan(), SSH)
    refuse_plan(plan(), Transport.capabilities)


def test_how_long_a_proof_may_age_is_said_where_no_look_goes_with_it() -> None:
    """Over a transport that can't check and send a statement in one session exacell says how wide the moment
    between the two is; a production rack refuses it, with the way out."""
    wide = "'DROP FLASHCACHE' goes over the transport clush: between the last check of a cell and the statement there is a login"
    assert wide_moment(plan(), CLUSH, production=False).startswith(wide)
    with pytest.raises(RefusedError, match=f"^rack r is a production rack, and {wide}.*; nothing was sent") as caught:
        wide_moment(plan(), CLUSH, production=True)
    assert "set transport ssh" in caught.value.hint


@pytest.mark.parametrize(
    "step", [{"asm": "main"}, {"host": True}, {"statement": ""}, {"statement": "ALTER IORMPLAN objective=basic"}]
)
def test_where_nothing_goes_stale_nothing_is_said(step: dict[str, Any]) -> None:
    """Steps of database nodes, those that send nothing, and those that lose nothing are sent over any transport."""
    assert wide_moment(plan(**step), CLUSH, production=True) == ""
    assert wide_moment(plan(), SSH, production=True) == ""
