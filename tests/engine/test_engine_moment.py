"""The moment of the drop: each cell is looked at again by the CellCLI that then gets the statement."""

from __future__ import annotations

from dataclasses import replace

import pytest
from engine_fakes import DONE, NOT_NEEDED, REFUSED, Bench, on, outcomes
from flash_plans import DROP, ONE, THREE, TWO, flush, resize

from exacell.change import running
from exacell.change.running import Outcome, StepResult
from exacell.core.errors import ExitCode
from exacell.transport.base import Looked, Reply, State


def dirty_again(bench: Bench, cell: str) -> None:
    """Let somebody cancel a cell's flush, and a load run, right before the look that its DROP goes upon."""

    def looking(target: str) -> None:
        if target == cell:
            bench.transport.cells[cell].status = "normal"
            bench.transport.cells[cell].metrics["FC_BY_DIRTY"] = 9.6e9

    bench.transport.looking = looking


def test_a_cache_that_became_dirty_again_is_not_dropped(bench: Bench) -> None:
    """A cell whose flush was cancelled behind the intent keeps its cache, and is refused with what the look said."""
    dirty_again(bench, TWO)
    report = bench.run(resize(bench))
    assert DROP not in bench.transport.statements(TWO)
    refused = next(r for r in report.results if r.step.target == TWO and r.step.statement == DROP)
    assert refused.outcome is Outcome.REFUSED and "status is normal, not normal - flushed" in refused.reason
    assert report.exit_code is ExitCode.FAILED


def test_the_others_go_on(bench: Bench) -> None:
    """Cells whose proof stands get their statement though another one's is gone."""
    dirty_again(bench, TWO)
    report = bench.run(resize(bench))
    for cell in (ONE, THREE):
        assert DROP in bench.transport.statements(cell)
        assert outcomes(report)[cell][1] == DONE


def test_the_outcome_tells_the_look(bench: Bench) -> None:
    """The journal's outcome rows of statements that age hold when the cell was looked at, what it said, and how old that was."""
    bench.run(resize(bench))
    rows = [row for row in bench.rows() if row.kind == "outcome"]
    drops = [row for row in rows if str(row.body["what"]).startswith("drop")]
    assert len(drops) == 3
    for row in drops:
        assert "normal - flushed" in row.body["look"] and row.body["lookedAt"] and row.body["looks"] >= 1
        assert 0 <= row.body["lookAgeMs"] <= 200
    assert all("look" not in row.body for row in rows if row not in drops)


def test_a_refusal_tells_its_look(bench: Bench) -> None:
    """The row of a statement that was refused upon its look holds that look, and no age: nothing left."""
    dirty_again(bench, TWO)
    bench.run(resize(bench))
    row = next(
        row for row in bench.rows() if row.kind == "outcome" and row.target == TWO and row.body["state"] == REFUSED
    )
    assert "<status>normal</status>" in row.body["look"] and "lookAgeMs" not in row.body


def test_what_is_not_needed_any_more_is_not_sent(bench: Bench) -> None:
    """A statement that the look shows to be unnecessary counts as such, and is not sent."""

    def looking(target: str) -> None:
        bench.transport.cells[target].metrics["FC_BY_USED"] = 0.0

    cells = bench.transport.cells.values()
    plan = flush(bench, recreate=True)

    def reading() -> None:
        for cell in cells:
            cell.metrics["FC_BY_USED"] = 5.0

    bench.transport.reading, bench.transport.looking = reading, looking
    report = bench.run(plan)
    assert DROP not in {statement for _, statement in bench.transport.sent}
    drops = [result for result in report.results if result.step.statement == DROP]
    assert {str(result.outcome) for result in drops} == {NOT_NEEDED}


def test_a_cell_that_does_not_answer_the_look_is_refused(bench: Bench) -> None:
    """A cell that answers the look with an error gets nothing, and says why."""

    def looking(target: str) -> None:
        bench.transport.deaf.add(TWO)

    bench.transport.looking = looking
    report = bench.run(resize(bench))
    assert DROP not in bench.transport.statements(TWO)
    refused = next(r for r in report.results if r.step.target == TWO and r.step.statement == DROP)
    assert refused.outcome is Outcome.REFUSED and "CELL-01514" in refused.reason


@pytest.mark.parametrize(("age", "outcome"), [(0.2, Outcome.DONE), (0.21, Outcome.FAILED), (12.0, Outcome.FAILED)])
def test_a_statement_that_was_held_up_is_a_failure(bench: Bench, age: float, outcome: Outcome) -> None:
    """A statement that left later behind its look than it may is told as a failure, though it did what it was to do."""
    step = resize(bench).steps[0]
    result = StepResult(step=step, outcome=Outcome.DONE, looked=Looked(at="2026-01-01", age=age, sent=True))
    told = running.told_late(result)
    assert told.outcome is outcome and ("may be lost" in told.reason) is (outcome is Outcome.FAILED)
    before = running.told_late(replace(result, reason="reading back: nothing")).reason
    assert before == (f"reading back: nothing; {told.reason}" if told.reason else "reading back: nothing")


def test_why_it_stopped_is_not_forgotten_while_it_mends(bench: Bench) -> None:
    """What stopped a change stays told when a cell then can't be reached by what mends it, though the lock is its own again."""
    why = ["the lock could not be read"]

    def permit() -> str:
        flushed = sum(row.kind == "outcome" for row in bench.rows()) >= len(bench.transport.cells)
        return why.pop() if why and flushed else ""

    unreached = Reply(target=ONE, state=State.UNREACHABLE, problem="no route to host")
    bench.transport.script = on(ONE, "ALTER FLASHCACHE ALL CANCEL FLUSH", lambda _: unreached)
    bench.engine._permit = permit
    report = bench.run(resize(bench))
    assert (report.stopped, DROP in bench.transport.statements(ONE)) == ("the lock could not be read", False)
    assert REFUSED in outcomes(report, mending=True)[ONE]
