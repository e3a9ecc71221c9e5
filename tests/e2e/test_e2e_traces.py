"""Traced sessions of an emulated database: their files are reduced where they lie, over SSH, and compared under names."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.support.patience import until
from tests.support.program import InProcess, Program

SYNC = "log file sync"
NODE = "exa1db01"


@pytest.fixture
def traced(shared: InProcess, inside: InProcess) -> Iterator[InProcess]:
    """The program with a rack whose database SPOT traces every session, without old trace files."""
    for path in trace_files(shared):
        path.unlink()
    monitor(inside, "database_trace_enable(waits=>true, binds=>false)")
    yield inside
    monitor(inside, "database_trace_disable")


def monitor(program: InProcess, call: str) -> None:
    """Call a procedure of DBMS_MONITOR."""
    program.ok("-r", "t1", "sql", "db=SPOT", f"begin dbms_monitor.{call}; end;", "--accept-opaque", "-y")


def trace_files(shared: InProcess) -> list[Path]:
    """Return the trace files of the database on all nodes, as they lie on this machine."""
    return sorted(shared.home.rglob("diag/rdbms/spot/SPOT*/trace/*.trc"))


def work(shared: InProcess, *, sessions: int = 5, commits: int = 60) -> None:
    """Let sessions commit."""
    shared.ok("emulator", "load", "t1", "db=SPOT", f"sessions={sessions}", f"commits={commits}")


def collected(program: InProcess, name: str, *options: str) -> list[dict[str, object]]:
    """Collect the traces of SPOT under a name and return the figures."""
    records = program.ok("-r", "t1", "-o", "json", "trace", "collect", "db=SPOT", f"as={name}", *options).records
    return [row for row in records if "event" in row]


@pytest.mark.parametrize("options", [(), ("fetch=yes",)], ids=["reduced there", "fetched"])
def test_what_is_collected_is_what_the_files_hold(
    shared: InProcess, traced: InProcess, options: tuple[str, ...]
) -> None:
    """The figures of a collection are, to the last digit, those of the local reader on the same files."""
    work(shared)
    there = collected(traced, "on", *options)
    files = [str(path) for path in trace_files(shared)]
    here = traced.ok("-o", "json", "trace", "summarize", f"event={SYNC}", *files).records
    assert there == [row for row in here if "event" in row]
    assert there[0]["waits"] == 300


def test_reduction_and_fetching_keep_the_same(shared: InProcess, traced: InProcess) -> None:
    """Both ways keep the same files, waits and log writes."""
    work(shared)
    collected(traced, "one")
    collected(traced, "two", "fetch=yes")
    rows = traced.ok("-r", "t1", "-o", "json", "trace", "list").records
    one, two = ({k: v for k, v in row.items() if k not in ("name", "taken")} for row in rows)
    assert one == two
    whole = traced.ok("-r", "t1", "-o", "json", "trace", "summarize", f"event={SYNC}", "one", "two").records
    assert whole[-1]["waits"] == sum(row["waits"] for row in rows)
    other = traced("-r", "t1", "trace", "summarize", "event=db file sequential read", "one")
    assert other.code == 2 and f"one holds only waits for {SYNC}" in other.err
    compared = traced.ok("-r", "t1", "-o", "json", "trace", "compare", "a=one", "b=two").records
    values = {row["figure"]: row["value"] for row in compared if "figure" in row}
    assert values["meanByWait"] == values["meanByWrite"] == values["p99"] == 0


def test_only_the_tagged_sessions_are_collected(shared: InProcess, traced: InProcess) -> None:
    """With tag= files of other sessions are not even looked at."""
    work(shared)
    (some, *_) = trace_files(shared)
    tagged = next(path for path in trace_files(shared) if SYNC in path.read_text())
    tagged.rename(some.with_name(tagged.name.replace(".trc", "_ON.trc")))
    assert collected(traced, "on", "tag=ON")[0]["waits"] == 60
    refused = traced("-r", "t1", "trace", "collect", "db=SPOT", "as=off", "tag=OFF")
    assert refused.code == 2 and "no wait for 'log file sync' in 0 trace files *_ora_*_OFF.trc" in refused.err


def test_nothing_is_left_on_the_node(shared: InProcess, traced: InProcess) -> None:
    """Collecting changes no file of the node and makes none."""
    work(shared)

    def everything() -> dict[str, int]:
        root = next(shared.home.rglob(f"hosts/{NODE}"), None) or trace_files(shared)[0].parents[9]
        return {
            str(path): path.stat().st_mtime_ns for path in root.rglob("*") if path.is_file() and path.suffix != ".trc"
        }

    before = everything()
    collected(traced, "on")
    assert everything() == before


def test_a_node_that_is_down_is_not_left_out_silently(
    shared: InProcess, traced: InProcess, fault: Callable[..., None]
) -> None:
    """Where a node does not answer nothing is kept, and one node can be asked for by name."""
    work(shared)
    fault("exa1db02", "refuse")
    refused = traced("-r", "t1", "trace", "collect", "db=SPOT", "as=half")
    assert refused.code == 2 and "exa1db02" in refused.err
    assert traced.ok("-r", "t1", "-o", "json", "trace", "list").records == []
    assert collected(traced, "half", f"node={NODE}")[0]["waits"] == 300


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("db=SPOT", "as=x", "tag=a/b"), "'a/b' is not a name"),
        (("db=SPOT", "as=x", "event=no such event"), "no wait for 'no such event'"),
        (("db=NIX", "as=x"), "NIX"),
    ],
)
def test_what_can_not_be_collected_is_refused_in_one_line(traced: InProcess, words: tuple[str, ...], why: str) -> None:
    """A tag that is no name, an event that nobody waited for and an unknown database end with one sentence and nothing kept."""
    refused = traced("-r", "t1", "trace", "collect", *words)
    assert refused.code != 0 and why in refused.err and "Traceback" not in refused.err


def enabled(program: InProcess) -> list[tuple[str, str | None]]:
    """Return what is traced: kind and service."""
    rows = program.ok(
        "-r", "t1", "-o", "json", "sql", "db=SPOT", "select trace_type, primary_id from dba_enabled_traces"
    )
    return [(row["TRACE_TYPE"], row["PRIMARY_ID"]) for row in rows.records]


def test_a_trace_is_a_change_that_is_undone(inside: InProcess) -> None:
    """trace on is journalled, verified and undone; twice is once; what is off is left off."""
    inside.ok("-r", "t1", "trace", "on", "db=SPOT", "service=spot_batch", "-y")
    assert enabled(inside) == [("SERVICE", "spot_batch")]
    again = inside.ok("-r", "t1", "-o", "json", "trace", "on", "db=SPOT", "service=spot_batch", "-y")
    assert again.records[0]["outcome"] == "nothing to do"
    inside.ok("-r", "t1", "undo", "-y")
    assert enabled(inside) == []
    off = inside.ok("-r", "t1", "-o", "json", "trace", "off", "db=SPOT", "service=spot_batch", "-y")
    assert off.records[0]["outcome"] == "nothing to do"


def test_a_trace_of_a_session_names_it(inside: InProcess) -> None:
    """A session that is not there is refused; nobody is traced then."""
    refused = inside("-r", "t1", "trace", "on", "db=SPOT", "session=9999,1", "-y")
    assert refused.code == 2 and "there is no session 9999,1" in refused.err
    assert enabled(inside) == []


def test_nothing_is_traced_while_reading_only(inside: InProcess) -> None:
    """With -m, with -n and without a yes nothing is switched."""
    for words, code in ((("-m",), 2), (("-n",), 0), ((), 2)):
        assert inside("-r", "t1", *words, "trace", "on", "db=SPOT").code == code
    assert enabled(inside) == []


def test_a_recipe_that_fails_leaves_no_trace_on(inside: InProcess, tmp_path: Path) -> None:
    """undo run in finally switches the trace off although a line in between has failed."""
    recipe = tmp_path / "traced.exa"
    recipe.write_text(
        'recipe "Trace"\nparam db : db "the database"\nrisk performance\ntrace on db=$db\n'
        "check all flashcache.status = nonsense\nfinally\n  undo run\nend\n"
    )
    done = inside("-r", "t1", "run", str(recipe), "db=SPOT", "-y")
    assert done.code != 0
    assert "trace off" in done.err + done.out
    assert enabled(inside) == []


def table_there(program: InProcess) -> int:
    """Return how many tables of a load there are."""
    query = "select count(*) n from dba_tables where table_name = 'EXACELL_COMMITS'"
    (row,) = program.ok("-r", "t1", "-o", "json", "sql", "db=SPOT", query).records
    return int(row["N"])


def logged(program: InProcess) -> list[object]:
    """Return what each cell's IORM plan says of each database."""
    rows = program.ok("-r", "t1", "-o", "json", "show", "iorm").records
    return [(row["cell"], row["name"], row.get("flashLog"), row.get("share")) for row in rows]


def test_twenty_traced_sessions_are_compared_by_one_recipe(shared: InProcess, inside: InProcess) -> None:
    """flashlog_traces traces, loads, collects and compares both halves without a file copied by hand, and puts all back."""
    before = logged(inside)
    done = inside.ok(
        "-r", "t1", "-o", "json", "run", "flashlog_traces", "db=SPOT", "tag=A", "sessions=20", "commits=15", "-y"
    )
    kept = {row["name"]: row for row in inside.ok("-r", "t1", "-o", "json", "trace", "list").records}
    assert {name: row["waits"] for name, row in kept.items()} == {"A_on": 300, "A_off": 300}
    assert all(0 < row["logWrites"] < 300 for row in kept.values())
    assert "meanByWrite" in done.out
    assert (enabled(inside), table_there(inside), logged(inside)) == ([], 0, before)


def test_a_load_that_is_killed_is_finished_and_the_recipe_runs_again(shared: InProcess, outside: Program) -> None:
    """kill -9 in the middle of the load: resume lets all commit, drops the table, goes on to the run's end and takes back what it
    switched, and the next run of the recipe is whole."""
    inside = InProcess(outside.home)
    before = logged(inside)
    words = ("run", "flashlog_traces", "db=SPOT", "tag=K", "sessions=3", "commits=900", "-y")
    process = subprocess.Popen(
        [sys.executable, "-m", "exacell", "-r", "t1", *words],
        env=outside.env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        assert until(lambda: any(shared.home.rglob("*_K_on.trc")))
        os.kill(process.pid, signal.SIGKILL)
    finally:
        process.kill()
        process.wait()
    assert table_there(inside) == 1
    resumed = outside("-r", "t1", "resume", "-y")
    assert resumed.code == 0, resumed.err
    # A busy host kills late: what is left may be the drop alone.
    assert any(
        told in resumed.err for told in ("all have committed", "commit on exa1db01", "drop the table on exa1db01")
    )
    assert (enabled(inside), table_there(inside), logged(inside)) == ([], 0, before)
    again = outside("-r", "t1", "run", "flashlog_traces", "db=SPOT", "tag=K2", "sessions=3", "commits=40", "-y")
    assert again.code == 0, again.err
    assert (enabled(inside), table_there(inside), logged(inside)) == ([], 0, before)


def test_a_load_that_ended_left_nothing_to_end(inside: InProcess) -> None:
    """Behind a load that came to its end drive end has nothing to do."""
    inside.ok("-r", "t1", "drive", "commits", "db=SPOT", "sessions=2", "commits=3", "-y")
    assert table_there(inside) == 0
    again = inside.ok("-r", "t1", "-o", "json", "drive", "end", "db=SPOT", "-y")
    assert again.records[0]["outcome"] == "nothing to do"
