"""databasemachine.xml of emulated racks: every host has a shelf of its own, whatever the model and the size."""

from __future__ import annotations

import xml.etree.ElementTree as ET

import pytest

from exacell.emulator.basics.names import cell_address
from exacell.emulator.basics.profiles import models
from exacell.emulator.hosts.layout import database_machine, machine_type

TYPES = {
    "x2": "X2-2 Elastic Rack HP 600GB",
    "x6": "X6-2 Elastic Rack HC 8TB",
    "x6ef": "X6-2 Elastic Rack EF",
    "x8m": "X8M-2 Elastic Rack HC 14TB",
}


@pytest.mark.parametrize("model", TYPES)
def test_the_type_names_generation_kind_and_disk(model: str) -> None:
    """MACHINETYPES is the generation, that the rack is elastic, the kind of storage and the size of its disks."""
    assert machine_type(models()[model]) == TYPES[model]


@pytest.mark.parametrize(("cells", "nodes"), [(2, 1), (3, 2), (14, 8), (15, 2), (300, 4), (3, 64)])
@pytest.mark.parametrize("model", ["x2", "x8m"])
def test_every_host_has_a_shelf(model: str, cells: int, nodes: int) -> None:
    """Each cell and node is in one cabinet, no two things on one shelf, and counts and switches fit the rack."""
    names = {f"exa1cel{number:02d}": cell_address(number) for number in range(1, cells + 1)}
    hosts = [f"exa1db{number:02d}" for number in range(1, nodes + 1)]
    root = ET.fromstring(database_machine(names, hosts, models()[model]))
    racks = root.findall("PAGE0/RACKS/RACK")
    assert root.findtext("PAGE0/RACKCOUNT") == str(len(racks))
    found: list[tuple[str, str]] = []
    for rack in racks:
        items = rack.findall("ITEM")
        assert rack.findtext("ITEMS") == str(len(items))
        shelves: list[int] = []
        for item in items:
            first, height = int(item.findtext("ULOCATION") or ""), int(item.findtext("UHEIGHT") or "")
            shelves += range(first, first + height)
            assert first >= 0 and first + height - 1 <= int(rack.findtext("MACHINEUSIZE") or "")
            if item.findtext("TYPE") in ("cellnode", "computenode"):
                found.append((item.findtext("ADMINNAME") or "", item.findtext("ILOMNAME") or ""))
        assert len(set(shelves)) == len(shelves)
        assert len([item for item in items if item.findtext("TYPE") == ("ib" if model == "x2" else "roce")]) == 2
    assert sorted(found) == [(name, f"{name}-ilom") for name in sorted([*names, *hosts])]
    addresses = [item.text for item in root.iter() if item.tag in ("ADMINIP", "ILOMIP")]
    assert len(set(addresses)) == len(addresses)
