"""Prints how long it takes at the prompt from the key that ends a statement to the answer's last row on the terminal.

Run: python benchmarks/answer.py [--hosts 14] [--rounds 10]. sshd daemons on loopback play the cells (benchmarks/lab.py).
exacell's prompt and a bash that runs dcli's way each sit at a pseudo-terminal of 40 by 120; the statement is typed and
left standing, then Enter is pressed, and the clock runs from that key until the prompt stands again behind the answer.
They take turns, and the median counts. ``echo`` is the time until a typed letter is shown, for scale.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import pty
import re
import select
import signal
import statistics
import struct
import sys
import tempfile
import termios
import time
from fcntl import ioctl
from pathlib import Path

from lab import HERE, Lab, installed

PROMPT = b"exacell> "
SHELL = b"bench$ "
GOAL_MS, GOAL_TIMES = 60.0, 8.0
"""Milliseconds for a table of all cells' metrics, and how many times faster than dcli's way."""
_ESCAPES = re.compile(rb"\x1b\[[0-9;?]*[ -/]*[@-~]|\x1b\][^\x07]*\x07|\x1b[=>()][0-9A-B]?")
_REPLIES = ((b"\x1b[6n", b"\x1b[1;1R"), (b"\x1b[c", b"\x1b[?62c"), (b"\x1b]11;?", b"\x1b]11;rgb:0000/0000/0000\x07"))


class Program:
    """A program at a pseudo-terminal of its own, which answers what programs ask terminals."""

    def __init__(self, words: list[str], environment: dict[str, str], prompt: bytes) -> None:
        self._prompt = prompt.rstrip()
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.execvpe(words[0], words, environment)
        ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 120, 0, 0))
        self.until(self._prompt, 1)

    def until(self, mark: bytes, count: int, *, patience: float = 30.0) -> bytes:
        """Read until ``mark`` has come ``count`` times, escape sequences aside, and return what came.

        Raises:
            TimeoutError: it does not come.
        """
        seen, found = bytearray(), 0
        while found < count:
            if not select.select([self.fd], [], [], patience)[0]:
                raise TimeoutError(f"{mark!r} does not come:\n{bytes(seen[-2000:]).decode(errors='replace')}")
            piece = os.read(self.fd, 1 << 16)
            for question, answer in _REPLIES:
                if question in piece:
                    os.write(self.fd, answer)
            start = max(0, len(seen) - len(mark) + 1)
            seen += piece
            if count > 1:  # thousands of rows: only what is new is looked at
                found += seen.count(mark, start)
            else:
                found = _ESCAPES.sub(b"", seen).count(mark)
        return bytes(seen)

    def settle(self, quiet: float = 0.3) -> None:
        """Read until nothing comes for a while."""
        while select.select([self.fd], [], [], quiet)[0]:
            os.read(self.fd, 1 << 16)

    def ask(self, statement: str, rows: int) -> tuple[float, float]:
        """Type a statement and press Enter; return seconds until its last letter shows, and from Enter to the answer."""
        self.settle()
        os.write(self.fd, statement[:-1].encode())
        self.settle()
        typed = time.perf_counter()
        os.write(self.fd, statement[-1].encode())
        self.until(statement[-1].encode(), 1)
        echo = time.perf_counter() - typed
        self.settle()
        pressed = time.perf_counter()
        os.write(self.fd, b"\r")
        answer = self.until(b"IO/sec", rows)
        rest = _ESCAPES.sub(b"", answer.rpartition(b"IO/sec")[2])
        if self._prompt not in rest:
            self.until(self._prompt, 1)
        return echo, time.perf_counter() - pressed

    def end(self) -> None:
        """End the program."""
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        os.close(self.fd)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--hosts", type=int, default=14)
    parser.add_argument("--rounds", type=int, default=10)
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # what was started is ended on the way out
    with tempfile.TemporaryDirectory(prefix="exacell-bench-") as name, Lab(Path(name), options.hosts) as lab:
        measure(lab, options.hosts, options.rounds)


def measure(lab: Lab, hosts: int, rounds: int) -> None:
    """Take turns and print medians."""
    hostfile, config, rows = lab.hostfile(hosts), lab.folder / "ssh_config", 300 * hosts
    home = lab.folder / "home"
    home.mkdir()
    (home / "config.toml").write_text('[settings]\npager = "never"\n')
    environment = {
        **{name: value for name, value in os.environ.items() if name not in ("COLUMNS", "LINES")},
        "EXACELL_HOME": str(home),
        "PYTHONDONTWRITEBYTECODE": "",
        "PYTHONPYCACHEPREFIX": str(lab.folder / "bytecode"),
        "TERM": "xterm-256color",
        "PS1": SHELL.decode(),
    }
    python = installed(lab.folder / "venv")
    words = [python, "-m", "exacell", "-g", str(hostfile), "-l", lab.user, "--ssh-config", str(config)]
    dcli = f"{python} -S {HERE / 'dcli_like.py'} -g {hostfile} -l {lab.user} -s '-F {config}' 'cellcli -e list metriccurrent'"
    programs = {
        "exacell, table": (Program(words, environment, PROMPT), "list metriccurrent"),
        "dcli's way": (Program(["bash", "--norc", "--noprofile", "-i"], environment, SHELL), dcli),
    }
    echoes: dict[str, list[float]] = {name: [] for name in programs}
    walls: dict[str, list[float]] = {name: [] for name in programs}
    try:
        for number in range(rounds + 2):
            for name, (program, statement) in programs.items():
                echo, wall = program.ask(statement, rows)
                if number > 1:  # the first rounds connect and warm up
                    echoes[name].append(echo * 1000)
                    walls[name].append(wall * 1000)
    finally:
        for program, _ in programs.values():
            program.end()
    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}, {hosts} cells, {rows:,} rows, {rounds} rounds")
    print(f"{'':18}{'echo ms':>9}{'Enter to answer ms':>20}{'range':>16}")
    for name, times in walls.items():
        span = f"{min(times):.0f}-{max(times):.0f}"
        print(f"{name:<18}{statistics.median(echoes[name]):>9.1f}{statistics.median(times):>20.1f}{span:>16}")
    own = statistics.median(walls["exacell, table"])
    times_faster = statistics.median(walls["dcli's way"]) / own
    for what, value, goal, reached in (
        ("milliseconds", own, f"<= {GOAL_MS:g}", own <= GOAL_MS),
        ("times faster than dcli's way", times_faster, f">= {GOAL_TIMES:g}", times_faster >= GOAL_TIMES),
    ):
        print(f"  {what:<30}{value:>8.1f}   goal {goal:<8}{'reached' if reached else 'MISSED'}")


if __name__ == "__main__":
    main()
