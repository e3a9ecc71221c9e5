"""Verdicts and imported figures are scipy's of the same values: scipy itself, where it is (make test-real)."""

from __future__ import annotations

import os
import random
from itertools import combinations
from math import exp, log

import pytest

from exacell.measure.experiments.family import family
from exacell.measure.experiments.verdict import Block, judge

pytestmark = pytest.mark.skipif(os.environ.get("TEST_REAL") != "1", reason="make test-real starts scipy")


def made(seed: int, blocks: int, levels: int = 2, effect: float = 0.02) -> list[dict[str, float]]:
    """Return what runs of blocks measured, µs by level: a0 and others, of which the last one takes longer."""
    rng = random.Random(seed)
    found = []
    for _ in range(blocks):
        block = exp(rng.gauss(6, 0.05))
        found.append({f"a{n}": block * exp(rng.gauss(effect * (n == levels - 1), 0.02)) for n in range(levels)})
    return found


@pytest.mark.parametrize("seed", range(20))
def test_p_is_scipy_s(seed: int) -> None:
    """With a coin a block p is that of the exact permutation test of paired samples, two-sided."""
    stats = pytest.importorskip("scipy.stats", reason="there is no scipy")
    runs = made(seed, 7 + seed % 4)
    own = judge(
        [Block(a=run["a0"], b=run["a1"], b_first=n % 2 == 0) for n, run in enumerate(runs)], order="random", matters=2.0
    )
    differences = [log(run["a1"] / run["a0"]) for run in runs]

    def size(values: object, axis: int = -1) -> object:
        return abs(values.mean(axis=axis))  # type: ignore[attr-defined]

    theirs = stats.permutation_test(
        (differences,),
        size,
        permutation_type="samples",
        n_resamples=float("inf"),
        alternative="greater",
        vectorized=True,
    )
    assert own.p == pytest.approx(theirs.pvalue, abs=1e-12)


@pytest.mark.parametrize("seed", range(6))
def test_p_of_several_levels_is_the_largest_of_all_sets_of_them(seed: int) -> None:
    """Max-T, closed: for each set of levels scipy deals the values of each block out again; a level's p is the largest of the
    sets that hold it."""
    stats, np = pytest.importorskip("scipy.stats", reason="there is no scipy"), pytest.importorskip("numpy")
    runs = made(seed, 4, levels=3, effect=0.05)
    logs = [{level: log(value) for level, value in run.items()} for run in runs]
    own = family(logs, "a0", "random")
    values = np.array([[block[f"a{n}"] for n in range(3)] for block in logs])

    def largest(*dealt: object, axis: int = -1) -> object:
        first, *others = (np.asarray(one).mean(axis=axis) for one in dealt)
        return np.max([abs(other - first) for other in others], axis=0)

    expected = dict.fromkeys(own, 0.0)
    for size in (1, 2):
        for some in combinations((1, 2), size):
            samples = [values[:, place] for place in (0, *some)]
            found = stats.permutation_test(
                samples,
                largest,
                permutation_type="samples",
                n_resamples=float("inf"),
                alternative="greater",
                vectorized=True,
            )
            for place in some:
                expected[f"a{place}"] = max(expected[f"a{place}"], found.pvalue)
    assert own == pytest.approx(expected, abs=1e-12)
