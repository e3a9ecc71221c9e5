"""asmcmd, srvctl and oracleasm: layouts, options, statuses."""

from __future__ import annotations

import pytest

from exacell.core.errors import EmulatorError
from exacell.emulator.programs.dbnode import program


def test_lsdg(carved):
    """LSDG has the columns and alignment of 12.2 and later; names end in a slash."""
    carved.create("FLASH_AB")
    assert carved.run("asmcmd", "lsdg", "flash_ab").out.splitlines() == [
        "State    Type    Rebal  Sector  Logical_Sector  Block       AU  Total_MB  Free_MB  Req_mir_free_MB"
        "  Usable_file_MB  Offline_disks  Voting_files  Name",
        "MOUNTED  NORMAL  N         512             512   4096  4194304    235776   235572             4912"
        "          115330              0             N  FLASH_AB/",
    ]


def test_lsdg_everywhere(lab):
    """-g adds the instance; a group that is not there fails."""
    lines = lab.run("asmcmd", "lsdg", "-g", "DATA").lines
    assert lines[0].startswith("Inst_ID  State")
    assert [line.split()[0] for line in lines[1:]] == ["1", "2"]
    ran = lab.run("asmcmd", "lsdg", "NOSUCH")
    assert ran.status != 0
    assert ran.err.startswith("ASMCMD-8001")


def test_lsdsk(carved):
    """LSDSK lists member paths; -G one group, --candidate the free ones, -k and -p and -t more columns."""

    def bare(*options):
        return carved.run("asmcmd", "lsdsk", "--suppressheader", *options).lines

    def heading(option):
        return " ".join(carved.run("asmcmd", "lsdsk", option).lines[0].split())

    assert [len(bare()), len(bare("--candidate")), len(bare("-G", "RECO"))] == [72, 48, 36]
    assert bare("o/192.168.10.11/RECO_CD_0*")[0] == "o/192.168.10.11/RECO_CD_00_exa1cel01"
    assert heading("-k") == (
        "Total_MB Free_MB OS_MB Name Failgroup Site_Name Site_GUID Site_Status Failgroup_Type Library Label"
        " Failgroup_Label Site_Label UDID Product Redund Path"
    )
    assert heading("-p") == "Group_Num Disk_Num Incarn Mount_Stat Header_Stat Mode_Stat State Path"
    assert heading("-t") == "Create_Date Mount_Date Repair_Timer Path"


def test_lsop_idle_lsct_lsattr_ls(lab):
    """LSOP is a bare heading when nothing runs; LSCT shows clients; LSATTR -lm the attributes; LS the directories."""
    assert lab.run("asmcmd", "lsop").out == "Group_Name  Pass  State  Power  EST_WORK  EST_RATE  EST_TIME\n"
    assert lab.run("asmcmd", "lsct", "DATA").lines[1].split()[0] == "SPOT"
    attributes = lab.run("asmcmd", "lsattr", "-lm", "-G", "DATA", "compat*").lines
    assert attributes[0].split() == ["Group_Name", "Name", "Value", "RO", "Sys"]
    assert attributes[1].split() == ["DATA", "compatible.asm", "19.0.0.0.0", "N", "Y"]
    assert lab.run("asmcmd", "ls").lines == ["DATA/", "RECO/"]
    assert "DATAFILE/" in lab.run("asmcmd", "ls", "+DATA/SPOT").lines
    assert lab.run("asmcmd", "ls", "+DATA/NOSUCH").err.startswith("ASMCMD-8002")


def test_asmcmd_refusals(lab):
    """Unknown commands and options fail, and so does everything without an ASM instance or for oracle."""
    assert lab.run("asmcmd", "frobnicate").err.startswith("ASMCMD-8022")
    assert lab.run("asmcmd", "lsdg", "--nonsense").status != 0
    assert lab.run("asmcmd", "lsdg", login="oracle").err.startswith("ASMCMD-8102")


def test_asmcmd_prompt(lab):
    """Without a command asmcmd reads commands until exit."""
    ran = lab.run("asmcmd", text="ls\n\nlsop\nexit\n")
    assert ran.out.count("ASMCMD> ") == 4
    assert "DATA/" in ran.out


def test_srvctl(carved):
    """Status names the nodes on which a disk group is mounted, in the old and the new spelling of its options."""
    carved.create()
    assert carved.run("srvctl", "status", "diskgroup", "-g", "SSD").out == "Disk Group SSD is running on exa1db01\n"
    carved.sql("alter diskgroup ssd mount;\n", node=2)
    both = "Disk Group SSD is running on exa1db01,exa1db02\n"
    assert carved.run("srvctl", "status", "diskgroup", "-diskgroup", "SSD").out == both
    for node in (1, 2):
        carved.sql("alter diskgroup ssd dismount;\n", node=node)
    assert carved.run("srvctl", "status", "diskgroup", "-g", "SSD").out == "Disk Group SSD is not running\n"


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        ("stop diskgroup -g DATA -n exa1db02", "PRKO-2000"),
        ("status diskgroup -g NOSUCH", "PRCA-1000"),
        ("status diskgroup -g DATA -n exa9db09", "PRKO-2006 : Invalid node name: exa9db09"),
        ("status diskgroup", "PRKO-2003"),
        ("status nodeapps", "PRKO-2000"),
        ("status asm -frob", "PRKO-2002"),
        ("status", "Usage: srvctl"),
    ],
)
def test_srvctl_refusals(lab, argv, said):
    """What changes something, unknown groups, nodes and options are refused by name; nothing changes."""
    ran = lab.run("srvctl", *argv.split())
    assert ran.status == 1 and ran.out.startswith(said)
    assert lab.asm.groups["DATA"].mounted == [0, 1]


def test_srvctl_forgets_dropped_groups(carved):
    """After DROP DISKGROUP the clusterware's resource is gone."""
    carved.create()
    carved.sql("drop diskgroup ssd;\n")
    assert "PRCA-1000" in carved.run("srvctl", "status", "diskgroup", "-g", "SSD").out


def test_oracleasm(lab):
    """ASMLib has no disks on a rack with grid disks."""
    assert (lab.run("oracleasm", "listdisks").out, lab.run("oracleasm", "listdisks").status) == ("", 0)
    assert lab.run("oracleasm").status == 1


def test_no_such_program_or_node(lab):
    """The dispatcher names what it does not know."""
    with pytest.raises(EmulatorError, match="emctl is no program"):
        program("emctl", lab.rack, "exa1db01", "grid", [], env={}, tty=False)
    with pytest.raises(EmulatorError, match="exa1db09 is no database node"):
        program("sqlplus", lab.rack, "exa1db09", "grid", [], env={}, tty=False)
