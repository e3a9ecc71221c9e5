"""LIST METRICHISTORY as a stream: a week of all metrics has tens of millions of rows, and none is kept in memory.

Rows are made minute by minute (with OVER window by window) and printed at once. Columns need a first pass for their widths; its
texts are kept only while there are few. An empty text is yielded between minutes, so that other sessions of the rack get a turn
and a client that has left is noticed.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import groupby

from exacell.emulator.basics.clock import MINUTE
from exacell.emulator.basics.messages import CellError, Code
from exacell.emulator.basics.schema import Attribute, MetricDefinition
from exacell.emulator.grammar.reading import ListStatement, Over
from exacell.emulator.grammar.values import Metric, Row, order_key, passes
from exacell.emulator.state.place import Place
from exacell.emulator.statements import printer
from exacell.emulator.statements.metric_listing import (
    Mask,
    check_names,
    history_minutes,
    minutes_of,
    prints_by_minute,
    reading_row,
    readings_of,
    wanted_by,
)

MAX_SORTED = 250_000
"""Rows that ORDER BY sorts without a LIMIT; more rows are refused, as METRICCURRENT refuses them in any number."""
_KEPT_TEXTS = 400_000
"""Texts that are kept between computing the widths of columns and printing them."""

_STATE = "normal"
"""The alertState of all past values."""

Chunks = Callable[[], Iterator[list[Row]]]
"""Returns the rows of a history from the beginning each time, in pieces; a piece may be empty."""


def texts(
    place: Place, statement: ListStatement, attributes: Sequence[Attribute], look: printer.Format
) -> Iterator[str]:
    """Yield the output of LIST METRICHISTORY in pieces; some are empty.

    The cell is used as it is at the beginning: changes while a long history is printed are not included.

    Raises:
        CellError: a named metric does not exist, a pattern is wrong, or ORDER BY has too many rows to sort.
    """
    check_names(place, statement)
    none = not all(passes(_STATE, f) for f in statement.filters if f.attribute.name == "alertState")
    place = replace(place, cell=pickle.loads(pickle.dumps(place.cell, pickle.HIGHEST_PROTOCOL)))
    if look == printer.Format() and not none and prints_by_minute(statement, attributes):
        yield from minutes_of(place, statement, attributes)
        return
    chunks: Chunks = partial(_whole, []) if none else partial(_passing, place, statement)
    if statement.order_by:
        ordered = yield from _sorted(chunks, statement)
        chunks = partial(_whole, ordered)
    elif statement.limit is not None:
        chunks = partial(_first, chunks, statement.limit)
    owner, cell = statement.object_type, place.cell
    if look.xml:
        yield printer.xml_head(cell=cell.name, oss_start=cell.cellsrv_start)
        for rows in chunks():
            yield printer.xml_objects(rows, attributes, owner)
        yield printer.XML_END
    elif look.json:
        yield from _json(chunks, attributes, owner.element, cell.name)
    else:
        if look.local_dates:
            chunks = partial(_dated, chunks)
        suffix = place.rack.release.largest_suffix
        yield from (_details if statement.detail else _columns)(chunks, attributes, suffix)


# -- rows ----------------------------------------------------------------------------------------------------------------


def _passing(place: Place, statement: ListStatement) -> Iterator[list[Row]]:
    """Yield the rows that pass all filters, by minute or by window."""
    rows = _minutes(place, statement) if statement.over is None else _windows(place, statement, statement.over)
    for piece in rows:
        yield [row for row in piece if all(passes(row.get(f.attribute.name), f) for f in statement.filters)]


def _minutes(place: Place, statement: ListStatement) -> Iterator[list[Row]]:
    reader, now = place.rack.reader(place.cell), place.rack.now()
    wanted = wanted_by(place, statement)
    for moment in history_minutes(place, statement):
        facts: Row = {"alertState": _STATE, "ageInMinutes": int((now - moment) // MINUTE)}
        yield [
            {**reading_row(place.cell, reading), **facts} for reading in readings_of(reader, moment, wanted, statement)
        ]


@dataclass(slots=True)
class _Aggregate:
    """One metric's values over a window, by object. If the same list of values comes again, it is only counted."""

    objects: list[str]
    last: Sequence[float]
    moment: float
    repeats: int
    count: int
    sums: list[float]
    highest: list[float]
    lowest: list[float]

    def add(self, numbers: Sequence[float], moment: float) -> None:
        self.moment = moment
        if numbers is self.last:
            self.repeats += 1
            return
        self.fold()
        self.last, self.repeats = numbers, 1

    def fold(self) -> None:
        """Add the last values as often as they came."""
        times, numbers = self.repeats, self.last
        self.repeats = 0
        self.count += times
        self.sums = [total + times * number for total, number in zip(self.sums, numbers, strict=True)]
        self.highest = list(map(max, self.highest, numbers))
        self.lowest = list(map(min, self.lowest, numbers))


def _windows(place: Place, statement: ListStatement, over: Over) -> Iterator[list[Row]]:
    """Yield the rows of each window of ``over.minutes``: one for each metric and object, with the requested aggregates."""
    reader, now = place.rack.reader(place.cell), place.rack.now()
    wanted, mask = wanted_by(place, statement), Mask(statement)
    for _window, moments in groupby(history_minutes(place, statement), lambda m: int(m // MINUTE // over.minutes)):
        found: dict[str, tuple[MetricDefinition, _Aggregate]] = {}
        for moment in moments:
            for definition, objects, numbers in reader.table(moment, wanted):
                known = found.get(definition.name)
                if known is None:
                    none = [0.0] * len(numbers)
                    begun = _Aggregate(objects, numbers, moment, 1, 0, none, list(numbers), list(numbers))
                    found[definition.name] = definition, begun
                else:
                    known[1].add(numbers, moment)
            yield []
        yield [
            row
            for definition, values in found.values()
            for row in _aggregated(place, definition, values, over, now, mask)
        ]


def _aggregated(
    place: Place, definition: MetricDefinition, values: _Aggregate, over: Over, now: float, mask: Mask
) -> Iterator[Row]:
    values.fold()
    functions = sorted(over.functions or ("AVG", "MAX", "MIN"))
    for index, owner in enumerate(values.objects):
        if not mask.passes(owner):
            continue
        of = {
            "AVG": values.sums[index] / values.count,
            "MAX": values.highest[index],
            "MIN": values.lowest[index],
        }
        yield {
            **reading_row(place.cell, (definition, owner, values.moment, values.last[index])),
            "alertState": _STATE,
            "ageInMinutes": int((now - values.moment) // MINUTE),
            **{f"metricValue{name.capitalize()}": Metric(of[name], definition.unit) for name in functions},
        }


def _first(chunks: Chunks, count: int) -> Iterator[list[Row]]:
    left = count
    for rows in chunks():
        yield rows[:left]
        left -= len(rows)
        if left <= 0:
            return


def _whole(rows: list[Row]) -> Iterator[list[Row]]:
    yield rows


def _dated(chunks: Chunks) -> Iterator[list[Row]]:
    return map(printer.local_dates, chunks())


def _sorted(chunks: Chunks, statement: ListStatement) -> Generator[str, None, list[Row]]:
    """Return the sorted rows, at most LIMIT of them; yield empty texts so that other sessions get a turn."""
    best: list[Row] = []
    for rows in chunks():
        best += rows
        if statement.limit is not None:
            best = _in_order(best, statement)[: statement.limit]
        elif len(best) > MAX_SORTED:
            raise CellError(Code.LIMIT_MANDATORY, object=statement.object_type.name)
        yield ""
    return _in_order(best, statement)


def _in_order(rows: list[Row], statement: ListStatement) -> list[Row]:
    for attribute, descending in reversed(statement.order_by):
        rows = sorted(rows, key=partial(_key, attribute.name), reverse=descending)
    return rows


def _key(name: str, row: Row) -> tuple[int, float, str]:
    return order_key(row.get(name))


# -- texts ---------------------------------------------------------------------------------------------------------------


def _columns(chunks: Chunks, attributes: Sequence[Attribute], largest_suffix: str) -> Iterator[str]:
    """Yield columns as wide as their widest text. A very long history is computed twice, to use little memory."""
    widths = [1] * len(attributes)
    kept: list[list[list[str]]] | None = []
    count = 0
    for rows in chunks():
        table = printer.table(rows, attributes, largest_suffix=largest_suffix)
        for column, texts_of in enumerate(zip(*table, strict=True)):
            widths[column] = max(widths[column], *map(len, texts_of))
        count += len(table) * len(attributes)
        if kept is not None:
            kept.append(table)
            if count > _KEPT_TEXTS:
                kept = None
        yield ""
    if kept is not None:
        yield from (printer.rows_in(table, widths) for table in kept)
        return
    for rows in chunks():
        yield printer.rows_in(printer.table(rows, attributes, largest_suffix=largest_suffix), widths)


def _details(chunks: Chunks, attributes: Sequence[Attribute], largest_suffix: str) -> Iterator[str]:
    between = ""
    for rows in chunks():
        if rows:
            yield between + printer.detail(rows, attributes, largest_suffix=largest_suffix)
            between = "\n"
        else:
            yield ""


def _json(chunks: Chunks, attributes: Sequence[Attribute], element: str, cell: str) -> Iterator[str]:
    head, end = printer.json_frame(element, cell=cell)
    between = head
    for rows in chunks():
        for piece in printer.json_objects(rows, attributes):
            yield between + piece
            between = ",\n"
        yield ""
    yield end if between != head else printer.json_empty(element, cell=cell)
