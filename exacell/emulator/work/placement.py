"""The disks below what a database stores: which cells have a disk group, or a tablespace, on flash disks.

On cells that have flash alone, a disk group's disks are no other place than the rest: there, nothing counts as on flash.
"""

from __future__ import annotations

from exacell.emulator.cell.disk_models import DiskType
from exacell.emulator.io.device_io import FLASH, backing
from exacell.emulator.storage.disk_groups import AsmFile, DiskGroup
from exacell.emulator.work.connected import Connected

DATA = "DATAFILE"
"""The kind of a file that holds a tablespace's data."""


def flash_cells(instance: Connected, group: DiskGroup) -> frozenset[str]:
    """Return the cells on whose flash disks a group has grid disks, where hard disks are another place."""
    cells, found = instance.asm.rack.cells, set[str]()
    for disk in group.disks.values():
        cell = cells.get(disk.cell)
        grid_disk = cell.grid_disks.get(disk.grid_disk) if cell is not None else None
        on = cell.cell_disks.get(grid_disk.cell_disk) if cell is not None and grid_disk is not None else None
        if cell is not None and on is not None and on.disk_type is DiskType.FLASH and backing(cell) != FLASH:
            found.add(disk.cell)
    return frozenset(found)


def data_files(instance: Connected, tablespace: str) -> list[tuple[DiskGroup, AsmFile]]:
    """Return the data files of a tablespace, each with its disk group."""
    assert instance.database is not None
    return [
        (group, file)
        for group in instance.asm.groups.values()
        for file in group.files
        if (file.kind, file.database, file.tag) == (DATA, instance.database.name, tablespace)
    ]


def tablespace_cells(instance: Connected, tablespace: str) -> frozenset[str]:
    """Return the cells on whose flash disks a tablespace is; empty if one of its files is on hard disks."""
    places = [flash_cells(instance, group) for group, _ in data_files(instance, tablespace)]
    return frozenset[str]().union(*places) if places and all(places) else frozenset()
