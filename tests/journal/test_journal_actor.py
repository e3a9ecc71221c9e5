"""Whether the process that acted still runs: of a person's own, of somebody else's, where the kernel hides those."""

from __future__ import annotations

import os
import pwd
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from exacell.journal import actor as module
from exacell.journal.actor import actor, alive as lives
from exacell.journal.rows import Actor

HERE = {"host": socket.gethostname()}


def alive(body: Mapping[str, str]) -> bool:
    return lives(Actor.of(body))


@pytest.fixture
def child() -> Iterator[subprocess.Popen[bytes]]:
    """A process that lives until its standard input ends."""
    with subprocess.Popen(
        [sys.executable, "-c", "input()"], stdin=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as process:
        yield process
        process.kill()


def ended(process: subprocess.Popen[bytes]) -> dict[str, str]:
    """End a process, wait for it, and return what names it."""
    process.kill()
    process.wait()
    return {**HERE, "pid": str(process.pid)}


@pytest.fixture
def hidden(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Let /proc show this process alone, as hidepid=2 does. Source: proc(5), hidepid."""
    (tmp_path / "self").mkdir()
    monkeypatch.setattr(module, "PROC", tmp_path)


@pytest.fixture
def unreadable(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, child: subprocess.Popen[bytes]) -> None:
    """Let /proc show a process and not its state, as hidepid=1 does: here it is a directory, which nobody reads."""
    (tmp_path / str(child.pid) / "stat").mkdir(parents=True)
    monkeypatch.setattr(module, "PROC", tmp_path)


def test_a_process_lives_until_it_has_ended(child: subprocess.Popen[bytes]) -> None:
    """A process is alive while it runs and not when it has ended; one that nobody waited for has ended as well."""
    body = {**HERE, "pid": str(child.pid)}
    assert alive(body)
    child.kill()
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
    assert not alive(body)
    assert not alive(ended(child))


def test_a_number_that_another_process_has_now_is_not_the_same() -> None:
    """Who has the number and began at another time is somebody else; one of another host can't be told and counts as alive."""
    assert alive(actor())
    assert not alive({**actor(), "started": "1"})
    assert alive({**actor(), "started": "1", "host": "elsewhere"})
    for nobody in ("", "0", "x", "99999999999999999999"):
        assert not alive({**HERE, "pid": nobody, "started": ""})


@pytest.mark.usefixtures("hidden")
def test_a_process_that_the_kernel_hides_is_alive(child: subprocess.Popen[bytes]) -> None:
    """Where /proc shows nobody else's processes, a living one still holds its lock, and one that has ended does not."""
    assert alive({**HERE, "pid": str(child.pid), "started": "4711"})
    assert not alive(ended(child))


@pytest.mark.usefixtures("unreadable")
def test_a_process_whose_state_may_not_be_read_is_alive(child: subprocess.Popen[bytes]) -> None:
    """Where /proc does not let others read a process's state, it is alive until it has ended."""
    assert alive({**HERE, "pid": str(child.pid), "started": "4711"})
    assert not alive(ended(child))


def test_the_user_is_whom_the_kernel_knows(monkeypatch: pytest.MonkeyPatch) -> None:
    """What somebody sets as his name, or what su left of another one's, is not journalled; a number without a name is."""
    for name in ("LOGNAME", "USER", "LNAME", "USERNAME"):
        monkeypatch.setenv(name, "mallory")
    assert actor()["user"] == pwd.getpwuid(os.getuid()).pw_name
    monkeypatch.setattr(os, "getuid", lambda: 1999999999)
    assert actor()["user"] == "1999999999"
