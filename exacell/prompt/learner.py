"""Learns the rack's names behind the prompt: once when it was not read for an hour, never while a statement runs."""

from __future__ import annotations

import gc
import threading
from typing import TYPE_CHECKING

from exacell.core.errors import ExacellError
from exacell.prompt.lazy import load_all

if TYPE_CHECKING:
    from exacell.session.given import Services, Session

_QUIET = 1.5
"""Seconds for which no statement may run before cells are asked: whoever types at once is served first."""

_SLOWEST = 60.0
"""Seconds that one cell may take."""


class Learner:
    """Opens connections and reads names in the background. Problems are left to the next statement, which tells them."""

    def __init__(self, session: Session, services: Services) -> None:
        self._session, self._services = session, services
        self._begun: tuple[str, int] | None = None
        self._first: threading.Thread | None = None
        self._lock = threading.Lock()
        self._busy = threading.Event()
        self._shown = threading.Event()
        self._stop = threading.Event()

    def begin(self) -> None:
        """Warm the present rack's connections and learn its names, unless that was begun and nothing was forgotten since.

        Before the prompt has been shown once, that waits for it, and so does the loading of what the first letter needs.
        """
        if self._first is None:
            self._first = threading.Thread(target=self._load, name="exacell-load", daemon=True)
            self._first.start()
        elif self._shown.is_set():
            self._begin()

    def _load(self) -> None:
        self._shown.wait()
        if not self._stop.is_set():
            load_all()
            # Off since the start; see exacell.cli. What was loaded stays, and would be looked through time and again.
            gc.freeze()
            gc.enable()
            self._begin()

    def _begin(self) -> None:
        rack = self._session.rack
        if rack is None:
            return
        with self._lock:
            state = (rack.name, self._services.learned.forgotten)
            if state == self._begun:
                return
            self._begun = state
            self._stop.set()
            self._stop = threading.Event()
        threading.Thread(target=self._work, args=(self._stop,), name="exacell-learn", daemon=True).start()

    def prompt_shown(self, *_: object) -> None:
        """Say that the prompt stands on the screen: nothing is opened or read before, so that it comes at once."""
        self._shown.set()

    def busy(self, now: bool) -> None:
        """Say that a statement begins to run, or has ended."""
        if now:
            self._busy.set()
        else:
            self._busy.clear()

    def end(self) -> None:
        """Learn no more."""
        self._stop.set()
        self._shown.set()

    def _work(self, stop: threading.Event) -> None:
        from exacell.language.registry import Kind
        from exacell.session.completion.learning import learn_rack, stale

        session, services, cache = self._session, self._services, self._services.learned
        cells = session.rack.cells if session.rack is not None else ()
        try:
            services.warm()
            cache.vocabulary(Kind.GRIDDISK)
            if not stale(cache):
                return
            quiet = 0.0
            while quiet < _QUIET:
                if stop.wait(0.25):
                    return
                quiet = 0.0 if self._busy.is_set() else quiet + 0.25
            learn_rack(services.fleet, cells, cache, timeout=_SLOWEST, cancel=stop)
            cache.vocabulary(Kind.GRIDDISK)  # Made ready here, not at the next key.
        except ExacellError:
            return
