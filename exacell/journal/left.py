"""What changes have left on cells, as the journal tells: caches off, services stopped, grid disks offline.

Each stays until a change, an undo or an observation shows it back. That is a question to all changes of a rack, in the order
of their rows; how one change stands is :mod:`exacell.journal.state`.
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
"""The cache that rows speak of which name none."""

GONE, UNTOLD = "gone", "untold"
"""What rows say of a cache that a cell does not have, and of one of which it does not tell whether it caches."""


@dataclass(frozen=True, kw_only=True)
class CachingOff:
    """A change left caching off on these cells, as far as the journal knows.

    Attributes:
        dropped: the cache was dropped there, or may have been, and not made again.
        cache: flashcache, pmemcache or xrmemcache.
        sure: whether the statement that did it is known to have been carried out; its answer may have been lost.
        comes: a DROP of it was not answered and is not found done: it may still be carried out, whatever is read.
        refused: the cell said no to that statement, which was not to drop the cache.
    """

    change: int
    cells: tuple[str, ...]
    dropped: bool = False
    cache: str = FLASHCACHE
    sure: bool = True
    comes: bool = False
    refused: bool = False


_NOT_DONE = ("failed", "not done")
"""States of a step that did not happen, as far as that is known."""

NOT_LEFT = "refused"
"""State of a step whose statement never left, though its intent was written: the look that it went upon said no, or failed."""


def caching_off(entries: Iterable[Entry]) -> tuple[CachingOff, ...]:
    """Return the changes after which caching was switched off and never seen back, newest last.

    An intent that switches caching off counts from before its statement left; only an outcome that brought caching
    back, or a later observation of it, clears it.
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
                flushing.discard(key)  # A command may fail behind a statement that was carried out.
            drops = f"DROP {cache}".upper() in entry.statement.upper()
            off[key] = CachingOff(
                change=entry.change,
                cells=(entry.target,),
                dropped=drops,
                comes=drops,
                cache=cache,
                sure=not entry.statement,  # What is only followed was off before.
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
                # It did nothing to a cache that is not there, or has no flush: what was left off before still is.
                _as_before(off, before, key)
    changes = grouped(
        ((item.change, item.dropped, item.cache, item.sure, item.comes), cell) for (cell, _), item in off.items()
    )
    return tuple(
        CachingOff(change=change, cells=tuple(cells), dropped=dropped, cache=cache, sure=sure, comes=comes)
        for (change, dropped, cache, sure, comes), cells in sorted(changes.items())
    )


def left_on_purpose(item: CachingOff, cell: str, state: ChangeState, later: Iterable[Planned]) -> bool:
    """Return whether a cache is off on a cell because the change was to leave it so: it did all that it had for the cell, and
    nothing behind it was to bring the cache back there.

    Args:
        state: how the change that left it off stands by itself.
        later: the plan rows behind that change.
    """
    done = item.sure and not item.comes and state.finished.get(cell, False)
    return done and not any(brings_back(plan, item.cache, cell) for plan in later)


def brings_back(plan: Planned, cache: str, cell: str) -> bool:
    """Return whether a plan was to switch a cache on at a cell."""
    steps = (step for step in plan.wanted if step.target == cell and step.caching_on)
    return any((step.cache or FLASHCACHE) == cache for step in steps)


def _as_before(left: dict[K, V], before: Mapping[K, V | None], key: K) -> None:
    """Put back what was left there before a statement that did nothing."""
    del left[key]
    if (earlier := before.get(key)) is not None:
        left[key] = earlier


def _is_back(row: StepRow | Observed) -> bool:
    """Return whether a row says that a cache was brought back, or seen on."""
    if isinstance(row, Outcome):
        return row.caching_on and row.state == "done"
    return isinstance(row, Observed) and row.caching == "on"


def _cache_after(item: CachingOff, row: StepRow | Observed) -> CachingOff:
    """Return what a row tells about a cache that is off: how its statement ended, or that it was seen off."""
    if isinstance(row, Observed):
        # Off means flushed as well as gone: it settles whether it caches, not whether it is there.
        told = row.caching not in ("", UNTOLD)  # Empty: something else was seen.
        return item if item.dropped or not told else replace(item, sure=True)
    if not isinstance(row, Outcome) or not row.caching_off:
        return item
    if row.state in _NOT_DONE:
        # What was not dropped is what it was before: flushed. Of a cell that did not say no that is what was read since.
        comes = item.comes and row.settled
        return replace(item, dropped=False, sure=item.sure or item.dropped, comes=comes, refused=not item.dropped)
    if row.state != "done":
        # Every start asks this; few have such a row.
        from exacell.cellcli.reply import successes

        # A flush that was answered and then lost from sight is off all the same.
        answered = bool(successes(row.reply))
        return replace(item, sure=item.sure or answered, comes=item.comes and not answered)
    return replace(item, sure=True, comes=False)


LOOKED_BACK = 100
"""Of so many changes that switched grid disks, the newest, the rows are read: this is done at every start. A round over
all cells of a rack, each taken offline and brought back by changes of its own, hides no cell that was left at its beginning."""

_SWITCH = re.compile(r"ALTER\s+GRIDDISK\s+(.+?)\s+(INACTIVE|ACTIVE)\b", re.IGNORECASE | re.DOTALL)
_UNDONE = (*_NOT_DONE, NOT_LEFT)


@dataclass(frozen=True, kw_only=True)
class Offline:
    """A change took grid disks that ASM uses offline on these cells.

    Attributes:
        sure: whether the statement is known to have been carried out.
        names: of the disks, lower case; empty for all.
    """

    change: int
    cells: tuple[str, ...]
    sure: bool = True
    names: frozenset[str] = frozenset()

    @property
    def mend(self) -> str:
        """The statement that brings them back."""
        return f"online cell {self.cells[0]}"

    @property
    def sentence(self) -> str:
        """One line that says both, and why it matters."""
        took = "took" if self.sure else "may have taken"
        each = "" if len(self.cells) == 1 else " and so on, one cell at a time,"
        return (
            f"change {self.change} {took} grid disks of {fold(self.cells)} offline: type `{self.mend}`{each} to "
            "bring them online before ASM drops them (disk_repair_time)"
        )


def offline_disks(journal: Journal, rack: str) -> tuple[Offline, ...]:
    """Return which cells' disks changes took offline and neither a change, an undo nor an observation shows back.

    Raises:
        JournalError: the journal can't be read.
    """
    away = offline_by_cell(journal, rack)
    alike = grouped(((item.change, item.sure), cell) for item in away for cell in item.cells)
    return tuple(
        Offline(change=change, cells=tuple(cells), sure=sure) for (change, sure), cells in sorted(alike.items())
    )


def offline_by_cell(journal: Journal, rack: str) -> tuple[Offline, ...]:
    """Return the same as :func:`offline_disks`, one item a cell, each with the names of its disks.

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
    """Take one row into account: ``away`` is what each cell misses, ``before`` what it missed when it was asked last."""
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
    """Take into account how a statement that switches grid disks ended."""
    item = away[cell]
    if switch[2].upper() == "INACTIVE":
        if state == "done":
            away[cell] = replace(item, sure=True)
        elif state in _UNDONE:
            _as_before(away, before, cell)
    elif state == "done":
        back = _names(switch)
        if back and not (item.names and item.names <= back):
            return  # A part of them.
        del away[cell]


def _names(switch: re.Match[str]) -> frozenset[str]:
    """Return the names of the grid disks that a statement switches, lower case; empty for ALL. Those of a medium are a name of
    their own: ALL HARDDISK brings back what ALL HARDDISK took away, and a part of what ALL did."""
    words = [" ".join(word.lower().split()) for word in switch[1].split(",")]
    return frozenset() if words == ["all"] else frozenset(words)


def observe_online(journal: Journal, rack: str, cells: Iterable[str]) -> str:
    """Note in the journal that all grid disks of these cells were seen ONLINE, of which an earlier change took some offline.

    Returns:
        why it could not be noted, one line; empty when it was.
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
        """The statement that starts them again: with CELLSRV alone the cell's grid disks come back too, cell by cell."""
        if self.services == ("cellsrv",):
            return f"online cell {self.cells[0]}"
        service = "all" if len(self.services) > 1 else self.services[0]
        return f"on {fold(self.cells)} alter cell startup services {service}"

    @property
    def sentence(self) -> str:
        """One line that says both."""
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
    """Return what changes stopped and neither a change nor an observation shows running again, by change.

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
    """Take one row into account: ``down`` is (cell, service) → change and whether it is sure."""
    if isinstance(row, Observed):
        for service in row.services:
            down.pop((row.target, service), None)
    elif isinstance(row, Intent):
        verb, services = services_of(row.statement)
        if verb == "SHUTDOWN":
            for service in services:  # One that an earlier change stopped, and nothing started, is no matter of doubt.
                down.setdefault((row.target, service), (row.change, False))
    elif isinstance(row, Outcome):
        # A start that was not needed was never sent: CELLSRV ran.
        verb, services = services_of("" if intent is None else intent.statement)
        if row.what == "start CELLSRV":
            verb, services = "STARTUP", ("cellsrv",)
        for place in [(row.target, service) for service in services]:
            if verb != "SHUTDOWN":
                if row.state in _UP:
                    down.pop(place, None)
            elif row.state in _UNDONE and down.get(place) == (row.change, False):
                del down[place]
            elif row.state == "done" and place in down:  # Not what was started, or seen running, before that was known.
                down[place] = (row.change, True)


def observe_services(journal: Journal, rack: str, running: Mapping[str, Collection[str]]) -> str:
    """Note in the journal that services were seen running which an earlier change had stopped.

    Args:
        running: cell → services, in small letters.

    Returns:
        why it could not be noted, one line; empty when it was.
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
