"""The ways out of a change that did not come to its end, besides those that the matrix goes through."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from unittest import mock

import pytest
from matrix_moments import Kind, Mishap, Moment, Phase
from matrix_rack import MatrixRack, Operator
from matrix_run import prepared, state_of


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
    assert operator.do("pending").code == 0 and operator.ctx.pending() == ()
    assert operator.ctx.journal.verify() == ""


def test_an_undone_change_is_not_undone_again(rack: MatrixRack) -> None:
    """It should refuse a second undo, naming the change, and undo the one before when no number is given."""
    operator = rack.operator()
    original = state_of(rack)
    for statement in ("disable flashlog db=SPOT -y", "carve griddisk prefix=p size=1G media=flash -y", "undo 2 -y"):
        operator.must(statement)
    again = operator.do("undo 2 -y")
    assert (again.code, "change 2 of rack t1 is undone already" in again.text) == (2, True)
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
    assert "change 1: statements whose end was not recorded: 1 done, 2 not done" in operator.console.said
    settled = [e.body["state"] for e in operator.ctx.journal.entries(change=1) if e.body.get("settled")]
    assert sorted(settled) == ["done", "not done", "not done"]


def test_a_number_that_is_not_unfinished_is_refused(rack: MatrixRack) -> None:
    """It should refuse to resume a change that ended."""
    operator = rack.operator()
    operator.must("disable flashlog db=SPOT -y")
    said = operator.do("resume 1 -y")
    assert said.code == 2 and "change 1 of rack t1 is not unfinished" in said.text


def test_confirm_within_survives_a_kill(rack: MatrixRack) -> None:
    """It should still want the confirmation of a change that was killed and resumed, with the inverse of its beginning."""
    operator = killed(rack, "carve griddisk prefix=p size=1G media=flash --confirm-within=1h -y", 1, "some")
    operator.guardian = spawned = mock.Mock(return_value=1)
    operator.must("resume -y")
    spawned.assert_called_once_with(operator.ctx, 1)
    (told,) = operator.ctx.pending()
    assert "change 1 (" in told and "confirm 1" in told
    operator.must("undo 1 -y")
    assert operator.ctx.pending() == ()


@pytest.mark.parametrize("words", ["confirm 1 -y", "confirm -y"])
def test_a_yes_behind_confirm_makes_no_question_of_it(rack: MatrixRack, words: str) -> None:
    """confirm with a -y that it does not need should keep the change, and not ask a question that reads ``1 -y``."""
    operator = rack.operator()
    operator.must("disable flashlog db=SPOT --confirm-within=1h -y")
    assert len(operator.ctx.pending()) == 1
    operator.must(words)
    assert operator.ctx.pending() == ()
