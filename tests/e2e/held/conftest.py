"""Homes whose reads go to a holder of connections, which ends with the test."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from exacell.core.config import load
from exacell.core.paths import Home
from exacell.transport.held.place import Hold, hold_of
from tests.support.patience import until
from tests.support.program import Done, InProcess, Program


class Holding:
    """A home with a rack, whose reads have a holder.

    Attributes:
        program: in this process; ``outside`` a process a statement.
    """

    def __init__(self, home: Path, rack_of: Program) -> None:
        self.program = InProcess(home).with_rack_of(rack_of)
        self.outside = Program(home)
        self._pid = 0

    @property
    def hold(self) -> Hold:
        """Where its holder is."""
        config = load(Home.from_env(self.program.env), self.program.env)
        return hold_of(Home.from_env(self.program.env), config.racks["t1"], config.settings, None)

    def __call__(self, *words: str) -> Done:
        """Run a statement."""
        return self.program("-r", "t1", *words)

    def on(self, idle: str = "2m") -> int:
        """Have a holder that is connected to all cells, and return its process; one that a login failed begins again."""
        for _ in range(10):
            assert self("hold", "on", f"idle={idle}").code == 0
            if until(self._connected, seconds=30):
                return self._pid
            self("hold", "off")
        raise AssertionError(f"no holder was connected to all cells: {self.log()}")

    def _connected(self) -> bool:
        """Return whether a look shows all three cells; keep the process that it names, for the next look may be late."""
        seen = self.status()
        self._pid = int(seen["pid"] or 0)
        return bool(seen["connections"] == 3)

    def status(self) -> dict[str, Any]:
        """Return what ``hold status`` says."""
        return self("hold", "status", "-o", "json").records[0]

    def log(self) -> str:
        """Return what the holder wrote."""
        return self.hold.log.read_text() if self.hold.log.exists() else ""


@pytest.fixture
def holding(shared: InProcess, tmp_path: Path) -> Iterator[Holding]:
    """A home with the module's rack; no process of it is left."""
    with held_home(tmp_path / "home", shared) as found:
        yield found


@pytest.fixture
def another(shared: InProcess, tmp_path: Path) -> Iterator[Holding]:
    """A second such home."""
    with held_home(tmp_path / "other", shared) as found:
        yield found


@contextlib.contextmanager
def held_home(home: Path, rack_of: InProcess) -> Iterator[Holding]:
    """Yield a home whose holder ends with it."""
    found = Holding(home, rack_of)
    yield found
    found("hold", "off")
    assert until(lambda: not living(home))


def living(home: Path) -> list[int]:
    """Return the holders of a home that live."""
    return [pid for pid in map(int, filter(str.isdigit, os.listdir("/proc"))) if _of(pid, home)]


def _of(pid: int, home: Path) -> bool:
    with contextlib.suppress(OSError):
        words = Path(f"/proc/{pid}/cmdline").read_bytes()
        variables = Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
        return b"exacell.transport.held.holder" in words and f"EXACELL_HOME={home}".encode() in variables
    return False


def gone(pid: int) -> bool:
    """Return whether a process has ended, waited for or not."""
    try:
        return "Z" in Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return True
