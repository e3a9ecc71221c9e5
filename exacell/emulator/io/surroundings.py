"""The facts on which the I/O of one cell depends besides the cell: time, processors, release, and the state of its partners."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from exacell.emulator.cell.disk_models import DiskType
from exacell.emulator.cell.models import Cell


@dataclass(frozen=True, kw_only=True)
class Around:
    """The facts on which the I/O of one cell depends besides the cell.

    Attributes:
        moment: rack time at the end of its minute.
        cpus: the number of the cell's processors; 0 means enough for any load.
        takes_large_writes: whether the release lets large writes into the cache.
        secondary: share of the reads that come here because the cell of their primary mirror is offline.
        minutes: the number of minutes over which the I/O is spread.
        proxied: share of additional reads that partners send, because a part of their cache is broken.
    """

    moment: float
    cpus: int = 0
    takes_large_writes: bool = False
    secondary: float = 0.0
    proxied: float = 0.0
    minutes: float = 1.0


class Partners:
    """The state of a rack's cells in one minute: which are offline, and which have broken flash disks."""

    def __init__(self, cells: Mapping[str, Cell]) -> None:
        self._away = sum(not cell.cellsrv_up for cell in cells.values()) / len(cells)
        self._broken = {name: _broken(cell) for name, cell in cells.items() if cell.cellsrv_up}
        self._all_broken, self._others = sum(self._broken.values()), max(1, len(cells) - 1)

    def around(self, host: str, moment: float, *, cpus: int, takes_large_writes: bool) -> Around:
        """Return the facts on which the I/O of one of the cells depends."""
        return Around(
            moment=moment,
            cpus=cpus,
            takes_large_writes=takes_large_writes,
            secondary=self._away,
            proxied=max(0.0, self._all_broken - self._broken.get(host, 0.0)) / self._others,
        )


def _broken(cell: Cell) -> float:
    flash = [disk for disk in cell.cell_disks.values() if disk.disk_type is DiskType.FLASH]
    return sum(disk.status != "normal" for disk in flash) / len(flash) if flash else 0.0
