"""The journal's files among processes and users: whose turn it is, whose files they are, what is on the disk when."""

from __future__ import annotations

import errno
import fcntl
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from exacell.change.pending import pending
from exacell.change.racklock import LockedError, RackLock
from exacell.core.errors import JournalError
from exacell.core.sharedfile import flock
from exacell.journal.file import JournalFile
from exacell.journal.record import Journal, Row


def test_a_turn_that_is_never_given_back_is_told(tmp_path: Path) -> None:
    """It should wait for others only so long, and then name what holds it."""
    path = tmp_path / "lock"
    with open(path, "w") as one, open(path) as two:
        flock(one.fileno(), exclusive=True)
        with pytest.raises(TimeoutError, match=r"another process has locked it for 0.02s"):
            flock(two.fileno(), exclusive=False, patience=0.02)
        fcntl.flock(one.fileno(), fcntl.LOCK_SH)
        flock(two.fileno(), exclusive=False, patience=0)


@pytest.mark.parametrize("code", [errno.ENOLCK, errno.EOPNOTSUPP, errno.ENOSYS])
def test_a_file_system_without_locks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int) -> None:
    """It should say in one line that there are no locks: neither the journal is written nor the rack changed; reads work."""
    journal, lock = Journal(tmp_path / "journal.db"), RackLock(tmp_path / "rack.lock", "t1")
    journal.begin("t1", {"statement": "s"})
    lock.take()

    def no_locks(*_: Any) -> None:
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(fcntl, "flock", no_locks)
    with pytest.raises(JournalError, match=r"can't be written \(.*its file system has no locks"):
        journal.begin("t1", {})
    with pytest.raises(LockedError, match=r"can't be locked: .*its file system has no locks.*nothing was sent"):
        lock.take()
    with pytest.raises(LockedError, match="can't be read"):
        lock.holder()
    assert len(journal.entries()) == 1


@pytest.mark.parametrize("mask", [0, 0o077, 0o777])
def test_files_are_the_owners_alone_whatever_the_mask(tmp_path: Path, mask: int) -> None:
    """It should make files that no other user can read, and that the owner can, with any umask."""
    folder = tmp_path / "home"
    folder.mkdir(mode=0o700)
    code = (
        "import os, sys\nfrom pathlib import Path\nfrom exacell.journal.record import Journal\n"
        f"os.umask({mask})\njournal = Journal(Path(sys.argv[1]))\n"
        "for _ in range(2):\n    journal.begin('t1', {})\nassert journal.verify() == ''\n"
    )
    subprocess.run([sys.executable, "-c", code, str(folder / "journal.db")], check=True, timeout=300)
    modes = {path.name: path.stat().st_mode & 0o777 for path in folder.iterdir()}
    assert set(modes) == {"journal.db", "journal.head", "journal.lock"}
    assert set(modes.values()) == {0o600}


needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="another user's files need root")


@needs_root
def test_root_leaves_the_files_to_their_owner(tmp_path: Path) -> None:
    """It should give what root writes in a user's directory to that user, who could not go on otherwise."""
    os.chown(tmp_path, 65534, 65534)
    journal = Journal(tmp_path / "journal.db")
    journal.begin("t1", {})
    journal.begin("t1", {})
    assert {path.stat().st_uid for path in tmp_path.iterdir()} == {65534}


@needs_root
def test_root_follows_no_link(tmp_path: Path) -> None:
    """It should not write through a link that somebody laid where the new head is made."""
    journal = Journal(tmp_path / "journal.db")
    journal.begin("t1", {})
    target = tmp_path / "precious"
    target.write_text("precious")
    (tmp_path / "journal.head.new").symlink_to(target)
    with pytest.raises(JournalError, match="can't be written"):
        journal.begin("t1", {})
    assert target.read_text() == "precious"


@needs_root
def test_the_journal_of_another_user(tmp_path: Path) -> None:
    """It should say that the files are another user's, in one line, whether that one may look into the directory or not."""
    Journal(tmp_path / "journal.db").begin("t1", {})
    code = (
        "import os, sys\nfrom pathlib import Path\nfrom exacell.core.errors import JournalError\n"
        "from exacell.journal.record import Journal\njournal = Journal(Path(sys.argv[1]))\nos.setuid(65534)\n"
        "for deed in (journal.entries, journal.all_entries, lambda: journal.begin('t1', {}), journal.examine):\n"
        "    try:\n        print(deed())\n    except JournalError as error:\n        print(error.hint)\n"
    )
    for mode in (0o755, 0o700):
        tmp_path.chmod(mode)
        done = subprocess.run(
            [sys.executable, "-c", code, str(tmp_path / "journal.db")], capture_output=True, text=True, timeout=300, check=False
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        told = done.stdout.splitlines()
        assert all("belongs to another user" in line for line in told[:3]), told
        assert "can't be read" in told[3] or "belongs to another user" in told[3]


@pytest.mark.skipif(shutil.which("strace") is None, reason="strace shows what is synced")
def test_what_is_synced_before_a_row_counts(tmp_path: Path) -> None:
    """It should sync, in this order: the announcement and its directory, SQLite's rollback file, the rows, the directory
    from which that file is gone, the head; so that no power cut takes away a row whose append returned."""
    path = tmp_path / "journal.db"
    journal = Journal(path)
    journal.begin("t1", {})
    code = (
        "import sys\nfrom pathlib import Path\nfrom exacell.journal.record import Journal, Row\n"
        "Journal(Path(sys.argv[1])).append('t1', 1, [Row(kind='intent', target='c1', body={})])\nprint('returned')\n"
    )
    log = tmp_path / "strace"
    calls = "fsync,fdatasync,rename,renameat,renameat2,unlink,unlinkat,write"
    done = subprocess.run(
        ["strace", "-y", "-qq", "-e", f"trace={calls}", "-o", str(log), sys.executable, "-c", code, str(path)],
        capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    if done.returncode and "ptrace" in done.stderr:
        pytest.skip("this host lets nobody trace")
    assert done.stdout == "returned\n", done.stderr
    seen = []
    for line in log.read_text().splitlines():
        name, _, rest = line.partition("(")
        what = re.search(r"journal\.[a-z.-]+|journal\.db-journal", rest)
        if name in ("fsync", "fdatasync"):
            seen.append(f"sync {what[0] if what else 'directory'}")
        elif name.startswith(("rename", "unlink")) and what:
            seen.append(f"{name[:6]} {what[0]}")
        elif name == "write" and "returned" in rest:
            seen.append("returned")
    order = [
        "sync journal.head.new", "rename journal.head.new", "sync directory", "sync journal.db-journal", "sync journal.db",
        "unlink journal.db-journal", "sync directory", "sync journal.head.new", "rename journal.head.new", "returned",
    ]  # fmt: skip
    rest = iter(seen)
    assert all(step in rest for step in order), seen


def test_a_start_looks_at_no_row_that_does_not_matter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It should ask each of a start's questions by an index, none of them over all rows of a kind for each other row."""
    journal = Journal(tmp_path / "journal.db")
    for _ in range(3):
        change = journal.begin("t1", {"statement": "s", "confirmWithin": 5})
        journal.append("t1", change, [Row(kind="end", body={"exitCode": 0})])
    asked: list[str] = []
    ask = JournalFile._ask

    def explained(self: JournalFile, query: str, values: Any, *, mode: str) -> list[tuple[Any, ...]]:
        asked.extend(str(row[-1]) for row in ask(self, f"explain query plan {query}", values, mode=mode))
        return ask(self, query, values, mode=mode)

    monkeypatch.setattr(JournalFile, "_ask", explained)
    pending(journal, "t1")
    searched = " / ".join(asked)
    assert "SCAN" not in searched
    for index in (
        "entry_caching (",
        "entry_services (",
        "entry_switching (",
        "entry_confirming (",
        "entry_change (rack=? AND change=?)",
    ):
        assert f"SEARCH entry USING INDEX {index}" in searched or f"SEARCH later USING INDEX {index}" in searched, index


def test_few_changes_of_a_long_journal(tmp_path: Path) -> None:
    """It should read the rows of the changes that are asked for and no others: the newest, those since, of a target."""
    journal = Journal(tmp_path / "journal.db")
    for number in range(6):
        change = journal.begin("t1" if number % 2 else "t2", {"statement": str(number)})
        journal.append("t1" if number % 2 else "t2", change, [Row(kind="intent", target=f"c{number}", body={})])
    at = journal.entries(change=5)[0].at
    for wanted, changes in (
        ({"newest": 2}, {5, 6}), ({"newest": 2, "rack": "t1"}, {4, 6}), ({"target": "c2"}, {3}), ({"change": 3}, {3}),
        ({"rack": "t2"}, {1, 3, 5}), ({"until": "2001"}, set()), ({"target": "c2", "rack": "t1"}, set()),
        ({"newest": 9}, {1, 2, 3, 4, 5, 6}),
    ):  # fmt: skip
        rows = journal.all_entries(**wanted)  # type: ignore[arg-type]  # by name, each of its own type
        assert {row.change for row in rows} == changes
        assert len(rows) == 2 * len(changes)
    assert {5, 6} <= {row.change for row in journal.all_entries(since=at)}
    assert (journal.count_changes(), journal.count_changes("t1"), journal.count_changes("t9")) == (6, 3, 0)
    assert Journal(tmp_path / "none.db").count_changes() == 0
