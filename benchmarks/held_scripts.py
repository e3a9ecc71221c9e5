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
        sys.exit(Scripts(lab, options.hosts).measure(options.scripts, options.rounds))


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
    """Scripts over one lab."""

    def __init__(self, lab: Lab, hosts: int) -> None:
        self._hosts = hosts
        self._words, self._environment = begin_rack(lab)
        self._home = Path(self._environment["EXACELL_HOME"])

    def measure(self, scripts: int, rounds: int) -> int:
        """Take turns, print a line for each, and return 1 when an answer was lost or mixed up."""
        right = self._answer(self._begin("-o", "raw", "-e", "list metriccurrent"))
        self._run("hold", "on", "idle=1h")
        while self._status()["connections"] != self._hosts:
            time.sleep(0.2)
        wrong = 0
        try:
            for number in range(rounds):
                before, began = self._status()["reads"], time.monotonic()
                running = [self._begin("-o", "raw", "-e", "list metriccurrent") for _ in range(scripts)]
                answers = [self._answer(process) for process in running]
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
        return subprocess.Popen(
            [*self._words, *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, env=self._environment, cwd="/"
        )

    def _answer(self, process: subprocess.Popen[bytes]) -> tuple[int, str]:
        text = process.communicate()[0]
        return process.returncode, hashlib.sha256(text).hexdigest()

    def _run(self, *words: str) -> bytes:
        return subprocess.run([*self._words, *words], capture_output=True, check=True, env=self._environment).stdout

    def _status(self) -> dict[str, int]:
        (found,) = json.loads(self._run("hold", "status", "-o", "json"))
        return dict(found)


if __name__ == "__main__":
    main()
