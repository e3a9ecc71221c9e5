"""The names of the output formats, and which one a word means. Pure."""

from __future__ import annotations

from exacell.core.errors import StatementError
from exacell.core.meant import closest

FORMATS = ("table", "json", "jsonl", "csv", "tsv", "yaml", "md", "raw")
"""What ``-o``, ``--format``, ``set format`` and ``format =`` take."""

AS_PRINTED = ("table", "raw")
"""Formats that show what a cell or host printed; the others get typed values."""

FOLDING = ("auto", "on", "off")
"""What ``set fold`` takes; auto folds on a terminal."""


def check_format(name: str) -> str:
    """Return the format that ``name`` means, in lower case.

    Raises:
        StatementError: there is no such format.
    """
    if name.lower() not in FORMATS:
        near = closest(name, FORMATS, limit=2)
        raise StatementError(f"'{name}' is not an output format: {', '.join(FORMATS)}", suggestions=near)
    return name.lower()
