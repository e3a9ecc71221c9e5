"""The log writer of an instance: one redo write after another; what is committed while one runs goes with the next.

So commits of several sessions share a write and wait for the same end, as they do in Oracle. Times are microseconds of the
sessions' own time, which may run ahead of the rack's clock or stay behind it: what counts is their order.
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
    """The redo writes of one stretch of work.

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
        """How many redo writes there were."""
        return len(self._starts)

    @property
    def last_scn(self) -> int:
        """The system change number after the last write."""
        return self.scn + SCN_STEP * self.writes

    @property
    def end(self) -> int:
        """When the last write ended; 0 where there was none."""
        return self._ends[-1] if self._ends else 0

    def commit(self, at: int) -> tuple[int, int]:
        """Return when the redo that is ready at a moment is written, and the number of changes up to which it is."""
        if not self._starts or at > self._ends[-1]:
            self._write(at)
        elif at > self._starts[-1]:
            self._write(self._ends[-1])
        place = bisect_left(self._starts, at)
        return self._ends[place], self.scn + SCN_STEP * (place + 1)

    def _write(self, start: int) -> None:
        self._starts.append(start)
        self._ends.append(start + self.latency())
