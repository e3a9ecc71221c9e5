"""Checks whose time limit is part of what they check, on machines that are busy with something else."""

from __future__ import annotations

import time
from collections.abc import Callable


def patiently(check: Callable[[float], object], *seconds: float) -> None:
    """Call ``check`` with ever longer times until it holds: what is well in time somewhere needs more elsewhere.

    Raises:
        AssertionError: it does not even hold with the longest one.
    """
    for limit in seconds[:-1]:
        try:
            check(limit)
        except AssertionError:
            continue
        return
    check(seconds[-1])


def until(found: Callable[[], bool], *, seconds: float = 120.0, step: float = 0.005) -> bool:
    """Wait until something is so, and return whether it came to be so in time."""
    deadline = time.monotonic() + seconds
    while not found() and time.monotonic() < deadline:
        time.sleep(step)
    return found()
