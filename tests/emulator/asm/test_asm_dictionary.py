"""Views that published scripts look into besides ASM's own: waits, the workload repository, extents, logs, the dictionary."""

from __future__ import annotations

import pytest

from exacell.emulator.asm.instances import Instance
from exacell.emulator.database.extent_rows import extent_sizes, extents
from exacell.emulator.database.views import views
from exacell.emulator.storage.databases import database_from_state, database_to_state

BARE = "set feedback off heading off pagesize 0 linesize 300 tab off numwidth 20\n"


def one(lab, query: str) -> list[str]:
    return [" ".join(line.split()) for line in lab.db(f"{BARE}{query};\n").lines]


def test_every_view_can_be_selected_from(lab):
    """Each view of the table answers a query of all its columns on both kinds of instances."""
    names = [name for name in views() if name not in ("V$CELL_CONFIG", "X$KFFXP")]
    text = "set feedback off heading off pagesize 0\n" + "".join(f"select count(*) from {name};\n" for name in names)
    for ran in (lab.db(text), lab.sql(text)):
        assert not ran.codes and len(ran.lines) == len(names)


def test_waits_follow_the_load(lab):
    """V$SYSTEM_EVENT counts the redo writes and commits of V$SYSSTAT, and takes as long as it says; each node its half."""
    lab.rack.statistics["SPOT"].clear()
    assert one(lab, "select event from v$system_event") == []
    lab.rack.statistics["SPOT"] |= {"redo writes": 1000, "redo write time": 250, "redo synch writes": 900}
    lab.rack.statistics["SPOT"] |= {"redo synch time (usec)": 990000, "physical read IO requests": 80000}
    found = one(lab, "select event, total_waits, time_waited_micro from v$system_event where event like 'log file%'")
    assert found == ["log file parallel write 500 1250000", "log file sync 450 495000"]
    assert one(lab, "select sum(total_waits) from gv$system_event where event = 'cell single block physical read'") == [
        "80000"
    ]
    assert one(lab, "select sum(wait_count) from v$event_histogram where event = 'log file sync'") == ["450"]
    assert one(lab, "select wait_class from v$system_wait_class where wait_class = 'Commit'") == ["Commit"]


def test_snapshots_keep_what_was_counted(lab):
    """CREATE_SNAPSHOT, as function and as procedure, keeps the counters; the difference of two is what came between."""
    lab.rack.statistics["SPOT"]["redo writes"] = 100
    assert one(lab, "select dbms_workload_repository.create_snapshot() from dual") == ["1"]
    lab.pass_time(3600)
    lab.rack.statistics["SPOT"]["redo writes"] = 500
    assert not lab.db("exec dbms_workload_repository.create_snapshot;\n").codes
    between = (
        "select e.value - b.value from dba_hist_sysstat b join dba_hist_sysstat e using (dbid, instance_number, stat_id)"
        " where b.snap_id = 1 and e.snap_id = 2 and b.stat_name = 'redo writes' and instance_number = 1"
    )
    assert one(lab, between) == ["200"]
    length = (
        "select round(extract(hour from end_interval_time - begin_interval_time)) from dba_hist_snapshot"
        " where snap_id = 2 and instance_number = 2"
    )
    assert one(lab, length) == ["1"]
    assert lab.sql("exec dbms_workload_repository.create_snapshot\n").codes[0] == 13516
    kept = database_from_state(database_to_state(lab.asm.databases["SPOT"]))
    assert kept.snapshots == lab.asm.databases["SPOT"].snapshots


def test_extents_add_up(lab):
    """X$KFFXP has every allocation unit of the files once a copy, copies in other failure groups, all disks about alike."""
    lab.asm.groups["DATA"].files[:] = lab.asm.groups["DATA"].files[:8]
    del lab.asm.groups["RECO"].files[:]
    whole = "select sum(size_kffxp) from x$kffxp where group_kffxp = 1"
    files = "select sum(ceil(bytes / 4194304) * decode(redundancy, 'HIGH', 3, 'MIRROR', 2, 1)) from v$asm_file"
    assert lab.rows(whole)[0].strip() == lab.rows(files)[0].strip()
    placed: dict[tuple[object, object], list[str]] = {}
    groups = {disk.number: disk.fail_group for disk in lab.asm.groups["DATA"].disks.values()}
    for row in extents(Instance(asm=lab.asm, node=0)):
        placed.setdefault((row["NUMBER_KFFXP"], row["XNUM_KFFXP"]), []).append(groups[int(str(row["DISK_KFFXP"]))])
    assert placed and all(len(set(copies)) == len(copies) > 1 for copies in placed.values())
    assert list(extent_sizes(0)) == [] and sum(extent_sizes(12345)) == 12345


ROWS = {
    "select count(*) from dba_tablespaces where tablespace_name in (select tablespace_name from dba_data_files)": ["6"],
    "select count(*) from dba_data_files f, (select file_id, sum(bytes) b from dba_free_space group by file_id) s"
    " where f.file_id = s.file_id and s.b between 1 and f.bytes": ["6"],
    "select max(sequence#) - (select max(sequence#) from v$log) from v$archived_log": ["-1"],
    "select count(*) from v$archived_log a, v$log_history h where a.recid = h.recid and a.next_change# <> h.next_change#": [
        "0"
    ],
    "select name from v$recovery_file_dest where space_used <= space_limit / 2": ["+RECO"],
    "select distinct conftype from v$cell_config where rownum < 2": ["CELL"],
    "select b.stats from v$cell_state a, xmltable('/flashlogstore_stats/stat' passing xmltype(a.statistics_value)"
    " columns stats varchar2(9) path '@name', value varchar2(30) path '.') b where statistics_type = 'FLASHLOG'"
    " and b.value = 'FD_00_exa1cel01'": ["celldisk"],
    "select count(*) from v$cell_state where statistics_type = 'NPHYSDISKS'": ["3"],
    "select username from dba_users where oracle_maintained = 'N'": ["APP"],
    "select inst_name from v$active_instances order by 1": ["exa1db01:SPOT1", "exa1db02:SPOT2"],
    "select value from v$option where parameter = 'Real Application Clusters'": ["TRUE"],
    "select count(*) from user_tables t, all_objects o where t.table_name = o.object_name and subobject_name is null": [
        "3"
    ],
    "select event from v$session_wait where sid = sys_context('userenv', 'sid')": ["SQL*Net message to client"],
    "select name from v$event_name where name = 'cell smart table scan' and parameter1 = 'cellhash#'": [
        "cell smart table scan"
    ],
}


@pytest.mark.parametrize("query", ROWS)
def test_what_is_in_them(lab, query):
    """Views of a database agree with each other and with ASM."""
    assert one(lab, query) == ROWS[query]


def test_calibrate_io_measures_and_keeps_its_last_run(lab):
    """CALIBRATE_IO gives its OUT variables, by place and by name, what the view holds of the last run; ASM has no data files."""
    declare = "declare i pls_integer; m pls_integer; l pls_integer; begin dbms_resource_manager.calibrate_io({}); "
    told = "dbms_output.put_line('max_iops = ' || i || ', latency = ' || l); end;\n/\n"
    assert one(lab, "select count(*) from dba_rsrc_io_calibrate") == ["0"]
    said = lab.db("set serveroutput on\n" + declare.format("36, 10, i, m, l") + told).out
    assert (
        one(lab, "select 'max_iops = ' || max_iops || ', latency = ' || latency from dba_rsrc_io_calibrate")[0] in said
    )
    lab.pass_time(60)
    by_name = "max_latency => 12, num_physical_disks => 24, max_mbps => m, actual_latency => l, max_iops => i"
    assert not lab.db(declare.format(by_name) + told).codes
    assert one(lab, "select num_physical_disks from dba_rsrc_io_calibrate") == ["24"]
    assert lab.db(declare.format("36, 10, i") + told).codes[0] == 6553
    assert lab.sql(declare.format("36, 10, i, m, l") + told).codes[0] == 1109
    kept = database_from_state(database_to_state(lab.asm.databases["SPOT"]))
    assert kept.calibration == lab.asm.databases["SPOT"].calibration


def test_a_union_is_as_wide_as_its_widest_text(lab):
    """Texts of a later query of a set operation are not cut at the width of the first one's."""
    found = lab.db("select 'log' kind, 1 n from dual union all select 'standby', 2 from dual order by 2;\n").lines
    assert found[0].split() == ["KIND", "N"] and [line.split()[0] for line in found[2:4]] == ["log", "standby"]
