"""LIST METRICCURRENT, METRICHISTORY and METRICSTREAM.

A history can have millions of rows. So filters that need no value are applied before values are computed, and an unsorted
history in columns is printed minute by minute, without a record for each row.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache

from exacell.emulator.basics.clock import MINUTE, iso_time
from exacell.emulator.basics.messages import CellError, Code
from exacell.emulator.basics.schema import Attribute, MetricDefinition, Release, metrics_in
from exacell.emulator.cell.models import Cell
from exacell.emulator.grammar.reading import Filter, ListStatement
from exacell.emulator.grammar.values import Metric, Row, Time, Value, metric_text, passes
from exacell.emulator.metrics.alerts import alert_state
from exacell.emulator.metrics.metrics import HISTORY_S, CellMetrics
from exacell.emulator.metrics.past import growth_before
from exacell.emulator.metrics.reader import MetricReader, Reading
from exacell.emulator.metrics.words import description
from exacell.emulator.state.place import Place

OBJECT_TYPES = frozenset(("METRICCURRENT", "METRICHISTORY", "METRICDEFINITION", "METRICSTREAM"))

MEMORY_S = 3600.0
"""Seconds of history that MEMORY means; how much a cell keeps in memory is not published."""

_OF_DEFINITION = ("name", "objectType", "metricType")
_OF_MINUTE = ("collectionTime", "ageInMinutes")
_FIXED = {"name", "metricObjectName", "metricType", "objectType"}
_LEAD = "\t "
_KEPT_TEXTS = 400_000
"""Values of a history that are kept between computing their widths and printing them."""
_SAMPLED = 48
"""Minutes, evenly spread, from which the column width of a longer history is taken, besides those with large values."""
_TYPED = ("Number", "%", "MB/sec")
"""Units whose values print 0 and 0.0 differently."""
_REMEMBERED = 2048
"""Texts of one metric's values that are kept in memory."""


def definition_row(cell: Cell, definition: MetricDefinition) -> Row:
    """Return the row of a metric definition, with the settings of ALTER METRICDEFINITION."""
    settings = cell.metric_settings
    return {
        "name": definition.name,
        "description": description(definition),
        "fineGrained": settings.get(f"{definition.name}|fineGrained", definition.fine_grained),
        "metricType": definition.metric_type,
        "objectType": definition.object_type,
        "persistencePolicy": definition.retention_policy,
        "retentionPolicy": definition.retention_policy,
        "streaming": settings.get(f"{definition.name}|streaming", definition.streaming),
        "unit": definition.unit,
    }


def check_names(place: Place, statement: ListStatement) -> None:
    """Raise CellError if a named metric does not exist."""
    definitions = metrics_in(place.rack.release.number)
    for name in statement.names:
        if name.upper() not in definitions:
            noun = "Metric definition" if statement.object_type.name == "METRICDEFINITION" else "Metric"
            raise CellError(Code.OBJECT_MISSING, kind=noun, name=name)


def rows_of(place: Place, statement: ListStatement) -> Iterator[Row]:
    """Yield the rows of a LIST of current metrics or of definitions, before filters on values.

    Raises:
        CellError: a named metric does not exist.
    """
    check_names(place, statement)
    definitions, kind = metrics_in(place.rack.release.number), statement.object_type.name
    if kind == "METRICDEFINITION":
        names = [name.upper() for name in statement.names] or list(definitions)
        yield from (definition_row(place.cell, definitions[name]) for name in names)
        return
    wanted = wanted_by(place, statement)
    moment = place.rack.collection_time(place.cell)
    order = {name.upper(): index for index, name in enumerate(statement.names)}
    readings = readings_of(place.rack.reader(place.cell), moment, wanted, statement)
    rows: Iterable[Row] = (reading_row(place.cell, reading) for reading in readings)
    if kind == "METRICCURRENT" and (seconds := int(place.cell.settings.get("metricFGCollIntvlInSec", "0"))):
        rows = _with_fine_grained(place, rows, seconds)
    yield from sorted(rows, key=lambda row: order.get(str(row["name"]), 0)) if order else rows


def _with_fine_grained(place: Place, rows: Iterable[Row], seconds: int) -> Iterator[Row]:
    """Yield each row, followed by the row of the fine-grained collection for metrics that have one.

    Counters of an emulated cell change once a minute: only the time of the collection is finer.
    """
    moment = place.rack.now() // seconds * seconds
    definitions = metrics_in(place.rack.release.number)
    fine = {name for name, d in definitions.items() if definition_row(place.cell, d)["fineGrained"] == "Enabled"}
    for row in rows:
        yield row
        if row["name"] in fine:
            yield {**row, "collection": "fineGrained", "collectionTime": Time(moment)}


def wanted_by(place: Place, statement: ListStatement) -> Sequence[MetricDefinition]:
    """Return the metrics that can pass the filters, judged by their names and definitions."""
    names = frozenset(name.upper() for name in statement.names)
    filters = tuple(f for f in statement.filters if f.attribute.name in _OF_DEFINITION)
    found = _passing(place.rack.release.number, names, filters)
    if statement.object_type.name == "METRICSTREAM":
        return [d for d in found if definition_row(place.cell, d)["streaming"] == "Enabled"]
    return found


@lru_cache(maxsize=128)
def _passing(release: Release, names: frozenset[str], filters: tuple[Filter, ...]) -> tuple[MetricDefinition, ...]:
    """Return the metrics of a release that pass; cached, because programs that watch a cell ask the same again and again."""
    found: list[MetricDefinition] = []
    for definition in metrics_in(release).values():
        if names and definition.name not in names:
            continue
        facts = {"name": definition.name, "objectType": definition.object_type, "metricType": definition.metric_type}
        if all(passes(facts[f.attribute.name], f) for f in filters):
            found.append(definition)
    return tuple(found)


def readings_of(
    reader: MetricReader, moment: float, wanted: Sequence[MetricDefinition], statement: ListStatement
) -> Iterator[Reading]:
    """Yield the values of metrics at the collection of ``moment``, for objects that pass the statement's filters."""
    filters = [f for f in statement.filters if f.attribute.name == "metricObjectName"]
    if not filters:
        yield from reader.readings(moment, wanted)
        return
    known: dict[str, bool] = {}
    for reading in reader.readings(moment, wanted):
        name = reading.object_name
        if name not in known:
            known[name] = all(passes(name, f) for f in filters)
        if known[name]:
            yield reading


def reading_row(cell: Cell, reading: tuple[MetricDefinition, str, float, float]) -> Row:
    """Return the row of a :class:`~exacell.emulator.metrics.reader.Reading`."""
    definition, owner, moment, number = reading
    return {
        "name": definition.name,
        "alertState": alert_state(cell, definition.name, owner) if cell.thresholds else "normal",
        "collection": "default",
        "collectionTime": Time(moment),
        "metricObjectName": owner,
        "metricType": definition.metric_type,
        "metricValue": Metric(number, definition.unit),
        "objectType": definition.object_type,
    }


# -- history -------------------------------------------------------------------------------------------------------------


def history_minutes(place: Place, statement: ListStatement) -> list[float]:
    """Return the times of the collections that pass a history's filters on time, oldest first."""
    cell = place.cell
    metrics, now = place.rack.metrics[cell.host], place.rack.now()
    last = place.rack.collection_time(cell)
    days = cell.settings.get("metricHistoryDays")
    first = last - (float(days) * 86400.0 if days else HISTORY_S)
    if not metrics.past:
        first = max(first, metrics.begin)
    if statement.memory:
        first = max(first, last - MEMORY_S)
    timely = [f for f in statement.filters if f.attribute.name in _OF_MINUTE]
    count = int((last - first) // MINUTE)
    found: list[float] = []
    for minutes in range(count, -1, -1):
        moment = last - minutes * MINUTE
        values: dict[str, Value] = {"collectionTime": Time(moment), "ageInMinutes": int((now - moment) // MINUTE)}
        if all(passes(values[f.attribute.name], f) for f in timely):
            found.append(moment)
    return found


# -- the plain layout of a long history ----------------------------------------------------------------------------------


def prints_by_minute(statement: ListStatement, attributes: Sequence[Attribute]) -> bool:
    """Return whether :func:`minutes_of` can print a LIST: an unsorted history with value and time at the end."""
    names = [attribute.name for attribute in attributes]
    tail = ["metricValue", "collectionTime"]
    head = names[: -len(tail)] if names[-2:] == tail else names[:-1]
    return (
        statement.object_type.name == "METRICHISTORY"
        and names[-2:] in (tail, [*names[-2:-1], "metricValue"])
        and bool(head)
        and set(head) <= _FIXED
        and statement.over is None
        and not statement.order_by
        and statement.limit is None
        and not statement.detail
        and {f.attribute.name for f in statement.filters} <= {*_FIXED, *_OF_MINUTE}
    )


def minutes_of(place: Place, statement: ListStatement, attributes: Sequence[Attribute]) -> Iterator[str]:
    """Yield the text of a history in columns, one piece for each minute, and empty pieces while the widths are computed.

    Columns are as wide as their widest value. A very long history is printed while it is computed: its widths are taken from
    the minutes with large values; if a later value is wider, the columns are wider from there on.
    """
    wanted = wanted_by(place, statement)
    minutes = history_minutes(place, statement)
    if not minutes or not wanted:
        return
    heads = [a.name for a in attributes if a.name in _FIXED]
    timed = attributes[-1].name == "collectionTime"
    reader = place.rack.reader(place.cell)
    mask = Mask(statement)
    texts = _Texts(mask)
    fixed = [
        tuple(_fixed(definition, owner, name) for name in heads)
        for definition, objects, _numbers in reader.table(minutes[0], wanted)
        for owner in mask.kept(objects)
    ]
    if not fixed:
        return
    kept: dict[float, list[str]] = {}
    keep = len(minutes) * len(fixed) <= _KEPT_TEXTS
    width = 0
    for moment in minutes if keep else telling_minutes(place.rack.metrics[place.cell.host], minutes):
        values = texts.of(reader.table(moment, wanted))
        width = max(width, *map(len, values))
        if keep:
            kept[moment] = values
        yield ""
    widths = [max(map(len, column)) for column in zip(*fixed, strict=True)]
    starts = [
        "".join(_LEAD + text.ljust(size) for text, size in zip(row, widths, strict=True)) + _LEAD for row in fixed
    ]
    for moment in minutes:
        values = kept[moment] if keep else texts.of(reader.table(moment, wanted))
        width = max(width, *map(len, values))
        if timed:
            end = f"{_LEAD}{iso_time(moment)}\n"
            yield "".join([start + text.ljust(width) + end for start, text in zip(starts, values, strict=True)])
        else:
            yield "".join([f"{start}{text}\n" for start, text in zip(starts, values, strict=True)])


def _fixed(definition: MetricDefinition, owner: str, attribute: str) -> str:
    match attribute:
        case "name":
            return definition.name
        case "metricObjectName":
            return owner
        case "metricType":
            return definition.metric_type
        case _:
            return definition.object_type


class Mask:
    """The objects that pass the filters on metricObjectName."""

    def __init__(self, statement: ListStatement) -> None:
        self._filters = [f for f in statement.filters if f.attribute.name == "metricObjectName"]

    def passes(self, owner: str) -> bool:
        """Return whether an object passes."""
        return all(passes(owner, f) for f in self._filters)

    def kept(self, objects: Sequence[str]) -> list[str]:
        """Return the objects that pass."""
        return [owner for owner in objects if self.passes(owner)] if self._filters else list(objects)

    def picked(self, objects: Sequence[str], numbers: Sequence[float]) -> Sequence[float]:
        """Return the values of the objects that pass."""
        if not self._filters:
            return numbers
        return [number for owner, number in zip(objects, numbers, strict=True) if self.passes(owner)]


def telling_minutes(metrics: CellMetrics, minutes: Sequence[float]) -> list[float]:
    """Return the minutes of ``minutes`` at which metrics are largest, oldest first.

    Counters are largest before they are reset and at the end, rates of the past when it was busiest, others at any time.
    """
    found = {minutes[0], minutes[-1], *minutes[:: max(1, len(minutes) // _SAMPLED)]}
    found |= {moment - MINUTE for moment in metrics.collections.turns()}
    past = [moment for moment in minutes if moment < metrics.begin]
    if past:
        found.add(max(past, key=lambda moment: growth_before(moment, metrics.past)))
    return sorted(found.intersection(minutes))


class _Texts:
    """Metric values as text, cached: most values of a history are equal to those of the minute before or of another object."""

    def __init__(self, mask: Mask) -> None:
        self._mask = mask
        self._last: dict[str, tuple[list[float], list[str]]] = {}
        self._known: dict[str, dict[tuple[type, float], str]] = {}

    def of(self, table: Iterable[tuple[MetricDefinition, list[str], list[float]]]) -> list[str]:
        """Return the values of a minute as text, as LIST prints them."""
        found: list[str] = []
        for definition, objects, numbers in table:
            last = self._last.get(definition.name)
            if last is None or (last[0] is not numbers and (last[0] != numbers or definition.unit in _TYPED)):
                last = self._last[definition.name] = numbers, self._texts(definition, objects, numbers)
            found += last[1]
        return found

    def _texts(self, definition: MetricDefinition, objects: list[str], numbers: list[float]) -> list[str]:
        known = self._known.setdefault(definition.name, {})
        if len(known) > _REMEMBERED:
            known.clear()
        found: list[str] = []
        for number in self._mask.picked(objects, numbers):
            key = number.__class__, number
            text = known.get(key)
            if text is None:
                text = known[key] = metric_text(Metric(number, definition.unit))
            found.append(text)
        return found
