"""Hold processes of the tests at random instants: what only the timing of another machine shows is shown here.

    python benchmarks/jitter.py [options] [-- what pytest is given]

Starts pytest with what stands behind ``--`` and, while it runs, stops (SIGSTOP) processes at random that descend from it:
xdist's workers, emulated racks, programs at a terminal, ssh, sshd, guardians. Each goes on (SIGCONT) after 0.05 to some
seconds. Half of the holds meet processes in their first second, if there are any: there an order of events is presumed most
often. ``--sync`` besides lets each fsync take up to so many seconds, through a library that the C compiler makes. Each hold
is a line in the log, with the time, so that a test that failed is found beside what was held in it. The seed repeats the
draws, not the instants. The exit code is pytest's.

What fails is a fault of exacell, a test that supposes a speed, or neither: a hold that is longer than a limit which was set
(``connect_timeout`` is 5 seconds) makes a cell unreachable, and so it shall be. Linux only: processes are read from /proc, and
those that leave their parent are kept as descendants (PR_SET_CHILD_SUBREAPER). Whoever is held goes on also when this
program is killed: a second process waits for its end and does that.
"""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import heapq
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

ROOT = Path(__file__).resolve().parent.parent
SUBREAPER = 36
"""prctl's number for: the children of a descendant that ended become mine."""
LOOKS_S = 0.02
"""So often is looked which processes there are."""
YOUNG_S = 1.0
"""Processes are young for so long."""
ENDS_S = 120.0
"""So long pytest may take to end when it is interrupted."""
WORKERS = 0.4
"""The part of the holds that may meet a worker of pytest itself: all of its tests wait then."""
SHELLS = ("bash", "zsh", "fish", "sh", "dash")
"""They tell of a job that was stopped; fish does so of whatever it starts."""
SYNC_C = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <time.h>
#include <unistd.h>
static void slowly(void) {
    struct timespec now, wait;
    double seconds = MOST;
    clock_gettime(CLOCK_MONOTONIC, &now);
    unsigned drawn = (unsigned)(now.tv_nsec / 7 + getpid() * 2654435761u) % 1000;
    /* Most are quick: the square's square is small but for a few. */
    double part = drawn / 1000.0;
    seconds *= part * part * part * part;
    wait.tv_sec = (time_t)seconds;
    wait.tv_nsec = (long)((seconds - wait.tv_sec) * 1e9);
    nanosleep(&wait, 0);
}
int fsync(int fd) {
    int (*real)(int) = (int (*)(int))dlsym(RTLD_NEXT, "fsync");
    slowly();
    return real(fd);
}
int fdatasync(int fd) {
    int (*real)(int) = (int (*)(int))dlsym(RTLD_NEXT, "fdatasync");
    slowly();
    return real(fd);
}
"""


@dataclass(frozen=True)
class Seen:
    """A process as /proc tells it; ``began`` tells two of the same number apart."""

    pid: int
    parent: int
    group: int
    session: int
    state: str
    began: int
    name: str


def read(pid: int) -> Seen | None:
    """Return what /proc says of a process; None when there is none any more."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    name, _, rest = text.partition("(")[2].rpartition(")")
    words = rest.split()
    return Seen(pid, int(words[1]), int(words[2]), int(words[3]), words[0], int(words[19]), name)


def words_of(pid: int) -> str:
    """Return a process's command line."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace").strip()
    except OSError:
        return ""


def descendants(root: int) -> list[Seen]:
    """Return the processes below ``root``, without itself."""
    seen = [one for entry in os.listdir("/proc") if entry.isdigit() and (one := read(int(entry)))]
    below: dict[int, list[Seen]] = {}
    for one in seen:
        below.setdefault(one.parent, []).append(one)
    found: list[Seen] = []
    waiting = [root]
    while waiting:
        children = below.get(waiting.pop(), [])
        found += children
        waiting += [child.pid for child in children]
    return found


def may_hold(one: Seen, seen: dict[int, Seen]) -> bool:
    """Tell whether a process can be held unnoticed: not one that sleeps already, nor a job of a shell, which would tell of it."""
    parent = seen.get(one.parent)
    if parent is None or parent.name not in SHELLS:
        job = False
    else:
        job = parent.name == "fish" or (parent.session == one.session and parent.group != one.group)
    return one.state not in "TtZX" and not job


@dataclass(frozen=True)
class Draws:
    """How often and for how long is held."""

    rate: float
    least: float
    longest: float

    def hold_s(self, rng: random.Random) -> float:
        """Draw how long a hold lasts: mostly some tenths of a second, sometimes seconds, rarely the longest."""
        kind = rng.random()
        if kind < 0.6:
            seconds = rng.uniform(0.05, 0.5)
        elif kind < 0.97:
            seconds = rng.uniform(0.5, 4.0)
        else:
            seconds = self.longest
        return min(self.longest, max(self.least, seconds))


class Guard:
    """A process of its own that lets go on whoever is held when this one ends, by whatever."""

    def __init__(self) -> None:
        reading, self._writing = os.pipe()
        self.pid = os.fork()
        if self.pid:
            os.close(reading)
            return
        os.setsid()  # Ctrl-C is for the others.
        os.close(self._writing)
        held: dict[int, int] = {}
        with open(reading, encoding="ascii") as told:
            for line in told:
                pid, began = (int(word) for word in line.split())
                if began:
                    held[pid] = began
                else:
                    held.pop(pid, None)
        for pid, began in held.items():
            now = read(pid)
            if now is not None and now.began == began:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGCONT)
        os._exit(0)

    def tell(self, pid: int, began: int) -> None:
        """Say that a process is held; with 0 instead of its beginning, that it goes on."""
        os.write(self._writing, f"{pid} {began}\n".encode("ascii"))

    def end(self) -> None:
        """Let it end."""
        os.close(self._writing)
        os.waitpid(self.pid, 0)


@dataclass
class Jitter:
    """Holds what descends from a process until it ends.

    Attributes:
        held: those held now, by the time at which they go on.
    """

    root: int
    draws: Draws
    rng: random.Random
    log: IO[str]
    guard: Guard
    held: list[tuple[float, Seen]] = field(default_factory=list)
    count: int = 0
    _first: dict[tuple[int, int], float] = field(default_factory=dict)
    _next: float = 0.0

    def look(self) -> None:
        """Let go on those whose time is over, and hold another one when it is time for that."""
        now = time.monotonic()
        while self.held and self.held[0][0] <= now:
            self._go_on(heapq.heappop(self.held)[1])
        if now < self._next:
            return
        self._next = now + self.rng.expovariate(self.draws.rate)
        one = self._draw(now)
        if one is not None:
            self._hold(one, now + self.draws.hold_s(self.rng), now)

    def _draw(self, now: float) -> Seen | None:
        mine = {os.getpid(), self.root, self.guard.pid}
        seen = {one.pid: one for one in descendants(os.getpid())}
        held = {one.pid for _, one in self.held}
        free = [one for one in seen.values() if one.pid not in mine | held and may_hold(one, seen)]
        self._first = {(one.pid, one.began): self._first.get((one.pid, one.began), now) for one in seen.values()}
        young = [one for one in free if now - self._first[one.pid, one.began] < YOUNG_S]
        if young and self.rng.random() < 0.5:
            return self.rng.choice(young)
        others = [one for one in free if one.parent != self.root]
        if others or self.rng.random() < WORKERS:
            return self.rng.choice(others if others and self.rng.random() > WORKERS else free) if free else None
        return None

    def _hold(self, one: Seen, until: float, now: float) -> None:
        self.guard.tell(one.pid, one.began)
        heapq.heappush(self.held, (until, one))
        with contextlib.suppress(ProcessLookupError):
            os.kill(one.pid, signal.SIGSTOP)
        self.count += 1
        stamp = time.strftime("%H:%M:%S")
        print(f"{stamp} {one.pid} for {until - now:.2f}s: {words_of(one.pid)[:150]}", file=self.log, flush=True)

    def _go_on(self, one: Seen) -> None:
        now = read(one.pid)
        if now is not None and now.began == one.began:
            with contextlib.suppress(ProcessLookupError):
                os.kill(one.pid, signal.SIGCONT)
        self.guard.tell(one.pid, 0)

    def all_go_on(self) -> None:
        """Let go on everyone."""
        while self.held:
            self._go_on(self.held.pop()[1])


def reap(root: int) -> int | None:
    """Take the ends of children that others left; return the exit code of ``root`` when it was among them."""
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return None
        if pid == 0:
            return None
        if pid == root:
            return os.waitstatus_to_exitcode(status)


@contextlib.contextmanager
def slow_sync(most: float) -> Iterator[dict[str, str]]:
    """Make the library that lets fsync take its time, and give the environment in which it is used."""
    if not most:
        yield {}
        return
    with tempfile.TemporaryDirectory() as folder:
        source, library = Path(folder, "sync.c"), Path(folder, "sync.so")
        source.write_text(SYNC_C, encoding="ascii")
        made = ["cc", "-shared", "-fPIC", "-O1", f"-DMOST={most}", "-o", str(library), str(source), "-ldl"]
        subprocess.run(made, check=True)
        yield {"LD_PRELOAD": str(library)}


def run(command: list[str], env: dict[str, str], jitter_of: Callable[[int], Jitter]) -> int:
    """Run a command under jitter and return its exit code."""
    started = subprocess.Popen(command, env={**os.environ, **env})
    jitter = jitter_of(started.pid)
    try:
        while True:
            code = reap(started.pid)
            if code is not None:
                return code
            jitter.look()
            time.sleep(LOOKS_S)
    except BaseException as error:
        jitter.all_go_on()
        if not isinstance(error, KeyboardInterrupt):  # That a terminal has given to the command as well.
            os.kill(started.pid, signal.SIGINT)
        started.wait(ENDS_S)
        raise
    finally:
        jitter.all_go_on()
        jitter.guard.end()
        print(f"{jitter.count} holds", file=sys.stderr)


def main() -> int:
    """Run pytest under jitter."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=random.randrange(1_000_000))
    parser.add_argument("--rate", type=float, default=2.0, help="holds in a second, 2 unless told; 0 for none")
    parser.add_argument("--least", type=float, default=0.05, help="seconds of the shortest hold; 0.05 unless told")
    parser.add_argument("--longest", type=float, default=4.0, help="seconds of the longest, rare hold; 4 unless told")
    parser.add_argument("--sync", type=float, default=0.0, help="seconds that an fsync may take; 0 unless told")
    parser.add_argument("--log", type=Path, default=Path("/tmp/exacell-jitter.log"), help="where each hold is written")
    parser.add_argument("pytest", nargs="*", help="what pytest is given, behind --")
    asked = parser.parse_args()
    if ctypes.CDLL(None, use_errno=True).prctl(SUBREAPER, 1, 0, 0, 0):
        raise OSError(ctypes.get_errno(), "prctl")
    os.nice(5)
    guard = Guard()
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda *_: sys.exit(130))
    command = [sys.executable, "-m", "pytest", *asked.pytest]
    with open(asked.log, "a", encoding="utf-8") as log, slow_sync(asked.sync) as env:
        rate = asked.rate or 1e-9
        draws, rng = Draws(rate, asked.least, asked.longest), random.Random(asked.seed)
        print(f"seed {asked.seed}, {draws}, log {asked.log}", file=sys.stderr)
        return run(command, env, lambda root: Jitter(root, draws, rng, log, guard))


if __name__ == "__main__":
    sys.exit(main())
