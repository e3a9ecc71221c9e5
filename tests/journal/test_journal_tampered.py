"""A journal's files as an editor of SQLite's files, or of bytes, leaves them: each change that matters is found by verify."""

from __future__ import annotations

import random
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from exacell.change.journal_restart import restart
from exacell.core.errors import JournalError
from exacell.journal.record import Journal, Row
from exacell.journal.schema import COLUMNS
from tests.support.forging import forging

NAMES = COLUMNS.split(", ")
FLIPS = 700


def made(folder: Path) -> Journal:
    """Return a journal of three changes, in which each kind of choice finds rows."""
    folder.mkdir(exist_ok=True)
    journal = Journal(folder / "journal.db")
    for number in range(3):
        change = journal.begin("t1", {"statement": f"flush {number}"})
        journal.append("t1", change, [Row(kind="intent", target="c1", body={"n": number, "cachingOff": True})])
        end = Row(kind="end", body={"exitCode": 4})
        journal.append("t1", change, [Row(kind="outcome", target="c1", body={"n": number}), end])
    return journal


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> tuple[bytes, bytes]:
    """What the two files of a whole journal hold."""
    journal = made(tmp_path_factory.mktemp("whole") / "home")
    return journal.path.read_bytes(), journal.head_path.read_bytes()


@pytest.fixture
def anew(files: tuple[bytes, bytes], tmp_path: Path) -> Callable[[], Journal]:
    """Lays the whole journal's files into an empty folder."""

    def lay() -> Journal:
        for path in tmp_path.iterdir():
            path.unlink()
        journal = Journal(tmp_path / "journal.db")
        journal.path.write_bytes(files[0])
        journal.head_path.write_bytes(files[1])
        return journal

    return lay


def told(journal: Journal) -> list[Any]:
    """Return the rows as they are stored, and what the usual questions find of them."""
    asked = (
        journal.caching_entries("t1"),
        journal.of_kinds("t1", ("plan",)),
        journal.unfinished("t1"),
        journal.stopped_after("t1", 0),
        journal.entries(change=2),
    )
    return [journal.stored(), *([entry.seq for entry in entries] for entries in asked)]


def test_each_field_of_each_row(anew: Callable[[], Journal]) -> None:
    """Whatever stands in a field instead of what was written is found, in every column; other values of the same text too."""
    good = anew().stored()
    for row, (place, name) in product(good, enumerate(NAMES)):
        old = row[place]
        for new in (None, "", 0, 1, -1, 1.5, "x", b"x", str(old).encode(), f"{old} ", f"{old}\0", f"{old}\x1f", 2**62):
            journal = anew()
            try:
                with forging(journal.path) as connection:
                    connection.execute(f"update entry set {name} = ? where seq = ?", (new, row[0]))
            except sqlite3.Error:
                continue  # Not even SQLite takes it.
            if journal.stored() != good:
                assert journal.verify(), (row[0], name, new)
            else:
                assert not journal.verify(), (row[0], name, new)


@pytest.mark.parametrize(
    ("name", "kind"),
    [*product(NAMES, (str, lambda value: str(value).encode())), ("seq", float), ("change", float)],
)
def test_values_of_another_kind_in_a_table_that_takes_any(
    anew: Callable[[], Journal], name: str, kind: Callable[[Any], Any]
) -> None:
    """A table made again without kinds of columns, with a number as text, is found: no search by that number finds the row."""
    journal = anew()
    good, place = journal.stored(), NAMES.index(name)
    with closing(sqlite3.connect(journal.path)) as connection, connection:
        connection.execute("drop table entry")
        connection.execute(f"create table entry ({COLUMNS})")
        for row in good:
            values = [kind(value) if at == place else value for at, value in enumerate(row)]
            connection.execute("insert into entry values (?,?,?,?,?,?,?,?,?)", values)
    changed = [list(map(type, row)) for row in journal.stored()] != [list(map(type, row)) for row in good]
    assert bool(journal.verify()) == changed


@pytest.mark.parametrize(
    ("sql", "found"),
    [
        ("create trigger evil after insert on entry begin delete from entry where kind = 'end'; end", "trigger evil"),
        ("create trigger evil before insert on entry begin select raise(ignore); end", "trigger evil"),
        (
            "drop trigger entry_no_update; create trigger entry_no_update before insert on entry begin select raise(ignore); end",
            "trigger entry_no_update",
        ),
        ("alter table entry rename to other; create view entry as select * from other", "entry is a view"),
        ("drop table entry", "no table of a journal"),
        ("alter table entry rename column body to text", "body"),
    ],
)
def test_what_else_the_file_holds(anew: Callable[[], Journal], sql: str, found: str) -> None:
    """What would change or swallow rows as they are written is found, and nothing that changes cells is begun behind it."""
    journal = anew()
    with closing(sqlite3.connect(journal.path)) as connection:
        connection.executescript(sql)
    assert found in journal.verify()
    for write in (lambda: journal.begin("t1", {}), journal.refuse_damaged):
        with pytest.raises(JournalError):
            write()


@pytest.mark.parametrize(
    "sql",
    [
        "drop index entry_kind",
        "drop trigger entry_no_update",
        "create table other (a)",
        "vacuum",
        "pragma user_version = 5",
    ],
)
def test_what_does_not_matter_is_no_damage(anew: Callable[[], Journal], sql: str) -> None:
    """What neither hides nor changes a row is no reason to stop."""
    journal = anew()
    before = told(journal)
    with closing(sqlite3.connect(journal.path)) as connection:
        connection.executescript(sql)
    assert journal.verify() == ""
    assert told(journal) == before
    journal.begin("t1", {})
    assert journal.verify() == ""


def test_any_bit_of_the_rows_file(anew: Callable[[], Journal], files: tuple[bytes, bytes]) -> None:
    """After any bit was turned round verify says what is wrong in words, or every row is found as before."""
    rng, before = random.Random(12), told(anew())
    used = [place for place, byte in enumerate(files[0]) if byte]
    for place in rng.sample(used, min(FLIPS, len(used))):
        data = bytearray(files[0])
        data[place] ^= 1 << rng.randrange(8)
        journal = anew()
        journal.path.write_bytes(bytes(data))
        if not journal.verify():
            assert told(journal) == before, place


def test_bytes_over_the_description_of_the_table(anew: Callable[[], Journal], files: tuple[bytes, bytes]) -> None:
    """Who asks is told in a line that the file is damaged, though SQLite's own words about it can't be read; restart mends it."""
    journal = anew()
    place = files[0].index(b"entry (rack, kind)")
    journal.path.write_bytes(files[0][:place] + b"\xff\xfe\xef" + files[0][place + 3 :])
    assert "was overwritten" in journal.verify()
    for ask in (journal.entries, journal.all_entries, journal.refuse_damaged, lambda: journal.begin("t1", {})):
        with pytest.raises(JournalError, match="was overwritten"):
            ask()
    restart(Journal(journal.path))
    assert Journal(journal.path).verify() == ""


def test_any_bit_of_the_kept_head(anew: Callable[[], Journal], files: tuple[bytes, bytes]) -> None:
    """Each bit of the kept head that is turned round, and each byte that is missing, is found; only the line's end is no news."""
    head = files[1].rstrip()
    for place in range(len(head)):
        turned = [head[:place] + bytes([head[place] ^ 1 << bit]) + head[place + 1 :] for bit in range(8)]
        for text in (*turned, head[:place], head[:place] + head[place + 1 :]):
            journal = anew()
            journal.head_path.write_bytes(text)
            assert journal.verify(), text


@pytest.mark.parametrize("end", ["-wal", "-shm", "-journal"])
def test_files_beside_it_that_are_not_its_own(
    anew: Callable[[], Journal], files: tuple[bytes, bytes], end: str
) -> None:
    """Whatever lies where SQLite keeps its files beside the rows hides no row, and the next change is written."""
    noise = random.Random(3).randbytes(5000)
    for content in (b"", b"x", bytes(4096), noise, files[0]):
        journal = anew()
        before = told(journal)
        Path(f"{journal.path}{end}").write_bytes(content)
        assert journal.verify() or told(journal) == before
        if not journal.verify():
            journal.begin("t1", {})
            assert journal.verify() == "" and len(journal.stored()) == len(before[0]) + 1


@pytest.mark.parametrize("edit", ["update entry set body = '{}' where seq = 2", "delete from entry where seq > 7"])
def test_an_edit_that_lies_in_a_write_ahead_log(anew: Callable[[], Journal], edit: str) -> None:
    """What an editor wrote into a write-ahead log of its own is part of the rows, and found."""
    journal = anew()
    with closing(sqlite3.connect(journal.path)) as connection:
        connection.execute("pragma journal_mode = wal")
        for name in ("update", "delete"):
            connection.execute(f"drop trigger entry_no_{name}")
        connection.execute(edit)
        connection.commit()
        kept = {path: path.read_bytes() for path in journal.path.parent.iterdir()}
    for path, data in kept.items():
        path.write_bytes(data)
    assert Path(f"{journal.path}-wal").stat().st_size
    assert journal.verify()


def test_an_editor_that_died_leaves_the_rows_as_they_were(anew: Callable[[], Journal]) -> None:
    """The rollback file of somebody else who was killed in the middle of an edit takes the edit back."""
    journal = anew()
    before = told(journal)
    code = (
        "import os, sqlite3, sys\nc = sqlite3.connect(sys.argv[1])\nc.execute('pragma cache_size = 1')\n"
        "c.execute('begin')\nc.execute('drop trigger entry_no_update')\nc.execute(\"update entry set body = '{}'\")\n"
        "c.execute('create table other (a)')\n"
        "for _ in range(200):\n    c.execute('insert into other values (randomblob(3000))')\nos.kill(os.getpid(), 9)\n"
    )
    subprocess.run([sys.executable, "-c", code, str(journal.path)], check=False, timeout=300)
    assert Path(f"{journal.path}-journal").stat().st_size
    assert journal.verify() == "" and told(journal) == before


@pytest.mark.parametrize("edit", ["update entry set hash = 'x' where seq = 2", "delete from entry where seq = 2", ""])
def test_the_row_that_the_kept_head_names_has_to_be_there_as_it_was(tmp_path: Path, edit: str) -> None:
    """Where it is missing, or has another hash than was kept beside it, whoever asks is told."""
    journal = Journal(tmp_path / "journal.db")
    change = journal.begin("t1", {"statement": "s"})
    journal.append("t1", change, [Row(kind="end", body={"exitCode": 0})])
    again = Journal(tmp_path / "journal.db")
    if not edit:
        again.refuse_cut()
        return
    with forging(journal.path) as connection:
        connection.execute(edit)
    with pytest.raises(JournalError, match="does not have row 2 as in its kept head"):
        again.refuse_cut()
