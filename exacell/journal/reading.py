"""Read a journal: its rows in order, by rack, by change, or of changes that wait for something.

Rows for people are read some at a time, so that a long journal needs no more memory than a short one. Which statements this
process has sent since some change is read from there as well: an intent is on disk before its statement is sent.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from exacell.core.cellset import as_known, known_as
from exacell.core.collecting import without_collecting
from exacell.core.errors import JournalError
from exacell.journal.chain import Follower
from exacell.journal.file import JournalFile
from exacell.journal.rows import Entry, Planned, change_number, damaged_row, read_row, renamed
from exacell.journal.schema import CACHING, CONFIRMING, SERVICES, STOPPED, SWITCHING
from exacell.journal.state import ChangeState

_TAKEOVER = '%"statement":"unlock --takeover from %'
"""The SQL pattern for the body of a row about a takeover of the rack's lock."""
HERE = "this machine"
"""The place in a change's row if it asked no cell or node for anything."""
_HERE = f'%"on":"{HERE}"%'


class JournalReader(JournalFile):
    """The rows as values. Reading needs no right to write, and never waits for writers.

    Attributes:
        hosts: returns the present names of a rack's cells and hosts; empty if unknown. Rows may have been written with short
            or full names: rows for acting get the present names, rows for people stay as they were written.
    """

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.hosts: Callable[[str], Sequence[str]] = lambda rack: ()

    @property
    def head(self) -> str:
        """Return the newest row's number and the first 12 digits of its hash, ``17:1f0c…``; empty for an empty journal."""
        kept = self.kept_head()
        return "" if kept is None else f"{kept[0]}:{kept[1][:12]}"

    def entries(self, *, rack: str | None = None, change: int | None = None) -> list[Entry]:
        """Return the rows in order, only of one rack or change if given; empty if there is no journal.

        Raises:
            JournalError: the file is not a journal.
        """
        return self._select(rack=rack, change=change)

    def chain(self, rack: str, change: int) -> list[Entry]:
        """Return the rows of a change, followed by those of the changes that continued it, in order."""
        rows = self.entries(rack=rack, change=change)
        for later in self.finishing(rack, change):
            rows += self.entries(rack=rack, change=later)
        return rows

    def state(self, rack: str, change: int) -> ChangeState:
        """Return the state of a change by itself."""
        return ChangeState.of(self.entries(rack=rack, change=change))

    def whole_state(self, rack: str, change: int) -> ChangeState:
        """Return the state of a change together with the changes that continued it."""
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
        """Return rows with the present names of cells and hosts."""
        named = {rack: self._names_now(rack) for rack in {row.rack for row in rows} if self.hosts(rack)}
        return [renamed(row, named[row.rack]) if row.rack in named else row for row in rows]

    def _names_now(self, rack: str) -> Callable[[str], str]:
        """Return a function that maps a name in a row to the present name of the rack's cell or host."""
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
        """Return all rows in stored form, for verifying.

        Raises:
            JournalError: the file is not a journal.
        """
        return self.rows("1=1")

    def all_entries(
        self, *, rack: str | None = None, change: int | None = None, since: str = "", until: str = "", target: str = "",
        newest: int = 0,
    ) -> list[Entry]:  # fmt: skip
        """Return rows for people, in order.

        A row with a damaged body has the text of the body as ``damaged``. If the file can't be read as a whole, the readable rows
        are returned.

        Args:
            since, until: only changes that have a row from then on, or up to then; UTC as in ``Entry.at``.
            target: only changes that have a row about it.
            newest: only so many changes, those whose first rows are the newest; 0 for all.

        Raises:
            JournalError: the file is not a journal.
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
        """Return (first, last, changes): the numbers between which all rows of the chosen changes are, and these changes.

        The changes are those that :meth:`all_entries` would choose; None means all. The numbers are 1 and 0 if there are none.

        Raises:
            JournalError: the file is not a journal.
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
        """Return the SQL conditions that choose changes, and their values."""
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
        """Return a stored row for people; a damaged body becomes ``damaged``."""
        return self._entry(row, lenient=True)

    def plans_of(self, change: int) -> list[Planned]:
        """Return the plan rows of a change, for people."""
        return self._plans(change=change, lenient=True)

    def newest_change(self) -> int:
        """Return the number of the newest change, of any rack; 0 for none.

        Raises:
            JournalError: the file is not a journal.
        """
        found = self._read("select coalesce(max(change), 0) from entry", ())
        return change_number(found[0][0]) if found else 0

    def after(self, change: int) -> list[Entry]:
        """Return the rows of all changes after ``change``, in order of numbers, which only grow; a clock may be set back.

        Raises:
            JournalError: the file is not a journal.
        """
        return self._select(extra="change > ?", given=[change])

    def caching_entries(self, rack: str) -> list[Entry]:
        """Return the rows about caching being off or on, in order; fast in a long journal."""
        return self._select(rack=rack, extra=CACHING)

    def service_rows(self, rack: str) -> list[Entry]:
        """Return all rows except plans, in order, of a rack's changes with intents about services; fast in a long journal."""
        changes = f"select change from entry where rack = ? and {SERVICES}"
        return self._select(rack=rack, extra=f"change in ({changes}) and kind <> 'plan'", given=[rack])

    def switching_rows(self, rack: str, newest: int) -> list[Entry]:
        """Return all rows except plans, in order, of a rack's newest changes that made grid disks active or inactive.

        ``newest`` is the number of changes. Fast in a long journal.
        """
        # The plus signs keep SQLite from reading all changes, newest first, until there are enough.
        changes = f"select distinct +change from entry where rack = ? and {SWITCHING} order by +change desc limit ?"
        return self._select(rack=rack, extra=f"change in ({changes}) and kind <> 'plan'", given=[rack, newest])

    def plans_to_confirm(self, rack: str) -> list[Planned]:
        """Return the plan rows of a rack's changes that were made with --confirm-within, in order; fast in a long journal."""
        return self._plans(CONFIRMING, rack=rack)

    def stopped_after(self, rack: str, change: int) -> list[Entry]:
        """Return the end rows of a rack's changes after ``change`` that the user or a gate stopped, in order; fast as well."""
        return self._select(rack=rack, extra=f"{STOPPED} and change > ?", given=[change])

    def plans_after(self, rack: str, change: int) -> list[Planned]:
        """Return the plan rows of a rack's changes after ``change``, in order."""
        return self._plans("+kind = 'plan' and change > ?", rack=rack, given=[change])

    def of_time(self, rack: str, since: str, until: str) -> list[Entry]:
        """Return a rack's intents and outcomes in a span of time, in order, for people.

        Args:
            since, until: UTC as in ``Entry.at``, both included.
        """
        within = "kind in ('intent', 'outcome') and +at >= ? and +at <= ?"
        return self._select(rack=rack, extra=within, given=[since, until], lenient=True)

    def targets_after(self, rack: str, change: int) -> list[tuple[int, str]]:
        """Return (change, target) for everything that a rack's changes after ``change`` sent, or were about to send."""
        query = "select distinct change, target from entry where rack = ? and +kind = 'intent' and change > ?"
        named = self._names_now(rack)
        return [(int(number), named(str(target))) for number, target in self._read(query, [rack, change])]

    def of_kinds(self, rack: str, kinds: Sequence[str]) -> list[Entry]:
        """Return a rack's rows of some kinds, in order; fast in a long journal.

        Args:
            kinds: names from this program, never a user's text.
        """
        return self._select(rack=rack, extra=f"kind in ({','.join(map(repr, kinds))})")

    def unfinished(self, rack: str) -> list[Planned]:
        """Return the plan rows of changes that never ended, oldest first.

        Changes that were resumed or retried are left out, and so are continuations and undos of a change that has been undone
        since.
        """
        # The plus sign keeps SQLite from searching by kind: reading all ends for each plan of a long journal takes minutes.
        end = "later.rack = entry.rack and later.change = entry.change and +later.kind = 'end'"
        rows = self._plans(f"kind = 'plan' and not exists (select 1 from entry as later where {end})", rack=rack)
        return [row for row in rows if not self.gone_on_with(rack, row.change) and not self.is_over(row)]

    def finishing(self, rack: str, change: int) -> list[int]:
        """Return the numbers of the changes that continued ``change`` (resume, retry failed), oldest first."""
        rows = self._plans(f"kind = 'plan' and body like '%\"finishes\":{int(change)},%'", rack=rack)
        return [row.change for row in rows if row.finishes == change]

    def because_of(self, rack: str, change: int) -> list[Planned]:
        """Return, for people, the plan rows of the changes that continued ``change`` or took it back, oldest first."""
        undo = f"undo {change}"
        either = f'(body like \'%"finishes":{int(change)},%\' or body like \'%"origin":"{undo}"%\')'
        rows = self._plans(f"kind = 'plan' and {either}", rack=rack, lenient=True)
        return [row for row in rows if row.finishes == change or row.origin == undo]

    def newest_plan(self, rack: str) -> Planned | None:
        """Return the plan row of the rack's newest change that sent a statement, or could; None if there is none."""
        # Another plus sign: it makes SQLite read the index backwards from the newest change, not the index of all plans.
        newest = (
            "select other.seq from entry as other where other.rack = entry.rack and +other.kind = 'plan'"
            # A takeover carries out nothing, and a command on this machine can't be continued.
            f" and other.body not like '{_TAKEOVER}' and other.body not like '{_HERE}'"
        )
        rows = self._plans(f"seq = ({newest} order by other.change desc, other.seq desc limit 1)", rack=rack)
        return rows[-1] if rows else None

    def taken_over(self, rack: str) -> int:
        """Return the number of the row of the last takeover of the rack's lock; 0 for none."""
        rows = self._plans(f"kind = 'plan' and body like '{_TAKEOVER}'", rack=rack)
        return rows[-1].seq if rows else 0

    def with_origin(self, rack: str, origin: str) -> list[Planned]:
        """Return the plan rows of the changes with this origin, such as ``undo N`` or ``resume N``."""
        return self._plans(f"kind = 'plan' and body like '%\"origin\":\"{origin}\"%'", rack=rack)

    def of_run(self, rack: str, run: str) -> list[Planned]:
        """Return the plan rows of the changes that a recipe's run made, oldest first."""
        return self._plans(f"kind = 'plan' and body like '%\"run\":\"{run}\"%'", rack=rack)

    def gone_on_with(self, rack: str, change: int) -> bool:
        """Return whether resume or retry failed has continued a change, with any result."""
        return any(self.with_origin(rack, f"{verb} {change}") for verb in ("resume", "retry"))

    def is_over(self, row: Planned) -> bool:
        """Return whether the change that a plan row's change continues or takes back was undone later."""
        rows = self.entries(rack=row.rack, change=row.finishes or row.undoes)
        return any(entry.kind == "undone" and entry.seq > row.seq for entry in rows)


class Stream:
    """The rows of whole changes, in order, chosen as in :meth:`JournalReader.all_entries`.

    The chain is checked meanwhile, from the first of these rows to the last, including rows that are left out.

    Attributes:
        last: number of the last of these rows; 0 if there are none.
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
        """Yield the rows; rows that others write meanwhile are left out.

        Raises:
            JournalError: the file is not a journal, or another one took its place meanwhile.
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
        """Return the problem of the chain up to the last row that was read, or of its kept head; empty if there is none."""
        if self._follower.walked.problem:
            return self._follower.walked.problem
        try:
            self._journal.refuse_cut()
        except JournalError as error:
            return error.message
        return ""
