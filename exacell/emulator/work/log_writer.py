"""The log writer of an instance: one redo write after the other; a commit during a write is part of the next write.

So commits of several sessions share a write and wait for the same end, as they do in Oracle. Times are microseconds of the
sessions' own time, which may run ahead of the rack's clock or stay behind it: only their order matters.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass, field

SCN_STEP = 3
"""System change numbers from one write to the next."""


@dataclass(kw_only=True)
class LogWriter:
    """The redo writes of one period of work.

    Attributes:
        latency: draws the microseconds of a write.
        scn: the system change number before the first write.
    """

    latency: Callable[[], int]
    scn: int
    _starts: array[int] = field(default_factory=lambda: array("q"))
    _ends: array[int] = field(default_factory=lambda: array("q"))

    @property
    def writes(self) -> int:
        """Return the number of redo writes."""
        return len(self._starts)

    @property
    def last_scn(self) -> int:
        """Return the system change number after the last write."""
        return self.scn + SCN_STEP * self.writes

    @property
    def end(self) -> int:
        """Return the end of the last write in microseconds; 0 if there was none."""
        return self._ends[-1] if self._ends else 0

    def commit(self, at: int) -> tuple[int, int]:
        """Return the time at which redo that is ready at ``at`` is written, and the system change number up to which it is."""
        if not self._starts or at > self._ends[-1]:
            self._write(at)
        elif at > self._starts[-1]:
            self._write(self._ends[-1])
        place = bisect_left(self._starts, at)
        return self._ends[place], self.scn + SCN_STEP * (place + 1)

    def _write(self, start: int) -> None:
        self._starts.append(start)
        self._ends.append(start + self.latency())
