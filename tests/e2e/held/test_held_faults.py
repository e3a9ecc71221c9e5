"""A holder of connections that fails in any way: the program that asks gives the right answer all the same."""

from __future__ import annotations

import os
import resource
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from exacell.transport.held.place import PACKAGE, PATIENCE
from tests.e2e.held.conftest import Holding, gone
from tests.support.patience import patiently, until
from tests.support.program import Done

READ = ("-o", "json", "list cell")


def test_killed(holding: Holding) -> None:
    """After kill -9 the next read is right, and the one that is wanted by the environment starts another holder."""
    right, pid = holding(*READ), holding.on()
    os.kill(pid, signal.SIGKILL)
    assert until(lambda: gone(pid))
    assert holding(*READ) == right
    assert holding.on() != pid
    assert holding(*READ) == right


def test_stopped_before_it_accepts(holding: Holding) -> None:
    """A holder that is stopped costs a program 0.3 s, and `hold off` ends it."""
    right, pid = holding(*READ), holding.on()
    os.kill(pid, signal.SIGSTOP)

    def quickly(limit: float) -> None:
        began = time.monotonic()
        assert holding(*READ) == right
        assert time.monotonic() - began < PATIENCE + limit

    patiently(quickly, 3.0)
    assert holding.status()["state"] == "does not answer"
    assert holding("hold", "off").code == 0 and gone(pid)


def test_stopped_and_killed_while_it_works(holding: Holding, fault: Callable[..., None]) -> None:
    """A holder that is stopped, or killed, between its word that it works and the answer loses no answer."""
    right = holding(*READ)
    fault("exa1cel02", "slow", "delay=2s")
    for number in (signal.SIGSTOP, signal.SIGKILL):
        pid = holding.on()
        words = [sys.executable, "-m", "exacell", "-r", "t1", *READ]
        asking = subprocess.Popen(words, stdout=subprocess.PIPE, text=True, env=holding.outside.env)
        assert until(lambda: holding.status()["reads"] == 1)
        os.kill(pid, number)
        assert asking.communicate(timeout=120)[0] == right.out and asking.returncode == 0
        holding("hold", "off")


def test_full_of_descriptors(holding: Holding) -> None:
    """A holder that can open no file more answers nobody, and no answer is lost."""
    right, pid = holding(*READ), holding.on()
    resource.prlimit(pid, resource.RLIMIT_NOFILE, (4, 4))
    assert holding(*READ) == right
    assert holding(*READ) == right


def test_a_cell_restarts(holding: Holding, fault: Callable[..., None]) -> None:
    """When a cell ends all connections, each read is right, and the holder connects again by itself."""
    right = holding(*READ)
    holding.on()
    fault("exa1cel02", "drop", "nth=1")
    assert holding(*READ).code in (0, 1)
    fault("exa1cel02", "clear")
    assert holding(*READ) == right
    assert until(lambda: holding.status()["connections"] == 3)
    assert holding(*READ) == right


def test_a_changed_host_key(holding: Holding, fault: Callable[..., None]) -> None:
    """A cell whose host key changes while it is connected to again is refused as it is without a holder."""
    holding.on()
    fault("exa1cel02", "host-key")
    holding("hold", "off")
    without = holding(*READ)
    assert without.code == 1 and "host key" in without.err
    assert holding("hold", "on").code == 0
    assert until(lambda: holding.status()["connections"] == 2)
    assert holding(*READ) == without


def test_known_hosts_that_change_end_it(holding: Holding) -> None:
    """A change of the known_hosts file that it read ends a holder, and the read is judged by what the file says now."""
    pid = holding.on()
    known = holding.hold
    config = (holding.program.home / "racks.d" / "t1.toml").read_text()
    folder = config.split('ssh_config = "')[1].split("/ssh_config")[0]
    os.utime(f"{folder}/known_hosts")
    assert holding(*READ).code == 0 and known.folder.is_dir()
    assert until(lambda: gone(pid))


def test_another_version_has_a_holder_of_its_own(holding: Holding, tmp_path: Path) -> None:
    """A program of another version is not answered by this one's holder, but by one that it starts; both answers are right."""
    right, pid = holding(*READ), holding.on()
    shutil.copytree(PACKAGE, tmp_path / "newer" / "exacell", ignore=shutil.ignore_patterns("__pycache__"))
    (tmp_path / "newer" / "exacell" / "core" / "version.py").write_text(
        '"""Another version."""\n\n__version__ = "9.9.9"\n'
    )
    env = {**holding.outside.env, "PYTHONPATH": str(tmp_path / "newer")}

    def newer(*words: str) -> Done:
        done = subprocess.run(
            [sys.executable, "-m", "exacell", "-r", "t1", *words],
            stdin=subprocess.DEVNULL, capture_output=True, text=True, env=env, cwd=tmp_path, check=False,
        )  # fmt: skip
        return Done(done.returncode, done.stdout, done.stderr)

    assert newer("--version").out.strip().endswith("9.9.9")
    reads = holding.status()["reads"]
    assert newer(*READ) == right and holding.status()["reads"] == reads
    assert newer("hold", "on", "idle=2m").code == 0
    assert until(lambda: newer("hold", "status", "-o", "json").records[0]["connections"] == 3)
    assert newer(*READ) == right == holding(*READ)
    assert newer("hold", "off").code == 0
    assert holding.status()["pid"] == pid


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can be another user")
def test_another_user_is_not_answered(holding: Holding) -> None:
    """A process of another user that gets at the socket is told nothing, and the holder goes on for its own user."""
    right, pid = holding(*READ), holding.on()
    place = holding.hold.socket
    ask = (
        "import os, socket, sys; os.chdir(sys.argv[1]); os.setgroups([]); os.setgid(65534); os.setuid(65534)\n"
        "s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET); s.settimeout(60)\n"
        "s.connect(sys.argv[2])\n"
        "try:\n"
        "    s.send(b'{}')\n"
        "    print(len(s.recv(99999)))\n"
        "except ConnectionError:\n"
        "    print(0)  # It may be dropped before it has said anything.\n"
    )
    place.parent.chmod(0o711)
    place.chmod(0o777)
    try:
        words = [sys.executable, "-c", ask, str(place.parent), place.name]
        done = subprocess.run(words, capture_output=True, text=True, check=False)
    finally:
        place.parent.chmod(0o700)
    assert done.stdout == "0\n", done.stderr
    assert "belongs to another user" in holding.log()
    assert holding(*READ) == right and holding.status()["pid"] == pid


def test_an_open_folder_is_not_used(holding: Holding) -> None:
    """A holder's folder that others can enter is used by nobody."""
    holding.on()
    holding.hold.folder.chmod(0o755)
    assert holding(*READ).code == 0
    assert holding("hold", "on").code == 2
    holding.hold.folder.chmod(0o700)
