"""A change that broke off because the journal could not be written, in a session that lives on."""

from __future__ import annotations

from collections.abc import Iterable

import pytest
from engine_desk import Desk
from engine_fakes import CELLS, Bench

from exacell.cellcli.iorm import DirectiveName
from exacell.change.pending import pending
from exacell.change.resuming import resume
from exacell.change.undoing import undo
from exacell.core.errors import BrokenOffError, ExitCode, JournalError
from exacell.journal.record import Row
from exacell.plan.planners.iorm import flashlog_plan

ONE = CELLS[0]
STATEMENT = "disable flashlog db=SPOT"


@pytest.fixture
def desk(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> Desk:
    """A session whose journal took the intent and not the outcome, and takes rows again by now."""
    made = Desk(bench)
    append = bench.journal.append

    def full(rack: str, change: int, rows: Iterable[Row]) -> None:
        kept = list(rows)
        if any(row.kind != "intent" for row in kept):
            raise JournalError("the disk is full")
        append(rack, change, kept)

    with monkeypatch.context() as patch:
        patch.setattr(bench.journal, "append", full)
        with pytest.raises(BrokenOffError, match="stopped halfway"):
            bench.run(
                flashlog_plan("t1", bench.facts(), wanted=DirectiveName(name="SPOT"), on=False, statement=STATEMENT)
            )
    return made


def test_it_is_told_and_gone_on_with(desk: Desk) -> None:
    """The session itself is told what broke off, and resume, as the error promises, goes on with it: nobody carries it out."""
    assert [(item.change, item.state, item.mend) for item in pending(desk.journal, "t1")] == [
        (1, "unfinished", "resume")
    ]
    assert resume(desk.session, desk, desk.request, {}, change=1).exit_code is ExitCode.DONE
    assert pending(desk.journal, "t1") == ()


def test_it_is_taken_back(desk: Desk) -> None:
    """Undo takes back what broke off, in the same session."""
    assert undo(desk.session, desk, desk.request, [1], {}).exit_code is ExitCode.DONE
    assert desk.done
