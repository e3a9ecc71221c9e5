"""The guardian as a process: over the emulated rack it takes a change back, or leaves it when it was confirmed."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

import pytest

from exacell.change import sentry
from exacell.cli import main
from exacell.journal.record import Journal
from exacell.journal.rows import Columns, Entry, typed
from tests.support.patience import LONG_S

PATIENCE = LONG_S
"""Seconds after which a wait has failed; a loaded host is slow."""


class Shell:
    """The program with a scratch home."""

    def __init__(self, home: Path) -> None:
        self.home = home
        kept = {k: v for k, v in os.environ.items() if not k.startswith("EXACELL")}
        self.env = {**kept, "EXACELL_HOME": str(home), "HOME": str(home), "COLUMNS": "200"}

    def __call__(self, *words: str, code: int = 0) -> subprocess.CompletedProcess[str]:
        """Run a statement on the rack and require its exit code."""
        done = self._here(words)
        assert done.returncode == code, f"{words}: {done.returncode}\n{done.stdout}\n{done.stderr}"
        return done

    def _here(self, words: tuple[str, ...]) -> subprocess.CompletedProcess[str]:
        """Run the program in this process: only what the guardian is left behind by needs one of its own."""
        out, err, before = io.StringIO(), io.StringIO(), dict(os.environ)
        os.environ.clear()
        os.environ.update(self.env)
        try:
            with redirect_stdout(out), redirect_stderr(err), pytest.MonkeyPatch.context() as patch:
                patch.setattr(sys, "stdin", io.StringIO())
                code = main(list(words))
        finally:
            os.environ.clear()
            os.environ.update(before)
        return subprocess.CompletedProcess(words, int(code), out.getvalue(), err.getvalue())

    def flashlog(self) -> set[Any]:
        """Return what SPOT's directive says about flash logging, over all cells."""
        rows = json.loads(self("-r", "t1", "-o", "json", "show", "iorm").stdout)
        return {row.get("flashLog") or row.get("flashlog") for row in rows if row["name"] == "SPOT"}

    def flash_sizes(self) -> set[Any]:
        """Return the sizes of the flash caches, over all cells."""
        return {row["size"] for row in json.loads(self("-r", "t1", "-o", "json", "show", "flashcache").stdout)}

    @property
    def journal(self) -> Journal:
        """The journal, read as another process does."""
        return Journal(self.home / "journal.db")

    def wait_for(self, kind: str, change: int) -> dict[str, Any]:
        """Return the body of the change's row of that kind as soon as it is there."""
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            found = [e for e in self.journal.entries(change=change) if e.kind == kind]
            if found:
                return dict(found[-1].body)
            time.sleep(0.02)
        raise AssertionError(f"no row {kind} of change {change}: {[e.kind for e in self.journal.entries()]}")

    def wait_for_origin(self, origin: str) -> int:
        """Return the number of the change with that origin as soon as it is there."""
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            for entry in self.journal.entries():
                if entry.body.get("origin") == origin:
                    return entry.change
            time.sleep(0.02)
        raise AssertionError(f"nothing has the origin {origin}: {[e.kind for e in self.journal.entries()]}")

    def wait_for_log(self, change: int, line: str) -> str:
        """Return the guardian's log as soon as the line is in it: it is written behind the row that tells the same."""
        log = self.home / "guardians" / f"t1-{change}.log"
        deadline = time.monotonic() + PATIENCE
        while line not in (text := log.read_text()):
            assert time.monotonic() < deadline, f"no '{line}' in {text}"
            time.sleep(0.02)
        return text

    def newest(self) -> int:
        """Return the number of the newest change."""
        row = self.journal.newest_plan("t1")
        assert row is not None
        return row.change


@pytest.fixture(scope="module")
def shell(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shell]:
    """One emulated rack for the module; each test leaves it as it was."""
    made = Shell(tmp_path_factory.mktemp("guardian") / "home")
    made("emulator", "start", "t1", "speed=600")
    yield made
    made("emulator", "stop", "t1")


def test_an_unconfirmed_change_is_taken_back(shell: Shell) -> None:
    """It should bring the old plan back at the deadline, with its reason."""
    done = shell("-r", "t1", "disable", "flashlog", "db=SPOT", "--confirm-within", "1s", "-y")
    change = shell.newest()
    assert f"`confirm {change}` keeps it" in done.stderr
    assert shell.wait_for("reverted", change)["state"] == "done"
    assert shell.flashlog() == {None}
    (undone,) = [e.body for e in shell.journal.entries() if e.body.get("origin") == f"undo {change}"]
    assert undone["reason"].startswith("not confirmed by ")
    assert shell("-r", "t1", "-o", "json", "pending").stdout.strip() == "[]"
    assert "Traceback" not in shell.wait_for_log(change, f"change {change}: reverted")


def test_an_unconfirmed_run_is_taken_back_as_a_whole(shell: Shell) -> None:
    """It should take the changes of a recipe back in reverse order, and refuse a recipe that carries what it can't read."""
    folder = shell.home / "recipes"
    folder.mkdir(exist_ok=True)
    (folder / "twice.exa").write_text("disable flashlog db=SPOT\nset iorm db=SPOT share=3\n")
    (folder / "opaque.exa").write_text("disable flashlog db=SPOT\nhost './load.sh'\n")
    before = shell("-r", "t1", "-o", "json", "show", "iorm").stdout
    refused = shell("-r", "t1", "-y", "run", "opaque", "--confirm-within=1s", code=2)
    assert "line 2" in refused.stderr and "nothing was run" in refused.stderr
    shell("-r", "t1", "-y", "run", "twice", "--confirm-within=1s")
    last = shell.newest()
    assert shell.wait_for("reverted", last - 1)["state"] == "done"
    undone = [str(e.body.get("origin")) for e in shell.journal.entries() if e.kind == "plan" and e.change > last]
    assert undone == [f"undo {last}", f"undo {last - 1}"]
    assert shell("-r", "t1", "-o", "json", "show", "iorm").stdout == before
    assert shell("-r", "t1", "-o", "json", "pending").stdout.strip() == "[]"


def test_the_guardian_holds_nothing_of_the_shell(shell: Shell) -> None:
    """It should be a session of its own with descriptors of its own: nothing, its log, and neither terminal nor socket."""
    reader, writer = os.pipe()
    os.set_inheritable(writer, True)
    command = [sys.executable, "-m", "exacell", "-r", "t1", "disable", "flashlog", "db=SPOT"]
    subprocess.run(
        [*command, "--confirm-within=1h", "-y"],
        stdin=subprocess.DEVNULL, capture_output=True, env=shell.env, pass_fds=(writer,), timeout=300, check=True,
    )  # fmt: skip
    os.close(writer)
    change = shell.newest()
    pid = int(shell.wait_for("guardian", change)["pid"])
    assert os.getsid(pid) == pid
    held = {os.path.basename(os.readlink(f"/proc/{pid}/fd/{n}")) for n in (0, 1, 2)}
    assert held == {"null", f"t1-{change}.log"}
    assert os.read(reader, 1) == b""  # Nobody holds the other end any more.
    os.close(reader)
    shell("-r", "t1", "confirm", str(change))
    assert "is kept" not in shell("-r", "t1", "pending").stdout
    assert shell.flashlog() == {"off"}
    shell("-r", "t1", "undo", str(change), "-y")
    assert shell.flashlog() == {None}


def test_a_killed_guardian_is_told_at_the_next_start(shell: Shell) -> None:
    """It should say at every start what waits and what ends it when the guardian has died, and undo ends it."""
    shell("-r", "t1", "disable", "flashlog", "db=SPOT", "--confirm-within=1h", "-y")
    change = shell.newest()
    os.kill(int(shell.wait_for("guardian", change)["pid"]), signal.SIGKILL)
    deadline = time.monotonic() + PATIENCE
    while "its guardian has ended" not in (said := shell("-r", "t1", "show", "lock").stderr):
        assert time.monotonic() < deadline, said
    assert f"`confirm {change}` keeps it, `undo {change}` takes it back" in said
    shell("-r", "t1", "undo", str(change), "-y")
    assert shell.flashlog() == {None}
    assert "guardian" not in shell("-r", "t1", "show", "lock").stderr


def test_a_guardian_that_is_told_to_end_stops_as_ctrl_c_does(shell: Shell) -> None:
    """It should end the flush that it has begun when SIGTERM comes, so that every cell caches, say in the journal and at the
    next start that not all was taken back, try no more, and leave undo as the way out."""
    shell("-r", "t1", "resize", "flashcache", "size=300G", "--confirm-within=2s", "-y")
    change, before = shell.newest(), shell.flash_sizes()
    shell("emulator", "fault", "t1", "exa1cel01", "slow", "delay=4s", "match=(?i)flush nowait")
    pid = int(shell.wait_for("guardian", change)["pid"])
    # What it is told while the statement is under way counts as much as what comes later.
    taking_back = shell.wait_for_origin(f"undo {change}")
    shell.wait_for("intent", taking_back)
    os.kill(pid, signal.SIGTERM)
    told = shell.wait_for("reverted", change)
    assert (
        told["state"] == "failed"
        and told["again"] is False
        and "was stopped before everything was taken back" in told["reason"]
    )
    shell("emulator", "fault", "t1", "all", "clear")
    end = shell.wait_for("end", taking_back)
    assert end["exitCode"] == 4
    rows = json.loads(shell("-r", "t1", "-o", "json", "show", "flashcache").stdout)
    assert {row["caching"] for row in rows} == {"on"} and shell.flash_sizes() == before
    waiting = json.loads(shell("-r", "t1", "-o", "json", "pending").stdout)
    assert [(row["change"], row["state"]) for row in waiting] == [(taking_back, "stopped"), (change, "unconfirmed")]
    assert "could not be taken back: its guardian process was stopped" in waiting[1]["says"]
    shell("-r", "t1", "undo", str(change), "-y")
    assert shell.flash_sizes() != before
    assert shell("-r", "t1", "-o", "json", "pending").stdout.strip() == "[]"


def test_a_change_without_inverse_is_refused_before_it_is_made(shell: Shell) -> None:
    """It should refuse --confirm-within for a change that can't be taken back, and send nothing."""
    before = len(shell.journal.entries())
    refused = shell("-r", "t1", "on exa1cel01 create key --confirm-within 30m -y", code=2)
    assert "could not be taken back on exa1cel01" in refused.stderr and "nothing was sent" in refused.stderr
    assert len(shell.journal.entries()) == before


def test_a_guardian_that_can_not_begin_is_a_failure(shell: Shell) -> None:
    """It should say that nothing takes the change back, name the log, and fail, when the guardian ends at once."""
    folder = shell.home / "broken"
    folder.mkdir()
    (folder / "sitecustomize.py").write_text(
        "import sys\nif 'exacell.change.guardian' in sys.orig_argv:\n    raise SystemExit('no guardian today')\n"
    )
    env = {**shell.env, "PYTHONPATH": str(folder)}
    command = [sys.executable, "-m", "exacell", "-r", "t1", "disable", "flashlog", "db=SPOT"]
    done = subprocess.run(
        [*command, "--confirm-within=1h", "-y"],
        stdin=subprocess.DEVNULL, capture_output=True, text=True, env=env, timeout=300, check=False,
    )  # fmt: skip
    change = shell.newest()
    assert done.returncode == 1, done.stderr
    assert f"change {change} has no guardian" in done.stderr and f"t1-{change}.log" in done.stderr
    assert f"`confirm {change}` keeps it, `undo {change}` takes it back" in done.stderr
    shell("-r", "t1", "undo", str(change), "-y")
    assert shell.flashlog() == {None}


def began(guardian: subprocess.Popen[bytes]) -> Entry:
    """Return the row that a guardian writes when it begins."""
    body = {"pid": str(guardian.pid)}
    return typed(Columns(seq=1, at="", rack="t1", change=1, kind="guardian", target="", body=body, prev="", hash=""))


class Late:
    """A journal in which the guardian's row appears while it is being read, too late to be seen by that reading."""

    def __init__(self, guardian: subprocess.Popen[bytes]) -> None:
        self.guardian = guardian
        self.looks = 0

    def entries(self, *, change: int) -> list[Entry]:
        """Return no row at first, and let the guardian end before the caller goes on."""
        self.looks += 1
        self.guardian.communicate()
        return [] if self.looks == 1 else [began(self.guardian)]


def test_a_guardian_that_ended_while_the_shell_was_held_has_begun() -> None:
    """A row that came between the look at the journal and the one at the process is a guardian that began."""
    with subprocess.Popen(["cat"], stdin=subprocess.PIPE) as process:
        journal = Late(process)
        sentry._await(journal, 1, process, Path("log"))  # type: ignore[arg-type]
    assert journal.looks == 2


def test_a_guardian_that_does_not_begin_in_time_never_does(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """What is said to stay is not taken back by a guardian that begins late: its process is ended."""
    monkeypatch.setattr(sentry, "BEGIN", 0.05)
    with subprocess.Popen(["sleep", "600"]) as process:
        with pytest.raises(ChildProcessError, match="did not start"):
            sentry._await(Journal(tmp_path / "journal.db"), 1, process, Path("log"))
        assert process.returncode == -signal.SIGKILL
