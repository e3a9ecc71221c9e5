"""Print what starting exacell costs beside ``python -c pass``, and which heavy modules it imports.

Run: python benchmarks/startup.py [rounds]. Times are medians of whole processes in milliseconds, measured in turn, so
that a drifting machine hits all of them alike; read the differences, not the absolute figures.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time

HEAVY = ("fabric", "paramiko", "rich", "numpy", "prompt_toolkit", "asyncio", "importlib.metadata", "ClusterShell")

CASES = {
    "python -c pass": ["-c", "pass"],
    "exacell --version": ["-m", "exacell", "--version"],
    "completion: verbs": ["-m", "exacell", "--complete", "bash", "1", "exacell", ""],
    "completion: recipe parameters": ["-m", "exacell", "--complete", "bash", "3", "exacell", "run", "reset_cold", ""],
    "exacell --help": ["-m", "exacell", "--help"],
}


def main() -> None:
    """Measure and print."""
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 15
    with tempfile.TemporaryDirectory() as home:
        env = {**os.environ, "EXACELL_HOME": home}
        times: dict[str, list[float]] = {name: [] for name in CASES}
        for _ in range(rounds):
            for name, words in CASES.items():
                start = time.perf_counter()
                subprocess.run([sys.executable, *words], env=env, stdout=subprocess.DEVNULL, check=True)
                times[name].append((time.perf_counter() - start) * 1000)
        floor = statistics.median(times["python -c pass"])
        print(f"{'what':<32}{'median ms':>10}{'above python':>14}   heavy modules imported")
        for name, words in CASES.items():
            median = statistics.median(times[name])
            print(f"{name:<32}{median:>10.0f}{median - floor:>+14.0f}   {', '.join(_heavy(words, env)) or 'none'}")


def _heavy(words: list[str], env: dict[str, str]) -> list[str]:
    if words[:1] == ["-c"]:
        return []
    code = (
        "import atexit, runpy, sys\n"
        f"atexit.register(lambda: print('\\n@', [m for m in {HEAVY!r} if m in sys.modules]))\n"
        f"sys.argv = ['exacell', *{words[2:]!r}]\n"
        "runpy.run_module('exacell', run_name='__main__')\n"
    )
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True)
    found: list[str] = eval(done.stdout.rsplit("\n@", 1)[1], {"__builtins__": {}})
    return found


if __name__ == "__main__":
    main()
