"""Time that passes, work beside the caller, and the user's wish that no more is begun.

Time passes whatever a clock is set to, also while this host sleeps or this process is stopped. A signal handler may set the
wish. Work beside the caller is done in a thread of its own, and waited for as long as somebody wants to wait.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Generic, TypeVar


def uptime() -> float:
    """Return seconds since the host started. Source: clock_gettime(2), CLOCK_BOOTTIME counts suspended time as well."""
    return time.clock_gettime(time.CLOCK_BOOTTIME) if hasattr(time, "CLOCK_BOOTTIME") else time.monotonic()


class Interruption(threading.Event):
    """An event that may be set in the handler of a signal.

    ``threading.Event`` sets itself under a lock that its own ``wait`` takes, too: a handler that runs in the waiting thread
    at that moment waits for itself for ever. Here a flag is set, and each who waits has a bell of its own: a lock that only
    he takes, and that whoever sets the event lets go, which never waits.

    A queue.SimpleQueue is no bell: where the time of its ``get`` is over when a signal has interrupted it (the process was
    stopped and goes on, a handler took long), it waits for ever. A lock does not. Source: CPython 3.11,
    Modules/_queuemodule.c and acquire_timed in Modules/_threadmodule.c.
    """

    def __init__(self) -> None:
        super().__init__()
        self._wished = False
        self.times = 0
        """How often it was set: what came before a statement that took it back is not forgotten by who remembers this."""
        self._waiting: list[threading.Lock] = []

    def is_set(self) -> bool:
        """Whether it is set."""
        return self._wished

    def set(self) -> None:
        """Set it and wake all who wait; safe in a signal handler, which must not raise either."""
        self._wished = True
        self.times += 1
        for bell in tuple(self._waiting):
            with suppress(RuntimeError):  # It rings already.
                bell.release()

    def clear(self) -> None:
        """Take it back."""
        self._wished = False

    def wait(self, timeout: float | None = None) -> bool:
        """Return whether it is set, at once or within ``timeout`` seconds; None waits as long as it takes."""
        bell = threading.Lock()
        bell.acquire()
        self._waiting.append(bell)  # Before the look: who sets it afterwards finds the bell.
        try:
            if self._wished:
                return True
            rung = bell.acquire(timeout=-1 if timeout is None else min(max(0.0, timeout), threading.TIMEOUT_MAX))
            return rung or self._wished
        finally:
            self._waiting.remove(bell)


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
