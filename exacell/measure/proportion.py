"""Shares of counted events, with intervals that are valid for small counts and for shares near 0 and 1. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt

from exacell.core.values import dataclass

Z95 = 1.959963984540054
"""The normal distribution's 97.5 % quantile."""


@dataclass(frozen=True)
class Share:
    """A share in percent with its 95 % interval, from the uncertainty of counting alone."""

    percent: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{rounded(self.percent, self)} % (95 %: {rounded(self.low, self)} to {rounded(self.high, self)})"


def share(part: float, whole: float) -> Share | None:
    """Return ``part`` of ``whole`` with Wilson's score interval; None if nothing was counted.

    The interval assumes that the events are independent of each other. Source: E. B. Wilson, JASA 22 (1927) 209.
    """
    if whole <= 0:
        return None
    p, z = part / whole, Z95
    middle = (p + z * z / (2 * whole)) / (1 + z * z / whole)
    half = z * sqrt(p * (1 - p) / whole + z * z / (4 * whole * whole)) / (1 + z * z / whole)
    return Share(100 * p, 100 * max(0.0, middle - half), 100 * min(1.0, middle + half))


def rounded(value: float, of: Share) -> str:
    """Return a percentage with as many decimals as the interval of ``of`` justifies, at least one."""
    width = of.high - of.low
    digits = 1 if width >= 0.2 else 2 if width >= 0.02 else 3
    return f"{value:.{digits}f}"


def differ_by_more_than_chance(counts: Sequence[tuple[float, float]]) -> bool:
    """Return whether shares (part, whole) differ by more than chance explains: chi-square, p below 0.001.

    The tail is approximated with Wilson and Hilferty's cube root; its error there is at most a tenth of p. Source: PNAS 17
    (1931) 684.
    """
    used = [(part, whole) for part, whole in counts if whole > 0]
    total = sum(whole for _, whole in used)
    p = sum(part for part, _ in used) / total if total else 0.0
    if len(used) < 2 or not 0 < p < 1:
        return False
    free = len(used) - 1
    squares = sum((part - whole * p) ** 2 / (whole * p * (1 - p)) for part, whole in used)
    spread = 2 / (9 * free)
    return bool(((squares / free) ** (1 / 3) - (1 - spread)) / sqrt(spread) > 3.0902)


def apart(one: Share, other: Share) -> Share:
    """Return the difference ``other`` minus ``one`` in percentage points, with its 95 % interval; all may be below 0.

    Source: R. G. Newcombe, Statistics in Medicine 17 (1998) 873, method 10, of two of Wilson's intervals.
    """
    points = other.percent - one.percent
    down = sqrt((other.percent - other.low) ** 2 + (one.high - one.percent) ** 2)
    up = sqrt((other.high - other.percent) ** 2 + (one.percent - one.low) ** 2)
    return Share(points, points - down, points + up)
