"""The rows of X$KFFXP: where each copy of the extents of ASM's files is.

The columns are those that scripts use (published queries on X$KFFXP count rows by disk and file). Extents are placed in turn
on the disks of a group and their copies on other failure groups. Simplified: files have at most 100 extents of each size (1,
4, 16, … allocation units), so that a large one has hundreds of rows where a real one has millions.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from exacell.emulator.asm.instances import Instance
from exacell.emulator.database.asm_rows import COMPOUND, own_groups
from exacell.emulator.sql.values import Value
from exacell.emulator.storage.disk_groups import AsmFile, DiskGroup

_EXTENTS_OF_A_SIZE = 100
_GROWTH = 4
_AREA_AUS = 512
"""Allocation units between the first extents of two files on a disk: the files follow one another."""


def extents(instance: Instance) -> Iterator[Mapping[str, Value]]:
    """Yield the rows of X$KFFXP."""
    number = 0
    for group in own_groups(instance):
        places = _placement(group)
        for file in sorted(group.files, key=lambda f: f.number):
            for row in _of_file(group, file, places):
                yield {"INDX": number, "INST_ID": instance.node + 1, **row}
                number += 1


def _of_file(group: DiskGroup, file: AsmFile, places: list[list[int]]) -> Iterator[dict[str, Value]]:
    units = -(-file.size_bytes // group.au_bytes)
    for extent, size in enumerate(extent_sizes(units)):
        disks = places[(file.number + extent) % len(places)]
        for copy, disk in enumerate(disks[: file.copies]):
            yield {
                "GROUP_KFFXP": group.number,
                "NUMBER_KFFXP": file.number,
                "COMPOUND_KFFXP": group.number * COMPOUND + file.number,
                "INCARN_KFFXP": file.incarnation,
                "PXN_KFFXP": extent * file.copies + copy,
                "XNUM_KFFXP": extent,
                "LXN_KFFXP": copy,
                "DISK_KFFXP": disk,
                "AU_KFFXP": _AREA_AUS + (file.number - 256) * _AREA_AUS + extent // len(places),
                "SIZE_KFFXP": size,
            }


def extent_sizes(units: int) -> Iterator[int]:
    """Yield the sizes of a file's extents in allocation units; the last extent has the rest."""
    size = 1
    while units > 0:
        for _ in range(_EXTENTS_OF_A_SIZE):
            if units <= 0:
                return
            yield min(size, units)
            units -= size
        size *= _GROWTH


def _placement(group: DiskGroup) -> list[list[int]]:
    """Return for each disk a list: itself, and the disks of the other copies of its extents, each in another failure group."""
    ordered = sorted(group.disks.values(), key=lambda d: d.number)
    regular = [disk for disk in ordered if not disk.quorum]
    names = sorted({disk.fail_group for disk in regular})
    members = {name: [disk.number for disk in regular if disk.fail_group == name] for name in names}
    found: list[list[int]] = []
    for turn, disk in enumerate(regular):
        others = [name for name in names if name != disk.fail_group]
        shift = turn % len(others) if others else 0
        rest = [members[name][turn % len(members[name])] for name in (*others[shift:], *others[:shift])]
        found.append([disk.number, *rest])
    return found
