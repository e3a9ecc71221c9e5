"""The second Ctrl-C, wherever the main thread is."""

from __future__ import annotations

import dis
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

import pytest

from exacell.session.signalled import changing_hands, detach
from tests.support.patience import until


class Struck:
    """Raises KeyboardInterrupt at the n-th instant at which Python looks for signals while it is in threading.py.

    It looks after each call. If ``asks``, nothing is raised while a lock is changing hands; a later instant is taken then.
    """

    def __init__(self, nth: int, *, asks: bool) -> None:
        self.nth, self.asks, self.seen, self.raised = nth, asks, 0, False
        self._called: dict[int, bool] = {}

    @contextmanager
    def striking(self) -> Iterator[None]:
        """Strike while entered."""
        before = sys.gettrace()
        sys.settrace(self._call)
        try:
            yield
        finally:
            sys.settrace(before)

    def _call(self, frame: FrameType, event: str, argument: object) -> Callable[..., object] | None:
        if frame.f_code.co_filename != threading.__file__:
            return None
        frame.f_trace_opcodes, frame.f_trace_lines = True, False
        return self._opcode

    def _opcode(self, frame: FrameType, event: str, argument: object) -> Callable[..., object]:
        if event == "opcode":
            looks = self._called.get(id(frame), True)  # As a function begins, and behind a call.
            self._called[id(frame)] = dis.opname[frame.f_code.co_code[frame.f_lasti]].startswith("CALL")
            if looks and not self.raised:
                self.seen += 1
                if self.seen > self.nth and not (self.asks and changing_hands(frame)):
                    self.raised = True
                    raise KeyboardInterrupt
        else:
            self._called.pop(id(frame), None)
        return self._opcode


def _end_of(wait: Callable[[], object], struck: Struck) -> str:
    try:
        with struck.striking():
            wait()
    except BaseException as error:
        return type(error).__name__
    return "ended"


def _waits() -> dict[str, Callable[[], object]]:
    event, condition = threading.Event(), threading.Condition()

    def in_turn() -> None:
        with condition:
            condition.wait(0.001)

    def started() -> None:
        threading.Thread(target=int, daemon=True).start()

    return {"event": lambda: event.wait(0.001), "condition": in_turn, "thread": started}


@pytest.mark.parametrize("name", list(_waits()))
def test_no_lock_is_given_back_twice(name: str) -> None:
    """Wherever in a wait or a start of a thread the second Ctrl-C comes, it ends that as KeyboardInterrupt, or comes later."""
    ends = {_end_of(_waits()[name], Struck(nth, asks=True)) for nth in range(40)}
    assert ends <= {"KeyboardInterrupt", "ended"}


def test_without_the_look_it_would_be() -> None:
    """The instants of this test hold the one that ended a change with "release unlocked lock"."""
    assert "RuntimeError" in {_end_of(_waits()["event"], Struck(nth, asks=False)) for nth in range(40)}


def test_a_signal_that_came_in_between_comes_again() -> None:
    """A Ctrl-C in the midst of taking a lock is not lost: it comes again while the main thread waits."""
    came: list[bool] = []

    def on_interrupt(number: int, frame: FrameType | None) -> None:
        came.append(changing_hands(frame))

    def inside() -> FrameType:
        found: list[FrameType] = []
        sys.setprofile(lambda frame, event, argument: found.append(frame) if event == "call" else None)
        try:
            threading.Condition().__enter__()
        finally:
            sys.setprofile(None)
        return next(frame for frame in found if frame.f_code.co_filename == threading.__file__)

    before = signal.signal(signal.SIGINT, on_interrupt)
    try:
        detach(inside())
        assert until(lambda: bool(came))
    finally:
        signal.signal(signal.SIGINT, before)


def test_a_wait_is_ended() -> None:
    """While the main thread waits for another one, the second Ctrl-C ends the wait at once."""
    event = threading.Event()

    def on_interrupt(number: int, frame: FrameType | None) -> None:
        detach(frame)

    before = signal.signal(signal.SIGINT, on_interrupt)
    main = threading.main_thread().ident
    assert main is not None
    striking = threading.Timer(0.05, signal.pthread_kill, (main, signal.SIGINT))
    try:
        striking.start()
        with pytest.raises(KeyboardInterrupt):
            event.wait(60)
    finally:
        signal.signal(signal.SIGINT, before)
        striking.join()
