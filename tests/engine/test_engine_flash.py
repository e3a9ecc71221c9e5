"""The engine on flash cache plans: journal before sending, proof, what has moved, partial failure and mending."""

from __future__ import annotations

from engine_fakes import CELLS, DONE, FAILED, NOT_NEEDED, NOT_SENT, REFUSED, Bench, on, outcomes, said
from flash_plans import CANCEL, DROP, FLUSH, NEW, OLD, ONE, THREE, TWO, all_caching, flush, pending, resize

from exacell.core.errors import ExitCode
from exacell.core.units import GIB
from exacell.journal.record import Journal
from exacell.transport.base import Reply, State

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
