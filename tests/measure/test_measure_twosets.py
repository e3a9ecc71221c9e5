"""What differs between two sets, what the naive test hides, and what a histogram tells of its tail."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence

import pytest
from hypothesis import given, strategies as st

from exacell.measure.histogram import Histogram, cut_at, merged
from exacell.measure.resampling import quantile_shifts
from exacell.measure.twosets import cohens_d, hodges_lehmann, mann_whitney, moments, size_of, welch

VALUES = st.lists(st.integers(-50, 50), min_size=1, max_size=30)


def of(values: Sequence[int]) -> Histogram:
    return Histogram.of(Counter(values))


@given(VALUES, VALUES)
def test_counted_differences_are_the_made_ones(a: list[int], b: list[int]) -> None:
    """Hodges-Lehmann and the pairs won equal those of all differences, made one by one."""
    pairs = sorted(x - y for x in a for y in b)
    middle = (pairs[(len(pairs) - 1) // 2] + pairs[len(pairs) // 2]) / 2
    assert hodges_lehmann(of(a), of(b)) == middle
    ranks = mann_whitney(of(a), of(b))
    won = sum(d > 0 for d in pairs) + sum(d == 0 for d in pairs) / 2
    assert (ranks is None and len({*a, *b}) == 1) or (ranks is not None and ranks.w == won)
    if ranks is not None:
        assert ranks.greater == pytest.approx(won / len(pairs))


@given(st.lists(VALUES, min_size=1, max_size=4))
def test_merged_parts_are_the_whole(parts: list[list[int]]) -> None:
    """Histograms of files merge into that of all their values; nothing is lost and nothing rounded."""
    whole = [value for part in parts for value in part]
    found = merged(of(part) for part in parts)
    assert found == of(whole) and found.n == len(whole) and found.total == sum(whole)
    assert [found.at(rank) for rank in range(len(whole))] == sorted(whole)
    assert found.above(0) == sum(value > 0 for value in whole)


def test_large_sums_are_exact() -> None:
    """Deviations of values far from 0 do not cancel."""
    found = Histogram.of({10**12: 2, 10**12 + 1: 2})
    assert found.variance == pytest.approx(1 / 3, rel=1e-15) and found.mean == 10**12 + 0.5


@pytest.mark.parametrize(
    ("d", "word"), [(0.02, "negligible"), (-0.186, "small"), (0.44, "medium"), (-0.9, "large"), (5.0, "large")]
)
def test_effects_have_cohens_words(d: float, word: str) -> None:
    """An effect is called by the nearest of Cohen's anchors, whatever its sign."""
    assert size_of(d) == word


def test_sets_that_tell_nothing_have_no_test() -> None:
    """One value, or no spread at all, is no test and no effect, not a division by zero."""
    assert welch(moments(of([5])), moments(of([6, 7]))) is None
    assert welch(moments(of([5, 5])), moments(of([6, 6]))) is None
    assert cohens_d(moments(of([5, 5])), moments(of([6, 6]))) is None
    assert mann_whitney(of([5, 5]), of([5])) is None


def grouped(rng: random.Random, writes: int, commits: int) -> list[list[int]]:
    """Waits of commits that share log writes: each write has its own latency, its commits nearly the same."""
    found = []
    for _ in range(writes):
        latency = rng.gauss(500, 60)
        found.append([round(latency + rng.gauss(0, 20)) for _ in range(commits)])
    return found


def test_the_naive_test_cries_wolf_where_groups_do_not() -> None:
    """Between sets without any difference, commits that share a log write make the naive test significant far too often;
    one value a log write does not."""
    rng = random.Random(4)
    naive = by_write = 0
    runs = 200
    for _ in range(runs):
        a, b = grouped(rng, 60, 5), grouped(rng, 60, 5)
        flat = [moments(of([wait for write in side for wait in write])) for side in (a, b)]
        means = [moments(of([round(sum(write) / len(write)) for write in side])) for side in (a, b)]
        tests = welch(*flat), welch(*means)
        assert tests[0] is not None and tests[1] is not None
        naive += tests[0].p < 0.05
        by_write += tests[1].p < 0.05
    assert naive > 0.25 * runs and by_write < 0.10 * runs


def test_quantile_shifts_keep_the_blocks_together() -> None:
    """The interval of a quantile's shift holds a planted one, and is wider where values of a block depend on each other."""
    rng = random.Random(11)
    slow, fast = grouped(rng, 80, 6), grouped(rng, 80, 6)
    slow = [[wait + 40 for wait in write] for write in slow]
    shifts = quantile_shifts([of(w) for w in slow], [of(w) for w in fast], (0.5, 0.9), draws=400, seed=3)
    assert all(shift.low <= 40 <= shift.high for shift in shifts)
    alone = quantile_shifts(
        [of([wait]) for write in slow for wait in write],
        [of([wait]) for write in fast for wait in write],
        (0.5,),
        draws=400,
        seed=3,
    )
    assert shifts[0].high - shifts[0].low > 1.4 * (alone[0].high - alone[0].low)
    assert quantile_shifts([of([1]), of([2])], [of([1]), of([2])], (0.5,), seed=5) == quantile_shifts(
        [of([1]), of([2])], [of([1]), of([2])], (0.5,), seed=5
    )
    with pytest.raises(ValueError, match="two blocks"):
        quantile_shifts([of([1])], [of([1]), of([2])], (0.5,))


@pytest.mark.parametrize(
    ("most", "near", "limit"),
    [(3999, 40, 4000), (3998, 5, 4000), (3999, 4, None), (3900, 40, None), (9999, 40, 10_000), (999, 40, 1000),
     (499, 40, None), (4000, 40, None), (499_900, 40, 500_000)],
)  # fmt: skip
def test_a_cut_tail_is_seen(most: int, near: int, limit: int | None) -> None:
    """A maximum just under a round number, with others close to it, is a tail that somebody cut; one that runs out is not."""
    body = dict.fromkeys(range(400, 600), 100) if most > 999 else dict.fromkeys(range(100, 400), 9)
    tail = {most - place * max(1, most // 500): 1 for place in range(near)}
    assert cut_at(Histogram.of({**tail, **body, most: 1})) == limit


def test_natural_tails_are_not_called_cut() -> None:
    """Of 300 exponential and Pareto samples none is called cut."""
    rng = random.Random(6)
    for _ in range(150):
        for draw in (lambda: round(rng.expovariate(1 / 400)), lambda: round(300 * rng.paretovariate(1.6))):
            assert cut_at(of([draw() for _ in range(2000)])) is None
