"""Time since the host started, work in another thread, and the user's wish to stop.

The clock here keeps counting while this host sleeps or this process is stopped. A signal handler may set the wish to stop.
Work in another thread can be awaited, or left alone after an interruption.
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
    """An event that may be set in a signal handler.

    ``threading.Event`` sets itself under a lock that its own ``wait`` takes, too: a handler that runs in the waiting thread at
    that moment would wait for itself for ever. Here :meth:`set` sets a flag and releases one lock per waiting thread (its
    bell), which never blocks.

    A queue.SimpleQueue can't be used as the bell: if the timeout of its ``get`` ends while a signal interrupts it (the process
    was stopped and continued, or a handler was slow), it waits for ever. A lock does not. Source: CPython 3.11,
    Modules/_queuemodule.c and acquire_timed in Modules/_threadmodule.c.
    """

    def __init__(self) -> None:
        super().__init__()
        self._wished = False
        self.times = 0
        """How often it was set; a caller that remembers this number notices an interruption even if it was cleared since."""
        self._waiting: list[threading.Lock] = []

    def is_set(self) -> bool:
        """Return whether it is set."""
        return self._wished

    def set(self) -> None:
        """Set it and wake all waiting threads; safe in a signal handler, and never raises."""
        self._wished = True
        self.times += 1
        for bell in tuple(self._waiting):
            with suppress(RuntimeError):  # It was released already.
                bell.release()

    def clear(self) -> None:
        """Clear it."""
        self._wished = False

    def wait(self, timeout: float | None = None) -> bool:
        """Return whether it is set, now or within ``timeout`` seconds; None waits without limit."""
        bell = threading.Lock()
        bell.acquire()
        self._waiting.append(bell)  # Before the check: a later set() then finds the bell.
        try:
            if self._wished:
                return True
            rung = bell.acquire(timeout=-1 if timeout is None else min(max(0.0, timeout), threading.TIMEOUT_MAX))
            return rung or self._wished
        finally:
            self._waiting.remove(bell)


T = TypeVar("T")

AFTERWARDS = 3.0
"""Seconds for which a read may continue after an interruption: working cells answer faster."""

_GLANCE = 0.1
"""Seconds between two checks for an interruption, which can't wake a thread that waits for another thread."""


class Meanwhile(threading.Thread, Generic[T]):
    """Calls a function in another thread; :meth:`result` returns its result or raises its error."""

    def __init__(self, do: Callable[[], T]) -> None:
        super().__init__(name="exacell-meanwhile", daemon=True)
        self._do = do
        self._found: list[T] = []
        self._raised: BaseException | None = None
        self.start()

    def run(self) -> None:
        """Call the function and store its result or error."""
        try:
            self._found.append(self._do())
        except BaseException as error:
            # The caller's thread raises it again.
            self._raised = error

    def result(self) -> T:
        """Wait for the function and return its result, or raise its error."""
        self.join()
        if self._raised is not None:
            raise self._raised
        return self._found[0]


def unless_interrupted(
    look: Callable[[], T], cancel: threading.Event, *, clock: Callable[[], float] = time.monotonic
) -> T | None:
    """Return the result of ``look``, which must only read; None if it has not ended :data:`AFTERWARDS` seconds after
    ``cancel`` was set.

    An abandoned call runs on to its end, and its result is ignored, so that a cell without an answer does not delay a user who
    wants to leave. It must not be used for a statement that changes something.
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
