"""The ASM cluster of a copied rack: the described disk groups, on the grid disks of its cells."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from exacell.core.errors import EmulatorError
from exacell.core.units import MIB


def copy_groups(
    asm: dict[str, Any],
    cell_of: Mapping[str, str],
    groups: Sequence[Mapping[str, Any]],
    *,
    former: Sequence[str],
    nodes: Sequence[str],
    databases: Sequence[str],
    now: float,
) -> None:
    """Replace the disk groups of the one ASM cluster by those that were described.

    Args:
        asm: the cluster's state, which is changed.
        cell_of: the cell of each grid disk.
        groups, former, nodes, databases: as in :class:`exacell.emulator.copies.likeness.Likeness`.
        now: the rack's time.

    Raises:
        EmulatorError: the model has no disk group to start from.
    """
    hosts = {host.upper(): host for host in cell_of.values()}
    samples = {group["name"]: group for group in asm["groups"]}
    anyone = next(iter(samples.values()), None)
    headers = [_header(cell_of[disk], disk, "FORMER", "", "", "NORMAL") for disk in former if disk in cell_of]
    made = []
    for number, wanted in enumerate(groups, start=1):
        sample = samples.get(str(wanted["name"]), anyone)
        if sample is None:
            raise EmulatorError(f"disk group {wanted['name']} can't be copied: the model has none to start from")
        disks: dict[str, Any] = {}
        row = next(iter(sample["disks"].values()))
        for place, disk in enumerate(wanted["disks"]):
            # The name of a lost grid disk is that of its ASM disk, and its cell is that of the failure group.
            grid = disk["gridDisk"] or disk["name"]
            cell = cell_of.get(grid) or hosts.get(str(disk["failGroup"]).upper())
            if cell is None:
                continue
            online = disk["mode"] == "ONLINE"
            disks[disk["name"]] = {
                **row,
                "number": place,
                "name": disk["name"],
                "fail_group": disk["failGroup"],
                "cell": cell,
                "grid_disk": grid,
                "size_mb": int(disk["sizeMb"]),
                "mode": "ONLINE" if online else "OFFLINE",
                "offline_since": None if online else now,
                "kept_offline": not online,
            }
            if grid in cell_of:
                headers.append(
                    _header(cell, grid, "MEMBER", wanted["name"], disk["name"], wanted["type"], disk["failGroup"])
                )
        compatible = {"compatible.asm": wanted["compatibleAsm"], "compatible.rdbms": wanted["compatibleRdbms"]}
        made.append(
            {
                **sample,
                "name": wanted["name"],
                "redundancy": wanted["type"],
                "au_bytes": int(wanted["auSize"]),
                "number": number,
                "disks": disks,
                "files": _files(wanted, sample, databases),
                "attributes": {**sample["attributes"], **{k: v for k, v in compatible.items() if v}},
                "mounted": [place for place, node in enumerate(nodes) if node in wanted["mountedOn"]],
                "restricted": [],
                "operation": None,
                "next_file": 256 + int(wanted["files"]),
                "voting_files": bool(wanted["votingFiles"]),
            }
        )
    asm |= {"groups": made, "headers": headers, "resources": sorted(group["name"] for group in made)}


def _files(wanted: Mapping[str, Any], sample: Mapping[str, Any], databases: Sequence[str]) -> list[dict[str, Any]]:
    """Return files for a group, as many as described; the databases' first files take the space that is used."""
    count = int(wanted["files"])
    copies = {"EXTERN": 1, "HIGH": 3}.get(str(wanted["type"]), 2)
    known = {name.upper() for name in databases}
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
