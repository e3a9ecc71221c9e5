"""A cell's own name inside the names of its objects (``DATA_CD_00_exa1cel01``): one word for all cells. Pure."""

from __future__ import annotations

OWN_NAME = "{cell}"
"""Stands for the cell's own name where several cells are shown together, and where a statement is for several."""

OWN_UPPER = "{CELL}"
"""Stands for it in capitals, as ASM spells it (``DATA_CD_00_EXA1CEL01``)."""


def label_of(cell: str) -> str:
    """Return what a cell's objects call it: the first part of its name, all of an address."""
    label = cell.partition(".")[0]
    return cell if label.isdigit() else label


def for_cell(text: str, cell: str) -> str:
    """Return ``text`` with the cell's own name wherever ``{cell}`` stands, in capitals for ``{CELL}``."""
    if not has_own_name(text):
        return text
    label = label_of(cell)
    return text.replace(OWN_NAME, label).replace(OWN_UPPER, label.upper())


def has_own_name(text: str) -> bool:
    """Return whether ``{cell}`` or ``{CELL}`` stands in ``text``."""
    return OWN_NAME in text or OWN_UPPER in text
