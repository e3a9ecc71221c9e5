"""Have many scripts at a time ask one holder for all cells of several emulated racks; count what was lost or mixed up.

Run: nice python benchmarks/held_scale.py [--racks 4] [--cells 300] [--scripts 50] [--rounds 2] [--load 60]

The cells are those of emulated racks, each a process of its own, and one rack of exacell's has all of them. No two cells
answer alike: each disk has an id of its own. Each script is a whole process that asks all cells; its output is compared to
the letter with that of a process without a holder. Nothing more is begun, and what runs is ended, when the machine's load of
the last minute is above --load. The exit code is 1 when an answer was lost or mixed up, and 3 when the load was too high.
"""

from __future__ import annotations

import argparse
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

from held_scripts import Scripts
from lab import installed

from exacell.emulator import control
from exacell.emulator.control import RackInfo

STATEMENT = "list celldisk attributes name, id"


class TooMuch(Exception):
    """The machine has more to do than was agreed."""


def main() -> None:
    """Start the racks, ask, compare and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--racks", type=int, default=4)
    parser.add_argument("--cells", type=int, default=300, help="of all racks together")
    parser.add_argument("--scripts", type=int, default=50)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--load", type=float, default=60.0)
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # what was started is ended on the way out
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    with tempfile.TemporaryDirectory(prefix="exacell-bench-") as name, racks(Path(name), options) as infos:
        words, environment = one_rack(Path(name), infos)
        cells = sum(len(info.cells) for info in infos)
        watch = Watched(words, environment, cells, STATEMENT, most_load=options.load)
        try:
            code = watch.measure(options.scripts, options.rounds)
        except TooMuch:
            print(f"stopped: the load is {os.getloadavg()[0]:.1f}", flush=True)
            code = 3
        used = ", ".join(f"{memory_mb(info.pid)}" for info in infos if info.pid)
        print(f"{len(infos)} emulated racks: {used} MB", flush=True)
    sys.exit(code)


class Watched(Scripts):
    """Scripts that are ended when the machine has too much to do."""

    def __init__(self, *about: object, most_load: float) -> None:
        super().__init__(*about)  # type: ignore[arg-type]
        self._most = most_load

    def _answers(self, running: Sequence[subprocess.Popen[bytes]]) -> list[tuple[int, str]]:
        try:
            while any(process.poll() is None for process in running):
                if os.getloadavg()[0] > self._most:
                    raise TooMuch
                time.sleep(0.2)
            return super()._answers(running)
        finally:
            for process in running:
                if process.poll() is None:
                    process.kill()
                    process.wait()


@contextmanager
def racks(folder: Path, options: argparse.Namespace) -> Iterator[list[RackInfo]]:
    """Have so many emulated racks that share the cells among them, each made from a seed of its own."""
    home = folder / "emulated"
    home.mkdir()
    shares = [options.cells // options.racks + (n < options.cells % options.racks) for n in range(options.racks)]
    with ExitStack() as stack:
        found = []
        for number, share in enumerate(shares):
            began = time.perf_counter()
            given = {"cells": share, "seed": number + 1}
            info, _ = control.start(home, f"rack{number}", options=given, timeout=300)
            stack.callback(control.stop, home, info.name)
            found.append(info)
            print(f"{info.name}: {share} cells, begun in {time.perf_counter() - began:.1f} s", flush=True)
        yield found


def one_rack(folder: Path, infos: Sequence[RackInfo]) -> tuple[list[str], dict[str, str]]:
    """Configure the cells of all racks as one rack in a home of its own; return the words of a program that asks it, and its
    environment."""
    home = folder / "home"
    (home / "racks.d").mkdir(parents=True)
    hosts, sections = [], []
    for number, info in enumerate(infos):
        for section in info.ssh_config.read_text().split("\nHost ")[1:]:
            cell, _, rest = section.partition("\n")
            if cell in info.cells:
                hosts.append(f"r{number}{cell}")
                lines = rest.partition("\n\n")[0]
                sections.append(f"Host {hosts[-1]}\n{lines}")
    (folder / "ssh_config").write_text("\n\n".join(sections) + "\n")
    cells = ", ".join(f'"{host}"' for host in hosts)
    (home / "racks.d" / "many.toml").write_text(
        f'cells = [{cells}]\nread_user = "celladmin"\nssh_config = "{folder}/ssh_config"\n'
        'connect_timeout = "120s"\ncommand_timeout = "300s"\n'  # Emulated cells of a busy machine are slow to log in to.
    )
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("EXACELL", "PYTHON"))}
    program = str(Path(installed(folder / "venv")).parent / "exacell")
    environment = {**kept, "EXACELL_HOME": str(home), "PYTHONPYCACHEPREFIX": str(folder / "bytecode")}
    return [program, "-q", "-r", "many"], environment


def memory_mb(pid: int) -> int:
    """Return the resident memory of a process in MB."""
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * resource.getpagesize() // 1_000_000


if __name__ == "__main__":
    main()
