"""Opens files of an emulated host for the rack's own process: by the host's paths, and never outside the host's directories.

Shells of the host may write in its directories, even links, while we read them. So each step of a path starts from the
directory that the step before has opened, links are read and followed here, ``..`` ends at the host's root, and what was
found stays open until it has been used.

Source: path_resolution(7), openat(2) on O_PATH and O_NOFOLLOW, proc(5) on /proc/self/fd.
"""

from __future__ import annotations

import errno
import os
import posixpath
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

_STEP = os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC
_LINKS = 40


class Files(Protocol):
    """Opens files by the names that a program uses."""

    def open(self, name: str, flags: int, mode: int = 0o666) -> int:
        """Open a file and return its descriptor; the file is created if ``flags`` say so.

        Raises:
            OSError: the file does not exist or can't be opened.
        """

    def make_directory(self, name: str) -> None:
        """Make a directory that only its owner may use, unless it exists.

        Raises:
            OSError: it can't be made.
        """


@dataclass(frozen=True)
class Spot:
    """The place to which a path leads.

    Attributes:
        directory: descriptor of the directory that holds it.
        name: its name there; "." for the host's root.
        found: descriptor of the file or directory there; None if nothing is there.
        path: as the host names it.
    """

    directory: int
    name: str
    found: int | None
    path: str

    @property
    def entry(self) -> str:
        """Return a path that this process can use for the entry itself, without following a link."""
        return f"/proc/self/fd/{self.directory}/{self.name}"

    @property
    def target(self) -> str:
        """Return a path that this process can use for the object found, even if another has taken its name since.

        Raises:
            FileNotFoundError: nothing is there.
        """
        if self.found is None:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), self.path)
        return f"/proc/self/fd/{self.found}"

    def refuse_at_top(self) -> None:
        """Raise PermissionError if the spot is directly below the host's root: nothing is added to or removed from the root.

        Raises:
            PermissionError: the spot is an entry of the root directory.
        """
        if self.path.count("/") == 1:
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), self.path)


@contextmanager
def spot(root: Path, path: str, *, follow: bool = True) -> Iterator[Spot]:
    """Yield the spot to which an absolute path leads on the host whose directories lie in ``root``.

    Args:
        follow: also follow a link at the end of the path.

    Raises:
        OSError: a directory on the way is missing or can't be entered, or links lead in a circle.
    """
    held = [os.open(root, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)]  # the root, and a directory for each of the names
    names: list[str] = []
    last, found, links = "", None, 0
    ahead = _parts(path)
    try:
        while ahead:
            name = ahead.pop(0)
            if name == "..":
                if names:
                    names.pop()
                    os.close(held.pop())
                continue
            try:
                step = os.open(name, _STEP, dir_fd=held[-1])
            except FileNotFoundError:
                if ahead:
                    raise
                last = name
                break
            mode = os.fstat(step).st_mode
            if stat.S_ISLNK(mode) and (ahead or follow):
                target = os.readlink("", dir_fd=step)
                os.close(step)
                links += 1
                if links > _LINKS:
                    raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), path)
                ahead[:0] = _parts(target)
                if target.startswith("/"):
                    names.clear()
                    while len(held) > 1:
                        os.close(held.pop())
            elif ahead or stat.S_ISDIR(mode):
                names.append(name)
                held.append(step)
            else:
                last, found = name, step
        if last:
            yield Spot(held[-1], last, found, "/" + "/".join((*names, last)))
        elif names:
            yield Spot(held[-2], names[-1], held[-1], "/" + "/".join(names))
        else:
            yield Spot(held[0], ".", held[0], "/")
    finally:
        for descriptor in (*held, *([found] if found is not None else [])):
            os.close(descriptor)


def _parts(path: str) -> list[str]:
    return [part for part in path.split("/") if part not in ("", ".")]


def open_at(at: Spot, flags: int, mode: int = 0o666) -> int:
    """Open the regular file at a spot and return its descriptor; the file is created if ``flags`` say so.

    Raises:
        OSError: it is missing, exists already, or is not a regular file (opening a FIFO would wait).
    """
    if at.found is None or flags & os.O_EXCL:
        if not flags & os.O_CREAT:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), at.path)
        at.refuse_at_top()
        new = flags | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        return os.open(at.name, new, mode, dir_fd=at.directory)
    kind = os.fstat(at.found).st_mode
    if stat.S_ISDIR(kind):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), at.path)
    if not stat.S_ISREG(kind):
        raise OSError(errno.EINVAL, "not a regular file", at.path)
    return os.open(at.target, flags & ~os.O_CREAT | os.O_CLOEXEC)


@dataclass(frozen=True)
class HostFiles:
    """Opens files of an emulated host, for a program that runs on the host.

    Attributes:
        root: where the host's directories lie.
        cwd: where relative names start, as the host names it.
    """

    root: Path
    cwd: str

    def open(self, name: str, flags: int, mode: int = 0o666) -> int:
        """Open a regular file of the host and return its descriptor."""
        with spot(self.root, posixpath.join(self.cwd, name)) as at:
            return open_at(at, flags, mode)

    def make_directory(self, name: str) -> None:
        """Make a directory of the host."""
        with spot(self.root, posixpath.join(self.cwd, name)) as at:
            if at.found is None:
                at.refuse_at_top()
                os.mkdir(at.entry, 0o700)


@dataclass(frozen=True)
class OwnFiles:
    """Opens files of this machine, for a program that is called from outside the rack.

    Attributes:
        cwd: where relative names start.
    """

    cwd: str

    def open(self, name: str, flags: int, mode: int = 0o666) -> int:
        """Open a file of this machine and return its descriptor."""
        return os.open(os.path.join(self.cwd, name), flags | os.O_CLOEXEC, mode)

    def make_directory(self, name: str) -> None:
        """Make a directory of this machine."""
        os.makedirs(os.path.join(self.cwd, name), mode=0o700, exist_ok=True)
