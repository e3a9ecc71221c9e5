"""Read the remaining rows of a journal that SQLite refuses as a whole: cut off, or with overwritten pages.

SQLite refuses every query if the file is shorter than its first page says, and ends a query at the first bad page.
So a copy gets the length that it should have, and its rows are read one by one.
Source: SQLite, "Database File Format", 1.3 (page size at offset 16, size in pages at offset 28).
"""

from __future__ import annotations

import shutil
import sqlite3
import tempfile
from collections.abc import Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

from exacell.journal.schema import COLUMNS, in_words

_HEADER = 100
_SIZE_AT, _PAGES_AT = 16, 28
_GROWN = 16 * 2**20
"""Number of bytes by which a copy may be longer than the file: an overwritten page count must not fill a disk."""

_AHEAD = 1000
"""Number of rows to try after the last one found, if the file does not show how many it had."""

_ROW = 100
"""The smallest size of a row in bytes; it limits the search if the number of rows was overwritten."""


def legible(path: Path, *, last: int = 0) -> list[tuple[Any, ...]]:
    """Return the readable rows of a journal, in order, in stored form; empty if there are none.

    Args:
        last: number of the newest row, if known.
    """
    try:
        with tempfile.TemporaryDirectory(prefix="exacell-") as folder:
            copy = Path(folder) / "journal.db"
            with suppress(FileNotFoundError):  # First: an unfinished commit is rolled back in the copy too.
                shutil.copyfile(f"{path}-journal", f"{copy}-journal")
            shutil.copyfile(path, copy)
            _lengthen(copy)
            with closing(sqlite3.connect(copy)) as connection:
                connection.text_factory = lambda found: found.decode("utf-8", "backslashreplace")
                with in_words():
                    return _rows(connection, last, most=copy.stat().st_size // _ROW)
    except (OSError, sqlite3.Error):
        return []  # It is not a file, or even its first page is not SQLite's.


def _lengthen(copy: Path) -> None:
    """Give the file the length in its first page, and correct that page if the length is too large."""
    with open(copy, "r+b") as stream:
        header = stream.read(_HEADER)
        size = int.from_bytes(header[_SIZE_AT : _SIZE_AT + 2], "big")
        size = 65536 if size == 1 else size
        if size < 512:
            return
        there = -(-copy.stat().st_size // size)
        pages = max(there, min(int.from_bytes(header[_PAGES_AT : _PAGES_AT + 4], "big"), there + _GROWN // size))
        stream.truncate(pages * size)
        stream.seek(_PAGES_AT)
        stream.write(pages.to_bytes(4, "big"))


def _rows(connection: sqlite3.Connection, last: int, *, most: int) -> list[tuple[Any, ...]]:
    # If the last page is bad, read up to the number that the caller knows, or as long as rows are found.
    with suppress(sqlite3.DatabaseError):
        last = max(last, int(connection.execute("select coalesce(max(seq), 0) from entry").fetchone()[0]))
    found = []
    number, until = 1, last or _AHEAD
    while number <= min(until, most):
        try:
            row = connection.execute(f"select {COLUMNS} from entry where seq = ?", (number,)).fetchone()
        except sqlite3.DatabaseError:
            row = None
        if row is not None and None not in row:  # A row without a value: its page exists, but its cell does not.
            found.append(row)
            until = last or number + _AHEAD
        number += 1
    return found


def asked(rows: Sequence[tuple[Any, ...]], query: str, values: Sequence[str | int]) -> list[tuple[Any, ...]]:
    """Return the answer to a query on the journal's table with only ``rows`` in it."""
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.execute(f"create table entry ({COLUMNS})")
        connection.executemany("insert into entry values (?,?,?,?,?,?,?,?,?)", rows)
        return connection.execute(query, values).fetchall()
