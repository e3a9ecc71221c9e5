"""The open SSH sessions on the emulated hosts, by a key in the environment of their processes.

A program that a shell on an emulated host runs reaches the rack over a separate connection; the key shows to which SSH
session it belongs, so that an injected fault can break that session's connection.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable

VARIABLE = "EXACELL_EMU_SESSION"
"""The environment variable that holds the key."""


class Sessions:
    """The open sessions."""

    def __init__(self) -> None:
        self._cut: dict[str, Callable[[], None]] = {}

    def enter(self, cut: Callable[[], None]) -> str:
        """Return the key of a new session; ``cut`` breaks its connection."""
        key = secrets.token_hex(8)
        self._cut[key] = cut
        return key

    def leave(self, key: str) -> None:
        """Forget a session."""
        self._cut.pop(key, None)

    def cut(self, key: str) -> bool:
        """Break the connection of a session; return False if no session has that key."""
        cut = self._cut.get(key)
        if cut is None:
            return False
        cut()
        return True
