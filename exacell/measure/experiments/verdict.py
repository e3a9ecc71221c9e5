"""What the blocks of an experiment show, and whether that holds. Pure.

The unit is the run, never what was counted within it; a block's difference is the logarithm of the ratio of its two runs, so
that a level that is 5 % slower is so at any load. Sources: reference measurement.md 2.4; R. A. Fisher, The Design of
Experiments, 1935, 21 (the sign-flip test); D. J. Schuirmann, J. Pharmacokin. Biopharm. 15 (1987) 657 (two one-sided tests).
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from enum import StrEnum
from math import expm1, fsum, log, log1p, sqrt

from exacell.core.values import dataclass
from exacell.measure.distributions import LN10, log_two_sided_t, t_quantile
from exacell.measure.experiments.power import FEWEST, LEVEL, detectable, wider


class Finding(StrEnum):
    """What an experiment came to."""

    NOT_ENOUGH = "not enough data"
    DIFFERENT = "different"
    NEGLIGIBLE = "different, and smaller than what matters"
    SAME = "no difference that matters"
    OPEN = "open"


@dataclass(frozen=True, kw_only=True)
class Block:
    """What was measured in a block: of the first level and of the second, and which of them ran first.

    Raises:
        ValueError: a value is not above 0, so that there is no ratio; a mistake of the programmer.
    """

    a: float
    b: float
    b_first: bool = False

    @property
    def difference(self) -> float:
        """The logarithm of b over a."""
        return log(self.b / self.a)


@dataclass(frozen=True, kw_only=True)
class Doubt:
    """Something in the runs that the verdict's arithmetic does not expect; ``p`` is how often chance alone makes it."""

    what: str
    percent: float
    p: float


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """What the blocks show. Differences are in percent of the first level.

    Attributes:
        blocks: whole blocks.
        effect: of the second level; None where there is no block.
        low, high: its 95 % interval; None below the number of blocks that a verdict needs.
        p: of the sign-flip test, two-sided; None likewise.
        spread: the standard deviation of a block's difference.
        same_spread: that of two runs at the same level, from the A/A stretch; None without one.
        matters: the smallest difference that matters.
        detectable: the difference that so many blocks with this spread find four times out of five.
        doubts: trend and carry-over, and a spread that the A/A stretch did not have.
    """

    finding: Finding
    blocks: int
    matters: float
    effect: float | None = None
    low: float | None = None
    high: float | None = None
    p: float | None = None
    spread: float | None = None
    same_spread: float | None = None
    detectable: float | None = None
    doubts: tuple[Doubt, ...] = ()


def judge(
    blocks: Sequence[Block], *, order: str, matters: float, same: Sequence[tuple[float, float]] = (), seed: int = 1
) -> Verdict:
    """Return what the blocks show.

    Args:
        matters: percent; a difference below it is of no interest.
        same: the pairs of runs of the A/A stretch.
        seed: of the sign-flip test where there are too many patterns of signs to try all.
    """
    differences = [block.difference for block in blocks]
    n = len(differences)
    mean = fsum(differences) / n if n else None
    same_spread = percent(spread_of_pairs(same)) if same else None
    if mean is None or n < FEWEST:
        return Verdict(
            finding=Finding.NOT_ENOUGH,
            blocks=n,
            matters=matters,
            effect=None if mean is None else percent(mean),
            same_spread=same_spread,
        )
    deviation = sqrt(fsum((each - mean) ** 2 for each in differences) / (n - 1))
    error = deviation / sqrt(n) * wider(n, order)
    half = t_quantile(LEVEL, n - 1) * error
    p = sign_flip(differences, seed=seed)
    inner = t_quantile(2 * LEVEL - 1, n - 1) * error
    limit = log1p(matters / 100)
    apart = abs(mean) > half and p <= max(1 - LEVEL, 4 / 2**n)
    within = abs(mean) + inner < limit
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
        low=percent(mean - half),
        high=percent(mean + half),
        p=p,
        spread=percent(deviation),
        same_spread=same_spread,
        detectable=percent(detectable(n, order) * deviation),
        doubts=tuple(_doubts(blocks, differences, same)),
    )


def percent(ratio: float) -> float:
    """Return the logarithm of a ratio as a change in percent."""
    return 100 * expm1(ratio)


def spread_of_pairs(pairs: Sequence[tuple[float, float]]) -> float:
    """Return the standard deviation of the logarithm of the ratio of two runs at one level, whose mean is 0 by itself."""
    return sqrt(fsum(log(b / a) ** 2 for a, b in pairs) / len(pairs))


_ALL = 14
"""Differences up to which every pattern of signs is tried; 8,192 patterns, as the first sign may stay."""
_DRAWN = 20_000


def sign_flip(differences: Sequence[float], *, seed: int = 1) -> float:
    """Return how often a sum as far from 0 comes up when each difference's sign is as likely as the other: two-sided p.

    All patterns are tried for 14 differences and fewer; else 20,000 are drawn, the one that was seen counting with them.
    """
    n, seen = len(differences), abs(fsum(differences))
    near = seen * (1 - 1e-12)
    if n <= _ALL:
        sums = [differences[0]] if differences else [0.0]
        for each in differences[1:]:
            sums = [found + sign for found in sums for sign in (each, -each)]
        return sum(1 for found in sums if abs(found) >= near) / len(sums)
    rng = random.Random(seed)
    as_far = 0
    for _ in range(_DRAWN):
        signs = rng.getrandbits(n)
        as_far += abs(sum(each if signs >> place & 1 else -each for place, each in enumerate(differences))) >= near
    return (as_far + 1) / (_DRAWN + 1)


_SURE = 0.01
"""Probability below which a doubt is told: each of them is looked at in every experiment."""


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
"""F with 5 and 3 degrees of freedom is above it once in a hundred; with more blocks or pairs even less often. Source: R,
qf(0.99, 5, 3) = 28.24."""


def _slope(values: Sequence[float]) -> tuple[float, float]:
    """Return the slope of a straight line through values one step apart, and the two-sided p of there being none."""
    n = len(values)
    middle, mean = (n - 1) / 2, fsum(values) / n
    wide = fsum((place - middle) ** 2 for place in range(n))
    slope = fsum((place - middle) * (value - mean) for place, value in enumerate(values)) / wide
    left = fsum((value - mean - slope * (place - middle)) ** 2 for place, value in enumerate(values))
    return slope, _p_of(slope, sqrt(left / (n - 2) / wide), n - 2)


def _apart(one: Sequence[float], other: Sequence[float]) -> tuple[float, float]:
    """Return by how much two means differ, and the two-sided p of Student's test of that."""
    means = [fsum(each) / len(each) for each in (one, other)]
    free = len(one) + len(other) - 2
    squares = fsum((v - mean) ** 2 for each, mean in zip((one, other), means, strict=True) for v in each)
    error = sqrt(squares / free * (1 / len(one) + 1 / len(other)))
    return means[0] - means[1], _p_of(means[0] - means[1], error, free)


def _p_of(away: float, error: float, free: int) -> float:
    if not error:
        return 0.0 if away else 1.0
    return float(10 ** (log_two_sided_t(away / error, free) / LN10))
