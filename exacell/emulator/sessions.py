"""The SSH sessions under way on the emulated hosts, by a key that their processes carry in their environment.

A program that a shell on an emulated host runs reaches the rack by a connection of its own; the key tells which SSH
session it belongs to, so that an injected fault can cut that one.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable

VARIABLE = "EXACELL_EMU_SESSION"
"""The environment variable that holds the key."""


class Sessions:
    """Who is connected."""

    def __init__(self) -> None:
        self._cut: dict[str, Callable[[], None]] = {}

    def enter(self, cut: Callable[[], None]) -> str:
        """Return the key of a new session, which ``cut`` ends together with its connection."""
        key = secrets.token_hex(8)
        self._cut[key] = cut
        return key

    def leave(self, key: str) -> None:
        """Forget a session."""
        self._cut.pop(key, None)

    def cut(self, key: str) -> bool:
        """Break the connection of a session; return False when there is none of that key."""
        cut = self._cut.get(key)
        if cut is None:
            return False
        cut()
        return True
