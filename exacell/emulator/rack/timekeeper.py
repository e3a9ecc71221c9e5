"""Emulates a rack's time: in slices, between which other tasks get a turn; stores changes, and stops at once when asked.

Time passes even if nobody reads the rack, so that no reader has to wait for hours of it. If emulating takes longer than the
time itself (a busy machine, a process that was stopped), the rack's clock is set back: rack time gets slower, but the rack
never stands still.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Mapping
from typing import Protocol

from exacell.core.errors import EmulatorError
from exacell.emulator.basics.clock import MINUTE
from exacell.emulator.basics.store import Json

LOG = logging.getLogger("exacell.emulator")

SLICE_S = 0.02
"""Seconds of work before other tasks get a turn."""
PATIENCE_S = 0.5
"""Seconds of work without reaching the clock, after which the clock is set back."""
_SHORTEST_S, _LONGEST_S = 0.05, 1.0
"""Shortest and longest time in seconds between two checks of the clock; normally it is one minute of the rack."""
_SAVED_S = 10.0
"""Seconds after which changes by time are stored."""
_SHARE = 50.0
"""Storing takes at most one fiftieth of the time: the pause after it is this many times as long."""


class Passing(Protocol):
    """A rack with its own time."""

    def play(self, enough: Callable[[], bool]) -> bool:
        """Bring the rack nearer to its clock until ``enough`` returns True; return whether it has reached the clock."""

    def hold_back(self) -> None:
        """Set the clock back to the time that has been emulated."""

    def moved_parts(self) -> Mapping[str, Json]:
        """Return the parts of the state, by name, that have changed with time since the last call."""

    def to_state(self) -> Mapping[str, Json]:
        """Return all parts."""


class TimeKeeper:
    """Emulates a rack's time as it passes.

    Args:
        speed: rack seconds in a second.
        save: stores parts of the state.
        now: returns seconds that never decrease; tests pass their own.
    """

    def __init__(
        self,
        rack: Passing,
        speed: float,
        save: Callable[[Mapping[str, Json]], None],
        *,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._rack, self._save, self._now = rack, save, now
        self._pause = min(_LONGEST_S, max(_SHORTEST_S, MINUTE / speed))
        self._saved = now()
        self._cost = 0.0
        self._unstored = False

    async def run(self) -> None:
        """Emulate the time until cancelled."""
        while True:
            await asyncio.sleep(self._pause)
            await self.catch_up()
            self.save_in_time()

    async def catch_up(self) -> None:
        """Emulate the time that has passed; other tasks get a turn after each slice."""
        begun = turn = self._now()
        while not self._rack.play(lambda: self._now() - turn >= SLICE_S):  # noqa: B023 - asked within this turn
            await asyncio.sleep(0)
            turn = self._now()
            if turn - begun > PATIENCE_S:
                self._rack.hold_back()
                return

    def save_in_time(self) -> None:
        """Store what has changed as time passed, unless that was done a moment ago."""
        begun = self._now()
        if begun - self._saved < max(_SAVED_S, _SHARE * self._cost):
            return
        try:
            self._save(self._rack.to_state() if self._unstored else self._rack.moved_parts())
            self._unstored = False
        except (OSError, EmulatorError):
            # The disk is full: the next statement that changes something fails with that error; time continues.
            LOG.exception("what time has changed is not stored")
            self._unstored = True
        self._saved = self._now()
        self._cost = self._saved - begun
