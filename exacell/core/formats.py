"""The names of the output formats, and how to recognize one. Pure."""

from __future__ import annotations

from exacell.core.errors import StatementError
from exacell.core.meant import closest

FORMATS = ("table", "json", "jsonl", "csv", "tsv", "yaml", "md", "raw")
"""The values of ``-o``, ``--format``, ``set format`` and ``format =``."""

AS_PRINTED = ("table", "raw")
"""Formats that show the text of a cell or host as printed; the others show typed values."""

FOLDING = ("auto", "on", "off")
"""The values of ``set fold``; auto folds on a terminal."""


def check_format(name: str) -> str:
    """Return the format called ``name``, in lower case.

    Raises:
        StatementError: there is no such format.
    """
    if name.lower() not in FORMATS:
        near = closest(name, FORMATS, limit=2)
        raise StatementError(f"'{name}' is not an output format: {', '.join(FORMATS)}", suggestions=near)
    return name.lower()
