"""What ASM does, on a cell's request, when a disk of the cell fails, comes back or is replaced.

Source: Oracle SAGUG, handling-disk-replacement; Oracle DBMMN, replacing-hard-disk-due-disk-failure and
replacing-hard-disk-due-disk-problems.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from exacell.core.units import MIB
from exacell.emulator.asm.model import AsmDisk, DiskGroup, DiskMode, DiskState, Header, HeaderStatus

if TYPE_CHECKING:
    from exacell.emulator.asm.instance import Asm


def lose(asm: Asm, group: DiskGroup, disk: AsmDisk, *, force: bool) -> None:
    """Drop a disk of a mounted group; with ``force`` if none of its data can be read any more.

    The disk stays a member if the other disks have no room for its data.
    """
    used = sum(group.used_by_disk().values())
    staying = [d for d in group.disks.values() if d is not disk and d.state is DiskState.NORMAL]
    if disk.state is not DiskState.NORMAL or sum(d.size_mb for d in staying) < used:
        return
    header = asm.header(disk.cell, disk.grid_disk)
    if header is not None:
        header.lost = True
    disk.state = DiskState.FORCING if force or disk.mode is not DiskMode.ONLINE else DiskState.DROPPING
    asm.start_rebalance(group, asm.now(), node=group.mounted[0])


def disk_came(asm: Asm, cell: str, grid_disk: str, what: str) -> None:
    """Add a grid disk to its disk group again: a lost disk that is well again, or the replacement of a member.

    A replacement of a disk whose grid disk was no longer a member gets no header: it counts as never used.
    """
    header = asm.headers[cell, grid_disk]
    group = asm.groups[header.group]
    old = group.disk_of(cell, grid_disk)
    if what == "replaced" and not header.lost and (old is None or not group.mounted):
        if old is not None or header.status is HeaderStatus.FORMER:
            del asm.headers[cell, grid_disk]
    elif (what == "replaced" or (what == "active" and header.lost)) and asm.reachable(cell, grid_disk):
        _add_again(asm, group, header, cell, grid_disk)


def _add_again(asm: Asm, group: DiskGroup, header: Header, cell: str, grid_disk: str) -> None:
    old = group.disk_of(cell, grid_disk)
    if not group.mounted or (old is None and header.disk in group.disks):
        return
    number = 1 + max((disk.number for disk in group.disks.values()), default=-1) if old is None else old.number
    group.disks[header.disk] = AsmDisk(
        number=number,
        name=header.disk,
        fail_group=header.fail_group,
        cell=cell,
        grid_disk=grid_disk,
        size_mb=asm.rack.cells[cell].grid_disks[grid_disk].size_bytes // MIB // group.au_mb * group.au_mb,
        created=asm.now(),
        state=DiskState.ADDING,
    )
    header.status, header.lost = HeaderStatus.MEMBER, False
    asm.start_rebalance(group, asm.now(), node=group.mounted[0])
