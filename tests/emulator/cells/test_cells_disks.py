"""Disks that fail, are dropped for replacement, come back and are swapped, and what ASM makes of their grid disks."""

from __future__ import annotations

import pytest
from cells_bench import Bench

from exacell.core.errors import EmulatorError
from exacell.emulator.asm.clusters import AsmClusters
from exacell.emulator.cell.cell_store import cell_from_state, to_state
from exacell.emulator.server.rack_world import RackWorld
from exacell.emulator.storage.disk_groups import DiskState

HOST, DISK = "exa1cel01", "CD_05_exa1cel01"
GRID_DISKS = f"list griddisk attributes name,status,asmModeStatus where cellDisk = {DISK}"
REBALANCED_S = 48 * 3600.0
"""Rack seconds in which any rebalance of a small rack ends."""


class Disks:
    """A rack with its ASM, and what becomes of a disk of its first cell."""

    def __init__(self, **options: str) -> None:
        self.bench = Bench(**{"mode": "writethrough", **options})
        self.asm = AsmClusters.default(self.bench.rack)
        self.world = RackWorld(self.bench.rack, self.asm)

    def happens(self, kind: str, disk: str = "CD_05", **options: object) -> None:
        self.world.inject([HOST], kind, {"disk": disk, **options})

    def settle(self) -> None:
        self.bench.pass_time(REBALANCED_S)
        self.asm.all[0].settle()

    def grid_disks(self) -> set[tuple[str, str]]:
        """Status and asmModeStatus of the disk's grid disks."""
        return {(status, mode) for _name, status, mode in self.bench.values(GRID_DISKS)}

    def members(self) -> list[DiskState]:
        """The states of the disk's grid disks in their disk groups."""
        groups = self.asm.all[0].groups.values()
        return [d.state for g in groups for d in g.disks.values() if (d.cell, d.grid_disk[5:]) == (HOST, DISK)]


def test_a_failed_hard_disk_is_dropped_with_force() -> None:
    """LUN, cell disk and grid disks follow a failed disk, ASM expels its disks and rebuilds, an alert is open."""
    disks = Disks()
    disks.happens("hard-disk")
    assert disks.bench.values("list physicaldisk where status != normal attributes name,status") == [["20:5", "failed"]]
    assert disks.bench.values("list lun 0_5") == [["0_5", "0_5", "failed"]]
    assert disks.bench.values(f"list celldisk {DISK}") == [[DISK, "not present"]]
    assert disks.grid_disks() == {("not present", "OFFLINE")}
    assert disks.members() == [DiskState.FORCING] * 2
    assert "Hard disk failed" in disks.bench.e("list alerthistory")
    disks.settle()
    assert disks.members() == [] and disks.grid_disks() == {("not present", "DROPPED")}
    assert disks.asm.all[0].groups["DATA"].operation is None


def test_a_disk_about_to_fail_is_dropped_without_force() -> None:
    """ASM reads a disk in predictive failure until its data are elsewhere; then its grid disks are DROPPED."""
    disks = Disks()
    disks.happens("hard-disk", status="warning - predictive failure")
    assert disks.grid_disks() == {("proactive failure", "ONLINE")} and disks.members() == [DiskState.DROPPING] * 2
    disks.settle()
    assert disks.grid_disks() == {("proactive failure", "DROPPED")} and disks.members() == []


def test_a_pulled_disk_is_only_offline() -> None:
    """ASM waits for a disk that was pulled: it is offline, and back in step when the disk is back."""
    disks = Disks()
    disks.happens("hard-disk", status="not present")
    assert disks.grid_disks() == {("not present", "OFFLINE")} and disks.members() == [DiskState.NORMAL] * 2
    disks.world.clear_faults([HOST], "hard-disk")
    disks.bench.pass_time(600)
    assert disks.grid_disks() == {("active", "ONLINE")}


@pytest.mark.parametrize("status", ["failed", "warning - predictive failure"])
@pytest.mark.parametrize("model", ["x2", "x6"])
def test_a_new_disk_takes_the_place_of_the_old_one(model: str, status: str) -> None:
    """A swap ends the fault; serial, time and cell disk are new, the grid disks are what they were, and members again."""
    disks = Disks(model=model)
    before = disks.bench.values(f"list griddisk attributes name,size where cellDisk = {DISK}")
    (number,) = {d.number for d in disks.asm.all[0].groups["DATA"].disks.values() if d.name == f"DATA_{DISK.upper()}"}
    old = disks.bench.cell.physical_disks[disks.bench.cell.cell_disks[DISK].physical_disk].serial
    disks.happens("hard-disk", status=status)
    disks.settle()
    disks.happens("replace")
    assert [fault.kind for fault in disks.bench.rack.faults] == []
    assert disks.bench.values("list physicaldisk where status != normal") == []
    ((serial, luns, inserted),) = disks.bench.values(
        f"list physicaldisk {disks.bench.cell.cell_disks[DISK].physical_disk} attributes physicalSerial,luns,physicalInsertTime"
    )
    assert (serial != old, luns) == (True, "0_5")
    assert disks.bench.one(f"list celldisk {DISK} attributes creationTime") == inserted
    assert disks.bench.values(f"list griddisk attributes name,size where cellDisk = {DISK}") == before
    assert disks.grid_disks() == {("active", "ONLINE")} and disks.members() == [DiskState.ADDING] * 2
    disks.settle()
    assert disks.members() == [DiskState.NORMAL] * 2 and number >= 0
    assert [row[2] for row in disks.bench.values("list alerthistory")] == ["critical", "clear"]


def test_a_swap_before_the_rebalance_ends() -> None:
    """A disk that is swapped while ASM still expels the old one is a member again, once."""
    disks = Disks()
    disks.happens("hard-disk")
    disks.happens("replace")
    assert disks.members() == [DiskState.ADDING] * 2
    disks.settle()
    assert disks.members() == [DiskState.NORMAL] * 2


def test_a_bare_new_disk() -> None:
    """Where nothing is made on a new disk, the dead cell disk has no LUN, and the grid disks are nobody's, until made by hand."""
    disks = Disks(model="x6", release="12.1.2")
    disks.happens("hard-disk")
    disks.settle()
    disks.happens("replace", bare=True)
    assert disks.bench.e("list celldisk where lun=0_5") == ""
    assert disks.grid_disks() == {("not present", "UNUSED")}
    assert disks.bench.e("list diskmap").count(DISK) == 0
    say = disks.bench.e
    assert say("create celldisk CD_09_exa1cel01 lun=0_5") == "CELL-02526: Pre-existing cell disk: CD_09_exa1cel01\n"
    dead = f"CELL-02701: Cannot create grid disk on cell disk {DISK} because its status is not normal.\n"
    assert say(f"create griddisk DATA_{DISK} celldisk={DISK}, size=1T") == dead
    assert "status not present" in say(f"alter griddisk DATA_{DISK} active")
    assert say(f"drop celldisk {DISK} force") == f"CellDisk {DISK} successfully dropped\n"
    assert say(f"create celldisk {DISK} lun=0_5") == f"CellDisk {DISK} successfully created\n"
    assert disks.bench.values("list celldisk where lun=0_5") == [[DISK, "normal"]]


def test_dropped_for_replacement_and_enabled_again() -> None:
    """DROP FOR REPLACEMENT takes LUN, cell disk and grid disks away; REENABLE gives each grid disk the status it had."""
    disks = Disks()
    disks.bench.e(f"alter griddisk RECO_{DISK} inactive")
    disks.bench.e("alter physicaldisk 20:5 drop for replacement")
    assert disks.bench.values("list lun 0_5") == [["0_5", "0_5", "not present"]]
    assert "luns:" not in disks.bench.e("list physicaldisk 20:5 detail")
    assert disks.grid_disks() == {("not present", "OFFLINE")}
    disks.bench.e("alter physicaldisk 20:5 reenable")
    disks.bench.pass_time(600)
    assert [row[1:] for row in disks.bench.values(GRID_DISKS)] == [["active", "ONLINE"], ["inactive", "OFFLINE"]]
    assert "luns:              \t 0_5" in disks.bench.e("list physicaldisk 20:5 detail")


def test_a_failed_flash_disk_is_swapped() -> None:
    """The cache is degraded while a flash disk has failed, and whole and empty there with the new one."""
    disks = Disks(model="x6")
    disks.happens("flash-disk", "FD_02")
    assert disks.bench.values("list flashcache attributes degradedCelldisks") == [["FD_02_exa1cel01"]]
    disks.happens("replace", "FD_02")
    assert disks.bench.values("list flashcache attributes status") == [["normal"]]
    cache = disks.bench.cell.flash_cache
    assert cache is not None and cache.members["FD_02_exa1cel01"].used_bytes == 0


def test_a_swap_that_makes_no_sense() -> None:
    """replace names its disk, and is one moment: without disk=, with for= or on a node it is refused."""
    disks = Disks()
    for options in (
        {"disk": ""},
        {"disk": "CD_05", "for": 60.0},
        {"disk": "CD_77"},
        {"disk": "CD_05", "bare": "maybe"},
    ):
        with pytest.raises(EmulatorError):
            disks.world.inject([HOST], "replace", options)
    with pytest.raises(EmulatorError, match="fault of cells"):
        disks.world.inject(["exa1db01"], "hard-disk", {})


def test_a_failed_disk_is_stored() -> None:
    """A cell that is stored with a failed disk comes back with it, and the swap works as before."""
    disks = Disks()
    disks.happens("hard-disk")
    assert cell_from_state(to_state(disks.bench.cell)) == disks.bench.cell
    assert AsmClusters.from_states(disks.bench.rack, disks.asm.to_states()).all[0].headers == disks.asm.all[0].headers


def test_a_swap_after_the_cell_disk_was_dropped() -> None:
    """A dead cell disk may be dropped before the swap: the new disk in the slot is free for a cell disk, the fault is over."""
    disks = Disks()
    disks.happens("hard-disk")
    disks.settle()
    assert disks.bench.e(f"drop celldisk {DISK} force") == f"CellDisk {DISK} successfully dropped\n"
    assert disks.bench.e(f"create celldisk {DISK} lun=0_5").startswith("CELL-02931: LUN 0_5 has status failed")
    disks.happens("replace", "20:5")
    assert not disks.bench.rack.faults
    assert disks.bench.e(f"create celldisk {DISK} lun=0_5") == f"CellDisk {DISK} successfully created\n"


def test_a_fault_of_a_disk_that_is_gone() -> None:
    """A fault that begins when its disk has been dropped does nothing, and the rack goes on."""
    disks = Disks()
    disks.happens("hard-disk", after=60.0)
    disks.bench.e(f"drop griddisk DATA_{DISK}, RECO_{DISK} force; drop celldisk {DISK}")
    disks.bench.pass_time(600)
    assert disks.bench.values("list physicaldisk where status != normal") == []
