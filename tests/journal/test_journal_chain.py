"""The journal: whatever happens to its file is found, and no writer loses a row."""

from __future__ import annotations

import itertools
import re
import shutil
import sqlite3
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from exacell.core.errors import JournalError
from exacell.journal.left import CACHES
from exacell.journal.record import Journal, Row
from exacell.journal.rows import Columns, Entry, typed
from tests.support.every import every
from tests.support.forging import forging


@pytest.fixture
def journal(tmp_path: Path) -> Journal:
    """A journal with two changes on one rack and one on another: seven rows."""
    made = Journal(tmp_path / "state" / "journal.db")
    first = made.begin("t1", {"statement": "flush flashcache"})
    made.append(
        "t1", first, [Row(kind="intent", target="c1", body={"a": 1}), Row(kind="outcome", target="c1", body={})]
    )
    made.append("t1", first, [Row(kind="end", body={"exitCode": 0})])
    other = made.begin("t2", {"statement": "resize flashcache"})
    made.append("t2", other, [Row(kind="end", body={})])
    made.begin("t1", {"statement": "drop diskgroup X"})
    return made


def tamper(journal: Journal, *statements: str) -> None:
    with forging(journal.path) as connection:
        for statement in statements:
            connection.execute(statement)


# -- writing and reading ---------------------------------------------------------------------------------------------


def test_rows_are_numbered_and_chained(journal: Journal) -> None:
    """Rows are numbered without gaps, each holds the hash of the one before, and changes count over all racks."""
    rows = journal.entries()
    assert [row.seq for row in rows] == [1, 2, 3, 4, 5, 6, 7]
    assert [row.change for row in rows] == [1, 1, 1, 1, 2, 2, 3]
    assert rows[0].prev == "0" * 64
    assert all(later.prev == earlier.hash for earlier, later in itertools.pairwise(rows))
    assert journal.verify() == ""
    assert journal.head == f"7:{rows[-1].hash[:12]}"


def test_rows_of_a_rack_or_change(journal: Journal) -> None:
    """Rows can be read by rack and by change."""
    assert [row.seq for row in journal.entries(rack="t1")] == [1, 2, 3, 4, 7]
    assert [row.kind for row in journal.entries(change=1)] == ["plan", "intent", "outcome", "end"]
    assert journal.entries(rack="t2", change=1) == []
    assert journal.entries(change=1)[1].body == {"a": 1}


def test_no_journal_is_empty_and_whole(tmp_path: Path) -> None:
    """A journal that was never written is empty and whole, and reading it creates nothing."""
    journal = Journal(tmp_path / "no" / "journal.db")
    assert journal.entries() == []
    assert journal.verify() == ""
    assert journal.head == ""
    assert not (tmp_path / "no").exists()


def test_only_the_owner_may_read(journal: Journal) -> None:
    """Directory, rows, head and lock are the owner's alone."""
    files = {path.name: stat.S_IMODE(path.stat().st_mode) for path in journal.path.parent.iterdir()}
    assert files == dict.fromkeys(("journal.db", "journal.head", "journal.lock"), 0o600)
    assert stat.S_IMODE(journal.path.parent.stat().st_mode) == 0o700


# -- what verify finds -----------------------------------------------------------------------------------------------

DAMAGE = [
    ('update entry set body = \'{"statement":"nothing"}\' where seq = 5', "row 5 .* was edited or moved"),
    ("update entry set target = 'c2' where seq = 2", "row 2 .* was edited or moved"),
    ("update entry set prev = 'x' where seq = 4", "row 4 .* was edited or moved"),
    ("update entry set at = '2020-01-01' where seq = 7", "row 7 .* was edited or moved"),
    ("update entry set rack = 't2' where seq = 1", "row 1 .* was edited or moved"),
    ("delete from entry where seq = 3", "row 3 is missing: row 4 follows row 2"),
    ("delete from entry where seq = 1", "row 1 is missing: row 2 follows row 0"),
    ("delete from entry where seq > 5", "rows 6 to 7 were cut off"),
    ("delete from entry", "rows 1 to 7 were cut off"),
    ("delete from entry where seq > 6", "row 7 was cut off"),
    ("drop table entry", "can't be read"),
]


@pytest.mark.parametrize(("statement", "found"), DAMAGE, ids=[s for s, _ in DAMAGE])
def test_verify_finds(journal: Journal, statement: str, found: str) -> None:
    """A row that was edited, removed or cut off is found and named."""
    tamper(journal, statement)
    assert re.search(found, journal.verify())


def test_verify_finds_rows_that_changed_places(journal: Journal) -> None:
    """Two rows that changed places are found, though none was edited."""
    tamper(
        journal,
        "update entry set seq = 100 where seq = 2",
        "update entry set seq = 2 where seq = 3",
        "update entry set seq = 3 where seq = 100",
    )
    assert "row 2" in journal.verify()


def test_verify_finds_a_chain_that_was_made_again(journal: Journal, tmp_path: Path) -> None:
    """A journal whose rows were all made again, with a whole chain of their own, was changed after it was written."""
    other = Journal(tmp_path / "other" / "journal.db")
    for number in range(9):
        other.begin("t1", {"statement": f"forged {number}"})
    shutil.copy(other.path, journal.path)
    assert journal.verify() == "row 7 was changed after it was written"


@pytest.mark.parametrize(
    "text", ["", "x", "7", "seven abc", "7 abc def", "-7 abc", f"{2**63} abc", f"7 abc {2**63} def"]
)
def test_verify_finds_a_damaged_head(journal: Journal, text: str) -> None:
    """A head that can't be read, or whose numbers no row can have, is found; it stops writing, and nothing is done because of
    rows whose end is not known."""
    journal.head_path.write_text(text)
    assert "is damaged" in journal.verify()
    with pytest.raises(JournalError, match="is damaged"):
        journal.begin("t1", {})
    with pytest.raises(JournalError, match="is damaged"):
        journal.entries()
    assert len(journal.all_entries()) == 7


@pytest.mark.parametrize("head", [f"7 {'0' * 64}", f"0 {'0' * 64}", f"3 {'f' * 64}"])
def test_verify_finds_a_forged_head(journal: Journal, head: str) -> None:
    """A head that names another row than the one that was written is found, and stops writing."""
    journal.head_path.write_text(head + "\n")
    assert "was changed after it was written" in journal.verify()
    with pytest.raises(JournalError, match="missing or edited"):
        journal.begin("t1", {})
    with pytest.raises(JournalError, match=f"does not have row {head[0]} as in its kept head"):
        journal.entries()


def test_verify_finds_missing_files(journal: Journal) -> None:
    """Neither the head nor the rows can be taken away without being found."""
    kept = journal.head_path.read_text()
    journal.head_path.unlink()
    assert "journal.head is missing" in journal.verify()
    with pytest.raises(JournalError, match=r"its kept head .* is missing"):
        journal.begin("t1", {})
    journal.head_path.write_text(kept)
    assert journal.verify() == ""
    journal.path.unlink()
    assert "journal.db is missing" in journal.verify()


@pytest.mark.parametrize(
    "statement",
    [
        "delete from entry where seq > 5",
        "update entry set hash = 'x' where seq = 7",
    ],
)
def test_a_damaged_journal_takes_no_rows(journal: Journal, statement: str) -> None:
    """Rows that were cut off or edited at the end stop writing: a new head would hide it."""
    head = journal.head_path.read_text()
    tamper(journal, statement)
    with pytest.raises(JournalError, match="rows are missing or edited") as caught:
        journal.append("t1", 3, [Row(kind="end", body={})])
    assert "journal verify" in caught.value.hint
    assert journal.head_path.read_text() == head


def test_a_number_that_no_row_can_have_finds_none(journal: Journal) -> None:
    """Whoever asks for a change by a number that is too long is told that there is none."""
    for found in (journal.entries, journal.all_entries):
        assert found(change=10**20) == found(change=8) == []
    assert journal.after(10**20) == journal.after(7) == []
    assert not journal.gone_on_with("t1", 10**20)


def test_nobody_tidies_up_by_mistake(journal: Journal) -> None:
    """SQLite itself refuses to change or remove a row, saying why."""
    for statement in ("update entry set at = '2020-01-01'", "delete from entry where seq < 3"):
        with sqlite3.connect(journal.path) as connection, pytest.raises(sqlite3.IntegrityError, match="append-only"):
            connection.execute(statement)
        connection.close()
    assert journal.verify() == ""


def test_a_head_of_no_row(journal: Journal) -> None:
    """A head that counts no row was changed after it was written, even with the newest hash."""
    journal.head_path.write_text(f"0 {journal.entries()[-1].hash}\n")
    assert journal.verify() == "row 0 was changed after it was written"


def test_a_journal_whose_first_row_failed_is_empty_and_whole(tmp_path: Path) -> None:
    """A journal in which nothing could be written yet has neither rows nor head, and is whole."""
    journal = Journal(tmp_path / "journal.db")
    with pytest.raises(TypeError):
        journal.begin("t1", {"bad": object()})
    assert journal.path.exists()
    assert journal.verify() == ""
    assert journal.begin("t1", {}) == 1


def test_a_first_row_without_a_head_is_damage(tmp_path: Path) -> None:
    """A row is announced before it is there, so that no crash leaves one without a head."""
    journal = Journal(tmp_path / "journal.db")
    journal.begin("t1", {})
    journal.head_path.unlink()
    assert "is missing" in journal.verify()
    with pytest.raises(JournalError, match="is missing"):
        Journal(journal.path).begin("t1", {})


# -- writers ---------------------------------------------------------------------------------------------------------

WRITER = """
import sys
from pathlib import Path
from exacell.journal.record import Journal, Row
journal, name = Journal(Path(sys.argv[1])), sys.argv[2]
for number in range(25):
    change = journal.begin(name, {"number": number})
    journal.append(name, change, [Row(kind="end", body={"number": number})])
"""


def test_processes_append_at_once(tmp_path: Path) -> None:
    """Four processes that append at the same time lose no row, mix no change up, and leave a whole chain."""
    path = tmp_path / "journal.db"
    names = [f"t{n}" for n in range(4)]
    running = [subprocess.Popen([sys.executable, "-c", WRITER, str(path), name]) for name in names]
    assert [process.wait(300) for process in running] == [0] * 4
    journal = Journal(path)
    assert journal.verify() == ""
    rows = journal.entries()
    assert len(rows) == 200
    for name in names:
        own = [row for row in rows if row.rack == name]
        assert [row.body["number"] for row in own if row.kind == "plan"] == list(range(25))
        assert [row.body["number"] for row in own if row.kind == "end"] == list(range(25))
    assert len({row.change for row in rows}) == 100


def test_threads_append_at_once(tmp_path: Path) -> None:
    """Threads of one process take turns too."""
    journal = Journal(tmp_path / "journal.db")
    change = journal.begin("t1", {})

    def work() -> None:
        for _ in range(5):
            journal.append("t1", change, [Row(kind="observed", target="c", body={})])

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(journal.entries()) == 21
    assert journal.verify() == ""


def test_unwritable(tmp_path: Path) -> None:
    """A journal that can't be written says so, and that reads still work."""
    (tmp_path / "file").write_text("")
    with pytest.raises(JournalError, match=r"can't be written.*no statement that changes cells is sent") as caught:
        Journal(tmp_path / "file" / "journal.db").begin("t1", {})
    assert "reads still work" in caught.value.hint


def test_no_journal_file(tmp_path: Path) -> None:
    """A file that is no journal is refused for writing and reading, and left as it is."""
    path = tmp_path / "journal.db"
    path.write_text("these are not the rows that you look for\n" * 20)
    journal = Journal(path)
    with pytest.raises(JournalError, match="can't be written"):
        journal.begin("t1", {})
    with pytest.raises(JournalError, match="can't be read"):
        journal.entries()
    assert path.read_text().startswith("these are not")


def test_nothing_of_a_failed_append_stays(journal: Journal) -> None:
    """An append that fails half way leaves no row behind."""
    with pytest.raises(TypeError):
        journal.append("t1", 3, [Row(kind="intent", body={}), Row(kind="intent", body={"bad": object()})])
    assert len(journal.entries()) == 7
    journal.append("t1", 3, [Row(kind="end", body={})])
    assert journal.verify() == ""


# -- caching that was left off ---------------------------------------------------------------------------------------


def entry(kind: str, target: str = "c1", change: int = 1, **body: object) -> Entry:
    return typed(Columns(seq=1, at="", rack="t1", change=change, kind=kind, target=target, body=body, prev="", hash=""))


OFF = entry("intent", cachingOff=True, cachingOn=False)
FLUSHED = entry("outcome", cachingOff=True, cachingOn=False, state="done")
ON = entry("intent", cachingOff=False, cachingOn=True)


@every(
    [
        ([], ()),
        ([ON], ()),
        ([OFF], ("c1",)),
        ([OFF, entry("outcome", cachingOff=True, state="failed")], ("c1",)),
        ([OFF, FLUSHED, ON], ("c1",)),
        ([OFF, FLUSHED, ON, entry("outcome", cachingOn=True, state="failed")], ("c1",)),
        ([OFF, FLUSHED, ON, entry("outcome", cachingOn=True, state="unknown")], ("c1",)),
        ([OFF, FLUSHED, ON, entry("outcome", cachingOn=True, state="done")], ()),
        ([OFF, FLUSHED, entry("end", cachingOn=True, state="done", caching="on")], ("c1",)),
        ([entry("outcome", cachingOff=True, state="not needed")], ()),
        ([OFF, FLUSHED, entry("observed", caching="on")], ()),
        ([OFF, FLUSHED, entry("observed", caching="off")], ("c1",)),
        ([OFF, FLUSHED, entry("observed", "c2", caching="on")], ("c1",)),
        ([OFF, entry("observed", caching="on"), OFF], ("c1",)),
    ]
)
def test_caching_off(rows: list[Entry], cells: tuple[str, ...]) -> None:
    """Caching counts as off from the intent on, until it was brought back or seen on; nothing else clears it."""
    assert tuple(cell for item in CACHES.left_by(rows) for cell in item.cells) == cells


def test_caching_off_by_change() -> None:
    """Cells are listed under the last change that switched their caching off, newest last."""
    rows = [
        entry("intent", "c1", 1, cachingOff=True),
        entry("intent", "c2", 2, cachingOff=True),
        entry("intent", "c3", 1, cachingOff=True),
        entry("intent", "c1", 3, cachingOff=True),
    ]
    assert [(item.change, item.cells) for item in CACHES.left_by(rows)] == [(1, ("c3",)), (2, ("c2",)), (3, ("c1",))]


def test_flash_and_pmem_are_told_apart() -> None:
    """What is said of one cache of a cell says nothing of the other; rows that name none speak of the flash cache."""
    rows = [
        entry("intent", cachingOff=True),
        entry("intent", cachingOff=True, cache="pmemcache", statement="ALTER PMEMCACHE ALL FLUSH NOWAIT"),
        entry("observed", caching="on", cache="flashcache"),
    ]
    assert [(item.cache, item.dropped) for item in CACHES.left_by(rows)] == [("pmemcache", False)]
    rows.append(entry("intent", cachingOff=True, cache="pmemcache", statement="DROP PMEMCACHE"))
    assert [(item.cache, item.dropped) for item in CACHES.left_by(rows)] == [("pmemcache", True)]
    rows.append(entry("outcome", cachingOn=True, state="done"))
    assert CACHES.left_by(rows)
    rows.append(entry("outcome", cachingOn=True, state="done", cache="pmemcache"))
    assert CACHES.left_by(rows) == ()


def test_caching_entries_are_all_that_matter(journal: Journal) -> None:
    """The quick look into a long journal finds exactly the rows that decide, and only this rack's."""
    bodies = [
        Row(kind="intent", target="c1", body={"cachingOff": True, "cachingOn": False}),
        Row(kind="intent", target="c2", body={"cachingOff": False, "cachingOn": False}),
        Row(kind="outcome", target="c1", body={"cachingOn": True, "state": "done"}),
        Row(kind="observed", target="c1", body={"caching": "on"}),
        Row(kind="plan", body={"cachingOff": True}),
    ]
    journal.append("t1", 3, bodies)
    journal.append("t2", 2, bodies[:1])
    assert [(row.kind, row.target) for row in journal.caching_entries("t1")] == [
        ("intent", "c1"),
        ("outcome", "c1"),
        ("observed", "c1"),
    ]
