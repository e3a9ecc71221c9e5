"""The declared commands in a file of the user's cache, so that a completion call of a shell need not import them all."""

from __future__ import annotations

import os
import pickle
from contextlib import suppress
from pathlib import Path

from exacell.core.paths import replace_file
from exacell.language.registry import MODULES, adopt, commands


def use_kept(cache_dir: Path) -> None:
    """Let the registry hold the commands of the kept file; one that is missing or out of date is made anew.

    The file counts only while it belongs to this user alone and to exactly these source files, whose times and sizes
    it holds. A file that can't be read or written costs time, nothing else.
    """
    path, stamp = cache_dir / "commands.pickle", _stamp()
    if not stamp:
        return
    try:
        status = path.stat()
        if status.st_uid == os.getuid() and not status.st_mode & 0o022:
            kept, ready = pickle.loads(path.read_bytes())
            if kept == stamp:
                adopt(ready)
                return
    except (OSError, ValueError, TypeError, AttributeError, ImportError, EOFError, IndexError, pickle.UnpicklingError):
        pass  # It is written anew below.
    with suppress(OSError):
        replace_file(path, pickle.dumps((stamp, list(commands().values()))))


def _stamp() -> tuple[tuple[str, int, int], ...]:
    """Return name, time and size of each source file that declares commands or what they are made of; nothing when one
    is not there."""
    here = Path(__file__).parents[2]
    tables = [here / "language" / "registry.py", here / "change" / "dcli" / "offered.py"]
    files = [*tables, *(here / "commands" / "declared" / f"{name}.py" for name in MODULES)]
    try:
        statuses = [(path, path.stat()) for path in files]
    except OSError:
        return ()
    return tuple((str(path), status.st_mtime_ns, status.st_size) for path, status in statuses)
