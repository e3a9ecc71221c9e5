"""Standard streams that nobody reads any more: a terminal that was closed, a pipe whose reader has gone."""

from __future__ import annotations

import errno
import os
from contextlib import suppress
from typing import IO

_GONE = (errno.EPIPE, errno.EIO)
"""What a write to a pipe without a reader, and to a terminal that was closed, says. Source: write(2), Linux tty_io.c."""


def gone(error: OSError) -> bool:
    """Return whether what could not be written had nobody to read it."""
    return error.errno in _GONE


def let_go(stream: IO[str]) -> None:
    """Lead ``stream`` nowhere from now on, with what is still buffered for it."""
    with suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        try:
            os.dup2(nowhere, stream.fileno())
        finally:
            os.close(nowhere)
