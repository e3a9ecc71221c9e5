"""The journal for auditors: chosen rows, summed up, exported as jsonl and csv without losing anything."""

from __future__ import annotations

import csv
import hashlib
import io
import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from exacell.auditing import CSV_COLUMNS, Filter, as_csv, as_jsonl, changes_of, moment, summary
from exacell.errors import StatementError
from exacell.journal import Entry, Journal, Row

NOW = datetime(2026, 3, 10, 12, tzinfo=UTC)


@pytest.fixture
def rows(tmp_path: Path) -> list[Entry]:
    """A good change by root through sudo, a failed one, and one that never ended."""
    journal = Journal(tmp_path / "journal.db")
    check = {"object": "iormplan", "attribute": "dbPlan", "op": "=", "value": "x", "where": {}, "why": ""}
    step: dict[str, Any] = {
        "target": "c1", "statement": "ALTER IORMPLAN", "what": "send it", "only_if": [], "needs": [], "proves": [check],
        "within": 30.0, "watch": None, "expect": 1, "risk": "performance", "undo": "statement", "inverse": "back",
        "changes": [], "asm": "", "shell": False, "caching_off": False, "caching_on": False,
    }  # fmt: skip
    plan = {"stages": [{"gate": "each", "steps": [step]}], "inverse": {}}
    who = {"user": "root", "sudoUser": "ann", "host": "adm1", "from": "10.0.0.9", "pid": "1"}
    one = journal.begin(
        "t1", {"statement": "disable flashlog db=SPOT", "ticket": "CHG7", "reason": "q, \"r\"", "plan": plan, **who}
    )  # fmt: skip
    journal.append(
        "t1", one, [Row(kind="intent", target="c1", body={"what": "send it", "statement": "ALTER IORMPLAN"})]
    )
    said = "IORMPLAN successfully altered\nline two \u2028 \x1b[31m"
    done = {"what": "send it", "state": "done", "reply": said, "fingerprint": "SHA256:abc"}
    journal.append("t1", one, [Row(kind="outcome", target="c1", body=done), Row(kind="end", body={"exitCode": 0})])
    two = journal.begin("t1", {"statement": "resize flashcache size=1g", "user": "bob", "host": "adm2"})
    journal.append("t1", two, [Row(kind="outcome", target="c2", body={"state": "failed", "reason": "CELL-1"})])
    journal.append("t1", two, [Row(kind="end", body={"exitCode": 1}), Row(kind="undone", body={})])
    journal.begin("t2", {"statement": "carve griddisk", "user": "bob", "host": "adm2"})
    return journal.all_entries()


FILTERS: list[tuple[dict[str, Any], list[int]]] = [
    ({}, [1, 2, 3]),
    ({"user": "bob"}, [2, 3]),
    ({"user": "ann"}, [1]),
    ({"target": "c2"}, [2]),
    ({"ticket": "CHG7"}, [1]),
    ({"word": "FLASH"}, [1, 2]),
    ({"failed": True}, [2, 3]),
    ({"failed": True, "target": "c1"}, []),
    ({"since": datetime.now(UTC) + timedelta(hours=1)}, []),
    ({"since": datetime.now(UTC) - timedelta(hours=1)}, [1, 2, 3]),
    ({"until": datetime.now(UTC) - timedelta(hours=1)}, []),
]


@pytest.mark.parametrize(("wanted", "changes"), FILTERS)
def test_filters_choose_whole_changes(rows: list[Entry], wanted: dict[str, Any], changes: list[int]) -> None:
    """It should keep every row of a change that is wanted, and none of another."""
    found = changes_of(rows, Filter(**wanted))
    assert list(found) == changes
    assert sum(map(len, found.values())) == len([row for row in rows if row.change in changes])


MOMENTS = [
    ("", None),
    ("2h", NOW - timedelta(hours=2)),
    ("7d", NOW - timedelta(days=7)),
    ("2026-03-01T08:00+00:00", datetime(2026, 3, 1, 8, tzinfo=UTC)),
    ("2026-03-01", datetime(2026, 3, 1).astimezone(UTC)),
]


@pytest.mark.parametrize(("text", "at"), MOMENTS)
def test_moments(text: str, at: datetime | None) -> None:
    """It should read a time ago and a date, which is this host's unless it names a zone."""
    assert moment(text, NOW) == at


def test_no_moment() -> None:
    """It should refuse what is neither, naming both forms."""
    with pytest.raises(StatementError, match=r"'soon' is neither a time ago \(2h, 7d\) nor a date"):
        moment("soon", NOW)


def test_a_summary_says_who_why_and_how_it_ended(rows: list[Entry]) -> None:
    """It should name user, the user behind sudo, host, origin, key, ticket, targets and end of a change."""
    one, two, three = (summary(items) for items in changes_of(rows, Filter()).values())
    shown = {k: one[k] for k in ("user", "sudoUser", "host", "from", "keys", "ticket", "targets", "ended")}
    assert shown == {
        "user": "root", "sudoUser": "ann", "host": "adm1", "from": "10.0.0.9", "keys": ["SHA256:abc"], "ticket": "CHG7",
        "targets": "c1", "ended": "exit 0",
    }  # fmt: skip
    assert (two["ended"], three["ended"]) == ("exit 1, undone", "did not end")


def test_jsonl_holds_the_chain(rows: list[Entry]) -> None:
    """It should give a line a row from which anybody can follow the hashes without exacell."""
    prev = "0" * 64
    lines = as_jsonl(rows).splitlines()
    assert len(lines) == len(rows)
    for line in lines:
        row = json.loads(line)
        body = json.dumps(row["body"], sort_keys=True, separators=(",", ":"))
        fields = [prev, *(str(row[n]) for n in ("seq", "at", "rack", "change", "kind", "target")), body]
        assert row["prev"] == prev
        prev = hashlib.sha256("\x1f".join(fields).encode()).hexdigest()
        assert row["hash"] == prev


def test_csv_says_everything_in_each_row(rows: list[Entry]) -> None:
    """It should give who, why, statement, reply and what was read back as columns, quotes and line ends kept."""
    found = list(csv.DictReader(io.StringIO(as_csv(rows))))
    assert tuple(found[0]) == CSV_COLUMNS
    outcome = next(row for row in found if row["kind"] == "outcome" and row["target"] == "c1")
    assert outcome["user"] == "root" and outcome["sudoUser"] == "ann" and outcome["ticket"] == "CHG7"
    assert outcome["reason"] == 'q, "r"' and outcome["statement"] == "disable flashlog db=SPOT"
    assert outcome["verified"] == "iormplan dbPlan = x" and outcome["fingerprint"] == "SHA256:abc"
    assert outcome["reply"].startswith("IORMPLAN successfully altered\nline two")
    failed = next(row for row in found if row["kind"] == "outcome" and row["target"] == "c2")
    assert (failed["state"], failed["why"], failed["verified"]) == ("failed", "CELL-1", "")
    assert [row["state"] for row in found if row["kind"] == "end"] == ["exit 0", "exit 1"]


def test_a_damaged_row_is_shown_as_it_is(tmp_path: Path) -> None:
    """It should still export a journal in which a row can't be read, with that row's text."""
    import sqlite3

    journal = Journal(tmp_path / "journal.db")
    journal.begin("t1", {"statement": "s"})
    with sqlite3.connect(journal.path) as connection:
        connection.execute("update entry set body = '{broken'")
    connection.close()
    (row,) = journal.all_entries()
    assert row.body == {"damaged": "{broken"}
    assert '"damaged": "{broken"' in as_jsonl([row])
