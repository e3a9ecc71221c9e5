"""A snapshot: the counters of one moment on every cell, with the passport of that moment. Pure."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, field
from typing import Any

from exacell.values import dataclass


@dataclass(frozen=True, kw_only=True)
class CellCounters:
    """One cell's counters.

    Attributes:
        collected: collectionTime on the cell's own clock, epoch ms; never compared with another cell's.
        values: metric name → value in the metric's unit.
        passport: what else decides how the numbers are to be read (release, mode, size, IORM plan, cache created).
    """

    collected: int
    values: Mapping[str, float] = field(default_factory=dict)
    passport: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Snapshot:
    """Counters of one kind (``flashlog``, ``flashcache``) on every cell that answered.

    Attributes:
        taken: when, by the clock of the machine that took it, ISO 8601 UTC.
    """

    rack: str
    name: str
    kind: str
    taken: str
    cells: Mapping[str, CellCounters]


def to_json(snapshot: Snapshot) -> str:
    """Return the snapshot as JSON."""
    return json.dumps(asdict(snapshot), sort_keys=True)


def from_json(data: Mapping[str, Any]) -> Snapshot:
    """Return the snapshot that :func:`to_json` wrote."""
    return Snapshot(**{**data, "cells": {cell: CellCounters(**counters) for cell, counters in data["cells"].items()}})
