"""Programs meet time, output and input in the driver."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

import pytest
from hypothesis import given, strategies as st

from exacell.emulator.basics.program import Ask, Out, Pause, Program
from exacell.emulator.server.driver import ConsoleLost, LineBuffer, drive


@dataclass
class Recorder:
    """A console that records what it is told and answers from a list."""

    answers: list[str | None] = field(default_factory=list)
    told: list[tuple[str, str]] = field(default_factory=list)
    lost: bool = False

    async def write(self, text: str, *, err: bool) -> None:
        if self.lost:
            raise ConsoleLost("gone")
        self.told.append(("err" if err else "out", text))

    async def read_line(self, prompt: str) -> str | None:
        self.told.append(("prompt", prompt))
        return self.answers.pop(0)


def run(program: Program, console: Recorder) -> int:
    return asyncio.run(drive(program, console, wall_seconds=lambda pause: pause.seconds / 1e9))


def test_output_is_gathered_but_never_reordered() -> None:
    """Pieces for one stream travel together, and what was printed first is sent first over both streams."""

    def program() -> Program:
        yield Out("a")
        yield Out("b")
        yield Out("c", err=True)
        yield Out("d")
        answer = yield Ask("? ")
        yield Out(f"[{answer}]")
        return 4

    console = Recorder(answers=["x"])
    assert run(program(), console) == 4
    assert console.told == [("out", "ab"), ("err", "c"), ("out", "d"), ("prompt", "? "), ("out", "[x]")]


def test_output_is_shown_before_a_pause() -> None:
    """What a program prints before it waits is seen before it waits."""
    seen: list[int] = []
    console = Recorder()

    def program() -> Program:
        yield Out("first")
        yield Pause(1)
        seen.append(len(console.told))
        return 0

    run(program(), console)
    assert seen == [1]


def test_a_lost_console_closes_the_program() -> None:
    """When nobody reads any more, the program's finally blocks run and the loss is reported."""
    ended: list[bool] = []

    def program() -> Program:
        try:
            yield Out("x")
            yield Pause(1)
        finally:
            ended.append(True)
        return 0

    with pytest.raises(ConsoleLost):
        run(program(), Recorder(lost=True))
    assert ended == [True]


def test_a_busy_program_lets_others_go_on() -> None:
    """A program that prints without end does not keep other sessions from their turn."""

    def endless() -> Program:
        while True:
            yield Out("x")

    async def both() -> int:
        busy = asyncio.ensure_future(drive(endless(), Recorder(), wall_seconds=lambda pause: 0))
        await asyncio.sleep(0)
        busy.cancel()
        with pytest.raises(asyncio.CancelledError):
            await busy
        return 1

    assert asyncio.run(asyncio.wait_for(both(), 5)) == 1


@given(st.text(alphabet="ab\n\r", max_size=30), st.data())
def test_lines_do_not_depend_on_how_input_is_cut(text: str, data: st.DataObject) -> None:
    """However the input arrives in pieces, the same lines come out."""
    buffer = LineBuffer()
    raw, lines = text.encode(), []
    while raw:
        size = data.draw(st.integers(1, len(raw)))
        buffer.feed(raw[:size])
        raw = raw[size:]
        while (got := buffer.next())[0]:
            lines.append(got[1])
    buffer.feed(b"")
    while (got := buffer.next())[1] is not None:
        lines.append(got[1])
    expected = text.split("\n")
    assert lines == [line.removesuffix("\r") for line in (expected if expected[-1] else expected[:-1])]


def test_a_line_without_end_is_bounded() -> None:
    """Input without line ends is handed on in pieces of the limit, so memory stays bounded."""
    buffer = LineBuffer(limit=4)
    buffer.feed(b"abcdefgh")
    assert [buffer.next(), buffer.next(), buffer.next()] == [(True, "abcd"), (True, "efgh"), (False, None)]


def test_nothing_is_stored_between_lines_that_change_nothing() -> None:
    """Whoever asks for a line and says that nothing has to be stored is not followed by a look at what has changed."""
    looks: list[str] = []

    def program() -> Program:
        first = yield Ask()
        looks.append(f"got {first}")
        second = yield Ask(unchanged=True)
        looks.append(f"got {second}")
        return 0

    def look() -> None:
        looks.append("look")

    asyncio.run(drive(program(), Recorder(answers=["a", "b"]), wall_seconds=lambda _: 0.0, between=look))
    assert looks == ["look", "got a", "got b", "look"]
