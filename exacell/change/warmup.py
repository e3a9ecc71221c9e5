"""Warm up a run: repeat its workload until the hit rate of the flash cache is steady. Pure.

It is separate from :mod:`exacell.change.experimenting`, which needs a rack, so that it can be tested without one.
"""

from __future__ import annotations

from collections.abc import Callable

STAYS = 0.01
"""Share of the reads: the hit rate is steady if two passes differ by less."""


def warm_up(once: Callable[[int], tuple[int, int]], *, most: int) -> str:
    """Repeat passes until the share of reads that the flash cache serves differs by less than one point from the pass before.

    Args:
        once: carries out the pass with the given number, from 1; returns the reads that the cache served, and all reads.
        most: the largest number of passes.

    Returns:
        a remark: that there were no reads, or that the share still changed at the end; empty for none.
    """
    before = share = None
    for number in range(1, most + 1):
        served, reads = once(number)
        if reads <= 0:
            return "its warm-up read nothing"
        before, share = share, served / reads
        if before is not None and abs(share - before) < STAYS:
            return ""
    if before is None or share is None:
        return ""
    return f"after {most} warm-up passes the hit rate still changed: from {before:.1%} to {share:.1%}"
