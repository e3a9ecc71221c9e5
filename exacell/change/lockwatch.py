"""Check, while statements may be sent, that this process still holds the rack's lock.

The lock is a file, perhaps on another host's disk: reading it may be slow, and a statement that is about to be sent can't
wait. So a separate thread reads it again and again, and records when each reading began. A takeover is noticed within
``FRESH`` seconds, or nothing is sent any more; the process that takes over waits longer than that (``SETTLES``) before it
does anything.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from types import TracebackType

from exacell.core.background import uptime

FRESH = 0.02
"""Seconds for which a reading of the lock counts."""

SETTLES = 0.5
"""Seconds after a takeover within which all statements of the old holder have been sent."""

_EVERY = 0.006
"""Seconds between two looks at the lock."""


class Vigil:
    """Calls ``permit`` again and again while it is entered.

    Args:
        permit: returns why nothing may be sent, empty if something may; it may be slow.
        clock: returns seconds that pass also while this process is stopped or the host sleeps.
    """

    def __init__(self, permit: Callable[[], str], *, clock: Callable[[], float] = uptime) -> None:
        self._permit = permit
        self._clock = clock
        self._over = threading.Event()
        self._known: tuple[float, str] = (float("-inf"), "")
        self._thread: threading.Thread | None = None

    def __enter__(self) -> Vigil:
        self._look()
        self._thread = threading.Thread(target=self._watch, name="exacell vigil", daemon=True)
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._over.set()

    def ours(self) -> str | None:
        """Return why nothing may be sent any more, empty if statements may be sent, None if that is not known now.

        A lock that was lost once stays lost. This never waits.
        """
        began, why = self._known
        if why:
            return why
        return "" if self._clock() - began <= FRESH else None

    def _watch(self) -> None:
        while not self._over.wait(_EVERY) and not self._known[1]:
            self._look()

    def _look(self) -> None:
        began = self._clock()
        try:
            why = self._permit()
        except Exception as error:  # After any error nobody knows who holds the rack.
            why = f"exacell can't read who holds the rack's lock: {error}"
        self._known = (began, why)
