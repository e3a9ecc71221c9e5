"""Connects each attribute of an object with a part of a cell's state, for LIST and for copies of a rack.

A field of the state has the attribute's name in small letters with underscores, unless it is named here. The attribute's kind
in the schema's table decides how its value is printed and read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import datetime
from functools import cache
from types import MappingProxyType
from typing import Any

from exacell.emulator.basics.schema import Release, object_types
from exacell.emulator.grammar.changing import size_of
from exacell.emulator.grammar.values import Row, Size, Time, Value

KEPT: Mapping[str, str] = MappingProxyType(
    {
        "CELLDISK": "name comment creationTime deviceName devicePartition errorCount id interleaving lun size=size_bytes status",
        "GRIDDISK": "name availableTo cachingPolicy cellDisk comment creationTime id offset size=size_bytes status"
        " storagePool virtualSize",
        "LUN": "name cellDisk deviceName isSystemLun=is_system lunSize=size_bytes physicalDrives=physical_disk status",
        "PHYSICALDISK": "name deviceId deviceName luns=lun makeModel physicalFirmware=firmware physicalInsertTime=insert_time"
        " physicalInterface=interface physicalSerial=serial physicalSize=size_bytes slotNumber=slot status",
        "FLASHCACHE": "name creationTime id size=size_bytes",
        "FLASHLOG": "name creationTime id size=size_bytes",
        "XRMEMCACHE": "name creationTime effectiveCacheSize=size_bytes id size=size_bytes",
        "THRESHOLD": "name comparison critical observation occurrences warning",
        "ALERTHISTORY": "name alertAction=action alertDescription=description alertMessage=message alertSequenceID=sequence"
        " alertShortName=short_name beginTime endTime examinedBy metricObjectName=owner metricValue=value"
        " sequenceBeginTime=sequence_begin severity",
    }
)
"""Attributes whose fields have another name. Some fields of the state are properties, which can only be read."""


@cache
def _fields(owner: str) -> Mapping[str, str]:
    pairs = (part.partition("=") for part in KEPT[owner].split())
    return {name: field or re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower() for name, _, field in pairs}


@cache
def _kinds(owner: str) -> Mapping[str, str]:
    return {attribute.name: attribute.kind for attribute in object_types()[owner].attributes}


def row_of(owner: str, kept: object) -> Row:
    """Return the values of the attributes that an object of the state has; others are left out.

    Args:
        owner: the object type.
    """
    kinds, row = _kinds(owner), Row()
    for name, field in _fields(owner).items():
        value = getattr(kept, field)
        if value is not None:
            row[name] = _shown(kinds[name], value)
    return row


def _shown(kind: str, value: Any) -> Value:
    if kind == "size":
        return Size(value)
    found: Value = Time(value) if kind == "time" else value
    return found


def state_of(owner: str, record: Mapping[str, str]) -> dict[str, Any]:
    """Return the fields of an object's state that its listed attributes give.

    Args:
        record: texts by attribute; attributes without a value are left out.
    """
    kinds = _kinds(owner)
    told = ((name, field) for name, field in _fields(owner).items() if name in record)
    found = {field: value_of(kinds[name], record[name]) for name, field in told}
    return {field: value for field, value in found.items() if value is not None}


def value_of(kind: str, text: str) -> Any:
    """Return the value in the state for a text of this kind of attribute: bytes, epoch seconds, numbers.

    None for an empty text, unless the kind is text; a text that is not a number stays text.

    Raises:
        CellError: the text is not a size.
        ValueError: the text is not a time.
    """
    if kind in ("string", "text", "enum", "list"):
        return text
    if not text:
        return None
    if kind == "size":
        return size_of(text)
    if kind == "time":
        return moment_of(text)
    if kind == "bool":
        return text.upper() == "TRUE"
    if text.lstrip("-").isdecimal():
        return int(text)
    try:
        return float(text)
    except ValueError:
        return text


def moment_of(text: str) -> float:
    """Return the epoch seconds of a time that DETAIL or XML printed."""
    return int(text) / 1000 if text.isdecimal() else datetime.fromisoformat(text).timestamp()


def defaults(owner: str, release: Release) -> Iterator[tuple[str, Value]]:
    """Yield the attributes that have a value before anybody sets one, with that value."""
    for attribute in object_types()[owner].attributes_in(release):
        if attribute.default:
            yield attribute.name, value_of(attribute.kind, attribute.default)
