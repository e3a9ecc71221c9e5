"""Patterns that are compiled when they are first used: most statements need few of those that their modules have. Pure.

Compiling all of them was a sixth of what a command line cost that reads a few cells. Measured: docs/performance.md.
"""

from __future__ import annotations

import re
from typing import cast


class Late:
    """Stands for a compiled pattern until something other than its text is asked of it."""

    def __init__(self, text: str, flags: int) -> None:
        self.pattern = text
        self._flags = flags

    def __getattr__(self, name: str) -> object:
        if name.startswith("__"):
            raise AttributeError(name)
        found: object = getattr(re.compile(self.pattern, self._flags), name)  # re keeps what it has compiled.
        self.__dict__[name] = found
        return found


def pattern(text: str, flags: int = 0) -> re.Pattern[str]:
    """Return what :func:`re.compile` would return, compiled when it is first used. A text that is no pattern is an error then."""
    return cast("re.Pattern[str]", Late(text, flags))
