"""The tables and indexes of emulated databases, with the storage clause that decides how flash caches them.

Source: reference asm.md section 11; Oracle Database SQL Language Reference, "storage_clause", CELL_FLASH_CACHE.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any
from zlib import crc32

from exacell.core.units import MIB

DEFAULT, KEEP, NONE = "DEFAULT", "KEEP", "NONE"
CHOICES = (DEFAULT, KEEP, NONE)
"""Values of CELL_FLASH_CACHE."""

APPLICATION = "APP"
"""The schema of the tables that every emulated database has."""


@dataclass(kw_only=True)
class Segment:
    """One segment.

    Attributes:
        table: its own name, or the table of an index.
        partition: empty unless it is a partition of the object.
        kind: TABLE or INDEX.
        cell_flash_cache: DEFAULT, KEEP or NONE.
        unusable: whether the table of an index was moved since the index was built.
    """

    owner: str
    name: str
    table: str
    kind: str
    tablespace: str
    size_bytes: int
    partition: str = ""
    cell_flash_cache: str = DEFAULT
    unusable: bool = False

    @property
    def segment_type(self) -> str:
        """Return DBA_SEGMENTS.SEGMENT_TYPE."""
        return f"{self.kind} PARTITION" if self.partition else self.kind


_TABLES = (("ORDERS", 40, ("P2021Q1", "P2021Q2", "P2021Q3", "P2021Q4")), ("ORDER_ITEMS", 30, ()), ("CUSTOMERS", 8, ()))
_INDEXES = (("ORDERS_PK", "ORDERS", 30), ("ORDER_ITEMS_PK", "ORDER_ITEMS", 25), ("CUSTOMERS_NAME_IX", "CUSTOMERS", 6))
"""Names, tables, and the percentage of the space for data or for indexes."""


def default_segments(data_bytes: int, index_bytes: int) -> list[Segment]:
    """Return the segments of a new database, over this many bytes for data and for indexes."""
    segments: list[Segment] = []
    for name, percent, partitions in _TABLES:
        size = data_bytes * percent // 100
        for partition in partitions or ("",):
            each = size // max(1, len(partitions)) // MIB * MIB
            segments.append(
                Segment(
                    owner=APPLICATION,
                    name=name,
                    table=name,
                    kind="TABLE",
                    tablespace="APPDATA",
                    size_bytes=each,
                    partition=partition,
                )
            )
    for name, table, percent in _INDEXES:
        size = index_bytes * percent // 100 // MIB * MIB
        segments.append(
            Segment(owner=APPLICATION, name=name, table=table, kind="INDEX", tablespace="APPINDEX", size_bytes=size)
        )
    return segments


def object_number(database: str, segment: Segment) -> int:
    """Return DBA_OBJECTS.DATA_OBJECT_ID of a segment; cells use it as objectNumber."""
    name = f"{database}|{segment.kind}|{segment.owner}|{segment.name}|{segment.partition}"
    return 60_000 + crc32(name.encode()) % 40_000


DEFAULT_PERMANENT, DEFAULT_TEMPORARY = "USERS", "TEMP"
"""The default tablespaces of a database, as DBCA makes them. Source: Oracle Database Administrator's Guide."""


def default_tablespace(owner: str) -> str:
    """Return DBA_USERS.DEFAULT_TABLESPACE: where the tables of a user are unless they say otherwise."""
    return "APPDATA" if owner == APPLICATION else "SYSTEM"


def clause_shares(segments: Iterable[Segment]) -> tuple[float, float]:
    """Return the shares of the data in segments with KEEP and with NONE."""
    found = list(segments)
    total = sum(segment.size_bytes for segment in found)
    if not total:
        return 0.0, 0.0
    kept, none = (sum(s.size_bytes for s in found if s.cell_flash_cache == choice) / total for choice in (KEEP, NONE))
    return kept, none


def segments_from_state(rows: Sequence[dict[str, Any]]) -> list[Segment]:
    """Return the segments in a database's stored state."""
    return [Segment(**row) for row in rows]
