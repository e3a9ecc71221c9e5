"""Standard output and error that take nothing: what was done on cells is on disk and in the exit code all the same."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import signal
import subprocess
import sys
import termios
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import cycle
from pathlib import Path
from shlex import join

import pytest

from exacell.journal.record import Journal
from tests.support.patience import LONG_S
from tests.support.program import InProcess, Program

CELLS = {"exa1cel01", "exa1cel02", "exa1cel03"}
FULL = "standard output: no space left on device; the output is not complete; changes on cells are not affected"
CLOSED = "standard output: it is closed; the output is not complete; changes on cells are not affected"
SHARES = cycle(range(2, 33))
"""A share for DEFAULT that it has not yet, so that each change is one."""

pytestmark = pytest.mark.skipif(not Path("/dev/full").exists(), reason="the system has no /dev/full")


@dataclass(frozen=True)
class Way:
    """How a shell takes a stream away.

    Attributes:
        words: behind the command line; ``{}`` stands for that.
        told: on standard error when data is lost; None where standard error is lost, too.
        read: the exit code of what only reads.
    """

    words: str
    told: str | None
    read: int


WAYS = {
    "full": Way("{} >/dev/full", FULL, 1),
    "closed": Way("{} >&-", CLOSED, 1),
    "error full": Way("{} 2>/dev/full", None, 0),
    "error closed": Way("{} 2>&-", None, 0),
    "both full": Way("{} >/dev/full 2>&1", None, 1),
    "both closed": Way("{} >&- 2>&-", None, 1),
    "all closed": Way("{} <&- >&- 2>&-", None, 1),
    "no reader": Way("{} | head -n 0; exit ${{PIPESTATUS[0]}}", "", 0),
    "no reader of both": Way("{} 2>&1 | head -n 0; exit ${{PIPESTATUS[0]}}", None, 0),
}


@pytest.fixture(scope="module", autouse=True)
def as_it_was(shared: InProcess) -> Iterator[None]:
    """DEFAULT gets its share back."""
    shared.ok("-r", "t1", "save iorm as=usual")
    yield
    shared.ok("-r", "t1", "restore iorm usual -y")


def shell(program: Program, way: Way, *words: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
    """Run the program in a shell that takes streams away."""
    line = way.words.format(join([sys.executable, "-m", "exacell", *words]))
    return subprocess.run(
        ["bash", "-c", line], input=stdin, capture_output=True, text=True, env=program.env, timeout=300, check=False
    )


def outcomes(program: Program) -> list[tuple[str, str]]:
    """Cell and result of each step in the journal."""
    entries = list(Journal(program.home / "journal.db").entries())
    return [(entry.target, entry.body["state"]) for entry in entries if entry.kind == "outcome"]


def no_crash(program: Program) -> bool:
    return not list(program.home.rglob("crash-*"))


READS = {
    "table": ("list griddisk",),
    "json": ("-o", "json", "list cell"),
    "streamed": ("watch 0.1 count=2 show flashcache",),
    "dcli": ("dcli", "-c", "exa1cel01", "-l", "celladmin", "hostname"),
    "two": ("-e", "list cell; list flashcache"),
    "dry": ("set iorm db=default share=32 -n",),
    "no rack": ("--help",),
    "help": ("help",),
}


ANYWHERE = ("table", "streamed")
"""Reads that are tried in every way; the others where a stream is full or closed."""


@pytest.mark.parametrize(
    ("read", "way"), [(read, way) for read in READS for way in (WAYS if read in ANYWHERE else ("full", "both closed"))]
)
def test_what_only_reads(outside: Program, read: str, way: str) -> None:
    """It fails when its output is lost, in one line where that can be said; a reader that has left is no failure."""
    taken = WAYS[way]
    done = shell(outside, taken, "-r", "t1", *READS[read])
    left_over = 4 if read == "two" and "reader" in way else taken.read
    assert done.returncode == left_over, done.stderr
    assert no_crash(outside) and "Traceback" not in done.stderr
    if taken.told is None or way == "no reader":
        assert read in ("two", "dry") or done.stderr == ""
    else:
        assert [line for line in done.stderr.splitlines() if "standard output" in line] == [f"exacell: {taken.told}"]


@pytest.mark.parametrize("way", WAYS)
def test_what_changes(outside: Program, way: str) -> None:
    """A change ends with its own exit code, each outcome is in the journal, and nothing is left to resume."""
    done = shell(outside, WAYS[way], "-r", "t1", f"set iorm db=default share={next(SHARES)} -y")
    assert done.returncode == 0, done.stderr
    assert no_crash(outside)
    assert set(outcomes(outside)) == {(cell, "done") for cell in CELLS}
    if WAYS[way].told:
        assert f"exacell: {WAYS[way].told}" in done.stderr.splitlines() and "change 1, journal" in done.stderr
    assert "change" not in outside.ok("-r", "t1", "pending").err


@pytest.mark.parametrize("way", ["full", "both closed", "no reader"])
def test_a_change_that_fails(outside: Program, way: str) -> None:
    """What cells refuse ends with 1, whatever takes its output."""
    done = shell(outside, WAYS[way], "-r", "t1", "alter iormplan dbplan=((name=_X,share=3)) -y")
    assert (done.returncode, no_crash(outside)) == (1, True)
    assert {cell for cell, state in outcomes(outside) if state != "done"} == CELLS


@pytest.mark.parametrize("way", ["full", "error closed", "both closed", "all closed", "no reader"])
def test_a_script(outside: Program, way: str) -> None:
    """Changes of a script are all carried out; a read behind them fails where its output is lost."""
    taken = WAYS[way]
    first, second = next(SHARES), next(SHARES)
    script = f"set iorm db=default share={first} -y\nset iorm db=default share={second} -y\nlist cell\n"
    done = shell(outside, taken, "-r", "t1", stdin=script)
    assert (done.returncode, no_crash(outside)) == (0 if way == "all closed" else taken.read, True), done.stderr
    assert len(outcomes(outside)) == (0 if way == "all closed" else 6)
    if taken.told:
        assert done.stderr.count("the output is not complete") == 1


@pytest.mark.parametrize("way", ["full", "both closed", "no reader"])
def test_a_recipe(outside: Program, way: str) -> None:
    """So is a recipe's change, behind which it reads."""
    folder = outside.home / "recipes"
    folder.mkdir()
    (folder / "shared.exa").write_text('recipe "A share"\nparam n : int\nset iorm db=default share=$n\nlist cell\n')
    done = shell(outside, WAYS[way], "-r", "t1", "run", "shared", f"n={next(SHARES)}", "-y")
    assert (done.returncode, no_crash(outside)) == (0, True), done.stderr
    assert set(outcomes(outside)) == {(cell, "done") for cell in CELLS}


@pytest.mark.parametrize(
    ("statement", "code"),
    [("set iorm db=default share={} -y", 0), ("list cell", 1), ("watch 0.1 count=1 list cell", 1)],
)
def test_a_file_that_takes_nothing(outside: Program, statement: str, code: int) -> None:
    """Data behind ``>`` that is lost is told with the file's name; a change stands, with its exit code and number."""
    done = outside("-r", "t1", f"{statement.format(next(SHARES))} > /dev/full")
    assert done.code == code
    assert "/dev/full: no space left on device; it is not complete; changes on cells are not affected" in done.err
    assert len(outcomes(outside)) == (0 if code else 3) and ("change 1, journal" in done.err) == (code == 0)


def test_a_file_that_cannot_be_written_is_known_before(outside: Program, tmp_path: Path) -> None:
    """A folder, or a file in none, is refused before anything is sent."""
    for name in (tmp_path, tmp_path / "none" / "x"):
        done = outside("-r", "t1", f"set iorm db=default share={next(SHARES)} -y > {name}")
        assert done.code == 2 and "can't be written" in done.err
    assert outcomes(outside) == []


def test_a_spool_file_that_takes_nothing(outside: Program) -> None:
    """It is told once, and stops neither reads nor changes."""
    script = f"spool /dev/full\nlist cell\nset iorm db=default share={next(SHARES)} -y\nlist cell\n"
    done = outside("-r", "t1", stdin=script)
    assert done.code == 0 and done.out.count("online") == 6 and len(outcomes(outside)) == 3
    assert done.err.count("/dev/full: no space left on device; it is not complete, and spooling has ended") == 1


TERMINALS = {
    "read": (["list griddisk"], "", "waiting for exa1cel02", (0, 1)),
    "pager": (["list griddisk"], "", "DATA_CD_00", (0, 1)),
    "question": (["set iorm db=default share={}"], "", "[y/N/d]", (2,)),
    "change": (["set iorm db=default share={} -y"], "", "[1/1]", (0, 4)),
    "prompt": ([], "", "exacell> ", (0, 1)),
    "prompt that reads": ([], "list griddisk\r", "exacell> ", (0, 1)),
    "prompt that changes": ([], "set iorm db=default share={} -y\r", "exacell> ", (0, 1, 4)),
}
"""What is given, what is typed at the prompt, what is shown when the terminal is closed or typed at, and the exit codes."""

TAKEN = "\x1b[?2004l"
"""What the prompt writes once it has taken a line: pastes are no longer marked."""


@pytest.mark.parametrize("kind", ["SIGHUP", "nohup"])
@pytest.mark.parametrize("case", TERMINALS)
def test_a_terminal_that_is_closed(outside: Program, fault: Callable[..., None], case: str, kind: str) -> None:
    """The program ends by the signal or with a code of its own, and no change is left without an outcome."""
    words, typed, seen, codes = TERMINALS[case]
    share = str(next(SHARES))
    if case == "read":
        fault("exa1cel02", "hang", "match=(?i)list")
    ours, theirs = pty.openpty()

    def take_terminal() -> None:
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)
        signal.signal(signal.SIGHUP, signal.SIG_IGN if kind == "nohup" else signal.SIG_DFL)

    process = subprocess.Popen(
        [sys.executable, "-m", "exacell", "-r", "t1", *(word.format(share) for word in words)],
        stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True, preexec_fn=take_terminal,
        env={**outside.env, "TERM": "xterm-256color"},
    )  # fmt: skip
    os.close(theirs)
    read_until(ours, seen)
    if typed:
        os.write(ours, typed.format(share).encode())
        read_until(ours, TAKEN)
    os.close(ours)
    if case == "read":
        fault("exa1cel02", "clear")
    code = process.wait(timeout=300)
    assert code in codes or (kind == "SIGHUP" and code == -signal.SIGHUP)
    assert no_crash(outside)
    kinds = [entry.kind for entry in Journal(outside.home / "journal.db").entries()]
    assert kinds.count("intent") == kinds.count("outcome")
    if case == "change" and code == 0:
        assert len(outcomes(outside)) == 3


def read_until(terminal: int, text: str) -> None:
    """Read what a program writes on its terminal until it has written ``text``.

    Raises:
        AssertionError: it ended without it, or never wrote it.
    """
    seen = b""
    while text.encode() not in seen and select.select([terminal], [], [], LONG_S)[0]:
        try:
            seen += os.read(terminal, 65536)
        except OSError:
            break
    assert text.encode() in seen, f"{text!r} is not in {seen!r}"
