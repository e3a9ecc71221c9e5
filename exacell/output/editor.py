"""Open the user's editor on a file, on exacell's terminal."""

from __future__ import annotations

import shlex
import subprocess
from collections.abc import Mapping
from pathlib import Path

from exacell.core.errors import StatementError, why_unreadable

_USUAL = "vi"


def open_editor(path: Path, env: Mapping[str, str]) -> None:
    """Run $VISUAL or $EDITOR (else vi) on a file, and wait for its end.

    Raises:
        StatementError: the editor can't be started, or ended with an error.
    """
    said = (env.get(name, "").strip() for name in ("VISUAL", "EDITOR"))
    editor = next(filter(None, said), _USUAL)  # With an empty value the file itself would be run.
    try:
        status = subprocess.run([*shlex.split(editor), str(path)], check=False).returncode
    except (OSError, ValueError) as error:
        why = why_unreadable(error) if isinstance(error, OSError) else error
        raise StatementError(
            f"the editor {editor} can't be started: {why}", hint="set EDITOR to another editor"
        ) from error
    if status:
        how = f"status {status}" if status > 0 else f"signal {-status}"
        raise StatementError(f"the editor {editor} ended with {how}: its text was not read")
