"""Open and lock small files that several processes or users of a host write, without being trapped by another user's file.

In a folder that everybody can write, another user can create a FIFO, a link, a device or a huge file with the name of our
file. Opening such a file fails at once with what it is; exacell never waits for it, follows it or writes to it. flock decides
whose turn it is; it neither waits for ever nor fails silently if the file system has no locks.
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
"""Seconds to wait for a lock. Others hold it for moments only, so after this time its holder is probably stopped or hangs."""

_LOOK = 0.005


def flock(descriptor: int, *, exclusive: bool, patience: float = PATIENCE) -> None:
    """Lock an open file; closing the file unlocks it.

    Raises:
        OSError: others held the lock for ``patience`` seconds, or the file system has no locks; ``strerror`` contains the reason.
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
"""Maximum number of bytes of such a file."""

_KINDS = (
    (stat.S_ISFIFO, "a FIFO"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
    (stat.S_ISDIR, "a directory"),
)

_FLAGS = os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY
"""Flags for opening; without O_CREAT, which the kernel forbids for another user's file in a sticky directory, and for FIFOs.

Source: proc_sys_fs(5), protected_regular, protected_fifos; open(2), O_NONBLOCK, O_NOFOLLOW.
"""


def open_file(path: Path, *, write: bool) -> int:
    """Return a descriptor of the regular file at ``path``; it never waits, and does not follow a link in the last part.

    Raises:
        FileNotFoundError: there is nothing at ``path``.
        OSError: there is something other than a regular file, or it can't be opened; ``strerror`` contains what it is.
    """
    try:
        descriptor = os.open(path, (os.O_RDWR if write else os.O_RDONLY) | _FLAGS)
    except OSError as error:
        raise _error_about(error, path) from error
    try:
        _refuse_odd(os.fstat(descriptor))
        _refuse_replaceable(path)
    except OSError:
        os.close(descriptor)
        raise
    return descriptor


def make_file(path: Path, *, mode: int, exact: bool) -> int:
    """Return a descriptor for writing the file at ``path``, which is created if it does not exist.

    Args:
        mode: permissions of a new file, before the umask.
        exact: whether to ignore the umask.

    Raises:
        OSError: as for :func:`open_file`, or the file can't be created.
    """
    with suppress(FileNotFoundError):
        return open_file(path, write=True)
    _refuse_replaceable(path)
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | _FLAGS, mode)
    except FileExistsError:
        return open_file(path, write=True)  # Another process was faster; a link to nothing is reported as a link.
    if exact:
        os.fchmod(descriptor, mode)
    return descriptor


def read_text(descriptor: int) -> str:
    """Return the file's text.

    Raises:
        OSError: it is larger than :data:`LARGEST`, or can't be read.
    """
    size = os.fstat(descriptor).st_size
    if size > LARGEST:
        raise OSError(errno.EFBIG, f"it has {size} bytes; at most {LARGEST} are allowed")
    return os.pread(descriptor, LARGEST, 0).decode("utf-8", "replace")


def write_over(descriptor: int, text: str) -> None:
    """Replace the file's text; it is on disk when this function returns.

    The new text, padded with blanks, overwrites the old one in one write; then the file is cut to its length. So a process
    that is killed in between does not leave an empty file.

    Raises:
        OSError: the file can't be written.
    """
    data = text.encode()
    size = os.fstat(descriptor).st_size
    if size > LARGEST:
        os.ftruncate(descriptor, size := 0)
    os.pwrite(descriptor, data.ljust(size), 0)
    os.ftruncate(descriptor, len(data))
    os.fsync(descriptor)


def _error_about(error: OSError, path: Path) -> OSError:
    """Return an error for a failed open that names the kind of file at ``path``."""
    with suppress(OSError):
        status = path.lstat()
        if stat.S_ISLNK(status.st_mode):
            return OSError(errno.ELOOP, "it is a symbolic link")
        kind = next((name for is_kind, name in _KINDS if is_kind(status.st_mode)), "")
        if kind:
            return OSError(errno.EINVAL, f"it is {kind}")
    return error


def what_lies_there(path: Path) -> str:
    """Return ``a FIFO``, ``a socket`` or ``a device`` if a path leads to one; empty for anything else, and for nothing.

    A process that opens such a file may wait for ever.
    """
    try:
        mode = path.stat().st_mode
    except OSError:
        return ""  # Opening the file reports the error.
    return "" if stat.S_ISDIR(mode) else next((name for is_kind, name in _KINDS if is_kind(mode)), "")


def sure(path: Path) -> Path:
    """Return ``path`` if it can be read without waiting: there is a file, or nothing.

    Raises:
        OSError: there is a FIFO, a socket or a device other than /dev/null; ``strerror`` contains which.
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
        # Another user may have linked our file under this name; we would write into it.
        raise OSError(errno.EMLINK, "it has a second name (a hard link)")


def _refuse_replaceable(path: Path) -> None:
    """Raise OSError if everybody can replace the file, because two processes could then lock two different files."""
    folder = path.parent.stat()
    if folder.st_mode & stat.S_IWOTH and not folder.st_mode & stat.S_ISVTX:
        why = f"everybody can replace it, because {path.parent} is writable for all without the sticky bit"
        raise OSError(errno.EPERM, f"{why}: type `chmod +t {path.parent}`")
