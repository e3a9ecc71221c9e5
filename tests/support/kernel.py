"""This machine's kernel as a host of a rack without cells, over a real sshd: the queue of a loop device that nobody uses."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.support.program import InProcess
from tests.support.sshd import PROGRAM, Sshd

QUEUE = ("scheduler", "nr_requests", "read_ahead_kb", "max_sectors_kb", "rq_affinity")


def _free_loop() -> str:
    """Return a loop device without a file whose queue we may write; empty where there is none."""
    loops = sorted(Path("/sys/block").glob("loop*"), reverse=True)
    fit = (d for d in loops if not (d / "loop/backing_file").exists() and os.access(d / "queue/scheduler", os.W_OK))
    return next((device.name for device in fit), "")


LOOP = _free_loop() if os.geteuid() == 0 else ""

NEEDED = [
    pytest.mark.skipif(PROGRAM is None, reason="there is no sshd here"),
    pytest.mark.skipif(not LOOP, reason="only root may set queues, and only of a loop device that is free"),
]


@dataclass
class Kernel:
    """This machine's kernel as a host of the rack ``lab``."""

    program: InProcess
    server: Sshd
    queue: Path

    def __call__(self, *words: str):
        return self.program("-r", "lab", *words)

    def ok(self, *words: str):
        return self.program.ok("-r", "lab", *words)

    def value(self, name: str) -> str:
        text = (self.queue / name).read_text()
        return text.partition("[")[2].partition("]")[0] if "[" in text else text.strip()


@contextmanager
def kernel_of(tmp_path: Path) -> Iterator[Kernel]:
    """Have a rack of one host, this machine; one test at a time has the loop device, whose queue is afterwards as it was."""
    with open(f"/dev/{LOOP}", "rb") as device:
        fcntl.flock(device, fcntl.LOCK_EX)
        yield from _alone(tmp_path)


def _alone(tmp_path: Path) -> Iterator[Kernel]:
    server = Sshd(tmp_path / "sshd")
    server.start()
    server.known_hosts()
    home = tmp_path / "home"
    (home / "racks.d").mkdir(parents=True)
    (home / "racks.d" / "lab.toml").write_text(
        f'ssh_config = "{server.ssh_config()}"\nlock = "{tmp_path}/lock"\n[hosts.ini]\nnodes = "ini1"\nuser = "root"\n'
    )
    found = Kernel(InProcess(home), server, Path(f"/sys/block/{LOOP}/queue"))
    before = {name: found.value(name) for name in QUEUE}
    yield found
    server.stop()
    for name, value in before.items():
        (found.queue / name).write_text(value)
