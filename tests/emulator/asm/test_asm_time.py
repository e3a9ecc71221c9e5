"""What happens to disk groups as time passes and as cells change: rebalances, offline disks, repair."""

from __future__ import annotations

import pytest

from exacell.emulator.asm.instance import Asm

MODES = "select mode_status||count(*) from v$asm_disk where group_number={} group by mode_status order by 1"


def view(lab, cell="exa1cel02", disk="DATA_CD_00_exa1cel02"):
    return lab.asm.disk(cell, disk)


def test_disk_that_never_was_a_member(carved):
    """A grid disk that no group ever used is unknown to ASM and a candidate in its view."""
    assert carved.asm.disk("exa1cel01", "ssd_FD_00_exa1cel01") is None
    assert carved.rows("select distinct header_status||mode_status||total_mb from v$asm_disk where name is null") == [
        "CANDIDATEONLINE0"
    ]


def test_mode_follows_the_group(carved):
    """A member is ONLINE while its group is mounted somewhere, UNKNOWN when nowhere, DROPPED after the drop."""

    def mode():
        found = carved.asm.disk("exa1cel01", "ssd_FD_00_exa1cel01")
        return found.disk_group, found.mode_status, found.deactivation_outcome

    carved.create()
    assert mode() == ("SSD", "ONLINE", "Yes")
    carved.sql("alter diskgroup ssd dismount;\n")
    carved.pass_time(10)
    assert mode() == ("SSD", "UNKNOWN", "Yes")
    carved.sql("alter diskgroup ssd mount;\ndrop diskgroup ssd;\n")
    assert mode() == ("SSD", "DROPPED", "Yes")


def test_offline_cell_and_back(lab):
    """An inactive grid disk is OFFLINE at once, other cells may not go offline then, and it resyncs when it is back."""
    lab.cell("alter griddisk DATA_CD_00_exa1cel01 inactive")
    assert view(lab, "exa1cel01", "DATA_CD_00_exa1cel01").mode_status == "OFFLINE"
    assert view(lab).mode_status == "ONLINE"
    assert view(lab).deactivation_outcome == "Cannot de-activate due to other offline disks in the diskgroup"
    assert view(lab, "exa1cel01", "DATA_CD_01_exa1cel01").deactivation_outcome == "Yes"
    assert view(lab, "exa1cel02", "RECO_CD_00_exa1cel02").deactivation_outcome == "Yes"
    assert lab.rows("select offline_disks||'' from v$asm_diskgroup where name='DATA'") == ["1"]
    lost = "select mount_status||'|'||header_status||'|'||path||'|'||state from v$asm_disk where mode_status='OFFLINE'"
    assert lab.rows(lost) == ["MISSING|UNKNOWN||NORMAL"]
    lab.cell("alter griddisk DATA_CD_00_exa1cel01 active")
    assert view(lab, "exa1cel01", "DATA_CD_00_exa1cel01").mode_status == "SYNCING"
    lab.pass_time(60)
    assert view(lab, "exa1cel01", "DATA_CD_00_exa1cel01").mode_status == "ONLINE"
    assert view(lab).deactivation_outcome == "Yes"


def test_cellsrv_down(lab):
    """With CELLSRV down all grid disks of the cell are offline; the group survives in NORMAL redundancy."""
    lab.rack.cells["exa1cel01"].services["CELLSRV"] = "stopped"
    assert lab.rows(MODES.format(1)) == ["OFFLINE12", "ONLINE24"]
    assert view(lab).deactivation_outcome.startswith("Cannot")
    lab.rack.cells["exa1cel01"].services["CELLSRV"] = "running"
    assert lab.rows(MODES.format(1)) == ["ONLINE24", "SYNCING12"]
    lab.pass_time(60)
    assert lab.rows(MODES.format(1)) == ["ONLINE36"]


def test_two_failure_groups_lost(lab):
    """Losing a second failure group of a NORMAL group dismounts it everywhere; it can't be mounted while disks miss."""
    for number in (1, 2):
        lab.rack.cells[f"exa1cel0{number}"].services["CELLSRV"] = "stopped"
    assert lab.rows("select state from gv$asm_diskgroup where name='DATA'") == ["DISMOUNTED", "DISMOUNTED"]
    assert lab.sql("alter diskgroup data mount;\n").codes[:3] == [15032, 15017, 15040]
    for number in (1, 2):
        lab.rack.cells[f"exa1cel0{number}"].services["CELLSRV"] = "running"
    assert lab.sql("alter diskgroup data mount;\n").codes == []
    assert lab.rows("select state from v$asm_diskgroup where name='DATA'") == ["MOUNTED"]


def test_repair_time_expires(lab):
    """A disk that stays away longer than disk_repair_time is expelled by a rebalance."""
    lab.sql("alter diskgroup reco set attribute 'disk_repair_time'='2h';\n")
    lab.cell("alter griddisk RECO_CD_03_exa1cel03 inactive", 3)
    lab.pass_time(3600)
    timer = "select repair_timer||'' from v$asm_disk where name='RECO_CD_03_EXA1CEL03'"
    assert 3500 <= int(lab.rows(timer)[0]) <= 3600
    lab.pass_time(3700)
    assert lab.rows("select state from v$asm_disk where name='RECO_CD_03_EXA1CEL03'") == ["FORCING"]
    lab.pass_time(86400)
    assert lab.rows("select count(*)||'' from v$asm_disk where group_number=2") == ["35"]


def test_a_new_repair_time_is_for_disks_that_go_offline_later(lab):
    """disk_repair_time counts as it was when a disk went offline. Source: SAGUG, Setting the Oracle ASM Disk Repair Timer."""
    timer = "select repair_timer||'' from v$asm_disk where name='RECO_CD_03_EXA1CEL03'"
    lab.sql("alter diskgroup reco set attribute 'disk_repair_time'='2h';\n")
    lab.cell("alter griddisk RECO_CD_03_exa1cel03 inactive", 3)
    lab.sql("alter diskgroup reco set attribute 'disk_repair_time'='9h';\n")
    assert 7000 <= int(lab.rows(timer)[0]) <= 7200
    lab.cell("alter griddisk RECO_CD_03_exa1cel03 active", 3)
    lab.pass_time(60)
    assert lab.rows(timer) == ["0"]
    lab.cell("alter griddisk RECO_CD_03_exa1cel03 inactive", 3)
    assert int(lab.rows(timer)[0]) > 32000


def test_a_whole_failure_group_goes_by_the_shorter_of_its_times(lab):
    """failgroup_repair_time counts where no disk of the failure group is left, and DROP AFTER goes before both."""
    timers = "select distinct repair_timer||'' from v$asm_disk where group_number=2 and mode_status='OFFLINE'"
    lab.sql("alter diskgroup reco set attribute 'failgroup_repair_time'='5m';\n")
    lab.sql("alter diskgroup reco offline disk RECO_CD_03_EXA1CEL03;\n")
    assert int(lab.rows(timers)[0]) > 12000
    lab.sql("alter diskgroup reco offline disks in failgroup EXA1CEL03;\n")
    assert 290 <= int(lab.rows(timers)[0]) <= 300
    lab.sql("alter diskgroup reco offline disks in failgroup EXA1CEL03 drop after 20h;\n")
    assert 71990 <= int(lab.rows(timers)[0]) <= 72000


def test_drop_disk_takes_a_rebalance(carved):
    """DROP DISK returns at once; the disk is DROPPING until the rebalance ends, and only then FORMER."""
    assert carved.sql("alter diskgroup reco drop disk RECO_CD_00_EXA1CEL01 rebalance power 2;\n").codes == []
    assert carved.rows("select state from v$asm_disk where name='RECO_CD_00_EXA1CEL01'") == ["DROPPING"]
    passes = "select pass||state||power||inst_id from gv$asm_operation where inst_id=1 order by pass"
    assert carved.rows(passes) == ["COMPACTWAIT21", "REBALANCERUN21", "REBUILDDONE21"]
    assert carved.rows("select distinct state||sofar from gv$asm_operation where inst_id=2") == ["WAIT0"]
    assert carved.run("asmcmd", "lsdg", "--suppressheader", "RECO").out.split()[2] == "Y"
    assert carved.run("asmcmd", "lsop").lines[2].split()[:4] == ["RECO", "REBALANCE", "RUN", "2"]
    minutes = int(carved.rows("select est_minutes||'' from v$asm_operation where state='RUN'")[0])
    carved.pass_time(minutes * 60 + 1)
    assert carved.rows("select count(*)||'' from gv$asm_operation") == ["0"]
    assert carved.rows("select header_status from v$asm_disk where path like '%/RECO_CD_00_exa1cel01'") == ["FORMER"]
    assert carved.asm.disk("exa1cel01", "RECO_CD_00_exa1cel01").mode_status == "DROPPED"


def test_wait_blocks(carved):
    """REBALANCE … WAIT comes back when the rebalance has ended."""
    before = carved.seconds
    add = "alter diskgroup reco drop disk RECO_CD_00_EXA1CEL01 rebalance power 1 wait;\n"
    assert carved.sql(add).out == "\nDiskgroup altered.\n\n"
    assert carved.seconds > before
    assert carved.rows("select count(*)||'' from v$asm_operation") == ["0"]


def test_power_zero_stands_still(carved):
    """Power 0 stops a rebalance, another power lets it go on from where it was."""
    carved.sql("alter diskgroup data drop disk DATA_CD_00_EXA1CEL01 rebalance power 1;\n")
    carved.pass_time(60)
    carved.sql("alter diskgroup data rebalance power 0;\n")
    so_far = carved.rows("select sofar||'' from v$asm_operation where pass='REBALANCE'")
    carved.pass_time(6000)
    assert carved.rows("select sofar||'' from v$asm_operation where pass='REBALANCE'") == so_far
    carved.sql("alter diskgroup data rebalance power 11;\n")
    carved.pass_time(86400)
    assert carved.rows("select count(*)||'' from v$asm_operation") == ["0"]


def test_undrop(carved):
    """UNDROP DISKS keeps the disks whose drop has not ended."""
    carved.sql("alter diskgroup reco drop disk RECO_CD_00_EXA1CEL01;\nalter diskgroup reco undrop disks;\n")
    carved.pass_time(86400)
    assert carved.rows("select state from v$asm_disk where name='RECO_CD_00_EXA1CEL01'") == ["NORMAL"]


def test_drop_keeps_redundancy(lab):
    """Disks are not dropped when too few failure groups, or too little space, would stay."""
    one = lab.sql("alter diskgroup reco drop disks in failgroup EXA1CEL01;\n")
    assert one.codes == []
    assert lab.sql("alter diskgroup reco drop disks in failgroup EXA1CEL02;\n").codes == [15032, 15067]


def test_add_disks(carved):
    """Added disks take part once the rebalance has ended; disks of the group itself are no candidates."""
    assert carved.sql("create diskgroup s disk 'o/*/ssd_FD_0[0-3]_*' attribute 'au_size'='1M';\n").codes == []
    assert carved.sql("alter diskgroup s add disk 'o/*/ssd_FD_0[0-3]_*';\n").codes[:2] == [15032, 15031]
    assert carved.sql("alter diskgroup s add disk 'o/*/ssd_FD_1*' rebalance power 8;\n").codes == []
    states = "select d.state||count(*) from v$asm_disk d join v$asm_diskgroup g using (group_number) where g.name='S'"
    assert carved.rows(states + " group by d.state order by 1") == ["ADDING18", "NORMAL12"]
    carved.pass_time(3600)
    assert carved.rows(states + " group by d.state order by 1") == ["NORMAL30"]


def test_offline_by_hand(lab):
    """OFFLINE is refused where it may lose data, holds until ONLINE, and then resyncs."""
    assert lab.sql("alter diskgroup reco offline disks in failgroup EXA1CEL01;\n").codes == []
    lab.pass_time(600)
    assert lab.rows(MODES.format(2)) == ["OFFLINE12", "ONLINE24"]
    refused = lab.sql("alter diskgroup reco offline disk RECO_CD_00_EXA1CEL02;\n")
    assert refused.codes == [15032, 15066]
    lab.sql("alter diskgroup reco online all;\n")
    assert lab.rows(MODES.format(2)) == ["ONLINE24", "SYNCING12"]
    lab.pass_time(60)
    assert lab.rows(MODES.format(2)) == ["ONLINE36"]


def test_dropped_grid_disk_forgets_its_header(carved):
    """A grid disk that is dropped and created again is a candidate, whatever it was before."""
    carved.create()
    carved.sql("drop diskgroup ssd;\n")
    carved.cell("alter griddisk all flashdisk prefix=ssd inactive")
    assert "successfully dropped" in carved.cell("drop griddisk all flashdisk prefix=ssd force").out
    carved.cell("create griddisk all flashdisk prefix=ssd")
    query = "select distinct header_status from v$asm_disk where path like 'o/192.168.10.1{}/ssd%'"
    assert carved.rows(query.format(1)) == ["CANDIDATE"]
    assert carved.rows(query.format(2)) == ["FORMER"]
    assert carved.asm.disk("exa1cel01", "ssd_FD_00_exa1cel01") is None


def test_resize(carved):
    """ASM grows a disk only to what the grid disk has, and shrinks before the grid disk does."""
    carved.create()
    assert carved.sql("alter diskgroup ssd resize all size 4g;\n").codes == []
    assert carved.rows("select total_mb||'' from v$asm_diskgroup where name='SSD'") == [str(48 * 4096)]
    assert carved.sql("alter diskgroup ssd resize all size 8g;\n").codes == [15032, 15036]
    assert carved.sql("alter diskgroup ssd resize all;\n").codes == []
    assert carved.rows("select total_mb||'' from v$asm_diskgroup where name='SSD'") == ["235776"]


@pytest.mark.parametrize("version", [(11, 2, 0, 4, 0), (12, 1, 0, 2, 0), (19, 0, 0, 0, 0)])
def test_views_by_release(version, lab, monkeypatch):
    """V$ASM_OPERATION has PASS from 12.1 on, disk groups have logical sectors from 12.2 on: before, ORA-00904."""
    monkeypatch.setattr(Asm, "version", version)
    assert lab.sql("select pass from v$asm_operation;\n").codes == ([904] if version < (12, 1) else [])
    old = version < (12, 2)
    assert lab.sql("select logical_sector_size from v$asm_diskgroup;\n").codes == ([904] if old else [])
    assert ("Logical_Sector" in lab.run("asmcmd", "lsdg").out) != old
    assert ("Site_GUID" in lab.run("asmcmd", "lsdsk", "-k").out) != old
    assert ("SP2-0158" in lab.sql("set markup csv on\n").out) == old


@pytest.mark.parametrize(
    ("release", "version"), [("12.1.2", "12.1.0.2.0"), ("19.3", "19.0.0.0.0"), ("22.1", "19.0.0.0.0")]
)
def test_version_goes_with_the_cells(release, version, new_lab):
    """The instances have a release that goes with the cells' release."""
    model = "x8m" if release == "22.1" else "x2"
    assert new_lab(release=release, model=model).rows("select version from v$instance") == [version]
