"""Asking cells again and again: one that hangs holds up no other."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from types import SimpleNamespace
from typing import Any

import pytest

from exacell.core.errors import RefusedError
from exacell.live.polling import Looking
from exacell.session.answers import Answer
from exacell.transport.base import Reply, State
from tests.support.patience import must_come

CELLS = ("cel01", "cel02", "cel03")


class Fleet:
    """Answers at once, but for the cells that hang until they are let go; counts what was asked of whom."""

    def __init__(self, *, known: Sequence[str] = (), hang: Sequence[str] = (), down: Sequence[str] = ()) -> None:
        self.known, self.hang, self.down = set(known), set(hang), set(down)
        self.let_go = threading.Event()
        self.asked: list[str] = []
        self.greeted: list[str] = []
        self.error: Exception | None = None

    def strangers(self, cells: Sequence[str]) -> list[str]:
        return [cell for cell in cells if cell not in self.known]

    def _each(self, cells: Sequence[str], told: Callable[[Reply], None]) -> None:
        for cell in sorted(cells, key=lambda cell: cell in self.hang):
            if cell in self.hang and not self.let_go.wait(300):
                raise AssertionError("never let go")
            down = cell in self.down
            told(Reply(target=cell, state=State.UNREACHABLE if down else State.OK, problem="refused" if down else ""))

    def releases(self, cells: Sequence[str], *, on_reply: Callable[[Reply], None], cancel: object) -> None:
        self.greeted += cells

        def told(reply: Reply) -> None:
            if reply.state is State.OK:
                self.known.add(reply.target)
            on_reply(reply)

        self._each(cells, told)

    def query(
        self, cells: Sequence[str], statements: Sequence[str], *, on_answer: Callable[[Answer], None], cancel: object
    ) -> None:
        if self.error is not None:
            raise self.error
        self.asked += cells
        self._each(cells, lambda reply: on_answer(Answer(cell=reply.target, problem=reply.problem, reply=reply)))


@pytest.fixture
def look() -> Iterator[Callable[..., Looking]]:
    """Begin to look at three cells; what is shown are the names of those that answered."""
    begun: list[tuple[Looking, Fleet]] = []

    def begin(fleet: Fleet, every: float = 0.05) -> Looking:
        ctx: Any = SimpleNamespace(fleet=fleet, interrupted=threading.Event())
        ctx.aside = lambda other, console: (ctx, ctx)
        ctx.session = SimpleNamespace(interrupted=ctx.interrupted)
        looking = Looking(ctx, CELLS, lambda: ["list x"], every, wake=lambda: None)
        begun.append((looking, fleet))
        looking.start()
        return looking

    yield begin
    for looking, fleet in begun:
        looking.stop()
        fleet.let_go.set()


def seen(looking: Looking, *wanted: str) -> None:
    """Wait until these were shown."""
    left = set(wanted)

    def all_there() -> bool:
        for answers in looking.taken():
            left.difference_update(f"{answer.cell} {answer.problem}".strip() for answer in answers)
        return not left

    must_come(all_there)


@pytest.mark.parametrize("known", [CELLS, ()])
def test_a_cell_that_hangs_holds_up_no_other(look: Callable[..., Looking], known: Sequence[str]) -> None:
    """The others are asked again and again, also where releases were not known yet; the hanging one once."""
    fleet = Fleet(known=known, hang=["cel02"])
    looking = look(fleet)
    must_come(lambda: fleet.asked.count("cel01") > 3 and fleet.asked.count("cel03") > 3)
    seen(looking, "cel01", "cel03")
    assert (fleet.asked + fleet.greeted).count("cel02") == 1
    must_come(lambda: looking.late().get("cel02", 0) > 0.2)
    fleet.let_go.set()
    seen(looking, "cel02")
    must_come(lambda: "cel02" not in looking.late())
    assert looking.status == ""


def test_a_cell_without_an_answer_is_told_and_asked_again(look: Callable[..., Looking]) -> None:
    """A problem is an answer; the cell is asked again a while later and comes back."""
    fleet = Fleet(down=["cel03"])
    looking = look(fleet)
    seen(looking, "cel01", "cel03 refused")
    fleet.down.clear()
    seen(looking, "cel03")


def test_paused_it_asks_nobody(look: Callable[..., Looking]) -> None:
    """p stops the asking until it goes on."""
    fleet = Fleet(known=CELLS)
    looking = look(fleet)
    seen(looking, *CELLS)
    looking.pause(True)
    asked = [-1]

    def still() -> bool:
        asked.append(len(fleet.asked))
        time.sleep(0.3)
        return asked[-1] == asked[-2]

    must_come(still)
    before = len(fleet.asked)
    time.sleep(0.3)
    assert len(fleet.asked) == before and looking.paused
    looking.pause(False)
    must_come(lambda: len(fleet.asked) > before)


def test_errors_are_told_and_our_mistakes_raised(look: Callable[..., Looking]) -> None:
    """What a question fails with is the status until cells answer again; what is no ExacellError reaches the caller."""
    fleet = Fleet(known=CELLS)
    fleet.error = RefusedError("the transport is closed")
    looking = look(fleet)
    must_come(lambda: looking.error is not None and looking.status == "the transport is closed")
    fleet.error = None
    seen(looking, *CELLS)
    assert looking.error is None
    fleet.error = ZeroDivisionError()

    def raised() -> bool:
        try:
            looking.taken()
        except ZeroDivisionError:
            return True
        return False

    must_come(raised)
