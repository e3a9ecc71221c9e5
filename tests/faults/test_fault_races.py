"""What comes between the last look at a cell and the statement that loses data, raced with real processes over real SSH.

``benchmarks/races.py`` races hundreds of them at random; here are some seeds whose instants are far from the milliseconds
in which no client can help: our process is stopped, or a neighbour keeps it waiting, while somebody else is at work.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "benchmarks"))

SEED = 1
RACES = (
    # Another operator cancels the flush; CELLSRV restarts; a slow neighbour; the lock is taken over.
    ("drop", (11, 5, 6, 19)),
    ("resize", (3, 20, 17)),
    ("alter size", (27, 21)),
    ("mode", (12, 6)),
    ("pmem drop", (5, 20, 19)),
)
"""Statements, and the races of the seed that each takes."""


@pytest.fixture(scope="module")
def course() -> Iterator[Any]:
    """Racks and operators for all races of the module."""
    from races_run import Course

    found = Course(SEED)
    yield found
    found.close()


@pytest.mark.parametrize(("kind", "numbers"), RACES, ids=[kind for kind, _ in RACES])
def test_a_lost_race_costs_no_data_and_is_told(course: Any, kind: str, numbers: tuple[int, ...]) -> None:
    """Nothing that became dirty after the look goes with a cache, the loser is told, and after a takeover nothing is sent."""
    for number in numbers:
        _, verdict = course.race(number, kind)
        assert verdict.struck, f"{verdict.script}: nobody came between"
        assert not verdict.lost, f"{verdict.script}: {verdict.problems()}"
        assert not verdict.after, f"{verdict.script}: {verdict.after}"
        assert not verdict.untold, f"{verdict.script}: {verdict.untold}"
        assert not verdict.odd, f"{verdict.script}: {verdict.odd}"
