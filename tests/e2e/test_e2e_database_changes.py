"""Changes of an emulated database by SQL that exacell understands: planned, proven, run again, undone; and their recipes."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from tests.support.program import InProcess

OFFLOAD = (
    "select i.instance_name as sid, p.value from gv$system_parameter p, gv$instance i where p.inst_id = i.inst_id "
    "and p.name = 'cell_offload_processing' union all select 'file ' || sid, value from v$spparameter "
    "where name = 'cell_offload_processing' and isspecified = 'TRUE'"
)

LOGS = 'sql db=SPOT "select group#, thread#, bytes, blocksize, members from v$log"'


def logs(inside: InProcess) -> dict[int, tuple[int, int, int]]:
    rows = inside.ok("-r", "t1", "-o", "json", LOGS).records
    return {row["GROUP#"]: (row["THREAD#"], row["BYTES"], row["BLOCKSIZE"]) for row in rows}


@pytest.mark.parametrize(
    ("sql", "query"),
    [
        ("alter system set open_cursors=444", "select name, value from v$parameter where name = 'open_cursors'"),
        (
            "alter system set open_cursors=444 scope=spfile",
            "select name, value from v$spparameter where name = 'open_cursors'",
        ),
        (
            "alter system set db_flash_cache_size=64g scope=spfile",
            "select name, value from v$spparameter where name like 'db_flash_cache%'",
        ),
        (
            # What was set for one instance goes before what another case sets for all: a parameter of its own.
            "alter system set db_file_multiblock_read_count=64 sid='spot2'",
            "select i.instance_name, p.value from gv$parameter p, gv$instance i where p.inst_id = i.inst_id and "
            "p.name = 'db_file_multiblock_read_count' union all "
            "select sid, value from v$spparameter where name = 'db_file_multiblock_read_count'",
        ),
        (
            "alter table app.customers storage (cell_flash_cache keep)",
            "select table_name, cell_flash_cache from dba_tables where table_name = 'CUSTOMERS'",
        ),
        (
            "alter index app.orders_pk storage (cell_flash_cache none)",
            "select index_name, cell_flash_cache from dba_indexes where index_name = 'ORDERS_PK'",
        ),
        (
            "alter database add standby logfile thread 1 group 31 size 1g",
            "select s.group#, thread#, bytes, s.status, type from v$standby_log s, v$logfile f where s.group# = f.group#",
        ),
    ],
)
def test_a_change_is_made_once_and_taken_back(inside: InProcess, sql: str, query: str) -> None:
    """Without anybody's consent to opaque text: changed and proven, then nothing to do, then as it was."""
    ask = ("-r", "t1", "-o", "json", f'sql db=SPOT "{query}"')
    before = inside.ok(*ask).records
    assert "1 statement, verified" in inside.ok("-r", "t1", "sql", "db=SPOT", sql, "-y").out
    assert inside.ok(*ask).records != before
    assert "nothing to do" in inside.ok("-r", "t1", "sql", "db=SPOT", sql, "-y").out
    inside.ok("-r", "t1", "undo", "-y")
    assert inside.ok(*ask).records == before


def test_redo_goes_to_other_groups_with_larger_blocks_and_back(inside: InProcess) -> None:
    """ORA-01378 is foreseen; with the override groups of 4096 are added, the old ones dropped after switches; undo of all
    changes, newest first, brings the old ones back."""
    before = logs(inside)
    recipe = ("-r", "t1", "run redo_on_flash db=SPOT target=+DATA groups=21,22,23 old=1,2,3,4 block=4096")
    refused = inside(*recipe, "-y")
    assert refused.code == 2 and "ORA-01378" in refused.err and logs(inside) == before
    inside.ok(recipe[0], recipe[1], f"{recipe[2]} override=yes", "-y")
    after = logs(inside)
    assert {number for number, (thread, *_) in after.items() if thread == 1} == {21, 22, 23}
    assert all(after[number] == (1, 4 << 30, 4096) for number in (21, 22, 23))
    again = inside.ok(recipe[0], recipe[1], f"{recipe[2]} override=yes", "-y")
    assert logs(inside) == after, again.out
    changes = [
        row["change"] for row in inside.ok("-r", "t1", "-o", "json", "journal").records if row["ended"] == "exit 0"
    ]
    for change in sorted(changes, reverse=True):
        inside.ok("-r", "t1", f"undo {change}", "-y")
    assert logs(inside) == before


def test_previews_of_redo_on_flash_show_what_the_run_does(inside: InProcess) -> None:
    """-n and plan count what earlier lines will have set and added: they show the very statements that the run sends, and nothing
    runs unread; so does the preview of taking the run back."""
    before = logs(inside)
    recipe = "run redo_on_flash db=SPOT target=+DATA groups=21,22,23 old=1,2 size=64m block=4096 override=yes"
    show = ("-r", "t1", "-o", "json")
    plan = inside.ok(*show, f"plan {recipe}")
    assert "unread" not in plan.out and "can't be planned" not in plan.err and logs(inside) == before
    preview = inside.ok("-r", "t1", recipe, "-n")
    assert "ORA-01378" not in preview.err and logs(inside) == before
    known = {row["change"] for row in inside.ok(*show, "journal").records}
    inside.ok("-r", "t1", recipe, "-y")
    changes = [row["statement"] for row in inside.ok(*show, "journal").records if row["change"] not in known]
    planned = [row["does"].partition("  (")[0] for row in plan.records if row.get("statement")]
    assert list(dict.fromkeys(planned)) == changes
    run = re.search(r"undo run (r\d+)", inside("-r", "t1", "undo", "run", "-n").err)
    assert run is not None
    back = inside.ok(*show, "undo", "run", run[1], "-n")
    assert [row["outcome"] for row in back.records] == ["planned"] * len(changes) and logs(inside) != before
    done = inside.ok("-r", "t1", "undo", "run", run[1], "-y")
    assert all(row["statement"] in " ".join(done.err.split()) for row in back.records) and logs(inside) == before


def test_redo_on_flash_with_a_load_ends_in_a_comparison(inside: InProcess) -> None:
    """With load= sessions commit before and after, each number of sessions is compared, and no trace is on at the end."""
    before = logs(inside)
    recipe = "run redo_on_flash db=SPOT target=+RECO groups=21,22,23 old=1,2,3,4 size=64m load=E2E commits=100"
    done = inside.ok("-r", "t1", "-o", "json", recipe, "-y")
    assert [row["figure"] for row in done.records if "figure" in row].count("meanByWait") == 2
    assert any(str(row.get("says", "")).startswith("log file sync: 1,000 waits") for row in done.records)
    traces = inside.ok(
        "-r", "t1", "-o", "json", "sql", "db=SPOT", "select count(*) as n from dba_enabled_traces"
    ).records
    assert traces[0]["N"] == 0
    run = re.search(r"undo run (r\d+)", inside("-r", "t1", "undo", "run", "-n").err)
    assert run is not None
    inside.ok("-r", "t1", "undo", "run", run[1], "-y")
    assert logs(inside) == before


def test_plan_reads_sql_as_run_does(inside: InProcess) -> None:
    """A change of a database is planned, a query is nothing to plan, and what can't be read is none that a plan can hold."""
    shown = inside.ok("-r", "t1", "plan", "sql", "db=SPOT", "alter system set open_cursors=445")
    assert "ALTER SYSTEM SET open_cursors=445" in shown.out + shown.err and "nothing was sent" in shown.err
    assert "changes nothing" in inside("-r", "t1", "plan", "sql", "db=SPOT", "select 1 from dual").err
    assert "not a single change" in inside("-r", "t1", "plan", "sql", "db=SPOT", "drop table app.orders").err


def test_a_thread_that_does_not_switch_is_not_waited_for(inside: InProcess, fault: Callable[..., None]) -> None:
    """Where the node of a CURRENT group's thread can't be reached, nothing else is sent and nothing is waited for."""
    query = "select group# as n from v$log where thread# = 2 and status = 'CURRENT'"
    (current,) = inside.ok("-r", "t1", "-o", "json", "sql", "db=SPOT", query).records
    before = logs(inside)
    fault("exa1db02", "refuse")
    failed = inside("-r", "t1", "sql", "db=SPOT", f"alter database drop logfile group {current['N']}", "-y")
    fault("exa1db02", "clear")
    assert failed.code != 0 and "thread 2 still writes to it" in " ".join(failed.err.split()), failed.err
    assert logs(inside) == before and not inside.ok("-r", "t1", "-o", "json", "pending").records


def test_a_failed_group_leaves_no_override(inside: InProcess) -> None:
    """Where the second group can't be added, the first one stays, and the database tells sectors as its disks do again."""
    told = "select count(*) as n from gv$parameter where name = '_disk_sector_size_override' and value = 'TRUE'"
    failed = inside(
        "-r", "t1", "run redo_on_flash db=SPOT target=+DATA groups=21,5 size=64m block=4096 override=yes", "-y"
    )
    assert failed.code == 1 and "ORA-01184" in failed.err and logs(inside)[21] == (1, 64 << 20, 4096)
    assert inside.ok("-r", "t1", "-o", "json", "sql", "db=SPOT", told).records[0]["N"] == 0
    inside.ok("-r", "t1", "sql", "db=SPOT", "alter database drop logfile group 21", "-y")


@pytest.mark.parametrize("value", ["4g'", "x) y", "1; drop", "a b", "$(x)", "--"])
def test_a_value_in_sql_is_a_name_or_a_number(inside: InProcess, value: str) -> None:
    """Anything that could be more than a word is refused before the recipe begins."""
    before = logs(inside)
    quoted = f'"{value}"' if '"' not in value else value
    done = inside("-r", "t1", f"run redo_on_flash db=SPOT target=+DATA groups={quoted}", "-y")
    assert done.code == 2 and "can't be used in SQL" in done.err
    assert logs(inside) == before


def offload(inside: InProcess) -> dict[str, str]:
    return {row["SID"]: row["VALUE"] for row in inside.ok("-r", "t1", "-o", "json", f'sql db=SPOT "{OFFLOAD}"').records}


def test_one_instance_keeps_its_own_value_while_all_are_set(inside: InProcess) -> None:
    """SID='SPOT2' changes that instance alone; then SID='*' leaves it and says so; undone backwards, no entry is left."""

    def sql(text: str) -> str:
        return inside.ok("-r", "t1", "sql", "db=SPOT", f"alter system {text}", "-y").err

    before = offload(inside)
    assert before == {"SPOT1": "TRUE", "SPOT2": "TRUE"}
    sql("set cell_offload_processing=false scope=both sid='SPOT2'")
    assert offload(inside) == {"SPOT1": "TRUE", "SPOT2": "FALSE", "file SPOT2": "FALSE"}
    said = sql("set cell_offload_processing=false scope=both sid='*'")
    assert "SPOT2 has its own entry, FALSE, which stays" in " ".join(said.split())
    assert offload(inside) == {"SPOT1": "FALSE", "SPOT2": "FALSE", "file *": "FALSE", "file SPOT2": "FALSE"}
    inside.ok("-r", "t1", "undo", "-y")
    inside.ok("-r", "t1", "undo", "-y")
    assert offload(inside) == before
    refused = inside("-r", "t1", "sql", "db=SPOT", "alter system set cell_offload_processing=false sid='SPOT7'", "-y")
    assert refused.code == 2 and "no instance SPOT7: it has SPOT1, SPOT2" in " ".join(refused.err.split())
