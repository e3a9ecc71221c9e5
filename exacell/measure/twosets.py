"""Compare two sets of values: whether and by how much they differ, and in which part. Pure.

Formulae, and how useful each is with millions of values: reference measurement.md 2.2 to 2.5.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from math import erfc, exp, sqrt

from exacell.core.values import dataclass
from exacell.measure.distributions import LN10, log_two_sided_normal, log_two_sided_t, t_quantile
from exacell.measure.histogram import Histogram


@dataclass(frozen=True, kw_only=True)
class Welch:
    """Welch's t test of two means.

    Attributes:
        difference: first mean minus second.
        low, high: its 95 % interval.
        log10_p: two-sided; a float can't hold the probability itself if this is below -308.
    """

    t: float
    df: float
    difference: float
    low: float
    high: float
    log10_p: float

    @property
    def p(self) -> float:
        """Return the two-sided probability; 0 if a float can't hold it."""
        return exp(self.log10_p * LN10) if self.log10_p > -308 else 0.0


def welch(a: tuple[float, float, int], b: tuple[float, float, int], level: float = 0.95) -> Welch | None:
    """Return the test of two sets given as (mean, variance, n); None if a set has fewer than two values, or no values vary."""
    (m1, s1, n1), (m2, s2, n2) = a, b
    if min(n1, n2) < 2 or not s1 + s2:
        return None
    v1, v2 = s1 / n1, s2 / n2
    error = sqrt(v1 + v2)
    t = (m1 - m2) / error
    df = (v1 + v2) ** 2 / (v1 * v1 / (n1 - 1) + v2 * v2 / (n2 - 1))
    half = t_quantile(level, df) * error
    return Welch(
        t=t, df=df, difference=m1 - m2, low=m1 - m2 - half, high=m1 - m2 + half, log10_p=log_two_sided_t(t, df) / LN10
    )


def moments(found: Histogram) -> tuple[float, float, int]:
    """Return mean, variance and number; the variance of a single value is 0."""
    return found.mean, found.variance if found.n > 1 else 0.0, found.n


def cohens_d(a: tuple[float, float, int], b: tuple[float, float, int]) -> float | None:
    """Return the difference of the means in units of the pooled standard deviation; None if no values vary."""
    (m1, s1, n1), (m2, s2, n2) = a, b
    if n1 + n2 < 3:
        return None
    pooled = ((n1 - 1) * s1 + (n2 - 1) * s2) / (n1 + n2 - 2)
    return (m1 - m2) / sqrt(pooled) if pooled > 0 else None


_HEAVY = 1.5
"""How many times as large the standard deviation must be as that of a normal distribution with the same quartiles; exponential
values have 1.2 times.
"""


def heavy(found: Histogram) -> bool:
    """Return whether a few extreme values dominate the standard deviation, so that a difference in units of it looks too small.

    Source of the factor: the quartiles of the normal distribution are 1.349 standard deviations apart.
    """
    return found.n > 1 and found.sd > _HEAVY * (found.quantile(0.75) - found.quantile(0.25)) / 1.349


def size_of(d: float) -> str:
    """Return the word for an effect: the nearest of Cohen's 0, 0.2, 0.5 and 0.8. Source: J. Cohen, 1988, 2.2.3."""
    near = min((0.0, 0.2, 0.5, 0.8), key=lambda anchor: abs(abs(d) - anchor))
    return {0.0: "negligible", 0.2: "small", 0.5: "medium", 0.8: "large"}[near]


@dataclass(frozen=True, kw_only=True)
class MannWhitney:
    """The rank sum test, by its normal approximation with correction for ties and continuity, as R's wilcox.test(exact = FALSE).

    Attributes:
        w: number of pairs in which the first set's value is larger; ties count half.
        greater: the share of such pairs; 0.5 if neither set is larger.
        log10_p: two-sided.
    """

    w: float
    z: float
    greater: float
    log10_p: float

    @property
    def p(self) -> float:
        """Return the two-sided probability; 0 if a float can't hold it."""
        return erfc(abs(self.z) / sqrt(2))


def mann_whitney(a: Histogram, b: Histogram) -> MannWhitney | None:
    """Return the test; None if a set is empty or all values are equal."""
    n1, n2 = a.n, b.n
    total = n1 + n2
    if not n1 or not n2:
        return None
    twice, ties = 0, 0
    of_b = dict(zip(b.values, b.counts, strict=True))
    for value, count in zip(a.values, a.counts, strict=True):
        place = bisect_left(b.values, value)
        below = b.cumulative[place - 1] if place else 0
        same = of_b.pop(value, 0)
        twice += count * (2 * below + same)
        ties += (count + same) ** 3 - (count + same)
    ties += sum(count**3 - count for count in of_b.values())
    variance = n1 * n2 / 12 * ((total + 1) - ties / (total * (total - 1)))
    if variance <= 0:
        return None
    away = (twice - n1 * n2) / 2
    z = (away - (0.5 if away > 0 else -0.5 if away < 0 else 0.0)) / sqrt(variance)
    return MannWhitney(
        w=twice / 2, z=z, greater=twice / 2 / (n1 * n2), log10_p=min(0.0, log_two_sided_normal(z) / LN10)
    )


def hodges_lehmann(a: Histogram, b: Histogram) -> float:
    """Return the median of all differences between a value of the first and one of the second set, exactly.

    The n1·n2 differences, which may be 10^13, are not calculated: the number of differences of at most d is counted, and d
    found by bisection.
    """
    pairs = a.n * b.n
    return (_difference_at((pairs - 1) // 2, a, b) + _difference_at(pairs // 2, a, b)) / 2


def _difference_at(rank: int, a: Histogram, b: Histogram) -> int:
    low, high = a.values[0] - b.values[-1], a.values[-1] - b.values[0]
    while low < high:
        middle = (low + high) // 2
        if _at_most(middle, a, b) > rank:
            high = middle
        else:
            low = middle + 1
    return low


def _at_most(d: int, a: Histogram, b: Histogram) -> int:
    """Return how many pairs have a difference of at most ``d``."""
    found = 0
    for value, count in zip(a.values, a.counts, strict=True):
        place = bisect_left(b.values, value - d)
        found += count * (b.n - (b.cumulative[place - 1] if place else 0))
    return found


def above_mean(found: Histogram, distances: tuple[int, ...]) -> list[int]:
    """Return how many values are more than each distance above the set's own mean."""
    return [found.n - _upto(found, found.mean + distance) for distance in distances]


def _upto(found: Histogram, limit: float) -> int:
    place = bisect_right(found.values, limit)
    return found.cumulative[place - 1] if place else 0
