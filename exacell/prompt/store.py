"""Connect the history file to prompt_toolkit."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

from prompt_toolkit.auto_suggest import AutoSuggestFromHistory, Suggestion
from prompt_toolkit.buffer import Buffer
from prompt_toolkit.document import Document
from prompt_toolkit.history import History

from exacell.session.history import (
    append_history,
    is_secret,
    offered_on,
    read_entries,
)

_LONGEST = 200
"""The longest entry, in characters, that is offered in grey: a longer one would cover the screen during typing."""


class ShortSuggestions(AutoSuggestFromHistory):
    """Offers the rest of the newest entry that begins with the typed text, unless it is long."""

    def get_suggestion(self, buffer: Buffer, document: Document) -> Suggestion | None:
        """Return the text to show in grey after the cursor; None for none."""
        found = super().get_suggestion(buffer, document)
        return found if found is not None and len(found.text) <= _LONGEST else None


class PrivateHistory(History):
    """Entries in a file of mode 0600; an entry that may hold a secret is neither stored nor offered again.

    It offers the entries of the present rack, and those of other racks that change nothing.

    Args:
        rack: returns the name of the present rack, empty without one.
    """

    def __init__(self, path: Path, rack: Callable[[], str] = str) -> None:
        super().__init__()
        self.path = path
        self._rack = rack
        self._loaded_for: str | None = None
        self.unkept = ""
        """Why the newest entry could not be saved; empty if it was."""

    def load_history_strings(self) -> Iterable[str]:
        """Yield the entries, newest first."""
        self._loaded_for = self._rack()
        yield from reversed(offered_on(self._loaded_for, read_entries(self.path)))

    @property
    def outdated(self) -> bool:
        """Return whether the entries were loaded for another rack than the present one."""
        return self._loaded_for is not None and self._loaded_for != self._rack()

    def reload(self) -> None:
        """Let the entries be read again when they are next needed."""
        self._loaded, self._loaded_strings, self._loaded_for = False, [], None

    def append_string(self, string: str) -> None:
        """Add an entry unless it holds a secret."""
        if not is_secret(string):
            super().append_string(string)

    def store_string(self, string: str) -> None:
        """Write an entry to the file."""
        self.unkept = append_history(self.path, string, self._rack())
