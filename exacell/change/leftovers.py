"""What earlier changes left behind, looked at again: other hands may have started, activated or switched it on since.

The journal knows what exacell did. Before something is called left behind, its cells are asked, and what they say is noted
in the journal. A cell that does not say it keeps its warning.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import partial
from operator import itemgetter
from typing import Any

from exacell.change.leftbehind import unnoted
from exacell.change.pending import LOOKED_AT, Pending, pending, still_off
from exacell.change.probe import seen
from exacell.core.cellset import fold
from exacell.journal.left import caching_off, offline_by_cell, stopped_services
from exacell.journal.record import Journal, Row, runs
from exacell.plan import facts as f
from exacell.plan.gate import all_online, in_use
from exacell.session.fleet import Fleet
from exacell.session.given import Services, Session
from exacell.session.runs import did_not_end_well

_SERVICES = "list cell attributes name, cellsrvStatus, msStatus, rsStatus"


def look(
    session: Session, services: Services, runs: Collection[str] = ()
) -> tuple[tuple[Pending, ...], tuple[str, ...]]:
    """Return what earlier changes left behind still, and a line for each kind of thing that could not be looked at.

    Only the cells are asked on which something was left, and none while a change is being carried out.

    Args:
        runs: those of recipes that are told of as a whole.

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
    """Return a line for each cache that is off still since a change or a recipe's run was broken off or failed, from what its
    cells say now, with what to type; and one for each note that could not be written.

    A cell that does not answer keeps its line. None is asked while a change is being carried out, or after an interruption.

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
"""The change and the row of each thing that is well again, and the cells that gave no answer."""


def _is_changed(journal: Journal, rack: str) -> bool:
    """Whether a process is changing the rack: what is read of it then may be older than what the journal says."""
    return any(runs(journal, row) for row in journal.unfinished(rack))


def _note(journal: Journal, rack: str, rows: Sequence[tuple[int, Row]]) -> str:
    """Write the rows, unless a change began meanwhile; return why they could not be noted, empty when they were."""
    by_change = sorted(rows, key=itemgetter(0))
    return journal.observe(rack, lambda: by_change if rows and not _is_changed(journal, rack) else ())


def _running(fleet: Fleet, journal: Journal, rack: str) -> _Found:
    """Which stopped services run again."""
    stopped = [(item.change, cell, item.services) for item in stopped_services(journal, rack) for cell in item.cells]
    told, silent = _ask(fleet, [cell for _, cell, _ in stopped], _SERVICES)
    rows = []
    for change, cell, services in stopped:
        row = dict(told[cell][0]) if told.get(cell) else {}
        up = [name for name in services if str(row.get(f"{name}Status")).lower() == "running"]
        if up:
            rows.append((change, Row(kind="observed", target=cell, body={"services": up})))
    return rows, silent


def _online(fleet: Fleet, journal: Journal, rack: str) -> _Found:
    """Which cells have all disks back that were taken offline; what is stopped comes first."""
    stopped = {cell for item in stopped_services(journal, rack) for cell in item.cells}
    away = [item for item in offline_by_cell(journal, rack) if not stopped & set(item.cells)]
    told, silent = _ask(fleet, [cell for item in away for cell in item.cells], f.GRIDDISK)
    rows = []
    for item in away:
        for cell in item.cells:
            if cell in told and _are_back(f.build(cell, [f.GRIDDISK], [told[cell]]).grid_disks, item.names):
                rows.append((item.change, Row(kind="observed", target=cell, body={"online": True})))
    return rows, silent


def _are_back(grids: Sequence[f.GridDisk], names: frozenset[str]) -> bool:
    """Whether the disks of these names are active and ASM has them; all disks of the cell where no name is one of a disk."""
    named = [grid for grid in grids if grid.name.lower() in names]
    meant = named if names and len(named) == len(names) else grids
    return all_online(meant) and all(grid.status == "active" for grid in meant if in_use(grid))


def _caching(fleet: Fleet, journal: Journal, rack: str) -> _Found:
    """Which caches cache again. Where a DROP may still come, what is read now tells nothing."""
    off = [item for item in caching_off(journal.caching_entries(rack)) if not item.comes]
    rows, silent = [], []
    for cache in dict.fromkeys(item.cache for item in off):
        cells = [cell for item in off if item.cache == cache for cell in item.cells]
        told = seen(fleet, cells, cache)
        silent += [cell for cell in cells if cell not in told]
        for item in off:
            if item.cache != cache:
                continue
            on = [cell for cell in item.cells if told.get(cell) == "on"]
            body = {"caching": "on", "cache": cache}
            rows += [(item.change, Row(kind="observed", target=cell, body=body)) for cell in on]
    return rows, silent


def _ask(
    fleet: Fleet, cells: Sequence[str], statement: str
) -> tuple[Mapping[str, Sequence[Mapping[str, Any]]], list[str]]:
    """Return what each cell answers to a LIST, and the cells that did not."""
    if not cells:
        return {}, []
    answers = fleet.query(list(dict.fromkeys(cells)), [statement])
    told = {cell: answer.tables[0] for cell, answer in answers.good.items()}
    return told, [cell for cell in dict.fromkeys(cells) if cell not in told]
