"""Read a person's answer from a terminal: Ctrl-C ends the reading, and after Ctrl-Z it continues."""

from __future__ import annotations

import select
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import TextIO

_LOOK = 0.2
"""Seconds between two checks for an answer."""


@contextmanager
def interrupting(again: Callable[[], None]) -> Iterator[None]:
    """Let Ctrl-C interrupt the reading of an answer, even while a statement handles it in another way.

    ``again`` is called when the program continues after Ctrl-Z, because the shell has written below the question meanwhile.
    """
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
    """Wait until a terminal has a line to read or ``over`` returns True; other streams are not waited for.

    A signal that another thread received is handled between two checks; inside a read, its handler would run only after the read.
    """
    try:
        descriptor = stream.fileno()
    except (OSError, ValueError):
        return
    while stream.isatty() and not over() and not select.select([descriptor], [], [], _LOOK)[0]:
        continue
