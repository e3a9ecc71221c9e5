"""Handle signals: Ctrl-C stops a statement gently, and during a change so do the signals that end a program."""

from __future__ import annotations

import _thread
import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from types import FrameType
from typing import TYPE_CHECKING, Protocol

from exacell.output.terminal import TerminalConsole

if TYPE_CHECKING:
    from exacell.session.state import Session


class Talk(Protocol):
    """Shows that a change is ending: a terminal, or the log of a process without one.

    Attributes:
        ending: whether no more questions may be asked.
    """

    ending: bool

    def tell(self, text: str, meaning: str = "") -> None:
        """Show one line."""

    def unhindered(self) -> AbstractContextManager[None]:
        """While entered, output that can't be written does not stop the work."""


_STOPPING = "running statements may finish, nothing new is started"


@contextmanager
def interruptible(session: Session, console: TerminalConsole) -> Iterator[None]:
    """Let the first Ctrl-C stop further work and the second one detach (KeyboardInterrupt).

    Does nothing outside of the main thread, where no signals arrive.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    pressed = 0

    def on_interrupt(number: int, frame: FrameType | None) -> None:
        nonlocal pressed
        pressed += 1
        if pressed > 1:
            detach(frame)
            return
        session.interrupted.set()
        # No line can be written if the signal came while another line is being written to a slow terminal.
        with suppress(RuntimeError):
            console.tell(f"stopping: {_STOPPING} (Ctrl-C again detaches)", "warning")

    before = signal.signal(signal.SIGINT, on_interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


_SOON_S = 0.005
"""Seconds after which a Ctrl-C is repeated if it came while a lock was changing hands."""

_MAY_BLOCK = ("join", "_wait_for_tstate_lock")
"""The functions of Thread in which an exception does no harm; they may take as long as the other thread."""


def detach(frame: FrameType | None) -> None:
    """Raise KeyboardInterrupt; if that could leave a lock taken, or give it back twice, let the signal come again soon.

    The locks are those of threading.py, which takes and gives them back in several steps. Source: CPython, Lib/threading.py,
    Condition.wait: an exception between ``_release_save`` and ``try`` ends the caller's ``with`` with "release unlocked lock".

    Args:
        frame: the place at which the main thread was interrupted.

    Raises:
        KeyboardInterrupt: no lock is changing hands.
    """
    if not changing_hands(frame):
        raise KeyboardInterrupt
    main = threading.main_thread().ident
    assert main is not None, "the main thread runs"

    def again() -> None:
        time.sleep(_SOON_S)
        signal.pthread_kill(main, signal.SIGINT)

    _thread.start_new_thread(again, ())  # Not Thread.start: that takes locks of its own.


def changing_hands(frame: FrameType | None) -> bool:
    """Return whether the frame is one of threading.py that takes a lock or gives it back."""
    if frame is None or frame.f_code.co_filename != threading.Condition.wait.__code__.co_filename:
        return False
    waits = frame.f_code is threading.Condition.wait.__code__ and "gotit" in frame.f_locals  # After its ``try``.
    return not waits and frame.f_code.co_name not in _MAY_BLOCK


def _end_as_terminated(number: int, frame: FrameType | None) -> None:
    """End the process as SIGTERM does at this moment."""
    os.kill(os.getpid(), signal.SIGTERM)


@contextmanager
def quitting_as_terminated() -> Iterator[None]:
    """Let SIGQUIT (Ctrl-\\) end the program as SIGTERM does, and leave no core file.

    Does nothing if SIGQUIT is ignored or handled already, or outside of the main thread.
    """
    if threading.current_thread() is not threading.main_thread() or signal.getsignal(signal.SIGQUIT) != signal.SIG_DFL:
        yield
        return
    signal.signal(signal.SIGQUIT, _end_as_terminated)
    try:
        yield
    finally:
        signal.signal(signal.SIGQUIT, signal.SIG_DFL)


_ENDS = (signal.SIGTERM, signal.SIGQUIT, signal.SIGHUP)


@contextmanager
def ending_well(session: Session, console: Talk) -> Iterator[None]:
    """Let SIGTERM, SIGQUIT and SIGHUP stop a change as the first Ctrl-C does, so that no cell is left without caching.

    A second SIGTERM or SIGQUIT kills. SIGHUP comes when a terminal is closed, often twice (from the kernel, then from the
    shell) and with a SIGTERM; all after the first are ignored. A closed output does not stop the change.

    A signal keeps its meaning if another handler is set (nohup), and outside of the main thread.
    """
    with console.unhindered():
        if threading.current_thread() is not threading.main_thread() or session.told_to_end:
            yield
            return

        def on_end(number: int, frame: FrameType | None) -> None:
            again, hung_up = session.told_to_end, number == signal.SIGHUP
            if not hung_up:
                for each in (signal.SIGTERM, signal.SIGQUIT):
                    if each in before:
                        signal.signal(each, before[each])
            session.told_to_end = console.ending = True
            session.interrupted.set()
            if not hung_up or not again:
                kills = "" if hung_up else " (again: at once)"
                with suppress(RuntimeError):  # As for Ctrl-C.
                    console.tell(f"asked to stop ({signal.Signals(number).name}): {_STOPPING}{kills}", "warning")

        ours = (signal.SIG_DFL, _end_as_terminated)
        before = {number: found for number in _ENDS if (found := signal.getsignal(number)) in ours}
        for number in before:
            signal.signal(number, on_end)
        try:
            yield
        finally:
            for number, handler in before.items():
                # The shell's SIGHUP may follow the kernel's just after the change has ended: it must not hide the exit code.
                if number != signal.SIGHUP or not session.told_to_end:
                    signal.signal(number, handler)
