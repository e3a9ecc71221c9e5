"""Draws many trials at once: how many of them succeed, and how they are distributed."""

from __future__ import annotations

import math
import random
from statistics import NormalDist

_NORMAL = NormalDist()
_SMALL = 200
"""Up to this many expected successes, each is drawn by itself."""


def binomial(rng: random.Random, trials: int, chance: float) -> int:
    """Return how many of ``trials`` succeed if each succeeds with probability ``chance``; a normal approximation for many."""
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
    # Waiting times between successes are geometric: this needs one draw for each success, for any number of trials.
    found, position = 0, 0
    step = math.log1p(-chance)
    while True:
        position += 1 + int(math.log(1.0 - rng.random()) / step)
        if position > trials:
            return found
        found += 1


def multinomial(rng: random.Random, trials: int, parts: int) -> list[int]:
    """Return ``trials`` distributed by chance over ``parts`` equally likely parts."""
    counts: list[int] = []
    left = trials
    for remaining in range(parts, 0, -1):
        drawn = binomial(rng, left, 1 / remaining)
        counts.append(drawn)
        left -= drawn
    return counts
