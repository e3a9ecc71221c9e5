"""Intervals for differences of quantiles if the values within a block depend on each other: whole blocks are resampled. Pure.

It stands apart from compared.py, because it needs numpy, the extra ``analysis``, which is slow to load.

Source: reference measurement.md 2.4 and 2.5, block bootstrap on block histograms.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from exacell.core.values import dataclass
from exacell.measure.histogram import Histogram, merged

Counts = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class Shift:
    """The difference of one quantile, first set minus second, with its 95 % interval."""

    p: float
    difference: float
    low: float
    high: float


def quantile_shifts(
    a: Sequence[Histogram], b: Sequence[Histogram], probabilities: Sequence[float], *, draws: int = 1000, seed: int = 1
) -> list[Shift]:
    """Return the shift of each quantile between two sets of blocks.

    Args:
        a, b: the histogram of each block: a run, a period of time, a group of log writes; at least two in each set.
        draws: how often both sets are resampled.

    Raises:
        ValueError: a set has fewer than two blocks; a mistake of the programmer.
    """
    if min(len(a), len(b)) < 2:
        raise ValueError("an interval from blocks needs at least two blocks in each set")
    rng = np.random.default_rng(seed)
    drawn = [_drawn(blocks, probabilities, draws, rng) for blocks in (a, b)]
    away = drawn[0] - drawn[1]
    low, high = np.quantile(away, (0.025, 0.975), axis=0)
    wholes = merged(a), merged(b)
    return [
        Shift(p=p, difference=wholes[0].quantile(p) - wholes[1].quantile(p), low=float(low[i]), high=float(high[i]))
        for i, p in enumerate(probabilities)
    ]


def _drawn(blocks: Sequence[Histogram], probabilities: Sequence[float], draws: int, rng: np.random.Generator) -> Counts:
    """Return ``draws`` rows of quantiles; each row is of as many blocks as there are, drawn with repetition."""
    values = np.unique(np.concatenate([np.asarray(block.values, dtype=np.int64) for block in blocks]))
    table = np.zeros((len(blocks), len(values)))
    for row, block in enumerate(blocks):
        table[row, np.searchsorted(values, block.values)] = block.counts
    found = np.empty((draws, len(probabilities)))
    chances = np.full(len(blocks), 1 / len(blocks))
    for draw in range(draws):
        cumulative = np.cumsum(rng.multinomial(len(blocks), chances) @ table)
        where = (cumulative[-1] - 1) * np.asarray(probabilities)
        low = values[np.searchsorted(cumulative, np.floor(where), side="right")]
        high = values[np.searchsorted(cumulative, np.ceil(where), side="right")]
        found[draw] = low + (where - np.floor(where)) * (high - low)
    return found
