"""Long commands on hosts, apart from the link: their output comes whole, after Ctrl-C, kill -9 and a lost link, too."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.patience import until
from tests.support.program import Program
from tests.support.sshd import PROGRAM, Sshd

pytestmark = pytest.mark.skipif(PROGRAM is None, reason="there is no sshd here")


class Lab:
    """This machine as a host, with a gate that commands wait for."""

    def __init__(self, folder: Path) -> None:
        self.server = Sshd(folder / "sshd")
        self.server.start()
        self.server.known_hosts()
        home = folder / "home"
        (home / "racks.d").mkdir(parents=True)
        (home / "racks.d" / "lab.toml").write_text(
            f'ssh_config = "{self.server.ssh_config()}"\nlock = "{folder}/lock"\ncells = "cel01"\n[hosts.ini]\nnodes = "ini1"\n'
        )
        self.begun: list[subprocess.Popen[str]] = []
        self.program, self.gate, self.reached = Program(home), folder / "gate", folder / "reached"

    @property
    def waiting(self) -> str:
        """A command that prints a line, waits for the gate and prints another one."""
        return f"echo one; pwd > {self.reached}; while [ ! -e {self.gate} ]; do sleep 0.05; done; echo two"

    def begin(self, statement: str = "") -> subprocess.Popen[str]:
        """Start the waiting command, or a statement that does, and wait until it runs."""
        process = subprocess.Popen(
            [
                sys.executable,
                "-m",
                "exacell",
                "-r",
                "lab",
                statement or f"on @ini sh --accept-opaque --detach {self.waiting}",
            ],
            env=self.program.env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.begun.append(process)
        assert until(self.reached.exists)
        return process

    def folder(self) -> Path:
        """The folder of the only change."""
        rows = self.program.ok("-r", "lab", "-o", "json", "journal export format=jsonl").out
        return Path("/tmp/exacell-" + rows.partition("/tmp/exacell-")[2][:32])

    def fetched(self) -> dict[str, object]:
        """What resume brings."""
        (row,) = self.program.ok("-r", "lab", "-o", "json", "resume -y").records
        return row


@pytest.fixture
def lab(tmp_path: Path) -> Iterator[Lab]:
    found = Lab(tmp_path)
    yield found
    found.gate.touch()
    for process in found.begun:
        process.kill()
        process.communicate()
    found.server.stop()


def test_output_and_status_come_and_nothing_stays(lab: Lab) -> None:
    """A command's lines and its status are told as those of any other, and its folder is gone; its quotes arrive."""
    done = lab.program("-r", "lab", "-o", "json", "on @ini sh --accept-opaque --detach printf '%s|' 'a b' c; exit 3")
    assert done.records == [{"cell": "ini1", "exitStatus": 3, "text": "a b|c|"}] and done.code == 1
    assert not lab.folder().exists()
    assert lab.program.ok("-r", "lab", "-o", "json", "pending").records == []


def test_ctrl_c_says_that_it_runs_and_resume_brings_it(lab: Lab) -> None:
    """After Ctrl-C the command goes on in a folder of its own that only its user may enter; resume brings all its output."""
    process = lab.begin()
    process.send_signal(signal.SIGINT)
    said = process.communicate(timeout=300)[1]
    assert process.returncode == 4 and "it still runs on ini1 (process" in said and "fetches the result" in said
    folder = lab.folder()
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert "fetches the result" in lab.program.ok("-r", "lab", "pending").out
    assert "runs as process" in lab.program("-r", "lab", "resume -n").err
    lab.gate.touch()
    assert lab.fetched() == {"cell": "ini1", "exitStatus": 0, "text": "one\ntwo"}
    assert not folder.exists() and lab.program.ok("-r", "lab", "-o", "json", "pending").records == []


def test_kill_9_loses_nothing(lab: Lab) -> None:
    """A killed exacell leaves the command running; the next resume brings its output, printed line by line as sh prints it."""
    process = lab.begin()
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()
    lab.gate.touch()
    resumed = lab.program.ok("-r", "lab", "resume -y")
    assert resumed.out == "one\ntwo\n" and "(none)" not in resumed.err


def test_a_lost_link_loses_nothing(lab: Lab) -> None:
    """Where the link is lost and comes back, the same exacell goes on following and has all of the output."""
    process = lab.begin()
    lab.server.stop()
    lab.gate.touch()
    lab.server.start()
    out, said = process.communicate(timeout=300)
    assert process.returncode == 0 and "one" in out and "two" in out, said


def test_a_killed_command_is_told(lab: Lab) -> None:
    """A command that is killed there leaves no status: that is a failure with the output so far."""
    process = lab.begin()
    folder = lab.folder()
    os.killpg(int((folder / "pid").read_text()), signal.SIGKILL)
    out, said = process.communicate(timeout=300)
    assert process.returncode == 1 and "without an exit status" in said and "one" in out


def test_a_cell_is_left_alone(lab: Lab) -> None:
    """Nothing is left on a cell: --detach is refused there, and unread work on hosts needs consent as ever."""
    done = lab.program("-r", "lab", "sh --accept-opaque --detach sleep 1")
    assert done.code == 2 and "is for hosts" in done.err
    done = lab.program("-r", "lab", "on @ini sh --detach touch /tmp/x")
    assert done.code == 2 and "--accept-opaque" in done.err


def test_what_a_killed_recipe_wanted_to_keep_is_kept_by_resume(lab: Lab) -> None:
    """kill -9 while a recipe's command runs: resume brings its output into the run's folder, whole, and keeps what is left."""
    folder = lab.program.home / "recipes"
    folder.mkdir()
    (folder / "long.exa").write_text(
        'recipe "Long"\nneeds opaque\nparam word : text\non @ini keep sh --detach '
        f'"{lab.waiting}" as=load\non @ini keep sh uname as=kernel\n'
    )
    process = lab.begin("run long word=x -y --accept-opaque")
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()
    assert lab.program("-r", "lab", "results").code != 0, "nothing is kept that did not end"
    lab.gate.touch()
    lab.program.ok("-r", "lab", "resume -y")
    rows = {row["name"]: row for row in lab.program.ok("-r", "lab", "-o", "json", "results r1").records}
    assert rows.keys() == {"load", "kernel"} and {row["cell"] for row in rows.values()} == {"ini1"}
    assert Path(rows["load"]["file"]).read_text() == "one\ntwo\n"


def test_ctrl_c_keeps_what_ended(lab: Lab) -> None:
    """A recipe's command that ended is kept, whatever ends the recipe then; one that goes on is brought by resume."""
    folder = lab.program.home / "recipes"
    folder.mkdir()
    (folder / "long.exa").write_text(
        'recipe "Long"\nneeds opaque\non @ini keep sh uname as=kernel\non @ini keep sh --detach '
        f'"{lab.waiting}" as=load\n'
    )
    process = lab.begin("run long -y --accept-opaque")
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=300)
    named = lab.program.ok("-r", "lab", "-o", "json", "results").records
    assert [row["name"] for row in named] == ["kernel"]
    lab.gate.touch()
    lab.program.ok("-r", "lab", "resume -y")
    assert "load" in [row["name"] for row in lab.program.ok("-r", "lab", "-o", "json", "results").records]
