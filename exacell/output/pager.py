"""Long answers on a terminal, a screen at a time: by less where it is installed, else by a pager of our own,
which shows and does with each key what less does.

Only what is longer than the screen is paged, and only where somebody sits at the terminal. ``set pager`` chooses:
``on`` (or ``auto``), ``off`` (or ``never``), or a command that reads the text on standard input.
"""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import subprocess
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import TextIO

from exacell.output.screen import Screen, fits_screen
from exacell.output.style import paint, plain, printable, rows_of

OFF = ("off", "never")
ON = ("on", "auto", "")

LESS = "FRSX"
"""less: leave at once when all fits, show colours, scroll sideways, leave the text on the screen; unless $LESS says
otherwise."""

LESS_PROMPT = "-Psq leaves  space goes on  b goes back  / finds  ?e(end):lines %lt to %lb.$"
"""less's own prompt is a lone colon, which tells nobody how to leave; one in $LESS wins. Source: less(1), PROMPTS."""


def wants_pager(lines: Sequence[str], setting: str, out: TextIO) -> bool:
    """Return whether ``lines`` are shown a screen at a time: more rows than the terminal behind ``out`` has, the prompt
    that follows counted in."""
    if setting.lower() in OFF or not fits_screen(out):
        return False
    try:
        columns, height = _size(out)
    except OSError:
        return False
    rows, room = 0, max(height - 1, 1)
    for line in lines:
        rows += len(rows_of(line, columns)) if len(line) > columns else 1
        if rows > room:
            return True
    return False


def pager_command(setting: str, env: Mapping[str, str] | None = None) -> str:
    """Return the command that pages; empty for our own pager.

    ``auto`` takes $EXACELL_PAGER, $PAGER, then less; what is not installed is passed over.
    """
    variables = os.environ if env is None else env
    if setting.lower() not in ON:
        return setting
    for command in (variables.get("EXACELL_PAGER", ""), variables.get("PAGER", ""), "less"):
        words = shlex.split(command) if command else []
        if words and shutil.which(words[0]):
            return command
    return ""


def page_by_command(lines: Iterable[str], setting: str, out: TextIO) -> bool:
    """Show lines that are more than any screen has by the command that pages, and return whether there was one that could
    be started. They are made while it reads them."""
    command = pager_command(setting)
    return fits_screen(out) and bool(command) and _by_command(lines, command, out)


def page(lines: Sequence[str], setting: str, out: TextIO) -> None:
    """Show ``lines`` until the reader leaves; a pager that can't be started is replaced by our own."""
    command = pager_command(setting)
    if command and _by_command(lines, command, out):
        return
    with Screen(out) as screen:
        pages = Pages(lines)
        while not pages.ended:
            screen.draw(pages.view(*screen.size))
            pages.press(screen.key())
    out.write("\n".join(pages.last_view(*_size(out))) + "\n")
    out.flush()


def _size(out: TextIO) -> tuple[int, int]:
    """Return columns and rows of a terminal; a serial line that does not know its own has 80 by 24."""
    size = os.get_terminal_size(out.fileno())
    return size.columns or 80, size.lines or 24


def _by_command(lines: Iterable[str], command: str, out: TextIO) -> bool:
    """Return whether the command could be started."""
    words = shlex.split(command)
    if not words or shutil.which(words[0]) is None:
        return False
    env = pager_env(os.environ)
    out.flush()
    with _interrupts_are_the_pagers():
        process = subprocess.Popen(command, shell=True, stdin=subprocess.PIPE, stdout=out.fileno(), text=True, env=env)
        assert process.stdin is not None
        try:
            with suppress(BrokenPipeError):  # The reader left before the end.
                process.stdin.writelines(line + "\n" for line in lines)
        finally:
            with suppress(BrokenPipeError):
                process.stdin.close()
            process.wait()
    return True


def pager_env(env: Mapping[str, str]) -> dict[str, str]:
    """Return the environment that a pager runs in.

    less gets a prompt that says how to leave, and LESSSECURE: what cells answer is shown, and no key in it starts a shell or
    an editor, pipes, or writes a file; nor is $LESSOPEN run. Source: less(1), SECURITY and ENVIRONMENT VARIABLES.
    """
    options = f"{LESS_PROMPT} {env.get('LESS') or LESS}"
    return {**env, "LESS": options, "LESSSECURE": "1", "LESSCHARSET": env.get("LESSCHARSET", "utf-8")}


@contextmanager
def _interrupts_are_the_pagers() -> Iterator[None]:
    """Let Ctrl-C reach the pager, which shares our terminal, and not end us."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, lambda number, frame: None)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


HELP = "space b page · j k line · g G ends · / search n N · q leaves"


class Pages:
    """A text and the place in it.

    Attributes:
        ended: the reader left.
    """

    def __init__(self, lines: Sequence[str]) -> None:
        self._lines = list(lines)
        self._rows: list[str] = []
        self._width, self._height = 0, 24
        self._top = 0
        self._typing: str | None = None
        self._pattern = ""
        self._says = ""
        self.ended = False

    def view(self, width: int, height: int) -> list[str]:
        """Return the lines of a screen of that size: the text, then one of status."""
        if width != self._width:
            share = self._top / len(self._rows) if self._rows else 0.0
            self._rows = [row for line in self._lines for row in rows_of(line, width)]
            self._top, self._width = round(share * len(self._rows)), width
        self._height = height
        self._top = max(0, min(self._top, self._last))
        shown = [self._marked(row) for row in self._rows[self._top : self._top + self._room]]
        return [*shown, *[""] * (self._room - len(shown)), self._status()]

    def last_view(self, width: int, height: int) -> list[str]:
        """Return what stays on the terminal when the reader has left: the rows that were shown last."""
        return self.view(width, height)[:-1]

    @property
    def _room(self) -> int:
        return max(self._height - 1, 1)

    @property
    def _last(self) -> int:
        return max(0, len(self._rows) - self._room)

    def _status(self) -> str:
        if self._typing is not None:
            return "/" + printable(self._typing)
        end = min(self._top + self._room, len(self._rows))
        place = f"{self._top + 1}-{end} of {len(self._rows)}" + (" (end)" if self._top == self._last else "")
        return paint(f"{self._says or place}   {HELP}"[: max(self._width - 1, 1)], "marked", color=True)

    def _marked(self, row: str) -> str:
        if not self._pattern or "\x1b" in row:
            return row
        at = row.lower().find(self._pattern)
        if at < 0:
            return row
        end = at + len(self._pattern)
        return row[:at] + paint(row[at:end], "marked", color=True) + row[end:]

    def press(self, key: str) -> None:
        """Do what a key means; unknown ones do nothing."""
        self._says = ""
        if self._typing is not None:
            self._type(key)
            return
        half = max(self._room // 2, 1)
        steps = {
            " ": self._room, "f": self._room, "b": -self._room, "j": 1, "down": 1, "enter": 1, "k": -1, "up": -1,
            "d": half, "u": -half, "g": -len(self._rows), "<": -len(self._rows), "G": len(self._rows),
            ">": len(self._rows),
        }  # fmt: skip
        if key in ("q", "Q", "quit", "escape"):
            self.ended = True
        elif key in steps:
            self._top = max(0, min(self._top + steps[key], self._last))
        elif key == "/":
            self._typing = ""
        elif key in ("n", "N") and self._pattern:
            self._find(1 if key == "n" else -1)

    def _type(self, key: str) -> None:
        assert self._typing is not None
        if key == "enter":
            pattern, self._typing = self._typing, None
            self._pattern = pattern.lower() or self._pattern
            self._find(1, here=True)
        elif key == "escape" or (key == "backspace" and not self._typing):
            self._typing = None
        elif key == "backspace":
            self._typing = self._typing[:-1]
        elif len(key) == 1 and key.isprintable():
            self._typing += key

    def _find(self, step: int, *, here: bool = False) -> None:
        place = self._top if here else self._top + step
        while 0 <= place < len(self._rows):
            if self._pattern in plain(self._rows[place]).lower():
                self._top = place
                if place > self._last:
                    self._top = self._last
                return
            place += step
        self._says = f"no {self._pattern} {'below' if step > 0 else 'above'}"
