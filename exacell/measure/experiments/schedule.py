"""The order of the runs of an experiment. Pure.

A block has one run at each level, one after the other; a verdict counts blocks. The order within blocks is drawn at random, so
that other influences fall on all levels alike. A test of the blocks may use only the random part: :func:`coins` defines that
part for both the draw and the test. Source: reference measurement.md 2.4.
"""

from __future__ import annotations

import random
from collections.abc import Sequence

from exacell.core.values import dataclass

ORDERS = ("abba", "random")
"""``random``: one coin per block; ``abba``: blocks in pairs, AB BA or BA AB, one coin per pair, so that a steady drift cancels
out. With three or more levels the coin is a shuffle of them, and the second of two blocks has the reverse order.
"""

ALPHA = 0.05
"""The largest p at which a difference counts as one."""


def coins(blocks: int, order: str) -> tuple[tuple[int, bool], ...]:
    """Return for each block the index of the coin that decides its order, and whether the block has the reverse of the coin's
    order.

    Blocks that share a coin are not drawn independently.
    """
    return tuple((block // 2, block % 2 == 1) if order == "abba" else (block, False) for block in range(blocks))


def tossed(blocks: int, order: str) -> int:
    """Return how many coins decide the order of so many blocks; the number of equally likely schedules is 2 to that power."""
    return len({coin for coin, _ in coins(blocks, order)})


def least_p(blocks: int, order: str) -> float:
    """Return the smallest two-sided p for so many blocks: 2 / number of schedules (the schedule that ran, and its mirror)."""
    return min(1.0, 2.0 ** (1 - tossed(blocks, order)))


def fewest(order: str) -> int:
    """Return the least number of blocks for a p of at most 5 %: 6 if each block has its own coin, 11 if two share one."""
    return next(blocks for blocks in range(1, 100) if least_p(blocks, order) <= ALPHA)


@dataclass(frozen=True, kw_only=True)
class Run:
    """One run of a schedule.

    Attributes:
        number: from 1, over the whole experiment.
        block: from 1; 0 for a run of the A/A stretch.
        pair: number of its pair in the A/A stretch, from 1; 0 for a run of a block.
        level: the level at which it runs.
    """

    number: int
    block: int
    pair: int
    level: str


def schedule(levels: Sequence[str], *, blocks: int, order: str, seed: int, pairs: int, now: str) -> tuple[Run, ...]:
    """Return all runs in order: ``pairs`` pairs of runs at the level ``now``, then the blocks.

    The same seed gives the same schedule.
    """
    rng = random.Random(f"experiment|{seed}")
    two = len(levels) == 2
    drawn = [_flipped(levels, rng) if two else rng.sample(levels, len(levels)) for _ in range(tossed(blocks, order))]
    orders = [drawn[coin][::-1] if turned else drawn[coin] for coin, turned in coins(blocks, order)]
    runs = [(0, pair, now) for pair in range(1, pairs + 1) for _ in range(2)]
    for block, own in enumerate(orders, start=1):
        runs += [(block, 0, level) for level in own]
    return tuple(
        Run(number=number, block=block, pair=pair, level=level)
        for number, (block, pair, level) in enumerate(runs, start=1)
    )


def _flipped(levels: Sequence[str], rng: random.Random) -> list[str]:
    """Return two levels in the order that a coin gives them."""
    return list(reversed(levels)) if rng.random() < 0.5 else list(levels)
