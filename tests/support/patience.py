"""How long tests wait: for an event as long as it takes on any machine, and for a time limit that is part of what they check
ever longer times.

An event that never comes is a fault whenever that is said, so no wait for one is short: it costs nothing where all is well.
"""

from __future__ import annotations

import time
from collections.abc import Callable

LONG_S = 300.0
"""Seconds after which what was waited for will never come, whatever else the machine does."""

BUSY_S = (60.0, 150.0)
"""Limits that are tried behind a check's own, for machines that do a dozen other things."""


def patiently(check: Callable[[float], object], *seconds: float) -> None:
    """Call ``check`` with ever longer times until it holds: what is well in time somewhere needs more elsewhere.

    Raises:
        AssertionError: it does not even hold with the longest one.
    """
    *tried, last = (*seconds, *(limit for limit in BUSY_S if limit > max(seconds)))
    for limit in tried:
        try:
            check(limit)
        except AssertionError:
            continue
        return
    check(last)


def until(found: Callable[[], object], *, seconds: float = LONG_S, step: float = 0.005) -> bool:
    """Wait until something is so, and return whether it came to be so in time."""
    deadline = time.monotonic() + seconds
    while not found():  # Once: what is so for a moment only has come to be so.
        if time.monotonic() >= deadline:
            return False
        time.sleep(step)
    return True


def must_come(found: Callable[[], object], *, step: float = 0.01) -> None:
    """Wait until something is so.

    Raises:
        AssertionError: it never came to be so.
    """
    assert until(found, step=step), "what was waited for did not happen"
