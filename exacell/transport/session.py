"""Long-lived CellCLIs: one started on a connection and fed reads, because each start costs seconds of Java.

Only reads are ever fed, to a CellCLI that was started so that it refuses anything else (``-m``). One that dies, or says
anything that :mod:`exacell.cellcli.framing` does not recognise, is dropped, and whoever waited for it is told so and
asks with a CellCLI of its own. All methods run in the reader's thread.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from enum import StrEnum

from exacell.cellcli.framing import TEMPLATES, Framer, Probe, can_be_fed
from exacell.errors import ReplyError
from exacell.transport.base import Feed
from exacell.transport.channel import Ending
from exacell.transport.reader import Timer
from exacell.transport.stream import Stream
from exacell.transport.wire import Wire
from exacell.values import dataclass

IDLE_S = 300.0
"""A CellCLI that nobody asked for so long is closed: it holds memory on the cell."""
START_S = 30.0
"""A CellCLI that has said nothing for so long after its start is given up."""
QUIET_S = 1.0
"""After so much silence a probe has its answers, and an error without a marker behind it will get none."""
MOST_LOSSES = 3
"""After so many CellCLIs that were lost, a connection goes without."""


class Phase(StrEnum):
    """Where a session stands."""

    PROBING = "probing"
    READY = "ready"
    DEAD = "dead"


@dataclass(frozen=True, kw_only=True)
class Question:
    """Reads for a session, and who is told: exactly one of the two, once."""

    statements: tuple[str, ...]
    on_answer: Callable[[bytes], None]
    on_lost: Callable[[str], None]


class Session:
    """One CellCLI on one wire.

    Args:
        on_end: told once when it is over; with True when no marker works there and another would fare no better.
    """

    def __init__(self, wire: Wire, program: str, on_end: Callable[[Session, str, bool], None]) -> None:
        self._wire = wire
        self._xml = "xml" in program
        self._on_end = on_end
        self._probe = Probe([_name() for _ in range(2 * len(TEMPLATES))])
        self._framer = Framer(None)
        self._marked = False
        self._question: Question | None = None
        self._timer: Timer | None = None
        self.phase = Phase.PROBING
        self._stream = Stream(wire, program, self, stdin=None, on_end=self._ended)
        self._stream.on_open = self._opened
        self._stream.start(START_S, lambda: self._give_up("no channel for it"))

    @property
    def free(self) -> bool:
        """Whether it can take a question now; while it starts, it takes one that then waits."""
        return self.phase is not Phase.DEAD and self._question is None

    @property
    def partial(self) -> bytes:
        """What has come of the answer to the question under way."""
        return self._framer.partial if self._framer.pending else b""

    def ask(self, question: Question) -> None:
        """Take a question; the session has to be free."""
        self._question = question
        if self.phase is Phase.READY:
            self._send()

    def end(self) -> None:
        """Close it; whoever waits is not told."""
        self._question = None
        self._over("closed", hopeless=False)

    # -- what the stream tells -------------------------------------------------------------------------------------

    def take(self, piece: bytes) -> None:
        """Take standard output."""
        if self.phase is Phase.PROBING:
            if self._probe.feed(piece):
                self._learned()
            else:
                self._wait(QUIET_S, self._learned)
        elif self.phase is Phase.READY:
            try:
                answer = self._framer.feed(piece)
            except ReplyError as error:
                self._give_up(error.message)
                return
            if answer is not None:
                self._answered(answer)
            elif self._marked and self._framer.error_came:
                self._wait(QUIET_S, lambda: self._give_up("an error came, and no marker behind it"))

    def take_error(self, piece: bytes) -> None:
        """Take standard error: what Java says at the start is none of ours, later it belongs to an answer."""
        if self.phase is Phase.READY and piece.strip():
            self._give_up("CellCLI wrote to its standard error")

    def _opened(self) -> None:
        self._wait(START_S, lambda: self._give_up(f"CellCLI said nothing within {START_S:g}s"))
        self._stream.feed(self._probe.text)

    def _ended(self, ending: Ending) -> None:
        never = self.phase is Phase.PROBING and not self._stream.lost_link
        self._over("CellCLI ended", hopeless=never)

    # -- its life --------------------------------------------------------------------------------------------------

    def _learned(self) -> None:
        marker = self._probe.found()
        if marker is None and not self._xml:
            self._over("this CellCLI shows no end of an answer in plain text", hopeless=True)
            return
        self._framer, self._marked = Framer(marker), marker is not None
        self.phase = Phase.READY
        if self._question is not None:
            self._send()
        else:
            self._rest()

    def _send(self) -> None:
        assert self._question is not None
        self._stop_waiting()
        self._stream.feed(self._framer.ask(self._question.statements, _name()))

    def _answered(self, answer: bytes) -> None:
        question, self._question = self._question, None
        assert question is not None
        self._rest()
        question.on_answer(answer)

    def _rest(self) -> None:
        self._wait(IDLE_S, lambda: self._over("idle", hopeless=False))

    def _give_up(self, reason: str) -> None:
        self._over(reason, hopeless=False)

    def _over(self, reason: str, *, hopeless: bool) -> None:
        if self.phase is Phase.DEAD:
            return
        self.phase = Phase.DEAD
        self._stop_waiting()
        self._stream.cancel()
        question, self._question = self._question, None
        self._on_end(self, reason, hopeless)
        if question is not None:
            question.on_lost(reason)

    def _wait(self, seconds: float, work: Callable[[], None]) -> None:
        self._stop_waiting()
        self._timer = self._wire.reader.later(seconds, work)

    def _stop_waiting(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


class Sessions:
    """The CellCLIs of one wire, one for each way to start it.

    Attributes:
        problem: why this connection goes without; empty as long as it does not.
    """

    def __init__(self, wire: Wire) -> None:
        self._wire = wire
        self._sessions: dict[str, Session] = {}
        self._losses = 0
        self.problem = ""

    def ask(self, feed: Feed, question: Question) -> Session | None:
        """Put a question to the CellCLI that ``feed`` names, started if need be; None when it has to go without."""
        if self.problem or not all(can_be_fed(statement) for statement in feed.statements):
            return None
        session = self._sessions.get(feed.program)
        if session is None:
            session = self._sessions[feed.program] = Session(self._wire, feed.program, self._forget)
        if not session.free:
            return None
        session.ask(question)
        return session

    def end(self) -> bool:
        """Close those that have nothing to do, to give their channels back; return whether there was one."""
        idle = [session for session in self._sessions.values() if session.free]
        for session in idle:
            session.end()
        return bool(idle)

    def _forget(self, session: Session, reason: str, hopeless: bool) -> None:
        self._sessions = {program: other for program, other in self._sessions.items() if other is not session}
        if reason not in ("closed", "idle"):
            self._losses += 1
        if hopeless or self._losses >= MOST_LOSSES:
            self.problem = reason


def _name() -> str:
    return f"exacell{os.urandom(8).hex()}"
