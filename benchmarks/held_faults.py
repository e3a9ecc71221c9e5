"""Break a holder of connections, or its cells, 200 times while programs ask it; count answers that are not right.

Run: python benchmarks/held_faults.py [--hosts 6] [--faults 200] [--seed 1]

sshd daemons on loopback play the cells (benchmarks/lab.py). Each fault happens before a read, or at some moment of it. What a
program prints, and its exit code, have to be those of a program without a holder; how much longer it took than the median
of such programs in the same run is printed, by fault. A cell that comes back with another host key is refused as without a
holder; a program of another version of exacell with the same home has the right answer, too; another user (if this is root)
who gets at the socket is told nothing. The exit code is 1 when an answer was not right.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import random
import resource
import shutil
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

from exacell.transport.held.place import PACKAGE

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
OTHER_KEY = "a cell has another key"
_AS_NOBODY = (
    "import os, socket, sys; os.chdir(sys.argv[1]); os.setgroups([]); os.setgid(65534); os.setuid(65534)\n"
    "s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET); s.settimeout(60)\n"
    "try:\n    s.connect(sys.argv[2]); s.send(b'{}'); print(len(s.recv(99999)))\n"
    "except OSError:\n    print(0)\n"
)
"""A program that asks a socket as another user, and prints how much it was told."""


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
        self._wrong: list[str] = []
        """What a fault itself found not to be right."""
        self._newer = {**self._environment, "PYTHONPATH": str(another_version(lab.folder / "newer"))}
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
        right = [self._right[read]]
        if name == OTHER_KEY:
            self._run("hold", "off")
            right.append(self._read(read)[0])
        if said not in right:
            self._wrong.append(f"{read}: exit {said[0]}, {len(said[1])} bytes")
        self._mend(name)
        found, self._wrong = self._wrong, []
        return "; ".join(found)

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
            OTHER_KEY: self._other_key,
            "another version asks": self._other_version,
            **({"another user asks": self._other_user} if os.geteuid() == 0 else {}),
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

    def _other_key(self) -> None:
        host = self._chance.choice(self._lab.hosts)
        self._lab.restart(host, meanwhile=lambda: self._lab.change_key(host))

    def _other_version(self) -> None:
        read = self._chance.choice(READS)
        self._run("hold", "on", "idle=1h", env=self._newer)
        if self._asked(read, env=self._newer) != self._right[read]:
            self._wrong.append(f"another version: {read}")

    def _other_user(self) -> None:
        for path in self._folder.glob("*.socket"):
            self._folder.chmod(0o711)
            path.chmod(0o777)
            words = [sys.executable, "-c", _AS_NOBODY, str(self._folder), path.name]
            told = subprocess.run(words, capture_output=True, text=True, check=False).stdout
            if told != "0\n":
                self._wrong.append(f"another user was told {told}")

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
            self._asked(
                READS[0], self._environment
            )  # A connection that a restarted cell has closed is opened again by the next read.
        self._pid = int(status["pid"])

    def _mend(self, name: str) -> None:
        """Undo what may be left of a fault."""
        self._folder.chmod(0o700)
        self._signal(signal.SIGCONT)
        if name == OTHER_KEY:
            self._lab.trust()
        if name == "another version asks":
            self._run("hold", "off", env=self._newer)
        if name != "a cell restarts":
            self._run("hold", "off")
            self._signal(signal.SIGKILL)

    def _signal(self, number: signal.Signals) -> None:
        with contextlib.suppress(ProcessLookupError, FileNotFoundError):
            if b"exacell.transport.held.holder" in Path(f"/proc/{self._pid}/cmdline").read_bytes():
                os.kill(self._pid, number)

    def _asked(self, read: tuple[str, str], env: dict[str, str]) -> tuple[int, bytes]:
        words = [*self._words, "-o", read[0], "-e", read[1]]
        done = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, env=env, cwd="/", check=False)
        return done.returncode, done.stdout

    def _run(self, *words: str, env: dict[str, str] | None = None) -> bytes:
        env = env or self._environment
        return subprocess.run([*self._words, *words], capture_output=True, env=env, check=False).stdout

    def _status(self) -> dict[str, int]:
        (found,) = json.loads(self._run("hold", "status", "-o", "json"))
        return dict(found)


def another_version(folder: Path) -> Path:
    """Return a folder with a copy of exacell that says it is another version."""
    shutil.copytree(PACKAGE, folder / "exacell", ignore=shutil.ignore_patterns("__pycache__"))
    (folder / "exacell" / "core" / "version.py").write_text('"""Another version."""\n\n__version__ = "9.9.9"\n')
    return folder


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
