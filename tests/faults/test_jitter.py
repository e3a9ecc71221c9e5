"""benchmarks/jitter.py: processes of a test run are held at random, and none stays held."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.patience import until

SCRIPT = Path(__file__).resolve().parents[2] / "benchmarks" / "jitter.py"

COUNTS = """
import os, pathlib, sys, time
place = pathlib.Path(sys.argv[1])
(place / "pid").write_text(str(os.getpid()))
for n in range(10**9):
    (place / "count").write_text(str(n))
    time.sleep(0.01)
"""
"""A process that shows that it goes on."""

LEAVES = """
import os, pathlib, subprocess, sys, time

def test_something_that_takes_a_while():
    place = pathlib.Path(os.environ["PLACE"])
    # It leaves its parent, as an emulated rack does.
    command = ["sh", "-c", '"$@" &', "sh", sys.executable, str(place / "counts.py"), str(place)]
    subprocess.run(command, start_new_session=True)
    while not (place / "count").exists():
        time.sleep(0.05)
    told = f" {(place / 'pid').read_text()} for "
    while told not in (place / "log").read_text():
        time.sleep(0.05)
    assert os.environ["WELL"] == "yes"
"""

WAITS = """
import subprocess

def test_something_that_waits():
    subprocess.run(["sleep", "600"])
"""

Jitter = Callable[..., subprocess.Popen[str]]


def state(pid: int) -> str:
    """Return what /proc says of a process: R, S, D, T for one that is held; empty when there is none."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return ""


@pytest.fixture
def jitter(tmp_path: Path) -> Jitter:
    """Starts the program, in a process group of its own, on a run with one test."""
    (tmp_path / "counts.py").write_text(COUNTS)
    (tmp_path / "pytest.ini").write_text("[pytest]\n")

    def start(*words: str, test: str = LEAVES, well: str = "yes") -> subprocess.Popen[str]:
        (tmp_path / "test_it.py").write_text(test)
        env = {**os.environ, "PLACE": str(tmp_path), "WELL": well}
        given = ["-q", "-p", "no:randomly", "-p", "no:cacheprovider", "-c", str(tmp_path / "pytest.ini"), str(tmp_path)]
        command = [sys.executable, str(SCRIPT), "--log", str(tmp_path / "log"), *words, "--", *given]
        pipe, same = subprocess.PIPE, subprocess.STDOUT
        return subprocess.Popen(
            command, cwd=tmp_path, env=env, text=True, stdout=pipe, stderr=same, start_new_session=True
        )

    return start


def goes_on(place: Path) -> bool:
    """Return whether the process that the test has started runs and counts, and end it."""
    pid = int((place / "pid").read_text())
    before = (place / "count").read_text()
    try:
        return until(lambda: state(pid) not in ("T", "") and (place / "count").read_text() != before)
    finally:
        os.kill(pid, signal.SIGKILL)


@pytest.mark.parametrize(("well", "code"), [("yes", 0), ("no", 1)])
def test_a_run_is_held_and_ends_as_it_would(jitter: Jitter, tmp_path: Path, well: str, code: int) -> None:
    """What leaves its parent is held too, the exit code is pytest's, each hold is told, and nobody stays held."""
    process = jitter("--rate=20", "--longest=0.3", well=well)
    said, _ = process.communicate(timeout=300)
    assert process.returncode == code, said
    assert "1 passed" in said if code == 0 else "1 failed" in said
    assert " holds" in said
    assert goes_on(tmp_path)


def test_who_is_held_goes_on_when_the_program_is_killed(jitter: Jitter, tmp_path: Path) -> None:
    """kill -9 of the one that would let it go on holds nobody for longer."""
    process = jitter("--rate=20", "--longest=600", "--least=600", test=WAITS)
    log = tmp_path / "log"
    try:
        assert until(lambda: log.exists() and ": sleep 600\n" in log.read_text())
        pid = next(int(line.split()[1]) for line in log.read_text().splitlines() if line.endswith(": sleep 600"))
        assert until(lambda: state(pid) == "T")
        process.kill()
        assert until(lambda: state(pid) == "S")
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()


def test_an_interrupted_run_is_ended(jitter: Jitter, tmp_path: Path) -> None:
    """SIGTERM ends pytest as well, as Ctrl-C does, and lets everyone go on."""
    process = jitter("--rate=20", "--longest=0.3")
    assert until(lambda: (tmp_path / "count").exists())
    process.terminate()
    said, _ = process.communicate(timeout=300)
    assert process.returncode == 130 or "1 passed" in said, said
    assert goes_on(tmp_path)


@pytest.mark.skipif(not os.path.exists("/usr/bin/cc"), reason="no C compiler")
def test_an_fsync_takes_its_time(tmp_path: Path) -> None:
    """--sync delays fsync in what is started, and only there."""
    code = (
        "import os, sys, time; sys.path.insert(0, sys.argv[1])\n"
        "import jitter, subprocess\n"
        "ask = 'import os, time; b = time.monotonic(); f = os.open(os.devnull, os.O_WRONLY)\\n'\n"
        "ask += 'for _ in range(40):\\n try: os.fsync(f)\\n except OSError: pass\\n'\n"
        "ask += 'print(time.monotonic() - b > 0.1)'\n"
        "with jitter.slow_sync(0.3) as env:\n"
        "    subprocess.run([sys.executable, '-c', ask], env={**os.environ, **env}, check=True)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(SCRIPT.parent)], capture_output=True, text=True, timeout=300, check=True
    )
    assert done.stdout == "True\n"
