"""Counts of integer values: they contain the whole sample exactly, however many millions it has. Pure.

All results are the same as R's for the sample: sums are exact integers, so nothing cancels out. No sketch (HDR, t-digest) is
needed: waits are whole microseconds with some thousands of different values, so exact counts are small enough. Source of the
formulae: reference measurement.md 2.2, 2.3, 2.5.
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
"""Limits from 1 to 500 ms; waits above each are counted."""


@dataclass(frozen=True)
class Histogram:
    """How often each value occurred.

    Attributes:
        values: different values, ascending.
        counts: how often each value occurred, above 0.
    """

    values: tuple[int, ...]
    counts: tuple[int, ...]

    @classmethod
    def of(cls, counts: Mapping[int, int]) -> Histogram:
        """Return the histogram of value → count; values with a count of 0 are left out."""
        pairs = sorted((value, count) for value, count in counts.items() if count)
        return cls(tuple(value for value, _ in pairs), tuple(count for _, count in pairs))

    @cached_property
    def cumulative(self) -> tuple[int, ...]:
        """Return for each value how many are at most as large."""
        return tuple(accumulate(self.counts))

    @property
    def n(self) -> int:
        """Return the number of items."""
        return self.cumulative[-1] if self.counts else 0

    @cached_property
    def total(self) -> int:
        """Return the sum of all items."""
        return sum(value * count for value, count in zip(self.values, self.counts, strict=True))

    @cached_property
    def _squares(self) -> int:
        return sum(value * value * count for value, count in zip(self.values, self.counts, strict=True))

    @property
    def mean(self) -> float:
        """Return the mean; there must be at least one item."""
        return self.total / self.n

    @property
    def variance(self) -> float:
        """Return the variance (divisor n - 1); there must be at least two items."""
        return (self.n * self._squares - self.total * self.total) / (self.n * (self.n - 1))

    @property
    def sd(self) -> float:
        """Return the standard deviation."""
        return sqrt(self.variance)

    def at(self, rank: int) -> int:
        """Return the value at a rank from 0."""
        return self.values[bisect_right(self.cumulative, rank)]

    def quantile(self, p: float) -> float:
        """Return a quantile of R's type 7, which is also numpy's default."""
        where = (self.n - 1) * p
        low, high = self.at(floor(where)), self.at(ceil(where))
        part = where - floor(where)
        return float(low) if low == high else (1 - part) * low + part * high

    def above(self, value: int) -> int:
        """Return how many items are larger."""
        place = bisect_right(self.values, value)
        return self.n - (self.cumulative[place - 1] if place else 0)


def merged(parts: Iterable[Histogram]) -> Histogram:
    """Return one histogram of several: of files, hosts, blocks."""
    counts: dict[int, int] = {}
    for part in parts:
        for value, count in zip(part.values, part.counts, strict=True):
            counts[value] = counts.get(value, 0) + count
    return Histogram.of(counts)


def summary(found: Histogram) -> dict[str, float]:
    """Return the values of R's summary(): Min., 1st Qu., Median, Mean, 3rd Qu., Max."""
    least, q1, median, q3, most = (found.quantile(p) for p in QUARTILES)
    return {"Min.": least, "1st Qu.": q1, "Median": median, "Mean": found.mean, "3rd Qu.": q3, "Max.": most}


def as_r_prints(numbers: Iterable[float], digits: int = 4) -> list[str]:
    """Return numbers as R's summary() prints them: with ``digits`` significant digits, and the same number of decimals for
    all.
    """
    given = [float(f"{number:.7g}") for number in numbers]
    places = max((_places(number, digits) for number in given), default=0)
    return [f"{number:.{places}f}" for number in given]


def _places(number: float, digits: int) -> int:
    """Return the number of decimals if ``digits`` digits are significant and zeros at the end are dropped."""
    mantissa, exponent = f"{number:.{digits - 1}e}".split("e")
    return max(0, len(mantissa.partition(".")[2].rstrip("0")) - int(exponent))


_CLOSE, _LAST, _FEW = 1000, 50, 5


def cut_at(found: Histogram) -> int | None:
    """Return the round number at which the tail seems to have been cut; None if it ends by itself.

    Waits have no reason to end just below 4,000 µs. A tail that ends by itself has one or two values in its last fiftieth (the
    gaps grow, exponential or heavier); so a maximum within a thousandth below a round number, with five others in the last
    fiftieth, was cut.
    """
    limit = just_under(found)
    return limit if limit is not None and found.above(limit - 1 - limit // _LAST) >= _FEW else None


def just_under(found: Histogram) -> int | None:
    """Return the round number if the largest value is at most a thousandth below it; otherwise None.

    Chance alone causes that about once in a hundred times, so it deserves a remark; :func:`cut_at` decides whether it is more.
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
