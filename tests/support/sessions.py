"""A session on a rack that only answers from a table, and somebody at its console who keeps what he is asked."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from exacell.change.execute import execute
from exacell.core.config import RackConfig, load
from exacell.core.paths import Home
from exacell.language.line import Line, parse_line
from exacell.output.console import SilentConsole
from exacell.output.result import Result
from exacell.session.request import Request as Asking
from exacell.session.services import Services
from exacell.session.state import Options, Session as SessionState
from exacell.transport.base import FleetResult, Reply, ReplyHandler, Request, Role, State
from tests.support.transports import Open


class TableTransport(Open):
    """Answers every request by the first of its rules whose text is in the command."""

    def __init__(self) -> None:
        self.read_only = False
        self.asked: list[Request] = []
        self.rules: list[tuple[str, Callable[[str], str]]] = []
        self.down: set[str] = set()

    def run(
        self,
        requests: Sequence[Request],
        *,
        on_reply: ReplyHandler | None = None,
        cancel: threading.Event | None = None,
    ) -> FleetResult:
        """Return one reply per request."""
        self.asked += requests
        replies = {request.target: self._reply(request) for request in requests}
        return FleetResult(targets=tuple(r.target for r in requests), replies=replies)

    def _reply(self, request: Request) -> Reply:
        if request.target in self.down:
            return Reply(target=request.target, state=State.UNREACHABLE, problem="connection refused")
        for text, answer in self.rules:
            if text in request.command.lower():
                return Reply(target=request.target, state=State.OK, stdout=answer(request.target), exit_status=0)
        return Reply(target=request.target, state=State.OK, stdout="\n", exit_status=0)


class Asked(SilentConsole):
    """Somebody who is asked, says no to every question and types one answer; None: nobody is there.

    Attributes:
        questions: what was asked so far.
    """

    def __init__(self, answer: str | None = "") -> None:
        super().__init__()
        self.answer = answer
        self.questions: list[str] = []

    def ask(self, question: str) -> str | None:
        """Keep the question and return the answer."""
        self.questions.append(question)
        return self.answer

    def confirm(self, question: str, details: Callable[[], None] | None = None) -> bool | None:
        """Keep the question and say no."""
        self.questions.append(question)
        return None if self.answer is None else False


def parsed(text: str) -> Line:
    """Return the line of a statement."""
    line = parse_line(text)
    assert line is not None
    return line


class Session:
    """A session on the rack r: two cells and a node, neither in production nor emulated.

    Args:
        folder: its home; one with a configuration names the rack with ``options``.
        answer: what is typed where it asks.
        options: of the command line.
        rack: what the rack has besides.

    Attributes:
        answers: what the rack answers, and what it was asked.
    """

    def __init__(self, folder: Path, *, answer: str | None = "", options: Options | None = None, **rack: Any) -> None:
        self.answers, self.console = TableTransport(), Asked(answer)
        home = Home.from_env({"EXACELL_HOME": str(folder)})
        self.session = SessionState(home=home, config=load(home, {}), options=options or Options(), env={})
        self.services = Services(self.session, self.console, self.answers)
        self.request = Asking()
        if options is not None and options.rack:
            self.session.choose_rack()
        else:
            self.session.rack = RackConfig(name="r", cells=("c1", "c2"), **{"lock": folder / "r.lock", **rack})

    def say(self, text: str) -> Result:
        """Carry a statement out."""
        return execute(self.session, self.services, self.request, parsed(text))

    @property
    def written(self) -> list[str]:
        """The hosts that were sent what may change something."""
        return [request.target for request in self.answers.asked if request.role in (Role.WRITE, Role.ASM_WRITE)]
