"""A cell's own name inside the names of its objects (``DATA_CD_00_exa1cel01``): one word for all cells. Pure."""

from __future__ import annotations

OWN_NAME = "{cell}"
"""Stands for the cell's own name where several cells are shown together, and where a statement is for several."""


def label_of(cell: str) -> str:
    """Return what a cell's objects call it: the first part of its name, all of an address."""
    label = cell.partition(".")[0]
    return cell if label.isdigit() else label


def for_cell(text: str, cell: str) -> str:
    """Return ``text`` with the cell's own name wherever ``{cell}`` stands."""
    return text.replace(OWN_NAME, label_of(cell)) if OWN_NAME in text else text
