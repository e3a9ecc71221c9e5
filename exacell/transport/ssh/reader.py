"""Read every connection in one thread, with a selector over their sockets, calls from other threads, and timers.

It reads wires (:mod:`exacell.transport.ssh.wire`) and tunnels (:mod:`exacell.transport.ssh.endpoint`). An attached wire or
tunnel is used only in this thread, so neither they nor the streams on them need locks.
Nothing in this thread may wait: work that takes long (a name, a TCP connection, a login, a disk) is done elsewhere and passed on.
An error of one connection ends that connection, and all others continue.
"""

from __future__ import annotations

import functools
import heapq
import itertools
import os
import selectors
import threading
import time
from collections import deque
from collections.abc import Callable
from typing import Protocol

PIECE = 256 << 10
"""How many bytes one read of a socket asks for."""
KEEPALIVE_S = 30.0
"""Seconds of silence after which a connection is asked for a sign of life; TCP ends it if none comes."""

_FEW_TIMERS = 256
"""Up to so many timers are kept without a check; with more, cancelled ones are removed from time to time."""

Work = Callable[[], None]


class HasFileno(Protocol):
    """An object that a selector can wait for."""

    def fileno(self) -> int:
        """Return its descriptor."""


class Watched(Protocol):
    """An object that is read; all methods are called in the reader's thread and never wait."""

    @property
    def sock(self) -> HasFileno:
        """Return its socket, which is non-blocking."""

    def take(self) -> None:
        """Process the data that had come before it was attached."""

    def readable(self) -> None:
        """Process the data that has arrived."""

    def flush(self) -> bool:
        """Write the kept bytes; return whether nothing is left to write."""

    def check_life(self, now: float) -> None:
        """After a long silence, ask for a sign of life, or give up."""

    def fail(self, error: Exception) -> None:
        """Detach itself, because ``error`` was raised by work on it or for it."""

    def end(self) -> None:
        """Close the socket, which is no longer read."""


class Timer:
    """A call at a later time. Any thread may cancel it with :meth:`cancel`."""

    __slots__ = ("of", "work")

    def __init__(self, work: Work, of: Watched | None) -> None:
        self.work: Work | None = work
        self.of = of

    def cancel(self) -> None:
        """Cancel the call, if it has not happened yet."""
        self.work = None


class Reader:
    """Reads all wires of one transport. Thread-safe; the thread starts with the first use and ends with :meth:`stop`."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._calls: deque[tuple[Work, Watched | None]] = deque()
        self._timers: list[tuple[float, int, Timer]] = []
        self._tidy_at = _FEW_TIMERS
        self._order = itertools.count()
        self._selector: selectors.BaseSelector  # From the thread's start on: it is a descriptor.
        self.room = memoryview(bytearray(PIECE))
        self._watched: dict[Watched, int] = {}
        self._unsent: dict[Watched, None] = {}
        self._bell = -1
        self._rung = False
        self._stopping = False

    # -- from any thread -------------------------------------------------------------------------------------------

    def call(self, work: Work, *, of: Watched | None = None) -> None:
        """Call ``work`` in the reader's thread, in the order of the calls; at once if this is that thread.

        Args:
            of: the connection that the work is for; it fails if the work does.
        """
        if self.is_current():
            work()
            return
        with self._lock:
            # Rung first: Ctrl-C between the two lines then causes a needless wake-up, not work that nobody does.
            self._ring()
            self._calls.append((work, of))

    def later(self, seconds: float, work: Work, *, of: Watched | None = None) -> Timer:
        """Call ``work`` after ``seconds``, and return its timer; only in the reader's thread. ``of``: as in :meth:`call`."""
        if len(self._timers) >= self._tidy_at:
            # Each answer of a kept CellCLI cancels a timer of five minutes; without this they would add up.
            self._timers = [entry for entry in self._timers if entry[2].work is not None]
            heapq.heapify(self._timers)
            self._tidy_at = max(_FEW_TIMERS, 2 * len(self._timers))
        timer = Timer(work, of)
        heapq.heappush(self._timers, (time.monotonic() + seconds, next(self._order), timer))
        return timer

    def is_current(self) -> bool:
        """Return whether the calling thread is the reader's."""
        return threading.current_thread() is self._thread

    def attach(self, watched: Watched) -> None:
        """Read ``watched`` from now on."""
        self.call(lambda: self._attach(watched), of=watched)

    def wants_to_write(self, watched: Watched) -> None:
        """Call :meth:`Watched.flush` when its socket can be written."""
        self.call(lambda: self._watch(watched, add=selectors.EVENT_WRITE), of=watched)

    def wrote(self, watched: Watched) -> None:
        """Call :meth:`Watched.flush` after the present work; only in the reader's thread."""
        self._unsent[watched] = None

    def do(self, work: Work) -> None:
        """Call ``work`` now; an error in it is only reported. Only in the reader's thread."""
        self._do(work, None)

    def pause(self, watched: Watched, *, paused: bool) -> None:
        """Stop reading from ``watched``, so that its data wait in the kernel, or continue; only in the reader's thread."""
        if paused:
            self._watch(watched, drop=selectors.EVENT_READ)
        else:
            self._watch(watched, add=selectors.EVENT_READ)

    def detach(self, watched: Watched) -> None:
        """Stop reading ``watched`` and close it."""
        self.call(lambda: self._detach(watched))

    def stop(self) -> None:
        """Close all wires and end the thread; the next use starts a new one."""
        with self._lock:
            thread = self._thread
            if thread is None:
                return
            self._stopping = True
            self._ring()
        if not self.is_current():
            thread.join()

    def _ring(self) -> None:
        """Start or wake the thread; the caller holds the lock."""
        if self._thread is None:
            ours, self._bell = os.pipe()
            os.set_blocking(ours, False)
            os.set_blocking(self._bell, False)
            self._selector = selectors.DefaultSelector()
            self._selector.register(ours, selectors.EVENT_READ)
            self._stopping = self._rung = False
            self._thread = threading.Thread(target=self._run, args=(ours,), name="exacell reader", daemon=True)
            self._thread.start()
        if not self._rung and not self.is_current():
            # Rung first: Ctrl-C between the two lines costs a second wake-up; in the other order nobody would ring again.
            os.write(self._bell, b"!")
            self._rung = True

    # -- in the thread ---------------------------------------------------------------------------------------------

    def _run(self, bell: int) -> None:
        try:
            self.later(KEEPALIVE_S, self._keep_alive)
            while not self._stopping:
                self._turn(bell)
        finally:
            self._finish(bell)

    def _finish(self, bell: int) -> None:
        while True:
            for watched in list(self._watched):
                self._do(functools.partial(self._detach, watched), None)
            while self._calls:
                self._do(*self._calls.popleft())
            with self._lock:
                if self._calls or self._watched:
                    continue
                self._selector.close()
                os.close(bell)
                os.close(self._bell)
                self._timers.clear()
                self._unsent.clear()
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
        watched: Watched
        for key, events in self._selector.select(wait):
            if key.data is None:
                # Emptied and cleared under one lock, before the calls are taken, so that no call is missed.
                with self._lock:
                    os.read(bell, 1)
                    self._rung = False
                continue
            watched = key.data
            self._do(functools.partial(self._happened, watched, events), watched)
        for _ in range(len(self._calls)):
            self._do(*self._calls.popleft())
            # Written at once, not after all calls, so that the host works in the meantime.
            self._write_out()
        now = time.monotonic()
        while self._timers and self._timers[0][0] <= now:
            timer = heapq.heappop(self._timers)[2]
            if timer.work is not None:
                self._do(timer.work, timer.of)
        self._write_out()

    def _do(self, work: Work, of: Watched | None) -> None:
        """Call ``work``; an error in it is reported and ends only ``of``."""
        try:
            work()
        except Exception as error:  # A mistake in the work for one connection must not end all others.
            told = (type(error), error, error.__traceback__, threading.current_thread())
            threading.excepthook(threading.ExceptHookArgs(told))
            if of is not None and of in self._watched:
                self._do(functools.partial(of.fail, error), None)

    def _happened(self, watched: Watched, events: int) -> None:
        """Handle a socket that can be written or read."""
        if events & selectors.EVENT_WRITE and watched in self._watched and watched.flush():
            self._watch(watched, drop=selectors.EVENT_WRITE)
        if events & selectors.EVENT_READ and watched in self._watched:
            watched.readable()
            self._write_out()

    def _write_out(self) -> None:
        """Write the messages that are not written yet."""
        while self._unsent:
            watched, _ = self._unsent.popitem()
            self._do(functools.partial(self._write, watched), watched)

    def _write(self, watched: Watched) -> None:
        if watched in self._watched and not watched.flush():
            self._watch(watched, add=selectors.EVENT_WRITE)

    def _attach(self, watched: Watched) -> None:
        self._watched[watched] = 0
        self._watch(watched, add=selectors.EVENT_READ)
        watched.take()

    def _watch(self, watched: Watched, *, add: int = 0, drop: int = 0) -> None:
        """Change which events of ``watched`` are waited for; does nothing if it was detached meanwhile."""
        before = self._watched.get(watched)
        if before is None:
            return
        events = self._watched[watched] = (before | add) & ~drop
        if not events:
            if before:
                self._selector.unregister(watched.sock)
        elif not before:
            self._selector.register(watched.sock, events, watched)
        elif events != before:
            self._selector.modify(watched.sock, events, watched)

    def _detach(self, watched: Watched) -> None:
        if watched in self._watched:
            try:
                self._watch(watched, drop=selectors.EVENT_READ | selectors.EVENT_WRITE)
            finally:
                del self._watched[watched]
                self._do(watched.end, None)

    def _keep_alive(self) -> None:
        now = time.monotonic()
        for watched in list(self._watched):
            self._do(functools.partial(watched.check_life, now), watched)
        self.later(KEEPALIVE_S, self._keep_alive)
