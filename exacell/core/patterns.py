"""Compile patterns on first use: most statements need few of the patterns in the modules that they load. Pure.

Compiling all of them was a sixth of the cost of a command line that reads a few cells. Measured: docs/performance.md.
"""

from __future__ import annotations

import re
from typing import cast


class Late:
    """Takes the place of a compiled pattern until an attribute other than its text is used."""

    def __init__(self, text: str, flags: int) -> None:
        self.pattern = text
        self._flags = flags

    def __getattr__(self, name: str) -> object:
        if name.startswith("__"):
            raise AttributeError(name)
        found: object = getattr(re.compile(self.pattern, self._flags), name)  # re caches compiled patterns.
        self.__dict__[name] = found
        return found


def pattern(text: str, flags: int = 0) -> re.Pattern[str]:
    """Return what :func:`re.compile` would return, compiled on first use; a wrong pattern raises its error only then."""
    return cast("re.Pattern[str]", Late(text, flags))
