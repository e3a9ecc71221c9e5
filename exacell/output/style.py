"""Colour text for terminals, and decide when not to; output/theme.py holds the look of each meaning."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator, Mapping
from typing import TextIO
from unicodedata import category

from exacell.core.patterns import pattern
from exacell.core.values import dataclass
from exacell.output.theme import ASCII, MEANINGS, escape

_CODES = {meaning: escape(style) for meaning, style in MEANINGS.items()}
_RESET = "\x1b[0m"


class _Spelt(dict[int, str]):
    """Character → its replacement on a terminal: Python's escape for a character that is not safe there.

    Letters, marks, numbers, signs and blanks of Unicode are safe. All other characters are unsafe: control characters, and
    format characters, which reverse the direction of a line or are invisible. Source: Unicode Standard, 4.5, General Category;
    Unicode Technical Report 36, 2.6, on bidirectional text.
    """

    def __missing__(self, code: int) -> str:
        sign = chr(code)
        plain = sign.isprintable() or sign in "\t\n" or category(sign) == "Zs"
        spelt = f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
        self[code] = sign if plain else spelt
        return self[code]


_SPELT = _Spelt()


def paint(text: str, meaning: str, *, color: bool) -> str:
    """Return ``text`` coloured by ``meaning``; unchanged without colour.

    Args:
        meaning: title, odd, good, warning, error, dim, changed or marked.
    """
    return f"{_CODES[meaning]}{text}{_RESET}" if color and text else text


def paint_within(text: str, meaning: str, *, color: bool) -> str:
    """Return ``text`` coloured except for the blanks around it, for a value in a column."""
    bare = text.strip()
    if not bare or not color:
        return text
    start = text.find(bare)
    return text[:start] + paint(bare, meaning, color=True) + text[start + len(bare) :]


def paint_around(text: str, meaning: str, *, color: bool) -> str:
    """Return ``text`` coloured as :func:`paint` does; parts that have a colour already keep it."""
    return paint(text.replace(_RESET, f"{_RESET}{_CODES[meaning]}"), meaning, color=color)


def wants_color(stream: TextIO, env: Mapping[str, str] | None = None) -> bool:
    """Return whether colour is wanted on ``stream``: a terminal that is not dumb, and NO_COLOR unset or empty.

    Source: no-color.org, "when present and not an empty string".
    """
    variables = os.environ if env is None else env
    return not variables.get("NO_COLOR") and draws(stream, variables)


def draws(stream: TextIO, env: Mapping[str, str] | None = None) -> bool:
    """Return whether lines on ``stream`` can be drawn over, with or without colour: a terminal that is not dumb."""
    return (os.environ if env is None else env).get("TERM", "dumb") != "dumb" and stream.isatty()


def takes_unicode(stream: TextIO, env: Mapping[str, str] | None = None) -> bool:
    """Return whether ``stream`` takes more than ASCII: its encoding does, and the user has not asked for a plain locale.

    Python writes UTF-8 in the C locale too, even if the terminal can't show it. Source: PEP 540; POSIX, Base Definitions, 8.2,
    on the variable that has priority.
    """
    variables = os.environ if env is None else env
    locale = variables.get("LC_ALL") or variables.get("LC_CTYPE") or variables.get("LANG") or ""
    return "utf" in (stream.encoding or "").lower() and locale not in ("C", "POSIX")


def readable(text: str, stream: TextIO) -> str:
    """Return ``text`` with the special characters of exacell's own texts in ASCII if ``stream`` takes no others."""
    return text if text.isascii() or takes_unicode(stream) else text.translate(ASCII)


def terminal_width(stream: TextIO) -> int | None:
    """Return the columns of the terminal of ``stream``; None if it is not a terminal, so that lines may be long."""
    if not stream.isatty():
        return None
    from shutil import get_terminal_size  # Imported only for people.

    return get_terminal_size((80, 24)).columns


def terminal_height() -> int:
    """Return the lines of the terminal, 24 if that is not known."""
    from shutil import get_terminal_size

    return get_terminal_size((80, 24)).lines


@dataclass(frozen=True, kw_only=True)
class Shown:
    """The properties of a stream for text.

    Attributes:
        encoding: the encoding of its text.
        size: columns and lines of its terminal; None if it is not a terminal.
    """

    encoding: str
    size: tuple[int, int] | None


def standard_output() -> Shown:
    """Return the properties of standard output; if it has no encoding, this machine's is used."""
    from locale import getencoding
    from shutil import get_terminal_size

    columns, lines = get_terminal_size((80, 24))
    size = (columns, lines) if sys.stdout.isatty() else None
    return Shown(encoding=sys.stdout.encoding or getencoding(), size=size)


def printable(text: str) -> str:
    """Return ``text`` with control and format characters spelt out, so that a cell's answer can't control the terminal or
    look different from what it is."""
    return text if text.isprintable() else text.translate(_SPELT)


def wrapped(text: str, width: int | None, *, indent: int = 4) -> list[str]:
    """Return ``text`` in lines of at most ``width`` columns, wrapped between words, all but the first indented.

    Lines that fit stay unchanged; with ``width`` None, so do all lines. ``text`` must not contain colours.
    """
    found: list[str] = []
    for line in text.split("\n"):
        found += (
            [line] if width is None or len(line) <= width else hung(line, width, after=" " * min(indent, width // 2))
        )
    return found


def painted_lines(text: str, meaning: str, width: int | None, *, head: str = "", color: bool) -> list[str]:
    """Return ``text`` in lines as :func:`wrapped` returns them, coloured by ``meaning``.

    Args:
        head: the beginning of ``text``, if only that is to be coloured; empty for all of it.
    """
    rows = wrapped(text, width)
    if not color or not meaning:
        return rows
    if not head:
        return [paint(row, meaning, color=True) for row in rows]
    left, found = _inked(head), []
    for row in rows:
        end = next((place for place in range(1, len(row) + 1) if _inked(row[:place]) >= left), len(row)) if left else 0
        found.append(paint(row[:end], meaning, color=True) + row[end:])
        left -= _inked(row[:end])
    return found


def _inked(text: str) -> int:
    """Return how many characters of a text are not blanks; wrapping does not change that number."""
    return sum(not sign.isspace() for sign in text)


def hung(line: str, width: int, *, first: str = "", after: str = "") -> list[str]:
    """Return one line wrapped between words, with ``first`` before its first piece and ``after`` before the others.

    A word that is longer than a line, such as an IORM plan, is broken after its commas; one without commas at the line's end.
    """
    rows, row, begun = [], first, False
    for gap, text in _pieces(line, width - max(len(first), len(after))):
        if begun and len(row) + len(gap) + len(text) > width:
            rows.append(row)
            row = after + text
        else:
            row += gap + text
        begun = True
        while len(row) > width:
            rows.append(row[:width])
            row = after + row[width:]
    return [*rows, row.rstrip()]


class Page:
    """Wraps text at ``width`` columns, with a hanging indent below its label.

    Args:
        deepest: the widest indent, in columns.
    """

    def __init__(self, width: int, color: bool, *, deepest: int | None = None) -> None:
        self._width, self._color = width, color
        self._deepest = width if deepest is None else deepest

    def text(self, text: str, label: str, *, style: str = "", after: str = "") -> Iterator[str]:
        """Yield the lines of a text after its label; ``after`` precedes all lines but the first, empty for the indent."""
        indent = after or " " * min(len(label), self._deepest)
        for number, part in enumerate(text.splitlines() or [""]):
            for line in hung(printable(part), self._width, first=indent if number else label, after=indent):
                yield paint(line.rstrip(), style, color=self._color) if style else line.rstrip()


def _pieces(line: str, room: int) -> Iterator[tuple[str, str]]:
    """Yield each piece that must stay together, with the blanks before it."""
    for gap, word in re.findall(r"(\s*)(\S+)", line):
        parts = re.findall(r"[^,]*,|[^,]+", word) if len(word) > room else [word]
        for number, part in enumerate(parts):
            yield ("" if number else gap), part


_STYLED = pattern(r"(\x1b\[[0-9;]*m)")


def plain(text: str) -> str:
    """Return ``text`` without the colour codes that :func:`paint` adds."""
    return _STYLED.sub("", text) if "\x1b" in text else text


def cut(text: str, width: int) -> str:
    """Return the first ``width`` characters of ``text``; colours end where it is cut."""
    pieces = rows_of(text, width)
    return pieces[0]


def rows_of(text: str, width: int) -> list[str]:
    """Return ``text`` in pieces of ``width`` characters, as a terminal shows a line that is too long; each piece ends its
    colours, and the next one begins with them."""
    if len(text) <= width or width < 1:
        return [text]
    rows: list[str] = []
    row, room, style = "", width, ""
    for piece in _STYLED.split(text):
        if piece.startswith("\x1b"):
            style = "" if piece == _RESET else style + piece
            row += piece
            continue
        while len(piece) > room:
            rows.append(row + piece[:room] + (_RESET if style else ""))
            piece, row, room = piece[room:], style, width
        row, room = row + piece, room - len(piece)
    return [*rows, row] if plain(row) or not rows else rows
