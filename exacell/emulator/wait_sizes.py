"""How long the waits of a database were: counts by powers of two microseconds, as V$EVENT_HISTOGRAM_MICRO has them.

Waits that took no exceptional time are spread as the waits of single sessions are (lognormal around their mean); outliers take
as long as the cells' do. Each count only grows. Source of the buckets: Oracle Database Reference 12.1.0.2,
V$EVENT_HISTOGRAM_MICRO: a row counts the waits shorter than its time that are in no smaller one.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import log
from statistics import NormalDist

from exacell.emulator.workload import OUTLIER_US, SPREAD

SYNC, WRITE = "log file sync", "log file parallel write"
"""The events whose sizes are counted as they come; those of others follow from their number and mean."""

_NORMAL = NormalDist()
_SLOW = "slow"


def size_of(micros: float) -> int:
    """Return the upper end of the bucket that a wait is in."""
    upper = 1
    while upper <= micros:
        upper *= 2
    return upper


def spread(waits: int, mean_us: float) -> dict[int, int]:
    """Return upper end of bucket → how many of so many waits with that mean are in it."""
    found: dict[int, int] = {}
    below, upper = 0, 1
    while below < waits and mean_us > 0:
        upto = round(waits * _NORMAL.cdf(log(upper / mean_us) / SPREAD + SPREAD / 2))
        if upto > below:
            found[upper] = upto - below
        below, upper = max(upto, below), upper * 2
    return found


def counted_sizes(
    event: str, waits: int, mean_us: float, slow_share: float, beyond_us: float = 0.0
) -> dict[str, float]:
    """Return what a database counts of so many waits for a redo write, by the names that :func:`sizes` reads.

    Args:
        mean_us: of all of them, outliers among them.
        slow_share: which share of them are outliers.
        beyond_us: what a wait takes beyond the write.
    """
    plain = max(1.0, (mean_us - slow_share * (OUTLIER_US + beyond_us)) / (1 - slow_share)) if slow_share < 1 else 1.0
    found: dict[str, float] = {size_name(event, upper): count for upper, count in spread(waits, plain).items()}
    return {**found, f"{event} {_SLOW}": waits * slow_share} if slow_share else found


def size_name(event: str, upper: int) -> str:
    """Return the name under which a database counts the waits of a bucket."""
    return f"{event} < {upper}"


def sizes(counted: Mapping[str, float], event: str, waits: int) -> dict[int, int]:
    """Return upper end of bucket → waits of what :func:`counted_sizes` counted; all of them are ``waits``."""
    begin = size_name(event, 0)[:-1]
    found = {int(name.removeprefix(begin)): int(count) for name, count in counted.items() if name.startswith(begin)}
    if not found:
        return {}
    # Outliers are counted in parts of one, and instances have even shares of each count: the commonest size makes up for it.
    slow = int(counted.get(f"{event} {_SLOW}", 0))
    found[size_of(OUTLIER_US)] = found.get(size_of(OUTLIER_US), 0) + slow
    usual = max(found, key=lambda upper: found[upper])
    found[usual] += waits - sum(found.values())
    return {upper: count for upper, count in sorted(found.items()) if count > 0}
