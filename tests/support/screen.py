"""A terminal of 24 rows by 80 columns: the program in a pty, its screen as somebody sees it, and its keys."""

from __future__ import annotations

import os
import re
import sys
import time
import warnings
from collections.abc import Mapping, Sequence

import pexpect

from tests.support.patience import LONG_S

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    from pexpect import ANSI

_KEYS = {"Tab": "\t", "Enter": "\r", "Esc": "\x1b", "C-c": "\x03", "C-d": "\x04", "C-l": "\x0c"}
_ASKS_PLACE = "\x1b[6n"
_UNKNOWN = re.compile(r"\x1b\[[?>=][0-9;]*[a-zA-Z]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[=>78]|\x1b\(B|\x1b\[[0-9;]*m")
"""What the emulation of pexpect would print: modes, titles, colours."""


class Window:
    """One program on a terminal.

    Args:
        argv: behind ``python -m exacell``.
        env: of the program.
        size: rows and columns.
    """

    def __init__(self, argv: Sequence[str], env: Mapping[str, str], *, size: tuple[int, int] = (24, 80)) -> None:
        self._screen = ANSI.ANSI(*size)
        self._left = ""
        given = {
            key: value for key, value in {**os.environ, **env}.items() if key not in ("COLUMNS", "LINES", "NO_COLOR")
        }
        self.child = pexpect.spawn(
            sys.executable,
            ["-m", "exacell", *argv],
            env={**given, "TERM": "xterm-256color"},
            dimensions=size,
            timeout=300,
            encoding="utf-8",
        )

    def _read(self, seconds: float) -> bool:
        """Read what the program writes within so many seconds; return whether it wrote anything."""
        try:
            text = self._left + self.child.read_nonblocking(65536, timeout=seconds)
        except pexpect.TIMEOUT:
            return False
        except pexpect.EOF:
            return False
        # An escape sequence may be cut off at the end of what was read.
        cut = text.rfind("\x1b") if re.search(r"\x1b[\[\]()?=>0-9;]*$", text) else len(text)
        text, self._left = text[:cut], text[cut:]
        for place, part in enumerate(text.split(_ASKS_PLACE)):
            if place:
                self.child.send(f"\x1b[{self._screen.cur_r};{self._screen.cur_c}R")
            self._screen.write(_UNKNOWN.sub("", part))
        return True

    def rows(self) -> list[str]:
        """Return the screen's rows without blanks at their ends."""
        return [row.rstrip() for row in str(self._screen).split("\n")]

    def until(self, text: str, *, seconds: float = LONG_S) -> list[str]:
        """Return the rows once ``text`` stands in one of them and nothing more is written.

        Raises:
            AssertionError: it does not come to stand there in time.
        """
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if not self._read(0.3) and any(text in row for row in self.rows()):
                return self.rows()
        raise AssertionError(f"{text!r} does not stand on the screen:\n" + "\n".join(self.rows()))

    def press(self, *keys: str) -> None:
        """Press keys: those of :data:`_KEYS` by name, anything else as letters."""
        for key in keys:
            self.child.send(_KEYS.get(key, key))

    def paste(self, text: str) -> None:
        """Paste a text as a terminal does: between the marks of a bracketed paste."""
        self.child.send(f"\x1b[200~{text}\x1b[201~")

    def close(self) -> None:
        """End the program."""
        self.child.close(force=True)
