"""A few of the runs that ``benchmarks/killed_runs.py`` kills at random moments: resume alone ends each as if nobody had."""

from __future__ import annotations

import random
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "benchmarks"))

ROUNDS, SPARE = 2, 4


def test_resume_alone_leaves_what_an_unkilled_run_leaves() -> None:
    """Killed at any moment, in its resume as well, a run about cells, hosts and SQL ends as one that nobody killed."""
    from killed_runs import play, racks

    shown = 0
    for number in range(ROUNDS + SPARE):
        with racks() as (rack, twin):
            found = play(rack, twin, random.Random(f"tests {number}"), number)
        if found.void or not found.killed:
            continue  # This host was too busy, or the run had ended before.
        assert not found.problems, (found.said, found.killed, found.problems)
        shown += 1
        if shown == ROUNDS:
            return
    raise AssertionError(f"{shown} of {ROUNDS} rounds could be judged")
