"""Who acts, and whether the process that acted still runs."""

from __future__ import annotations

import getpass
import os
import socket
from collections.abc import Mapping
from pathlib import Path
from typing import Any


def actor() -> dict[str, str]:
    """Return who acts, for the plan row: OS user, SUDO_USER, host, where the session came from by SSH, and process.

    ``started`` tells the process from a later one of the same number.
    """
    return {
        "user": getpass.getuser(),
        "sudoUser": os.environ.get("SUDO_USER", ""),
        "host": socket.gethostname(),
        "from": os.environ.get("SSH_CONNECTION", "").partition(" ")[0],
        "pid": str(os.getpid()),
        "started": _started(str(os.getpid())),
    }


def _started(pid: str) -> str:
    """Return when a process started, in clock ticks since the host did; empty where /proc does not tell.

    Source: proc(5), /proc/pid/stat field 22, starttime; the fields behind the program's name in parentheses are counted
    from 3 on.
    """
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19]
    except (OSError, IndexError):
        return ""


def alive(body: Mapping[str, Any]) -> bool:
    """Return whether the process that ``body`` names still runs; True for one of another host, which can't be told.

    Args:
        body: host, pid and started as :func:`actor` writes them; without started the number alone decides.
    """
    if body.get("host") != socket.gethostname():
        return True
    pid = str(body.get("pid") or "")
    if not pid.isdigit():
        return False
    if body.get("started") and _started(pid) not in ("", body["started"]):
        return False  # The number belongs to another process now.
    try:
        # The state follows the program's name, which is in parentheses and may hold anything; Z has ended.
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False if Path("/proc/self").exists() else _signalled(pid)


def _signalled(pid: str) -> bool:
    try:
        os.kill(int(pid), 0)
    except PermissionError:
        return True
    except (ProcessLookupError, ValueError):
        return False
    return True
