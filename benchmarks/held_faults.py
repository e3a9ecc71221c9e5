"""Break a holder of connections, or its cells, 200 times while programs ask it; count answers that are not right.

Run: python benchmarks/held_faults.py [--hosts 6] [--faults 200] [--seed 1]

sshd daemons on loopback play the cells (benchmarks/lab.py). Each fault happens before a read, or at some moment of it. What a
program prints, and its exit code, have to be those of a program without a holder; how much longer it took than the median
of such programs in the same run is printed, by fault. The exit code is 1 when an answer was not right.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import random
import resource
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from itertools import cycle, islice
from pathlib import Path

from held_scripts import begin_rack
from lab import Lab
from large import write

READS = (
    ("raw", "list metriccurrent"),
    ("csv", "list metrichistory"),
    ("jsonl", "list metrichistory"),
    ("table", "list metriccurrent"),
)
ROWS = 300
"""Rows of each cell's METRICHISTORY."""
MOMENT_S = 0.25
"""Seconds after the start of a program in which a fault happens."""


class Faults:
    """Faults on one lab, each as a method that breaks something.

    Attributes:
        late: seconds that each read took more than the median without a holder, by fault.
    """

    def __init__(self, lab: Lab, seed: int) -> None:
        self._lab, self._chance = lab, random.Random(seed)
        self._words, self._environment = begin_rack(lab)
        self._right: dict[tuple[str, str], tuple[int, bytes]] = {}
        self._usual: dict[tuple[str, str], float] = {}
        self._pid = 0
        self.late: dict[str, list[float]] = {}

    def learn(self) -> None:
        """Ask without a holder: what is right, and how long it takes."""
        for read in READS:
            found = [self._read(read) for _ in range(4)]
            self._right[read] = found[0][0]
            self._usual[read] = statistics.median(took for _, took in found[1:])

    def play(self, name: str) -> str:
        """Have one fault, and return what was not right; empty when all was."""
        self._hold()
        read = self._chance.choice(READS)
        said, took = self._read(read, self.kinds[name])
        self.late.setdefault(name, []).append(took - self._usual[read])
        wrong = "" if said == self._right[read] else f"{read}: exit {said[0]}, {len(said[1])} bytes"
        self._mend(name)
        return wrong

    def end(self) -> None:
        """End the holder."""
        self._run("hold", "off")

    @property
    def kinds(self) -> dict[str, Callable[[], None]]:
        """What can be broken, by name."""
        return {
            "killed": partial(self._signal, signal.SIGKILL),
            "stopped": partial(self._signal, signal.SIGSTOP),
            "told to end": partial(self._signal, signal.SIGTERM),
            "full of descriptors": self._full,
            "a cell restarts": self._cell_restarts,
            "known_hosts changes": lambda: os.utime(self._lab.folder / "known_hosts"),
            "its socket is gone": self._unlink,
            "its folder is open": lambda: self._folder.chmod(0o755),
        }

    @property
    def _folder(self) -> Path:
        return Path(self._environment["EXACELL_HOME"]) / "hold"

    # -- faults ----------------------------------------------------------------------------------------------------

    def _full(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            resource.prlimit(self._pid, resource.RLIMIT_NOFILE, (4, 4))

    def _cell_restarts(self) -> None:
        self._lab.restart(self._chance.choice(self._lab.hosts))

    def _unlink(self) -> None:
        for path in self._folder.glob("*.socket"):
            path.unlink(missing_ok=True)

    # -- asking ----------------------------------------------------------------------------------------------------

    def _read(self, read: tuple[str, str], fault: Callable[[], None] | None = None) -> tuple[tuple[int, bytes], float]:
        """Run a program to its end; return exit code and output, and seconds. A fault happens before it or at some moment."""
        before = self._chance.random() < 0.5
        if fault is not None and before:
            fault()
        began = time.monotonic()
        process = subprocess.Popen(
            [*self._words, "-o", read[0], "-e", read[1]],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, env=self._environment, cwd="/",
        )  # fmt: skip
        if fault is not None and not before:
            time.sleep(self._chance.random() * MOMENT_S)
            fault()
        text = process.communicate(timeout=120)[0]
        return (process.returncode, text), time.monotonic() - began

    def _hold(self) -> None:
        """Have a holder that is connected to all cells."""
        self._run("hold", "on", "idle=1h")
        until = time.monotonic() + 30
        while (status := self._status()).get("connections") != len(self._lab.hosts):
            if time.monotonic() > until:
                raise SystemExit(f"the holder is not connected to all cells: {status}")
            time.sleep(0.1)
        self._pid = int(status["pid"])

    def _mend(self, name: str) -> None:
        """Undo what may be left of a fault."""
        self._folder.chmod(0o700)
        self._signal(signal.SIGCONT)
        if name != "a cell restarts":
            self._run("hold", "off")
            self._signal(signal.SIGKILL)

    def _signal(self, number: signal.Signals) -> None:
        with contextlib.suppress(ProcessLookupError, FileNotFoundError):
            if b"exacell.transport.held.holder" in Path(f"/proc/{self._pid}/cmdline").read_bytes():
                os.kill(self._pid, number)

    def _run(self, *words: str) -> bytes:
        return subprocess.run([*self._words, *words], capture_output=True, env=self._environment, check=False).stdout

    def _status(self) -> dict[str, int]:
        (found,) = json.loads(self._run("hold", "status", "-o", "json"))
        return dict(found)


def main() -> None:
    """Break, compare and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--hosts", type=int, default=6)
    parser.add_argument("--faults", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # what was started is ended on the way out
    with tempfile.TemporaryDirectory(prefix="exacell-bench-") as name, Lab(Path(name), options.hosts) as lab:
        write(lab.folder, ROWS)
        sys.exit(measure(Faults(lab, options.seed), options.faults))


def measure(faults: Faults, count: int) -> int:
    """Play so many faults, print them by kind, and return the exit code."""
    faults.learn()
    wrong: dict[str, list[str]] = {}
    try:
        for name in islice(cycle(faults.kinds), count):
            if why := faults.play(name):
                wrong.setdefault(name, []).append(why)
                print(f"{name}: {why}", flush=True)
    finally:
        faults.end()
        print(f"{'fault':<24}{'times':>6}{'wrong':>7}{'seconds more: median':>22}{'most':>8}")
        for name, late in faults.late.items():
            bad = len(wrong.get(name, ()))
            print(f"{name:<24}{len(late):>6}{bad:>7}{statistics.median(late):>22.2f}{max(late):>8.2f}")
        done, bad = (sum(map(len, found.values())) for found in (faults.late, wrong))
        print(f"{done} faults, {bad} wrong answers; load {os.getloadavg()[0]:.1f}", flush=True)
    return int(bool(wrong))


if __name__ == "__main__":
    main()
