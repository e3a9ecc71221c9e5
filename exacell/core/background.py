"""Work beside the caller: done in a thread of its own, waited for as long as somebody wants to wait."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar("T")

AFTERWARDS = 3.0
"""Seconds that a look under way is still given when somebody has interrupted: cells that live answer in less."""

_GLANCE = 0.1
"""Seconds between two glances at an interruption, which can't wake who waits for a thread."""


class Meanwhile(threading.Thread, Generic[T]):
    """Does one thing beside the caller, who takes what it returned, or raised."""

    def __init__(self, do: Callable[[], T]) -> None:
        super().__init__(name="exacell-meanwhile", daemon=True)
        self._do = do
        self._found: list[T] = []
        self._raised: BaseException | None = None
        self.start()

    def run(self) -> None:
        """Do it."""
        try:
            self._found.append(self._do())
        except BaseException as error:
            # Raised again by the caller's thread.
            self._raised = error

    def result(self) -> T:
        """Wait for it and return it."""
        self.join()
        if self._raised is not None:
            raise self._raised
        return self._found[0]


def unless_interrupted(
    look: Callable[[], T], cancel: threading.Event, *, clock: Callable[[], float] = time.monotonic
) -> T | None:
    """Return what ``look`` returns, which only reads; None when it has not ended soon after ``cancel`` was set.

    What is left to itself then goes on to its end, unheard: a cell that does not answer holds up nobody who wants to leave.
    A statement that changes something is never looked at in this way.
    """
    looking = Meanwhile(look)
    since: float | None = None
    while looking.is_alive():
        if cancel.is_set():
            since = clock() if since is None else since
            if clock() - since >= AFTERWARDS:
                return None
        looking.join(_GLANCE)
    return looking.result()
