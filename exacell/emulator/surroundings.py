"""What the I/O of one cell depends on besides the cell: the time, its processors and release, and how its partners are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from exacell.emulator.disk_models import DiskType
from exacell.emulator.models import Cell


@dataclass(frozen=True, kw_only=True)
class Around:
    """What the I/O of one cell depends on besides the cell.

    Attributes:
        moment: rack time at the end of its minute.
        cpus: the cell's processors; 0 for as many as it takes.
        takes_large_writes: whether the release lets large writes into the cache.
        secondary: share of the reads that come here because the cell of their primary mirror is away.
        minutes: over how many minutes the I/O spreads.
        proxied: share of reads that partners send besides, because a part of their cache is broken.
    """

    moment: float
    cpus: int = 0
    takes_large_writes: bool = False
    secondary: float = 0.0
    proxied: float = 0.0
    minutes: float = 1.0


class Partners:
    """How the cells of a rack are in one minute: which are away, and which have broken flash disks."""

    def __init__(self, cells: Mapping[str, Cell]) -> None:
        self._away = sum(not cell.cellsrv_up for cell in cells.values()) / len(cells)
        self._broken = {name: _broken(cell) for name, cell in cells.items() if cell.cellsrv_up}
        self._all_broken, self._others = sum(self._broken.values()), max(1, len(cells) - 1)

    def around(self, host: str, moment: float, *, cpus: int, takes_large_writes: bool) -> Around:
        """Return what the I/O of one of the cells depends on."""
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
