"""Who acts, and whether the process that acted still runs."""

from __future__ import annotations

import os
import pwd
import socket
from pathlib import Path

from exacell.core.version import __version__
from exacell.journal.rows import Actor


def actor() -> dict[str, str]:
    """Return who acts, for the plan row: OS user, SUDO_USER, host, where the session came from by SSH, process, and
    exacell's version.

    ``started`` tells the process from a later one of the same number.
    """
    return {
        "user": _user(),
        "sudoUser": os.environ.get("SUDO_USER", ""),
        "host": socket.gethostname(),
        "from": os.environ.get("SSH_CONNECTION", "").partition(" ")[0],
        "pid": str(os.getpid()),
        "started": _started(str(os.getpid())),
        "version": __version__,
    }


def _user() -> str:
    """Return whom the kernel knows: LOGNAME and USER are anybody's to set, and su leaves them as they were.

    The number where the system has no name for it, as in a container.
    """
    try:
        return pwd.getpwuid(os.getuid()).pw_name
    except KeyError:
        return str(os.getuid())


PROC = Path("/proc")
"""Where the kernel tells of processes; it may hide those of other users (hidepid)."""


def _stat(pid: str) -> list[str]:
    """Return what the kernel tells of a process from its state on; empty where it tells nothing.

    Source: proc(5), /proc/pid/stat: the state is field 3, behind the program's name in parentheses, which may hold anything.
    """
    try:
        return (PROC / pid / "stat").read_text().rpartition(")")[2].split()
    except OSError:
        return []


def _started(pid: str) -> str:
    """Return when a process started, in clock ticks since the host did; empty where that is not told.

    Source: proc(5), /proc/pid/stat, field 22, starttime.
    """
    return next(iter(_stat(pid)[19:]), "")


def alive(who: Actor) -> bool:
    """Return whether a process still runs; True for one of another host, which can't be told.

    Args:
        who: names it by host, pid and started; without started the number alone decides.
    """
    pid = who.pid
    if who.host != socket.gethostname():
        return True
    if not pid.isdecimal() or not int(pid):
        return False
    if who.started and _started(pid) not in ("", who.started):
        return False  # The number belongs to another process now.
    # What is not told may be hidden: the signal decides. One that has ended and is not waited for (Z) still takes it.
    return _stat(pid)[:1] != ["Z"] and _signalled(pid)


def _signalled(pid: str) -> bool:
    """Return whether there is a process of that number, hidden or not."""
    try:
        os.kill(int(pid), 0)
    except PermissionError:
        return True
    except (ProcessLookupError, OverflowError):
        return False
    return True
