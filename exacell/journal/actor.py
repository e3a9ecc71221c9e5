"""Find out who acts, and whether the process that acted still runs."""

from __future__ import annotations

import os
import pwd
import socket
from pathlib import Path

from exacell.core.version import __version__
from exacell.journal.rows import Actor


def actor() -> dict[str, str]:
    """Return who acts, for the plan row: OS user, SUDO_USER, host, client of the SSH session, process, and exacell's version.

    ``started`` distinguishes the process from a later one with the same number.
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
    """Return the user that the kernel knows: anybody can set LOGNAME and USER, and su does not change them.

    If the system has no name for the user, as in a container, the number is returned.
    """
    try:
        return pwd.getpwuid(os.getuid()).pw_name
    except KeyError:
        return str(os.getuid())


PROC = Path("/proc")
"""The folder in which the kernel describes processes; it may hide those of other users (hidepid)."""


def _stat(pid: str) -> list[str]:
    """Return the kernel's fields about a process, from its state on; empty if there are none.

    Source: proc(5), /proc/pid/stat: the state is field 3, after the program's name in parentheses, which may contain anything.
    """
    try:
        return (PROC / pid / "stat").read_text().rpartition(")")[2].split()
    except OSError:
        return []


def _started(pid: str) -> str:
    """Return when a process started, in clock ticks since the host did; empty if that is not shown.

    Source: proc(5), /proc/pid/stat, field 22, starttime.
    """
    return next(iter(_stat(pid)[19:]), "")


def alive(who: Actor) -> bool:
    """Return whether a process still runs; True for a process of another host, where that can't be checked.

    Args:
        who: names the process by host, pid and started; without started only the number counts.
    """
    pid = who.pid
    if who.host != socket.gethostname():
        return True
    if not pid.isdecimal() or not int(pid):
        return False
    if who.started and _started(pid) not in ("", who.started):
        return False  # Another process has this number now.
    # A process without a state may be hidden: the signal decides. An ended one that nobody waited for (Z) still accepts it.
    return _stat(pid)[:1] != ["Z"] and _signalled(pid)


def _signalled(pid: str) -> bool:
    """Return whether a process with this number exists, hidden or not."""
    try:
        os.kill(int(pid), 0)
    except PermissionError:
        return True
    except (ProcessLookupError, OverflowError):
        return False
    return True
