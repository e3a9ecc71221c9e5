"""What a statement asks of the surface that runs it: to end, to run a script, to open an editor."""

from __future__ import annotations

from pathlib import Path

from exacell.core.errors import StatementError


class SessionExit(Exception):
    """EXIT or QUIT: the surface ends, with the exit code of what ran before."""


class ScriptRequested(Exception):
    """START or @file: the surface runs the script's statements. ``path`` is the file."""

    def __init__(self, path: Path) -> None:
        super().__init__(str(path))
        self.path = path


class AtPrompt(StatementError):
    """Raised where the prompt is to be opened and is open already."""

    def __init__(self) -> None:
        super().__init__("this is already a prompt", hint="`connect <rack>` goes to another rack")


class EditRequested(StatementError):
    """EDIT: the prompt opens an editor. Everywhere else this is the error that it says. ``text`` is what to begin with."""

    def __init__(self, text: str) -> None:
        super().__init__("edit needs a terminal, so it works only at the prompt")
        self.text = text
