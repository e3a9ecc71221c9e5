"""What takes long is begun first, by all workers alike."""

from __future__ import annotations

from itertools import combinations, groupby
from pathlib import Path

import pytest

from tests.support.spreading import LONG, TOGETHER, spread

ITEMS = [
    *(f"tests/plan/test_a.py::{n}" for n in range(40)),
    *(f"tests/e2e/test_b.py::{n}" for n in range(3)),
    *(f"tests/core/test_c.py::{n}" for n in range(30)),
    *(f"tests/e2e/test_d.py::{n}" for n in range(2)),
    *(f"tests/faults/test_fault_processes.py::{n}" for n in range(2)),
]


def _module(item: str) -> str:
    return item.partition("::")[0]


def test_what_takes_long_is_there() -> None:
    """Each part of a path that is said to take long, or to stand with others, is one of a module of tests; a part that is in
    another one stands after it, which would have nothing to say otherwise."""
    paths = [path.as_posix() for path in Path(__file__).parents[1].rglob("test_*.py")]
    assert [part for part in (*LONG, *TOGETHER) if not any(part in path for path in paths)] == []
    assert [(one, two) for one, two in combinations(LONG, 2) if one in two] == []


@pytest.mark.parametrize("workers", [1, 2, 3, 4, 7, 100])
def test_no_test_is_lost(workers: int) -> None:
    """Each test is in the new order once, however many take part."""
    assert sorted(spread(ITEMS, workers, module=_module)) == sorted(ITEMS)


def test_nothing_comes_of_nothing() -> None:
    """Without tests there is no order."""
    assert spread([], 4, module=_module) == []


def test_each_part_begins_with_what_takes_long() -> None:
    """The long modules are shared out by what they take, each whole, and the others follow in the order they had."""
    ordered = spread(ITEMS, 2, module=_module)
    half = len(ITEMS) // 2
    parts = [[name for name, _ in groupby(part, key=_module)] for part in (ordered[:half], ordered[half:])]
    first, second = "tests/faults/test_fault_processes.py", "tests/e2e/test_b.py"
    assert sorted((first, second)) == sorted(part[0] for part in parts)
    assert next(part for part in parts if part[0] == second)[1] == "tests/e2e/test_d.py"
    short = [item for item in ordered if "e2e" not in item and "faults" not in item]
    assert short == [item for item in ITEMS if item in short]


def test_what_shares_its_set_up_stands_together() -> None:
    """Modules that parse the whole package are one worker's, wherever the order had them."""
    texts = [f"tests{part}{'' if 'test_' in part else 'test_x'}.py::{n}" for part in TOGETHER for n in range(3)]
    mixed = [*ITEMS[:40], *texts[:3], *ITEMS[40:], *texts[3:]]
    ordered = spread(mixed, 2, module=_module)
    places = [ordered.index(text) for text in texts]
    assert places == list(range(places[0], places[0] + len(texts))) and ordered != mixed
    half = len(mixed) // 2
    assert {place < half for place in places} == {True}
