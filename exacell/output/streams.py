"""Standard streams that take nothing more: closed ones, a terminal that was closed, a pipe whose reader has gone, a full
file system.

What can't be written stops no work on cells, and is no reason to forget how the work ended: it is told in one line, and
only what reads fails for it, as coreutils' programs do. Source: coreutils manual, exit status; write(2).
"""

from __future__ import annotations

import errno
import fcntl
import os
import sys
from contextlib import suppress
from typing import IO

_GONE = (errno.EPIPE, errno.EIO)
"""What a write to a pipe without a reader, and to a terminal that was closed, says. Source: write(2), Linux tty_io.c."""
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)
"""What a write says when the file system, the user's quota or the file may not grow, or the terminal was closed."""


def gone(error: OSError) -> bool:
    """Return whether what could not be written had nobody to read it."""
    return error.errno in _GONE


def lost(error: OSError) -> bool:
    """Return whether an error that names no file is that of standard output, which takes no more."""
    if error.filename is not None:
        return False
    return error.errno in _FULL or (error.errno == errno.EBADF and _only_reads(1))


def told(error: OSError) -> str:
    """Return what became of standard output, in one line for standard error."""
    reason = "it is closed" if error.errno == errno.EBADF else (error.strerror or "it can't be written").lower()
    return f"standard output: {reason}; the output is cut off, what was done on cells stands"


def let_go(stream: IO[str]) -> None:
    """Lead ``stream`` nowhere from now on, with what is still buffered for it."""
    with suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        try:
            os.dup2(nowhere, stream.fileno())
        finally:
            os.close(nowhere)


def open_standard_streams() -> None:
    """Give descriptors 0 to 2 something to be when the caller closed them, so that no other file takes their number.

    A closed standard output can't be written, which is told like that of a full file system; what is talked to a closed
    standard error is lost, which the caller wanted.
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
    """Whether somebody sits at a terminal at both ends."""
    return sys.stdin is not None and not sys.stdin.closed and sys.stdin.isatty() and sys.stdout.isatty()


def _only_reads(descriptor: int) -> bool:
    """Whether it stands for a stream that was closed when the program began."""
    try:
        return fcntl.fcntl(descriptor, fcntl.F_GETFL) & os.O_ACCMODE == os.O_RDONLY
    except OSError:
        return True
