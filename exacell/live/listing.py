"""Manage rows with a cursor: they are updated, filtered and scrolled, and the cursor stays on its row. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from exacell.core.values import dataclass
from exacell.output.style import cut, paint

MARK, MARGIN = "> ", "  "


@dataclass(frozen=True, kw_only=True)
class Place:
    """Something that can be opened for more details.

    Attributes:
        kind: cell, disk, database or alert.
        name: its name on that cell; empty for the cell itself.
    """

    kind: str
    cell: str
    name: str = ""


@dataclass(frozen=True, kw_only=True)
class Row:
    """One line of a page.

    Attributes:
        key: by it the cursor finds the row again; no two rows of a page have the same.
        meaning: its colour, see style.paint; empty for none.
        place: the place that Enter opens and that actions are for; None for a line without one.
    """

    key: str
    text: str
    meaning: str = ""
    place: Place | None = None


class Listing:
    """The rows of a page with the cursor, the filter and the scroll position.

    Attributes:
        filter: rows without this text are left out; upper and lower case are the same.
        typing: whether keys are letters of the filter now.
    """

    def __init__(self) -> None:
        self.filter = ""
        self.typing = False
        self._rows: Sequence[Row] = ()
        self._key = ""
        self._at = 0
        self._first = 0
        self._room = 1

    def take(self, rows: Sequence[Row]) -> None:
        """Take the present rows. The cursor stays on the first row until it is moved, then on its own row."""
        wanted = self.filter.casefold()
        self._rows = [row for row in rows if wanted in row.text.casefold()] if wanted else rows
        found = [number for number, row in enumerate(self._rows) if row.key == self._key] if self._key else [0]
        self._at = found[0] if found else self._at
        self._at = max(0, min(self._at, len(self._rows) - 1))

    @property
    def row(self) -> Row | None:
        """Return the row under the cursor, None if there is none."""
        return self._rows[self._at] if self._rows else None

    def stay(self) -> None:
        """Keep the cursor on its present row even if rows come, go or move."""
        self._key = self.row.key if self.row is not None else ""

    def lines(self, width: int, room: int, *, color: bool) -> list[str]:
        """Return at most ``room`` lines, always with the cursor's."""
        self._room = max(room, 1)
        first = min(max(self._first, self._at - self._room + 1), self._at)
        self._first = max(0, min(first, len(self._rows) - self._room))
        lines = []
        for number, row in enumerate(self._rows[self._first : self._first + self._room], self._first):
            on = number == self._at
            text = cut((MARK if on else MARGIN) + row.text, width)
            meaning = "marked" if on else row.meaning
            lines.append(paint(text.ljust(width) if on and color else text, meaning, color=color) if meaning else text)
        return lines

    @property
    def extent(self) -> str:
        """Return which of the rows are shown, such as ``1-20 of 45``; empty if all are."""
        last = min(self._first + self._room, len(self._rows))
        return f"{self._first + 1}-{last} of {len(self._rows)}" if len(self._rows) > self._room else ""

    def press(self, key: str) -> bool:
        """Move the cursor, or type the filter; return whether the key had an effect."""
        if self.typing:
            return self._typed(key)
        steps = {
            "j": 1, "down": 1, "k": -1, "up": -1, " ": self._room, "b": -self._room,
            "g": -len(self._rows), "G": len(self._rows),
        }  # fmt: skip
        if key == "/":
            self.typing = True
        elif key == "escape" and self.filter:
            self.filter = ""
        elif key in steps:
            self._at = max(0, min(self._at + steps[key], len(self._rows) - 1))
            self.stay()
        else:
            return False
        return True

    def _typed(self, key: str) -> bool:
        if key == "quit":
            return False
        if key == "escape":
            self.filter, self.typing = "", False
        elif key == "enter":
            self.typing = False
        elif key == "backspace":
            self.filter = self.filter[:-1]
        elif key in ("up", "down"):
            self.typing = False
            return self.press(key)
        elif len(key) == 1 and key.isprintable():
            self.filter += key
        return True
