"""Use the whole terminal for a while: read single keys, draw lines in place, then restore everything."""

from __future__ import annotations

import os
import re
import select
import signal
import sys
import termios
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from types import TracebackType
from typing import Any, TextIO

from exacell.output.style import cut

_ENTER, _LEAVE = "\x1b[?1049h\x1b[?25l", "\x1b[?25h\x1b[?1049l"
_LFLAG, _CC = 3, 6

_KEYS = {
    "\x1b[A": "up", "\x1bOA": "up", "\x1b[B": "down", "\x1bOB": "down",
    "\x1b[C": "right", "\x1bOC": "right", "\x1b[D": "left", "\x1bOD": "left", "\x1b[5~": "b", "\x1b[6~": " ",
    "\x1b[H": "g", "\x1bOH": "g", "\x1b[1~": "g", "\x1b[F": "G", "\x1bOF": "G", "\x1b[4~": "G",
    "\r": "enter", "\n": "enter", "\x03": "quit", "\x04": "quit", "\x7f": "backspace", "\x08": "backspace", "\x1b": "escape",
}  # fmt: skip
_SEQUENCE = re.compile(r"\x1b(?:\[[0-9;?]*[A-Za-z~]|O[A-Za-z])|[\s\S]")

_ESCAPE_WAIT = 0.05
"""Seconds within which the rest of a key's escape sequence follows its first character."""


def fits_screen(out: TextIO, stdin: TextIO | None = None) -> bool:
    """Return whether ``out`` is a terminal that can be drawn on and ``stdin`` has a keyboard."""
    keys = sys.stdin if stdin is None else stdin
    if os.environ.get("TERM", "dumb") == "dumb" or keys is None or keys.closed:
        return False
    return out.isatty() and keys.isatty() and threading.current_thread() is threading.main_thread()


class Screen:
    """The whole terminal, as a context manager; while entered, Ctrl-C is the key ``quit``, and Ctrl-Z does nothing."""

    def __init__(self, out: TextIO, stdin: TextIO | None = None) -> None:
        self._out = out
        self._fd = (sys.stdin if stdin is None else stdin).fileno()
        self._before: list[Any] = []
        self._typed: list[str] = []
        self._wake_read, self._wake_write = os.pipe()
        # A full pipe already wakes the reader.
        os.set_blocking(self._wake_write, False)
        self._waking = threading.Lock()
        self._over = False
        self._on_terminate: Any = None

    def __enter__(self) -> Screen:
        try:
            self._before = termios.tcgetattr(self._fd)
            mode = termios.tcgetattr(self._fd)
            mode[_LFLAG] &= ~(termios.ECHO | termios.ICANON | termios.ISIG)
            mode[_CC][termios.VMIN], mode[_CC][termios.VTIME] = 1, 0
            termios.tcsetattr(self._fd, termios.TCSADRAIN, mode)
        except termios.error as error:
            raise OSError(*error.args) from error  # The terminal was closed just now.
        self._on_terminate = signal.signal(signal.SIGTERM, self._terminated)
        self._write(_ENTER)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._restore()
        signal.signal(signal.SIGTERM, self._on_terminate)
        with self._waking:
            self._over = True
            os.close(self._wake_read)
            os.close(self._wake_write)

    def _restore(self) -> None:
        with suppress(OSError, termios.error):  # The terminal was closed.
            self._write(_LEAVE)
            termios.tcsetattr(self._fd, termios.TCSADRAIN, self._before)

    def _terminated(self, number: int, frame: object) -> None:
        self._restore()
        signal.signal(signal.SIGTERM, self._on_terminate or signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGTERM)

    @property
    def size(self) -> tuple[int, int]:
        """Return the present numbers of columns and rows."""
        try:
            size = os.get_terminal_size(self._out.fileno())
        except OSError:
            return 80, 24
        return max(size.columns, 10) if size.columns else 80, max(size.lines, 4) if size.lines else 24

    def draw(self, lines: Sequence[str]) -> None:
        """Show ``lines`` from the top; what does not fit is cut, older lines below are erased."""
        width, height = self.size
        shown = [cut(line, width) + "\x1b[K" for line in lines[:height]]
        # The last column of the last line stays free: some terminals scroll if it is written.
        self._write("\x1b[H" + "\r\n".join(shown) + ("\x1b[J" if len(shown) < height else ""))

    def key(self, timeout: float | None = None) -> str:
        """Return the next key, by name (``up``, ``enter``, ``q``) or as typed; empty after ``timeout`` seconds or when
        :meth:`wake` was called, ``quit`` at the end of input."""
        if self._typed:
            return self._typed.pop(0)
        ready, _, _ = select.select([self._fd, self._wake_read], [], [], timeout)
        if self._wake_read in ready:
            os.read(self._wake_read, 4096)
        if self._fd not in ready:
            return ""
        data = self._read()
        end = time.monotonic() + _ESCAPE_WAIT
        while data.endswith((b"\x1b", b"\x1b[", b"\x1bO")) and time.monotonic() < end:
            if select.select([self._fd], [], [], _ESCAPE_WAIT)[0]:
                data += self._read()
        if not data:
            return "quit"
        self._typed = [_KEYS.get(k, k) for k in _SEQUENCE.findall(data.decode("utf-8", "replace"))]
        return self._typed.pop(0)

    def _read(self) -> bytes:
        try:
            return os.read(self._fd, 1024)
        except OSError:
            return b""  # The terminal was closed.

    def wake(self) -> None:
        """Make :meth:`key` return; may be called from any thread, also after the end."""
        # After the end, the pipe's descriptor number may belong to a connection or the journal.
        with self._waking:
            if not self._over:
                with suppress(BlockingIOError):
                    os.write(self._wake_write, b".")

    def _write(self, text: str) -> None:
        self._out.write(text)
        self._out.flush()
