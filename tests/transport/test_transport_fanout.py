"""The fan-out by itself: bounded, punctual, one reply a target, whatever the work does."""

from __future__ import annotations

import threading
import time
from types import SimpleNamespace

import pytest

from exacell.transport import fanout
from exacell.transport.base import Reply, Request, State
from exacell.transport.fanout import FanOut, Flight
from tests.support.patience import LONG_S
from tests.support.requests import read


def requests(count: int) -> list[Request]:
    return [read(f"c{number}", "x") for number in range(count)]


def test_stuck_work_is_answered_and_replaced() -> None:
    """It should answer for work that cannot be interrupted at its deadline and still do all the rest."""
    release, came = threading.Event(), list[bool]()

    def work(flight: Flight) -> Reply:
        if flight.request.target in ("c0", "c1"):
            flight.stage(0.05, abort=lambda: None, late=lambda: flight.reply(State.UNREACHABLE, "stuck"))
            came.append(release.wait(LONG_S))
        return flight.reply(State.OK)

    result = FanOut(requests(6), work, limit=2).run()
    assert not came
    release.set()
    assert [reply.state for reply in result.replies.values()] == [State.UNREACHABLE] * 2 + [State.OK] * 4
    assert result.replies["c0"].problem == "stuck"


def test_abort_is_called_once_overdue() -> None:
    """It should break an overdue stage off, and a stage that an abandoned worker enters later at once."""
    aborted = threading.Event()
    entered = threading.Event()
    second = threading.Event()

    def work(flight: Flight) -> Reply:
        flight.stage(0.02, abort=aborted.set, late=lambda: flight.reply(State.TIMED_OUT, "late"))
        aborted.wait(300)
        flight.stage(60, abort=second.set, late=lambda: flight.reply(State.TIMED_OUT, "never shown"))
        entered.set()
        return flight.reply(State.OK)

    result = FanOut(requests(1), work, limit=1).run()
    assert result.replies["c0"].problem == "late"
    assert entered.wait(300) and second.wait(300)


def test_abort_that_blocks_delays_nobody() -> None:
    """It should not wait for an abort that is stuck itself."""
    release, came = threading.Event(), list[bool]()

    def stuck() -> None:
        came.append(release.wait(LONG_S))

    def work(flight: Flight) -> Reply:
        flight.stage(0.02, abort=stuck, late=lambda: flight.reply(State.TIMED_OUT, "late"))
        stuck()
        return flight.reply(State.OK)

    assert FanOut(requests(3), work, limit=3).run().in_state(State.TIMED_OUT)
    assert not came
    release.set()


def test_bug_in_work_is_raised() -> None:
    """It should raise an exception of the work in the caller and start nothing more."""
    done: list[str] = []

    def work(flight: Flight) -> Reply:
        if flight.request.target == "c0":
            raise ZeroDivisionError
        done.append(flight.request.target)
        return flight.reply(State.OK)

    with pytest.raises(ZeroDivisionError):
        FanOut(requests(50), work, limit=1).run()


def test_replies_arrive_as_they_complete() -> None:
    """It should hand each reply to on_reply once, the quick ones before the slow, and return target order."""
    seen: list[str] = []
    slow = threading.Event()

    def work(flight: Flight) -> Reply:
        if flight.request.target == "c0":
            slow.wait(300)
        return flight.reply(State.OK)

    def note(reply: Reply) -> None:
        seen.append(reply.target)
        if len(seen) == 4:
            slow.set()

    result = FanOut(requests(5), work, limit=2, on_reply=note).run()
    assert seen[-1] == "c0" and sorted(seen) == sorted(result.targets)
    assert result.targets == tuple(f"c{n}" for n in range(5))


def test_cancel_before_start() -> None:
    """It should attempt nothing when it was cancelled before."""
    cancel = threading.Event()
    cancel.set()
    result = FanOut(requests(3), lambda flight: flight.reply(State.OK), limit=2, cancel=cancel).run()
    assert len(result.in_state(State.NOT_ATTEMPTED)) == 3
    assert all("not started" in reply.problem for reply in result.problems)


def test_many_targets_few_workers() -> None:
    """It should keep to the limit over thousands of targets."""
    lock = threading.Lock()
    running = most = 0

    def work(flight: Flight) -> Reply:
        nonlocal running, most
        with lock:
            running += 1
            most = max(most, running)
        time.sleep(0)
        with lock:
            running -= 1
        return flight.reply(State.OK)

    result = FanOut(requests(2000), work, limit=8).run()
    assert len(result.ok) == 2000
    assert most <= 8


def test_a_reply_says_how_long_its_own_answer_took() -> None:
    """It should count a reply's seconds to its own answer, although it is made when the last one is there."""
    slow = threading.Event()

    def work(flight: Flight) -> Reply | None:
        if flight.request.target == "c0":
            slow.wait(300)
        flight.finish(lambda: flight.reply(State.OK))
        if flight.request.target == "c4":
            time.sleep(0.05)
            slow.set()
        return None

    result = FanOut(requests(5), work, limit=5).run()
    assert len(result.ok) == 5
    assert result.replies["c0"].seconds >= 0.05 + result.replies["c4"].seconds


@pytest.mark.parametrize(("answers", "state"), [(True, State.OK), (False, State.TIMED_OUT)])
def test_who_was_held_past_a_deadline_reads_what_came_first(
    monkeypatch: pytest.MonkeyPatch, answers: bool, state: State
) -> None:
    """It should take an answer that came while the process was stopped, and give up soon where none did."""
    flights: list[Flight] = []
    clock = [0.0]
    waits: list[float | None] = []

    def start(flight: Flight) -> bool:
        flights.append(flight)
        flight.stage(60, abort=lambda: None, late=lambda: flight.reply(State.TIMED_OUT, "late"))
        return True

    def wait(seconds: float | None = None) -> bool:
        waits.append(seconds)
        if len(waits) == 1:
            clock[0] += 1000  # Stopped, and continued.
        elif answers:
            flights[0].finish(flights[0].reply(State.OK))
        else:
            clock[0] += seconds or 0
        return True

    monkeypatch.setattr(fanout, "time", SimpleNamespace(monotonic=lambda: clock[0]))
    fan = FanOut(requests(1), lambda flight: None, limit=1, start=start)
    monkeypatch.setattr(fan.changed, "wait", wait)
    assert fan.run().replies["c0"].state is state
    assert waits == [60, fanout.AGAIN_S]
