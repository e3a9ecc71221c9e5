"""Draw the screen of ``watch``: a line with the statement, the table, and the keys. Pure but for the time of day."""

from __future__ import annotations

import time
from collections.abc import Callable

from exacell.live.frames import Frames
from exacell.output.result import Result
from exacell.output.style import paint, printable


def _time_of_day() -> str:
    return time.strftime("%H:%M:%S")


class WatchView:
    """The view of ``watch``; see :class:`exacell.live.loop.View`.

    Args:
        most: the number of answers after which it ends; 0 for no limit.
        now: returns the time of day as text.

    Attributes:
        last: the last answer, None before the first.
        count: the number of answers.
    """

    def __init__(
        self,
        *,
        text: str,
        every: float,
        color: bool = False,
        unicode: bool = True,
        most: int = 0,
        now: Callable[[], str] = _time_of_day,
    ) -> None:
        self._text, self._every, self._most, self._now = text, every, most, now
        self._color = color
        self._frames = Frames(color=color, unicode=unicode)
        self._top = 0
        self._room = 1
        self._size = 0
        self._at = ""
        self.last: Result | None = None
        self.count = 0

    @property
    def ended(self) -> bool:
        """Return whether as many answers were shown as asked for."""
        return bool(self._most) and self.count >= self._most

    def arrived(self, value: Result) -> None:
        """Add the next answer."""
        if self.ended:
            return
        self.last = value
        self.count += 1
        self._at = self._now()
        self._frames.add(value)

    def press(self, key: str) -> bool:
        """Scroll: j and k by a line, space and b by a screen, g and G to the ends."""
        steps = {
            "j": 1, "down": 1, "enter": 1, "k": -1, "up": -1, " ": self._room, "b": -self._room,
            "g": -self._size, "G": self._size,
        }  # fmt: skip
        self._top = max(0, min(self._top + steps.get(key, 0), self._size - self._room))
        return key in steps

    def lines(self, width: int, height: int, status: str) -> list[str]:
        """Return the lines of the whole screen; a table's titles stay in place while its rows scroll."""
        head = f"every {self._every:g}s: {printable(self._text)}"
        place = self._at or "reading"
        if len(head) + len(place) + 2 > width:
            head = head[: max(width - len(place) - 5, 0)] + "..."
        lines = [paint(f"{head.ljust(width - len(place))}{place}", "title", color=self._color), ""]
        body = self._frames.body(width)
        problems = [paint(printable(p), "error", color=self._color) for p in (self.last.problems if self.last else ())]
        titles = body[:2] if len(body) > 2 and body[1].startswith("-") else []
        rows = [*body[len(titles) :], *problems]
        self._room = max(height - len(lines) - len(titles) - 2, 1)
        self._size = len(rows)
        self._top = max(0, min(self._top, self._size - self._room))
        shown = rows[self._top : self._top + self._room]
        lines += [*titles, *shown]
        lines += [""] * (height - len(lines) - 2)
        more = (
            f"   {self._top + 1}-{self._top + len(shown)} of {len(rows)}, j k scroll" if len(rows) > len(shown) else ""
        )
        lines.append(paint(printable(status)[:width], "warning", color=self._color))
        lines.append(paint(f"q quit  p pause{more}"[:width], "dim", color=self._color))
        return lines

    def last_lines(self, width: int | None, height: int) -> list[str]:
        """Return the lines that stay on the terminal: the titles and the rows that were shown; all if there is no terminal."""
        body = self._frames.body(width)
        if width is None or len(body) <= height:
            return body
        titles = body[:2] if body[1].startswith("-") else []
        rows = body[len(titles) :]
        room = max(height - len(titles) - 1, 1)
        shown = rows[self._top : self._top + room]
        return [*titles, *shown, f"{self._top + 1}-{self._top + len(shown)} of {len(rows)}"]
