"""Define the exceptions by which a statement asks its surface to end, to run a script, or to open an editor."""

from __future__ import annotations

from pathlib import Path

from exacell.core.errors import StatementError


class SessionExit(Exception):
    """EXIT or QUIT: the surface ends, with the exit code of the last statement."""


class ScriptRequested(Exception):
    """START or @file: the surface runs the script's statements. ``path`` is the file."""

    def __init__(self, path: Path) -> None:
        super().__init__(str(path))
        self.path = path


class AtPrompt(StatementError):
    """Raised when the prompt is to be opened but is already open."""

    def __init__(self) -> None:
        super().__init__("this is already a prompt", hint="`connect <rack>` goes to another rack")


class EditRequested(StatementError):
    """EDIT: the prompt opens an editor with ``text`` in it. Everywhere else this is an error with its own message."""

    def __init__(self, text: str) -> None:
        super().__init__("edit needs a terminal, so it works only at the prompt")
        self.text = text
