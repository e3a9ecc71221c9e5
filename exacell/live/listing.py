"""Rows with a cursor: they come and go, are filtered and scrolled, and the cursor stays with the row it was set on. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from exacell.core.values import dataclass
from exacell.output.style import cut, paint

MARK, MARGIN = "> ", "  "


@dataclass(frozen=True, kw_only=True)
class Place:
    """Something that can be looked at more closely.

    Attributes:
        kind: cell, disk, database or alert.
        name: on that cell; empty for the cell itself.
    """

    kind: str
    cell: str
    name: str = ""


@dataclass(frozen=True, kw_only=True)
class Row:
    """One line of a page.

    Attributes:
        key: by which the cursor finds it again; no two rows of a page have the same.
        meaning: its colour, see style.paint; empty for none.
        place: what Enter opens and actions are upon; None for a line that is only read.
    """

    key: str
    text: str
    meaning: str = ""
    place: Place | None = None


class Listing:
    """Where the cursor is, what is filtered for, and which rows are on the screen.

    Attributes:
        filter: rows without this text are left out; upper and lower case are the same.
        typing: whether keys are the filter's letters now.
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
        """Take the rows as they are now. The cursor stays on the first one until it is moved, then on its row."""
        wanted = self.filter.casefold()
        self._rows = [row for row in rows if wanted in row.text.casefold()] if wanted else rows
        found = [number for number, row in enumerate(self._rows) if row.key == self._key] if self._key else [0]
        self._at = found[0] if found else self._at
        self._at = max(0, min(self._at, len(self._rows) - 1))

    @property
    def row(self) -> Row | None:
        """The row under the cursor, None when there is none."""
        return self._rows[self._at] if self._rows else None

    def lines(self, width: int, room: int, *, color: bool) -> list[str]:
        """Return at most ``room`` lines, the cursor's among them."""
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
        """Which rows are shown of how many; empty when all are."""
        last = min(self._first + self._room, len(self._rows))
        return f"{self._first + 1}-{last} of {len(self._rows)}" if len(self._rows) > self._room else ""

    def press(self, key: str) -> bool:
        """Move the cursor, or type the filter; return whether the key meant something."""
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
            self._key = self._rows[self._at].key if self._rows else ""
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
