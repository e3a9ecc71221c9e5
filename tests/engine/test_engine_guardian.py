"""What a guardian takes back, and what it leaves alone, in a session of its own."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from engine_desk import Desk, Left
from engine_fakes import CELLS, Bench

from exacell.change import guardian, undoing
from exacell.change.guardian import take_back
from exacell.change.sentry import Errand
from exacell.core.errors import MovedError
from exacell.journal.confirming import open_deadlines, set_deadline
from exacell.output.result import Result
from exacell.plan.model import Step
from exacell.session import opening

STEP = Step(target=CELLS[0], what="w", statement="ALTER CELL x=1")


@pytest.mark.parametrize("moved", [False, True])
def test_what_somebody_has_settled_since_is_not_taken_back(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, moved: bool
) -> None:
    """It asks whether a later change has settled the same before it takes anything back, for all that waits with it."""
    desk = Desk(bench)
    desk.left(Left("x", [(STEP, "done")], end={"exitCode": 0}))
    set_deadline(bench.journal, "t1", 1, "x", -1)
    (item,) = open_deadlines(bench.journal, "t1")
    undone: list[object] = []

    def refuse(_: object, rack: str, changes: object) -> None:
        assert (rack, changes) == ("t1", [1])
        if moved:
            raise MovedError("change 2 has set it since")

    monkeypatch.setattr(opening, "open_session", lambda *_: (desk.session, desk))
    monkeypatch.setattr(desk, "close", lambda: None)
    monkeypatch.setattr(guardian, "refuse_overtaken", refuse)
    monkeypatch.setattr(
        undoing, "undo", lambda session, services, request, changes, _: undone.append(changes) or Result()
    )
    errand = Errand(rack="t1", change=1)
    assert item.overdue(datetime.now(UTC))
    if moved:
        with pytest.raises(MovedError, match="change 2 has set it since"):
            take_back(errand, item)
    else:
        assert take_back(errand, item) == ""
    assert undone == ([] if moved else [[1]])
