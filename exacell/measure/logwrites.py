"""Group waits by log write: waits for one log write end together, so only the log writes are independent of each other. Pure.

For millions of groups, only the following is stored by group size: the number of groups, and the sums of their waits and of
the squares of those sums. These whole numbers give the exact mean of the writes' means, and the exact variance of the mean of
all waits. Source: reference measurement.md 2.4; for the variance of a mean of clusters: W. G. Cochran, Sampling
Techniques, 1977, chapter 6.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from fractions import Fraction
from math import sqrt

from exacell.core.values import dataclass
from exacell.measure.distributions import t_quantile

PACK = 1 << 40
"""While it is collected, a group is stored as ``waits * PACK + their sum in microseconds``."""


@dataclass(frozen=True)
class OfSize:
    """All groups with the same number of waits: their number, the sum of their waits, the sum of the squares of each group's
    sum.
    """

    groups: int
    total: int
    squares: int


@dataclass(frozen=True)
class LogWrites:
    """The groups of one set of waits, by the number of waits that share a log write."""

    by_size: Mapping[int, OfSize]

    @classmethod
    def of(cls, packed: Iterable[int]) -> LogWrites:
        """Return the groups of packed waits; :data:`PACK` describes the packing."""
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
        """Return the number of log writes."""
        return sum(own.groups for own in self.by_size.values())

    @property
    def waits(self) -> int:
        """Return the number of waits."""
        return sum(size * own.groups for size, own in self.by_size.items())

    def means(self) -> tuple[float, float, int]:
        """Return mean and variance of the writes' mean waits, and the number of writes; there must be at least two."""
        count = self.writes
        total = sum((Fraction(own.total, size) for size, own in self.by_size.items()), Fraction())
        squares = sum((Fraction(own.squares, size * size) for size, own in self.by_size.items()), Fraction())
        return float(total / count), float((squares - total * total / count) / (count - 1)), count

    def mean_of_waits(self) -> tuple[float, float]:
        """Return the mean of all waits and its standard error with the log write as the unit; there must be at least two
        writes.
        """
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
    """Return the groups of several instances together; no log write belongs to two of them."""
    found: dict[int, OfSize] = {}
    for part in parts:
        for size, own in part.by_size.items():
            known = found.get(size, OfSize(0, 0, 0))
            found[size] = OfSize(known.groups + own.groups, known.total + own.total, known.squares + own.squares)
    return LogWrites({size: found[size] for size in sorted(found)})


def difference(a: LogWrites, b: LogWrites, level: float = 0.95) -> tuple[float, float, float] | None:
    """Return the difference between the mean waits, b minus a, and the ends of its interval, with the log write as the unit.

    None if one of them has fewer than two writes.
    """
    if min(a.writes, b.writes) < 2:
        return None
    (first, error_a), (second, error_b) = a.mean_of_waits(), b.mean_of_waits()
    half = t_quantile(level, float(min(a.writes, b.writes) - 1)) * sqrt(error_a**2 + error_b**2)
    return second - first, second - first - half, second - first + half
