"""The history file as prompt_toolkit wants it."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from prompt_toolkit.history import History

from exacell.history import append_history, is_secret, read_history


class PrivateHistory(History):
    """Entries in a file of mode 0600; what may hold a secret is neither stored nor offered again."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self._path = path

    def load_history_strings(self) -> Iterable[str]:
        """Yield the entries, newest first."""
        yield from reversed(read_history(self._path))

    def append_string(self, string: str) -> None:
        """Add an entry unless it holds a secret."""
        if not is_secret(string):
            super().append_string(string)

    def store_string(self, string: str) -> None:
        """Write an entry to the file."""
        append_history(self._path, string)
