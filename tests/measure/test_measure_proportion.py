"""Shares and their intervals are those of the published formulae."""

from __future__ import annotations

import pytest

from exacell.measure.proportion import differ_by_more_than_chance, share


@pytest.mark.parametrize(
    ("part", "whole", "low", "high"),
    [(15, 50, 19.10, 43.75), (0, 10, 0.0, 27.75), (10, 10, 72.25, 100.0), (3, 3, 43.85, 100.0), (1, 1, 20.65, 100.0)],
)
def test_intervals_are_wilsons(part: int, whole: int, low: float, high: float) -> None:
    """The interval equals prop.test(correct = FALSE) of R, also where nothing or everything was counted."""
    found = share(part, whole)
    assert found is not None and (found.low, found.high) == pytest.approx((low, high), abs=0.01)
    assert found.percent == 100 * part / whole


def test_nothing_counted_is_no_share() -> None:
    """A share of nothing is none, not 0 %."""
    assert share(0, 0) is None


def test_chance_is_what_equal_shares_differ_by() -> None:
    """One in a thousand of equal pairs is called different, no more; one pair or none is never."""
    import random

    rng = random.Random(7)
    found = sum(
        differ_by_more_than_chance([(sum(rng.random() < 0.3 for _ in range(400)), 400) for _ in range(3)])
        for _ in range(400)
    )
    assert found <= 3
    assert differ_by_more_than_chance([(300, 1000), (500, 1000)])
    assert not differ_by_more_than_chance([(300, 1000)]) and not differ_by_more_than_chance([(0, 9), (0, 9)])
