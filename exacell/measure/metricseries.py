"""Summarize a metric over time on several cells: ranges, rates of counters, and when it was highest. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, tzinfo
from itertools import pairwise
from typing import Any

from exacell.core.cellset import fold
from exacell.core.units import format_duration
from exacell.core.values import dataclass
from exacell.measure.finding import Chart, Finding, Form, Series, Table

CUMULATIVE = "Cumulative"


@dataclass(frozen=True, kw_only=True)
class Line:
    """One metric of one object on one cell.

    Attributes:
        values: (seconds since 1970 on the cell's clock, value), ascending in time.
        zone: time zone of the cell's clock.
    """

    cell: str
    object: str
    unit: str
    values: tuple[tuple[float, float], ...]
    zone: tzinfo | None = None

    def shown(self, *, counter: bool) -> list[tuple[float, float]]:
        """Return the points that are evaluated: the values, or for a counter the rates per second, each at the end of its
        interval.

        An interval in which the counter fell has no rate.
        """
        if not counter:
            return list(self.values)
        return [
            (after, (second - first) / (after - before))
            for (before, first), (after, second) in pairwise(self.values)
            if second >= first
        ]

    @property
    def fell(self) -> int:
        """Return how often the value fell from one collection to the next."""
        return sum(second < first for (_, first), (_, second) in pairwise(self.values))


def lines_of(cell: str, rows: Iterable[Mapping[str, Any]]) -> list[Line]:
    """Return the lines in rows of METRICHISTORY and METRICCURRENT, in the order of their objects' names.

    Rows without a number or a readable time are left out; rows with the same object and time count once.
    """
    found: dict[str, dict[float, float]] = {}
    units: dict[str, str] = {}
    zone: tzinfo | None = None
    for row in rows:
        value, name, at = row.get("metricValue"), str(row.get("metricObjectName") or ""), _moment(row)
        if at is None or not isinstance(value, (int, float)):
            continue
        found.setdefault(name, {})[at.timestamp()] = value
        units[name], zone = str(row.get("unit") or ""), at.tzinfo
    return [
        Line(cell=cell, object=name, unit=units[name], values=tuple(sorted(found[name].items())), zone=zone)
        for name in sorted(found)
    ]


def _moment(row: Mapping[str, Any]) -> datetime | None:
    try:
        return datetime.fromisoformat(str(row.get("collectionTime")))
    except ValueError:
        return None


_DRAWN = 10
"""Maximum number of lines in a chart; more could not be distinguished."""


def finding(name: str, means: str, lines: Sequence[Line], *, counter: bool) -> Finding:
    """Return the finding about the lines.

    Args:
        means: what the metric counts, a clause; empty if not known.
        lines: at least one.
        counter: whether the metric only grows, so that its rates are evaluated.
    """
    unit = lines[0].unit
    rate = f"{unit}/s" if counter else unit
    looked = [(line, line.shown(counter=counter)) for line in lines]
    latest = max(line.values[-1][0] for line in lines)
    zone = lines[0].zone
    span = latest - min(line.values[0][0] for line in lines)
    where = f"on {fold(dict.fromkeys(line.cell for line in lines))}"
    what = f"{name} ({means})" if means else name
    over = f" over {format_duration(span)}" if span else ""
    sentences = []
    points = [(value, at, line) for line, found in looked for at, value in found]
    if counter:
        grew = sum(b - a for line in lines for (_, a), (_, b) in pairwise(line.values) if b >= a)
        sentences.append(f"{what} grew by {_number_text(grew)} {unit} {where}{over}.")
    else:
        least, most = min(value for value, _, _ in points), max(value for value, _, _ in points)
        sentences.append(f"{what} was {_number_text(least)} to {_number_text(most)} {unit} {where}{over}.")
    value, at, line = max(points, key=lambda point: point[0], default=(0.0, latest, lines[0]))
    if value:
        sentences.append(
            f"The highest was {_number_text(value)} {rate} at {_time(at, zone)} on {line.cell}{_of(line)}."
        )
    if fallen := [line for line in lines if counter and line.fell]:
        cells = fold(dict.fromkeys(line.cell for line in fallen))
        sentences.append(f"Counters on {cells} were reset; no rate includes that moment.")
    drawn = sorted(looked, key=lambda pair: max((value for _, value in pair[1]), default=0.0), reverse=True)[:_DRAWN]
    notes = [f"the chart has the {_DRAWN} of {len(lines)} that were highest"] if len(lines) > len(drawn) else []
    return Finding(
        title=name,
        sentences=tuple(sentences),
        figures=Table(
            title=name, columns=_COLUMNS[counter], rows=tuple(_row(line, found, counter) for line, found in looked)
        ),
        charts=(_chart(name, rate, _time(latest, zone), latest, [pair for pair in looked if pair in drawn]),),
        notes=tuple(notes),
    )


_COLUMNS = {
    False: ("cell", "object", "collections", "latest", "least", "mean", "most", "unit"),
    True: ("cell", "object", "collections", "latest", "increase", "least", "mean", "most", "unit", "fell"),
}
"""Columns for values (False) and for counters (True), whose least, mean and most are rates per second."""


def _row(line: Line, found: Sequence[tuple[float, float]], counter: bool) -> dict[str, Any]:
    values = [value for _, value in found]
    row: dict[str, Any] = {
        "cell": line.cell,
        "object": line.object,
        "collections": len(line.values),
        "latest": line.values[-1][1],
        "least": _short(min(values)) if values else None,
        "mean": _short(sum(values) / len(values)) if values else None,
        "most": _short(max(values)) if values else None,
        "unit": f"{line.unit}/s" if counter else line.unit,
    }
    if counter:
        grown = sum(b - a for (_, a), (_, b) in pairwise(line.values) if b >= a)
        row |= {"increase": _short(grown), "fell": line.fell}
    return row


def _chart(
    name: str, rate: str, until: str, latest: float, looked: Sequence[tuple[Line, Sequence[tuple[float, float]]]]
) -> Chart:
    return Chart(
        title=name,
        x=f"minutes before {until}",
        y=f"{name}, {rate}",
        series=tuple(
            Series(
                name=f"{line.cell}{_of(line)}",
                points=tuple((float(round((at - latest) / 60)), value) for at, value in found),
            )
            for line, found in looked
            if found
        ),
        form=Form.TIMELINE,
    )


def _of(line: Line) -> str:
    return f" {line.object}" if line.object and line.object != line.cell else ""


def _time(seconds: float, zone: tzinfo | None) -> str:
    return datetime.fromtimestamp(seconds, zone).strftime("%H:%M")


def _short(value: float) -> float:
    rounded = round(value, 3)
    return int(rounded) if rounded == int(rounded) else rounded


def _number_text(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 1000 or value == int(value) else f"{value:.4g}"
