"""A rack made in the likeness of one that was described."""

from __future__ import annotations

from typing import Any

import pytest

from exacell.core.errors import EmulatorError
from exacell.core.units import GIB, MIB
from exacell.emulator.basics.profiles import models
from exacell.emulator.copies.likeness import Likeness, nearest, parts_of
from exacell.emulator.server.rack_world import RackWorld

NODES = ("prod-db1", "prod-db2")
CACHE = str(2 * (90 * GIB - 48 * MIB - 256 * MIB))


def cell(name: str, *, dirty: int = 4 * GIB, used: int = 8 * GIB, **objects: Any) -> dict[str, Any]:
    """A cell whose disks were told without LUNs and devices; ``objects`` replace what it told of object types."""
    flash, hard = [f"FD_0{number}_{name}" for number in range(2)], [f"CD_0{number}_{name}" for number in range(14)]
    told = {
        "CELL": [{"name": name, "releaseVersion": "20.1.4.0.0.200101", "makeModel": "", "flashCacheMode": "WriteBack"}],
        "CELLDISK": [
            {"name": disk, "diskType": "FlashDisk", "size": "100G", "freeSpace": "10G", "status": "normal"}
            for disk in flash
        ]
        + [
            {"name": disk, "diskType": "HardDisk", "size": "600G", "freeSpace": "0", "status": "normal"}
            for disk in hard
        ],
        "GRIDDISK": [
            {"name": f"DG_{disk}", "cellDisk": disk, "size": "500G", "status": "active", "availableTo": ""}
            for disk in hard
        ],
        "FLASHCACHE": [{"name": f"{name}_FC", "cellDisk": ",".join(flash), "size": CACHE, "status": "normal"}],
        "FLASHLOG": [{"name": f"{name}_FLASHLOG", "cellDisk": ",".join(flash), "size": "512M"}],
        "IORMPLAN": [{"objective": "balanced", "status": "active"}],
    }
    plans = {"dbPlan": [[["name", "HR"], ["share", "3"], ["flashLog", "off"]]]}
    return {"name": name, "objects": {**told, **objects}, "plans": plans, "dirty": dirty, "used": used}


def group(*cells: str, **changes: Any) -> dict[str, Any]:
    disks = [
        {
            "name": f"DG_{number}_{name}",
            "failGroup": name,
            "gridDisk": f"DG_CD_0{number}_{name}",
            "sizeMb": 512000,
            "mode": "ONLINE",
        }
        for name in cells
        for number in range(14)
    ]
    row = {
        "name": "DG",
        "type": "NORMAL",
        "auSize": 4 * MIB,
        "usedMb": 400_000,
        "files": 3,
        "clients": ["HR"],
        "mountedOn": [NODES[0]],
        "compatibleAsm": "19.0.0.0.0",
        "compatibleRdbms": "12.1.0.0.0",
        "votingFiles": False,
        "disks": disks,
    }
    return {**row, **changes}


def world(*names: str, **changes: Any) -> RackWorld:
    likeness = Likeness(
        cells=[cell(name, **changes) for name in names], nodes=NODES, databases=["HR"], groups=[group(*names)]
    )
    return RackWorld.from_state(parts_of("copy", likeness)[0])


def test_hosts_have_their_own_names() -> None:
    """Cells and nodes are called as they were described, also where the names are the emulator's own in another order."""
    copy = world("exa1cel02", "exa1cel01", "stor-a")
    assert copy.cells == ("exa1cel02", "exa1cel01", "stor-a") and copy.dbnodes == NODES
    parts = copy.to_state()
    for name in copy.cells:
        state: Any = parts[f"cell-{name}"]["cell"]
        assert state["host"] == state["name"] == name
        assert all(disk.endswith(name) for disk in (*state["cell_disks"], *state["grid_disks"]))


def test_space_is_divided_as_it_was_described() -> None:
    """What is neither free, reserved, the log's nor a grid disk's belongs to the cache; dirty data is spread over it."""
    state: Any = world("a", "b").to_state()["cell-a"]["cell"]
    members = state["flash_cache"]["members"]
    assert {row["size_bytes"] for row in members.values()} == {90 * GIB - 48 * MIB - 256 * MIB}
    assert sum(row["dirty_bytes"] for row in members.values()) == 4 * GIB
    assert state["flash_log"]["members"] == {"FD_00_a": 256 * MIB, "FD_01_a": 256 * MIB}
    assert len(state["cell_disks"]) == 16 and len(state["luns"]) == 16 and len(state["physical_disks"]) == 16
    assert state["iorm"]["objective"] == "balanced"
    assert state["iorm"]["db_plan"][0]["attributes"] == (("name", "HR"), ("share", "3"), ("flashlog", "off"))


def test_a_cell_without_cache_and_a_flushed_one() -> None:
    """No cache stays none, and a flushed one is empty and not caching."""
    none: Any = world("a", "b", FLASHCACHE=[], FLASHLOG=[]).to_state()["cell-b"]["cell"]
    assert none["flash_cache"] is None and none["flash_log"] is None
    flushed = [{**cell("a")["objects"]["FLASHCACHE"][0], "status": "normal - flushed"}]
    state: Any = world("a", "b", FLASHCACHE=flushed).to_state()["cell-a"]["cell"]
    rows = state["flash_cache"]["members"].values()
    assert all(row["dirty_bytes"] == row["used_bytes"] == 0 and row["flush_from"] is not None for row in rows)


def test_disk_groups_have_their_disks_files_and_mounts() -> None:
    """ASM holds the described groups and no others, mounted where they were, with their files and free space."""
    asm: Any = world("a", "b").to_state()["asm"]
    (only,) = asm["groups"]
    assert (only["name"], only["mounted"], len(only["files"])) == ("DG", [0], 3)
    assert {disk["cell"] for disk in only["disks"].values()} == {"a", "b"} and len(asm["headers"]) == 28
    assert only["attributes"]["compatible.rdbms"] == "12.1.0.0.0"


@pytest.mark.parametrize(
    ("release", "model", "expected"),
    [
        ("20.1.4.0.0.200101", "", "19.3"),
        ("11.2.3.3.1.140529", "", "11.2.3.3.1"),
        ("26.1.0.0.0.260131", "", "26.1"),
        ("19.3.2.0.0", models()["x8m"].make_model, "19.3"),
    ],
)
def test_the_nearest_release_is_taken_and_its_model(release: str, model: str, expected: str) -> None:
    """The release is the newest that is not newer than the rack's; a model that has the rack's name wins."""
    found = nearest([cell("a", CELL=[{"releaseVersion": release, "makeModel": model}])])
    assert found[1] == expected and (not model or found[0] == "x8m")


def test_one_cell_is_no_rack() -> None:
    """A rack of one cell is refused with the reason."""
    with pytest.raises(EmulatorError, match="a rack of 1 cells can't be copied"):
        parts_of("copy", Likeness(cells=[cell("a")], nodes=NODES, databases=["HR"]))


@pytest.mark.parametrize("dirty", [0, 4 * GIB])
def test_the_first_reading_of_metrics_tells_of_the_described_cache(dirty: int) -> None:
    """FC_BY_DIRTY and FC_BY_USED of a copy are those of the rack that was described, not of the rack it was made from."""
    state: Any = world("a", "b", dirty=dirty, used=2 * dirty).to_state()["cell-a"]
    collected = state["metrics"]["collections"][-1][1]
    assert (collected["FC_BY_DIRTY"], collected["FC_BY_USED"]) == (dirty / MIB, 2 * dirty / MIB)


@pytest.mark.parametrize(
    "objects",
    [
        {"CELLDISK": [{"name": "CD", "diskType": "HardDisk", "size": "much"}]},
        {"FLASHLOG": [{"name": "a_FLASHLOG", "cellDisk": "FD_00_a"}]},
        {"GRIDDISK": [{"name": "G", "cellDisk": "CD_00_a", "size": "1G", "creationTime": "yesterday"}]},
    ],
)
def test_what_can_not_be_read_names_its_cell(objects: dict[str, Any]) -> None:
    """A cell that tells a size that is none, or a log without size, is named, in one line."""
    with pytest.raises(EmulatorError, match=r"cell a can't be copied: it told what can't be read: .+"):
        world("a", "b", **objects)


def test_what_is_no_number_stays_what_it_is() -> None:
    """A value that is no number where there is mostly one, and an alert that tells little, make no copy fail."""
    alerts = [{"name": "3", "alertMessage": "smoke", "severity": "critical", "metricValue": "21.0 C", "beginTime": ""}]
    quarantines = [{"name": "1", "clientPID": "none", "comment": "x", "creationTime": "2026-01-01T00:00:00+00:00"}]
    state: Any = world("a", "b", ALERTHISTORY=alerts, QUARANTINE=quarantines).to_state()["cell-a"]["cell"]
    assert (state["alerts"][0]["value"], state["alerts"][0]["sequence"]) == ("21.0 C", 3)
    assert state["records"]["QUARANTINE"]["1"]["clientPID"] == "none"
