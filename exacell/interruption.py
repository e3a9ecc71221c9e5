"""The user's wish that no more is begun, which a signal handler may set."""

from __future__ import annotations

import queue
import threading


class Interruption(threading.Event):
    """An event that may be set in the handler of a signal.

    ``threading.Event`` sets itself under a lock that its own ``wait`` takes, too: a handler that runs in the waiting thread
    at that moment waits for itself for ever. Here nothing takes a lock: a flag is set, and each who waits has a queue of
    its own. Source: Python's documentation of queue.SimpleQueue.put,
    which may be called again while it runs.
    """

    def __init__(self) -> None:
        super().__init__()
        self._wished = False
        self._waiting: list[queue.SimpleQueue[None]] = []

    def is_set(self) -> bool:
        """Whether it is set."""
        return self._wished

    def set(self) -> None:
        """Set it and wake all who wait; safe in a signal handler, which must not raise either."""
        self._wished = True
        for bell in tuple(self._waiting):
            bell.put(None)

    def clear(self) -> None:
        """Take it back."""
        self._wished = False

    def wait(self, timeout: float | None = None) -> bool:
        """Return whether it is set, at once or within ``timeout`` seconds; None waits as long as it takes."""
        bell = queue.SimpleQueue[None]()
        self._waiting.append(bell)  # Before the look: who sets it afterwards finds the bell.
        try:
            if self._wished:
                return True
            bell.get(timeout=None if timeout is None else max(0.0, timeout))
        except queue.Empty:
            return self._wished
        finally:
            self._waiting.remove(bell)
        return True
