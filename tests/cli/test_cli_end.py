"""The process ends at once, and yet leaves nothing undone."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

BEGIN = "import atexit, sys, threading, time; sys.argv = ['exacell', *sys.argv[1:]]; from exacell.cli import entry; "
CASES = [
    ("atexit.register(lambda: print('told')); ", ("--version",), 0, "told"),
    (
        "threading.Thread(target=lambda: (threading.main_thread().join(), print('thread'))).start(); ",
        ("--version",),
        0,
        "thread",
    ),
    ("", ("nonsense",), 2, ""),
]


@pytest.mark.parametrize(("before", "words", "code", "last"), CASES)
def test_nothing_is_left_undone(tmp_path: Path, before: str, words: tuple[str, ...], code: int, last: str) -> None:
    """The exit status is the statement's, output is whole, and what waits for the end of a process is still done."""
    done = subprocess.run(
        [sys.executable, "-c", f"{BEGIN}{before}entry()", *words],
        capture_output=True,
        text=True,
        timeout=300,
        env={"EXACELL_HOME": str(tmp_path), "PATH": "/usr/bin:/bin"},
        check=False,
    )
    assert done.returncode == code
    assert done.stdout.splitlines()[-1:] == ([last] if last else [])
    assert bool(done.stderr) == bool(code)


def test_a_reader_that_has_seen_enough_is_no_error(tmp_path: Path) -> None:
    """A pipe that is closed early ends the program quietly with status 0."""
    done = subprocess.run(
        f"{sys.executable} -m exacell help flags | head -1; echo ${{PIPESTATUS[0]}}",
        shell=True,
        executable="/bin/bash",
        capture_output=True,
        text=True,
        timeout=300,
        env={"EXACELL_HOME": str(tmp_path), "PATH": "/usr/bin:/bin"},
        check=False,
    )
    assert (done.stdout.splitlines()[-1], done.stderr) == ("0", "")
