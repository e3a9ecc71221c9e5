"""A reading statement that goes on behind the prompt when a cell is slow, so that typing never waits for it."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

from exacell.language.line import Line
from exacell.language.registry import Effect
from exacell.output.result import Result

if TYPE_CHECKING:
    from exacell.context import Context

PATIENCE = 4.0
"""Seconds for which the prompt waits before it is shown again while the statement goes on: more than two starts of a
cell's CellCLI, so that a rack in good health always answers before the next prompt."""

_ASKING = ("recipes", "help", "session")
"""Groups whose reading statements talk with the user or wait on purpose."""


class StillReading(Exception):
    """The statement goes on; its result comes later."""


def may_go_on(line: Line) -> bool:
    """Return whether a statement may go on behind the prompt: it reads from cells and asks nobody anything."""
    if line.shell or line.effect is not Effect.READ:
        return False
    return line.call is None or line.call.command.group not in _ASKING


class Reading:
    """One statement that runs in a thread of its own; its result is delivered by whoever owns the terminal."""

    def __init__(self, ctx: Context, line: Line, text: str, on_end: Callable[[], None]) -> None:
        self.line = line
        self.text = text
        self._ctx = ctx
        self._on_end = on_end
        self._result: Result | None = None
        self._error: BaseException | None = None
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name="exacell-reading", daemon=True)
        self._thread.start()

    def _run(self) -> None:
        try:
            self._result = self._ctx.execute(self.line)
        except BaseException as error:
            # Kept for the thread that delivers, where it is raised again.
            self._error = error
        self._ended.set()
        self._on_end()

    @property
    def ended(self) -> bool:
        """Whether there is a result or an error to deliver."""
        return self._ended.is_set()

    def outcome(self, patience: float | None) -> Result:
        """Return the result, waiting at most ``patience`` seconds for it (None: as long as it takes).

        Raises:
            StillReading: there is none yet.
            KeyboardInterrupt: Ctrl-C was pressed twice; the connections were closed to end the statement.
            ExacellError: the statement failed.
        """
        try:
            if not self._ended.wait(patience):
                raise StillReading
        except KeyboardInterrupt:
            self.give_up()
            raise
        if self._error is not None:
            raise self._error
        assert self._result is not None
        return self._result

    def give_up(self) -> None:
        """End the statement by closing the connections it waits on; they open anew on the next use."""
        self._ctx.interrupt()
        self._ctx.close()
