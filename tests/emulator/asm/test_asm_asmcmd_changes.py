"""asmcmd commands that change a group's disks or show who has files open."""

from __future__ import annotations

import pytest


def test_chdg_adds_and_drops(carved):
    """Chdg adds disks by their strings and drops them by their names, with the power that it names."""
    carved.create()
    one = "o/192.168.10.11/ssd_FD_00_exa1cel01"
    drop = '<chdg name="ssd" power="8"><drop><dsk name="SSD_FD_00_EXA1CEL01"/></drop></chdg>'
    ran = carved.run("asmcmd", "chdg", drop)
    assert (ran.status, ran.out, ran.err) == (0, "", "")
    assert carved.rows("select 'p' || power from v$asm_operation where pass = 'REBALANCE'") == ["p8"]
    carved.pass_time(36000)
    state = "select header_status from v$asm_disk where path = "
    assert carved.rows(f"{state}'{one}'") == ["FORMER"]
    add = f'<chdg name="ssd"><add><fg name="exa1cel01"><dsk string="{one}"/></fg></add></chdg>'
    assert carved.run("asmcmd", "chdg", add).status == 0
    assert carved.rows(f"{state}'{one}'") == ["MEMBER"]


@pytest.mark.parametrize("text", ["<chdg", "<dg name='x'/>", "<chdg name='data'/>"])
def test_descriptions_that_say_nothing(lab, text):
    """A description that is no XML, of no change or of nothing is refused."""
    ran = lab.run("asmcmd", "chdg", text)
    assert ran.status == 255 and ran.err.startswith("ASMCMD-9395")


def test_offline_and_online(lab):
    """Offline takes a failure group's disks offline, online brings them back."""
    modes = "select distinct mode_status from v$asm_disk where failgroup = 'EXA1CEL02' and group_number = 1"
    assert lab.run("asmcmd", "offline", "-G", "DATA", "-F", "EXA1CEL02", "-t", "30").status == 0
    assert lab.rows(modes) == ["OFFLINE"]
    assert lab.run("asmcmd", "online", "-G", "DATA", "-a").status == 0
    lab.pass_time(36000)
    assert lab.rows(modes) == ["ONLINE"]
    assert lab.run("asmcmd", "offline", "-G", "DATA").status == 255


def test_open_files_and_disks(lab):
    """Lsof lists the files that databases have open, lsod the disks that ASM has."""
    lines = lab.run("asmcmd", "lsof", "-G", "DATA", "--dbname", "spot").out.splitlines()
    assert lines[0].split() == ["DB_Name", "Instance_Name", "Path"]
    assert {tuple(line.split()[:2]) for line in lines[1:]} == {("SPOT", "SPOT1")}
    assert all(line.split()[2].startswith("+DATA/SPOT/") for line in lines[1:]) and len(lines) > 5
    disks = lab.run("asmcmd", "lsod", "-G", "RECO", "--process", "lgwr").out.splitlines()
    assert len(disks) == 37 and all("(LGWR)" in line and "/RECO_CD_" in line for line in disks[1:])


def test_templates(lab):
    """Lstmpl lists the templates of a group: control files are finely striped, with more copies."""
    lines = lab.run("asmcmd", "lstmpl", "-l", "-G", "DATA", "CONTROLFILE").out.splitlines()
    assert lines[0].split() == ["Group_Name", "Group_Num", "Name", "Stripe", "Sys", "Redund", "PriReg", "MirrReg"]
    assert lines[1].split() == ["DATA", "1", "CONTROLFILE", "FINE", "Y", "HIGH", "COLD", "COLD"]
    assert len(lab.run("asmcmd", "lstmpl").out.splitlines()) == 31
