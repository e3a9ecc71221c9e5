"""What comes between the last check of a cell and the statement that loses data, raced with real processes over real SSH.

``benchmarks/races.py`` races hundreds of them at random; here are some seeds whose instants are far from the milliseconds
in which no client can help: our process is stopped, or a neighbour keeps it waiting, while somebody else is at work.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.surroundings import on_the_hosts_clock

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

    with on_the_hosts_clock():
        found = Course(SEED)
        yield found
        found.close()


SPARE = 24
"""So many more races may be drawn."""


@pytest.mark.parametrize(("kind", "numbers"), RACES, ids=[kind for kind, _ in RACES])
def test_a_lost_race_costs_no_data_and_is_told(course: Any, kind: str, numbers: tuple[int, ...]) -> None:
    """Nothing that became dirty after the look goes with a cache, the loser is told, and after a takeover nothing is sent."""
    races = struck = 0
    # Where nobody came between, because our process was done sooner, nothing was raced: another one is drawn.
    for number in (*numbers, *range(100, 100 + SPARE)):
        if struck == len(numbers):
            break
        _, verdict = course.race(number, kind)
        assert not verdict.lost, f"{verdict.script}: {verdict.problems()}"
        assert not verdict.after, f"{verdict.script}: {verdict.after}"
        assert not verdict.untold, f"{verdict.script}: {verdict.untold}"
        assert not verdict.odd, f"{verdict.script}: {verdict.odd}"
        races, struck = races + 1, struck + verdict.struck
    assert struck == len(numbers), f"in {struck} of {races} races somebody came between"
