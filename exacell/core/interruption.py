"""The user's wish that no more is begun, which a signal handler may set."""

from __future__ import annotations

import threading
from contextlib import suppress


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
        self._waiting: list[threading.Lock] = []

    def is_set(self) -> bool:
        """Whether it is set."""
        return self._wished

    def set(self) -> None:
        """Set it and wake all who wait; safe in a signal handler, which must not raise either."""
        self._wished = True
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
