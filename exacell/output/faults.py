"""Show errors without passwords: one complete line, and for a bad statement its wrong part underlined; and end the program
with the right exit code."""

from __future__ import annotations

import re
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import Iterator
from copy import copy
from pathlib import Path

from exacell.cellcli.secrets import holds_secret, masked, without
from exacell.core.errors import (
    CellSetError,
    ConfigError,
    ExacellError,
    ExitCode,
    RecipeError,
    RefusedError,
    StatementError,
    UnitError,
    descriptors_run_out,
)
from exacell.core.paths import Home, ensure_dir, replace_file
from exacell.output.streams import let_go, lost, told
from exacell.output.style import paint, painted_lines, printable, terminal_width, wants_color

_MARGIN = 4
_ELLIPSIS = "..."
_LINES, _COLUMNS = 3, 80
"""The lines and columns that an error may take, so that a small terminal still shows what was typed before it."""
MORE = "`why` shows more"
_STATEMENT_ENDS = re.compile(r"(?=: | refused)")
_LISTS = (
    (re.compile(r"((?:[\w./-]+, ){6})(?:[\w./-]+, ){3,}[\w./-]+"), r"\1…"),
    (re.compile(r"((?:[\w./-]+\|){6})(?:[\w./-]+\|){3,}[\w./-]+"), r"\1…"),
)
"""Lists of ten words or more, and their first six."""

_APART = re.compile(r"""; (?=(?:[^`'"]|`[^`]*`|'[^']*'|"[^"]*")*$)""")


def sentence(error: ExacellError) -> str:
    """Return message and hint as one line; several blanks within a hint stay, because they may be part of what to type."""
    message = masked(" ".join(error.message.split()))
    hint = masked(" ".join(line.strip() for line in error.hint.splitlines() if line.strip()))
    if not hint:
        return message
    return f"{message.rstrip('.')}: {hint}" if hint.startswith("did you mean") else f"{message.rstrip('.')}; {hint}"


def brief_sentence(error: ExacellError) -> str:
    """Return :func:`sentence` in at most three lines of 80 columns, as the prompt wraps it, if possible: the first way out
    stays; `why` shows the others, and the reasons that the message does not name."""
    ways = ways_out(error)
    whole = sentence(error)
    if not error.reasons and (len(ways) < 2 or _lines_of(whole) <= _LINES):
        return whole
    while True:
        said = sentence(ExacellError(error.message, hint="; ".join([*ways, MORE])))
        if _lines_of(said) <= _LINES or len(ways) < 2:
            return said
        ways.pop()


def shortened(error: ExacellError, typed: str) -> ExacellError:
    """Return the error to show below the line that was typed: the error itself if it is brief, else one that says less.

    A statement that fills the line is shown by its first two words, and a long list by its first words. `why` shows the
    whole error.
    """
    if _lines_of(brief_sentence(error)) <= _LINES:
        return error
    message, line, cut = " ".join(error.message.split()), " ".join(typed.split()), False
    heads = [message[: match.start()] for match in _STATEMENT_ENDS.finditer(message)]
    if statement := max((head for head in heads if head in line), key=len, default=""):
        verb = " ".join(statement.split()[:2])
        message = f"{verb} …{message[len(statement) :]}" if len(verb) + 2 < len(statement) else message
    less = copy(error)
    for many, some in _LISTS:
        message, found = many.subn(some, message)
        cut = cut or bool(found)
    less.message, less.reasons = message, (*error.reasons, *([error.message] if cut else ()))
    return less


def ways_out(error: ExacellError) -> list[str]:
    """Return the ways out in an error's hint, one by one; text within backquotes or quotes is never split."""
    return [way for way in _APART.split(" ".join(error.hint.split())) if way]


def _lines_of(text: str) -> int:
    from textwrap import wrap  # Imported only after an error.

    return len(wrap(text, _COLUMNS, subsequent_indent=" " * _MARGIN))


def meaning_of(error: ExacellError) -> str:
    """Return how an error is shown: ``warning`` if nothing was sent and nothing is lost, so that another statement is enough;
    ``error`` if something failed."""
    asked_wrong = (StatementError, UnitError, CellSetError, ConfigError, RefusedError, RecipeError)
    return "warning" if isinstance(error, asked_wrong) and error.exit_code is ExitCode.NOT_EXECUTED else "error"


def head_of(error: ExacellError) -> str:
    """Return the first part of :func:`sentence`: the problem, without the way out after it."""
    message = masked(" ".join(error.message.split()))
    return message.rstrip(".") if error.hint else message


def error_lines(
    error: ExacellError, *, text: str = "", prefix: str = "exacell: ", width: int | None = None, brief: bool = False
) -> Iterator[str]:
    """Yield one line about the problem, then, for a bad statement, the statement with the wrong part underlined.

    Args:
        text: the line that was typed; empty for no underline.
        prefix: the text before the message.
        width: columns; a longer statement is cut around its wrong part.
        brief: whether the message is shortened to three lines if possible.
    """
    yield printable(prefix + without(text, (brief_sentence if brief else sentence)(error)))
    if isinstance(error, StatementError) and error.start is not None and text.strip() and not holds_secret(text):
        end = error.end if error.end is not None else error.start
        shown, mark = underlined(text, error.start, end, width=width)
        yield shown
        yield mark


def underlined(text: str, start: int, end: int, *, width: int | None = None, margin: int = _MARGIN) -> tuple[str, str]:
    """Return the physical line of ``text`` that holds ``start``, and a line with ``^`` below the wrong part.

    Args:
        start, end: offsets into ``text``; if they are equal, one mark is shown.
        margin: blanks before both lines.
    """
    start = min(max(start, 0), len(text))
    end = min(max(end, start), len(text))
    begin = text.rfind("\n", 0, start) + 1
    stop = text.find("\n", start)
    line = text[begin : stop if stop >= 0 else len(text)].rstrip()
    left, size = start - begin, max(end - start, 1)
    size = max(min(size, len(line) - left), 1)
    room = None if width is None else max(width - margin, 20)
    lead = ""
    if room is not None and len(line) > room:
        cut = min(left, max(0, left + size - (room - 2 * len(_ELLIPSIS))))
        if cut:
            lead, line, left = _ELLIPSIS, line[cut:], left - cut
        if len(lead) + len(line) > room:
            line = line[: room - len(lead) - len(_ELLIPSIS)] + _ELLIPSIS
        size = min(size, max(room - len(lead) - left, 1))
    shown = "".join(" " if char == "\t" else char for char in line)
    return " " * margin + lead + printable(shown), " " * (margin + len(lead) + left) + "^" * size


def squiggle(start: int, end: int, *, indent: int) -> str:
    """Return marks to show below a line that is already on the screen, indented by ``indent`` columns."""
    return " " * (indent + start) + "^" * max(end - start, 1)


_BUG = 70
"""Exit status of a mistake in exacell itself. Source: sysexits.h, EX_SOFTWARE."""


def ended_by(error: BaseException, code: int = ExitCode.DONE) -> int:
    """Show what ended the program and return the exit code; an error that a user can cause takes one line.

    Args:
        code: the exit code of the work, if that had ended.
    """
    if isinstance(error, BrokenPipeError):
        # The reader of the pipe has ended, as head does. Nothing more may be written, even at exit; the work's exit code stays.
        let_go(sys.stdout)
        return code
    if isinstance(error, ExacellError):
        say_error(error)
        return error.exit_code
    if isinstance(error, KeyboardInterrupt):
        _say("exacell: interrupted")
        return ExitCode.INTERRUPTED
    short = descriptors_run_out(error)
    if short is not None:
        _say(f"exacell: {short.message}")
        return short.exit_code
    if isinstance(error, OSError) and lost(error):
        let_go(sys.stdout)  # Buffered output is discarded.
        _say(f"exacell: {told(error)}")
        return ExitCode.FAILED
    return bug(error)


def say_error(error: ExacellError, *, text: str = "", place: str = "") -> None:
    """Print an error on standard error.

    Args:
        text: the statement with the error; its wrong part is marked below it.
        place: the text before the message that names where the statement is.
    """
    width, color = terminal_width(sys.stderr), wants_color(sys.stderr)
    said, *below = error_lines(error, text=text, prefix=f"exacell: {place}", width=width)
    meaning, head = meaning_of(error), printable(f"exacell: {place}{head_of(error)}")
    for line in painted_lines(said, meaning, width, head=head, color=color):
        _say(line)
    for line in below:
        _say(line if line.strip(" ^") else paint(line, meaning, color=color))
    for reason in error.reasons:
        _say(printable(f"  {masked(reason)}"))


def _say(line: str) -> None:
    """Print a line on standard error, which may be a terminal that was closed."""
    try:
        print(line, file=sys.stderr, flush=True)
    except OSError:
        let_go(sys.stderr)


def bug_in_thread(said: threading.ExceptHookArgs) -> None:
    """Report an unexpected error in a thread, such as one that serves a connection; all other threads continue."""
    if said.exc_value is not None and said.exc_type is not SystemExit:
        bug(said.exc_value)


def bug(error: BaseException) -> int:
    """Report in one line a mistake in exacell itself, keep the traceback in a file, and return the exit status."""
    name = time.strftime("crash-%Y%m%d-%H%M%S.txt")
    trace = masked("".join(traceback.format_exception(error)))
    try:
        path = ensure_dir(Home.from_env().state_dir) / name
        replace_file(path, trace)
    except (OSError, ConfigError):
        descriptor, fallback = tempfile.mkstemp(prefix="exacell-", suffix=".txt", text=True)
        with open(descriptor, "w", encoding="utf-8") as stream:
            stream.write(trace)
        path = Path(fallback)
    _say(f"exacell: a mistake in exacell itself: {type(error).__name__}: {masked(str(error))}; details in {path}")
    return _BUG
