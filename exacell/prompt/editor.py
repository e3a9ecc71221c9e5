"""Writing a statement in the user's editor."""

from __future__ import annotations

import os
import shlex
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path

from exacell.core.errors import StatementError

_USUAL = "vi"


def edited(text: str, env: Mapping[str, str]) -> str:
    """Return what is saved in $VISUAL or $EDITOR (else vi), which begins with ``text``; without blank lines at its end.

    The file is readable by its owner only and removed afterwards.

    Raises:
        StatementError: the editor can't be started, or ended with an error: then nothing is taken from it.
    """
    editor = env.get("VISUAL") or env.get("EDITOR") or _USUAL
    descriptor, name = tempfile.mkstemp(prefix="exacell-", suffix=".scl", text=True)
    path = Path(name)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as stream:
            stream.write(text + "\n" if text else "")
        status = subprocess.run([*shlex.split(editor), name], check=False).returncode
        if status:
            raise StatementError(f"{editor} ended with status {status}: nothing was taken from it")
        return path.read_text(encoding="utf-8").rstrip()
    except (OSError, ValueError) as error:
        raise StatementError(f"{editor} can't be used: {error}", hint="set EDITOR") from error
    finally:
        path.unlink(missing_ok=True)
