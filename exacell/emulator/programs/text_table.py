"""Lays out rows in columns as asmcmd does: two blanks between columns, numbers right-aligned, texts left-aligned."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class TextColumn:
    """One column; it is as wide as its title and its widest cell."""

    title: str
    right: bool = False


def text_table(columns: Sequence[TextColumn], rows: Sequence[Sequence[str]], *, heading: bool = True) -> str:
    """Return the table, one line for each row; the heading is printed even without rows, unless it is suppressed.

    >>> print(text_table([TextColumn(title="AU", right=True), TextColumn(title="Name")], [["4194304", "DATA/"]]), end="")
         AU  Name
    4194304  DATA/
    """
    widths = [
        max([len(column.title) if heading else 0, *(len(row[place]) for row in rows)])
        for place, column in enumerate(columns)
    ]
    lines = [[column.title for column in columns], *rows] if heading else list(rows)
    text = ""
    for cells in lines:
        laid = [
            cell.rjust(width) if column.right else cell.ljust(width)
            for cell, width, column in zip(cells, widths, columns, strict=True)
        ]
        text += "  ".join(laid).rstrip() + "\n"
    return text
