"""The ways out of a change that did not come to its end, besides those that the matrix goes through."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from unittest import mock

import pytest
from matrix_moments import Kind, Mishap, Moment, Phase
from matrix_rack import CELLS, MatrixRack, Operator
from matrix_run import prepared, state_of
from matrix_verbs import GROUPED

from exacell.change.leftbehind import left_behind
from exacell.change.targets.base import NO_ANSWER
from exacell.change.targets.kinds import Targets
from exacell.journal.actor import actor
from exacell.journal.record import Row


@pytest.fixture
def rack(tmp_path: Path) -> Iterator[MatrixRack]:
    """A rack with room for grid disks on its flash."""
    yield MatrixRack(tmp_path / "rack", prepared(("resize flashcache size=288g -y",)))


def killed(rack: MatrixRack, statement: str, stage: int, how: str = "sent") -> Operator:
    """Return a new process of the operator after the one that carried out ``statement`` was killed in a stage."""
    first = rack.operator(Mishap(kind=Kind.KILL, at=Moment(Phase.SEND, stage), how=how))
    assert first.do(statement).killed
    rack.pass_time(600)
    return rack.operator()


def test_an_abandoned_change_is_left_as_it_is(rack: MatrixRack) -> None:
    """It should not be offered again, change nothing, and stay in the journal as what it is."""
    operator = killed(rack, "carve griddisk prefix=p size=1G media=flash -y", 1, "some")
    before = state_of(rack)
    said = operator.do("resume 1 --abandon")
    assert (said.code, "stays as it is" in said.text) == (0, True)
    assert state_of(rack) == before
    assert operator.do("resume -y").text == "nothing is unfinished"
    assert operator.do("pending").code == 0 and left_behind(operator.session, operator.services) == ()
    assert operator.services.journal.verify() == ""


def test_an_undone_change_is_not_undone_again(rack: MatrixRack) -> None:
    """It should refuse a second undo, naming the change, and undo the one before when no number is given."""
    operator = rack.operator()
    original = state_of(rack)
    for statement in ("disable flashlog db=SPOT -y", "carve griddisk prefix=p size=1G media=flash -y", "undo 2 -y"):
        operator.must(statement)
    again = operator.do("undo 2 -y")
    assert (again.code, "change 2 of rack t1 is already undone" in again.text) == (2, True)
    operator.must("undo -y")
    assert state_of(rack) == original
    nothing = operator.do("undo -y")
    assert nothing.code == 2 and "no change of rack t1 to undo" in nothing.text


def test_a_resumed_change_is_undone_as_one(rack: MatrixRack) -> None:
    """It should take back what was done before the kill and after it together, whichever number is named."""
    original = state_of(rack)
    operator = killed(rack, "resize flashcache size=256g -y", 2, "some")
    operator.must("resume -y")
    assert state_of(rack) != original
    operator.must("undo 2 -y")
    assert state_of(rack) == original
    assert rack.lost_dirty == 0


def test_resume_tells_what_became_of_statements_without_an_answer(rack: MatrixRack) -> None:
    """It should say, and journal, how many were done and how many were not, before it goes on."""
    operator = killed(rack, "carve griddisk prefix=p size=1G media=flash -y", 1, "some")
    operator.must("resume -y")
    assert "change 1: statements whose end was not recorded: 1 done, 2 not found done" in operator.console.said
    settled = [e.body["state"] for e in operator.services.journal.entries(change=1) if e.body.get("settled")]
    assert sorted(settled) == ["done", "not done", "not done"]


def test_a_number_that_is_not_unfinished_is_refused(rack: MatrixRack) -> None:
    """It should refuse to resume a change that ended."""
    operator = rack.operator()
    operator.must("disable flashlog db=SPOT -y")
    said = operator.do("resume 1 -y")
    assert said.code == 2 and "change 1 of rack t1 is not unfinished" in said.text


def test_retry_touches_the_failed_cell_only(rack: MatrixRack) -> None:
    """It should take the cells on which all was done out of it, whatever the plan had to mend on others."""
    first = rack.operator(Mishap(kind=Kind.ERROR, at=Moment(Phase.SEND, 3)))
    assert first.do("resize flashcache size=256g -y").code == 1
    operator = rack.operator()
    operator.must("retry failed -y")
    assert [line for line in operator.console.said if line.startswith("retry 1: ")] == [
        "retry 1: resize flashcache size=256g on exa1cel02"
    ]


def test_resume_begins_anew_where_what_was_done_is_gone(rack: MatrixRack) -> None:
    """It should go on with a cell that was done and does not hold what was done any more, as with those that were not."""
    operator = killed(rack, "carve griddisk prefix=p size=1G media=flash -y", 1, "some")
    rack.raw(CELLS[0], "drop griddisk all prefix=p force")
    operator.must("resume -y")
    assert "resume 1: carve griddisk prefix=p size=1G media=flash on exa1cel[01-03]" in operator.console.said
    assert all("p_FD_00" in rack.raw(cell, "list griddisk attributes name") for cell in CELLS)


def test_resume_takes_no_node_for_a_cell(tmp_path: Path) -> None:
    """It should leave out the cells that are done, where ASM on a database node was done before them."""
    rack = MatrixRack(tmp_path / "rack", prepared(GROUPED))
    operator = killed(rack, "resize griddisk prefix=p size=2G -y", 2, "some")
    operator.must("resume -y")
    assert "resume 1: resize griddisk prefix=p size=2G on exa1cel[02-03]" in operator.console.said


def test_an_undo_that_was_killed_goes_on(rack: MatrixRack) -> None:
    """It should not take for somebody else's change what an undo that was killed before its outcome had done already."""
    original = state_of(rack)
    rack.operator().must("disable flashlog db=SPOT -y")
    operator = killed(rack, "undo 1 -y", 1, "some")
    operator.must("undo 1 -y")
    assert state_of(rack) == original


def test_an_undo_that_sent_nothing_hides_no_change(rack: MatrixRack) -> None:
    """It should refuse what was changed since, also on a cell where an earlier undo was refused and sent nothing."""
    operator = rack.operator()
    operator.must("disable flashlog db=SPOT -y")
    journal = operator.services.journal
    attempt = journal.begin("t1", {"statement": "x", "origin": "undo 1", "plan": {"stages": []}, **actor()})
    refused = {"what": "replace the dbplan", "state": "refused"}
    journal.append("t1", attempt, [Row(kind="outcome", target=CELLS[0], body=refused), Row(kind="end", body={})])
    rack.raw(CELLS[0], "alter iormplan dbplan=''")
    said = operator.do("undo 1 -y")
    assert said.code == 2 and "exa1cel01" in said.text and "it has been changed since" in said.text


def test_undo_asks_no_asm_about_cells(rack: MatrixRack, monkeypatch: pytest.MonkeyPatch) -> None:
    """It should take back what concerns cells only where no ASM instance can be asked."""
    original, operator = state_of(rack), rack.operator()
    operator.must("disable flashlog db=SPOT -y")
    monkeypatch.setattr(operator.services, "asm", lambda name: pytest.fail(f"ASM {name!r} was asked for"))
    operator.must("undo 1 -y")
    assert state_of(rack) == original


def test_what_has_moved_counts_before_what_is_silent(rack: MatrixRack, monkeypatch: pytest.MonkeyPatch) -> None:
    """It should refuse for good where one cell was changed since, though another one gives no answer."""
    operator = rack.operator()
    operator.must("disable flashlog db=SPOT -y")
    found = {CELLS[0]: {NO_ANSWER: "no answer"}, CELLS[1]: {0: "iormplan flashLog is on"}}
    monkeypatch.setattr(Targets, "failed", lambda targets, wanted: found)
    said = operator.do("undo 1 -y")
    assert said.code == 2 and "exa1cel02: iormplan flashLog is on; it has been changed since" in said.text


def test_confirm_within_survives_a_kill(rack: MatrixRack) -> None:
    """It should still want the confirmation of a change that was killed and resumed, with the inverse of its beginning."""
    operator = killed(rack, "carve griddisk prefix=p size=1G media=flash --confirm-within=1h -y", 1, "some")
    operator.guardian = spawned = mock.Mock(return_value=1)
    operator.must("resume -y")
    ((session, _, change),) = [call.args for call in spawned.mock_calls]
    assert session is operator.session and change == 1
    (told,) = left_behind(operator.session, operator.services)
    assert "change 1 (" in told and "confirm 1" in told
    operator.must("undo 1 -y")
    assert left_behind(operator.session, operator.services) == ()


@pytest.mark.parametrize("words", ["confirm 1 -y", "confirm -y"])
def test_a_yes_behind_confirm_makes_no_question_of_it(rack: MatrixRack, words: str) -> None:
    """confirm with a -y that it does not need should keep the change, and not ask a question that reads ``1 -y``."""
    operator = rack.operator()
    operator.must("disable flashlog db=SPOT --confirm-within=1h -y")
    assert len(left_behind(operator.session, operator.services)) == 1
    operator.must(words)
    assert left_behind(operator.session, operator.services) == ()
