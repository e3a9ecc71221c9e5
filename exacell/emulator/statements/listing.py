"""LIST and DESCRIBE."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from exacell.emulator import printer
from exacell.emulator.clock import MINUTE
from exacell.emulator.grammar import ListStatement, Over
from exacell.emulator.messages import CellError, Code
from exacell.emulator.metrics import HISTORY_S, Reading
from exacell.emulator.objects import ROWS, Place
from exacell.emulator.profiles import PRIMARY_MEDIA_SINCE
from exacell.emulator.schema import Attribute, MetricDefinition, ObjectType, Release, metric_definitions
from exacell.emulator.values import Metric, Row, Time, Value, order_key, passes

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
_NEEDS_CELLSRV = frozenset(("FLASHCACHE", "FLASHCACHECONTENT", "FLASHLOG", "IORMPLAN", "ACTIVEREQUEST"))
_METRICS = frozenset(("METRICCURRENT", "METRICHISTORY", "METRICDEFINITION"))

_DETAIL_LAST: dict[str, tuple[str, ...]] = {
    "CELL": (
        *("status", "temperatureReading", "temperatureStatus", "upTime", "usbStatus"),
        *("cellsrvStatus", "msStatus", "rsStatus"),
    ),
    "LUN": ("lunWriteCacheMode", "status"),
}
"""Attributes that DETAIL prints last on releases before 24.1, in this order. Source: captures, cellcli.md 3.3."""


def list_text(place: Place, statement: ListStatement, *, xml: bool) -> str:
    """Return what LIST prints.

    Raises:
        CellError: an object does not exist, CELLSRV is needed and down, or the object type is not emulated.
    """
    owner, release = statement.object_type, place.rack.release
    rows = list_rows(place, statement)
    attributes = statement.attributes
    if attributes is None and (statement.detail or xml):
        attributes = _detail_attributes(owner, release.number)
    if attributes is None:
        named = (owner.attribute(name, release.number) for name in owner.default_columns)
        attributes = tuple(attribute for attribute in named if attribute is not None)
    if xml:
        return printer.xml(rows, attributes, owner, cell=place.cell.name, oss_start=place.cell.cellsrv_start)
    layout = printer.detail if statement.detail else printer.plain
    return layout(rows, attributes, largest_suffix=release.largest_suffix)


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
    if owner.name in _METRICS:
        rows = list(_metric_rows(place, statement))
    elif owner.name in ROWS:
        rows = _named(ROWS[owner.name](place), statement)
    else:
        raise CellError(Code.NOT_EMULATED, statement=f"LIST {owner.name}")
    rows = [row for row in rows if all(passes(row.get(f.attribute.name), f) for f in statement.filters)]
    if statement.over is not None:
        rows = _windows(rows, statement.over)
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


def _metric_rows(place: Place, statement: ListStatement) -> Iterator[Row]:
    definitions = metric_definitions()
    for name in statement.names:
        if name.upper() not in definitions:
            raise CellError(Code.OBJECT_MISSING, kind=_noun(statement.object_type), name=name)
    if statement.object_type.name == "METRICDEFINITION":
        names = [name.upper() for name in statement.names] or list(definitions)
        yield from (_definition_row(definitions[name]) for name in names)
        return
    wanted = _wanted(statement)
    if statement.object_type.name == "METRICCURRENT":
        moment = place.rack.collection_time(place.cell)
        rows = [_reading_row(r) for r in place.rack.reader(place.cell).readings(moment, wanted)]
        order = {name.upper(): index for index, name in enumerate(statement.names)}
        yield from sorted(rows, key=lambda row: order.get(str(row["name"]), 0))
        return
    yield from _history_rows(place, statement, wanted)


def _wanted(statement: ListStatement) -> list[MetricDefinition]:
    """Return the metrics that can pass, judged by their names and by filters on what a definition has."""
    names = frozenset(name.upper() for name in statement.names)
    filters = [f for f in statement.filters if f.attribute.name in ("name", "objectType", "metricType")]
    found: list[MetricDefinition] = []
    for definition in metric_definitions().values():
        if names and definition.name not in names:
            continue
        row = _definition_row(definition)
        if all(passes(row[f.attribute.name], f) for f in filters):
            found.append(definition)
    return found


def _definition_row(definition: MetricDefinition) -> Row:
    return {
        "name": definition.name,
        "description": description(definition),
        "fineGrained": definition.fine_grained,
        "metricType": definition.metric_type,
        "objectType": definition.object_type,
        "persistencePolicy": definition.retention_policy,
        "retentionPolicy": definition.retention_policy,
        "streaming": definition.streaming,
        "unit": definition.unit,
    }


def description(definition: MetricDefinition) -> str:
    """Return a description of a metric, made of its definition."""
    what = {"Cumulative": "total since start", "Rate": "rate over the last minute"}.get(
        definition.metric_type, "value at collection"
    )
    return f"{definition.object_type} {definition.name}: {what} in {definition.unit}"


def _reading_row(reading: Reading) -> Row:
    definition = reading.definition
    return {
        "name": definition.name,
        "alertState": "normal",
        "collection": "default",
        "collectionTime": Time(reading.moment),
        "metricObjectName": reading.object_name,
        "metricType": definition.metric_type,
        "metricValue": Metric(reading.number, definition.unit),
        "objectType": definition.object_type,
    }


def _history_rows(place: Place, statement: ListStatement, wanted: Sequence[MetricDefinition]) -> Iterator[Row]:
    metrics, now = place.rack.metrics[place.cell.host], place.rack.now()
    last = place.rack.collection_time(place.cell)
    moment = max(metrics.collections[0].moment if metrics.collections else last, last - HISTORY_S)
    timely = [f for f in statement.filters if f.attribute.name in ("collectionTime", "ageInMinutes")]
    while moment <= last:
        times: dict[str, Value] = {"collectionTime": Time(moment), "ageInMinutes": int((now - moment) // MINUTE)}
        if all(passes(times[f.attribute.name], f) for f in timely):
            for reading in place.rack.reader(place.cell).readings(moment, wanted):
                yield {**_reading_row(reading), **times}
        moment += MINUTE


def _windows(rows: Sequence[Row], over: Over) -> list[Row]:
    """Return one row for each metric, object and window of ``over.minutes``, with the aggregates asked for."""
    groups: dict[tuple[str, str, int], list[Row]] = {}
    for row in rows:
        collected = row["collectionTime"]
        window = int(collected.moment // MINUTE // over.minutes) if isinstance(collected, Time) else 0
        groups.setdefault((str(row["name"]), str(row["metricObjectName"]), window), []).append(row)
    return [_window(group, over.functions or frozenset(("MAX", "MIN", "AVG"))) for group in groups.values()]


def _window(rows: Sequence[Row], functions: frozenset[str]) -> Row:
    metrics = [value for row in rows if isinstance(value := row["metricValue"], Metric)]
    numbers, unit = [metric.number for metric in metrics], metrics[-1].unit
    aggregates = {"MAX": max(numbers), "MIN": min(numbers), "AVG": sum(numbers) / len(numbers)}
    return {
        **rows[-1],
        **{f"metricValue{name.capitalize()}": Metric(aggregates[name], unit) for name in sorted(functions)},
    }
