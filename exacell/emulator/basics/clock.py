"""The rack's own clock: it runs ``speed`` times as fast as real time and does not depend on this machine's date."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import UTC, datetime

from exacell.core.errors import EmulatorError

MINUTE = 60.0
"""Rack seconds between two metric collections. Source: Oracle SAGUG, displaying-current-metrics."""

_MOST = 36_000
"""Cells times speed: the number of rack seconds of one cell that can be emulated in one second with every cell under load. These
are 600 minutes, and one minute takes 0.3 to 0.5 ms here (benchmarks/emulator_history.py); a slower machine has room for twice
that.
"""


class RackClock:
    """Gives rack time. To continue a rack where it stopped, pass its last time as ``rack_start``.

    This machine's date sets only where a new rack's time begins; later jumps of the date change nothing.
    """

    def __init__(
        self, *, speed: float = 60.0, wall: Callable[[], float] = time.monotonic, rack_start: float | None = None
    ) -> None:
        """Start the clock.

        Args:
            speed: rack seconds that pass in one wall second.
            wall: returns seconds that never decrease, from any start; tests pass their own.
            rack_start: rack epoch seconds at this moment; None for the value of ``wall``.

        Raises:
            EmulatorError: ``speed`` is not above zero.
        """
        if not speed > 0:
            raise EmulatorError(f"speed={speed:g} is no speed of a rack's clock: it must be above 0, 60 is the default")
        self.speed = speed
        self._wall = wall
        self._wall_start = wall()
        self._rack_start = self._wall_start if rack_start is None else rack_start

    def now(self) -> float:
        """Return the rack's time in epoch seconds."""
        return self._rack_start + (self._wall() - self._wall_start) * self.speed

    def hold(self, moment: float) -> None:
        """Continue from ``moment``, which is not later than now; the time between was not emulated and is skipped."""
        self._rack_start, self._wall_start = moment, self._wall()


def fastest(cells: int) -> float:
    """Return the highest speed at which a rack with this many cells can be emulated."""
    return _MOST / cells


def last_minute(moment: float) -> float:
    """Return the whole minute at or before ``moment``."""
    return moment // MINUTE * MINUTE


def next_minute(moment: float) -> float:
    """Return the first whole minute after ``moment``."""
    return last_minute(moment) + MINUTE


def iso_time(moment: float) -> str:
    """Return a time as CellCLI prints it, ``2021-06-09T14:05:11+00:00``. Emulated cells live in UTC."""
    return datetime.fromtimestamp(int(moment), UTC).strftime("%Y-%m-%dT%H:%M:%S+00:00")


def banner_time(moment: float) -> str:
    """Return a time as CellCLI's banner prints it, ``Tue Mar 03 09:15:27 UTC 2020``."""
    return datetime.fromtimestamp(int(moment), UTC).strftime("%a %b %d %H:%M:%S UTC %Y")
