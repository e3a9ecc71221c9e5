"""Group cells with the same answers, and find the attributes in which answers differ. Pure.

The answers of two cells are never the same text: names contain the cell's own name (``exa1cel01_FLASHCACHE``,
``FD_00_exa1cel01``), ids and times differ, and lists of cell disks have any order. So records are compared after the cell's
name is replaced by one word for all cells, lists are sorted and volatile attributes are left out.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from functools import cache
from typing import TypeVar

from exacell.cellcli.schema import Kind, ObjectType, find_object
from exacell.core.cellset import label_of
from exacell.core.values import dataclass

OWN_NAME = "{cell}"
"""Placeholder for the cell's own name, if several cells are shown together or a statement is for several cells."""

OWN_UPPER = "{CELL}"
"""The same placeholder for the name in capitals, as ASM spells it (``DATA_CD_00_EXA1CEL01``)."""


def for_cell(text: str, cell: str) -> str:
    """Return ``text`` with the cell's own name in place of each ``{cell}``, in capitals in place of ``{CELL}``."""
    if not has_own_name(text):
        return text
    label = label_of(cell)
    return text.replace(OWN_NAME, label).replace(OWN_UPPER, label.upper())


def has_own_name(text: str) -> bool:
    """Return whether ``text`` contains ``{cell}`` or ``{CELL}``."""
    return OWN_NAME in text or OWN_UPPER in text


T = TypeVar("T")

KEYS = (
    *("name", "metricObjectName", "object", "prefix", "database", "kind"),
    *("dbUniqueName", "tableSpaceNumber", "objectNumber"),
)
"""Attributes that pair the records of two cells for comparison; those of them that the records have."""

VOLATILE = frozenset(
    {
        "collectionTime",
        "creationTime",
        "id",
        "ilomIpAddress",
        *(f"ipaddress{number}" for number in range(1, 9)),
        "lastRequestTime",
        "lunUID",
        "managementIpAddress",
        "offloadEfficiency",
        "physicalInsertTime",
        "physicalSerial",
        "securityCert",
        "temperatureReading",
        "upTime",
    }
)
"""Attributes that differ from cell to cell or change by themselves; a command that leaves them out must show this to the user."""


@dataclass(frozen=True, kw_only=True)
class Fold:
    """Cells with equal answers, in the order given, and their answer with ``{cell}`` in place of cell names."""

    cells: tuple[str, ...]
    records: tuple[Mapping[str, str], ...]


def fold_equal(answers: Mapping[str, T]) -> list[tuple[tuple[str, ...], T]]:
    """Return groups of equal answers: the cells and their answer, largest group first.

    Cells stay in the order given; groups of the same size stay in the order of their first cell.
    """
    groups: list[tuple[list[str], T]] = []
    known: dict[str, list[tuple[list[str], T]]] = {}
    for cell, answer in answers.items():
        # repr finds the candidates; equality decides.
        candidates = known.setdefault(repr(answer), [])
        group = next((group for group in candidates if group[1] == answer), None)
        if group is None:
            group = next((group for group in groups if group[1] == answer), None)
        if group is None:
            group = ([], answer)
            groups.append(group)
            candidates.append(group)
        group[0].append(cell)
    ordered = sorted(groups, key=lambda group: -len(group[0]))
    return [(tuple(cells), answer) for cells, answer in ordered]


def fold_records(
    answers: Mapping[str, Sequence[Mapping[str, str]]], object_type: str, *, ignore: Collection[str] = VOLATILE
) -> list[Fold]:
    """Return groups of cells whose records are equal except for their own names, largest group first.

    Args:
        ignore: attributes that are left out of the comparison and of the returned records.
    """
    found = find_object(object_type)
    neutral = {
        cell: tuple(_neutral(record, cell, found, ignore) for record in records) for cell, records in answers.items()
    }
    return [Fold(cells=cells, records=records) for cells, records in fold_equal(neutral)]


def neutral_text(text: str, cell: str) -> str:
    """Return ``text`` with each whole word that is the cell's own name (in any case) replaced by ``{cell}``, or by ``{CELL}``
    if it is in capitals.

    If a cell is known by a longer name (``exa1cel01.example.com``), its objects contain only the first part.
    """
    label = label_of(cell)
    upper = label.upper()
    return _own_name(label).sub(lambda own: OWN_UPPER if label != upper == own[0] else OWN_NAME, text)


def _neutral(record: Mapping[str, str], cell: str, found: ObjectType | None, ignore: Collection[str]) -> dict[str, str]:
    neutral: dict[str, str] = {}
    for name, text in record.items():
        if name in ignore:
            continue
        attribute = found.attribute(name) if found else None
        if attribute is not None and attribute.kind is Kind.LIST:
            text = ",".join(sorted(item.strip() for item in text.replace("\n", ",").split(",")))
        neutral[name] = neutral_text(text, cell)
    return neutral


@cache
def _own_name(cell: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![A-Za-z0-9]){re.escape(cell)}(?![A-Za-z0-9])", re.IGNORECASE)
