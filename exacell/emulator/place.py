"""Where a statement runs."""

from __future__ import annotations

from dataclasses import dataclass

from exacell.emulator.models import Cell
from exacell.emulator.rack import Rack


@dataclass(frozen=True)
class Place:
    """Where a statement runs: a cell of a rack; ``remote`` when ExaCLI brings it."""

    rack: Rack
    cell: Cell
    remote: bool = False
