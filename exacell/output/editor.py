"""The user's editor on a file, on the terminal that exacell has."""

from __future__ import annotations

import shlex
import subprocess
from collections.abc import Mapping
from pathlib import Path

from exacell.core.errors import StatementError

_USUAL = "vi"


def open_editor(path: Path, env: Mapping[str, str]) -> None:
    """Return when $VISUAL or $EDITOR (else vi), opened on a file, has ended.

    Raises:
        StatementError: the editor can't be started, or ended with an error.
    """
    editor = env.get("VISUAL") or env.get("EDITOR") or _USUAL
    try:
        status = subprocess.run([*shlex.split(editor), str(path)], check=False).returncode
    except (OSError, ValueError) as error:
        raise StatementError(f"{editor} can't be used: {error}", hint="set EDITOR") from error
    if status:
        raise StatementError(f"{editor} ended with status {status}: what it wrote was not read")
