"""Bounded fan-out: one worker a target under way, one coordinator that owns time and gives each target one reply.

Workers do blocking work and tell, stage by stage, until when it may take, how to break it off, and what the reply is if
it does not end in time. The coordinator (the thread that called :meth:`FanOut.run`) waits for replies and deadlines; an
overdue stage is answered at once, broken off in the background and its worker replaced, so that not even a name lookup
that cannot be interrupted delays anybody else's answer.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Sequence

from exacell.transport.base import FleetResult, Reply, ReplyHandler, Request, State

Abort = Callable[[], None]
Late = Callable[[], Reply]


class Flight:
    """One request under way, as its worker sees it."""

    def __init__(self, request: Request, changed: threading.Condition) -> None:
        self.request = request
        self.started = time.monotonic()
        self.abandoned = False
        """True once the coordinator has answered: whatever the worker still does is for nobody."""
        self._changed = changed
        self._deadline: float | None = None
        self._abort: Abort | None = None
        self._late: Late | None = None

    def stage(self, seconds: float, *, abort: Abort, late: Late) -> None:
        """Declare the next stage of the work.

        Args:
            seconds: from now, until when it must be over.
            abort: breaks it off, so that the worker's blocking call ends; called from any thread, may itself block.
            late: makes the reply when the stage takes longer.
        """
        with self._changed:
            self._deadline = time.monotonic() + seconds
            self._abort, self._late = abort, late
            abandoned = self.abandoned
            self._changed.notify_all()
        if abandoned:
            abort()

    def reply(self, state: State, problem: str = "", **details: str | int | None) -> Reply:
        """Return this flight's reply with the time it took."""
        seconds = time.monotonic() - self.started
        return Reply(target=self.request.target, state=state, problem=problem, seconds=seconds, **details)  # type: ignore[arg-type]

    @property
    def deadline(self) -> float | None:
        """When the present stage is overdue, None before the first stage."""
        return self._deadline

    def give_up(self) -> Reply:
        """Return the late reply and break the stage off in the background."""
        self.abandon()
        return self._late() if self._late is not None else self.reply(State.UNREACHABLE, "not started in time")

    def abandon(self) -> None:
        """Break the present stage off in the background; the worker's result is dropped."""
        self.abandoned = True
        if self._abort is not None:
            # In a thread of its own: closing a channel writes to a link that may be stuck.
            threading.Thread(target=self._abort, name=f"abort {self.request.target}", daemon=True).start()


class FanOut:
    """One fan-out of requests over at most ``limit`` workers. Use once."""

    def __init__(
        self,
        requests: Sequence[Request],
        work: Callable[[Flight], Reply],
        *,
        limit: int,
        on_reply: ReplyHandler | None = None,
        cancel: threading.Event | None = None,
    ) -> None:
        self._targets = tuple(request.target for request in requests)
        self._queue = deque(requests)
        self._work = work
        self._limit = limit
        self._on_reply = on_reply
        self._cancel = cancel
        self._changed = threading.Condition()
        self._flights: set[Flight] = set()
        self._finished: deque[Reply | BaseException] = deque()
        self._replies: dict[str, Reply] = {}

    def run(self) -> FleetResult:
        """Work through all requests and return one reply for each; see :meth:`Transport.run`.

        An exception in a worker (a bug), in ``on_reply``, or KeyboardInterrupt breaks everything off and is raised.
        """
        try:
            for _ in range(min(self._limit, len(self._queue))):
                self._start_worker()
            while len(self._replies) < len(self._targets):
                for reply in self._next():
                    self._settle(reply)
        except BaseException:
            self._break_off()
            raise
        return FleetResult(targets=self._targets, replies=self._replies)

    def _start_worker(self) -> None:
        threading.Thread(target=self._worker, name="exacell fan-out", daemon=True).start()

    def _settle(self, reply: Reply | BaseException) -> None:
        if isinstance(reply, BaseException):
            raise reply
        self._replies[reply.target] = reply
        if self._on_reply is not None:
            self._on_reply(reply)

    def _next(self) -> list[Reply | BaseException]:
        """Wait for replies or overdue flights and return what they came to; may be empty."""
        with self._changed:
            if not self._finished:
                deadlines = [flight.deadline for flight in self._flights if flight.deadline is not None]
                wait = min(deadlines) - time.monotonic() if deadlines else None
                if wait is None or wait > 0:
                    self._changed.wait(wait)
            done = list(self._finished)
            self._finished.clear()
            now = time.monotonic()
            overdue = [flight for flight in self._flights if flight.deadline is not None and flight.deadline <= now]
            self._flights.difference_update(overdue)
            late = [flight.give_up() for flight in overdue]
            replacements = min(len(overdue), len(self._queue))
        for _ in range(replacements):
            self._start_worker()
        return [*done, *late]

    def _break_off(self) -> None:
        with self._changed:
            self._queue.clear()
            flights = list(self._flights)
            self._flights.clear()
            for flight in flights:
                flight.abandon()

    def _worker(self) -> None:
        while True:
            with self._changed:
                if not self._queue:
                    return
                flight = Flight(self._queue.popleft(), self._changed)
                self._flights.add(flight)
            result: Reply | BaseException
            if self._cancel is not None and self._cancel.is_set():
                result = flight.reply(State.NOT_ATTEMPTED, "not started: interrupted before its turn")
            else:
                try:
                    result = self._work(flight)
                except BaseException as error:  # Handed to the caller of run(), who raises it.
                    result = error
            with self._changed:
                if flight.abandoned:
                    return
                self._flights.discard(flight)
                self._finished.append(result)
                self._changed.notify_all()
