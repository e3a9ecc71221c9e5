"""One thread that reads every connection: a selector over their sockets, calls from other threads, and timers.

Everything that happens to an attached wire happens in this thread, so neither wires nor the streams on them need locks.
Nothing in it may wait: what takes long (a name, a TCP connection, a login, a disk) is done elsewhere and handed over.
"""

from __future__ import annotations

import heapq
import itertools
import os
import selectors
import threading
import time
from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from exacell.transport.packets import Wire

PIECE = 256 << 10
"""Bytes asked for in one read of a socket."""
KEEPALIVE_S = 30.0
"""A connection that was silent for so long is asked for a sign of life; TCP ends it when none comes."""
_KEEPALIVE = "keepalive@openssh.com"
_SILENT = 4
"""So many times unanswered, and the connection is given up."""

Work = Callable[[], None]


class Timer:
    """A call to come. :meth:`cancel` takes it back, from any thread."""

    __slots__ = ("work",)

    def __init__(self, work: Work) -> None:
        self.work: Work | None = work

    def cancel(self) -> None:
        """Make it not happen, if it has not happened yet."""
        self.work = None


class Reader:
    """Reads all wires of one transport. Thread-safe; the thread starts with the first use and ends with :meth:`stop`."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._calls: deque[Work] = deque()
        self._timers: list[tuple[float, int, Timer]] = []
        self._order = itertools.count()
        self._selector: selectors.BaseSelector = selectors.DefaultSelector()
        self.room = memoryview(bytearray(PIECE))
        self._wires: set[Wire] = set()
        self._unsent: dict[Wire, None] = {}
        self._bell = -1
        self._rung = False
        self._stopping = False
        self.bug: BaseException | None = None
        """What ended the thread although it should not have; None as long as all is well."""

    # -- from any thread -------------------------------------------------------------------------------------------

    def call(self, work: Work) -> None:
        """Have ``work`` done in the reader's thread, in the order of the calls; at once when this is that thread."""
        if self.is_current():
            work()
            return
        with self._lock:
            self._calls.append(work)
            self._ring()

    def later(self, seconds: float, work: Work) -> Timer:
        """Have ``work`` done in the reader's thread after ``seconds``; in the reader's thread only."""
        timer = Timer(work)
        heapq.heappush(self._timers, (time.monotonic() + seconds, next(self._order), timer))
        return timer

    def is_current(self) -> bool:
        """Whether the calling thread is the reader's."""
        return threading.current_thread() is self._thread

    def attach(self, wire: Wire) -> None:
        """Read ``wire`` from now on."""
        self.call(lambda: self._attach(wire))

    def wants_to_write(self, wire: Wire) -> None:
        """Have :meth:`Wire.flush` called when its socket can be written."""
        self.call(lambda: self._watch(wire, writing=True))

    def wrote(self, wire: Wire) -> None:
        """Have :meth:`Wire.flush` called before the thread waits again; in the reader's thread only."""
        self._unsent[wire] = None

    def detach(self, wire: Wire) -> None:
        """Stop reading ``wire`` and end it."""
        self.call(lambda: self._detach(wire))

    def stop(self) -> None:
        """End all wires and the thread; using the reader again starts anew."""
        with self._lock:
            thread = self._thread
            if thread is None:
                return
            self._stopping = True
            self._ring()
        if not self.is_current():
            thread.join()

    def _ring(self) -> None:
        """Start or wake the thread; the lock is held."""
        if self._thread is None:
            ours, self._bell = os.pipe()
            os.set_blocking(ours, False)
            os.set_blocking(self._bell, False)
            self._selector = selectors.DefaultSelector()
            self._selector.register(ours, selectors.EVENT_READ)
            self._stopping = self._rung = False
            self._thread = threading.Thread(target=self._run, args=(ours,), name="exacell reader", daemon=True)
            self._thread.start()
        elif not self._rung and not self.is_current():
            self._rung = True
            os.write(self._bell, b"!")

    # -- in the thread ---------------------------------------------------------------------------------------------

    def _run(self, bell: int) -> None:
        try:
            self.later(KEEPALIVE_S, self._keep_alive)
            while not self._stopping:
                self._turn(bell)
        except BaseException as error:
            self.bug = error
            raise
        finally:
            self._finish(bell)

    def _finish(self, bell: int) -> None:
        while True:
            for wire in list(self._wires):
                self._detach(wire)
            while self._calls:
                self._calls.popleft()()
            with self._lock:
                if self._calls or self._wires:
                    continue
                self._selector.close()
                os.close(bell)
                os.close(self._bell)
                self._timers.clear()
                self._thread = None
                return

    def _turn(self, bell: int) -> None:
        wait: float | None = None
        while self._timers and self._timers[0][2].work is None:
            heapq.heappop(self._timers)
        if self._calls:
            wait = 0.0
        elif self._timers:
            wait = max(0.0, self._timers[0][0] - time.monotonic())
        wire: Wire
        for key, events in self._selector.select(wait):
            if key.data is None:
                # Emptied and lowered as one, and before the calls are taken, so that none is overlooked.
                with self._lock:
                    os.read(bell, 1)
                    self._rung = False
                continue
            wire = key.data
            if wire not in self._wires:
                continue
            if events & selectors.EVENT_WRITE and wire.flush() and wire in self._wires:
                self._watch(wire, writing=False)
            if events & selectors.EVENT_READ and wire in self._wires:
                wire.readable()
        for _ in range(len(self._calls)):
            self._calls.popleft()()
        now = time.monotonic()
        while self._timers and self._timers[0][0] <= now:
            work = heapq.heappop(self._timers)[2].work
            if work is not None:
                work()
        while self._unsent:
            wire, _ = self._unsent.popitem()
            if wire in self._wires and not wire.flush() and wire in self._wires:
                self._watch(wire, writing=True)

    def _attach(self, wire: Wire) -> None:
        self._wires.add(wire)
        self._selector.register(wire.sock, selectors.EVENT_READ, wire)
        wire.take()

    def _watch(self, wire: Wire, *, writing: bool) -> None:
        if wire in self._wires:
            events = selectors.EVENT_READ | (selectors.EVENT_WRITE if writing else 0)
            self._selector.modify(wire.sock, events, wire)

    def _detach(self, wire: Wire) -> None:
        if wire in self._wires:
            self._wires.discard(wire)
            self._selector.unregister(wire.sock)
            wire.end()

    def _keep_alive(self) -> None:
        now = time.monotonic()
        for wire in list(self._wires):
            silent = now - wire.last_heard
            if silent > _SILENT * KEEPALIVE_S:
                wire.fail(TimeoutError(f"no sign of life for {silent:.0f}s"))
            elif silent > KEEPALIVE_S:
                wire.ask_for_life(_KEEPALIVE)
        self.later(KEEPALIVE_S, self._keep_alive)
