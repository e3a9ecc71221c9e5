"""Check again what earlier changes left behind: somebody may have started, activated or switched it on since.

The journal knows only exacell's own work. So the cells are asked before something is reported as left behind, and their
answers are noted in the journal. A cell that does not answer keeps its warning.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import partial
from operator import itemgetter
from typing import Any

from exacell.change.leftbehind import unnoted
from exacell.change.pending import LOOKED_AT, Pending, pending, still_off
from exacell.change.probe import seen
from exacell.core.cellset import fold, grouped
from exacell.journal.left import CACHES, DISKS, GRID_DISKS, SERVICES, caching_on, seen_back
from exacell.journal.record import Journal, Row, runs
from exacell.plan import facts as f
from exacell.plan.gate import all_online, in_use
from exacell.session.fleet import Fleet
from exacell.session.given import Services, Session
from exacell.session.runs import did_not_end_well

_NAMES = ("cellsrv", "ms", "rs")
_SERVICES = "list cell attributes name, cellsrvStatus, msStatus, rsStatus"


def look(
    session: Session, services: Services, runs: Collection[str] = ()
) -> tuple[tuple[Pending, ...], tuple[str, ...]]:
    """Return the things that earlier changes still leave behind, and a line for each kind of thing that could not be checked.

    Only cells on which something was left are asked, and none while a change is being carried out.

    Args:
        runs: recipe runs that are reported as a whole.

    Raises:
        JournalError: the journal can't be read.
    """
    journal, rack = services.journal, session.need_rack().name
    left = pending(journal, rack, but=runs)
    if not any(item.state in LOOKED_AT for item in left):
        return left, ()
    if _is_changed(journal, rack):
        return left, ("a change is running: this is from the journal; no cell was asked",)
    notes: dict[str, None] = {}
    for find in (_running, _online, _caching):
        rows, silent = find(services.fleet, journal, rack)
        if silent:
            notes[f"{fold(silent)} did not answer: for it, this is from the journal"] = None
        notes |= dict.fromkeys(unnoted(session, services, _note(journal, rack, rows)))
    return pending(journal, rack, but=runs), tuple(notes)


def look_at_caches(session: Session, services: Services) -> tuple[str, ...]:
    """Return a line for each cache that is still off since a change or run failed or was broken off, with the statement to type.

    The cells are asked for the present state; a cell that does not answer keeps its line. None is asked while a change is being
    carried out, or after an interruption. A line is added for each note that could not be journalled.

    Raises:
        JournalError: the journal can't be read.
    """
    journal, rack = services.journal, session.need_rack().name
    broken_off = partial(did_not_end_well, services.store(), rack)
    lines = still_off(journal, rack, broken_off)
    if not lines or session.interrupted.is_set() or _is_changed(journal, rack):
        return lines
    rows, _ = _caching(services.fleet, journal, rack)
    unwritten = unnoted(session, services, _note(journal, rack, rows))
    return (*still_off(journal, rack, broken_off), *unwritten)


_Found = tuple[list[tuple[int, Row]], list[str]]
"""(change, row) of each thing that is in order again, and the cells that did not answer."""


def _is_changed(journal: Journal, rack: str) -> bool:
    """Return whether a process is changing the rack; a reading may then be older than the journal's knowledge."""
    return any(runs(journal, row) for row in journal.unfinished(rack))


def _note(journal: Journal, rack: str, rows: Sequence[tuple[int, Row]]) -> str:
    """Write the rows, unless a change began meanwhile; return why they could not be written, empty if they were."""
    by_change = sorted(rows, key=itemgetter(0))
    return journal.observe(rack, lambda: by_change if rows and not _is_changed(journal, rack) else ())


def _running(fleet: Fleet, journal: Journal, rack: str) -> _Found:
    """Return the stopped services that run again."""
    stopped = SERVICES.left(journal, rack)
    told, silent = _ask(fleet, [cell for item in stopped for cell in item.cells], _SERVICES)
    running = {
        cell: [name for name in _NAMES if str(row.get(f"{name}Status")).lower() == "running"]
        for cell, rows in told.items()
        for row in rows[:1]
    }
    return seen_back(SERVICES, stopped, running), silent


def _online(fleet: Fleet, journal: Journal, rack: str) -> _Found:
    """Return the cells on which all disks are back that were taken offline; stopped services come first."""
    stopped = {cell for item in SERVICES.left(journal, rack) for cell in item.cells}
    away = {cell: names for cell, names in DISKS.each(journal, rack).items() if cell not in stopped}
    told, silent = _ask(fleet, list(away), f.GRIDDISK)
    back = {
        cell: (GRID_DISKS,)
        for cell, names in away.items()
        if cell in told and _are_back(f.build(cell, [f.GRIDDISK], [told[cell]]).grid_disks, names)
    }
    return seen_back(DISKS, DISKS.left(journal, rack), back), silent


def _are_back(grids: Sequence[f.GridDisk], names: frozenset[str]) -> bool:
    """Return whether the named disks are active and online in ASM; all disks of the cell if a name is not a disk's."""
    named = [grid for grid in grids if grid.name.lower() in names]
    meant = named if names and len(named) == len(names) else grids
    return all_online(meant) and all(grid.status == "active" for grid in meant if in_use(grid))


def _caching(fleet: Fleet, journal: Journal, rack: str) -> _Found:
    """Return the caches that cache again; where a DROP may still happen, the present state proves nothing."""
    off = [item for item in CACHES.left(journal, rack) if not item.comes]
    rows, silent = [], []
    for cache, cells in grouped((item.cache, cell) for item in off for cell in item.cells).items():
        told = seen(fleet, cells, cache)
        silent += [cell for cell in cells if cell not in told]
        rows += seen_back(CACHES, off, caching_on(cache, told))
    return rows, silent


def _ask(
    fleet: Fleet, cells: Sequence[str], statement: str
) -> tuple[Mapping[str, Sequence[Mapping[str, Any]]], list[str]]:
    """Return each cell's answer to a LIST, and the cells that did not answer."""
    if not cells:
        return {}, []
    answers = fleet.query(list(dict.fromkeys(cells)), [statement])
    told = {cell: answer.tables[0] for cell, answer in answers.good.items()}
    return told, [cell for cell in dict.fromkeys(cells) if cell not in told]
