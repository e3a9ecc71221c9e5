"""Keep long-lived CellCLIs: each is started once on a connection and gets many reads, because a start costs seconds of Java.

They only get reads, and are started with ``-m``, so that they refuse anything else. A CellCLI that dies, or prints
anything that :mod:`exacell.cellcli.framing` does not recognise, is dropped; a caller that waited for it is informed and
starts a CellCLI for itself. All methods run in the reader's thread.
"""

from __future__ import annotations

import os
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from enum import StrEnum

from exacell.cellcli.framing import TEMPLATES, Framer, Probe, can_be_fed
from exacell.core.errors import ReplyError
from exacell.core.values import dataclass
from exacell.transport.base import Feed
from exacell.transport.capture import End, Ending, Store
from exacell.transport.ssh.reader import Timer
from exacell.transport.ssh.stream import Stream
from exacell.transport.ssh.wire import Wire

START_S = 30.0
"""Seconds without output after its start, after which a CellCLI is given up."""
QUIET_S = 1.0
"""After so many seconds of silence a probe may have all its answers, or an error may come without an end marker: the caller
then asks elsewhere. A CellCLI that took longer to print its first output gets that time instead."""
DOUBT_S = 30.0
"""After so many more seconds of silence nothing will come: the cell is not just slow."""
MOST_LOSSES = 3
"""After so many lost CellCLIs, a connection keeps no more of them."""

_ENDLESS = "this CellCLI does not mark the end of an answer"


class Phase(StrEnum):
    """The state of a session."""

    PROBING = "probing"
    READY = "ready"
    DEAD = "dead"


@dataclass(frozen=True, kw_only=True)
class Question:
    """Reads for a session, with three functions; exactly one of them is called, once.

    Attributes:
        on_answer: gets the answer, a large one on disk.
        on_lost: gets the reason why there is no answer.
        on_limit: called if the answer is larger than ``limit`` bytes, or the disk is full.
    """

    statements: tuple[str, ...]
    on_answer: Callable[[bytes | Store], None]
    on_lost: Callable[[str], None]
    limit: int | None = None
    on_limit: Callable[[End], None] = lambda end: None


class Session:
    """One CellCLI on one wire.

    Args:
        on_end: called once at its end; the last argument is True if no end marker works there: then another start won't help.
        idle_s: seconds without a question after which it is closed, because it uses memory on the cell.
        turn_s: seconds that a question may wait for its turn.
    """

    def __init__(
        self, wire: Wire, program: str, on_end: Callable[[Session, str, bool], None], *, idle_s: float, turn_s: float
    ) -> None:
        self._wire = wire
        self._on_end = on_end
        self._idle_s, self._turn_s = idle_s, turn_s
        self._queue: deque[Question] = deque()
        self._probe = Probe([_name() for _ in range(2 * len(TEMPLATES))])
        self._framer: Framer | None = None
        self._late = self._doubtful = False
        self._fed_at = 0.0
        self._quiet_s = 0.0
        self._question: Question | None = None
        self._settled = Store()
        """The first part of a large answer."""
        self._timer: Timer | None = None
        self.phase = Phase.PROBING
        self._stream = Stream(wire, program, self, stdin=None, on_end=self._ended)
        self._stream.on_open = self._opened
        self._stream.start(START_S, lambda: self._give_up("no SSH channel is free"))

    @property
    def free(self) -> bool:
        """Return whether it can take a question now; a question during its start waits for the start."""
        return self.idle and not self._doubtful

    @property
    def idle(self) -> bool:
        """Return whether nobody waits for it."""
        return self.phase is not Phase.DEAD and self._question is None

    @property
    def unproven(self) -> bool:
        """Return whether it fell silent before the end of any answer was recognised."""
        return self._doubtful and self.phase is Phase.PROBING

    @property
    def takes_turns(self) -> bool:
        """Return whether a question may wait here until earlier ones are answered."""
        return self._turn_s > 0 and self.phase is not Phase.DEAD and not self._doubtful

    def partial_of(self, question: Question) -> bytes:
        """Return the answer to ``question`` so far; empty for a large one."""
        if question is not self._question:
            return b""
        small = self._framer is not None and self._framer.pending and not self._settled
        return self._framer.partial if self._framer is not None and small else b""

    def ask(self, question: Question) -> None:
        """Take a question; call it only if the session is free or takes turns."""
        if not self.free:
            self._queue.append(question)
            self._wire.reader.later(self._turn_s, lambda: self._waited(question), of=self._wire)
            return
        self._question = question
        if self.phase is Phase.READY:
            self._send()

    def end(self) -> None:
        """Close it; the caller of a question in progress is not informed."""
        self._question = None
        self._over("closed", hopeless=False)

    def drop(self, question: Question) -> None:
        """Forget a question without informing its caller; a question in progress ends the session too."""
        if question is self._question:
            self.end()
            return
        with suppress(ValueError):  # It is already answered.
            self._queue.remove(question)

    def _waited(self, question: Question) -> None:
        """Send a question that has waited too long for its turn elsewhere, unless all wait for the start."""
        if not any(each is question for each in self._queue):
            return
        if self.phase is Phase.PROBING:
            self._wire.reader.later(self._turn_s, lambda: self._waited(question), of=self._wire)
            return
        self._queue.remove(question)
        question.on_lost("it is busy")

    def _turned_away(self, reason: str) -> None:
        """Send all questions that wait for their turn elsewhere."""
        waiting, self._queue = self._queue, deque()
        for question in waiting:
            question.on_lost(reason)

    # -- events of the stream --------------------------------------------------------------------------------------

    def take(self, piece: bytes) -> None:
        """Process standard output."""
        if self.phase is Phase.PROBING:
            self._quiet_s = self._quiet_s or max(QUIET_S, time.monotonic() - self._fed_at)
            if self._probe.feed(piece):
                self._learned(late=False)
            else:
                self._wait(self._quiet_s, self._silent)
        elif self._framer is not None and self.phase is Phase.READY:
            if self._late and not self._framer.pending:
                return  # A late answer to the probe: the fence comes after all of them.
            try:
                answer = self._framer.feed(piece)
            except ReplyError as error:
                self._give_up(error.message)
                return
            if answer is not None:
                self._answered(answer)
            elif settled := self._framer.settle():
                self._keep(settled)
            elif self._framer.error_came:
                self._wait(self._quiet_s, lambda: self._doubt("an error came without an end marker", hopeless=False))

    def _keep(self, piece: bytes) -> None:
        """Keep a piece of a large answer; if the answer is too large, the session ends."""
        self._settled.add(piece)
        question = self._question
        limit = question.limit if question is not None else None
        end = End.TOO_LARGE if limit is not None and len(self._settled) > limit else None
        end = End.NO_ROOM if self._settled.no_room else end
        if end is None:
            return
        self._question = None
        self._settled.drop()
        self._over("closed", hopeless=False)
        if question is not None:
            question.on_limit(end)

    def take_error(self, piece: bytes) -> None:
        """Handle standard error: Java's messages at the start are ignored; later output would belong to an answer."""
        if self.phase is Phase.READY and piece.strip():
            self._give_up("CellCLI wrote to its standard error")

    def _opened(self) -> None:
        self._wait(START_S, lambda: self._give_up(f"CellCLI did not answer within {START_S:g}s"))
        self._fed_at = time.monotonic()
        self._stream.feed(self._probe.text)

    def _ended(self, ending: Ending) -> None:
        never = self.phase is Phase.PROBING and not self._stream.lost_connection
        self._over("CellCLI ended", hopeless=never)

    # -- its life --------------------------------------------------------------------------------------------------

    def _silent(self) -> None:
        """Continue with a marker that has worked; if no marker has, keep waiting, because the answers may still come."""
        if self._probe.found() is not None:
            self._learned(late=True)
        else:
            self._doubt(_ENDLESS, hopeless=True)

    def _doubt(self, reason: str, *, hopeless: bool) -> None:
        """Send the present question elsewhere, and wait for late output: silence alone proves nothing."""
        self._doubtful = True
        self._wait(DOUBT_S, lambda: self._over(reason, hopeless=hopeless))
        question, self._question = self._question, None
        if question is not None:
            question.on_lost(reason)
        self._turned_away(reason)

    def _learned(self, *, late: bool) -> None:
        """Continue with the marker that works; ``late`` means that some answers to the probe may still come."""
        marker = self._probe.found()
        if marker is None:
            self._over(_ENDLESS, hopeless=True)
            return
        self._framer, self._late = Framer(marker), late
        self.phase, self._doubtful = Phase.READY, False
        if self._question is not None:
            self._send()
        else:
            self._rest()

    def _send(self) -> None:
        assert self._question is not None and self._framer is not None
        self._stop_waiting()
        self._settled.drop()
        fence = _name() if self._late else None
        self._late = False
        self._stream.feed(self._framer.ask(self._question.statements, _name(), fence=fence))

    def _answered(self, answer: bytes) -> None:
        question, self._question = self._question, None
        self._doubtful = False
        whole: bytes | Store = answer
        if self._settled:
            self._settled.add(answer)
            whole, self._settled = self._settled, Store()
        self._rest()
        if self._queue:
            self._question = self._queue.popleft()
            self._send()
        if question is not None and question.limit is not None and len(whole) > question.limit:
            question.on_limit(End.TOO_LARGE)
        elif question is not None:
            question.on_answer(whole)

    def _rest(self) -> None:
        self._wait(self._idle_s, lambda: self._over("idle", hopeless=False))

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
        self._turned_away(reason)

    def _wait(self, seconds: float, work: Callable[[], None]) -> None:
        self._stop_waiting()
        self._timer = self._wire.reader.later(seconds, work, of=self._wire)

    def _stop_waiting(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


class Sessions:
    """The CellCLIs of one wire, one for each command that starts them.

    Attributes:
        problem: why this connection keeps none; empty if it may.
        idle_s, turn_s: for new sessions; see :class:`~exacell.transport.rack_transport.RackTransport`.
        again_s: see there.
    """

    idle_s = 300.0
    turn_s = 0.0
    again_s = 0.0

    def __init__(self, wire: Wire) -> None:
        self._wire = wire
        self._sessions: dict[str, Session] = {}
        self._losses = 0
        self.problem = ""

    def ask(self, feed: Feed, question: Question) -> Session | None:
        """Put a question to the CellCLI of ``feed``, started if needed; return None if it can't be used."""
        if self.problem or not all(can_be_fed(statement) for statement in feed.statements):
            return None
        session = self._sessions.get(feed.program)
        if session is None and any(other.unproven for other in self._sessions.values()):
            return None  # One silent CellCLI to wait for is enough.
        if session is None:
            session = self._sessions[feed.program] = Session(
                self._wire, feed.program, self._forget, idle_s=self.idle_s, turn_s=self.turn_s
            )
        if not (session.free or session.takes_turns):
            return None
        session.ask(question)
        return session

    def end(self) -> bool:
        """Close the idle ones to free their channels; return whether there was one."""
        idle = [session for session in self._sessions.values() if session.idle]
        for session in idle:
            session.end()
        return bool(idle)

    def _forget(self, session: Session, reason: str, hopeless: bool) -> None:
        self._sessions = {program: other for program, other in self._sessions.items() if other is not session}
        if reason not in ("closed", "idle"):
            self._losses += 1
        if hopeless or self._losses >= MOST_LOSSES:
            self.problem = reason
            if self.again_s:
                self._wire.reader.later(self.again_s, self._try_again, of=self._wire)

    def _try_again(self) -> None:
        self.problem, self._losses = "", 0


def _name() -> str:
    return f"exacell{os.urandom(8).hex()}"
