"""Colours for terminals, and when to use none. Six names for meanings; the escape codes live here alone."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from typing import TextIO

_CODES = {
    "title": "1",
    "odd": "1;33",
    "good": "32",
    "warning": "33",
    "error": "1;31",
    "dim": "2",
}
_RESET = "\x1b[0m"

_CONTROL = {code: f"\\x{code:02x}" for code in (*range(0x20), 0x7F) if code not in (0x09, 0x0A)} | {
    code: f"\\x{code:02x}" for code in range(0x80, 0xA0)
}


def paint(text: str, meaning: str, *, color: bool) -> str:
    """Return ``text`` coloured by ``meaning`` (title, odd, good, warning, error, dim); unchanged without colour."""
    return f"\x1b[{_CODES[meaning]}m{text}{_RESET}" if color and text else text


def wants_color(stream: TextIO, env: Mapping[str, str] | None = None) -> bool:
    """Return whether colour is welcome on ``stream``: a terminal that is not dumb, and NO_COLOR unset or empty.

    Source: no-color.org, "when present and not an empty string".
    """
    variables = os.environ if env is None else env
    if variables.get("NO_COLOR") or variables.get("TERM", "dumb") == "dumb":
        return False
    return stream.isatty()


def terminal_width(stream: TextIO) -> int | None:
    """Return the columns of the terminal behind ``stream``, None when it is no terminal: lines may then be long."""
    return shutil.get_terminal_size((80, 24)).columns if stream.isatty() else None


def printable(text: str) -> str:
    """Return ``text`` with control characters spelt out, so that a cell's answer can't drive the terminal."""
    return text.translate(_CONTROL)
