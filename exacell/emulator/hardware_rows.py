"""Rows of the objects around the disks: ports, offload groups, the disk map, software, alerts and thresholds."""

from __future__ import annotations

from dataclasses import dataclass

from exacell.emulator.alert_models import Alert
from exacell.emulator.build import guid
from exacell.emulator.cache_rows import pmem_cache_rows
from exacell.emulator.device_io import RECEIVED, SENT, share
from exacell.emulator.disk_rows import physical_disk_rows
from exacell.emulator.metric_scene import IB_PORTS
from exacell.emulator.place import Place
from exacell.emulator.schema import metrics_in
from exacell.emulator.values import Row, Size, Time

_GROUPS = (("SYS_121220", (12, 1, 1, 1)), ("SYS_122110", (12, 2)), ("SYS_191000", (19,)))
"""System offload groups, one for each release of the database whose smart scans the cell serves, and since when."""

_WORDS_A_KB = 256
"""InfiniBand counts data in words of four bytes."""


@dataclass(frozen=True)
class OffloadGroup:
    """An offload group that every cell of a release has."""

    name: str
    package: str


def offload_groups(place: Place) -> list[OffloadGroup]:
    """Return the system's offload groups, by name."""
    day = place.rack.release.version.rsplit(".", 1)[1]
    number = place.rack.release.number
    return [
        OffloadGroup(f"{name}_{day}", f"cell{name.removeprefix('SYS_')}") for name, since in _GROUPS if number >= since
    ]


def offload_group_rows(place: Place) -> list[Row]:
    """Return the rows of LIST OFFLOADGROUP; their processes stop with CELLSRV."""
    settings, rows = place.cell.offload_settings, []
    for group in offload_groups(place):
        running = settings.get(f"{group.name}|runtimeState", "running")
        row: Row = {
            "name": group.name,
            "autoStart": True,
            "comment": settings.get(f"{group.name}|comment", "System Offload Group"),
            "creationTime": Time(place.cell.boot_time),
            "id": guid(f"{place.cell.host}|{group.name}"),
            "isSystemGroup": True,
            "package": group.package,
            "runtimeState": running if place.cell.cellsrv_up else "stopped",
        }
        rows.append(row)
    return rows


def ib_port_rows(place: Place) -> list[Row]:
    """Return the rows of LIST IBPORT: two ports of one card on InfiniBand hardware, none on RoCE."""
    if not place.rack.model.infiniband:
        return []
    counters = place.rack.metrics[place.cell.host].counters
    rows: list[Row] = []
    for index, port in enumerate(IB_PORTS):
        base = {n: place.cell.port_resets.get(f"{port}|{n}", 0) for n in (SENT, RECEIVED)}
        words = {
            name: share(max(0, counters.get(name, 0) - base[name]), index, len(IB_PORTS)) * _WORDS_A_KB
            for name in (SENT, RECEIVED)
        }
        errors = dict.fromkeys(
            (
                *("excBufOverrunErrs", "linkDowned", "linkIntegrityErrs", "linkRecovers", "rcvConstraintErrs"),
                *("rcvErrs", "rcvRemotePhysErrs", "rcvSWRelayErrs", "symbolErrs", "vl15Dropped"),
                *("xmtConstraintErrs", "xmtDiscards", "xmtWait"),
            ),
            0,
        )
        rows.append(
            {
                **errors,
                "name": port,
                "activePort": index == 0,
                "dataRate": "40 Gbps",
                "hcaFWVersion": "2.35.5532",
                "id": f"0x{guid(f'{place.cell.host}|{port}').replace('-', '')[:16]}",
                "lid": str(11 + 2 * index),
                "physLinkState": "LinkUp",
                "portNumber": index + 1,
                "rcvData": words[RECEIVED],
                "status": "Active",
                "xmtData": words[SENT],
            }
        )
    return rows


DISKMAP_HEADER = (
    *("Name", "PhysicalSerial", "SlotNumber", "Status", "PhysicalSize", "CellDisk", "DevicePartition", "GridDisks"),
)
"""Column titles of LIST DISKMAP, the only LIST that has any. Source: reference cellcli.md 3.1."""


def disk_map_rows(place: Place) -> list[Row]:
    """Return the rows of LIST DISKMAP: each physical disk with what lies on it, grid disks in one quoted list."""
    cell = place.cell
    rows: list[Row] = []
    for row in physical_disk_rows(place):
        member = next((d for d in cell.cell_disks.values() if d.physical_disk == row["name"]), None)
        grid_disks = ", ".join(disk.name for disk in cell.grid_disks_on(member.name)) if member else ""
        rows.append(
            {
                **{name: row[name] for name in ("name", "physicalSerial", "slotNumber", "status", "physicalSize")},
                "cellDisk": member.name if member else "",
                "devicePartition": member.device_partition if member else "",
                "gridDisks": f'"{grid_disks}"' if grid_disks else "",
            }
        )
    return rows


def software_update_rows(place: Place) -> list[Row]:
    """Return the row of LIST SOFTWAREUPDATE."""
    settings = place.cell.update_settings
    return [
        {
            "name": settings.get("name", "unknown"),
            "frequency": settings.get("frequency", ""),
            "status": "No update is scheduled",
            "store": settings.get("store", ""),
            "time": settings.get("time", ""),
            "timeLimitInMinutes": settings.get("timeLimitInMinutes", ""),
        }
    ]


def software_history_rows(place: Place) -> list[Row]:
    """Return the rows of LIST SOFTWAREHISTORY: the one installation that the cell has seen."""
    name = place.rack.release.version
    dropped = place.cell.records.get("SOFTWAREHISTORY", {})
    return [] if name in dropped else [{"name": name, "status": "Installation completed"}]


def threshold_rows(place: Place) -> list[Row]:
    """Return the rows of LIST THRESHOLD, by name."""
    rows: list[Row] = []
    for name, threshold in sorted(place.cell.thresholds.items()):
        row: Row = {"name": name, "comparison": threshold.comparison}
        limits = (("critical", threshold.critical), ("warning", threshold.warning))
        row |= {label: limit for label, limit in limits if limit is not None}
        rows.append({**row, "observation": threshold.observation, "occurrences": threshold.occurrences})
    return rows


def alert_rows(place: Place) -> list[Row]:
    """Return the rows of LIST ALERTHISTORY, oldest first."""
    release = place.rack.release
    rows: list[Row] = []
    for alert in place.cell.alerts:
        row: Row = {
            "name": alert.name,
            "alertAction": alert.action,
            "alertDescription": alert.description or _described(alert),
            "alertMessage": alert.message,
            "alertSequenceID": alert.sequence,
            "alertShortName": alert.short_name,
            "alertType": "Stateless" if alert.stateless else "Stateful",
            "beginTime": Time(alert.begin_time),
            "endTime": None if alert.end_time is None else Time(alert.end_time),
            "examinedBy": alert.examined_by,
            "notificationState": 0,
            "releaseVersion": release.version,
            "rpmVersion": release.rpm,
            "sequenceBeginTime": Time(alert.sequence_begin),
            "severity": alert.severity,
        }
        if not alert.stateless:
            row |= {"metricObjectName": alert.owner}
            row |= {} if alert.value is None else {"metricValue": alert.value}
        rows.append(row)
    return rows


def _described(alert: Alert) -> str:
    return alert.message if alert.stateless else f"Threshold violation: {alert.short_name}"


_ALERT_DEFINITIONS = (
    ("ADRAlert", "ADR", "Automatic Diagnostic Repository", "Stateless", "Incident Alert"),
    ("HardwareAlert", "Hardware", "Hardware", "Stateless", "Hardware Alert"),
    ("MetricAlert", "Metric", "Metric", "Stateless", "Threshold Alert"),
    ("SoftwareAlert", "Software", "Software", "Stateless", "Software Alert"),
    ("Stateful_HardwareAlert", "Hardware", "Hardware", "Stateful", "Hardware Stateful Alert"),
    ("Stateful_SoftwareAlert", "Software", "Software", "Stateful", "Software Stateful Alert"),
)
"""Alerts that are based on no metric. Source: Oracle SAGUG, displaying-alert-definitions; sources other than ADR's, and the
descriptions of the stateful ones, are ours."""


def alert_definition_rows(place: Place) -> list[Row]:
    """Return the rows of LIST ALERTDEFINITION: incidents, hardware, and one for each metric that can be limited."""
    rows: list[Row] = [
        {"name": name, "alertShortName": short, "alertSource": source, "alertType": kind, "description": text}
        for name, short, source, kind, text in _ALERT_DEFINITIONS
    ]
    for definition in metrics_in(place.rack.release.number).values():
        if definition.metric_type != "Cumulative":
            rows.append(
                {
                    "name": f"StatefulAlert_{definition.name}",
                    "alertShortName": definition.name,
                    "alertSource": "Metric",
                    "alertType": "Stateful",
                    "description": "Threshold Alert",
                    "metricName": definition.name,
                }
            )
    return sorted(rows, key=lambda row: str(row["name"]))


def memory_cache_rows(place: Place) -> list[Row]:
    """Return the row of LIST XRMEMCACHE, none without one; on persistent memory it is that of PMEMCACHE."""
    cache = place.cell.memory_cache
    if cache is None:
        return pmem_cache_rows(place)
    return [
        {
            "name": cache.name,
            "creationTime": Time(cache.creation_time),
            "effectiveCacheSize": Size(cache.size_bytes),
            "id": cache.id,
            "size": Size(cache.size_bytes),
            "status": "normal",
        }
    ]
