"""The cell on which a statement runs."""

from __future__ import annotations

from dataclasses import dataclass

from exacell.emulator.cell.models import Cell
from exacell.emulator.state.view import RackView


@dataclass(frozen=True)
class Place:
    """The cell of a rack on which a statement runs; ``remote`` if it comes through ExaCLI."""

    rack: RackView
    cell: Cell
    remote: bool = False
