"""Kinds of target: what a step changes, from the two fields that journals hold."""

from __future__ import annotations

import ast
from collections.abc import Iterator

import pytest

from exacell.plan.model import Step, as_data, step_from_json
from exacell.plan.targets import ASM, CELL, DATABASE, HOST, KINDS, Kind
from tests.support import sources

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


def test_only_a_cell_of_the_rack_and_a_host_can_be_chosen() -> None:
    """ON chooses hosts and those cells that the rack has; never what is reached through a database node."""
    cells = ("c1",)
    gone = Step(target="c9", what="w")
    assert [step.chosen(cells) for step in (gone, *(step for step, *_ in STEPS))] == [
        False,
        True,
        True,
        False,
        False,
        False,
    ]
    assert [step.target for step, *_ in STEPS if step.chosen(())] == ["h1"]


READERS = {
    "plan/model.py": "a step's own properties",
    "change/running.py": "the intent's row keeps the fields that it has had since 1.0.0",
}
"""The modules that may read a step's fields ``asm`` and ``host``, and why."""


def fields_read() -> Iterator[str]:
    """Yield module:line where ``step.asm``, ``result.step.host`` or the like is read."""
    for path in sources.trees():
        name = path.relative_to(sources.ROOT).as_posix()
        if name in READERS or name.startswith("emulator/"):
            continue
        for node in sources.nodes(path):
            if isinstance(node, ast.Attribute) and node.attr in ("asm", "host"):
                of = node.value
                said = of.id if isinstance(of, ast.Name) else of.attr if isinstance(of, ast.Attribute) else ""
                if said in ("step", "s"):
                    yield f"{name}:{node.lineno}"


def test_nobody_asks_the_fields_of_a_step() -> None:
    """Whoever wants to know what a step changes asks its kind and its owner, so that a new kind is known everywhere."""
    assert list(fields_read()) == []
