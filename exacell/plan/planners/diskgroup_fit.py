"""Whether a disk group can be made on the grid disks that are there: enough cells, the right disks, large enough. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from exacell.core.errors import RefusedError
from exacell.core.units import format_size
from exacell.plan.asmfacts import AsmDisk, AsmFacts
from exacell.plan.asmspace import grid_disk_of, largest_au, least_disk
from exacell.plan.facts import GridDisk
from exacell.plan.planners.diskgroup_add import ADDABLE, taken_by

FAILGROUPS = {"external": 1, "normal": 2, "high": 3}
"""Least number of failure groups. Source: reference asm.md section 4."""


def refuse_few(name: str, redundancy: str, cells: int) -> None:
    """Raise RefusedError when so many cells are too few failure groups for ``redundancy``."""
    least = FAILGROUPS[redundancy]
    if cells < least:
        raise RefusedError(
            f"create diskgroup {name}: {redundancy} redundancy needs {least} failure groups, one per cell, "
            f"and there are grid disks on {cells}"
        )


def refuse_small(name: str, prefix: str, au_size: int, disk: int) -> None:
    """Raise RefusedError when grid disks of ``disk`` bytes are too small for an allocation unit of ``au_size`` bytes."""
    least = least_disk(au_size)
    if disk >= least:
        return
    fits = largest_au(disk)
    larger = format_size(grid_disk_of(least, au_size))
    ways = [f"au_size={fits >> 20}m fits"] if fits else []
    ways.append(f"release griddisk prefix={prefix}, then carve griddisk prefix={prefix} with size={larger}")
    raise RefusedError(
        f"create diskgroup {name}: with au_size={au_size >> 20}M a disk has at least {format_size(least)}, and the grid "
        f"disks {prefix}_* have {format_size(disk)}; nothing was sent",
        hint="; or ".join(ways),
    )


def refuse_mismatch(
    asm: AsmFacts, name: str, prefix: str, matched: Sequence[AsmDisk], expected: Mapping[str, GridDisk]
) -> None:
    """Raise RefusedError when ASM sees other disks of a prefix than the cells have, or somebody has them already.

    Args:
        matched: the disks that the disk string catches.
        expected: the cells' grid disks by their names in small letters.
    """
    seen = {disk.grid_disk.lower() for disk in matched}
    missing = sorted(expected[n].name for n in expected if n not in seen)
    if missing:
        raise RefusedError(
            f"create diskgroup {name}: ASM does not see {len(missing)} of {len(expected)} grid disks {prefix}_*, "
            f"for example {missing[0]}",
            hint="check cellip.ora on the database nodes, asm_diskstring and availableTo",
        )
    extra = sorted(d.grid_disk for d in matched if d.grid_disk.lower() not in expected)
    if extra:
        raise RefusedError(
            f"create diskgroup {name}: the disk string o/*/{prefix}_* also catches {extra[0]}, which is not one of "
            f"the {len(expected)} grid disks {prefix}_<celldisk>",
            hint="use a prefix that is not the start of another one",
        )
    taken = taken_by(asm, matched)
    if taken:
        raise RefusedError(
            f"create diskgroup {name}: ASM says that {taken}, not {' or '.join(ADDABLE)}; nothing was sent",
            hint="show asmdisk tells which group has which disk; use grid disks that nobody has",
        )
    sizes = sorted({disk.os_mb for disk in matched})
    if len(sizes) > 1:
        raise RefusedError(
            f"create diskgroup {name}: the grid disks {prefix}_* have different sizes: {', '.join(map(str, sizes))} MB"
        )
