"""The statements that still read behind the prompt: what they answer is shown above it, whole, when it comes."""

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
"""Seconds between two drawings of the toolbar while something is waited for."""

_MOST = 8
"""Statements that read at the same time; the next one waits for the oldest."""


class BackgroundReads:
    """The statements that went on behind the prompt, oldest first.

    They are shown from the event loop of ``app`` while it reads a line, else between two lines.
    """

    def __init__(self, app: Application[str], runner: PromptRunner, console: TerminalConsole) -> None:
        self._app = app
        self._runner = runner
        self._console = console
        self._readings: list[Reading] = []

    def add(self, reading: Reading) -> None:
        """Leave a statement behind the prompt."""
        self._readings.append(reading)
        if len(self._readings) == 1:
            threading.Thread(target=self._tick, name="exacell-behind", daemon=True).start()
        self._console.tell(
            f"still waiting for an answer{_from(reading)}: it is shown when it comes; Ctrl-C stops waiting"
        )

    def _tick(self) -> None:
        """Have the toolbar drawn again each second, which says how long it is waited, until nothing is waited for."""
        while self._readings:
            self._app.invalidate()
            time.sleep(_TICK)

    @property
    def sentence(self) -> str:
        """What is waited for, for the toolbar; empty when nothing is."""
        if not self._readings:
            return ""
        first, others = self._readings[0], len(self._readings) - 1
        more = f" and {others} more" if others else ""
        said = f"{first.text.strip()}{_from(first)}, {format_wait(first.waited)}{more}"
        return f"waiting for: {said}   (Ctrl-C stops waiting)"

    def before(self, line: Line) -> None:
        """Let go of, or wait for, what a line that is about to run must not run beside.

        Raises:
            KeyboardInterrupt: the wait was given up, and with it the line.
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
        """Show what has ended: above the prompt where one stands, from its event loop, else as it is."""
        if not any(reading.ended for reading in self._readings):
            return
        if self._app.is_running:
            show_above(self._app, self._deliver_ended)
        else:
            self._deliver_ended()

    def ended(self) -> None:
        """Say, from any thread, that one of them has ended."""
        loop = self._app.loop
        if self._app.is_running and loop is not None:
            with suppress(RuntimeError):  # This prompt has just ended; the next one catches up.
                loop.call_soon_threadsafe(self.catch_up)

    def give_up(self) -> None:
        """End them all."""
        given_up, self._readings = self._readings, []
        for reading in given_up:
            reading.give_up()
            self._console.tell(f"no longer waiting for: {reading.text.strip()}", "warning")

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
    """Let ``show`` print where the prompt stands, and draw the prompt below what it printed.

    The terminal stays in the prompt's mode meanwhile. prompt_toolkit's ``run_in_terminal`` gives it back to line
    editing, and a key that arrives then is echoed into the output, or, as Ctrl-D, swallowed by the terminal.
    To be called from the event loop of ``app``, for what prints and asks nothing.
    """
    app.renderer.erase()
    try:
        show()
    finally:
        app.renderer.reset()
        app.renderer.request_absolute_cursor_position()
        app.invalidate()
