"""Check the grid disks of a new disk group: enough cells, the right disks, large enough; and plan to add missing ones. Pure.

CREATE DISKGROUP takes the disks that ASM sees at that moment. If a cell restarts just then, the group is created without that
cell's disks, and ADD DISK adds them later. Source: reference asm.md sections 2 (grammar) and 5 (discovery).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from exacell.core.cellset import fold_briefly, grouped
from exacell.core.errors import RefusedError
from exacell.core.units import counted, exact_size
from exacell.plan.asmfacts import AsmDisk, AsmFacts, DiskGroup
from exacell.plan.asmspace import grid_disk_of, largest_au, least_disk
from exacell.plan.checks import group_check
from exacell.plan.facts import GridDisk
from exacell.plan.model import Change, Check, Op, Risk, Stage, Step, Undo

ADDABLE = ("CANDIDATE", "FORMER", "PROVISIONED")
"""Header states that CREATE DISKGROUP and ADD DISK accept without FORCE. Source: Oracle Automatic Storage Management,
V$ASM_DISK."""


def add_stage(asm: AsmFacts, group: DiskGroup, expected: Mapping[str, GridDisk], prefix: str) -> Stage:
    """Return the stage that adds the ``expected`` disks (lower-case name → grid disk) that a mounted group lacks.

    Raises:
        RefusedError: ASM does not see one of them, another group has it, or its size differs from the group's disks.
    """
    members = asm.members(group)
    inside = {disk.grid_disk.lower() for disk in members}
    lacking = sorted(set(expected) - inside)
    seen = {disk.grid_disk.lower(): disk for disk in asm.disks}
    what = f"create diskgroup {group.name}: it exists with {len(members)} of {len(expected)} grid disks {prefix}_*"
    unseen = [expected[name].name for name in lacking if name not in seen]
    if unseen:
        raise RefusedError(
            f"{what}, but ASM does not see {len(unseen)} of the others, for example {unseen[0]}; nothing was sent",
            hint="when their cell is back, type `retry failed` or the same statement again; otherwise check cellip.ora",
        )
    disks = [disk for name, disk in seen.items() if name in lacking]
    taken = taken_by(asm, disks)
    if taken:
        raise RefusedError(
            f"{what}, but ASM says that {taken}, not {' or '.join(ADDABLE)}; nothing was sent",
            hint="`show asmdisk` shows its disk group",
        )
    sizes = sorted({disk.os_mb for disk in (*members, *disks)})
    if len(sizes) > 1:
        raise RefusedError(
            f"{what}, but these would have different sizes: {', '.join(map(str, sizes))} MB; nothing was sent",
            hint="`show griddisk` shows the sizes; `resize griddisk` makes them equal",
        )
    return Stage(
        title="add the disks that it lacks", key="add", steps=(_add(asm, group, disks, prefix, len(expected)),)
    )


def taken_by(asm: AsmFacts, disks: Sequence[AsmDisk]) -> str:
    """Return which of these disks ASM would refuse, and their owner: ``a_FD_[00-03]_cel01 are MEMBER of disk group A``.

    Empty if it accepts all of them.
    """
    groups = {group.number: group.name for group in asm.groups if group.number}
    whose = {number: f" of disk group {name}" for number, name in groups.items()}
    taken = [disk for disk in disks if disk.header not in ADDABLE]
    found = grouped((f"{disk.header}{whose.get(disk.group, '')}", disk.grid_disk) for disk in taken)
    return "; ".join(
        f"{fold_briefly(names)} {'is' if len(names) == 1 else 'are'} {state}" for state, names in found.items()
    )


def _add(asm: AsmFacts, group: DiskGroup, disks: Collection[AsmDisk], prefix: str, total: int) -> Step:
    had = total - len(disks)
    paths = tuple(disk.grid_disk for disk in disks)
    strings = ", ".join(f"'{text}'" for text in _strings(asm, disks, prefix))
    return Step(
        target=asm.node,
        asm=asm.cluster,
        statement=f"ALTER DISKGROUP {group.name} ADD DISK {strings}",
        what=f"add {counted(len(disks), 'grid disk')} to {group.name}",
        needs=(
            group_check(group.name, "disks", had, why="somebody else changed it"),
            Check(object="asm.disk", op=Op.COUNT, value=len(disks), where={"gridDisk": paths, "header": ADDABLE}),
        ),
        proves=(
            group_check(group.name, "state", "MOUNTED"),
            group_check(group.name, "disks", total),
            Check(object="asm.disk", op=Op.COUNT, value=len(disks), where={"gridDisk": paths, "diskgroup": group.name}),
        ),
        risk=Risk.PERFORMANCE if group.files else Risk.NONE,
        undo=Undo.IMPOSSIBLE,
        inverse="disks leave a disk group by ALTER DISKGROUP … DROP DISK and a rebalance",
        changes=(Change(object="diskgroup", name=group.name, attribute="disks", before=str(had), after=str(total)),),
    )


def _strings(asm: AsmFacts, disks: Collection[AsmDisk], prefix: str) -> Iterator[str]:
    """Yield the DISK strings that match exactly these disks: one per cell if all of its disks of the prefix are missing."""
    for address in dict.fromkeys(disk.cell_address for disk in disks):
        ours = [disk for disk in disks if disk.cell_address == address]
        there = [d for d in asm.disks if d.cell_address == address and d.grid_disk.startswith(f"{prefix}_")]
        yield from [f"o/{address}/{prefix}_*"] if len(there) == len(ours) else [disk.path for disk in ours]


FAILGROUPS = {"external": 1, "normal": 2, "high": 3}
"""By redundancy, the smallest number of failure groups. Source: reference asm.md section 4."""


def refuse_few(name: str, redundancy: str, cells: int) -> None:
    """Raise RefusedError if so many cells are too few failure groups for ``redundancy``."""
    least = FAILGROUPS[redundancy]
    if cells < least:
        raise RefusedError(
            f"create diskgroup {name}: {redundancy} redundancy needs {least} failure groups, one per cell, "
            f"and there are grid disks on {cells}"
        )


def refuse_small(name: str, prefix: str, au_size: int, disk: int) -> None:
    """Raise RefusedError if grid disks of ``disk`` bytes are too small for an allocation unit of ``au_size`` bytes."""
    least = least_disk(au_size)
    if disk >= least:
        return
    fits = largest_au(disk)
    larger = exact_size(grid_disk_of(least, au_size))
    ways = [f"au_size={fits >> 20}m fits"] if fits else []
    ways.append(f"release griddisk prefix={prefix}, then carve griddisk prefix={prefix} with size={larger}")
    raise RefusedError(
        f"create diskgroup {name}: with au_size={au_size >> 20}M a disk has at least {exact_size(least)}, and the grid "
        f"disks {prefix}_* have {exact_size(disk)}; nothing was sent",
        hint="; or ".join(ways),
    )


def refuse_mismatch(
    asm: AsmFacts, name: str, prefix: str, matched: Sequence[AsmDisk], expected: Mapping[str, GridDisk]
) -> None:
    """Raise RefusedError if ASM sees other disks of a prefix than the cells have, or another group has them already.

    Args:
        matched: the disks that match the disk string.
        expected: the cells' grid disks, by name in lower case.
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
            hint="`show asmdisk` shows which disk belongs to which group; use grid disks that belong to none",
        )
    sizes = sorted({disk.os_mb for disk in matched})
    if len(sizes) > 1:
        raise RefusedError(
            f"create diskgroup {name}: the grid disks {prefix}_* have different sizes: {', '.join(map(str, sizes))} MB",
            hint="carve them again with the same size=, or use a prefix that only disks of the same size have",
        )
