"""Tables that users make: rows are changed, read by key, committed and taken back."""

from __future__ import annotations

import json

import pytest
from asm_lab import Lab

from exacell.emulator.basics.ora_messages import ORA_TEXTS
from exacell.emulator.work.sessions import Work

BARE = "set feedback off heading off pagesize 0 linesize 200\n"
MADE = "create table t (id number primary key, n number not null, v varchar2(5));\n"
FILLED = MADE + "insert into t select level, 10 * level, 'v' || level from dual connect by level <= 4;\ncommit;\n"


def rows(lab: Lab, query: str = "select id, n, v from t order by id") -> list[str]:
    """Return the rows of a query in a session of its own, blanks made one."""
    return [" ".join(line.split()) for line in lab.db(f"{BARE}{query};\n").lines]


def test_what_is_committed_is_read_by_key(lab: Lab) -> None:
    """A row that a session inserted and committed is found by its key in the next session."""
    lab.db(FILLED)
    assert rows(lab, "select n, v from t where id = 3") == ["30 v3"]


@pytest.mark.parametrize(
    ("statement", "told", "left"),
    [
        ("update t set n = n + 1, v = 'x' where id = 2", "1 row updated.", ["1 10 v1", "2 21 x", "3 30 v3", "4 40 v4"]),
        ("update t set v = null where id > 2", "2 rows updated.", ["1 10 v1", "2 20 v2", "3 30", "4 40"]),
        ("delete from t where id in (1, 4)", "2 rows deleted.", ["2 20 v2", "3 30 v3"]),
        ("delete t", "4 rows deleted.", []),
        ("insert into t (n, id) values (5, 5)", "1 row created.", ["1 10 v1", "2 20 v2", "3 30 v3", "4 40 v4", "5 5"]),
        ("update t set n = 1 where id = 99", "0 rows updated.", ["1 10 v1", "2 20 v2", "3 30 v3", "4 40 v4"]),
    ],
)
def test_each_change_does_what_it_says(lab: Lab, statement: str, told: str, left: list[str]) -> None:
    """INSERT, UPDATE and DELETE tell how many rows they changed, and those are the rows that a later session finds changed."""
    assert told in lab.db(f"{FILLED}{statement};\ncommit;\n").lines
    assert rows(lab) == left


@pytest.mark.parametrize(
    ("statement", "code"),
    [
        ("insert into t values (1, 1, 'x')", 1),
        ("update t set id = 1 where id = 2", 1),
        ("insert into t values (9, null, 'x')", 1400),
        ("insert into t values (9, 1, 'sixsix')", 12899),
        ("insert into t values (9, 1)", 947),
        ("insert into t values (9, 1, 'x', 2)", 913),
        ("insert into t (id, nix) values (9, 1)", 904),
        ("update t set nix = 1", 904),
        ("update t set n = 'word'", 1722),
        ("update nix set n = 1", 942),
        ("delete from app.orders", 942),
        ("insert t values (9, 1, 'x')", 925),
        ("insert into t default values", 926),
        ("update t n = 1", 971),
        ("delete from t where", 936),
    ],
)
def test_a_statement_happens_as_a_whole_or_not_at_all(lab: Lab, statement: str, code: int) -> None:
    """A statement that breaks a rule gets Oracle's error and leaves every row as it was."""
    lab.db(FILLED)
    assert lab.db(f"{statement};\ncommit;\n").codes == [code]
    assert code in ORA_TEXTS
    assert rows(lab) == ["1 10 v1", "2 20 v2", "3 30 v3", "4 40 v4"]


@pytest.mark.parametrize(
    ("end", "left"),
    [
        ("rollback;\n", ["1 10 v1", "2 20 v2", "3 30 v3", "4 40 v4"]),
        ("exit rollback\n", ["1 10 v1", "2 20 v2", "3 30 v3", "4 40 v4"]),
        ("exit\n", ["3 31 v3", "4 41 v4"]),
        ("", ["3 31 v3", "4 41 v4"]),
        ("create table u (id number);\nrollback;\n", ["3 31 v3", "4 41 v4"]),
    ],
)
def test_changes_are_taken_back_or_kept_as_the_session_ends(lab: Lab, end: str, left: list[str]) -> None:
    """ROLLBACK takes all changes back in the right order; EXIT, the end of the input and DDL commit them."""
    lab.db(f"{FILLED}delete t where id < 3;\nupdate t set n = n + 1;\n{end}")
    assert rows(lab) == left


def test_a_dropped_table_is_gone_with_its_rows(lab: Lab) -> None:
    """DROP TABLE takes the rows along: the table of the same name that is made later is empty."""
    lab.db(f"{FILLED}drop table t;\n{MADE}")
    assert rows(lab) == []


def test_tables_belong_to_one_database(lab: Lab) -> None:
    """A table of one database is not there in another one, and ASM has none."""
    lab.db(FILLED)
    assert lab.db("select * from t;\n", database="ERP").codes == [942]
    assert lab.sql("insert into t values (1, 1, 'x');\n").codes == [1109]


def test_tables_survive_a_stop_of_the_rack(lab: Lab) -> None:
    """What is stored of a rack holds its tables, numbers, texts and dates alike."""
    lab.db(
        f"{FILLED}create table d (day date, part number);\n"
        "insert into d values (to_date('2011-11-30', 'YYYY-MM-DD'), 0.25);\ncommit;\n"
    )
    stored = json.loads(json.dumps(lab.rack.work.to_state()))
    assert Work.from_state(stored).tables == lab.rack.work.tables


def test_a_table_with_an_owner_is_another_than_one_without(lab: Lab) -> None:
    """``app.t`` has its own rows, found behind its owner alone, also after the rack was stored; errors name its owner; it is
    dropped alone, and ``sys.t`` is ``t``."""
    lab.db(FILLED)
    lab.db(
        "create table app.t (id number primary key, v varchar2(3));\ninsert into app.t values (7, 'app');\ncommit;\n"
    )
    assert rows(lab, "select * from app.t") == ["7 app"] and len(rows(lab)) == 4
    assert rows(lab, "select t.v from App.T where t.id = 7") == ["app"]
    assert rows(lab, "select x.v, y.v from app.t x, t y where y.id = 1") == ["app v1"]
    assert rows(lab, "select count(*) from sys.t") == ["4"]
    assert '"APP"."T"."V"' in " ".join(lab.db("update app.t set v = 'long';\n").lines)
    assert "APP.T_PK" in " ".join(lab.db("insert into app.t values (7, 'x');\n").lines)
    stored = Work.from_state(json.loads(json.dumps(lab.rack.work.to_state())))
    assert [sorted(own) for own in stored.tables.values()] == [["APP.T", "T"]]
    lab.db("update app.t set v = 'new' where id = 7;\ncommit;\ndelete from t;\ncommit;\n")
    assert rows(lab, "select v from app.t") == ["new"] and rows(lab) == []
    lab.db("drop table t;\n")
    assert rows(lab, "select v from app.t") == ["new"] and lab.db("select * from t;\n").codes == [942]
    lab.db("drop table app.t;\n")
    assert lab.db("select * from app.t;\n").codes == [942]
