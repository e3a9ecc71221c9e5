"""What readers ask of a journal: its rows in order, of a rack, of a change, of those that wait for something.

Rows for eyes are read some at a time, so that a long journal takes no more memory than a short one. What this process has
sent since some change is known from there as well: an intent is on disk before its statement leaves.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

from exacell.core.cellset import as_known, known_as
from exacell.core.errors import JournalError
from exacell.journal.chain import Follower
from exacell.journal.file import JournalFile
from exacell.journal.rows import Entry, Planned, change_number, damaged_row, read_row, renamed
from exacell.journal.schema import CACHING, CONFIRMING, SERVICES, STOPPED, SWITCHING
from exacell.journal.state import ChangeState

_TAKEOVER = '%"statement":"unlock --takeover from %'
"""What the body of the row of a takeover of the rack's lock is like."""
HERE = "this machine"
"""What a change's row says of where it was carried out when no cell or node was asked for anything."""
_HERE = f'%"on":"{HERE}"%'


@contextmanager
def without_collecting() -> Iterator[None]:
    """Look for no garbage while rows are read and told: there is none among thousands of bodies, and to look through them
    takes half the time."""
    collects = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collects:
            gc.enable()


class JournalReader(JournalFile):
    """The rows as values. Reading takes no right to write, and never waits for who writes.

    Attributes:
        hosts: returns how a rack's cells and hosts are called now; none where nobody knows. Rows to act upon call them so, which
            may have been written under their short names, or those in full; rows for eyes stay as they were written.
    """

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.hosts: Callable[[str], Sequence[str]] = lambda rack: ()

    @property
    def head(self) -> str:
        """The newest row's number and the first 12 digits of its hash, ``17:1f0c…``; empty for an empty journal."""
        kept = self.kept_head()
        return "" if kept is None else f"{kept[0]}:{kept[1][:12]}"

    def entries(self, *, rack: str | None = None, change: int | None = None) -> list[Entry]:
        """Return the rows in order, of one rack or change when asked; empty when there is no journal.

        Raises:
            JournalError: the file is no journal.
        """
        return self._select(rack=rack, change=change)

    def chain(self, rack: str, change: int) -> list[Entry]:
        """Return the rows of a change and behind them those of the changes that went on with it, in order."""
        rows = self.entries(rack=rack, change=change)
        for later in self.finishing(rack, change):
            rows += self.entries(rack=rack, change=later)
        return rows

    def state(self, rack: str, change: int) -> ChangeState:
        """Return how a change stands by itself."""
        return ChangeState.of(self.entries(rack=rack, change=change))

    def whole_state(self, rack: str, change: int) -> ChangeState:
        """Return how a change stands with the changes that went on with it."""
        return ChangeState.of(self.chain(rack, change))

    def _select(
        self, *, rack: str | None = None, change: int | None = None, extra: str = "1=1", given: Sequence[str | int] = (),
        lenient: bool = False,
    ) -> list[Entry]:  # fmt: skip
        if not lenient:
            self.refuse_cut()
        where: list[str] = [extra]
        values = [*given]
        for name, value in (("rack", rack), ("change", change)):
            if value is not None:
                where.append(f"{name} = ?")
                values.append(value)
        stored = self.rows(" and ".join(where), values, lenient=lenient)
        with without_collecting():
            found = [self._entry(row, lenient=lenient) for row in stored]
            return found if lenient else self._named_now(found)

    def _named_now(self, rows: list[Entry]) -> list[Entry]:
        """Return rows in which cells and hosts are called as they are now."""
        named = {rack: self._names_now(rack) for rack in {row.rack for row in rows} if self.hosts(rack)}
        return [renamed(row, named[row.rack]) if row.rack in named else row for row in rows]

    def _names_now(self, rack: str) -> Callable[[str], str]:
        """Return what says how a cell or host of the rack is called now, whose name in a row is given."""
        known = frozenset(self.hosts(rack))

        @cache
        def named(name: str) -> str:
            if name in known or known_as(name, known) == name:
                return name
            written = self._read("select distinct target from entry where rack = ? and target <> ''", [rack])
            return as_known([name, *(str(row[0]) for row in written)], known)[name]

        return named

    def _plans(
        self, extra: str = "kind = 'plan'", *, rack: str | None = None, change: int | None = None,
        given: Sequence[str | int] = (), lenient: bool = False,
    ) -> list[Planned]:  # fmt: skip
        rows = self._select(rack=rack, change=change, extra=extra, given=given, lenient=lenient)
        return [row for row in rows if isinstance(row, Planned)]

    def _entry(self, row: Sequence[Any], *, lenient: bool) -> Entry:
        try:
            return read_row(row)
        except ValueError as error:
            if lenient:
                return damaged_row(row)
            raise JournalError(
                f"the journal {self.path} is damaged: row {row[0]} can't be read ({error})",
                hint="`journal verify` shows what is wrong; `journal restart` renames it and begins a new one",
            ) from error

    def stored(self) -> list[tuple[Any, ...]]:
        """Return all rows as they are stored, for verifying.

        Raises:
            JournalError: the file is no journal.
        """
        return self.rows("1=1")

    def all_entries(
        self, *, rack: str | None = None, change: int | None = None, since: str = "", until: str = "", target: str = "",
        newest: int = 0,
    ) -> list[Entry]:  # fmt: skip
        """Return rows for eyes, in order: a row whose body is damaged has that as ``damaged``, and of a file that can't be
        read as a whole those that can be read.

        Args:
            since, until: only changes that have a row from then on, or up to then; UTC as in ``Entry.at``.
            target: only changes that have a row about it.
            newest: only so many changes, those whose first rows are the newest; 0 for all.

        Raises:
            JournalError: the file is no journal.
        """
        chosen, given = self._chosen(since, until, target)
        values: list[str | int] = [*given]
        if newest:
            own = "" if rack is None else "where rack = ? "
            last = f"select change from entry {own}group by change order by min(seq) desc limit {newest}"
            chosen.append(f"change in ({last})")
            values += [] if rack is None else [rack]
        return self._select(rack=rack, change=change, extra=" and ".join(["1=1", *chosen]), given=values, lenient=True)

    def span(
        self, *, rack: str | None = None, since: str = "", until: str = "", target: str = ""
    ) -> tuple[int, int, frozenset[int] | None]:
        """Return numbers of rows between which all rows of the changes lie that :meth:`all_entries` would choose, and which
        changes these are: None for all. The numbers are 1 and 0 where there are none.

        Raises:
            JournalError: the file is no journal.
        """
        own, values = ("rack = ?", [rack]) if rack is not None else ("1=1", list[str]())
        chosen, given = self._chosen(since, until, target)
        where = f"where {' and '.join([own, *chosen])}"
        ends = f"select coalesce(min(seq), 1), coalesce(max(seq), 0) from entry {where}"
        found = self._read(ends, [*values, *given], lenient=True)
        first, last = found[0] if found else (1, 0)
        if not chosen:
            return first, last, None
        numbers = self._read(f"select distinct change from entry {where}", [*values, *given], lenient=True)
        return first, last, frozenset(change_number(row[0]) for row in numbers)

    def _chosen(self, since: str, until: str, target: str) -> tuple[list[str], list[str]]:
        """Return the conditions that choose changes, and their values."""
        targets: list[str] = []
        if target:
            written = self._read("select distinct target from entry", (), lenient=True)
            targets = [name for name in (str(row[0]) for row in written) if known_as(name, (target,)) == target]
        any_of = f"target in ({','.join('?' * len(targets))})"
        chosen = [("at >= ?", [since] if since else None), ("at <= ?", [until] if until else None)]
        chosen.append((any_of, targets if target else None))
        given = [value for _, values in chosen for value in values or ()]
        return [
            f"change in (select change from entry where {having})" for having, values in chosen if values is not None
        ], given

    def for_eyes(self, row: Sequence[Any]) -> Entry:
        """Return a stored row; one whose body is damaged has that as ``damaged``."""
        return self._entry(row, lenient=True)

    def plans_of(self, change: int) -> list[Planned]:
        """Return the plan rows of a change, for eyes."""
        return self._plans(change=change, lenient=True)

    def newest_change(self) -> int:
        """Return the number of the newest change, of any rack; 0 for none.

        Raises:
            JournalError: the file is no journal.
        """
        found = self._read("select coalesce(max(change), 0) from entry", ())
        return change_number(found[0][0]) if found else 0

    def after(self, change: int) -> list[Entry]:
        """Return the rows of all changes behind ``change``, in order. Numbers only grow; a clock may be set back.

        Raises:
            JournalError: the file is no journal.
        """
        return self._select(extra="change > ?", given=[change])

    def caching_entries(self, rack: str) -> list[Entry]:
        """Return the rows that say something about caching being off or on, in order; quick in a long journal."""
        return self._select(rack=rack, extra=CACHING)

    def service_rows(self, rack: str) -> list[Entry]:
        """Return the rows of a rack's changes with intents that speak of services, in order, but not their plans; quick in a
        long journal."""
        changes = f"select change from entry where rack = ? and {SERVICES}"
        return self._select(rack=rack, extra=f"change in ({changes}) and kind <> 'plan'", given=[rack])

    def switching_rows(self, rack: str, newest: int) -> list[Entry]:
        """Return the rows of so many of a rack's changes, the newest, that made grid disks active or inactive, in order, but
        not their plans; quick as well."""
        # The signs keep SQLite from walking all changes, newest first, until there are enough.
        changes = f"select distinct +change from entry where rack = ? and {SWITCHING} order by +change desc limit ?"
        return self._select(rack=rack, extra=f"change in ({changes}) and kind <> 'plan'", given=[rack, newest])

    def plans_to_confirm(self, rack: str) -> list[Planned]:
        """Return the plan rows of a rack's changes that were made with --confirm-within, in order; quick as well."""
        return self._plans(CONFIRMING, rack=rack)

    def stopped_after(self, rack: str, change: int) -> list[Entry]:
        """Return the end rows of a rack's changes behind ``change`` that the user or a gate stopped, in order; quick as well."""
        return self._select(rack=rack, extra=f"{STOPPED} and change > ?", given=[change])

    def plans_after(self, rack: str, change: int) -> list[Planned]:
        """Return the plan rows of a rack's changes behind ``change``, in order."""
        return self._plans("+kind = 'plan' and change > ?", rack=rack, given=[change])

    def of_time(self, rack: str, since: str, until: str) -> list[Entry]:
        """Return a rack's intents and outcomes of a time, in order, for eyes.

        Args:
            since, until: UTC as in ``Entry.at``, both included.
        """
        within = "kind in ('intent', 'outcome') and +at >= ? and +at <= ?"
        return self._select(rack=rack, extra=within, given=[since, until], lenient=True)

    def targets_after(self, rack: str, change: int) -> list[tuple[int, str]]:
        """Return change and target of what was sent by a rack's changes behind ``change``, or was about to be."""
        query = "select distinct change, target from entry where rack = ? and +kind = 'intent' and change > ?"
        named = self._names_now(rack)
        return [(int(number), named(str(target))) for number, target in self._read(query, [rack, change])]

    def of_kinds(self, rack: str, kinds: Sequence[str]) -> list[Entry]:
        """Return a rack's rows of some kinds, in order; quick in a long journal.

        Args:
            kinds: names of ours, never a user's text.
        """
        return self._select(rack=rack, extra=f"kind in ({','.join(map(repr, kinds))})")

    def unfinished(self, rack: str) -> list[Planned]:
        """Return the plan rows of changes that never ended, oldest first, without those that were resumed or retried, and those
        that went on with, or took back, a change that is taken back since."""
        # The sign keeps SQLite from searching by kind: all ends of a long journal for each of its plans take minutes.
        end = "later.rack = entry.rack and later.change = entry.change and +later.kind = 'end'"
        rows = self._plans(f"kind = 'plan' and not exists (select 1 from entry as later where {end})", rack=rack)
        return [row for row in rows if not self.gone_on_with(rack, row.change) and not self.is_over(row)]

    def finishing(self, rack: str, change: int) -> list[int]:
        """Return the numbers of the changes that went on with ``change`` (resume, retry failed), oldest first."""
        rows = self._plans(f"kind = 'plan' and body like '%\"finishes\":{int(change)},%'", rack=rack)
        return [row.change for row in rows if row.finishes == change]

    def because_of(self, rack: str, change: int) -> list[Planned]:
        """Return, for eyes, the plan rows of the changes that went on with ``change`` or took it back, oldest first."""
        undo = f"undo {change}"
        either = f'(body like \'%"finishes":{int(change)},%\' or body like \'%"origin":"{undo}"%\')'
        rows = self._plans(f"kind = 'plan' and {either}", rack=rack, lenient=True)
        return [row for row in rows if row.finishes == change or row.origin == undo]

    def newest_plan(self, rack: str) -> Planned | None:
        """Return the plan row of the rack's newest change that something was sent for, or could be; None when there is none."""
        # A sign again: an index walked backwards from the newest change on, not one of all plans.
        newest = (
            "select other.seq from entry as other where other.rack = entry.rack and +other.kind = 'plan'"
            # A takeover's row carries nothing out, and a command of this machine is nothing to go on with.
            f" and other.body not like '{_TAKEOVER}' and other.body not like '{_HERE}'"
        )
        rows = self._plans(f"seq = ({newest} order by other.change desc, other.seq desc limit 1)", rack=rack)
        return rows[-1] if rows else None

    def taken_over(self, rack: str) -> int:
        """Return the number of the row that says that the rack's lock was taken over last; 0 for never."""
        rows = self._plans(f"kind = 'plan' and body like '{_TAKEOVER}'", rack=rack)
        return rows[-1].seq if rows else 0

    def with_origin(self, rack: str, origin: str) -> list[Planned]:
        """Return the plan rows of the changes that were made on behalf of ``undo N``, ``resume N`` and their like."""
        return self._plans(f"kind = 'plan' and body like '%\"origin\":\"{origin}\"%'", rack=rack)

    def of_run(self, rack: str, run: str) -> list[Planned]:
        """Return the plan rows of the changes that a recipe's run made, oldest first."""
        return self._plans(f"kind = 'plan' and body like '%\"run\":\"{run}\"%'", rack=rack)

    def gone_on_with(self, rack: str, change: int) -> bool:
        """Return whether resume or retry failed has gone on with a change, however that ended."""
        return any(self.with_origin(rack, f"{verb} {change}") for verb in ("resume", "retry"))

    def is_over(self, row: Planned) -> bool:
        """Return whether the change that a plan row's change belongs to was taken back behind it."""
        rows = self.entries(rack=row.rack, change=row.finishes or row.undoes)
        return any(entry.kind == "undone" and entry.seq > row.seq for entry in rows)


class Stream:
    """The rows of whole changes, in order, as :meth:`JournalReader.all_entries` chooses them.

    The chain is followed meanwhile, from the first of these rows to the last, over those that are left out as well.

    Attributes:
        last: number of the last row of them; 0 when there are none.
    """

    def __init__(
        self, journal: JournalReader, *, rack: str | None = None, since: str = "", until: str = "", target: str = ""
    ) -> None:
        self._journal = journal
        self._rack = rack
        self._first, self.last, self._wanted = journal.span(rack=rack, since=since, until=until, target=target)
        self._follower = Follower(behind=self._first - 1)

    def choose(self, changes: Collection[int]) -> None:
        """Leave out the rows of all other changes from now on."""
        self._wanted = frozenset(changes)

    def __iter__(self) -> Iterator[Entry]:
        """Yield the rows; those that others write meanwhile are none of them.

        Raises:
            JournalError: the file is no journal, or another one took its place meanwhile.
        """
        behind = self._first - 1
        self._follower = Follower(behind=behind)
        if self.last < self._first:
            return
        for rows in self._journal.pieces(behind=behind, until=self.last, lenient=True):
            self._follower.follow(rows)
            for row in rows:
                if self._rack in (None, row[2]) and (self._wanted is None or change_number(row[3]) in self._wanted):
                    yield self._journal.for_eyes(row)

    @property
    def problem(self) -> str:
        """What is wrong with the chain as far as it was followed, or with what is kept of its end; empty when nothing is."""
        if self._follower.walked.problem:
            return self._follower.walked.problem
        try:
            self._journal.refuse_cut()
        except JournalError as error:
            return error.message
        return ""
