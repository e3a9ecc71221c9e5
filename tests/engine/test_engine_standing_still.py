"""The engine where time passes between its last look and a statement: a cell keeps the others waiting, a laptop sleeps."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest
from engine_fakes import DONE, NOT_SENT, REFUSED, Bench, outcomes
from flash_plans import DROP, FLUSH, NEW, ONE, TWO, all_caching, pending, resize

from exacell.change.engine import FRESH, LOOKS, Engine
from exacell.change.targets.base import Failed, Wanted
from exacell.change.targets.kinds import Targets
from exacell.core.errors import ExitCode
from exacell.journal.record import Journal, Row
from exacell.plan.model import Gate, Stage, Step

HOUR = 3600.0


def sleeping_before(bench: Bench, monkeypatch: pytest.MonkeyPatch, statement: str, seconds: float = HOUR) -> None:
    """Let an hour pass when the intents of a statement are on disk and it has not left."""
    real = Journal.append

    def append(self: Journal, rack: str, change: int, rows: Iterable[Row]) -> None:
        written = list(rows)
        real(self, rack, change, written)
        if any(row.kind == "intent" and row.body["statement"] == statement for row in written):
            bench.passed += seconds

    monkeypatch.setattr(Journal, "append", append)


def test_what_was_looked_at_an_hour_ago_is_not_sent(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """It should send nothing that was judged before the process stood still, say so, and bring caching back."""
    sleeping_before(bench, monkeypatch, DROP)
    report = bench.run(resize(bench))
    assert DROP not in {statement for _, statement in bench.transport.sent}
    assert [ends[:2] for ends in outcomes(report).values()] == [[DONE, REFUSED]] * 3
    assert all("was suspended for 1h" in r.reason for r in report.results if r.outcome == REFUSED)
    assert all_caching(bench) and pending(bench) == ()
    rows = [row for row in bench.rows() if row.kind in ("intent", "outcome")]
    assert sum(row.kind == "intent" for row in rows) == sum(row.kind == "outcome" for row in rows)


def test_what_mends_is_sent_whenever_it_is(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """It should bring the old cache back though an hour has passed since it looked."""
    old = "CREATE FLASHCACHE ALL size=40G"
    for statement in (NEW, old):
        sleeping_before(bench, monkeypatch, statement)
    report = bench.run(resize(bench))
    assert {ends[2] for ends in outcomes(report).values()} == {REFUSED}
    assert bench.transport.statements(TWO)[-2:] == [DROP, old]
    assert all_caching(bench)


def test_what_is_fresh_is_sent_and_looked_at_once(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """It should send what was looked at half a minute ago, and look no oftener than once before each statement."""
    sleeping_before(bench, monkeypatch, DROP, FRESH)
    real, looked = Engine._looked_at, list[str]()

    def counted(self: Engine, stage: Stage, *rest: Any, **more: Any) -> list[Step]:
        looked.append(stage.title)
        return real(self, stage, *rest, **more)

    monkeypatch.setattr(Engine, "_looked_at", counted)
    plan = resize(bench)
    assert bench.run(plan).exit_code is ExitCode.DONE
    assert looked == [stage.title for stage in plan.stages if stage.gate is not Gate.MEND]


def test_who_waited_for_a_silent_cell_is_looked_at_again(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """It should notice what became of a cell while another one kept it waiting, before its statement leaves."""
    real, waited = Targets.failed, list[float]()

    def slow(self: Targets, wanted: Wanted, *rest: Any) -> Failed:
        found = real(self, wanted, *rest)
        if not waited and any(step.statement == DROP for step, _ in wanted.values()):
            waited.append(FRESH + 1)
            bench.passed += FRESH + 1
            bench.transport.cells[TWO].status = "normal"  # Somebody cancelled its flush.
        return found

    monkeypatch.setattr(Targets, "failed", slow)
    report = bench.run(resize(bench))
    assert bench.transport.statements(TWO) == [FLUSH]
    assert outcomes(report)[TWO][:3] == [DONE, REFUSED, NOT_SENT]
    assert outcomes(report)[ONE] == [DONE, DONE, DONE]


@pytest.mark.parametrize(
    ("seconds", "refused", "looks"), [(FRESH, False, 1), (FRESH + 1, True, 1), (FRESH + 1, False, LOOKS)]
)
def test_who_is_left_is_looked_at_again(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, seconds: float, refused: bool, looks: int
) -> None:
    """It should look again where a look took more than half a minute, as long as there is somebody to look at."""
    real, looked = Engine._looked_at, list[str]()
    plan = resize(bench)
    drop = next(stage for stage in plan.stages if any(step.statement == DROP for step in stage.steps))

    def slow(self: Engine, stage: Stage, *rest: Any, **more: Any) -> list[Step]:
        found = real(self, stage, *rest, **more)
        if stage is drop:
            looked.append(stage.title)
            bench.passed += seconds
            return [] if refused else found
        return found

    monkeypatch.setattr(Engine, "_looked_at", slow)
    bench.run(plan)
    assert len(looked) == looks


def test_cells_that_are_always_slow_are_served(bench: Bench) -> None:
    """It should look so often and no oftener, and go on with what it saw last."""
    rounds: list[float] = []

    def slow() -> None:
        rounds.append(FRESH + 1)
        bench.passed += FRESH + 1

    plan = resize(bench)
    quick: list[Any] = []
    bench.transport.reading = lambda: quick.append(1)
    assert bench.run(plan).exit_code is ExitCode.DONE
    bench.transport.reading = slow
    assert bench.run(resize(bench)).exit_code is ExitCode.DONE
    assert len(rounds) <= LOOKS * len(quick)
