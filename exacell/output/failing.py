"""What ends the program before its work is done: told on standard error, and the exit code that it means."""

from __future__ import annotations

import sys
import tempfile
import threading
import time
import traceback
from pathlib import Path

from exacell.cellcli.secrets import masked
from exacell.core.errors import ExacellError, ExitCode
from exacell.core.paths import Home, ensure_dir, replace_file
from exacell.output.faults import error_lines
from exacell.output.streams import let_go, lost, told
from exacell.output.style import paint, terminal_width, wants_color, wrapped

_BUG = 70
"""Exit status of a mistake in exacell itself. Source: sysexits.h, EX_SOFTWARE."""


def ended_by(error: BaseException, code: int = ExitCode.DONE) -> int:
    """Tell what ended the program, one line for everything that a user can cause, and return its exit code.

    Args:
        code: what its work ended with, where that had ended.
    """
    if isinstance(error, BrokenPipeError):
        # The reader went away: head has seen enough. Nothing more may be written at exit either; how the work ended stands.
        let_go(sys.stdout)
        return code
    if isinstance(error, ExacellError):
        say_error(error)
        return error.exit_code
    if isinstance(error, KeyboardInterrupt):
        _say("exacell: interrupted")
        return ExitCode.INTERRUPTED
    if isinstance(error, OSError) and lost(error):
        let_go(sys.stdout)  # What was buffered for it is given up.
        _say(f"exacell: {told(error)}")
        return ExitCode.FAILED
    return bug(error)


def say_error(error: ExacellError, *, text: str = "", place: str = "") -> None:
    """Print an error on standard error.

    Args:
        text: the statement that it was found in, whose wrong words are marked below.
        place: where that stands, as a line begins with it.
    """
    width, color = terminal_width(sys.stderr), wants_color(sys.stderr)
    said, *below = error_lines(error, text=text, prefix=f"exacell: {place}", width=width)
    for line in wrapped(said, width):
        _say(paint(line, "error", color=color))
    for line in below:
        _say(line if line.strip(" ^") else paint(line, "error", color=color))


def _say(line: str) -> None:
    """Print a line on standard error, which may be a terminal that was closed."""
    try:
        print(line, file=sys.stderr, flush=True)
    except OSError:
        let_go(sys.stderr)


def bug_in_thread(said: threading.ExceptHookArgs) -> None:
    """Say it of a mistake that ended a thread, or what a thread did for one connection; everything else goes on."""
    if said.exc_value is not None and said.exc_type is not SystemExit:
        bug(said.exc_value)


def bug(error: BaseException) -> int:
    """Say in one line that exacell itself is wrong, and keep the traceback in a file."""
    name = time.strftime("crash-%Y%m%d-%H%M%S.txt")
    trace = masked("".join(traceback.format_exception(error)))
    try:
        path = ensure_dir(Home.from_env().state_dir) / name
        replace_file(path, trace)
    except OSError:
        descriptor, fallback = tempfile.mkstemp(prefix="exacell-", suffix=".txt", text=True)
        with open(descriptor, "w", encoding="utf-8") as stream:
            stream.write(trace)
        path = Path(fallback)
    _say(f"exacell: a mistake in exacell itself: {type(error).__name__}: {masked(str(error))}; details in {path}")
    return _BUG
