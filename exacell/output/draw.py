"""Small pictures for people, drawn by rich: grids and tables whose texts wrap in their columns, trees, bars.

Lists that may be long, and what programs read, go through the column writer (exacell.output.tables). rich is loaded here and
nowhere else; import this module where something is drawn, so that a start without a drawing stays as quick as it was.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import NamedTuple

from rich import box
from rich.console import Console, RenderableType
from rich.table import Table
from rich.text import Text
from rich.theme import Theme
from rich.tree import Tree

from exacell.output.style import printable
from exacell.output.theme import ASCII, MEANINGS, for_rich

_THEME = Theme({f"exacell.{name}": for_rich(style) for name, style in MEANINGS.items()})
RULE = box.Box("    \n    \n -- \n    \n    \n    \n    \n    \n", ascii=True)
"""Nothing but a rule below the titles, as the column writer has it."""

_PLAIN_WIDTH = 100
"""Columns to draw for when there is no terminal."""

Cell = str | tuple[str, str]
"""A text, or a text with its meaning (a key of theme.MEANINGS)."""


class Look(NamedTuple):
    """Where something is drawn.

    Attributes:
        width: columns of the terminal, None without one.
        color: colours are welcome.
        unicode: it knows more signs than ASCII.
    """

    width: int | None = None
    color: bool = False
    unicode: bool = True


class Branch(NamedTuple):
    """A line of a tree with those below it."""

    label: Cell
    below: Sequence[Branch] = ()


class _Sheet(io.StringIO):
    """What rich writes to; it asks for the encoding to choose its signs."""

    def __init__(self, encoding: str) -> None:
        super().__init__()
        self._encoding = encoding

    @property
    def encoding(self) -> str:  # type: ignore[override]
        return self._encoding


def lines_of(drawing: RenderableType, look: Look) -> list[str]:
    """Return the lines of anything that rich can draw, without blanks at their ends, none wider than the look."""
    sheet = _Sheet("utf-8" if look.unicode else "ascii")
    console = Console(
        file=sheet, width=look.width or _PLAIN_WIDTH, theme=_THEME, force_terminal=look.color, no_color=not look.color,
        color_system="256" if look.color else None, highlight=False, markup=False, emoji=False, legacy_windows=False,
        _environ={},
    )  # fmt: skip
    console.print(drawing, end="")
    return [line.rstrip() for line in sheet.getvalue().splitlines()]


def text_of(cell: Cell, look: Look, *, within: str = "") -> Text:
    """Return a text as rich takes it: its control characters spelt, its signs those that the look knows.

    Args:
        within: the meaning of a text that has none of its own.
    """
    text, meaning = (cell, within) if isinstance(cell, str) else cell
    shown = printable(text)
    return Text(shown if look.unicode else shown.translate(ASCII), style=f"exacell.{meaning}" if meaning else "")


def grid(rows: Sequence[Sequence[Cell]], look: Look, *, indent: int = 0, gap: int = 2) -> list[str]:
    """Return rows without titles, as a list of words with what they mean is: the last column wraps within itself.

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


def table(
    titles: Sequence[str], rows: Sequence[Sequence[Cell]], look: Look, *, right: Sequence[int] = (), header: bool = True
) -> list[str]:
    """Return a small table; texts that do not fit wrap within their columns.

    Args:
        right: places of the columns whose texts stand right, as numbers do.
        header: whether the titles stand above, with a rule below them.
    """
    drawing = Table(box=RULE, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0), show_header=header)
    for place, title in enumerate(titles):
        justify = "right" if place in right else "left"
        drawing.add_column(text_of(title, look, within="title"), justify=justify, overflow="fold")  # type: ignore[arg-type]
    for row in rows:
        drawing.add_row(*(text_of(cell, look) for cell in row))
    return lines_of(drawing, look)


def tree(root: Branch, look: Look) -> list[str]:
    """Return a tree: a line for each branch, below and right of the one that it belongs to."""

    def grown(branch: Branch, parent: Tree | None) -> Tree:
        label = text_of(branch.label, look)
        tree = Tree(label, guide_style="exacell.dim") if parent is None else parent.add(label)
        for one in branch.below:
            grown(one, tree)
        return tree

    return lines_of(grown(root, None), look)


def bar(fraction: float, size: int, look: Look) -> str:
    """Return a bar of ``size`` characters, filled for the fraction (0 to 1)."""
    done = round(size * min(max(fraction, 0.0), 1.0))
    full, empty = ("█", "░") if look.unicode else ("#", ".")
    return full * done + empty * (size - done)
