"""A statement's answers one cell at a time: which cells have answered, and what a table of those looks like so far."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Protocol

from exacell.core.cellset import CellSet
from exacell.core.units import format_wait
from exacell.session.fleet import Fleet
from exacell.transport.base import FleetResult, Reply, ReplyHandler, Request, State


class Talk(Protocol):
    """Where it is said what is waited for."""

    spoke: float

    def waiting(self, text: str | None) -> None:
        """Show one line in place; None takes it away."""


TELL_AFTER, TELL_EVERY = 1.0, 0.5
"""Seconds before a wait is told, and between two times."""


class Recording(Fleet):
    """A fleet that remembers each reply as it comes. Use one for one statement.

    Args:
        told: is given each reply as it comes, and of how many targets it is one.
    """

    def __init__(self, fleet: Fleet, told: Callable[[Reply, int], None] | None = None) -> None:
        super().__init__(fleet.transport, like=fleet)
        self._inner = fleet
        self._told = told
        self._replies: dict[tuple[str, str], Reply] = {}
        self._asked: set[str] = set()
        self._targets: set[str] = set()
        """Those that were asked while one of them had not answered."""
        self._since = 0.0
        self._changed = threading.Lock()

    def run(
        self,
        requests: Sequence[Request],
        *,
        on_reply: ReplyHandler | None = None,
        cancel: threading.Event | None = None,
    ) -> FleetResult:
        """Send requests and remember the replies."""
        commands = {request.target: request.command for request in requests}
        with self._changed:
            if not self._asked:
                self._targets, self._since = set(), time.monotonic()
            self._asked |= set(commands)
            self._targets |= set(commands)

        def arrived(reply: Reply) -> None:
            with self._changed:
                self._replies[reply.target, commands[reply.target]] = reply
                self._asked.discard(reply.target)
            if self._told is not None:
                self._told(reply, len(commands))
            if on_reply is not None:
                on_reply(reply)

        return self._inner.run(requests, on_reply=arrived, cancel=cancel)

    @property
    def waiting_for(self) -> CellSet:
        """The targets that have not answered what they were asked last."""
        with self._changed:
            return CellSet(self._asked)

    def sentence(self) -> str:
        """Return whom it waits for: ``waiting for exa1cel[03,07]: 12 of 14 answered, 5s``; empty when for nobody, or not long."""
        with self._changed:
            late, asked, waited = CellSet(self._asked), len(self._targets), time.monotonic() - self._since
        if not len(late) or waited < TELL_AFTER:
            return ""
        return f"waiting for {late}: {asked - len(late)} of {asked} answered, {format_wait(waited)}"

    def so_far(self) -> Replay:
        """Return a fleet that gives the replies that have come, and a reply NOT_ATTEMPTED for every other request."""
        with self._changed:
            return Replay(self, dict(self._replies))


@contextmanager
def told_while_waiting(sentence: Callable[[], str], tell: Callable[[str | None], None]) -> Iterator[None]:
    """Have ``tell`` say every half second what a statement waits for, where that is not empty; at last None."""
    ended = threading.Event()
    said = [""]

    def watch() -> None:
        while not ended.wait(TELL_EVERY):
            text = sentence()
            if text or said[0]:  # What somebody else says meanwhile is not taken away.
                tell(text or None)
            said[0] = text

    thread = threading.Thread(target=watch, name="exacell-waiting", daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
        if said[0]:
            tell(None)


class Silence:
    """Says that a statement goes on where nothing else was shown for a second, whoever waits within it.

    Args:
        whom: returns ``waiting for`` and whom, as :meth:`Services.waiting`.
    """

    def __init__(self, console: Talk, whom: Callable[[], str]) -> None:
        self._console, self._whom = console, whom
        self._since, self._own = time.monotonic(), 0.0

    def sentence(self) -> str:
        """Return ``waiting for exa1db01, 5s``, as long as nobody else speaks and no question is open; else nothing."""
        spoke = self._console.spoke
        if spoke != self._own:
            self._since = max(self._since, spoke)
        waited = time.monotonic() - self._since
        # Whoever waits within the statement knows better for whom, and speaks first.
        late = waited >= TELL_AFTER + TELL_EVERY
        return f"{self._whom()}, {format_wait(waited)}" if late else ""

    def tell(self, text: str | None) -> None:
        """Show the sentence; take it away only where nobody has shown anything since."""
        if text or self._console.spoke == self._own:
            self._console.waiting(text)
            self._own = self._console.spoke


def since(what: str | Callable[[], str]) -> Callable[[], str]:
    """Return what says ``what, 5s``, how long ago this was called; nothing in the first second.

    Args:
        what: the words, or what returns them at each moment.
    """
    began = time.monotonic()

    def sentence() -> str:
        waited = time.monotonic() - began
        if waited < TELL_AFTER:
            return ""
        return f"{what if isinstance(what, str) else what()}, {format_wait(waited)}"

    return sentence


class Replay(Fleet):
    """A fleet that only gives replies that have come before; see :meth:`Recording.so_far`."""

    def __init__(self, fleet: Fleet, replies: dict[tuple[str, str], Reply]) -> None:
        super().__init__(fleet.transport, like=fleet)
        self._replies = replies
        self.incomplete: set[str] = set()
        """The targets that were asked something to which no reply has come."""
        self.asked: set[str] = set()
        """The targets that were asked anything."""

    def run(
        self,
        requests: Sequence[Request],
        *,
        on_reply: ReplyHandler | None = None,
        cancel: threading.Event | None = None,
    ) -> FleetResult:
        """Give the replies that have come."""
        found = {request.target: self._reply(request) for request in requests}
        for reply in found.values() if on_reply is not None else ():
            assert on_reply is not None
            on_reply(reply)
        return FleetResult(targets=tuple(found), replies=found)

    def _reply(self, request: Request) -> Reply:
        self.asked.add(request.target)
        known = self._replies.get((request.target, request.command))
        if known is not None:
            return replace(known)
        self.incomplete.add(request.target)
        return Reply(target=request.target, state=State.NOT_ATTEMPTED, problem="no answer yet")
