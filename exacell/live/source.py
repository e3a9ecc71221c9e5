"""Hold what every source of a live screen needs: the errors of its threads, and whether it is paused."""

from __future__ import annotations

import threading

from exacell.core.errors import ExacellError


class Background:
    """The state that a source's threads share with the thread that draws; see :class:`exacell.live.loop.Source`."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._error: ExacellError | None = None
        self._bug: BaseException | None = None
        self._stop = threading.Event()
        self._paused = False

    @property
    def paused(self) -> bool:
        """Return whether reading is paused."""
        return self._paused

    @property
    def error(self) -> ExacellError | None:
        """Return the error of the last reading; None if it succeeded, or if something was read since."""
        with self._lock:
            return self._error

    @property
    def _trouble(self) -> str:
        """Return the last reading's error in one line; empty if there was none."""
        error = self.error
        return "" if error is None else " ".join(error.message.split())

    def _raise_bug(self) -> None:
        """Raise an error of a thread again if it is not an ExacellError, and so a mistake in exacell."""
        if self._bug is not None:
            raise self._bug
