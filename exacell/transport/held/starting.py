"""Start a rack's holder of connections: only one, even if several programs want one; none of them waits for it."""

from __future__ import annotations

import fcntl
import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence

from exacell.transport.held.place import PACKAGE, Hold, open_folder


def start(hold: Hold, cells: Sequence[str], seconds: float, env: Mapping[str, str]) -> int | None:
    """Start a holder and return its process id; None if another one runs or is about to.

    The lock is taken here and goes to the holder with its descriptor, so that it is never free in between.

    Args:
        cells: the cells that it connects to at once.
        seconds: after how many idle seconds it ends.

    Raises:
        OSError: the holder can't be started.
    """
    folder = open_folder(hold.folder, make=True)
    try:
        lock = os.open(hold.lock.name, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600, dir_fd=folder)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(lock)
            return None
        try:
            log = os.open(
                hold.log.name,
                os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW,
                0o600,
                dir_fd=folder,
            )
            try:
                return _spawn(hold, cells, seconds, env, lock, log)
            finally:
                os.close(log)
        finally:
            os.close(lock)
    finally:
        os.close(folder)


def _spawn(hold: Hold, cells: Sequence[str], seconds: float, env: Mapping[str, str], lock: int, log: int) -> int:
    errand = {"rack": hold.rack, "seconds": seconds, "lock": lock, "cells": list(cells)}
    path = os.pathsep.join(entry for entry in (str(PACKAGE.parent), env.get("PYTHONPATH", "")) if entry)
    process = subprocess.Popen(
        # -P: a json.py in the directory it starts in is none of ours.
        [sys.executable, "-P", "-m", "exacell.transport.held.holder", json.dumps(errand, separators=(",", ":"))],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=log,
        close_fds=True,
        pass_fds=(lock,),
        start_new_session=True,
        cwd="/",
        env={**env, "PYTHONPATH": path},
    )
    # It is the init process's to wait for once we are gone, and nobody's until then.
    process.returncode = 0
    return process.pid
