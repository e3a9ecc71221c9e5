"""What is done is not done twice: a service that has restarted is left running by whoever goes on."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from matrix_moments import Kind, Mishap, Moment, Phase
from matrix_rack import CELLS, MatrixRack, Operator
from matrix_run import prepared, reference, state_of
from matrix_verbs import VERBS

from exacell.change.earlier import done_on
from exacell.journal.actor import actor
from exacell.journal.record import Row

CELLSRV = next(verb for verb in VERBS if verb.name == "restart service cellsrv")
MOMENTS = [
    Mishap(Kind.KILL, Moment(Phase.OUTCOME, 2), how="after"),
    Mishap(Kind.KILL, Moment(Phase.INTENT, 3), how="after"),
    Mishap(Kind.KILL, Moment(Phase.SEND, 3), how="sent"),
    Mishap(Kind.KILL, Moment(Phase.SETTLE, 3)),
    Mishap(Kind.ERROR, Moment(Phase.SEND, 3)),
]


def restarts(operator: Operator) -> Counter[str]:
    """Return how often each cell was told to restart."""
    rows = operator.services.journal.entries(rack="t1")
    return Counter(row.target for row in rows if row.kind == "intent" and "RESTART" in str(row.body["statement"]))


@pytest.mark.parametrize("mishap", MOMENTS, ids=str)
def test_a_cell_that_has_restarted_only_gets_its_disks_back(mishap: Mishap, tmp_path: Path) -> None:
    """Whatever befalls a cell behind its restart, the one that goes on restarts the other cells only, and the rack is as it
    shall be."""
    rack = MatrixRack(tmp_path / "rack", prepared(CELLSRV.prepare, CELLSRV.rack))
    operator = rack.operator(mishap)
    said = operator.do(CELLSRV.statement)
    assert mishap in operator.watch.struck and said.code
    assert restarts(operator) == {CELLS[0]: 1}
    rack.pass_time(120)
    operator = rack.operator()
    operator.must("resume -y" if said.killed else "retry failed -y")
    if set(restarts(operator)) != set(CELLS):  # A cell that failed ends a rolled change before the others' turn.
        operator.must("resume -y")
    assert restarts(operator) == dict.fromkeys(CELLS, 1)
    rack.pass_time(60)
    assert state_of(rack) == reference(CELLSRV).intended and not operator.pending()


def test_a_cell_whose_service_is_down_again_gets_it_back(tmp_path: Path) -> None:
    """A cell that has restarted, and whose CELLSRV was stopped since, runs again when the change has been gone on with."""
    rack = MatrixRack(tmp_path / "rack", prepared(CELLSRV.prepare, CELLSRV.rack))
    operator = rack.operator(Mishap(Kind.KILL, Moment(Phase.OUTCOME, 2), how="after"))
    operator.do(CELLSRV.statement)
    rack.raw(CELLS[0], "alter cell shutdown services cellsrv")
    operator = rack.operator()
    operator.must("resume -y")
    rack.pass_time(60)
    assert state_of(rack) == reference(CELLSRV).intended and not operator.pending()


def test_done_is_only_what_was_done_last(tmp_path: Path) -> None:
    """A cell has restarted where the step itself ended well, not where it failed, has no outcome, or failed in what went on."""
    journal = MatrixRack(tmp_path / "rack", prepared(())).operator().services.journal
    first = journal.begin("t1", {"statement": "x", "plan": {"stages": []}, **actor()})
    second = journal.begin("t1", {"statement": "x", "plan": {"stages": []}, "finishes": first, **actor()})
    one, two, three = CELLS
    for change, cell, what, state in (
        (first, one, "restart CELLSRV", "done"),
        (first, two, "take 12 grid disks offline", "done"),
        (first, two, "restart CELLSRV", "failed"),
        (first, three, "restart CELLSRV", ""),
    ):
        rows = [Row(kind="intent", target=cell, body={"what": what, "statement": "y"})]
        if state:
            rows.append(Row(kind="outcome", target=cell, body={"what": what, "state": state}))
        journal.append("t1", change, rows)
    assert done_on(journal, "t1", first, "restart CELLSRV") == {one}
    for state, found in (("done", {one, three}), ("failed", {one})):
        body = {"what": "restart CELLSRV", "state": state}
        journal.append("t1", second, [Row(kind="outcome", target=three, body=body)])
        assert done_on(journal, "t1", first, "restart CELLSRV") == found
