"""Kinds of target: what a step changes, from the two fields that journals hold."""

from __future__ import annotations

import pytest

from exacell.plan.model import Step, as_data, step_from_json
from exacell.plan.targets import ASM, CELL, DATABASE, HOST, KINDS, Kind

STEPS = [
    (Step(target="c1", what="w"), CELL, "c1"),
    (Step(target="h1", what="w", host=True), HOST, "h1"),
    (Step(target="db1", what="w", asm="main"), ASM, "main"),
    (Step(target="db1", what="w", asm="database SPOT"), DATABASE, "database SPOT"),
    (Step(target="db1", what="w", asm="databases"), ASM, "databases"),
]


@pytest.mark.parametrize(("step", "kind", "owner"), STEPS)
def test_a_step_knows_what_it_changes(step: Step, kind: Kind, owner: str) -> None:
    """A step says of what kind its target is and whose state it changes, also after it was written and read back."""
    again = step_from_json(as_data(step))
    assert (step.kind, step.owner) == (again.kind, again.owner) == (kind, owner)
    assert again == step


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind.shared])
def test_a_name_is_found_again(kind: Kind) -> None:
    """A cluster's or a database's name that was put into a step is the name that is read from it."""
    step = Step(target="db1", what="w", asm=kind.written("SPOT"))
    assert step.kind is kind and step.kind.name(step.owner) == "SPOT"


def test_no_mark_hides_another() -> None:
    """Each kind has its own word; the mark of one is not the beginning of the mark of another."""
    marks = [kind.mark for kind in KINDS if kind.mark]
    assert len({kind.word for kind in KINDS}) == len(KINDS)
    assert not [(one, other) for one in marks for other in marks if one is not other and other.startswith(one)]
