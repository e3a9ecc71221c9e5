"""Who interrupts a wait is not kept by a cell that does not answer: looks are left, statements and what mends are not."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from types import SimpleNamespace

import pytest
from engine_fakes import CELLS, Bench

from exacell.change.changing import _interrupted
from exacell.change.following import Board, Follower, Times
from exacell.change.gatekeeper import LEAST_LOOK, Gatekeeper
from exacell.change.running import Outcome, Report, StepResult
from exacell.change.targets.cells import failed_on_cells
from exacell.change.targets.kinds import Targets
from exacell.core import background as meanwhile
from exacell.core.background import unless_interrupted
from exacell.core.errors import ExitCode
from exacell.output.console import SilentConsole
from exacell.plan.model import Check, Op, Plan, Rolling, Stage, Step, Watch
from exacell.transport.base import Reply, Request
from tests.support.patience import LONG_S

ONE, TWO, THREE = CELLS
BROKEN = Check(object="cell", attribute="flashCacheMode", value="no such mode")
FINE = Check(object="cell", op=Op.COUNT, value=1)


class Hanging:
    """Makes looks at one cell hang as soon as they are armed, while somebody presses Ctrl-C."""

    def __init__(self, bench: Bench) -> None:
        self.free = threading.Event()
        self.asked: list[Request] = []
        self.cell = ""
        self._bench = bench
        self._one = bench.transport._one

    def answer(self, request: Request) -> Reply:
        """Answer as the fakes do, where nothing hangs."""
        if not request.role.changes:
            self.asked.append(request)
            if request.target == self.cell:
                self._bench.cancel.set()
                assert self.free.wait(300)
        return self._one(request)


@pytest.fixture
def hanging(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> Iterator[Hanging]:
    """Looks that hang until the test is over; nobody waits long for those that he left."""
    bench.facts()  # Releases are known: each look is one round trip.
    found = Hanging(bench)
    monkeypatch.setattr(bench.transport, "_one", found.answer)
    monkeypatch.setattr(meanwhile, "AFTERWARDS", 0.05)
    yield found
    found.free.set()


def test_a_look_that_ends_is_heard() -> None:
    """What it returns or raises is the caller's, also when somebody has interrupted before: it is given a moment."""
    cancel = threading.Event()
    cancel.set()
    assert unless_interrupted(lambda: 7, cancel) == 7
    with pytest.raises(ZeroDivisionError):
        unless_interrupted(lambda: 1 // 0, cancel)


def test_a_look_that_hangs_is_left(hanging: Hanging, bench: Bench) -> None:
    """Without an interruption it is waited for; with one it is not."""
    asked = threading.Event()

    def look() -> int:
        asked.set()
        assert hanging.free.wait(LONG_S)
        return 7

    def interrupt() -> None:
        assert asked.wait(LONG_S)
        bench.cancel.set()

    threading.Thread(target=interrupt).start()
    assert unless_interrupted(look, bench.cancel) is None
    hanging.free.set()
    assert unless_interrupted(look, threading.Event()) == 7


def test_cells_that_answered_are_judged_without_the_silent_one(hanging: Hanging, bench: Bench) -> None:
    """Of a look that is left, answers that came are not lost; of the cell that kept silent nothing is said but that."""
    hanging.cell = THREE
    found = failed_on_cells(bench.fleet, {ONE: [FINE], TWO: [BROKEN], THREE: [FINE]}, bench.cancel)
    assert (found[ONE], list(found[TWO]), found[THREE]) == ({}, [0], {-1: "no answer yet"})
    hanging.cell = "exa1db01"
    bench.cancel.clear()
    step = Step(target="exa1db01", asm="main", what="w")
    targets = Targets(bench.fleet, {"main": bench.asm})
    asked = {"exa1db01": (step, [Check(object="asm.diskgroup")])}
    assert targets.failed(asked, bench.cancel) == {"exa1db01": {-1: "no answer yet"}}


def plan(within: float, *, needs: tuple[Check, ...] = (), **more: object) -> Plan:
    given: dict[str, object] = {"statement": "ALTER IORMPLAN dbplan=", "what": "change it", "within": within, **more}
    steps = tuple(Step(target=cell, needs=needs, proves=(FINE,), **given) for cell in CELLS)  # type: ignore[arg-type]
    return Plan(statement="alter it", rack="t1", stages=(Stage(title="change it", steps=steps),))


def test_a_long_proof_ends_at_once_with_what_is_true(hanging: Hanging, bench: Bench) -> None:
    """Cells that were read back are done; the silent one is unknown, never failed, and resume finds out."""
    hanging.cell = THREE
    report = bench.run(plan(900.0))
    assert [result.outcome for result in report.results] == [Outcome.DONE, Outcome.DONE, Outcome.UNKNOWN]
    assert report.results[2].reason == "interrupted while waiting; no answer yet"
    assert report.interrupted and len(bench.transport.sent) == 3


def test_who_leaves_is_told_what_is_not_known() -> None:
    """It should not say that all has ended where a cell was not waited for, and name the way to find out."""
    report = Report(change=7, interrupted=True)
    for cell, outcome in zip(CELLS, (Outcome.DONE, Outcome.UNKNOWN, Outcome.UNKNOWN), strict=True):
        report.results.append(StepResult(step=Step(target=cell, what="x"), outcome=outcome))
    assert _interrupted(report).endswith("exacell did not wait for exa1cel[02-03]: `resume 7` checks the result")
    del report.results[1:]
    assert _interrupted(report) == "interrupted: running statements have ended; nothing more was started"


def test_nothing_is_sent_after_an_interruption(hanging: Hanging, bench: Bench) -> None:
    """A look right before statements that a silent cell holds up is left, and so are the statements: none is on its way."""
    hanging.cell = THREE
    report = bench.run(plan(30.0, needs=(FINE,)))
    assert {result.outcome for result in report.results} == {Outcome.NOT_SENT}
    assert report.interrupted and bench.transport.sent == []
    assert not [row for row in bench.rows() if row.kind == "intent"]


def test_an_interruption_during_a_look_that_ends_sends_nothing(bench: Bench) -> None:
    """Ctrl-C while preconditions are read is before the statement, however quickly they are read."""
    bench.transport.reading = bench.cancel.set
    report = bench.run(plan(30.0, needs=(FINE,)))
    assert {result.outcome for result in report.results} == {Outcome.NOT_SENT}
    assert report.interrupted and bench.transport.sent == []


def test_an_interrupted_change_asks_nothing_more(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """Behind Ctrl-C while statements are under way no cell is asked for what the next stage needs, and its steps say so."""
    first = tuple(Step(target=cell, statement='ALTER IORMPLAN dbplan=""', what="first") for cell in CELLS)
    stages = (Stage(title="first", steps=first), *plan(30.0, needs=(FINE,)).stages)
    carried_out, asked = bench.fleet.send, list[str]()

    def sending(*given: object, **more: object) -> object:
        bench.cancel.set()
        bench.transport.reading = lambda: asked.append("read")
        return carried_out(*given, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(bench.fleet, "send", sending)
    report = bench.run(Plan(statement="alter it", rack="t1", stages=stages))
    assert [result.outcome for result in report.results] == [Outcome.DONE] * 3 + [Outcome.NOT_SENT] * 3
    assert asked == [] and report.interrupted


def test_an_interruption_where_nothing_is_left_to_send_changes_nothing(bench: Bench) -> None:
    """Ctrl-C during the look that finds the last statement not needed leaves a change that is complete, and says so."""
    bench.transport.reading = bench.cancel.set
    report = bench.run(plan(30.0, only_if=(BROKEN,)))
    assert {result.outcome for result in report.results} == {Outcome.NOT_NEEDED}
    assert not report.interrupted and report.exit_code is ExitCode.DONE


def test_what_brings_caching_back_is_looked_at_to_the_end(
    hanging: Hanging, bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A step that ends what an earlier one switched off is sent after an interruption too, and its look is waited for."""
    off, on = plan(30.0, caching_off=True).stages[0], plan(30.0, needs=(FINE,), caching_on=True).stages[0]
    both = (off, Stage(title="bring it back", steps=on.steps))
    carried_out = bench.fleet.send

    def sending(*given: object, **more: object) -> object:
        bench.cancel.set()
        threading.Timer(0.4, hanging.free.set).start()
        hanging.cell = THREE
        return carried_out(*given, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(bench.fleet, "send", sending)
    report = bench.run(Plan(statement="alter it", rack="t1", stages=both))
    assert {result.outcome for result in report.results} == {Outcome.DONE}
    assert len(bench.transport.sent) == 6


def test_the_last_look_at_caches_is_left_and_the_change_has_its_end(hanging: Hanging, bench: Bench) -> None:
    """Who interrupts while a silent cell is asked whether it caches again leaves a change with an end, and nothing observed."""
    steps = tuple(Step(target=cell, statement="ALTER IORMPLAN dbplan=", what="off", caching_off=True) for cell in CELLS)
    hanging.cell = THREE
    report = bench.run(Plan(statement="alter it", rack="t1", stages=(Stage(title="off", steps=steps),)))
    assert {result.outcome for result in report.results} == {Outcome.DONE}
    kinds = [row.kind for row in bench.rows()]
    assert kinds[-1] == "end" and "observed" not in kinds


@pytest.mark.parametrize("target", [THREE, "exa1db01"])
def test_a_gate_is_left_in_the_middle_of_a_look(hanging: Hanging, bench: Bench, target: str) -> None:
    """A silent cell or database node holds up nobody who leaves a gate; the wave does not begin."""
    hanging.cell = target
    times = Times(poll=0.01, cancel=bench.cancel, pause=threading.Event.wait)
    keeper = Gatekeeper(bench.fleet, {"main": bench.asm}, SilentConsole(), times)
    rolling = Rolling(waves=((ONE,), (TWO,)), others=CELLS, clusters=("main",))
    passage = keeper.wait(rolling, 2, offline=False)
    assert (passage.open, passage.interrupted, passage.reason) == (
        False,
        True,
        "interrupted at the gate before wave 2 of 2",
    )


def test_a_flush_is_left_in_the_middle_of_a_look(hanging: Hanging, bench: Bench) -> None:
    """Who interrupts the following of a flush does not wait for a cell that keeps silent; the flush goes on."""
    bench.transport.cells[THREE].status = "normal - flushing"
    hanging.cell = THREE
    follower = Follower(bench.fleet, Times(poll=0.01, cancel=bench.cancel, pause=threading.Event.wait))
    report = Report(change=1)
    step = Step(target=THREE, what="flush", watch=Watch.FLUSH)
    found = follower.flushes([step], Board(SilentConsole(), "flush", 1, 1, [THREE]), report)
    assert (found[THREE].outcome, found[THREE].reason, report.interrupted) == (Outcome.FAILED, "interrupted", True)


LOOKS: list[tuple[float, float, list[float]]] = [
    # (--timeout, seconds that a read may take, what each look is given); a look here takes all that it is given.
    (7200.0, 60.0, [60.0]),
    (100.0, 60.0, [60.0, 35.0, LEAST_LOOK]),
    (20.0, 60.0, [20.0, LEAST_LOOK]),
    (0.0, 60.0, [LEAST_LOOK]),
    (100.0, 5.0, [5.0]),
]


@pytest.mark.parametrize(("within", "read", "given"), LOOKS)
def test_a_look_of_a_gate_is_given_what_is_left(bench: Bench, within: float, read: float, given: list[float]) -> None:
    """No cell and no database node is waited for beyond the time for which a gate is waited for, but for a short last look."""
    clock = SimpleNamespace(now=0.0)
    bench.facts()
    asked: list[float | None] = []
    one: Callable[[Request], Reply] = bench.transport._one

    def answer(request: Request) -> Reply:
        if request.target == THREE:
            assert request.timeout is not None
            clock.now += request.timeout
        if request.target in (THREE, "exa1db01"):
            asked.append(request.timeout)
        return one(request)

    def pause(event: threading.Event, seconds: float) -> None:
        clock.now += seconds

    bench.transport.silent = {THREE}
    bench.transport._one = answer  # type: ignore[method-assign]
    times = Times(poll=5.0, cancel=bench.cancel, pause=pause, clock=lambda: clock.now, read_timeout=read)
    keeper = Gatekeeper(bench.fleet, {"main": bench.asm}, SilentConsole(), times)
    rolling = Rolling(waves=((ONE,), (TWO,)), others=CELLS, clusters=("main",), within=within)
    passage = keeper.wait(rolling, 2, offline=False)
    assert not passage.open
    twice = [seconds for seconds in given for _ in ("cell", "node")]
    assert asked[: len(twice)] == twice
    assert len(given) == 1 or asked == twice
