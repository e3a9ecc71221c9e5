"""The two places where the operator's process is watched and struck: its journal and its wire."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from matrix_moments import KilledError, Kind, Mishap, Moment, Phase

from exacell.journal.record import Journal, Row
from exacell.transport.base import FleetResult, Reply, ReplyHandler, Request, State
from tests.support.pairs import carried_out
from tests.support.transports import Open

if TYPE_CHECKING:
    from matrix_rack import MatrixRack


class WatchedJournal(Journal):
    """The journal, telling the watch before and after each row."""

    def __init__(self, path: Path, watch: Watch) -> None:
        super().__init__(path)
        self._watch = watch

    def begin(self, rack: str, body: Mapping[str, Any]) -> int:
        """Record a plan, unless the process dies first."""
        self._watch.plans += 1
        self._watch.stage = 0
        with self._watch.writing(Moment(Phase.PLAN)):
            return super().begin(rack, body)

    def append(self, rack: str, change: int, rows: Iterable[Row]) -> None:
        """Record rows, unless the process dies first."""
        listed = list(rows)
        with self._watch.writing(self._watch.moment_of(listed)):
            super().append(rack, change, listed)


class Watch:
    """Knows at which moment the operator's process is, and lets the mishaps happen.

    Attributes:
        seen: every moment that was passed, of the first plan; ``later`` of the others, by their number.
        struck: the mishaps that happened.
    """

    def __init__(self, rack: MatrixRack, mishaps: Sequence[Mishap]) -> None:
        self.rack = rack
        self.mishaps = mishaps
        self.plans = 0
        self.stage = 0
        self.phase = Phase.FACTS
        self.reads = 0
        self.dead = False
        self.seen: list[Moment] = []
        self.later: dict[int, list[Moment]] = {}
        self.struck: list[Mishap] = []

    def moment_of(self, rows: Sequence[Row]) -> Moment | None:
        """Return the moment that rows belong to; None for those that no statement hangs on."""
        kinds = [row.kind for row in rows]
        if "intent" in kinds:
            return Moment(Phase.INTENT, self.stage + 1)
        if "end" in kinds:
            return Moment(Phase.END)
        if "outcome" in kinds and self.phase in (Phase.INTENT, Phase.SEND, Phase.SETTLE):
            return Moment(Phase.OUTCOME, self.stage)
        return None

    @contextmanager
    def writing(self, moment: Moment | None) -> Iterator[None]:
        """Let the process die before or after a row."""
        if self.dead:
            raise KilledError
        if moment is None:
            yield
            return
        self._pass(moment)
        self._die_if(moment, "before")
        self.rack.interfere(self._find(moment, "before", Kind.OTHER))
        yield
        self.phase, self.reads = moment.phase, 0
        if moment.stage:
            self.stage = moment.stage
        self._die_if(moment, "after")
        self.rack.interfere(self._find(moment, "after", Kind.OTHER))

    def exchange(self, requests: Sequence[Request]) -> list[Mishap]:
        """Return the mishaps that strike these requests; raises when the process dies before they leave."""
        if self.dead:
            raise KilledError
        if any(request.role.changes for request in requests):
            self.phase, self.reads = Phase.SEND, 0
            # What is copied leaves at a moment of its own: a script can get there and never run.
            copied = any(request.upload is not None for request in requests)
            moment = Moment(Phase.SEND, self.stage, 2) if copied else Moment(Phase.SEND, self.stage)
        else:
            if self.phase in (Phase.INTENT, Phase.SEND):
                self.phase, self.reads = Phase.SETTLE, 0
            elif self.phase in (Phase.PLAN, Phase.OUTCOME):
                self.phase, self.reads = Phase.CHECK, 0
            self.reads += 1
            moment = Moment(self.phase, self.stage + (self.phase is Phase.CHECK), self.reads)
        self._pass(moment)
        if moment.phase is not Phase.SEND:
            self._die_if(moment, "")
        found = [m for m in self._at(moment) if m.kind is not Kind.KILL or m.how]
        for mishap in found:
            if mishap not in self.struck:
                self.struck.append(mishap)
        return found

    def die(self, mishap: Mishap) -> None:
        """End the process here; what its disk holds now is all that is left of it."""
        self.struck.append(mishap)
        self.dead = True
        self.rack.freeze()
        raise KilledError

    def _pass(self, moment: Moment) -> None:
        (self.seen if self.plans <= 1 else self.later.setdefault(self.plans, [])).append(moment)

    def _at(self, moment: Moment) -> list[Mishap]:
        now = max(self.plans, 1)
        return [m for m in self.mishaps if m.plan == now and self._is(m, moment)]

    def _is(self, mishap: Mishap, moment: Moment) -> bool:
        if mishap.at == moment:
            return True
        return mishap.lasting and mishap in self.struck

    def _find(self, moment: Moment, how: str, kind: Kind) -> Mishap | None:
        found = next((m for m in self._at(moment) if m.kind is kind and m.how == how), None)
        if found is not None:
            self.struck.append(found)
        return found

    def _die_if(self, moment: Moment, how: str) -> None:
        found = next((m for m in self._at(moment) if m.kind is Kind.KILL and m.how == how), None)
        if found is not None:
            self.die(found)


class RackTransport(Open):
    """Runs requests on the rack in this process, with whatever strikes them."""

    def __init__(self, rack: MatrixRack, watch: Watch) -> None:
        self.read_only = False
        self._rack, self._watch = rack, watch

    def run(
        self, requests: Sequence[Request], *, on_reply: ReplyHandler | None = None, cancel: object = None
    ) -> FleetResult:
        """Return one reply a target."""
        mishaps = self._watch.exchange(requests)
        for mishap in mishaps:
            self._rack.before(mishap)
        kill = next((m for m in mishaps if m.kind is Kind.KILL), None)
        if kill is not None and kill.how == "unsent":
            self._watch.die(kill)
        replies: dict[str, Reply] = {}
        struck = requests[min(1, len(requests) - 1)].target
        for place, request in enumerate(requests):
            hit = [m for m in mishaps if m.everywhere or request.target == struck]
            replies[request.target] = self._one(request, hit)
            if kill is not None and kill.how == "some" and place == 0:
                self._watch.die(kill)
        if kill is not None:
            self._watch.die(kill)
        if on_reply is not None:
            for reply in replies.values():
                on_reply(reply)
        return FleetResult(targets=tuple(replies), replies=replies)

    def _one(self, request: Request, mishaps: Sequence[Mishap]) -> Reply:
        target = request.target
        for mishap in mishaps:
            match mishap.kind, mishap.how:
                case Kind.LINK, "sent":
                    problem = "the connection was lost after the command was sent; it may or may not have finished"
                    lost = Reply(target=target, state=State.FAILED, problem=problem)
                    return self._sent(request, lost)
                case Kind.LINK, "unsent":
                    problem = "the connection was lost after the command was sent; it may or may not have finished"
                    return Reply(target=target, state=State.FAILED, problem=problem)
                case Kind.LINK, _:
                    return Reply(target=target, state=State.UNREACHABLE, problem="no route to host")
                case Kind.HANG, "slow":
                    late = Reply(target=target, state=State.TIMED_OUT, problem="no end within 600s")
                    return self._sent(request, late)
                case Kind.HANG, "late":
                    late = Reply(target=target, state=State.TIMED_OUT, problem="no end within 600s")
                    return self._sent(request, late, self._rack.later.append)
                case Kind.HANG, _:
                    return Reply(target=target, state=State.TIMED_OUT, problem="no end within 60s")
                case Kind.ERROR, _:
                    return self._rack.refuse(request)
        return self._sent(request)

    def _sent(
        self, request: Request, reply: Reply | None = None, do: Callable[[Callable[[], object]], object] | None = None
    ) -> Reply:
        """Carry a request out, upon its look if it has one, and return its reply.

        Args:
            reply: what is told instead of what the host answers.
            do: is given what carries it out, instead of doing it now.
        """
        target = request.target

        def send() -> Reply:
            if do is not None:
                do(self._rack.deed(request))
            else:
                status, text = self._rack.carry_out(request)
            return reply or Reply(
                target=target, state=State.OK if status == 0 else State.FAILED, stdout=text, exit_status=status,
                problem="" if status == 0 else f"exit status {status}",
            )  # fmt: skip

        return carried_out(request, partial(self._rack.looked, request), send)
