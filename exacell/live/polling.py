"""Ask cells the same statements repeatedly, each at its own pace: a slow or hanging cell delays no other.

A cell is asked again some time after its last question, once it has answered; never twice at the same time. Cells that are
due at the same time are asked together, so that a healthy rack costs one round trip.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from exacell.core.errors import ExacellError
from exacell.live.source import Background
from exacell.output.console import SilentConsole
from exacell.session.answers import Answer, problem_of
from exacell.transport.base import Reply, State

if TYPE_CHECKING:
    from exacell.session.services import Services

_TOGETHER = 0.5
"""A cell may be asked so many seconds early, to be asked together with others."""

_LOOK = 0.1
"""Seconds between two checks of which cells are due."""

_WAKE = 0.2
"""Least seconds between two calls of ``wake``, because equal cells answer at almost the same time."""


class Looking(Background):
    """Reads cells until it is stopped; a source for :func:`exacell.live.loop.run_live`.

    Args:
        statements: returns the LIST statements to ask now, in one round trip.
        every: seconds from one question to a cell to the next.
        wake: called, from any thread, when something new has come.
    """

    def __init__(
        self,
        services: Services,
        cells: Sequence[str],
        statements: Callable[[], Sequence[str]],
        every: float,
        *,
        wake: Callable[[], None],
    ) -> None:
        super().__init__()
        self._session, self._services = services.aside(services.fleet, console=SilentConsole())
        self._cells = tuple(cells)
        self._statements, self._every, self._wake = statements, every, wake
        self._due = dict.fromkeys(self._cells, 0.0)
        self._asked: dict[str, float] = {}
        self._greeted: set[str] = set()
        self._new: list[Answer] = []
        self._woken = 0.0

    def start(self) -> None:
        """Start asking."""
        threading.Thread(target=self._run, name="exacell-looking", daemon=True).start()

    def stop(self) -> None:
        """Stop asking; a cell that has not answered is not waited for."""
        self._stop.set()
        self._session.interrupted.set()

    def pause(self, paused: bool) -> None:
        """Pause asking, or continue it."""
        self._paused = paused

    def _run(self) -> None:
        while not self._stop.is_set():
            if not self._paused:
                self._ask()
            self._stop.wait(_LOOK)

    def _ask(self) -> None:
        """Ask the cells that are due: for the release if it is not known yet, else the statements."""
        now = time.monotonic()
        with self._lock:
            free = [cell for cell in self._cells if cell not in self._asked]
            if not any(self._due[cell] <= now for cell in free):
                return
            due = [cell for cell in free if self._due[cell] <= now + _TOGETHER]
            self._asked.update(dict.fromkeys(due, now))
        strangers = set(self._services.fleet.strangers(due))
        self._put(self._greet, [cell for cell in due if cell in strangers - self._greeted])
        self._put(self._question, [cell for cell in due if cell not in strangers])
        for cell in strangers & self._greeted:
            self._put(self._question, [cell])  # It does not report its release, so it is asked alone.

    def _put(self, question: Callable[[Sequence[str]], None], cells: Sequence[str]) -> None:
        if cells:
            threading.Thread(target=self._in_thread, args=(question, cells), daemon=True).start()

    def _in_thread(self, question: Callable[[Sequence[str]], None], cells: Sequence[str]) -> None:
        error: BaseException | None = None
        try:
            question(cells)
        except BaseException as raised:
            # Kept and raised again in the thread that draws.
            error = raised
        with self._lock:
            for cell in cells:
                self._free(cell)
            if isinstance(error, ExacellError):
                self._error = error
            elif error is not None:
                self._bug = error
        self._wake()

    def _greet(self, cells: Sequence[str]) -> None:
        def answered(reply: Reply) -> None:
            with self._lock:
                if reply.state is State.OK:
                    self._greeted.add(reply.target)
                    if self._asked.pop(reply.target, None) is not None:
                        self._due[reply.target] = 0.0
                    return
            self._answered(Answer(cell=reply.target, problem=problem_of(reply), reply=reply))

        self._services.fleet.releases(cells, on_reply=answered, cancel=self._session.interrupted)

    def _question(self, cells: Sequence[str]) -> None:
        self._services.fleet.query(
            cells, self._statements(), on_answer=self._answered, cancel=self._session.interrupted
        )

    def _answered(self, answer: Answer) -> None:
        now = time.monotonic()
        with self._lock:
            if answer.reply.state is State.NOT_ATTEMPTED:
                return
            self._free(answer.cell)
            self._greeted.discard(answer.cell)
            self._new.append(answer)
            self._error = None
            wake = now - self._woken >= _WAKE
            if wake:
                self._woken = now
        if wake:
            self._wake()

    def _free(self, cell: str) -> None:
        asked = self._asked.pop(cell, None)
        if asked is not None:
            self._due[cell] = asked + self._every

    def taken(self) -> list[list[Answer]]:
        """Return the answers since the last call as one item; empty if no cell has answered.

        Raises:
            Exception: an error other than an ExacellError, which is a mistake in exacell.
        """
        self._raise_bug()
        with self._lock:
            new, self._new = self._new, []
        return [new] if new else []

    @property
    def status(self) -> str:
        """Return why the cells could not be asked; empty if they could."""
        return self._trouble

    def late(self) -> dict[str, float]:
        """Return cell → seconds since it was asked, for the cells that have not answered."""
        now = time.monotonic()
        with self._lock:
            return {cell: now - asked for cell, asked in self._asked.items()}
