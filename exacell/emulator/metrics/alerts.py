"""Thresholds on metrics, and the alerts that they raise.

Thresholds are compared with the metrics of every collection. When a metric has crossed it often enough, a stateful alert
begins: its members are ``3_1`` when it begins, ``3_2`` when its severity changes, and the last one, of severity clear, when
the metric is back. Source: reference cellcli.md 2.3; Oracle SAGUG, create-threshold and alerts. The texts of the alerts are
made up.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from operator import eq, ge, gt, le, lt
from statistics import fmean

from exacell.emulator.basics.schema import MetricDefinition, metric_definitions
from exacell.emulator.cell.alert_models import Alert, Threshold
from exacell.emulator.cell.models import Cell
from exacell.emulator.grammar.values import Metric, metric_text
from exacell.emulator.metrics.reader import MetricReader, Reading
from exacell.emulator.metrics.words import description

COMPARISONS: Mapping[str, Callable[[float, float], bool]] = {"<": lt, "<=": le, "=": eq, ">=": ge, ">": gt}
"""Source: Oracle SAGUG, create-threshold."""

SEVERITIES = ("normal", "warning", "critical")
MAX_ALERTS = 1000
"""The most alerts that a cell keeps; the oldest are dropped first."""


def metric_and_object(name: str) -> tuple[str, str]:
    """Split a threshold's name such as ``CL_FSUT./`` into metric and object; the object is empty if it is for all objects."""
    metric, _, owner = name.partition(".")
    return metric.upper(), owner


def alert_state(cell: Cell, metric: str, owner: str) -> str:
    """Return normal, warning or critical: the worst of the thresholds on one metric of one object."""
    states = [
        threshold.states.get(owner, SEVERITIES[0])
        for name, threshold in cell.thresholds.items()
        if metric_and_object(name)[0] == metric
    ]
    return max(states, key=SEVERITIES.index, default=SEVERITIES[0])


def watch(cell: Cell, reader: MetricReader, moment: float) -> None:
    """Compare all thresholds of a cell with the collection of ``moment``; begin, change or clear alerts."""
    for name, threshold in cell.thresholds.items():
        metric, owner = metric_and_object(name)
        for reading in reader.readings(moment, [metric_definitions()[metric]]):
            if owner in ("", reading.object_name):
                _look(cell, threshold, reading)


def _look(cell: Cell, threshold: Threshold, reading: Reading) -> None:
    crossed = COMPARISONS[threshold.comparison]
    now, owner = SEVERITIES[0], reading.object_name
    recent = threshold.recent.setdefault(owner, [])
    recent.append(reading.number)
    del recent[: -threshold.observation]
    mean = fmean(recent)
    for severity, limit in (("warning", threshold.warning), ("critical", threshold.critical)):
        if limit is not None and crossed(mean, limit):
            now = severity
    streak = threshold.streaks.get(owner, 0) + 1 if now != SEVERITIES[0] else 0
    threshold.streaks[owner] = streak
    before = threshold.states.get(owner, SEVERITIES[0])
    if now == before or 0 < streak < threshold.occurrences:
        return
    threshold.states[owner] = now
    _raise(cell, threshold, reading, now)


def _raise(cell: Cell, threshold: Threshold, reading: Reading, severity: str) -> None:
    key = f"{threshold.name}|{reading.object_name}"
    sequence = cell.open_alerts.get(key)
    members = [alert for alert in cell.alerts if alert.sequence == sequence] if sequence is not None else []
    if sequence is None or not members:
        cell.alert_sequences += 1
        sequence = cell.open_alerts[key] = cell.alert_sequences
        members = []
    clear = severity == SEVERITIES[0]
    alert = Alert(
        name=f"{sequence}_{len(members) + 1}",
        sequence=sequence,
        short_name=reading.definition.name,
        begin_time=reading.moment,
        sequence_begin=members[0].sequence_begin if members else reading.moment,
        severity="clear" if clear else severity,
        message=_message(threshold, reading, severity),
        action=_action(reading.definition, clear=clear),
        owner=reading.object_name,
        value=reading.number,
    )
    if clear:
        del cell.open_alerts[key]
        for member in (*members, alert):
            member.end_time = reading.moment
    cell.alerts.append(alert)
    del cell.alerts[:-MAX_ALERTS]


def _message(threshold: Threshold, reading: Reading, severity: str) -> str:
    definition = reading.definition
    value = metric_text(Metric(reading.number, definition.unit))
    known = f"Metric Name     : {definition.name}  Object Name     : {reading.object_name}  Current Value   : {value}"
    if severity == SEVERITIES[0]:
        return f"The following metric is back within its threshold. {known}"
    limit = threshold.critical if severity == "critical" else threshold.warning
    text = metric_text(Metric(float(limit or 0), definition.unit))
    return f"The {severity} threshold of the following metric has been crossed. {known}  Threshold Value : {text}"


def _action(definition: MetricDefinition, *, clear: bool) -> str:
    if clear:
        return "Informational."
    return f"Examine the metric that is in violation of its threshold: {description(definition)}."


def clear_all(cell: Cell, threshold: Threshold) -> None:
    """Forget the values that a threshold has seen; its open alerts stay as they are and no longer change."""
    threshold.states.clear()
    threshold.streaks.clear()
    threshold.recent.clear()
    for key in [key for key in cell.open_alerts if key.partition("|")[0] == threshold.name]:
        del cell.open_alerts[key]
