"""Track since when cells have not answered, and why. Pure but for the time of day."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping

from exacell.core.units import format_duration
from exacell.output.style import printable
from exacell.session.answers import Answer

PATIENCE = 5.0
"""After so many seconds without an answer, a cell that was asked counts as silent."""


class Silence:
    """Tracks which cells answer.

    Args:
        now: returns seconds since 1970.

    Attributes:
        late: returns cell → seconds since it was asked, for cells that have not answered; the source's owner sets it.
    """

    def __init__(self, now: Callable[[], float] = time.time) -> None:
        self._now = now
        self._failed: dict[str, tuple[float, str, str]] = {}
        self.late: Callable[[], Mapping[str, float]] = dict

    def arrived(self, answer: Answer) -> None:
        """Add the next answer of a cell; the first of several failures in a row counts as the beginning."""
        if answer.problem:
            begun = self._failed[answer.cell][0] if answer.cell in self._failed else self._now() - answer.reply.seconds
            said = "only an error" if answer.reply.stdout.strip() else "no answer"
            self._failed[answer.cell] = begun, said, f": {printable(answer.problem)}"
        else:
            self._failed.pop(answer.cell, None)

    def told(self) -> dict[str, str]:
        """Return a sentence for each silent cell: since when, for how long, and why."""
        now = self._now()
        late = {cell: (now - secs, "no answer", "") for cell, secs in self.late().items() if secs >= PATIENCE}
        return {
            cell: f"{said} since {time.strftime('%H:%M:%S', time.localtime(since))} "
            f"({format_duration(max(round(now - since), 0))}){why}"
            for cell, (since, said, why) in {**late, **self._failed}.items()
        }
