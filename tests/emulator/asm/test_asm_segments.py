"""Tables and indexes with their CELL_FLASH_CACHE clause, in the views and in what the workload does."""

from __future__ import annotations

import json

import pytest
from asm_lab import Lab

from exacell.emulator.storage.databases import database_from_state, database_to_state

CLAUSES = (
    "select segment_name || ' ' || partition_name || ' ' || cell_flash_cache from dba_segments where owner = 'APP'"
)


def clauses(lab: Lab) -> dict[str, str]:
    """Return CELL_FLASH_CACHE of every segment of the application, by name and partition."""
    out = lab.db(f"set heading off feedback off linesize 200 pagesize 0\n{CLAUSES};\n").lines
    return {" ".join(line.split()[:-1]): line.split()[-1] for line in out}


EXTERNAL = """create table app.shell (line varchar2(400)) organization external (type oracle_loader
 default directory exa_shell access parameters (records delimited by newline preprocessor exa_shell:'x.sh')
 location ('x.sh')) reject limit unlimited"""


@pytest.mark.parametrize(
    ("statement", "line"),
    [
        ("create or replace directory exa_shell as '/home/oracle/shell'", "ORA-01031: insufficient privileges"),
        ("create directory exa_shell as '/tmp'", "ORA-01031: insufficient privileges"),
        ("drop directory exa_shell", "ORA-04043: object EXA_SHELL does not exist"),
        (EXTERNAL, "ORA-06564: object EXA_SHELL does not exist"),
    ],
)
def test_no_way_out_of_the_database(lab: Lab, statement: str, line: str) -> None:
    """Directories and external tables, which would run programs of this machine, get the errors that a database has for them."""
    assert line in lab.db(f"{statement};\n").lines


@pytest.mark.parametrize(
    ("statement", "message", "changed"),
    [
        ("alter table app.customers storage (cell_flash_cache keep)", "Table altered.", {"CUSTOMERS": "KEEP"}),
        (
            "alter table APP.order_items storage (initial 64K CELL_FLASH_CACHE none)",
            "Table altered.",
            {"ORDER_ITEMS": "NONE"},
        ),
        ("alter index app.orders_pk storage (cell_flash_cache keep)", "Index altered.", {"ORDERS_PK": "KEEP"}),
        (
            "alter table app.orders modify partition p2021q4 storage (cell_flash_cache keep)",
            "Table altered.",
            {"ORDERS P2021Q4": "KEEP"},
        ),
        (
            "alter table app.orders storage (cell_flash_cache none)",
            "Table altered.",
            {f"ORDERS P2021Q{n}": "NONE" for n in (1, 2, 3, 4)},
        ),
        ("alter table app.orders modify default attributes storage (cell_flash_cache keep)", "Table altered.", {}),
    ],
)
def test_the_clause_changes_what_it_names(lab: Lab, statement: str, message: str, changed: dict[str, str]) -> None:
    """STORAGE (CELL_FLASH_CACHE …) changes exactly the table, index or partition that the statement names."""
    before = clauses(lab)
    assert set(before.values()) == {"DEFAULT"} and len(before) == 9
    assert lab.db(f"{statement};\n").lines == [message]
    assert clauses(lab) == {**before, **changed}


@pytest.mark.parametrize(
    ("statement", "code"),
    [
        ("alter table app.nosuch storage (cell_flash_cache keep)", 942),
        ("alter index app.nosuch storage (cell_flash_cache keep)", 1418),
        ("alter table app.customers storage (cell_flash_cache maybe)", 2143),
        ("alter table app.customers storage (flash keep)", 2143),
        ("alter table app.customers storage (cell_flash_cache keep", 907),
        ("alter table app.customers storage cell_flash_cache keep", 906),
        ("alter table app.customers add (x number)", 922),
        ("alter table app.orders modify partition p1999 storage (cell_flash_cache keep)", 2149),
        ("create table app.customers (a number)", 955),
        ("create table t", 906),
        ("create table t (a number) organization external", 922),
        ("create index i on nosuch (a)", 942),
        ("drop table nosuch", 942),
        ("create user x identified by y", 900),
    ],
)
def test_what_it_cannot_do_is_refused_and_changes_nothing(lab: Lab, statement: str, code: int) -> None:
    """A missing object, a wrong option and everything that is not emulated give Oracle's codes."""
    before = clauses(lab)
    assert lab.db(f"{statement};\n").codes == [code]
    assert clauses(lab) == before


def test_tables_come_and_go(lab: Lab) -> None:
    """A new table or index is there with its clause; dropping a table takes its indexes along."""
    made = lab.db(
        "create table t1 (a number(4,2), b varchar2(10)) tablespace users storage (cell_flash_cache keep);\n"
        "create unique index t1_ix on t1(a) nologging;\n"
        "set heading off feedback off\n"
        "select table_name, cell_flash_cache from dba_tables where owner='SYS';\n"
        "select index_name, uniqueness from all_indexes where owner='SYS';\n"
    )
    assert made.lines[:2] == ["Table created.", "Index created."]
    assert [word for line in made.lines[2:] for word in line.split()] == ["T1", "KEEP", "T1_IX", "NONUNIQUE"]
    assert lab.db("drop table t1 cascade constraints purge;\n").lines == ["Table dropped."]
    assert lab.db("select count(*) c from dba_segments where owner='SYS';\n").lines[-1].strip() == "0"


def test_partitioned_tables_show_their_clause_by_partition(lab: Lab) -> None:
    """DBA_TABLES says nothing for a partitioned table; DBA_TAB_PARTITIONS has it."""
    bare = "set heading off feedback off pagesize 0 linesize 400 markup csv on quote off\n"
    lab.db("alter table app.orders modify partition p2021q1 storage (cell_flash_cache none);\n")
    shown = lab.db(f"{bare}select table_name, partitioned, cell_flash_cache from dba_tables where partitioned='YES';\n")
    assert shown.lines == ["ORDERS,YES,"]
    query = "select partition_name, cell_flash_cache from dba_tab_partitions where cell_flash_cache <> 'DEFAULT'"
    assert lab.db(f"{bare}{query};\n").lines == ["P2021Q1,NONE"]


def _load(lab: Lab) -> dict[str, float]:
    counters = lab.rack.metrics["exa1cel01"].counters
    before = dict(counters)
    end = lab.rack.start_load(profile="oltp", seconds=120).end
    lab.pass_time(end - lab.rack.clock.now() + 0.01)
    lab.rack.advance()
    return {name: counters[name] - before.get(name, 0) for name in counters}


def test_the_workload_obeys_the_clause(lab: Lab) -> None:
    """Misses of NONE objects are skipped and never come into the cache, those of KEEP objects are counted apart."""
    plain = _load(lab)
    assert plain.get("FC_IO_RQKEEP_R", 0) == plain["FC_IO_RQ_R_SKIP"] == 0
    lab.db(
        "alter table app.orders storage (cell_flash_cache none);\nalter table app.order_items storage (cell_flash_cache keep);\n"
    )
    clause = _load(lab)
    reads = clause["FC_IO_RQ_R"] + clause["FC_IO_RQ_R_MISS"] + clause["FC_IO_RQ_R_SKIP"]
    assert reads == pytest.approx(plain["FC_IO_RQ_R"] + plain["FC_IO_RQ_R_MISS"], rel=0.02)
    assert 0 < clause["FC_IO_RQ_R_SKIP"] < clause["FC_IO_RQ_R_MISS"]
    assert clause["FC_IO_RQ_W_POPULATE"] == clause["FC_IO_RQ_R_MISS"]
    assert 0 < clause["FC_IO_RQKEEP_R"] < clause["FC_IO_RQ_R"]


def test_clauses_survive_a_stop(lab: Lab) -> None:
    """A stored database has its segments again; one stored before there were any has none."""
    lab.db("alter table app.customers storage (cell_flash_cache keep);\n")
    state = json.loads(json.dumps(database_to_state(lab.asm.databases["SPOT"])))
    assert database_from_state(state) == lab.asm.databases["SPOT"]
    del state["segments"]
    assert database_from_state(state).segments == []
