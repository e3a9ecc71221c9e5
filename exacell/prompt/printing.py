"""Show something above the prompt that stands there, without taking a key from it."""

from __future__ import annotations

from collections.abc import Callable

from prompt_toolkit.application import Application


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
