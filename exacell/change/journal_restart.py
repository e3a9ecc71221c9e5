"""Begin a new journal when the old one is damaged, without losing the old one or its warnings.

The old files stay beside the new one. The new journal's first row names them, how far they were whole, and the hash of
their last good row, so that a person can join the two again. Rows of changes that still wait for something, as ``pending``
lists them, are copied, if each still matches its hash.
"""

from __future__ import annotations

import os
import sqlite3
import tempfile
from collections.abc import Sequence
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from exacell.change.pending import half_undone, pending
from exacell.core.errors import JournalError, why_unreadable
from exacell.core.values import dataclass
from exacell.journal.actor import actor
from exacell.journal.confirming import open_deadlines
from exacell.journal.record import Journal, Row
from exacell.journal.rows import Entry, Planned, read_row
from exacell.journal.schema import SCHEMA


@dataclass(frozen=True, kw_only=True)
class Restarted:
    """The result of a restart.

    Attributes:
        old: where the damaged journal is now.
        good, hash: number and hash of the last row before the damage.
        carried: numbers of the changes whose rows were copied to the new journal.
        whole: whether every row up to the last could be read unchanged, so that no waiting change is missed.
    """

    old: Path
    good: int
    hash: str
    problem: str
    carried: tuple[int, ...]
    whole: bool


def restart(journal: Journal, *, reason: str = "") -> Restarted:
    """Put a damaged journal aside and begin a new one.

    Raises:
        JournalError: the journal is whole, so that there is no reason for a restart; or the files can't be copied, renamed
            or written.
    """
    with journal.turn():
        walked, problem = journal.examine()
        if not problem:
            raise JournalError(
                f"the journal {journal.path} is complete ({walked.good} rows), so no restart is needed; nothing "
                "was changed",
                hint="`journal export` copies rows out of it",
            )
        try:
            stored = journal.stored() if journal.path.exists() else []
        except JournalError:
            stored = journal.salvaged()
        whole = {row[0]: entry for row in stored if (entry := _entry(row)) is not None}
        kept = list(whole.values())
        last = max(_last(journal), *(row[0] for row in stored), 0)
        waiting = _waiting(kept, [row for row in stored if row[0] in whole])
        highest = max((row.change for row in kept), default=0)
        old = _put_aside(journal)
        first = {
            "old": str(old),
            "good": walked.good,
            "hash": walked.hash,
            "problem": problem,
            "reason": reason,
            **actor(),
        }
        journal.append_in_turn("", highest, [Row(kind="restart", body=first)])
        for change in waiting:
            rows = [e for e in kept if e.change == change]
            carried = [Row(kind=e.kind, target=e.target, body={**e.body, "carried": e.seq}) for e in rows]
            journal.append_in_turn(rows[0].rack, change, carried)
    return Restarted(
        old=old, good=walked.good, hash=walked.hash, problem=problem, carried=waiting, whole=len(kept) == last
    )


def _last(journal: Journal) -> int:
    """Return the number of the newest row, as recorded outside the journal; 0 if that is not known."""
    try:
        head = journal.whole_head()
    except JournalError:
        return 0
    return 0 if head is None else head.last[0]


def _entry(row: Sequence[Any]) -> Entry | None:
    """Return a stored row if it matches its hash, else None."""
    try:
        return read_row(row)
    except ValueError:
        return None


def _waiting(entries: Sequence[Entry], rows: Sequence[Sequence[Any]]) -> tuple[int, ...]:
    """Return the numbers of the changes that still wait for something, and of those that they continued.

    Args:
        rows: the entries in stored form.

    Raises:
        JournalError: there is no room for the copy of the rows that is needed to ask.
    """
    ended = {e.change for e in entries if e.kind == "end"}
    plans = [e for e in entries if isinstance(e, Planned)]
    gone_on_with = {plan.finishes for plan in plans}
    found = {plan.change for plan in plans if plan.change not in ended | gone_on_with}
    try:
        with tempfile.TemporaryDirectory(prefix="exacell-") as folder:
            copy = _laid_out(rows, Path(folder) / "journal.db")
            for rack in dict.fromkeys(e.rack for e in entries):
                half = half_undone(copy, rack)
                found |= {item.change for item in pending(copy, rack)} | ({half.change} if half is not None else set())
                found |= {item.change for item in open_deadlines(copy, rack)}
    except (OSError, sqlite3.Error) as error:
        raise JournalError(
            f"the unfinished changes of the journal can't be copied ({error}); nothing was changed",
            hint="make space in $TMPDIR, or set TMPDIR to another folder",
        ) from error
    roots = {plan.finishes for plan in plans if plan.finishes and plan.change in found}
    return tuple(sorted(found | (roots & {e.change for e in entries})))


def _laid_out(rows: Sequence[Sequence[Any]], path: Path) -> Journal:
    """Return a journal with these rows, for reading."""
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(SCHEMA)
        connection.executemany("insert into entry values (?,?,?,?,?,?,?,?,?)", rows)
        connection.commit()
    return Journal(path)


def _put_aside(journal: Journal) -> Path:
    """Rename the journal's files and return where its rows are now."""
    stamp = datetime.now(UTC).strftime("%Y%m%dT%H%M%SZ")
    old = journal.path.with_name(f"{journal.path.stem}-damaged-{stamp}{journal.path.suffix}")
    number = 1
    while old.exists() or old.with_suffix(".head").exists():
        number += 1
        old = old.with_name(f"{journal.path.stem}-damaged-{stamp}-{number}{journal.path.suffix}")
    leftovers = Path(f"{journal.path}-journal")
    try:
        for path, target in (
            (journal.path, old),
            (leftovers, Path(f"{old}-journal")),
            (journal.head_path, old.with_suffix(".head")),
        ):
            if path.exists():
                os.replace(path, target)
    except OSError as error:
        raise JournalError(
            f"the journal {journal.path} can't be renamed: {why_unreadable(error)}; it stays as it is"
        ) from error
    return old
