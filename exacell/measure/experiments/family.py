"""The probability that chance alone brings a difference somewhere if several levels are compared with one: max-T. Pure.

Each level has its test over the schedules that could have been drawn; the more levels, the more often one of the tests is
wrong. So each set of levels is tested for being equal to the base level: if they were equal, another schedule would have given
the same values to these levels in another order. The p of a set is how often the largest of its differences would then be as
large as the one seen; a level's own p is the largest one of all sets that contain it. So at 5 %, at most one family in twenty
has a false alarm, for any values at the other levels. Sources: P. H. Westfall, S. S. Young, Resampling-Based Multiple Testing,
1993, 2 (max-T); R. Marcus, E. Peritz, K. R. Gabriel, Biometrika 63 (1976) 655 (closed tests).
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import combinations, permutations, product
from math import factorial, fsum

from exacell.measure.experiments.schedule import coins

_ALL, _DRAWN = 1 << 14, 4_000
"""Number of schedules up to which all are tried, and number of schedules that are drawn if there are more."""

MOST_LEVELS = 6
"""Maximum number of levels: with them 31 sets are tried, which takes some seconds; each further level doubles the time."""


def family(blocks: Sequence[Mapping[str, float]], base: str, order: str, *, seed: int = 1) -> dict[str, float]:
    """Return level → its p among all comparisons together, for each level except ``base``.

    Args:
        blocks: for each block in order: level → logarithm of the value that its run measured.
        base: the level that each other level is compared with.
        seed: seed of the draw of schedules if there are too many to try all.
    """
    tried = [level for level in blocks[0] if level != base]
    values = tuple(tuple(block[level] for level in (base, *tried)) for block in blocks)
    return dict(zip(tried, _closed(values, order, seed), strict=True))


@lru_cache(maxsize=16)
def _closed(blocks: tuple[tuple[float, ...], ...], order: str, seed: int) -> tuple[float, ...]:
    """Return the p of each value of a block except the first: the largest p of all sets that contain it."""
    dealt: dict[int, list[float]] = {}
    for values, (coin, _) in zip(blocks, coins(len(blocks), order), strict=True):
        sums = dealt.setdefault(coin, [0.0] * len(values))
        for place, value in enumerate(values):
            sums[place] += value
    tried = range(1, len(blocks[0]))
    found = dict.fromkeys(tried, 0.0)
    for size in tried:
        for some in combinations(tried, size):
            p = _p_of([[sums[place] for place in (0, *some)] for sums in dealt.values()], seed)
            for place in some:
                found[place] = max(found[place], p)
    return tuple(found.values())


def _p_of(dealt: Sequence[Sequence[float]], seed: int) -> float:
    """Return in which share of all possible schedules the largest difference from the first level is at least the one seen.

    Args:
        dealt: for each coin, the sums that it gave to the first level and to the others; the result seen counts as one of the
            schedules.
    """
    ways = [[[own[place] - own[0] for place in range(1, len(own))] for own in permutations(sums)] for sums in dealt]
    seen = _largest([each[0] for each in ways])
    near = 1e-12 * max(abs(value) for sums in dealt for value in sums)
    if seen <= near:
        return 1.0
    every = factorial(len(dealt[0])) ** len(dealt) <= _ALL
    others = product(*ways) if every else _drawn(ways, seed)
    found = [_largest(each) >= seen - near for each in others]
    return sum(found) / len(found) if every else (1 + sum(found)) / (1 + len(found))


def _drawn(ways: Sequence[Sequence[Sequence[float]]], seed: int) -> Iterator[list[Sequence[float]]]:
    rng = random.Random(f"family|{seed}")
    for _ in range(_DRAWN):
        yield [each[int(rng.random() * len(each))] for each in ways]


def _largest(differences: Sequence[Sequence[float]]) -> float:
    return max(abs(fsum(own)) for own in zip(*differences, strict=True))
