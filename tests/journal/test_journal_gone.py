"""A journal that was taken away, replaced or cut while exacell runs, or between two starts, is never taken for a new one."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from exacell.change.journal_restart import restart
from exacell.change.pending import pending
from exacell.core.errors import BrokenOffError, JournalError
from exacell.journal.record import Journal, Row
from tests.support.forging import forging


@pytest.fixture
def journal(tmp_path: Path) -> Journal:
    """A journal with one change that goes on."""
    journal = Journal(tmp_path / "journal.db")
    journal.begin("t1", {"statement": "first"})
    journal.append("t1", 1, [Row(kind="intent", target="c1", body={"what": "w"})])
    return journal


def removed(journal: Journal) -> None:
    """Both files are gone."""
    journal.path.unlink()
    journal.head_path.unlink()


def replaced(journal: Journal) -> None:
    """A whole journal of somebody else stands in its place."""
    removed(journal)
    Journal(journal.path).begin("t1", {"statement": "another's"})


def outgrown(journal: Journal) -> None:
    """A whole journal of somebody else stands in its place, with more rows."""
    replaced(journal)
    other = Journal(journal.path)
    for _ in range(3):
        other.begin("t1", {"statement": "another's"})


def rolled_back(journal: Journal) -> None:
    """Both files are older copies, which agree with each other."""
    (row,) = Journal(journal.path).stored()[:1]
    with forging(journal.path) as connection:
        connection.execute("delete from entry where seq > 1")
    journal.head_path.write_text(f"{row[0]} {row[-1]}\n")


@pytest.mark.parametrize("deed", [removed, replaced, outgrown, rolled_back], ids=lambda deed: deed.__name__)
def test_a_process_writes_on_only_behind_its_own_rows(journal: Journal, deed: Callable[[Journal], None]) -> None:
    """It should refuse the next row, of the change under way and of a new one, and write nothing into the other file."""
    deed(journal)
    before = Journal(journal.path).stored()
    for write in (lambda: journal.append("t1", 1, [Row(kind="outcome", body={})]), lambda: journal.begin("t1", {})):
        with pytest.raises(
            JournalError, match=r"(a different file now|is gone): it does not contain row 2, which this process wrote,"
        ):
            write()
    assert Journal(journal.path).stored() == before


def test_nothing_is_made_where_a_moved_journal_was(tmp_path: Path) -> None:
    """While its directory is away a process that wrote there should make none in its place, and go on when it is back."""
    home, away = tmp_path / "home", tmp_path / "away"
    journal = Journal(home / "journal.db")
    journal.begin("t1", {"statement": "first"})
    home.rename(away)
    for other, told in (
        (journal, "row 1, which this process wrote"),
        (Journal(journal.path), "change 1, which it held"),
    ):
        with pytest.raises(JournalError, match=f"is gone: it does not contain {told},"):
            other.append("t1", 1, [Row(kind="intent", target="c1", body={})])
    with pytest.raises(JournalError, match="is gone: it does not contain row 1"):
        journal.begin("t1", {})
    assert not home.exists()
    away.rename(home)
    journal.append("t1", 1, [Row(kind="intent", target="c1", body={})])
    assert journal.verify() == ""


def test_a_restart_by_somebody_else_carries_the_change_that_goes_on(journal: Journal) -> None:
    """A change under way should go on in the journal that a restart began, and in no other; the next change as well."""
    with forging(journal.path) as connection:
        connection.execute("update entry set at = 'never' where seq = 2")
    restart(Journal(journal.path))
    journal.append("t1", 1, [Row(kind="outcome", body={})])
    assert journal.begin("t1", {}) == 2
    assert journal.verify() == ""


def test_after_a_restart_a_change_that_was_not_carried_over_stops(journal: Journal) -> None:
    """A change of which the new journal holds nothing should send no more."""
    journal.path.write_text("no journal\n" * 200)
    restart(Journal(journal.path))
    with pytest.raises(JournalError, match="a different file now"):
        journal.append("t1", 1, [Row(kind="outcome", body={})])
    assert journal.begin("t1", {}) == 1


def cut(journal: Journal) -> None:
    """The newest row is gone."""
    with forging(journal.path) as connection:
        connection.execute("delete from entry where seq = 2")


def emptied(journal: Journal) -> None:
    """There is a table without rows."""
    with forging(journal.path) as connection:
        connection.execute("delete from entry")


def without_rows(journal: Journal) -> None:
    """The rows' file is gone and the head is there."""
    journal.path.unlink()


@pytest.mark.parametrize("deed", [cut, emptied, without_rows], ids=lambda deed: deed.__name__)
def test_what_is_pending_is_not_told_from_a_part(journal: Journal, deed: Callable[[Journal], None]) -> None:
    """It should say that rows are missing instead of that nothing is pending; what is left can be looked at."""
    assert journal.unfinished("t1")
    deed(journal)
    with pytest.raises(JournalError, match=r"does not have row 2 .*rows are missing or edited"):
        pending(Journal(journal.path), "t1")
    assert len(Journal(journal.path).all_entries()) < 2


def test_a_damaged_index_is_found(tmp_path: Path) -> None:
    """It should find damage that hides rows from who asks for a rack's, though every row is whole."""
    journal = Journal(tmp_path / "journal.db")
    for _ in range(40):
        journal.begin("t1", {})
    whole = journal.path.with_name("whole.db")
    shutil.copy(journal.path, whole)
    with forging(journal.path) as connection:
        (root,) = connection.execute("select rootpage from sqlite_master where name = 'entry_kind'").fetchone()
        (size,) = connection.execute("pragma page_size").fetchone()
    data = bytearray(whole.read_bytes())
    page = slice((root - 1) * size, root * size)
    data[page] = data[page].replace(b"t1plan", b"t2plan")
    journal.path.write_bytes(bytes(data))
    found = Journal(journal.path)
    assert len(found.stored()) == 40 and len(found.of_kinds("t1", ("plan",))) < 40
    assert "is damaged" in found.verify()


def test_who_was_broken_off_is_told_the_way_out_that_fits(journal: Journal) -> None:
    """It should tell whose journal was taken away to put it back, and not to free space."""
    removed(journal)
    with pytest.raises(JournalError) as caught:
        journal.append("t1", 1, [Row(kind="outcome", body={})])
    told = BrokenOffError(1, "flush flashcache", caught.value, "`resume 1` continues it")
    assert told.hint == "put the old file back, then `resume 1` continues it"
    full = JournalError("no", hint="free space or repair the file; reads still work")
    assert BrokenOffError(1, "s", full, "resume 1").hint == "free space or repair the file, then resume 1"
