"""Waits that share a log write: they end together, so the log write is what is independent, not the wait. Pure.

What is kept of millions of groups is, by their size, how many there are, and the sums of their waits and of the squares of
those: whole numbers, from which the mean of the writes' means and the variance of the mean of all waits follow exactly. Source:
reference measurement.md 2.4; for the variance of a mean of clusters: W. G. Cochran, Sampling Techniques, 1977, chapter 6.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from fractions import Fraction
from math import sqrt

from exacell.core.values import dataclass
from exacell.measure.distributions import t_quantile

PACK = 1 << 40
"""One group is ``waits * PACK + their sum in microseconds`` while it is gathered."""


@dataclass(frozen=True)
class OfSize:
    """All groups with the same number of waits: how many, the sum of their waits, the sum of the squares of each group's sum."""

    groups: int
    total: int
    squares: int


@dataclass(frozen=True)
class LogWrites:
    """The groups of one set of waits, by how many waits share a write."""

    by_size: Mapping[int, OfSize]

    @classmethod
    def of(cls, packed: Iterable[int]) -> LogWrites:
        """Return the groups that are given packed, see :data:`PACK`."""
        found: dict[int, list[int]] = {}
        for group, times in Counter(packed).items():
            size, total = divmod(group, PACK)
            own = found.setdefault(size, [0, 0, 0])
            own[0] += times
            own[1] += times * total
            own[2] += times * total * total
        return cls({size: OfSize(*found[size]) for size in sorted(found)})

    @property
    def writes(self) -> int:
        """How many log writes there were."""
        return sum(own.groups for own in self.by_size.values())

    @property
    def waits(self) -> int:
        """How many waits."""
        return sum(size * own.groups for size, own in self.by_size.items())

    def means(self) -> tuple[float, float, int]:
        """Return mean and variance of the writes' mean waits, and how many writes; there must be two at least."""
        count = self.writes
        total = sum((Fraction(own.total, size) for size, own in self.by_size.items()), Fraction())
        squares = sum((Fraction(own.squares, size * size) for size, own in self.by_size.items()), Fraction())
        return float(total / count), float((squares - total * total / count) / (count - 1)), count

    def mean_of_waits(self) -> tuple[float, float]:
        """Return the mean of all waits and its standard error when whole writes are drawn, not waits; two writes at least."""
        count, waits = self.writes, self.waits
        total = sum(own.total for own in self.by_size.values())
        mean = Fraction(total, waits)
        spread = sum(
            (
                own.squares - 2 * mean * size * own.total + mean * mean * size * size * own.groups
                for size, own in self.by_size.items()
            ),
            Fraction(),
        )
        return float(mean), sqrt(spread * count / (count - 1)) / waits


def together(parts: Iterable[LogWrites]) -> LogWrites:
    """Return the groups of several instances together: no write is of two of them."""
    found: dict[int, OfSize] = {}
    for part in parts:
        for size, own in part.by_size.items():
            known = found.get(size, OfSize(0, 0, 0))
            found[size] = OfSize(known.groups + own.groups, known.total + own.total, known.squares + own.squares)
    return LogWrites({size: found[size] for size in sorted(found)})


def difference(a: LogWrites, b: LogWrites, level: float = 0.95) -> tuple[float, float, float] | None:
    """Return by how much the mean wait of b differs from a's, and the interval, with the log write as the unit.

    None where one has fewer than two writes.
    """
    if min(a.writes, b.writes) < 2:
        return None
    (first, error_a), (second, error_b) = a.mean_of_waits(), b.mean_of_waits()
    half = t_quantile(level, float(min(a.writes, b.writes) - 1)) * sqrt(error_a**2 + error_b**2)
    return second - first, second - first - half, second - first + half
