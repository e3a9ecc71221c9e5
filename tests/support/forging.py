"""A journal as somebody changes it by hand who means to."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def forging(path: Path) -> Iterator[sqlite3.Connection]:
    """Open a journal's rows for changing, the triggers that would refuse it dropped; commit at the end."""
    connection = sqlite3.connect(path)
    try:
        with connection:
            for (name,) in connection.execute("select name from sqlite_master where type = 'trigger'").fetchall():
                connection.execute(f"drop trigger {name}")
            yield connection
    finally:
        connection.close()
