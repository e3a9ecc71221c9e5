"""A rack made in the likeness of one that somebody described: same hosts, disks, caches, plans and disk groups.

What was described replaces what a new rack of the nearest hardware model would have; counters, alerts and everything else
that the description does not hold stay the model's. The description is plain data (:class:`Likeness` says how it looks).
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from exacell.emulator.clock import fastest
from exacell.emulator.profiles import HardwareModel, ReleaseProfile, models, releases
from exacell.emulator.rack_world import RackWorld
from exacell.emulator.schema import Release, release_of
from exacell.emulator.store import Json
from exacell.errors import EmulatorError
from exacell.units import FLASH_CELLDISK_RESERVE, MIB

_PRINTED = {"HardDisk": "HardDisk", "PMEM": "PMEM"}
"""diskType as cells print it → what stands for it here; everything else is flash."""


@dataclass(frozen=True, kw_only=True)
class Likeness:
    """What a rack is to be like. Sizes are integer bytes.

    Attributes:
        cells: one object each: ``name``, ``release``, ``makeModel``, ``mode``, ``objective``, ``directives`` (each a list of
            attribute and value), ``cellDisks`` (``name``, ``diskType``, ``size``, ``free``, ``status``), ``gridDisks``
            (``name``, ``cellDisk``, ``size``, ``status``, ``availableTo``, ``cachingPolicy``), ``flashCache`` (``name``,
            ``cellDisks``, ``flushed``, ``dirty``, ``used``) or null, ``flashLog`` (bytes, 0 for none).
        nodes: the database nodes.
        databases: at least one.
        groups: one object each: ``name``, ``type``, ``auSize``, ``usedMb``, ``files``, ``clients``, ``mountedOn`` (nodes),
            ``compatibleAsm``, ``compatibleRdbms``, ``votingFiles``, ``disks`` (``name``, ``failGroup``, ``gridDisk``,
            ``sizeMb``, ``mode``).
        former: grid disks whose header says FORMER.
        pmem: mode of the cache on persistent memory, ``writeback`` or ``writethrough``.
        speed: rack seconds in a second; fewer where the rack is too large for so many.
    """

    cells: Sequence[Mapping[str, Any]]
    nodes: Sequence[str]
    databases: Sequence[str]
    groups: Sequence[Mapping[str, Any]] = field(default=())
    former: Sequence[str] = field(default=())
    pmem: str = "writethrough"
    speed: float = 600.0


def nearest(cells: Sequence[Mapping[str, Any]]) -> tuple[str, str]:
    """Return the names of the hardware model and the release that come nearest to the cells.

    The release is the newest that is not newer than theirs, else the oldest, of those that run on the model.
    """
    first = cells[0]
    kinds = [_kind(disk) for disk in first["cellDisks"]]
    largest = max((int(disk["size"]) for disk in first["cellDisks"]), default=0)
    wanted = release_of(str(first["release"]))

    def distance(model: HardwareModel) -> tuple[bool, int, float]:
        flash = len(model.flash.places) + (len(model.capacity.places) if model.capacity else 0)
        counts = (model.hard.disks, flash, model.pmem.modules if model.pmem else 0)
        missed = sum(abs(kinds.count(kind) - count) for kind, count in zip(_KINDS, counts, strict=True))
        size = model.hard.cell_disk if model.hard.disks else model.flash.cell_disk
        return model.make_model != first["makeModel"], missed, abs(size - largest)

    def best(model: HardwareModel) -> ReleaseProfile:
        runs = [release for release in releases().values() if model.name in release.models]
        older = [release for release in runs if release.number <= wanted]
        return older[-1] if older else runs[0]

    # What a release can do matters more to a statement than how many disks there are.
    model = min(models().values(), key=lambda m: (_apart(best(m).number, wanted), distance(m)))
    return model.name, best(model).name


def _apart(release: Release, wanted: Release) -> tuple[bool, tuple[int, ...]]:
    """Order releases: those that are not newer than the wanted one first, of them the newest."""
    return release > wanted, tuple(-number for number in release) if release <= wanted else tuple(release)


_KINDS = ("HardDisk", "FlashDisk", "PMEM")


def _kind(disk: Mapping[str, Any]) -> str:
    return _PRINTED.get(str(disk["diskType"]), "FlashDisk")


def parts_of(name: str, likeness: Likeness) -> tuple[dict[str, Json], Json]:
    """Return the parts of the state of a rack in this likeness, and what ``rack.json`` says of it.

    Raises:
        EmulatorError: no such rack can be emulated.
    """
    cells = likeness.cells
    if len(cells) < 2:
        raise EmulatorError(f"a rack of {len(cells)} cells can't be copied: an emulated rack has at least 2")
    model, release = nearest(cells)
    modes = {str(cell["mode"]).lower() for cell in cells}
    options = {
        "cells": len(cells),
        "dbnodes": max(1, len(likeness.nodes)),
        "node_names": tuple(likeness.nodes),
        "db": tuple(likeness.databases),
        "model": model,
        "release": release,
        "mode": "writeback" if "writeback" in modes else "writethrough",
        "pmem": likeness.pmem,
        "speed": min(likeness.speed, fastest(len(cells))),
        "client": _client(cells),
    }
    fresh = RackWorld.create(name, options).to_state()
    parts: dict[str, Any] = _renamed(fresh, [str(cell["name"]) for cell in cells])
    now = float(parts["rack"]["advanced"])
    for cell in cells:
        part = parts[f"cell-{cell['name']}"]["cell"]
        _make_like(part, cell, now)
    _asm_like(parts, likeness)
    world = RackWorld.from_state(parts)
    world.recollect()
    return world.to_state(), world.describe()


def _client(cells: Sequence[Mapping[str, Any]]) -> str:
    """The name under which grid disks are available to the cluster, when they are to somebody only."""
    named = [client for cell in cells for grid in cell["gridDisks"] for client in grid["availableTo"]]
    return str(max(set(named), key=named.count)) if named else ""


def _renamed(parts: Mapping[str, Json], names: Sequence[str]) -> dict[str, Any]:
    """Return the parts with the cells' own names, in one pass that no name of ours can disturb."""
    text = json.dumps(parts)
    for number in range(len(names), 0, -1):  # The longest first: exa1cel10 begins exa1cel100.
        own = f"exa1cel{number:02d}"
        text = text.replace(own, f"\\u0001{number};").replace(own.upper(), f"\\u0002{number};")
    for number, name in enumerate(names, start=1):
        text = text.replace(f"\\u0001{number};", name).replace(f"\\u0002{number};", name.upper())
    renamed: dict[str, Any] = json.loads(text)
    return renamed


def _make_like(part: dict[str, Any], cell: Mapping[str, Any], now: float) -> None:
    """Give one cell's state the disks, caches, logs, grid disks and IORM plan that were described."""
    part["mode"] = "WriteBack" if str(cell["mode"]).lower() == "writeback" else "WriteThrough"
    templates = part["cell_disks"]
    luns, physical = part["luns"], part["physical_disks"]
    part["cell_disks"], part["luns"], part["physical_disks"] = {}, {}, {}
    left = dict(templates)
    for number, disk in enumerate(cell["cellDisks"]):
        row = _template(disk, left, templates, number)
        lun, device = dict(luns[row["lun"]]), dict(physical[row["physical_disk"]])
        if lun["name"] in part["luns"]:
            lun["name"], device["name"] = f"{lun['name']}_{number}", f"{device['name']}_{number}"
        lun |= {"cell_disk": disk["name"], "physical_disk": device["name"]}
        device["lun"] = lun["name"]
        part["luns"][lun["name"]], part["physical_disks"][device["name"]] = lun, device
        part["cell_disks"][disk["name"]] = {
            **row,
            "name": disk["name"],
            "size_bytes": int(disk["size"]),
            "status": disk["status"] or "normal",
            "lun": lun["name"],
            "physical_disk": device["name"],
        }
    _grid_disks(part, cell, now)
    _caches(part, cell, now)
    plan = [{"attributes": [[str(a).lower(), str(v)] for a, v in directive]} for directive in cell["directives"]]
    part["iorm"] |= {"objective": cell["objective"] or part["iorm"]["objective"], "db_plan": plan}


def _template(
    disk: Mapping[str, Any], left: dict[str, Any], templates: Mapping[str, Any], number: int
) -> dict[str, Any]:
    """Return the row of the model's that stands for a cell disk: the one of its name, else the next of its kind."""

    def fits(row: Mapping[str, Any]) -> bool:
        kind = str(row["disk_type"])
        return (kind if kind in ("HardDisk", "PMEM") else "FlashDisk") == _kind(disk)

    name = disk["name"] if disk["name"] in left and fits(left[disk["name"]]) else None
    name = name or next((key for key, row in left.items() if fits(row)), None)
    if name is not None:
        return dict(left.pop(name))
    same = [row for row in templates.values() if fits(row)] or list(templates.values())
    return {**same[number % len(same)], "disk_type": _kind(disk)}


def _grid_disks(part: dict[str, Any], cell: Mapping[str, Any], now: float) -> None:
    sample: dict[str, Any] = next(iter(part["grid_disks"].values()), {})
    part["grid_disks"] = {}
    ends: dict[str, int] = {}
    for number, grid in enumerate(cell["gridDisks"]):
        disk = str(grid["cellDisk"])
        if disk not in part["cell_disks"]:
            continue  # Its cell disk is gone: neither CellCLI nor ASM can do anything with it.
        offset = ends.get(disk, 32 * MIB)
        ends[disk] = offset + int(grid["size"])
        part["grid_disks"][grid["name"]] = {
            **sample,
            "name": grid["name"],
            "cell_disk": disk,
            "size_bytes": int(grid["size"]),
            "offset": offset,
            "disk_type": part["cell_disks"][disk]["disk_type"],
            "creation_time": now,
            "id": f"{part['id']}-{number}",
            "status": grid["status"] or "active",
            "available_to": list(grid["availableTo"]),
            "caching_policy": grid["cachingPolicy"] or "default",
            "flushing": False,
            "asm_former": False,
            "comment": "",
            "virtual_size": None,
        }


def _caches(part: dict[str, Any], cell: Mapping[str, Any], now: float) -> None:
    """Give the flash log and the flash cache the space that is neither free nor a grid disk's."""
    flash = [name for name, row in part["cell_disks"].items() if row["disk_type"] == "FlashDisk"]
    log = int(cell["flashLog"])
    share = log // len(flash) if log and flash else 0
    sample = part["flash_log"] or {"id": part["id"], "creation_time": now, "kept_bytes": 0}
    name = f"{part['name']}_FLASHLOG"
    part["flash_log"] = {**sample, "name": name, "members": dict.fromkeys(flash, share)} if share else None
    described = cell["flashCache"]
    if described is None:
        part["flash_cache"] = None
        return
    free = {disk["name"]: int(disk["free"]) for disk in cell["cellDisks"]}
    sizes: dict[str, int] = {}
    for disk in described["cellDisks"]:
        row = part["cell_disks"].get(disk)
        if row is not None:
            used = sum(g["size_bytes"] for g in part["grid_disks"].values() if g["cell_disk"] == disk)
            logged = share if disk in flash else 0
            sizes[disk] = max(0, row["size_bytes"] - FLASH_CELLDISK_RESERVE - used - logged - free[disk])
    each = max(1, len(sizes))
    flushed = bool(described["flushed"])
    part["flash_cache"] = {
        "name": described["name"],
        "id": part["id"],
        "creation_time": now,
        "members": {
            disk: {
                "cell_disk": disk,
                "size_bytes": size,
                "used_bytes": 0 if flushed else min(size, int(described["used"]) // each),
                "dirty_bytes": 0 if flushed else min(size, int(described["dirty"]) // each),
                "flush_from": now if flushed else None,
            }
            for disk, size in sizes.items()
        },
    }


def _asm_like(parts: dict[str, Any], likeness: Likeness) -> None:
    """Give the one ASM cluster the disk groups that were described."""
    asm = parts["asm"]
    cell_of = {grid["name"]: cell["name"] for cell in likeness.cells for grid in cell["gridDisks"]}
    samples = {group["name"]: group for group in asm["groups"]}
    anyone = next(iter(samples.values()), None)
    headers = [_header(cell_of[disk], disk, "FORMER", "", "", "NORMAL") for disk in likeness.former if disk in cell_of]
    groups = []
    for number, wanted in enumerate(likeness.groups, start=1):
        sample = samples.get(str(wanted["name"]), anyone)
        if sample is None:
            raise EmulatorError(f"disk group {wanted['name']} can't be copied: the model has none to start from")
        disks: dict[str, Any] = {}
        row = next(iter(sample["disks"].values()))
        for place, disk in enumerate(wanted["disks"]):
            grid = disk["gridDisk"]
            if grid not in cell_of:
                continue
            online = disk["mode"] == "ONLINE"
            disks[disk["name"]] = {
                **row,
                "number": place,
                "name": disk["name"],
                "fail_group": disk["failGroup"],
                "cell": cell_of[grid],
                "grid_disk": grid,
                "size_mb": int(disk["sizeMb"]),
                "mode": "ONLINE" if online else "OFFLINE",
                "offline_since": None if online else float(parts["rack"]["advanced"]),
                "kept_offline": not online,
            }
            headers.append(
                _header(cell_of[grid], grid, "MEMBER", wanted["name"], disk["name"], wanted["type"], disk["failGroup"])
            )
        compatible = {"compatible.asm": wanted["compatibleAsm"], "compatible.rdbms": wanted["compatibleRdbms"]}
        groups.append(
            {
                **sample,
                "name": wanted["name"],
                "redundancy": wanted["type"],
                "au_bytes": int(wanted["auSize"]),
                "number": number,
                "disks": disks,
                "files": _files(wanted, sample, likeness),
                "attributes": {**sample["attributes"], **{k: v for k, v in compatible.items() if v}},
                "mounted": [place for place, node in enumerate(likeness.nodes) if node in wanted["mountedOn"]],
                "restricted": [],
                "operation": None,
                "next_file": 256 + int(wanted["files"]),
                "voting_files": bool(wanted["votingFiles"]),
            }
        )
    asm |= {"groups": groups, "headers": headers, "resources": sorted(group["name"] for group in groups)}


def _files(wanted: Mapping[str, Any], sample: Mapping[str, Any], likeness: Likeness) -> list[dict[str, Any]]:
    """Return as many files as the group has; the databases' first ones take the space that is used."""
    count = int(wanted["files"])
    copies = {"EXTERN": 1, "HIGH": 3}.get(str(wanted["type"]), 2)
    known = {name.upper() for name in likeness.databases}
    owners = [name for name in map(str.upper, wanted["clients"]) if name in known] or ["ASM"]
    metadata = (len(wanted["disks"]) + 3) * int(wanted["auSize"])
    size = max(0, int(wanted["usedMb"]) * MIB - metadata) // copies // len(owners)
    return [
        {
            "number": 256 + number,
            "incarnation": 1,
            "kind": "DATAFILE",
            "database": owners[number % len(owners)],
            "tag": "COPIED",
            "size_bytes": size if number < len(owners) else 0,
            "block_size": 8192,
            "copies": copies,
            "created": float(sample["created"]),
        }
        for number in range(max(count, len(owners) if owners != ["ASM"] else count))
    ]


def _header(
    cell: str, grid: str, status: str, group: str, disk: str, kind: str, fail_group: str = ""
) -> dict[str, Any]:
    header = {"status": status, "group": group, "disk": disk, "fail_group": fail_group, "redundancy": kind}
    return {"cell": cell, "grid_disk": grid, "header": header}
