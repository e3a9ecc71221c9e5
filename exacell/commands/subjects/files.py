"""Files of this machine that a statement names."""

from __future__ import annotations

import glob
import shlex
from pathlib import Path

from exacell.core.errors import RefusedError, StatementError


def named_files(text: str) -> list[Path]:
    """Return the files that a statement names, with * and ? as a shell takes them; each once.

    Raises:
        StatementError: a quote is missing.
        RefusedError: there is no such file.
    """
    try:
        names = shlex.split(text)
    except ValueError as error:
        raise StatementError(f"{text}: {error}", hint="close the quote") from error
    found: dict[Path, None] = {}
    for name in names:
        paths = sorted(glob.glob(name, recursive=True)) if glob.has_magic(name) else [name]
        if not paths:
            raise RefusedError(
                f"{name}: there is no such file", hint="a pattern counts from the folder in which exacell was started"
            )
        found |= dict.fromkeys(Path(path).expanduser() for path in paths)
    return list(found)


def trace_files(text: str) -> list[Path]:
    """Return the trace files that a statement names, without the .trm files beside them.

    Raises:
        StatementError: a quote is missing.
        RefusedError: there is no such file, or only .trm files are named.
    """
    found = [path for path in named_files(text) if path.suffix != ".trm"]
    if not found:
        raise RefusedError("only .trm files are named: the waits are in the .trc files beside them")
    return found
