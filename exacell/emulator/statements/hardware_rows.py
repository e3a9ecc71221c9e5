"""The rows of objects around the disks: ports, offload groups, the disk map, software."""

from __future__ import annotations

from dataclasses import dataclass

from exacell.emulator.basics.infiniband import CARD_FIRMWARE, card_port
from exacell.emulator.grammar.kept import defaults
from exacell.emulator.grammar.values import Row, Time
from exacell.emulator.io.device_io import RECEIVED, SENT, share
from exacell.emulator.io.network_errors import LOST, port_errors
from exacell.emulator.metrics.scene import IB_PORTS
from exacell.emulator.state.build import guid
from exacell.emulator.state.place import Place
from exacell.emulator.statements.disk_rows import physical_disk_rows

_GROUPS = (("SYS_121220", (12, 1, 1, 1)), ("SYS_122110", (12, 2)), ("SYS_191000", (19,)))
"""System offload groups, one for each database release whose smart scans the cell serves, and the cell release that has it first.
"""

PORT_COUNTERS = (SENT, RECEIVED, LOST)
"""Counters of the cell that are divided among its InfiniBand ports; a port can reset its part."""

_WORDS_A_KB = 256
"""Words in a KB: InfiniBand counts data in words of four bytes."""


@dataclass(frozen=True)
class OffloadGroup:
    """An offload group that every cell of some releases has."""

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
            **dict(defaults("OFFLOADGROUP", place.rack.release.number)),
            "creationTime": Time(place.cell.boot_time),
            "id": guid(f"{place.cell.host}|{group.name}"),
            "isSystemGroup": True,
            "package": group.package,
            "runtimeState": running if place.cell.cellsrv_up else "stopped",
        }
        if (comment := settings.get(f"{group.name}|comment")) is not None:
            row["comment"] = comment
        rows.append(row)
    return rows


_PACKAGES = ("11.2.3.3.1", "12.1.2.4.0")
"""Offload servers for older databases that each cell has besides its own release's. Source: Oracle SAGUG, list-offloadpackage."""


def offload_package_rows(place: Place) -> list[Row]:
    """Return the rows of LIST OFFLOADPACKAGE: the offload servers that are installed, newest database first."""
    release = place.rack.release
    day = release.version.rsplit(".", 1)[1]
    return [
        {
            "name": f"cellofl-{version}_LINUX.X64_{day}",
            "installationTime": Time(place.cell.boot_time),
            "isPublic": True,
        }
        for version in (release.banner, *reversed(_PACKAGES))
    ]


def ib_port_rows(place: Place) -> list[Row]:
    """Return the rows of LIST IBPORT: two ports of one card on InfiniBand hardware; empty on RoCE."""
    if not place.rack.model.infiniband:
        return []
    counters = place.rack.metrics[place.cell.host].counters
    rows: list[Row] = []
    for index, port in enumerate(IB_PORTS):
        base = {n: place.cell.port_resets.get(f"{port}|{n}", 0) for n in PORT_COUNTERS}
        since = {name: max(0, counters.get(name, 0) - base[name]) for name in PORT_COUNTERS}
        words = {name: share(since[name], index, len(IB_PORTS)) * _WORDS_A_KB for name in (SENT, RECEIVED)}
        lost = port_errors(since, index, len(IB_PORTS))
        port_guid, lid = card_port(list(place.rack.cells).index(place.cell.host) + 1, index + 1)
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
                "hcaFWVersion": CARD_FIRMWARE,
                "id": f"{port_guid:#018x}",
                "lid": str(lid),
                "physLinkState": "LinkUp",
                "portNumber": index + 1,
                "rcvData": words[RECEIVED],
                "status": "Active",
                "symbolErrs": lost.get("OS_NET_RX_CRC_ERROR", 0),
                "xmtData": words[SENT],
                "xmtDiscards": lost.get("N_IB_XMIT_DISCARDS", 0),
                "xmtWait": lost.get("N_IB_XMIT_WAIT", 0),
            }
        )
    return rows


DISKMAP_HEADER = (
    *("Name", "PhysicalSerial", "SlotNumber", "Status", "PhysicalSize", "CellDisk", "DevicePartition", "GridDisks"),
)
"""Column titles of LIST DISKMAP, the only LIST that has titles. Source: reference cellcli.md 3.1."""


def disk_map_rows(place: Place) -> list[Row]:
    """Return the rows of LIST DISKMAP: each physical disk with the objects on it; its grid disks are one quoted list."""
    cell = place.cell
    rows: list[Row] = []
    for row in physical_disk_rows(place):
        member = next((d for d in cell.cell_disks.values() if d.lun and d.physical_disk == row["name"]), None)
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
    unset: Row = dict.fromkeys(("frequency", "store", "time", "timeLimitInMinutes"), "")
    return [
        {
            **unset,
            **dict(defaults("SOFTWAREUPDATE", place.rack.release.number)),
            "status": "No update is scheduled",
            **place.cell.update_settings,
        }
    ]


def software_history_rows(place: Place) -> list[Row]:
    """Return the rows of LIST SOFTWAREHISTORY: the one installation that the cell has seen."""
    name = place.rack.release.version
    dropped = place.cell.records.get("SOFTWAREHISTORY", {})
    return [] if name in dropped else [{"name": name, "status": "Installation completed"}]
