"""What is kept of a cell under one form of its name, short or in full, is found under the other."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from exacell.core.cellset import called_now
from exacell.measure.snapshot import CellCounters, Snapshot
from exacell.session.saved import SavedPlan
from exacell.session.store import Store

SHORT, FULL = ("cel01", "cel02"), ("cel01.example.com", "cel02.example.com")
BOTH_WAYS = pytest.mark.parametrize(("then", "now"), [(SHORT, FULL), (FULL, SHORT), (SHORT, SHORT), (SHORT, ())])


def called(then: tuple[str, ...], now: tuple[str, ...]) -> tuple[str, ...]:
    """With no names of a rack what is kept stays as it is."""
    return now or then


@BOTH_WAYS
def test_a_snapshot_is_of_the_same_cells(tmp_path: Path, then: tuple[str, ...], now: tuple[str, ...]) -> None:
    """Its cells and hosts have the names that they have now, so that two snapshots have cells in common."""
    counters = CellCounters(collected=1, values={"FL_RQ_W": 1.0}, passport={})
    store = Store(tmp_path / "store.db")
    store.save(Snapshot(rack="r", name="a", kind="flashlog", taken="t", began="b", cells=dict.fromkeys(then, counters)))
    (found,) = store.find("r", "A", now)
    assert tuple(found.cells) == called(then, now)


@BOTH_WAYS
def test_a_kept_plan_is_for_the_same_cells(tmp_path: Path, then: tuple[str, ...], now: tuple[str, ...]) -> None:
    """Its cells and the targets of its steps are those of now; what is compared with a new plan is written alike."""
    stages = json.dumps([{"steps": [{"target": cell, "statement": "x"} for cell in then]}], separators=(",", ":"))
    plan = SavedPlan(name="p", rack="r", statement="s", cells=then, facts={}, stages=stages, made="now")
    store = Store(tmp_path / "store.db")
    store.save_plan(plan)
    found = store.find_plan("r", "P", now)
    assert found.cells == called(then, now)
    assert [step["target"] for stage in json.loads(found.stages) for step in stage["steps"]] == [*called(then, now)]
    if called(then, now) == then:
        assert json.loads(found.stages) == json.loads(stages)


@BOTH_WAYS
def test_what_health_found_is_of_the_same_cells(tmp_path: Path, then: tuple[str, ...], now: tuple[str, ...]) -> None:
    """A finding that is there still is not new because the cell has got another name; the newest of both names counts."""
    store = Store(tmp_path / "store.db")
    store.keep_health("r", 1.0, dict.fromkeys(then, (("disk", "bad"),)))
    assert {*store.health_at("r", 2.0, now)} == {*called(then, now)}
    store.keep_health("r", 3.0, dict.fromkeys(called(then, now), ()))
    assert {cell: past.told for cell, past in store.health_at("r", 4.0, now).items()} == dict.fromkeys(
        called(then, now), ()
    )


def test_of_two_that_were_kept_the_later_one_stays() -> None:
    """Under both names of one cell, and only where they are one: short names of two domains are nobody's."""
    assert called_now({"cel01": 1, "cel01.example.com": 2}, ["cel01.example.com"]) == {"cel01.example.com": 2}
    two = ["cel01.one.com", "cel01.two.com"]
    assert called_now({"cel01": 1}, two) == {"cel01": 1}
