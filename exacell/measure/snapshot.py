"""A snapshot, the counters of one moment on every cell with the passport of that moment; and whether they began anew since. Pure.

A counter that fell has begun anew. One that did not fall may have, too: a load behind the restart that is larger than the
one before hides it. So more than the counters themselves is asked: when CELLSRV was started, counters that only a start of
CELLSRV resets, and each minute of the cell's own metric history. Source: reference cellcli.md 4, "Cumulative = since CELLSRV
start or since the object (cache) was created"; measurement.md 2.1.
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
"""The kind of a snapshot of a database's statistics, V$SYSSTAT, by instance."""

LISTED = "LIST "
"""So begins the kind of a snapshot of rows: it is the statement that told them."""


UNTIMED = -1
"""When counters were collected of which nothing tells it."""


@dataclass(frozen=True, kw_only=True)
class CellCounters:
    """One cell's counters.

    Attributes:
        collected: collectionTime on the cell's own clock, epoch ms; never compared with another cell's; UNTIMED where a saved
            listing does not tell it.
        values: metric name → value in the metric's unit, of kinds with several objects a cell ``metric object`` → value, of
            a database statistic → value.
        passport: what else decides how the numbers are to be read: see :mod:`exacell.measure.delta`; ``created`` is when
            the cache or log that is counted was created, ``logCreated`` when the flash log was.
        started: when CELLSRV was started, epoch ms on the cell's own clock; 0 where the cell did not say.
        marks: counters of other objects that start anew with CELLSRV (``FL_``: with the flash log as well), metric and
            object → value: they show a restart that ``values`` have caught up with.
        rows: what a LIST statement told instead of counters, ``object|name|attribute`` → value; see
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
        taken: when its last cell was read, by the clock of the machine that took it, ISO 8601 UTC.
        began: no collection in it is older than this, by the same clock; empty in snapshots of older versions.
        hosts: host beside the cells → its facts, ``kind|name|attribute`` → value, of those that were asked for.
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
    """Return the snapshot with its cells and hosts called as they are now.

    Args:
        hosts: how they are called now, short or in full.
    """
    return replace(snapshot, cells=called_now(snapshot.cells, hosts), hosts=called_now(snapshot.hosts, hosts))


_LOG = "FL_"


def restarted(before: CellCounters, after: CellCounters) -> str:
    """Return how two collections of a cell show that CELLSRV was restarted in between; empty when they do not."""
    if after.started > before.collected > 0:
        server = after.passport.get("server", "CELLSRV")
        return f"{server} was started at {_at(after.started)}, behind the first collection"
    same_log = _same(before, after, "logCreated")
    for mark in sorted(before.marks):
        if mark.startswith(_LOG) and not same_log:
            continue
        first, second = before.marks[mark], after.marks.get(mark)
        if second is not None and second < first:
            return f"{_fell(mark, first, second)}: CELLSRV was restarted"
    return ""


def knows_restarts(before: CellCounters, after: CellCounters) -> bool:
    """Whether both collections have something that tells a restart of CELLSRV from a flush."""
    return bool(after.started) or bool(before.marks.keys() & after.marks.keys())


def _fell(name: str, first: float, second: float) -> str:
    return f"{name} fell from {first:,.15g} to {second:,.15g}"


def fell(before: CellCounters, after: CellCounters, names: Iterable[str]) -> str:
    """Return the first counter that is smaller in the second collection, with both values; empty when none is."""
    for name in names:
        first, second = before.values.get(name), after.values.get(name)
        if first is not None and second is not None and second < first:
            return _fell(name, first, second)
    return ""


def created_anew(before: CellCounters, after: CellCounters) -> bool:
    """Whether the cache or log that is counted is another one in the second collection."""
    return not _same(before, after, "created")


def fell_in_history(name: str, rows: Sequence[tuple[int, float]], before: CellCounters, after: CellCounters) -> str:
    """Return when a counter fell between two collections as the cell's own history tells; empty when it did not.

    Args:
        rows: collectionTime in epoch ms and value, in any order; those outside of the two collections do not count.
    """
    within = sorted(row for row in rows if before.collected < row[0] < after.collected)
    last = before.values.get(name)
    for at, value in [*within, (after.collected, after.values.get(name, 0.0))]:
        if last is not None and value < last:
            return f"{_fell(name, last, value)} at {_at(at)}, says the cell's metric history"
        last = value
    return ""


def history_witness(before: Iterable[CellCounters], names: Iterable[str]) -> str:
    """Return the counter whose history shows a restart best: the one whose smallest value in any cell is largest.

    Empty when each of them is 0 somewhere: what is 0 can't fall.
    """
    cells = list(before)
    least = {name: min((cell.values.get(name, 0.0) for cell in cells), default=0.0) for name in names}
    best = max(least, key=lambda name: least[name], default="")
    return best if best and least[best] > 0 else ""


def shared(kinds: Mapping[str, tuple[CellCounters, CellCounters]], names: Mapping[str, Iterable[str]]) -> str:
    """Return what the snapshots of one cell, of all kinds, say of a restart of CELLSRV; empty when nothing does.

    A restart that one kind shows holds for all. Counters of the flash cache fall by a flush as well; they speak for a restart
    only where nothing could tell the two apart.

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


def _at(ms: int) -> str:
    return datetime.fromtimestamp(ms / 1000, UTC).isoformat(timespec="seconds")
