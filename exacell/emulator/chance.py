"""Draws of many trials at once: how many of them happen, and how they split."""

from __future__ import annotations

import math
import random
from statistics import NormalDist

_NORMAL = NormalDist()
_SMALL = 200
"""Up to so many expected successes are drawn one by one."""


def binomial(rng: random.Random, trials: int, chance: float) -> int:
    """Return how many of ``trials`` happen when each happens with ``chance``; approximated by a normal when many."""
    if trials <= 0 or chance <= 0:
        return 0
    if chance >= 1:
        return trials
    if chance > 0.5:
        return trials - binomial(rng, trials, 1 - chance)
    expected = trials * chance
    if expected > _SMALL:
        drawn = expected + math.sqrt(expected * (1 - chance)) * _NORMAL.inv_cdf(rng.random() or 0.5)
        return min(trials, max(0, round(drawn)))
    # Waiting times between successes are geometric: as many draws as successes, however many trials.
    found, position = 0, 0
    step = math.log1p(-chance)
    while True:
        position += 1 + int(math.log(1.0 - rng.random()) / step)
        if position > trials:
            return found
        found += 1


def multinomial(rng: random.Random, trials: int, parts: int) -> list[int]:
    """Return ``trials`` split by chance over ``parts`` equally likely parts."""
    counts: list[int] = []
    left = trials
    for remaining in range(parts, 0, -1):
        drawn = binomial(rng, left, 1 / remaining)
        counts.append(drawn)
        left -= drawn
    return counts
