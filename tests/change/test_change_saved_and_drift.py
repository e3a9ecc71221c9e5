"""Kept plans and drift, without cells."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from exacell.cellcli.iorm import parse as parse_iorm
from exacell.errors import RefusedError
from exacell.language.line import parse_line
from exacell.plan.drift import between_cells, from_baseline, neutral, of_asm
from exacell.plan.facts import CellDisk, CellFacts, FlashCache
from exacell.plan.model import Plan, Stage, Step
from exacell.plan.saved import SavedPlan, flatten, kept_flags, refuse_moved, refuse_other_plan, stages_json


def _fact(cell: str, size: int = 100, **more: object) -> CellFacts:
    cache = FlashCache(name=f"{cell}_FLASHCACHE", size=size, status="normal", degraded=(), cell_disks=("FD_00",))
    return CellFacts(cell=cell, release="19.3", mode="writeback", flash_cache=cache, **more)  # type: ignore[arg-type]


def _plan(statement: str = "DROP FLASHCACHE") -> Plan:
    return Plan(
        statement="s", rack="r", stages=(Stage(title="t", steps=(Step(target="c1", statement=statement, what="w"),)),)
    )


def _saved(*facts: CellFacts, plan: Plan | None = None) -> SavedPlan:
    return SavedPlan(
        name="p", rack="r", statement="s", cells=tuple(f.cell for f in facts), facts={f.cell: flatten(f) for f in facts},
        stages=stages_json(plan or _plan()), made="2026-01-01",
    )  # fmt: skip


def test_a_moved_fact_is_named_with_cell_attribute_old_and_new() -> None:
    """It should refuse a kept plan when an attribute is another now, and say which."""
    saved = _saved(_fact("c1"), _fact("c2"))
    with pytest.raises(RefusedError, match=r"c2: flashcache size was 100 and is 200"):
        refuse_moved(saved, {"c1": _fact("c1"), "c2": _fact("c2", 200)})


_DISK = CellDisk(name="FD_00", flash=True, size=16 << 30, free=0, status="normal", flush_status="", flush_error="")


@pytest.mark.parametrize(
    ("before", "now", "said"),
    [
        ({"cell_disks": (_DISK,)}, {"cell_disks": (replace(_DISK, free=5 << 30),)}, "celldisk FD_00 freeSpace was 0 and is 5G"),
        ({"flash_log": 512 << 20}, {"flash_log": 0}, "flashlog size was 512M and is 0"),
        ({"cellsrv": "running"}, {"cellsrv": "stopped"}, "cell cellsrvStatus was running and is stopped"),
        ({"objective": "auto"}, {"objective": ""}, "iormplan objective was auto and is empty"),
        (
            {"iorm": parse_iorm("((name=A,share=8,limit=80))"), "iorm_text": "((name=A,share=8,limit=80))"},
            {"iorm": parse_iorm("((name=A,share=3))"), "iorm_text": "((name=A,share=3))"},
            "c1: iormplan dbPlan was ((name=A,share=8,limit=80)) and is ((name=A,share=3))",
        ),
        ({"flash_physical": (("FLASH_1_1", "normal"),)}, {}, "physicaldisk was FLASH_1_1 and is absent"),
    ],
)  # fmt: skip
def test_a_moved_fact_is_said_as_cellcli_says_it(before: dict[str, Any], now: dict[str, Any], said: str) -> None:
    """It should name objects and attributes as CellCLI does, and sizes with their unit."""
    with pytest.raises(RefusedError) as caught:
        refuse_moved(_saved(_fact("c1", **before)), {"c1": _fact("c1", **now)})
    assert said in str(caught.value)


def test_metrics_may_move() -> None:
    """It should not refuse a plan because a counter moved by itself."""
    saved = _saved(_fact("c1", metrics={"FC_BY_DIRTY": (1.0, 1)}))
    refuse_moved(saved, {"c1": _fact("c1", metrics={"FC_BY_DIRTY": (2.0, 2)})})


def test_a_cell_that_was_not_planned_for_is_refused() -> None:
    """It should refuse to apply a plan to a cell that it was not made for."""
    with pytest.raises(RefusedError, match="not made for c9"):
        refuse_moved(_saved(_fact("c1")), {"c9": _fact("c9")})


def test_other_steps_are_refused() -> None:
    """It should refuse when the statement would do something else now."""
    saved = _saved(_fact("c1"))
    refuse_other_plan(saved, _plan())
    with pytest.raises(RefusedError, match="something else"):
        refuse_other_plan(saved, _plan("CREATE FLASHCACHE ALL"))


def test_the_odd_cell_drifts_from_what_most_have() -> None:
    """It should name only the cell that differs, with its value and the usual one."""
    facts = {c: {"cell|{cell}|mode": m} for c, m in (("c1", "WriteBack"), ("c2", "WriteThrough"), ("c3", "WriteBack"))}
    (found,) = between_cells(facts)
    assert (found.cell, found.attribute, found.value, found.expected) == ("c2", "mode", "WriteThrough", "WriteBack")


def test_a_missing_object_is_drift() -> None:
    """It should report an object that one cell lacks, and one that only it has."""
    facts = {"c1": {"griddisk|a|size": "1"}, "c2": {"griddisk|a|size": "1"}, "c3": {"griddisk|b|size": "2"}}
    assert {(d.cell, d.name, d.value, d.expected) for d in between_cells(facts)} == {
        ("c3", "a", "", "1"),
        ("c3", "b", "2", ""),
    }


def test_a_baseline_is_each_cells_own() -> None:
    """It should compare each cell with what it was, not with the others."""
    before = {"c1": {"cell|x|a": "1"}, "c2": {"cell|x|a": "2"}}
    assert from_baseline(before, before) == []
    (found,) = from_baseline(before, {"c1": {"cell|x|a": "1"}, "c2": {"cell|x|a": "1"}})
    assert (found.cell, found.value, found.expected) == ("c2", "1", "2")


def test_a_cells_own_name_is_no_difference() -> None:
    """It should take the cell's own name out of names and values."""
    assert neutral("c1", [[{"name": "c1", "a": "c1_X"}]], ("cell",)) == {"cell|{cell}|a": "{cell}_X"}


def test_ids_serials_and_times_are_no_drift() -> None:
    """It should leave out what is each cell's own, and compare lists in any order."""
    row = {
        "name": "c1", "id": "7", "creationTime": "t", "physicalSerial": "s", "lunUID": "u", "upTime": "1 day",
        "diskSerialNumber": "s", "fooUUID": "u", "cellDisk": ("b_c1", "a_c1"), "size": 1, "comment": None,
    }  # fmt: skip
    kept = {
        "flashcache|{cell}|cellDisk": "a_{cell},b_{cell}",
        "flashcache|{cell}|size": "1",
        "flashcache|{cell}|comment": "",
    }
    assert neutral("c1", [[row]], ("flashcache",)) == kept


def test_disk_groups_drift_by_what_does_not_move() -> None:
    """It should compare a disk group's shape and leave its free space and files out."""
    group = {"name": "DATA", "type": "NORMAL", "auSize": 4, "freeMb": 1, "files": 3, "mountedOn": ("db2", "db1")}
    found = of_asm([group])
    assert found == of_asm([{**group, "freeMb": 2, "files": 9, "mountedOn": ("db1", "db2")}])
    (only,) = from_baseline({"ASM main": found}, {"ASM main": of_asm([{**group, "type": "HIGH"}])})
    assert (only.cell, only.object, only.name, only.attribute, only.value, only.expected) == (
        "ASM main", "diskgroup", "DATA", "type", "HIGH", "NORMAL",
    )  # fmt: skip


KEPT = [
    ({"rolling": 2, "canary": "c1", "pause": "ask"}, {}, {"rolling": 2, "canary": "c1", "pause": "ask"}),
    ({"rolling": 2, "pause": 60.0}, {"rolling": 1}, {"rolling": 1, "pause": 60.0}),
    (
        {"rolling": 2, "on-error": "continue", "limit": 300.0},
        {"no-rolling": True},
        {"limit": 300.0, "no-rolling": True},
    ),
    ({"no-rolling": True}, {"rolling": 1}, {"rolling": 1}),
    ({"no-rolling": True}, {"yes": True}, {"no-rolling": True, "yes": True}),
    ({"reason": "a b"}, {"reason": "c"}, {"reason": "c"}),
]


@pytest.mark.parametrize(("kept", "given", "together"), KEPT)
def test_a_kept_plan_rolls_as_it_was_planned(kept: dict[str, Any], given: dict[str, Any], together: Any) -> None:
    """It should be applied with the flags that it was planned with, and those of apply should win."""
    assert replace(_saved(), flags=kept).flags_with(given) == together


def test_nobody_agrees_in_advance() -> None:
    """It should remember how a plan rolls and why, and neither -y nor an accepted loss."""
    given = {"yes": True, "dry-run": True, "accept-data-loss": "c1", "rolling": True, "limit": 300.0, "reason": "a b"}
    kept = kept_flags(given)
    assert kept == {"rolling": True, "limit": 300.0, "reason": "a b"}
    line = replace(_saved(), statement="flush flashcache", flags=kept).line
    assert line == "flush flashcache --rolling --limit=300s --reason='a b'"
    parsed = parse_line(line)
    assert parsed is not None and dict(parsed.flags) == {"rolling": True, "limit": 300.0, "reason": "a b"}
