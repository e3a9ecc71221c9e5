"""Alerts about disks that fail or are about to fail; they clear when the disk has been replaced.

Layout of the messages, and the sequence of critical and clear: a published LIST ALERTHISTORY of an X6 whose flash card failed
and was replaced. The first words for hard disks and for disks that are about to fail, and the advice, are made up.
"""

from __future__ import annotations

from collections.abc import Iterator

from exacell.core.units import GIB
from exacell.emulator.cell.alert_models import Alert
from exacell.emulator.cell.disk_models import CellDisk
from exacell.emulator.cell.models import Cell
from exacell.emulator.metrics.alerts import MAX_ALERTS
from exacell.emulator.state.view import RackView

_SHORT_NAME = "Hardware"
_LABEL_WIDTH = len("Serial Number ")


def disk_failed(rack: RackView, cell: Cell, disk: CellDisk) -> None:
    """Raise an alert about a disk whose device is no longer normal; an open alert stays open."""
    status = cell.physical_disks[disk.physical_disk].status
    known = {"failed": "failed", "not present": "was removed"}
    what = known.get(status, f"entered {status.removeprefix('warning - ')} status")
    kind = _kind(disk)
    action = f"Replace {kind} disk {disk.physical_disk}."
    _raise(rack, cell, disk, "critical", f"{kind.capitalize()} disk {what}", action, cached=False)


def disk_replaced(rack: RackView, cell: Cell, disk: CellDisk) -> None:
    """Clear the alert about a disk, if one is open."""
    if _key(disk) in cell.open_alerts:
        cached = disk.disk_type.is_flash
        what = f"{_kind(disk).capitalize()} disk was replaced"
        _raise(rack, cell, disk, "clear", what, "Informational.", cached=cached)


def _kind(disk: CellDisk) -> str:
    return "flash" if disk.disk_type.is_flash else "hard"


def _key(disk: CellDisk) -> str:
    return f"{_SHORT_NAME}|{disk.name}"


def _raise(
    rack: RackView, cell: Cell, disk: CellDisk, severity: str, description: str, action: str, *, cached: bool
) -> None:
    sequence = cell.open_alerts.get(_key(disk))
    if sequence is None:
        cell.alert_sequences += 1
        sequence = cell.open_alerts[_key(disk)] = cell.alert_sequences
    members = [alert for alert in cell.alerts if alert.sequence == sequence]
    now = rack.now()
    alert = Alert(
        name=f"{sequence}_{len(members) + 1}",
        sequence=sequence,
        short_name=_SHORT_NAME,
        begin_time=now,
        sequence_begin=members[0].sequence_begin if members else now,
        severity=severity,
        message="  ".join((f"{description}.", *_facts(cell, disk, cached=cached))),
        action=action,
        owner=disk.physical_disk,
        value=None,
        description=description,
    )
    if severity == "clear":
        del cell.open_alerts[_key(disk)]
        for member in (*members, alert):
            member.end_time = now
    cell.alerts.append(alert)
    del cell.alerts[:-MAX_ALERTS]


def _facts(cell: Cell, disk: CellDisk, *, cached: bool) -> Iterator[str]:
    """Yield the facts in a message about a disk, as pairs of label and value."""
    device = cell.physical_disks[disk.physical_disk]
    maker, _, model = device.make_model.partition(" ")
    grid_disks = ", ".join(grid_disk.name for grid_disk in cell.grid_disks_on(disk.name))
    facts = {
        "Status": device.status.upper(),
        "Manufacturer": maker,
        "Model Number": model.strip(),
        "Size": f"{round(device.size_bytes / GIB)}GB",
        "Serial Number": device.serial,
        "Firmware": device.firmware,
        "Slot Number": device.slot,
        "Cell Disk": disk.name,
        "Grid Disk": grid_disks or "Not configured",
    }
    if cached:
        in_cache = cell.flash_cache is not None and disk.name in cell.flash_cache.members
        in_log = cell.flash_log is not None and disk.name in cell.flash_log.members
        facts |= {"Flash Cache": _present(in_cache), "Flash Log": _present(in_log)}
    return (f"{label:<{_LABEL_WIDTH}}: {value}" for label, value in facts.items())


def _present(there: bool) -> str:
    return "Present" if there else "Not present"
