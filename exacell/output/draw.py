"""Draw small grids for people, by rich: their texts wrap in their columns.

Lists that may be long, and output for programs, use the column writer (exacell.output.tables). Only this module loads rich;
import it only where something is drawn, because the import takes time.
"""

from __future__ import annotations

import io
import re
from collections.abc import Sequence
from typing import NamedTuple

from rich import box
from rich.console import Console, RenderableType
from rich.table import Table
from rich.text import Text
from rich.theme import Theme

from exacell.output.style import printable
from exacell.output.theme import ASCII, MEANINGS, for_rich

_THEME = Theme({f"exacell.{name}": for_rich(style) for name, style in MEANINGS.items()})
RULE = box.Box("    \n    \n -- \n    \n    \n    \n    \n    \n", ascii=True)
"""A table box with only a rule below the titles, as the column writer draws it."""

_PLAIN_WIDTH = 100
"""Columns to draw for when there is no terminal."""

_END = re.compile(r" +((?:\x1b\[[\d;]*m)*)$")
"""Blanks at a line's end, before its colour codes."""

Cell = str | tuple[str, str]
"""A text, or a text with its meaning (a key of theme.MEANINGS)."""


class Look(NamedTuple):
    """The properties of the output.

    Attributes:
        width: columns of the terminal, None without one.
        color: whether colours are wanted.
        unicode: whether it shows more than ASCII.
    """

    width: int | None = None
    color: bool = False
    unicode: bool = True


class _Sheet(io.StringIO):
    """The stream that rich writes to; rich chooses its characters by the encoding."""

    def __init__(self, encoding: str) -> None:
        super().__init__()
        self._encoding = encoding

    @property
    def encoding(self) -> str:  # type: ignore[override]
        return self._encoding


def lines_of(drawing: RenderableType, look: Look) -> list[str]:
    """Return the lines of anything that rich can draw, no wider than the look, without blanks at their ends."""
    sheet = _Sheet("utf-8" if look.unicode else "ascii")
    console = Console(
        file=sheet, width=look.width or _PLAIN_WIDTH, theme=_THEME, force_terminal=look.color, no_color=not look.color,
        color_system="256" if look.color else None, highlight=False, markup=False, emoji=False, legacy_windows=False,
        _environ={},
    )  # fmt: skip
    console.print(drawing, end="")
    return [_END.sub(r"\1", line) for line in sheet.getvalue().splitlines()]


def text_of(cell: Cell, look: Look, *, within: str = "") -> Text:
    """Return a text for rich: control characters are spelt out, and characters that the look doesn't know are replaced.

    Args:
        within: the meaning of a text without a meaning of its own.
    """
    text, meaning = (cell, within) if isinstance(cell, str) else cell
    shown = printable(text)
    return Text(shown if look.unicode else shown.translate(ASCII), style=f"exacell.{meaning}" if meaning else "")


def grid(rows: Sequence[Sequence[Cell]], look: Look, *, indent: int = 0, gap: int = 2) -> list[str]:
    """Return rows without titles, such as words with their explanations; the last column wraps within itself.

    Args:
        indent: blanks before each line.
        gap: blanks between two columns.
    """
    if not rows:
        return []
    drawing = Table.grid(padding=(0, gap, 0, 0))
    for place in range(len(rows[0])):
        last = place == len(rows[0]) - 1
        drawing.add_column(no_wrap=not last, overflow="fold", ratio=1 if last and look.width else None)
    for row in rows:
        drawing.add_row(*(text_of(cell, look) for cell in row))
    narrower = look._replace(width=max((look.width or _PLAIN_WIDTH) - indent, 10))
    return [" " * indent + line if line else line for line in lines_of(drawing, narrower)]
