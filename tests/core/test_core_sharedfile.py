"""A small file that several users of a host write."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

from exacell.core import sharedfile
from exacell.core.sharedfile import make_file, open_file, read_text, write_over


@pytest.mark.parametrize("write", [False, True])
@pytest.mark.parametrize("kind", ["a FIFO", "a socket", "a device", "a directory", "a symbolic link", "a second name"])
def test_a_trap_is_told_as_what_it_is(tmp_path: Path, kind: str, write: bool) -> None:
    """Opening what a neighbour has put there should fail at once, and name it."""
    path = tmp_path / "it"
    if kind == "a FIFO":
        os.mkfifo(path)
    elif kind == "a socket":
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(str(path))
    elif kind == "a device":
        path = Path("/dev/null")
    elif kind == "a directory":
        path.mkdir()
    elif kind == "a symbolic link":
        path.symlink_to("/dev/null")
    else:
        (tmp_path / "precious").write_text("x")
        path.hardlink_to(tmp_path / "precious")
    with pytest.raises(OSError, match=r"it (is|has) ") as caught:
        open_file(path, write=write)
    assert kind in str(caught.value.strerror)


def test_nothing_there_is_nothing_there(tmp_path: Path) -> None:
    """Where there is nothing, reading says so and writing makes a file of the mode asked for, whatever the umask."""
    with pytest.raises(FileNotFoundError):
        open_file(tmp_path / "it", write=False)
    before = os.umask(0o077)
    try:
        made = [make_file(tmp_path / name, mode=0o666, exact=exact) for name, exact in (("all", True), ("own", False))]
    finally:
        os.umask(before)
    for descriptor in made:
        os.close(descriptor)
    assert [(tmp_path / name).stat().st_mode & 0o777 for name in ("all", "own")] == [0o666, 0o600]


@pytest.mark.parametrize("before", ["", "short", "a longer text than the one to come", "x" * (sharedfile.LARGEST + 1)])
def test_the_new_text_takes_the_place_of_the_old(tmp_path: Path, before: str) -> None:
    """Whatever stood there, the file should say what was written last, and nothing else."""
    path = tmp_path / "it"
    path.write_text(before)
    descriptor = make_file(path, mode=0o600, exact=False)
    try:
        if len(before) > sharedfile.LARGEST:
            with pytest.raises(OSError, match="at most 65536 are allowed"):
                read_text(descriptor)
        else:
            assert read_text(descriptor) == before
        write_over(descriptor, "the new text")
        assert read_text(descriptor) == path.read_text() == "the new text"
    finally:
        os.close(descriptor)


def test_who_was_faster_made_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that somebody makes between our look and our making should be the one that both use."""
    path, real = tmp_path / "it", sharedfile._refuse_replaceable

    def somebody(given: Path) -> None:
        given.touch()
        real(given)

    monkeypatch.setattr(sharedfile, "_refuse_replaceable", somebody)
    descriptor = make_file(path, mode=0o600, exact=False)
    try:
        assert os.fstat(descriptor).st_ino == path.stat().st_ino
    finally:
        os.close(descriptor)


@pytest.mark.parametrize("write", [False, True])
def test_what_everybody_can_replace_is_not_opened(tmp_path: Path, write: bool) -> None:
    """A file that is there already is no file to trust in a folder that is writable for all without the sticky bit."""
    (tmp_path / "it").write_text("x")
    tmp_path.chmod(0o777)
    with pytest.raises(OSError, match="without the sticky bit"):
        open_file(tmp_path / "it", write=write)
    tmp_path.chmod(0o1777)
    os.close(open_file(tmp_path / "it", write=write))


def test_who_only_reads_can_not_write(tmp_path: Path) -> None:
    """A descriptor for reading takes no text."""
    (tmp_path / "it").write_text("x")
    descriptor = open_file(tmp_path / "it", write=False)
    try:
        with pytest.raises(OSError, match="Bad file descriptor"):
            write_over(descriptor, "y")
    finally:
        os.close(descriptor)
    assert (tmp_path / "it").read_text() == "x"


def test_the_largest_file_is_read_and_a_larger_one_is_not_padded(tmp_path: Path) -> None:
    """A file of just so many bytes is read whole; in place of one of a terabyte the new text alone is written."""
    (tmp_path / "it").write_text("x" * sharedfile.LARGEST)
    descriptor = open_file(tmp_path / "it", write=True)
    try:
        assert len(read_text(descriptor)) == sharedfile.LARGEST
        os.truncate(descriptor, 1 << 40)
        with pytest.raises(OSError, match="at most"):
            read_text(descriptor)
        write_over(descriptor, "new")
        assert read_text(descriptor) == "new"
    finally:
        os.close(descriptor)


def test_what_has_no_name_is_no_regular_file() -> None:
    """Only a regular file is opened, and not what is none of the kinds that have a name here."""
    with pytest.raises(OSError, match="not a regular file"):
        sharedfile._refuse_odd(os.stat_result((0, *[1] * 9)))
    sharedfile._refuse_odd(os.stat_result((0o100600, *[1] * 9)))
