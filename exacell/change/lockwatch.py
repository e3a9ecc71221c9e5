"""Watches, as long as statements may leave, that the rack is still ours to change.

Whose the lock is stands in a file, perhaps on another host's disk: reading it may take its time, and a statement that is
about to leave waits for nothing. So a thread of its own reads it again and again, and says when it began to read what it
knows. A takeover becomes known here within ``FRESH`` seconds, or nothing leaves any more; whoever takes over waits
that long and longer (``SETTLES``) before anything else.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from types import TracebackType

from exacell.core.background import uptime

FRESH = 0.02
"""Seconds for which it counts that the rack was ours."""

SETTLES = 0.5
"""Seconds after a takeover in which what the old owner had sent before has left."""

_EVERY = 0.006
"""Seconds between two looks at the lock."""


class Vigil:
    """Asks ``permit`` again and again while it is entered.

    Args:
        permit: says why nothing may leave, empty when something may; it may wait.
        clock: seconds that pass also while this process is stopped or the host sleeps.
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
        """Return why nothing may leave any more, empty when something may, None when that is not known at the moment.

        What was lost once is never ours again. It never waits.
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
        except Exception as error:  # Whatever it is, nobody knows then whose the rack is.
            why = f"exacell can't read who holds the rack's lock: {error}"
        self._known = (began, why)
