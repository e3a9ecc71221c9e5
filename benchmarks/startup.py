"""Print what starting exacell costs beside ``python -c pass``, and which heavy modules it imports.

Run: python benchmarks/startup.py [rounds] [folder]. Times are medians of whole processes in milliseconds, measured in turn, so
that a drifting machine hits all of them alike, and the least processor time beside them, which other work on the machine hits
least; read the differences, not the absolute figures. With the folder of another working tree (git worktree add) that one is
measured in the same turns.
"""

from __future__ import annotations

import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pexpect

HEAVY = ("fabric", "paramiko", "rich", "numpy", "prompt_toolkit", "asyncio", "importlib.metadata", "ClusterShell")

CASES = {
    "python -c pass": ["-c", "pass"],
    "exacell --version": ["-m", "exacell", "--version"],
    "completion: verbs": ["-m", "exacell", "--complete", "bash", "1", "exacell", ""],
    "completion: recipe parameters": ["-m", "exacell", "--complete", "bash", "3", "exacell", "run", "reset_cold", ""],
    "exacell --help": ["-m", "exacell", "--help"],
}


PROMPT = "first prompt"


def main() -> None:
    """Measure and print."""
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 15
    trees = [str(Path(__file__).parents[1]), *sys.argv[2:3]]
    with tempfile.TemporaryDirectory() as home:
        env = {**os.environ, "EXACELL_HOME": home, "TERM": "xterm-256color"}
        taken: dict[tuple[str, str], list[tuple[float, float]]] = {}
        for _ in range(rounds):
            for name, words in CASES.items():
                for tree in trees:
                    taken.setdefault((name, tree), []).append(_process(words, env, tree))
            for tree in trees:
                taken.setdefault((PROMPT, tree), []).append(_prompt(env, tree))
        floor = statistics.median(wall for wall, _ in taken["python -c pass", trees[0]])
        print(f"{'what':<32}{'median ms':>10}{'above python':>14}{'least CPU':>11}   heavy modules imported")
        for (name, tree), times in taken.items():
            median = statistics.median(wall for wall, _ in times)
            heavy = ", ".join(_heavy(CASES[name], env, tree)) or "none" if name in CASES else ""
            label = name if tree == trees[0] else f"  {Path(tree).name}"
            print(f"{label:<32}{median:>10.0f}{median - floor:>+14.0f}{min(cpu for _, cpu in times):>11.0f}   {heavy}")


def _process(words: list[str], env: dict[str, str], tree: str) -> tuple[float, float]:
    """Return wall and processor time of a process, in milliseconds."""
    start, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, *words], env=env, cwd=tree, stdout=subprocess.DEVNULL, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return (time.perf_counter() - start) * 1000, cpu * 1000


def _prompt(env: dict[str, str], tree: str) -> tuple[float, float]:
    """Return wall and processor time until the prompt of a session without a rack is there, in milliseconds."""
    start = time.perf_counter()
    child = pexpect.spawn(sys.executable, ["-m", "exacell"], env=env, cwd=tree, dimensions=(24, 80), timeout=60)
    child.expect("exacell> ")
    wall = time.perf_counter() - start
    fields = Path(f"/proc/{child.pid}/stat").read_text().rpartition(")")[2].split()
    child.close(force=True)
    return wall * 1000, (int(fields[11]) + int(fields[12])) * 1000 / os.sysconf("SC_CLK_TCK")


def _heavy(words: list[str], env: dict[str, str], tree: str) -> list[str]:
    if words[:1] == ["-c"]:
        return []
    code = (
        "import atexit, runpy, sys\n"
        f"atexit.register(lambda: print('\\n@', [m for m in {HEAVY!r} if m in sys.modules]))\n"
        f"sys.argv = ['exacell', *{words[2:]!r}]\n"
        "runpy.run_module('exacell', run_name='__main__')\n"
    )
    done = subprocess.run([sys.executable, "-c", code], env=env, cwd=tree, capture_output=True, text=True, check=True)
    found: list[str] = eval(done.stdout.rsplit("\n@", 1)[1], {"__builtins__": {}})
    return found


if __name__ == "__main__":
    main()
