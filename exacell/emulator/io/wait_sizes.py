"""How long the waits of a database were: counts by powers of two in microseconds, for V$EVENT_HISTOGRAM_MICRO.

Normal waits are distributed like the waits of single sessions (lognormal around their mean); outliers take as long as those of
the cells. No count ever decreases. Source of the buckets: Oracle Database Reference 12.1.0.2, V$EVENT_HISTOGRAM_MICRO: a row
counts the waits shorter than its time that are in no smaller one.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import log
from statistics import NormalDist

from exacell.emulator.io.redo_times import OUTLIER_US, SPREAD

SYNC, WRITE = "log file sync", "log file parallel write"
"""The events whose sizes are counted as they happen; sizes of other events are computed from their number and mean."""

_NORMAL = NormalDist()
_SLOW = "slow"


def size_of(micros: float) -> int:
    """Return the upper end, in microseconds, of the bucket of a wait."""
    upper = 1
    while upper <= micros:
        upper *= 2
    return upper


def spread(waits: int, mean_us: float) -> dict[int, int]:
    """Return the number of waits by the upper end of their bucket, for ``waits`` waits with this mean."""
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
    """Return a database's counters of the sizes of redo waits, by the names that :func:`sizes` reads.

    Args:
        mean_us: the mean of all waits, including outliers.
        slow_share: the share of the waits that are outliers.
        beyond_us: the time of a wait in addition to the write.
    """
    plain = max(1.0, (mean_us - slow_share * (OUTLIER_US + beyond_us)) / (1 - slow_share)) if slow_share < 1 else 1.0
    found: dict[str, float] = {size_name(event, upper): count for upper, count in spread(waits, plain).items()}
    return {**found, f"{event} {_SLOW}": waits * slow_share} if slow_share else found


def size_name(event: str, upper: int) -> str:
    """Return the name of the counter of a bucket's waits."""
    return f"{event} < {upper}"


def sizes(counted: Mapping[str, float], event: str, waits: int) -> dict[int, int]:
    """Return the waits by the upper end of their bucket, from the counters of :func:`counted_sizes`; they add up to ``waits``."""
    begin = size_name(event, 0)[:-1]
    found = {int(name.removeprefix(begin)): int(count) for name, count in counted.items() if name.startswith(begin)}
    if not found:
        return {}
    # Outliers are counted as fractions, and instances have even shares of each count: the largest bucket makes up the difference.
    slow = int(counted.get(f"{event} {_SLOW}", 0))
    found[size_of(OUTLIER_US)] = found.get(size_of(OUTLIER_US), 0) + slow
    usual = max(found, key=lambda upper: found[upper])
    found[usual] += waits - sum(found.values())
    return {upper: count for upper, count in sorted(found.items()) if count > 0}
