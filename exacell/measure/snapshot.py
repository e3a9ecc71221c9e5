"""Snapshots: the counters of one moment on every cell with the conditions of that moment; and whether counters restarted
since. Pure.

A counter that fell has restarted. One that did not fall may have restarted, too, if the load after the restart was larger than
the load before. So other signs are checked: when CELLSRV was started, counters that only a start of CELLSRV resets, and each
minute of the cell's own metric history. Source: reference cellcli.md 4, "Cumulative = since CELLSRV start or since the object
(cache) was created"; measurement.md 2.1.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, field
from datetime import UTC, datetime
from typing import Any

from exacell.core.cellset import called_now
from exacell.core.values import dataclass, replace

SYSSTAT = "sysstat"
"""Kind of a snapshot of a database's statistics, V$SYSSTAT, by instance."""

LISTED = "LIST "
"""Beginning of the kind of a snapshot of rows; the kind is the LIST statement."""


UNTIMED = -1
"""Time of a collection whose time is not known."""


@dataclass(frozen=True, kw_only=True)
class CellCounters:
    """One cell's counters.

    Attributes:
        collected: collectionTime by the cell's own clock, epoch ms; never compared with another cell's; UNTIMED if a saved
            listing does not contain it.
        values: metric name → value in the metric's unit; ``metric object`` → value for kinds with several objects per cell;
            statistic → value for a database.
        passport: the conditions of the numbers, see :mod:`exacell.measure.delta`; ``created`` is the time when the counted cache
            or log was created, ``logCreated`` that of the flash log.
        started: start time of CELLSRV, epoch ms by the cell's own clock; 0 if not known.
        marks: counters of other objects that restart with CELLSRV (``FL_``: also with the flash log), metric and object →
            value; they show a restart even if ``values`` have grown beyond their old size since.
        rows: the answer of a LIST statement in place of counters, ``object|name|attribute`` → value; see
            :func:`exacell.plan.drift.neutral`.
    """

    collected: int
    values: Mapping[str, float] = field(default_factory=dict)
    passport: Mapping[str, str] = field(default_factory=dict)
    started: int = 0
    marks: Mapping[str, float] = field(default_factory=dict)
    rows: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Snapshot:
    """Counters of one kind (``flashlog``, ``flashcache`` …) on every cell, or of every instance, that answered.

    Attributes:
        taken: time when its last cell was read, by the clock of the machine that took it, ISO 8601 UTC.
        began: time before the oldest collection in it, by the same clock; empty in snapshots of older versions.
        hosts: host that is not a cell → its facts, ``kind|name|attribute`` → value, for the hosts that were asked for.
    """

    rack: str
    name: str
    kind: str
    taken: str
    cells: Mapping[str, CellCounters]
    began: str = ""
    hosts: Mapping[str, Mapping[str, str]] = field(default_factory=dict)


def to_json(snapshot: Snapshot) -> str:
    """Return the snapshot as JSON."""
    return json.dumps(asdict(snapshot), sort_keys=True)


def from_json(data: Mapping[str, Any]) -> Snapshot:
    """Return the snapshot that :func:`to_json` wrote."""
    return Snapshot(**{**data, "cells": {cell: CellCounters(**counters) for cell, counters in data["cells"].items()}})


def named(snapshot: Snapshot, hosts: Sequence[str]) -> Snapshot:
    """Return the snapshot with its cells and hosts under their current names.

    Args:
        hosts: the current names, short or in full.
    """
    return replace(snapshot, cells=called_now(snapshot.cells, hosts), hosts=called_now(snapshot.hosts, hosts))


_LOG = "FL_"


def restarted(before: CellCounters, after: CellCounters) -> str:
    """Return the sign that CELLSRV was restarted between two collections of a cell; empty if there is none."""
    if after.started > before.collected > 0:
        server = after.passport.get("server", "CELLSRV")
        return f"{server} was started at {iso_of(after.started)}, after the first collection"
    same_log = _same(before, after, "logCreated")
    for mark in sorted(before.marks):
        if mark.startswith(_LOG) and not same_log:
            continue
        first, second = before.marks[mark], after.marks.get(mark)
        if second is not None and second < first:
            return f"{_fell(mark, first, second)}: CELLSRV was restarted"
    return ""


def knows_restarts(before: CellCounters, after: CellCounters) -> bool:
    """Return whether both collections have data that distinguish a restart of CELLSRV from a flush."""
    return bool(after.started) or bool(before.marks.keys() & after.marks.keys())


def _fell(name: str, first: float, second: float) -> str:
    return f"{name} fell from {first:,.15g} to {second:,.15g}"


def fell(before: CellCounters, after: CellCounters, names: Iterable[str]) -> str:
    """Return the first counter that is smaller in the second collection, with both values; empty if no counter is smaller."""
    for name in names:
        first, second = before.values.get(name), after.values.get(name)
        if first is not None and second is not None and second < first:
            return _fell(name, first, second)
    return ""


def created_anew(before: CellCounters, after: CellCounters) -> bool:
    """Return whether the counted cache or log was created again before the second collection."""
    return not _same(before, after, "created")


def fell_in_history(name: str, rows: Sequence[tuple[int, float]], before: CellCounters, after: CellCounters) -> str:
    """Return when a counter fell between two collections, according to the cell's own history; empty if it did not.

    Args:
        rows: collectionTime in epoch ms and value, in any order; rows outside of the two collections are ignored.
    """
    within = sorted(row for row in rows if before.collected < row[0] < after.collected)
    last = before.values.get(name)
    for at, value in [*within, (after.collected, after.values.get(name, 0.0))]:
        if last is not None and value < last:
            return f"{_fell(name, last, value)} at {iso_of(at)}, says the cell's metric history"
        last = value
    return ""


def history_witness(before: Iterable[CellCounters], names: Iterable[str]) -> str:
    """Return the counter whose history shows a restart best: the one whose smallest value in any cell is the largest.

    Empty if each of them is 0 in some cell, because a counter of 0 can't fall.
    """
    cells = list(before)
    least = {name: min((cell.values.get(name, 0.0) for cell in cells), default=0.0) for name in names}
    best = max(least, key=lambda name: least[name], default="")
    return best if best and least[best] > 0 else ""


def shared(kinds: Mapping[str, tuple[CellCounters, CellCounters]], names: Mapping[str, Iterable[str]]) -> str:
    """Return the sign of a restart of CELLSRV in the snapshots of one cell, of all kinds; empty if there is none.

    A restart that one kind shows holds for all kinds. Counters of the flash cache also fall after a flush; they count as a sign
    only if no other data could distinguish the two.

    Args:
        kinds: kind → first and second collection.
        names: kind → its counters.
    """
    for before, after in kinds.values():
        if why := restarted(before, after):
            return why
    for kind, (before, after) in kinds.items():
        why = "" if created_anew(before, after) else fell(before, after, names[kind])
        if why and (kind != "flashcache" or not any(knows_restarts(*pair) for pair in kinds.values())):
            return (
                f"{why}: CELLSRV was restarted" if kind != "flashcache" else f"{why}: CELLSRV may have been restarted"
            )
    return ""


def _same(before: CellCounters, after: CellCounters, key: str) -> bool:
    return before.passport.get(key, "") == after.passport.get(key, "")


def iso_of(ms: int) -> str:
    """Return a moment in milliseconds since the epoch as ISO 8601 in UTC."""
    return datetime.fromtimestamp(ms / 1000, UTC).isoformat(timespec="seconds")
