"""Write the journal: an append-only, hash-chained record of every plan, statement and reply.

An intent is on disk before its statement is sent, and its outcome after the reply was read and verified, so that the state
after a crash is visible. Each row's hash covers the row and the hash before it; the newest hash is kept in a second
file as well, so that a cut tail is found. A journal that can't be written stops writes to cells, never reads.

The database is SQLite in rollback-journal mode (WAL is unsafe on network file systems), and writers take turns, so that
several processes append without losing a row. With synchronous=EXTRA the directory is synced as well when SQLite's own
rollback file is gone: with FULL a power cut can bring that file back, and then the newest rows are lost.
Source: SQLite, "PRAGMA synchronous".
"""

from __future__ import annotations

import errno
import json
import os
import sqlite3
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from enum import StrEnum
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any

from exacell.cellcli.secrets import masked_data, may_hold
from exacell.core.errors import JournalError
from exacell.core.sharedfile import flock
from exacell.core.values import dataclass
from exacell.journal.actor import actor, alive
from exacell.journal.chain import GENESIS, Follower, Walk, against_head, digest, walk
from exacell.journal.file import NUMBERS, RESTART, refuse_odd
from exacell.journal.reading import JournalReader
from exacell.journal.rows import Actor, Planned
from exacell.journal.schema import COLUMNS, OBJECTS, SCHEMA, in_words, strange
from exacell.journal.state import by_change

RECENT = 1000
"""How many of the newest rows are checked before each change; `journal verify` checks all, which takes seconds."""


def _text_of(body: Mapping[str, Any]) -> str:
    """Return a row's body as JSON, without passwords and keys in the texts of shells, scripts, recipes and cells."""
    text = json.dumps(body, sort_keys=True, separators=(",", ":"))
    return json.dumps(masked_data(body), sort_keys=True, separators=(",", ":")) if may_hold(text) else text


@dataclass(frozen=True, kw_only=True)
class Row:
    """A row to append: kind, target and body."""

    kind: str
    target: str = ""
    body: Mapping[str, Any]


class Journal(JournalReader):
    """The journal in one file. Thread-safe; other processes may append at the same time."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self._lock = threading.Lock()
        self._newest: tuple[int, str] | None = None
        self._let_go: set[int] = set()

    def begin(self, rack: str, body: Mapping[str, Any]) -> int:
        """Record a plan and return the number of its change.

        Raises:
            JournalError: the row could not be written and synced.
        """
        return self.note(rack, Row(kind="plan", body=body))

    def note(self, rack: str, *rows: Row) -> int:
        """Record a new change that consists of these rows, such as a refusal; return its number.

        Raises:
            JournalError: the row could not be written and synced.
        """
        self._refuse_gone()
        with self.turn():
            return self.append_in_turn(rack, None, list(rows))

    def let_go(self, change: int) -> None:
        """Note that this process no longer carries out a change; if it broke off, no row can say so."""
        self._let_go.add(change)

    def is_let_go(self, change: int) -> bool:
        """Return whether this process carried out a change and no longer does."""
        return change in self._let_go

    def refuse_damaged(self) -> None:
        """Raise JournalError if no plan could be recorded after the existing rows; writes nothing.

        Raises:
            JournalError: the files are damaged or can't be written.
        """
        if not self.exists:
            return
        with self.turn(), self._begun() as connection:
            self._refuse_edited(connection, self._end(connection)[0])
            self._next_change(connection)

    def append(self, rack: str, change: int, rows: Iterable[Row]) -> None:
        """Record rows of one change in one commit, synced before this returns.

        Raises:
            JournalError: they could not be written.
        """
        self._refuse_gone(f"change {change}, which it held,")
        with self.turn():
            self.append_in_turn(rack, change, list(rows))

    def observe(self, rack: str, seen: Callable[[], Iterable[tuple[int, Row]]]) -> str:
        """Record observations about things that earlier changes left behind.

        Args:
            seen: returns the change that left each thing, and the row about it; rows of one change are adjacent.

        Returns:
            why they could not be recorded, or searched for in the journal, one line; empty if they were. The observations are
            valid in any case.
        """
        try:
            for change, rows in groupby(seen(), key=itemgetter(0)):
                self.append(rack, change, [row for _, row in rows])
        except JournalError as error:
            return error.message
        return ""

    @contextmanager
    def turn(self) -> Iterator[None]:
        """Hold the turn to write among all threads and processes, so that rows and the head stay in step."""
        with self._lock:
            try:
                self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
                lock = os.open(self.path.with_suffix(".lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            except OSError as error:
                raise self._unwritable(error) from error
            try:
                try:
                    self.give_to_owner(lock)
                    flock(lock, exclusive=True)
                except OSError as error:
                    raise self._unwritable(error) from error
                yield
            finally:
                os.close(lock)

    @contextmanager
    def _begun(self) -> Iterator[sqlite3.Connection]:
        """Yield a connection that has begun to write; work that is not committed on it is rolled back."""
        try:
            connection = self._connect()
        except (sqlite3.Error, OSError) as error:
            raise self._unwritable(error) from error
        try:
            connection.execute("begin immediate")
            yield connection
        except (sqlite3.Error, OSError) as error:
            raise self._unwritable(error) from error
        finally:
            connection.close()

    def _connect(self) -> sqlite3.Connection:
        if not self.is_there(self.path):
            descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            try:
                os.fchmod(descriptor, 0o600)
                self.give_to_owner(descriptor)
            finally:
                os.close(descriptor)
        refuse_odd(Path(f"{self.path}-journal"))
        connection = sqlite3.connect(self.path, timeout=30, isolation_level=None)
        try:
            with in_words():
                connection.execute("pragma synchronous=extra")
                connection.execute("pragma busy_timeout=30000")
                connection.executescript(SCHEMA)
                odd = strange(connection.execute(OBJECTS).fetchall())
            if odd:
                # The effect of such an object on a new row is unknown.
                raise sqlite3.DatabaseError(odd)
        except sqlite3.Error:
            connection.close()
            raise
        return connection

    def append_in_turn(self, rack: str, change: int | None, rows: list[Row]) -> int:
        """Record rows while :meth:`turn` is held, and return their change's number; a new number if ``change`` is None.

        Raises:
            JournalError: they could not be written.
        """
        with self._begun() as connection:
            last = seq, prev = self._end(connection)
            if not any(row.kind == "restart" for row in rows):
                self._refuse_another(connection, change)
            if change is None:
                self._refuse_edited(connection, seq)
                change = self._next_change(connection)
            for row in rows:
                seq += 1
                at = datetime.now(UTC).isoformat(timespec="milliseconds")
                fields = (seq, at, rack, change, row.kind, row.target, _text_of(row.body))
                hashed = digest(prev, fields)
                connection.execute("insert into entry values (?,?,?,?,?,?,?,?,?)", (*fields, prev, hashed))
                prev = hashed
            self.announce(last, (seq, prev))
            connection.execute("commit")
            self.keep_head(seq, prev)
            self._newest = (seq, prev)
        return change

    def _unwritable(self, error: Exception) -> JournalError:
        refused = isinstance(error, OSError) and error.errno in (errno.EACCES, errno.EPERM, errno.EROFS)
        denied = refused or (self.is_there(self.path) and not os.access(self.path, os.W_OK))
        if denied:
            hint = self._whose(self.path)
        elif os.path.isdir(self.path) or type(error) is sqlite3.DatabaseError:
            # The error has no more precise class: SQLite calls the file malformed, or not a database.
            hint = f"{RESTART}; reads still work"
        else:
            hint = "free space or repair the file; reads still work"
        return JournalError(
            f"the journal {self.path} can't be written ({self.amiss(error)}); no statement that changes cells is sent",
            hint=hint,
        )

    def _end(self, connection: sqlite3.Connection) -> tuple[int, str]:
        """Return number and hash of the newest row; raise JournalError if it is not the row that the head names."""
        seq, prev = connection.execute(
            "select coalesce(max(seq), 0), coalesce((select hash from entry order by seq desc limit 1), ?) from entry",
            (GENESIS,),
        ).fetchone()
        self._refuse_damage(connection, (seq, prev))
        return seq, prev

    def _refuse_damage(self, connection: sqlite3.Connection, last: tuple[int, str]) -> None:
        """Raise JournalError if the rows do not end as the head says: a new head would hide that rows were cut off or added."""
        head = self.whole_head()
        if head is None:
            if last[0] == 0:
                return
            said = f"its kept head {self.head_path} is missing"
        else:
            if head.explains(*last) and (last[0] or head.announced):
                return
            number, digest = head.last
            row = connection.execute("select hash from entry where seq = ?", (number,)).fetchone()
            said = f"its kept head says {number}: "
            if row is not None and row[0] == digest:
                said += "the rows after it were not written by exacell"
            else:
                said += "rows are missing or edited"
        raise JournalError(
            f"the journal {self.path} ends at row {last[0]}, but {said}",
            hint="`journal verify` shows where; no statement that changes cells is sent before `journal restart`",
        )

    def _refuse_another(self, connection: sqlite3.Connection, change: int | None) -> None:
        """Raise JournalError if the newest row that this process wrote is gone, unless a restart has copied the change."""
        if self._newest is None:
            return
        row = connection.execute("select hash from entry where seq = ?", (self._newest[0],)).fetchone()
        if row is not None and row[0] == self._newest[1]:
            return
        first = connection.execute("select kind from entry where seq = 1").fetchone()
        known = "select 1 from entry where change = ?"
        if first == ("restart",) and (change is None or connection.execute(known, (change,)).fetchone()):
            return
        raise self._another(self._written(self._newest[0]))

    def _refuse_gone(self, what: str = "") -> None:
        """Raise JournalError if the journal existed and is gone now; no new one is created, because it may be put back.

        Args:
            what: the part of it that the caller knows, if this process has not written a row itself.
        """
        if (self._newest is not None or what) and not self.is_there(self.path):
            raise self._another(what if self._newest is None else self._written(self._newest[0]))

    @staticmethod
    def _written(number: int) -> str:
        return f"row {number}, which this process wrote,"

    def _another(self, what: str) -> JournalError:
        there = "is a different file now" if self.is_there(self.path) else "is gone"
        return JournalError(
            f"the journal {self.path} {there}: it does not contain {what}",
            hint="put the old file back; or start exacell again to use the new one",
        )

    def _refuse_edited(self, connection: sqlite3.Connection, last: int) -> None:
        """Raise JournalError if one of the newest rows is not as it was written; `journal verify` checks all."""
        behind = max(0, last - RECENT)
        rows = connection.execute(f"select {COLUMNS} from entry where seq >= ? order by seq", (behind,)).fetchall()
        prev = str(rows.pop(0)[-1]) if behind and rows else GENESIS
        problem = walk(rows, behind=behind, prev=prev).problem
        if problem:
            raise JournalError(
                f"the journal {self.path} is damaged: {problem}; no statement that changes cells is sent",
                hint=f"`journal verify` shows where; {RESTART}",
            )

    def _next_change(self, connection: sqlite3.Connection) -> int:
        """Return the number for a new change; raise JournalError if any row contains a number that no change can have."""
        (newest,) = connection.execute("select coalesce(max(change), 0) from entry").fetchone()
        if not isinstance(newest, int) or newest + 1 not in NUMBERS:
            raise JournalError(
                f"the journal {self.path} is damaged: {newest!r} is not the number of a change; no statement that changes "
                "cells is sent",
                hint=f"`journal verify` shows where; {RESTART}",
            )
        return newest + 1

    def verify(self) -> str:
        """Return the problem of the chain, one line that names the first bad row; empty if the chain is whole."""
        return self.examine()[1]

    def examine(self) -> tuple[Walk, str]:
        """Return how far the chain is whole, and the problem of the chain or its head (empty if there is none)."""
        if not self.is_there(self.path):
            gone = f"{self.path} is missing, but its kept head {self.head_path} is there"
            return Walk(good=0, hash=GENESIS, problem=""), gone if self.is_there(self.head_path) else ""
        try:
            # Read the head before the rows and again after them: another process may be writing.
            before = self.whole_head()
            follower = Follower(mark=0 if before is None else before.last[0])
            for rows in self.pieces():
                if follower.follow(rows).problem:
                    break
            walked = follower.walked
            if walked.problem:
                return walked, walked.problem
            after = self.whole_head()
        except JournalError as error:
            return walk(self.salvaged()), error.message
        damage = self.damage()
        if damage:
            return walked, damage
        if before is None or after is None:
            return walked, f"the kept head {self.head_path} is missing" if walked.good and after is None else ""
        if before.last[0] or before.announced is None:
            problem = against_head(walked, before.last, follower.marked)
            if problem:
                return walked, problem
        first = after.last[0] + 1
        if first <= walked.good and not after.explains(walked.good, walked.hash):
            which = f"row {first}" if first == walked.good else f"rows {first} to {walked.good}"
            return walked, (
                f"{which} after the kept head: exacell did not write them, because it records each row there first"
            )
        return walked, ""


def runs(journal: Journal, row: Planned) -> bool:
    """Return whether the process of a plan's row may still carry out its change.

    A process of another host can't be checked: it counts as ended if somebody has taken over the rack's lock since.
    """
    if row.who.host == actor()["host"]:
        return alive(row.who) and not (journal.is_let_go(row.change) and own(row))
    return journal.taken_over(row.rack) < row.seq


def own(row: Planned) -> bool:
    """Return whether this process made the change."""
    return row.who.process == Actor.of(actor()).process


class Sent(StrEnum):
    """The state of the statements that were sent."""

    NOTHING = "nothing"
    """No changing statement was sent."""
    ENDED = "ended"
    """All outcomes are known."""
    UNDER_WAY = "under way"
    """Some outcomes are not known."""


def sent_since(journal: Journal, change: int) -> Sent:
    """Return the state of the statements that this process has sent in changes after ``change``; 0 for all.

    Raises:
        JournalError: the journal can't be read.
    """
    me = Actor.of(actor()).process
    states = by_change(journal.after(change)).values()
    own = [state for state in states if any(plan.who.process == me for plan in state.plans)]
    if not any(state.intents for state in own):
        return Sent.NOTHING
    return Sent.UNDER_WAY if any(state.unanswered for state in own) else Sent.ENDED
