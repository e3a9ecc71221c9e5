"""Long-lived CellCLIs: one started on a connection and fed reads, because each start costs seconds of Java.

Only reads are ever fed, to a CellCLI that was started so that it refuses anything else (``-m``). One that dies, or says
anything that :mod:`exacell.cellcli.framing` does not recognise, is dropped, and whoever waited for it is told so and
asks with a CellCLI of its own. All methods run in the reader's thread.
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
"""A CellCLI that has said nothing for so long after its start is given up."""
QUIET_S = 1.0
"""After so much silence a probe may have the answers that it gets, and an error may get no marker behind it: whoever waits
asks elsewhere. A CellCLI that took longer to say its first word is given as long as that."""
DOUBT_S = 30.0
"""After so much more silence nothing will come: it is not just a cell that is slow."""
MOST_LOSSES = 3
"""After so many CellCLIs that were lost, a connection goes without."""

_ENDLESS = "this CellCLI does not mark the end of an answer"


class Phase(StrEnum):
    """Where a session stands."""

    PROBING = "probing"
    READY = "ready"
    DEAD = "dead"


@dataclass(frozen=True, kw_only=True)
class Question:
    """Reads for a session, and who is told: exactly one of them, once.

    Attributes:
        on_answer: given the answer, a large one on disk.
        on_lost: told why there is none.
        on_limit: told that it was broken off because it is larger than ``limit`` bytes, or the disk is full.
    """

    statements: tuple[str, ...]
    on_answer: Callable[[bytes | Store], None]
    on_lost: Callable[[str], None]
    limit: int | None = None
    on_limit: Callable[[End], None] = lambda end: None


class Session:
    """One CellCLI on one wire.

    Args:
        on_end: told once when it is over; with True when no marker works there and another would fare no better.
        idle_s: seconds after which it is closed when nobody asks: it holds memory on the cell.
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
        """The beginning of a large answer."""
        self._timer: Timer | None = None
        self.phase = Phase.PROBING
        self._stream = Stream(wire, program, self, stdin=None, on_end=self._ended)
        self._stream.on_open = self._opened
        self._stream.start(START_S, lambda: self._give_up("no SSH channel is free"))

    @property
    def free(self) -> bool:
        """Whether it can take a question now; while it starts, it takes one that then waits."""
        return self.idle and not self._doubtful

    @property
    def idle(self) -> bool:
        """Whether nobody waits for it."""
        return self.phase is not Phase.DEAD and self._question is None

    @property
    def unproven(self) -> bool:
        """Whether it fell silent before it had shown an end of an answer."""
        return self._doubtful and self.phase is Phase.PROBING

    @property
    def takes_turns(self) -> bool:
        """Whether a question may wait here until those before it are answered."""
        return self._turn_s > 0 and self.phase is not Phase.DEAD and not self._doubtful

    def partial_of(self, question: Question) -> bytes:
        """Return what has come of the answer to ``question``; nothing of a large one."""
        if question is not self._question:
            return b""
        small = self._framer is not None and self._framer.pending and not self._settled
        return self._framer.partial if self._framer is not None and small else b""

    def ask(self, question: Question) -> None:
        """Take a question; the session has to be free, or to take turns."""
        if not self.free:
            self._queue.append(question)
            self._wire.reader.later(self._turn_s, lambda: self._waited(question), of=self._wire)
            return
        self._question = question
        if self.phase is Phase.READY:
            self._send()

    def end(self) -> None:
        """Close it; whose question is under way is not told."""
        self._question = None
        self._over("closed", hopeless=False)

    def drop(self, question: Question) -> None:
        """Forget a question, whose asker is not told: only one that is under way takes the session with it."""
        if question is self._question:
            self.end()
            return
        with suppress(ValueError):  # It is answered.
            self._queue.remove(question)

    def _waited(self, question: Question) -> None:
        """Send a question elsewhere that has waited long for its turn, unless all wait for the start."""
        if not any(each is question for each in self._queue):
            return
        if self.phase is Phase.PROBING:
            self._wire.reader.later(self._turn_s, lambda: self._waited(question), of=self._wire)
            return
        self._queue.remove(question)
        question.on_lost("it is busy")

    def _turned_away(self, reason: str) -> None:
        """Have all who wait for their turn ask elsewhere."""
        waiting, self._queue = self._queue, deque()
        for question in waiting:
            question.on_lost(reason)

    # -- what the stream tells -------------------------------------------------------------------------------------

    def take(self, piece: bytes) -> None:
        """Take standard output."""
        if self.phase is Phase.PROBING:
            self._quiet_s = self._quiet_s or max(QUIET_S, time.monotonic() - self._fed_at)
            if self._probe.feed(piece):
                self._learned(late=False)
            else:
                self._wait(self._quiet_s, self._silent)
        elif self._framer is not None and self.phase is Phase.READY:
            if self._late and not self._framer.pending:
                return  # An answer to the probe that was given up: the fence stands behind all of them.
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
        """Keep a piece of a large answer; one that is too large ends the session."""
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
        """Take standard error: what Java says at the start is none of ours, later it belongs to an answer."""
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
        """Go on with a marker that works by now; where none does, the answers that show one may still come."""
        if self._probe.found() is not None:
            self._learned(late=True)
        else:
            self._doubt(_ENDLESS, hopeless=True)

    def _doubt(self, reason: str, *, hopeless: bool) -> None:
        """Have whoever waits ask elsewhere, and wait for what may only be late: silence alone proves nothing."""
        self._doubtful = True
        self._wait(DOUBT_S, lambda: self._over(reason, hopeless=hopeless))
        question, self._question = self._question, None
        if question is not None:
            question.on_lost(reason)
        self._turned_away(reason)

    def _learned(self, *, late: bool) -> None:
        """Go on with the marker that works; ``late`` says that some of what was sent to learn it may still be answered."""
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
    """The CellCLIs of one wire, one for each way to start it.

    Attributes:
        problem: why this connection goes without; empty as long as it does not.
        idle_s, turn_s: of those that are started; see :class:`~exacell.transport.rack_transport.RackTransport`.
    """

    idle_s = 300.0
    turn_s = 0.0

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
        if session is None and any(other.unproven for other in self._sessions.values()):
            return None  # One that is waited for in vain is enough.
        if session is None:
            session = self._sessions[feed.program] = Session(
                self._wire, feed.program, self._forget, idle_s=self.idle_s, turn_s=self.turn_s
            )
        if not (session.free or session.takes_turns):
            return None
        session.ask(question)
        return session

    def end(self) -> bool:
        """Close those that have nothing to do, to give their channels back; return whether there was one."""
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


def _name() -> str:
    return f"exacell{os.urandom(8).hex()}"
