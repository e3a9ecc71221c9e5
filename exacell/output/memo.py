"""What was made of a text, remembered for the next time that it comes. Pure."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

MOST = 50_000
"""Texts that are remembered; one more and all are forgotten."""


class Memo(dict[str, Any]):
    """Text to what ``make`` makes of it, made when it is first asked for."""

    def __init__(self, make: Callable[[str], Any]) -> None:
        super().__init__()
        self._make = make

    def __missing__(self, text: str) -> Any:
        if len(self) >= MOST:
            self.clear()
        made = self[text] = self._make(text)
        return made
