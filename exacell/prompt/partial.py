"""What a statement that sums or judges over all cells would say without those that have not answered yet."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from exacell.change.execute import execute
from exacell.core.cellset import CellSet
from exacell.core.errors import ExacellError
from exacell.output.console import SilentConsole
from exacell.output.result import Result

if TYPE_CHECKING:
    from exacell.language.line import Line
    from exacell.session.context import Context
    from exacell.session.partial import Replay

_WHOLE = frozenset(("show flashcachecontent", "check patch", "can offline"))
"""Statements whose answer is one over all cells, and says itself what a missing cell means for it."""


def one_answer(line: Line) -> bool:
    """Return whether a line gives one answer over all cells, which can be told without some of them."""
    return line.call is not None and line.call.command.name in _WHOLE


class SoFar:
    """Works such answers out, one at a time, each in a thread of its own: a statement may ask ASM or a database too.

    Another one is worth its lines when at most half of the cells that the last one missed are still missing.

    Args:
        on_ready: called from that thread when there is an answer to be taken, or another one was wanted meanwhile.
    """

    def __init__(self, on_ready: Callable[[], None]) -> None:
        self._on_ready = on_ready
        self.without = CellSet()
        """The cells that the last answer misses."""
        self._result: Result | None = None
        self._busy = threading.Lock()
        self._again = False

    @property
    def ready(self) -> bool:
        """Whether there is an answer to be taken."""
        return self._result is not None

    def wanted(self, late: CellSet) -> bool:
        """Return whether an answer without the cells ``late`` is worth working out."""
        if not len(late) or self.ready:
            return False
        return not len(self.without) or 2 * len(late) <= len(self.without)

    def taken(self) -> Result | None:
        """Return the answer that is ready, once; None when there is none."""
        result, self._result = self._result, None
        return result

    def begin(self, ctx: Context, line: Line, replay: Replay) -> None:
        """Work out what ``line`` says to the replies of ``replay``; nothing becomes ready when no cell has
        answered it, or all have. While one is worked out, another one only begins when it is asked for again."""
        own = ctx.aside(replay, console=SilentConsole())
        # Before it is tried: whoever lets go looks at it afterwards.
        self._again = True
        if self._busy.acquire(blocking=False):
            self._again = False
            threading.Thread(target=self._run, args=(own, line, replay), name="exacell-so-far", daemon=True).start()

    def _run(self, own: Context, line: Line, replay: Replay) -> None:
        try:
            self._work_out(own, line, replay)
        finally:
            self._busy.release()
        if self.ready or self._again:
            self._on_ready()

    def _work_out(self, own: Context, line: Line, replay: Replay) -> None:
        try:
            result = execute(own, line)
        except ExacellError:
            return  # Too little is there; the whole answer tells why.
        if replay.incomplete and replay.asked != replay.incomplete:
            self.without = CellSet(replay.incomplete)
            problems = [problem for problem in result.problems if problem.partition(":")[0] not in replay.incomplete]
            self._result = replace(result, problems=problems)
