"""Whether what a file says may be done: nobody but its user and root can have written it.

A rack's file names programs and logins, a recipe, an alias or a kept plan holds statements: who can write one of them acts as
whoever runs exacell. So the file, and every folder and link on the way to it, has to be ours or root's, and not to be written by
others. Source: sshd_config(5), StrictModes, and ssh's own check of ~/.ssh/config, which follow the same rule.
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
"""Tells the number of the group that ``trusted_group`` names, None for none; asked only where a group can write."""

_ROOT = 0
_LINKS = 40
"""So many links are followed on the way to a file, as the kernel does. Source: path_resolution(7)."""


def nobody() -> None:
    """Return that no group is trusted."""
    return


def group_number(name: str) -> int | None:
    """Return the number of a group, None where ``name`` is empty.

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
    """Return when nobody else can have written the file or put it there; also where there is none.

    Raises:
        ConfigError: says who can, and the command that mends it.
    """
    path = Path(os.path.abspath(path))
    trusted = (_ROOT, os.geteuid(), _behind_sudo())
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
            continue  # A link has no mode; in a sticky folder each can replace only what is theirs, and that is looked at.
        if status.st_mode & stat.S_IWOTH:
            raise ConfigError(f"{what}is writable by everybody", hint=f"type `chmod go-w {place}`")
        if status.st_mode & stat.S_IWGRP and status.st_gid != group():
            name = _group(status.st_gid)
            way = f'type `chmod go-w {place}`, or set trusted_group = "{name}" in config.toml'
            raise ConfigError(f"{what}is writable by group {name}", hint=way)


def _behind_sudo() -> int:
    """Return who became root by sudo, whose files root was sent to; root for nobody. Source: sudo(8), SUDO_UID."""
    number = os.environ.get("SUDO_UID", "")
    return int(number) if os.geteuid() == _ROOT and number.isascii() and number.isdigit() else _ROOT


_KINDS = {stat.S_IFDIR: "folder", stat.S_IFLNK: "link"}


def _way(path: Path) -> Iterator[tuple[Path, os.stat_result]]:
    """Yield every folder, link and file on the way to ``path`` from the root; ends where something is missing or closed."""
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
        return  # Whoever reads it is told why that fails.


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
