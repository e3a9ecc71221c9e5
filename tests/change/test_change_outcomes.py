"""What a plan would do, and what became of it, as the records that tables and programs show."""

from __future__ import annotations

from dataclasses import replace

import pytest

from exacell.change.outcomes import (
    ended_records,
    idle_columns,
    idle_records,
    outcome_columns,
    planned_columns,
    planned_records,
)
from exacell.change.running import Outcome, Report, StepResult
from exacell.plan.model import Check, Gate, Plan, Risk, Rolling, Stage, Step, Undo, Watch
from exacell.plan.watch import FlushState

PROOF = (Check(object="cell", attribute="x", value=1),)
FLUSH = Step(target="c1", what="flush", statement="FLUSH", watch=Watch.FLUSH, risk=Risk.PERFORMANCE)
DROP = Step(
    target="c1", what="drop", statement="DROP", proves=PROOF, undo=Undo.IMPOSSIBLE, inverse="it is gone", estimate=15
)
SIZE = Step(target="c2", what="size", statement="SIZE", proves=PROOF, undo=Undo.STATEMENT, inverse="BACK", estimate=5.4)
WAIT = Step(target="db1", what="wait", proves=PROOF, asm="main", undo=Undo.NOTHING, inverse="x")
MEND = Step(target="c1", what="mend", statement="MEND", estimate=1)


def plan(*stages: Stage, **more: object) -> Plan:
    return Plan(statement="s", rack="t1", stages=stages, **more)  # type: ignore[arg-type]


CELLS = plan(
    Stage(title="first", key="a", steps=(FLUSH,)),
    Stage(title="second", key="b", steps=(DROP, SIZE)),
    Stage(title="mend", key="m", gate=Gate.MEND, mends="a", unless="b", steps=(MEND,)),
)
BOTH = plan(Stage(title="first", steps=(SIZE,)), Stage(title="asm", steps=(WAIT,)))
NODES = plan(Stage(title="asm", steps=(WAIT,)))


def test_planned_steps_are_told_in_order() -> None:
    """Each step that would be sent has a record with its stage's number and time and what takes it back; mending has none."""
    shown = [
        (r["cell"], r["step"], r["stage"], r["statement"], r["seconds"], r["undo"]) for r in planned_records(CELLS)
    ]
    assert shown == [
        ("c1", 1, "first", "FLUSH", None, None),
        ("c1", 2, "second", "DROP", 15, "cannot be undone: it is gone"),
        ("c2", 2, "second", "SIZE", 15, "by hand: BACK; undo does not send it"),
    ]
    taken = [r["undo"] for r in planned_records(replace(CELLS, inverse={"c1": ("a", "b"), "c2": ("x",)}))]
    assert taken == [None, "a; b, but it is gone", "x"]
    assert "wave" not in planned_records(CELLS)[0]
    node = planned_records(BOTH)[1]
    assert (node["cell"], node["node"], node["statement"], node["undo"]) == (None, "db1", None, None)


def test_a_risk_that_is_the_plan_s_own_is_told_with_every_step() -> None:
    """A plan that is riskier than each of its steps says so in the records as it does on the screen."""
    assert [r["risk"] for r in planned_records(CELLS)] == ["performance", "none", "none"]
    assert [r["risk"] for r in planned_records(replace(CELLS, risk=Risk.DATA))] == ["data"] * 3


def test_planned_steps_of_waves_name_theirs() -> None:
    """Of a rolled plan each record tells the cell's wave, and that of a node, which has none, says so."""
    rolled = replace(BOTH, rolling=Rolling(waves=(("c9",), ("c2",))))
    assert [row["wave"] for row in planned_records(rolled)] == [2, None]


COLUMNS = [
    (CELLS, ["cell", "stage", "outcome", "statement", "risk", "undo"]),
    (NODES, ["node", "stage", "outcome", "statement", "risk", "undo"]),
    (BOTH, ["cell", "node", "step", "stage", "outcome", "statement", "risk", "undo"]),
    (
        replace(CELLS, rolling=Rolling(waves=(("c1",), ("c2",)))),
        ["cell", "wave", "stage", "outcome", "statement", "risk", "undo"],
    ),
]


@pytest.mark.parametrize(("shown", "names"), COLUMNS)
def test_planned_columns(shown: Plan, names: list[str]) -> None:
    """A table of planned steps shows cells or nodes, and waves and the order of steps only where there are several kinds."""
    assert [column.name for column in planned_columns(shown)] == names


def result(step: Step, outcome: Outcome = Outcome.DONE, reason: str = "", *, mending: bool = False) -> StepResult:
    return StepResult(step=step, outcome=outcome, reason=reason, mending=mending)


ENDED: dict[str, tuple[list[StepResult], str, str]] = {
    "all done": ([result(FLUSH), result(DROP)], "done", "2 statements, verified"),
    "nothing to read back": (
        [result(MEND)],
        "done",
        "1 statement, as the target answered; there is nothing to read back",
    ),
    "only watched": ([result(FLUSH)], "done", "1 statement, verified"),
    "not needed": ([result(DROP, Outcome.NOT_NEEDED)], "done", "0 statements, verified"),
    "a proof that was not needed": (
        [result(MEND), result(DROP, Outcome.NOT_NEEDED)],
        "done",
        "1 statement, as the target answered; there is nothing to read back",
    ),
    "failed": ([result(FLUSH), result(DROP, Outcome.FAILED, "no")], "failed", "drop: no"),
    "mended": (
        [result(FLUSH), result(DROP, Outcome.FAILED, "no"), result(MEND, mending=True)],
        "failed",
        "drop: no; mend: done",
    ),
    "mending was not needed": (
        [result(DROP, Outcome.FAILED, "no"), result(MEND, Outcome.NOT_NEEDED, mending=True)],
        "failed",
        "drop: no",
    ),
    "stopped half way": (
        [result(FLUSH), result(DROP, Outcome.NOT_SENT, "interrupted")],
        "stopped",
        "1 of 2 statements done, then not sent: drop: interrupted",
    ),
    "not begun": ([result(FLUSH, Outcome.NOT_SENT, "interrupted")], "not sent", "flush: interrupted"),
}


@pytest.mark.parametrize("how", ENDED)
def test_how_a_target_ended(how: str) -> None:
    """One record a target tells its first step that did not end well, what was sent, and what was read back."""
    results, outcome, detail = ENDED[how]
    (row,) = ended_records(CELLS, Report(change=1, results=results))
    assert (row["cell"], row["outcome"], row["detail"]) == ("c1", outcome, detail)


def test_what_did_not_go_well_comes_last() -> None:
    """Targets without a result have no record, and those that failed stand behind those that did not."""
    report = Report(change=1, results=[result(DROP, Outcome.FAILED, "no"), result(SIZE)])
    assert [row["cell"] for row in ended_records(CELLS, report)] == ["c2", "c1"]
    assert [row["node"] for row in ended_records(NODES, Report(change=1, results=[result(WAIT)]))] == ["db1"]


@pytest.mark.parametrize(("done", "shown"), [(True, {"dirtyAfterFlush": 0, "usedAfterFlush": 7}), (False, {})])
def test_a_proven_flush_tells_what_is_left(done: bool, shown: dict[str, int]) -> None:
    """What the cache holds is told of a flush that was proven, and of no other."""
    state = FlushState(phrase="x", done=done, dirty=0, used=7)
    (row,) = ended_records(CELLS, Report(change=1, results=[result(FLUSH)], flushed={"c1": state}))
    assert {name: value for name, value in row.items() if name.endswith("Flush")} == shown


@pytest.mark.parametrize(("shown", "names"), [(CELLS, ["cell"]), (NODES, ["node"]), (BOTH, ["cell", "node"])])
def test_outcome_columns(shown: Plan, names: list[str]) -> None:
    """A table of outcomes shows cells or nodes or both, and sizes behind a flush alone."""
    report = Report(change=1)
    assert [column.name for column in outcome_columns(shown, report)] == [*names, "outcome", "detail"]
    report.flushed["c1"] = FlushState(phrase="x")
    flushed = [column.name for column in outcome_columns(shown, report)]
    assert flushed == [*names, "outcome", "detail", "dirtyAfterFlush", "usedAfterFlush"]


def test_targets_on_which_nothing_is_done() -> None:
    """Each has a record with why, a node as a node; a table has no column for the kind that is not there."""
    idle = plan(done={"c1": "it is so", "db1": "it runs"}, skipped={"c2": "it has none"})
    rows = idle_records(idle, nodes=("db1",))
    assert [(row.get("cell"), row.get("node"), row["outcome"], row["detail"]) for row in rows] == [
        ("c1", None, "nothing to do", "it is so"),
        (None, "db1", "nothing to do", "it runs"),
        ("c2", None, "not applicable", "it has none"),
    ]
    assert [column.name for column in idle_columns(rows)] == ["cell", "node", "outcome", "detail"]
    assert [column.name for column in idle_columns(rows[:1])] == ["cell", "outcome", "detail"]
    assert idle_columns(rows[:1], hosts=True)[0].title == "host"
    assert [column.name for column in idle_columns(rows[1:2])] == ["node", "outcome", "detail"]
