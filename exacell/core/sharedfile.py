"""Small files that several processes or users of a host write: opened so that no neighbour can make a trap of them, and in turns.

Where everybody may put files, a neighbour can put a FIFO, a link, a device or a huge file under the name that we want. Such a
thing is never waited for, never followed and never written to: opening it fails at once with what it is. Whose turn it is,
flock says; it neither waits for ever nor fails silently where there are no locks.
"""

from __future__ import annotations

import errno
import fcntl
import os
import stat
import time
from contextlib import suppress
from pathlib import Path

PATIENCE = 30.0
"""Seconds after which a lock that others hold for moments only is held by a process that was stopped or hangs."""

_LOOK = 0.005


def flock(descriptor: int, *, exclusive: bool, patience: float = PATIENCE) -> None:
    """Lock an open file; closing it unlocks it.

    Raises:
        OSError: others held it all the time, or the file system has no locks; ``strerror`` says which.
    """
    kind = (fcntl.LOCK_EX if exclusive else fcntl.LOCK_SH) | fcntl.LOCK_NB
    until = time.monotonic() + patience
    pause = _LOOK / 5
    while True:
        try:
            fcntl.flock(descriptor, kind)
        except BlockingIOError as error:
            if time.monotonic() >= until:
                why = f"another process has locked it for {patience:g}s and may hang (`fuser -v` shows which)"
                raise TimeoutError(errno.ETIMEDOUT, why) from error
            time.sleep(pause)
            pause = min(_LOOK, pause * 2)
        except OSError as error:
            if error.errno in (errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP, errno.EINVAL):
                raise OSError(error.errno, f"its file system has no locks ({error.strerror})") from error
            raise
        else:
            return


LARGEST = 1 << 16
"""Bytes that such a file may hold."""

_KINDS = (
    (stat.S_ISFIFO, "a FIFO"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
    (stat.S_ISDIR, "a directory"),
)

_FLAGS = os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY
"""Without O_CREAT: the kernel forbids that for another user's file in a sticky directory, and for FIFOs.

Source: proc_sys_fs(5), protected_regular, protected_fifos; open(2), O_NONBLOCK, O_NOFOLLOW.
"""


def open_file(path: Path, *, write: bool) -> int:
    """Return a descriptor of the regular file at ``path``; it never waits and follows no link in the last part.

    Raises:
        FileNotFoundError: there is nothing.
        OSError: there is something else, or it can't be opened; ``strerror`` says what it is.
    """
    try:
        descriptor = os.open(path, (os.O_RDWR if write else os.O_RDONLY) | _FLAGS)
    except OSError as error:
        raise _told(error, path) from error
    try:
        _refuse_odd(os.fstat(descriptor))
        _refuse_replaceable(path)
    except OSError:
        os.close(descriptor)
        raise
    return descriptor


def make_file(path: Path, *, mode: int, exact: bool) -> int:
    """Return a descriptor for writing the file at ``path``, which is made when there is none.

    Args:
        mode: the new file's, without what the umask takes away.
        exact: the umask takes nothing away.

    Raises:
        OSError: as for :func:`open_file`, or it can't be made.
    """
    with suppress(FileNotFoundError):
        return open_file(path, write=True)
    _refuse_replaceable(path)
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | _FLAGS, mode)
    except FileExistsError:
        return open_file(path, write=True)  # Somebody was faster; a link that leads nowhere is told as one.
    if exact:
        os.fchmod(descriptor, mode)
    return descriptor


def read_text(descriptor: int) -> str:
    """Return what the file says.

    Raises:
        OSError: it is larger than :data:`LARGEST`, or can't be read.
    """
    size = os.fstat(descriptor).st_size
    if size > LARGEST:
        raise OSError(errno.EFBIG, f"it has {size} bytes; at most {LARGEST} are allowed")
    return os.pread(descriptor, LARGEST, 0).decode("utf-8", "replace")


def write_over(descriptor: int, text: str) -> None:
    """Replace what the file says, on disk when this returns.

    The new text comes over the old one in one write, padded with blanks, and then the file is cut: whoever is killed in between
    leaves no file that says nothing.

    Raises:
        OSError: it can't be written.
    """
    data = text.encode()
    size = os.fstat(descriptor).st_size
    if size > LARGEST:
        os.ftruncate(descriptor, size := 0)
    os.pwrite(descriptor, data.ljust(size), 0)
    os.ftruncate(descriptor, len(data))
    os.fsync(descriptor)


def _told(error: OSError, path: Path) -> OSError:
    """Return the error of an open that failed with a reason that says what lies there."""
    with suppress(OSError):
        status = path.lstat()
        if stat.S_ISLNK(status.st_mode):
            return OSError(errno.ELOOP, "it is a symbolic link")
        kind = next((name for is_kind, name in _KINDS if is_kind(status.st_mode)), "")
        if kind:
            return OSError(errno.EINVAL, f"it is {kind}")
    return error


def what_lies_there(path: Path) -> str:
    """Return ``a FIFO``, ``a socket`` or ``a device`` where a path leads to one; empty for whatever else, and for nothing.

    Whoever opens such a thing may wait for ever.
    """
    try:
        mode = path.stat().st_mode
    except OSError:
        return ""  # Whoever opens it is told.
    return "" if stat.S_ISDIR(mode) else next((name for is_kind, name in _KINDS if is_kind(mode)), "")


def sure(path: Path) -> Path:
    """Return the path of a file of ours that is about to be read, or nothing is there.

    Raises:
        OSError: a FIFO, a socket or a device lies there, other than /dev/null; ``strerror`` says which.
    """
    found = what_lies_there(path)
    if found and os.path.realpath(path) != os.devnull:
        raise OSError(errno.EINVAL, f"it is {found}", str(path))
    return path


def _refuse_odd(status: os.stat_result) -> None:
    for is_kind, name in _KINDS:
        if is_kind(status.st_mode):
            raise OSError(errno.EINVAL, f"it is {name}")
    if not stat.S_ISREG(status.st_mode):
        raise OSError(errno.EINVAL, "it is not a regular file")
    if status.st_nlink > 1:
        # A neighbour's second name for a file of ours would have us write into that.
        raise OSError(errno.EMLINK, "it has a second name (a hard link)")


def _refuse_replaceable(path: Path) -> None:
    """Return when not everybody can put another file in its place: two processes would each lock their own."""
    folder = path.parent.stat()
    if folder.st_mode & stat.S_IWOTH and not folder.st_mode & stat.S_ISVTX:
        why = f"everybody can replace it, because {path.parent} is writable for all without the sticky bit"
        raise OSError(errno.EPERM, f"{why}: type `chmod +t {path.parent}`")
