"""Refuse files that somebody other than their user and root can have written.

A rack's file names programs and logins; a recipe, an alias or a stored plan contains statements. Anyone who can write one of
them can act as the user of exacell. So the file, and every folder and link on the path to it, must belong to the user or root,
and must not be writable by others. Source: sshd_config(5), StrictModes, and ssh's own check of ~/.ssh/config, which follow the
same rule.
"""

from __future__ import annotations

import grp
import os
import pwd
import stat
from collections.abc import Callable, Iterator
from pathlib import Path

from exacell.core.errors import ConfigError

Group = Callable[[], int | None]
"""Returns the number of the group in ``trusted_group``, None for none; called only if a group can write the file."""

_ROOT = 0
_LINKS = 40
"""Maximum number of links that are followed on the path to a file, as in the kernel. Source: path_resolution(7)."""


def nobody() -> None:
    """Return None: no group is trusted."""
    return


def group_number(name: str) -> int | None:
    """Return the number of a group; None if ``name`` is empty.

    Raises:
        ConfigError: this host has no such group.
    """
    if not name:
        return None
    try:
        return grp.getgrnam(name).gr_gid
    except KeyError as error:
        raise ConfigError(
            f"trusted_group: this host has no group {name}", hint="`getent group` lists the groups"
        ) from error


def refuse_untrusted(path: Path, group: Group = nobody) -> None:
    """Raise ConfigError if another user can have written a file or put it there; a file that does not exist is accepted.

    Raises:
        ConfigError: names who can, and the command that corrects it.
    """
    path = Path(os.path.abspath(path))
    trusted = (_ROOT, os.geteuid(), _sudo_user())
    for place, status in _way(path):
        kind = stat.S_IFMT(status.st_mode)
        what = f"{path} is not trusted: " + ("" if place == path else f"its {_KINDS.get(kind, 'file')} {place} ")
        what += "it " if place == path else ""
        if status.st_uid not in trusted:
            raise ConfigError(
                f"{what}belongs to {_user(status.st_uid)}, not to you or root",
                hint=f"copy {path} to your own folder, or type `sudo chown root {place}`",
            )
        if kind == stat.S_IFLNK or (kind == stat.S_IFDIR and status.st_mode & stat.S_ISVTX):
            continue  # A link has no mode. In a sticky folder, users can replace only their own files, and the owner is checked.
        if status.st_mode & stat.S_IWOTH:
            raise ConfigError(f"{what}is writable by everybody", hint=f"type `chmod go-w {place}`")
        if status.st_mode & stat.S_IWGRP and status.st_gid != group():
            name = _group(status.st_gid)
            way = f'type `chmod go-w {place}`, or set trusted_group = "{name}" in config.toml'
            raise ConfigError(f"{what}is writable by group {name}", hint=way)


def _sudo_user() -> int:
    """Return the number of the user who became root with sudo, because root may use that user's files; root's own number
    without sudo. Source: sudo(8), SUDO_UID.
    """
    number = os.environ.get("SUDO_UID", "")
    return int(number) if os.geteuid() == _ROOT and number.isascii() and number.isdigit() else _ROOT


_KINDS = {stat.S_IFDIR: "folder", stat.S_IFLNK: "link"}


def _way(path: Path) -> Iterator[tuple[Path, os.stat_result]]:
    """Yield every folder, link and file on the path from the root to ``path``; ends if one is missing or can't be read."""
    here, left, links = Path("/"), list(reversed(path.parts[1:])), 0
    try:
        yield here, here.lstat()
        while left:
            name = left.pop()
            if name == "..":
                here = here.parent
                continue
            place = here / name
            status = place.lstat()
            yield place, status
            if not stat.S_ISLNK(status.st_mode):
                here = place
                continue
            links += 1
            if links > _LINKS:
                return
            target = Path(os.readlink(place))
            if target.is_absolute():
                here = Path("/")
            left += reversed([part for part in target.parts if part != "/"])
    except OSError:
        return  # The later read of the file reports why it fails.


def _user(number: int) -> str:
    try:
        return pwd.getpwuid(number).pw_name
    except KeyError:
        return f"user {number}"


def _group(number: int) -> str:
    try:
        return grp.getgrgid(number).gr_name
    except KeyError:
        return str(number)
