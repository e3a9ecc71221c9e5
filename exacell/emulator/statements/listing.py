"""LIST and DESCRIBE."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import partial

from exacell.emulator.basics.messages import CellError, Code
from exacell.emulator.basics.profiles import PRIMARY_MEDIA_SINCE
from exacell.emulator.basics.schema import Attribute, ObjectType, Release
from exacell.emulator.grammar.reading import ListStatement
from exacell.emulator.grammar.values import Row, order_key, passes
from exacell.emulator.state.place import Place
from exacell.emulator.statements import (
    cache_rows,
    exascale,
    hardware_rows,
    history,
    metric_listing,
    printer,
    security,
    support,
    threshold,
)
from exacell.emulator.statements.objects import ROWS

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
    "ALERTDEFINITION": threshold.alert_definition_rows,
    "ALERTHISTORY": threshold.alert_rows,
    "DISKMAP": hardware_rows.disk_map_rows,
    "ESCLUSTER": exascale.cluster_rows,
    "ESNODE": exascale.node_rows,
    "IBPORT": hardware_rows.ib_port_rows,
    "KEY": security.key_rows,
    "OFFLOADGROUP": hardware_rows.offload_group_rows,
    "OFFLOADPACKAGE": hardware_rows.offload_package_rows,
    "QUARANTINE": support.quarantine_rows,
    "ROLE": security.role_rows,
    "USER": security.user_rows,
    "SOFTWAREHISTORY": hardware_rows.software_history_rows,
    "SOFTWAREUPDATE": hardware_rows.software_update_rows,
    "THRESHOLD": threshold.threshold_rows,
    "XRMEMCACHE": cache_rows.memory_cache_rows,
}
"""The functions that make the rows of LIST for each object type, except for metrics."""

_NEEDS_CELLSRV = frozenset(
    (
        *("FLASHCACHE", "FLASHCACHECONTENT", "FLASHLOG", "IORMPLAN", "ACTIVEREQUEST"),
        *("PMEMCACHE", "PMEMLOG", "XRMEMCACHE", "XRMEMCACHECONTENT", "XRMEMLOG"),
    )
)


def list_texts(place: Place, statement: ListStatement, look: printer.Format) -> Iterator[str]:
    """Yield the output of LIST, in one piece, or in many if it is long.

    Raises:
        CellError: an object does not exist, or CELLSRV is needed but down.
    """
    owner, release = on_hardware(place, statement.object_type), place.rack.release
    if owner is not statement.object_type:
        statement = _on_hardware(statement, owner, release.number)
    if owner.name == "DIAGPACK" and not (look.xml or look.json):
        yield support.diagpack_text(place, detail=statement.detail)
        return
    attributes = statement.attributes
    if attributes is None and (statement.detail or look.xml or look.json):
        attributes = _detail_attributes(owner, release.number)
    elif attributes is not None and statement.detail and not (look.xml or look.json):
        attributes = _in_detail_order(owner, attributes, release.number)
    if attributes is None:
        named = (owner.attribute(name, release.number) for name in owner.default_columns)
        attributes = tuple(attribute for attribute in named if attribute is not None)
    if owner.name == "METRICHISTORY":
        yield from history.texts(place, statement, attributes, look)
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


def _on_hardware(statement: ListStatement, owner: ObjectType, release: Release) -> ListStatement:
    known = owner.attributes_in(release)
    if statement.all_attributes:
        return replace(statement, attributes=tuple(a for a in statement.attributes or () if a in known))
    unknown = next((a for a in statement.attributes or () if a not in known), None)
    if unknown is not None:
        raise CellError(Code.UNKNOWN_ATTRIBUTE, attribute=unknown.name, object=owner.name)
    return statement


def describe_text(place: Place, owner: ObjectType) -> str:
    """Return the output of DESCRIBE."""
    return printer.describe(on_hardware(place, owner), place.rack.release.number)


_DRAM_ATTRIBUTES = ("name", "creationTime", "effectiveCacheSize")


def on_hardware(place: Place, owner: ObjectType) -> ObjectType:
    """Return an object type in the form that the cell's hardware has.

    On persistent memory XRMEMCACHE has the attributes of PMEMCACHE; in DRAM it has three attributes. Source: Oracle SAGUG,
    describe-xrmemcache.
    """
    if owner.name != "XRMEMCACHE":
        return owner
    if place.rack.model.pmem is not None:
        return replace(owner, default_columns=("name", "status"))
    return replace(owner, attributes=tuple(a for a in owner.attributes if a.name in _DRAM_ATTRIBUTES))


def _detail_attributes(owner: ObjectType, release: Release) -> tuple[Attribute, ...]:
    return _in_detail_order(owner, [a for a in owner.attributes_in(release) if a.titled_in(release)], release)


def _in_detail_order(owner: ObjectType, attributes: Iterable[Attribute], release: Release) -> tuple[Attribute, ...]:
    """Return attributes in the order of DETAIL, which is independent of the order in the statement.

    Source: a published LIST CELL ATTRIBUTES … DETAIL of 12.1.2.1, in Expert Oracle Exadata (Apress).
    """
    places = {a: number for number, a in enumerate(owner.attributes)}
    if release >= PRIMARY_MEDIA_SINCE:
        return tuple(sorted(attributes, key=places.__getitem__))
    named = {a.name: places[a] for a in reversed(owner.attributes)}

    def place(attribute: Attribute) -> tuple[int, float]:
        before = attribute.detail_before
        return attribute.detail_end, named[before] - 0.5 if before else places[attribute]

    return tuple(sorted(attributes, key=place))


def list_rows(place: Place, statement: ListStatement) -> list[Row]:
    """Return the rows of LIST in the order in which they are printed."""
    owner = statement.object_type
    _check_cellsrv(place, statement)
    if owner.name in metric_listing.OBJECT_TYPES:
        rows = list(metric_listing.rows_of(place, statement))
    else:
        rows = _named(LISTED[owner.name](place), statement)
    rows = [row for row in rows if all(passes(row.get(f.attribute.name), f) for f in statement.filters)]
    if statement.key_type:
        rows = [row for row in rows if row.get("type") == statement.key_type]
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
