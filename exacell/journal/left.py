"""Find in the journal what changes have left on cells: caches off, services stopped, grid disks offline.

Each stays until a change, an undo or an observation shows it back. This needs all changes of a rack, in the order of their
rows; :mod:`exacell.journal.state` has the state of one change.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from typing import TypeVar

from exacell.core.cellset import fold, grouped
from exacell.core.values import dataclass, replace
from exacell.journal.record import Journal, Row
from exacell.journal.rows import Entry, Intent, Observed, Outcome, Planned, StepRow
from exacell.journal.state import ChangeState, paired, services_of

K = TypeVar("K")
V = TypeVar("V")
FLASHCACHE = "flashcache"
"""The cache of rows that name none."""

GONE, UNTOLD = "gone", "untold"
"""The words in rows for a cache that a cell does not have, and for one whose state the cell does not show."""


@dataclass(frozen=True, kw_only=True)
class CachingOff:
    """A change left caching off on these cells, as far as the journal knows.

    Attributes:
        dropped: the cache was dropped there, or may have been, and was not created again.
        cache: flashcache, pmemcache or xrmemcache.
        sure: whether the statement is known to have been carried out; its answer may have been lost.
        comes: a DROP of it was not answered and is not found done: it may still happen, whatever the cell shows now.
        refused: the cell refused the statement, which was not a DROP of the cache.
    """

    change: int
    cells: tuple[str, ...]
    dropped: bool = False
    cache: str = FLASHCACHE
    sure: bool = True
    comes: bool = False
    refused: bool = False


_NOT_DONE = ("failed", "not done")
"""States of a step that, as far as is known, did not happen."""

NOT_LEFT = "refused"
"""State of a step whose intent was written but whose statement was never sent: the look before it refused it, or failed."""


def caching_off(entries: Iterable[Entry]) -> tuple[CachingOff, ...]:
    """Return the changes that switched a cache off which was not seen on again since, newest last.

    An intent that switches caching off counts even before its statement is sent. Only an outcome that switched caching on,
    or a later observation of it, clears it.
    """
    off: dict[tuple[str, str], CachingOff] = {}
    before: dict[tuple[str, str], CachingOff | None] = {}
    flushing: set[tuple[str, str]] = set()
    for entry, intent in paired(entries):
        if not isinstance(entry, (StepRow, Observed)):
            continue
        cache = entry.cache or FLASHCACHE
        key = (entry.target, cache)
        if isinstance(entry, Intent) and entry.caching_off:
            before[key] = off.get(key)
            if entry.statement.upper().startswith(f"ALTER {cache}".upper()):
                flushing.add(key)
            else:
                flushing.discard(key)  # A command may fail after one of its statements was carried out.
            drops = f"DROP {cache}".upper() in entry.statement.upper()
            off[key] = CachingOff(
                change=entry.change,
                cells=(entry.target,),
                dropped=drops,
                comes=drops,
                cache=cache,
                sure=not entry.statement,  # Before a step that only follows a flush, the cache was off already.
            )
        elif _is_back(entry):
            off.pop(key, None)
        elif isinstance(entry, Outcome) and entry.state == NOT_LEFT:
            if intent is not None and intent.caching_off and key in off:
                _as_before(off, before, key)
        elif key in off:
            item = off[key] = _cache_after(off[key], entry)
            seen = entry.caching if isinstance(entry, Observed) else ""
            if item.refused and key in flushing and seen in (GONE, UNTOLD):
                # It changed nothing on a missing cache, or one without flush: a cache that was left off before still is.
                _as_before(off, before, key)
    changes = grouped(
        ((item.change, item.dropped, item.cache, item.sure, item.comes), cell) for (cell, _), item in off.items()
    )
    return tuple(
        CachingOff(change=change, cells=tuple(cells), dropped=dropped, cache=cache, sure=sure, comes=comes)
        for (change, dropped, cache, sure, comes), cells in sorted(changes.items())
    )


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
    """Return whether a plan was to switch a cache on at a cell."""
    steps = (step for step in plan.wanted if step.target == cell and step.caching_on)
    return any((step.cache or FLASHCACHE) == cache for step in steps)


def _as_before(left: dict[K, V], before: Mapping[K, V | None], key: K) -> None:
    """Restore the entry that existed before a statement that did nothing."""
    del left[key]
    if (earlier := before.get(key)) is not None:
        left[key] = earlier


def _is_back(row: StepRow | Observed) -> bool:
    """Return whether a row shows that a cache was switched on, or seen on."""
    if isinstance(row, Outcome):
        return row.caching_on and row.state == "done"
    return isinstance(row, Observed) and row.caching == "on"


def _cache_after(item: CachingOff, row: StepRow | Observed) -> CachingOff:
    """Return the item of a cache that is off, updated by a row about the end of its statement or about its state."""
    if isinstance(row, Observed):
        # Off can mean flushed or gone: it shows that it does not cache, not whether it exists.
        told = row.caching not in ("", UNTOLD)  # If empty, something else was seen.
        return item if item.dropped or not told else replace(item, sure=True)
    if not isinstance(row, Outcome) or not row.caching_off:
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


LOOKED_BACK = 100
"""The number of newest changes that switched grid disks whose rows are read: every start does this. It is large enough for a
round over all cells of a rack with separate changes for offline and online, so that no cell left at its beginning is missed."""

_SWITCH = re.compile(r"ALTER\s+GRIDDISK\s+(.+?)\s+(INACTIVE|ACTIVE)\b", re.IGNORECASE | re.DOTALL)
_UNDONE = (*_NOT_DONE, NOT_LEFT)


@dataclass(frozen=True, kw_only=True)
class Offline:
    """A change took grid disks that ASM uses offline on these cells.

    Attributes:
        sure: whether the statement is known to have been carried out.
        names: names of the disks in lower case; empty for all.
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


def offline_disks(journal: Journal, rack: str) -> tuple[Offline, ...]:
    """Return the disks that changes took offline and that no change, undo or observation shows back.

    Raises:
        JournalError: the journal can't be read.
    """
    away = offline_by_cell(journal, rack)
    alike = grouped(((item.change, item.sure), cell) for item in away for cell in item.cells)
    return tuple(
        Offline(change=change, cells=tuple(cells), sure=sure) for (change, sure), cells in sorted(alike.items())
    )


def offline_by_cell(journal: Journal, rack: str) -> tuple[Offline, ...]:
    """Return the same as :func:`offline_disks`, one item per cell, each with the names of its disks.

    Raises:
        JournalError: the journal can't be read.
    """
    away: dict[str, Offline] = {}
    before: dict[str, Offline | None] = {}
    for row, intent in paired(journal.switching_rows(rack, LOOKED_BACK)):
        _play_switch(row, intent, away, before)
    return tuple(away.values())


def _play_switch(
    row: Entry, intent: Intent | None, away: dict[str, Offline], before: dict[str, Offline | None]
) -> None:
    """Apply one row: ``away`` is what each cell misses, ``before`` is what it missed before its last statement."""
    cell = row.target
    switch = None if intent is None else _SWITCH.match(intent.statement)
    if row.kind == "undone":
        for gone in [name for name, item in away.items() if item.change == row.change]:
            del away[gone]
    elif isinstance(row, Observed):
        if row.online:
            away.pop(cell, None)
    elif switch is None:
        return
    elif isinstance(row, Intent) and row.offline:
        before[cell] = away.get(cell)
        away[cell] = Offline(change=row.change, cells=(cell,), sure=False, names=_names(switch))
    elif isinstance(row, Outcome) and cell in away:
        _switched(row.state, cell, switch, away, before)


def _switched(
    state: str, cell: str, switch: re.Match[str], away: dict[str, Offline], before: dict[str, Offline | None]
) -> None:
    """Apply the end of a statement that switches grid disks."""
    item = away[cell]
    if switch[2].upper() == "INACTIVE":
        if state == "done":
            away[cell] = replace(item, sure=True)
        elif state in _UNDONE:
            _as_before(away, before, cell)
    elif state == "done":
        back = _names(switch)
        if back and not (item.names and item.names <= back):
            return  # Only some of them.
        del away[cell]


def _names(switch: re.Match[str]) -> frozenset[str]:
    """Return the names, in lower case, of the grid disks that a statement switches; empty for ALL.

    The words for a medium count as a name: ALL HARDDISK brings back what ALL HARDDISK took away, or a part of what ALL did.
    """
    words = [" ".join(word.lower().split()) for word in switch[1].split(",")]
    return frozenset() if words == ["all"] else frozenset(words)


def observe_online(journal: Journal, rack: str, cells: Iterable[str]) -> str:
    """Journal that all grid disks of these cells were seen ONLINE, for cells where an earlier change took some offline.

    Returns:
        why it could not be journalled, one line; empty if it was.
    """
    online = set(cells)
    return journal.observe(
        rack,
        lambda: [
            (item.change, Row(kind="observed", target=cell, body={"online": True}))
            for item in (offline_disks(journal, rack) if online else ())
            for cell in item.cells
            if cell in online
        ],
    )


_UP = ("done", "not needed")


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


def stopped_services(journal: Journal, rack: str) -> tuple[Stopped, ...]:
    """Return, by change, the services that changes stopped and that no change or observation shows running again.

    Raises:
        JournalError: the journal can't be read.
    """
    down: dict[tuple[str, str], tuple[int, bool]] = {}
    for row, intent in paired(journal.service_rows(rack)):
        _play_service(row, intent, down)
    found = grouped(((change, cell, sure), service) for (cell, service), (change, sure) in down.items())
    alike = grouped(((change, tuple(services), sure), cell) for (change, cell, sure), services in found.items())
    return tuple(
        Stopped(change=change, services=services, cells=tuple(cells), sure=sure)
        for (change, services, sure), cells in sorted(alike.items())
    )


def _play_service(row: Entry, intent: Intent | None, down: dict[tuple[str, str], tuple[int, bool]]) -> None:
    """Apply one row: ``down`` is (cell, service) → the change that stopped it, and whether that is sure."""
    if isinstance(row, Observed):
        for service in row.services:
            down.pop((row.target, service), None)
    elif isinstance(row, Intent):
        verb, services = services_of(row.statement)
        if verb == "SHUTDOWN":
            for service in services:  # If an earlier change stopped it and nothing started it, it is surely stopped.
                down.setdefault((row.target, service), (row.change, False))
    elif isinstance(row, Outcome):
        # A start that was not needed has no intent: CELLSRV ran already.
        verb, services = services_of("" if intent is None else intent.statement)
        if row.what == "start CELLSRV":
            verb, services = "STARTUP", ("cellsrv",)
        for place in [(row.target, service) for service in services]:
            if verb != "SHUTDOWN":
                if row.state in _UP:
                    down.pop(place, None)
            elif row.state in _UNDONE and down.get(place) == (row.change, False):
                del down[place]
            elif row.state == "done" and place in down:  # A service that was seen running meanwhile is not in ``down``.
                down[place] = (row.change, True)


def observe_services(journal: Journal, rack: str, running: Mapping[str, Collection[str]]) -> str:
    """Journal that services were seen running which an earlier change had stopped.

    Args:
        running: cell → services, in lower case.

    Returns:
        why it could not be journalled, one line; empty if it was.
    """
    return journal.observe(
        rack,
        lambda: [
            (item.change, Row(kind="observed", target=cell, body={"services": up}))
            for item in stopped_services(journal, rack)
            for cell in item.cells
            if (up := [service for service in item.services if service in running.get(cell, ())])
        ],
    )
