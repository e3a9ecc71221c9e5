"""top at a real terminal of 80 by 24: each of its keys, against an emulated rack."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pexpect
import pytest

from tests.support.patience import LONG_S

Start = Callable[..., pexpect.spawn]
Run = Callable[..., subprocess.CompletedProcess[str]]

ENTER, ESCAPE, DOWN, RIGHT, LEFT = "\r", "\x1b", "\x1b[B", "\x1b[C", "\x1b[D"
FRAME = "\x1b[H"


class Screen:
    """A program at a terminal of 80 by 24, and what stands on it."""

    def __init__(self, child: pexpect.spawn) -> None:
        self.child = child

    def shows(self, *wanted: str) -> list[str]:
        """Wait until one frame shows all these, and return its lines."""
        lines, deadline = list[str](), time.monotonic() + LONG_S
        while time.monotonic() < deadline:
            self.child.expect_exact(FRAME)  # It is drawn again and again: what stands before it is the frame before.
            lines = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]|\r", "", self.child.before).split("\n")
            if all(any(text in line for line in lines) for text in wanted):
                assert len(lines) == 24 and max(map(len, lines)) <= 80, lines
                return lines
        raise AssertionError(f"{wanted} never came: {lines}")

    def press(self, *keys: str) -> None:
        """Press keys one after another, each seen by the program before the next."""
        for key in keys:
            self.child.send(key)
            self.shows()

    def leave(self) -> None:
        """Leave top with q, and wait for the end."""
        self.child.send("q")
        self.child.expect(pexpect.EOF)


@pytest.fixture(scope="module", autouse=True)
def broken(rack: Path) -> None:
    """On exa1cel02 a hard disk has failed, of which there is an alert."""
    env = {**os.environ, "EXACELL_HOME": str(rack)}
    command = [sys.executable, "-m", "exacell", "emulator", "fault", "t1", "exa1cel02", "hard-disk"]
    subprocess.run(command, env=env, check=True, capture_output=True, stdin=subprocess.DEVNULL, timeout=300)


@pytest.fixture
def unexamined(run: Run) -> None:
    """The alert is one that nobody has examined, whatever tests came before."""
    done = run("on exa1cel02 alter alerthistory 1_1 examinedBy=''", "-y")
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture
def top(start: Start) -> Iterator[Screen]:
    """Top, begun on the command line, when all cells have answered."""
    screen = Screen(start("top", "0.5", "sort=cell", rows=24, columns=80))
    screen.shows("3 of 3 cells", "> exa1cel01", "all cells")
    yield screen


def test_enter_goes_from_the_rack_to_an_alert_and_escape_back(top: Screen) -> None:
    """Rack, cell, disk, alert: each page is headed by where it is, and Esc leads back page by page."""
    top.press(DOWN)
    top.child.send(ENTER)
    cell = top.shows("exa1cel02  28 disks, 1 not normal, 1 open alert", "> alert     1_1   ")
    troubled = next(line for line in cell if "disk      20:0" in line)
    assert "failed" in troubled and "CD_00_exa1cel02" in troubled and cell.index(troubled) < 5
    assert any(line.startswith("  database  SPOT") for line in cell)
    top.press(DOWN)
    top.child.send(ENTER)
    disk = top.shows("exa1cel02 > disk 20:0", "physicalSerial")
    assert any(line.startswith("> alert") for line in disk) and any("DATA_CD_00_exa1cel02" in line for line in disk)
    top.child.send(RIGHT)
    alert = top.shows("exa1cel02 > alert 1_1", "message:", "what to do:")
    assert any("critical" in line for line in alert)
    top.child.send(ESCAPE)
    top.shows("exa1cel02 > disk 20:0")
    top.child.send(LEFT)
    top.shows("exa1cel02  28 disks", "> disk      20:0")
    top.child.send(ESCAPE)
    top.shows("3 of 3 cells", "> exa1cel02")
    top.child.send(ESCAPE)
    top.shows("3 of 3 cells")
    top.leave()


def test_enter_opens_a_database_with_what_its_metrics_mean(top: Screen) -> None:
    """A database's page has its metrics with their units and what they count."""
    top.child.send(ENTER)
    top.shows("exa1cel01  28 disks", "no open alert")
    top.child.send("/SPOT" + ENTER)
    top.shows("> database  SPOT")
    top.child.send(ENTER)
    shown = top.shows("exa1cel01 > database SPOT", "DB_FC_BY_ALLOCATED")
    assert any(re.search(r"DB_FC_BY_ALLOCATED +[0-9.,]+ MB +\w+", line) for line in shown)
    top.leave()


def test_slash_filters_and_takes_every_letter(top: Screen) -> None:
    """While a filter is typed q, p and ? are letters; Enter keeps it, Esc shows all again."""
    for letter in "/cel03":
        top.child.send(letter)
    shown = top.shows("/cel03_", "> exa1cel03")
    assert not any("exa1cel01" in line for line in shown)
    top.child.send("q")
    top.shows("/cel03q_")
    top.child.send("\x7f" + ENTER)
    top.shows("/cel03   (Esc shows all)", "> exa1cel03")
    top.child.send(ENTER)
    top.shows("exa1cel03  28 disks")
    top.child.send(ESCAPE)
    top.shows("/cel03   (Esc shows all)")
    top.child.send(ESCAPE)
    top.shows("> exa1cel03", "exa1cel01")
    top.child.send("/zzz\x03")
    top.child.expect(pexpect.EOF)


def test_question_mark_lists_the_keys(top: Screen) -> None:
    """? shows every key with what it does, and what the heads mean; any key goes back."""
    top.child.send("?")
    shown = top.shows("keys of top", "any key goes back")
    for key in ("Enter", "Esc", "/", "a", "l", "o", "p", "q"):
        assert any(line.startswith(f"  {key}") for line in shown), key
    top.child.send("q")
    top.shows("3 of 3 cells")
    top.leave()


@pytest.mark.usefixtures("unexamined")
def test_a_acknowledges_through_the_plan_and_its_question(top: Screen, run: Run) -> None:
    """a shows the plan of ack alert and asks; no sends nothing and leads back; yes is carried out and journalled."""
    top.child.send("a")
    top.shows("a acknowledges an alert: move the cursor to one")
    top.press(DOWN)
    top.child.send(ENTER)
    top.shows("> alert     1_1 ")
    top.child.send("a")
    top.child.expect_exact("\x1b[?1049l")
    top.child.expect_exact("on exa1cel02 ack alert 1_1")
    top.child.expect_exact("proceed? [y/N")
    top.child.send("n\r")
    top.child.expect_exact("nothing was sent")
    top.child.expect_exact("Enter goes back to top")
    assert run("-o", "csv", "list alerthistory attributes name, examinedBy").stdout.splitlines()[1:] == [
        "exa1cel02,1_1,"
    ]
    top.child.send(ENTER)
    top.shows("> alert     1_1 ")
    top.child.send("a")
    top.child.expect_exact("proceed? [y/N")
    top.child.send("y\r")
    top.child.expect_exact("Enter goes back to top")
    top.child.send(ENTER)
    top.shows("seen by ")
    top.leave()
    assert "ack alert 1_1" in run("journal").stdout


def test_l_locates_the_disk_and_o_asks_whether_the_cell_may_go_offline(top: Screen) -> None:
    """Both run the statement that they are, show its answer and lead back to the very page."""
    top.child.send("l")
    top.shows("l locates a disk: move the cursor to one")
    top.child.send("o")
    top.child.expect_exact("top: can offline exa1cel01")
    top.child.expect_exact("Enter goes back to top")
    top.child.send(ENTER)
    top.shows("> exa1cel01", "3 of 3 cells")
    top.press(DOWN)
    top.child.send(ENTER)
    top.shows("disk      20:0")
    for letter in "/20:0":
        top.child.send(letter)
    top.child.send(ENTER)
    top.shows("> disk      20:0")
    top.child.send("l")
    top.child.expect_exact("top: on exa1cel02 locate disk 20:0")
    top.child.expect_exact("physicalSerial")
    top.child.expect_exact("Enter goes back to top")
    top.child.send(ENTER)
    top.shows("> disk      20:0")
    top.leave()


@pytest.mark.usefixtures("unexamined")
def test_ctrl_c_ends_an_action_and_top_goes_on(top: Screen, run: Run) -> None:
    """Ctrl-C at an action's question is no; nothing is sent; the next Enter shows top again, which still reads."""
    top.press(DOWN)
    top.child.send(ENTER)
    top.shows("disk      20:0")
    for letter in "/alert":
        top.child.send(letter)
    top.child.send(ENTER)
    top.shows("> alert")
    top.child.send("a")
    top.child.expect_exact("proceed? [y/N")
    top.child.send("\x03")
    top.child.expect_exact("Enter goes back to top")
    assert run("-o", "csv", "list alerthistory attributes name, examinedBy").stdout.splitlines()[1:] == [
        "exa1cel02,1_1,"
    ]
    top.child.send(ENTER)
    top.shows("/alert")
    top.child.send(ESCAPE + ESCAPE)
    top.shows("3 of 3 cells")
    top.leave()


def test_a_hung_cell_is_a_row_that_says_since_when_and_stops_nothing(top: Screen, run: Run) -> None:
    """The others' rows go on, the hung cell can be opened and left, and it comes back with its figures."""
    run("emulator fault t1 exa1cel02 hang")
    try:
        shown = top.shows("2 of 3 cells", "exa1cel02  no answer since ")
        assert sum("%" in line for line in shown if "exa1cel" in line) == 2
        top.press("g")
        top.child.send(ENTER)
        top.shows("exa1cel02  no answer since ")
        top.child.send(ESCAPE)
        top.shows("2 of 3 cells")
        top.press(DOWN)
        top.child.send(ENTER)
        top.shows("exa1cel01  28 disks")
        top.child.send(ESCAPE)
        top.shows("2 of 3 cells")
    finally:
        run("emulator fault t1 exa1cel02 clear hang")
    shown = top.shows("3 of 3 cells")
    assert not any("no answer" in line for line in shown)
    top.leave()


def test_a_cell_that_tells_no_metrics_still_tells_of_disks_and_alerts(top: Screen, run: Run) -> None:
    """Its row has the error, and since when it tells nothing else; its page has what can be read without metrics."""
    run("emulator fault t1 exa1cel03 error code=CELL-02559 match=metriccurrent")
    try:
        top.shows("exa1cel03  only an error since ", "2 of 3 cells")
        top.press("g")
        top.child.send(ENTER)
        top.shows("exa1cel03  28 disks", "no open alert", "20:0  ")
        top.leave()
    finally:
        run("emulator fault t1 exa1cel03 clear error")


def test_from_the_prompt_q_leads_back_to_it(start: Start) -> None:
    """Actions work from the prompt, too, and q gives the prompt back with the figures above it."""
    child = start(rows=24, columns=80)
    child.sendline("top 0.5 sort=cell")
    screen = Screen(child)
    screen.shows("3 of 3 cells", "> exa1cel01")
    child.send("o")
    child.expect_exact("Enter goes back to top")
    child.send(ENTER)
    screen.shows("3 of 3 cells")
    child.send("q")
    child.expect_exact("all cells")
    child.expect_exact("exacell> ")


def test_64_cells_scroll_and_answer_to_keys_while_one_hangs(tmp_path: Path, start: Start) -> None:
    """On 80 by 24 all 64 cells can be reached, filtered and opened, one that hangs among them."""
    env = {**os.environ, "EXACELL_HOME": str(tmp_path)}

    def run(*words: str) -> None:
        command = [sys.executable, "-m", "exacell", *words]
        subprocess.run(command, env=env, check=True, capture_output=True, stdin=subprocess.DEVNULL, timeout=300)

    run("emulator", "start", "big", "cells=64")
    try:
        run("emulator", "fault", "big", "exa1cel30", "hang")
        child = start("-r", "big", "top", "5", "sort=cell", rows=24, columns=80, EXACELL_HOME=str(tmp_path))
        screen = Screen(child)
        screen.shows("63 of 64 cells", "> exa1cel30  no answer since ", "1-18 of 64")
        child.send("G")
        screen.shows("> exa1cel64", "47-64 of 64")
        child.send("b")
        screen.shows("> exa1cel46")
        child.send("g/cel40" + ENTER)
        screen.shows("> exa1cel40", "/cel40")
        child.send(ENTER)
        screen.shows("exa1cel40  28 disks", "1-20 of ")
        screen.leave()
    finally:
        run("emulator", "stop", "big")
