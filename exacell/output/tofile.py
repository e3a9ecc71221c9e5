"""Write answers to the file after ``>``: the file has a whole answer, or it stays as it was."""

from __future__ import annotations

import errno
import io
import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import get_ident
from typing import IO, cast

from exacell.core.errors import OutputError, StatementError, why_unreadable
from exacell.core.paths import at_home
from exacell.opaque.here import is_device


class _Straight:
    """The file itself, which gets each part of the answer at once."""

    whole = False

    def __init__(self, path: Path, *, anew: bool = False) -> None:
        self.path, self.anew = path, anew

    def begin(self) -> IO[str]:
        """Open the file."""
        return self.path.open("x" if self.anew else "w", encoding="utf-8")

    def keep(self) -> None:
        """Do nothing: the file has everything."""

    def leave(self) -> None:
        """Delete the file if it is new; in an older one the parts already written stay."""
        if self.anew:
            self.path.unlink(missing_ok=True)


class _Beside:
    """A draft in the folder of the file; at the end it takes the file's place."""

    whole = True

    def __init__(self, path: Path, status: os.stat_result | None) -> None:
        self.path, self.status = path, status
        self.draft = path.with_name(f".exacell.{os.getpid()}.{get_ident()}")

    def begin(self) -> IO[str]:
        """Open the draft, with the rights of the file that it will replace."""
        self.leave()  # A draft of a killed process.
        descriptor = os.open(self.draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
        stream = os.fdopen(descriptor, "w", encoding="utf-8")
        try:
            if self.status is not None:
                os.chown(descriptor, -1, self.status.st_gid)
                shutil.copystat(self.path, self.draft)
        except OSError:
            stream.close()
            self.leave()
            raise
        return stream

    def keep(self) -> None:
        """Put the draft in the file's place."""
        os.utime(self.draft)
        os.replace(self.draft, self.path)

    def leave(self) -> None:
        """Delete the draft."""
        with suppress(OSError):
            self.draft.unlink()


class _Elsewhere:
    """A draft without a name, which is copied into the file at the end: for files that no other file may replace."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.whole = True
        self.draft: IO[str] | None = None

    def begin(self) -> IO[str]:
        """Open the draft; it outlives the returned stream."""
        descriptor, name = tempfile.mkstemp()
        os.unlink(name)
        self.draft = os.fdopen(descriptor, "w+", encoding="utf-8")
        return os.fdopen(os.dup(descriptor), "w", encoding="utf-8")

    def keep(self) -> None:
        """Copy the draft into the file."""
        assert self.draft is not None
        with self.path.open("w", encoding="utf-8") as file:
            self.whole = False
            self.draft.seek(0)
            shutil.copyfileobj(self.draft, file)
        self.draft.close()

    def leave(self) -> None:
        """Forget the draft."""
        if self.draft is not None:
            self.draft.close()


class Target(io.TextIOBase):
    """The stream to write an answer to.

    Attributes:
        anything: whether anything was written.
        left: whether the file is to stay as it was; set it if the statement failed.
    """

    def __init__(self, way: _Straight | _Beside | _Elsewhere) -> None:
        self.anything = self.left = False
        self._way = way
        self._stream: IO[str] | None = None

    @property
    def stream(self) -> IO[str]:
        """Return this target as a stream to write to."""
        return cast("IO[str]", self)

    @property
    def whole(self) -> bool:
        """Return whether the file still is as it was before."""
        return self._way.whole

    def begin(self) -> IO[str]:
        """Return the stream below; it is opened the first time."""
        if self._stream is None:
            self._stream = self._way.begin()
        return self._stream

    def write(self, text: str) -> int:
        """Write a part of the answer."""
        self.anything = self.anything or bool(text)
        return self.begin().write(text)

    def flush(self) -> None:
        """Pass the written text to the system."""
        if self._stream is not None and not self._stream.closed:
            self._stream.flush()

    def end(self) -> None:
        """Make the answer the content of the file, or leave the file as it was.

        Raises:
            OSError: the answer could not be written completely.
        """
        if self.left:
            self.abandon()
            return
        self.begin().close()
        self._way.keep()

    def abandon(self) -> None:
        """Leave the file as it was; if the file gets each part at once, the written parts stay in it."""
        if self._stream is not None:
            with suppress(OSError):
                self._stream.close()
            self._way.leave()


@contextmanager
def opened(name: str, *, anew: bool = False, live: bool = False) -> Iterator[Target]:
    """Open the file after ``>`` for writing. After an exception it is as it was before.

    Args:
        anew: whether it must be a new file.
        live: whether the file gets each part of the answer at once, for statements that run until the user ends them; its old
            content is lost with the first part.

    Raises:
        StatementError: it can't be opened.
        OutputError: it could not be written completely.
    """
    try:
        target = Target(_way(name, anew=anew, live=live))
        if not live:
            target.begin()
    except OSError as error:
        raise StatementError(f"{name} can't be written: {why_unreadable(error)}") from error
    try:
        yield target
    except OSError as error:
        target.abandon()
        if error.filename is not None:
            raise
        raise _unwritten(name, target, error) from error
    except BaseException:
        target.abandon()
        raise
    try:
        target.end()
    except OSError as error:
        target.abandon()
        raise _unwritten(name, target, error) from error


def _unwritten(name: str, target: Target, error: OSError) -> OutputError:
    reason = (error.strerror or "it can't be written").lower()
    if target.whole:
        return OutputError(f"{name}: {reason}; it is unchanged; changes on cells are not affected")
    return OutputError(f"{name}: {reason}; it is not complete; changes on cells are not affected")


def check_writable(name: str) -> None:
    """Raise StatementError if the file after ``>`` can't be written; called before anything is done.

    Raises:
        StatementError: it is a folder, it may not be written, or its folder is missing.
    """
    path = at_home(name)
    try:
        if path.is_file():
            path.open("a", encoding="utf-8").close()
        elif path.is_dir():
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        elif not path.exists() and not os.access(path.parent, os.W_OK):
            number = errno.EACCES if path.parent.is_dir() else errno.ENOENT
            raise OSError(number, os.strerror(number))
    except OSError as error:
        raise StatementError(f"{name} can't be written: {why_unreadable(error)}") from error


def _way(name: str, *, anew: bool, live: bool) -> _Straight | _Beside | _Elsewhere:
    """Return the way to write a file."""
    path = at_home(name)
    if anew and not is_device(name):
        return _Straight(path, anew=True)
    path = Path(os.path.realpath(path))  # A link stays a link.
    status = path.stat() if path.exists() else None
    special = name.startswith(("/dev/", "/proc/")) or (status is not None and not stat.S_ISREG(status.st_mode))
    if not special:
        check_writable(name)
    if special or live:
        return _Straight(path)
    return _Beside(path, status) if _may_replace(path, status) else _Elsewhere(path)


def _may_replace(path: Path, status: os.stat_result | None) -> bool:
    """Return whether another file can take the place of this one: the same owner and group, and no second name."""
    if not os.access(path.parent, os.W_OK):
        return False
    groups = {os.getegid(), *os.getgroups()}
    return status is None or (status.st_uid == os.geteuid() and status.st_gid in groups and status.st_nlink == 1)
