"""How far a long run is: a line on standard error now and then, for whoever waits at a terminal or asks for it."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import TextIO

EVERY_S = 15.0
"""Seconds between two lines."""


class HowFar:
    """Tells how many parts of a run have ended, how many ended badly and how long the rest may take.

    Args:
        total: how many parts there are, as far as is known (0: not at all); it may be corrected while they go on.
        what: the parts, in the plural.
        bad: what those that ended badly are.
        wanted: also where standard error is no terminal.
    """

    def __init__(
        self,
        total: int,
        what: str,
        bad: str,
        *,
        wanted: bool = False,
        stream: TextIO | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.total, self.what, self.bad = total, what, bad
        self._stream = sys.stderr if stream is None else stream
        self._wanted = wanted or self._stream.isatty()
        self._clock = clock
        self._began = self._told = clock()

    def tell(self, ended: int, bad: int) -> None:
        """Say how far it is, unless that was said a moment ago."""
        now = self._clock()
        if not self._wanted or now - self._told < EVERY_S:
            return
        self._told = now
        spent = now - self._began
        left = f", about {duration(spent / ended * (self.total - ended))} left" if ended else ""
        of = f" of {self.total}" if self.total else ""
        line = f"{ended}{of} {self.what}, {bad} {self.bad}, {duration(spent)}{left}"
        print(line, file=self._stream, flush=True)


def duration(seconds: float) -> str:
    """Return a time in its two largest units."""
    whole = round(seconds)
    hours, minutes = divmod(whole // 60, 60)
    if hours:
        return f"{hours}h {minutes}m"
    return f"{minutes}m {whole % 60}s" if minutes else f"{whole}s"
