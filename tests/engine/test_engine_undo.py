"""What a change's rows in the journal say was done, and whether it can be taken back."""

from __future__ import annotations

from dataclasses import replace

import pytest
from engine_fakes import CELLS, Bench, lost, on, said

from exacell.change.running import Outcome
from exacell.change.targets.hosts import judge
from exacell.change.undoing import Done, _put_back, _refuse_impossible, read_change
from exacell.core.errors import RefusedError
from exacell.core.units import GIB
from exacell.plan.model import Change, Check, Plan, Stage, Step, Undo
from exacell.plan.planners.flashcache import flush_plan, resize_plan
from exacell.transport.base import Reply, State
from tests.support.every import every

ONE, TWO, THREE = CELLS


def done(bench: Bench, plan: Plan) -> Done:
    report = bench.run(plan)
    return read_change(bench.journal.entries(change=report.change))


def resize(bench: Bench) -> Plan:
    return resize_plan("t1", bench.facts(), size=36 * GIB, statement="resize flashcache size=36g")


def test_done_is_what_was_done(bench: Bench) -> None:
    """Steps that were done count, per target and in order; those that were refused, unknown or mending do not."""
    bench.transport.script = on(TWO, "DROP", lost)
    found = done(bench, resize(bench))
    assert found.statement == "resize flashcache size=36g"
    assert [s.statement.split()[0] for s in found.steps[ONE]] == ["ALTER", "DROP", "CREATE"]
    assert [s.statement for s in found.steps[TWO]] == ["ALTER FLASHCACHE ALL FLUSH NOWAIT"]
    assert found.inverse == dict.fromkeys(CELLS, ("resize flashcache size=40G",))
    _refuse_impossible(found)


def away(text: str, back: str) -> Step:
    return Step(target=ONE, what=text, statement=text, undo=Undo.STATEMENT, inverse=back)


def service(before: str, after: str) -> Step:
    """One without an inverse, that tells what becomes of CELLSRV."""
    change = Change(object="cell", name=ONE, attribute="cellsrvStatus", before=before, after=after)
    return Step(target=ONE, what=after, statement=after, undo=Undo.IMPOSSIBLE, inverse="none", changes=(change,))


OFF, ON = away("INACTIVE", "ACTIVE"), away("ACTIVE", "INACTIVE")
STOP, START = service("running", "stopped"), service("stopped", "running")
SET = away("a=2", "a=1")


@every(
    [
        ([[OFF], [ON]], {1, 2}),
        ([[OFF], [STOP], [START, ON]], {1, 2, 3}),
        ([[OFF], [STOP], [ON, START]], set()),
        ([[OFF], [STOP], [ON]], set()),
        ([[SET], [OFF], [ON]], {2, 3}),
        ([[OFF], [SET], [ON]], set()),
        ([[OFF], [ON], [SET]], {1, 2}),
        ([[OFF, SET], [ON]], set()),
        ([[OFF], [SET, ON]], set()),
        ([[SET], [away("a=3", "a=2")]], set()),
        ([[service("starting", "stopped")], [START]], set()),
        ([[OFF]], set()),
        ([[SET]], set()),
    ]
)
def test_what_a_run_put_back_itself_is_known_by_its_steps(changes: list[list[Step]], gone: set[int]) -> None:
    """Changes of which each step is put back by a later one, the last first, left nothing; a change that did more, or a value
    that became a third one, is not among them."""
    found = [
        Done(
            change=number, statement="x", steps={ONE: tuple(steps)}, touched=(ONE,), sure=frozenset((ONE,)), inverse={}
        )
        for number, steps in enumerate(changes, 1)
    ]
    back = _put_back(found[::-1])
    assert (back.within if back else frozenset()) == gone
    # Only what no later change of the run made something else of must be so now.
    assert back is None or bool(back.steps) is (len(changes) in gone)
    unsure = [Done(change=1, statement="x", steps={ONE: (OFF,)}, touched=(ONE, TWO), inverse={}), *found[1:]]
    left = _put_back(unsure[::-1])
    assert left is None or 1 not in left.within


def test_failed_everywhere_leaves_nothing(bench: Bench) -> None:
    """A change whose every statement failed did nothing."""
    bench.transport.script = lambda cell, statement: said(cell, "CELL-00001: no\n")
    found = done(bench, resize(bench))
    assert found.steps == {}
    _refuse_impossible(found)


def test_flush_cannot_be_undone(bench: Bench) -> None:
    """A flush left nothing that can be taken back, and says so."""
    found = done(bench, flush_plan("t1", bench.facts(), recreate=False, statement="flush flashcache"))
    with pytest.raises(RefusedError, match="cannot be undone: there is nothing to take back"):
        _refuse_impossible(found)


def test_a_cell_without_an_inverse_refuses_the_whole(bench: Bench) -> None:
    """When one cell's part can't be taken back, undo refuses instead of leaving it out silently."""
    bench.transport.cells[TWO].tables["flashcache"] = []
    for disk in bench.transport.cells[TWO].tables["celldisk"]:
        disk["freeSpace"] = str(21 * GIB)
    found = done(bench, resize(bench))
    assert TWO not in found.inverse
    with pytest.raises(RefusedError, match="cannot be undone on exa1cel02: there was no flash cache before"):
        _refuse_impossible(found)


def test_no_inverse_names_the_reason(bench: Bench) -> None:
    """A step that can't be undone says why."""
    step = Step(
        target=ONE,
        what="drop",
        statement="DROP FLASHCACHE",
        expect=1,
        undo=Undo.IMPOSSIBLE,
        inverse="what it held is gone",
    )
    found = done(bench, Plan(statement="drop it", rack="t1", stages=(Stage(title="s", steps=(step,)),)))
    with pytest.raises(
        RefusedError, match=r"change 1 \(drop it\) cannot be undone: what it held is gone; nothing was sent"
    ):
        _refuse_impossible(found)


def test_no_plan_no_undo() -> None:
    """Rows without a plan can't be taken back."""
    with pytest.raises(RefusedError, match="has no plan with the old values in the journal"):
        read_change([])


def test_a_file_of_a_kernel_is_judged_by_the_exit_status() -> None:
    """A kernel's file has no text: a write that ended well is done, whatever was said."""
    check = Check(object="setting", attribute="value", value="1", where={"name": "/proc/sys/a/b"})
    step = Step(target="db01", host=True, statement="set setting /proc/sys/a/b=1", what="x", proves=(check,))
    good = Reply(target="db01", state=State.OK, stdout="", stderr="", exit_status=0)
    assert judge(step, good).outcome is Outcome.DONE
    bad = replace(good, state=State.FAILED, exit_status=1, stderr="write error: Invalid argument\n")
    assert judge(step, bad).outcome is Outcome.FAILED and "Invalid argument" in judge(step, bad).reason
    assert judge(step, replace(bad, stderr="")).outcome is Outcome.UNKNOWN
