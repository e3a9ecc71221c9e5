"""The difference that a number of blocks can detect, calculated before the first of them has run. Pure.

A difference counts as found if the permutation test over the schedules that could have been drawn gives at most 5 %
(:mod:`exacell.measure.experiments.permutation`). Source of the power of a t test: R, power.t.test (strict = FALSE), and N. L.
Johnson, F. M. C. Tang, Biometrika 26 (1934) 362: the non-central t as an integral over the chi distribution.
"""

from __future__ import annotations

from functools import lru_cache
from math import erfc, exp, floor, lgamma, log, sqrt

from exacell.measure.distributions import t_quantile
from exacell.measure.experiments.schedule import ALPHA, least_p, tossed

POWER = 0.8

_NEIGHBOURS = 1 / 8
"""The largest correlation of two neighbouring blocks AB BA if each run depends on the one before, AR(1): r(1 - r)/2 at r =
1/2. Between pairs of blocks, and in random order, the drawn order makes it 0.
"""


def analytic(blocks: int, power: float = POWER, alpha: float = ALPHA) -> float:
    """Return the difference that a paired t test finds with that power, in standard deviations of a block's difference.

    Like R's ``power.t.test(n = blocks, power = 0.8, type = "paired", sig.level = alpha)``; the blocks are independent.
    """
    return _solved(t_quantile(1 - alpha, blocks - 1), blocks, 1.0, power)


def reached(blocks: int, order: str) -> float:
    """Return the largest p of at most 5 % that this number of blocks can give: 3.1 % for six.

    There must be enough blocks for a p of at most 5 %.
    """
    least = least_p(blocks, order)
    return floor(ALPHA / least) * least


@lru_cache(maxsize=64)
def findable(coins: int) -> float:
    """Return the difference that the permutation test with this number of coins finds four times out of five.

    The unit is the standard deviation of the mean difference of the blocks that share a coin. There must be enough coins for a
    verdict.
    """
    return analytic(coins, POWER, reached(coins, "random")) * _BY_COINS.get(coins, _BY_MANY)


def detectable(blocks: int, order: str) -> float:
    """Return the difference that the verdict finds four times out of five, in standard deviations of a block's difference.

    It allows for the correlation of neighbouring blocks if two share a coin. There must be enough blocks for a verdict.
    """
    coins = tossed(blocks, order)
    apart = sqrt((1 + _NEIGHBOURS) * coins / (blocks - blocks % 2)) if order == "abba" else 1.0
    return findable(coins) * apart


FAR = 1.2
"""A design finds much less than a paired t test with the same blocks if its difference is more than this many times as large."""


def finds_more(blocks: int, order: str) -> tuple[int, str] | None:
    """Return better blocks and order for a design that finds much less than a t test: the same or the next sufficient number
    of blocks, in random order. None if the design is good enough. There must be enough blocks for a verdict.
    """
    if detectable(blocks, order) <= FAR * analytic(blocks):
        return None
    more = next(n for n in range(blocks, blocks + 10) if detectable(n, "random") <= FAR * analytic(n))
    return more, "random"


_BY_COINS, _BY_MANY = {6: 1.19, 7: 1.08}, 1.07
"""Factor by which the permutation test needs a larger difference than a t test at the same p, by number of coins: with 6 coins
all must point one way. ``benchmarks/verdicts.py`` checks it.
"""


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
