"""What other hands have brought back is no longer left behind: pending asks the cells before it warns."""

from __future__ import annotations

from pathlib import Path

import pytest
from matrix_moments import Kind, Mishap, Moment, Phase
from matrix_rack import CELLS, MatrixRack, Operator
from matrix_run import prepared
from matrix_verbs import GROUPED

from exacell.change import leftovers as lookingback
from exacell.core.errors import JournalError
from exacell.journal.actor import actor
from exacell.journal.record import Journal

ONE = CELLS[0]
DISKS = "DATA_CD_00_exa1cel01,DATA_CD_01_exa1cel01"


def states(operator: Operator) -> list[str]:
    """Return what pending tells after it has looked."""
    operator.must("pending")
    return [item.state for item in operator.pending()]


CASES: dict[str, tuple[str, list[str], str, list[str], str]] = {
    "caching": (
        f"on {ONE} alter flashcache all flush -y --accept-data-loss={ONE}",
        [],
        "caching off",
        ["alter flashcache all cancel flush"],
        "",
    ),
    "disks": (f"offline cell {ONE} -y", [], "disks offline", ["alter griddisk all active"], ""),
    "disks by name": (
        f"on {ONE} alter griddisk {DISKS} inactive -y",
        [],
        "disks offline",
        [f"alter griddisk {DISKS} active"],
        "",
    ),
    "some disks of those": (
        f"on {ONE} alter griddisk {DISKS} inactive -y",
        [],
        "disks offline",
        ["alter griddisk DATA_CD_00_exa1cel01 active"],
        "disks offline",
    ),
    "disks by name, another one failed": (
        f"on {ONE} alter griddisk {DISKS} inactive -y",
        ["alter griddisk RECO_CD_05_exa1cel01 inactive"],
        "disks offline",
        [f"alter griddisk {DISKS} active"],
        "",
    ),
    "all disks, one failed": (
        f"offline cell {ONE} -y",
        [],
        "disks offline",
        ["alter griddisk all active", "alter griddisk RECO_CD_05_exa1cel01 inactive"],
        "disks offline",
    ),
    "a service": (
        f"on {ONE} alter cell shutdown services cellsrv -y",
        ["alter griddisk all inactive"],
        "service stopped",
        ["alter cell startup services cellsrv", "alter griddisk all active"],
        "",
    ),
    "another service": (
        f"on {ONE} alter cell shutdown services all -y",
        ["alter griddisk all inactive"],
        "service stopped",
        ["alter cell startup services cellsrv"],
        "service stopped",
    ),
}


@pytest.mark.parametrize(("statement", "before", "left", "others", "then"), CASES.values(), ids=list(CASES))
def test_pending_asks_the_cells_before_it_warns(
    tmp_path: Path, statement: str, before: list[str], left: str, others: list[str], then: str
) -> None:
    """What a change left off is told until other hands have brought all of it back, and never again after that."""
    rack = MatrixRack(tmp_path / "rack", prepared(GROUPED))
    operator = rack.operator()
    for text in before:
        rack.raw(ONE, text)
        rack.pass_time(60)
    operator.must(statement)
    assert states(operator) == [left]
    for text in others:
        rack.raw(ONE, text)
        rack.pass_time(600)
    assert states(operator) == ([then] if then else [])
    assert [item.state for item in rack.operator().pending()] == ([then] if then else [])


def test_a_cell_that_does_not_say_keeps_its_warning(tmp_path: Path) -> None:
    """A cell that gives no answer is told as the journal knows it, and that it did not say more."""
    rack = MatrixRack(tmp_path / "rack", prepared(GROUPED))
    operator = rack.operator()
    operator.must(f"offline cell {ONE} -y")
    rack.raw(ONE, "alter griddisk all active")
    rack.pass_time(600)
    rack.world.inject((ONE,), "ms-down", {"for": 86400})
    said = operator.do("pending")
    assert said.text == f"{ONE} did not answer: for it, this is from the journal"
    assert [item.state for item in operator.pending()] == ["disks offline"]


def test_a_drop_that_may_come_is_told_though_the_cache_is_on(tmp_path: Path) -> None:
    """A cache that caches now is still told where a DROP of it was not answered: it may be carried out yet."""
    rack = MatrixRack(tmp_path / "rack", prepared(()))
    operator = rack.operator(Mishap(Kind.HANG, Moment(Phase.SEND, 2), how="never"))
    assert operator.do("resize flashcache size=256g -y").code == 1
    for cell in CELLS:
        rack.raw(cell, "alter flashcache all cancel flush")
    operator = rack.operator()
    operator.must("pending")
    assert any("may still happen" in item.sentence for item in operator.pending())


def test_nothing_is_asked_without_a_reason(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No cell is asked where nothing was left, and none while a change is running, which is said."""
    rack = MatrixRack(tmp_path / "rack", prepared(GROUPED))
    operator = rack.operator()
    asked: list[object] = []
    monkeypatch.setattr(operator.services.fleet, "query", lambda *words: asked.append(words))
    operator.must("pending")
    monkeypatch.undo()
    operator.must(f"offline cell {ONE} -y")
    monkeypatch.setattr(operator.services.fleet, "query", lambda *words: asked.append(words))
    operator.services.journal.begin("t1", {"statement": "s", "plan": {}, **actor()})
    assert "a change is running" in operator.do("pending").text
    assert not asked


def test_what_was_read_before_a_change_began_is_not_noted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a look found is not written down when a change began meanwhile: that may have taken the disks away again."""
    rack = MatrixRack(tmp_path / "rack", prepared(GROUPED))
    operator = rack.operator()
    operator.must(f"offline cell {ONE} -y")
    rack.raw(ONE, "alter griddisk all active")
    rack.pass_time(600)
    original = lookingback._online

    def slow(*given: object) -> object:
        found = original(*given)  # type: ignore[arg-type]  # what it is given is passed on
        operator.services.journal.begin("t1", {"statement": "s", "plan": {}, **actor()})
        return found

    monkeypatch.setattr(lookingback, "_online", slow)
    operator.must("pending")
    assert [item.state for item in operator.pending()] == ["disks offline"]


def test_what_can_not_be_noted_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A look whose finding can't be journalled says why."""
    rack = MatrixRack(tmp_path / "rack", prepared(GROUPED))
    operator = rack.operator()
    operator.must(f"offline cell {ONE} -y")
    rack.raw(ONE, "alter griddisk all active")
    rack.pass_time(600)

    def full(*given: object) -> None:
        raise JournalError("the disk is full")

    monkeypatch.setattr(Journal, "append", full)
    monkeypatch.setattr(type(operator.services.journal), "append", full)
    assert "the disk is full" in operator.do("pending").text
