"""Rows that were edited can be looked at and exported whatever they hold, and nothing is ever done because of them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from exacell.change.journal_restart import restart
from exacell.change.pending import pending
from exacell.core.errors import JournalError
from exacell.journal import record
from exacell.journal.auditing import Common, Filter, as_csv, as_jsonl, moment, outlines_of, row_record, summary
from exacell.journal.record import Journal, Row
from tests.support.forging import forging

EDITS = [
    "at = 'never' where seq = 2",
    "at = 5 where seq = 2",
    "body = '[1]' where seq = 1",
    "body = x'ff00' where seq = 1",
    "body = cast(x'ff00ff' as text) where seq = 2",
    "kind = x'ff' where seq = 1",
    "kind = 'restart' where seq = 1",
    "change = 'abc' where seq = 1",
    "body = '{\"exitCode\":\"x\"}' where kind = 'end'",
    'body = \'{"plan":{"stages":[{"x":1}]}}\' where kind = \'plan\'',
    'body = \'{"plan":{"stages":5},"statement":7}\' where kind = \'plan\'',
    "kind = 'deadline' where seq = 2",
    "seq = 99999999999 where seq = 4",
    "rack = 7 where seq = 1",
    "target = 9 where seq = 2",
]


@pytest.fixture
def journal(tmp_path: Path) -> Journal:
    """A journal of one change that ended."""
    journal = Journal(tmp_path / "journal.db")
    change = journal.begin("t1", {"statement": "flush", "user": "u", "plan": {"stages": []}})
    step = {"what": "w", "statement": "ALTER", "state": "done"}
    journal.append("t1", change, [Row(kind=kind, target="c1", body=step) for kind in ("intent", "outcome")])
    journal.append("t1", change, [Row(kind="end", body={"exitCode": 0})])
    return journal


@pytest.mark.parametrize("edit", EDITS)
def test_an_edited_row_is_for_eyes_only(journal: Journal, edit: str) -> None:
    """It should be shown and exported, found by verify, and refused wherever something would be done because of it."""
    with forging(journal.path) as connection:
        connection.execute(f"update entry set {edit}")
    found = Journal(journal.path)
    rows = found.all_entries()
    assert len(rows) == 4 and any("damaged" in row.body for row in rows)
    wanted = Filter(since=moment("2h"), failed=False)
    assert all(summary(change) for change in outlines_of(rows).values() if wanted.wants(change))
    assert all(row_record(row, Common(rows)) for row in rows)
    assert [json.loads(line)["seq"] for line in as_jsonl(rows)] == [row.seq for row in rows]
    assert len(list(as_csv(rows, found.plans_of))) == 1 + len(rows)
    assert found.verify()
    with pytest.raises(JournalError):
        found.begin("t1", {})
    for ask in (found.entries, lambda: pending(found, "t1")):
        try:
            ask()
        except JournalError as error:
            assert "edited" in error.message or "can't be read" in error.message


@pytest.mark.parametrize("number", ["'abc'", "1000.5", "x'ff'", str(2**63 - 1)])
def test_an_old_row_with_an_impossible_change_stops_writing(
    journal: Journal, monkeypatch: pytest.MonkeyPatch, number: str
) -> None:
    """A change's number that was overwritten in a row so old that no start looks at it is no number to count on from."""
    monkeypatch.setattr(record, "RECENT", 2)
    for _ in range(3):
        journal.begin("t1", {})
    with forging(journal.path) as connection:
        connection.execute(f"update entry set change = {number} where seq = 1")
    found = Journal(journal.path)
    with pytest.raises(
        JournalError, match=r"is damaged: .* is not the number of a change; no statement that changes cells is sent"
    ):
        found.begin("t1", {})
    with pytest.raises(JournalError, match="is not the number of a change"):
        found.refuse_damaged()
    assert "row 1 " in found.verify()
    assert restart(found).good == 0
    assert found.begin("t1", {}) >= 4 and found.verify() == ""


def test_an_unfinished_change_is_not_hidden_by_an_edited_row(journal: Journal) -> None:
    """It should refuse to say what is pending when a row that tells is edited, instead of leaving it out."""
    journal.begin("t1", {"statement": "resize", "pid": "0"})
    with forging(journal.path) as connection:
        connection.execute('update entry set body = \'{"statement":"nothing"}\' where seq = 5')
    with pytest.raises(JournalError, match=r"row 5 can't be read \(it was edited\)"):
        pending(Journal(journal.path), "t1")
