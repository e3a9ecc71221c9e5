"""Whether what a file says may be done."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from exacell.core import trust
from exacell.core.errors import ConfigError
from exacell.core.trust import group_number, refuse_untrusted

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can make another user's files")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    (tmp_path / "folder").mkdir(mode=0o755)
    path = tmp_path / "folder" / "it"
    path.write_text("x")
    path.chmod(0o644)
    return path


def _linked(file: Path) -> Path:
    (link := file.parent.parent / "link").symlink_to(file)
    return link


def refused(path: Path) -> tuple[str, str]:
    with pytest.raises(ConfigError) as caught:
        refuse_untrusted(path)
    return caught.value.message, caught.value.hint


def test_ones_own_file_is_trusted(file: Path) -> None:
    """What only oneself and root can write is trusted, also behind links and where there is nothing yet."""
    refuse_untrusted(file)
    refuse_untrusted(_linked(file))
    refuse_untrusted(file.parent / ".." / "folder" / "it")
    refuse_untrusted(file.parent / "none" / "none")
    (loop := file.parent / "loop").symlink_to("loop")
    refuse_untrusted(loop)


@pytest.mark.parametrize("reach", [lambda file: file, _linked, lambda file: file.parent / ".." / "folder" / "it"])
@pytest.mark.parametrize(
    ("what", "mode", "told"),
    [
        ("file", 0o666, "it is writable by everybody"),
        ("file", 0o664, "it is writable by group"),
        ("folder", 0o777, "is writable by everybody"),
        ("folder", 0o775, "is writable by group"),
    ],
)
def test_what_others_can_write_is_refused(
    file: Path, what: str, mode: int, told: str, reach: Callable[[Path], Path]
) -> None:
    """Who can write the file, or put another in its place, should be told with the command that mends it, which does."""
    path, place = reach(file), file if what == "file" else file.parent
    place.chmod(mode)
    message, hint = refused(path)
    assert " is not trusted: " in message and told.removeprefix("it ") in message
    assert hint.startswith(f"type `chmod go-w {place}`")
    subprocess.run(hint.split("`")[1].split(), check=True)
    refuse_untrusted(path)


def test_in_a_sticky_folder_each_has_their_own(file: Path) -> None:
    """A folder like /tmp may be written by everybody: nobody can replace what is ours there."""
    file.parent.chmod(0o1777)
    refuse_untrusted(file)


@needs_root
@pytest.mark.parametrize("what", ["file", "folder", "link"])
def test_what_is_anothers_is_refused(file: Path, what: str) -> None:
    """A file, a folder or a link of another user's should be told with whose it is, whatever its mode."""
    link = _linked(file)
    place = {"file": file, "folder": file.parent, "link": link}[what]
    os.chown(place, 12345, -1, follow_symlinks=False)
    message, hint = refused(link)
    assert str(place) in message and message.endswith(" belongs to user 12345, not to you or root")
    assert hint.endswith(f"`sudo chown root {place}`")


@needs_root
def test_who_became_root_by_sudo_is_oneself(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Root should believe the files of whoever called sudo, and of nobody else."""
    os.chown(file, 12345, -1)
    for number, good in (("12345", True), ("12346", False), ("x", False), ("", False)):
        monkeypatch.setenv("SUDO_UID", number)
        if good:
            refuse_untrusted(file)
        else:
            assert "user 12345," in refused(file)[0]


def test_a_named_group_is_trusted(file: Path) -> None:
    """Who belongs to the group that trusted_group names may write; any other group, and everybody, may not."""
    file.chmod(0o664)
    group = file.stat().st_gid
    refuse_untrusted(file, lambda: group)
    with pytest.raises(ConfigError, match="by group"):
        refuse_untrusted(file, lambda: group + 1)
    file.chmod(0o666)
    with pytest.raises(ConfigError, match="by everybody"):
        refuse_untrusted(file, lambda: group)


def test_the_group_is_asked_for_only_where_a_group_can_write(file: Path) -> None:
    """Where no group can write, nobody looks for what trusted_group names: a host may lack it."""
    refuse_untrusted(file, lambda: pytest.fail("it was asked for"))


def test_a_group_has_a_number_on_this_host() -> None:
    """The name of a group should lead to its number, none to none, and an unknown one to the key that names it."""
    assert group_number("root") == 0 and group_number("") is None and trust.nobody() is None
    with pytest.raises(ConfigError, match="trusted_group: this host has no group nosuch"):
        group_number("nosuch")
