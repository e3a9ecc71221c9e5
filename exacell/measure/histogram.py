"""Counts of integer values: an exact stand-in for the sample itself, however many millions it has. Pure.

Everything that is computed of it is what R computes of the sample: sums are exact integers, so nothing cancels. Why no
sketch (HDR, t-digest): waits are whole microseconds with some thousands of different values, so that exact counts are small
already. Source of the formulae: reference measurement.md 2.2, 2.3, 2.5.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping
from functools import cached_property
from itertools import accumulate
from math import ceil, floor, sqrt

from exacell.core.values import dataclass

QUARTILES = (0.0, 0.25, 0.5, 0.75, 1.0)
TAIL = (0.5, 0.9, 0.95, 0.99, 0.999, 0.9999)
THRESHOLDS_US = (1_000, 2_000, 5_000, 10_000, 50_000, 100_000, 500_000)
"""1 to 500 ms, above which waits are counted."""


@dataclass(frozen=True)
class Histogram:
    """How often which value came.

    Attributes:
        values: different values, ascending.
        counts: of each, above 0.
    """

    values: tuple[int, ...]
    counts: tuple[int, ...]

    @classmethod
    def of(cls, counts: Mapping[int, int]) -> Histogram:
        """Return the histogram of value → how often; what came 0 times is left out."""
        pairs = sorted((value, count) for value, count in counts.items() if count)
        return cls(tuple(value for value, _ in pairs), tuple(count for _, count in pairs))

    @cached_property
    def cumulative(self) -> tuple[int, ...]:
        """How many are at most each value."""
        return tuple(accumulate(self.counts))

    @property
    def n(self) -> int:
        """How many there are."""
        return self.cumulative[-1] if self.counts else 0

    @cached_property
    def total(self) -> int:
        """Their sum."""
        return sum(value * count for value, count in zip(self.values, self.counts, strict=True))

    @cached_property
    def _squares(self) -> int:
        return sum(value * value * count for value, count in zip(self.values, self.counts, strict=True))

    @property
    def mean(self) -> float:
        """Their mean; there must be one at least."""
        return self.total / self.n

    @property
    def variance(self) -> float:
        """With n - 1; there must be two at least."""
        return (self.n * self._squares - self.total * self.total) / (self.n * (self.n - 1))

    @property
    def sd(self) -> float:
        """The square root of the variance."""
        return sqrt(self.variance)

    def at(self, rank: int) -> int:
        """Return the value at a rank from 0."""
        return self.values[bisect_right(self.cumulative, rank)]

    def quantile(self, p: float) -> float:
        """Return the quantile of R's type 7, its default and numpy's."""
        where = (self.n - 1) * p
        low, high = self.at(floor(where)), self.at(ceil(where))
        part = where - floor(where)
        return float(low) if low == high else (1 - part) * low + part * high

    def above(self, value: int) -> int:
        """Return how many are larger."""
        place = bisect_right(self.values, value)
        return self.n - (self.cumulative[place - 1] if place else 0)


def merged(parts: Iterable[Histogram]) -> Histogram:
    """Return one histogram of all: of files, hosts, blocks."""
    counts: dict[int, int] = {}
    for part in parts:
        for value, count in zip(part.values, part.counts, strict=True):
            counts[value] = counts.get(value, 0) + count
    return Histogram.of(counts)


def summary(found: Histogram) -> dict[str, float]:
    """Return what R's summary() names: Min., 1st Qu., Median, Mean, 3rd Qu., Max."""
    least, q1, median, q3, most = (found.quantile(p) for p in QUARTILES)
    return {"Min.": least, "1st Qu.": q1, "Median": median, "Mean": found.mean, "3rd Qu.": q3, "Max.": most}


def as_r_prints(numbers: Iterable[float], digits: int = 4) -> list[str]:
    """Return numbers as R's summary() prints them: ``digits`` that count, and as many places for all."""
    given = [float(f"{number:.7g}") for number in numbers]
    places = max((_places(number, digits) for number in given), default=0)
    return [f"{number:.{places}f}" for number in given]


def _places(number: float, digits: int) -> int:
    """Return how many digits stand behind the point when ``digits`` of them count and zeros at the end are dropped."""
    mantissa, exponent = f"{number:.{digits - 1}e}".split("e")
    return max(0, len(mantissa.partition(".")[2].rstrip("0")) - int(exponent))


_CLOSE, _LAST, _FEW = 1000, 50, 5


def cut_at(found: Histogram) -> int | None:
    """Return the round number at which the tail seems to have been cut, None where it runs out by itself.

    Waits have no reason to end just below 4,000 µs. A tail that runs out by itself has one or two values in its last
    fiftieth (the gaps grow, exponential or heavier); so a maximum within a thousandth below a round number, with five
    others in the last fiftieth, was cut.
    """
    limit = just_under(found)
    return limit if limit is not None and found.above(limit - 1 - limit // _LAST) >= _FEW else None


def just_under(found: Histogram) -> int | None:
    """Return the round number a thousandth below which, or less, the largest value lies; None where it lies elsewhere.

    Chance alone brings that about once in a hundred times: it is worth a remark, and :func:`cut_at` says when it is more.
    """
    if not found.counts:
        return None
    most = found.values[-1]
    limit = _next_round(most)
    return limit if limit >= _CLOSE and limit - most <= max(2, limit // _CLOSE) else None


def _next_round(value: int) -> int:
    """Return the smallest of 1, 1.5, 2, 2.5 … 9.5 times a power of ten that is above ``value``."""
    step: int = max(1, 10 ** (len(str(value)) - 1) // 2)
    return (value // step + 1) * step
