"""Parses the DISK clauses of CREATE and ALTER DISKGROUP.

The grammar is that of reference asm.md section 2 (Oracle SQL Reference, "CREATE DISKGROUP").
"""

from __future__ import annotations

from dataclasses import dataclass

from exacell.core.units import (
    GIB,
    KIB,
    MIB,
    TIB,
)
from exacell.emulator.sql.tokens import TokenReader


@dataclass(frozen=True, kw_only=True)
class DiskSpec:
    """One DISK string. ``fail_group`` None means the cell's name; ``force`` None: neither FORCE nor NOFORCE was given."""

    search: str
    fail_group: str | None = None
    quorum: bool = False
    name: str | None = None
    size_bytes: int | None = None
    force: bool | None = None


_UNITS = {"K": KIB, "M": MIB, "G": GIB, "T": TIB}


def group_name(reader: TokenReader) -> str:
    """Read the name of a disk group or of a disk, and return it."""
    if len(reader.here.value) > 30:
        raise reader.error(972)
    return reader.name(903)


def disk_clauses(reader: TokenReader) -> tuple[DiskSpec, ...]:
    """Return the disks of ``[QUORUM] [FAILGROUP f] DISK 's' [NAME d] …``; empty if the next word begins no such clause."""
    specs: list[DiskSpec] = []
    while reader.here.is_word("QUORUM", "REGULAR", "FAILGROUP", "DISK"):
        quorum = reader.accept("QUORUM")
        if not quorum:
            reader.accept("REGULAR")
        fail_group = reader.name(922) if reader.accept("FAILGROUP") else None
        reader.expect("DISK", 922)
        specs.append(_disk(reader, fail_group, quorum))
        while reader.accept_mark(","):
            specs.append(_disk(reader, fail_group, quorum))
    return tuple(specs)


def _disk(reader: TokenReader, fail_group: str | None, quorum: bool) -> DiskSpec:
    search = reader.text(922)
    name = group_name(reader) if reader.accept("NAME") else None
    size = size_of(reader) if reader.accept("SIZE") else None
    force = True if reader.accept("FORCE") else False if reader.accept("NOFORCE") else None
    return DiskSpec(search=search, fail_group=fail_group, quorum=quorum, name=name, size_bytes=size, force=force)


def size_of(reader: TokenReader) -> int:
    """Read a size such as ``36G`` and return it in bytes."""
    number = reader.whole(922)
    if reader.here.is_word(*_UNITS):
        return number * _UNITS[reader.take().value]
    return number
