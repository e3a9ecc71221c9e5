"""Show long answers on a terminal through a pager, less or another program; without one they are written directly.

Only text longer than the screen goes through a pager, and only on a terminal. ``set pager`` chooses:
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
"""Options for less: leave at once if all fits, show colours, scroll sideways, leave the text on the screen; $LESS replaces
them."""

LESS_PROMPT = "-Psq leaves  space goes on  b goes back  / finds  ?e(end):lines %lt to %lb.$"
"""The prompt for less: its usual colon does not show how to leave; a prompt in $LESS has priority. Source: less(1), PROMPTS."""


def wants_pager(lines: Sequence[str], setting: str, out: TextIO) -> bool:
    """Return whether ``lines`` go through a pager: they have more rows than the terminal of ``out``, the next prompt
    included."""
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
    """Return the command of the pager; empty if there is none.

    ``auto`` takes $EXACELL_PAGER, $PAGER, then less, the first of them that is installed.
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
    """Show lines in a pager until the reader leaves; return whether a pager could be started.

    The lines are made while the pager reads them.
    """
    command = pager_command(setting)
    return fits_screen(out) and bool(command) and _by_command(lines, command, out)


def _size(out: TextIO) -> tuple[int, int]:
    """Return columns and rows of a terminal; 80 by 24 for a serial line that does not know its size."""
    size = os.get_terminal_size(out.fileno())
    return size.columns or 80, size.lines or 24


def _by_command(lines: Iterable[str], command: str, out: TextIO) -> bool:
    """Show lines in a pager, and return whether the command could be started."""
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
    """Return the environment for a pager.

    less gets a prompt that shows how to leave, and LESSSECURE: while it shows the text of cells, none of its keys starts a shell
    or an editor, pipes, or writes a file, and $LESSOPEN is not run. Source: less(1), SECURITY and ENVIRONMENT VARIABLES.
    """
    options = f"{LESS_PROMPT} {env.get('LESS') or LESS}"
    return {**env, "LESS": options, "LESSSECURE": "1", "LESSCHARSET": env.get("LESSCHARSET", "utf-8")}


@contextmanager
def _interrupts_are_the_pagers() -> Iterator[None]:
    """Let Ctrl-C reach the pager, which shares the terminal, without ending exacell."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, lambda number, frame: None)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
