"""The rows of LIST for the objects of a cell: one row of attribute values for each.

A row has an attribute only when a real cell would print its label in DETAIL; an attribute that it lacks is an empty column in
ATTRIBUTES. The schema knows which attributes a release has. Source: reference cellcli.md 3.3.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from exacell.emulator.basics.profiles import EFFICIENCY
from exacell.emulator.cell.models import EXASCALE_STATUS, STOPPED
from exacell.emulator.grammar.kept import defaults
from exacell.emulator.grammar.values import Row
from exacell.emulator.metrics.scene import INFINIBAND_PORTS, ROCE_PORTS
from exacell.emulator.metrics.scrubbing import DEFAULT_INTERVAL
from exacell.emulator.state.place import Place
from exacell.emulator.statements.active_requests import active_request_rows
from exacell.emulator.statements.cache_rows import flash_cache_rows, flash_log_rows, pmem_cache_rows, pmem_log_rows
from exacell.emulator.statements.content_rows import flash_cache_content_rows, memory_content_rows
from exacell.emulator.statements.disk_rows import cell_disk_rows, grid_disk_rows, lun_rows, physical_disk_rows
from exacell.emulator.statements.iorm_rows import (
    cluster_rows,
    database_rows,
    iorm_plan_rows,
    iorm_profile_rows,
    pluggable_database_rows,
    vault_rows,
    volume_rows,
)


def cell_rows(place: Place) -> list[Row]:
    """Return the one row of LIST CELL; empty after DROP CELL."""
    rack, cell = place.rack, place.cell
    if "CELL" in cell.records:
        return []
    release, model = rack.release, rack.model
    up = int(rack.now() - (cell.last_boot or cell.boot_time))
    days, clock = divmod(up, 86400)
    ports = INFINIBAND_PORTS if model.infiniband else ROCE_PORTS
    row: Row = {
        "name": cell.name,
        **dict(defaults("CELL", release.number)),
        "bbuChargeThreshold": 800,
        "bbuStatus": "normal",
        "bbuTempThreshold": 45,
        "bmcType": "IPMI",
        "cellVersion": f"OSS_{release.banner}_LINUX.X64_{release.version.removeprefix(release.banner + '.')}",
        "cpuCount": model.cpu_count,
        "doNotServiceLEDStatus": "off",
        "fanCount": model.fan_count,
        "fanStatus": "normal",
        "flashCacheMode": cell.mode,
        "id": cell.id,
        "interconnectCount": len(ports),
        **{f"interconnect{number}": port for number, port in enumerate(ports, 1)},
        "iormBoost": 0.0,
        "ipaddress1": f"{cell.ip}/22",
        "kernelVersion": release.kernel,
        "locatorLEDStatus": "off",
        "makeModel": model.make_model,
        "memoryGB": model.memory_gb,
        "offloadEfficiency": f"{EFFICIENCY}.0",
        "offloadGroupEvents": "",
        "powerCount": "2/2",
        "powerStatus": "normal",
        "releaseImageStatus": "success",
        "releaseVersion": release.version,
        "rpmVersion": release.rpm,
        "releaseTrackingBug": release.tracking_bug,
        "status": "online",
        "temperatureReading": 25.0,
        "temperatureStatus": "normal",
        "upTime": f"{days} days, {clock // 3600}:{clock % 3600 // 60:02d}",
        "usbStatus": "normal",
        "cellsrvStatus": cell.services["CELLSRV"],
        "msStatus": cell.services["MS"],
        "rsStatus": cell.services["RS"],
    }
    if model.pmem is not None:
        row["pmemCacheMode"] = cell.pmem_mode
    if cell.hard_disks():
        row["hardDiskScrubInterval"] = DEFAULT_INTERVAL
    row |= {name: cell.services.get(service, STOPPED) for name, service in EXASCALE_STATUS.items()}
    return [{**row, **cell.settings}]


def nothing(place: Place) -> list[Row]:
    """Return an empty list: the cell has no objects of this type."""
    return []


ROWS: Mapping[str, Callable[[Place], list[Row]]] = {
    "ACTIVEREQUEST": active_request_rows,
    "CELL": cell_rows,
    "CELLDISK": cell_disk_rows,
    "CLUSTER": cluster_rows,
    "DIAGPACK": nothing,
    "DATABASE": database_rows,
    "FLASHCACHE": flash_cache_rows,
    "FLASHCACHECONTENT": flash_cache_content_rows,
    "FLASHLOG": flash_log_rows,
    "GRIDDISK": grid_disk_rows,
    "IORMPLAN": iorm_plan_rows,
    "IORMPROFILE": iorm_profile_rows,
    "LUN": lun_rows,
    "PHYSICALDISK": physical_disk_rows,
    "PMEMCACHE": pmem_cache_rows,
    "PMEMLOG": pmem_log_rows,
    "PLUGGABLEDATABASE": pluggable_database_rows,
    "VAULT": vault_rows,
    "VOLUME": volume_rows,
    "XRMEMCACHECONTENT": memory_content_rows,
    "XRMEMLOG": pmem_log_rows,
}
"""Object types that LIST answers with functions of this module; :mod:`exacell.emulator.statements.listing` has the others."""
