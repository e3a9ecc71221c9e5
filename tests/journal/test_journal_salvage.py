"""What is left of a journal that SQLite refuses as a whole is read, shown and carried over; refusals name the way out."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from itertools import pairwise
from pathlib import Path

import pytest

from exacell.change.journal_restart import restart
from exacell.core.errors import JournalError
from exacell.journal import file, salvage
from exacell.journal.actor import actor
from exacell.journal.chain import is_whole
from exacell.journal.left import CACHES
from exacell.journal.reading import Stream
from exacell.journal.record import Journal, Row
from exacell.journal.salvage import legible

PAGE = 4096
DEAD = {**actor(), "pid": "4194305"}
CHANGES, ROWS = 60, 180


@pytest.fixture
def journal(tmp_path: Path) -> Journal:
    """Sixty changes of three rows over some twenty pages; the first one left caching off."""
    made = Journal(tmp_path / "journal.db")
    for number in range(1, CHANGES + 1):
        change = made.begin("t1", {"statement": f"flush {number}", "padding": "x" * 900, **DEAD})
        intent = Row(kind="intent", target="c1", body={"what": "w", "cachingOff": number == 1})
        made.append("t1", change, [intent, Row(kind="end", body={"exitCode": 0})])
    return made


def seqs(path: Path, last: int = 0) -> list[int]:
    return [row[0] for row in legible(path, last=last)]


def cut(journal: Journal, *, pages: float = 4) -> None:
    """Take the end of the file away, as a lost disk block or a copy that was broken off does."""
    content = journal.path.read_bytes()
    journal.path.write_bytes(content[: int(len(content) - pages * PAGE)])


def last_page(journal: Journal) -> int:
    return journal.path.stat().st_size // PAGE - 1


def blank(journal: Journal, page: int) -> None:
    """Overwrite a page with zeros."""
    with open(journal.path, "r+b") as stream:
        stream.seek(page * PAGE)
        stream.write(bytes(PAGE))


@pytest.mark.parametrize("pages", [1, 2.5, 4, 10])
def test_a_cut_file_is_read_as_far_as_it_goes(journal: Journal, pages: float) -> None:
    """It should read the first rows of a file that was cut off anywhere; one that the cut went through shows it."""
    rows = {row[0]: row for row in journal.stored()}
    cut(journal, pages=pages)
    with pytest.raises(JournalError, match="malformed"):
        journal.stored()
    found = legible(journal.path, last=ROWS)
    assert 30 < len(found) < ROWS
    assert all(row == rows[row[0]] for row in found if is_whole(row)) and sum(map(is_whole, found)) >= len(found) - 1
    assert [row[0] for row in found[:30]] == list(range(1, 31))
    assert seqs(journal.path) == [row[0] for row in found], "without a kept head as far"


def test_rows_on_both_sides_of_a_bad_page_are_read(journal: Journal) -> None:
    """It should lose the rows of the page alone that was overwritten."""
    blank(journal, last_page(journal) // 2)
    found = seqs(journal.path, ROWS)
    missing = sorted(set(range(1, ROWS + 1)) - set(found))
    assert 0 < len(missing) < 30 and missing[0] > 1 and missing[-1] < ROWS


@pytest.mark.parametrize("first", [True, False])
def test_rows_far_behind_bad_pages_are_read_where_their_number_is_known(
    journal: Journal, monkeypatch: pytest.MonkeyPatch, first: bool
) -> None:
    """It should look for each row up to the newest one, however many are lost before it, in the middle or at the beginning."""
    monkeypatch.setattr(salvage, "_AHEAD", 2)
    pages = range(last_page(journal))
    middle = len(pages) // 2
    for page in pages if first else (middle, middle + 1):
        if not first or b'flush 1"' in journal.path.read_bytes()[page * PAGE : (page + 1) * PAGE]:
            blank(journal, page)
    found = seqs(journal.path, ROWS)
    assert found and found[-1] > ROWS - 10 and max(b - a for a, b in pairwise([0, *found])) > 3
    assert (found[0] > 3) is first


@pytest.mark.parametrize("size", [512, 65536])
def test_a_cut_file_is_read_whatever_its_pages_are(tmp_path: Path, size: int) -> None:
    """It should read the first rows of a cut file with pages of any size that SQLite has."""
    journal = Journal(tmp_path / "journal.db")
    with closing(sqlite3.connect(journal.path)) as connection:
        connection.executescript(f"pragma page_size = {size}; vacuum")
    for number in range(20):
        journal.append("t1", journal.begin("t1", {"n": number}), [Row(kind="end", body={"text": "x" * 4 * size})])
    journal.path.write_bytes(journal.path.read_bytes()[: -20 * size])
    found = seqs(journal.path, 40)
    assert found[:20] == list(range(1, 21)) and len(found) < 40


def test_a_whole_file_is_read_whole(journal: Journal) -> None:
    """It should read each row of a file in which nothing is wrong."""
    assert legible(journal.path) == journal.stored()


@pytest.mark.parametrize(
    "content", [b"", b"x", b"no journal\n" * 2000, bytes(200), b"SQLite format 3\x00" + b"\xff" * 5000]
)
def test_what_is_no_journal_has_no_rows(tmp_path: Path, content: bytes) -> None:
    """It should find nothing in any other file, at once, and leave it as it is."""
    path = tmp_path / "journal.db"
    path.write_bytes(content)
    assert legible(path) == [] and path.read_bytes() == content


def test_a_number_that_was_overwritten_keeps_nobody_waiting(tmp_path: Path) -> None:
    """It should look for no more rows than the file has room for."""
    path = tmp_path / "journal.db"
    Journal(path).begin("t1", {"statement": "flush"})
    assert seqs(path, last=10**18) == [1]


def test_a_restart_carries_over_what_can_be_read(journal: Journal) -> None:
    """It should name the last row up to which a cut file is whole, and still warn of the caching that was left off."""
    rows = journal.stored()
    cut(journal)
    done = restart(journal)
    assert 30 < done.good < ROWS and done.hash == rows[done.good - 1][-1]
    assert 1 in done.carried and not done.whole
    assert [(item.change, item.cells) for item in CACHES.left(journal, "t1")] == [(1, ("c1",))]
    assert journal.begin("t1", {}) > done.good // 3, "numbers go on behind those that are known"


def test_a_damaged_head_hides_no_row(journal: Journal) -> None:
    """It should tell how far the rows are whole, and name the way out, when the kept head alone is damaged."""
    journal.head_path.write_text("x")
    with pytest.raises(JournalError) as caught:
        journal.begin("t1", {})
    assert caught.value.hint == "`journal restart` renames it and begins a new one"
    walked, problem = journal.examine()
    assert walked.good == ROWS and "is not a row number and hash" in problem
    done = restart(journal)
    assert done.good == ROWS and done.whole


def test_an_edited_row_makes_a_restart_less_than_whole(journal: Journal) -> None:
    """It should not claim to have carried everything over when a row could not be trusted, or is gone."""
    connection = sqlite3.connect(journal.path)
    connection.execute("drop trigger entry_no_update")
    connection.execute("update entry set body = '{}' where seq = 5")
    connection.commit()
    connection.close()
    assert not restart(journal).whole


def test_what_can_be_read_is_shown(journal: Journal) -> None:
    """It should show the changes of a cut file to eyes, and give none of its rows to what acts on them."""
    cut(journal)
    shown = journal.all_entries(rack="t1", newest=3)
    assert len({entry.change for entry in shown}) == 3
    assert shown[-1].change == journal.count_changes("t1")
    assert [entry.kind for entry in journal.all_entries(change=2)] == ["plan", "intent", "end"]
    with pytest.raises(JournalError, match="malformed"):
        journal.unfinished("t1")


HARMS = {"cut": cut, "a bad page": lambda journal: blank(journal, last_page(journal) // 2)}


@pytest.mark.parametrize("piece", [10, 1000])
@pytest.mark.parametrize("harm", HARMS)
def test_what_can_be_read_is_exported(journal: Journal, monkeypatch: pytest.MonkeyPatch, harm: str, piece: int) -> None:
    """Each row that can be read is exported once, in order, however many are read at a time; verify says that SQLite refuses
    the file instead of calling the others cut off."""
    monkeypatch.setattr(file, "PIECE", piece)
    HARMS[harm](journal)
    rows = Stream(journal)
    assert [row.seq for row in rows] == seqs(journal.path, ROWS)
    assert rows.problem
    assert "can't be read: database disk image is malformed" in journal.verify()


def test_a_file_without_a_legible_row_exports_none(journal: Journal) -> None:
    """It should say what is wrong with a file of which nothing can be read."""
    rows = Stream(journal)
    journal.path.write_bytes(b"no journal\n" * 2000)
    with pytest.raises(JournalError, match="file is not a database"):
        list(rows)
    with pytest.raises(JournalError, match="file is not a database"):
        Stream(journal)


WAYS = {
    "cut": ("malformed", "`journal restart` renames it and begins a new one; reads still work"),
    "garbage": ("file is not a database", "`journal restart` renames it and begins a new one; reads still work"),
    "directory": ("it is a directory", "`journal restart` renames it and begins a new one; reads still work"),
}


@pytest.mark.parametrize("kind", WAYS)
def test_a_refusal_names_the_way_out(journal: Journal, kind: str) -> None:
    """It should say what is wrong with the file and that journal restart helps, not that there is no room."""
    if kind == "cut":
        cut(journal)
    elif kind == "garbage":
        journal.path.write_text("no journal\n" * 2000)
    else:
        journal.path.unlink()
        journal.path.mkdir()
    said, way = WAYS[kind]
    with pytest.raises(JournalError, match=said) as caught:
        journal.begin("t1", {})
    assert caught.value.hint == way
    with pytest.raises(JournalError, match=said) as caught:
        journal.unfinished("t1")
    assert caught.value.hint == "`journal restart` renames it and begins a new one"


def test_an_empty_file_is_called_empty(journal: Journal) -> None:
    """It should say that the file is empty, not which table SQLite misses in it."""
    journal.path.write_bytes(b"")
    with pytest.raises(JournalError, match="can't be read: it is empty"):
        journal.count_changes()


def test_a_directory_in_place_of_the_turns_file(journal: Journal) -> None:
    """It should name the file that stands in the way in plain words."""
    turns = journal.path.with_suffix(".lock")
    turns.unlink()
    turns.mkdir()
    with pytest.raises(JournalError, match=rf"can't be written \({turns}: Is a directory\)"):
        journal.begin("t1", {})
