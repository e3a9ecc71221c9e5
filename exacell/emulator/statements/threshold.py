"""ALTER, CREATE and DROP of thresholds, alerts and metric definitions, and the rows of their LIST.

Source: reference cellcli.md 2.3 and 5; Oracle SAGUG, create-threshold, alter-alerthistory, alter-metricdefinition.
"""

from __future__ import annotations

from collections.abc import Mapping

from exacell.emulator.basics.messages import CellError, Code
from exacell.emulator.basics.schema import metrics_in
from exacell.emulator.cell.alert_models import Threshold
from exacell.emulator.grammar.admin import AdminStatement
from exacell.emulator.grammar.kept import row_of
from exacell.emulator.grammar.settable import checked_values
from exacell.emulator.grammar.values import Row, Value, passes
from exacell.emulator.metrics.alerts import clear_all, metric_and_object
from exacell.emulator.state.place import Place
from exacell.emulator.statements.effects import Effects, line, named
from exacell.emulator.statements.metric_listing import definition_row


def _settings(place: Place, values: Mapping[str, str]) -> dict[str, str | float | int]:
    """Return the values of a threshold's attributes after checking them."""
    texts = checked_values("THRESHOLD", values, place.rack.release.number)
    kinds: Mapping[str, type[str | float | int]] = {"warning": float, "critical": float, "comparison": str}
    return {name: kinds.get(name, int)(text) for name, text in texts.items()}


def _set(threshold: Threshold, settings: Mapping[str, str | float | int]) -> None:
    for name, value in settings.items():
        setattr(threshold, name, value)


def create(place: Place, statement: AdminStatement) -> Effects:
    """Create a threshold on a metric, or on a metric of one object."""
    (given,) = statement.names or ("",)
    metric, owner = metric_and_object(given)
    if metric not in metrics_in(place.rack.release.number):
        # Cumulative metrics too: Oracle SAGUG, create-threshold, limits CT_IO_WT_SM.
        raise CellError(Code.OBJECT_MISSING, kind="Metric", name=given)
    name = f"{metric}.{owner}" if owner else metric
    if name in place.cell.thresholds:
        raise CellError(Code.OBJECT_EXISTS, kind="Threshold", name=name)
    settings = _settings(place, statement.values)
    if "comparison" not in settings or not {"warning", "critical"} & set(settings):
        rule = "comparison and at least one of warning and critical must be given"
        raise CellError(Code.BAD_NAME, name=name, rule=rule)
    threshold = Threshold(name=name, comparison=str(settings["comparison"]))
    _set(threshold, settings)
    place.cell.thresholds[name] = threshold
    yield line(f"Threshold {name} successfully created")


def alter(place: Place, statement: AdminStatement) -> Effects:
    """Set attributes of thresholds; the next collection is compared with them, and may change or clear their alerts."""
    settings = _settings(place, statement.values)
    for found in named(statement.names, sorted(place.cell.thresholds), "Threshold"):
        if isinstance(found, CellError):
            yield line(found.line)
            continue
        threshold = place.cell.thresholds[found]
        _set(threshold, settings)
        threshold.streaks.clear()
        threshold.recent.clear()
        yield line(f"Threshold {found} successfully altered")


def drop(place: Place, statement: AdminStatement) -> Effects:
    """Drop thresholds; alerts that they have raised stay."""
    for found in named(statement.names, sorted(place.cell.thresholds), "Threshold"):
        if isinstance(found, CellError):
            yield line(found.line)
            continue
        clear_all(place.cell, place.cell.thresholds.pop(found))
        yield line(f"Threshold {found} successfully dropped")


# -- alerts --------------------------------------------------------------------------------------------------------------


def alter_alerts(place: Place, statement: AdminStatement) -> Effects:
    """Set the examiner of alerts."""
    values = checked_values("ALERTHISTORY", statement.values, place.rack.release.number)
    alerts = {alert.name: alert for alert in place.cell.alerts}
    for found in named(statement.names, list(alerts), "Alert"):
        if isinstance(found, CellError):
            yield line(found.line)
        else:
            alerts[found].examined_by = values["examinedBy"]
            yield line(f"Alert {found} successfully altered")


def drop_alerts(place: Place, statement: AdminStatement) -> Effects:
    """Drop alerts; the members of a sequence can only be dropped together."""
    cell = place.cell
    alerts = {alert.name: alert for alert in cell.alerts}
    chosen = list(named(statement.names, list(alerts), "Alert"))
    names = {name for name in chosen if isinstance(name, str)}
    for found in chosen:
        if isinstance(found, CellError):
            yield line(found.line)
            continue
        sequence = alerts[found].sequence
        members = {alert.name for alert in alerts.values() if alert.sequence == sequence}
        if not members <= names:
            yield line(CellError(Code.ALERT_SEQUENCE, name=found, others=", ".join(sorted(members - names))).line)
            continue
        cell.alerts = [alert for alert in cell.alerts if alert.name != found]
        cell.open_alerts = {key: n for key, n in cell.open_alerts.items() if n != sequence}
        yield line(f"Alert {found} successfully dropped")


# -- metric definitions --------------------------------------------------------------------------------------------------


def alter_definitions(place: Place, statement: AdminStatement) -> Effects:
    """Switch fine-grained collection or streaming of metrics on or off; refused if a metric does not allow it."""
    settings = checked_values("METRICDEFINITION", statement.values, place.rack.release.number)
    definitions = metrics_in(place.rack.release.number)
    for found in named(statement.names, list(definitions), "Metric definition"):
        if isinstance(found, CellError):
            yield line(found.line)
            continue
        row = definition_row(place.cell, definitions[found])
        if not all(passes(row.get(f.attribute.name), f) for f in statement.filters):
            continue
        refused = next((name for name in settings if row[name] == "Disallowed"), None)
        if refused is not None:
            if statement.names is not None:
                yield line(CellError(Code.DISALLOWED, attribute=refused, metric=found).line)
            continue
        for name, value in settings.items():
            place.cell.metric_settings[f"{found}|{name}"] = value
        yield line(f"Metric Definition {found} successfully altered")


def threshold_rows(place: Place) -> list[Row]:
    """Return the rows of LIST THRESHOLD, by name."""
    return [row_of("THRESHOLD", threshold) for _name, threshold in sorted(place.cell.thresholds.items())]


_STATE_WORDS_SINCE = (19,)
"""Releases from this one on write notificationState in words, earlier ones in numbers. Source: published LIST ALERTHISTORY DETAIL
of 11.2.3.2.1, 12.1.2.3 and 19.2.1; Oracle SAGUG, describe-alerthistory. From which release on is our guess.
"""


def alert_rows(place: Place) -> list[Row]:
    """Return the rows of LIST ALERTHISTORY, oldest first."""
    release, now = place.rack.release, place.rack.now()
    tried = place.cell.settings.get("notificationMethod", "none") != "none"
    sent: Value = int(tried)
    if release.number >= _STATE_WORDS_SINCE:
        sent = "sent" if tried else "non-deliverable"
    rows: list[Row] = []
    for alert in place.cell.alerts:
        row: Row = {
            "endTime": None,
            **row_of("ALERTHISTORY", alert),
            "ageInMinutes": int((now - alert.begin_time) // 60),
            "alertType": "Stateless" if alert.stateless else "Stateful",
            "notificationState": sent,
            "releaseVersion": release.version,
            "rpmVersion": release.rpm,
        }
        if not alert.description:
            del row["alertDescription"]
        if alert.stateless:
            del row["metricObjectName"]
            row.pop("metricValue", None)
        rows.append(row)
    return rows


_ALERT_DEFINITIONS = (
    ("ADRAlert", "ADR", "Automatic Diagnostic Repository", "Stateless", "Incident Alert"),
    ("HardwareAlert", "Hardware", "Hardware", "Stateless", "Hardware Alert"),
    ("MetricAlert", "Metric", "Metric", "Stateless", "Threshold Alert"),
    ("SoftwareAlert", "Software", "Software", "Stateless", "Software Alert"),
    ("Stateful_HardwareAlert", "Hardware", "Hardware", "Stateful", "Hardware Stateful Alert"),
    ("Stateful_SoftwareAlert", "Software", "Software", "Stateful", "Software Stateful Alert"),
)
"""Alerts that are not based on a metric. Source: Oracle SAGUG, displaying-alert-definitions; sources other than ADR, and the
descriptions of the stateful alerts, are made up.
"""


def alert_definition_rows(place: Place) -> list[Row]:
    """Return the rows of LIST ALERTDEFINITION: incidents, hardware, and one for each metric, also for cumulative ones.

    Source: Oracle SAGUG, list-alertdefinition, which shows the row of CG_IO_RQ_LG.
    """
    rows: list[Row] = [
        {"name": name, "alertShortName": short, "alertSource": source, "alertType": kind, "description": text}
        for name, short, source, kind, text in _ALERT_DEFINITIONS
    ]
    rows += [
        {
            "name": f"StatefulAlert_{definition.name}",
            "alertShortName": definition.name,
            "alertSource": "Metric",
            "alertType": "Stateful",
            "description": "Threshold Alert",
            "metricName": definition.name,
        }
        for definition in metrics_in(place.rack.release.number).values()
    ]
    return sorted(rows, key=lambda row: str(row["name"]))
