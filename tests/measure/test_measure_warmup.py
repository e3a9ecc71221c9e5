"""A warm-up ends when the hit rate stays, and says where it did not."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from hypothesis import given, strategies as st

from exacell.change.warmup import STAYS, warm_up


def passes(shares: Sequence[float], *, reads: int = 100_000) -> tuple[str, int]:
    """Return what a warm-up of passes with such shares says, and how many passes it took."""
    made: list[int] = []

    def once(number: int) -> tuple[int, int]:
        made.append(number)
        return round(reads * shares[number - 1]), reads

    return warm_up(once, most=len(shares)), len(made)


@given(st.lists(st.integers(0, 100), min_size=2, max_size=12))
def test_it_ends_at_the_first_two_passes_that_are_alike(percents: list[int]) -> None:
    """It ends at the first pass whose share is that of the one before, within a point, and says so where none was."""
    shares = [each / 100 for each in percents]
    alike = [n for n, (a, b) in enumerate(itertools.pairwise(shares), 2) if abs(a - b) < STAYS - 1e-9]
    said, made = passes(shares)
    assert made == (alike[0] if alike else len(shares))
    assert bool(said) == (not alike)


def test_what_still_moves_is_said_with_both_shares() -> None:
    """The last two shares stand in what is said."""
    assert passes([0.1, 0.2, 0.31])[0] == "after 3 warm-up passes the hit rate still changed: from 20.0% to 31.0%"


def test_a_warm_up_that_reads_nothing_is_no_endless_one() -> None:
    """Without reads it ends with the first pass."""
    assert warm_up(lambda _: (0, 0), most=9) == "its warm-up read nothing"
