"""Keep statements reading in the background of the prompt; each answer is shown above the prompt when it is complete."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import suppress

from prompt_toolkit.application import Application

from exacell.core.errors import ExitCode
from exacell.core.units import format_wait
from exacell.language.line import Line
from exacell.language.registry import Effect
from exacell.output.terminal import TerminalConsole
from exacell.prompt.entering import PromptRunner, Reading

_TICK = 1.0
"""Seconds between two updates of the toolbar during a wait."""

_MOST = 8
"""How many statements read at the same time; the next one waits for the oldest."""


class BackgroundReads:
    """The statements that still read in the background, oldest first.

    Their answers are shown from the event loop of ``app`` while it reads a line, else between two lines.
    """

    def __init__(self, app: Application[str], runner: PromptRunner, console: TerminalConsole) -> None:
        self._app = app
        self._runner = runner
        self._console = console
        self._readings: list[Reading] = []

    def add(self, reading: Reading) -> None:
        """Add a statement that continues in the background, and show a message about it."""
        self._readings.append(reading)
        if len(self._readings) == 1:
            threading.Thread(target=self._tick, name="exacell-behind", daemon=True).start()
        self._console.tell(f"still waiting for an answer{_from(reading)}: it will be shown; Ctrl-C stops waiting")

    def _tick(self) -> None:
        """Redraw the toolbar each second, which shows how long the wait has lasted, until all statements have ended."""
        while self._readings:
            self._app.invalidate()
            time.sleep(_TICK)

    @property
    def sentence(self) -> str:
        """Return a sentence for the toolbar about the wait; empty if nothing is waited for."""
        if not self._readings:
            return ""
        first, others = self._readings[0], len(self._readings) - 1
        more = f" and {others} more" if others else ""
        said = f"{first.text.strip()}{_from(first)}, {format_wait(first.waited)}{more}"
        return f"waiting for: {said}   (Ctrl-C stops waiting)"

    def before(self, line: Line) -> None:
        """Before a line runs, end the statements that must not run at the same time, or wait for them.

        Raises:
            KeyboardInterrupt: the user ended the wait; the line is discarded too.
        """
        if line.call is not None and line.call.command.name == "connect":
            self.give_up()
        runs = line.call is not None and line.call.command.runs
        alone = runs or line.effect in (Effect.WRITE, Effect.OPAQUE)
        while self._readings and (alone or len(self._readings) >= _MOST):
            if self._deliver(self._readings[0]) is ExitCode.INTERRUPTED:
                raise KeyboardInterrupt
        if runs or line.effect is not Effect.LOCAL:
            for reading in self._readings:
                reading.overtaken = True

    def catch_up(self) -> None:
        """Show the answers of statements that have ended: above a visible prompt, from its event loop, else directly."""
        if not any(reading.ended for reading in self._readings):
            return
        if self._app.is_running:
            show_above(self._app, self._deliver_ended)
        else:
            self._deliver_ended()

    def ended(self) -> None:
        """Report from any thread that one of the statements has ended."""
        loop = self._app.loop
        if self._app.is_running and loop is not None:
            with suppress(RuntimeError):  # This prompt has just ended; the next one shows the answer.
                loop.call_soon_threadsafe(self.catch_up)

    def give_up(self) -> None:
        """End all statements in the background."""
        given_up, self._readings = self._readings, []
        for reading in given_up:
            others = f"; `{reading.for_others}` asks the cells that answer" if reading.for_others else ""
            reading.give_up()
            self._console.tell(f"no longer waiting for: {reading.text.strip()}{others}", "warning")

    def _deliver_ended(self) -> None:
        for reading in [reading for reading in self._readings if reading.ended]:
            self._deliver(reading)

    def _deliver(self, reading: Reading) -> ExitCode:
        self._readings.remove(reading)
        self._console.tell(f"answer to: {reading.text.strip()}", "dim")
        return self._runner.deliver_reading(reading)


def _from(reading: Reading) -> str:
    late = reading.waiting_for
    return f" from {late}" if len(late) else ""


def show_above(app: Application[str], show: Callable[[], object]) -> None:
    """Let ``show`` print where the prompt is, and draw the prompt again below the output.

    The terminal stays in the prompt's mode meanwhile. prompt_toolkit's ``run_in_terminal`` switches it to line editing; a key
    that arrives then is echoed into the output or, like Ctrl-D, swallowed by the terminal.
    Call it from the event loop of ``app``; ``show`` may print, but must not ask questions.
    """
    app.renderer.erase()
    try:
        show()
    finally:
        app.renderer.reset()
        app.renderer.request_absolute_cursor_position()
        app.invalidate()
