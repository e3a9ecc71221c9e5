"""The journal: an append-only, hash-chained record of every plan, statement and reply.

An intent is on disk before its statement leaves, and its outcome after the reply was read and verified, so that what a
crash left behind is visible. Each row's hash covers the row and the hash before it; the newest hash is kept in a second
file as well, so that a cut tail is found. A journal that can't be written stops writes to cells, never reads.

The database is SQLite in rollback-journal mode (WAL is unsafe on network file systems) with synchronous=FULL, and
writers take turns by BEGIN IMMEDIATE, so that several processes append without losing a row.
"""

from __future__ import annotations

import fcntl
import getpass
import hashlib
import json
import os
import socket
import sqlite3
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from exacell.errors import JournalError

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
"""

_GENESIS = "0" * 64


@dataclass(frozen=True, kw_only=True)
class Entry:
    """One row.

    Attributes:
        seq: 1 and up, without gaps.
        at: UTC, ISO 8601.
        change: the number of the change it belongs to; unique over all racks of this journal.
        kind: plan, intent, outcome, end, or observed (something that was seen on a cell, such as caching being on).
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


def _digest(prev: str, fields: Sequence[object]) -> str:
    return hashlib.sha256("\x1f".join([prev, *map(str, fields)]).encode()).hexdigest()


def actor() -> dict[str, str]:
    """Return who acts, for the plan row: OS user, SUDO_USER, host and process."""
    return {
        "user": getpass.getuser(),
        "sudoUser": os.environ.get("SUDO_USER", ""),
        "host": socket.gethostname(),
        "pid": str(os.getpid()),
    }


def alive(body: Mapping[str, Any]) -> bool:
    """Return whether the process that wrote a plan row still runs; True for one of another host, which can't be told."""
    if body.get("host") != socket.gethostname():
        return True
    pid = str(body.get("pid") or "")
    if not pid.isdigit():
        return False
    try:
        # The state follows the program's name, which is in parentheses and may hold anything; Z has ended.
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False if Path("/proc/self").exists() else _signalled(pid)


def _signalled(pid: str) -> bool:
    try:
        os.kill(int(pid), 0)
    except PermissionError:
        return True
    except (ProcessLookupError, ValueError):
        return False
    return True


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
        with self._turn():
            return self._append(rack, None, [Row(kind="plan", body=body)])

    def append(self, rack: str, change: int, rows: Iterable[Row]) -> None:
        """Record rows of one change in one commit, synced before this returns.

        Raises:
            JournalError: they could not be written.
        """
        with self._turn():
            self._append(rack, change, list(rows))

    @contextmanager
    def _turn(self) -> Iterator[None]:
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

    def _append(self, rack: str, change: int | None, rows: list[Row]) -> int:
        try:
            connection = self._connect()
        except (sqlite3.Error, OSError) as error:
            raise self._unwritable(error) from error
        try:
            connection.execute("begin immediate")
            seq, prev = connection.execute(
                "select coalesce(max(seq), 0), coalesce((select hash from entry order by seq desc limit 1), ?) from entry",
                (_GENESIS,),
            ).fetchone()
            self._refuse_damage(connection, seq)
            if change is None:
                change = 1 + connection.execute("select coalesce(max(change), 0) from entry").fetchone()[0]
            for row in rows:
                seq += 1
                at = datetime.now(UTC).isoformat(timespec="milliseconds")
                body = json.dumps(row.body, sort_keys=True, separators=(",", ":"))
                fields = (seq, at, rack, change, row.kind, row.target, body)
                digest = _digest(prev, fields)
                connection.execute("insert into entry values (?,?,?,?,?,?,?,?,?)", (*fields, prev, digest))
                prev = digest
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
            hint="journal verify shows where; nothing that changes cells is sent until it is mended",
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

    def _select(self, *, rack: str | None = None, change: int | None = None, extra: str = "1=1") -> list[Entry]:
        if not self.path.exists():
            return []
        where: list[str] = [extra]
        values: list[str | int] = []
        for name, value in (("rack", rack), ("change", change)):
            if value is not None:
                where.append(f"{name} = ?")
                values.append(value)
        try:
            connection = sqlite3.connect(f"file:{self.path}?mode=ro", uri=True, timeout=30)
            try:
                rows = connection.execute(
                    f"select seq, at, rack, change, kind, target, body, prev, hash from entry where {' and '.join(where)}"
                    " order by seq",
                    values,
                ).fetchall()
            finally:
                connection.close()
        except sqlite3.Error as error:
            raise JournalError(f"the journal {self.path} can't be read: {error}") from error
        return [
            Entry(
                seq=r[0],
                at=r[1],
                rack=r[2],
                change=r[3],
                kind=r[4],
                target=r[5],
                body=json.loads(r[6]),
                prev=r[7],
                hash=r[8],
            )
            for r in rows
        ]

    def caching_entries(self, rack: str) -> list[Entry]:
        """Return the rows that say something about caching being off or on, in order; quick in a long journal."""
        return self._select(
            rack=rack,
            extra="(kind = 'observed' or body like '%\"cachingOff\":true%' or body like '%\"cachingOn\":true%')"
            " and kind <> 'plan'",
        )

    def unfinished(self, rack: str) -> list[Entry]:
        """Return the plan rows of changes that never ended, oldest first, without those that were resumed."""
        rows = self._select(
            rack=rack,
            extra="kind = 'plan' and not exists (select 1 from entry as later where later.change = entry.change"
            " and later.kind = 'end')",
        )
        return [row for row in rows if not self._resumed(rack, row.change)]

    def _resumed(self, rack: str, change: int) -> bool:
        return bool(self._select(rack=rack, extra=f"kind = 'plan' and body like '%\"origin\":\"resume {change}\"%'"))

    def verify(self) -> str:
        """Return what is wrong with the chain, one line naming the first bad row; empty when it is whole."""
        if not self.path.exists():
            return (
                f"{self.path} is missing, but its kept head {self.head_path} is there"
                if self.head_path.exists()
                else ""
            )
        try:
            connection = sqlite3.connect(f"file:{self.path}?mode=ro", uri=True, timeout=30)
            try:
                rows = connection.execute(
                    "select seq, at, rack, change, kind, target, body, prev, hash from entry order by seq"
                ).fetchall()
            finally:
                connection.close()
        except sqlite3.Error as error:
            return f"{self.path} can't be read: {error}"
        prev, expected = _GENESIS, 0
        for *fields, claimed_prev, claimed in rows:
            expected += 1
            if fields[0] != expected:
                return f"row {expected} is missing: row {fields[0]} follows row {expected - 1}"
            if claimed_prev != prev or _digest(prev, fields) != claimed:
                return f"row {fields[0]} ({fields[4]} of change {fields[3]}) was edited or moved"
            prev = claimed
        try:
            kept = self._head()
        except JournalError as error:
            return error.message
        if kept is None:
            return f"the kept head {self.head_path} is missing" if rows else ""
        if kept[0] > expected:
            return f"rows {expected + 1} to {kept[0]} were cut off"
        # A crash may leave the head behind the rows, never before a row that it has seen in another form.
        if kept[0] < 1 or rows[kept[0] - 1][-1] != kept[1]:
            return f"row {kept[0]} is not the one that was written"
        return ""


@dataclass(frozen=True, kw_only=True)
class CachingOff:
    """A change left caching off on these cells, as far as the journal knows."""

    change: int
    cells: tuple[str, ...]


def caching_off(entries: Iterable[Entry]) -> tuple[CachingOff, ...]:
    """Return the changes after which caching was switched off and never seen back, newest last.

    An intent that switches caching off counts from before its statement left; only an outcome that brought caching
    back, or a later observation of it, clears it.
    """
    off: dict[str, int] = {}
    for entry in entries:
        if entry.kind == "intent" and entry.body.get("cachingOff"):
            off[entry.target] = entry.change
        elif (entry.kind == "outcome" and entry.body.get("cachingOn") and entry.body.get("state") == "done") or (
            entry.kind == "observed" and entry.body.get("caching") == "on"
        ):
            off.pop(entry.target, None)
    changes: dict[int, list[str]] = {}
    for cell, change in off.items():
        changes.setdefault(change, []).append(cell)
    return tuple(CachingOff(change=c, cells=tuple(cells)) for c, cells in sorted(changes.items()))
