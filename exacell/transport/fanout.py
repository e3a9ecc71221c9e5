"""Run many requests at a time, but not more than a limit; one coordinator keeps the time and gives each target one reply.

Work that waits (name lookup, connection, login) is done by workers; work that another thread continues, such as a command whose
answer the reader's thread collects, needs no worker. In both cases each stage declares how long it may take, how to abort it,
and its reply if it takes longer. The coordinator (the thread that called :meth:`FanOut.run`) waits for replies and deadlines;
an overdue stage gets its reply at once, is aborted in the background, and its worker is replaced, so that even a name lookup
that can't be interrupted delays no other answer. If the process itself was stopped beyond a deadline, output that has arrived
meanwhile is read first; only then a stage counts as late.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Sequence

from exacell.transport.base import FleetResult, Large, Reply, ReplyHandler, Request, State

Abort = Callable[[], None]
Late = Callable[[], Reply]
MakeReply = Callable[[], Reply]

HELD_S = 1.0
"""A coordinator that wakes so many seconds late was stopped, or its host paused; output that came meanwhile is unread."""
AGAIN_S = 2.0
"""A stage then gets so many more seconds, or its own time if that is shorter."""


class Flight:
    """One request in progress, for those who work on it."""

    def __init__(self, request: Request, fan_out: FanOut) -> None:
        self.request = request
        self.started = time.monotonic()
        self.abandoned = False
        """Whether the coordinator has already answered: the result of further work is dropped."""
        self.ended: float | None = None
        """When its answer was complete, which may be before the reply is made; None before."""
        self._fan_out = fan_out
        self.deadline: float | None = None
        """When the present stage is overdue; None before the first stage."""
        self._seconds = 0.0
        self._abort: Abort | None = None
        self._late: Late | None = None

    def stage(self, seconds: float, *, abort: Abort, late: Late) -> None:
        """Declare the next stage of the work.

        Args:
            seconds: how long it may take from now.
            abort: ends the stage, and the worker's blocking call with it; called from any thread, may itself block.
            late: makes the reply if the stage takes longer.
        """
        deadline = time.monotonic() + seconds
        with self._fan_out.changed:
            self.deadline, self._seconds = deadline, seconds
            self._abort, self._late = abort, late
            abandoned = self.abandoned
            self._fan_out.wake_before(deadline)
        if abandoned:
            abort()

    def reply(self, state: State, problem: str = "", **details: str | int | Large | None) -> Reply:
        """Return this flight's reply with the time it took."""
        seconds = (time.monotonic() if self.ended is None else self.ended) - self.started
        return Reply(target=self.request.target, state=state, problem=problem, seconds=seconds, **details)  # type: ignore[arg-type]  # by name, each of its own type

    def finish(self, reply: Reply | MakeReply | BaseException) -> None:
        """End a flight without a worker; the coordinator calls ``reply`` if it is a function, and raises it if it is an
        exception."""
        self._fan_out.settle(self, reply)

    def go_on(self, work: Work) -> None:
        """Let a worker continue with ``work``, if a flight without a worker has to wait after all."""
        self._fan_out.engage(self, work)

    def go_on_after(self, moment: float) -> None:
        """Extend the present stage for a while after ``moment``, the end of a stop of this process."""
        if self.deadline is not None:
            self.deadline = max(self.deadline, moment + min(self._seconds, AGAIN_S))

    def give_up(self) -> Reply:
        """Return the late reply, and abort the stage in the background."""
        self.abandon()
        return self._late() if self._late is not None else self.reply(State.UNREACHABLE, "not started in time")

    def abandon(self) -> None:
        """Abort the present stage in the background; the worker's result is dropped."""
        self.abandoned = True
        if self._abort is not None:
            # In its own thread: closing a channel writes to a connection that may block.
            threading.Thread(target=self._abort, name=f"abort {self.request.target}", daemon=True).start()


Work = Callable[[Flight], Reply | None]
"""Blocking work: returns the reply, or None if the flight continues without a worker, until :meth:`Flight.finish`."""


class FanOut:
    """One fan-out of requests, at most ``limit`` of them in progress at a time. Use once.

    Args:
        work: what a worker does for a flight.
        start: tries to start a flight without any waiting and returns whether it did; called by the coordinator. If it
            did not, the flight goes to a worker.
    """

    def __init__(
        self,
        requests: Sequence[Request],
        work: Work,
        *,
        limit: int,
        on_reply: ReplyHandler | None = None,
        cancel: threading.Event | None = None,
        start: Callable[[Flight], bool] | None = None,
    ) -> None:
        self._targets = tuple(request.target for request in requests)
        self._queue = deque(requests)
        self._work = work
        self._start = start
        self._limit = limit
        self._on_reply = on_reply
        self._cancel = cancel
        lock = threading.RLock()
        self.changed = threading.Condition(lock)
        self._more_work = threading.Condition(lock)
        self._flights: set[Flight] = set()
        self._waiting: deque[tuple[Flight, Work]] = deque()
        self._idle = 0
        self._finished: deque[Reply | MakeReply | BaseException] = deque()
        self._replies: dict[str, Reply] = {}
        self._wakes_at: float | None = None
        self._over = False

    @property
    def left(self) -> list[str]:
        """Return the targets without a reply yet; may be called from any thread."""
        return [target for target in self._targets if target not in self._replies]

    def run(self) -> FleetResult:
        """Work through all requests and return one reply for each; see :meth:`Transport.run`.

        An exception in a worker (a bug), in ``on_reply``, or KeyboardInterrupt aborts everything and is raised.
        """
        try:
            while len(self._replies) < len(self._targets):
                self._launch()
                for reply in self._next():
                    self._take(reply)
        except BaseException:
            self._break_off()
            raise
        with self.changed:
            self._over = True
            self._more_work.notify_all()
        # Flights, streams and this object refer to each other; the answers must not wait for the garbage collector.
        replies, self._replies = self._replies, {}
        return FleetResult(targets=self._targets, replies=replies)

    def break_off(self, error: BaseException) -> None:
        """Make the thread in :meth:`run` abort everything and raise ``error``; may be called from any thread."""
        with self.changed:
            self._finished.append(error)
            self.changed.notify_all()

    def waits_upon(self, cancel: threading.Event) -> bool:
        """Return whether this fan-out was given ``cancel``."""
        return self._cancel is cancel

    def wake_before(self, deadline: float) -> None:
        """Make the coordinator check deadlines again by ``deadline``; the caller holds ``changed``."""
        if self._wakes_at is None or deadline < self._wakes_at:
            self.changed.notify_all()

    def settle(self, flight: Flight, result: Reply | MakeReply | BaseException) -> None:
        """Store the result of a flight, unless it was abandoned."""
        with self.changed:
            if flight.abandoned:
                return
            flight.ended = time.monotonic()
            self._flights.discard(flight)
            self._finished.append(result)
            # If there is no on_reply and no other target waits for a place, the coordinator is not woken: each time it
            # wakes, it takes the interpreter from the thread that reads.
            if self._queue or self._on_reply is not None or not self._flights or isinstance(result, BaseException):
                self.changed.notify_all()

    def engage(self, flight: Flight, work: Work) -> None:
        """Give ``work`` for ``flight`` to an idle worker, or start a new one."""
        with self.changed:
            if flight.abandoned:
                return
            self._waiting.append((flight, work))
            if self._idle >= len(self._waiting):
                self._more_work.notify()
                return
        threading.Thread(target=self._worker, name="exacell fan-out", daemon=True).start()

    def _launch(self) -> None:
        """Start as many flights as the limit allows."""
        while True:
            with self.changed:
                if not self._queue or len(self._flights) >= self._limit:
                    return
                flight = Flight(self._queue.popleft(), self)
                if self._cancel is not None and self._cancel.is_set():
                    self._finished.append(flight.reply(State.NOT_ATTEMPTED, "not started: interrupted before its turn"))
                    continue
                self._flights.add(flight)
            if self._start is None or not self._start(flight):
                self.engage(flight, self._work)

    def _take(self, found: Reply | MakeReply | BaseException) -> None:
        if isinstance(found, BaseException):
            raise found
        reply = found if isinstance(found, Reply) else found()
        self._replies[reply.target] = reply
        if self._on_reply is not None:
            self._on_reply(reply)

    def _next(self) -> list[Reply | MakeReply | BaseException]:
        """Wait for replies or overdue flights and return the results; may be empty."""
        with self.changed:
            if not self._finished:
                deadlines = [flight.deadline for flight in self._flights if flight.deadline is not None]
                self._wakes_at = min(deadlines, default=None)
                wait = None if self._wakes_at is None else self._wakes_at - time.monotonic()
                if wait is None or wait > 0:
                    self.changed.wait(wait)
                    now = time.monotonic()
                    if self._wakes_at is not None and now - self._wakes_at > HELD_S:
                        for flight in self._flights:
                            flight.go_on_after(now)
            done = list(self._finished)
            self._finished.clear()
            now = time.monotonic()
            overdue = [flight for flight in self._flights if flight.deadline is not None and flight.deadline <= now]
            self._flights.difference_update(overdue)
            late = [flight.give_up() for flight in overdue]
        return [*done, *late]

    def _break_off(self) -> None:
        with self.changed:
            self._over = True
            self._queue.clear()
            self._waiting.clear()
            flights = list(self._flights)
            self._flights.clear()
            for flight in flights:
                flight.abandon()
            self._more_work.notify_all()

    def _worker(self) -> None:
        while True:
            with self.changed:
                while not self._waiting:
                    if self._over:
                        return
                    self._idle += 1
                    self._more_work.wait()
                    self._idle -= 1
                flight, work = self._waiting.popleft()
            result: Reply | BaseException | None
            try:
                result = work(flight)
            except BaseException as error:  # Passed to the caller of run(), who raises it.
                result = error
            if result is not None:
                self.settle(flight, result)
