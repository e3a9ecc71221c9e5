"""TTITLE and BTITLE of SQL*Plus: lines at the top and at the bottom of each page of a report.

Source: Oracle SQL*Plus User's Guide, TTITLE, "Setting the Top and Bottom Titles". The layout of the old form, a text
without clauses (date and page number, the text centered below), is that of published reports.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

_WORD = re.compile(r"'((?:[^']|'')*)'|\"([^\"]*)\"|(\S+)")
_CLAUSES = {"LEFT": 2, "CENTER": 2, "CENTRE": 2, "RIGHT": 1, "SKIP": 1, "COL": 3, "TAB": 3, "BOLD": 2, "FORMAT": 4}
"""Clauses and the letters that they may be cut to."""


@dataclass(frozen=True, kw_only=True)
class Title:
    """A title.

    Attributes:
        words: text, and whether it was quoted, in order.
        shown: ON.
    """

    words: tuple[tuple[str, bool], ...] = ()
    shown: bool = True

    def lines(self, page: int, linesize: int, values: Mapping[str, str]) -> list[str]:
        """Return the lines for one page.

        Args:
            values: what SQL.USER and its like, and substitution variables, stand for; ``DATE`` for the old form.
        """
        if not self.words or not self.shown:
            return []
        if self.words[0][1] or _clause(self.words[0][0]) is None:
            return self._old_form(page, linesize, values)
        return self._lay(page, linesize, values)

    def _old_form(self, page: int, linesize: int, values: Mapping[str, str]) -> list[str]:
        number = f"page {page:4d}"
        first = values.get("DATE", "").ljust(max(0, linesize - len(number))) + number
        text = " ".join(word for word, _ in self.words)
        return [first, *(part.center(linesize).rstrip() for part in text.split("|")), ""]

    def _lay(self, page: int, linesize: int, values: Mapping[str, str]) -> list[str]:
        lines, place, at = [""], "LEFT", 0
        words = list(self.words)
        while words:
            word, quoted = words.pop(0)
            clause = None if quoted else _clause(word)
            if clause == "SKIP":
                count = int(words.pop(0)[0]) if words and words[0][0].isdigit() else 1
                lines += [""] * count
                place = "LEFT"
            elif clause in ("COL", "TAB", "FORMAT"):
                argument = words.pop(0)[0] if words else ""
                if clause == "COL" and argument.isdigit():
                    lines[-1] = lines[-1].ljust(int(argument) - 1)
            elif clause in ("LEFT", "CENTER", "CENTRE", "RIGHT"):
                place, at = clause, len(lines[-1])
            elif clause is None:
                text = word if quoted else _value(word, page, values)
                lines[-1] = _placed(lines[-1], text, place, at, linesize)
        return lines[:-1] if len(lines) > 1 and not lines[-1] else lines


def _clause(word: str) -> str | None:
    upper = word.upper()
    return next((name for name, least in _CLAUSES.items() if name.startswith(upper) and len(upper) >= least), None)


def _value(word: str, page: int, values: Mapping[str, str]) -> str:
    if word.upper() == "SQL.PNO":
        return f"{page:10d}"
    return values.get(word.upper(), word)


def _placed(line: str, text: str, place: str, at: int, linesize: int) -> str:
    """Return a line with a text added: behind what a clause has put there already, or where the clause begins."""
    if place == "RIGHT" and len(line) == at:
        return line.ljust(max(len(line), linesize - len(text))) + text
    if place.startswith("CENT") and len(line) == at:
        return line.ljust(max(len(line), (linesize - len(text)) // 2)) + text
    return line + text


def parse_title(text: str) -> Title:
    """Return the title that the words behind TTITLE or BTITLE make."""
    words = [
        (match[3], False) if match[3] is not None else ((match[1] or match[2] or "").replace("''", "'"), True)
        for match in _WORD.finditer(text)
    ]
    return Title(words=tuple(words))


def changed(title: Title, text: str) -> Title:
    """Return a title after ``TTITLE text``: ON and OFF switch the one that there is."""
    word = text.strip().upper()
    if word in ("ON", "OFF"):
        return Title(words=title.words, shown=word == "ON")
    return parse_title(text)


@dataclass(kw_only=True)
class Titles:
    """The titles of a session; ``values`` are what their words stand for."""

    top: Title = Title()
    bottom: Title = Title()
    values: Mapping[str, str] | None = None

    def at(self, where: str, page: int, linesize: int) -> Sequence[str]:
        """Return the lines at the ``top`` or at the ``bottom`` of a page."""
        return (self.top if where == "top" else self.bottom).lines(page, linesize, self.values or {})
