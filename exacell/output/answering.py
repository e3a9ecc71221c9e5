"""How a person's answer is read from a terminal: Ctrl-C interrupts it, and Ctrl-Z is survived."""

from __future__ import annotations

import select
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import TextIO

_LOOK = 0.2
"""Seconds between two looks at whether an answer is there."""


@contextmanager
def interrupting(again: Callable[[], None]) -> Iterator[None]:
    """Make Ctrl-C interrupt the reading of an answer, whatever it means while a statement runs, and call ``again`` when
    the program goes on after Ctrl-Z: the shell has written below the question meanwhile."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    continued = signal.getsignal(signal.SIGCONT)

    def on_continue(number: int, frame: FrameType | None) -> None:
        if callable(continued):
            continued(number, frame)
        again()

    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGCONT, on_continue)
    try:
        yield
    finally:
        signal.signal(signal.SIGCONT, continued)
        signal.signal(signal.SIGINT, before)


def await_line(stream: TextIO, over: Callable[[], bool]) -> None:
    """Return when a terminal has a line to read or nobody waits for one any more, at once for anything else.

    The handler of a signal that another thread took runs between two looks; inside a read it would wait for its end.
    """
    try:
        descriptor = stream.fileno()
    except (OSError, ValueError):
        return
    while stream.isatty() and not over() and not select.select([descriptor], [], [], _LOOK)[0]:
        continue
