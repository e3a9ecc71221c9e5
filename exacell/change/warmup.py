"""The warm-up of a run: its workload again and again, until the hit rate of the flash cache stays. Pure."""

from __future__ import annotations

from collections.abc import Callable

STAYS = 0.01
"""Of the reads: the hit rate stays where two passes differ by less."""


def warm_up(once: Callable[[int], tuple[int, int]], *, most: int) -> str:
    """Carry passes out until the share of reads that the flash cache serves differs by less than one point from the pass before.

    Args:
        once: carries out the pass of that number, from 1, and returns how many reads the cache served, and how many there were.
        most: passes at most.

    Returns:
        what has to be noticed: that there were no reads, or that the share still moved at the end; empty for nothing.
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
    return f"the hit rate still moved after {most} passes of its warm-up: {before:.1%} to {share:.1%}"
