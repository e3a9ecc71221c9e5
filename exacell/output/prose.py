"""Sentences: in a table that is too wide because of them, broken within their column; and pages of the documentation."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from typing import Protocol

from exacell.output.style import hung, paint, takes_unicode

_LEAST = 16
"""Columns that the sentences have at least; with fewer the table is turned like any other that is too wide."""

_GAP = "  "
_ABSENT = "-"


class Aligned(Protocol):
    """A column ready to be written: its title as wide as the column, and the form and texts of its rows."""

    @property
    def title(self) -> str:
        """As wide as the column."""

    @property
    def size(self) -> int:
        """Characters of each row."""

    @property
    def form(self) -> str:
        """The ``%`` form of one row, which takes one text of each of ``fields``."""

    @property
    def fields(self) -> Sequence[Sequence[str]]:
        """Texts by row."""


def prose_lines(
    columns: Sequence[Aligned], prose: int, texts: Sequence[str], *, width: int, color: bool, header: bool
) -> list[str]:
    """Return the lines of the table with column ``prose`` last and broken between words, no wider than ``width``.

    Columns in which nothing stands are left out, so that the sentences have their room.

    Returns:
        the lines; none where too little room is left for the sentences.
    """
    others = [column for place, column in enumerate(columns) if place != prose]
    left = [column for column in others if any(text != _ABSENT for field in column.fields for text in field)]
    before = sum(column.size + len(_GAP) for column in left)
    room = width - before
    if room < _LEAST:
        return []
    broken = [hung(text, room) for text in texts]
    return list(_rows(left, columns[prose].title.strip(), broken, color=color, header=header))


def _rows(
    left: Sequence[Aligned], title: str, broken: Sequence[Sequence[str]], *, color: bool, header: bool
) -> Iterator[str]:
    before = " " * sum(column.size + len(_GAP) for column in left)
    if header:
        longest = max(len(title), *(len(line) for lines in broken for line in lines))
        yield paint(_GAP.join([*(column.title for column in left), title]), "title", color=color)
        yield _GAP.join(["-" * column.size for column in left] + ["-" * longest])
    for number, lines in enumerate(broken):
        shown = [column.form % tuple(field[number] for field in column.fields) for column in left]
        yield _GAP.join([*shown, *lines[:1]]).rstrip()
        yield from (before + line for line in lines[1:])


def document_lines(markdown: str, width: int, *, color: bool) -> list[str]:
    """Return the lines of a page of Markdown for the terminal behind standard output."""
    from exacell.output.draw import Look  # rich is loaded when something is drawn.
    from exacell.output.markdown import page_lines

    return page_lines(markdown, Look(width, color, takes_unicode(sys.stdout)))
