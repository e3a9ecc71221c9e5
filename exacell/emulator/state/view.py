"""An emulated rack as everything that is in it sees it: its cells, disks, loads and faults, and what may be asked of it.

:class:`exacell.emulator.rack.rack.Rack` is the rack itself. What it is made of knows this alone, so that it needs no rack to
be read.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from exacell.emulator.basics.clock import RackClock
from exacell.emulator.basics.clusters import Cluster
from exacell.emulator.basics.profiles import HardwareModel, ReleaseProfile
from exacell.emulator.basics.rack_spec import RackSpec
from exacell.emulator.cell.cache_models import CacheMember
from exacell.emulator.cell.models import Cell
from exacell.emulator.io.truth import Truth
from exacell.emulator.io.workload import Load
from exacell.emulator.metrics.metrics import CellMetrics
from exacell.emulator.metrics.reader import MetricReader
from exacell.emulator.state.asm_view import AsmView
from exacell.emulator.state.fault_book import FaultBook


class RackView(Protocol):
    """The state of a rack, and the questions and requests of what is in it.

    Attributes:
        asm: the disk groups' side; None before ASM is attached.
        configurations: texts of V$CELL_CONFIG by cell, with the state of the cell for which they were made.
        statistics: each database's own counters.
        cache_clauses: by database, the shares of its data with CELL_FLASH_CACHE KEEP and NONE.
        parameters: by database, the parameters that decide about its I/O.
    """

    spec: RackSpec
    clock: RackClock
    faults: FaultBook
    asm: AsmView | None
    configurations: dict[str, tuple[bytes, dict[str, str]]]
    model: HardwareModel
    release: ReleaseProfile
    dbnodes: tuple[str, ...]
    clusters: tuple[Cluster, ...]
    cells: dict[str, Cell]
    metrics: dict[str, CellMetrics]
    statistics: dict[str, dict[str, float]]
    cache_clauses: dict[str, tuple[float, float]]
    parameters: dict[str, dict[str, str]]

    def advance(self) -> None:
        """Bring all state up to the clock."""

    def now(self) -> float:
        """Return the rack time to which the state has been advanced."""

    def collection_time(self, cell: Cell) -> float:
        """Return the time of the cell's last collection."""

    def reader(self, cell: Cell) -> MetricReader:
        """Return a reader that computes the cell's metric values."""

    def touch(self, cell: Cell) -> None:
        """Note that a statement has changed the cell, so that the next collection includes it."""

    def stop_cellsrv(self, cell: Cell) -> None:
        """Stop CELLSRV of a cell."""

    def start_cellsrv(self, cell: Cell) -> None:
        """Start CELLSRV of a cell."""

    def resume_caching(self, cell: Cell) -> None:
        """End any flush of the cell."""

    def resume_pmem(self, cell: Cell) -> None:
        """End any flush of the cache on persistent memory."""

    def grid_disk_names(self, *, besides: str = "") -> Iterable[str]:
        """Return the names of the grid disks of all cells except one."""

    def truth(self, database: str) -> Truth | None:
        """Return the present true effect of a database's loads; None if there is none."""

    def running_loads(self) -> list[Load]:
        """Return the loads that are running at the time to which the state has been advanced."""

    def flush_rate_of(self, cell: Cell, member: CacheMember) -> float:
        """Return the bytes that the disk of a cache's member writes in a rack second of a flush."""
