"""A disk that is full costs nothing that was there before, and is what the line says."""

from __future__ import annotations

import errno
import os
import resource
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from exacell.change.dcli.files import public_key
from exacell.change.dcli.options import DcliExit
from exacell.core.errors import ConfigError
from exacell.core.paths import Home, replace_file
from exacell.prompt.app import PrivateHistory
from exacell.session.completion.names import NameCache
from exacell.session.history import Aliases, Usage, append_history, read_entries
from exacell.session.store import Store, StoreError
from exacell.session.tutorial import Tutorial


@contextmanager
def full(size: int = 0) -> Iterator[None]:
    """No file of this process grows beyond ``size`` bytes: its writes end as on a full disk, in the middle where need be."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.fixture
def home(tmp_path: Path) -> Home:
    """One directory for all."""
    return Home.from_env({"EXACELL_HOME": str(tmp_path)})


@pytest.mark.parametrize("size", [0, 40])
def test_aliases_stay_as_they_were(home: Home, size: int) -> None:
    """The old ones are there, the line says why the new one is not, and nothing is left beside the file."""
    aliases = Aliases(home)
    aliases.define("one", "list cell")
    with (
        full(size),
        pytest.raises(ConfigError, match=r"aliases can't be written: File too large; the aliases are not changed"),
    ):
        aliases.define("two", "list lun")
    assert dict(Aliases(home).all()) == {"one": "list cell"}
    assert os.listdir(home.config_dir) == ["aliases"]


def test_a_linked_file_stays_a_link(tmp_path: Path) -> None:
    """Who keeps the file elsewhere finds it written there, for the owner's eyes only."""
    there, link = tmp_path / "dotfiles" / "aliases", tmp_path / "aliases"
    replace_file(there, "old")
    link.symlink_to(there)
    replace_file(link, "new", synced=True)
    assert link.is_symlink() and there.read_text() == "new" and there.stat().st_mode & 0o777 == 0o600


def test_no_mask_keeps_the_owner_out(tmp_path: Path) -> None:
    """What was written can be read again by its owner, and by nobody else, under any umask."""
    before = os.umask(0o777)
    try:
        replace_file(tmp_path / "aliases", "x")
    finally:
        os.umask(before)
    assert (tmp_path / "aliases").stat().st_mode & 0o777 == 0o600


def test_what_may_be_lost_is_not_half_written(home: Home) -> None:
    """Counts of words and names of a rack are whole or not there, and nothing is left beside their files."""
    usage, names = Usage(home.state_dir / "usage.json"), NameCache(home.state_dir / "names.json")
    usage.note("list cell")
    before = (home.state_dir / "usage.json").read_text()
    with full(5):
        usage.note("list lun")
        names.learn({})
    assert (home.state_dir / "usage.json").read_text() == before
    assert os.listdir(home.state_dir) == ["usage.json"]


@pytest.mark.parametrize("room", [0, 5])
def test_history_goes_on_without_what_it_can_not_keep(home: Home, room: int) -> None:
    """What was entered runs, the file holds no part of it, and the reason is there to be told; later ones are kept again."""
    path = home.state_dir / "history"
    history = PrivateHistory(path, lambda: "t1")
    history.append_string("list cell")
    with full(path.stat().st_size + room):
        history.append_string("list celldisk")
    assert history.unkept in (os.strerror(errno.ENOSPC), os.strerror(errno.EFBIG))
    assert [entry.text for entry in read_entries(path)] == ["list cell"]
    history.append_string("list lun")
    assert not history.unkept and [entry.text for entry in read_entries(path)] == ["list cell", "list lun"]


def test_history_below_a_file_is_told(tmp_path: Path) -> None:
    """A directory that can't be made is no reason to stop either."""
    (tmp_path / "file").touch()
    assert append_history(tmp_path / "file" / "history", "list cell") == os.strerror(errno.ENOTDIR)


def test_the_tutorial_says_that_its_place_is_not_kept(tmp_path: Path) -> None:
    """It goes on, and tells so as long as that is true."""
    lesson = Tutorial(tmp_path)
    with full():
        lesson.move(1)
    assert lesson.place == 1 and "(this place can't be saved: " in lesson.page()[-1]
    lesson.move(2)
    assert "not kept" not in "".join(lesson.page()) and Tutorial(tmp_path).place == 2


def test_no_half_key_is_left(tmp_path: Path) -> None:
    """A key for dcli -k is whole or not there: half of one would stand in the way of the next try."""
    with full(100), pytest.raises(DcliExit):
        public_key(tmp_path, make=True)
    assert os.listdir(tmp_path) == []


def test_a_full_store_is_not_to_be_moved_away(tmp_path: Path) -> None:
    """The way out is space, and what was kept before is there."""
    store = Store(tmp_path / "store.db")
    store.save_baseline("t1", "old", {"c1": {"a": "1"}})
    with closing(sqlite3.connect(tmp_path / "store.db")) as connection:
        most = connection.execute("pragma page_count").fetchone()[0]

    class Small(sqlite3.Connection):
        """A database whose disk has no room for another page."""

        def executescript(self, script: str, /) -> sqlite3.Cursor:
            self.execute(f"pragma max_page_count = {most}")
            return super().executescript(script)

    with pytest.MonkeyPatch.context() as patch:
        connect = sqlite3.connect
        patch.setattr(sqlite3, "connect", lambda path, **options: connect(path, factory=Small, **options))
        with pytest.raises(StoreError) as refused:
            store.save_baseline("t1", "new", {"c1": {"a": "x" * 100_000}})
    assert refused.value.hint == "the disk is full: free space; the data in the store is unchanged"
    assert store.find_baseline("t1", "old") == {"c1": {"a": "1"}}


HINTS = [
    (0, "its disk may be full or failing"),
    (None, "repair it or move it to another place"),
]


@pytest.mark.parametrize(("room", "hint"), HINTS)
def test_other_faults_have_other_ways_out(tmp_path: Path, room: int | None, hint: str) -> None:
    """A write that fails is the disk's fault, a file that is no database is its own."""
    store = Store(tmp_path / "store.db")
    if room is None:
        (tmp_path / "store.db").write_bytes(b"no database " * 1000)
        with pytest.raises(StoreError) as refused:
            store.save_baseline("t1", "a", {})
    else:
        with full(room), pytest.raises(StoreError) as refused:
            store.save_baseline("t1", "a", {})
    assert str(refused.value.hint).startswith(hint)
