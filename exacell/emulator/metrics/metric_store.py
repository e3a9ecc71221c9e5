"""The collections of a rack's cells, stored in SQLite: a week of many cells would fill the memory.

A row holds one collection of one cell: its time, how often counters had been reset, and the numbers in the order of a list of
names, which most collections share. The numbers are JSON, so that whole numbers stay whole, compressed.

A rack that is served stores them in a file; any other has a database in memory.
"""

from __future__ import annotations

import json
import sqlite3
import zlib
from collections import OrderedDict
from collections.abc import Iterator

from exacell.core.errors import EmulatorError
from exacell.emulator.metrics.collection import Collection

_TABLES = """
CREATE TABLE IF NOT EXISTS names (id INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE);
CREATE TABLE IF NOT EXISTS collection (
    cell TEXT NOT NULL, moment REAL NOT NULL, cache INTEGER NOT NULL, log INTEGER NOT NULL, server INTEGER NOT NULL,
    names INTEGER NOT NULL REFERENCES names, numbers BLOB NOT NULL, PRIMARY KEY (cell, moment)
);
CREATE INDEX IF NOT EXISTS epochs ON collection (cell, cache, log, server, moment);
"""
_RULES = "PRAGMA locking_mode = EXCLUSIVE; PRAGMA synchronous = NORMAL;"
"""No other process opens the file while its rack runs, so that storing never waits; a crash of the system leaves it valid."""
_FIELDS = "moment, names, numbers, cache, log, server"
_REMEMBERED = 64
"""Collections of a cell that are kept in memory: a reading needs a minute, the one before, and an hour ago."""
_FAST = 1
"""zlib's compression level: the numbers of an X2 cell under load take 0.7 KB instead of 1.5, and 0.05 ms."""


class MetricStore:
    """The collections of all cells of a rack.

    Args:
        path: of its file, which is created if it is missing; empty for a database in memory.

    Raises:
        EmulatorError: the file is damaged, or another process has it open.
    """

    def __init__(self, path: str = "") -> None:
        self.kept = bool(path)
        self._path = path
        self._ids: dict[tuple[str, ...], int] = {}
        self._names: dict[int, tuple[str, ...]] = {}
        try:
            self._database = sqlite3.connect(path, check_same_thread=False, isolation_level="DEFERRED")
            self._database.executescript(_RULES + _TABLES)
            for number, text in self._database.execute("SELECT id, text FROM names"):
                self._learn(number, tuple(json.loads(text)))
        except (sqlite3.Error, ValueError) as error:
            raise self._unusable(error) from error

    def of(self, cell: str) -> Collections:
        """Return the collections of one cell."""
        return Collections(self, cell)

    def commit(self) -> None:
        """Write the collections to the file.

        Raises:
            EmulatorError: the file can't be written.
        """
        try:
            self._database.commit()
        except sqlite3.Error as error:
            raise self._unusable(error) from error

    def close(self) -> None:
        """Write the collections to the file, and close it."""
        self.commit()
        self._database.close()

    def rows(self, query: str, *values: object) -> list[tuple[float, int, bytes, int, int, int]]:
        """Return the rows that a query finds, all or a part of a collection's fields.

        Raises:
            EmulatorError: the file can't be read.
        """
        try:
            return self._database.execute(query, values).fetchall()
        except sqlite3.Error as error:
            raise self._unusable(error) from error

    def change(self, statement: str, *values: object) -> int:
        """Carry out a statement and return the number of changed rows.

        Raises:
            EmulatorError: the file can't be written.
        """
        try:
            return self._database.execute(statement, values).rowcount
        except sqlite3.Error as error:
            raise self._unusable(error) from error

    def packed(self, collection: Collection) -> tuple[int, bytes]:
        """Return the number of a collection's list of names, and its numbers in their stored form."""
        names = tuple(collection.values)
        number = self._ids.get(names)
        if number is None:
            number = len(self._ids) + 1
            self.change("INSERT INTO names (id, text) VALUES (?, ?)", number, json.dumps(names))
            self._learn(number, names)
        return number, zlib.compress(json.dumps(list(collection.values.values())).encode("ascii"), _FAST)

    def unpacked(self, row: tuple[float, int, bytes, int, int, int]) -> Collection:
        """Return the collection in a row.

        Raises:
            EmulatorError: the row is damaged.
        """
        moment, names, numbers, *epochs = row
        try:
            values = dict(zip(self._names[names], json.loads(zlib.decompress(numbers)), strict=True))
        except (KeyError, ValueError, zlib.error) as error:
            raise self._unusable(error) from error
        return Collection(moment, values, *epochs)

    def _learn(self, number: int, names: tuple[str, ...]) -> None:
        self._ids[names], self._names[number] = number, names

    def _unusable(self, error: Exception) -> EmulatorError:
        return EmulatorError(
            f"{self._path or 'the history of metrics'} can't be used: {error}",
            hint="close what else has it open; if it is damaged, start the rack with reset=yes (its state is lost)",
        )


class Collections:
    """The collections of one cell, by time. The last one is also in memory."""

    def __init__(self, store: MetricStore, cell: str) -> None:
        self._store, self._cell = store, cell
        self._known: OrderedDict[float, Collection] = OrderedDict()
        self._look()

    def _look(self) -> None:
        self._known.clear()
        self.last = self._one("ORDER BY moment DESC LIMIT 1")
        self._first = self._moment("SELECT MIN(moment) FROM collection WHERE cell = ?")

    @property
    def kept(self) -> bool:
        """Return whether they are kept after the rack's process ends."""
        return self._store.kept

    def __len__(self) -> int:
        ((count, *_),) = self._store.rows("SELECT COUNT(*) FROM collection WHERE cell = ?", self._cell)
        return int(count)

    def __iter__(self) -> Iterator[Collection]:
        where = f"SELECT {_FIELDS} FROM collection WHERE cell = ? ORDER BY moment"
        return map(self._store.unpacked, self._store.rows(where, self._cell))

    @property
    def begin(self) -> float:
        """Return the time of the first collection; infinity if there is none."""
        return float("inf") if self._first is None else self._first

    def put(self, collection: Collection) -> None:
        """Add a collection at the end; it replaces the last one if that is of the same moment."""
        self._store.change(
            "INSERT OR REPLACE INTO collection (cell, moment, cache, log, server, names, numbers)"
            " VALUES (?, ?, ?, ?, ?, ?, ?)",
            *(self._cell, collection.moment, *collection.epochs),
            *self._store.packed(collection),
        )
        self._known.pop(collection.moment, None)
        self.last = collection
        if self._first is None:
            self._first = collection.moment

    def at(self, moment: float) -> Collection | None:
        """Return the collection of a moment, or the last one before it; None if there is none.

        Repeated calls return the same object while it is kept in memory.
        """
        if self.last is None or moment < self.begin:
            return None
        if moment >= self.last.moment:
            return self.last
        found = self._moment("SELECT MAX(moment) FROM collection WHERE cell = ? AND moment <= ?", moment)
        assert found is not None, "there is a first one"
        known = self._known.get(found)
        if known is None:
            known = self._one("AND moment = ?", found)
            assert known is not None, "it was found"
            self._known[found] = known
            if len(self._known) > _REMEMBERED:
                self._known.popitem(last=False)
        else:
            self._known.move_to_end(found)
        return known

    def since(self, server_epoch: int) -> float | None:
        """Return the time of the first collection after so many resets of the server's counters; None if there is none."""
        return self._moment("SELECT MIN(moment) FROM collection WHERE cell = ? AND server >= ?", server_epoch)

    def turns(self) -> list[float]:
        """Return the times of the first collections after each reset of counters."""
        query = "SELECT MIN(moment) FROM collection WHERE cell = ? GROUP BY cache, log, server ORDER BY 1"
        return [row[0] for row in self._store.rows(query, self._cell)][1:]

    def forget_before(self, moment: float) -> None:
        """Delete all collections before the one that is valid at ``moment``."""
        if self.begin < moment:
            where = "SELECT MAX(moment) FROM collection WHERE cell = ? AND moment <= ?"
            query = f"DELETE FROM collection WHERE cell = ? AND moment < ({where})"
            if self._store.change(query, self._cell, self._cell, moment):
                self._first = self._moment("SELECT MIN(moment) FROM collection WHERE cell = ?")

    def forget_after(self, moment: float) -> None:
        """Delete all collections after ``moment``: they are of an earlier run of the rack that was not stored to its end."""
        self._store.change("DELETE FROM collection WHERE cell = ? AND moment > ?", self._cell, moment)
        self._look()

    def _moment(self, query: str, *values: object) -> float | None:
        ((moment, *_),) = self._store.rows(query, self._cell, *values)
        return moment

    def _one(self, where: str, *values: object) -> Collection | None:
        rows = self._store.rows(f"SELECT {_FIELDS} FROM collection WHERE cell = ? {where}", self._cell, *values)
        return self._store.unpacked(rows[0]) if rows else None
