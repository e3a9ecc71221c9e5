"""SQL that changes a database, read and planned: parameters, redo log groups, what the flash cache keeps of a table."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, strategies as st

from exacell.core.errors import RefusedError
from exacell.plan.dbchange import AddLog, DropLog, KeepInCache, SetParameter, read_change
from exacell.plan.model import Plan
from exacell.plan.planners.database import OVERRIDE, asked, database_plan
from exacell.plan.planners.smart_cache import FILE, SIZE
from tests.support.every import every

G4 = 4 << 30


def log(number: int, thread: int = 1, status: str = "INACTIVE", kind: str = "log") -> dict[str, Any]:
    return {
        "name": str(number),
        "type": kind,
        "thread": thread,
        "bytes": G4,
        "blockSize": 512,
        "status": status,
        "diskgroups": ("DATA", "RECO"),
    }


def parameter(
    name: str, memory: str | None, spfile: str | None, **own: tuple[str | None, str | None]
) -> list[dict[str, Any]]:
    """What the instances of SPOT tell of a parameter; ``own`` is by instance: what it has in memory, and as its own entry."""
    told = [(sid, *own.get(sid, (memory, None))) for sid in dict.fromkeys(("SPOT1", "SPOT2", *own))]
    every = [{"name": name, "parameter": name, "sid": "*", "memory": None, "spfile": spfile}]
    return every + [
        {"name": f"{name} of {sid}", "parameter": name, "sid": sid, "memory": has, "spfile": entry}
        for sid, has, entry in told
    ]


RECORDS: dict[str, list[dict[str, Any]]] = {
    "db.log": [
        log(1),
        log(2, status="CURRENT"),
        log(3, status="ACTIVE"),
        log(4, 2),
        log(5, 2, "CURRENT"),
        log(9, 1, "UNASSIGNED", "standby"),
    ],
    "db.instance": [
        {"name": "SPOT1", "thread": 1, "host": "exa1db01.example.com"},
        {"name": "SPOT2", "thread": 2, "host": "exa1db02.example.com"},
    ],
    "db.diskgroup": [
        {"name": "DATA", "sectorSize": 512, "usableMb": 100000},
        {"name": "RECO", "sectorSize": 512, "usableMb": 100000},
        {"name": "FLASH4K", "sectorSize": 4096, "usableMb": 100000},
        {"name": "TINY", "sectorSize": 512, "usableMb": 100},
    ],
    "db.parameter": [
        *parameter("open_cursors", "300", "300"),
        *parameter("max_dump_file_size", "1073741824", None),
        *parameter("session_cached_cursors", "500", "600"),
        *parameter("result_cache_mode", 'a "b"', None),
        *parameter(OVERRIDE, None, None),
        *parameter(FILE, None, None),
        *parameter(SIZE, "0", None),
    ],
    "db.table": [{"owner": "APP", "name": "KEYS", "cache": "DEFAULT"}],
    "db.index": [{"owner": "APP", "name": "P", "cache": None}],
}


NODES = ("exa1db01", "exa1db02")


def planned(sql: str, **more: Any) -> Plan:
    change = read_change(sql)
    assert change is not None, sql
    records = {**RECORDS, **more}
    return database_plan(
        "t1", change, records, database="spot", node="exa1db01", nodes=NODES, statement=f"sql db=SPOT '{sql}'"
    )


@every(
    [
        ("alter system set open_cursors = 400", SetParameter(name="open_cursors", value="400")),
        (
            "ALTER SYSTEM SET max_dump_file_size=2G scope=spfile sid='*'",
            SetParameter(name="max_dump_file_size", value="2G", scope="SPFILE"),
        ),
        (f'alter system set "{OVERRIDE}"=TRUE scope=both', SetParameter(name=OVERRIDE, value="TRUE")),
        (
            "alter system set db_flash_cache_file='a=b'",
            SetParameter(name="db_flash_cache_file", value="a=b"),
        ),
        ("alter system reset open_cursors scope=spfile", SetParameter(name="open_cursors", value=None, scope="SPFILE")),
        (
            "alter system reset open_cursors sid='spot2'",
            SetParameter(name="open_cursors", value=None, scope="SPFILE", sid="spot2"),
        ),
        (
            "alter system set open_cursors=400 sid='SPOT1' scope=memory",
            SetParameter(name="open_cursors", value="400", scope="MEMORY", sid="SPOT1"),
        ),
        (
            "alter database add logfile thread 1 group 9 ('+DATA_SSD') size 4096M blocksize 4096",
            AddLog(thread=1, group=9, targets=("DATA_SSD",), size=G4, block_size=4096),
        ),
        ("alter database add logfile '+data' size 1g", AddLog(targets=("DATA",), size=1 << 30)),
        ("ALTER DATABASE ADD LOGFILE GROUP 7 ('+A','+B')", AddLog(group=7, targets=("A", "B"))),
        ("alter database drop logfile group 3", DropLog(group=3)),
        ("alter database drop standby logfile group 9", DropLog(group=9, standby=True)),
        (
            "alter database add standby logfile thread 2 group 9 ('+DATA') size 1g",
            AddLog(thread=2, group=9, targets=("DATA",), size=1 << 30, standby=True),
        ),
        (
            "alter table app.keys storage (cell_flash_cache keep)",
            KeepInCache(kind="TABLE", owner="APP", name="KEYS", value="KEEP"),
        ),
        (
            'alter index "a".P storage(CELL_FLASH_CACHE NONE)',
            KeepInCache(kind="INDEX", owner="a", name="P", value="NONE"),
        ),
    ]
)
def test_what_is_understood(sql: str, change: object) -> None:
    """Each form that a published procedure types is read, whatever the case of its words."""
    assert read_change(sql) == change


@every(
    [
        "alter system set events '10046 trace name context forever, level 8'",
        f"alter system set \"{OVERRIDE}\"=TRUE sid='SPOT1'",
        "alter system set open_cursors=400 sid='SPOT 1'",
        "alter system set open_cursors=400 sid=SPOT1",
        "alter system reset open_cursors scope=memory",
        "alter system reset open_cursors scope=both sid='SPOT1'",
        "alter system set open_cursors=100 optimizer_mode=all_rows",
        "alter system set open_cursors=100 comment='x'",
        "alter system set db_flash_cache_file='x', 'y'",
        # What a commit promises, whether an instance starts, where files lie: not speed alone.
        "alter system set commit_wait=nowait",
        "alter system set commit_logging=batch",
        "alter system set control_files='+DATA/x' scope=spfile",
        "alter system set cluster_database=false scope=spfile",
        "alter system set sga_target=900g scope=spfile",
        "alter system set undo_retention=1",
        "alter system set log_archive_dest_1='location=+RECO'",
        "alter system set db_recovery_file_dest_size=1m",
        'alter system set "_allow_resetlogs_corruption"=true scope=spfile',
        "alter system reset control_files scope=spfile",
        "alter database add standby logfile member '+DATA' to group 9",
        "alter database drop standby logfile '+DATA/x'",
        "alter database clear logfile group 9",
        "alter system switch logfile",
        "alter database add logfile member '+DATA' to group 1",
        "alter database add logfile group 1 ('/u01/redo1.log') size 4g",
        "alter database add logfile group 1 ('+DATA') size 4g, group 2 ('+DATA') size 4g",
        "alter database drop logfile group 1, group 2",
        "alter database drop logfile '+DATA/x'",
        "alter table keys storage (cell_flash_cache keep)",
        "alter table app.keys storage (cell_flash_cache keep) nologging",
        "alter table app.keys storage (buffer_pool keep)",
        "alter table app.keys modify partition p storage (cell_flash_cache keep)",
        "drop table app.keys",
        "select 1 from dual",
        "",
    ]
)
def test_anything_else_is_not_read(sql: str) -> None:
    """A clause more, a RESET of memory, files beside disk groups: exacell does not pretend to understand it."""
    assert read_change(sql) is None


@given(
    st.text(max_size=60),
    st.sampled_from(["alter system set a=", "alter table a.b storage (", "alter database add logfile ", ""]),
)
def test_no_text_breaks_the_reader(text: str, begin: str) -> None:
    """Whatever is typed, the reader answers."""
    read_change(begin + text)


def test_a_parameter_is_set_proven_and_brought_back() -> None:
    """Memory and spfile are told before and after, read back, and undo restores each to what it was."""
    plan = planned("alter system set open_cursors=400")
    (step,) = plan.steps
    assert step.statement == "ALTER SYSTEM SET open_cursors=400 SCOPE=BOTH SID='*'" and step.asm == "database SPOT"
    assert [(c.attribute, c.before, c.after) for c in step.changes] == [
        ("memory", "300", "400"),
        ("spfile", "300", "400"),
    ]
    assert [(c.attribute, c.value) for c in step.needs] == [("memory", "300"), ("spfile", "300")]
    assert plan.inverse == {"exa1db01": ("sql db=SPOT \"ALTER SYSTEM SET open_cursors=300 SCOPE=BOTH SID='*'\"",)}


@pytest.mark.parametrize(
    ("sql", "back"),
    [
        (
            "alter system set max_dump_file_size=2g",
            ["RESET SCOPE=SPFILE", "SET 1073741824 SCOPE=MEMORY"],
        ),
        ("alter system set max_dump_file_size=2g scope=memory", ["SET 1073741824 SCOPE=MEMORY"]),
        (
            "alter system set session_cached_cursors=700",
            ["SET 600 SCOPE=SPFILE", "SET 500 SCOPE=MEMORY"],
        ),
        ("alter system set session_cached_cursors=700 scope=spfile", ["SET 600 SCOPE=SPFILE"]),
        ("alter system reset session_cached_cursors scope=spfile", ["SET 600 SCOPE=SPFILE"]),
    ],
)
def test_memory_and_spfile_come_back_apart(sql: str, back: list[str]) -> None:
    """Where they differed, or the file had none, undo does not make them equal."""
    (statements,) = planned(sql).inverse.values()
    name = sql.split()[3].partition("=")[0]
    told = [s.split("ALTER SYSTEM ")[1].split(" SID")[0] for s in statements]
    assert [each.replace(f"{name}=", "").replace(f"{name} ", "") for each in told] == back


@pytest.mark.parametrize(
    ("sql", "own", "back"),
    [
        (
            "set {}=400 scope=both sid='SPOT2'",
            {},
            ["RESET {} SCOPE=SPFILE SID='SPOT2'", "SET {}=300 SCOPE=MEMORY SID='SPOT2'"],
        ),
        ("set {}=400 scope=memory sid='spot2'", {}, ["SET {}=300 SCOPE=MEMORY SID='SPOT2'"]),
        ("set {}=400 scope=spfile sid='SPOT2'", {"SPOT2": ("300", "350")}, ["SET {}=350 SCOPE=SPFILE SID='SPOT2'"]),
        ("set {}=400 sid='SPOT2'", {"SPOT2": ("350", "350")}, ["SET {}=350 SCOPE=BOTH SID='SPOT2'"]),
        ("reset {} sid='SPOT2'", {"SPOT2": ("350", "350")}, ["SET {}=350 SCOPE=SPFILE SID='SPOT2'"]),
    ],
)
def test_one_instance_is_changed_on_its_node_and_brought_back(
    sql: str, own: dict[str, tuple[str, str]], back: list[str]
) -> None:
    """The statement goes to the instance's own node, is proven of that instance alone, and an entry that was not in the file is
    taken out of it again, not set."""
    plan = planned(
        f"alter system {sql}".format("open_cursors"), **{"db.parameter": parameter("open_cursors", "300", "300", **own)}
    )
    (step,) = plan.steps
    assert step.target == "exa1db02" and "SID='SPOT2'" in step.statement
    assert {check.where["sid"] for check in (*step.needs, *step.proves)} == {("SPOT2",)}
    assert {change.name for change in step.changes} == {"open_cursors of SPOT2"}
    told = [f'sql db=SPOT "ALTER SYSTEM {each}"'.format("open_cursors") for each in back]
    assert {node: list(statements) for node, statements in plan.inverse.items()} == {"exa1db02": told}


@pytest.mark.parametrize(
    ("sql", "own", "said", "way"),
    [
        ("set open_cursors=100 sid='SPOT9'", {}, "no instance SPOT9: it has SPOT1, SPOT2", "all of them"),
        ("set open_cursors=100 sid='SPOT3'", {"SPOT3": (None, "9")}, "SPOT3 of SPOT is not running", "SCOPE=SPFILE"),
        (
            "set open_cursors=100 scope=memory",
            {"SPOT1": ("1", "1"), "SPOT2": ("2", "2")},
            "each instance has its own open_cursors",
            "SID='SPOT1'",
        ),
    ],
)
def test_an_instance_that_can_t_be_changed_is_refused(
    sql: str, own: dict[str, tuple[str | None, str]], said: str, way: str
) -> None:
    """The names that exist are told, or what can be done about one that does not run."""
    with pytest.raises(RefusedError, match=said) as caught:
        planned(f"alter system {sql}", **{"db.parameter": parameter("open_cursors", "300", "300", **own)})
    assert way in caught.value.hint and "nothing was sent" in caught.value.message


def test_an_instance_that_does_not_run_has_its_entry_in_the_file() -> None:
    """SCOPE=SPFILE is for its next start, and is sent to one that runs."""
    rows = parameter("open_cursors", "300", "300", SPOT3=(None, "9"))
    (step,) = planned("alter system set open_cursors=100 scope=spfile sid='spot3'", **{"db.parameter": rows}).steps
    assert (step.target, step.statement[-27:]) == ("exa1db01", "=100 SCOPE=SPFILE SID='SPOT3'"[-27:])


def test_an_instance_of_a_node_that_the_rack_does_not_know_stays() -> None:
    """Its memory is changed by itself, or not at all."""
    strange = [{"name": "SPOT1", "thread": 1, "host": "elsewhere"}, {"name": "SPOT2", "thread": 2, "host": "exa1db02"}]
    with pytest.raises(RefusedError, match="SPOT1 runs on elsewhere"):
        planned("alter system set open_cursors=100 sid='SPOT1'", **{"db.instance": strange})


def test_for_all_instances_means_those_without_their_own_entry() -> None:
    """What an instance has of its own is told, not proven and not brought back; those that differ come back apart."""
    rows = parameter("open_cursors", "300", "300", SPOT2=("350", "350"))
    plan = planned("alter system set open_cursors=400", **{"db.parameter": rows})
    (step,) = plan.steps
    assert [check.where.get("sid") for check in step.proves] == [("SPOT1",), None]
    assert any("SPOT2 has its own entry, 350, which stays" in warning for warning in plan.warnings)
    rows = parameter("open_cursors", "300", "300", SPOT2=("350", None))
    plan = planned("alter system set open_cursors=400 scope=memory", **{"db.parameter": rows})
    assert [(c.name, c.before) for c in plan.steps[0].changes] == [
        ("open_cursors of SPOT1", "300"),
        ("open_cursors of SPOT2", "350"),
    ]
    assert [back.split("SET ")[1][:-1] for back in plan.inverse["exa1db01"]] == [
        "open_cursors=300 SCOPE=MEMORY SID='SPOT1'",
        "open_cursors=350 SCOPE=MEMORY SID='SPOT2'",
    ]


@pytest.mark.parametrize(
    "sql",
    [
        "alter system set open_cursors=300",
        "alter system set open_cursors=300 scope=memory sid='SPOT2'",
        "alter system reset open_cursors sid='SPOT2'",
        "alter system set max_dump_file_size=1G scope=memory",
        "alter system reset max_dump_file_size scope=spfile",
        "alter table app.keys storage (cell_flash_cache default)",
        "alter database drop logfile group 77",
        "alter database add logfile thread 1 group 1 ('+DATA','+RECO') size 4g",
    ],
)
def test_what_is_so_already_is_not_sent(sql: str) -> None:
    """Run again, a procedure changes nothing."""
    plan = planned(sql)
    assert not plan.steps and plan.done


def test_a_size_is_proven_in_bytes_or_as_typed() -> None:
    """V$PARAMETER shows bytes for what was typed with a unit."""
    (step,) = planned("alter system set max_dump_file_size=2G scope=memory").steps
    assert step.proves[0].value == ("2G", str(2 << 30))


def test_sectors_of_every_disk_group_are_looked_at() -> None:
    """Blocks have to fit the sectors of each member's disk group; where the override passes over one, the plan names it."""
    with pytest.raises(RefusedError, match="sectors of DATA, 512 bytes"):
        planned("alter database add logfile group 21 ('+FLASH4K', '+DATA') blocksize 4096")
    on = {"db.parameter": parameter(OVERRIDE, "TRUE", None)}
    plan = planned("alter database add logfile group 21 ('+FLASH4K', '+DATA') blocksize 4096", **on)
    assert [warning.partition(" bytes")[0] for warning in plan.warnings] == ["DATA shows sectors of 512"]
    assert not planned("alter database add logfile group 21 ('+FLASH4K') blocksize 4096", **on).warnings


def test_the_order_of_disk_groups_makes_no_other_group() -> None:
    """A group that lies on the same disk groups in another order is there already."""
    there = [{**each, "diskgroups": ("DATA", "RECO"), "bytes": 4 << 30} for each in RECORDS["db.log"]]
    plan = planned("alter database add logfile group 1 ('+RECO', '+DATA') size 4g", **{"db.log": there})
    assert not plan.steps and plan.done


def test_the_override_says_its_caveat_and_goes_back_to_its_default() -> None:
    """The hidden parameter comes with a warning; switched off it is proven by not being TRUE."""
    plan = planned(f'alter system set "{OVERRIDE}"=TRUE scope=memory')
    assert any("512" in warning for warning in plan.warnings)
    assert plan.inverse == {"exa1db01": (f"sql db=SPOT 'ALTER SYSTEM SET \"{OVERRIDE}\"=FALSE SCOPE=MEMORY'",)}
    on = {"db.parameter": parameter(OVERRIDE, "TRUE", None)}
    (step,) = planned(f'alter system set "{OVERRIDE}"=FALSE scope=memory', **on).steps
    assert (step.proves[0].op, step.proves[0].value) == ("!=", "TRUE")
    assert not planned(f'alter system set "{OVERRIDE}"=FALSE scope=memory').steps


@pytest.mark.parametrize(
    ("sql", "said"),
    [
        ("alter database add logfile thread 1 group 10 ('+DATA') size 4g blocksize 4096", "ORA-01378"),
        ("alter database add logfile thread 1 group 10 ('+FLASH4K') size 4g blocksize 512", "ORA-15347"),
        ("alter database add logfile thread 1 group 10 ('+DATA') size 4g blocksize 2048", "512, 1024 or 4096"),
        ("alter database add logfile thread 1 group 10 ('+NONE') size 4g", "ORA-15001"),
        ("alter database add logfile thread 1 group 10 ('+TINY') size 4g", "ORA-15041"),
        ("alter database add logfile thread 1 group 2 ('+DATA') size 8g", "ORA-01184"),
        ("alter database drop logfile group 4", "ORA-01567"),
        ("alter table app.nix storage (cell_flash_cache keep)", "no table APP.NIX"),
        ("alter index app.p storage (cell_flash_cache keep)", "partitioned"),
    ],
)
def test_what_the_database_would_refuse_is_refused_before(sql: str, said: str) -> None:
    """The rule is named, with Oracle's number where there is one, and nothing is sent."""
    more = {"db.table": []} if "nix" in sql else {}
    with pytest.raises(RefusedError, match=said) as caught:
        planned(sql, **more)
    assert "nothing was sent" in caught.value.message + caught.value.hint
    if said == "ORA-01378":
        assert "leave BLOCKSIZE out: then it is 512" in caught.value.hint and "scope=memory" in caught.value.hint


def test_blocks_of_4096_pass_with_the_override_or_on_such_sectors() -> None:
    """ORA-01378 is not foreseen where it would not come."""
    passes = {"db.parameter": parameter(OVERRIDE, "TRUE", None)}
    sql = "alter database add logfile thread 1 group 10 ('+{}') size 4g blocksize 4096"
    for plan in (planned(sql.format("DATA"), **passes), planned(sql.format("FLASH4K"))):
        (step,) = plan.steps
        assert step.statement.endswith("SIZE 4G BLOCKSIZE 4096")
        assert plan.inverse == {"exa1db01": ("sql db=SPOT 'ALTER DATABASE DROP LOGFILE GROUP 10'",)}


def test_a_group_without_words_is_like_its_thread_s_others() -> None:
    """Number, size, disk groups and blocks that the statement leaves out are said in the plan's statement."""
    (step,) = planned("alter database add logfile thread 2").steps
    assert step.statement == "ALTER DATABASE ADD LOGFILE THREAD 2 GROUP 10 ('+DATA', '+RECO') SIZE 4G BLOCKSIZE 512"


@pytest.mark.parametrize(
    ("group", "titles", "nodes"),
    [
        (1, ["drop redo log group 1"], ["exa1db01"]),
        (2, ["switch thread 1", "checkpoint", "drop redo log group 2"], ["exa1db01"] * 3),
        (3, ["checkpoint", "drop redo log group 3"], ["exa1db01"] * 2),
    ],
)
def test_a_group_in_use_is_switched_away_and_waited_for(group: int, titles: list[str], nodes: list[str]) -> None:
    """CURRENT is switched, ACTIVE is checkpointed, and the drop leaves only when recovery needs the group no more."""
    plan = planned(f"alter database drop logfile group {group}")
    assert [stage.title for stage in plan.stages] == titles
    assert [step.target for step in plan.steps] == nodes
    assert plan.steps[-1].needs[0].value == ("INACTIVE", "UNUSED")
    assert f"ADD LOGFILE THREAD 1 GROUP {group} ('+DATA', '+RECO') SIZE 4G BLOCKSIZE 512" in plan.inverse["exa1db01"][0]


def test_the_current_group_of_another_thread_is_switched_on_its_node() -> None:
    """SWITCH LOGFILE switches the thread of its own instance, so it goes to that node."""
    logs = [*RECORDS["db.log"], log(6, 2)]
    plan = planned("alter database drop logfile group 5", **{"db.log": logs})
    assert [step.target for step in plan.steps] == ["exa1db02", "exa1db01", "exa1db01"]
    with pytest.raises(RefusedError, match="ORA-01623"):
        planned("alter database drop logfile group 5", **{"db.log": logs, "db.instance": RECORDS["db.instance"][:1]})


G64 = str(64 << 30)
STARTED = [*parameter(FILE, "/u01/f", "/u01/f"), *parameter(SIZE, G64, "64G")]
OFF = [*parameter(FILE, "/u01/f", "/u01/f"), *parameter(SIZE, "0", "64G")]


@pytest.mark.parametrize(
    ("sql", "records", "said", "way"),
    [
        (f"set {FILE}='/u01/f'", STARTED, "an instance reads db_flash_cache_file only when it starts", "SCOPE=SPFILE"),
        (f"set {FILE}='/u01/f' scope=memory sid='SPOT1'", STARTED, "when it starts", "SCOPE=SPFILE"),
        (
            f"set {FILE}='/u01/f' scope=spfile",
            None,
            "without db_flash_cache_size, which",
            f"set {SIZE}=… scope=spfile",
        ),
        (
            f"set {FILE}='/u01/f' scope=spfile",
            [*parameter(FILE, None, None), *parameter(SIZE, "0", None, SPOT1=("0", "64G"))],
            "without db_flash_cache_size, which",
            f"set {SIZE}",
        ),
        (
            f"set {FILE}='/u01/f' scope=spfile sid='SPOT2'",
            [*parameter(FILE, None, None), *parameter(SIZE, "0", None, SPOT1=("0", "64G"))],
            "without db_flash_cache_size for SPOT2, which",
            f"set {SIZE}",
        ),
        (f"reset {SIZE}", STARTED, "without db_flash_cache_size, which", f"reset {FILE} scope=spfile"),
        (f"set {SIZE}=32g", STARTED, "can only be set to 0 and back", "use SCOPE=SPFILE, then restart the instance"),
        (f"set {SIZE}=64g", None, "was started without its own flash cache", "then restart the instance"),
        (
            f"set {SIZE}=0",
            [*parameter(FILE, "/a, /b", None), *parameter(SIZE, "34359738368, 68719476736", None)],
            "several flash cache files",
            "",
        ),
        (
            f"set {SIZE}=0 scope=memory",
            [*parameter(FILE, None, None), *parameter(SIZE, None, None)],
            "no parameter",
            "",
        ),
    ],
)
def test_a_flash_cache_of_the_database_s_own_is_set_as_the_database_takes_it(
    sql: str, records: list[dict[str, Any]] | None, said: str, way: str
) -> None:
    """A file at a start only and never without a size; while an instance runs, off or on again, and no other size."""
    with pytest.raises(RefusedError, match=said) as caught:
        planned(f"alter system {sql}", **({"db.parameter": records} if records else {}))
    assert way in caught.value.hint and "nothing was sent" in caught.value.message


@pytest.mark.parametrize(
    ("sql", "records", "back", "warned"),
    [
        (f"set {SIZE}=0 scope=memory", STARTED, [f"SET {SIZE}={G64} SCOPE=MEMORY SID='*'"], ""),
        (
            f"set {SIZE}=64g scope=memory",
            OFF,
            [f"SET {SIZE}=0 SCOPE=MEMORY SID='*'"],
            "only the size that the instance",
        ),
        (f"set {SIZE}=64g scope=spfile", None, [f"RESET {SIZE} SCOPE=SPFILE SID='*'"], ""),
        (
            f"set {FILE}='/u01/f' scope=spfile",
            [*parameter(FILE, None, None), *parameter(SIZE, "0", "64G")],
            [f"RESET {FILE} SCOPE=SPFILE SID='*'"],
            "Oracle Linux and Solaris",
        ),
        (f"reset {FILE}", STARTED, [f"SET {FILE}='/u01/f' SCOPE=SPFILE SID='*'"], ""),
        (
            f"reset {SIZE} sid='SPOT2'",
            [*parameter(FILE, None, "/u01/f"), *parameter(SIZE, "0", "64G", SPOT2=("0", "32G"))],
            [f"SET {SIZE}=32G SCOPE=SPFILE SID='SPOT2'"],
            "",
        ),
    ],
)
def test_a_flash_cache_of_the_database_s_own_comes_back(
    sql: str, records: list[dict[str, Any]] | None, back: list[str], warned: str
) -> None:
    """Each allowed change has its inverse, and what nothing can check is a warning."""
    plan = planned(f"alter system {sql}", **({"db.parameter": records} if records else {}))
    assert [each.split("ALTER SYSTEM ")[1][:-1] for told in plan.inverse.values() for each in told] == back
    assert (warned in " ".join(plan.warnings)) and bool(plan.warnings) == bool(warned)


def test_what_is_asked_for_is_what_the_planner_reads() -> None:
    """The checks name the parameter, the table, or logs, instances and disk groups."""
    assert {c.object for c in asked(DropLog(group=1))} == {"db.log", "db.instance", "db.diskgroup", "db.parameter"}
    assert {c.object for c in asked(SetParameter(name="a", value="1"))} == {"db.instance", "db.parameter"}
    assert asked(SetParameter(name="a", value="1"))[1].where == {"parameter": "a"}
    both = {str(c.where["parameter"]) for c in asked(SetParameter(name=FILE, value="x")) if c.where}
    assert both == {FILE, SIZE}
    assert asked(KeepInCache(kind="INDEX", owner="A", name="I", value="KEEP"))[0].object == "db.index"


def test_the_current_group_of_a_node_that_the_rack_does_not_know_stays() -> None:
    """A switch goes to a node of the cluster by its own name, or not at all."""
    logs = [*RECORDS["db.log"], log(6, 2)]
    strange = [{"name": "SPOT2", "thread": 2, "host": "elsewhere.example.com"}]
    with pytest.raises(RefusedError, match="ORA-01623"):
        planned("alter database drop logfile group 5", **{"db.log": logs, "db.instance": strange})


def test_nobody_guesses_a_thread() -> None:
    """Without THREAD, on a node of which no instance is told, the statement is refused with the way out."""
    with pytest.raises(RefusedError, match="GV"):
        planned("alter database add logfile group 30", **{"db.instance": []})


def test_a_way_back_that_nothing_can_write_is_none() -> None:
    """Where exacell would not set the old value the plan says that it can't be undone, and what was there."""
    plan = planned("alter system set result_cache_mode=force scope=memory")
    assert plan.inverse == {} and plan.steps[0].undo == "impossible"
    assert plan.steps[0].inverse.startswith('result_cache_mode=a "b" affects more than speed')


def test_groups_of_a_standby_database_are_no_groups_of_a_thread() -> None:
    """Their numbers are taken, and they keep no thread alive."""
    with pytest.raises(RefusedError, match="ORA-01184"):
        planned("alter database add logfile thread 1 group 9 ('+DATA') size 1g")
    assert not planned("alter database drop logfile group 9").steps


def test_groups_for_a_standby_database_are_added_and_dropped() -> None:
    """As large as the thread's own groups unless told otherwise, proven to be such ones, and each is the other's undo."""
    plan = planned("alter database add standby logfile thread 2")
    (step,) = plan.steps
    add = "ALTER DATABASE ADD STANDBY LOGFILE THREAD 2 GROUP 10 ('+DATA', '+RECO') SIZE 4G BLOCKSIZE 512"
    assert step.statement == add and step.inverse == "ALTER DATABASE DROP STANDBY LOGFILE GROUP 10"
    assert [check.value for check in step.proves] == [G4, 512, "standby"]
    assert planned("alter database add logfile thread 2").steps[0].proves[-1].value == "log"
    assert planned("alter database add standby logfile group 9").done
    dropped = planned("alter database drop standby logfile group 9")
    (last,) = dropped.steps
    assert last.statement == "ALTER DATABASE DROP STANDBY LOGFILE GROUP 9"
    assert last.inverse == add.replace("THREAD 2 GROUP 10", "THREAD 1 GROUP 9")
    assert [check.value for check in last.needs] == ["UNASSIGNED"]


@pytest.mark.parametrize("number", [1, 99])
def test_only_a_group_for_a_standby_database_is_dropped_as_one(number: int) -> None:
    """An online group, and none at all: there is nothing to do."""
    assert planned(f"alter database drop standby logfile group {number}").done


def test_a_group_that_a_standby_database_fills_stays() -> None:
    """While redo of another database comes to it, it is refused."""
    busy = [*RECORDS["db.log"][:-1], log(9, 1, "ACTIVE", "standby")]
    with pytest.raises(
        RefusedError, match="group 9 is ACTIVE: redo of a primary database comes to it; nothing was sent"
    ):
        planned("alter database drop standby logfile group 9", **{"db.log": busy})


@every(
    [
        *("open_cursors=0", "open_cursors=49", "open_cursors=65536", "statistics_level=basic", "asm_power_limit=0"),
        *(
            "optimizer_mode=rule",
            "cursor_sharing=similar",
            "session_cached_cursors=65536",
            "fast_start_mttr_target=3601",
        ),
        *("max_dump_file_size=unlimited", "max_dump_file_size=0", "optimizer_index_cost_adj=0", "processes=10"),
        *(
            "cell_offload_parameters=x",
            "cell_offload_compaction=x",
            "undo_retention=1",
            "db_recovery_file_dest_size=1g",
        ),
        *("parallel_min_time_threshold=0", "db_file_multiblock_read_count=0", "optimizer_dynamic_sampling=12"),
    ]
)
def test_a_value_that_is_more_than_speed_is_not_read(setting: str) -> None:
    """A parameter without a row, and a value beside its row, are of unknown risk: nothing plans them as performance."""
    assert read_change(f"alter system set {setting}") is None
    assert read_change(f"alter system set {setting.replace('=', chr(61) + chr(39), 1)}' scope=spfile") is None


@every(
    [
        *("open_cursors=50", "open_cursors=300", "open_cursors=65535", "statistics_level=all", "asm_power_limit=1024"),
        *(
            "optimizer_mode=first_rows_100",
            "cursor_sharing=force",
            "session_cached_cursors=0",
            "fast_start_mttr_target=0",
        ),
        *(
            "max_dump_file_size=100m",
            "db_flash_cache_size=0",
            "db_flash_cache_size=64G",
            "parallel_min_time_threshold=auto",
        ),
        *("optimizer_dynamic_sampling=11", "optimizer_index_caching=100", "db_file_multiblock_read_count=128"),
    ]
)
def test_a_value_of_its_row_is_read(setting: str) -> None:
    """What changes speed alone is planned, in any case."""
    assert read_change(f"alter system set {setting}") and read_change(f"alter system set {setting.upper()}")


@pytest.mark.parametrize("size", ["1", "0", "1K", "4095K", "512"])
def test_a_redo_log_has_at_least_four_megabytes(size: str) -> None:
    """Oracle's least is refused below before it is sent; that much is taken."""
    with pytest.raises(RefusedError, match=r"a redo log group has at least 4M \(ORA-00336\); nothing was sent"):
        planned(f"alter database add logfile thread 1 group 30 ('+DATA') size {size}")
    assert planned("alter database add logfile thread 1 group 30 ('+DATA') size 4096K").steps


def test_a_thread_without_an_instance_gets_no_redo_log() -> None:
    """Nobody would write it."""
    with pytest.raises(RefusedError, match="no instance of SPOT has that thread"):
        planned("alter database add logfile thread 7 group 30 ('+DATA') size 1g")


def test_a_redo_log_group_or_instance_that_is_not_there_is_told_with_the_nearest_that_is() -> None:
    """Groups are offered by their number, standby ones apart from the others; instances by their SID."""
    for kind, near in (("", "did you mean 1?"), ("standby ", "there are: 9")):
        (why,) = planned(f"alter database drop {kind}logfile group 11").done.values()
        assert why.endswith(f"there is no {kind}redo log group 11; {near}")
    with pytest.raises(RefusedError) as refused:
        planned("alter system set open_cursors=100 sid='SPOT11'")
    assert refused.value.hint.startswith("did you mean SPOT1?")
