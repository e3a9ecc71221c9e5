"""What the long runs of benchmarks/ tell while they go on."""

from __future__ import annotations

import io

import pytest

from benchmarks.how_far import EVERY_S, HowFar, duration


class Terminal(io.StringIO):
    """A stream that takes itself for a terminal."""

    def isatty(self) -> bool:
        return True


def test_it_tells_count_failures_and_time_left_now_and_then() -> None:
    """At a terminal there is a line each fifteen seconds at most, with what ended, what is bad, and what is left."""
    now, stream = [0.0], Terminal()
    far = HowFar(400, "cases", "did not survive", stream=stream, clock=lambda: now[0])
    for ended in range(101):
        now[0] = ended * 0.6
        far.tell(ended, ended // 50)
    assert stream.getvalue().splitlines() == [
        "25 of 400 cases, 0 did not survive, 15s, about 3m 45s left",
        "50 of 400 cases, 1 did not survive, 30s, about 3m 30s left",
        "75 of 400 cases, 1 did not survive, 45s, about 3m 15s left",
        "100 of 400 cases, 2 did not survive, 1m 0s, about 3m 0s left",
    ]


def test_before_the_first_has_ended_nothing_is_foretold() -> None:
    """A first part that takes long is no reason to divide by nothing."""
    now, stream = [0.0], Terminal()
    far = HowFar(2, "cases", "bad", stream=stream, clock=lambda: now[0])
    now[0] = 90 * 60
    far.tell(0, 0)
    far.total, now[0] = 0, 91 * 60
    far.tell(0, 0)
    assert stream.getvalue().splitlines() == ["0 of 2 cases, 0 bad, 1h 30m", "0 cases, 0 bad, 1h 31m"]


@pytest.mark.parametrize(("wanted", "lines"), [(False, 0), (True, 1)])
def test_a_pipe_gets_lines_only_when_asked_for(wanted: bool, lines: int) -> None:
    """What is no terminal gets nothing, unless --progress was given."""
    now, stream = [0.0], io.StringIO()
    far = HowFar(2, "cases", "bad", wanted=wanted, stream=stream, clock=lambda: now[0])
    now[0] = EVERY_S
    far.tell(1, 0)
    assert len(stream.getvalue().splitlines()) == lines


@pytest.mark.parametrize(
    ("seconds", "said"), [(0, "0s"), (59.6, "1m 0s"), (61, "1m 1s"), (3599.7, "1h 0m"), (7380, "2h 3m")]
)
def test_times_have_two_units(seconds: float, said: str) -> None:
    """A time that is rounded up to the next unit is of that unit."""
    assert duration(seconds) == said
