"""Sessions of the real program at a real terminal, against an emulated rack."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pexpect
import pytest

PROMPT = "exacell> "
Start = Callable[..., pexpect.spawn]
Run = Callable[..., subprocess.CompletedProcess[str]]

WATCHED = "list metriccurrent where name = 'FC_BY_DIRTY'"


def plain(text: str) -> str:
    """Text without escape sequences and carriage returns."""
    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", text).replace("\r", "")


def answer(child: pexpect.spawn, line: str) -> str:
    """Enter a line and return what is shown until the next prompt."""
    child.sendline(line)
    child.expect_exact(PROMPT)
    return plain(child.before)


def test_a_refusal_is_short_and_why_has_all_of_it(start: Start) -> None:
    """Two disk groups use the disks: the prompt names the first and says what to type; why names both and each way out."""
    child = start(rows=40, columns=80)
    shown = answer(child, "drop celldisk all")
    refused = [line for line in shown.splitlines()[1:] if line.strip()]
    assert len(refused) <= 5 and "`why` shows more" in " ".join(" ".join(refused).split()), refused
    whole = " ".join(answer(child, "why").split())
    assert (
        "reason exa1cel[01-03]: disk group DATA uses it" in whole
        and "reason exa1cel[01-03]: disk group RECO uses it" in whole
    )
    assert whole.count("way out") == 3 and "alter diskgroup DATA drop disk" in whole
    answer(child, "lst cell")
    assert "error 'lst' is not a statement" in " ".join(answer(child, "why").split())


def test_a_rolling_asks_once_for_the_same_plan(start: Start, rack: Path) -> None:
    """Three waves of two lines are two questions; a cell that differs is asked about again, and the answer no ends the run."""
    (rack / "recipes").mkdir(exist_ok=True)
    (rack / "recipes" / "twolines.exa").write_text(
        "risk redundancy\nrolling\nalter cell comment='rolled'\nrestart service ms\nend\n"
    )
    child = start(rows=60, columns=100)
    child.sendline("run twolines")
    for later in ("exa1cel[02-03]", "exa1cel[02-03]"):
        child.expect_exact(f"yes also counts for {later} if the plan there is the same")
        child.expect_exact("proceed? [y/N/d]")
        child.sendline("y")
    child.expect_exact(PROMPT)
    said = plain(child.before)
    assert said.count("the same plan as in an earlier wave, which you confirmed") == 4 and "proceed?" not in said
    answer(child, "on exa1cel02 alter cell comment='other' -y")
    answer(child, "on exa1cel01,exa1cel03 alter cell comment='' -y")
    child.sendline("run twolines")
    for _ in range(2):
        child.expect_exact("proceed? [y/N/d]")
        child.sendline("y")
    child.expect_exact("ALTER CELL comment='rolled'")
    child.expect_exact("proceed? [y/N/d]")
    child.sendline("n")
    child.expect_exact("not confirmed; nothing was sent")
    child.expect_exact(PROMPT)
    child.sendline("on @all alter cell comment='' -y")
    child.expect_exact(PROMPT)


def test_watch_takes_the_screen_and_q_gives_it_back(start: Start) -> None:
    """watch draws on the other screen, q ends it, the last answer stays above the next prompt, which works."""
    child = start()
    child.sendline(f"watch 0.3 {WATCHED}")
    child.expect_exact("\x1b[?1049h")
    child.expect_exact("every 0.3s: list metriccurrent")
    child.expect_exact("FC_BY_DIRTY ")
    child.expect_exact("q quit")
    child.send("q")
    child.expect_exact("\x1b[?1049l")
    child.expect(r"exa1cel\S+\s+FC_BY_DIRTY")
    child.expect("watched [0-9]+ times?")
    child.expect_exact(PROMPT)
    assert "rw" in answer(child, "show settings | grep mode")


def test_ctrl_c_ends_watch_and_the_session_goes_on(start: Start) -> None:
    """Ctrl-C leaves watch without ending the shell, also in the middle of a reading."""
    child = start()
    child.sendline(f"watch 30 {WATCHED}")
    child.expect_exact("q quit")
    child.send("\x03")
    child.expect_exact("\x1b[?1049l")
    child.expect_exact(PROMPT)
    assert "exa1cel[01-03]" in answer(child, "cells")


def test_a_terminated_watch_gives_the_terminal_back(start: Start) -> None:
    """SIGTERM leaves the other screen and shows the cursor before the program ends."""
    child = start("watch", "30", *WATCHED.split())
    child.expect_exact("q quit")
    child.kill(signal.SIGTERM)
    child.expect_exact("\x1b[?25h\x1b[?1049l")
    child.expect(pexpect.EOF)


def test_watch_with_count_ends_by_itself(start: Start) -> None:
    """count=2 shows two answers and returns to the shell."""
    child = start("watch", "0.2", "count=2", "show", "flashcache")
    child.expect_exact("\x1b[?1049l")
    child.expect_exact("watched 2 times")
    child.expect(pexpect.EOF)


def test_watch_refuses_what_changes_something(run: Run) -> None:
    """A writing statement is refused before anything is sent, a wrong one with its reason."""
    done = run("watch", "5", "flush", "flashcache")
    assert done.returncode == 2 and "only read" in done.stderr
    assert "repeats itself" in run("watch", "5", "top").stderr
    assert run("watch", "5", "lst", "cell").returncode == 2


def test_watch_into_a_pipe_appends_records(run: Run) -> None:
    """Without a terminal there is no escape; jsonl records carry cell and time, a reader that leaves ends it quietly."""
    done = run("-o", "jsonl", "watch", "0.2", "count=2", *WATCHED.split())
    records = [json.loads(line) for line in done.stdout.splitlines()]
    assert done.returncode == 0 and len(records) == 6 and {"cell", "at", "metricValue"} <= set(records[0])
    assert "\x1b" not in run("watch", "0.2", "count=1", "show", "flashcache").stdout
    head = run("watch 0.2 show flashcache --format=jsonl | head -n 4")
    assert head.returncode == 0 and len(head.stdout.splitlines()) == 4 and head.stderr == ""


def test_watch_into_a_file(run: Run, tmp_path: Path) -> None:
    """> file takes all answers, the titles of csv once."""
    target = tmp_path / "frames.csv"
    run(f"watch 0.2 count=3 show flashcache --format=csv > {target}")
    lines = target.read_text().splitlines()
    assert len(lines) == 10 and lines[0].startswith("cell,at,name") and not lines[4].startswith("cell,")


def test_top_shows_every_cell_and_sorts(start: Start) -> None:
    """top fills 80 by 24, waits for a second collection, sorts by the next figure with s, pauses with p, ends with q."""
    child = start(rows=24, columns=80)
    child.sendline("top 0.3")
    child.expect_exact("sorted by worst")
    child.expect("over [0-9]+s")
    for cell in ("exa1cel01", "exa1cel02", "exa1cel03", "all cells"):
        assert cell in plain(child.before + child.after) or child.expect_exact(cell) == 0
    child.send("s")
    child.expect_exact("sorted by hit")
    child.send("p")
    child.expect_exact("paused")
    child.send("q")
    child.expect_exact("\x1b[?1049l")
    child.expect_exact(PROMPT)


def test_top_into_a_pipe_writes_a_record_a_cell(run: Run) -> None:
    """Each collection makes one set of records: three cells and the rack's with a null cell."""
    records = [json.loads(line) for line in run("-o", "jsonl", "top", "0.3", "count=2").stdout.splitlines()]
    assert len(records) == 8 and [record["cell"] for record in records[3::4]] == [None, None]
    # In the first set the third cell may have a gap: its counters began anew when its cache was resized.
    assert all(record["seconds"] >= 60 and record["dirty"] is not None for record in records[4:])


def test_diff_marks_the_odd_cell(start: Start, run: Run) -> None:
    """At a terminal the odd cell's size is highlighted; programs get it as a number beside the usual one."""
    child = start()
    child.sendline("list flashcache detail --diff")
    child.expect_exact("\x1b[1;38;5;136m288G\x1b[0m")
    child.expect_exact("left out, because different on every cell:")
    child.expect_exact(PROMPT)
    records = json.loads(run("-o", "json", "list", "flashcache", "detail", "--diff").stdout)
    assert {"cell": "exa1cel03", "value": 288 * 2**30, "usual": 391647330304} in [
        {key: record[key] for key in ("cell", "value", "usual")} for record in records
    ]
    refused = run("-o", "raw", "list", "flashcache", "--diff")
    assert refused.returncode == 2 and "raw is the cells' own text" in refused.stderr


@pytest.mark.skipif(shutil.which("less") is None, reason="less is not installed")
def test_a_long_answer_is_paged_and_a_short_one_is_not(start: Start) -> None:
    """What is longer than the screen goes through less; what fits does not; set pager off ends that."""
    child = start(rows=12)
    assert "exa1cel" in answer(child, "show flashcache")
    child.sendline("list griddisk")
    child.expect_exact("q leaves")
    child.expect_exact("lines 1 to 11")
    child.send("q")
    child.expect_exact(PROMPT)
    answer(child, "set pager off")
    assert "RECO_CD_11" in answer(child, "list griddisk")


@pytest.mark.skipif(shutil.which("less") is None, reason="less is not installed")
def test_less_starts_no_shell_and_writes_no_file(start: Start, tmp_path: Path) -> None:
    """The keys that have less run a command, pipe the text, start an editor or keep it in a file are not available, and
    what $LESSOPEN names is not run; q leaves."""
    child = start(rows=12, LESSOPEN=f"|-touch {tmp_path}/opened %s")
    child.sendline("list griddisk")
    child.expect_exact("q leaves")
    for keys in ("!", "|", "v", f"s{tmp_path}/kept\r"):
        child.send(keys)
        child.expect_exact("not available")
        child.send("\r")
        child.expect_exact("q leaves")
    child.send("q")
    child.expect_exact(PROMPT)
    assert list(tmp_path.iterdir()) == []


def test_without_less_a_long_answer_is_written_as_it_is(start: Start, tmp_path: Path) -> None:
    """Where no pager is installed a long answer comes as a whole, and the prompt follows."""
    child = start(rows=12, PATH=str(tmp_path))
    assert "RECO_CD_11" in plain(answer(child, "list griddisk"))


def test_a_wide_answer_is_turned(start: Start) -> None:
    """Records that are wider than the terminal stand side by side as columns, and nothing is cut."""
    child = start(columns=60)
    child.sendline("list flashcache attributes name,size,effectiveCacheSize,status")
    gap = r"(?:\x1b\[[0-9;?]*[A-Za-z]|[ ])+"
    child.expect(rf"effectiveCacheSize{gap}364\.75G{gap}288G")


@pytest.mark.parametrize("env", [{"NO_COLOR": "1"}, {"TERM": "dumb"}])
def test_no_colour_where_it_is_not_wanted(start: Start, env: dict[str, str]) -> None:
    """NO_COLOR and dumb terminals get tables without colour; a dumb one gets watch as text without cursor movement."""
    child = start("list flashcache detail --diff", **env)
    child.expect(pexpect.EOF)
    assert "288G" in child.before and not re.search(r"\x1b\[[0-9;]*m", child.before)
    if env.get("TERM") == "dumb":
        child = start("watch 0.2 count=1 show flashcache", **env)
        child.expect(pexpect.EOF)
        assert "exa1cel03" in child.before and "\x1b" not in child.before


def test_top_and_watch_fit_a_dumb_terminal(start: Start) -> None:
    """Where nothing can be drawn over, top says that its first figures take a while, and no line is wider than 80."""
    for statement, shown in (("top 0.3 count=1", "sorted by worst"), ("watch 0.2 count=1 list griddisk", "exa1cel")):
        child = start(statement, columns=80, TERM="dumb")
        child.expect(pexpect.EOF)
        lines = child.before.replace("\r", "").split("\n")
        assert max(map(len, lines)) <= 80 and shown in child.before, child.before
        assert not statement.startswith("top") or lines[0].startswith("reading: the first figures")


def test_pipe_file_and_spool(start: Start, tmp_path: Path) -> None:
    """| grep filters, > file writes without colour, spool copies what is shown until spool off."""
    child = start()
    assert "exa1cel02" not in answer(child, "show flashcache | grep exa1cel03").split("\n", 1)[1]
    answer(child, f"show flashcache > {tmp_path / 'out.txt'}")
    assert "exa1cel02" in (tmp_path / "out.txt").read_text() and "\x1b" not in (tmp_path / "out.txt").read_text()
    answer(child, f"spool {tmp_path / 'spooled.txt'}")
    assert "spooling to" in answer(child, "spool")
    answer(child, "show flashcache")
    answer(child, "spool off")
    answer(child, "list griddisk attributes name where name like 'DATA.*' | head -n 1")
    spooled = (tmp_path / "spooled.txt").read_text()
    assert "exa1cel02" in spooled and "DATA" not in spooled and "\x1b" not in spooled


def test_a_reader_that_leaves_is_no_error(rack: Path) -> None:
    """A closed pipe ends the program quietly with 0."""
    script = f"set -o pipefail; {sys.executable} -m exacell -r t1 -o jsonl list metriccurrent | head -n 1"
    env = {**os.environ, "EXACELL_HOME": str(rack)}
    done = subprocess.run(["bash", "-c", script], env=env, capture_output=True, text=True, timeout=300, check=False)
    assert (done.returncode, done.stderr) == (0, "") and len(done.stdout.splitlines()) == 1


def test_raw_answers_are_shown_as_they_come(start: Start, run: Run) -> None:
    """On a terminal each cell's text is shown when it answers, a slow cell is named meanwhile and comes last; a pipe gets
    the order of the cells. A line is named by its cell even where only one cell answered."""
    run("emulator fault t1 exa1cel01 hang")
    try:
        child = start("-o", "raw", "list", "cell")
        child.expect_exact("exa1cel03: ")
        child.expect_exact("waiting for exa1cel01")
        run("emulator fault t1 all clear")
        child.expect_exact("exa1cel01: ")
        child.expect(pexpect.EOF)
    finally:
        run("emulator fault t1 all clear")
    run("emulator fault t1 exa1cel[02-03] refuse")
    try:
        done = run("-o", "raw", "list", "cell")
        assert done.returncode == 1 and done.stdout.startswith("exa1cel01: ")
        assert "exa1cel02: " in done.stderr and "exa1cel03: " in done.stderr
    finally:
        run("emulator fault t1 all clear")


def test_one_cells_silence_hides_no_others_load(start: Start, run: Run) -> None:
    """top shows the cells that answer, with the reason of the one that does not above them."""
    run("emulator fault t1 exa1cel02 refuse")
    try:
        child = start("top", "0.3", columns=80)
        child.expect_exact("2 of 3 cells")
        child.expect("exa1cel02  [a-z0-9.]+ ")
        child.expect_exact("exa1cel01")
        child.send("q")
        child.expect(pexpect.EOF)
    finally:
        run("emulator fault t1 all clear")


def test_a_recipe_says_which_line_of_how_many_runs(run: Run, tmp_path: Path) -> None:
    """Each line is told with its place among all that run and its number in the file."""
    recipe = tmp_path / "two.exa"
    recipe.write_text('recipe "two reads"\nrisk none\n\nshow flashcache\nlist cell attributes name\n')
    told = run("run", str(recipe)).stderr.splitlines()
    assert "[1/2] line 4: show flashcache" in told and "[2/2] line 5: list cell attributes name" in told


def test_a_log_is_told_of_a_cell_that_keeps_a_statement_waiting(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a terminal a read that waits for long says for whom, and quiet says nothing."""
    monkeypatch.setenv("WAIT_TOLD_AFTER", "0.5")
    run("emulator fault t1 exa1cel02 slow delay=4s match=flashcache")
    try:
        assert "waiting for exa1cel02: 2 of 3 answered, " in run("list flashcache").stderr
        assert "waiting" not in run("-q", "list flashcache").stderr
    finally:
        run("emulator fault t1 all clear")
