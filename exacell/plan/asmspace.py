"""Compute the space of ASM's disks: the part that ASM keeps for itself, the used part of a grid disk, the freed disks. Pure.

ASM keeps a part of a disk group's raw space. So that the requested size is usable, this holds: usable_file_mb =
(free_mb - required_mirror_free_mb) / copies. Source: reference asm.md section 4, checked there on a published lsdg of a
real rack.

On its cell, a grid disk may shrink only down to the end of the part that ASM uses: ``total_mb`` of that disk on every instance,
while no data is moved in its disk group. Source: Oracle DBMMN, resizing grid disks; reference asm.md section 6.

A dead disk can't be read, so that no header shows that ASM dropped it. Its disk group proves it: the group is mounted on the
instance that was asked, misses no disk, and has no such member. Source: reference asm.md section 6 (v$asm_disk has a row
without a path for a disk that is lost or is being expelled, until ASM has dropped it), cellcli.md 6.5 (asmModeStatus DROPPED).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from exacell.core.cellset import summed
from exacell.core.errors import RefusedError, ReplyError
from exacell.core.units import ALLOCATION_UNIT, MIB, counted, size_text
from exacell.core.values import dataclass
from exacell.plan.asmfacts import END, PREAMBLE, AsmFacts, DiskGroup, check_sql
from exacell.plan.facts import EXPELLED, LET_GO, GridDisk

COPIES = {"external": 1, "normal": 2, "high": 3}
"""Copies of each extent of a data file. Source: reference asm.md section 4."""

AU_SIZES = tuple(1 << power for power in range(20, 27))
"""The allowed sizes of an allocation unit in bytes: 1M to 64M. Source: reference asm.md section 3."""

LEAST_UNITS = 7
"""The smallest number of allocation units of a disk: with fewer, ASM answers ORA-15037. No public page that we know gives the
number; general knowledge says 7 MB with units of 1M."""

_UNITS_PER_DISK, _UNITS_PER_GROUP = 1, 3
"""Allocation units used in an empty disk group, per disk and per group. Source: reference asm.md section 7, a published lsdg
of an empty group: 48 disks, units of 4M, 204 MB used."""

_WORD = {"EXTERN": "external", "NORMAL": "normal", "HIGH": "high"}


@dataclass(frozen=True, kw_only=True)
class Keeping:
    """How ASM will count the space of a disk group that does not exist yet.

    Attributes:
        au_size: bytes of its allocation unit.
        by_failgroup: True if required_mirror_free_mb is the space of one failure group (two with high redundancy), as
            elsewhere; False if it is the space of one disk (two), as on Exadata; None if no disk group of the rack shows it.
    """

    redundancy: str
    au_size: int = 4 * MIB
    by_failgroup: bool | None = None

    @property
    def copies(self) -> int:
        """Return the number of copies of each extent."""
        return COPIES[self.redundancy]

    def metadata(self, disks: int) -> int:
        """Return the bytes that ASM uses in an empty group of so many disks."""
        return (disks * _UNITS_PER_DISK + _UNITS_PER_GROUP) * self.au_size

    def spare(self, disks_per_cell: Sequence[int]) -> int:
        """Return the number of disks whose space stays free, so that all mirrors can be restored after the worst loss."""
        losses = self.copies - 1
        return sum(sorted(disks_per_cell, reverse=True)[:losses]) if self.by_failgroup else losses

    def each(self, usable: int, disks_per_cell: Sequence[int]) -> int:
        """Return the bytes that each disk of a group needs so that ``usable`` bytes can be used.

        The result is rounded up to 16M and to whole allocation units.

        Raises:
            RefusedError: no size is enough, because the space kept free for the mirrors is the whole group.
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
        """Return the usable bytes of an empty group on disks of ``disk`` bytes; may be negative."""
        count = sum(disks_per_cell)
        own = disk // self.au_size * self.au_size
        return (own * (count - self.spare(disks_per_cell)) - self.metadata(count)) // self.copies

    def said(self, disks_per_cell: Sequence[int]) -> str:
        """Return a text about the space that is counted besides the copies, and about rules that exacell could not find out."""
        count, spare = sum(disks_per_cell), self.spare(disks_per_cell)
        parts = [f"{size_text(self.metadata(count))} of ASM's own"]
        if spare:
            parts.append(f"the space of {counted(spare, 'disk')} kept free for the mirrors (required_mirror_free_mb)")
        text = " and ".join(parts)
        if spare and self.by_failgroup is None:
            text += "; exacell could not find out from a disk group whether this ASM keeps a whole failure group free instead"
        return text


def least_disk(au_size: int) -> int:
    """Return the smallest size in bytes of a disk in a group with such allocation units."""
    return LEAST_UNITS * au_size


def grid_disk_of(size: int, au_size: int) -> int:
    """Return the smallest size in bytes of a grid disk, in units of 16M, that holds ``size`` bytes in whole allocation units."""
    unit = max(ALLOCATION_UNIT, au_size)
    return -(-size // unit) * unit


def largest_au(disk: int) -> int:
    """Return the largest allocation unit in bytes that disks of so many bytes may have; 0 if no unit is possible."""
    return max((au for au in AU_SIZES if least_disk(au) <= disk), default=0)


def keeps_failgroup(asm: AsmFacts) -> bool | None:
    """Return whether this ASM counts a whole failure group as required_mirror_free_mb; None if its groups do not show it.

    Real racks of both kinds are known. Source: reference asm.md section 4.
    """
    told = [found for group in asm.groups if (found := _told(asm, group)) is not None]
    return any(told) if told else None


def _told(asm: AsmFacts, group: DiskGroup) -> bool | None:
    losses = COPIES.get(_WORD.get(group.type, ""), 1) - 1
    if not losses or group.required_mirror_free_mb <= 0:
        return None
    disks = asm.members(group)
    cells = summed((disk.failgroup, disk.os_mb) for disk in disks)
    few, whole = _largest([disk.os_mb for disk in disks], losses), _largest(cells.values(), losses)
    return None if few == whole else 2 * group.required_mirror_free_mb > few + whole


def _largest(sizes: Iterable[int], count: int) -> int:
    return sum(sorted(sizes, reverse=True)[:count])


_COLUMNS = ("inst_id", "group_number", "path", "total_mb")

_FIELDS = "||'|'||".join(_COLUMNS)
# The _STAT view shows what each instance knows; it does not search for disks.
SIZES_SCRIPT = f"{PREAMBLE}select {_FIELDS} from gv$asm_disk_stat;\nprompt {END}\nexit\n"
"""The SQL*Plus script whose answer :func:`read_sizes` reads."""


@dataclass(frozen=True, kw_only=True)
class Told:
    """One instance's information about one disk of a mounted disk group: its grid disk in lower case, its size in bytes."""

    inst_id: str
    grid_disk: str
    size: int


def read_sizes(node: str, text: str) -> tuple[Told, ...]:
    """Return the rows of the answer to ``SIZES_SCRIPT`` that are about grid disks of mounted disk groups.

    Raises:
        ReplyError: the answer contains an error, ends early, or has an invalid row.
    """
    check_sql(text)
    found = []
    for line in filter(None, map(str.strip, text.splitlines())):
        if line == END:
            break
        fields = [field.strip() for field in line.split("|")]
        if len(fields) != len(_COLUMNS) or not fields[1].isdecimal():
            raise ReplyError(
                f"{node}: a row of gv$asm_disk_stat was expected, this came: {line}",
                hint="`sql asm` shows what SQL*Plus answers there",
            )
        inst_id, group, path, total = fields
        parts = path.split("/")
        if group != "0" and len(parts) == 3 and parts[0] == "o":
            size = int(total) * MIB if total.isdecimal() else 0
            found.append(Told(inst_id=inst_id, grid_disk=parts[2].lower(), size=size))
    return tuple(found)


def sizes_over(clusters: Sequence[tuple[AsmFacts, Sequence[Told]]], grids: Iterable[GridDisk]) -> dict[str, int]:
    """Return grid disk (lower case) → the largest size in bytes that an instance reports for it.

    Some disks are left out: those of no cluster or of several clusters, those of a disk group in which data is moved, and those
    whose size is missing on an instance that has the disk group mounted.
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
    """Return the mounted disk groups of a cluster that contain a grid disk, given by its name in lower case."""
    return [group for group in asm.groups if any(disk.grid_disk.lower() == name for disk in asm.members(group))]


def headers_over(clusters: Sequence[AsmFacts], grids: Iterable[GridDisk]) -> dict[str, str]:
    """Return grid disk name (lower case) → the worst header_status that any cluster sees.

    A disk of ``grids`` that no cluster sees and that its disk group has dropped gets ``EXPELLED``.
    """
    headers: dict[str, str] = {}
    for asm in clusters:
        for disk, header in asm.headers().items():
            # A disk is free only if all clusters have freed it.
            if headers.get(disk) in (None, *LET_GO):
                headers[disk] = header
    gone = [grid.name.lower() for grid in grids if grid.name.lower() not in headers and _is_expelled(grid, clusters)]
    return headers | dict.fromkeys(gone, EXPELLED)


def _is_expelled(grid: GridDisk, clusters: Sequence[AsmFacts]) -> bool:
    """Return whether the disk group named by a disk can be read in every cluster that has it, and misses no disk."""
    groups = [(asm, group) for asm in clusters if (group := asm.group(grid.asm_group)) is not None]
    whole = all(group.number and all(disk.path for disk in asm.members(group)) for asm, group in groups)
    return bool(groups) and whole


def ways_out(
    grids_by_cell: Mapping[str, Sequence[GridDisk]], headers: Mapping[str, str] | None, *, members: bool = True
) -> str:
    """Return how to free the disks that are not free, the most urgent way first; empty if all are free.

    Args:
        members: include disks that belong to a disk group, not only those that ASM has dropped.
    """
    used = [(grid, grid.use(headers)) for grids in grids_by_cell.values() for grid in grids]
    used = [(grid, why) for grid, why in used if why and not grid.pool]
    stale = [grid for grid, _ in used if grid.asm_mode == "DROPPED"]
    inside = [grid for grid, _ in used if grid.asm_mode != "DROPPED" and grid.asm_group]
    if inside:
        return _members(inside) if members else ""
    if stale:
        return _stale(stale, headers)
    return ""


def _members(grids: Sequence[GridDisk]) -> str:
    """Return the way to free disks of a disk group: drop single disks from it, or drop all of it."""
    groups = sorted({grid.asm_group for grid in grids})
    whole = " and ".join(f"`drop diskgroup {group}`" for group in groups)
    gone = "drops the disk group with its files" if len(groups) == 1 else "drop the disk groups with their files"
    first = grids[0]
    # An offline disk can't be emptied first: ORA-15084.
    force = " force" if first.asm_mode == "OFFLINE" else ""
    single = f'`sql asm "alter diskgroup {first.asm_group} drop disk {first.name.upper()}{force}"`'
    if len(grids) == 1:
        return f"{single} first; {whole} {gone}"
    return f"take the disks out of ASM first, one by one; {single} for the first; {whole} {gone}"


def _stale(grids: Sequence[GridDisk], headers: Mapping[str, str] | None) -> str:
    """Return the way to free disks that ASM has dropped according to their cell, but not according to ASM."""
    first = grids[0]
    if headers is None:
        return f"start an ASM instance and mount {first.asm_group}: only ASM can confirm that it has dropped the disks"
    if first.name.lower() in headers:
        return (
            f"ASM has dropped {first.name} but its header was never changed: `alter griddisk {first.name} inactive` "
            f"hides it from ASM; then it can be dropped"
        )
    return f"mount {first.asm_group}, and wait until no disk is missing: see `show asmdisk` and `show rebalance`"
