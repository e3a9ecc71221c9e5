"""How large ASM takes each grid disk to be, on every instance that has its disk group mounted. Pure.

A grid disk may shrink on its cell only behind the end of what ASM keeps on it: ``total_mb`` of that disk on every instance,
while nothing is moved in its disk group. Source: Oracle DBMMN, resizing grid disks; reference asm.md section 6.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from exacell.core.errors import ReplyError
from exacell.core.units import MIB
from exacell.core.values import dataclass
from exacell.plan.asmfacts import END, PREAMBLE, AsmFacts, DiskGroup, check_sql
from exacell.plan.facts import GridDisk

_COLUMNS = ("inst_id", "group_number", "path", "total_mb")

_FIELDS = "||'|'||".join(_COLUMNS)
# The _STAT view tells what each instance knows, without a search for disks on all of them.
SIZES_SCRIPT = f"{PREAMBLE}select {_FIELDS} from gv$asm_disk_stat;\nprompt {END}\nexit\n"
"""The SQL*Plus script whose answer :func:`read_sizes` reads."""


@dataclass(frozen=True, kw_only=True)
class Told:
    """What one instance says of one disk of a mounted disk group: its grid disk in lower case, its size in bytes."""

    inst_id: str
    grid_disk: str
    size: int


def read_sizes(node: str, text: str) -> tuple[Told, ...]:
    """Return what the answer to ``SIZES_SCRIPT`` tells of grid disks that belong to mounted disk groups.

    Raises:
        ReplyError: the answer holds an error, ends early, or a row is none.
    """
    check_sql(text)
    found = []
    for line in filter(None, map(str.strip, text.splitlines())):
        if line == END:
            break
        fields = [field.strip() for field in line.split("|")]
        if len(fields) != len(_COLUMNS) or not fields[1].isdecimal():
            raise ReplyError(f"{node}: a row of gv$asm_disk_stat was expected, this came: {line}")
        inst_id, group, path, total = fields
        parts = path.split("/")
        if group != "0" and len(parts) == 3 and parts[0] == "o":
            size = int(total) * MIB if total.isdecimal() else 0
            found.append(Told(inst_id=inst_id, grid_disk=parts[2].lower(), size=size))
    return tuple(found)


def sizes_over(clusters: Sequence[tuple[AsmFacts, Sequence[Told]]], grids: Iterable[GridDisk]) -> dict[str, int]:
    """Return grid disk (lower case) → the largest size in bytes that an instance has of it.

    Left out are disks that no cluster has, or several; those of a disk group in which anything is moved; and those of which
    not every instance that has the disk group mounted tells the size.
    """
    found: dict[str, int] = {}
    for grid in grids:
        name = grid.name.lower()
        holders = [(asm, told, group) for asm, told in clusters for group in _holding(asm, name)]
        if len(holders) != 1:
            continue
        asm, told, group = holders[0]
        sizes = {row.inst_id: row.size for row in told if row.grid_disk == name}
        mounted = {inst for inst, state in group.states.items() if state != "DISMOUNTED"}
        moving = any(operation.diskgroup in (group.name, "") for operation in asm.running)
        if not moving and set(sizes) == mounted and all(sizes.values()):
            found[name] = max(sizes.values())
    return found


def _holding(asm: AsmFacts, name: str) -> list[DiskGroup]:
    """Return the mounted disk groups of a cluster that have a grid disk, by its name in lower case."""
    return [group for group in asm.groups if any(disk.grid_disk.lower() == name for disk in asm.members(group))]
