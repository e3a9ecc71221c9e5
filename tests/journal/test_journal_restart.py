"""A new journal behind a damaged one: nothing is lost that can still be read, and no warning is forgotten."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from exacell.change.earlier import plan_row
from exacell.change.journal_restart import restart
from exacell.change.pending import pending
from exacell.core.errors import JournalError
from exacell.journal.actor import actor
from exacell.journal.confirming import open_deadlines, set_deadline
from exacell.journal.left import CACHES
from exacell.journal.record import Journal, Row
from exacell.plan.model import Plan, Stage, Step, Undo, as_data
from tests.support.forging import forging

DEAD = {**actor(), "pid": "4194305"}


@pytest.fixture
def journal(tmp_path: Path) -> Journal:
    """Four changes: one ended, one unfinished, one that left caching off, one that waits to be confirmed."""
    made = Journal(tmp_path / "journal.db")
    for number, statement in enumerate(("resize", "carve", "flush", "disable"), start=1):
        change = made.begin("t1", {"statement": statement, **DEAD})
        off = statement == "flush"
        made.append("t1", change, [Row(kind="intent", target="c1", body={"what": "w", "cachingOff": off})])
        if number != 2:
            made.append("t1", change, [Row(kind="end", body={"exitCode": 0})])
    set_deadline(made, "t1", 4, "disable", 600)
    return made


def edit(journal: Journal, seq: int) -> None:
    with forging(journal.path) as connection:
        connection.execute('update entry set body = \'{"statement":"nothing"}\' where seq = ?', (seq,))


def test_a_whole_journal_is_not_restarted(journal: Journal) -> None:
    """It should refuse to begin a new journal while the old one is whole."""
    with pytest.raises(JournalError, match=r"is complete \(12 rows\)"):
        restart(journal)


def test_the_old_one_stays_and_its_last_good_row_is_named(journal: Journal) -> None:
    """It should keep the damaged file readable beside, and name it and its last good row in the new one's first row."""
    rows = journal.entries()
    edit(journal, 3)
    done = restart(journal, reason="disk repaired")
    assert (done.good, done.hash) == (2, rows[1].hash)
    assert "row 3" in done.problem
    first = journal.entries()[0]
    assert first.kind == "restart" and first.seq == 1
    assert {k: first.body[k] for k in ("old", "good", "hash", "reason")} == {
        "old": str(done.old), "good": 2, "hash": rows[1].hash, "reason": "disk repaired",
    }  # fmt: skip
    assert journal.verify() == ""
    old = Journal(done.old)
    assert [row.seq for row in old.all_entries()] == list(range(1, 13))
    assert "row 3" in old.verify()


def test_warnings_are_carried_over(journal: Journal) -> None:
    """It should still warn of what never ended, of caching that is off and of what waits to be confirmed."""
    edit(journal, 1)
    done = restart(journal)
    assert done.carried == (2, 3, 4)
    assert [row.change for row in journal.unfinished("t1")] == [2]
    assert [(item.change, item.cells) for item in CACHES.left(journal, "t1")] == [(3, ("c1",))]
    assert [item.change for item in open_deadlines(journal, "t1")] == [4]
    assert journal.begin("t1", {}) == 5  # Numbers go on: one number is one change, in both files.


STEP = Step(target="c1", statement="ALTER CELL x=1", what="w", inverse="ALTER CELL x=0", undo=Undo.STATEMENT)
PLAN = Plan(statement="s", rack="t1", stages=(Stage(title="t", steps=(STEP,)),), inverse={"c1": ("alter cell x=0",)})
SENT = Row(kind="intent", target="c1", body={"what": "w"})
DONE = Row(kind="outcome", target="c1", body={"what": "w", "state": "done"})
STOP = {"what": "stop CELLSRV", "statement": "ALTER CELL SHUTDOWN SERVICES CELLSRV"}
GATE = {"exitCode": 1, "done": {}, "stopped": "the gate before wave 2 stayed closed"}
WARNED: dict[str, list[tuple[dict[str, object], list[Row]]]] = {
    "a service that is stopped": [
        ({}, [Row(kind="intent", target="c1", body=STOP), Row(kind="end", body={"exitCode": 0})]),
        ({}, [SENT, DONE, Row(kind="end", body={"exitCode": 0})]),
    ],
    "a change that a gate stopped": [({}, [SENT, DONE, Row(kind="end", body=GATE)])],
    "what went on with a change, and was stopped": [
        ({}, [SENT, Row(kind="end", body={"exitCode": 1})]),
        ({"finishes": 5, "origin": "retry 5"}, [SENT, DONE, Row(kind="end", body=GATE)]),
    ],
    "a change that is taken back half": [
        ({}, [SENT, DONE, Row(kind="end", body={"exitCode": 0})]),
        ({"origin": "undo 5"}, [SENT, DONE, Row(kind="end", body={"exitCode": 0})]),
    ],
}


@pytest.mark.parametrize("what", WARNED)
def test_each_warning_is_carried_over(journal: Journal, what: str) -> None:
    """It should warn of just what was warned of before, and keep what resume and undo need for it."""
    for body, rows in WARNED[what]:
        given = {"statement": f"make {what}", **DEAD, **body, "plan": as_data(PLAN)}
        journal.append("t1", journal.begin("t1", given), rows)
    before = [item.sentence for item in pending(journal, "t1")]
    assert any(item.change == 5 or item.change == 6 for item in pending(journal, "t1"))
    journal.head_path.unlink()
    restart(journal)
    assert [item.sentence for item in pending(journal, "t1")] == before
    assert "plan" in plan_row(journal, "t1", 5).body


def test_an_edited_row_is_not_carried_over(journal: Journal) -> None:
    """It should carry no row over that is not what its own hash was made of."""
    edit(journal, 4)
    done = restart(journal)
    assert 2 not in [row.change for row in journal.unfinished("t1")]
    assert "nothing" not in [row.body.get("statement") for row in journal.entries()]
    assert done.carried == (3, 4)


DAMAGE = ["garbage", "no table", "missing rows", "missing head", "damaged head"]


@pytest.mark.parametrize("kind", DAMAGE)
def test_any_damage_can_be_left_behind(journal: Journal, kind: str) -> None:
    """It should make writing possible again whatever is wrong, and keep every file that was there."""
    if kind == "garbage":
        journal.path.write_text("no journal\n" * 200)
    elif kind == "no table":
        with forging(journal.path) as connection:
            connection.execute("drop table entry")
    elif kind == "missing rows":
        journal.path.unlink()
    elif kind == "missing head":
        journal.head_path.unlink()
    else:
        journal.head_path.write_text("x")
    with pytest.raises(JournalError):
        journal.begin("t1", {})
    content = journal.path.read_bytes() if journal.path.exists() else None
    done = restart(journal)
    assert (done.old.read_bytes() if done.old.exists() else None) == content
    journal.begin("t1", {"at": datetime.now(UTC).isoformat()})
    assert journal.verify() == ""


def test_two_restarts_in_a_second_keep_both(journal: Journal) -> None:
    """It should never overwrite a file that an earlier restart put aside."""
    old = []
    for _ in range(2):
        edit(journal, 1)
        old.append(restart(journal).old)
    assert len(set(old)) == 2 and all(path.exists() for path in old)
