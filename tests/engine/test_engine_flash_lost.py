"""The engine on flash cache plans: answers that are lost, cells that can not be reached, interruption."""

from __future__ import annotations

from engine_fakes import CELLS, DONE, FAILED, NOT_NEEDED, NOT_SENT, REFUSED, UNKNOWN, Bench, lost, on, outcomes, said
from flash_plans import CANCEL, DROP, FLUSH, NEW, ONE, THREE, TWO, all_caching, flush, pending, resize

from exacell.change.engine import STAYS_FLUSHED
from exacell.change.following import LOST_POLLS
from exacell.change.outcomes import ended_records
from exacell.core.errors import ExitCode
from exacell.core.units import GIB
from exacell.plan.planners.flashcache import flush_plan
from exacell.transport.base import Reply, State

# -- lost answers ----------------------------------------------------------------------------------------------------


def test_lost_answer_with_the_effect_is_done(bench: Bench) -> None:
    """A statement whose answer was lost counts as done when reading back shows its effect."""

    def drop_silently(cell: str) -> Reply:
        bench.transport.cells[cell].change(DROP)
        return lost(cell)

    bench.transport.script = on(TWO, DROP, drop_silently)
    report = bench.run(resize(bench))
    assert outcomes(report)[TWO] == [DONE, DONE, DONE]
    assert report.exit_code is ExitCode.DONE


def test_lost_answer_without_the_effect_is_unknown(bench: Bench) -> None:
    """Without the effect it is unknown: nothing more is built on it, and the flush stays in force, because a cell that
    carries the DROP out later must find nothing dirty."""
    bench.transport.script = on(TWO, DROP, lost)
    plan = resize(bench)
    report = bench.run(plan)
    assert outcomes(report)[TWO] == [DONE, UNKNOWN, NOT_SENT]
    assert bench.transport.statements(TWO) == [FLUSH, DROP]
    assert outcomes(report, mending=True) == {TWO: [NOT_NEEDED, NOT_SENT]}
    unknown = next(r for r in report.results if r.outcome == UNKNOWN)
    assert "no end within 600s" in unknown.reason
    assert "exists" in unknown.reason
    assert [cell.status for cell in bench.transport.cells.values()] == ["normal", "normal - flushed", "normal"]
    assert pending(bench) == (TWO,)
    detail = ended_records(plan, report)[-1]["detail"]
    assert detail.endswith(f"; switch caching on again: not sent: {STAYS_FLUSHED}")


def test_a_cell_that_did_not_answer_cancel_flush_is_looked_at(bench: Bench) -> None:
    """Only a lost answer to what switches caching off leaves it open whether a cell caches: of one to CANCEL FLUSH what is seen
    in the end is in the journal."""
    bench.transport.script = on(TWO, CANCEL, lost)
    report = bench.run(flush(bench))
    assert outcomes(report)[TWO] == [DONE, UNKNOWN]
    seen = {row.target: row.body["caching"] for row in bench.rows() if row.kind == "observed"}
    assert seen == {ONE: "on", TWO: "off", THREE: "on"}


def test_lost_answer_to_a_flush_is_mended(bench: Bench) -> None:
    """A flush that may or may not have begun is ended by CANCEL FLUSH when the cell says that it did."""

    def flush_silently(cell: str) -> Reply:
        bench.transport.cells[cell].change(FLUSH)
        return lost(cell)

    bench.transport.script = on(TWO, FLUSH, flush_silently)
    report = bench.run(flush(bench))
    assert outcomes(report)[TWO] == [UNKNOWN, NOT_SENT]
    assert outcomes(report, mending=True) == {TWO: [DONE]}
    assert all_caching(bench)


def test_lost_flush_that_never_began_needs_no_mending(bench: Bench) -> None:
    """A flush that did not begin is not cancelled; that its cell caches now proves nothing, as it may still begin."""
    bench.transport.script = on(TWO, FLUSH, lost)
    report = bench.run(flush(bench))
    assert outcomes(report, mending=True) == {TWO: [NOT_NEEDED]}
    assert bench.transport.statements(TWO) == [FLUSH]
    assert all_caching(bench) and pending(bench) == (TWO,)


def test_lost_answer_to_the_new_cache_is_mended_and_seen(bench: Bench) -> None:
    """Where only the CREATE has no answer, the old cache that is made instead counts as soon as it is seen caching."""
    bench.transport.script = on(TWO, NEW, lost)
    report = bench.run(resize(bench))
    assert outcomes(report)[TWO] == [DONE, DONE, UNKNOWN]
    assert outcomes(report, mending=True) == {TWO: [DONE]}
    assert all_caching(bench) and pending(bench) == ()


def test_fewer_objects_than_expected_are_settled_by_reading(bench: Bench) -> None:
    """An answer that reports fewer objects than were expected is settled by reading back."""

    def mute(cell: str) -> Reply:
        bench.transport.cells[cell].change(NEW)
        return said(cell, "", state=State.OK)

    bench.transport.script = on(ONE, NEW, mute)
    assert bench.run(resize(bench)).exit_code is ExitCode.DONE
    bench.transport.script = on(ONE, CANCEL, lambda cell: said(cell, "hm\n", state=State.OK))
    report = bench.run(flush_plan("t1", bench.facts(), recreate=False, statement="x"))
    unsure = next(r for r in report.results if r.outcome == UNKNOWN)
    assert "0 of 1 objects are done" in unsure.reason


def test_success_that_reading_back_denies_is_a_failure(bench: Bench) -> None:
    """A cell that says done and does not show it has failed; reading back is tried for a while first."""
    bench.transport.script = on(
        ONE, CANCEL, lambda cell: said(cell, "Flash cache x altered successfully\n", state=State.OK)
    )
    report = bench.run(flush(bench))
    failure = report.failures[0]
    assert failure.outcome == FAILED
    assert "reading back: flashcache exa1cel01_FLASHCACHE: status is normal - flushed, not normal" in failure.reason
    assert bench.pauses >= 6
    assert ONE in pending(bench)


def test_success_that_can_not_be_read_back_is_unknown(bench: Bench) -> None:
    """A cell that says done and then answers no read is unknown, not failed."""

    def then_deaf(cell: str) -> Reply:
        bench.transport.deaf = {cell}
        return said(cell, "Flash cache x altered successfully\n", state=State.OK)

    bench.transport.script = on(ONE, CANCEL, then_deaf)
    report = bench.run(flush(bench))
    assert report.failures[0].outcome == UNKNOWN
    assert "CELL-01514" in report.failures[0].reason
    assert ONE in pending(bench)


def test_reading_back_waits_for_a_slow_effect(bench: Bench) -> None:
    """An effect that shows only after a while is found."""
    late: list[int] = []

    def slowly(cell: str) -> Reply:
        late.append(0)
        return said(cell, "Flash cache x altered successfully\n", state=State.OK)

    def time_passes() -> None:
        if late:
            late.append(1)
            if len(late) == 4:
                bench.transport.cells[ONE].change(CANCEL)

    bench.transport.script = on(ONE, CANCEL, slowly)
    bench.transport.reading = time_passes
    assert bench.run(flush(bench)).exit_code is ExitCode.DONE


# -- cells that can't be reached -------------------------------------------------------------------------------------


def test_unreachable_is_refused_never_unneeded(bench: Bench) -> None:
    """A cell that gives no answer is refused: what could not be read is never taken for not needed."""
    plan = flush(bench, recreate=True)
    bench.transport.silent = {TWO}
    report = bench.run(plan)
    assert outcomes(report)[TWO][0] == REFUSED
    assert NOT_NEEDED not in outcomes(report)[TWO]
    assert "no route to host" in report.failures[0].reason
    assert bench.transport.statements(TWO) == []


def test_cell_lost_before_rearming_stays_pending(bench: Bench) -> None:
    """A cell that can't be reached when caching should come back is refused, and the journal goes on warning of it."""

    def goes_silent() -> None:
        if bench.transport.cells[TWO].status == "normal - flushed" and bench.transport.cells[TWO].collections >= 4:
            bench.transport.silent = {TWO}

    bench.transport.reading = goes_silent
    report = bench.run(flush(bench))
    assert REFUSED in outcomes(report)[TWO] or UNKNOWN in outcomes(report)[TWO]
    assert NOT_NEEDED not in [*outcomes(report)[TWO], *outcomes(report, mending=True).get(TWO, [])]
    assert pending(bench) == (TWO,)
    assert report.exit_code is ExitCode.FAILED


def test_following_survives_missed_answers(bench: Bench) -> None:
    """A followed cell may miss some answers; when it is silent for too long its flush is unknown and mended."""
    rounds: list[int] = []

    def comes_and_goes() -> None:
        if bench.transport.statements(TWO) == [FLUSH]:
            rounds.append(1)
            bench.transport.silent = {TWO} if len(rounds) <= LOST_POLLS else set()

    bench.transport.reading = comes_and_goes
    report = bench.run(flush(bench))
    assert outcomes(report)[TWO] == [DONE, DONE]

    gone = Bench(bench.journal.path.parent / "gone")

    def stays_away() -> None:
        if FLUSH in gone.transport.statements(TWO):
            rounds.append(1)
            gone.transport.silent = {TWO} if len(rounds) <= LOST_POLLS + 1 else set()

    rounds.clear()
    gone.transport.reading = stays_away
    report = gone.run(flush(gone))
    assert outcomes(report)[TWO] == [UNKNOWN, NOT_SENT]
    assert outcomes(report, mending=True) == {TWO: [DONE]}
    assert all_caching(gone)


def test_cell_that_can_not_be_read_is_sent_nothing(bench: Bench) -> None:
    """A cell that answers no read is refused even if it would take the statement, and the error is the reason."""
    plan = flush(bench)
    bench.transport.deaf = {TWO}
    report = bench.run(plan)
    assert bench.transport.statements(TWO) == []
    assert outcomes(report)[TWO] == [REFUSED, NOT_SENT]
    assert "CELL-01514" in report.failures[0].reason


def test_error_on_the_other_stream_is_a_failure(bench: Bench) -> None:
    """An error line on standard error counts as one on standard output does."""
    text = "CELL-02630: no\n"
    bench.transport.script = on(ONE, DROP, lambda c: Reply(target=c, state=State.FAILED, stderr=text, exit_status=1))
    report = bench.run(resize(bench))
    assert report.failures[0].outcome == FAILED
    assert report.failures[0].reason == "CELL-02630: no"


def test_write_that_never_left_is_refused(bench: Bench) -> None:
    """A statement that could not be sent has changed nothing: refused, and not verified."""
    bench.transport.script = on(ONE, FLUSH, lambda c: Reply(target=c, state=State.UNREACHABLE, problem="refused"))
    report = bench.run(flush(bench))
    assert outcomes(report)[ONE] == [REFUSED, NOT_SENT]
    assert outcomes(report, mending=True) == {}


# -- interruption ----------------------------------------------------------------------------------------------------


def test_interrupted_before_the_start(bench: Bench) -> None:
    """An interruption before the first stage sends nothing."""
    plan = flush(bench)
    bench.cancel.set()
    report = bench.run(plan)
    assert bench.transport.sent == []
    assert report.exit_code is ExitCode.INTERRUPTED


def test_interrupted_while_flushing(bench: Bench) -> None:
    """An interruption while a flush is followed ends the wait and switches caching on again everywhere."""

    def stubborn(name: str) -> None:
        bench.transport.cells[name]._flush_goes_on = lambda: None  # type: ignore[method-assign]

    for name in (TWO, THREE):
        stubborn(name)

    def ctrl_c() -> None:
        if bench.transport.cells[ONE].status == "normal - flushed" and bench.transport.cells[ONE].collections >= 4:
            bench.cancel.set()

    bench.transport.reading = ctrl_c
    report = bench.run(flush(bench))
    assert report.exit_code is ExitCode.INTERRUPTED
    assert all_caching(bench)
    for cell in CELLS:
        assert bench.transport.statements(cell) == [FLUSH, CANCEL]
    assert pending(bench) == ()


def test_interrupted_between_flush_and_drop(bench: Bench) -> None:
    """An interruption before the drop drops nothing and switches caching on again."""
    bench.transport.script = lambda target, statement: (bench.cancel.set(), None)[1] if statement == FLUSH else None
    report = bench.run(resize(bench))
    assert report.exit_code is ExitCode.INTERRUPTED
    assert DROP not in {statement for _, statement in bench.transport.sent}
    assert all_caching(bench)


def test_interrupted_between_drop_and_create(bench: Bench) -> None:
    """Once caches are dropped an interruption still creates them: no cell is left without its cache."""
    bench.transport.script = lambda target, statement: (bench.cancel.set(), None)[1] if statement == DROP else None
    bench.run(resize(bench))
    for cell in CELLS:
        assert bench.transport.statements(cell) == [FLUSH, DROP, NEW]
    assert {c.size for c in bench.transport.cells.values()} == {36 * GIB}
    assert all_caching(bench)
