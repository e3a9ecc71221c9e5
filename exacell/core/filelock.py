"""Whose turn it is with a file: flock that neither waits for ever nor fails silently where there are no locks."""

from __future__ import annotations

import errno
import fcntl
import time

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
                why = f"another process has held its lock for {patience:g}s: one that was stopped or hangs (fuser -v tells)"
                raise TimeoutError(errno.ETIMEDOUT, why) from error
            time.sleep(pause)
            pause = min(_LOOK, pause * 2)
        except OSError as error:
            if error.errno in (errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP, errno.EINVAL):
                raise OSError(error.errno, f"its file system has no locks ({error.strerror})") from error
            raise
        else:
            return
