"""What signals do to a statement: Ctrl-C stops it softly, and so does, in the middle of a change, what ends a program."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from types import FrameType
from typing import TYPE_CHECKING, Protocol

from exacell.output.terminal import TerminalConsole

if TYPE_CHECKING:
    from exacell.session.state import Session


class Talk(Protocol):
    """What is told that a change is ending: a terminal, or the log of a process without one.

    Attributes:
        ending: whether nobody is to be asked any more.
    """

    ending: bool

    def tell(self, text: str, meaning: str = "") -> None:
        """Say one line."""

    def unhindered(self) -> AbstractContextManager[None]:
        """Let nothing that can't be said stop what is done while it is entered."""


_STOPPING = "what is under way may finish, no more is started"


@contextmanager
def interruptible(session: Session, console: TerminalConsole) -> Iterator[None]:
    """Let the first Ctrl-C stop further work and the second one detach (KeyboardInterrupt).

    Only in the main thread, where signals arrive; elsewhere nothing changes.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    pressed = 0

    def on_interrupt(number: int, frame: FrameType | None) -> None:
        nonlocal pressed
        pressed += 1
        if pressed > 1:
            raise KeyboardInterrupt
        session.interrupted.set()
        # In the middle of the writing of another line, which a slow terminal keeps waiting, no line can be written.
        with suppress(RuntimeError):
            console.tell(f"stopping: {_STOPPING} (Ctrl-C again detaches)", "warning")

    before = signal.signal(signal.SIGINT, on_interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


@contextmanager
def ending_well(session: Session, console: Talk) -> Iterator[None]:
    """Let SIGTERM and SIGHUP stop a change as the first Ctrl-C does, so that no cell is left without caching.

    A second SIGTERM kills. SIGHUP comes with a terminal that is closed, often twice (from the kernel, then from the shell)
    and with a SIGTERM: from the first one on it means nothing more. Who no longer reads what is shown stops nothing.

    No signal changes its meaning where somebody else decides it (nohup), nor outside of the main thread.
    """
    with console.unhindered():
        if threading.current_thread() is not threading.main_thread() or session.told_to_end:
            yield
            return

        def on_end(number: int, frame: FrameType | None) -> None:
            again = session.told_to_end
            if number == signal.SIGTERM:
                signal.signal(signal.SIGTERM, signal.SIG_DFL)
            session.told_to_end = console.ending = True
            session.interrupted.set()
            if number == signal.SIGTERM or not again:
                kills = " (again: at once)" if number == signal.SIGTERM else ""
                with suppress(RuntimeError):  # As for Ctrl-C.
                    console.tell(f"told to end ({signal.Signals(number).name}): {_STOPPING}{kills}", "warning")

        ours = [number for number in (signal.SIGTERM, signal.SIGHUP) if signal.getsignal(number) == signal.SIG_DFL]
        for number in ours:
            signal.signal(number, on_end)
        try:
            yield
        finally:
            for number in ours:
                # The shell's SIGHUP may come behind the kernel's, when the change has just ended: it must not hide the exit code.
                if number != signal.SIGHUP or not session.told_to_end:
                    signal.signal(number, signal.SIG_DFL)
