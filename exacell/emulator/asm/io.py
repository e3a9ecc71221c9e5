"""The reads and writes that V$ASM_DISK counts: each database's own totals, spread over the disks of its disk groups.

A database's requests go to the groups that hold its data files, in proportion to their sizes, and there evenly to all disks;
a write goes to as many of them as there are copies. Before the first load, a disk's counters hold the I/O that filled it.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

from exacell.core.units import MIB
from exacell.emulator.asm.instance import Asm
from exacell.emulator.io.device_io import share
from exacell.emulator.storage.databases import Database
from exacell.emulator.storage.disk_groups import DiskGroup

_DATA = "DATAFILE"
_FILLED = {"READS": 3, "WRITES": 2}
"""Requests of one megabyte for each megabyte on a disk, before any load has run."""
_SMALL_S, _LARGE_S = Decimal("0.0006"), Decimal("0.0098")
"""Seconds for a normal request of a database, and for a request of one megabyte: made up."""


@dataclass(frozen=True)
class GroupIo:
    """Requests and bytes that the databases have read from a group and written to it; all copies count."""

    reads: int
    bytes_read: int
    writes: int
    bytes_written: int

    def of_disk(self, index: int, count: int, used_mb: int) -> dict[str, int | Decimal]:
        """Return the counters of the index-th of ``count`` disks, which holds ``used_mb`` MB."""
        filling = {name: used_mb * each for name, each in _FILLED.items()}
        counted = {"READS": share(self.reads, index, count), "WRITES": share(self.writes, index, count)}
        return {
            **{name: filling[name] + counted[name] for name in counted},
            "READ_TIME": filling["READS"] * _LARGE_S + counted["READS"] * _SMALL_S,
            "WRITE_TIME": filling["WRITES"] * _LARGE_S + counted["WRITES"] * _SMALL_S,
            "BYTES_READ": filling["READS"] * MIB + share(self.bytes_read, index, count),
            "BYTES_WRITTEN": filling["WRITES"] * MIB + share(self.bytes_written, index, count),
        }

    def part(self, index: int, count: int) -> GroupIo:
        """Return the index-th of ``count`` even shares."""
        amounts = (self.reads, self.bytes_read, self.writes, self.bytes_written)
        return GroupIo(*(share(amount, index, count) for amount in amounts))


def group_io(asm: Asm, group: DiskGroup, only: Database | None = None) -> GroupIo:
    """Return the requests and bytes that all databases, or only one of them, have read and written in a group."""
    reads = bytes_read = writes = bytes_written = 0.0
    for database in asm.databases.values() if only is None else (only,):
        counted = asm.statistics(database)
        everywhere = sum(_data_bytes(other, database.name) for other in asm.groups.values())
        if not counted or not everywhere:
            continue
        part = _data_bytes(group, database.name) / everywhere
        reads += part * counted.get("physical read total IO requests", 0)
        bytes_read += part * counted.get("physical read total bytes", 0)
        writes += part * counted.get("physical write total IO requests", 0)
        bytes_written += part * counted.get("physical write total bytes", 0)
    copies = group.redundancy.copies
    return GroupIo(int(reads), int(bytes_read), int(writes) * copies, int(bytes_written) * copies)


def _data_bytes(group: DiskGroup, database: str) -> int:
    return sum(file.size_bytes for file in group.files if file.kind == _DATA and file.database == database)
