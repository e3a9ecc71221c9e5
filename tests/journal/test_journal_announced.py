"""Rows are announced in the kept head before they are committed: a killed writer is told from somebody who forges."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from exacell.core.errors import JournalError
from exacell.journal.chain import GENESIS
from exacell.journal.file import JournalFile
from exacell.journal.record import Journal, Row
from tests.support.forging import forging


@pytest.fixture
def journal(tmp_path: Path) -> Journal:
    """A journal of seven rows."""
    made = Journal(tmp_path / "journal.db")
    for number in range(7):
        made.begin("t1", {"statement": str(number)})
    return made


class Killed(BaseException):
    """What ends a writer between two of its steps."""


def die(*_: object) -> None:
    raise Killed


DEATHS = [("before it announces", "announce", 7), ("before its head is kept", "keep_head", 8)]


@pytest.mark.parametrize(("step", "rows"), [death[1:] for death in DEATHS], ids=[death[0] for death in DEATHS])
def test_a_writer_that_dies_leaves_no_damage(
    journal: Journal, monkeypatch: pytest.MonkeyPatch, step: str, rows: int
) -> None:
    """What a writer leaves that is killed between two steps is whole for verify, for readers and for the next writer."""
    with monkeypatch.context() as patched:
        patched.setattr(JournalFile, step, die)
        with pytest.raises(Killed):
            journal.append("t1", 3, [Row(kind="end", body={})])
    found = Journal(journal.path)
    assert len(found.stored()) == rows
    assert found.verify() == "" and len(found.entries()) == rows
    found.begin("t1", {})
    assert found.verify() == "" and found.head.startswith(f"{rows + 1}:")


def test_an_announced_row_that_was_never_committed_is_no_damage(journal: Journal) -> None:
    """A writer that is killed between announcing and committing leaves the old rows, whole, and the next one goes on."""
    last = journal.entries()[-1]
    journal.announce((last.seq, last.hash), (8, "f" * 64))
    assert journal.verify() == "" and len(journal.entries()) == 7
    journal.begin("t1", {})
    assert journal.verify() == ""


def add(journal: Journal, times: int) -> None:
    """Append rows that are chained as ours are, without exacell's announcement."""
    kept = journal.head_path.read_text()
    for _ in range(times):
        journal.begin("t1", {"statement": "a forger's"})
    journal.head_path.write_text(kept)


@pytest.mark.parametrize(("times", "told"), [(1, "row 8 after"), (3, "rows 8 to 10 after")])
def test_rows_that_nobody_announced_are_none_of_ours(journal: Journal, times: int, told: str) -> None:
    """Rows with right hashes that somebody appended are found, named, and stop writing, as edited ones do."""
    add(journal, times)
    found = Journal(journal.path)
    assert told in found.verify()
    with pytest.raises(JournalError, match="the rows after it were not written by exacell"):
        found.begin("t1", {})


def test_the_announcement_of_other_rows_explains_nothing(journal: Journal) -> None:
    """A head that a killed writer left behind announces that writer's row, and no other of the same number."""
    last = journal.entries()[-1]
    add(journal, 1)
    journal.announce((last.seq, last.hash), (8, "f" * 64))
    assert "row 8 after the kept head" in Journal(journal.path).verify()
    with pytest.raises(JournalError, match="not written by exacell"):
        Journal(journal.path).begin("t1", {})


def test_verify_beside_a_writer_is_no_false_alarm(journal: Journal, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows that somebody else writes while verify reads are neither cut off nor forged."""
    found = Journal(journal.path)
    read = Journal.pieces
    for at in ("before", "behind"):

        def pieces(self: Journal, at: str = at) -> Iterator[list[tuple[Any, ...]]]:
            if at == "before":
                journal.begin("t1", {})
            yield from read(self)
            if at == "behind":
                journal.begin("t1", {})
                journal.begin("t1", {})

        monkeypatch.setattr(Journal, "pieces", pieces)
        rows = len(found.stored())
        assert found.verify() == ""
        assert len(found.stored()) == rows + (1 if at == "before" else 2)


def test_the_very_first_row_beside_verify_is_no_false_alarm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A head that comes with the first row, after verify has looked for one, is not missing."""
    journal, read = Journal(tmp_path / "journal.db"), Journal.pieces
    journal._connect().close()

    def pieces(self: Journal) -> Iterator[list[tuple[Any, ...]]]:
        journal.begin("t1", {})
        yield from read(self)

    monkeypatch.setattr(Journal, "pieces", pieces)
    walked, problem = Journal(journal.path).examine()
    assert (walked.good, problem) == (1, "")


def test_a_head_that_is_taken_away_beside_verify_is_missing(journal: Journal, monkeypatch: pytest.MonkeyPatch) -> None:
    """A head that was there before the rows were read and is gone behind them is told as missing."""
    read = Journal.pieces

    def pieces(self: Journal) -> Iterator[list[tuple[Any, ...]]]:
        yield from read(self)
        journal.head_path.unlink()

    monkeypatch.setattr(Journal, "pieces", pieces)
    assert journal.verify() == f"the kept head {journal.head_path} is missing"


@pytest.mark.parametrize(("left", "told"), [(6, "row 7 was cut off"), (0, "rows 1 to 7 were cut off")])
def test_an_announcement_hides_no_row_that_was_cut_off(journal: Journal, left: int, told: str) -> None:
    """Rows that the head names are missed also when a killed writer had announced further ones: verify tells of them, and
    nothing is done because of those that are left."""
    last = journal.entries()[-1]
    journal.announce((last.seq, last.hash), (8, "f" * 64))
    with forging(journal.path) as connection:
        connection.execute("delete from entry where seq > ?", (left,))
    assert journal.verify() == told
    with pytest.raises(JournalError, match="does not have row 7 as in its kept head"):
        journal.entries()


@pytest.mark.parametrize("step", ["announce", "keep_head"])
def test_a_crash_at_the_very_first_row_is_no_damage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str) -> None:
    """A writer that dies while it makes the journal leaves one that is whole, with the first row or none."""
    journal = Journal(tmp_path / "journal.db")
    with monkeypatch.context() as patched:
        patched.setattr(JournalFile, step, die)
        with pytest.raises(Killed):
            journal.begin("t1", {})
    found = Journal(journal.path)
    assert found.verify() == "" and found.head == ""
    assert found.begin("t1", {}) == 1 + (step == "keep_head")
    assert found.verify() == ""


def test_a_first_row_that_was_only_announced_is_no_damage(tmp_path: Path) -> None:
    """A writer that dies before it commits the very first row leaves an empty journal, whole for everybody."""
    journal = Journal(tmp_path / "journal.db")
    journal._connect().close()
    journal.announce((0, GENESIS), (1, "f" * 64))
    found = Journal(journal.path)
    assert found.verify() == "" and found.entries() == [] and found.head == ""
    assert found.begin("t1", {}) == 1
    assert found.verify() == "" and found.head.startswith("1:")


def test_a_head_of_no_row_that_announces_nothing_is_nobodys(tmp_path: Path) -> None:
    """A head that says that there is no row is never written without an announcement; it stops writing, and nothing is done
    because of what is there."""
    journal = Journal(tmp_path / "journal.db")
    journal._connect().close()
    journal.keep_head(0, GENESIS)
    assert "was changed after it was written" in journal.verify()
    with pytest.raises(JournalError, match="rows are missing or edited"):
        journal.begin("t1", {})
    with pytest.raises(JournalError, match="does not have row 0 as in its kept head"):
        journal.entries()
