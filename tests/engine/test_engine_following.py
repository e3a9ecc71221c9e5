"""What is followed and waited for: how long, what is shown meanwhile, what ends the wait, and what is not waited for."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial

import pytest
from engine_fakes import CELLS, Bench

from exacell.change.following import PATIENT, Board, Follower, Times
from exacell.change.gatekeeper import Gatekeeper
from exacell.change.running import Outcome, Report, StepResult
from exacell.change.targets.base import NO_ANSWER
from exacell.output.console import Progress, SilentConsole
from exacell.plan.model import Check, Op, Rolling, Step
from tests.support.every import every

ONE, TWO, THREE = CELLS
POLL = 5.0


class Watching(SilentConsole):
    """A console that keeps what is shown."""

    def __init__(self) -> None:
        super().__init__()
        self.shown: list[Mapping[str, str]] = []

    def progress(self, progress: Progress | None) -> None:
        """Keep the states."""
        if progress is not None:
            self.shown.append(progress.states)


@dataclass
class Wait:
    """Time that passes when somebody waits; an event that is set at a certain second."""

    cancel: threading.Event = field(default_factory=threading.Event)
    cancel_at: float | None = None
    waited: float = 0.0
    endable: list[bool] = field(default_factory=list)
    """Per wait, whether Ctrl-C ends it."""

    def __post_init__(self) -> None:
        self._cancel_now()

    def pause(self, event: threading.Event, seconds: float) -> None:
        """Let the time pass."""
        self.endable.append(event is self.cancel)
        self.waited += seconds
        assert self.waited < 10_000, "it waits for ever"
        self._cancel_now()

    def _cancel_now(self) -> None:
        if self.cancel_at is not None and self.waited >= self.cancel_at:
            self.cancel.set()


# -- flushes ---------------------------------------------------------------------------------------------------------

LIMITS: list[tuple[float | None, float, Outcome, float]] = [
    # (limit, when the flush ends, how that is judged, seconds waited)
    (None, 20.0, Outcome.DONE, 30.0),
    (600.0, 20.0, Outcome.DONE, 30.0),
    # What is proven at the very look at which the limit is over is done.
    (30.0, 20.0, Outcome.DONE, 30.0),
    (20.0, 20.0, Outcome.FAILED, 20.0),
    (21.0, 60.0, Outcome.FAILED, 25.0),
]


@pytest.mark.parametrize(("limit", "ends", "outcome", "waited"), LIMITS)
def test_a_flush_is_followed_to_its_proof_or_its_limit(
    bench: Bench, limit: float | None, ends: float, outcome: Outcome, waited: float
) -> None:
    """A flush may take its limit and no look longer; after the last look nobody waits any more."""
    wait, cell = Wait(), bench.transport.cells[ONE]
    cell.status = "normal - flushing"
    goes_on = cell._flush_goes_on
    cell._flush_goes_on = lambda: goes_on() if wait.waited >= ends else None  # type: ignore[method-assign]
    follower = Follower(bench.fleet, Times(poll=POLL, cancel=wait.cancel, pause=wait.pause, clock=lambda: wait.waited))
    step = Step(target=ONE, what="flush", limit=limit)
    board = Board(SilentConsole(), "flush", 1, 1, [ONE])
    found = follower.flushes([step], board, Report(change=1))
    assert (found[ONE].outcome, wait.waited) == (outcome, waited)
    if outcome is Outcome.FAILED:
        assert found[ONE].reason.startswith("not flushed within ")


@pytest.mark.parametrize(("limit", "outcome"), [(50.0, Outcome.DONE), (55.0, Outcome.DONE), (35.0, Outcome.FAILED)])
def test_the_last_look_is_one_that_began_when_the_limit_was_over(bench: Bench, limit: float, outcome: Outcome) -> None:
    """A look that another cell kept waiting beyond the limit shows the time before it: one more is made."""
    wait, cell = Wait(), bench.transport.cells[ONE]
    cell.status = "normal - flushing"
    bench.transport.reading = lambda: wait.pause(threading.Event(), 15.0)  # Looks begin at 0, 35 and 55.
    goes_on = cell._flush_goes_on
    cell._flush_goes_on = lambda: goes_on() if wait.waited >= 20 else None  # type: ignore[method-assign]
    follower = Follower(bench.fleet, Times(poll=POLL, cancel=wait.cancel, pause=wait.pause, clock=lambda: wait.waited))
    board = Board(SilentConsole(), "flush", 1, 1, [ONE])
    found = follower.flushes([Step(target=ONE, what="flush", limit=limit)], board, Report(change=1))
    assert found[ONE].outcome is outcome


MUTE: list[tuple[float | None, float, Outcome, float, str]] = [
    # (limit, seconds for which the cell is silent, how it is judged, seconds waited, reason)
    (None, 600.0, Outcome.DONE, 610.0, ""),
    (None, 9000.0, Outcome.UNKNOWN, 900.0, "silent for 15m00s: "),
    (3600.0, 1800.0, Outcome.DONE, 1810.0, ""),
    (
        300.0,
        9000.0,
        Outcome.UNKNOWN,
        300.0,
        "exacell did not see it flushed within 5m00s (--limit); silent for 5m00s: ",
    ),
]


@pytest.mark.parametrize(("limit", "silence", "outcome", "waited", "reason"), MUTE)
def test_a_silent_cell_is_waited_for(
    bench: Bench, limit: float | None, silence: float, outcome: Outcome, waited: float, reason: str
) -> None:
    """A cell whose Management Server restarts is followed until the limit, without one for a quarter of an hour; it is told."""
    wait, console = Wait(), Watching()
    bench.transport.cells[ONE].status = "normal - flushing"
    bench.transport.reading = lambda: setattr(bench.transport, "silent", {ONE} if wait.waited < silence else set())
    follower = Follower(bench.fleet, Times(poll=POLL, cancel=wait.cancel, pause=wait.pause, clock=lambda: wait.waited))
    board = Board(console, "flush", 1, 1, [ONE])
    found = follower.flushes([Step(target=ONE, what="flush", limit=limit)], board, Report(change=1))
    assert (found[ONE].outcome, wait.waited) == (outcome, waited)
    assert found[ONE].reason.startswith(reason)
    assert any(states[ONE].startswith("silent for 4m00s: no route to host") for states in console.shown)


def test_a_silent_cell_is_not_waited_for_longer_because_it_hangs(bench: Bench) -> None:
    """A quarter of an hour of silence is one, also when every look takes as long as a read may."""
    wait = Wait()
    bench.transport.cells[ONE].status = "normal - flushing"
    bench.transport.silent = {ONE}
    bench.transport.reading = lambda: wait.pause(threading.Event(), 60.0)
    follower = Follower(bench.fleet, Times(poll=POLL, cancel=wait.cancel, pause=wait.pause, clock=lambda: wait.waited))
    board = Board(SilentConsole(), "flush", 1, 1, [ONE])
    found = follower.flushes([Step(target=ONE, what="flush")], board, Report(change=1))
    assert (found[ONE].outcome, wait.waited) == (Outcome.UNKNOWN, 13 * 65.0 + 60.0)


def test_one_slow_look_is_no_silence(bench: Bench) -> None:
    """Where polls are short, as on an emulated rack, a look that takes its whole time and fails does not lose a flush."""
    wait, looks = Wait(), list[int]()
    bench.transport.cells[ONE].status = "normal - flushing"

    def slow() -> None:
        looks.append(1)
        bench.transport.silent = {ONE} if len(looks) in (1, 2, 4, 5) else set()
        wait.pause(threading.Event(), 60.0 if bench.transport.silent else 0.0)

    bench.fleet.releases([ONE])
    bench.transport.reading = slow
    follower = Follower(bench.fleet, Times(poll=0.2, cancel=wait.cancel, pause=wait.pause, clock=lambda: wait.waited))
    board = Board(SilentConsole(), "flush", 1, 1, [ONE])
    found = follower.flushes([Step(target=ONE, what="flush")], board, Report(change=1))
    assert (found[ONE].outcome, len(looks) >= 6) == (Outcome.DONE, True)


def test_three_slow_looks_are_silence(bench: Bench) -> None:
    """Where polls are short, the third look in a row that gets no answer is the last one."""
    wait = Wait()
    bench.transport.cells[ONE].status = "normal - flushing"
    bench.fleet.releases([ONE])
    bench.transport.silent = {ONE}
    bench.transport.reading = lambda: wait.pause(threading.Event(), 60.0)
    follower = Follower(bench.fleet, Times(poll=0.5, cancel=wait.cancel, pause=wait.pause, clock=lambda: wait.waited))
    board = Board(SilentConsole(), "flush", 1, 1, [ONE])
    found = follower.flushes([Step(target=ONE, what="flush")], board, Report(change=1))
    assert (found[ONE].outcome, wait.waited) == (Outcome.UNKNOWN, 3 * 60.0 + 2 * 0.5)


# -- proofs ----------------------------------------------------------------------------------------------------------

Failures = Mapping[str, Mapping[int, str]]
LONG = 3600.0
WRONG, HOPELESS, FINE = {0: "it is not there"}, {0: "it is not there", 1: "it never comes"}, dict[int, str]()


@dataclass(frozen=True)
class Proving:
    """A proof that is waited for.

    Attributes:
        looks: what fails at each look, and after the last of them as at that one.
        within: seconds that the step has.
        cancel_at: the second at which the user interrupts.
    """

    looks: Sequence[Mapping[int, str]]
    within: float
    outcome: Outcome
    reason: str = ""
    waited: float = 0.0
    cancel_at: float | None = None
    before: Outcome = Outcome.DONE

    @property
    def interrupted(self) -> bool:
        """Whether the reason says so."""
        return self.reason.startswith("interrupted")


DONE, FAILED, UNKNOWN = Outcome.DONE, Outcome.FAILED, Outcome.UNKNOWN
PROOFS = [
    Proving([FINE], 30.0, DONE),
    # A hope that does not hold is nothing when the proof does.
    Proving([{1: "it never comes"}], 30.0, DONE),
    Proving([WRONG, WRONG, FINE], 30.0, DONE, waited=10.0),
    Proving([WRONG], 10.0, FAILED, "reading back: it is not there", waited=10.0),
    Proving([WRONG], 10.0, UNKNOWN, "reading back: it is not there", waited=10.0, before=UNKNOWN),
    Proving([{NO_ANSWER: "no route"}], 10.0, UNKNOWN, "reading back: no route", waited=10.0),
    # A short proof is waited for whatever the user says; a long one ends with him, and nobody knows then.
    Proving([WRONG, WRONG, FINE], PATIENT, DONE, waited=10.0, cancel_at=0.0),
    Proving([WRONG], PATIENT, FAILED, "reading back: it is not there", waited=60.0, cancel_at=0.0),
    Proving([WRONG], LONG, UNKNOWN, "interrupted while waiting; it is not there", cancel_at=0.0),
    Proving([WRONG], LONG, UNKNOWN, "interrupted while waiting; it is not there", waited=100.0, cancel_at=100.0),
    Proving([WRONG, FINE], LONG, DONE, waited=5.0, cancel_at=5.0),
    # What can't come by waiting ends after a minute of it in a row.
    Proving([HOPELESS], LONG, FAILED, "reading back: it never comes", waited=60.0),
    Proving([*[HOPELESS] * 12, WRONG, WRONG, FINE], LONG, DONE, waited=70.0),
    Proving([*[HOPELESS] * 5, WRONG, HOPELESS], LONG, FAILED, "reading back: it never comes", waited=90.0),
    Proving([*[WRONG] * 40, FINE], LONG, DONE, waited=200.0),
]


def proven(
    cases: Mapping[str, Proving], *, read: float = 0.0, far: tuple[str, float, float] | None = None
) -> tuple[list[StepResult], Report, Wait, Watching]:
    """Wait for the proofs of several cells, each look of which takes ``read`` seconds; the interruption is the first one's."""
    wait, console = Wait(cancel_at=next(iter(cases.values())).cancel_at), Watching()
    proof, hope = Check(object="flashcache", op=Op.ABSENT), Check(object="celldisk", op=Op.ABSENT)
    results = [
        StepResult(
            step=Step(target=cell, what="x", proves=(proof,), hopes=(hope,), within=case.within), outcome=case.before
        )
        for cell, case in cases.items()
    ]

    def probe(
        wanted: Mapping[str, tuple[Step, Sequence[Check]]], cancel: threading.Event | None
    ) -> dict[str, dict[int, str]]:
        # What is waited for in any case is also looked at to the end.
        assert cancel is (wait.cancel if all(step.within > PATIENT for step, _ in wanted.values()) else None)
        look = int(wait.waited / (POLL + read))
        wait.waited += read
        return {cell: dict(cases[cell].looks[min(look, len(cases[cell].looks) - 1)]) for cell in wanted}

    report = Report(change=1)
    follower = Follower(None, Times(poll=POLL, cancel=wait.cancel, pause=wait.pause, clock=lambda: wait.waited))  # type: ignore[arg-type]
    found = follower.proofs(results, Board(console, "x", 1, 1, list(cases)), report, probe, lambda step: far)
    return found, report, wait, console


@every(PROOFS)
def test_a_proof_is_waited_for_as_long_as_it_may_come(case: Proving) -> None:
    """How it ends, after how many seconds and with which words; only a long wait can be ended, and only that is shown."""
    (result,), report, wait, console = proven({ONE: case})
    assert (result.outcome, result.reason, wait.waited) == (case.outcome, case.reason, case.waited)
    assert report.interrupted is case.interrupted
    assert set(wait.endable) <= {case.within > PATIENT}
    waits = any(states[ONE].startswith("waiting: ") for states in console.shown)
    assert waits is (case.within > PATIENT and case.waited > 0)


@pytest.mark.parametrize(("far", "shown"), [(None, "it is not there"), (("half of it", 0.5, 60.0), "half of it")])
def test_what_is_shown_of_a_long_wait(far: tuple[str, float, float] | None, shown: str) -> None:
    """A long wait shows how far the work is where somebody knows that, else what is not there yet."""
    _, _, _, console = proven({ONE: Proving([WRONG, FINE], LONG, DONE)}, far=far)
    assert f"waiting: {shown}" in {states[ONE] for states in console.shown}


def test_an_interruption_is_remembered_beside_a_short_proof() -> None:
    """One cell's long wait that was interrupted makes the change interrupted, though another's short proof failed later."""
    long = Proving([WRONG], LONG, UNKNOWN, cancel_at=0.0)
    short = Proving([WRONG], 10.0, FAILED)
    results, report, wait, _ = proven({ONE: long, TWO: short})
    assert [result.outcome for result in results] == [UNKNOWN, FAILED]
    assert (report.interrupted, wait.waited) == (True, 10.0)


def test_a_wait_can_be_ended_only_when_all_can() -> None:
    """While one of the proofs is short the wait is not ended; when only long ones are left it is."""
    long = Proving([*[WRONG] * 4, FINE], LONG, DONE)
    short = Proving([WRONG, WRONG, FINE], 30.0, DONE)
    _, _, wait, _ = proven({ONE: long, TWO: short})
    assert wait.endable == [False, False, True, True]


HANGING: list[tuple[float, Sequence[Mapping[int, str]], Outcome, float]] = [
    # (seconds that the step has, what fails at each look, how it ends, seconds waited); each look takes a minute.
    (600.0, [WRONG], FAILED, 10 * 65.0 + 60.0),
    (600.0, [*[WRONG] * 10, FINE], DONE, 10 * 65.0 + 60.0),
    # What another cell delayed has a second look, though the first one ended after its time.
    (30.0, [WRONG, FINE], DONE, 65.0 + 60.0),
    (30.0, [WRONG], FAILED, 65.0 + 60.0),
    # A minute without hope is a minute.
    (3600.0, [HOPELESS], FAILED, 65.0 + 60.0),
]


@pytest.mark.parametrize(("within", "looks", "outcome", "waited"), HANGING)
def test_a_proof_has_its_time_and_no_more_while_a_cell_hangs(
    within: float, looks: Sequence[Mapping[int, str]], outcome: Outcome, waited: float
) -> None:
    """The time of a proof is time, not a number of looks: a cell that hangs in every look does not stretch it."""
    results, _, wait, _ = proven({ONE: Proving(looks, within, outcome)}, read=60.0)
    assert ([result.outcome for result in results], wait.waited) == ([outcome], waited)


# -- gates -----------------------------------------------------------------------------------------------------------


def away(bench: Bench, cell: str, mode: str) -> None:
    disk = {"name": f"DATA_{cell}", "status": "active", "asmDiskGroupName": "DATA", "asmModeStatus": mode}
    bench.transport.cells[cell].tables["griddisk"] = [{**disk, "asmDeactivationOutcome": "Yes"}]


def keeper(bench: Bench, wait: Wait, console: SilentConsole) -> Gatekeeper:
    clock = partial(getattr, wait, "waited")
    times = Times(poll=POLL, cancel=wait.cancel, pause=wait.pause, clock=clock)
    return Gatekeeper(bench.fleet, {}, console, times)


ROLLING = Rolling(waves=((ONE,), (TWO,)), others=CELLS, within=60.0)


def test_a_gate_stays_closed_for_its_time_and_not_longer(bench: Bench) -> None:
    """It is given up at the look at which its time is over; what is waited for is shown all the time."""
    wait, console = Wait(), Watching()
    away(bench, THREE, "OFFLINE")
    passage = keeper(bench, wait, console).wait(ROLLING, 2, offline=False)
    assert (passage.open, passage.waited, wait.waited) == (False, 60.0, 60.0)
    assert "stayed closed for 1m00s: exa1cel03: griddisk DATA_exa1cel03" in passage.reason
    assert all("asmModeStatus is OFFLINE" in states[THREE] for states in console.shown[1:])


def test_a_gate_has_its_time_and_no_more_while_a_cell_hangs(bench: Bench) -> None:
    """A cell that hangs in every look does not stretch the time for which a closed gate is waited for."""
    wait = Wait()
    away(bench, THREE, "OFFLINE")
    bench.transport.reading = lambda: wait.pause(threading.Event(), 30.0)
    passage = keeper(bench, wait, SilentConsole()).wait(ROLLING, 2, offline=False)
    # The first look also asks for the releases: 60 seconds, a pause of 5, and the last look.
    assert (passage.open, passage.waited, wait.waited) == (False, 65.0, 95.0)


def test_a_gate_tells_what_it_met_first(bench: Bench) -> None:
    """The journal names why the gate was closed at first, and the way on why it is closed at last."""
    wait = Wait()
    away(bench, THREE, "SYNCING")
    bench.transport.reading = lambda: away(bench, THREE, "OFFLINE") if wait.waited else None
    passage = keeper(bench, wait, SilentConsole()).wait(ROLLING, 2, offline=False)
    assert "is SYNCING" in passage.met and "is OFFLINE" not in passage.met
    assert "is OFFLINE" in passage.reason


PAUSES = [(12.0, None, 12.0), (12.0, 0.0, 0.0), (12.0, 5.0, 5.0), (0.0, None, 0.0)]


@pytest.mark.parametrize(("pause", "cancel_at", "waited"), PAUSES)
def test_the_pause_between_waves(bench: Bench, pause: float, cancel_at: float | None, waited: float) -> None:
    """It takes as long as was asked for, and ends at once with an interruption."""
    wait = Wait(cancel_at=cancel_at)
    rolling = Rolling(waves=((ONE,), (TWO,)), pause=pause)
    passage = keeper(bench, wait, SilentConsole()).linger(rolling, 2, lambda question: None)
    assert (passage.open, passage.waited, wait.waited) == (True, waited, waited)


def closing(bench: Bench, wait: Wait, after: float) -> Gatekeeper:
    """A gatekeeper whose last moment is so many seconds away."""
    begin = 1_800_000_000.0
    found = keeper(bench, wait, SilentConsole())
    found._wall = lambda: begin + wait.waited
    found.close_at(datetime.fromtimestamp(begin + after).astimezone().isoformat())
    return found


@pytest.mark.parametrize(("look", "is_open"), [(29.0, True), (31.0, False)])
def test_a_look_that_ends_after_the_last_moment_opens_no_gate(bench: Bench, look: float, is_open: bool) -> None:
    """A wave whose gate was found open too late does not begin, though its look had begun in time."""
    wait = Wait()
    looks = iter([look])
    bench.transport.reading = lambda: wait.pause(threading.Event(), next(looks, 0.0))
    passage = closing(bench, wait, 30.0).wait(ROLLING, 2, offline=False)
    assert (passage.open, passage.interrupted) == (is_open, not is_open)
    assert ("(--not-after): stopped before wave 2" in passage.reason) is not is_open


def test_a_pause_ends_with_the_last_moment(bench: Bench) -> None:
    """Nobody waits for a wave that can't begin any more."""
    wait = Wait()
    closing(bench, wait, 12.0).linger(Rolling(waves=((ONE,), (TWO,)), pause=3600.0), 2, lambda question: None)
    assert wait.waited == 15.0
