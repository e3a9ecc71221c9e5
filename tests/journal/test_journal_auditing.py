"""The journal for auditors: chosen rows, summed up, exported as jsonl and csv without losing anything."""

from __future__ import annotations

import csv
import hashlib
import io
import json
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import pytest

from exacell.commands.journal import verify
from exacell.core.errors import ExitCode, JournalError, StatementError
from exacell.journal.auditing import CSV_COLUMNS, Filter, as_csv, as_jsonl, finished, moment, outlines_of, summary
from exacell.journal.record import Journal, Row
from exacell.journal.rows import Entry
from exacell.language.line import parse_line
from exacell.output.render import lines
from exacell.output.result import Result
from tests.support.forging import forging

if TYPE_CHECKING:
    from exacell.language.registry import Call
    from exacell.session.services import Services

NOW = datetime(2026, 3, 10, 12, tzinfo=UTC)


def csv_text(rows: Sequence[Entry]) -> str:
    """Return rows as a file of csv; the plan of a change is found among them again."""
    found = as_csv(rows, lambda change: [row for row in rows if (row.change, row.kind) == (change, "plan")])
    return "\n".join(found)


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
    """It should want exactly the changes that one of whose rows is as asked."""
    found = outlines_of(rows)
    assert [number for number, change in found.items() if Filter(**wanted).wants(change)] == changes


def _midnight(at: datetime) -> datetime:
    """Return the beginning of the day, as this host's clock shows it."""
    return at.astimezone().replace(hour=0, minute=0, second=0, microsecond=0).astimezone(UTC)


MOMENTS = [
    ("", None),
    ("2h", NOW - timedelta(hours=2)),
    ("7d", NOW - timedelta(days=7)),
    ("2026-03-01T08:00+00:00", datetime(2026, 3, 1, 8, tzinfo=UTC)),
    ("2026-03-01", datetime(2026, 3, 1).astimezone(UTC)),
    ("today", _midnight(NOW)),
    ("Yesterday", _midnight(_midnight(NOW) - timedelta(hours=12))),
]


@pytest.mark.parametrize(("text", "at"), MOMENTS)
def test_moments(text: str, at: datetime | None) -> None:
    """It should read a time ago and a date, which is this host's unless it names a zone."""
    assert moment(text, NOW) == at


def test_no_moment() -> None:
    """It should refuse what is neither, naming both forms."""
    with pytest.raises(StatementError, match=r"'soon' must be today, yesterday, a time ago \(2h, 7d\) or a date"):
        moment("soon", NOW)


def test_a_summary_says_who_why_and_how_it_ended(rows: list[Entry]) -> None:
    """It should name user, the user behind sudo, host, origin, key, ticket, targets and end of a change."""
    one, two, three = map(summary, outlines_of(rows).values())
    shown = {k: one[k] for k in ("user", "sudoUser", "host", "from", "keys", "ticket", "targets", "ended")}
    assert shown == {
        "user": "root", "sudoUser": "ann", "host": "adm1", "from": "10.0.0.9", "keys": ["SHA256:abc"], "ticket": "CHG7",
        "targets": "c1", "ended": "exit 0",
    }  # fmt: skip
    assert (two["ended"], three["ended"]) == ("exit 1, undone", "did not end")


def test_what_another_change_finished_is_told(tmp_path: Path) -> None:
    """A change that failed or did not end names the one that went on with it and ended well, and no other."""
    journal = Journal(tmp_path / "journal.db")
    for body, code in (({}, 1), ({}, None), ({"finishes": 1}, 1), ({"finishes": 2}, 0), ({}, 1), ({"finishes": 1}, 0)):
        number = journal.begin("t1", {"statement": "s", **body})
        if code is not None:
            journal.append("t1", number, [Row(kind="end", body={"exitCode": code})])
    changes = outlines_of(journal.entries())
    assert finished(changes) == {1: 6, 2: 4}
    assert summary(changes[2], 4)["ended"] == "did not end, finished by 4"


@pytest.mark.parametrize("head", ["1:000000000000", "9:000000000000", f"{10**20}:0"])
def test_a_head_that_is_not_in_a_whole_journal(tmp_path: Path, head: str) -> None:
    """It should not be answered with journal restart, which a whole chain refuses, but with what that may mean."""
    journal = Journal(tmp_path / "journal.db")
    journal.begin("t1", {"statement": "s"})
    bound = {name: parse_line(f"journal verify{name}").call for name in ("", f" head={head}")}
    good, bad = (
        verify(cast("Services", SimpleNamespace(journal=journal)), cast("Call", call)) for call in bound.values()
    )
    assert (good.exit_code, good.notes) == (ExitCode.DONE, [])
    assert bad.exit_code is ExitCode.FAILED and bad.notes[0].startswith("its chain is complete: ")


@pytest.mark.parametrize("head", ["'²:000000000000'", "x:1", "1:", "1"])
def test_what_is_no_head_is_refused(tmp_path: Path, head: str) -> None:
    """It should say what a head looks like, whatever stands in its place."""
    journal = Journal(tmp_path / "journal.db")
    journal.begin("t1", {"statement": "s"})
    call = parse_line(f"journal verify head={head}").call
    with pytest.raises(JournalError, match="a head is a row number and the start of its hash"):
        verify(cast("Services", SimpleNamespace(journal=journal)), cast("Call", call))


def test_jsonl_holds_the_chain(rows: list[Entry]) -> None:
    """It should give a line a row from which anybody can follow the hashes without exacell."""
    prev = "0" * 64
    lines = list(as_jsonl(rows))
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
    found = list(csv.DictReader(io.StringIO(csv_text(rows))))
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

    journal = Journal(tmp_path / "journal.db")
    journal.begin("t1", {"statement": "s"})
    with forging(journal.path) as connection:
        connection.execute("update entry set body = '{broken'")
    (row,) = journal.all_entries()
    assert row.body == {"damaged": "{broken"}
    assert '"damaged": "{broken"' in next(as_jsonl([row]))


HOSTILE = [
    ("two\nlines\n", "two\nlines\n"),
    ('tab\t;,"q"', 'tab\t;,"q"'),
    ("cr\r\nlf", "cr\\r\nlf"),
    ("nul\x00bell\x07esc\x1b[31m", "nul\\x00bell\\x07esc\\x1b[31m"),
    ("ls\u2028ps\u2029nel\x85vt\x0bff\x0cfs\x1c", "ls\\u2028ps\\u2029nel\\x85vt\\x0bff\\x0cfs\\x1c"),
    ("\ud800 lone", "\\ud800 lone"),
    ("\u00e9\u6f22\U0001f600", "\u00e9\u6f22\U0001f600"),
    ("x" * 20_000, "x" * 20_000),
]


@pytest.mark.parametrize(("reply", "told"), HOSTILE, ids=range(len(HOSTILE)))
def test_no_reply_ends_its_row(tmp_path: Path, reply: str, told: str) -> None:
    """It should keep each reply in its own row of csv, control characters spelt out, also as the program prints it, and
    exactly as it was in jsonl."""
    journal = Journal(tmp_path / "journal.db")
    change = journal.begin("t1", {"statement": "s"})
    journal.append("t1", change, [Row(kind="outcome", target="c1", body={"state": "done", "reply": reply})])
    rows = journal.all_entries()
    for form in ("table", "csv", "json"):
        printed = "\n".join(lines(Result(text=csv_text(rows)), form)) + "\n"
        found = list(csv.DictReader(io.StringIO(printed, newline="")))
        assert [row["reply"] for row in found] == ["", told]
        assert [row["hash"] for row in found] == [row.hash for row in rows]
        printed = "\n".join(lines(Result(text="\n".join(as_jsonl(rows))), form))
        assert json.loads(printed.split("\n")[1])["body"]["reply"] == reply
    assert journal.verify() == ""
