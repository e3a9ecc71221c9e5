"""A snapshot: the counters of one moment on every cell, with the passport of that moment. Pure."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, field
from typing import Any

from exacell.core.values import dataclass


@dataclass(frozen=True, kw_only=True)
class CellCounters:
    """One cell's counters.

    Attributes:
        collected: collectionTime on the cell's own clock, epoch ms; never compared with another cell's.
        values: metric name → value in the metric's unit.
        passport: what else decides how the numbers are to be read: see :mod:`exacell.measure.likeness`; ``created`` is when
            the cache or log that is counted was created, ``logCreated`` when the flash log was.
        started: when CELLSRV was started, epoch ms on the cell's own clock; 0 where the cell did not say.
        marks: counters of other objects that start anew with CELLSRV (``FL_``: with the flash log as well), metric and
            object → value: they show a restart that ``values`` have caught up with.
    """

    collected: int
    values: Mapping[str, float] = field(default_factory=dict)
    passport: Mapping[str, str] = field(default_factory=dict)
    started: int = 0
    marks: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Snapshot:
    """Counters of one kind (``flashlog``, ``flashcache``) on every cell that answered.

    Attributes:
        taken: when its last cell was read, by the clock of the machine that took it, ISO 8601 UTC.
        began: no collection in it is older than this, by the same clock; empty in snapshots of older versions.
    """

    rack: str
    name: str
    kind: str
    taken: str
    cells: Mapping[str, CellCounters]
    began: str = ""


def to_json(snapshot: Snapshot) -> str:
    """Return the snapshot as JSON."""
    return json.dumps(asdict(snapshot), sort_keys=True)


def from_json(data: Mapping[str, Any]) -> Snapshot:
    """Return the snapshot that :func:`to_json` wrote."""
    return Snapshot(**{**data, "cells": {cell: CellCounters(**counters) for cell, counters in data["cells"].items()}})
