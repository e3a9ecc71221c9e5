"""SQL that changes where tables are stored, read and planned: tablespaces on disk groups, and tables that move into them."""

from __future__ import annotations

from typing import Any

import pytest

from exacell.core.errors import RefusedError
from exacell.plan.dbchange import AddTablespace, Change, DropTablespace, MoveTable, read_change
from exacell.plan.foreseen import Foreseen, MadeTable
from exacell.plan.model import Plan, Undo
from exacell.plan.planners.database import database_plan
from exacell.plan.planners.tablespace import placed
from tests.support.every import every

G1 = 1 << 30
MAKE = "create tablespace fast datafile '+SSD' size 1g"
MOVE = "alter table app.customers move tablespace {}"


def space(name: str, contents: str = "PERMANENT", segments: int = 0, free: int = G1, **more: object) -> dict[str, Any]:
    return {
        "name": name,
        "contents": contents,
        "diskgroups": ("DATA",),
        "bytes": G1,
        "free": free,
        "segments": segments,
        "tables": segments,
        "users": 0,
        "bigfile": False,
        "traits": (),
        "default": False,
        **more,
    }


def table(name: str, tablespace: str | None, size: int = G1 // 2, **more: object) -> dict[str, Any]:
    return {
        "owner": "APP",
        "name": name,
        "tablespace": tablespace,
        "bytes": size,
        "iot": False,
        "temporary": False,
        **more,
    }


def index(name: str, status: str = "VALID") -> dict[str, Any]:
    return {"tableOwner": "APP", "table": "CUSTOMERS", "owner": "APP", "name": name, "status": status}


def records() -> dict[str, list[dict[str, Any]]]:
    """What a database tells of its tablespaces and of one table."""
    return {
        "db.diskgroup": [{"name": name, "sectorSize": 512, "usableMb": 40_000} for name in ("DATA", "SSD")],
        "db.tablespace": [
            space("APPDATA", segments=9),
            space("USERS", default=True),
            space("TIGHT", free=G1 // 4),
            space("EMPTY"),
            space("UNDOTBS1", "UNDO"),
            space("SYSTEM"),
        ],
        "db.place": [table("CUSTOMERS", "APPDATA")],
        "db.placeIndex": [index("CUSTOMERS_NAME_IX"), index("CUSTOMERS_OLD_IX", "UNUSABLE")],
        "db.keys": [],
        "db.table": [],
    }


def change_of(sql: str) -> Change:
    found = read_change(sql)
    assert found is not None
    return found


def planned(sql: str, *earlier: str, **more: list[dict[str, Any]]) -> Plan:
    """Return the plan of a statement after earlier ones that were only planned."""
    foreseen, told = Foreseen(), records() | {f"db.{name}": rows for name, rows in more.items()}
    for each in earlier:
        foreseen.note("spot", placed(change_of(each), foreseen.of("spot", told)))
    shown = foreseen.of("SPOT", told)
    return database_plan(
        "t1", change_of(sql), shown, database="SPOT", node="exa1db01", nodes=("exa1db01",), statement=sql
    )


@every(
    [
        (MAKE, AddTablespace(name="FAST", target="SSD", size=G1)),
        (
            "CREATE TABLESPACE \"fast\" DATAFILE '+ssd' SIZE 64M",
            AddTablespace(name="fast", target="SSD", size=64 << 20),
        ),
        ("drop tablespace Fast", DropTablespace(name="FAST")),
        (MOVE.format("fast"), MoveTable(owner="APP", name="CUSTOMERS", tablespace="FAST")),
        ("create tablespace fast datafile '/u01/fast.dbf' size 1g", None),
        ("create tablespace fast datafile '+SSD'", None),
        (
            "create bigfile tablespace fast datafile '+SSD' size 1t",
            AddTablespace(name="FAST", target="SSD", size=1 << 40, bigfile=True),
        ),
        ("create tablespace fast datafile '+SSD' size 1g autoextend on", None),
        ("drop tablespace fast including contents and datafiles", None),
        ("alter table customers move tablespace fast", None),
        ("alter table app.customers move partition p1 tablespace fast", None),
        ("alter table app.customers move tablespace fast nologging", None),
    ]
)
def test_only_such_statements_are_understood(sql: str, change: Change | None) -> None:
    """A tablespace of one file on a disk group, an empty one that goes, a whole table that moves: nothing else is read, least
    of all what destroys data."""
    assert read_change(sql) == change


def test_a_tablespace_is_taken_back_without_its_contents() -> None:
    """The inverse of CREATE TABLESPACE is the DROP that a database refuses while something is stored there."""
    (step,) = planned(MAKE).steps
    assert (step.statement, step.inverse) == ("CREATE TABLESPACE FAST DATAFILE '+SSD' SIZE 1G", "DROP TABLESPACE FAST")
    (step,) = planned("drop tablespace empty").steps
    assert (step.undo, step.inverse) == (Undo.STATEMENT, "CREATE TABLESPACE EMPTY DATAFILE '+DATA' SIZE 1G")


def test_a_moved_table_has_its_indexes_built_anew() -> None:
    """After MOVE each index that was valid is rebuilt and proven; one that was unusable before is left and named."""
    plan = planned(MOVE.format("empty"))
    assert [step.statement for step in plan.steps] == [
        "ALTER TABLE APP.CUSTOMERS MOVE TABLESPACE EMPTY",
        "ALTER INDEX APP.CUSTOMERS_NAME_IX REBUILD",
    ]
    assert plan.inverse == {"exa1db01": ("sql db=SPOT 'ALTER TABLE APP.CUSTOMERS MOVE TABLESPACE APPDATA'",)}
    assert "APP.CUSTOMERS_OLD_IX" in plan.notes[0]


@pytest.mark.parametrize(
    ("sql", "code"),
    [
        ("create tablespace empty datafile '+SSD' size 1g", "ORA-01543"),
        ("create tablespace t datafile '+GONE' size 1g", "ORA-15001"),
        ("create tablespace t datafile '+SSD' size 40g", "ORA-15041"),
        ("create tablespace t datafile '+SSD' size 33g", "ORA-01144"),
        (f"create tablespace {'t' * 31} datafile '+SSD' size 1g", "ORA-00972"),
        ("drop tablespace appdata", "ORA-01549"),
        ("drop tablespace system", "itself needs"),
        ("drop tablespace users", "ORA-12919"),
        ("drop tablespace undotbs1", "itself needs"),
        (MOVE.format("nowhere"), "ORA-00959"),
        (MOVE.format("tight"), "ORA-01652"),
        (MOVE.format("undotbs1"), "undo data"),
    ],
)
def test_what_a_database_would_refuse_is_refused_before(sql: str, code: str) -> None:
    """Each such statement is refused with the error that the database would have, and nothing is sent."""
    with pytest.raises(RefusedError, match=code) as refused:
        planned(sql)
    assert "nothing was sent" in str(refused.value)


def test_partitioned_tables_are_not_moved() -> None:
    """A partitioned table has no tablespace of its own, so it is refused."""
    with pytest.raises(RefusedError, match="ORA-14511"):
        planned("alter table app.orders move tablespace empty", place=[table("ORDERS", None, 0)])


@pytest.mark.parametrize(
    ("what", "told"),
    [({"iot": True}, "index-organized"), ({"temporary": True}, "is temporary")],
)
def test_a_table_without_a_tablespace_is_called_what_it_is(what: dict[str, bool], told: str) -> None:
    """An index-organized table and a temporary one have no tablespace in the dictionary, and are not called partitioned."""
    with pytest.raises(RefusedError, match=told) as refused:
        planned("alter table app.orders move tablespace empty", place=[table("ORDERS", None, 0, **what)])
    assert "partitioned" not in str(refused.value)


def test_a_table_with_a_partitioned_index_is_not_moved() -> None:
    """A partitioned index shows N/A and no state of its own; MOVE breaks all its partitions, so the table stays."""
    with pytest.raises(RefusedError, match=r"APP\.PARTS of APP\.CUSTOMERS is partitioned.*UNUSABLE"):
        planned(MOVE.format("empty"), placeIndex=[index("CUSTOMERS_NAME_IX"), index("PARTS", "N/A")])


@pytest.mark.parametrize(
    "sql", ["alter table sys.obj$ move tablespace empty", MOVE.format("system"), MOVE.format("sysaux")]
)
def test_the_databases_own_tables_and_tablespaces_are_left_alone(sql: str) -> None:
    """No table of SYS moves, and no table moves into SYSTEM or SYSAUX."""
    own = sql.startswith("alter table sys.")
    place = [{**table("OBJ$", "SYSTEM"), "owner": "SYS"}] if own else [table("CUSTOMERS", "APPDATA")]
    with pytest.raises(RefusedError, match="itself stay where they are"):
        planned(sql, place=place)


def test_the_table_of_exacells_own_look_ups_goes_away_and_comes_back() -> None:
    """SYS.EXACELL_KEYS begins in SYSTEM: it moves into a tablespace on flash, and back."""
    for place, sql in (("SYSTEM", "empty"), ("EMPTY", "system")):
        own = {**table("EXACELL_KEYS", place), "owner": "SYS"}
        plan = planned(f"alter table sys.exacell_keys move tablespace {sql}", place=[own])
        assert plan.steps and plan.steps[0].inverse.endswith(f"MOVE TABLESPACE {place}")


def test_the_inverse_of_a_drop_makes_the_same_tablespace_or_there_is_none() -> None:
    """A bigfile tablespace comes back as one, however small; what CREATE would not bring back is no inverse, and is named."""
    (step,) = planned("drop tablespace b", tablespace=[space("B", bigfile=True)]).steps
    assert (step.undo, step.inverse) == (Undo.STATEMENT, "CREATE BIGFILE TABLESPACE B DATAFILE '+DATA' SIZE 1G")
    for traits in (("AUTOEXTEND",), ("ENCRYPTED", "READ ONLY")):
        plan = planned("drop tablespace b", tablespace=[space("B", traits=traits)])
        assert plan.steps[0].undo is Undo.IMPOSSIBLE
        assert not plan.inverse
        assert ", ".join(traits) in plan.steps[0].inverse


def test_a_tablespace_with_tables_that_have_no_rows_is_not_dropped() -> None:
    """A table without rows may have no segment, and still is something in its tablespace; the step checks for it once more."""
    with pytest.raises(RefusedError, match=r"ORA-01549.*2 tables without rows"):
        planned("drop tablespace b", tablespace=[space("B", tables=2)])
    (step,) = planned("drop tablespace empty").steps
    assert {check.attribute for check in step.needs} == {"segments", "tables"}


def test_who_makes_tables_in_a_tablespace_by_default_is_told_before_it_goes() -> None:
    """The plan of a drop says how many users have the tablespace as their default."""
    assert "default tablespace of 3 users" in planned("drop tablespace b", tablespace=[space("B", users=3)]).warnings[0]


def test_typed_twice_nothing_is_done() -> None:
    """A tablespace that is there, one that is gone, and a table that is there already are nothing to do."""
    assert not planned(MAKE, MAKE).steps
    with pytest.raises(RefusedError, match="ORA-01543"):
        planned(MAKE.replace("tablespace", "bigfile tablespace"), MAKE)
    assert not planned("drop tablespace gone").steps
    assert not planned(MOVE.format("appdata")).steps


def test_earlier_lines_count_in_a_preview() -> None:
    """A table can move into a tablespace that an earlier line makes; that one is empty only when the table is back."""
    assert planned(MOVE.format("fast"), MAKE).steps
    with pytest.raises(RefusedError, match="ORA-01549"):
        planned("drop tablespace fast", MAKE, MOVE.format("fast"))
    assert planned("drop tablespace fast", MAKE, MOVE.format("fast"), MOVE.format("appdata")).steps
    with pytest.raises(RefusedError, match="ORA-00959"):
        planned(MOVE.format("empty"), "drop tablespace empty")


def test_the_table_of_a_load_counts_in_a_preview() -> None:
    """What an earlier line makes for a load is a table like any other, once, and is where it moved when the load goes on."""
    foreseen = Foreseen()
    keys = MadeTable(name="EXACELL_KEYS", rows=1000)
    foreseen.note("SPOT", keys)
    told = records() | {"db.place": []}
    assert foreseen.of("SPOT", told)["db.table"] == [{"owner": "SYS", "name": "EXACELL_KEYS", "cache": "DEFAULT"}]
    foreseen.note("SPOT", change_of("alter table sys.exacell_keys move tablespace empty"))
    foreseen.note("SPOT", keys)
    shown = foreseen.of("SPOT", told)
    assert [row["tablespace"] for row in shown["db.place"]] == ["EMPTY"] and [r["rows"] for r in shown["db.keys"]] == [
        1000
    ]
