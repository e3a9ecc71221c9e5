"""Plans as values: what they promise about themselves, and that they survive the journal."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

import pytest
from hypothesis import given, strategies as st
from plan_factory import CELLS, cell, rack, with_flash_grids

from exacell.core.units import GIB, MIB
from exacell.plan.asmspace import Keeping
from exacell.plan.model import (
    Change,
    Check,
    Gate,
    Op,
    Plan,
    Risk,
    Stage,
    Step,
    Undo,
    Watch,
    as_data,
    highest,
    step_from_json,
)
from exacell.plan.planners.carve import Carving, carve_plan
from exacell.plan.planners.flashcache import flush_plan, resize_plan
from exacell.plan.planners.griddisk import release_plan

TEXT = st.text(max_size=8)
VALUES: st.SearchStrategy[Any] = st.one_of(
    TEXT, st.integers(), st.booleans(), st.none(), st.lists(TEXT, max_size=3).map(tuple)
)
CHECKS = st.builds(
    Check,
    object=TEXT,
    attribute=TEXT,
    op=st.sampled_from(Op),
    value=VALUES,
    where=st.dictionaries(TEXT, st.one_of(TEXT, st.lists(TEXT, max_size=2).map(tuple)), max_size=2),
    why=TEXT,
)
STEPS = st.builds(
    Step,
    target=TEXT,
    statement=TEXT,
    what=TEXT,
    only_if=st.lists(CHECKS, max_size=2).map(tuple),
    needs=st.lists(CHECKS, max_size=2).map(tuple),
    proves=st.lists(CHECKS, max_size=2).map(tuple),
    within=st.floats(min_value=0, max_value=1e6),
    watch=st.sampled_from([None, *Watch]),
    expect=st.integers(min_value=0),
    risk=st.sampled_from(Risk),
    undo=st.sampled_from(Undo),
    inverse=TEXT,
    changes=st.lists(
        st.builds(Change, object=TEXT, name=TEXT, attribute=TEXT, before=TEXT, after=TEXT), max_size=2
    ).map(tuple),
    asm=TEXT,
    caching_off=st.booleans(),
    caching_on=st.booleans(),
)


@given(STEPS)
def test_a_step_survives_json(step: Step) -> None:
    """A step read back from the journal's JSON is the step that was written, and its data are those of ``asdict``."""
    data = as_data(step)
    assert data == asdict(step)
    assert step_from_json(json.loads(json.dumps(data))) == step
    # As a journal has it that was written when steps told whether they are a shell's.
    assert step_from_json({**json.loads(json.dumps(data)), "shell": False}) == step


@pytest.mark.parametrize(
    "plan",
    [
        flush_plan("t1", rack(), recreate=True, statement="x"),
        resize_plan("t1", rack(), size=36 * GIB, statement="x"),
        release_plan(
            "t1", {CELLS[0]: with_flash_grids(cell())}, prefix="ssd", headers=None, regrow=True, statement="x"
        ),
        carve_plan(
            "t1",
            rack(),
            Carving(prefix="p", media="flash", each=16 * MIB, keeping=Keeping(redundancy="normal")),
            statement="x",
        ),
    ],
    ids=["flush", "resize", "release", "carve"],
)
def test_real_plans_survive_json_and_keep_their_promises(plan: Plan) -> None:
    """Every step of a real plan survives JSON; inverses and reasons are said; mending refers to stages that exist."""
    assert as_data(plan) == asdict(plan)
    data = json.loads(json.dumps(as_data(plan)))
    again = [step_from_json(step) for stage in data["stages"] for step in stage["steps"]]
    assert tuple(again) == plan.steps
    keys = [stage.key for stage in plan.stages]
    assert len(set(keys)) == len(keys)
    for stage in plan.stages:
        if stage.gate is Gate.MEND:
            assert stage.mends in keys[: keys.index(stage.key)]
            assert stage.unless in keys[: keys.index(stage.key)]
        for step in stage.steps:
            assert bool(step.inverse) is (step.undo is not Undo.NOTHING)
            assert step.what
            assert step.statement or step.watch
            assert step.proves or step.watch, "every step is verified by reading back"
    assert all(cell in plan.targets for cell in plan.inverse)


def step(target: str = "a", **more: Any) -> Step:
    return Step(target=target, what="x", **{"statement": "y", **more})


def plan(*stages: Stage, **more: Any) -> Plan:
    return Plan(statement="s", rack="r", stages=stages, **more)


def test_one_step_a_target_and_stage() -> None:
    """A stage with two steps for one target is a mistake of the programmer."""
    with pytest.raises(ValueError, match="stage 'both' has two steps for one target"):
        plan(Stage(title="both", steps=(step(), step())))


@given(st.lists(st.sampled_from(Risk), max_size=4), st.sampled_from(Risk))
def test_risk_is_the_highest(risks: list[Risk], own: Risk) -> None:
    """A plan's risk is never below that of one of its steps, nor below what it was made with."""
    made = plan(Stage(title="t", steps=tuple(step(str(n), risk=r) for n, r in enumerate(risks))), risk=own)
    assert made.risk is highest([own, *risks])
    assert all(made.risk.rank >= risk.rank for risk in (own, *risks))


def test_risks_are_ordered() -> None:
    """Risks are ordered from harmless to worst, and no risk at all is NONE."""
    assert [risk.rank for risk in Risk] == [0, 1, 2, 3, 4]
    assert list(Risk) == [Risk.NONE, Risk.PERFORMANCE, Risk.REDUNDANCY, Risk.DATA, Risk.UNKNOWN]
    assert highest([]) is Risk.NONE


def test_changes_something() -> None:
    """Only a statement outside of mending changes something."""
    assert plan(Stage(title="t", steps=(step(),))).changes_something
    assert not plan(Stage(title="t", steps=(step(statement=""),))).changes_something
    assert not plan(Stage(title="t", gate=Gate.MEND, steps=(step(),))).changes_something
    assert not plan().changes_something


def test_targets_are_each_named_once() -> None:
    """A plan's targets are those of all its steps in order of first appearance, what only mends included."""
    made = plan(
        Stage(title="t", steps=tuple(step(n) for n in "ab")),
        Stage(title="u", steps=(step("a"),)),
        Stage(title="m", gate=Gate.MEND, steps=(step("c"),)),
    )
    assert made.targets == ("a", "b", "c")


@pytest.mark.parametrize(
    ("check", "sentence"),
    [
        (Check(object="flashcache", op=Op.ABSENT), "no flashcache"),
        (Check(object="griddisk", op=Op.COUNT, value=3, where={"name": ("a", "b")}), "3 griddisk where name=a,b"),
        (Check(object="flashcache", attribute="status", value="normal"), "flashcache status = normal"),
        (Check(object="celldisk", attribute="flushError", value=""), "celldisk flushError = empty"),
        (Check(object="griddisk", attribute="x", op=Op.IN, value=("a", "b")), "griddisk x in a, b"),
        (Check(object="flashcache", attribute="size", op=Op.IN, value=(391647330304,)), "flashcache size = 364.75G"),
        (Check(object="celldisk", attribute="freeSpace", op=Op.AT_LEAST, value=0), "celldisk freeSpace >= 0"),
    ],
)
def test_sentence(check: Check, sentence: str) -> None:
    """A check reads as a sentence."""
    assert check.sentence == sentence
