"""What our own pager shows and does with each key, after less. Pure: lines and keys in, lines of the screen out."""

from __future__ import annotations

from collections.abc import Sequence

from exacell.output.style import paint, plain, printable, rows_of

HELP = "space b page · j k line · g G ends · / search n N · q leaves"


class Pages:
    """A text and the place in it.

    Attributes:
        ended: the reader left.
    """

    def __init__(self, lines: Sequence[str]) -> None:
        self._lines = list(lines)
        self._rows: list[str] = []
        self._width, self._height = 0, 24
        self._top = 0
        self._typing: str | None = None
        self._pattern = ""
        self._says = ""
        self.ended = False

    def view(self, width: int, height: int) -> list[str]:
        """Return the lines of a screen of that size: the text, then one of status."""
        if width != self._width:
            share = self._top / len(self._rows) if self._rows else 0.0
            self._rows = [row for line in self._lines for row in rows_of(line, width)]
            self._top, self._width = round(share * len(self._rows)), width
        self._height = height
        self._top = max(0, min(self._top, self._last))
        shown = [self._marked(row) for row in self._rows[self._top : self._top + self._room]]
        return [*shown, *[""] * (self._room - len(shown)), self._status()]

    def last_view(self, width: int, height: int) -> list[str]:
        """Return what stays on the terminal when the reader has left: the rows that were shown last."""
        return self.view(width, height)[:-1]

    @property
    def _room(self) -> int:
        return max(self._height - 1, 1)

    @property
    def _last(self) -> int:
        return max(0, len(self._rows) - self._room)

    def _status(self) -> str:
        if self._typing is not None:
            return "/" + printable(self._typing)
        end = min(self._top + self._room, len(self._rows))
        place = f"{self._top + 1}-{end} of {len(self._rows)}" + (" (end)" if self._top == self._last else "")
        return paint(f"{self._says or place}   {HELP}"[: max(self._width - 1, 1)], "marked", color=True)

    def _marked(self, row: str) -> str:
        if not self._pattern or "\x1b" in row:
            return row
        at = row.lower().find(self._pattern)
        if at < 0:
            return row
        end = at + len(self._pattern)
        return row[:at] + paint(row[at:end], "marked", color=True) + row[end:]

    def press(self, key: str) -> None:
        """Do what a key means; unknown ones do nothing."""
        self._says = ""
        if self._typing is not None:
            self._type(key)
            return
        half = max(self._room // 2, 1)
        steps = {
            " ": self._room, "f": self._room, "b": -self._room, "j": 1, "down": 1, "enter": 1, "k": -1, "up": -1,
            "d": half, "u": -half, "g": -len(self._rows), "<": -len(self._rows), "G": len(self._rows),
            ">": len(self._rows),
        }  # fmt: skip
        if key in ("q", "Q", "quit", "escape"):
            self.ended = True
        elif key in steps:
            self._top = max(0, min(self._top + steps[key], self._last))
        elif key == "/":
            self._typing = ""
        elif key in ("n", "N") and self._pattern:
            self._find(1 if key == "n" else -1)

    def _type(self, key: str) -> None:
        assert self._typing is not None
        if key == "enter":
            pattern, self._typing = self._typing, None
            self._pattern = pattern.lower() or self._pattern
            self._find(1, here=True)
        elif key == "escape" or (key == "backspace" and not self._typing):
            self._typing = None
        elif key == "backspace":
            self._typing = self._typing[:-1]
        elif len(key) == 1 and key.isprintable():
            self._typing += key

    def _find(self, step: int, *, here: bool = False) -> None:
        place = self._top if here else self._top + step
        while 0 <= place < len(self._rows):
            if self._pattern in plain(self._rows[place]).lower():
                self._top = place
                if place > self._last:
                    self._top = self._last
                return
            place += step
        self._says = f"no {self._pattern} {'below' if step > 0 else 'above'}"
