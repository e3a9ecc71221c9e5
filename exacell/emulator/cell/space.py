"""Space arithmetic of cell disks: units of 16M, equal shares, free space.

Source: reference cellcli.md 3.4 and 6.4; Oracle SAGUG, create-flashcache, create-flashlog, create-griddisk.
"""

from __future__ import annotations

from collections.abc import Sequence

from exacell.core.units import (
    ALLOCATION_UNIT,
    GIB,
    format_size,
    round_down,
)
from exacell.emulator.basics.messages import CellError, Code
from exacell.emulator.cell.disk_models import DiskType
from exacell.emulator.cell.models import Cell

MAX_LOG_PER_DISK = 4 * GIB
MAX_LOG = 64 * GIB
"""Sizes of a flash log stay below these: on one flash disk, and in total. Source: Oracle SAGUG, create-flashlog."""


def log_share(size_bytes: int, disks: int) -> int:
    """Return the bytes of a flash log of ``size_bytes`` on each of ``disks`` flash cell disks."""
    return round_down(size_bytes // disks)


def free_bytes(cell: Cell, disks: Sequence[str]) -> dict[str, int]:
    """Return the free bytes of cell disks, in whole units; never below zero."""
    return {name: max(0, round_down(cell.free_space(name))) for name in disks}


def all_free(cell: Cell, disks: Sequence[str]) -> dict[str, int]:
    """Return the bytes that CREATE FLASHCACHE without a size takes of each disk: all free space.

    If the disks' remainders below a unit add up to whole units, they are taken too: so an X6 has 11.643218994140625T, which is
    not a whole number of units on each of its four disks.
    """
    exact = {name: max(0, cell.free_space(name)) for name in disks}
    return exact if sum(exact.values()) % ALLOCATION_UNIT == 0 else free_bytes(cell, disks)


def even_share(cell: Cell, disks: Sequence[str], size_bytes: int, *, what: str) -> dict[str, int]:
    """Return the bytes on each disk of an object ``what`` with ``size_bytes`` in total: equal, rounded down to 16M.

    Raises:
        CellError: the share is below 16M, or a disk has less free.
    """
    share = round_down(size_bytes // len(disks))
    if share < ALLOCATION_UNIT:
        minimum = format_size(ALLOCATION_UNIT * len(disks))
        raise CellError(Code.TOO_SMALL, what=what, wanted=format_size(size_bytes), limit=minimum)
    free = free_bytes(cell, disks)
    if share > min(free.values()):
        limit = format_size(min(free.values()) * len(disks))
        raise CellError(Code.TOO_LARGE, what=what, wanted=format_size(size_bytes), limit=limit, cell=cell.name)
    return dict.fromkeys(disks, share)


def cache_share(cell: Cell, disks: Sequence[str], size_bytes: int, *, what: str) -> dict[str, int]:
    """Return the bytes on each disk of a cache with ``size_bytes`` in total.

    The disks get equal parts, except if the size is exactly that of all free space: then all of it is taken, so that a cache made
    without a size can be made again with the size that it shows.

    Raises:
        CellError: as :func:`even_share`.
    """
    everything = {name: size for name, size in all_free(cell, disks).items() if size}
    if everything and size_bytes == sum(everything.values()):
        return everything
    return even_share(cell, disks, size_bytes, what=what)


_USABLE = {DiskType.FLASH: "Usable flash cell disk", DiskType.PMEM: "Usable PMEM cell disk"}


def flash_members(cell: Cell, names: Sequence[str] | None, kind: DiskType = DiskType.FLASH) -> list[str]:
    """Return the cell disks of a kind that a statement names, or all usable ones for ALL (``names`` None).

    Raises:
        CellError: a name is not a usable cell disk of that kind, or there are no such disks.
    """
    usable = [disk.name for disk in cell.usable_disks(kind)]
    if names is None:
        chosen = usable
    else:
        by_name = {name.lower(): name for name in usable}
        for name in names:
            if name.lower() not in by_name:
                raise CellError(Code.OBJECT_MISSING, kind=_USABLE[kind], name=name)
        chosen = [name for name in usable if name.lower() in {n.lower() for n in names}]
    if not chosen:
        raise CellError(Code.NO_FLASH if kind is DiskType.FLASH else Code.NO_PMEM, cell=cell.name)
    return chosen
