"""What was left behind is looked at again: only cells of which something is left, and only what is seen well is noted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from exacell.change import leftovers as lookingback
from exacell.core.errors import JournalError
from exacell.journal.left import CACHES, DISKS, SERVICES
from exacell.journal.record import Journal, Row
from tests.plan.plan_factory import grid


class Cells:
    """Answers of cells to one LIST each, and who was asked."""

    def __init__(self, answers: Mapping[str, Sequence[Mapping[str, Any]]]) -> None:
        self.asked: list[str] = []
        self._answers = answers
        self.ctx: Any = SimpleNamespace(fleet=self)

    def query(self, cells: Sequence[str], statements: Sequence[str]) -> Any:
        self.asked += cells
        good = {cell: SimpleNamespace(tables=[self._answers[cell]]) for cell in cells if cell in self._answers}
        return SimpleNamespace(good=good)


def _left(change: int, *cells: str, **more: Any) -> Any:
    return SimpleNamespace(change=change, cells=cells, **more)


@pytest.mark.parametrize(("state", "asked"), [("unfinished", False), ("unconfirmed", False), ("caching off", True)])
def test_cells_are_asked_only_where_something_of_them_is_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, state: str, asked: bool
) -> None:
    """A change that never ended says nothing of its cells: none is asked for it."""
    found: list[bool] = []
    monkeypatch.setattr(lookingback, "pending", lambda *_, **__: (SimpleNamespace(state=state),))
    for name in ("_running", "_online", "_caching"):
        monkeypatch.setattr(lookingback, name, lambda *_: (found.append(True), ([], []))[1])
    ctx: Any = SimpleNamespace(
        journal=Journal(tmp_path / "journal.db"),
        need_rack=lambda: SimpleNamespace(name="r"),
        fleet=None,
    )
    assert lookingback.look(ctx, ctx)[1] == ()
    assert bool(found) is asked


def test_each_change_gets_what_was_seen_of_it(tmp_path: Path) -> None:
    """What is well again is noted with the change that had left it, and with no other."""
    journal = Journal(tmp_path / "journal.db")
    first, second = (journal.begin("r", {"statement": "s"}) for _ in range(2))
    for change in (first, second):
        journal.append("r", change, [Row(kind="end", body={"exitCode": 0})])
    rows = [(change, Row(kind="observed", target=cell, body={})) for change, cell in ((first, "c1"), (second, "c2"))]
    assert lookingback._note(journal, "r", rows) == ""
    seen = {(entry.change, entry.target) for entry in journal.entries() if entry.kind == "observed"}
    assert seen == {(first, "c1"), (second, "c2")}


def test_where_nothing_was_seen_the_journal_is_left_alone() -> None:
    """A journal that can't be read is no matter where nothing is to be noted; else it is told."""

    class Damaged:
        observe = Journal.observe

        def unfinished(self, rack: str) -> None:
            raise JournalError("it is damaged")

    damaged: Any = Damaged()
    assert lookingback._note(damaged, "r", []) == ""
    assert lookingback._note(damaged, "r", [(1, Row(kind="observed", target="c1", body={}))]) == "it is damaged"


def test_a_service_counts_as_running_when_the_cell_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a cell whose services are still stopped, or that gives no answer, nothing is noted; who gave none is told."""
    left = [_left(1, "c1", "c2", "c3", services=("cellsrv", "ms"))]
    monkeypatch.setattr(SERVICES, "left", lambda *_: left)
    cells = Cells(
        {
            "c1": [{"cellsrvStatus": "running", "msStatus": "stopped"}],
            "c2": [{"cellsrvStatus": "stopped", "msStatus": "stopped"}],
        }
    )
    rows, silent = lookingback._running(cells.ctx.fleet, None, "r")  # type: ignore[arg-type]
    assert [(change, row.target, row.body) for change, row in rows] == [(1, "c1", {"services": ["cellsrv"]})]
    assert silent == ["c3"]


def test_disks_of_a_cell_whose_services_are_stopped_are_not_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is stopped comes first: such a cell says nothing of its disks."""
    monkeypatch.setattr(SERVICES, "left", lambda *_: [_left(1, "c1", services=("cellsrv",))])
    monkeypatch.setattr(DISKS, "each", lambda *_: {"c1": frozenset(), "c2": frozenset()})
    monkeypatch.setattr(DISKS, "left", lambda *_: [])
    cells = Cells({})
    assert lookingback._online(cells.ctx.fleet, None, "r") == ([], ["c2"])  # type: ignore[arg-type]
    assert cells.asked == ["c2"]


BACK, AWAY = grid("CD_00_c"), grid("CD_01_c", asm_mode="OFFLINE")
INACTIVE = grid("CD_02_c", status="inactive")
UNUSED = grid("CD_03_c", asm_mode="UNUSED", asm_group="", status="inactive")


@pytest.mark.parametrize(
    ("grids", "names", "back"),
    [
        ((BACK,), (), True),
        ((), (), False),
        ((BACK, AWAY), (), False),
        ((BACK, INACTIVE), (), False),
        ((BACK, UNUSED), (), True),
        ((BACK, AWAY), (BACK.name,), True),
        ((BACK, AWAY), (AWAY.name,), False),
        # One of the two is not there any more: all of the cell's count.
        ((BACK, AWAY), (BACK.name, "DATA_CD_09_c"), False),
        ((BACK,), (BACK.name, "DATA_CD_09_c"), True),
    ],
)
def test_when_disks_are_back(grids: Sequence[Any], names: Sequence[str], back: bool) -> None:
    """Disks are back when those meant are active and ASM has them online, but for those that nobody uses."""
    assert lookingback._are_back(grids, frozenset(name.lower() for name in names)) is back


def test_caches_are_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    """A flash cache that caches again says nothing of the PMEM cache of the same cell; only silent cells are told as such."""
    off = [
        _left(1, "c1", "c2", cache="flashcache", comes=False),
        _left(2, "c1", cache="pmemcache", comes=False),
        _left(3, "c4", cache="flashcache", comes=True),
    ]
    told = {"flashcache": {"c1": "on"}, "pmemcache": {"c1": "off"}}
    asked: list[tuple[str, tuple[str, ...]]] = []

    def seen(_: object, cells: Sequence[str], cache: str) -> dict[str, str]:
        asked.append((cache, tuple(cells)))
        return told[cache]

    monkeypatch.setattr(CACHES, "left", lambda *_: off)
    monkeypatch.setattr(lookingback, "seen", seen)
    rows, silent = lookingback._caching(Cells({}).ctx.fleet, None, "r")  # type: ignore[arg-type]
    assert [(change, row.target, row.body["cache"]) for change, row in rows] == [(1, "c1", "flashcache")]
    assert silent == ["c2"]
    assert asked == [("flashcache", ("c1", "c2")), ("pmemcache", ("c1",))]
