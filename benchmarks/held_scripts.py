"""Have many scripts at a time ask one holder of connections, and count what was lost or mixed up.

Run: python benchmarks/held_scripts.py [--hosts 64] [--scripts 50] [--rounds 3]

sshd daemons on loopback play the cells (benchmarks/lab.py), no two of which answer alike. Each script is a whole process
that asks all cells; its output is compared to the letter with that of a process without a holder.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from lab import Lab, installed


def main() -> None:
    """Ask, compare and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--hosts", type=int, default=64)
    parser.add_argument("--scripts", type=int, default=50)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="exacell-bench-") as name, Lab(Path(name), options.hosts) as lab:
        words, environment = begin_rack(lab)
        sys.exit(Scripts(words, environment, options.hosts).measure(options.scripts, options.rounds))


def begin_rack(lab: Lab) -> tuple[list[str], dict[str, str]]:
    """Configure all cells of a lab as a rack in a home of its own; return the words of a program that asks it, and its
    environment."""
    home = lab.folder / "home"
    (home / "racks.d").mkdir(parents=True)
    cells = ", ".join(f'"{host}"' for host in lab.hosts)
    text = f'cells = [{cells}]\nread_user = "{lab.user}"\nwrite_user = "{lab.user}"\nssh_config = "{lab.folder}/ssh_config"\n'
    (home / "racks.d" / "many.toml").write_text(text)
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("EXACELL", "PYTHON"))}
    words = [str(Path(installed(lab.folder / "venv")).parent / "exacell"), "-q", "-r", "many"]
    return words, {**kept, "EXACELL_HOME": str(home), "PYTHONPYCACHEPREFIX": str(lab.folder / "bytecode")}


class Scripts:
    """Scripts that ask one rack.

    Args:
        words: of a program that asks it.
        hosts: how many cells it has.
        statement: what they ask.
    """

    def __init__(
        self, words: list[str], environment: dict[str, str], hosts: int, statement: str = "list metriccurrent"
    ) -> None:
        self._words, self._environment, self._hosts = words, environment, hosts
        self._outputs: dict[int, Path] = {}
        self._question = ("-o", "raw", "-e", statement)
        self._home = Path(self._environment["EXACELL_HOME"])

    def measure(self, scripts: int, rounds: int) -> int:
        """Take turns, print a line for each, and return 1 when an answer was lost or mixed up."""
        (right,) = self._answers([self._begin(*self._question)])
        if right[0]:
            raise SystemExit(f"without a holder the exit code is {right[0]}")
        self._run("hold", "on", "idle=1h")
        while self._status()["connections"] != self._hosts:
            time.sleep(0.2)
        wrong = 0
        try:
            for number in range(rounds):
                before, began = self._status()["reads"], time.monotonic()
                answers = self._answers([self._begin(*self._question) for _ in range(scripts)])
                took, now = time.monotonic() - began, self._status()
                bad = sum(answer != right for answer in answers)
                wrong += bad
                print(
                    f"round {number + 1}: {scripts} scripts, {self._hosts} cells, {took:.1f} s; {bad} wrong; the holder took "
                    f"{now['reads'] - before} reads, {now['memory'] / 1e6:.0f} MB, {now['openFiles']} open files",
                    flush=True,
                )
            log = next(self._home.glob("hold/*.log")).read_text()
            whole = log.count(f": {self._hosts} ok,")
            print(f"answered by the holder in whole: {whole} of {scripts * rounds}; load {os.getloadavg()[0]:.1f}")
        finally:
            self._run("hold", "off")
        return int(wrong > 0)

    def _begin(self, *words: str) -> subprocess.Popen[bytes]:
        path = (
            self._home.parent / f"output.{len(self._outputs)}"
        )  # A pipe would hold a program back while others are read.
        with path.open("wb") as output:
            process = subprocess.Popen(
                [*self._words, *words], stdin=subprocess.DEVNULL, stdout=output, env=self._environment, cwd="/"
            )
        self._outputs[process.pid] = path
        return process

    def _answers(self, running: Sequence[subprocess.Popen[bytes]]) -> list[tuple[int, str]]:
        """Wait for programs; return exit code and digest of the output of each."""
        codes = [process.wait() for process in running]
        found = []
        for process, code in zip(running, codes, strict=True):
            path = self._outputs.pop(process.pid)
            found.append((code, hashlib.sha256(path.read_bytes()).hexdigest()))
        return found

    def _run(self, *words: str) -> bytes:
        return subprocess.run([*self._words, *words], capture_output=True, check=True, env=self._environment).stdout

    def _status(self) -> dict[str, int]:
        (found,) = json.loads(self._run("hold", "status", "-o", "json"))
        return dict(found)


if __name__ == "__main__":
    main()
