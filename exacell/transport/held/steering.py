"""Ask for the state of a rack's holder of connections, start it and wait for it, and end it."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from enum import StrEnum

from exacell.core.sharedfile import flock
from exacell.core.values import dataclass
from exacell.transport.held.client import hear
from exacell.transport.held.frames import FrameError, encode
from exacell.transport.held.place import Hold, call, open_folder, peer
from exacell.transport.held.starting import start

BEGIN_S = 20.0
"""Seconds in which a holder that was started has to answer; a loaded host starts programs slowly."""
END_S = 5.0
"""Seconds in which a holder that was told to end has to be gone; then it is killed."""
_LOOK_S = 0.02


class Stands(StrEnum):
    """The possible states of a rack's holder."""

    RUNNING = "running"
    NONE = "none"
    SILENT = "does not answer"


@dataclass(frozen=True, kw_only=True)
class Standing:
    """The state of a rack's holder.

    Attributes:
        pid: its process; 0 if not known.
        connections: how many it has open.
        reads: how often it was asked since it began.
        seconds: after how many idle seconds it ends; ``left``: how many of them are left.
        memory: bytes, at most.
        descriptors: how many files it has open.
    """

    stands: Stands
    pid: int = 0
    connections: int = 0
    reads: int = 0
    seconds: float = 0.0
    left: float = 0.0
    memory: int = 0
    descriptors: int = 0


def standing(hold: Hold) -> Standing:
    """Return the state of a rack's holder, which has a short time to answer."""
    pid = 0
    try:
        with call(hold) as line:
            pid = peer(line)
            line.sendall(encode({"what": "status"}))
            frame, _ = hear(line)
        told = frame["status"]
        assert isinstance(told, dict)
        return Standing(stands=Stands.RUNNING, **{name: told[name] for name in _STATE_FIELDS})
    except (FileNotFoundError, ConnectionRefusedError):
        return Standing(stands=Stands.NONE)
    except (OSError, FrameError, KeyError):
        return Standing(stands=Stands.SILENT, pid=pid)


_STATE_FIELDS = ("pid", "connections", "reads", "seconds", "left", "memory", "descriptors")


def begin(hold: Hold, cells: Sequence[str], seconds: float, env: Mapping[str, str]) -> Standing:
    """Start a rack's holder if none runs, wait until it answers, and return its state.

    Raises:
        OSError: it can't be started, or does not answer; ``strerror`` names its log.
    """
    start(hold, cells, seconds, env)
    until = time.monotonic() + BEGIN_S
    while time.monotonic() < until:
        found = standing(hold)
        if found.stands is Stands.RUNNING:
            return found
        time.sleep(_LOOK_S)
    raise OSError(0, f"it did not answer within {BEGIN_S:g}s; its log is {hold.log}")


def end(hold: Hold) -> Standing:
    """End a rack's holder, wait until it is gone, and return its state before; kill it if it does not end.

    Raises:
        OSError: it can't be ended.
    """
    before = standing(hold)
    pid = 0
    with suppress(OSError, FrameError), call(hold) as line:
        pid = peer(line)
        line.sendall(encode({"what": "end"}))
        hear(line)
    if _gone(hold, END_S if before.stands is Stands.RUNNING else 0.0):
        return before
    if pid:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
        _gone(hold, END_S)
    return before


def _gone(hold: Hold, seconds: float) -> bool:
    """Return whether no holder runs, now or within ``seconds``: then nobody has its lock."""
    try:
        folder = open_folder(hold.folder)
    except FileNotFoundError:
        return True
    try:
        lock = os.open(hold.lock.name, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW, dir_fd=folder)
    except FileNotFoundError:
        return True
    finally:
        os.close(folder)
    try:
        flock(lock, exclusive=True, patience=seconds)
    except TimeoutError:
        return False
    else:
        return True
    finally:
        os.close(lock)
