"""The permutation test of an experiment, and its interval: both depend only on the random draw of the schedule. Pure.

If the levels made no difference, each run would have given the same value at the other level: another schedule would only have
changed the signs of the blocks whose coins fell the other way. So the schedules that could have been drawn show how often
chance alone brings a mean as far from 0; other influences in the meantime make no difference. Sources: R. A. Fisher, The Design
of Experiments, 1935, 21; O. Kempthorne, The Design and Analysis of Experiments, 1952, 8.2; for the interval, which contains
each shift that the test does not reject: J. S. Maritz, Distribution-Free Statistical Methods, 1981, 2.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from math import floor, inf

from exacell.core.values import dataclass
from exacell.measure.experiments.schedule import ALPHA, coins

_ALL = 14
"""Number of coins up to which every schedule is tried: 8,192 of them, as a schedule and its mirror are equally far from 0."""
_DRAWN = 20_000


@dataclass(frozen=True, kw_only=True)
class Permuted:
    """The mean of the blocks' differences, compared with those of all schedules that could have been drawn; a schedule and its
    mirror count once.

    Attributes:
        mean: the mean that was seen.
        lows: one limit for each other schedule, ascending and below the mean. If a shift below this limit is subtracted from
            every difference, the mean seen is further from 0 than that schedule's mean.
        highs: the same above the mean; descending.
    """

    mean: float
    lows: Sequence[float]
    highs: Sequence[float]

    @property
    def p(self) -> float:
        """Return how often a schedule alone brings a mean at least as far from 0, two-sided; the schedule that ran counts,
        too.
        """
        if not self.mean:
            return 1.0
        as_far = sum(low <= 0 for low in self.lows) if self.mean > 0 else sum(high >= 0 for high in self.highs)
        return (1 + as_far) / (1 + len(self.lows))

    def interval(self, level: float = 1 - ALPHA) -> tuple[float, float] | None:
        """Return the interval of differences that the test does not reject; None if there are too few schedules to reject any.

        0 is outside of it exactly if ``p`` is at most 1 - ``level``.
        """
        refused = floor((1 - level) * (1 + len(self.lows)) + 1e-9) - 1
        return None if refused < 0 else (self.lows[refused], self.highs[refused])


def permuted(
    differences: Sequence[float], order: str, *, seed: int = 1, places: Sequence[int] | None = None
) -> Permuted:
    """Return the mean of the differences (one per block, in order), compared with those of the other schedules.

    With 14 or fewer coins all schedules are tried; otherwise 20,000 are drawn.

    Args:
        seed: seed of that draw.
        places: indexes of the blocks in the schedule, from 0, if some blocks are left out; None if all are there.
    """
    each = of_coins(differences, order, places)
    total, count = sum(own for own, _ in each), len(differences)
    near = 1e-12 * max(map(abs, differences), default=0.0)
    turned, sizes = _others(each, seed)
    ones = [own / size if 0 < size < count else -inf for own, size in zip(turned, sizes, strict=True)]
    rest = [
        (total - own) / (count - size) if 0 < size < count else inf for own, size in zip(turned, sizes, strict=True)
    ]
    # Rounding errors do not count: a schedule whose mean differs only by one counts as equally far from 0 as the one that ran.
    lows, highs = (
        sorted((0.0 if -near < shift < near else shift for shift in map(end, ones, rest)), reverse=end is max)
        for end in (min, max)
    )
    mean = total / count if count and abs(total) > near * count else 0.0
    return Permuted(mean=mean, lows=lows, highs=highs)


def of_coins(differences: Sequence[float], order: str, places: Sequence[int] | None = None) -> list[tuple[float, int]]:
    """Return for each coin the sum of the differences of its blocks, and the number of these blocks."""
    where = range(len(differences)) if places is None else places
    of_block = coins(max(where, default=-1) + 1, order)
    each: dict[int, tuple[float, int]] = {}
    for difference, place in zip(differences, where, strict=True):
        coin = of_block[place][0]
        total, count = each.get(coin, (0.0, 0))
        each[coin] = total + difference, count + 1
    return list(each.values())


def _others(each: Sequence[tuple[float, int]], seed: int) -> tuple[Sequence[float], Sequence[int]]:
    """Return for each other schedule the sum and the number of the differences whose sign it changes; of two mirrored ones
    only one.

    A drawn schedule that changes none or all of them is as far from 0 as the one that ran.
    """
    sums, sizes = [0.0], [0]
    if len(each) <= _ALL:
        for own, blocks in each[1:]:
            sums += [found + own for found in sums]
            sizes += [found + blocks for found in sizes]
        return sums[1:], sizes[1:]
    rng = random.Random(seed)
    for _ in range(_DRAWN):
        signs = rng.getrandbits(len(each))
        turned = [pair for place, pair in enumerate(each) if signs >> place & 1]
        sums.append(sum(own for own, _ in turned))
        sizes.append(sum(blocks for _, blocks in turned))
    return sums[1:], sizes[1:]
