"""The loop of a live screen: one thread reads, this one draws and takes keys, so that a slow cell never holds up a key."""

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
"""Seconds between two looks at the size of the terminal and the clock while no key is pressed."""


class View(Protocol[Seen]):
    """What a live screen shows and how it answers to keys."""

    def arrived(self, value: Seen) -> None:
        """Take a new reading."""

    def press(self, key: str) -> bool:
        """Do what a key means; return False for one that means nothing here."""

    @property
    def ended(self) -> bool:
        """Whether it is done by itself."""

    def lines(self, width: int, height: int, status: str) -> list[str]:
        """Return the whole screen; ``status`` tells of the reading itself, empty when there is nothing to tell."""


class Source(Protocol[T]):
    """Where readings come from: :class:`Reader`, or :class:`exacell.live.polling.Looking`."""

    def start(self) -> None:
        """Begin to read."""

    def stop(self) -> None:
        """Read no more; what is under way is left to itself."""

    def pause(self, paused: bool) -> None:
        """Read no more until it is told to go on."""

    @property
    def paused(self) -> bool:
        """Whether it reads no more for now."""

    def taken(self) -> list[T]:
        """Return the readings that came since the last call."""

    @property
    def error(self) -> ExacellError | None:
        """What the last reading failed with, None when it did not."""

    @property
    def status(self) -> str:
        """One line about the reading; empty when there is nothing to tell."""


class Reader(Background, Generic[T]):
    """Reads again and again in a thread of its own, ``every`` seconds from the begin of one reading to the next.

    Args:
        read: makes one reading.
        late: says for whom a reading waits, empty for nobody.
        wake: called when there is something new.
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
        """Begin to read."""
        self._thread.start()

    def stop(self) -> None:
        """Read no more; a reading that is under way is left to itself."""
        self._stop.set()
        self._go.set()

    def pause(self, paused: bool) -> None:
        """Read no more until it is told to go on."""
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
                # Raised again by the thread that shows.
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
        """Return the readings that came since the last call.

        Raises:
            Exception: whatever a reading raised that is not an ExacellError, which is a mistake of ours.
        """
        self._raise_bug()
        with self._lock:
            found, self._values = self._values, []
        return found

    @property
    def status(self) -> str:
        """One line about the reading: why the last one failed, or for whom it waits; empty when there is nothing."""
        trouble, begun = self._trouble, self._begun
        if trouble:
            return trouble
        if begun and time.monotonic() - begun > 1:
            return self._late()
        return ""


def run_live(screen: Screen, reader: Source[T], view: View[T]) -> None:
    """Show what ``reader`` reads until the key q; p pauses.

    Raises:
        ExacellError: the first reading failed: then there is nothing to show.
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
