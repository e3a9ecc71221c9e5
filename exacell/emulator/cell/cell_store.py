"""Stores a cell: :func:`to_state` returns JSON-able data, and :func:`cell_from_state` an equal cell."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import asdict
from typing import Any

from exacell.emulator.cell.alert_models import Alert, Threshold
from exacell.emulator.cell.cache_models import CacheMember, FlashCache, FlashLog, MemoryCache
from exacell.emulator.cell.disk_models import CellDisk, DiskType, GridDisk, Lun, PhysicalDisk, ScrubSchedule
from exacell.emulator.cell.iorm_models import Directive, IormPlan
from exacell.emulator.cell.models import Cell


def to_state(cell: Cell) -> dict[str, Any]:
    """Return a cell as JSON-able data."""
    return {
        **vars(cell),
        "services": dict(cell.services),
        "settings": dict(cell.settings),
        "full_disks": list(cell.full_disks),
        **{
            kind: {name: dict(vars(disk)) for name, disk in getattr(cell, kind).items()}
            for kind in ("physical_disks", "luns", "cell_disks", "grid_disks")
        },
        "flash_cache": _cache_state(cell.flash_cache),
        "flash_log": _log_state(cell.flash_log),
        "pmem_cache": _cache_state(cell.pmem_cache),
        "pmem_log": _log_state(cell.pmem_log),
        "iorm": asdict(cell.iorm),
        "metric_settings": dict(cell.metric_settings),
        "thresholds": {name: asdict(threshold) for name, threshold in cell.thresholds.items()},
        "alerts": [dict(vars(alert)) for alert in cell.alerts],
        "open_alerts": dict(cell.open_alerts),
        "port_resets": dict(cell.port_resets),
        "offload_settings": dict(cell.offload_settings),
        "update_settings": dict(cell.update_settings),
        "memory_cache": cell.memory_cache and dict(vars(cell.memory_cache)),
        "records": deepcopy(cell.records),
        "scrub_schedules": [asdict(schedule) for schedule in cell.scrub_schedules],
        "bad_sectors": {name: [list(row) for row in rows] for name, rows in cell.bad_sectors.items()},
    }


def _cache_state(cache: FlashCache | None) -> dict[str, Any] | None:
    if cache is None:
        return None
    return {**vars(cache), "members": {name: dict(vars(member)) for name, member in cache.members.items()}}


def _log_state(log: FlashLog | None) -> dict[str, Any] | None:
    return None if log is None else {**vars(log), "members": dict(log.members)}


def _cache_of(row: dict[str, Any] | None) -> FlashCache | None:
    if row is None:
        return None
    return FlashCache(**{**row, "members": {name: CacheMember(**member) for name, member in row["members"].items()}})


def cell_from_state(state: dict[str, Any]) -> Cell:
    """Return the cell that :func:`to_state` stored."""
    log, pmem_log, iorm = state["flash_log"], state.get("pmem_log"), state["iorm"]
    return Cell(
        **{
            **state,
            "physical_disks": {n: PhysicalDisk(**_typed(row)) for n, row in state["physical_disks"].items()},
            "luns": {n: Lun(**_typed(row)) for n, row in state["luns"].items()},
            "cell_disks": {n: CellDisk(**_typed(row)) for n, row in state["cell_disks"].items()},
            "grid_disks": {
                n: GridDisk(**{**_typed(row), "available_to": tuple(row["available_to"])})
                for n, row in state["grid_disks"].items()
            },
            "flash_cache": _cache_of(state["flash_cache"]),
            "flash_log": log and FlashLog(**log),
            "pmem_cache": _cache_of(state.get("pmem_cache")),
            "pmem_log": pmem_log and FlashLog(**pmem_log),
            "thresholds": {n: Threshold(**row) for n, row in state.get("thresholds", {}).items()},
            "memory_cache": MemoryCache(**row) if (row := state.get("memory_cache")) else None,
            "scrub_schedules": [ScrubSchedule(**row) for row in state.get("scrub_schedules", ())],
            "bad_sectors": {
                name: [(offset, since) for offset, since in rows] for name, rows in state.get("bad_sectors", {}).items()
            },
            "alerts": [Alert(**row) for row in state.get("alerts", ())],
            "iorm": IormPlan(
                objective=iorm["objective"],
                active=iorm.get("active", True),
                **{plan: _directives(iorm[plan]) for plan in ("db_plan", "cat_plan", "cluster_plan")},
            ),
        }
    )


def _typed(row: dict[str, Any]) -> dict[str, Any]:
    return {**row, "disk_type": DiskType(row["disk_type"])}


def _directives(rows: Any) -> tuple[Directive, ...]:
    return tuple(Directive(tuple((name, value) for name, value in row["attributes"])) for row in rows)
