"""Long answers on a terminal, a screen at a time, by less or another program; without one they are written as they are.

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

from exacell.core.localshell import SHELL
from exacell.output.screen import fits_screen
from exacell.output.style import rows_of

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
    """Return the command that pages; empty where there is none.

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


def page(lines: Iterable[str], setting: str, out: TextIO) -> bool:
    """Show lines until the reader leaves, by the command that pages; return whether there was one that could be started.

    The lines are made while it reads them.
    """
    command = pager_command(setting)
    return fits_screen(out) and bool(command) and _by_command(lines, command, out)


def _size(out: TextIO) -> tuple[int, int]:
    """Return columns and rows of a terminal; a serial line that does not know its own has 80 by 24."""
    size = os.get_terminal_size(out.fileno())
    return size.columns or 80, size.lines or 24


def _by_command(lines: Iterable[str], command: str, out: TextIO) -> bool:
    """Return whether the command could be started."""
    words = shlex.split(command)
    if not words or not os.access(SHELL, os.X_OK) or shutil.which(words[0]) is None:
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
