"""Lets a rack's time pass: in slices between which everybody else gets a turn, stored as it goes, and ended at once when asked.

Time passes whether anybody looks or not, so that nobody has to wait for hours of it. Where it takes longer to play than
to pass (a machine that is busy with other things, a process that was stopped), the rack's clock is held back: rack time
gets slower, and the rack never stands still.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Mapping
from typing import Protocol

from exacell.core.errors import EmulatorError
from exacell.emulator.clock import MINUTE
from exacell.emulator.store import Json

LOG = logging.getLogger("exacell.emulator")

SLICE_S = 0.02
"""Seconds for which time is played before others get their turn."""
PATIENCE_S = 0.5
"""Seconds for which time may be played without being caught up with; then the clock is held back."""
_SHORTEST_S, _LONGEST_S = 0.05, 1.0
"""Seconds between two looks at the clock: a minute of the rack, but no fewer and no more than these."""
_SAVED_S = 10.0
"""Seconds after which what time has changed is stored."""
_SHARE = 50.0
"""Storing may take this part of the time at most."""


class Passing(Protocol):
    """A rack whose time passes."""

    def play(self, enough: Callable[[], bool]) -> bool:
        """Bring the rack towards its clock until ``enough`` says so, and return whether it is there."""

    def hold_back(self) -> None:
        """Let the clock go on from what has been played."""

    def moved_parts(self) -> Mapping[str, Json]:
        """Return the parts of the state, by name, that time has changed since the last call."""

    def to_state(self) -> Mapping[str, Json]:
        """Return all parts."""


class TimeKeeper:
    """Plays a rack's time as it passes.

    Args:
        speed: rack seconds in a second.
        save: stores parts of the state.
        now: returns seconds that only ever grow; tests pass their own.
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
        """Let time pass until cancelled."""
        while True:
            await asyncio.sleep(self._pause)
            await self.catch_up()
            self.save_in_time()

    async def catch_up(self) -> None:
        """Play what is due; others get their turn after each slice."""
        begun = turn = self._now()
        while not self._rack.play(lambda: self._now() - turn >= SLICE_S):  # noqa: B023 - asked within this turn
            await asyncio.sleep(0)
            turn = self._now()
            if turn - begun > PATIENCE_S:
                self._rack.hold_back()
                return

    def save_in_time(self) -> None:
        """Store what time has changed, unless that was done a moment ago."""
        begun = self._now()
        if begun - self._saved < max(_SAVED_S, _SHARE * self._cost):
            return
        try:
            self._save(self._rack.to_state() if self._unstored else self._rack.moved_parts())
            self._unstored = False
        except (OSError, EmulatorError):
            # A full disk: the next statement that changes something fails and says so; time does not stand still for it.
            LOG.exception("what time has changed is not stored")
            self._unstored = True
        self._saved = self._now()
        self._cost = self._saved - begun
