"""Kept plans and drift, without cells."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from exacell.cellcli.iorm import parse as parse_iorm
from exacell.commands.drift import _row
from exacell.core.errors import RefusedError
from exacell.language.line import parse_line
from exacell.plan.drift import Difference, between_cells, folded, from_baseline, gone, neutral, of_asm, told
from exacell.plan.facts import CellDisk, CellFacts, FlashCache
from exacell.plan.model import Plan, Stage, Step
from exacell.session.saved import (
    SavedPlan,
    flatten,
    kept_flags,
    moved,
    refuse_other_plan,
    stages_json,
)


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
    assert "c2: flashcache size was 100 and is 200" in str(moved(saved, {"c1": _fact("c1"), "c2": _fact("c2", 200)}))


def test_what_was_changed_is_named_before_the_space_that_follows_from_it() -> None:
    """Of several facts that moved the one that somebody changed is told, and how many more there are."""
    disk = CellDisk(name="FD_00", flash=True, size=16 << 30, free=0, status="normal", flush_status="", flush_error="")
    before = _fact("c1", cell_disks=(disk,))
    now = _fact("c1", 200, cell_disks=(replace(disk, free=5 << 30),))
    refused = moved(_saved(before), {"c1": now})
    assert str(refused).startswith("plan p: c1: flashcache size was 100 and is 200 (and 1 more); nothing was sent")


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
        ({"flash_physical": (("FLASH_1_1", "normal"),)}, {}, "physicaldisk FLASH_1_1 was normal and is absent"),
    ],
)  # fmt: skip
def test_a_moved_fact_is_said_as_cellcli_says_it(before: dict[str, Any], now: dict[str, Any], said: str) -> None:
    """It should name objects and attributes as CellCLI does, and sizes with their unit."""
    assert said in str(moved(_saved(_fact("c1", **before)), {"c1": _fact("c1", **now)}))


def test_metrics_may_move() -> None:
    """It should not refuse a plan because a counter moved by itself."""
    saved = _saved(_fact("c1", metrics={"FC_BY_DIRTY": (1.0, 1)}))
    assert moved(saved, {"c1": _fact("c1", metrics={"FC_BY_DIRTY": (2.0, 2)})}) is None


def test_a_cell_that_was_not_planned_for_is_refused() -> None:
    """It should refuse to apply a plan to a cell that it was not made for."""
    assert "not made for c9" in str(moved(_saved(_fact("c1")), {"c9": _fact("c9")}))


def test_other_steps_are_refused() -> None:
    """It should refuse when the statement would do something else now."""
    saved = _saved(_fact("c1"))
    refuse_other_plan(saved, _plan())
    with pytest.raises(RefusedError, match=r"now do something else: .*: statement was .* and is CREATE FLASHCACHE ALL"):
        refuse_other_plan(saved, _plan("CREATE FLASHCACHE ALL"))


def test_a_refused_plan_names_the_very_line_that_plans_it_again() -> None:
    """It should say name, statement and flags of the plan, as a line that can be typed, wherever a kept plan is refused."""
    flags: dict[str, Any] = {"rolling": 1, "reason": "two words", "limit": 90.0}
    saved = replace(_saved(_fact("c1")), name="monday", statement="on c1 resize flashcache size=288g", flags=flags)
    line = "plan as=monday on c1 resize flashcache size=288g --rolling=1 --reason='two words' --limit=90s"
    refusals = [moved(saved, {"c1": _fact("c1", 200)}), moved(saved, {"c9": _fact("c9")})]
    with pytest.raises(RefusedError) as refused:
        refuse_other_plan(saved, _plan("CREATE FLASHCACHE ALL"))
    assert [e and e.hint for e in (*refusals, refused.value)] == [f"plan it again: {line}"] * 3
    again = parse_line(line)
    assert again is not None and again.call is not None
    assert again.call.text_arg("as") == "monday"


def test_a_plan_that_an_older_exacell_kept_is_applied() -> None:
    """It should not take for another plan what differs only in what steps told once and tell no more."""
    saved = _saved(_fact("c1"))
    stages = json.loads(saved.stages)
    stages[0]["steps"][0]["shell"] = False
    older = replace(saved, stages=json.dumps(stages))
    refuse_other_plan(older, _plan())
    with pytest.raises(RefusedError, match="statement was DROP FLASHCACHE and is CREATE FLASHCACHE ALL"):
        refuse_other_plan(older, _plan("CREATE FLASHCACHE ALL"))


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


def test_a_list_in_another_order_has_not_moved() -> None:
    """Cells print lists in any order: a kept plan is refused when a list has other members, not when they stand elsewhere."""
    one = CellFacts(cell="c1", databases=("SPOT", "ERP"))
    saved = replace(_saved(), facts={"c1": flatten(one)})
    assert moved(saved, {"c1": replace(one, databases=("ERP", "SPOT"))}) is None
    refused = moved(saved, {"c1": replace(one, databases=("ERP",))})
    assert refused is not None and "c1: database was ERP,SPOT and is ERP;" in refused.message


def _cell(release: str, **more: str) -> dict[str, str]:
    return {"cell|{cell}|releaseVersion": release, **{path.replace("__", "|"): value for path, value in more.items()}}


DISK = {"griddisk__p__size": "1", "griddisk__p__status": "active", "griddisk__p__comment": ""}
BEFORE = {"c1": _cell("19.3", **DISK), "c2": _cell("19.3", **DISK), "ASM main": {}}
LINES: list[tuple[str, dict[str, dict[str, str]], list[tuple[str, ...]]]] = [
    ("nothing", {"c1": _cell("19.3", **DISK)}, []),
    ("an object is gone", {"c1": _cell("19.3")}, [("c1", "griddisk", "p", "name", "", "p")]),
    (
        "an object is new",
        {"c1": _cell("19.3", **DISK, griddisk__q__size="1", griddisk__q__status="active")},
        [("c1", "griddisk", "q", "name", "q", "")],
    ),
    (
        "attributes are others",
        {"c1": _cell("19.3", **{**DISK, "griddisk__p__size": "2", "griddisk__p__comment": "x"})},
        [("c1", "griddisk", "p", "size", "2", "1"), ("c1", "griddisk", "p", "comment", "x", "")],
    ),
    (
        "an attribute is empty",
        {"c1": _cell("19.3", **{**DISK, "griddisk__p__status": ""})},
        [("c1", "griddisk", "p", "status", "", "active")],
    ),
    ("a cell is new", {"c3": _cell("19.3", **DISK)}, [("c3", "cell", "c3", "name", "c3", "")]),
    (
        "another release",
        {"c1": _cell("12.1.2", griddisk__p__size="1", griddisk__p__sparse="no", griddisk__p__comment="x")},
        [
            ("c1", "cell", "{cell}", "releaseVersion", "12.1.2", "19.3"),
            ("c1", "griddisk", "p", "comment", "x", ""),
        ],
    ),
    (
        "another release without such objects",
        {"c1": _cell("12.1.2", lun__a__size="1", lun__a__status="x")},
        [
            ("c1", "cell", "{cell}", "releaseVersion", "12.1.2", "19.3"),
            ("c1", "griddisk", "p", "name", "", "p"),
            ("c1", "lun", "a", "name", "a", ""),
        ],
    ),
    (
        "the same release with another attribute",
        {"c1": _cell("19.3", **DISK, griddisk__p__sparse="no")},
        [("c1", "griddisk", "p", "sparse", "no", "")],
    ),
]


@pytest.mark.parametrize(("now", "lines"), [line[1:] for line in LINES], ids=[line[0] for line in LINES])
def test_drift_is_told_in_few_lines(now: dict[str, dict[str, str]], lines: list[tuple[str, ...]]) -> None:
    """It should tell an object or a cell that is missing or additional in one line, and nothing of what a release has not."""
    found = told(from_baseline(BEFORE, now), now, BEFORE)
    assert [(d.cell, d.object, d.name, d.attribute, d.value, d.expected) for d in found] == lines


def test_a_cell_without_an_object_is_one_line_among_others() -> None:
    """Compared with each other, a cell that lacks an object, or alone has it, is one line; so is another release."""
    others = {f"c{number}": _cell("19.3", **DISK) for number in (1, 2, 3)}
    for odd, line in (
        (_cell("19.3"), ("griddisk", "p", "", "p")),
        (_cell("19.3", **DISK, griddisk__q__size="1", griddisk__q__status="x"), ("griddisk", "q", "q", "")),
        (_cell("12.1.2", **DISK, griddisk__p__sparse="true"), ("cell", "{cell}", "12.1.2", "19.3")),
    ):
        facts = {**others, "c9": odd}
        (only,) = told(between_cells(facts), facts)
        assert (only.cell, only.object, only.name, only.value, only.expected) == ("c9", *line)


FOLDED = [
    (
        [("c1", f"DATA_CD_{n:02}_{{cell}}", "status", "inactive", "active") for n in range(12)],
        [("c1", "DATA_CD_[00-11]_{cell}", "status", "inactive", "active")],
    ),
    (
        [(c, f"{p}_CD_{n:02}_{{cell}}", "status", "x", "y") for c in ("c1", "c2", "c4") for p in ("A", "B") for n in (0, 2)],
        [("c[1-2,4]", "A_CD_[00,02]_{cell},B_CD_[00,02]_{cell}", "status", "x", "y")],
    ),
    (  # Another value, another attribute and another cell are lines of their own, in the order in which they come.
        [
            ("c1", "p0", "size", "1", "2"), ("c1", "p1", "size", "3", "2"), ("c1", "p0", "status", "1", "2"),
            ("c2", "p0", "size", "1", "2"),
        ],
        [("c[1-2]", "p0", "size", "1", "2"), ("c1", "p1", "size", "3", "2"), ("c1", "p0", "status", "1", "2")],
    ),
    (  # Missing and additional objects.
        [("c1", "p0", "name", "", "p0"), ("c1", "p1", "name", "", "p1"), ("c1", "q", "name", "q", "")],
        [("c1", "p[0-1]", "name", "", "p[0-1]"), ("c1", "q", "name", "q", "")],
    ),
    (  # Names that brackets would say something else of stay a list.
        [
            ("c1", "a b1", "x", "1", ""), ("c1", "a b2", "x", "1", ""), ("ASM main", "D1", "y", "1", ""),
            ("ASM main", "D02", "y", "1", ""),
        ],
        [("c1", "a b1,a b2", "x", "1", ""), ("ASM main", "D[1,02]", "y", "1", "")],
    ),
    ([("c1", "a[1]", "x", "1", ""), ("c1", "a[2]", "x", "1", "")], [("c1", "a[1],a[2]", "x", "1", "")]),
    ([("c1", "20:0", "x", "1", ""), ("c1", "20:1", "x", "1", "")], [("c1", "20:[0-1]", "x", "1", "")]),
]  # fmt: skip


@pytest.mark.parametrize(("rows", "lines"), FOLDED)
def test_drift_is_folded_for_eyes(rows: list[tuple[str, ...]], lines: list[tuple[str, ...]]) -> None:
    """It should say once what is the same of several objects and cells, every one of them named and no other."""
    found = folded(
        [Difference(cell=c, object="griddisk", name=n, attribute=a, value=v, expected=e) for c, n, a, v, e in rows]
    )
    assert [(d.cell, d.name, d.attribute, d.value, d.expected) for d in found] == lines


def test_a_cell_that_left_the_rack_is_drift() -> None:
    """A baseline's cell that the rack has no more is told, one that was only not asked is not, and ASM is no cell."""
    (only,) = gone(BEFORE, ["c1", "c9"])
    assert (only.cell, only.attribute, only.value, only.expected) == ("c2", "name", "", "c2")


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
    ({"rolling": 2}, {"no-rolling": False}, {"rolling": 2, "no-rolling": False}),
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


def test_a_cells_own_name_stands_where_it_is_of_one_cell() -> None:
    """A record of one cell can be used as it is; one of several keeps the place of the name."""
    one = Difference(cell="c1", object="griddisk", name="D_{cell}", attribute="name", value="", expected="D_{cell}")
    assert {name: _row(one)[name] for name in ("name", "expected", "value")} == {
        "name": "D_c1", "expected": "D_c1", "value": None,
    }  # fmt: skip
    assert _row(replace(one, cell="c[1-2]"))["name"] == "D_{cell}"
