"""Short ways to spell requests in transport tests."""

from __future__ import annotations

from typing import Any

from exacell.transport.base import Request, Role

CELLS = ("exa1cel01", "exa1cel02", "exa1cel03")


def read(target: str, command: str, **details: Any) -> Request:
    """Return a request that changes nothing."""
    return Request(target=target, command=command, role=Role.READ, **details)


def write(target: str, command: str, **details: Any) -> Request:
    """Return a request that may change something."""
    return Request(target=target, command=command, role=Role.WRITE, **details)
