"""A rack that copies a described one: same hosts, disks, caches, plans and disk groups.

The description replaces what a new rack of the nearest hardware model would have; counters and everything that the
description leaves out stay the model's. The description is plain data (see :class:`Likeness`).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from exacell.core.errors import EmulatorError
from exacell.emulator.basics.clock import fastest
from exacell.emulator.basics.messages import CellError
from exacell.emulator.basics.profiles import HardwareModel, ReleaseProfile, models, releases
from exacell.emulator.basics.schema import Release, release_of
from exacell.emulator.basics.store import Json
from exacell.emulator.cell.cell_store import cell_from_state, to_state
from exacell.emulator.cell.disk_models import DiskType
from exacell.emulator.copies.asm import copy_groups
from exacell.emulator.copies.cell import Objects, copy_exascale, make_like
from exacell.emulator.grammar.changing import listed, size_of
from exacell.emulator.server.rack_world import RackWorld


@dataclass(frozen=True, kw_only=True)
class Likeness:
    """The description of a rack to copy. Sizes are integer bytes.

    Attributes:
        cells: one object each: ``name`` (the host's), ``objects`` (object type → one record for each object, the texts of its
            attributes as LIST printed them: those that the schema's table declares as copied, and releaseVersion and makeModel of
            CELL), ``plans`` (attribute of IORMPLAN → its directives, each a list of attribute and value), ``dirty`` and ``used``
            (bytes in the flash cache).
        nodes: the database nodes.
        databases: at least one.
        groups: one object each: ``name``, ``type``, ``auSize``, ``usedMb``, ``files``, ``clients``, ``mountedOn`` (nodes),
            ``compatibleAsm``, ``compatibleRdbms``, ``votingFiles``, ``disks`` (``name``, ``failGroup``, ``gridDisk``,
            ``sizeMb``, ``mode``).
        former: grid disks whose ASM header is FORMER.
        speed: rack seconds in a second; lowered if the rack is too large for that.
    """

    cells: Sequence[Mapping[str, Any]]
    nodes: Sequence[str]
    databases: Sequence[str]
    groups: Sequence[Mapping[str, Any]] = field(default=())
    former: Sequence[str] = field(default=())
    speed: float = 600.0


def nearest(cells: Sequence[Mapping[str, Any]]) -> tuple[str, str]:
    """Return the names of the hardware model and of the release that are nearest to the cells.

    Of the releases that run on the model, it is the newest that is not newer than theirs, or else the oldest.
    """
    objects: Objects = cells[0]["objects"]
    (own,) = objects["CELL"]
    kinds = [record.get("diskType", "") for record in objects["CELLDISK"]]
    largest = max((size_of(record["size"]) for record in objects["CELLDISK"]), default=0)
    wanted = _release_of(cells[0])

    def distance(model: HardwareModel) -> tuple[bool, int, float]:
        flash = len(model.flash.places) + (len(model.capacity.places) if model.capacity else 0)
        counts = {DiskType.HARD: model.hard.disks, DiskType.FLASH: flash}
        counts[DiskType.PMEM] = model.pmem.modules if model.pmem else 0
        missed = sum(abs(kinds.count(kind.printed) - count) for kind, count in counts.items())
        size = model.hard.cell_disk if model.hard.disks else model.flash.cell_disk
        return model.make_model != own.get("makeModel"), missed, abs(size - largest)

    def best(model: HardwareModel) -> ReleaseProfile:
        runs = [release for release in releases().values() if model.name in release.models]
        older = [release for release in runs if release.number <= wanted]
        return older[-1] if older else runs[0]

    # For a statement, the abilities of a release matter more than the number of disks.
    model = min(models().values(), key=lambda m: (_apart(best(m).number, wanted), distance(m)))
    return model.name, best(model).name


def _apart(release: Release, wanted: Release) -> tuple[bool, tuple[int, ...]]:
    """Return a sort key: releases that are not newer than the wanted one come first, the newest of them at the front."""
    return release > wanted, tuple(-number for number in release) if release <= wanted else tuple(release)


def _release_of(cell: Mapping[str, Any]) -> Release:
    """Return a cell's release as numbers; parts after the fifth are a date and are dropped."""
    (own,) = cell["objects"]["CELL"]
    return release_of(own["releaseVersion"])


def parts_of(name: str, likeness: Likeness) -> tuple[dict[str, Json], Json]:
    """Return the parts of the state of a rack like this one, and the content of its ``rack.json``.

    Raises:
        EmulatorError: such a rack can't be emulated.
    """
    cells = likeness.cells
    if len(cells) < 2:
        raise EmulatorError(f"a rack of {len(cells)} cells can't be copied: an emulated rack has at least 2")
    with _reading(cells[0]):
        model, release = nearest(cells)
    modes, memory_modes = ({_mode(cell, name) for cell in cells} for name in ("flashCacheMode", "pmemCacheMode"))
    options = {
        "cells": len(cells),
        "dbnodes": max(1, len(likeness.nodes)),
        "node_names": tuple(likeness.nodes),
        "db": tuple(likeness.databases),
        "model": model,
        "release": release,
        "mode": "writeback" if "writeback" in modes else "writethrough",
        "pmem": "writeback" if "writeback" in memory_modes else "writethrough",
        "speed": min(likeness.speed, fastest(len(cells))),
        "client": _client(cells),
        "pdb": _within(cells, likeness.databases),
        "vault": tuple(sorted({record["name"] for record in _objects_of(cells, "VAULT")})),
    }
    fresh = RackWorld.create(name, options).to_state()
    parts: dict[str, Any] = _renamed(fresh, [str(cell["name"]) for cell in cells])
    now = float(parts["rack"]["advanced"])
    hosts = {str(cell["name"]): cell_from_state(parts[f"cell-{cell['name']}"]["cell"]) for cell in cells}
    for cell, told in zip(hosts.values(), cells, strict=True):
        with _reading(told):
            make_like(cell, told, release=releases()[release].number, now=now)
    copy_exascale(hosts, {str(cell["name"]): cell["objects"] for cell in cells})
    for host, cell in hosts.items():
        parts[f"cell-{host}"]["cell"] = to_state(cell)
    copy_groups(
        parts["asm"],
        {disk: host for host, cell in hosts.items() for disk in cell.grid_disks},
        likeness.groups,
        former=likeness.former,
        nodes=likeness.nodes,
        databases=likeness.databases,
        now=now,
    )
    world = RackWorld.from_state(parts)
    world.recollect()
    return world.to_state(), world.describe()


@contextmanager
def _reading(told: Mapping[str, Any]) -> Iterator[None]:
    """Add the cell's name to an error about a description that can't be read.

    Raises:
        EmulatorError: the description of a cell can't be read.
    """
    try:
        yield
    except (CellError, KeyError, ValueError) as error:
        said = error.line if isinstance(error, CellError) else repr(error)
        raise EmulatorError(f"cell {told['name']} can't be copied: it told what can't be read: {said}") from error


def _mode(cell: Mapping[str, Any], attribute: str) -> str:
    (own,) = cell["objects"]["CELL"]
    return str(own.get(attribute) or "").lower()


def _client(cells: Sequence[Mapping[str, Any]]) -> str:
    """Return the name in availableTo under which the cluster uses the grid disks; empty if all clients may use them."""
    disks = _objects_of(cells, "GRIDDISK")
    named = [client for record in disks for client in listed(record.get("availableTo", ""))]
    return max(set(named), key=named.count) if named else ""


def _within(cells: Sequence[Mapping[str, Any]], databases: Sequence[str]) -> tuple[str, ...]:
    """Return the pluggable databases that cells know, each after its database, ``SPOT.SALES``."""
    owners = {name.upper(): name for name in databases}
    found = ((record.get("containerName", ""), record["name"]) for record in _objects_of(cells, "PLUGGABLEDATABASE"))
    return tuple(dict.fromkeys(f"{owners[o.upper()]}.{name}" for o, name in found if o.upper() in owners))


def _objects_of(cells: Sequence[Mapping[str, Any]], kind: str) -> list[Mapping[str, str]]:
    return [record for cell in cells for record in cell["objects"].get(kind, ())]


def _renamed(parts: Mapping[str, Json], names: Sequence[str]) -> dict[str, Any]:
    """Return the parts with the cells' own names; all are replaced in one pass, so that new names are not replaced again."""
    text = json.dumps(parts)
    for number in range(len(names), 0, -1):  # The longest first: exa1cel100 begins with exa1cel10.
        own = f"exa1cel{number:02d}"
        text = text.replace(own, f"\\u0001{number};").replace(own.upper(), f"\\u0002{number};")
    for number, name in enumerate(names, start=1):
        text = text.replace(f"\\u0001{number};", name).replace(f"\\u0002{number};", name.upper())
    renamed: dict[str, Any] = json.loads(text)
    return renamed
