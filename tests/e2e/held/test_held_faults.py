"""A holder of connections that fails in any way: the program that asks gives the right answer all the same."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable

from exacell.transport.held.place import PATIENCE
from tests.e2e.held.conftest import Holding, gone
from tests.support.patience import patiently, until

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


def test_an_open_folder_is_not_used(holding: Holding) -> None:
    """A holder's folder that others can enter is used by nobody."""
    holding.on()
    holding.hold.folder.chmod(0o755)
    assert holding(*READ).code == 0
    assert holding("hold", "on").code == 2
    holding.hold.folder.chmod(0o700)
