"""Handle standard streams that can't be written any more: a closed stream or terminal, a pipe without a reader, a full file
system.

Output that can't be written stops no work on cells and does not change how the work ended: one line reports it. Only reading
statements fail because of it, as coreutils' programs do. Source: coreutils manual, exit status; write(2).
"""

from __future__ import annotations

import errno
import fcntl
import os
import sys
from contextlib import suppress
from typing import IO

_GONE = (errno.EPIPE, errno.EIO)
"""Errors of a write to a pipe without a reader, and to a closed terminal. Source: write(2), Linux tty_io.c."""
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)
"""Errors of a write if the file system, the user's quota or the file is full, or the terminal was closed."""


def gone(error: OSError) -> bool:
    """Return whether a write failed because nobody can read it."""
    return error.errno in _GONE


def lost(error: OSError) -> bool:
    """Return whether an error means that standard output can't be written any more; such an error names no file."""
    if error.filename is not None:
        return False
    return error.errno in _FULL or (error.errno == errno.EBADF and _only_reads(1))


def told(error: OSError) -> str:
    """Return one line for standard error with the reason why standard output could not be written."""
    reason = "it is closed" if error.errno == errno.EBADF else (error.strerror or "it can't be written").lower()
    return f"standard output: {reason}; the output is not complete; changes on cells are not affected"


def let_go(stream: IO[str]) -> None:
    """Redirect ``stream`` to /dev/null, together with its buffered text."""
    with suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        try:
            os.dup2(nowhere, stream.fileno())
        finally:
            os.close(nowhere)


def open_standard_streams() -> None:
    """Open /dev/null for each of the descriptors 0 to 2 that the caller has closed, so that no other file gets its number.

    Writing to a closed standard output fails, and is reported like a full file system; messages to a closed standard error are
    lost, as the caller wanted.
    """
    for descriptor in (0, 1, 2):
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, os.O_RDONLY if descriptor == 1 else os.O_RDWR)
    if sys.stdout is None:
        sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
    if sys.stderr is None:
        sys.stderr = open(2, "w", encoding="utf-8", closefd=False)  # noqa: SIM115


def at_prompt() -> bool:
    """Return whether standard input and standard output are both terminals."""
    return sys.stdin is not None and not sys.stdin.closed and sys.stdin.isatty() and sys.stdout.isatty()


def _only_reads(descriptor: int) -> bool:
    """Return whether a descriptor is read-only, like the one opened for a stream that was closed at the start."""
    try:
        return fcntl.fcntl(descriptor, fcntl.F_GETFL) & os.O_ACCMODE == os.O_RDONLY
    except OSError:
        return True
