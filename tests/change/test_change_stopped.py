"""Services that a change stopped are pending until they are started again or seen running."""

from __future__ import annotations

from pathlib import Path

import pytest

from exacell.change.pending import pending
from exacell.journal.actor import actor
from exacell.journal.left import SERVICES, note_back
from exacell.journal.record import Journal, Row

ONE, TWO = "exa1cel01", "exa1cel02"


def sent(cell: str, text: str) -> Row:
    statement = f"ALTER CELL {text}"
    return Row(kind="intent", target=cell, body={"what": statement, "statement": statement})


def ended(cell: str, text: str, state: str, *, what: str = "") -> Row:
    return Row(kind="outcome", target=cell, body={"what": what or f"ALTER CELL {text}", "state": state})


def both(cell: str, text: str, state: str = "done") -> list[Row]:
    return [sent(cell, text), ended(cell, text, state)]


DOWN, UP, AGAIN = "SHUTDOWN SERVICES CELLSRV", "STARTUP SERVICES CELLSRV", "RESTART SERVICES CELLSRV"
ALL, MS = "SHUTDOWN SERVICES ALL", "SHUTDOWN SERVICES MS"
BACK = f"`online cell {ONE}` starts it and brings the grid disks online"
LEFT = f"change 1 left CELLSRV stopped on {ONE}: {BACK}"
MAYBE = f"change 1 may have left CELLSRV stopped on {ONE}: {BACK}"
CASES: dict[str, tuple[list[Row], list[str]]] = {
    "nothing": ([], []),
    "stopped": (both(ONE, DOWN), [LEFT]),
    "killed before the answer": ([sent(ONE, DOWN)], [MAYBE]),
    "answer lost": (both(ONE, DOWN, "unknown"), [MAYBE]),
    "found done later": ([*both(ONE, DOWN, "unknown"), ended(ONE, DOWN, "done")], [LEFT]),
    "refused by the cell": (both(ONE, DOWN, "failed"), []),
    "found not done": ([*both(ONE, DOWN, "unknown"), ended(ONE, DOWN, "not done")], []),
    "started": ([*both(ONE, DOWN), *both(ONE, UP)], []),
    "restarted": ([*both(ONE, DOWN), *both(ONE, AGAIN)], []),
    "start failed": ([*both(ONE, DOWN), *both(ONE, UP, "failed")], [LEFT]),
    "start not needed": ([*both(ONE, DOWN), ended(ONE, "", "not needed", what="start CELLSRV")], []),
    "another cell started": ([*both(ONE, DOWN), *both(TWO, UP)], [LEFT]),
    "two cells": (
        [*both(ONE, DOWN), *both(TWO, DOWN)],
        [
            f"change 1 left CELLSRV stopped on exa1cel[01-02]: `online cell {ONE}` and so on, one cell at a "
            "time, starts it and brings the grid disks online"
        ],
    ),
    "MS": (
        both(ONE, MS),
        [f"change 1 left MS stopped on {ONE}: `on {ONE} alter cell startup services ms` starts it again"],
    ),
    "all of them": (
        both(ONE, ALL),
        [
            f"change 1 left CELLSRV, MS, RS stopped on {ONE}: `on {ONE} alter cell startup services all` starts "
            "it again, then `online cell` brings its disks online"
        ],
    ),
    "all but CELLSRV started": (
        [*both(ONE, ALL), *both(ONE, "STARTUP SERVICES MS"), *both(ONE, "STARTUP SERVICES RS")],
        [LEFT],
    ),
    "restarted alone": (both(ONE, AGAIN), []),
    "started before it was found done": (
        [*both(ONE, DOWN, "unknown"), *both(ONE, UP), ended(ONE, DOWN, "done")],
        [],
    ),
    "something else not needed": ([*both(ONE, DOWN), ended(ONE, "", "not needed", what="mount DATA again")], [LEFT]),
    "no outcome": ([sent(ONE, DOWN), Row(kind="end", target=ONE, body=ended(ONE, DOWN, "failed").body)], [MAYBE]),
    "start not answered": ([sent(ONE, UP)], []),
    "RS": (
        both(ONE, "SHUTDOWN SERVICES RS"),
        [f"change 1 left RS stopped on {ONE}: `on {ONE} alter cell startup services rs` starts it again"],
    ),
    "all but MS": (
        [*both(ONE, ALL), *both(ONE, "STARTUP SERVICES MS")],
        [
            f"change 1 left CELLSRV, RS stopped on {ONE}: `on {ONE} alter cell startup services all` starts it "
            "again, then `online cell` brings its disks online"
        ],
    ),
    "something else": (both(ONE, "comment='SHUTDOWN SERVICES CELLSRV'"), []),
}


@pytest.mark.parametrize(("rows", "told"), CASES.values(), ids=list(CASES))
def test_what_was_stopped_is_pending_until_it_runs(tmp_path: Path, rows: list[Row], told: list[str]) -> None:
    """A service that a change stopped is told with the statement that starts it, until a change has started it again."""
    journal = Journal(tmp_path / "journal.db")
    change = journal.begin("t1", {"statement": "alter cell …", **actor()})
    journal.append("t1", change, [*rows, Row(kind="end", body={"exitCode": 0, "done": {"done": 1}})])
    found = pending(journal, "t1")
    assert [item.sentence for item in found] == told
    assert {item.state for item in found} <= {"service stopped"}
    assert not pending(journal, "t2")


def test_what_is_seen_running_is_told_no_more(tmp_path: Path) -> None:
    """A service that somebody else started is pending until it is seen running, on that very cell."""
    journal = Journal(tmp_path / "journal.db")
    journal.append("t1", journal.begin("t1", {"statement": "s"}), [*both(ONE, ALL), *both(TWO, DOWN)])
    assert note_back(journal, "t1", SERVICES, {ONE: ("ms", "rs"), TWO: ()}) == ""
    assert [(item.cells, item.services) for item in SERVICES.left(journal, "t1")] == [((ONE, TWO), ("cellsrv",))]
    note_back(journal, "t1", SERVICES, {TWO: ("cellsrv", "ms", "rs")})
    assert [item.cells for item in SERVICES.left(journal, "t1")] == [(ONE,)]
    # Stopped anew it is pending anew.
    journal.append("t1", journal.begin("t1", {"statement": "s"}), both(TWO, DOWN))
    assert [(item.change, item.cells) for item in SERVICES.left(journal, "t1")] == [(1, (ONE,)), (2, (TWO,))]


AGAIN_STOPPED = [
    *(("done", state, LEFT) for state in ("failed", "refused", "not done", "unknown", "")),
    *(("unknown", state, MAYBE) for state in ("failed", "refused", "not done", "unknown", "")),
    *((state, "done", LEFT.replace("change 1", "change 2")) for state in ("done", "unknown")),
]


@pytest.mark.parametrize(("first", "then", "told"), AGAIN_STOPPED)
def test_what_is_stopped_stays_so_when_stopping_it_again_fails(
    tmp_path: Path, first: str, then: str, told: str
) -> None:
    """A service that a change stopped is pending, as surely as it was, also when a later change tried to stop it again."""
    journal = Journal(tmp_path / "journal.db")
    for state in (first, then):
        journal.append(
            "t1", journal.begin("t1", {"statement": "s"}), both(ONE, DOWN, state) if state else [sent(ONE, DOWN)]
        )
    assert [item.sentence for item in SERVICES.left(journal, "t1")] == [told]
    note_back(journal, "t1", SERVICES, {ONE: ("cellsrv",)})
    assert not SERVICES.left(journal, "t1")


def test_an_undo_alone_starts_nothing(tmp_path: Path) -> None:
    """A service that a change stopped is pending after its undo as well, until a statement starts it or it is seen running."""
    journal = Journal(tmp_path / "journal.db")
    journal.append("t1", journal.begin("t1", {"statement": "s"}), [*both(ONE, DOWN), Row(kind="undone", body=actor())])
    assert [item.sentence for item in SERVICES.left(journal, "t1")] == [LEFT]


def test_where_nothing_was_seen_running_nothing_is_written(tmp_path: Path) -> None:
    """Who only looks at services that still stand needs no journal that can be written."""
    journal = Journal(tmp_path / "journal.db")
    journal.append("t1", journal.begin("t1", {"statement": "s"}), both(ONE, DOWN))
    turns = journal.path.with_suffix(".lock")
    turns.unlink()
    turns.mkdir()
    assert note_back(journal, "t1", SERVICES, {ONE: ("ms",), TWO: ("cellsrv",)}) == ""
    assert "can't be written" in note_back(journal, "t1", SERVICES, {ONE: ("cellsrv",)})


def test_a_journal_that_cannot_be_written_stops_no_reading(tmp_path: Path) -> None:
    """That a service was seen running can't always be noted: the reason is one line, and nothing is raised."""
    journal = Journal(tmp_path / "journal.db")
    journal.append("t1", journal.begin("t1", {"statement": "s"}), both(ONE, DOWN))
    journal.head_path.write_text("1 0000")
    assert "journal" in note_back(journal, "t1", SERVICES, {ONE: ("cellsrv",)})
