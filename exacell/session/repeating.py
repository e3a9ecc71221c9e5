"""Repeat a reading statement, as ``watch`` does: cells that are slow to answer are left out until they answer."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from exacell.cellcli.condition import is_condition
from exacell.cellcli.nodes import List
from exacell.core.cellset import CellSet
from exacell.core.errors import ExitCode
from exacell.output.console import SilentConsole
from exacell.output.result import Result, worst
from exacell.session.recording import Recording

if TYPE_CHECKING:
    from exacell.language.line import Line
    from exacell.session.request import Request
    from exacell.session.services import Services
    from exacell.session.state import Session

Answering = Callable[["Session", "Services", "Request", "Line"], Result]
"""Carries a line out in a session."""

PATIENCE = 3.0
"""Seconds that an answer waits for all cells before the cells that have answered are shown."""

_BY_CELL = frozenset(
    f"show {what}" for what in ("health", "alerts", "services", "versions", "quarantine", "flashcache", "griddisk")
)
"""exacell's own statements that ask only cells, and whose answer for some cells is a part of that for all."""


def parts_by_cell(line: Line) -> bool:
    """Return whether the answer of some cells to a line is a part of the answer of all cells."""
    return isinstance(line.cellcli, List) or (line.call is not None and line.call.command.name in _BY_CELL)


class _Asked:
    """One answer in progress, in its own thread."""

    def __init__(self, services: Services, request: Request, line: Line, answer: Answering) -> None:
        self._recording = Recording(services.fleet)
        self._own_session, self._own_services = services.aside(self._recording, console=SilentConsole())
        self._own_request = request
        self._line, self._answer = line, answer
        self._result: Result | None = None
        self._error: BaseException | None = None
        self.ended = threading.Event()
        threading.Thread(target=self._run, name="exacell-repeating", daemon=True).start()

    def _run(self) -> None:
        try:
            self._result = self._answer(self._own_session, self._own_services, self._own_request, self._line)
        except BaseException as error:
            # Raised again in the thread that takes the result.
            self._error = error
        self.ended.set()

    @property
    def waiting_for(self) -> CellSet:
        """Return the cells that have not answered."""
        return CellSet() if self.ended.is_set() else self._recording.waiting_for

    @property
    def sentence(self) -> str:
        """Return which cells it waits for, as :meth:`Recording.sentence` does."""
        return "" if self.ended.is_set() else self._recording.sentence()

    def result(self) -> Result:
        """Return the answer, or raise the error with which it failed."""
        if self._error is not None:
            raise self._error
        assert self._result is not None
        return self._result

    def so_far(self, cells: CellSet) -> tuple[Result, CellSet]:
        """Return the answer of those ``cells`` that have answered everything, and their names."""
        there = cells - self._recording.waiting_for
        while len(there):
            replay = self._recording.so_far()
            result = self._answer(
                *self._own_services.aside(replay), self._own_request, replace(self._line, on=",".join(there))
            )
            if not replay.incomplete:
                return result, there
            there = there - CellSet(replay.incomplete)
        return Result(), CellSet()

    def give_up(self) -> None:
        """Stop asking cells."""
        self._own_session.interrupted.set()


class Repeating:
    """Asks a line's cells repeatedly; may be called from one thread only.

    Args:
        patience: seconds; see :data:`PATIENCE`.
    """

    def __init__(
        self,
        session: Session,
        services: Services,
        request: Request,
        line: Line,
        answer: Answering,
        *,
        patience: float = PATIENCE,
    ) -> None:
        self._session, self._services, self._request, self._line, self._answer, self._patience = (
            session,
            services,
            request,
            line,
            answer,
            patience,
        )
        self._under_way: list[_Asked] = []

    def read(self) -> Result:
        """Return the next answer; cells that do not answer within the patience are problems in it."""
        if not parts_by_cell(self._line) or is_condition(self._line.on):
            asked = self._ask(self._line)
            asked.ended.wait()
            self._under_way.remove(asked)
            return asked.result()
        self._under_way = [one for one in self._under_way if not one.ended.is_set()]
        cells = self._session.selection.resolve(self._line.on) if self._line.on else CellSet(self._session.cells())
        busy = CellSet(cell for one in self._under_way for cell in one.waiting_for)
        free = cells - busy
        if not len(free):
            self._under_way[0].ended.wait(self._patience)
            return _with_late(Result(), cells)
        asked = self._ask(replace(self._line, on=",".join(free)))
        if asked.ended.wait(self._patience):
            self._under_way.remove(asked)
            return _with_late(asked.result(), cells - free)
        result, there = asked.so_far(free)
        return _with_late(result, cells - there)

    def _ask(self, line: Line) -> _Asked:
        asked = _Asked(self._services, self._request, line, self._answer)
        self._under_way.append(asked)
        return asked

    @property
    def late(self) -> str:
        """Return which cells it waits for; empty for none."""
        return next((said for one in list(self._under_way) if (said := one.sentence)), "")

    def give_up(self) -> None:
        """Stop asking cells."""
        for one in list(self._under_way):
            one.give_up()


def _with_late(result: Result, late: CellSet) -> Result:
    if not len(late):
        return result
    code = worst([result.exit_code, ExitCode.FAILED])
    return replace(result, problems=(*result.problems, f"{late}: no answer yet"), exit_code=code)
