"""Record a statement's answers as they come: the cells that have answered, and the table so far."""

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
    """The console that shows which cells a statement waits for."""

    spoke: float

    def waiting(self, text: str | None) -> None:
        """Show one line in place; None removes it."""


TELL_AFTER, TELL_EVERY = 1.0, 0.5
"""Seconds before a wait is shown, and between two updates."""


class Recording(Fleet):
    """A fleet that remembers each reply as it comes. Use one for one statement.

    Args:
        told: called with each reply as it comes, and the number of targets asked.
    """

    def __init__(self, fleet: Fleet, told: Callable[[Reply, int], None] | None = None) -> None:
        super().__init__(fleet.transport, like=fleet)
        self._inner = fleet
        self._told = told
        self._replies: dict[tuple[str, str], Reply] = {}
        self._asked: set[str] = set()
        self._targets: set[str] = set()
        """The targets that were asked since the last time all had answered."""
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
        """Return the targets that have not answered their last request."""
        with self._changed:
            return CellSet(self._asked)

    def sentence(self) -> str:
        """Return e.g. ``waiting for exa1cel[03,07]: 12 of 14 answered, 5s``; empty for a short wait or no wait."""
        with self._changed:
            late, asked, waited = CellSet(self._asked), len(self._targets), time.monotonic() - self._since
        if not len(late) or waited < TELL_AFTER:
            return ""
        return f"waiting for {late}: {asked - len(late)} of {asked} answered, {format_wait(waited)}"

    def so_far(self) -> Replay:
        """Return a fleet that replays the replies so far, and replies NOT_ATTEMPTED to every other request."""
        with self._changed:
            return Replay(self, dict(self._replies))


@contextmanager
def told_while_waiting(sentence: Callable[[], str], tell: Callable[[str | None], None]) -> Iterator[None]:
    """Call ``tell`` every half second with the sentence about the wait, unless it is empty, and with None at the end."""
    ended = threading.Event()
    said = [""]

    def watch() -> None:
        while not ended.wait(TELL_EVERY):
            text = sentence()
            if text or said[0]:  # A line that others have shown meanwhile is not removed.
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
    """Shows that a statement still runs, after nothing else was shown for a second.

    Args:
        whom: returns e.g. ``waiting for exa1db01``; see :meth:`Services.waiting`.
    """

    def __init__(self, console: Talk, whom: Callable[[], str]) -> None:
        self._console, self._whom = console, whom
        self._since, self._own = time.monotonic(), 0.0

    def sentence(self) -> str:
        """Return e.g. ``waiting for exa1db01, 5s``; empty while others show something or a question is open."""
        spoke = self._console.spoke
        if spoke != self._own:
            self._since = max(self._since, spoke)
        waited = time.monotonic() - self._since
        # If a part of the statement shows for which targets it waits, that has priority: it is more exact.
        late = waited >= TELL_AFTER + TELL_EVERY
        return f"{self._whom()}, {format_wait(waited)}" if late else ""

    def tell(self, text: str | None) -> None:
        """Show the sentence; remove it only if nobody has shown anything since."""
        if text or self._console.spoke == self._own:
            self._console.waiting(text)
            self._own = self._console.spoke


def since(what: str | Callable[[], str]) -> Callable[[], str]:
    """Return a function that returns ``what, 5s`` with the time since this call; empty in the first second.

    Args:
        what: the words, or a function that returns them at each moment.
    """
    began = time.monotonic()

    def sentence() -> str:
        waited = time.monotonic() - began
        if waited < TELL_AFTER:
            return ""
        return f"{what if isinstance(what, str) else what()}, {format_wait(waited)}"

    return sentence


class Replay(Fleet):
    """A fleet that only returns replies that came before; see :meth:`Recording.so_far`."""

    def __init__(self, fleet: Fleet, replies: dict[tuple[str, str], Reply]) -> None:
        super().__init__(fleet.transport, like=fleet)
        self._replies = replies
        self.incomplete: set[str] = set()
        """The targets with a request for which no reply has come."""
        self.asked: set[str] = set()
        """The targets with any request."""

    def run(
        self,
        requests: Sequence[Request],
        *,
        on_reply: ReplyHandler | None = None,
        cancel: threading.Event | None = None,
    ) -> FleetResult:
        """Return the replies that have come."""
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
