"""What every source of a live screen keeps: what went wrong in its threads, and whether it pauses."""

from __future__ import annotations

import threading

from exacell.core.errors import ExacellError


class Background:
    """The state that a source's threads share with the one that shows; for :class:`exacell.live.loop.Source`."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._error: ExacellError | None = None
        self._bug: BaseException | None = None
        self._stop = threading.Event()
        self._paused = False

    @property
    def paused(self) -> bool:
        """Whether it reads no more for now."""
        return self._paused

    @property
    def error(self) -> ExacellError | None:
        """What the last reading failed with, None when it did not, or when something was read since."""
        with self._lock:
            return self._error

    @property
    def _trouble(self) -> str:
        """The last reading's error in one line; empty when there was none."""
        error = self.error
        return "" if error is None else " ".join(error.message.split())

    def _raise_bug(self) -> None:
        """Raise again what a thread raised that is not an ExacellError: a mistake of ours."""
        if self._bug is not None:
            raise self._bug
