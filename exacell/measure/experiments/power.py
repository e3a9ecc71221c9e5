"""What difference so many blocks can detect, before the first of them has run. Pure.

A difference counts as found when the interval of the blocks' mean leaves out 0 and the sign-flip test does not speak against
it (:mod:`exacell.measure.experiments.verdict`). Source of the power of a t test: R, power.t.test (strict = FALSE), and
N. L. Johnson, F. M. C. Tang, Biometrika 26 (1934) 362: the non-central t as an integral over the chi distribution.
"""

from __future__ import annotations

from functools import lru_cache
from math import erfc, exp, lgamma, log, sqrt

from exacell.measure.distributions import t_quantile

POWER = 0.8
LEVEL = 0.95
FEWEST = 6
"""Blocks below which the sign-flip test can't reach 5 %: of five, all pointing one way comes with p = 1/16."""

_NEIGHBOURS = 1 / 8
"""The largest correlation that two neighbouring blocks AB BA can get from runs that depend on the one before, AR(1): r(1 - r)/2
at r = 1/2. Between twos, and in random order, the drawn order makes it 0."""


def wider(blocks: int, order: str) -> float:
    """Return the factor by which an interval of blocks is wider than Student's, for what neighbouring blocks share."""
    if order != "abba":
        return 1.0
    return sqrt((1 + _NEIGHBOURS) / (1 - _NEIGHBOURS / (blocks - 1)))


def analytic(blocks: int, power: float = POWER) -> float:
    """Return the difference, in standard deviations of a block's difference, that a paired t test finds with that power.

    As R's ``power.t.test(n = blocks, power = 0.8, type = "paired")``; the blocks are independent.
    """
    return _solved(t_quantile(LEVEL, blocks - 1), blocks, 1.0, power)


@lru_cache(maxsize=64)
def detectable(blocks: int, order: str, power: float = POWER) -> float:
    """Return the difference that the verdict finds with that power, in standard deviations of a block's difference.

    It allows for the wider interval, and for runs that depend on the one before.
    """
    apart = sqrt(1 + _NEIGHBOURS) if order == "abba" else 1.0
    return _solved(t_quantile(LEVEL, blocks - 1) * wider(blocks, order), blocks, apart, power) * _BY_SIGNS


_BY_SIGNS = 1.05
"""The sign-flip test has its say as well. With 6 blocks, where it knows 32 patterns only, that costs up to five in a hundred:
``benchmarks/verdicts.py`` holds it to that."""


def _solved(limit: float, blocks: int, apart: float, power: float) -> float:
    low, high = 0.0, 20.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (
            (low, middle) if _above(limit, middle * sqrt(blocks) / apart, blocks - 1) >= power else (middle, high)
        )
    return high


def _above(limit: float, away: float, df: int) -> float:
    """Return P(T > ``limit``) of the non-central t: (Z + ``away``) / sqrt(X / df), with X chi-squared."""
    steps, highest = 400, sqrt(df) + 8.0
    width = highest / steps
    front = (1 - df / 2) * log(2) - lgamma(df / 2)
    total = 0.0
    for step in range(1, steps):
        chi = step * width
        density = exp(front + (df - 1) * log(chi) - chi * chi / 2)
        total += (4 if step % 2 else 2) * density * 0.5 * erfc((limit * chi / sqrt(df) - away) / sqrt(2))
    return total * width / 3
