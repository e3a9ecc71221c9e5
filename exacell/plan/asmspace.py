"""What ASM keeps of a disk group's raw space for itself, so that a size that is asked for is a size that can be used. Pure.

usable_file_mb = (free_mb - required_mirror_free_mb) / copies. Source: reference asm.md section 4, checked there on a published
lsdg of a real rack.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from exacell.core.errors import RefusedError
from exacell.core.units import (
    ALLOCATION_UNIT,
    MIB,
    counted,
    format_size,
)
from exacell.core.values import dataclass
from exacell.plan.asmfacts import AsmFacts, DiskGroup

COPIES = {"external": 1, "normal": 2, "high": 3}
"""Copies of each extent of a data file. Source: reference asm.md section 4."""

AU_SIZES = tuple(1 << power for power in range(20, 27))
"""Bytes that an allocation unit may have: 1M to 64M. Source: reference asm.md section 3."""

LEAST_UNITS = 7
"""Allocation units that a disk has at least: below, ASM answers ORA-15037. No public page that we know gives the number; general
knowledge says 7 MB with units of 1M."""

_UNITS_PER_DISK, _UNITS_PER_GROUP = 1, 3
"""Allocation units that are used in an empty disk group. Source: reference asm.md section 7, a published lsdg of an empty
group: 48 disks, units of 4M, 204 MB used."""

_WORD = {"EXTERN": "external", "NORMAL": "normal", "HIGH": "high"}


@dataclass(frozen=True, kw_only=True)
class Keeping:
    """How ASM counts the space of a disk group that is to come.

    Attributes:
        au_size: bytes of its allocation unit.
        by_failgroup: whether required_mirror_free_mb is what one failure group has (two with high redundancy), as elsewhere, or
            one disk (two), as on Exadata; None when no disk group of the rack tells which.
    """

    redundancy: str
    au_size: int = 4 * MIB
    by_failgroup: bool | None = None

    @property
    def copies(self) -> int:
        """Copies of each extent."""
        return COPIES[self.redundancy]

    def metadata(self, disks: int) -> int:
        """Return the bytes of an empty group of so many disks that ASM uses."""
        return (disks * _UNITS_PER_DISK + _UNITS_PER_GROUP) * self.au_size

    def spare(self, disks_per_cell: Sequence[int]) -> int:
        """Return how many disks' space stays free so that the mirrors can be made again after the worst loss."""
        losses = self.copies - 1
        return sum(sorted(disks_per_cell, reverse=True)[:losses]) if self.by_failgroup else losses

    def each(self, usable: int, disks_per_cell: Sequence[int]) -> int:
        """Return the bytes that each disk needs for a group in which ``usable`` bytes can be used, rounded up to 16M and to
        whole allocation units.

        Raises:
            RefusedError: no size will do, because what stays free for the mirrors is all of the group.
        """
        count, spare = sum(disks_per_cell), self.spare(disks_per_cell)
        if spare >= count:
            raise RefusedError(
                f"carve griddisk: {counted(count, 'grid disk')} on {counted(len(disks_per_cell), 'cell')} can't give usable "
                f"space with {self.redundancy} redundancy: ASM keeps the space of {counted(spare, 'disk')} free for the mirrors; "
                "nothing was sent",
                hint="use more cells, or size= instead of usable=",
            )
        share = -(-(usable * self.copies + self.metadata(count)) // (count - spare))
        return grid_disk_of(max(share, least_disk(self.au_size)), self.au_size)

    def usable(self, disk: int, disks_per_cell: Sequence[int]) -> int:
        """Return the bytes that can be used of an empty group on disks of ``disk`` bytes; it may be negative."""
        count = sum(disks_per_cell)
        own = disk // self.au_size * self.au_size
        return (own * (count - self.spare(disks_per_cell)) - self.metadata(count)) // self.copies

    def said(self, disks_per_cell: Sequence[int]) -> str:
        """Return in words what is counted beside the copies, and what can't be known."""
        count, spare = sum(disks_per_cell), self.spare(disks_per_cell)
        parts = [f"{format_size(self.metadata(count))} of ASM's own"]
        if spare:
            parts.append(f"the space of {counted(spare, 'disk')} kept free for the mirrors (required_mirror_free_mb)")
        text = " and ".join(parts)
        if spare and self.by_failgroup is None:
            text += "; no disk group could tell whether this ASM keeps a whole failure group free instead"
        return text


def least_disk(au_size: int) -> int:
    """Return the bytes that a disk of a group with such allocation units has at least."""
    return LEAST_UNITS * au_size


def grid_disk_of(size: int, au_size: int) -> int:
    """Return the least bytes of a grid disk, in units of 16M, that hold ``size`` bytes of whole allocation units."""
    unit = max(ALLOCATION_UNIT, au_size)
    return -(-size // unit) * unit


def largest_au(disk: int) -> int:
    """Return the largest allocation unit, in bytes, that disks of so many bytes may have; 0 when none."""
    return max((au for au in AU_SIZES if least_disk(au) <= disk), default=0)


def keeps_failgroup(asm: AsmFacts) -> bool | None:
    """Return whether this ASM counts a whole failure group as required_mirror_free_mb; None when its groups don't tell.

    Both are known of real racks. Source: reference asm.md section 4.
    """
    told = [found for group in asm.groups if (found := _told(asm, group)) is not None]
    return any(told) if told else None


def _told(asm: AsmFacts, group: DiskGroup) -> bool | None:
    losses = COPIES.get(_WORD.get(group.type, ""), 1) - 1
    if not losses or group.required_mirror_free_mb <= 0:
        return None
    disks = asm.members(group)
    cells: dict[str, int] = {}
    for disk in disks:
        cells[disk.failgroup] = cells.get(disk.failgroup, 0) + disk.os_mb
    few, whole = _largest([disk.os_mb for disk in disks], losses), _largest(cells.values(), losses)
    return None if few == whole else 2 * group.required_mirror_free_mb > few + whole


def _largest(sizes: Iterable[int], count: int) -> int:
    return sum(sorted(sizes, reverse=True)[:count])
