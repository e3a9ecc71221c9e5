"""A client process that stays and is given a line at a time, timed from outside."""

from __future__ import annotations

import os
import selectors
import subprocess
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO

_TICK = os.sysconf("SC_CLK_TCK")


class Held:
    """A client that stays and is given a line at a time; use as a context manager."""

    def __init__(self, words: Sequence[str], environment: dict[str, str]) -> None:
        self._process = subprocess.Popen(
            words, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, cwd="/"
        )
        self._ready = Path(words[0]).name == "exacell"

    def __enter__(self) -> Held:
        return self

    def __exit__(self, *_: object) -> None:
        self._stdin.close()
        try:
            self._process.wait(20)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def ask(self, line: str, expected: int | None) -> tuple[float, float, bool]:
        """Send a line and read until ``expected`` rows have come; None: until nothing comes for a while."""
        if not self._ready:
            self._ready = self._until(b"ready\n", 1, 300.0) == 1
        cpu, started = self.cpu(), time.perf_counter()
        self._stdin.write(f"{line}\n".encode())
        self._stdin.flush()
        if expected is None:
            wall = self._until_quiet() - started
            return wall, self.cpu() - cpu, False
        seen = self._until(b"IO/sec", expected, 15.0) if expected else 0
        return time.perf_counter() - started, self.cpu() - cpu, seen != expected

    def cpu(self) -> float:
        """Return the seconds of CPU used so far."""
        return cpu_of(self._process.pid)

    def memory(self, *, peak: bool = False) -> float:
        """Return the resident memory in MB, now or at its highest."""
        wanted = "VmHWM" if peak else "VmRSS"
        for line in Path(f"/proc/{self._process.pid}/status").read_text().splitlines():
            if line.startswith(wanted):
                return int(line.split()[1]) / 1000
        return 0.0

    @property
    def _stdin(self) -> IO[bytes]:
        assert self._process.stdin is not None
        return self._process.stdin

    def _pieces(self, patience: float, *, first: float = 0.0) -> Iterator[bytes]:
        assert self._process.stdout is not None
        source = self._process.stdout.fileno()
        with selectors.DefaultSelector() as selector:
            selector.register(source, selectors.EVENT_READ)
            wait = max(first, patience)
            while selector.select(wait):
                wait = patience
                piece = os.read(source, 1 << 20)
                if not piece:
                    return
                yield piece

    def _until(self, mark: bytes, count: int, patience: float) -> int:
        seen, tail = 0, b""
        for piece in self._pieces(patience):
            both = tail + piece
            seen += both.count(mark) - tail.count(mark)
            tail = both[-len(mark) + 1 :]
            if seen >= count:
                return seen
        return seen

    def _until_quiet(self) -> float:
        last = time.perf_counter()
        for _ in self._pieces(0.5, first=60.0):
            last = time.perf_counter()
        return last


def cpu_of(pid: int) -> float:
    """Return the seconds of CPU that a process has used so far."""
    words = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(words[11]) + int(words[12])) / _TICK
