"""Errors for eyes, without passwords: one complete line, and for a bad statement the place that is wrong, underlined. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from exacell.cellcli.secrets import holds_secret, masked
from exacell.core.errors import ExacellError, StatementError
from exacell.output.style import paint, printable

_MARGIN = 4
_ELLIPSIS = "..."


def sentence(error: ExacellError) -> str:
    """Return message and hint as one line."""
    message = masked(" ".join(error.message.split()))
    hint = masked(" ".join(error.hint.split()))
    if not hint:
        return message
    return f"{message.rstrip('.')}: {hint}" if hint.startswith("did you mean") else f"{message.rstrip('.')}; {hint}"


def error_lines(
    error: ExacellError, *, text: str = "", prefix: str = "exacell: ", width: int | None = None, color: bool = False
) -> Iterator[str]:
    """Yield the line that says what is wrong, then for a bad statement the statement with the faulty part underlined.

    Args:
        text: the line that was given; empty leaves the underline out.
        prefix: who speaks.
        width: columns; a longer statement is shown around its faulty part.
    """
    yield paint(printable(prefix + sentence(error)), "error", color=color)
    if isinstance(error, StatementError) and error.start is not None and text.strip() and not holds_secret(text):
        end = error.end if error.end is not None else error.start
        shown, mark = underlined(text, error.start, end, width=width)
        yield shown
        yield paint(mark, "error", color=color)


def underlined(text: str, start: int, end: int, *, width: int | None = None, margin: int = _MARGIN) -> tuple[str, str]:
    """Return the physical line of ``text`` that holds ``start``, and the line with ``^`` below the faulty part.

    Args:
        start, end: offsets into ``text``; one mark is shown where they are equal.
        margin: blanks in front of both.
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
    """Return marks that stand below a line which is already on the screen, ``indent`` columns in."""
    return " " * (indent + start) + "^" * max(end - start, 1)
