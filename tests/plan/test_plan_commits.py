"""A load that commits makes its table, proves every commit, and drops the table; a broken-off one is gone on with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from exacell.core.errors import RefusedError, StatementError
from exacell.plan.checks import failure
from exacell.plan.model import Plan, Undo
from exacell.plan.planners.commits import MODULE, TABLE, CommitLoad, commit_plan, end_plan
from exacell.plan.planners.reads import TABLE as KEYS

NODE = "dbn01"
LOAD = CommitLoad(sessions=3, commits=50, tag="ON")
DROP = f"DROP TABLE {TABLE} PURGE"


def told(rows: int | None = None, total: int = 0, module: str = "-") -> dict[str, Sequence[Mapping[str, Any]]]:
    """Return what an instance tells: the table, where there is one, and a session."""
    tables = [] if rows is None else [{"name": TABLE, "rows": rows, "total": total}]
    session = {"name": "1,1", "sid": "1", "serial": "1", "trace": "DISABLED", "waits": "FALSE", "module": module}
    return {"db.commits": tables, "db.keys": [], "db.session": [session], "db.trace": []}


def planned(records: Mapping[str, Sequence[Mapping[str, Any]]], **more: Any) -> Plan:
    """Return the plan for SPOT."""
    return commit_plan("t1", records, LOAD, database="spot", node=NODE, statement="x", **more)


def test_a_load_proves_each_step_by_what_the_table_tells() -> None:
    """Each step's proof fails before it and holds after it: the table, a row a session, every commit, the table gone."""
    states = [told(), told(0), told(3), told(3, 150), told()]
    plan = planned(told())
    assert [step.asm for step in plan.steps] == ["database SPOT"] * 4
    for step, before, after in zip(plan.steps, states[:-1], states[1:], strict=True):
        (proof,) = step.proves
        assert failure(proof, before[proof.object]) != ""
        assert failure(proof, after[proof.object]) == ""
    assert (plan.steps[0].undo, plan.steps[0].inverse) == (Undo.STATEMENT, DROP)
    assert plan.inverse == {NODE: ("drive end db=SPOT",)}
    assert "TRACEFILE_IDENTIFIER ON" in plan.steps[2].statement
    assert failure(plan.steps[2].proves[0], told(3, 149)["db.commits"]) != ""


@pytest.mark.parametrize("load", [LOAD, CommitLoad(sessions=20, commits=200_000)])
def test_a_load_is_read_back_from_its_step(load: CommitLoad) -> None:
    """What a step holds is the load again; other statements are none."""
    assert CommitLoad.read(load.text) == load
    assert CommitLoad.read(DROP) is None


@pytest.mark.parametrize(
    ("records", "sent", "left"),
    [
        (told(), frozenset(), 4),
        (told(0), frozenset(), 3),
        (told(3), frozenset(), 2),
        (told(3, 77), frozenset(), 2),
        (told(3, 150), frozenset(), 1),
        (told(3, 150), frozenset({DROP}), 1),
        (told(), frozenset({DROP}), 0),
    ],
)
def test_what_was_broken_off_goes_on_where_it_stands(
    records: Mapping[str, Sequence[Mapping[str, Any]]], sent: frozenset[str], left: int
) -> None:
    """The steps that are proven are not repeated; a load of which some commits are there begins anew; one that is over ends."""
    assert len(planned(records, goes_on=True, sent=sent).steps) == left


def test_a_table_that_is_there_belongs_to_somebody() -> None:
    """A new load refuses the table of one that did not end, and going on refuses that of another load."""
    with pytest.raises(RefusedError, match="from a load that did not end"):
        planned(told(3))
    with pytest.raises(RefusedError, match="has 7 rows, not 3"):
        planned(told(7), goes_on=True)


def test_two_loads_are_not_mixed() -> None:
    """While sessions of a load work none is planned, and the step itself refuses then."""
    with pytest.raises(RefusedError, match="are running"):
        planned(told(module=MODULE))
    (need,) = planned(told()).steps[2].needs
    assert failure(need, told(module=MODULE)["db.session"]) != "" == failure(need, told()["db.session"])


def test_what_a_load_left_is_dropped() -> None:
    """drive end drops the table where it is, and has nothing to do where it is not."""
    (step,) = end_plan("t1", told(3), database="spot", node=NODE, statement="x").steps
    assert step.statement == DROP
    both = {**told(3), "db.keys": [{"name": KEYS, "rows": 9, "total": 0}]}
    assert [step.statement for step in end_plan("t1", both, database="spot", node=NODE, statement="x").steps] == [
        DROP,
        f"DROP TABLE {KEYS} PURGE",
    ]
    assert end_plan("t1", told(), database="spot", node=NODE, statement="x").done == {
        NODE: f"there is no table {TABLE} and no {KEYS}"
    }


@pytest.mark.parametrize(
    ("words", "why"),
    [
        ({"sessions": 0, "commits": 1}, "sessions=0"),
        ({"sessions": 201, "commits": 1}, "sessions=201"),
        ({"sessions": 1, "commits": 0}, "commits=0"),
        ({"sessions": 1, "commits": 10_000_001}, "commits=10000001"),
        ({"sessions": 1, "commits": 1, "tag": "a'b"}, "tag=a'b"),
        ({"sessions": 1, "commits": 1, "tag": "x" * 31}, "30 at most"),
    ],
)
def test_loads_that_can_not_be_are_refused(words: dict[str, Any], why: str) -> None:
    """Numbers out of range and a tag that would be more than a name are refused before anything is asked."""
    with pytest.raises(StatementError, match=why):
        CommitLoad(**words)
