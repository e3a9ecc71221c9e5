"""A load that reads makes its table, lets the sessions read, and drops the table; one that it finds it takes and leaves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from exacell.core.errors import RefusedError, StatementError
from exacell.plan.checks import failure
from exacell.plan.model import Plan, Undo
from exacell.plan.planners.reads import DROP, MODULE, TABLE, ReadLoad, What, read_plan

NODE = "dbn01"
LOAD = ReadLoad(what=What.LOOK_UPS, sessions=2, times=500, keys=1000)
SCANS = ReadLoad(what=What.SCANS, sessions=3, times=5, keys=1000)
MADE = f"CREATE TABLE {TABLE} (id NUMBER PRIMARY KEY, n NUMBER NOT NULL, filler VARCHAR2(80))"


def told(rows: int | None = None, module: str = "-") -> dict[str, Sequence[Mapping[str, Any]]]:
    """Return what an instance tells: the table, where there is one, and a session."""
    tables = [] if rows is None else [{"name": TABLE, "rows": rows, "total": 0}]
    return {"db.keys": tables, "db.session": [{"name": "1,1", "sid": "1", "serial": "1", "module": module}]}


def planned(records: Mapping[str, Sequence[Mapping[str, Any]]], load: ReadLoad = LOAD, **more: Any) -> Plan:
    """Return the plan for SPOT."""
    return read_plan("t1", records, load, database="spot", node=NODE, statement="x", **more)


@pytest.mark.parametrize("load", [LOAD, SCANS])
def test_a_load_is_read_back_from_its_step(load: ReadLoad) -> None:
    """What a step holds is the load again; other statements are none."""
    assert ReadLoad.read(load.text) == load
    assert ReadLoad.read(DROP) is None


def test_table_and_rows_are_proven() -> None:
    """The proof of each step that changes something fails before it and holds after it."""
    plan = planned(told())
    assert [step.asm for step in plan.steps] == ["database SPOT"] * 4
    made, filled, read, dropped = plan.steps
    for step, before, after in ((made, told(), told(0)), (filled, told(0), told(1000)), (dropped, told(1000), told())):
        (proof,) = step.proves
        assert failure(proof, before["db.keys"]) != "" and failure(proof, after["db.keys"]) == ""
    assert (made.undo, made.inverse, plan.inverse) == (Undo.STATEMENT, DROP, {NODE: ("drive end db=SPOT",)})
    assert failure(read.needs[0], told(module=MODULE)["db.session"]) != ""


@pytest.mark.parametrize(
    ("records", "more", "left"),
    [
        (told(), {}, ["make the table", "fill it", "each session looks 500 keys up", f"drop table {TABLE}"]),
        (told(), {"stays": True}, ["make the table", "fill it", "each session looks 500 keys up"]),
        (told(1000), {}, ["each session looks 500 keys up"]),
        (told(0), {"sent": frozenset({MADE})}, ["fill it", "each session looks 500 keys up", f"drop table {TABLE}"]),
        (told(1000), {"sent": frozenset({MADE})}, ["each session looks 500 keys up", f"drop table {TABLE}"]),
        (told(), {"sent": frozenset({MADE, DROP})}, []),
    ],
)
def test_what_is_there_is_not_made_again(records: Any, more: Mapping[str, Any], left: Sequence[str]) -> None:
    """A table that the load did not make stays; one that an earlier attempt made is gone on with and dropped."""
    assert [step.what for step in planned(records, **more).steps] == left


def test_a_table_of_other_rows_is_refused() -> None:
    """A table with another number of keys is named with its number, and what to type."""
    with pytest.raises(RefusedError, match="has 77 keys, not 1,000") as caught:
        planned(told(77))
    assert caught.value.hint is not None and "keys=77" in caught.value.hint and "drive end db=SPOT" in caught.value.hint


def test_two_loads_never_run_at_the_same_time() -> None:
    """While sessions of a load work another one is refused."""
    with pytest.raises(RefusedError, match="sessions of an earlier load still run on dbn01"):
        planned(told(module=MODULE))


@pytest.mark.parametrize("wrong", [{"sessions": 0}, {"sessions": 201}, {"times": 0}, {"keys": 0}, {"keys": 10**9}])
def test_impossible_numbers_are_refused(wrong: Mapping[str, int]) -> None:
    """Each number has limits, and the refusal names them."""
    with pytest.raises(StatementError, match="is not possible: 1 to "):
        ReadLoad(**{"what": What.SCANS, "sessions": 1, "times": 1, "keys": 1, **wrong})


def test_the_key_is_drawn_before_the_query() -> None:
    """A random key in the WHERE would be drawn anew for each row, so the block draws it in a statement of its own."""
    drawn, query = LOAD.block.index("k := trunc(dbms_random.value(1, 1001));"), LOAD.block.index("where id = k;")
    assert drawn < query and "\n" not in LOAD.block
