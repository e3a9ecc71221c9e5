"""What can still be read of a journal that SQLite refuses as a whole: cut off, or with pages that were overwritten.

SQLite answers nothing at all where the file is shorter than its first page says, and ends a query at the first bad page.
So a copy is made as long as it should be, and its rows are asked for one by one.
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
"""Bytes that a copy may be longer than the file: a page count that was overwritten must not fill a disk."""

_AHEAD = 1000
"""Rows that are looked for behind the last one found, where the file can't tell how many it held."""

_ROW = 100
"""Bytes that a row takes at least; a number that was overwritten must not keep anybody waiting."""


def legible(path: Path, *, last: int = 0) -> list[tuple[Any, ...]]:
    """Return the rows of a journal that can be read, in order, as they are stored; empty when none can.

    Args:
        last: number of the newest row, where that is known.
    """
    try:
        with tempfile.TemporaryDirectory(prefix="exacell-") as folder:
            copy = Path(folder) / "journal.db"
            with suppress(FileNotFoundError):  # First: what a killed writer left is rolled back in the copy, too.
                shutil.copyfile(f"{path}-journal", f"{copy}-journal")
            shutil.copyfile(path, copy)
            _lengthen(copy)
            with closing(sqlite3.connect(copy)) as connection:
                connection.text_factory = lambda found: found.decode("utf-8", "backslashreplace")
                with in_words():
                    return _rows(connection, last, most=copy.stat().st_size // _ROW)
    except (OSError, sqlite3.Error):
        return []  # Not a file, or not even its first page is SQLite's.


def _lengthen(copy: Path) -> None:
    """Make the file as long as its first page says, and let that say no more than there is."""
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
    # Where the last page is one of the bad ones: as far as the caller knows, or as rows are found.
    with suppress(sqlite3.DatabaseError):
        last = max(last, int(connection.execute("select coalesce(max(seq), 0) from entry").fetchone()[0]))
    found = []
    number, until = 1, last or _AHEAD
    while number <= min(until, most):
        try:
            row = connection.execute(f"select {COLUMNS} from entry where seq = ?", (number,)).fetchone()
        except sqlite3.DatabaseError:
            row = None
        if row is not None and None not in row:  # Without a value: its page is there, and its cell is not.
            found.append(row)
            until = last or number + _AHEAD
        number += 1
    return found


def asked(rows: Sequence[tuple[Any, ...]], query: str, values: Sequence[str | int]) -> list[tuple[Any, ...]]:
    """Return what a query to the journal's table answers from ``rows`` alone."""
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.execute(f"create table entry ({COLUMNS})")
        connection.executemany("insert into entry values (?,?,?,?,?,?,?,?,?)", rows)
        return connection.execute(query, values).fetchall()
