"""The program is asked to stop, or loses whoever reads it, in the middle of a change over real SSH: no cell is left half done."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pexpect
import pytest

from exacell.emulator import control
from exacell.emulator.basics.store import rack_files
from exacell.journal.left import CACHES
from exacell.journal.record import Journal
from exacell.journal.rows import Entry
from tests.support.patience import must_come
from tests.support.program import PROMPT, Program, Terminal, told

CELL = "exa1cel02"


class Site:
    """A running rack on which the flush of one cell takes until :meth:`go_on`, and the program in its own home."""

    def __init__(self, home: Path) -> None:
        self.program = Program(home)
        self.journal = Journal(home / "journal.db")
        self.seen = 0

    def rows(self) -> list[Entry]:
        """The journal since the last :meth:`hold`."""
        return list(self.journal.entries())[self.seen :]

    def hold(self) -> None:
        """Let the next flush of the cell take its time."""
        control.fault(self.program.home, "t1", [CELL], "stuck-flush", variant="endless")
        self.seen = len(self.journal.entries())

    def go_on(self) -> None:
        """Let the flush end."""
        control.clear_faults(self.program.home, "t1", [CELL], "stuck-flush")

    def under_way(self, lives: Callable[[], bool]) -> None:
        """Wait until the cell flushes; fail when the program has ended before."""
        must_come(lambda: any(row.kind == "intent" and row.target == CELL for row in self.rows()) or not lives())
        assert lives()

    def start(self, *words: str, **streams: Any) -> subprocess.Popen[str]:
        """Start the program without a terminal."""
        command = [sys.executable, "-m", "exacell", "-r", "t1", *words]
        given = {"env": self.program.env, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, **streams}
        return subprocess.Popen(command, stdin=subprocess.DEVNULL, text=True, **given)

    def ended(self, code: int) -> None:
        """Require that the change has its end in the journal, no cell is left without caching, nothing went wrong in the
        program itself, and that resume, if the change was stopped, goes on with it."""
        (end,) = [row for row in self.rows() if row.kind == "end"]
        assert end.body["exitCode"] == code and not CACHES.left(self.journal, "t1")
        assert not list(self.program.home.rglob("crash-*"))
        self.go_on()
        if code:
            self.program.ok("-r", "t1", "resume", "-y")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    home = tmp_path_factory.mktemp("endings")
    control.start(home, "t1", options={"speed": 600})
    try:
        yield Site(home)
    finally:
        control.stop(home, "t1")


def closed(terminal: Terminal) -> int:
    """Close the terminal as a lost ssh does, and return the program's exit code."""
    terminal.child.ptyproc.fileobj.close()
    return int(terminal.child.ptyproc.wait())


def shown(terminal: Terminal) -> None:
    """Wait until the progress of the flush is on the screen."""
    terminal.child.expect(r"flushing|waiting: ")


def test_a_terminal_that_is_closed_in_a_rolled_flush(site: Site) -> None:
    """The wave under way ends with caching on, no further wave begins, and the exit code says that it can be resumed."""
    site.hold()
    with site.program.at_terminal("-r", "t1", "flush flashcache --rolling -y") as terminal:
        site.under_way(terminal.child.isalive)
        shown(terminal)
        assert closed(terminal) == 4
    assert not [row for row in site.rows() if row.kind == "intent" and row.target == "exa1cel03"]
    site.ended(4)


@pytest.mark.parametrize("statement", ["resize flashcache size=288g -y", "run reset_cold size=272g -y"])
def test_a_terminal_that_is_closed_at_the_prompt(site: Site, statement: str) -> None:
    """The change under way ends well, and so does the session: what was typed ahead is not run."""
    site.hold()
    with site.program.at_terminal("-r", "t1") as terminal:
        terminal.ready()
        terminal.child.send(f"{statement}\r")
        site.under_way(terminal.child.isalive)
        shown(terminal)
        terminal.child.send("disable flashlog db=SPOT -y\r")
        assert closed(terminal) == 4
    assert not [row for row in site.rows() if "iormplan" in str(row.body.get("statement", ""))]
    site.ended(4)


def test_sighup_at_a_terminal_that_stays(site: Site) -> None:
    """Where somebody still sees it, it is said what came and how the change ended; no prompt comes back."""
    site.hold()
    with site.program.at_terminal("-r", "t1") as terminal:
        terminal.ready()
        terminal.child.send("resize flashcache size=256g -y\r")
        site.under_way(terminal.child.isalive)
        shown(terminal)
        terminal.child.kill(signal.SIGHUP)
        terminal.child.kill(signal.SIGHUP)
        said = told(terminal.rest())
        assert terminal.child.wait() == 4
    assert "asked to stop (SIGHUP): running statements may finish" in said and re.search(r"change \d+, journal", said)
    assert PROMPT not in said
    site.ended(4)


def test_a_closed_terminal_whose_hang_up_is_ignored(site: Site) -> None:
    """A change under nohup or trap '' HUP goes on to its end although its terminal has gone."""
    site.hold()
    ignoring = f"trap '' HUP; exec {sys.executable} -m exacell -r t1 'flush flashcache --rolling -y'"
    child = pexpect.spawn("/bin/sh", ["-c", ignoring], env={**site.program.env, "TERM": "xterm"}, encoding="utf-8")
    with Terminal(child) as terminal:
        site.under_way(terminal.child.isalive)
        shown(terminal)
        terminal.child.ptyproc.fileobj.close()
        site.go_on()
        assert terminal.child.ptyproc.wait() == 0
    site.ended(0)


@pytest.mark.parametrize("talk", [subprocess.STDOUT, None], ids=["2>&1 | head", "| head"])
def test_a_reader_that_has_gone(site: Site, talk: int | None) -> None:
    """A change whose output nobody reads any more goes on to its end, as does the change behind it."""
    site.hold()
    with open(site.program.home / "talk", "w+", encoding="utf-8") as kept:
        process = site.start(
            "-y", "-e", "flush flashcache; disable flashlog db=SPOT", stderr=kept if talk is None else talk
        )
        site.under_way(lambda: process.poll() is None)
        assert process.stdout is not None
        process.stdout.close()
        site.go_on()
        assert process.wait(300) == 0
        kept.seek(0)
        assert talk is not None or kept.read().count(", journal ") == 2
    assert [row.body["exitCode"] for row in site.rows() if row.kind == "end"] == [0, 0]
    assert not list(site.program.home.rglob("crash-*"))
    site.program.ok("-r", "t1", "undo", "-y")


def test_what_reads_ends_without_a_reader(site: Site) -> None:
    """A statement that only reads ends the program with its reader, and it is said that what stands behind it was not run."""
    read, write = os.pipe()
    os.close(read)
    process = site.start("-e", "list cell; list griddisk", stdout=write, stderr=subprocess.PIPE)
    os.close(write)
    _, said = process.communicate(timeout=300)
    assert process.returncode == 4
    assert said == "stopped, because nothing reads standard output any more: 1 more statement was not run\n"


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize(
    "statement",
    [
        "sh --accept-opaque -y {}",
        "dcli --accept-opaque -g {group} -l celladmin --serial {}",
        "host --accept-opaque {}",
    ],
)
def test_opaque_work_is_told_to_end(site: Site, statement: str, number: signal.Signals) -> None:
    """As after the first Ctrl-C, what a command that exacell can't read has begun may finish, and the journal tells of it."""
    home = site.program.home
    place = named = home
    if not statement.startswith("host"):  # An emulated cell has directories of its own.
        place, named = rack_files(home, "t1").tree(CELL) / "tmp", Path("/tmp")
    begun, going_on, finished = (place / mark for mark in ("begun", "on", "finished"))
    for mark in (begun, going_on, finished):
        mark.unlink(missing_ok=True)
    group = home / "cells"
    group.write_text(f"{CELL}\n")
    site.seen = len(site.journal.entries())
    text = statement.format(
        f"'touch {named}/begun; until test -e {named}/on; do sleep 0.05; done; touch {named}/finished'", group=group
    )
    process = site.start("-y", "-c", CELL, text)
    assert process.stdout is not None
    try:
        must_come(lambda: begun.exists() or process.poll() is not None)
        process.send_signal(number)
        lines = iter(process.stdout.readline, "")
        assert any(f"asked to stop ({number.name})" in line for line in lines) and not finished.exists()
    finally:
        going_on.touch()
    said, _ = process.communicate(timeout=300)
    assert process.returncode == 4 and finished.exists(), said
    (outcome,) = [row for row in site.rows() if row.kind == "outcome"]
    assert outcome.body["state"] == "done" and site.rows()[-1].kind == "end"


def test_a_question_between_waves_is_not_waited_for(site: Site) -> None:
    """Who is asked to stop while a rolled change asks whether to go on does not wait for the answer."""
    site.seen = len(site.journal.entries())
    with site.program.at_terminal("-r", "t1", "flush flashcache --rolling --pause=ask -y") as terminal:
        terminal.child.expect(r"continue\?")
        terminal.child.kill(signal.SIGTERM)
        said = told(terminal.rest())
        assert terminal.child.wait() == 4
    assert "interrupted before wave 2" in said and site.rows()[-1].body["exitCode"] == 4
    site.program.ok("-r", "t1", f"resume {site.rows()[-1].change} --abandon", "-y")


def test_a_rehearsal_that_is_told_to_end_leaves_no_copy(site: Site) -> None:
    """The copy of the rack and its folder go with the program that made them."""
    place = site.program.home / "t"
    place.mkdir()
    process = site.start("rehearse flush flashcache", env={**site.program.env, "TMPDIR": str(place)})
    must_come(lambda: list(place.glob("exacell-rehearsal-*")) or process.poll() is not None)
    process.send_signal(signal.SIGTERM)
    said, _ = process.communicate(timeout=300)
    assert process.returncode == 4 and "asked to stop (SIGTERM)" in said, said
    assert not list(place.glob("exacell-rehearsal-*"))
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):  # It has just ended.
            assert os.fsencode(place) not in path.read_bytes()
