"""Faults that strike statements and connections, as clients see them."""

from __future__ import annotations

import re
import threading
import time
from functools import partial

import pytest
from faults_bench import C1, C2, Bench

from exacell.transport.base import State
from tests.support.patience import must_come, patiently


def test_refused_connections(bench: Bench) -> None:
    """refuse turns new connections away at once, on that host only, keeps open ones, and ends when it is cleared."""
    kept = bench.transport()
    assert bench.ask("list cell", over=kept).state is State.OK
    bench.fault("refuse")
    assert bench.ask("list cell", timeout=60.0).state is State.UNREACHABLE
    assert bench.ssh(C1, "true").returncode == 255
    assert bench.ask("list cell", host=C2).state is State.OK
    assert bench.ask("list cell", over=kept).state is State.OK
    assert bench.clear(C1) == 1
    assert bench.ask("list cell").state is State.OK


def test_every_second_connection_is_refused(bench: Bench) -> None:
    """refuse with every=2 lets the first connection in and not the second."""
    bench.fault("refuse", every=2)
    assert [bench.ssh(C1, "true").returncode for _ in range(4)] == [0, 255, 0, 255]


def test_a_statement_that_hangs(bench: Bench) -> None:
    """hang keeps a statement from answering until the client gives up, and lets others through; cleared, it goes on."""
    bench.fault("hang", match="flashcache")

    def hangs(seconds: float) -> None:
        assert bench.ask("list flashcache", timeout=seconds).state is State.TIMED_OUT and bench.rows()[0]["struck"]

    patiently(hangs, 0.5, 5, 30)
    struck = bench.rows()[0]["struck"]
    assert bench.says("list cell").strip().startswith(C1)
    client = bench.transport(timeout=60)
    ends: list[str] = []
    ask = partial(bench.ask, "list flashcache", over=client, timeout=60)
    waiting = threading.Thread(target=lambda: ends.append(ask().stdout))
    waiting.start()
    must_come(lambda: bench.rows()[0]["struck"] > struck)
    bench.clear()
    waiting.join(300)
    assert len(ends) == 1 and "normal" in ends[0]


def test_a_hang_that_ends_by_itself(bench: Bench) -> None:
    """hang with for= keeps a statement waiting for that long on the rack's clock."""
    started = time.monotonic()
    bench.fault("hang", **{"for": 60.0})
    assert "online" in bench.says("list cell")
    assert time.monotonic() - started > 0.3
    assert bench.rows() == ()


def test_slow_statements(bench: Bench) -> None:
    """slow delays each statement of a batch by delay= wall seconds."""
    bench.fault("slow", delay="0.3s")
    started = time.monotonic()
    bench.says("list cell; list flashcache")
    assert time.monotonic() - started >= 0.6


@pytest.mark.parametrize("size", [0, 1, 100, 3000])
def test_a_connection_that_drops(bench: Bench, size: int) -> None:
    """drop breaks the connection when exactly so many bytes of the answer have left; the next connection is good."""
    whole = bench.says("list griddisk detail").encode()
    bench.fault("drop", bytes=size, nth=1)
    cut = bench.ssh(C1, "cellcli -e list griddisk detail")
    assert cut.returncode == 255 and cut.stdout == whole[:size]
    reply = bench.ask("list griddisk detail")
    assert reply.state is State.OK and reply.stdout.encode() == whole


def test_exacell_sees_a_dropped_connection(bench: Bench) -> None:
    """drop is never an answer for exacell: not OK, no exit status, a problem that says so."""
    bench.fault("drop", bytes=40)
    reply = bench.ask("list griddisk detail")
    assert reply.state in (State.FAILED, State.UNREACHABLE) and reply.exit_status is None and reply.problem


def test_an_answer_shorter_than_the_cut_is_whole(bench: Bench) -> None:
    """drop does nothing to an answer that ends before the byte at which it would be cut."""
    bench.fault("drop", bytes=100_000)
    assert "online" in bench.says("list cell")


def test_a_pipeline_is_dropped_too(bench: Bench) -> None:
    """drop reaches the connection of a shell whose cellcli is struck, and that connection alone."""
    other = bench.transport()
    assert bench.ask("list cell", over=other).state is State.OK
    bench.fault("drop", nth=1)
    cut = bench.ssh(C1, "( hostname; cellcli -e list cell | cat; sleep 30 ) 2>&1")
    assert cut.returncode == 255
    assert bench.ask("list cell", over=other).state is State.OK


def test_a_write_whose_answer_is_lost_is_done(bench: Bench) -> None:
    """drop at byte 0 loses the answer of a statement that was carried out."""
    bench.fault("drop", match="alter cell", nth=1)
    assert bench.ssh(C1, "cellcli -e alter cell location=lost").returncode == 255
    assert "lost" in bench.says("list cell attributes location")


def test_garbage(bench: Bench) -> None:
    """garbage is bytes of the size asked for that are no answer, not even text, with exit status 0; it repeats."""
    bench.fault("garbage", bytes=500, nth=1)
    done = bench.ssh(C1, "cellcli -e list cell")
    assert done.returncode == 0 and len(done.stdout) == 500 and C1.encode() not in done.stdout
    with pytest.raises(UnicodeDecodeError):
        done.stdout.decode()
    bench.clear()
    bench.fault("garbage", bytes=500, nth=1)
    assert bench.ssh(C1, "cellcli -e list cell").stdout == done.stdout
    bench.fault("garbage", match="list cell")
    assert bench.ask("list cell").exit_status == 0


@pytest.mark.parametrize(
    "statement", ["list cell", "list flashcache detail", "describe griddisk", "list cell attributes all"]
)
def test_exacell_takes_garbage_for_no_answer(bench: Bench, statement: str) -> None:
    """What a cell answers that is none of CellCLI's is that cell's problem, shown escaped with exit status 1, never a row."""
    bench.fault("garbage", match=statement.split()[1])
    done = bench.exacell(*statement.split())
    assert done.returncode == 1, done
    assert f"{C1}: " in done.stderr and re.search("answered|is no answer|its answer was cut off", done.stderr), done
    assert C1 not in done.stdout and all(sign.isprintable() or sign in "\n\t" for sign in done.stdout + done.stderr)
    assert C2 in done.stdout or "flashCacheMode" in done.stdout or "asmDiskgroupName" in done.stdout, done


@pytest.mark.parametrize("picking", [{"nth": 3}, {"every": 3}])
def test_an_error_on_some_statements(bench: Bench, picking: dict[str, int]) -> None:
    """error answers the third matching statement (nth=3), or each third (every=3), with the code and does nothing."""
    bench.fault("error", code="CELL-02559", match="LIST FLASH", **picking)
    texts = [bench.says("list flashcache; list cell") for _ in range(6)]
    struck = [text.startswith("CELL-02559: There is a communication error") for text in texts]
    assert struck == [False, False, True, False, False, "every" in picking]
    assert all("online" in text for text in texts)


def test_an_error_with_a_text_of_its_own(bench: Bench) -> None:
    """error takes a code with its text, in batches, scripts on standard input and pipelines alike; writes don't happen."""
    line = "CELL-02643: CREATE FLASHCACHE failed on cell disk FD_00_exa1cel01"
    bench.fault("error", code=line, match="^alter cell")
    assert bench.says("alter cell location=never") == f"{line}\n"
    script = bench.ssh(C1, "cellcli -n -x", stdin="list cell\nalter cell location=never\nlist cell\n").stdout.decode()
    assert script.splitlines()[1] == line and script.count("online") == 2
    assert bench.ssh(C1, "cellcli -e alter cell location=never | cat").stdout.decode() == f"{line}\n"
    assert "never" not in bench.says("list cell attributes location")


def test_cellsrv_restarts_in_the_middle_of_a_statement(fresh: Bench) -> None:
    """restart with match= kills CELLSRV under a statement: half of it is done, the rest is an error; then it is back."""
    fresh.fault("restart", match="flush$", nth=1, down="20h")
    text = fresh.says("alter flashcache all flush")
    assert text.startswith("CELL-02559:") and "altered" not in text
    assert [row["kind"] for row in fresh.rows()] == ["restart", "cellsrv-down"]
    fresh.fault("cellsrv-down", **{"for": 120.0})
    must_come(lambda: "running" in fresh.says("list cell attributes cellsrvStatus"))
    assert fresh.values("list flashcache attributes status") == [["normal"]]
    assert all(row[1:] == [""] or row[1:] == [] for row in fresh.values("list celldisk attributes name,flushStatus"))


def test_half_a_statement(fresh: Bench) -> None:
    """A restart in the middle of CREATE GRIDDISK ALL leaves the first disk created and the others not."""
    fresh.says("alter flashcache all flush")
    fresh.says("drop flashcache")
    fresh.fault("restart", match="create griddisk")
    assert fresh.says("create griddisk all flashdisk prefix=half, size=1G").startswith("CELL-02559:")
    assert len(fresh.values("list griddisk where name like 'half_.*'")) == 1


def test_a_restart_after_some_time(fresh: Bench) -> None:
    """restart with after= takes CELLSRV away for down= seconds; a flush that was under way is no longer in force."""
    fresh.says("alter flashcache all flush")
    assert fresh.values("list flashcache attributes status") == [["normal - flushed"]]
    fresh.fault("restart", after="20h", down="20h")
    assert fresh.values("list flashcache attributes status") == [["normal - flushed"]]
    fresh.fault("restart", after="2m", down="20h")
    # The connection of whoever asks just then ends with the others.
    must_come(lambda: "stopped" in fresh.ask("list cell attributes cellsrvStatus").stdout)
    fresh.fault("restart", down="2m")
    must_come(lambda: "running" in fresh.ask("list cell attributes cellsrvStatus").stdout)
    assert fresh.values("list flashcache attributes status") == [["normal"]]
    assert fresh.rows() == ()
