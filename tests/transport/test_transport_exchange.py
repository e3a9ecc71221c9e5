"""A look and the statement upon it: what comes next at each moment, whatever the clock does."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from exacell.transport.base import Judgement, Pair
from exacell.transport.exchange import AGE, LOOKS, PATIENT_LOOKS, TICK, Act, Exchange
from tests.support.clocks import Standing


class Bench:
    """An exchange on a clock that stands; ``ours`` are the answers to whose the rack is, the last one for good."""

    def __init__(self, *, ours: Sequence[str | None] = ("",)) -> None:
        self.clock = Standing()
        self.ours = list(ours)
        self.reading = 0.0
        """Seconds that asking whose the rack is takes."""
        pair = Pair(
            program="cellcli",
            look="list flashcache\n",
            whole=lambda text: "END" in text,
            judge=self._judge,
            statement="DROP FLASHCACHE\n",
            ours=self._whose,
        )
        self.exchange = Exchange(pair, clock=self.clock, now=lambda: "now")

    def _judge(self, text: str) -> Judgement:
        return Judgement(why="" if "flushed" in text else "it is dirty", needless="needless" in text)

    def _whose(self) -> str | None:
        self.clock.now += self.reading
        return self.ours.pop(0) if len(self.ours) > 1 else self.ours[0]

    def look(self, text: str = "flushed END", *, after: float = TICK) -> Act:
        """Feed the look and have its answer come a while after the driver was last awake."""
        assert self.exchange.next() is Act.LOOK
        self.exchange.fed()
        self.clock.now += after
        self.exchange.take(text.encode())
        return self.exchange.next()


def test_a_good_look_sends() -> None:
    """Behind a look that allows it the statement leaves, with its age, and what comes then is its answer."""
    bench = Bench()
    assert bench.look() is Act.SEND and bench.exchange.may()
    bench.clock.now += 0.01
    bench.exchange.left()
    bench.exchange.take(b"successfully dropped")
    looked = bench.exchange.looked
    assert looked.sent and looked.age == pytest.approx(TICK + 0.01) and looked.text == "flushed END"
    assert bench.exchange.next() is Act.END and bench.exchange.answer == "successfully dropped"


def test_a_bad_look_ends_it() -> None:
    """Behind a look that forbids it nothing is sent, and the reason is the judgement's."""
    bench = Bench()
    assert bench.look("dirty END") is Act.END
    assert bench.exchange.refusal == "it is dirty" and not bench.exchange.looked.sent and not bench.exchange.may()


def test_an_answer_that_is_not_whole_is_waited_for() -> None:
    """Half an answer is judged by nobody."""
    bench = Bench()
    assert bench.look("flushed") is Act.WAIT and not bench.exchange.may()
    bench.exchange.take(b" END")
    assert bench.exchange.next() is Act.SEND


@pytest.mark.parametrize("stood", [AGE + 0.01, 2.0, 43200.0])
def test_a_process_that_stood_before_the_answer_was_read_looks_again(stood: float) -> None:
    """An answer that may have waited for this process while it was stopped is too old, whenever it is read."""
    bench = Bench()
    assert bench.look(after=stood) is Act.LOOK and not bench.exchange.may()
    assert bench.look() is Act.SEND
    assert bench.exchange.looked.looks == 2


def test_a_stop_in_the_middle_of_a_look_looks_again() -> None:
    """A process that stood still while it waited, and was awake again before the answer came, looks again."""
    bench = Bench()
    bench.exchange.next()
    bench.exchange.fed()
    for seconds in (TICK, 12.0, TICK):
        bench.clock.now += seconds
        bench.exchange.tick()
    bench.exchange.take(b"flushed END")
    assert bench.exchange.next() is Act.LOOK


@pytest.mark.parametrize(("seconds", "looks"), [(0.2, 1), (0.3, PATIENT_LOOKS), (12.0, PATIENT_LOOKS)])
def test_a_slow_cell_is_looked_at_a_few_times(seconds: float, looks: int) -> None:
    """A look that took long may have been held up on its way, and is repeated; a cell that is always slow is believed then."""
    bench = Bench()
    for look in range(1, looks + 1):
        assert bench.exchange.next() is Act.LOOK
        bench.exchange.fed()
        for _ in range(round(seconds / TICK)):
            bench.clock.now += TICK
            bench.exchange.tick()
        bench.exchange.take(b"flushed END")
        assert bench.exchange.next() is (Act.SEND if look == looks else Act.LOOK)
    assert bench.exchange.looked.seconds == pytest.approx(seconds) and bench.exchange.looked.looks == looks


def test_a_stop_behind_the_judgement_looks_again() -> None:
    """A process that is stopped when all is judged does not send: it is asked again right before."""
    bench = Bench()
    assert bench.look() is Act.SEND
    bench.clock.now += 12
    assert not bench.exchange.may()
    bench.exchange.barred()
    assert bench.exchange.next() is Act.LOOK


def test_looking_again_ends() -> None:
    """A process that always stands still gives up after some looks, and says so."""
    bench = Bench()
    for _ in range(LOOKS - 1):
        assert bench.look(after=1.0) is Act.LOOK
    assert bench.look(after=1.0) is Act.END
    assert "was suspended" in bench.exchange.refusal and not bench.exchange.sent


def test_a_rack_that_is_not_ours_any_more_gets_nothing() -> None:
    """Behind a takeover nothing is sent, and the reason is told."""
    bench = Bench(ours=("taken over by maria",))
    assert bench.look() is Act.END
    assert bench.exchange.refusal == "taken over by maria" and not bench.exchange.looked.ours


def test_whose_the_rack_is_is_waited_for() -> None:
    """Where it is not known whose the rack is, nothing is sent; the look grows too old meanwhile, and is repeated."""
    bench = Bench(ours=(None,))
    assert bench.look() is Act.WAIT and not bench.exchange.may()
    bench.clock.now += AGE
    bench.exchange.tick()
    assert bench.exchange.next() is Act.LOOK


def test_a_takeover_in_the_last_moment_keeps_it_back() -> None:
    """Whose the rack is is asked once more when the statement is about to be written."""
    bench = Bench(ours=("", "taken over"))
    assert bench.look() is Act.SEND and not bench.exchange.may()


def test_a_stop_while_whose_the_rack_is_is_read_keeps_it_back() -> None:
    """A process that stands still while it reads whose the rack is, for the last time, looks again: the look's age comes last."""
    bench = Bench()
    assert bench.look() is Act.SEND
    bench.reading = AGE + 0.01
    assert not bench.exchange.may()
    bench.reading = 0.0
    bench.exchange.barred()
    assert bench.look() is Act.SEND and bench.exchange.may()


def test_what_is_needless_is_told_so() -> None:
    """A judgement that the statement is not needed is handed on."""
    bench = Bench()
    assert bench.look("needless END") is Act.END and bench.exchange.looked.needless
