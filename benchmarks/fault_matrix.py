"""Carry out every case of the fault matrix, print the table of cases and survivors, and keep it in docs/reliability.md.

    python benchmarks/fault_matrix.py [--step=1] [--jobs=2] [--only=words] [--write] [--stories] [--progress]

A case is one statement, one boundary of its plan, one thing that goes wrong there, and one way to go on; ``tests/faults``
has the rows, the boundaries and the judge, and carries out each twentieth case with every run of the tests. Prints the story
of each case that does not survive, and leaves with 1 when there is one. A terminal is told now and then how far it
is, a pipe with ``--progress``.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, wait
from datetime import date
from multiprocessing import Value
from multiprocessing.sharedctypes import Synchronized
from pathlib import Path
from typing import TypeAlias

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "reliability.md"
BEGIN, END = "<!-- fault matrix: begin -->", "<!-- fault matrix: end -->"

sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "faults")]

from how_far import HowFar  # noqa: E402
from matrix_run import carry_out, cases_of  # noqa: E402
from matrix_table import table  # noqa: E402
from matrix_verbs import VERBS  # noqa: E402

_LOOK_S = 1.0
"""Seconds between two looks at how far it is."""

Found = tuple[str, str, bool, bool, str]
"""Row, column, survived, refused, story."""


Count: TypeAlias = "Synchronized[int]"

_counts: dict[str, Count] = {}
"""What all processes count together: rows begun, their cases, those that have ended, and those that did not survive."""


def share(counts: dict[str, Count]) -> None:
    """Let this process count with the others."""
    _counts.update(counts)


def add(**more: int) -> None:
    """Count something."""
    for name, number in more.items():
        with _counts[name].get_lock():
            _counts[name].value += number


def one_row(number: int, step: int, only: tuple[str, ...]) -> list[Found]:
    """Return what became of each case of one row."""
    cases = [case for case in cases_of(VERBS[number]) if all(word in str(case) for word in only)]
    cases = cases[number % step % max(len(cases), 1) :: step]
    add(rows=1, cases=len(cases))
    found = []
    for case in cases:
        verdict = carry_out(case)
        add(ended=1, failed=not verdict.survived)
        if verdict.expelled and verdict.survived:
            print(f"not counted, ASM dropped the disks for good meanwhile, and it was told: {case}", flush=True)
            continue
        found.append((case.verb.name, case.column, verdict.survived, verdict.refused, str(verdict)))
    return found


def run(step: int, jobs: int, only: tuple[str, ...], *, progress: bool) -> Iterator[Found]:
    """Yield what became of every case, row by row as the rows end."""
    far = HowFar(0, "cases", "did not survive", wanted=progress)
    counts = {name: Value("i") for name in ("rows", "cases", "ended", "failed")}
    with ProcessPoolExecutor(jobs, initializer=share, initargs=(counts,)) as pool:
        waiting = [pool.submit(one_row, number, step, only) for number in range(len(VERBS))]
        for row in waiting:
            while wait([row], _LOOK_S).not_done:
                # A row knows its cases when it begins: those that have not begun count as the others do.
                far.total = round(counts["cases"].value * len(VERBS) / max(counts["rows"].value, 1))
                far.tell(counts["ended"].value, counts["failed"].value)
            yield from row.result()


def keep(lines: list[str]) -> None:
    """Put the lines into the page, between its marks."""
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    _, _, after = rest.partition(END)
    PAGE.write_text("\n".join([before + BEGIN, *lines, END]) + after, encoding="utf-8")


def main() -> int:
    options = argparse.ArgumentParser(description="carry out the fault matrix")
    options.add_argument("--step", type=int, default=1, help="carry out each so-many-th case only")
    options.add_argument("--jobs", type=int, default=2, help="processes")
    options.add_argument("--only", default="", help="only cases whose id has all these words, separated by commas")
    options.add_argument("--write", action="store_true", help="keep the table in docs/reliability.md")
    options.add_argument("--stories", action="store_true", help="print the story of every case")
    options.add_argument("--progress", action="store_true", help="say on standard error how far it is, also in a pipe")
    given = options.parse_args()
    started = time.monotonic()
    counts: dict[tuple[str, str], tuple[int, int]] = {}
    refused = 0
    only = tuple(filter(None, given.only.split(",")))
    for row, column, survived, was_refused, story in run(given.step, given.jobs, only, progress=given.progress):
        cases, good = counts.get((row, column), (0, 0))
        counts[row, column] = (cases + 1, good + survived)
        refused += survived and was_refused
        if given.stories or not survived:
            print(story, flush=True)
    cases, good = (sum(count[place] for count in counts.values()) for place in (0, 1))
    lines = table(counts, [verb.name for verb in VERBS])
    print("\n".join(lines))
    summary = (
        f"{cases} cases, {good} survived ({refused} of them by a refusal that names its reason), "
        f"{time.monotonic() - started:.0f}s, {date.today().isoformat()}"
    )
    print(summary)
    if given.write:
        command = "python benchmarks/fault_matrix.py --write" + (f" --step={given.step}" if given.step > 1 else "")
        keep([f"`{command}`: {summary}", "", *lines])
    return 0 if cases == good else 1


if __name__ == "__main__":
    raise SystemExit(main())
