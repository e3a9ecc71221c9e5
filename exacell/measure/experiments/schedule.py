"""In which order the runs of an experiment come. Pure.

A block is one run at each of the two levels, one behind the other, and is what a verdict counts. The order within blocks is
drawn, so that whatever comes and goes by itself falls on both levels alike. Source: reference measurement.md 2.4.
"""

from __future__ import annotations

import random
from collections.abc import Sequence

from exacell.core.values import dataclass

ORDERS = ("abba", "random")
"""``abba``: blocks in twos, AB BA or BA AB, drawn for each two, so that a steady drift cancels; ``random``: drawn for each."""


@dataclass(frozen=True, kw_only=True)
class Run:
    """One run of a schedule.

    Attributes:
        number: from 1, over the whole experiment.
        block: from 1; 0 for a run of the A/A stretch.
        pair: which pair of the A/A stretch, from 1; 0 for a run of a block.
        level: the level at which it runs.
    """

    number: int
    block: int
    pair: int
    level: str


def schedule(levels: Sequence[str], *, blocks: int, order: str, seed: int, pairs: int, now: str) -> tuple[Run, ...]:
    """Return all runs in their order: ``pairs`` of two runs at the level that holds ``now``, then the blocks.

    The same seed gives the same schedule.
    """
    rng = random.Random(f"experiment|{seed}")
    flips: list[bool] = []
    while len(flips) < blocks:
        first = rng.random() < 0.5
        flips += [first, not first] if order == "abba" else [first]
    runs = [(0, pair, now) for pair in range(1, pairs + 1) for _ in range(2)]
    for block, flipped in enumerate(flips[:blocks], start=1):
        runs += [(block, 0, level) for level in (reversed(levels) if flipped else levels)]
    return tuple(
        Run(number=number, block=block, pair=pair, level=level)
        for number, (block, pair, level) in enumerate(runs, start=1)
    )
