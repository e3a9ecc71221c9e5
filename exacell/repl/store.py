"""The history file as prompt_toolkit wants it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

from prompt_toolkit.history import History

from exacell.history import append_history, is_secret, offered_on, read_entries


def _no_rack() -> str:
    return ""


class PrivateHistory(History):
    """Entries in a file of mode 0600; what may hold a secret is neither stored nor offered again.

    Offered is what was typed on the present rack, and what changes nothing from others.

    Args:
        rack: the name of the present rack, empty without one.
    """

    def __init__(self, path: Path, rack: Callable[[], str] = _no_rack) -> None:
        super().__init__()
        self._path = path
        self._rack = rack
        self._loaded_for: str | None = None

    def load_history_strings(self) -> Iterable[str]:
        """Yield the entries, newest first."""
        self._loaded_for = self._rack()
        yield from reversed(offered_on(self._loaded_for, read_entries(self._path)))

    @property
    def outdated(self) -> bool:
        """Whether it was loaded for another rack than the present one."""
        return self._loaded_for is not None and self._loaded_for != self._rack()

    def reload(self) -> None:
        """Read the entries again when they are next asked for."""
        self._loaded, self._loaded_strings, self._loaded_for = False, [], None

    def append_string(self, string: str) -> None:
        """Add an entry unless it holds a secret."""
        if not is_secret(string):
            super().append_string(string)

    def store_string(self, string: str) -> None:
        """Write an entry to the file."""
        append_history(self._path, string, self._rack())
