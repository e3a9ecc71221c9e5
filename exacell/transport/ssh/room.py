"""Make room for connections: raise the number of files that this process may open, if the system allows it."""

from __future__ import annotations

import os
import resource

from exacell.core.errors import TransportError

_USUAL = 1024
"""The usual limit. Source: getrlimit(2) and systemd-system.conf(5), DefaultLimitNOFILE."""
_OTHERS = 16
"""Descriptors besides connections: the journal, keys, answers on disk."""
_OPEN = "/proc/self/fd"


def make_room(connections: int) -> None:
    """Raise this process's limit of open files so that ``connections`` more can be opened, if the system allows it.

    Raises:
        TransportError: the system does not allow that many.
    """
    if not connections:
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    needed = needed_for(connections)
    if soft == resource.RLIM_INFINITY or needed <= soft:
        return
    if hard == resource.RLIM_INFINITY or needed <= hard:
        wanted = max(needed, _USUAL)
        resource.setrlimit(
            resource.RLIMIT_NOFILE, (wanted if hard == resource.RLIM_INFINITY else min(wanted, hard), hard)
        )
        return
    raise TransportError(
        f"too many open files: type `ulimit -n {max(needed, _USUAL)}` in the shell, then start exacell "
        f"again ({connections} connections need about {needed}, "
        f"{hard} are allowed here)"
    )


def needed_for(connections: int) -> int:
    """Return how many descriptors this process needs with ``connections`` more connections."""
    return _open_now() + connections + _OTHERS


def limits() -> tuple[int | None, int | None]:
    """Return this process's present limit of descriptors, and the highest limit that it may set; None for no limit."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    return _limit(soft), _limit(hard)


def _limit(number: int) -> int | None:
    return None if number == resource.RLIM_INFINITY else number


def _open_now() -> int:
    try:
        return len(os.listdir(_OPEN))
    except FileNotFoundError:
        return 3  # A system without /proc: at least the three streams.
