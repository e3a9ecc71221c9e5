"""A reading statement that goes on behind the prompt when a cell is slow, so that typing never waits for it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from exacell.change.execute import execute
from exacell.core.cellset import CellSet
from exacell.language.line import Line
from exacell.language.registry import Effect
from exacell.output.result import Result
from exacell.session.recording import TELL_EVERY, Recording

if TYPE_CHECKING:
    from exacell.session.context import Context

AT_LEAST = 0.4
"""Seconds for which it waits even when somebody types on."""

_LOOK = 0.05

_ASKING = ("recipes", "help", "session")
"""Groups whose reading statements talk with the user or wait on purpose."""


class StillReading(Exception):
    """The statement goes on; its result comes later."""


def may_go_on(line: Line) -> bool:
    """Return whether a statement may go on behind the prompt: it reads from cells and asks nobody anything."""
    if line.shell or line.effect is not Effect.READ:
        return False
    if line.call is None:
        return True
    return line.call.command.group not in _ASKING and not line.call.command.streams


class Reading:
    """One statement that runs in a thread of its own; its result is delivered by whoever owns the terminal.

    Args:
        on_end: called from the thread when there is a result or an error.
    """

    def __init__(self, ctx: Context, line: Line, text: str, on_end: Callable[[], None]) -> None:
        self.line = line
        self.text = text
        self.overtaken = False
        """Whether a later statement asked cells, so that what ``@down`` means is its business."""
        self._ctx = ctx
        self._own: Context | None = None
        self._recording: Recording | None = None
        self._on_end = on_end
        self._result: Result | None = None
        self._error: BaseException | None = None
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name="exacell-reading", daemon=True)
        self._thread.start()

    def _run(self) -> None:
        try:
            self._recording = Recording(self._ctx.fleet)
            self._own = self._ctx.aside(self._recording)
            self._result = execute(self._own, self.line)
        except BaseException as error:
            # Kept for the thread that delivers, where it is raised again.
            self._error = error
        self._ended.set()
        self._on_end()

    @property
    def ended(self) -> bool:
        """Whether there is a result or an error to deliver."""
        return self._ended.is_set()

    @property
    def waiting_for(self) -> CellSet:
        """The cells that have not answered yet."""
        return self._recording.waiting_for if self._recording is not None else CellSet()

    def outcome(
        self,
        patience: float | None,
        *,
        typing: Callable[[], bool] = bool,
        tell: Callable[[str | None], None] = lambda text: None,
    ) -> Result:
        """Return the result, waiting at most ``patience`` seconds for it (None: as long as it takes).

        Args:
            typing: whether somebody has begun to type: then the wait ends early, so that they see what they type.
            tell: is given a line about whom it waits for, now and then, and None at the end.

        Raises:
            StillReading: there is none yet.
            KeyboardInterrupt: Ctrl-C was pressed twice; the connections were closed to end the statement.
            ExacellError: the statement failed.
        """
        began = told = time.monotonic()
        try:
            while not self._ended.wait(_LOOK):
                now = time.monotonic()
                if patience is not None and (now - began >= patience or (now - began >= AT_LEAST and typing())):
                    raise StillReading
                if now - told >= TELL_EVERY and self._recording is not None:
                    tell(self._recording.sentence() or None)
                    told = now
        except KeyboardInterrupt:
            self.give_up()
            raise
        finally:
            tell(None)
        if self._own is not None and not self.overtaken:
            self._ctx.selection.take_over(self._own.selection)
        if self._error is not None:
            raise self._error
        assert self._result is not None
        return self._result

    def give_up(self) -> None:
        """End the statement by closing the connections it waits on; they open anew on the next use."""
        if self._own is not None:
            self._own.session.interrupted.set()
        self._ctx.session.interrupted.set()
        self._ctx.services.close()
