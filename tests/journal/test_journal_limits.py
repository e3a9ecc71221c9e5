"""A journal that can't be written stops changes, never reads: a full disk, a damaged file, a commit that was cut off."""

from __future__ import annotations

import os
import resource
import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from exacell.change.leftbehind import left_behind
from exacell.core.config import Config, RackConfig
from exacell.core.errors import JournalError
from exacell.core.paths import Home
from exacell.journal.record import Journal, Row
from exacell.output.console import SilentConsole
from exacell.session.services import Services
from exacell.session.state import Options, Session
from tests.support.forging import forging

GARBAGE = "this was a journal once\n" * 100


def filled(path: Path, rows: int = 5) -> Journal:
    journal = Journal(path)
    change = journal.begin("t1", {"statement": "flush flashcache", "host": "h", "pid": "1"})
    journal.append("t1", change, [Row(kind="outcome", target="c1", body={"n": n}) for n in range(rows)])
    journal.append("t1", change, [Row(kind="end", body={"exitCode": 0})])
    return journal


FULL = """
import sys, resource
from pathlib import Path
from exacell.core.errors import JournalError
from exacell.journal.record import Journal, Row
journal = Journal(Path(sys.argv[1]))
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]), int(sys.argv[2])))
written = 0
try:
    for number in range(10_000):
        journal.append("t1", 1, [Row(kind="observed", target="c1", body={"text": "x" * 2000})])
        written += 1
except JournalError as error:
    print(written, len(journal.entries()), error.message)
"""


@pytest.mark.parametrize("more", [0, 1, 4096, 40_000])
def test_a_full_disk_stops_writing_and_never_reading(tmp_path: Path, more: int) -> None:
    """It should say in one line that nothing is sent when the disk is full, lose no row, and read on."""
    journal = filled(tmp_path / "journal.db")
    before = len(journal.entries())
    limit = journal.path.stat().st_size + more
    done = subprocess.run(
        [sys.executable, "-c", FULL, str(journal.path), str(limit)],
        capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    written, seen, message = done.stdout.split(" ", 2)
    assert "can't be written" in message and "no statement that changes cells is sent" in message
    assert int(seen) == before + int(written)
    assert len(journal.entries()) == before + int(written)
    assert journal.verify() == ""
    journal.append("t1", 1, [Row(kind="observed", body={})])  # There is room again.
    assert journal.verify() == ""


@pytest.mark.skipif(os.geteuid() != 0, reason="mounting a small file system needs root")
def test_a_full_file_system(tmp_path: Path) -> None:
    """It should do the same on a file system that is really full."""
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=256k", "none", str(tmp_path)], check=False).returncode:
        pytest.skip("this host mounts nothing")
    try:
        journal = filled(tmp_path / "journal.db")
        with pytest.raises(JournalError, match=r"can't be written.*no statement that changes cells is sent"):
            for _ in range(1000):
                journal.append("t1", 1, [Row(kind="observed", body={"text": "x" * 2000})])
        assert journal.entries(change=1)
        assert journal.verify() == ""
    finally:
        subprocess.run(["umount", str(tmp_path)], check=True)


CUT = """
import os, sqlite3, sys
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
connection.execute("pragma cache_size = 1")
connection.execute("begin immediate")
for number in range(100, 400):
    connection.execute("insert into entry values (?, '', 't1', 1, 'x', '', ?, '', '')", (number, "y" * 3000))
os._exit(9)
"""


def test_a_commit_that_was_cut_off_is_rolled_back_for_readers(tmp_path: Path) -> None:
    """It should read the rows as they were before a process died in the middle of a commit, and write on."""
    journal = filled(tmp_path / "journal.db")
    before = journal.entries()
    subprocess.run([sys.executable, "-c", CUT, str(journal.path)], check=False, timeout=300)
    assert Path(f"{journal.path}-journal").exists()
    assert journal.entries() == before
    assert journal.verify() == ""
    journal.begin("t1", {})
    assert journal.verify() == ""


@pytest.mark.skipif(os.geteuid() != 0, reason="mounting a small file system needs root")
def test_a_read_only_file_system(tmp_path: Path) -> None:
    """Where nobody may write, reads work, and changes and what a killed writer left are refused with the way out; eyes see
    the rows without that."""
    if subprocess.run(["mount", "-t", "tmpfs", "none", str(tmp_path)], check=False).returncode:
        pytest.skip("this host mounts nothing")
    try:
        journal = filled(tmp_path / "journal.db")
        before = journal.entries()
        subprocess.run(["mount", "-o", "remount,ro", str(tmp_path)], check=True)
        assert journal.entries() == before and journal.verify() == ""
        for write in (
            lambda: journal.begin("t1", {}),
            lambda: Journal(tmp_path / "new" / "journal.db").begin("t1", {}),
        ):
            with pytest.raises(JournalError, match=r"can't be written .*Read-only file system") as caught:
                write()
            assert caught.value.hint.startswith("its file system is mounted read-only: mount it for writing")
        subprocess.run(["mount", "-o", "remount,rw", str(tmp_path)], check=True)
        subprocess.run([sys.executable, "-c", CUT, str(journal.path)], check=False, timeout=300)
        subprocess.run(["mount", "-o", "remount,ro", str(tmp_path)], check=True)
        with pytest.raises(
            JournalError, match=r"the last exacell that wrote to it was killed, and to roll back"
        ) as caught:
            journal.entries()
        assert caught.value.hint.startswith("its file system is mounted read-only")
        assert journal.all_entries() == before
        subprocess.run(["mount", "-o", "remount,rw", str(tmp_path)], check=True)
        assert journal.entries() == before and journal.verify() == ""
    finally:
        subprocess.run(["umount", str(tmp_path)], check=True)


def context(home: Path) -> tuple[Session, Services]:
    rack = RackConfig(name="t1", cells=("c1",))
    session = Session(
        home=Home.from_env({"EXACELL_HOME": str(home)}),
        config=Config(default_rack="t1", racks={"t1": rack}),
        options=Options(),
        env={"EXACELL_HOME": str(home)},
    )
    return session, Services(session, SilentConsole())


DAMAGE = ["garbage", "no table", "a body that is no JSON", "a directory"]


@pytest.mark.parametrize("kind", DAMAGE)
def test_a_damaged_journal_is_a_warning_for_readers(tmp_path: Path, kind: str) -> None:
    """It should warn in one line at the start, naming the way out, and let the session go on."""
    journal = filled(tmp_path / "journal.db")
    if kind == "garbage":
        journal.path.write_text(GARBAGE)
    elif kind == "a directory":
        journal.path.unlink()
        journal.path.mkdir()
    else:
        statement = "drop table entry" if kind == "no table" else "update entry set body = 'x', kind = 'deadline'"
        with forging(journal.path) as connection:
            connection.execute(statement)
    session, services = context(tmp_path)
    session.need_rack()
    (told,) = left_behind(session, services)
    assert "journal" in told and "journal restart" in told
    assert "\n" not in told
    with pytest.raises(JournalError):
        services.journal.begin("t1", {})


def test_writers_that_are_killed_lose_nothing_that_they_promised(tmp_path: Path) -> None:
    """It should hold every row whose append returned, in a whole chain, when the writers are killed at any moment."""
    path = tmp_path / "journal.db"
    writer = (
        "import sys\nfrom pathlib import Path\nfrom exacell.journal.record import Journal, Row\n"
        "journal = Journal(Path(sys.argv[1]))\n"
        "for n in range(10**6):\n"
        "    change = journal.begin(sys.argv[2], {'n': n})\n    print(change, flush=True)\n"
    )
    promised: set[int] = set()
    for round_ in range(2):
        running = [
            subprocess.Popen([sys.executable, "-c", writer, str(path), f"t{n}"], stdout=subprocess.PIPE, text=True)
            for n in range(3)
        ]
        for process in running:
            assert process.stdout is not None
            for _ in range(3 + round_):
                promised.add(int(process.stdout.readline()))
        for process in running:
            process.kill()
            promised |= {int(line) for line in process.communicate()[0].splitlines() if line.strip()}
    journal = Journal(path)
    assert journal.verify() == ""
    assert promised <= {entry.change for entry in journal.entries()}
    assert len({e.change for e in journal.entries()}) == len(journal.entries())


def test_rlimit_is_what_the_tests_think() -> None:
    """It should be possible to limit the size of files here, or the tests above prove nothing."""
    assert resource.getrlimit(resource.RLIMIT_FSIZE)[1] == resource.RLIM_INFINITY
    assert shutil.disk_usage("/tmp").free > 1 << 20


def test_a_journal_that_is_being_made_is_empty(tmp_path: Path) -> None:
    """A reader that comes between the first writer's open and its first row should find no rows, not a damaged file."""
    journal = Journal(tmp_path / "journal.db")
    sqlite3.connect(journal.path).close()
    journal.path.touch()
    assert journal.entries() == []
    journal.head_path.write_text("3 abc\n")
    with pytest.raises(JournalError, match="can't be read"):
        journal.entries()


def test_a_first_row_that_comes_between_two_looks_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A reader whose look at the empty file is overtaken by the first row should find that row, not a damaged file."""
    path = tmp_path / "journal.db"
    journal = Journal(path)
    sqlite3.connect(path).close()
    path.touch()

    def overtaken(reader: Journal) -> bool:
        Journal(path).begin("t1", {"statement": "flush flashcache"})
        return False

    monkeypatch.setattr(Journal, "_is_being_made", overtaken)
    assert [entry.kind for entry in journal.entries()] == ["plan"]
