"""Learn the rack's names in the background of the prompt, at most once an hour, and never while a statement runs."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from exacell.core.collecting import exclude_loaded
from exacell.core.errors import ExacellError
from exacell.prompt.lazy import load_all

if TYPE_CHECKING:
    from exacell.session.given import Services, Session

_QUIET = 1.5
"""Seconds without a running statement before cells are asked, so that a user who types at once does not wait."""

_SLOWEST = 60.0
"""Seconds that one cell may take."""


class Learner:
    """Opens connections and reads names in the background. Problems are not shown: the next statement will report them."""

    def __init__(self, session: Session, services: Services) -> None:
        self._session, self._services = session, services
        self._begun: tuple[str, int] | None = None
        self._first: threading.Thread | None = None
        self._lock = threading.Lock()
        self._busy = threading.Event()
        self._shown = threading.Event()
        self._stop = threading.Event()

    def begin(self) -> None:
        """Open the present rack's connections and learn its names, unless that was begun before and nothing was forgotten since.

        All this, and the import of the modules that the first letter needs, waits until the prompt has been shown once.
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
            # Collection is off since the start; see exacell.cli. Loaded objects stay, and need not be checked again and again.
            exclude_loaded()
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
        """Note that the prompt is on the screen; connections and files are opened only after this."""
        self._shown.set()

    def busy(self, now: bool) -> None:
        """Note that a statement begins to run, or has ended."""
        if now:
            self._busy.set()
        else:
            self._busy.clear()

    def end(self) -> None:
        """Stop learning."""
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
            cache.vocabulary(Kind.GRIDDISK)  # Prepared here, so that the next key need not wait.
        except ExacellError:
            return
