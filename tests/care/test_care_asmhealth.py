"""What ASM adds to the health of cells: room in disk groups, and the time that offline disks have left."""

from __future__ import annotations

import pytest

from exacell.care.asmhealth import with_asm
from exacell.care.health import Finding, Level, silent
from exacell.care.since import Past, changed, told
from exacell.plan.asmfacts import AsmDisk
from tests.plan.plan_factory import asm, asm_disk, group

CELLS = ("exa1cel01", "exa1cel02.example.com")


def member(cell: str, number: int = 0, **changes: object) -> AsmDisk:
    name = f"DATA_CD_{number:02}_{cell}"
    return asm_disk(name, **{"group": 1, "name": name.upper(), "failgroup": cell.upper(), **changes})


def offline(cell: str, number: int, seconds: int) -> AsmDisk:
    return member(cell, number, path="", mode="OFFLINE", repair_s=seconds)


def well() -> dict[str, tuple[Finding, ...]]:
    return dict.fromkeys(CELLS, ())


def test_the_disk_that_goes_first_is_counted_down() -> None:
    """An offline disk stands at its cell, whatever the name of that is in full, with the shortest time that is left."""
    found = with_asm(well(), [asm(disks=[offline("exa1cel02", 0, 7800), offline("exa1cel02", 1, 7500)])])
    (one,) = found["exa1cel02.example.com"]
    assert (one.level, one.word, one.way) == (Level.BAD, "2 offline", "online cell exa1cel02.example.com")
    assert one.said == "it has disks that are OFFLINE in ASM: ASM drops 2 offline disks for good, the first in 2h05m"
    assert found["exa1cel01"] == ()


def test_what_the_cell_says_of_its_offline_disks_gets_the_countdown() -> None:
    """A cell that tells by itself that its disks are offline has one finding, with the time that is left."""
    own = Finding("asm", Level.BAD, "1 offline", "grid disk X: asmModeStatus is OFFLINE", "online cell exa1cel01")
    (one,) = with_asm({"exa1cel01": (own,)}, [asm(disks=[offline("exa1cel01", 0, 90)])])["exa1cel01"]
    assert one.said == "grid disk X: asmModeStatus is OFFLINE: ASM drops 1 offline disk for good, the first in 1m30s"


def test_a_stopped_cellsrv_is_why_they_are_offline() -> None:
    """A cell whose CELLSRV is stopped can't tell of ASM: the time that is left stands with the service that is to be started."""
    own = Finding("services", Level.BAD, "cellsrv stopped", "cellsrvStatus is stopped", "online cell exa1cel01")
    (one,) = with_asm({"exa1cel01": (own,)}, [asm(disks=[offline("exa1cel01", 0, 90)])])["exa1cel01"]
    assert one.said == "cellsrvStatus is stopped: ASM drops 1 offline disk for good, the first in 1m30s"


def test_a_cell_that_is_down_has_its_countdown() -> None:
    """A cell that gives no answer is where the countdown matters most: it stands there, before that it is silent."""
    one, two = with_asm({"exa1cel01": (silent("no route"),)}, [asm(disks=[offline("exa1cel01", 0, 60)])])["exa1cel01"]
    assert one.said == "it has disks that are OFFLINE in ASM: ASM drops 1 offline disk for good, the first in 1m00s"
    assert two.text == "no route"


@pytest.mark.parametrize("disk", [member("exa1cel01"), member("exa1cel01", repair_s=9), offline("exa1cel01", 0, 0)])
def test_only_offline_disks_that_ASM_counts_down(disk: AsmDisk) -> None:
    """A disk that is ONLINE, or that nothing is counted down for, is no finding."""
    assert with_asm(well(), [asm(disks=[disk])]) == well()


@pytest.mark.parametrize(
    ("free", "usable", "level", "said"),
    [
        (20, 5, Level.BAD, "disk group DATA is full: 20M of 1000M free"),
        (99, 5, Level.WARN, "disk group DATA is nearly full: 99M of 1000M free"),
        (100, -64, Level.WARN, "disk group DATA has too little space to mirror again after the loss of a "
                               "failure group: "
         "usable space is 64M below zero"),
        (100, 0, None, ""),
    ],
)  # fmt: skip
def test_room_in_a_disk_group(free: int, usable: int, level: Level | None, said: str) -> None:
    """Less than a tenth free is nearly full, less than 3% full, below zero usable no room to mirror; each with figures, on
    the cells that have disks of it, and on no others."""
    facts = asm([group(free_mb=free, usable_file_mb=usable)], [member("exa1cel01")])
    found = with_asm(well(), [facts])
    assert [(one.level, one.said) for one in found["exa1cel01"]] == ([(level, said)] if level else [])
    assert found["exa1cel02.example.com"] == ()


def test_a_group_that_is_not_mounted_has_no_room_to_tell() -> None:
    """What ASM tells of the space of a dismounted disk group is zero: that is not full."""
    facts = asm([group(states={"1": "DISMOUNTED"}, total_mb=0, free_mb=0)], [member("exa1cel01")])
    assert with_asm(well(), [facts]) == well()


def test_a_countdown_that_goes_on_is_no_news() -> None:
    """Since yesterday the same disk is offline: that the time left is another one is no change."""
    first, later = (with_asm(well(), [asm(disks=[offline("exa1cel01", 0, n)])]) for n in (9000, 60))
    before = {cell: Past(at=1.0, told=told(found)) for cell, found in first.items()}
    assert changed(before, later) == []
    (new,) = changed({cell: Past(at=1.0, told=()) for cell in CELLS}, later)
    assert "for good, the first in 1m00s" in new.finding


def test_a_rack_tells_when_it_drops_disks(rack) -> None:
    """Disks that are taken offline in ASM are counted down in show health and --since, and are gone when they are online."""
    rack.say("show health")
    assert rack.say("offline cell exa1cel02 --yes").code == 0
    try:
        (row,) = [row for row in rack.json("show health") if row["cell"] == "exa1cel02"]
        assert any("for good, the first in 11h" in text for text in row["findings"])
    finally:
        assert rack.say("online cell exa1cel02 --yes").code == 0
    assert not any("for good" in text for row in rack.json("show health") for text in row["findings"])
