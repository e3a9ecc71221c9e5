"""The layout of help's pages: sentences and two columns, wrapped between words. Pure."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence

from exacell.output.style import paint

WIDTH = 79
"""Columns of a page: longer lines are hard to read, and a terminal of 80 columns has one to spare."""

_LABEL = 34


def wrap(text: str, *, indent: str = "", first: str | None = None) -> list[str]:
    """Return the lines of a wrapped sentence.

    Args:
        indent: text before each line.
        first: text before the first line, if it differs.
    """
    lead = indent if first is None else first
    return textwrap.wrap(
        text, WIDTH, initial_indent=lead, subsequent_indent=indent, break_on_hyphens=False, break_long_words=False
    )


def columns(rows: Sequence[tuple[str, str]]) -> Iterator[str]:
    """Yield rows of a word and a sentence, with the sentences in one column."""
    label = min(max((len(left) for left, _ in rows), default=0) + 4, _LABEL)
    for left, right in rows:
        head = f"  {left:<{label - 2}}"
        if len(left) + 3 > label:
            yield from wrap(left, indent="      ", first="  ")
            head = " " * label
        yield from wrap(right, indent=" " * label, first=head) or [head.rstrip()]


def short_rows(rows: Sequence[tuple[str, str]], width: int | None, *, color: bool, typed: int = 0) -> Iterator[str]:
    """Yield one line per row, cut at the width of the window; None cuts nothing.

    Args:
        typed: which of the two columns is what to type; it is highlighted.
    """
    label = min(max((len(left) for left, _ in rows), default=0), _LABEL)
    for left, right in rows:
        room = None if width is None else max(width - max(label, len(left)) - 4, 0)
        told = right if room is None or len(right) <= room else right[: max(room - 3, 0)].rstrip(" ,;:") + "..."
        shown = [
            paint(text, "title", color=color) if place == typed else text for place, text in enumerate((left, told))
        ]
        yield f"  {shown[0]}{' ' * (label - len(left))}  {shown[1]}".rstrip()
