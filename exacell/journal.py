"""The journal: an append-only, hash-chained record of every plan, statement and reply.

An intent is on disk before its statement leaves, and its outcome after the reply was read and verified, so that what a
crash left behind is visible. Each row's hash covers the row and the hash before it; the newest hash is kept in a second
file as well, so that a cut tail is found. A journal that can't be written stops writes to cells, never reads.

The database is SQLite in rollback-journal mode (WAL is unsafe on network file systems) with synchronous=FULL, and
writers take turns by BEGIN IMMEDIATE, so that several processes append without losing a row.
"""

from __future__ import annotations

import fcntl
import json
import os
import sqlite3
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import quote

from exacell.chain import GENESIS, Walk, against_head, digest, walk
from exacell.errors import JournalError
from exacell.values import dataclass

_SCHEMA = """
create table if not exists entry (
    seq integer primary key,
    at text not null,
    rack text not null,
    change integer not null,
    kind text not null,
    target text not null,
    body text not null,
    prev text not null,
    hash text not null
);
create index if not exists entry_change on entry (rack, change);
create index if not exists entry_kind on entry (rack, kind);
"""

RECENT = 1000
"""So many rows are checked before each change; walking a long journal takes seconds and is verify's."""


@dataclass(frozen=True, kw_only=True)
class Entry:
    """One row.

    Attributes:
        seq: 1 and up, without gaps.
        at: UTC, ISO 8601.
        change: the number of the change it belongs to; unique over all racks of this journal.
        kind: plan, intent, outcome, end, observed (something that was seen on a cell, such as caching being on), or one
            of confirming.KINDS.
        target: cell or node; empty for plan and end.
        body: JSON object.
    """

    seq: int
    at: str
    rack: str
    change: int
    kind: str
    target: str
    body: Mapping[str, Any]
    prev: str
    hash: str


@dataclass(frozen=True, kw_only=True)
class Row:
    """What a caller appends: kind, target and body."""

    kind: str
    target: str = ""
    body: Mapping[str, Any]


class Journal:
    """The journal in one file. Thread-safe; other processes may append at the same time."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.head_path = path.with_suffix(".head")
        self._lock = threading.Lock()

    def begin(self, rack: str, body: Mapping[str, Any]) -> int:
        """Record a plan and return the number of its change.

        Raises:
            JournalError: the row could not be written and synced.
        """
        with self.turn():
            return self.append_in_turn(rack, None, [Row(kind="plan", body=body)])

    def append(self, rack: str, change: int, rows: Iterable[Row]) -> None:
        """Record rows of one change in one commit, synced before this returns.

        Raises:
            JournalError: they could not be written.
        """
        with self.turn():
            self.append_in_turn(rack, change, list(rows))

    @contextmanager
    def turn(self) -> Iterator[None]:
        """Hold the writers' turn over threads and processes, so that rows and the kept head stay in step."""
        with self._lock:
            try:
                self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
                lock = os.open(self.path.with_suffix(".lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            except OSError as error:
                raise self._unwritable(error) from error
            try:
                fcntl.flock(lock, fcntl.LOCK_EX)
                yield
            finally:
                os.close(lock)

    def _connect(self) -> sqlite3.Connection:
        fresh = not self.path.exists()
        connection = sqlite3.connect(self.path, timeout=30, isolation_level=None)
        if fresh:
            self.path.chmod(0o600)
        connection.execute("pragma synchronous=full")
        connection.execute("pragma busy_timeout=30000")
        connection.executescript(_SCHEMA)
        return connection

    def append_in_turn(self, rack: str, change: int | None, rows: list[Row]) -> int:
        """Record rows while :meth:`turn` is held, and return their change's number; a new one when ``change`` is None.

        Raises:
            JournalError: they could not be written.
        """
        try:
            connection = self._connect()
        except (sqlite3.Error, OSError) as error:
            raise self._unwritable(error) from error
        try:
            connection.execute("begin immediate")
            seq, prev = connection.execute(
                "select coalesce(max(seq), 0), coalesce((select hash from entry order by seq desc limit 1), ?) from entry",
                (GENESIS,),
            ).fetchone()
            self._refuse_damage(connection, seq)
            if change is None:
                self._refuse_edited(connection, seq)
                change = 1 + connection.execute("select coalesce(max(change), 0) from entry").fetchone()[0]
            for row in rows:
                seq += 1
                at = datetime.now(UTC).isoformat(timespec="milliseconds")
                body = json.dumps(row.body, sort_keys=True, separators=(",", ":"))
                fields = (seq, at, rack, change, row.kind, row.target, body)
                hashed = digest(prev, fields)
                connection.execute("insert into entry values (?,?,?,?,?,?,?,?,?)", (*fields, prev, hashed))
                prev = hashed
            connection.execute("commit")
            self._keep_head(seq, prev)
        except (sqlite3.Error, OSError) as error:
            with suppress(sqlite3.Error):
                connection.execute("rollback")
            raise self._unwritable(error) from error
        finally:
            connection.close()
        return change

    def _unwritable(self, error: Exception) -> JournalError:
        return JournalError(
            f"the journal {self.path} can't be written ({error}); nothing that changes cells is sent",
            hint="free space or mend the file; reads still work",
        )

    def _keep_head(self, seq: int, digest: str) -> None:
        temporary = self.head_path.with_name(self.head_path.name + ".new")
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
        with open(descriptor, "w", encoding="ascii") as stream:
            stream.write(f"{seq} {digest}\n")
            stream.flush()
            os.fsync(stream.fileno())
        os.replace(temporary, self.head_path)

    def _head(self) -> tuple[int, str] | None:
        try:
            seq, digest = self.head_path.read_text(encoding="ascii").split()
            return int(seq), digest
        except FileNotFoundError:
            return None
        except ValueError as error:
            raise JournalError(f"the kept head {self.head_path} is damaged: it is no row number and hash") from error

    def _refuse_damage(self, connection: sqlite3.Connection, last: int) -> None:
        """Raise when the row that the kept head names is not there as it was written: a new head would hide that."""
        kept = self._head()
        if kept is None:
            # A crash between the first row and its head leaves one row without a head, never more.
            if last <= 1:
                return
            said = f"its kept head {self.head_path} is missing"
        else:
            row = connection.execute("select hash from entry where seq = ?", (kept[0],)).fetchone()
            if row is not None and row[0] == kept[1]:
                return
            said = f"its kept head says {kept[0]}: rows are missing or edited"
        raise JournalError(
            f"the journal {self.path} ends at row {last}, but {said}",
            hint="journal verify shows where; nothing that changes cells is sent before journal restart",
        )

    def _refuse_edited(self, connection: sqlite3.Connection, last: int) -> None:
        """Raise when one of the newest rows is not as it was written; verify looks at all."""
        behind = max(0, last - RECENT)
        query = "select seq, at, rack, change, kind, target, body, prev, hash from entry where seq >= ? order by seq"
        rows = connection.execute(query, (behind,)).fetchall()
        prev = str(rows.pop(0)[-1]) if behind and rows else GENESIS
        problem = walk(rows, behind=behind, prev=prev).problem
        if problem:
            raise JournalError(
                f"the journal {self.path} is damaged: {problem}; nothing that changes cells is sent",
                hint="journal verify shows where; journal restart puts it aside and begins a new one",
            )

    @property
    def head(self) -> str:
        """The newest row's number and the first 12 digits of its hash, ``17:1f0c…``; empty for an empty journal."""
        kept = self._head()
        return "" if kept is None else f"{kept[0]}:{kept[1][:12]}"

    def entries(self, *, rack: str | None = None, change: int | None = None) -> list[Entry]:
        """Return the rows in order, of one rack or change when asked; empty when there is no journal.

        Raises:
            JournalError: the file is no journal.
        """
        return self._select(rack=rack, change=change)

    def _select(
        self, *, rack: str | None = None, change: int | None = None, extra: str = "1=1", lenient: bool = False
    ) -> list[Entry]:
        where: list[str] = [extra]
        values: list[str | int] = []
        for name, value in (("rack", rack), ("change", change)):
            if value is not None:
                where.append(f"{name} = ?")
                values.append(value)
        return [self._entry(row, lenient=lenient) for row in self._rows(" and ".join(where), values)]

    def _rows(self, where: str, values: Sequence[str | int] = ()) -> list[tuple[Any, ...]]:
        """Return rows as they are stored, in order; reading takes no right to write."""
        if not self.path.exists():
            return []
        query = f"select seq, at, rack, change, kind, target, body, prev, hash from entry where {where} order by seq"
        try:
            return self._ask(query, values, mode="ro")
        except sqlite3.OperationalError as error:
            if self._is_being_made():
                return []
            # What a process that died in the middle of a commit left must be rolled back first, which is a write; without
            # such a rest the first row may have been written between the two looks.
            mode = "rw" if Path(f"{self.path}-journal").exists() else "ro"
            try:
                return self._ask(query, values, mode=mode)
            except sqlite3.Error:
                raise self._unreadable(error) from error
        except sqlite3.Error as error:
            raise self._unreadable(error) from error

    def _is_being_made(self) -> bool:
        """Whether the file holds no table yet and never did: another process is about to write the very first row."""
        if self.head_path.exists():
            return False
        try:
            return self._ask("select count(*) from sqlite_master", (), mode="ro") == [(0,)]
        except sqlite3.Error:
            return False

    def _ask(self, query: str, values: Sequence[str | int], *, mode: str) -> list[tuple[Any, ...]]:
        connection = sqlite3.connect(f"file:{quote(str(self.path))}?mode={mode}", uri=True, timeout=30)
        try:
            return connection.execute(query, values).fetchall()
        finally:
            connection.close()

    def _unreadable(self, error: Exception) -> JournalError:
        return JournalError(
            f"the journal {self.path} can't be read: {error}",
            hint="journal restart puts it aside and begins a new one",
        )

    def _entry(self, row: Sequence[Any], *, lenient: bool) -> Entry:
        try:
            body = json.loads(row[6])
            if not isinstance(body, dict):
                raise ValueError("it is no object")
        except (ValueError, TypeError) as error:
            if not lenient:
                raise JournalError(
                    f"the journal {self.path} is damaged: row {row[0]} can't be read ({error})",
                    hint="journal verify shows what is wrong; journal restart puts it aside and begins a new one",
                ) from error
            body = {"damaged": str(row[6])}
        return Entry(
            seq=row[0], at=row[1], rack=row[2], change=row[3], kind=row[4], target=row[5], body=body, prev=row[7],
            hash=row[8],
        )  # fmt: skip

    def stored(self) -> list[tuple[Any, ...]]:
        """Return all rows as they are stored, for verifying and export.

        Raises:
            JournalError: the file is no journal.
        """
        return self._rows("1=1")

    def all_entries(self, *, rack: str | None = None) -> list[Entry]:
        """Return the rows of a rack, or all, for eyes: one whose body is damaged has that as ``damaged``.

        Raises:
            JournalError: the file is no journal.
        """
        return self._select(rack=rack, lenient=True)

    def caching_entries(self, rack: str) -> list[Entry]:
        """Return the rows that say something about caching being off or on, in order; quick in a long journal."""
        return self._select(
            rack=rack,
            extra="(kind = 'observed' or body like '%\"cachingOff\":true%' or body like '%\"cachingOn\":true%')"
            " and kind <> 'plan'",
        )

    def intents_like(self, rack: str, word: str) -> list[Entry]:
        """Return a rack's intents that hold a word, in order; quick in a long journal.

        Args:
            word: letters of ours, never a user's text.
        """
        return self._select(rack=rack, extra=f"kind = 'intent' and body like '%{word}%'")

    def of_kinds(self, rack: str, kinds: Sequence[str]) -> list[Entry]:
        """Return a rack's rows of some kinds, in order; quick in a long journal.

        Args:
            kinds: names of ours, never a user's text.
        """
        return self._select(rack=rack, extra=f"kind in ({','.join(map(repr, kinds))})")

    def unfinished(self, rack: str) -> list[Entry]:
        """Return the plan rows of changes that never ended, oldest first, without those that were resumed."""
        rows = self._select(
            rack=rack,
            extra="kind = 'plan' and not exists (select 1 from entry as later where later.change = entry.change"
            " and later.kind = 'end')",
        )
        return [row for row in rows if not self._resumed(rack, row.change)]

    def finishing(self, rack: str, change: int) -> list[int]:
        """Return the numbers of the changes that went on with ``change`` (resume, retry failed), oldest first."""
        rows = self._select(rack=rack, extra=f"kind = 'plan' and body like '%\"finishes\":{int(change)},%'")
        return [row.change for row in rows if row.body.get("finishes") == change]

    def newest_plan(self, rack: str) -> Entry | None:
        """Return the plan row of the rack's newest change, None when there is none."""
        newest = "(select max(change) from entry as other where other.rack = entry.rack and other.kind = 'plan')"
        rows = self._select(rack=rack, extra=f"kind = 'plan' and change = {newest}")
        return rows[-1] if rows else None

    def with_origin(self, rack: str, origin: str) -> list[Entry]:
        """Return the plan rows of the changes that were made on behalf of ``undo N``, ``resume N`` and their like."""
        return self._select(rack=rack, extra=f"kind = 'plan' and body like '%\"origin\":\"{origin}\"%'")

    def _resumed(self, rack: str, change: int) -> bool:
        return bool(self.with_origin(rack, f"resume {change}"))

    def verify(self) -> str:
        """Return what is wrong with the chain, one line naming the first bad row; empty when it is whole."""
        return self.examine()[1]

    def examine(self) -> tuple[Walk, str]:
        """Return how far the chain is whole, and what is wrong with it or its kept head; empty when nothing is."""
        nothing = Walk(good=0, hash=GENESIS, problem="")
        if not self.path.exists():
            gone = f"{self.path} is missing, but its kept head {self.head_path} is there"
            return nothing, gone if self.head_path.exists() else ""
        try:
            rows = self.stored()
            walked = walk(rows)
            if walked.problem:
                return walked, walked.problem
            kept = self._head()
        except JournalError as error:
            return nothing, error.message
        if kept is None:
            return walked, f"the kept head {self.head_path} is missing" if rows else ""
        return walked, against_head(walked, kept, [str(row[-1]) for row in rows])
