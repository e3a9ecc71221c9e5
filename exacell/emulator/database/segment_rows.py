"""The rows of DBA_SEGMENTS, DBA_TABLES, DBA_INDEXES and their partitions on an emulated database."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from exacell.emulator.asm.instances import Instance
from exacell.emulator.sql.values import Value, from_epoch
from exacell.emulator.storage.segments import Segment, object_number

_BLOCK = 8192
_EXTENT = 1 << 20


def _segments(instance: Instance, kind: str = "") -> list[Segment]:
    database = instance.database
    found = [s for s in (database.segments if database is not None else []) if kind in ("", s.kind)]
    return sorted(found, key=lambda s: (s.owner, s.name, s.partition))


def _storage(segment: Segment) -> dict[str, Value]:
    return {
        "TABLESPACE_NAME": segment.tablespace,
        "BUFFER_POOL": "DEFAULT",
        "FLASH_CACHE": "DEFAULT",
        "CELL_FLASH_CACHE": segment.cell_flash_cache,
    }


def _status(segment: Segment) -> str:
    return "UNUSABLE" if segment.unusable else "VALID"


def segments(instance: Instance) -> Iterator[Mapping[str, Value]]:
    """Yield the rows of DBA_SEGMENTS."""
    for segment in _segments(instance):
        yield {
            **_storage(segment),
            "OWNER": segment.owner,
            "SEGMENT_NAME": segment.name,
            "PARTITION_NAME": segment.partition or None,
            "SEGMENT_TYPE": segment.segment_type,
            "SEGMENT_SUBTYPE": "ASSM",
            "BYTES": segment.size_bytes,
            "BLOCKS": segment.size_bytes // _BLOCK,
            "EXTENTS": max(1, segment.size_bytes // _EXTENT),
            "INITIAL_EXTENT": 65536,
            "NEXT_EXTENT": _EXTENT,
        }


def objects(kind: str) -> Callable[[Instance], Iterator[Mapping[str, Value]]]:
    """Return a function that yields the rows of DBA_TABLES or DBA_INDEXES; storage of partitioned ones is in the partitions."""

    def rows(instance: Instance) -> Iterator[Mapping[str, Value]]:
        seen: set[tuple[str, str]] = set()
        created = instance.database.created if instance.database is not None else 0.0
        for segment in _segments(instance, kind):
            if (segment.owner, segment.name) in seen:
                continue
            seen.add((segment.owner, segment.name))
            storage: Mapping[str, Value] = {} if segment.partition else _storage(segment)
            yield {
                **storage,
                "OWNER": segment.owner,
                "TABLE_OWNER": segment.owner,
                "TABLE_NAME": segment.table,
                "INDEX_NAME": segment.name,
                "INDEX_TYPE": "NORMAL",
                "TABLE_TYPE": "TABLE",
                "UNIQUENESS": "UNIQUE" if segment.name.endswith("_PK") else "NONUNIQUE",
                "STATUS": "N/A" if segment.partition and kind == "INDEX" else _status(segment),
                "PARTITIONED": "YES" if segment.partition else "NO",
                "BLOCKS": segment.size_bytes // _BLOCK,
                "LOGGING": "YES",
                "DEGREE": "         1",
                "LAST_ANALYZED": from_epoch(created),
                "TEMPORARY": "N",
                "SECONDARY": "N",
                "MONITORING": "YES",
                "COMPRESSION": "DISABLED",
                "DROPPED": "NO",
                "READ_ONLY": "NO",
                "SEGMENT_CREATED": "YES",
            }

    return rows


def partitions(instance: Instance) -> Iterator[Mapping[str, Value]]:
    """Yield the rows of DBA_TAB_PARTITIONS."""
    position: dict[tuple[str, str], int] = {}
    for segment in _segments(instance, "TABLE"):
        if segment.partition:
            table = (segment.owner, segment.name)
            position[table] = position.get(table, 0) + 1
            yield {
                **_storage(segment),
                "TABLE_OWNER": segment.owner,
                "TABLE_NAME": segment.name,
                "PARTITION_NAME": segment.partition,
                "PARTITION_POSITION": position[table],
                "BLOCKS": segment.size_bytes // _BLOCK,
            }


def all_objects(instance: Instance) -> Iterator[Mapping[str, Value]]:
    """Yield the rows of DBA_OBJECTS: one for each segment, and one without data for each partitioned object."""
    database = instance.database.name if instance.database is not None else ""
    created = from_epoch(instance.database.created if instance.database is not None else 0.0)
    whole: set[tuple[str, str]] = set()
    for segment in _segments(instance):
        number = object_number(database, segment)
        row: dict[str, Value] = {"OWNER": segment.owner, "OBJECT_NAME": segment.name, "STATUS": "VALID"}
        row |= {"CREATED": created, "LAST_DDL_TIME": created, "TEMPORARY": "N", "GENERATED": "N", "SECONDARY": "N"}
        row |= {"ORACLE_MAINTAINED": "N", "NAMESPACE": 1}
        if segment.partition and (segment.owner, segment.name) not in whole:
            whole.add((segment.owner, segment.name))
            yield {**row, "OBJECT_TYPE": segment.kind, "OBJECT_ID": number - 40_000}
        yield {
            **row,
            "SUBOBJECT_NAME": segment.partition or None,
            "OBJECT_TYPE": segment.segment_type,
            "OBJECT_ID": number,
            "DATA_OBJECT_ID": number,
        }
