"""Sessions that are traced: what switches traces on, what the files hold, and that it is what counters say."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from asm_lab import Lab

from exacell.emulator.basics.beneath import HostFiles
from exacell.emulator.database.load import commit_load
from exacell.emulator.io.database_io import SYNC_US
from exacell.emulator.io.truth import Truth
from exacell.emulator.work.log_writer import SCN_STEP, LogWriter
from exacell.measure.trace10046 import Traced, filling, summarize, together

SYNC = "log file sync"
TABLE = (
    "create table t (id number primary key, n number);\n"
    "insert into t select level, 0 from dual connect by level <= 9;\ncommit;\n"
)
SCN = re.compile(rb"nam='log file sync' ela= (\d+) buffer#=\d+ sync scn=(\d+) p3=0 obj#=-1 tim=(\d+)")


def updates(count: int, key: int = 1) -> str:
    """Return so many updates of a row with a commit each."""
    return f"update t set n = n + 1 where id = {key};\ncommit;\n" * count


@pytest.fixture
def traced(lab: Lab, tmp_path: Path) -> Lab:
    """A rack whose hosts have files below a directory of their own, with a table."""
    lab.rack.work.files = lambda host: HostFiles(_made(tmp_path / host), "/")
    lab.db(TABLE)
    return lab


def _made(path: Path) -> Path:
    (path / "u01").mkdir(parents=True, exist_ok=True)
    return path


def files(tmp_path: Path) -> list[Path]:
    """Return the trace files of all nodes."""
    return sorted(tmp_path.rglob("*.trc"))


def read(paths: list[Path]) -> Traced:
    """Return what the local reader finds in trace files."""

    def one(path: Path) -> Traced:
        return summarize(filling([path.read_bytes()]), "", str(path))

    return together([one(path) for path in paths])


ON = {
    "own, by DBMS_MONITOR": "exec dbms_monitor.session_trace_enable(waits=>true, binds=>false)\n",
    "own, by place": "exec dbms_monitor.session_trace_enable(null, null, true, false)\n",
    "own, by event": "alter session set events '10046 trace name context forever, level 8';\n",
    "service": "exec dbms_monitor.serv_mod_act_trace_enable(service_name=>'SYS$USERS', waits=>true, binds=>false)\n",
    "module": "exec dbms_application_info.set_module('batch', 'a')\n"
    "exec dbms_monitor.serv_mod_act_trace_enable('SYS$USERS', 'batch', waits=>true)\n",
    "database": "exec dbms_monitor.database_trace_enable(waits=>true, binds=>false, instance_name=>'SPOT1')\n",
}
OFF = {
    "own, by DBMS_MONITOR": "exec dbms_monitor.session_trace_disable\n",
    "own, by place": "exec dbms_monitor.session_trace_disable()\n",
    "own, by event": "alter session set events '10046 trace name context off';\n",
    "service": "exec dbms_monitor.serv_mod_act_trace_disable(service_name=>'SYS$USERS')\n",
    "module": "exec dbms_monitor.serv_mod_act_trace_disable('SYS$USERS', 'batch')\n",
    "database": "exec dbms_monitor.database_trace_disable(instance_name=>'SPOT1')\n",
}


@pytest.mark.parametrize("way", ON)
def test_each_way_switches_a_trace_on_and_off(traced: Lab, tmp_path: Path, way: str) -> None:
    """Each way writes exactly the commits between on and off into one file of the session's process."""
    ran = traced.db(updates(2) + ON[way] + updates(5) + OFF[way] + updates(3))
    assert ran.codes == []
    (file,) = files(tmp_path)
    assert file.parent == tmp_path / "exa1db01/u01/app/oracle/diag/rdbms/spot/SPOT1/trace"
    assert re.fullmatch(r"SPOT1_ora_\d+\.trc", file.name)
    assert file.with_suffix(".trm").exists()
    found = read([file])
    assert found.events[SYNC].n == 5
    assert not found.broken


@pytest.mark.parametrize(
    ("on", "why"),
    [
        ("exec dbms_monitor.serv_mod_act_trace_enable('OTHER', waits=>true)\n", "another service"),
        ("exec dbms_monitor.serv_mod_act_trace_enable('SYS$USERS', 'batch', waits=>true)\n", "another module"),
        ("exec dbms_monitor.database_trace_enable(instance_name=>'SPOT2')\n", "another instance"),
        ("alter session set events '10053 trace name context forever, level 1';\n", "another event"),
    ],
)
def test_who_is_not_meant_is_not_traced(traced: Lab, tmp_path: Path, on: str, why: str) -> None:
    """A session that a trace does not cover writes no file."""
    assert traced.db(on + updates(3)).codes == [], why
    assert files(tmp_path) == []


def test_level_1_writes_no_waits(traced: Lab, tmp_path: Path) -> None:
    """Without waits the statements are there and no WAIT line is."""
    traced.db("alter session set events '10046 trace name context forever, level 1';\n" + updates(3))
    (file,) = files(tmp_path)
    text = file.read_text()
    assert text.count("\nEXEC #") == 3
    assert "WAIT #" not in text


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("exec dbms_monitor.session_trace_enable(99, 1)\n", 30),
        ("exec dbms_monitor.session_trace_enable(137, 1)\n", 30),
        ("exec dbms_monitor.serv_mod_act_trace_disable('SYS$USERS')\n", 13852),
        ("exec dbms_monitor.serv_mod_act_trace_enable('S')\nexec dbms_monitor.serv_mod_act_trace_enable('S')\n", 13853),
        ("exec dbms_monitor.session_trace_enable(nix=>1)\n", 6553),
    ],
)
def test_monitor_refuses_what_oracle_refuses(traced: Lab, text: str, code: int) -> None:
    """No such session, a trace that is off or on already and an unknown argument are errors."""
    assert traced.db(text).codes[0] == code


def test_views_tell_what_is_traced_and_where(traced: Lab) -> None:
    """DBA_ENABLED_TRACES, V$SESSION and V$DIAG_INFO tell what was switched on, for whom, and the file."""
    ran = traced.db(
        "set feedback off heading off pagesize 0 linesize 300\n"
        "exec dbms_monitor.serv_mod_act_trace_enable('SYS$USERS', 'm', waits=>true)\n"
        "exec dbms_monitor.session_trace_enable(waits=>true)\n"
        "alter session set tracefile_identifier = 'mine';\n"
        "select trace_type || '|' || primary_id || '|' || qualifier_id1 || '|' || waits from dba_enabled_traces;\n"
        "select sql_trace || '|' || sql_trace_waits from v$session where sid = sys_context('userenv', 'sid');\n"
        "select value from v$diag_info where name = 'Default Trace File';\n"
    )
    found = [line.strip() for line in ran.lines]
    assert "SERVICE_MODULE|SYS$USERS|m|TRUE" in found
    assert "ENABLED|TRUE" in found
    assert re.fullmatch(
        r"/u01/app/oracle/diag/rdbms/spot/SPOT1/trace/SPOT1_ora_\d+_MINE\.trc", found[-1], re.IGNORECASE
    )


def test_counters_are_the_files_own_sums(traced: Lab, tmp_path: Path) -> None:
    """V$SYSTEM_EVENT grows by exactly the waits and microseconds that stand in the files of the sessions."""
    query = f"select total_waits, time_waited_micro from v$system_event where event = '{SYNC}'"

    def counted() -> list[int]:
        bare = "set feedback off heading off pagesize 0 linesize 200 tab off numwidth 20\n"
        return [int(word) for word in traced.db(f"{bare}{query};\n").lines[0].split()]

    traced.db("exec dbms_monitor.database_trace_enable(waits=>true)\n")
    before = counted()
    for key in range(1, 5):
        traced.db(updates(25, key))
    grown = [after - earlier for after, earlier in zip(counted(), before, strict=True)]
    waits = read(files(tmp_path)).events[SYNC]
    assert grown == [100, waits.total] == [waits.n, waits.total]


def test_cells_count_each_redo_write_once_for_each_copy(traced: Lab, tmp_path: Path) -> None:
    """At the next whole minute the cells have counted two copies of every log write that the traces name, and no more."""

    def requests() -> int:
        return sum(int(metrics.counters.get("FL_RQ_W", 0)) for metrics in traced.rack.metrics.values())

    traced.pass_time(120)
    traced.rack.advance()
    before = requests()
    traced.db("exec dbms_monitor.database_trace_enable(waits=>true)\n")
    for _turn in commit_load(traced.asm, "SPOT", sessions=8, commits=50):
        pass
    traced.pass_time(120)
    traced.rack.advance()
    writes = {scn for path in files(tmp_path) for _, scn, _ in SCN.findall(path.read_bytes())}
    assert requests() - before == 2 * len(writes)


def test_commits_of_many_sessions_share_log_writes(traced: Lab, tmp_path: Path) -> None:
    """Commits that go with one write end at the same time, up to what telling the session takes, and are fewer than waits."""
    traced.db("exec dbms_monitor.database_trace_enable(waits=>true)\n")
    for _turn in commit_load(traced.asm, "SPOT", sessions=20, commits=40):
        pass
    ends: dict[int, list[int]] = {}
    for path in files(tmp_path):
        for _, scn, tim in SCN.findall(path.read_bytes()):
            ends.setdefault(int(scn), []).append(int(tim))
    assert sum(map(len, ends.values())) == 800
    assert len(ends) < 400
    assert all(max(group) - min(group) < 1000 for group in ends.values())


def test_a_session_alone_never_waits_for_others(traced: Lab, tmp_path: Path) -> None:
    """Each commit of a single session is a log write of its own."""
    traced.db("exec dbms_monitor.session_trace_enable(waits=>true)\n" + updates(20))
    (file,) = files(tmp_path)
    assert len({scn for _, scn, _ in SCN.findall(file.read_bytes())}) == 20


def test_the_flash_log_shows_in_the_waits(traced: Lab, tmp_path: Path) -> None:
    """With the flash log switched off for the database its sessions wait longer for their commits."""

    def mean() -> float:
        old = set(files(tmp_path))
        for _turn in commit_load(traced.asm, "SPOT", sessions=1, commits=2000):
            pass
        return read([path for path in files(tmp_path) if path not in old]).events[SYNC].mean

    traced.db("exec dbms_monitor.database_trace_enable(waits=>true)\n")
    on = mean()
    for number in (1, 2, 3):
        traced.cell("alter iormplan dbplan=((name=SPOT, flashLog=off), (name=other, flashLog=on))", number)
    assert mean() > 1.1 * on


def test_the_log_writer_serves_any_order(new_lab: Callable[..., Lab]) -> None:
    """Whoever comes later with an earlier time goes with the first write that begins then: no commit ends before it began."""
    writer = LogWriter(latency=lambda: 100, scn=1000)
    moments = [0, 250, 10, 90, 500, 260, 345, 0]
    ends = [writer.commit(moment) for moment in moments]
    assert all(end >= moment + 100 for moment, (end, _) in zip(moments, ends, strict=True))
    shared = Counter(scn for _, scn in ends)
    assert writer.last_scn == 1000 + SCN_STEP * writer.writes
    assert set(shared) <= {1000 + SCN_STEP * n for n in range(1, writer.writes + 1)}


@pytest.mark.parametrize(
    ("release", "stamp"),
    [("11.2.2.4", r"\*\*\* \d{4}-\d\d-\d\d [\d:]+\.\d{3}$"), ("19.3", r"\*\*\* \S+T\S+\.\d{6}\+00:00$")],
)
def test_each_release_has_its_own_times(new_lab: Callable[..., Lab], tmp_path: Path, release: str, stamp: str) -> None:
    """11.2 writes times with a blank and microseconds since 1970; 19c ISO times with offset and a clock of its own."""
    lab = new_lab(release=release)
    lab.rack.work.files = lambda host: HostFiles(_made(tmp_path / host), "/")
    lab.db(TABLE + "exec dbms_monitor.session_trace_enable(waits=>true)\n" + updates(1))
    (file,) = files(tmp_path)
    text = file.read_text()
    assert re.search(stamp, text, re.MULTILINE)
    ((_, _, tim),) = SCN.findall(text.encode())
    assert (abs(int(tim) / 1e6 - lab.rack.clock.now()) < 60) == (release == "11.2.2.4")


@pytest.mark.parametrize("adds", [-20.0, 0.0, 6.0, 40.0])
def test_a_planted_effect_is_in_the_traces(traced: Lab, tmp_path: Path, adds: float) -> None:
    """With a true effect the log writes of traced sessions take so many percent more with the flash log than without."""

    def mean() -> float:
        old = set(files(tmp_path))
        for _turn in commit_load(traced.asm, "SPOT", sessions=1, commits=6000):
            pass
        return read([path for path in files(tmp_path) if path not in old]).events[SYNC].mean

    traced.rack.plant("SPOT", Truth(adds=adds, prevents=0))
    traced.db("exec dbms_monitor.database_trace_enable(waits=>true)\n")
    on = mean()
    for number in (1, 2, 3):
        traced.cell("alter iormplan dbplan=((name=SPOT, flashLog=off), (name=other, flashLog=on))", number)
    assert (on - SYNC_US) / (mean() - SYNC_US) == pytest.approx(1 + adds / 100, abs=0.025)
