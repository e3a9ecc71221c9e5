"""The program, killed by the very write in which it says something: ``python -m tests.support.dying TEXT WORD...``.

Who reads what it says and kills it then comes later, on a busy machine much later: it has gone on by then.
"""

from __future__ import annotations

import os
import signal
import sys
from typing import Any


class Last:
    """Standard error, behind whose line with ``text`` nothing is done any more."""

    def __init__(self, stream: Any, text: str) -> None:
        self._stream, self._text, self._line = stream, text, ""

    def write(self, said: str) -> int:
        """Write, and be killed where this was the text."""
        written = int(self._stream.write(said))
        self._line = (self._line + said)[-4096:]
        if self._text in self._line:
            self._stream.flush()
            os.kill(os.getpid(), signal.SIGKILL)
        return written

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


if __name__ == "__main__":
    from exacell.cli import entry

    sys.argv[1:], sys.stderr = sys.argv[2:], Last(sys.stderr, sys.argv[1])
    sys.exit(entry())
