"""What is wrong with the journal's files is told at every start, and what is no file is refused at once."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable
from pathlib import Path

import pytest

from exacell.core.config import load
from exacell.core.errors import ExacellError, JournalError
from exacell.core.paths import Home
from exacell.journal.record import Journal, Row
from exacell.session.store import Store


def written(folder: Path, rows: int = 40) -> Journal:
    """Return a journal with a change of so many rows."""
    journal = Journal(folder / "journal.db")
    change = journal.begin("r1", {"statement": "flush flashcache"})
    journal.append("r1", change, [Row(kind="gate", body={"why": "x" * 1000}) for _ in range(rows)])
    return journal


def test_a_sound_journal_is_read_through_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is told of a journal that is whole, and one that was not written since is not read through again."""
    journal, known = written(tmp_path), tmp_path / "cache" / "sound"
    assert journal.unsound(known) == "" and known.exists()
    monkeypatch.setattr(Journal, "damage", lambda self: "looked")
    assert journal.unsound(known) == ""
    journal.begin("r1", {"statement": "flush flashcache"})
    assert journal.unsound(known).startswith("looked")
    assert Journal(tmp_path / "none" / "journal.db").unsound(known) == ""


def test_a_head_that_is_missing_is_told_each_time(tmp_path: Path) -> None:
    """It is named with the way out, as often as it is looked for."""
    journal, known = written(tmp_path), tmp_path / "sound"
    assert journal.unsound(known) == ""
    journal.head_path.unlink()
    for _ in range(2):
        told = journal.unsound(known)
        assert "journal.head is missing" in told and "journal verify" in told and "\n" not in told


@pytest.mark.parametrize("page", [0.3, 0.5, 0.8])
def test_a_damaged_page_is_told_each_time(page: float, tmp_path: Path) -> None:
    """A page that was overwritten somewhere in the file is told, whether or not what is asked at a start stands on it."""
    journal, known = written(tmp_path), tmp_path / "sound"
    assert journal.unsound(known) == ""
    with open(journal.path, "r+b") as stream:
        stream.seek(int(journal.path.stat().st_size * page) // 4096 * 4096)
        stream.write(b"\xa5" * 4096)
    for _ in range(2):
        told = journal.unsound(known)
        assert "damaged" in told or "can't be read" in told
        assert "journal verify" in told


def fifo(path: Path) -> None:
    os.mkfifo(path)


def listening(path: Path) -> None:
    folder = os.getcwd()
    os.chdir(path.parent)  # A socket's path may have 108 characters.
    try:
        socket.socket(socket.AF_UNIX).bind(path.name)
    finally:
        os.chdir(folder)


def device(path: Path) -> None:
    path.symlink_to("/dev/tty")


ODD = {"a FIFO": fifo, "a socket": listening, "a device": device}


@pytest.mark.parametrize("name", ["journal.db", "journal.head", "journal.db-journal"])
@pytest.mark.parametrize("kind", ODD)
@pytest.mark.parametrize(
    "use",
    [
        lambda journal: journal.unfinished("r1"),
        lambda journal: journal.begin("r1", {"statement": "flush flashcache"}),
        lambda journal: journal.verify() and journal.unfinished("r1"),
    ],
)
def test_what_is_no_file_is_refused_at_once(
    name: str, kind: str, use: Callable[[Journal], object], tmp_path: Path
) -> None:
    """A FIFO, a socket or a device in the place of a file of the journal is named, and nobody waits for it."""
    journal = written(tmp_path, 1)
    (tmp_path / name).unlink(missing_ok=True)
    ODD[kind](tmp_path / name)
    with pytest.raises(JournalError, match=f"{name} is {kind}") as caught:
        use(journal)
    assert caught.value.hint == f"remove it: `rm {tmp_path / name}`"


@pytest.mark.parametrize("kind", ODD)
@pytest.mark.parametrize("name", ["config.toml", "store.db"])
def test_so_is_it_in_the_place_of_other_files_of_ours(name: str, kind: str, tmp_path: Path) -> None:
    """The configuration and the store as well."""
    ODD[kind](tmp_path / name)
    with pytest.raises(ExacellError, match=f"{kind}|is not trusted: its file /dev/tty"):
        if name == "store.db":
            Store(tmp_path / name).plans("r1")
        else:
            load(Home.from_env({"EXACELL_HOME": str(tmp_path)}))
