"""A cell made like one whose objects were listed: every attribute that the schema's table declares as copied gets its value."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from exacell.emulator.basics.schema import Release, metrics_in, object_types
from exacell.emulator.cell.alert_models import Alert, Threshold
from exacell.emulator.cell.cache_models import MemoryCache
from exacell.emulator.cell.iorm_models import Directive
from exacell.emulator.cell.models import EXASCALE_STATUS, STOPPED, Cell, Record
from exacell.emulator.copies.disks import copy_caches, copy_disks
from exacell.emulator.grammar.changing import listed
from exacell.emulator.grammar.kept import moment_of, state_of, value_of
from exacell.emulator.metrics.alerts import metric_and_object
from exacell.emulator.metrics.scrubbing import DEFAULT_INTERVAL, alter_schedule

Objects = Mapping[str, Sequence[Mapping[str, str]]]
"""What a cell listed: object type → one record for each object, with its attributes as LIST printed them."""

_PLANS = {"dbPlan": "db_plan", "catPlan": "cat_plan", "clusterPlan": "cluster_plan"}
_NODE_OF_CLUSTER = ("id", "name", "cellSecurityPubKey", "services")
"""Attributes that the leading cell of an Exascale cluster keeps of its nodes; each node keeps the others itself."""


def make_like(cell: Cell, told: Mapping[str, Any], *, release: Release, now: float) -> None:
    """Give a cell of a new rack all attributes that another cell reported.

    Args:
        told: ``objects`` (:data:`Objects`); ``plans``, the directives of each IORM plan; ``dirty`` and ``used``, the bytes in its
            flash cache.
        release: the release of the new rack.
        now: the new rack's time.
    """
    objects: Objects = told["objects"]
    _settings(cell, objects, release, now)
    copy_disks(cell, objects, now)
    copy_caches(cell, objects, now, dirty=int(told["dirty"]), used=int(told["used"]))
    _memory_cache(cell, objects)
    for record in objects.get("IORMPLAN", ()):
        cell.iorm.objective = record.get("objective") or cell.iorm.objective
        cell.iorm.active = record.get("status") != "inactive"
        for name, field in _PLANS.items():
            setattr(cell.iorm, field, _directives(told["plans"].get(name, ())))
    _watched(cell, objects, release)
    _own_objects(cell, objects)
    _security(cell, objects)
    known = metrics_in(release)
    for record in objects.get("METRICDEFINITION", ()):
        for name, field in (("fineGrained", "fine_grained"), ("streaming", "streaming")):
            definition, value = known.get(record["name"]), record.get(name)
            if definition is not None and value and value != getattr(definition, field):
                cell.metric_settings[f"{definition.name}|{name}"] = value


def _settings(cell: Cell, objects: Objects, release: Release, now: float) -> None:
    (record,) = objects["CELL"]
    cell.name, cell.id = record.get("name") or cell.name, record.get("id") or cell.id
    cell.mode = record.get("flashCacheMode") or cell.mode
    cell.pmem_mode = record.get("pmemCacheMode") or cell.pmem_mode
    states = {service: record.get(name, STOPPED) for name, service in EXASCALE_STATUS.items()}
    cell.services |= {service: state for service, state in states.items() if state != STOPPED}
    elsewhere = {"name", "id", "flashCacheMode", "pmemCacheMode", *EXASCALE_STATUS}
    for attribute in object_types()["CELL"].attributes_in(release):
        text = record.get(attribute.name)
        if attribute.copied and attribute.name not in elsewhere and text is not None and text != attribute.default:
            cell.settings[attribute.name] = text
    interval, start = cell.settings.get("hardDiskScrubInterval"), cell.settings.get("hardDiskScrubStartTime")
    if start or interval:
        alter_schedule(
            cell, now, interval=(interval or DEFAULT_INTERVAL).lower(), start=moment_of(start) if start else None
        )


def _memory_cache(cell: Cell, objects: Objects) -> None:
    """Give the cell the described cache in DRAM, or none."""
    records = [record for record in objects.get("XRMEMCACHE", ()) if not record.get("cellDisk")]
    before, cell.memory_cache = cell.memory_cache, None
    for record in records:
        kept = before or MemoryCache(name="", id=cell.id, creation_time=0.0, size_bytes=0)
        cell.memory_cache = replace(kept, **state_of("XRMEMCACHE", record))
        cell.memory_cache.used_bytes = min(cell.memory_cache.used_bytes, cell.memory_cache.size_bytes)


def _directives(plan: Sequence[Sequence[Sequence[str]]]) -> tuple[Directive, ...]:
    return tuple(Directive(tuple((name.lower(), value) for name, value in directive)) for directive in plan)


def _watched(cell: Cell, objects: Objects, release: Release) -> None:
    """Give the cell its thresholds on metrics that the release has, and its alerts; an open alert belongs to its threshold."""
    cell.thresholds = {
        record["name"]: Threshold(**state_of("THRESHOLD", record))
        for record in objects.get("THRESHOLD", ())
        if metric_and_object(record["name"])[0] in metrics_in(release)
    }
    cell.alerts = [_alert(record) for record in objects.get("ALERTHISTORY", ())]
    cell.alert_sequences = max((alert.sequence for alert in cell.alerts), default=0)
    for alert in cell.alerts:
        if alert.stateless or alert.end_time is not None:
            continue
        for name, threshold in cell.thresholds.items():
            if name in (alert.short_name, f"{alert.short_name}.{alert.owner}"):
                cell.open_alerts[f"{name}|{alert.owner}"] = alert.sequence
                threshold.states[alert.owner] = alert.severity


def _alert(record: Mapping[str, str]) -> Alert:
    number = record["name"].partition("_")[0]
    unsaid: dict[str, Any] = {
        **dict.fromkeys(("owner", "action", "message", "short_name"), ""),
        "begin_time": 0.0,
        "sequence_begin": 0.0,
        "severity": "info",
        "value": None,
        "sequence": int(number) if number.isdecimal() else 0,
    }
    return Alert(**{**unsaid, **state_of("ALERTHISTORY", record)})


def _own_objects(cell: Cell, objects: Objects) -> None:
    """Give the cell its quarantines, and the settings of offload groups and updates."""
    kinds = {attribute.name: attribute.kind for attribute in object_types()["QUARANTINE"].attributes}
    quarantines = {
        record["name"]: {n: value_of(kinds[n], text) for n, text in record.items() if n != "name" and n in kinds}
        for record in objects.get("QUARANTINE", ())
    }
    if quarantines:
        cell.records["QUARANTINE"] = quarantines
        cell.quarantines_made = max((int(name) for name in quarantines if name.isdecimal()), default=0)
    usual = {a.name: a.default for a in object_types()["OFFLOADGROUP"].attributes}
    for record in objects.get("OFFLOADGROUP", ()):
        if record.get("comment", usual["comment"]) != usual["comment"]:
            cell.offload_settings[f"{record['name']}|comment"] = record["comment"]
        if record.get("runtimeState") == "stopped":
            cell.offload_settings[f"{record['name']}|runtimeState"] = "stopped"
    for record in objects.get("SOFTWAREUPDATE", ()):
        for attribute in object_types()["SOFTWAREUPDATE"].attributes:
            text = record.get(attribute.name)
            if attribute.modifiable and text and text != attribute.default:
                cell.update_settings[attribute.name] = text


def _security(cell: Cell, objects: Objects) -> None:
    """Give the cell its clients, roles and users; the keys are new, and the passwords unknown."""
    kept: dict[str, dict[str, Record]] = {
        "KEY": {
            record.get("name", ""): {"key": secrets.token_hex(16), "type": record.get("type", "")}
            for record in objects.get("KEY", ())
        },
        "ROLE": {
            record["name"]: {"privileges": [p.strip() for p in record.get("privileges", "").split(";") if p.strip()]}
            for record in objects.get("ROLE", ())
        },
        "USER": {
            record["name"]: {"roles": list(listed(record.get("roles", ""))), "password": secrets.token_hex(32)}
            for record in objects.get("USER", ())
        },
    }
    cell.records |= {kind: records for kind, records in kept.items() if records}


def copy_exascale(cells: Mapping[str, Cell], told: Mapping[str, Objects]) -> None:
    """Give the cells the Exascale cluster that one of them leads, and make them its nodes.

    Args:
        cells: the cells by host name.
        told: the listed objects of each cell.
    """
    nodes = {host: node for host, objects in told.items() for node in objects.get("ESNODE", ())}
    for host, objects in told.items():
        leads = [record for record in objects.get("ESCLUSTER", ()) if record.get("leaderHostName") == host]
        for cluster in leads:
            members = {node["id"]: {n: node[n] for n in _NODE_OF_CLUSTER if n in node} for node in nodes.values()}
            cells[host].records |= {"ESCLUSTER": {cluster["name"]: dict(cluster)}, "ESNODE": members}
    settable = [attribute.name for attribute in object_types()["ESNODE"].attributes if attribute.modifiable]
    for host, node in nodes.items():
        local = {name: node[name] for name in settable if name in node}
        if local:
            cells[host].records["ESNODELOCAL"] = {"local": local}
