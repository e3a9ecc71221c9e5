"""The engine on flash cache plans: journal before sending, proof, partial failure, mending, interruption."""

from __future__ import annotations

from engine_fakes import (
    CELLS,
    DONE,
    FAILED,
    NOT_NEEDED,
    NOT_SENT,
    REFUSED,
    UNKNOWN,
    Bench,
    lost,
    on,
    outcomes,
    said,
)

from exacell.caching_off import caching_off
from exacell.errors import ExitCode
from exacell.following import LOST_POLLS
from exacell.journal import Journal
from exacell.plan.flashcache import flush_plan, resize_plan
from exacell.plan.model import Plan
from exacell.transport.base import Reply, State
from exacell.units import GIB

FLUSH = "ALTER FLASHCACHE ALL FLUSH NOWAIT"
CANCEL = "ALTER FLASHCACHE ALL CANCEL FLUSH"
DROP = "DROP FLASHCACHE"
NEW = "CREATE FLASHCACHE ALL size=36G"
OLD = "CREATE FLASHCACHE ALL size=40G"
ONE, TWO, THREE = CELLS


def flush(bench: Bench, *, recreate: bool = False) -> Plan:
    return flush_plan("t1", bench.facts(), recreate=recreate, statement="flush flashcache")


def resize(bench: Bench) -> Plan:
    return resize_plan("t1", bench.facts(), size=36 * GIB, statement="resize flashcache size=36g")


def all_caching(bench: Bench) -> bool:
    return {c.status for c in bench.transport.cells.values()} == {"normal"}


def pending(bench: Bench) -> tuple[str, ...]:
    """The cells that the journal says may have caching off."""
    return tuple(cell for item in caching_off(bench.rows()) for cell in item.cells)


# -- when all goes well ----------------------------------------------------------------------------------------------


def test_flush(bench: Bench) -> None:
    """A flush ends proven on every cell, caching again, with the bytes of the proof in the report."""
    report = bench.run(flush(bench))
    assert report.exit_code is ExitCode.DONE
    assert outcomes(report) == {cell: [DONE, DONE] for cell in CELLS}
    assert all(report.flushed[cell].done and report.flushed[cell].dirty == 0 for cell in CELLS)
    assert {cell: bench.transport.statements(cell) for cell in CELLS} == {cell: [FLUSH, CANCEL] for cell in CELLS}
    assert all_caching(bench)
    assert pending(bench) == ()


def test_resize(bench: Bench) -> None:
    """A resize drops each cache while it is flushed and never sends CANCEL FLUSH."""
    report = bench.run(resize(bench))
    assert report.exit_code is ExitCode.DONE
    assert {cell: bench.transport.statements(cell) for cell in CELLS} == {cell: [FLUSH, DROP, NEW] for cell in CELLS}
    assert {c.size for c in bench.transport.cells.values()} == {36 * GIB}
    assert pending(bench) == ()


def test_flush_recreates_only_what_is_left(bench: Bench) -> None:
    """With recreate a cell whose flush left something gets its cache anew; the others are only re-armed."""
    plan = flush(bench, recreate=True)
    two = bench.transport.cells[TWO]
    goes_on = two._flush_goes_on

    def leaves_something() -> None:
        goes_on()
        if two.status == "normal - flushed":
            two.metrics["FC_BY_USED"] = 5.0

    two._flush_goes_on = leaves_something  # type: ignore[method-assign]
    report = bench.run(plan)
    assert report.exit_code is ExitCode.DONE
    assert bench.transport.statements(ONE) == [FLUSH, CANCEL]
    assert bench.transport.statements(TWO) == [FLUSH, DROP, OLD]
    assert outcomes(report)[ONE] == [DONE, NOT_NEEDED, NOT_NEEDED, DONE]
    assert outcomes(report)[TWO] == [DONE, DONE, DONE, NOT_NEEDED]
    assert all_caching(bench)


# -- the journal comes first -----------------------------------------------------------------------------------------


def test_intent_is_on_disk_before_the_statement_leaves(bench: Bench) -> None:
    """When a statement leaves, its intent can be read from the journal by anybody."""
    seen: list[bool] = []

    def look(target: str, statement: str) -> Reply | None:
        rows = Journal(bench.journal.path).entries()
        intents = [(r.target, r.body["statement"]) for r in rows if r.kind == "intent"]
        outcome = [r.target for r in rows if r.kind == "outcome" and r.body["what"] == intents[-1][1]]
        seen.append((target, statement) in intents and not outcome and rows[0].kind == "plan")
        return None

    bench.transport.script = look
    bench.run(resize(bench))
    assert len(seen) == 9
    assert all(seen)


def test_journal_tells_the_whole_story(bench: Bench) -> None:
    """The journal holds the plan, each intent and outcome with the cell's own text, what was seen, and the end."""
    report = bench.run(flush(bench))
    rows = bench.rows()
    assert [r.kind for r in rows] == [
        "plan",
        *["intent"] * 3,
        *["outcome"] * 3,
        *["intent"] * 3,
        *["outcome"] * 3,
        *["observed"] * 3,
        "end",
    ]
    assert {r.change for r in rows} == {report.change}
    plan = rows[0].body
    assert plan["statement"] == "flush flashcache"
    assert {"user", "host", "sudoUser", "risk", "plan"} <= plan.keys()
    assert rows[-1].body == {"exitCode": 0, "done": {"done": 6}}
    rearmed = next(r for r in rows if r.kind == "outcome" and r.body["cachingOn"])
    assert "altered successfully" in rearmed.body["reply"]
    assert bench.journal.verify() == ""


# -- what has moved --------------------------------------------------------------------------------------------------


def test_need_that_no_longer_holds(bench: Bench) -> None:
    """A proof that was taken back between flush and drop refuses the drop; nothing is dropped anywhere for it."""
    plan = resize(bench)

    def cancelled_by_somebody() -> None:
        if bench.transport.statements(TWO) == [FLUSH] and all(
            c.status == "normal - flushed" for c in bench.transport.cells.values()
        ):
            rounds.append(1)
            if len(rounds) == 3:
                bench.transport.cells[TWO].status = "normal"

    rounds: list[int] = []
    bench.transport.reading = cancelled_by_somebody
    report = bench.run(plan)
    assert DROP not in bench.transport.statements(TWO)
    assert bench.transport.cells[TWO].size == 40 * GIB
    refused = [r for r in report.results if r.outcome == REFUSED]
    assert [r.step.target for r in refused] == [TWO]
    assert "status is normal, not normal - flushed; only an active FLUSH keeps new dirty data out" in refused[0].reason
    assert report.exit_code is ExitCode.FAILED
    assert all_caching(bench)


def test_cache_gone_before_the_flush(bench: Bench) -> None:
    """A cell that moved since it was planned for is refused before anything is sent to it; the others go on."""
    plan = flush(bench)
    bench.transport.cells[ONE].tables["flashcache"] = []
    report = bench.run(plan)
    assert bench.transport.statements(ONE) == []
    assert outcomes(report)[ONE] == [REFUSED, NOT_SENT]
    assert outcomes(report)[TWO] == [DONE, DONE]
    assert report.exit_code is ExitCode.FAILED


def test_everything_refused_executes_nothing(bench: Bench) -> None:
    """When every cell is refused nothing was executed, and the exit code says so."""
    plan = flush(bench)
    for cell in bench.transport.cells.values():
        cell.tables["flashcache"] = []
    report = bench.run(plan)
    assert bench.transport.sent == []
    assert report.exit_code is ExitCode.NOT_EXECUTED
    assert not any(row.kind == "intent" for row in bench.rows())


# -- partial failure -------------------------------------------------------------------------------------------------


def test_failed_flush_stops_the_drop_everywhere(bench: Bench) -> None:
    """A flush that fails on one cell stops the drop on all, and caching is switched on again on all."""
    bench.transport.cells[TWO].error_on_flush = "cannot write"
    report = bench.run(resize(bench))
    for cell in CELLS:
        assert bench.transport.statements(cell) == [FLUSH, CANCEL]
    assert all_caching(bench)
    assert outcomes(report)[TWO] == [FAILED, NOT_SENT, NOT_SENT]
    assert outcomes(report)[ONE] == [DONE, NOT_SENT, NOT_SENT]
    assert outcomes(report, mending=True) == {cell: [DONE] for cell in CELLS}
    assert "failed: cannot write" in report.failures[0].reason
    assert report.exit_code is ExitCode.FAILED
    assert pending(bench) == ()


def test_failed_flush_is_mended_though_the_others_are_done(bench: Bench) -> None:
    """A cell whose flush failed gets its CANCEL FLUSH even when every other cell was re-armed."""
    bench.transport.cells[TWO].error_on_flush = "cannot write"
    report = bench.run(flush(bench))
    assert bench.transport.statements(TWO) == [FLUSH, CANCEL]
    assert outcomes(report, mending=True) == {TWO: [DONE]}
    assert all_caching(bench)
    assert report.exit_code is ExitCode.FAILED


def test_flush_refused_by_the_cell(bench: Bench) -> None:
    """An error line of the cell is a failure with its code and text, and is not followed."""
    text = "CELL-02630: There is a communication error between MS and CELLSRV.\n"
    bench.transport.script = on(TWO, FLUSH, lambda cell: said(cell, text))
    report = bench.run(flush(bench))
    failure = next(r for r in report.failures if r.step.target == TWO)
    assert failure.outcome == FAILED
    assert failure.reason.startswith("CELL-02630: There is a communication error")
    assert failure.said == text
    assert outcomes(report)[ONE] == [DONE, DONE]


def test_error_text_with_status_zero_is_a_failure(bench: Bench) -> None:
    """Success is judged by the text, not by the exit status."""
    bench.transport.script = on(ONE, DROP, lambda cell: said(cell, "CELL-09999: emulated\n", state=State.OK))
    report = bench.run(resize(bench))
    assert outcomes(report)[ONE] == [DONE, FAILED, NOT_SENT]


def test_failed_drop_is_rearmed_and_others_get_their_cache(bench: Bench) -> None:
    """Where the drop failed caching comes back; where it happened the cache is created."""
    bench.transport.script = on(ONE, DROP, lambda cell: said(cell, "CELL-02526: x\n"))
    report = bench.run(resize(bench))
    assert bench.transport.statements(ONE) == [FLUSH, DROP, CANCEL]
    assert bench.transport.statements(TWO) == [FLUSH, DROP, NEW]
    assert {c.size for c in bench.transport.cells.values()} == {40 * GIB, 36 * GIB}
    assert all_caching(bench)
    assert report.exit_code is ExitCode.FAILED


def test_failed_create_brings_the_old_cache_back(bench: Bench) -> None:
    """Where CREATE failed the cache comes back at its old size; no cell is left without one."""
    bench.transport.script = on(TWO, NEW, lambda cell: said(cell, "CELL-02559: no space\n"))
    report = bench.run(resize(bench))
    assert bench.transport.statements(TWO) == [FLUSH, DROP, NEW, OLD]
    assert [bench.transport.cells[c].size for c in CELLS] == [36 * GIB, 40 * GIB, 36 * GIB]
    assert outcomes(report, mending=True) == {TWO: [DONE]}
    assert all_caching(bench)
    assert pending(bench) == ()


def test_failed_recreate_after_a_flush_is_mended_too(bench: Bench) -> None:
    """A flush that drops and can't create brings back the old cache, and the others are re-armed."""
    for cell in bench.transport.cells.values():
        cell.metrics["FC_BY_LEFT"] = 1.0
    plan = flush(bench, recreate=True)
    left = bench.transport.cells[THREE]
    goes_on = left._flush_goes_on

    def leaves_something() -> None:
        goes_on()
        if left.status == "normal - flushed":
            left.metrics["FC_BY_USED"] = 5.0

    left._flush_goes_on = leaves_something  # type: ignore[method-assign]
    failed: list[str] = []

    def first_create_fails(target: str, statement: str) -> Reply | None:
        if target == THREE and statement == OLD and not failed:
            failed.append(target)
            return said(target, "CELL-02559: not now\n")
        return None

    bench.transport.script = first_create_fails
    bench.run(plan)
    assert bench.transport.statements(THREE) == [FLUSH, DROP, OLD, OLD]
    assert bench.transport.statements(ONE) == [FLUSH, CANCEL]
    assert all_caching(bench)


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
    """Without the effect it is unknown: nothing more is built on it, and caching is brought back."""
    bench.transport.script = on(TWO, DROP, lost)
    report = bench.run(resize(bench))
    assert outcomes(report)[TWO] == [DONE, UNKNOWN, NOT_SENT]
    assert bench.transport.statements(TWO) == [FLUSH, DROP, CANCEL]
    unknown = next(r for r in report.results if r.outcome == UNKNOWN)
    assert "no end within 600s" in unknown.reason
    assert "exists" in unknown.reason
    assert all_caching(bench)


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
    """A flush that did not begin is not cancelled."""
    bench.transport.script = on(TWO, FLUSH, lost)
    report = bench.run(flush(bench))
    assert outcomes(report, mending=True) == {TWO: [NOT_NEEDED]}
    assert bench.transport.statements(TWO) == [FLUSH]


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
    assert "0 of 1 objects were reported done" in unsure.reason


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
    """A followed cell may miss some answers; when it misses too many in a row its flush is unknown and mended."""
    rounds: list[int] = []

    def comes_and_goes() -> None:
        if bench.transport.statements(TWO) == [FLUSH]:
            rounds.append(1)
            bench.transport.silent = {TWO} if len(rounds) < LOST_POLLS else set()

    bench.transport.reading = comes_and_goes
    report = bench.run(flush(bench))
    assert outcomes(report)[TWO] == [DONE, DONE]

    gone = Bench(bench.journal.path.parent / "gone")

    def stays_away() -> None:
        if FLUSH in gone.transport.statements(TWO):
            rounds.append(1)
            gone.transport.silent = {TWO} if len(rounds) <= LOST_POLLS else set()

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
