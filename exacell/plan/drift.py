"""Drift: where cells differ from each other or from a saved baseline, by attribute. Pure.

Ids, times and other attributes that are each cell's own are left out, and the cell's own name in a value does not count.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from exacell.cellcli.fold import neutral_text

Facts = Mapping[str, Mapping[str, str]]
"""Cell → ``object name attribute`` → value, both in neutral form."""

STATEMENTS: Mapping[str, str] = {
    "cell": "list cell attributes name, flashCacheMode, releaseVersion, makeModel, cpuCount, memoryGB, status, "
    "cellsrvStatus, msStatus, rsStatus",
    "flashcache": "list flashcache attributes name, size, status",
    "flashlog": "list flashlog attributes name, size, status",
    "iormplan": "list iormplan attributes name, objective, dbPlan, catPlan, status",
    "celldisk": "list celldisk attributes name, diskType, size, freeSpace, status",
    "griddisk": "list griddisk attributes name, size, diskType, status, cachingPolicy, availableTo",
}


@dataclass(frozen=True, kw_only=True)
class Difference:
    """One attribute of one object on one cell that is not as expected. Values are empty where the object is missing."""

    cell: str
    object: str
    name: str
    attribute: str
    value: str
    expected: str


def neutral(cell: str, tables: Sequence[Sequence[Mapping[str, object]]]) -> dict[str, str]:
    """Return ``object|name|attribute`` → value for one cell's answers to STATEMENTS, its own name taken out."""
    found: dict[str, str] = {}
    for kind, rows in zip(STATEMENTS, tables, strict=True):
        for row in rows:
            name = neutral_text(str(row.get("name") or ""), cell)
            for attribute, value in row.items():
                if attribute not in ("name", "cell"):
                    text = (
                        ",".join(map(str, value)) if isinstance(value, tuple) else "" if value is None else str(value)
                    )
                    found[f"{kind}|{name}|{attribute}"] = neutral_text(text, cell)
    return found


def between_cells(facts: Facts) -> list[Difference]:
    """Return where a cell differs from what most cells have; on a tie, from the first cell in order."""
    found = []
    for path in _paths(facts):
        values = {cell: own.get(path, "") for cell, own in facts.items()}
        counts = Counter(values.values())
        usual = max(counts, key=lambda value: counts[value])
        found += [_difference(cell, path, value, usual) for cell, value in values.items() if value != usual]
    return found


def from_baseline(baseline: Facts, facts: Facts) -> list[Difference]:
    """Return where a cell differs from what it was; a cell without a baseline differs in everything it has."""
    found = []
    for cell, own in facts.items():
        before = baseline.get(cell, {})
        paths = dict.fromkeys([*before, *own])
        found += [
            _difference(cell, path, own.get(path, ""), before.get(path, ""))
            for path in paths
            if own.get(path, "") != before.get(path, "")
        ]
    return found


def _paths(facts: Facts) -> list[str]:
    return list(dict.fromkeys(path for own in facts.values() for path in own))


def _difference(cell: str, path: str, value: str, expected: str) -> Difference:
    kind, name, attribute = path.split("|", 2)
    return Difference(cell=cell, object=kind, name=name, attribute=attribute, value=value, expected=expected)
