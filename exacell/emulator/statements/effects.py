"""What the statements of CellCLI share: the form of their results, and which disks and objects their words mean.

A result is lines of text, and pauses while something takes time. A name that does not exist is an error of its own line: the
other names of the statement are carried out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from exacell.emulator.basics.messages import CellError, Code
from exacell.emulator.basics.profiles import PRIMARY_MEDIA_SINCE
from exacell.emulator.basics.program import Out, Pause
from exacell.emulator.cell.disk_models import DiskType
from exacell.emulator.cell.models import Cell
from exacell.emulator.grammar.changes import (
    Selection,
)
from exacell.emulator.state.place import Place

Effects = Iterator[Out | Pause]


def line(text: str) -> Out:
    """Return one line of standard output."""
    return Out(f"{text}\n")


def require_cellsrv(cell: Cell) -> None:
    """Raise CellError if CELLSRV does not run.

    Raises:
        CellError: CELL-02559.
    """
    if not cell.cellsrv_up:
        raise CellError(Code.CELLSRV_DOWN)


_MEDIA = {
    "HARDDISK": DiskType.HARD,
    "FLASHDISK": DiskType.FLASH,
    "PERFORMANCEOPTIMIZED FLASHDISK": DiskType.FLASH,
    "CAPACITYOPTIMIZED FLASHDISK": DiskType.CAPACITY,
    "PMEM": DiskType.PMEM,
}


def media_types(place: Place, media: str | None) -> frozenset[DiskType]:
    """Return the disk types that ``ALL [media]`` means.

    Without a media word all disks are meant; from 24.1 on only the primary media: hard disks, else capacity-optimized flash, else
    flash. FLASHDISK then means capacity-optimized flash, if there is any. Source: reference cellcli.md 2.4.
    """
    newer = place.rack.release.number >= PRIMARY_MEDIA_SINCE
    capacity = place.rack.model.capacity is not None
    if media is None:
        first = DiskType.CAPACITY if capacity else DiskType.FLASH if place.rack.model.extreme_flash else DiskType.HARD
        return frozenset((first,)) if newer else frozenset(DiskType)
    if media == "FLASHDISK" and newer and capacity:
        return frozenset((DiskType.CAPACITY,))
    return frozenset((_MEDIA[media],))


def grid_disk_media(place: Place, media: str | None) -> list[str]:
    """Return the cell disks that ``ALL [media]`` of CREATE GRIDDISK means, by name; never those on persistent memory."""
    types = media_types(place, media) - {DiskType.PMEM}
    return sorted(disk.name for disk in place.cell.cell_disks.values() if disk.disk_type in types)


def find(names: Sequence[str], wanted: str, kind: str) -> str:
    """Return the name among ``names`` that equals ``wanted``; upper and lower case are equal.

    Raises:
        CellError: there is no such name.
    """
    for name in names:
        if name.lower() == wanted.lower():
            return name
    raise CellError(Code.OBJECT_MISSING, kind=kind, name=wanted)


def chosen(place: Place, which: Selection, names: Sequence[str], kind: str) -> Iterator[str | CellError]:
    """Yield the disks among ``names`` that a statement names, or an error for each that does not exist.

    If the statement gives no names, the media word decides, by the medium of each cell disk or grid disk.
    """
    if which.names is None:
        types = media_types(place, which.media)
        disks = place.cell.cell_disks | place.cell.grid_disks
        yield from (name for name in names if disks[name].disk_type in types)
        return
    yield from named(which.names, names, kind)


def named(names: Sequence[str] | None, known: Iterable[str], kind: str) -> Iterator[str | CellError]:
    """Yield the names among ``known`` that a statement means, or an error for each that does not exist.

    Args:
        names: as given, in upper or lower case; None means all.
    """
    if names is None:
        yield from list(known)
        return
    by_name = {name.lower(): name for name in known}
    for name in names:
        yield by_name.get(name.lower()) or CellError(Code.OBJECT_MISSING, kind=kind, name=name)
