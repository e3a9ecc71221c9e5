"""Find tests that lean on what another test left: each file alone, or all of them from the last test to the first.

    python benchmarks/leaning.py alone [FOLDER ...]       each file in a process of its own, its tests as they stand
    python benchmarks/leaning.py backwards [FOLDER ...]   each folder in one process, from its last test to its first

Without folders it takes those of ``make test`` (``testpaths`` in setup.cfg). Prints what failed and, at the end, how many files
or folders ran and how long; exit status 1 when one of them failed.
"""

from __future__ import annotations

import argparse
import configparser
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
NOTHING_COLLECTED = 5
LONGEST = 3600
BACKWARDS = """
import sys, pytest
class Backwards:
    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items):
        items.reverse()
sys.exit(pytest.main(sys.argv[1:], plugins=[Backwards()]))
"""


def usual() -> list[str]:
    """Return the files and folders that ``make test`` runs."""
    config = configparser.ConfigParser()
    config.read(ROOT / "setup.cfg", "utf-8")
    named = config["tool:pytest"]["testpaths"].split()
    return [str(one.relative_to(ROOT)) for path in named for one in sorted(ROOT.glob(path))]


def files(paths: list[str]) -> list[str]:
    """Return the test files of these files and folders, by name."""
    found = [
        one for path in paths for one in ([ROOT / path] if path.endswith(".py") else (ROOT / path).rglob("test_*.py"))
    ]
    return sorted(str(one.relative_to(ROOT)) for one in found)


def passes(start: list[str], path: str) -> bool:
    """Run the tests of a path in one process and return whether they pass, or there are none; print the end of what fails."""
    command = [sys.executable, *start, "-q", "-n", "0", "-p", "no:randomly", "-p", "no:cacheprovider", path]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=LONGEST)
    good = done.returncode in (0, NOTHING_COLLECTED)
    if not good:
        print(f"FAILED {path}", *done.stdout.splitlines()[-12:], *done.stderr.splitlines()[-3:], sep="\n  ", flush=True)
    return good


def main(how: str, paths: list[str], jobs: int) -> int:
    """Run everything, print the sum, and return the exit status."""
    given = paths or usual()
    start, parts = (["-m", "pytest"], files(given)) if how == "alone" else (["-c", BACKWARDS], given)
    begun = time.monotonic()
    with ThreadPoolExecutor(jobs) as pool:
        ended = list(pool.map(lambda path: passes(start, path), parts))
    print(f"{how}: {len(ended)} {'files' if how == 'alone' else 'folders'}, {ended.count(False)} failed, "
          f"{time.monotonic() - begun:.0f} s")  # fmt: skip
    return 1 if False in ended else 0


if __name__ == "__main__":
    options = argparse.ArgumentParser(description="find tests that lean on what another test left")
    options.add_argument("how", choices=("alone", "backwards"))
    options.add_argument("paths", nargs="*", help="files and folders of tests; without any, those of make test")
    options.add_argument("--jobs", type=int, default=2, help="processes at a time")
    given = options.parse_args()
    sys.exit(main(given.how, given.paths, given.jobs))
