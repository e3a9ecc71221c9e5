"""Judge the blocks of an experiment: the difference that they show, and whether it can be trusted. Pure.

The unit is the run, never the items counted within it. A block's difference is the logarithm of the ratio of its two runs, so
that a level that is 5 % slower has the same difference at any load. Test and intervals are over the schedules that could have
been drawn.
Sources: reference measurement.md 2.4; D. J. Schuirmann, J. Pharmacokin. Biopharm. 15 (1987) 657 (two one-sided tests).
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from math import comb, expm1, fsum, log, log1p, sqrt

from exacell.core.values import dataclass
from exacell.measure.distributions import LN10, log_two_sided_t
from exacell.measure.experiments.permutation import of_coins, permuted
from exacell.measure.experiments.power import findable
from exacell.measure.experiments.schedule import ALPHA, fewest, least_p


class Finding(StrEnum):
    """The possible results of an experiment."""

    NOT_ENOUGH = "not enough data"
    DIFFERENT = "different"
    NEGLIGIBLE = "different, and smaller than what matters"
    SAME = "no difference that matters"
    OPEN = "open"
    LOPSIDED = "no verdict: gave way at one level more than at the other"


@dataclass(frozen=True, kw_only=True)
class Block:
    """The values measured in a block, at the first and the second level, and which of them ran first.

    Raises:
        ValueError: a value is not above 0, so that there is no ratio; a mistake of the programmer.
    """

    a: float
    b: float
    b_first: bool = False

    @property
    def difference(self) -> float:
        """Return the logarithm of b over a."""
        return log(self.b / self.a)


@dataclass(frozen=True, kw_only=True)
class Doubt:
    """Something in the runs that the calculation of the verdict does not expect; ``p``: how often chance alone causes it."""

    what: str
    percent: float
    p: float


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """The result of the blocks. Differences are in percent of the first level.

    Attributes:
        blocks: number of whole blocks.
        effect: difference of the second level; None without blocks.
        low, high: 95 % interval of the effect: the differences that the test does not reject; None with too few blocks for a
            verdict.
        p: two-sided p of the permutation test over the schedules that could have been drawn; with several comparisons that of all
            together (max-T); None with too few blocks.
        least: the smallest p that so many blocks can give.
        spread: the standard deviation of a block's difference.
        same_spread: the same for two runs at one level, from the A/A stretch; None without one.
        matters: the smallest difference of interest.
        detectable: the difference that so many blocks with this spread find four times out of five.
        doubts: trend, carry-over, or a larger spread than in the A/A stretch.
    """

    finding: Finding
    blocks: int
    matters: float
    effect: float | None = None
    low: float | None = None
    high: float | None = None
    p: float | None = None
    least: float = 1.0
    spread: float | None = None
    same_spread: float | None = None
    detectable: float | None = None
    doubts: tuple[Doubt, ...] = ()


def judge(
    blocks: Sequence[Block],
    *,
    order: str,
    matters: float,
    same: Sequence[tuple[float, float]] = (),
    seed: int = 1,
    family: float | None = None,
) -> Verdict:
    """Return the verdict on the blocks.

    Args:
        matters: percent; a smaller difference is of no interest.
        same: the pairs of runs of the A/A stretch.
        seed: seed of the draw of schedules if there are too many to try all.
        family: p of this comparison among several; None if it is the only one.
    """
    differences = [block.difference for block in blocks]
    n = len(differences)
    mean = fsum(differences) / n if n else None
    same_spread = percent(spread_of_pairs(same)) if same else None
    drawn = permuted(differences, order, seed=seed)
    interval, inner = drawn.interval(), drawn.interval(1 - 2 * ALPHA)
    if mean is None or n < fewest(order) or interval is None or inner is None:
        return Verdict(
            finding=Finding.NOT_ENOUGH,
            blocks=n,
            matters=matters,
            effect=None if mean is None else percent(mean),
            least=least_p(n, order),
            same_spread=same_spread,
        )
    deviation = sqrt(fsum((each - mean) ** 2 for each in differences) / (n - 1))
    means = [total / count for total, count in of_coins(differences, order)]
    apart_by = sqrt(fsum((each - mean) ** 2 for each in means) / (len(means) - 1))
    limit = log1p(matters / 100)
    p = drawn.p if family is None else family
    apart = p <= ALPHA
    within = -limit < inner[0] and inner[1] < limit
    finding = {
        (True, True): Finding.NEGLIGIBLE,
        (True, False): Finding.DIFFERENT,
        (False, True): Finding.SAME,
        (False, False): Finding.OPEN,
    }[apart, within]
    return Verdict(
        finding=finding,
        blocks=n,
        matters=matters,
        effect=percent(mean),
        low=percent(interval[0]),
        high=percent(interval[1]),
        p=p,
        least=least_p(n, order),
        spread=percent(deviation),
        same_spread=same_spread,
        detectable=percent(findable(len(means)) * apart_by),
        doubts=tuple(_doubts(blocks, differences, same)),
    )


def lopsided(one: tuple[int, int], other: tuple[int, int]) -> bool:
    """Return whether pauses came more often at one level than chance would explain, so that its runs are not a fair sample.

    Runs are repeated because of their values, so three repeated runs at one level and none at the other are enough.

    Args:
        one, other: number of pauses at each level, and how many of these runs were repeated.
    """
    times, again = (one[0], other[0]), (one[1], other[1])
    return _by_coins(*times) <= ALPHA or (max(again) > 2 and _by_coins(*again) <= _CHOSEN)


_CHOSEN = 0.25
"""Probability below which the number of repeated runs counts as uneven."""


def _by_coins(one: int, other: int) -> float:
    """Return the two-sided probability that tosses of a coin fall as unevenly."""
    n = one + other
    return float(min(1.0, 2 * sum(comb(n, k) for k in range(min(one, other) + 1)) / 2**n))


def percent(ratio: float) -> float:
    """Return the logarithm of a ratio as a change in percent."""
    return 100 * expm1(ratio)


def spread_of_pairs(pairs: Sequence[tuple[float, float]]) -> float:
    """Return the standard deviation of the logarithm of the ratio of two runs at one level; its mean is 0 by definition."""
    return sqrt(fsum(log(b / a) ** 2 for a, b in pairs) / len(pairs))


_SURE = 0.01
"""Probability below which a doubt is shown; it is small because every experiment is checked for each doubt."""


def _doubts(blocks: Sequence[Block], differences: Sequence[float], same: Sequence[tuple[float, float]]) -> list[Doubt]:
    found = []
    levels = [log(block.a * block.b) / 2 for block in blocks]
    slope, p = _slope(levels)
    if p < _SURE:
        found.append(Doubt(what="trend", percent=percent(slope * (len(levels) - 1)), p=p))
    behind = [d for d, block in zip(differences, blocks, strict=True) if block.b_first]
    ahead = [d for d, block in zip(differences, blocks, strict=True) if not block.b_first]
    if min(len(behind), len(ahead)) >= 2:
        away, p = _apart(ahead, behind)
        if p < _SURE:
            found.append(Doubt(what="carry-over", percent=percent(away), p=p))
    if len(same) >= 3:
        n = len(differences)
        mean = fsum(differences) / n
        ratio = fsum((d - mean) ** 2 for d in differences) / (n - 1) / max(spread_of_pairs(same) ** 2, 1e-18)
        if ratio > _F_LIMIT:
            found.append(Doubt(what="spread", percent=100 * (sqrt(ratio) - 1), p=_SURE))
    return found


_F_LIMIT = 28.2
"""Limit of F: with 5 and 3 degrees of freedom F is above it once in a hundred times; with more blocks or pairs even less
often. Source: R, qf(0.99, 5, 3) = 28.24.
"""


def _slope(values: Sequence[float]) -> tuple[float, float]:
    """Return the slope of a straight line through values one step apart, and the two-sided p for a slope of 0."""
    n = len(values)
    middle, mean = (n - 1) / 2, fsum(values) / n
    wide = fsum((place - middle) ** 2 for place in range(n))
    slope = fsum((place - middle) * (value - mean) for place, value in enumerate(values)) / wide
    left = fsum((value - mean - slope * (place - middle)) ** 2 for place, value in enumerate(values))
    return slope, _p_of(slope, sqrt(left / (n - 2) / wide), n - 2)


def _apart(one: Sequence[float], other: Sequence[float]) -> tuple[float, float]:
    """Return the difference of two means, and its two-sided p by Student's test."""
    means = [fsum(each) / len(each) for each in (one, other)]
    free = len(one) + len(other) - 2
    squares = fsum((v - mean) ** 2 for each, mean in zip((one, other), means, strict=True) for v in each)
    error = sqrt(squares / free * (1 / len(one) + 1 / len(other)))
    return means[0] - means[1], _p_of(means[0] - means[1], error, free)


def _p_of(away: float, error: float, free: int) -> float:
    if not error:
        return 0.0 if away else 1.0
    return float(10 ** (log_two_sided_t(away / error, free) / LN10))
