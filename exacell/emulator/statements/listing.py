"""LIST and DESCRIBE."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial

from exacell.emulator import hardware_rows, printer
from exacell.emulator.grammar import ListStatement
from exacell.emulator.messages import CellError, Code
from exacell.emulator.objects import ROWS, Place
from exacell.emulator.profiles import PRIMARY_MEDIA_SINCE
from exacell.emulator.schema import Attribute, ObjectType, Release
from exacell.emulator.statements import metric_listing
from exacell.emulator.values import Row, order_key, passes

NOUNS = {
    "CELLDISK": "Cell disk",
    "GRIDDISK": "Grid disk",
    "LUN": "LUN",
    "PHYSICALDISK": "Physical disk",
    "METRICCURRENT": "Metric",
    "METRICHISTORY": "Metric",
    "METRICDEFINITION": "Metric definition",
    "DATABASE": "Database",
    "ALERTHISTORY": "Alert",
}
LISTED: Mapping[str, Callable[[Place], list[Row]]] = {
    **ROWS,
    "ALERTDEFINITION": hardware_rows.alert_definition_rows,
    "ALERTHISTORY": hardware_rows.alert_rows,
    "DISKMAP": hardware_rows.disk_map_rows,
    "IBPORT": hardware_rows.ib_port_rows,
    "OFFLOADGROUP": hardware_rows.offload_group_rows,
    "SOFTWAREHISTORY": hardware_rows.software_history_rows,
    "SOFTWAREUPDATE": hardware_rows.software_update_rows,
    "THRESHOLD": hardware_rows.threshold_rows,
    "XRMEMCACHE": hardware_rows.memory_cache_rows,
}
"""Object types that LIST answers, besides those of metrics; others are refused as not emulated."""

_NEEDS_CELLSRV = frozenset(("FLASHCACHE", "FLASHCACHECONTENT", "FLASHLOG", "IORMPLAN", "ACTIVEREQUEST"))

_DETAIL_LAST: dict[str, tuple[str, ...]] = {
    "CELL": (
        *("status", "temperatureReading", "temperatureStatus", "upTime", "usbStatus"),
        *("cellsrvStatus", "msStatus", "rsStatus"),
    ),
    "LUN": ("lunWriteCacheMode", "status"),
}
"""Attributes that DETAIL prints last on releases before 24.1, in this order. Source: captures, cellcli.md 3.3."""


def list_texts(place: Place, statement: ListStatement, look: printer.Format) -> Iterator[str]:
    """Yield what LIST prints, in one piece, or in many when it is long.

    Raises:
        CellError: an object does not exist, CELLSRV is needed and down, or the object type is not emulated.
    """
    owner, release = statement.object_type, place.rack.release
    attributes = statement.attributes
    if attributes is None and (statement.detail or look.xml or look.json):
        attributes = _detail_attributes(owner, release.number)
    if attributes is None:
        named = (owner.attribute(name, release.number) for name in owner.default_columns)
        attributes = tuple(attribute for attribute in named if attribute is not None)
    if look == printer.Format() and metric_listing.prints_by_minute(statement, attributes):
        yield from metric_listing.minutes_of(place, statement, attributes)
        return
    rows = list_rows(place, statement)
    if look.xml:
        yield printer.xml(rows, attributes, owner, cell=place.cell.name, oss_start=place.cell.cellsrv_start)
        return
    if look.json:
        yield printer.json(rows, attributes, owner, cell=place.cell.name)
        return
    if look.local_dates:
        rows = printer.local_dates(rows)
    layout = printer.detail if statement.detail else printer.plain
    if owner.name == "DISKMAP" and statement.attributes is None and not statement.detail:
        titles: Row = dict(zip(owner.default_columns, hardware_rows.DISKMAP_HEADER, strict=True))
        rows = [titles, *rows]
    yield layout(rows, attributes, largest_suffix=release.largest_suffix)


def describe_text(place: Place, owner: ObjectType) -> str:
    """Return what DESCRIBE prints."""
    return printer.describe(owner, place.rack.release.number)


def _detail_attributes(owner: ObjectType, release: Release) -> tuple[Attribute, ...]:
    attributes = [a for a in owner.attributes_in(release) if not a.hidden]
    last = _DETAIL_LAST.get(owner.name, ()) if release < PRIMARY_MEDIA_SINCE else ()
    return tuple(sorted(attributes, key=lambda a: last.index(a.name) if a.name in last else -1))


def list_rows(place: Place, statement: ListStatement) -> list[Row]:
    """Return the rows of LIST in the order in which they are printed."""
    owner = statement.object_type
    _check_cellsrv(place, statement)
    if owner.name in metric_listing.OBJECT_TYPES:
        rows = list(metric_listing.rows_of(place, statement))
    elif owner.name in LISTED:
        rows = _named(LISTED[owner.name](place), statement)
    else:
        raise CellError(Code.NOT_EMULATED, statement=f"LIST {owner.name}")
    rows = [row for row in rows if all(passes(row.get(f.attribute.name), f) for f in statement.filters)]
    for attribute, descending in reversed(statement.order_by):
        rows.sort(key=partial(_key, attribute), reverse=descending)
    return rows if statement.limit is None else rows[: statement.limit]


def _key(attribute: Attribute, row: Row) -> tuple[int, float, str]:
    return order_key(row.get(attribute.name))


def _check_cellsrv(place: Place, statement: ListStatement) -> None:
    if place.cell.cellsrv_up:
        return
    asked = [f.attribute for f in statement.filters] + list(statement.attributes or ())
    if statement.object_type.name in _NEEDS_CELLSRV or any(a.name.startswith("asm") for a in asked):
        raise CellError(Code.CELLSRV_DOWN)


def _named(rows: list[Row], statement: ListStatement) -> list[Row]:
    if not statement.names:
        return rows
    wanted = statement.names[0]
    found = [row for row in rows if str(row.get("name")).lower() == wanted.lower()]
    if not found:
        raise CellError(Code.OBJECT_MISSING, kind=_noun(statement.object_type), name=wanted)
    return found


def _noun(owner: ObjectType) -> str:
    return NOUNS.get(owner.name, owner.name.capitalize())
