"""Declarations of the commands that :mod:`exacell.commands.metricvalues` carries out."""

from __future__ import annotations

from exacell.language.registry import Command, Effect, Kind, Param

GROUP = "metrics"

FORMS = ("csv", "jsonl", "prometheus")

COMMANDS = (
    Command(
        name="show metric",
        group=GROUP,
        effect=Effect.READ,
        summary="how a metric developed on every cell: range, highest value and its time, a chart",
        details="Reads the cells' metric history, which has a value a minute, and the current value. For a counter "
        "(cumulative) it shows the rate between two collections, over the time between them; no rate is shown "
        "across a counter that started again. Times are the cells' own. object= takes one disk, database or the "
        "like.",
        example="show metric CL_CPUT last=1h",
        params=(
            Param(name="name", kind=Kind.METRIC, positional=True, required=True, help="the metric"),
            Param(name="last", kind=Kind.DURATION, default="1h", help="how far back, a minute at least"),
            Param(name="object", kind=Kind.TEXT, help="its metricObjectName: a disk, a database"),
        ),
        handler="exacell.commands.metricvalues:show_metric",
    ),
    Command(
        name="metrics export",
        group=GROUP,
        effect=Effect.READ,
        summary="metric values of all cells for another program: csv, jsonl or Prometheus' text format",
        details="Without last= the current values (METRICCURRENT), with it the history of that time. Values are "
        "numbers, as exact as the cells give them, written while they are read, however many there are. prometheus: "
        "one family for each metric, counters and gauges, cell and object as labels, no times, as node_exporter's "
        "textfile collector needs it. It holds one value of each, so last= is for csv and jsonl. Cells without an "
        "answer are named on stderr and change the exit code.",
        example="metrics export 'FL_.*' format=prometheus > exadata.prom",
        params=(
            Param(
                name="like",
                kind=Kind.METRIC,
                positional=True,
                help="a metric, or a regular expression, as in CellCLI's LIKE: FL_.*",
            ),
            Param(name="format", kind=Kind.CHOICE, choices=FORMS, default="csv", help="of the values"),
            Param(name="last", kind=Kind.DURATION, help="the history of that time, a minute at least"),
        ),
        streams=True,
        handler="exacell.commands.metricvalues:export",
    ),
)
