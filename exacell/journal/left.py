"""Find in the journal what changes have left on cells: caches off, services stopped, grid disks offline.

Each stays until a change, an undo or an observation shows that it is in order again. This needs all changes of a rack, in the
order of their rows; :mod:`exacell.journal.state` has the state of one change.

One state machine, :class:`Leftover`, processes the rows for all three kinds. An intent leaves a thing; an outcome makes that
sure, closes it, or shows that the statement did nothing; an observation closes it. Each kind defines the rows that do so;
:data:`CACHES`, :data:`DISKS` and :data:`SERVICES` are all kinds. No other module makes a row about an observation.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Mapping, Sequence
from enum import Enum
from typing import Any, Generic, Protocol, TypeVar

from exacell.core.cellset import fold, grouped
from exacell.core.values import dataclass, replace
from exacell.journal.record import Journal, Row
from exacell.journal.rows import Entry, Intent, Observed, Outcome, Planned, StepRow
from exacell.journal.state import ChangeState, paired, services_of

Place = tuple[str, str]
"""(cell, thing): the thing is a cache, a service, the name of a grid disk, or :data:`GRID_DISKS`."""

FLASHCACHE = "flashcache"
"""The cache of rows that name none."""

GRID_DISKS = "griddisks"
"""All grid disks of a cell: a statement with ALL switches them, and an observation may be about them."""

GONE, UNTOLD = "gone", "untold"
"""The words in rows for a cache that a cell does not have, and for one whose state the cell does not show."""

_NOT_DONE = ("failed", "not done")
"""States of a step that, as far as is known, did not happen."""

NOT_LEFT = "refused"
"""State of a step whose intent was written but whose statement was never sent: the look before it refused it, or failed."""

_UNDONE = (*_NOT_DONE, NOT_LEFT)
_UP = ("done", "not needed")


class Turn(Enum):
    """The effect of a row on a thing that was left, if the row has an effect."""

    BACK = "in order again"
    BEFORE = "as it was before the last statement about it"


class _Left(Protocol):
    """What changes left, of any kind."""

    @property
    def change(self) -> int: ...

    @property
    def cells(self) -> tuple[str, ...]: ...


Item = TypeVar("Item", bound=_Left)


class Leftover(ABC, Generic[Item]):
    """A kind of thing that changes leave on cells: the rows that leave it, and the changes and observations that close it.

    Attributes:
        ends_with_undo: whether the undo of a change closes the things that the change left.
    """

    ends_with_undo = False

    def left(self, journal: Journal, rack: str) -> tuple[Item, ...]:
        """Return the things that changes left and that no later row closed; equal cells share an item.

        Raises:
            JournalError: the journal can't be read.
        """
        return self.left_by(self.rows(journal, rack))

    def left_by(self, rows: Iterable[Entry]) -> tuple[Item, ...]:
        """Return the things that these rows left and did not close, as :meth:`left` does."""
        return self.folded(self.play(rows))

    def play(self, rows: Iterable[Entry]) -> dict[Place, Item]:
        """Return the things that are left after these rows, by place."""
        left: dict[Place, Item] = {}
        before: dict[Place, Item | None] = {}
        for row, intent in paired(rows):
            if row.kind == "undone" and self.ends_with_undo:
                left = {place: item for place, item in left.items() if item.change != row.change}
            if not isinstance(row, (Intent, Outcome, Observed)):
                continue
            for place in self.places(row, intent, left):
                item = left.get(place)
                if isinstance(row, Intent):
                    opened = self.opened(row, place, item)
                    if opened is not None:
                        before[place], left[place] = item, opened
                elif item is not None:
                    turn = self.ended(row, intent, item) if isinstance(row, Outcome) else self.seen(row, item)
                    if not isinstance(turn, Turn):
                        left[place] = turn
                        continue
                    del left[place]
                    if turn is Turn.BEFORE and (earlier := before.get(place)) is not None:
                        left[place] = earlier
        return left

    # -- rules of a kind -------------------------------------------------------------------------------------------

    @abstractmethod
    def rows(self, journal: Journal, rack: str) -> Iterable[Entry]:
        """Return the rows that are about this kind, in order, and fast in a long journal: every start does this."""

    def places(self, row: StepRow | Observed, intent: Intent | None, left: Iterable[Place]) -> list[Place]:
        """Return the places that a row is about; ``left`` are those where something is left."""
        return [(row.target, thing) for thing in self.things(row, intent)]

    @abstractmethod
    def things(self, row: StepRow | Observed, intent: Intent | None) -> Iterable[str]:
        """Return the things of its cell that a row is about."""

    @abstractmethod
    def opened(self, row: Intent, place: Place, item: Item | None) -> Item | None:
        """Return the thing that is left from this intent on, even before its statement is sent; None if nothing new is."""

    @abstractmethod
    def ended(self, row: Outcome, intent: Intent | None, item: Item) -> Item | Turn:
        """Return the effect of a statement's end on a thing that is left."""

    @abstractmethod
    def seen(self, row: Observed, item: Item) -> Item | Turn:
        """Return the effect of an observation on a thing that is left."""

    @abstractmethod
    def folded(self, left: Mapping[Place, Item]) -> tuple[Item, ...]:
        """Return the items by change; equal cells share an item."""

    @abstractmethod
    def of(self, item: Item) -> Sequence[str]:
        """Return the things that are left, according to an item, on each of its cells."""

    @abstractmethod
    def body(self, things: Sequence[str]) -> Mapping[str, Any]:
        """Return the body of a row which shows that these things are in order again."""


@dataclass(frozen=True, kw_only=True)
class CachingOff:
    """A change left caching off on these cells, as far as the journal knows.

    Attributes:
        dropped: the cache was dropped there, or may have been, and was not created again.
        cache: flashcache, pmemcache or xrmemcache.
        sure: whether the statement is known to have been carried out; its answer may have been lost.
        comes: a DROP of it was not answered and is not known to be done: it may still happen, whatever the cell shows now.
        refused: the cell refused the statement, which was not a DROP of the cache.
        flushes: the statement is an ALTER of the cache, which does nothing if the cache is missing or has no flush.
    """

    change: int
    cells: tuple[str, ...]
    dropped: bool = False
    cache: str = FLASHCACHE
    sure: bool = True
    comes: bool = False
    refused: bool = False
    flushes: bool = False


class _Caches(Leftover[CachingOff]):
    """Caches that a change switched off and that nobody has seen on again since."""

    def rows(self, journal: Journal, rack: str) -> Iterable[Entry]:
        return journal.caching_entries(rack)

    def things(self, row: StepRow | Observed, intent: Intent | None) -> Iterable[str]:
        return (row.cache or FLASHCACHE,)

    def opened(self, row: Intent, place: Place, item: CachingOff | None) -> CachingOff | None:
        if not row.caching_off:
            return None
        cell, cache = place
        statement = row.statement.upper()
        drops = f"DROP {cache}".upper() in statement
        return CachingOff(
            change=row.change,
            cells=(cell,),
            dropped=drops,
            comes=drops,
            cache=cache,
            sure=not statement,  # Before a step that only follows a flush, the cache was off already.
            flushes=statement.startswith(
                f"ALTER {cache}".upper()
            ),  # Others may fail after a statement that was carried out.
        )

    def ended(self, row: Outcome, intent: Intent | None, item: CachingOff) -> CachingOff | Turn:
        if row.caching_on and row.state == "done":
            return Turn.BACK
        if row.state == NOT_LEFT:
            return Turn.BEFORE if intent is not None and intent.caching_off else item
        if not row.caching_off:
            return item
        if row.state in _NOT_DONE:
            # A cache that was not dropped is still flushed. If only a reading showed that, the DROP may still happen.
            comes = item.comes and row.settled
            return replace(item, dropped=False, sure=item.sure or item.dropped, comes=comes, refused=not item.dropped)
        if row.state != "done":
            # Every start asks this, and few journals have such a row.
            from exacell.cellcli.reply import successes

            # After a flush that was answered and not followed to its end, the cache is off all the same.
            answered = bool(successes(row.reply))
            return replace(item, sure=item.sure or answered, comes=item.comes and not answered)
        return replace(item, sure=True, comes=False)

    def seen(self, row: Observed, item: CachingOff) -> CachingOff | Turn:
        if row.caching == "on":
            return Turn.BACK
        if item.refused and item.flushes and row.caching in (GONE, UNTOLD):
            # It changed nothing if the cache was missing or had no flush: a cache that was left off before is still off.
            return Turn.BEFORE
        # Off can mean flushed or gone: it shows that the cache does not cache, not whether it exists.
        told = row.caching not in ("", UNTOLD)  # If empty, something else was seen.
        return item if item.dropped or not told else replace(item, sure=True)

    def folded(self, left: Mapping[Place, CachingOff]) -> tuple[CachingOff, ...]:
        changes = grouped(
            ((item.change, item.dropped, item.cache, item.sure, item.comes), cell) for (cell, _), item in left.items()
        )
        return tuple(
            CachingOff(change=change, cells=tuple(cells), dropped=dropped, cache=cache, sure=sure, comes=comes)
            for (change, dropped, cache, sure, comes), cells in sorted(changes.items())
        )

    def of(self, item: CachingOff) -> Sequence[str]:
        return (item.cache,)

    def body(self, things: Sequence[str]) -> Mapping[str, Any]:
        return _caching("on", things[0])


CACHES = _Caches()


def left_on_purpose(item: CachingOff, cell: str, state: ChangeState, later: Iterable[Planned]) -> bool:
    """Return whether a cache is off on a cell because the change was meant to leave it so.

    The change did all of its work for the cell, and no later plan was to switch the cache on there.

    Args:
        state: the state of the change that left it off, without continuations.
        later: the plan rows after that change.
    """
    done = item.sure and not item.comes and state.finished.get(cell, False)
    return done and not any(brings_back(plan, item.cache, cell) for plan in later)


def brings_back(plan: Planned, cache: str, cell: str) -> bool:
    """Return whether a plan has a step that switches a cache on at a cell."""
    steps = (step for step in plan.wanted if step.target == cell and step.caching_on)
    return any((step.cache or FLASHCACHE) == cache for step in steps)


LOOKED_BACK = 100
"""The number of newest changes that switched grid disks whose rows are read: every start does this. It is large enough for a
round over all cells of a rack with separate changes for offline and online, so that no cell left at its beginning is missed."""

_SWITCH = re.compile(r"ALTER\s+GRIDDISK\s+(.+?)\s+(INACTIVE|ACTIVE)\b", re.IGNORECASE | re.DOTALL)


@dataclass(frozen=True, kw_only=True)
class Offline:
    """A change took grid disks that ASM uses offline on these cells.

    Attributes:
        sure: whether the statement is known to have been carried out.
        names: the disk's name in lower case; empty for all disks.
    """

    change: int
    cells: tuple[str, ...]
    sure: bool = True
    names: frozenset[str] = frozenset()

    @property
    def mend(self) -> str:
        """Return the statement that brings them back."""
        return f"online cell {self.cells[0]}"

    @property
    def sentence(self) -> str:
        """Return one line with the state, that statement, and why it matters."""
        took = "took" if self.sure else "may have taken"
        each = "" if len(self.cells) == 1 else " and so on, one cell at a time,"
        return (
            f"change {self.change} {took} grid disks of {fold(self.cells)} offline: type `{self.mend}`{each} to "
            "bring them online before ASM drops them (disk_repair_time)"
        )


def _names(switch: re.Match[str]) -> frozenset[str]:
    """Return the names, in lower case, of the grid disks that a statement switches; empty for ALL.

    The words for a medium count as a name: ALL HARDDISK brings back what ALL HARDDISK took away, or a part of what ALL did.
    """
    words = [" ".join(word.lower().split()) for word in switch[1].split(",")]
    return frozenset() if words == ["all"] else frozenset(words)


class _Disks(Leftover[Offline]):
    """Grid disks that a change took offline and that no later row shows ONLINE again."""

    ends_with_undo = True

    def rows(self, journal: Journal, rack: str) -> Iterable[Entry]:
        return journal.switching_rows(rack, LOOKED_BACK)

    def places(self, row: StepRow | Observed, intent: Intent | None, left: Iterable[Place]) -> list[Place]:
        if intent is not None and intent.offline:
            return super().places(row, intent, left)
        return [place for place in left if place[0] == row.target]  # It brings back some of them, see ended().

    def things(self, row: StepRow | Observed, intent: Intent | None) -> Iterable[str]:
        switch = None if intent is None else _SWITCH.match(intent.statement)
        return () if switch is None else _names(switch) or (GRID_DISKS,)

    def opened(self, row: Intent, place: Place, item: Offline | None) -> Offline | None:
        if not row.offline:
            return None
        cell, name = place
        names = frozenset() if name == GRID_DISKS else frozenset((name,))
        return Offline(change=row.change, cells=(cell,), sure=False, names=names)

    def ended(self, row: Outcome, intent: Intent | None, item: Offline) -> Offline | Turn:
        switch = None if intent is None else _SWITCH.match(intent.statement)
        if switch is None:
            return item
        if switch[2].upper() == "INACTIVE":
            if row.state in _UNDONE:
                return Turn.BEFORE
            return replace(item, sure=True) if row.state == "done" else item
        if row.state != "done":
            return item
        back = _names(switch)
        some = back and not (item.names and item.names <= back)
        return item if some else Turn.BACK

    def seen(self, row: Observed, item: Offline) -> Offline | Turn:
        return Turn.BACK if row.online else item

    def folded(self, left: Mapping[Place, Offline]) -> tuple[Offline, ...]:
        alike = grouped(((item.change, item.sure), cell) for (cell, _), item in left.items())
        return tuple(
            Offline(change=change, cells=tuple(dict.fromkeys(cells)), sure=sure)
            for (change, sure), cells in sorted(alike.items())
        )

    def each(self, journal: Journal, rack: str) -> dict[str, frozenset[str]]:
        """Return, by cell, the names in lower case of the grid disks that are left offline; an empty set means all of them.

        Raises:
            JournalError: the journal can't be read.
        """
        cells = grouped((cell, item.names) for (cell, _), item in self.play(self.rows(journal, rack)).items())
        return {cell: frozenset().union(*names) if all(names) else frozenset() for cell, names in cells.items()}

    def of(self, item: Offline) -> Sequence[str]:
        return (GRID_DISKS,)

    def body(self, things: Sequence[str]) -> Mapping[str, Any]:
        return {"online": True}


DISKS = _Disks()


@dataclass(frozen=True, kw_only=True)
class Stopped:
    """A change stopped these services on these cells.

    Attributes:
        sure: whether the statement is known to have been carried out.
    """

    change: int
    services: tuple[str, ...]
    cells: tuple[str, ...]
    sure: bool = True

    @property
    def mend(self) -> str:
        """Return the statement that starts them again; for CELLSRV alone it also brings the disks back, cell by cell."""
        if self.services == ("cellsrv",):
            return f"online cell {self.cells[0]}"
        service = "all" if len(self.services) > 1 else self.services[0]
        return f"on {fold(self.cells)} alter cell startup services {service}"

    @property
    def sentence(self) -> str:
        """Return one line with the state and that statement."""
        left = "left" if self.sure else "may have left"
        said = (
            f"change {self.change} {left} {', '.join(name.upper() for name in self.services)} stopped on "
            f"{fold(self.cells)}"
        )
        if not self.mend.startswith("online"):
            rest = ", then `online cell` brings its disks online" if "cellsrv" in self.services else ""
            return f"{said}: `{self.mend}` starts it again{rest}"
        each = "" if len(self.cells) == 1 else " and so on, one cell at a time,"
        return f"{said}: `{self.mend}`{each} starts it and brings the grid disks online"


class _Services(Leftover[Stopped]):
    """Services that a change stopped and that no change or observation shows running again."""

    def rows(self, journal: Journal, rack: str) -> Iterable[Entry]:
        return journal.service_rows(rack)

    def things(self, row: StepRow | Observed, intent: Intent | None) -> Iterable[str]:
        return row.services if isinstance(row, Observed) else _action(row, intent)[1]

    def opened(self, row: Intent, place: Place, item: Stopped | None) -> Stopped | None:
        if item is not None or _action(row, row)[0] != "SHUTDOWN":
            return None  # If an earlier change stopped it and nothing started it, it is surely stopped.
        cell, service = place
        return Stopped(change=row.change, services=(service,), cells=(cell,), sure=False)

    def ended(self, row: Outcome, intent: Intent | None, item: Stopped) -> Stopped | Turn:
        if _action(row, intent)[0] != "SHUTDOWN":
            return Turn.BACK if row.state in _UP else item
        if row.state in _UNDONE:
            return Turn.BEFORE if item.change == row.change and not item.sure else item
        return replace(item, change=row.change, sure=True) if row.state == "done" else item

    def seen(self, row: Observed, item: Stopped) -> Stopped | Turn:
        return Turn.BACK

    def folded(self, left: Mapping[Place, Stopped]) -> tuple[Stopped, ...]:
        found = grouped(((item.change, cell, item.sure), service) for (cell, service), item in left.items())
        alike = grouped(((change, tuple(services), sure), cell) for (change, cell, sure), services in found.items())
        return tuple(
            Stopped(change=change, services=services, cells=tuple(cells), sure=sure)
            for (change, services, sure), cells in sorted(alike.items())
        )

    def of(self, item: Stopped) -> Sequence[str]:
        return item.services

    def body(self, things: Sequence[str]) -> Mapping[str, Any]:
        return {"services": list(things)}


SERVICES = _Services()


def _action(row: StepRow, intent: Intent | None) -> tuple[str, tuple[str, ...]]:
    """Return a step's action on services, such as ``SHUTDOWN``, and the services; empty for none."""
    if row.what == "start CELLSRV":
        return "STARTUP", ("cellsrv",)  # A start that was not needed has no intent: CELLSRV ran already.
    return services_of("" if intent is None else intent.statement)


# -- rows about observations ---------------------------------------------------------------------------------------------


def note_back(journal: Journal, rack: str, kind: Leftover[Any], back: Mapping[str, Collection[str]]) -> str:
    """Journal that things were seen in order again, for those that an earlier change had left.

    Args:
        back: cell → things, as in :data:`Place`.

    Returns:
        why it could not be journalled, one line; empty if it was. What was read is valid in any case.
    """
    return journal.observe(rack, lambda: seen_back(kind, kind.left(journal, rack), back) if back else ())


def seen_back(kind: Leftover[Item], left: Iterable[Item], back: Mapping[str, Collection[str]]) -> list[tuple[int, Row]]:
    """Return (change, row) for the things in ``left`` that are in order again, for :meth:`Journal.observe`."""
    return [
        (item.change, _observed(cell, kind.body(things)))
        for item in left
        for cell in item.cells
        if (things := [thing for thing in kind.of(item) if thing in back.get(cell, ())])
    ]


def caching_now(cache: str, caching: Mapping[str, str]) -> list[Row]:
    """Return a row with the present state of a cache on each cell, for the change that switched it off."""
    return [_observed(cell, _caching(state, cache)) for cell, state in caching.items()]


def caching_on(cache: str, caching: Mapping[str, str]) -> dict[str, tuple[str, ...]]:
    """Return the cells on which a cache was read as ``on``, for :func:`note_back`."""
    return {cell: (cache,) if state == "on" else () for cell, state in caching.items()}


def _caching(state: str, cache: str) -> Mapping[str, Any]:
    return {"caching": state, "cache": cache}


def _observed(cell: str, body: Mapping[str, Any]) -> Row:
    return Row(kind="observed", target=cell, body=body)
