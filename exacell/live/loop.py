"""Run a live screen: one thread reads, another one draws and handles keys, so that a slow cell never delays a key."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Generic, Protocol, TypeVar

from exacell.core.errors import ExacellError
from exacell.live.source import Background
from exacell.output.screen import Screen

T = TypeVar("T")
Seen = TypeVar("Seen", contravariant=True)

_TICK = 0.5
"""Seconds between two updates for the terminal's size and the clock while no key is pressed."""


class View(Protocol[Seen]):
    """What a live screen shows, and how it reacts to keys."""

    def arrived(self, value: Seen) -> None:
        """Add a new reading."""

    def press(self, key: str) -> bool:
        """Carry out the action of a key; return False if it has none here."""

    @property
    def ended(self) -> bool:
        """Return whether the view wants to end by itself."""

    def lines(self, width: int, height: int, status: str) -> list[str]:
        """Return the lines of the whole screen; ``status`` is a message about the reading, or empty."""


class Source(Protocol[T]):
    """The source of readings: :class:`Reader`, or :class:`exacell.live.polling.Looking`."""

    def start(self) -> None:
        """Start reading."""

    def stop(self) -> None:
        """Stop reading; a reading in progress is not waited for."""

    def pause(self, paused: bool) -> None:
        """Pause reading, or continue it."""

    @property
    def paused(self) -> bool:
        """Return whether reading is paused."""

    def taken(self) -> list[T]:
        """Return the readings since the last call."""

    @property
    def error(self) -> ExacellError | None:
        """Return the error of the last reading, None if it succeeded."""

    @property
    def status(self) -> str:
        """Return one line about the reading; empty if there is nothing to show."""


class Reader(Background, Generic[T]):
    """Reads repeatedly in its own thread, ``every`` seconds from the start of one reading to that of the next.

    Args:
        read: makes one reading.
        late: returns which cells a reading waits for; empty for none.
        wake: called when something new has come.
    """

    def __init__(
        self,
        read: Callable[[], T],
        every: float,
        *,
        late: Callable[[], str],
        wake: Callable[[], None],
    ) -> None:
        super().__init__()
        self._read, self._every, self._late, self._wake = read, every, late, wake
        self._values: list[T] = []
        self._begun = 0.0
        self._go = threading.Event()
        self._thread = threading.Thread(target=self._run, name="exacell-live", daemon=True)

    def start(self) -> None:
        """Start reading."""
        self._thread.start()

    def stop(self) -> None:
        """Stop reading; a reading in progress is not waited for."""
        self._stop.set()
        self._go.set()

    def pause(self, paused: bool) -> None:
        """Pause reading, or continue it."""
        self._paused = paused
        self._go.set()

    def _run(self) -> None:
        while not self._stop.is_set():
            self._begun = began = time.monotonic()
            try:
                value = self._read()
                with self._lock:
                    self._values.append(value)
                    self._error = None
            except ExacellError as error:
                with self._lock:
                    self._error = error
            except BaseException as error:
                # Raised again in the thread that draws.
                self._bug = error
                self._stop.set()
            self._begun = 0.0
            self._wake()
            self._wait(began + self._every)

    def _wait(self, until: float) -> None:
        while not self._stop.is_set():
            left = until - time.monotonic()
            if left <= 0 and not self._paused:
                return
            self._go.clear()
            self._go.wait(max(left, 0.01) if not self._paused else None)

    def taken(self) -> list[T]:
        """Return the readings since the last call.

        Raises:
            Exception: a reading raised something other than an ExacellError, which is a mistake in exacell.
        """
        self._raise_bug()
        with self._lock:
            found, self._values = self._values, []
        return found

    @property
    def status(self) -> str:
        """Return one line about the reading: why the last one failed, or which cells it waits for; empty for neither."""
        trouble, begun = self._trouble, self._begun
        if trouble:
            return trouble
        if begun and time.monotonic() - begun > 1:
            return self._late()
        return ""


def run_live(screen: Screen, reader: Source[T], view: View[T]) -> None:
    """Show the readings until the user presses q; p pauses.

    Raises:
        ExacellError: the first reading failed, so there is nothing to show.
    """
    shown = False
    reader.start()
    try:
        while True:
            for value in reader.taken():
                view.arrived(value)
                shown = True
            if not shown and reader.error is not None:
                raise reader.error
            width, height = screen.size
            screen.draw(view.lines(width, height, "paused" if reader.paused else reader.status))
            if view.ended:
                return
            key = screen.key(_TICK)
            if not key or view.press(key):
                continue
            if key in ("q", "Q", "quit"):
                return
            if key in ("p", "P"):
                reader.pause(not reader.paused)
    finally:
        reader.stop()
