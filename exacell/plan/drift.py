"""Drift: where cells differ from each other or from a saved baseline, by attribute. Pure.

Ids, times and other attributes that are each cell's own are left out, and the cell's own name in a value does not count.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from exacell.cellcli.fold import VOLATILE, neutral_text
from exacell.values import dataclass

Facts = Mapping[str, Mapping[str, str]]
"""Cell → ``object name attribute`` → value, both in neutral form."""

STATEMENTS: Mapping[str, str] = {
    kind: f"list {kind} detail"
    for kind in (
        "cell", "flashcache", "flashlog", "iormplan", "celldisk", "griddisk", "physicaldisk", "lun", "threshold"
    )
}  # fmt: skip
"""Everything that CellCLI tells of the objects that make a cell what it is."""

OWN = VOLATILE | {"efficiency", "offset", "physicalDisk"}
"""Attributes that are each cell's own, or move by themselves: no drift."""

_OWN_ENDS = ("serial", "serialnumber", "time", "uuid", "macaddress")
"""Ends of the names of further ones, in lower case."""

ASM_ATTRIBUTES = (
    "state", "type", "auSize", "disks", "failgroups", "compatibleAsm", "compatibleRdbms", "mountedOn"
)  # fmt: skip
"""What drift compares of a disk group; its free space and files move by themselves."""


@dataclass(frozen=True, kw_only=True)
class Difference:
    """One attribute of one object on one cell that is not as expected. Values are empty where the object is missing.

    ``cell`` is ``ASM`` and the cluster's name for a disk group.
    """

    cell: str
    object: str
    name: str
    attribute: str
    value: str
    expected: str


def neutral(
    cell: str, tables: Sequence[Sequence[Mapping[str, object]]], kinds: Sequence[str] = tuple(STATEMENTS)
) -> dict[str, str]:
    """Return ``object|name|attribute`` → value for one cell's answers, its own name taken out.

    Args:
        tables: one table for each of ``kinds``, in that order.
    """
    found: dict[str, str] = {}
    for kind, rows in zip(kinds, tables, strict=True):
        for row in rows:
            name = neutral_text(str(row.get("name") or ""), cell)
            for attribute, value in row.items():
                if attribute not in ("name", "cell") and not _is_own(attribute):
                    found[f"{kind}|{name}|{attribute}"] = neutral_text(_text(value), cell)
    return found


def _is_own(attribute: str) -> bool:
    return attribute in OWN or attribute.lower().endswith(_OWN_ENDS)


def _text(value: object) -> str:
    if isinstance(value, (tuple, list)):
        # Cells print lists in any order.
        return ",".join(sorted(map(str, value)))
    return "" if value is None else str(value)


def of_asm(groups: Sequence[Mapping[str, object]]) -> dict[str, str]:
    """Return ``diskgroup|name|attribute`` → value for the disk groups of one ASM cluster."""
    return {
        f"diskgroup|{group['name']}|{attribute}": _text(group.get(attribute))
        for group in groups
        for attribute in ASM_ATTRIBUTES
    }


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
