"""A journal is exported and summed up some rows at a time, and what is wrong with its chain is told behind them."""

from __future__ import annotations

import csv
import io
import json
import threading
import tracemalloc
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from exacell.commands.journal import export, show
from exacell.core.errors import ExitCode, JournalError
from exacell.journal import auditing, file
from exacell.journal.chain import GENESIS, Follower, Walk, digest
from exacell.journal.reading import Stream
from exacell.journal.record import Journal, Row
from exacell.language.line import parse_line
from exacell.language.registry import wanted_by
from exacell.output.console import SilentConsole
from exacell.output.result import Result
from tests.support.forging import forging


class Desk:
    """Runs the journal's commands on one journal without a terminal."""

    def __init__(self, journal: Journal, rack: str = "t1") -> None:
        self.console = SilentConsole()
        self.interrupted = threading.Event()
        self._context = SimpleNamespace(
            journal=journal, console=self.console, interrupted=self.interrupted, rack=rack,
            need_rack=lambda: SimpleNamespace(name=rack), options=SimpleNamespace(format="table"),
        )  # fmt: skip

    def _run(self, command: Any, text: str) -> Result:
        call = parse_line(text).call
        given = {name: call if name == "call" else self._context for name in wanted_by(command)}
        found: Result = command(**given)
        return found

    def export(self, words: str = "") -> Result:
        """Run journal export; its rows are in ``rows``."""
        del self.console.printed[:]
        return self._run(export, f"journal export {words}".strip())

    def show(self, words: str = "") -> Result:
        """Run journal show."""
        return self._run(show, f"journal show {words}".strip())

    @property
    def printed(self) -> str:
        """What was written."""
        return "".join(self.console.printed)

    @property
    def rows(self) -> list[int]:
        """The numbers of the rows that were written as jsonl."""
        return [json.loads(line)["seq"] for line in self.printed.splitlines()]


@pytest.fixture
def journal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Journal:
    """Changes of two racks whose rows lie between each other's, read three rows at a time."""
    monkeypatch.setattr(file, "PIECE", 3)
    journal = Journal(tmp_path / "journal.db")
    for number in range(1, 8):
        body = {"statement": f"change {number}", "user": "ann" if number % 2 else "bob"}
        assert journal.begin("t2" if number == 4 else "t1", body) == number
    for number in range(1, 8):
        done = Row(kind="outcome", target=f"c{number % 3}", body={"what": "w", "state": "done"})
        journal.append("t2" if number == 4 else "t1", number, [done, Row(kind="end", body={"exitCode": number % 2})])
    return journal


CHOICES = ["", "--all-racks", "user=ann", "cell=c1", "word='change 5'", "--failed", "user=bob --failed", "since=1h"]


@pytest.mark.parametrize("words", CHOICES)
def test_pieces_are_the_whole(journal: Journal, words: str) -> None:
    """Rows read some at a time are those of all changes that are wanted, in order, and csv has the same ones."""
    desk = Desk(journal)
    wanted = [record["change"] for record in desk.show(words).records]
    rack = None if "all" in words else "t1"
    expected = [entry.seq for entry in journal.all_entries(rack=rack) if entry.change in wanted]
    found = desk.export(words)
    assert (desk.rows, found.exit_code, found.problems) == (expected, ExitCode.DONE, [])
    desk.export(f"format=csv {words}")
    told = list(csv.DictReader(io.StringIO(desk.printed)))
    assert [int(row["seq"]) for row in told] == expected
    assert all(row["statement"] == f"change {row['change']}" for row in told)


def test_a_plan_that_lies_far_behind_its_rows_is_read_again(journal: Journal, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who and why stand in each row of csv also when more changes lie between than are remembered."""
    monkeypatch.setattr(auditing, "_KNOWN", 1)
    desk = Desk(journal)
    desk.export("format=csv")
    assert {(row["change"], row["statement"]) for row in csv.DictReader(io.StringIO(desk.printed))} == {
        (str(number), f"change {number}") for number in (1, 2, 3, 5, 6, 7)
    }


def test_no_rows(journal: Journal) -> None:
    """Where nothing is wanted nothing is written, and that is said."""
    desk = Desk(journal)
    found = desk.export("until=2020-01-01")
    assert (desk.printed, found.notes, found.exit_code) == ("", ["no rows"], ExitCode.DONE)


DAMAGES = {
    "edited": ("update entry set body = '{}' where seq = 8", 21, "row 8 (outcome of change 1) was edited or moved"),
    "another rack's": (
        "update entry set body = '{}' where seq = 4",
        21,
        "row 4 (plan of change 4) was edited or moved",
    ),
    "taken out": ("delete from entry where seq = 10", 20, "row 10 is missing: row 11 follows row 9"),
    "cut off": ("delete from entry where seq > 19", 19, "rows are missing or edited"),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_what_is_wrong_is_told_behind_the_rows(journal: Journal, damage: str) -> None:
    """Each row that is there is written, then one line says where the chain is not whole, with exit code 1."""
    statement, rows, said = DAMAGES[damage]
    with forging(journal.path) as connection:
        connection.execute(statement)
    desk = Desk(Journal(journal.path))
    found = desk.export("--all-racks")
    assert len(desk.rows) == rows and found.exit_code is ExitCode.FAILED
    assert len(found.problems) == 1 and said in found.problems[0] and str(journal.path) in found.problems[0]


def chain(count: int, foreign: int = 0) -> list[tuple[object, ...]]:
    """A chain of so many rows; row ``foreign`` and those behind it follow on a row that is not in it."""
    rows: list[tuple[object, ...]] = []
    prev = GENESIS
    for number in range(1, count + 1):
        prev = "f" * 64 if number == foreign else prev
        fields = (number, "2026-01-01", "t1", number, "plan", "", "{}")
        rows.append((*fields, prev, digest(prev, fields)))
        prev = str(rows[-1][-1])
    return rows


@pytest.mark.parametrize("behind", [0, 3])
@pytest.mark.parametrize("size", [1, 2, 3, 9])
def test_a_chain_is_followed_from_its_middle_over_pieces(behind: int, size: int) -> None:
    """Pieces, of which some may be empty, hang together; of the row before the first one only that row's word is known."""

    def follow(rows: list[tuple[object, ...]]) -> Walk:
        follower = Follower(behind=behind)
        for at in range(behind, len(rows), size):
            for piece in ([], rows[at : at + size], []):
                told = follower.follow(piece)
        return told

    whole = follow(chain(9))
    assert (whole.good, whole.problem) == (9, "")
    for foreign in range(1, 10):
        told = follow(chain(9, foreign))
        found = foreign == 1 > behind or foreign > behind + 1
        wrong = f"row {foreign} (plan of change {foreign}) was edited or moved"
        assert (told.good, told.problem) == ((foreign - 1, wrong) if found else (9, ""))


def test_an_export_that_is_interrupted_says_where_it_ends(journal: Journal, monkeypatch: pytest.MonkeyPatch) -> None:
    """The line names the last row that was written and the last one that there is."""
    monkeypatch.setattr("exacell.commands.journal._AT_ONCE", 2)
    desk = Desk(journal)
    write = desk.console.data

    def pressed(text: str) -> None:
        write(text)
        if len(desk.console.printed) == 2:
            desk.interrupted.set()

    monkeypatch.setattr(desk.console, "data", pressed)
    found = desk.export("--all-racks")
    assert desk.rows == [1, 2, 3, 4] and found.exit_code is ExitCode.INTERRUPTED
    assert found.problems == ["interrupted: written up to row 4; the last row would be 21"]


def test_who_reads_keeps_nobody_from_writing(journal: Journal) -> None:
    """A reader that was left in the middle holds no lock, and sees no row that was written since it began."""
    rows = iter(Stream(journal))
    first = next(rows)
    began = Journal(journal.path).begin("t1", {"statement": "meanwhile"})
    assert began == 8 and [first.seq, *(row.seq for row in rows)] == list(range(1, 22))


def test_a_journal_that_is_replaced_meanwhile_is_not_mixed_with_the_new_one(journal: Journal, tmp_path: Path) -> None:
    """Rows of one file never follow those of another."""
    other = Journal(tmp_path / "other.db")
    for number in range(30):
        other.begin("t1", {"statement": f"other {number}"})
    rows = iter(Stream(journal))
    next(rows)
    other.path.replace(journal.path)
    with pytest.raises(JournalError, match="was removed or replaced while it was read"):
        list(rows)


@pytest.mark.parametrize("form", ["jsonl", "csv", "show", "verify"])
def test_a_long_journal_is_not_held_in_memory(tmp_path: Path, form: str) -> None:
    """What is held at a time is a small part of the rows."""
    journal = Journal(tmp_path / "journal.db")
    for _ in range(8):
        change = journal.begin("t1", {"statement": "s"})
        reply = {"what": "w", "state": "done", "reply": "x" * 5000}
        journal.append("t1", change, [Row(kind="outcome", target="c1", body=reply)] * 400)
    desk = Desk(journal)
    desk.console.data = lambda text: None  # type: ignore[method-assign]  # a pipe, which keeps nothing
    desk.export("until=2020-01-01")  # What is imported and compiled once does not count.
    tracemalloc.start()
    try:
        if form == "verify":
            assert journal.verify() == ""
        else:
            found = desk.show() if form == "show" else desk.export(f"format={form}")
            assert not found.problems
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < journal.path.stat().st_size / 2
